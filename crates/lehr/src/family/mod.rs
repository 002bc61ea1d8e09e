//! Exponential families: expectations and divergences as free functions on slices.

pub mod dirichlet;
pub mod beta;
pub mod gaussian;
pub mod wishart;
