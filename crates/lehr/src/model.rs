//! The central trait: everything SVI+ must know about a model, and nothing about noise, step sizes,
//! threads or files.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::Side;
use crate::error::Advice;
use crate::lambda::Lambda;
use crate::math::rng::Address;
use crate::math::table::Table;
use crate::settings::FitConfig;
use crate::step::sample::BlockList;
use crate::step::update::Guard;
use crate::{Error, Result};

pub use crate::stats::{RowSet, Stats};

/// A conjugate-exponential-family model.
///
/// The global variables' natural parameters are a table, lambda; its rows are components, words or
/// whatever the model has many of. One step of Algorithm 1 calls, in this order, [`support`],
/// [`refresh`], [`local_step`] on every shard of the batch, and [`to_natural`] and [`in_domain`] on
/// every row of each phase. Where every row is a block of its own ([`Blocks::PerRow`]), each phase has
/// its own pass, of [`row_step`]. `docs/OWN_MODEL.md` walks through a complete model of under 200 lines;
/// everything with a default body is for models that need it.
///
/// [`support`]: Model::support
/// [`refresh`]: Model::refresh
/// [`local_step`]: Model::local_step
/// [`row_step`]: Model::row_step
/// [`to_natural`]: Model::to_natural
/// [`in_domain`]: Model::in_domain
pub trait Model: Sync + Sized {
    /// What the items are.
    type Data: Dataset;
    /// Expectations under q of the global variables: all that a local step reads, ready to be sent
    /// to another process.
    type Expect: Clone + Default + Send + Sync + Serialize + DeserializeOwned;
    /// What the local steps of one shard leave behind for the statistics: [`Stats`], if they are
    /// summed item by item.
    type Local: Local<Self::Expect>;
    /// The buffers of one worker, so that a local step does not allocate.
    type Scratch: Send;

    /// The model's name, as the command line and the configuration spell it.
    fn name(&self) -> &'static str;

    /// The shape of lambda and of the raw statistics, and the phases of an update.
    fn layout(&self) -> Layout;

    /// eta: the prior's natural parameters of one row. `hyper` are [`Lambda::hyper`].
    fn prior(&self, hyper: &[f64], row: usize, eta: &mut [f64]);

    /// A random start: fills lambda. `address` is where this start's random numbers live.
    fn start(&self, data: &Self::Data, address: Address, lambda: &mut Table) -> Result<()>;

    /// The rows of lambda that these items touch: the others neither need expectations nor get
    /// statistics. By default all; see [`Layout::lazy`].
    fn support(&self, _data: &Self::Data, _items: &[u32], rows: &mut RowSet) {
        rows.insert_all();
    }

    /// The expectations under q for the given rows of this lambda.
    fn refresh(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Self::Expect);

    /// Fresh buffers for one worker.
    fn scratch(&self) -> Self::Scratch;

    /// The local step: finds q(theta_n) for every item n of the shard, adds what `w_n E_q[t(theta_n)]`
    /// needs to `local` (which is clear) if asked to, and writes each item's part of the bound,
    /// unweighted, to `bounds` if asked to.
    ///
    /// A pure function of its arguments: no randomness, no input or output; allocation only for
    /// shards larger than any before.
    fn local_step(
        &self,
        expect: &Self::Expect,
        shard: Shard<'_, Self::Data>,
        ask: Ask,
        scratch: &mut Self::Scratch,
        local: &mut Self::Local,
        bounds: &mut [f64],
    );

    /// The local step of a model whose rows are blocks of their own: writes the weighted statistics of
    /// each row of the shard to `stats`, row after row, and each row's part of the bound to `bounds` if
    /// asked to, which is only where all weights are 1.
    ///
    /// A pure function of its arguments, like [`Model::local_step`].
    fn row_step(
        &self,
        _expect: &Self::Expect,
        _shard: RowShard<'_, Self::Data>,
        _ask: Ask,
        _scratch: &mut Self::Scratch,
        _stats: &mut [f64],
        _bounds: &mut [f64],
    ) {
        unreachable!("only models with blocks per row have row steps");
    }

