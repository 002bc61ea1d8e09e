//! Annealed variational inference for conjugate-exponential-family models.

pub mod error;
pub mod data;
pub mod read;
pub mod write;

pub use error::{Error, ErrorKind, Position, Result};
