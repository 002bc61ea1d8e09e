//! Fast variational inference for topic models, Gaussian mixtures and matrix factorisation.
//!
//! ```
//! use lehr::{FitConfig, Mixture, MixtureParams, Points};
//!
//! // Forty numbers around 0.5 and forty around 9.5.
//! let around = |centre: f64| (0..40).map(move |n| centre + 0.025 * f64::from(n - 20));
//! let points = Points::new(around(0.5).chain(around(9.5)).collect(), 1)?;
//!
//! let model = Mixture::new(MixtureParams::gmm(2), &points)?;
//! let config = FitConfig { seed: 1, ..FitConfig::default() };
//! let fitted = lehr::fit(&model, &points).config(config).threads(4).run()?;
//!
//! for component in model.components(fitted.state.lambda.table()) {
//!     println!("{:.0} % around {:.1}", 100.0 * component.weight, component.mean[0]);
//! }
//! # assert_eq!(model.components(fitted.state.lambda.table()).len(), 2);
//! # Ok::<(), lehr::Error>(())
//! ```
//!
//! [`fit()`] fits any [`Model`]: a [`Mixture`], [`Lda`], [`Pmf`], or one of your own ([`model`]). Data come from
//! files ([`read`]) or from memory ([`data`]). A [`Run`] keeps a fit with its settings and its
//! trace, in memory or in a directory that survives crashes ([`store`]). [`FitConfig`] says how to fit.
//!
//! # The method
//!
//! SVI+ (Paisley, Fazelnia and Barr) is stochastic variational inference whose noise can be tuned by an
//! effective batch size M below the real one. One step ([`fit::Fit::step`]):
//!
//! ```text
//! 1  S_t  = a batch of items                                     step/sample.rs
//! 2  e_n  ~ N(0, |S|/M - 1) for n in S_t (*)                     step/anneal.rs
//! 3  mean = the average of the e_n
//! 4  w_n  = 1 + e_n - mean
//! 5  s    = sum_n w_n E_q[t(theta_n)]                            step/engine.rs, Model::local_step
//! 6  lambda <- (1 - rho) lambda + rho (eta + N/|S| s)            step/update.rs, Model::to_natural
//! ```
//!
//! (*) By default times |S|/(|S| - 1), which a batch's own covariance lacks; the paper has it without.
//!
//! M = |S| is plain SVI; S = everything with rho = 1 is batch variational inference. A model knows nothing of
//! noise, step sizes, threads or files.

pub mod compare;
pub mod data;
pub mod engine;
pub mod error;
pub mod family;
pub mod fit;
pub mod model;
pub mod models;
pub mod read;
pub mod remote;
pub mod settings;
pub mod shards;
pub mod store;
pub mod sweep;
pub mod write;

// For lehr's own crates and tests; nothing here is promised to stay.
#[doc(hidden)]
pub mod lambda;
#[doc(hidden)]
pub mod math;
#[doc(hidden)]
pub mod memory;
mod platform;
#[doc(hidden)]
pub mod stats;
#[doc(hidden)]
pub mod step;
#[doc(hidden)]
pub mod threads;

pub use data::{Docs, Points, Ratings};
pub use error::{Error, ErrorKind, Result};
pub use fit::stop::StopReason;
pub use fit::{Fitted, Observation, State, Watcher, fit};
pub use model::Model;
pub use models::root::*;
pub use settings::FitConfig;
pub use step::anneal::Law;
pub use step::guard::Guard;
pub use step::sample::Sampling;
pub use step::schedule::{Effective, StepSize};
pub use store::Run;

/// The README's Rust program, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
