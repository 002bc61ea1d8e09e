//! What an item is: one file per kind of data.

mod points;

pub use points::{Points, Rows};
