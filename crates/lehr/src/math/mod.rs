//! Numbers: special functions, random numbers, small symmetric matrices, SIMD kernels.

pub mod special;
pub mod rng;
pub mod packed;
pub mod eigen;
pub mod slabs;
pub mod table;
pub mod kernels;
