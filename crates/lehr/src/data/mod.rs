//! What an item is: one file per kind of data.

mod mapped;
mod points;

pub use points::{Points, Rows};

pub(crate) use mapped::{Mapped, Precision, map};
pub(crate) use points::{first_not_finite, weight_fault};