    /// The linear map from raw statistics to the natural-parameter increment of one row, for the
    /// columns of a phase.
    fn to_natural(&self, place: Place<'_>, raw: &Stats, increment: &mut [f64]) {
        increment.copy_from_slice(raw.row(place.row));
    }

    /// Is this row of lambda a valid natural parameter (positive, positive definite, finite)?
    fn in_domain(&self, row: usize, lambda: &[f64]) -> bool;

    /// Is this row at least as concentrated as its prior (in PMF: half of it)? The stricter test of
    /// the guard `reject-below-prior`; true of every noiseless update.
    fn above_prior(&self, hyper: &[f64], row: usize, lambda: &[f64]) -> bool;

    /// Whether noiseless updates cannot leave the domain, whatever the rounding: then they are not
    /// tested, which takes as long as a solve where the domain is that of positive definite matrices.
    fn is_always_valid_when_quiet(&self) -> bool {
        false
    }

    /// Tests neighbouring proposals at once: `proposals` holds those of `rows`, one after the other.
    /// By default [`Model::in_domain`] and, if `strict`, [`Model::above_prior`] of each.
    fn check_rows(
        &self,
        hyper: &[f64],
        rows: &[usize],
        proposals: &[f64],
        strict: bool,
        valid: &mut [bool],
    ) {
        let width = proposals.len() / rows.len().max(1);
        for ((valid, &row), new) in valid.iter_mut().zip(rows).zip(proposals.chunks_exact(width)) {
            *valid = self.in_domain(row, new) && (!strict || self.above_prior(hyper, row, new));
        }
    }

    /// E_q[ln p(beta) - ln q(beta)] with every constant. `expect` are the expectations of this lambda,
    /// at least for the rows of the last batch.
    fn global_bound(&self, lambda: &Lambda, expect: &Self::Expect) -> f64;

    /// Fills in what suits this model better than the usual defaults, where the user says nothing.
    fn fit_defaults(&self, _config: &mut FitConfig) {}

    /// The guards that make sense for this model; the first is the default.
    fn guards(&self) -> &'static [Guard] {
        Guard::OF_ROWS
    }

    /// How a batch is cut into pieces.
    fn sharding(&self) -> Sharding {
        Sharding::for_dense(&self.layout())
    }

    /// Brings lambda into an equivalent or better form after a step, e.g. components sorted by
    /// size. Must not lower the bound of a noiseless full-batch step.
    fn settle(&self, _lambda: &mut Lambda) {}

    /// Hyperparameters to be learned by point estimates, as they are at the start.
    fn hyper(&self) -> Vec<f64> {
        Vec::new()
    }

    /// How many numbers [`Local::add_hyper`] sums.
    fn hyper_width(&self) -> usize {
        0
    }

    /// Learns the hyperparameters after all updates of a step, and whatever else needs the state as a
    /// whole. Must not lower the bound of a noiseless full-batch step.
    ///
    /// Where every row is a block of its own, `expect` is up to date and must stay so; elsewhere it is
    /// of before the update, and will be refreshed.
    fn learn_hyper(&self, _step: HyperStep<'_>, _lambda: &mut Lambda, _expect: &mut Self::Expect) {}

    /// A row of lambda for which there are no expectations, since rounding has taken it out of its
    /// domain, and what to do about it. For models whose noiseless updates are not tested.
    fn broken(&self, _expect: &Self::Expect) -> Option<(usize, Advice)> {
        None
    }

    /// Numbers per item with which its next local step can begin; 0 if all begin afresh.
    fn warm_width(&self) -> usize {
        0
    }

    /// How many random training items the bound is estimated from when steps use batches; `None` is
    /// all of them, which takes as long as an epoch.
    fn bound_sample(&self) -> Option<usize> {
        None
    }

    /// How many words so many items have, in models of words: what a perplexity is per.
    fn words(&self, _population: usize) -> Option<f64> {
        None
    }

    /// Numbers about this state that belong in the trace, `population` being N.
    fn measures(&self, _lambda: &Lambda, _population: usize) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// How well the model predicts items that it was not fitted to, `population` being the number
    /// of those it was fitted to. By default the mean of [`Model::log_predictive`].
    fn score(&self, lambda: &Lambda, data: &Self::Data, _population: usize) -> Scores {
        let main = crate::run::objective::mean_log_predictive(self, lambda, data);
        Scores { main, named: Vec::new() }
    }

    /// The log predictive density of each item, or a lower bound of it: by default the item's part
    /// of the bound.
    fn log_predictive(
        &self,
        lambda: &Lambda,
        shard: Shard<'_, Self::Data>,
        scratch: &mut Self::Scratch,
        out: &mut [f64],
    ) {
        let mut expect = Self::Expect::default();
        self.refresh(lambda, shard.rows, &mut expect);
        let mut unused = Self::Local::new(&self.layout());
        self.local_step(&expect, shard, Ask::EVALUATE, scratch, &mut unused, out);
    }
}

