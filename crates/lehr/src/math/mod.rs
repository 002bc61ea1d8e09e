//! Numbers: the arithmetic of `lehr-kernels` (special functions, random numbers, small symmetric matrices,
//! SIMD kernels) and the tables that it works on.

pub mod eigen;
pub(crate) mod plain;
pub mod slabs;
pub mod table;

pub use lehr_kernels as kernels;
pub use lehr_kernels::{packed, rng, special, stop};
