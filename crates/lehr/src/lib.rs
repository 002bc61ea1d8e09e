//! Annealed variational inference for conjugate-exponential-family models.
//!
//! lehr fits Bayesian models with SVI+ (Paisley, Fazelnia and Barr): stochastic variational
//! inference whose noise can be tuned by an effective batch size M below the real one. One step:
//!
//! ```text
//! 1  S_t  = a batch of items                                     step::sample
//! 2  e_n  ~ N(0, |S|/M - 1) for n in S_t (*)                     step::anneal
//! 3  mean = the average of the e_n
//! 4  w_n  = 1 + e_n - mean
//! 5  s    = sum_n w_n E_q[t(theta_n)]                            step::engine, Model::local_step
//! 6  lambda <- (1 - rho) lambda + rho (eta + N/|S| s)            step::update, Model::to_natural
//! ```
//!
//! (*) By default times |S|/(|S| - 1), which a batch's own covariance lacks; the paper has it without.
//!
//! M = |S| is plain SVI; S = everything with rho = 1 is batch variational inference. The loop is
//! [`fit::Fit`]. A model is one implementation of [`model::Model`] and knows nothing of noise, step
//! sizes, threads or files. The modules below stand in the order in which data flow through them.

pub mod error;
pub mod data;
pub mod read;
pub mod write;
pub mod settings;
pub mod lambda;
pub mod stats;
pub mod model;
pub mod step;
pub mod fit;
pub mod store;
pub mod models;
pub mod family;
pub mod math;

pub use error::{Error, ErrorKind, Position, Result};
pub use fit::fit;
pub use settings::FitConfig;

/// The README's Rust program, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
