//! Where line 5 of Algorithm 1 runs: an engine holds the items and sums their statistics, on threads here or
//! on workers elsewhere. The loop knows the sizes of the data and nothing else of them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::lambda::Lambda;
use crate::model::{Ask, Dataset, Model, RowSet, Stats};
use crate::step::guard::Guard;
use crate::step::pass::{BatchOf, Pass};
use crate::step::update::Guarded;
use crate::step::warm::Warm;

/// What is known of data where they are not: how many items there are, and how many each row has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// N, the number of items.
    pub n_items: usize,
    /// Where every row has its own batch: for each phase where the items of each of its rows start,
    /// and the end of the last row's.
    pub groups: Vec<Vec<usize>>,
    /// Where the items of each part start, and the end of the last; empty if they are all in one place.
    pub parts: Vec<usize>,
}

impl Sizes {
    /// The sizes of data, for a model of this many phases.
    pub fn of<D: Dataset>(data: &D, n_phases: usize) -> Self {
        let groups = (0..n_phases).map(|phase| data.groups(phase).to_vec());
        let groups = groups.take_while(|groups| !groups.is_empty()).collect();
        Sizes { n_items: data.n_items(), groups, parts: data.parts().to_vec() }
    }

    /// The part that an item is in, and its number there.
    pub fn place(&self, item: u32) -> (usize, u32) {
        let part = part_of(&self.parts, item);
        (part, item - self.parts.get(part).map_or(0, |&first| first as u32))
    }
}

/// The part that an item is in, `parts` being where each starts.
pub(crate) fn part_of(parts: &[usize], item: u32) -> usize {
    parts.partition_point(|&first| first <= item as usize).saturating_sub(1)
}

/// The work of a local pass.
pub struct Work<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The expectations of the rows that the batch touches.
    pub expect: &'a M::Expect,
    /// S_t and its weights.
    pub batch: &'a BatchOf<M>,
    /// What to produce.
    pub ask: Ask,
    /// Whether the statistics may stay with the engine until [`Engine::later`] is asked for them, row by row.
    pub defers: bool,
}

/// What a local pass found besides the statistics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    /// The unweighted bound of the items of S_t; 0 if it was not asked for.
    pub bound: f64,
    /// What learning hyperparameters needs, summed over the items.
    pub hyper: Vec<f64>,
    /// Iterations of all local steps, if they iterate.
    pub iterations: u64,
    /// Seconds that went into noise, where workers draw it.
    pub noise_seconds: f64,
    /// Whether the statistics are still with the engine.
    pub deferred: bool,
}

/// Statistics that are summed when they are asked for: a row is then written while its statistics are in a cache, and
/// there is no table of them that would be written to memory and read again.
pub trait Later<Expect>: Sync {
    /// The statistics of [`RowSet::part`] slots, or of the last ones.
    fn rows(&self, expect: &Expect, rows: &RowSet, slots: Range<usize>, ask: Ask, out: &mut [f64]);
}

/// Runs local passes somewhere. Whatever the engine and however many workers it has, the sums have the same
/// bits if they are added in the order of the shards.
pub trait Engine<M: Model>: Send {
    /// The sizes of the data that it holds.
    fn sizes(&self) -> &Sizes;

    /// The rows of lambda that these items touch, each counted as often as they do.
    fn support(&mut self, model: &M, items: &[u32], rows: &mut RowSet) -> Result<()>;

    /// `stats <- sum_n w_n E_q[t_n]` for the rows in `stats.rows`, if asked for. Items start from
    /// `warm`, if it is on, and leave their local state there if statistics are asked for.
    fn sum(&mut self, work: Work<'_, M>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums>;

    /// Whether it gains by knowing from [`Engine::ahead`] what comes next.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// The items of the next step: while an engine hands out the work of this one, it can find out which rows those
    /// touch.
    fn ahead(&mut self, _items: Vec<u32>) {}

    /// The statistics of the last pass, if they were deferred. An engine that hands its work on to another one hands
    /// this on as well.
    fn later(&self) -> Option<&dyn Later<M::Expect>> {
        None
    }

    /// The engine as one with which the rows of the first phase live, if it is such a one.
    fn holder(&mut self) -> Option<&mut dyn Holder<M>> {
        None
    }
}

/// An engine with which the rows of the first phase live, with their items: it updates them itself, and lambda has
/// them as [`Holder::fetch`] last brought them.
pub trait Holder<M: Model> {
    /// A fit starts at this lambda. Makes the expectations of the rows that are not kept.
    fn begin(&mut self, model: &M, lambda: &Lambda, expect: &mut M::Expect) -> Result<()>;

