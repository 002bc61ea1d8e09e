//! A table to be written: columns and row-major blocks of columns, borrowed from where they are.

use std::collections::HashSet;

use crate::{Error, Result};

/// A named column, or several columns that lie side by side in one row-major buffer.
#[derive(Debug, Clone)]
pub struct Column<'a> {
    /// The column's name. The columns of a matrix are called `name_0`, `name_1` and so on, or from
    /// another number.
    pub name: String,
    /// What is in it.
    pub values: Values<'a>,
}

/// What is in a [`Column`].
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// One float per row.
    F64(&'a [f64]),
    /// One integer per row.
    I64(&'a [i64]),
    /// One text per row, e.g. an id.
    Text(&'a [String]),
    /// `width` floats per row, row after row, as a fit leaves responsibilities; they are written
    /// as `width` columns without being copied into another order first.
    Matrix {
        /// The numbers of all rows.
        values: &'a [f64],
        /// How many belong to each row.
        width: usize,
    },
}

impl<'a> Column<'a> {
    /// A column of floats.
    pub fn f64(name: impl Into<String>, values: &'a [f64]) -> Self {
        Column { name: name.into(), values: Values::F64(values) }
    }

    /// A column of integers.
    pub fn i64(name: impl Into<String>, values: &'a [i64]) -> Self {
        Column { name: name.into(), values: Values::I64(values) }
    }

    /// A column of strings.
    pub fn text(name: impl Into<String>, values: &'a [String]) -> Self {
        Column { name: name.into(), values: Values::Text(values) }
    }

    /// `width` columns of floats called `name_0`, `name_1` and so on, from a row-major buffer.
    pub fn matrix(name: impl Into<String>, values: &'a [f64], width: usize) -> Self {
        Column { name: name.into(), values: Values::Matrix { values, width } }
    }
}

/// Columns that have been checked to fit together.
pub(super) struct OutTable<'a> {
    pub columns: &'a [Column<'a>],
    /// One per single column.
    pub names: Vec<String>,
    pub n_rows: usize,
}

/// One cell of a table.
pub(super) enum Cell<'a> {
    F64(f64),
    I64(i64),
    Text(&'a str),
}

impl<'a> OutTable<'a> {
    pub(super) fn new(columns: &'a [Column<'a>]) -> Result<Self> {
        let mut names = Vec::new();
        let mut n_rows = None;
        for Column { name, values } in columns {
            let rows = match *values {
                Values::F64(values) => values.len(),
                Values::I64(values) => values.len(),
                Values::Text(values) => values.len(),
                Values::Matrix { values, width } => {
                    if width == 0 || !values.len().is_multiple_of(width) {
                        return Err(Error::data(format!(
                            "matrix {name}: {} numbers are not a whole number of rows of {width}",
                            values.len()
                        )));
                    }
                    values.len() / width
                }
            };
            if *n_rows.get_or_insert(rows) != rows {
                return Err(Error::data(format!(
                    "column {name} has {rows} rows where column {} has {}; give all the same number",
                    columns[0].name,
                    n_rows.unwrap_or(0)
                )));
            }
            match *values {
                Values::Matrix { width, .. } => {
                    names.extend((0..width).map(|k| format!("{name}_{k}")));
                }
                _ => names.push(name.clone()),
            }
        }
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|&name| !seen.insert(name)) {
            return Err(Error::data(format!("two columns are called {name}; rename one")));
        }
        let n_rows = n_rows.ok_or_else(|| Error::data("the table has no columns; give one"))?;
        Ok(OutTable { columns, names, n_rows })
    }

    /// The cells of row `n`, from the left.
    pub(super) fn row(&self, n: usize) -> impl Iterator<Item = Cell<'a>> {
        self.columns.iter().flat_map(move |column| {
            let (floats, other) = match column.values {
                Values::F64(values) => (&values[n..=n], None),
                Values::I64(values) => (&[][..], Some(Cell::I64(values[n]))),
                Values::Text(values) => (&[][..], Some(Cell::Text(&values[n]))),
                Values::Matrix { values, width } => (&values[n * width..][..width], None),
            };
            floats.iter().map(|&value| Cell::F64(value)).chain(other)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(columns: &[Column<'_>]) -> String {
        OutTable::new(columns).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn columns_that_do_not_fit_together_are_refused() {
        assert_eq!(fault(&[]), "the table has no columns; give one");
        assert_eq!(
            fault(&[Column::i64("a", &[1, 2]), Column::f64("b", &[1.0])]),
            "column b has 1 rows where column a has 2; give all the same number"
        );
        assert_eq!(
            fault(&[Column::matrix("m", &[1.0; 3], 2)]),
            "matrix m: 3 numbers are not a whole number of rows of 2"
        );
        assert_eq!(
            fault(&[Column::f64("m_1", &[1.0]), Column::matrix("m", &[1.0; 2], 2)]),
            "two columns are called m_1; rename one"
        );
    }
}
