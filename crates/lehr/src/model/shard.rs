//! The units of work of a local step, and what it is asked for.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::stats::RowSet;

/// Some items and their weights: the unit of work where all rows of lambda share a batch.
#[derive(Debug)]
pub struct Shard<'a, D> {
    /// All items.
    pub data: &'a D,
    /// The items of this shard.
    pub items: &'a [u32],
    /// w_n for each of them: the item's own weight times its annealing weight. May be negative.
    pub weights: &'a [f64],
    /// The rows of lambda that the batch touches, and their slots.
    pub rows: &'a RowSet,
    /// [`Model::warm_width`](super::Model::warm_width) numbers for each item, all 0 if it has no state
    /// yet; or none at all: then all start from scratch and none is kept.
    pub warm: &'a [f32],
}

/// Some rows that have batches of their own, and their items: the unit of work of such models.
#[derive(Debug)]
pub struct RowShard<'a, D> {
    /// All items.
    pub data: &'a D,
    /// The phase that these rows belong to.
    pub phase: usize,
    /// The rows, rising.
    pub rows: &'a [u32],
    /// Where each row's items start; one more for the end of the last row's.
    pub starts: &'a [usize],
    /// The items in the phase's order ([`Dataset::groups`](super::Dataset::groups)), the first row's at 0;
    /// `None` if they are all that lie between the starts.
    pub items: Option<&'a [u32]>,
    /// The annealing weight of each; `None` if all are 1.
    pub weights: Option<&'a [f32]>,
}

impl<D> RowShard<'_, D> {
    /// Where the items of the shard's row number `i` lie in `items` and `weights`.
    pub fn range(&self, i: usize) -> Range<usize> {
        self.starts[i] - self.starts[0]..self.starts[i + 1] - self.starts[0]
    }
}

/// Which part of lambda is about to be updated.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// [`Lambda::hyper`](crate::lambda::Lambda::hyper).
    pub hyper: &'a [f64],
    /// The phase, which says which columns.
    pub phase: usize,
    /// The row.
    pub row: usize,
    /// The row as it is: the phases before this one are already in it.
    pub old: &'a [f64],
}

/// What a local pass should produce.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Statistics.
    pub stats: bool,
    /// The items' parts of the bound.
    pub bound: bool,
    /// Local steps that iterate go on until they stand still, not only until it does not matter
    /// for training.
    pub precise: bool,
    /// Shrink the noise of rows that few items touch, this being the variance of the annealing
    /// weights: the guard `shrink`. 0 is off.
    pub shrink: f64,
}

impl Ask {
    /// The bound alone, as exactly as can be.
    pub const EVALUATE: Ask = Ask { stats: false, bound: true, precise: true, shrink: 0.0 };
    /// Statistics and bound of a noiseless pass.
    pub const TRAIN: Ask = Ask { stats: true, bound: true, precise: false, shrink: 0.0 };
    /// Statistics alone.
    pub const STATS: Ask = Ask { stats: true, bound: false, precise: false, shrink: 0.0 };

    /// Whether anything is asked for.
    pub fn is_something(&self) -> bool {
        self.stats || self.bound
    }
}
