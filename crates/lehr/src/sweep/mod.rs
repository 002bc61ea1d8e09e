//! How many components, topics or dimensions? The same fit at several sizes, compared by bounds and by items that were
//! held out.
//!
//! A sweep is a folder of ordinary runs with a file, `sweep.json`, that says what was asked for. For each [`Cell`] of
//! the [`Grid`] there is a run of all items from several starts, whose bounds compare since all sizes of a shape have
//! the same prior, and a run for each fold that scores the items which it has not seen. [`Table`] makes of them what a
//! person wants to know.

mod grid;
mod runs;
mod table;

pub use grid::{Cell, Grid, Sizes};
pub use runs::{Onlooker, Swept, fit, fit_file, is_sweep, model_name, resume, table_of};
pub use table::{By, Choice, Row, Table, choose};

use crate::Result;
use crate::data::Dataset;
use crate::lambda::Lambda;
use crate::models::Stored;

/// A model with a size to choose: K, or d.
pub trait HasSize: Stored {
    /// The setting that says how large it is.
    const SIZE: &'static str;

    /// The settings with another size.
    fn with_size(params: &Self::Params, size: usize) -> Self::Params;

    /// The settings with another shape of its parts, if they have one.
    fn with_shape(params: &Self::Params, shape: &str) -> Result<Self::Params>;

    /// The settings with every number of the prior that would depend on the size, from the largest one.
    fn with_fixed_prior(params: Self::Params, _data: &Self::Data) -> Result<Self::Params> {
        Ok(params)
    }

    /// Whether this many items are enough for these settings.
    fn check_size(params: &Self::Params, data: &Self::Data, n_items: usize) -> Result<()>;

    /// How many numbers it has to learn: of two models that do equally well, the one with fewer is the better.
    fn n_parameters(params: &Self::Params, data: &Self::Data) -> f64;

    /// Over how many a score of all items is a mean.
    fn n_scored(data: &Self::Data) -> f64 {
        data.n_items() as f64
    }

    /// How many of its parts are in use, where some may not be.
    fn in_use(&self, _lambda: &Lambda) -> Option<usize> {
        None
    }
}
