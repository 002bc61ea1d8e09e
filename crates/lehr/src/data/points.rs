//! Dense rows of numbers: the items of a mixture.

use crate::{Error, Result};

/// `n_items` rows of `n_dims` finite numbers, optionally with a weight per row and names per column.
#[derive(Debug)]
pub struct Points {
    values: Vec<f64>,
    n_items: usize,
    n_dims: usize,
    weights: Option<Vec<f64>>,
    names: Vec<String>,
}

/// The numbers of [`Points`], row after row, in the precision in which they are stored.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision, as a memory-mapped .npy file may hold.
    F32(&'a [f32]),
}

impl Points {
    /// Rows from a row-major buffer.
    pub fn new(values: Vec<f64>, n_dims: usize) -> Result<Self> {
        if n_dims == 0 || values.len() % n_dims != 0 {
            return Err(Error::data("the buffer is not a whole number of rows"));
        }
        let n_items = values.len() / n_dims;
        Ok(Points { values, n_items, n_dims, weights: None, names: Vec::new() })
    }

    /// How many rows.
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// How many columns.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> Rows<'_> {
        Rows::F64(&self.values)
    }

    /// The weight of each row, if they were given; all 1 otherwise.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The columns' names, if the file had any; otherwise empty.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
