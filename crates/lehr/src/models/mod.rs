//! The models that ship with lehr.

pub mod mixture;

pub use mixture::{Mixture, MixtureParams};
