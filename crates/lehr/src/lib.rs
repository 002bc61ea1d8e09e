//! Annealed variational inference for conjugate-exponential-family models.

pub mod error;
pub mod data;
pub mod read;
pub mod write;
pub mod model;
pub mod step;
pub mod models;
pub mod family;
pub mod math;

pub use error::{Error, ErrorKind, Position, Result};
