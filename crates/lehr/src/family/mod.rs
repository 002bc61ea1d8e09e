//! Exponential families: expectations and divergences as free functions on slices.
//!
//! ```
//! use lehr::family::dirichlet;
//!
//! // Of three kinds 3, 0 and 1 were seen, under a prior of 0.5 for each.
//! let a = [3.5, 0.5, 1.5];
//! let expected = dirichlet::expected_ln(&a);
//! assert!(expected[0] > expected[2] && expected[2] > expected[1]);
//! assert!(dirichlet::divergence_from_symmetric(&a, 0.5) > 0.0);
//! assert!(dirichlet::divergence_from_symmetric(&[0.5; 3], 0.5).abs() < 1e-12);
//! ```

pub mod dirichlet;
pub mod beta;
pub mod gaussian;
pub mod wishart;
