//! Hyperparameters that a model learns by point estimates while it is fitted.

use super::Model;
use crate::lambda::Lambda;
use crate::stats::Stats;
use crate::step::pass::BatchOf;

/// Learns hyperparameters, which live in [`Lambda::hyper`].
pub trait Learn<M: Model>: Sync {
    /// The hyperparameters as they are at the start.
    fn hyper(&self) -> Vec<f64>;

    /// How many numbers [`Local::add_hyper`](super::Local::add_hyper) sums.
    fn width(&self) -> usize {
        0
    }

    /// Learns the hyperparameters after all updates of a step, and whatever else needs the state as a
    /// whole. Must not lower the bound of a noiseless full-batch step.
    ///
    /// Where every row has its own batch, `expect` is up to date and must stay so; elsewhere it is
    /// of before the update, and will be refreshed.
    fn learn(&self, step: HyperStep<'_, M>, lambda: &mut Lambda, expect: &mut M::Expect);
}

/// An update of hyperparameters.
pub struct HyperStep<'a, M: Model> {
    /// t.
    pub step: u64,
    /// rho_t.
    pub rho: f64,
    /// |S|.
    pub size: usize,
    /// Whether the batch is everything.
    pub full: bool,
    /// Whether an epoch ends with this step.
    pub epoch_ends: bool,
    /// The sums of [`Local::add_hyper`](super::Local::add_hyper) over the batch.
    pub sums: &'a [f64],
    /// The statistics of the last pass, as the guard has left them.
    pub raw: &'a Stats,
    /// The batch of the last pass.
    pub batch: &'a BatchOf<M>,
}

/// The first hyperparameters of a model; none if it has none.
pub(crate) fn hyper_of<M: Model>(model: &M) -> Vec<f64> {
    model.learner().map_or(Vec::new(), |learner| learner.hyper())
}
