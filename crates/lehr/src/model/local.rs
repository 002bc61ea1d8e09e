//! What the local steps of a shard leave behind, and how that becomes statistics.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Ask, Layout};
use crate::stats::{RowSet, Stats};

/// What the local steps of a shard leave behind, and how that becomes statistics.
///
/// [`Stats`] is the usual one: each shard sums for itself, and the shards' sums are added in order.
/// A model with many rows keeps its items' q instead and sums row by row over all shards.
pub trait Local<Expect>: Send + Sync + Sized + Serialize + DeserializeOwned {
    /// Whether what shards leave behind can be added up ([`Local::add`]) before it is gathered.
    const ADDS: bool = false;

    /// Room for one shard.
    fn new(layout: &Layout) -> Self;

    /// Forgets the last shard, keeping the memory.
    fn clear(&mut self);

    /// Adds the statistics of all `shards`, in order, to `out`: those of the rows in `slots`, which are
    /// [`RowSet::part`] rows or the last ones. If they are the `first` shards of a pass, what `out` holds counts as 0.
    fn gather(
        shards: &[Self],
        expect: &Expect,
        rows: &RowSet,
        slots: Range<usize>,
        ask: Ask,
        first: bool,
        out: &mut [f64],
    );

    /// Adds the sums of the next shard of the same part of the data, where that is possible ([`Local::ADDS`]).
    fn add(&mut self, _next: &Self) {}

    /// Adds what [`Learn::learn`](super::Learn::learn) needs, unweighted.
    fn add_hyper(&self, _sums: &mut [f64]) {}

    /// Each item's numbers for its next local step, item after item.
    fn warm(&self) -> &[f32] {
        &[]
    }

    /// Iterations that the local steps took, if they iterate.
    fn iterations(&self) -> u64 {
        0
    }
}

impl<Expect> Local<Expect> for Stats {
    const ADDS: bool = true;

    fn new(layout: &Layout) -> Self {
        Stats::new(layout.n_rows, layout.raw_width)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn add(&mut self, next: &Self) {
        self.values_mut().iter_mut().zip(next.values()).for_each(|(sum, x)| *sum += x);
    }

    fn gather(
        shards: &[Self],
        _expect: &Expect,
        _rows: &RowSet,
        slots: Range<usize>,
        _ask: Ask,
        first: bool,
        out: &mut [f64],
    ) {
        if first {
            out.fill(0.0);
        }
        // Each entry's sum runs over the shards in order.
        for shard in shards {
            out.iter_mut().zip(shard.slots(slots.clone())).for_each(|(o, p)| *o += p);
        }
    }
}