/// What the local steps of a shard leave behind, and how that becomes statistics.
///
/// [`Stats`] is the usual one: each shard sums for itself, and the shards' sums are added in order.
/// A model with many rows keeps its items' q instead and sums row by row over all shards.
pub trait Local<Expect>: Send + Sync + Sized {
    /// Room for one shard.
    fn new(layout: &Layout) -> Self;

    /// Forgets the last shard, keeping the memory.
    fn clear(&mut self);

    /// Adds the statistics of all `shards`, in order, to `out`: those of the rows in `slots`.
    fn gather(
        shards: &[Self],
        expect: &Expect,
        rows: &RowSet,
        slots: Range<usize>,
        ask: Ask,
        out: &mut [f64],
    );

    /// Adds what [`Model::learn_hyper`] needs, unweighted.
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
    fn new(layout: &Layout) -> Self {
        Stats::new(layout.n_rows, layout.raw_width)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn gather(
        shards: &[Self],
        _expect: &Expect,
        _rows: &RowSet,
        slots: Range<usize>,
        _ask: Ask,
        out: &mut [f64],
    ) {
        // Each entry's sum runs over the shards in order.
        for shard in shards {
            out.iter_mut().zip(shard.slots(slots.clone())).for_each(|(o, p)| *o += p);
        }
    }
}

/// How a batch is cut: part of the results' definition, so it depends on the model alone and never
/// on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharding {
    /// Items in a shard, the unit of parallel work.
    pub items: usize,
    /// Shards whose local results are held at once and gathered together.
    pub wave: usize,
}

/// Items in a shard of most models.
pub const SHARD: usize = 512;

impl Sharding {
    /// For models that sum item by item: as many shards as fit into a cache, within reason.
    fn for_dense(layout: &Layout) -> Self {
        const IN_CACHE: usize = 1 << 20; // numbers, 8 MB
        let affordable = IN_CACHE / (layout.n_rows * layout.raw_width).max(1);
        // All threads wait for each other between waves, which takes long where the machine is
        // shared; so waves are long.
        Sharding { items: SHARD, wave: affordable.clamp(32, 256) }
    }
}

/// An update of hyperparameters.
#[derive(Debug, Clone, Copy)]
pub struct HyperStep<'a> {
    /// t.
    pub step: u64,
    /// rho_t.
    pub rho: f64,
    /// |S|.
    pub batch: usize,
    /// Whether the batch is everything.
    pub full: bool,
    /// Whether an epoch ends with this step.
    pub epoch_ends: bool,
    /// The sums of [`Local::add_hyper`] over the batch.
    pub sums: &'a [f64],
    /// The statistics of the last pass, as the guard has left them.
    pub raw: &'a Stats,
    /// Where every row is a block of its own: those of the last pass.
    pub blocks: Option<&'a BlockList>,
}

/// How well a model predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The one to choose by; higher is better.
    pub main: f64,
    /// Others, by name.
    pub named: Vec<(&'static str, f64)>,
}

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
    /// What shares a batch.
    pub blocks: Blocks,
    /// Whether rows that a batch does not touch are left to decay lazily (see [`crate::lambda`]):
    /// for models with very many rows of equal priors, one phase, and a
    /// [`Model::support`] that is not everything.
    pub lazy: bool,
}