    /// The update of the rows that are kept: lines 5 and 6 of the step's first pass.
    fn advance(&mut self, advance: Advance<'_, M>, expect: &mut M::Expect) -> Result<Guarded>;

    /// Brings the rows that are kept into lambda, as they are now.
    fn fetch(&mut self, expect: &M::Expect, lambda: &mut Lambda) -> Result<()>;

    /// How many updates the rows that are kept have had.
    fn mark(&self) -> u64;

    /// Puts the rows that are kept back to where they were at a mark since the last [`Holder::fetch`].
    fn back(&mut self, mark: u64, expect: &M::Expect);
}

/// An update of rows that an engine keeps.
pub struct Advance<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The hyperparameters.
    pub hyper: &'a [f64],
    /// The batch of the rows.
    pub batch: &'a BatchOf<M>,
    /// The batch of the pass that follows, which sees the new rows.
    pub next: &'a BatchOf<M>,
    /// rho of rows without noise, and of noisy ones.
    pub rho: [f64; 2],
    /// What to do with rows that noise would push out of their domain.
    pub guard: Guard,
}

/// The threads of the surrounding rayon pool, on items in this process.
pub struct Threads<'a, M: Model> {
    /// The items.
    pub(crate) data: &'a M::Data,
    sizes: Sizes,
    /// One per thread, which alone uses it; the lock only proves that to the compiler.
    workers: Vec<Mutex<Worker<M>>>,
    /// What the pass keeps.
    pub(crate) buffers: <M::Pass as Pass<M>>::Buffers,
    /// Whether a pass is under way.
    busy: bool,
}

/// The buffers of a thread.
pub(crate) struct Worker<M: Model> {
    pub scratch: M::Scratch,
    /// The annealing weights of a shard of rows.
    pub weights: Vec<f32>,
}

impl<'a, M: Model> Threads<'a, M> {
    /// An engine for these items. Buffers are made at the first pass.
    pub fn new(model: &M, data: &'a M::Data) -> Self {
        let sizes = Sizes::of(data, model.layout().phases.len());
        Threads { data, sizes, workers: Vec::new(), buffers: Default::default(), busy: false }
    }

    /// Makes sure that every thread of the pool has its buffers.
    pub(crate) fn reserve(&mut self, model: &M) {
        let n_threads = rayon::current_num_threads();
        self.workers.resize_with(n_threads.max(self.workers.len()), || {
            Mutex::new(Worker { scratch: model.scratch(), weights: Vec::new() })
        });
    }

    /// The items, the threads' buffers, and the pass's.
    pub(crate) fn parts(
        &mut self,
    ) -> (&'a M::Data, Workers<'_, M>, &mut <M::Pass as Pass<M>>::Buffers) {
        (self.data, Workers(&self.workers), &mut self.buffers)
    }
}

/// The buffers of all threads.
pub(crate) struct Workers<'a, M: Model>(&'a [Mutex<Worker<M>>]);

impl<M: Model> Workers<'_, M> {
    /// Does work with the buffers of the thread that runs it. Outside of a pool of ours these are the threads
    /// of the global one, numbered as well.
    pub fn with<T>(&self, work: impl FnOnce(&mut Worker<M>) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        work(&mut self.0[thread].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<M: Model> Engine<M> for Threads<'_, M> {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn support(&mut self, model: &M, items: &[u32], rows: &mut RowSet) -> Result<()> {
        model.support(self.data, items, rows);
        Ok(())
    }

    fn sum(&mut self, work: Work<'_, M>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        if std::mem::replace(&mut self.busy, true) {
            // The last pass was cut short: what it has left in the buffers is half done.
            self.workers.clear();
            self.buffers = Default::default();
        }
        self.reserve(work.model);
        let sums = M::Pass::sum_on_threads(self, work, warm, stats);
        self.busy = false;
        self.data.fault().map_or(Ok(sums), Err)
    }

    fn later(&self) -> Option<&dyn Later<M::Expect>> {
        M::Pass::later(&self.buffers)
    }
}
