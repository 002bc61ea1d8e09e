//! The central trait: everything SVI+ must know about a model, and nothing about noise, step sizes,
//! threads or files.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::math::rng::Address;
use crate::math::table::Table;

/// Summed statistics of a batch, before they become natural parameters: row r feeds row r of lambda.
pub type Stats = Table;

/// A conjugate-exponential-family model.
///
/// The global variables' natural parameters are a table, lambda; its rows are components, topics or
/// whatever the model has many of. One step of Algorithm 1 calls, in this order, [`refresh`],
/// [`local_step`] on every shard of the batch, and [`to_natural`] and [`in_domain`] on every row of
/// each phase. `docs/OWN_MODEL.md` walks through a complete model of under 200 lines.
///
/// [`refresh`]: Model::refresh
/// [`local_step`]: Model::local_step
/// [`to_natural`]: Model::to_natural
/// [`in_domain`]: Model::in_domain
pub trait Model: Sync {
    /// What the items are.
    type Data: Dataset;
    /// Expectations under q of the global variables: all that a local step reads, ready to be sent
    /// to another process.
    type Expect: Clone + Send + Sync + Serialize + DeserializeOwned;
    /// The buffers of one worker, so that a local step does not allocate.
    type Scratch: Send;

    /// The model's name, as the command line and the configuration spell it.
    fn name(&self) -> &'static str;

    /// The shape of lambda and of the raw statistics, and the phases of an update.
    fn layout(&self) -> Layout;

    /// eta: the prior's natural parameters of one row.
    fn prior(&self, row: usize, eta: &mut [f64]);

    /// A random start: fills lambda. `address` is where this start's random numbers live.
    fn start(&self, data: &Self::Data, address: Address, lambda: &mut Table) -> Result<()>;

    /// The expectations under q for this lambda.
    fn refresh(&self, lambda: &Table) -> Self::Expect;

    /// Fresh buffers for one worker.
    fn scratch(&self) -> Self::Scratch;

    /// The local step: finds q(theta_n) for every item n of the shard, adds `w_n E_q[t(theta_n)]` to
    /// `stats` if asked to, and writes each item's part of the bound, unweighted, to `bounds`.
    ///
    /// A pure function of its arguments: no randomness, no allocation, no input or output.
    fn local_step(
        &self,
        expect: &Self::Expect,
        shard: Shard<'_, Self::Data>,
        ask: Ask,
        scratch: &mut Self::Scratch,
        stats: &mut Stats,
        bounds: &mut [f64],
    );

    /// The linear map from raw statistics to the natural-parameter increment of one row, for the
    /// columns of `phase`. May read lambda (the phases before this one are already in it).
    fn to_natural(
        &self,
        _phase: usize,
        _lambda: &Table,
        raw: &Stats,
        row: usize,
        increment: &mut [f64],
    ) {
        increment.copy_from_slice(raw.row(row));
    }

    /// Is this row of lambda a valid natural parameter (positive, positive definite, finite)?
    fn in_domain(&self, row: usize, lambda: &[f64]) -> bool;

    /// Is this row at least as concentrated as its prior? The stricter test of the guard
    /// `reject-below-prior`; true of every noiseless update.
    fn above_prior(&self, row: usize, lambda: &[f64]) -> bool;

    /// E_q[ln p(beta) - ln q(beta)] with every constant.
    fn global_bound(&self, lambda: &Table) -> f64;

    /// Brings lambda into an equivalent or better form after a step, e.g. components sorted by
    /// size. Must not lower the bound of a noiseless full-batch step.
    fn settle(&self, _lambda: &mut Table) {}

    /// The log predictive density of each item, or a lower bound of it: by default the item's part
    /// of the bound.
    fn log_predictive(
        &self,
        lambda: &Table,
        shard: Shard<'_, Self::Data>,
        scratch: &mut Self::Scratch,
        out: &mut [f64],
    ) {
        let ask = Ask { stats: false };
        let layout = self.layout();
        let mut unused = Stats::new(layout.n_rows, layout.raw_width);
        self.local_step(&self.refresh(lambda), shard, ask, scratch, &mut unused, out);
    }
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
    /// Blocks of coordinates that are updated one after the other from the same raw statistics.
    pub phases: Vec<Phase>,
}

impl Layout {
    /// The usual layout: one phase that updates everything.
    pub fn one_phase(n_rows: usize, width: usize, raw_width: usize) -> Self {
        Layout { n_rows, width, raw_width, phases: vec![Phase { columns: 0..width }] }
    }
}

/// One block of coordinates: some columns of every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The columns of lambda that this phase updates.
    pub columns: Range<usize>,
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
}

/// What a local pass should produce beside the items' bounds.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Statistics; without them a pass only evaluates the bound.
    pub stats: bool,
}

/// A collection of items.
pub trait Dataset: Sync {
    /// N, the number of items.
    fn n_items(&self) -> usize;
    /// Each item's own weight; all 1 if absent. A weight of 2 counts as the item twice.
    fn item_weights(&self) -> Option<&[f64]> {
        None
    }
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
}