impl Layout {
    /// The usual layout: one phase that updates everything.
    pub fn one_phase(n_rows: usize, width: usize, raw_width: usize) -> Self {
        let phases = vec![Phase { rows: 0..n_rows, columns: 0..width }];
        Layout { n_rows, width, raw_width, phases, blocks: Blocks::One, lazy: false }
    }

    /// The phases that each local pass of a step is followed by.
    pub fn passes(&self) -> Vec<Range<usize>> {
        let n_phases = self.phases.len();
        let in_a_pass = match self.blocks {
            Blocks::One => n_phases,
            Blocks::PerRow => 1,
        };
        (0..n_phases).step_by(in_a_pass.max(1)).map(|phase| phase..phase + in_a_pass).collect()
    }
}

/// A part of lambda that is updated at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The rows of lambda that this phase updates: all of them, unless every row is a block.
    pub rows: Range<usize>,
    /// The columns that it updates.
    pub columns: Range<usize>,
}

/// What the paper's |S|, N, M and mean of the noise belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// One batch for all rows. All phases use its statistics.
    One,
    /// Every row is a global variable with items of its own, which are its |S| and N. Each phase has
    /// its own rows, which share their prior, and a local pass that sees what the phases before it
    /// have done.
    PerRow,
}

/// Some items and their weights: the unit of work of a local step.
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
    /// [`Model::warm_width`] numbers for each item, all 0 if it has no state yet; or none at all: then
    /// all begin afresh and none is kept.
    pub warm: &'a [f32],
}

/// Some rows that are blocks of their own, and their items: the unit of work of a row step.
#[derive(Debug)]
pub struct RowShard<'a, D> {
    /// All items.
    pub data: &'a D,
    /// The phase that these rows belong to.
    pub phase: usize,
    /// The rows, rising.
    pub rows: &'a [u32],
    /// Where each row's items begin; one more for the end of the last row's.
    pub starts: &'a [usize],
    /// The items in the phase's order ([`Dataset::groups`]), the first row's at 0; `None` if they are all
    /// that lie between the starts.
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
pub struct Place<'a> {
    /// [`Lambda::hyper`].
    pub hyper: &'a [f64],
    /// The phase, which says which columns.
    pub phase: usize,
    /// The row.
    pub row: usize,
    /// The row as it is: the phases before this one are already in it.
    pub old: &'a [f64],
}

/// What a local pass should produce.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

/// A collection of items.
pub trait Dataset: Sync {
    /// What messages call the items.
    const ITEMS: &'static str = "items";

    /// N, the number of items.
    fn n_items(&self) -> usize;
    /// Each item's own weight; all 1 if absent. A weight of 2 counts as the item twice.
    fn item_weights(&self) -> Option<&[f64]> {
        None
    }
    /// What is wrong with items that were read in place and found damaged.
    fn fault(&self) -> Option<Error> {
        None
    }
    /// Where the items of each row of a phase begin, and the end of the last row's: for models whose
    /// rows are blocks of their own. Each phase has an order of its own, in which a row's items are
    /// neighbours.
    fn groups(&self, _phase: usize) -> &[usize] {
        &[]
    }
    /// The largest |S| that a block can have.
    fn largest_block(&self) -> usize {
        self.n_items()
    }
    /// So many items have just been read and are not needed for now: data that live in a file may
    /// let go of memory.
    fn release(&self, _n_items: usize) {}
}

impl Dataset for crate::data::Points {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn item_weights(&self) -> Option<&[f64]> {
        self.weights()
    }
}

impl Dataset for crate::data::Docs {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn fault(&self) -> Option<Error> {
        self.fault()
    }

    fn release(&self, n_items: usize) {
        self.release_after(n_items);
    }
}

impl Dataset for crate::data::Ratings {
    const ITEMS: &'static str = "ratings";

    fn n_items(&self) -> usize {
        self.n_ratings()
    }

    fn groups(&self, phase: usize) -> &[usize] {
        let side = if phase == 0 { Side::User } else { Side::Item };
        self.side(side).starts()
    }

    fn largest_block(&self) -> usize {
        let largest = |phase| self.groups(phase).windows(2).map(|pair| pair[1] - pair[0]).max();
        largest(0).max(largest(1)).unwrap_or(0)
    }
}
