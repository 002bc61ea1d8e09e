//! The one fork of Algorithm 1: whether all rows of lambda share a batch, or every row has its own.
//!
//! [`Shared`](super::shared::Shared) and [`PerRow`](super::per_row::PerRow) are the two ways. A step is a few
//! passes of one kind; the loop draws, weighs, sums and updates each without knowing which it is.

use std::ops::Range;
use std::time::Duration;

use crate::Result;
use crate::lambda::Lambda;
use crate::model::{Model, RowSet, Stats};
use crate::settings::Plan;
use crate::step::engine::{Engine, Later, Sizes, Sums, Threads, Work};
use crate::step::update::Steps;
use crate::step::warm::Warm;

/// The unit of work of a model's local step.
pub type ShardOf<'a, M> = <<M as Model>::Pass as Pass<M>>::Shard<'a>;

/// Where a model's local step leaves its sums.
pub type SumsOf<'a, M> = <<M as Model>::Pass as Pass<M>>::Sums<'a>;

/// S_t and its annealing weights, of a model's kind.
pub type BatchOf<M> = <<M as Model>::Pass as Pass<M>>::Batch;

/// A pass of a step: which items and rows take part, with which weights, and how far each row moves.
pub trait Pass<M: Model>: Sized + Send {
    /// The unit of work of a local step.
    type Shard<'a>
    where
        Self: 'a,
        M: 'a;
    /// Where a local step leaves its sums.
    type Sums<'a>
    where
        Self: 'a,
        M: 'a;
    /// S_t and its annealing weights.
    type Batch: Send + Sync;
    /// What threads keep from pass to pass, so that they do not allocate.
    type Buffers: Default + Send;

    /// An update is long, and worth a copy of lambda to put back should it be stopped, if `begin` and the first pass
    /// together take this long. A stop waits for shorter ones.
    const LONG: Duration;

    /// The passes of a step, for the random numbers of `stream`.
    fn of_a_step(model: &M, sizes: &Sizes, plan: &Plan, stream: u32) -> Result<Vec<Self>>;

    /// The phases of the update that follows.
    fn phases(&self) -> Range<usize>;

    /// The expectations that a fit starts with, if they are kept from step to step.
    fn begin(model: &M, lambda: &Lambda, expect: &mut M::Expect);

    /// Line 1: S_t.
    fn draw(&mut self, t: u64, sizes: &Sizes);

    /// Lines 2 to 4: the annealing weights.
    fn weigh(&mut self, t: u64);

    /// The items of step `t`, if they are known before it and need not be all.
    fn ahead(&mut self, _t: u64) -> Option<Vec<u32>> {
        None
    }

    /// The rows that S_t touches, and their expectations.
    fn refresh(
        &mut self,
        model: &M,
        engine: &mut dyn Engine<M>,
        lambda: &Lambda,
        rows: &mut RowSet,
        expect: &mut M::Expect,
    ) -> Result<()>;

    /// S_t with its weights.
    fn batch(&self) -> &Self::Batch;

    /// How many items the batch has, those that only carry noise included.
    fn n_items(&self) -> usize;

    /// Whether the batch carries annealing noise.
    fn is_noisy(&self) -> bool;

    /// The variance of the noise if rows that few items touch are to have less of it, else 0.
    fn shrink(&self) -> f64;

    /// rho and N/|S| of each row of step `t`.
    fn size_steps(&mut self, plan: &Plan, t: u64);

    /// What [`Pass::size_steps`] found.
    fn steps(&self) -> Steps<'_>;

    /// The same batch without noise, at least for the rows in `slots`, and the rows that it touches.
    fn noiseless(&self, rows: &RowSet, slots: &[usize]) -> (Self::Batch, RowSet);

    /// After an update: the expectations of what it has written, if they are kept from step to step.
    fn follow(model: &M, lambda: &Lambda, rows: &RowSet, expect: &mut M::Expect);

    /// The items that a bound is estimated from when steps use batches.
    fn bound_sample(model: &M, sizes: &Sizes, plan: &Plan) -> Vec<u32>;

    /// A batch of these items for the bound (of all items, if every row has its own), the rows that it
    /// touches, and the expectations that it needs.
    fn for_bound(
        model: &M,
        engine: &mut dyn Engine<M>,
        lambda: &Lambda,
        items: &[u32],
        expect: &mut M::Expect,
    ) -> Result<(Self::Batch, RowSet)>;

    /// How many items of a batch count for the bound.
    fn counted(batch: &Self::Batch) -> usize;

    /// The mean score of held-out items for models without a judge; NaN if there is none.
    fn score(model: &M, lambda: &Lambda, data: &M::Data) -> f64;

    /// Line 5 on the threads of the surrounding pool.
    fn sum_on_threads(
        threads: &mut Threads<'_, M>,
        work: Work<'_, M>,
        warm: &mut Warm,
        stats: &mut Stats,
    ) -> Sums;

    /// The statistics that [`Pass::sum_on_threads`] has deferred, if it has.
    fn later(_buffers: &Self::Buffers) -> Option<&dyn Later<M::Expect>> {
        None
    }
}
