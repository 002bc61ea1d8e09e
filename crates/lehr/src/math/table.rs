//! A table of f64, row after row: natural parameters and summed statistics.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kernels::{reserve, zeros};

/// `n_rows` x `width` numbers. A copy shares them until one of the two is written: what a checkpoint saves is not as
/// much memory again.
///
/// ```
/// let mut table = lehr::math::table::Table::new(2, 3);
/// table.row_mut(1)[0] = 5.0;
/// assert_eq!(table.values(), [0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Numbers", from = "Numbers")]
pub struct Table {
    n_rows: usize,
    width: usize,
    /// Those of the rows, and perhaps some behind them: to cut them off would mean to fill them again.
    values: Arc<Vec<f64>>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let shape = |table: &Table| (table.n_rows, table.width);
        shape(self) == shape(other) && self.values() == other.values()
    }
}

/// A table as it is sent.
#[derive(Serialize, Deserialize)]
struct Numbers {
    n_rows: usize,
    width: usize,
    #[serde(with = "super::plain")]
    values: Vec<f64>,
}

impl From<Table> for Numbers {
    fn from(table: Table) -> Self {
        let Table { n_rows, width, values } = table;
        let mut values = Arc::unwrap_or_clone(values);
        values.truncate(n_rows * width);
        Numbers { n_rows, width, values }
    }
}

impl From<Numbers> for Table {
    fn from(Numbers { n_rows, width, values }: Numbers) -> Self {
        Table { n_rows, width, values: Arc::new(values) }
    }
}

impl Table {
    /// A table of zeros.
    pub fn new(n_rows: usize, width: usize) -> Self {
        Table { n_rows, width, values: Arc::new(zeros(n_rows * width)) }
    }

    /// A table from its values, row after row; `None` if they are not `n_rows * width`.
    pub fn from_values(n_rows: usize, width: usize, values: Vec<f64>) -> Option<Self> {
        let fits = n_rows.checked_mul(width) == Some(values.len());
        fits.then(|| Table { n_rows, width, values: Arc::new(values) })
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row.
    pub fn row(&self, r: usize) -> &[f64] {
        &self.values[r * self.width..(r + 1) * self.width]
    }

    /// A row, to write.
    pub fn row_mut(&mut self, r: usize) -> &mut [f64] {
        let width = self.width;
        &mut Arc::make_mut(&mut self.values)[r * width..(r + 1) * width]
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values().chunks_exact(self.width.max(1))
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.n_rows * self.width]
    }

    /// All numbers, to write.
    pub fn values_mut(&mut self) -> &mut [f64] {
        let len = self.n_rows * self.width;
        &mut Arc::make_mut(&mut self.values)[..len]
    }

    /// Changes the number of rows, keeping the memory. What it holds afterwards is not defined.
    pub fn set_rows(&mut self, n_rows: usize) {
        self.n_rows = n_rows;
        if self.values.len() < n_rows * self.width {
            let values = Arc::make_mut(&mut self.values);
            reserve(values, n_rows * self.width);
            values.resize(n_rows * self.width, 0.0);
        }
    }

    /// Sets everything to 0, keeping the memory.
    pub fn clear(&mut self) {
        self.values_mut().fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_the_numbers_until_it_is_written() {
        let mut table = Table::from_values(2, 1, vec![1.0, 2.0]).unwrap();
        let copy = table.clone();
        assert_eq!(copy.values().as_ptr(), table.values().as_ptr());
        table.row_mut(1)[0] = 3.0;
        assert_eq!((copy.values(), table.values()), (&[1.0, 2.0][..], &[1.0, 3.0][..]));
        let own = table.values().as_ptr();
        drop(copy);
        table.values_mut()[0] = 0.0;
        assert_eq!(table.values().as_ptr(), own);
    }
}
