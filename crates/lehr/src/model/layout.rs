//! The shape of lambda and of the statistics, and how a batch is cut into shards.

use std::ops::Range;

/// The shape of lambda, of the raw statistics, and the phases of one update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Rows of lambda and of the raw statistics.
    pub n_rows: usize,
    /// Natural parameters per row.
    pub width: usize,
    /// Raw statistics per row.
    pub raw_width: usize,
    /// Parts of lambda that are updated one after the other.
    pub phases: Vec<Phase>,
    /// Whether rows that a batch does not touch are left to decay lazily (see [`crate::lambda`]):
    /// for models with very many rows of equal priors, one phase, and a
    /// [`Model::support`](super::Model::support) that is not everything.
    pub lazy: bool,
}

impl Layout {
    /// The usual layout: one phase that updates everything.
    pub fn one_phase(n_rows: usize, width: usize, raw_width: usize) -> Self {
        let phases = vec![Phase { rows: 0..n_rows, columns: 0..width }];
        Layout { n_rows, width, raw_width, phases, lazy: false }
    }
}

/// A part of lambda that is updated at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The rows of lambda that this phase updates: all of them, unless every row has its own batch.
    pub rows: Range<usize>,
    /// The columns that it updates.
    pub columns: Range<usize>,
}

/// How a batch is cut: part of the results' definition, so it depends on the model alone and never
/// on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharding {
    /// Items in a shard, the unit of parallel work, at the most.
    pub items: usize,
    /// The same at the least, where a small batch would have too few shards for many threads.
    pub least: usize,
    /// Shards whose local results are held at once and gathered together.
    pub wave: usize,
}

/// Items in a shard of most models.
pub const SHARD: usize = 512;

impl Sharding {
    /// Shards that a batch has at the least, unless they would have too few items.
    const SHARDS: usize = 16;

    /// Items in a shard of a batch of this many.
    pub(crate) fn items_of(&self, batch: usize) -> usize {
        batch.div_ceil(Self::SHARDS).clamp(self.least.min(self.items), self.items).max(1)
    }

    /// For documents, which differ much in length: small shards keep all threads busy to the end. What is gathered
    /// together is a batch of the usual size, many times over.
    pub(crate) const OF_DOCS: Self = Sharding { items: 32, least: 8, wave: 128 };

    /// For models that sum item by item: as many shards as fit into a cache, within reason.
    pub(crate) fn for_dense(layout: &Layout) -> Self {
        const IN_CACHE: usize = 1 << 20; // numbers, 8 MB
        let affordable = IN_CACHE / (layout.n_rows * layout.raw_width).max(1);
        // All threads wait for each other between waves, which takes long where the machine is
        // shared; so waves are long.
        Sharding { items: SHARD, least: SHARD, wave: affordable.clamp(32, 256) }
    }
}
