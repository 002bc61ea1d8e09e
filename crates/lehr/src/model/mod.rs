//! The central trait: everything SVI+ must know about a model, and nothing about noise, step sizes,
//! threads or files.
//!
//! A coin, whose tosses are rows of 0 or 1: the smallest model there is.
//!
//! ```
//! use lehr::family::beta;
//! use lehr::model::*;
//! use lehr::{Points, Result};
//!
//! struct Coin;
//!
//! impl Model for Coin {
//!     type Data = Points;
//!     type Expect = (f64, f64); // E ln p, E ln(1 - p)
//!     type Pass = Shared<Stats>;
//!     type Scratch = [f64; 1];
//!
//!     fn name(&self) -> &'static str {
//!         "coin"
//!     }
//!
//!     // One row of lambda, q(p) = Beta(a, b); its statistics are the numbers of ones and zeros.
//!     fn layout(&self) -> Layout {
//!         Layout::one_phase(1, 2, 2)
//!     }
//!
//!     fn prior(&self, _hyper: &[f64], _row: usize, eta: &mut [f64]) {
//!         eta.fill(1.0);
//!     }
//!
//!     fn start(&self, _data: &Points, _address: Address, lambda: &mut Table) -> Result<()> {
//!         lambda.row_mut(0).fill(1.0);
//!         Ok(())
//!     }
//!
//!     fn refresh(&self, lambda: &Lambda, _rows: &RowSet, expect: &mut (f64, f64)) {
//!         let row = lambda.table().row(0);
//!         *expect = beta::expected_ln(row[0], row[1]);
//!     }
//!
//!     fn scratch(&self) -> [f64; 1] {
//!         [0.0]
//!     }
//!
//!     fn local_step(
//!         &self,
//!         &(ln_one, ln_zero): &(f64, f64),
//!         shard: Shard<'_, Points>,
//!         ask: Ask,
//!         x: &mut [f64; 1],
//!         sums: &mut Stats,
//!         bounds: &mut [f64],
//!     ) {
//!         for ((&n, &weight), bound) in shard.items.iter().zip(shard.weights).zip(bounds) {
//!             shard.data.copy_row(n as usize, x);
//!             *bound = if x[0] == 1.0 { ln_one } else { ln_zero };
//!             if ask.stats {
//!                 sums.row_mut(0)[usize::from(x[0] == 0.0)] += weight;
//!             }
//!         }
//!     }
//!
//!     fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
//!         lambda.iter().all(|&x| x > 0.0)
//!     }
//!
//!     fn global_bound(&self, lambda: &Lambda, _expect: &(f64, f64)) -> f64 {
//!         let row = lambda.table().row(0);
//!         -beta::divergence(row[0], row[1], 1.0, 1.0)
//!     }
//! }
//!
//! let tosses = Points::new(vec![1.0, 1.0, 0.0, 1.0], 1)?;
//! let fitted = lehr::fit(&Coin, &tosses).run()?;
//! assert_eq!(fitted.state.lambda.table().row(0), [4.0, 2.0]);
//! // Nothing is hidden, so that the bound is the evidence: 3! 1! / 5!.
//! assert!((fitted.outcome.bound - (6.0_f64 / 120.0).ln()).abs() < 1e-12);
//! # Ok::<(), lehr::Error>(())
//! ```

mod domain;
mod judge;
mod kicks;
mod layout;
mod learn;
mod local;
mod shard;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::settings::FitConfig;
use crate::step::engine::Engine;
use crate::step::pass::{Pass, ShardOf, SumsOf};

pub use crate::data::Dataset;
pub use crate::lambda::Lambda;
pub use crate::math::rng::{Address, Purpose};
pub use crate::math::table::Table;
pub use crate::stats::{RowSet, Stats};
pub use crate::step::per_row::PerRow;
pub use crate::step::shared::{Shared, SharedModel};
pub use crate::step::update::from_raw;
pub use domain::Domain;
pub(crate) use domain::{check_rows, guards_of};
pub use judge::{Judge, Scores, item_bounds, item_bounds_under};
pub(crate) use judge::{for_each_item, for_shards, mean_item_bound, score, weighted_mean};
pub use kicks::Kicking;
pub use layout::{Layout, Phase, SHARD, Sharding};
pub(crate) use learn::hyper_of;
pub use learn::{HyperStep, Learn};
pub use local::Local;
pub use shard::{Ask, RowShard, Shard, Target};

/// A conjugate-exponential-family model.
///
/// The global variables' natural parameters are a table, lambda; its rows are components, words or
/// whatever the model has many of. One step of Algorithm 1 calls, in this order, [`support`],
/// [`refresh`], [`local_step`] on every shard of the batch, and [`to_natural`] and [`in_domain`] on
/// every row of each phase. `docs/guide/own_model.md` walks through a complete model of under 200 lines.
///
/// Nine methods are required. Four more things a model may have are traits of their own, which
/// [`domain`], [`learner`], [`judge`] and [`kicks`] hand out: guards beyond the usual ones, hyperparameters that are
/// learned, scores of its own, and ways to leave an optimum.
///
/// [`support`]: Model::support
/// [`refresh`]: Model::refresh
/// [`local_step`]: Model::local_step
/// [`to_natural`]: Model::to_natural
/// [`in_domain`]: Model::in_domain
/// [`domain`]: Model::domain
/// [`learner`]: Model::learner
/// [`judge`]: Model::judge
/// [`kicks`]: Model::kicks
pub trait Model: Sync + Sized {
    /// What the items are.
    type Data: Dataset;
    /// Expectations under q of the global variables: all that a local step reads, ready to be sent
    /// to another process.
    type Expect: Clone + Default + Send + Sync + Serialize + DeserializeOwned;
    /// Whether all rows of lambda share a batch ([`Shared`], with what a shard's local steps leave
    /// behind: `Shared<Stats>` is usual), or every row has its own batch ([`PerRow`]).
    type Pass: Pass<Self>;
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

    /// The expectations under q for the given rows of this lambda.
    fn refresh(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Self::Expect);

    /// Fresh buffers for one worker.
    fn scratch(&self) -> Self::Scratch;

    /// The local step: finds q(theta_n) for every item n of the shard, adds what `w_n E_q[t(theta_n)]`
    /// needs to `sums` (which are clear) if asked to, and writes each item's part of the bound,
    /// unweighted, to `bounds` if asked to.
    ///
    /// With [`Shared`] the shard is a [`Shard`] and the sums a `&mut Stats` (or another [`Local`]).
    /// With [`PerRow`] the shard is a [`RowShard`], the sums are written row after row to a `&mut [f64]`,
    /// and `bounds` has a number for each row, asked for only where all weights are 1.
    ///
    /// A pure function of its arguments: no randomness, no input or output; allocation only for
    /// shards larger than any before.
    fn local_step(
        &self,
        expect: &Self::Expect,
        shard: ShardOf<'_, Self>,
        ask: Ask,
        scratch: &mut Self::Scratch,
        sums: SumsOf<'_, Self>,
        bounds: &mut [f64],
    );

    /// Is this row of lambda a valid natural parameter (positive, positive definite, finite)?
    fn in_domain(&self, row: usize, lambda: &[f64]) -> bool;

    /// E_q[ln p(beta) - ln q(beta)] with every constant. `expect` are the expectations of this lambda,
    /// at least for the rows of the last batch.
    fn global_bound(&self, lambda: &Lambda, expect: &Self::Expect) -> f64;

    /// The same for the statistics of a batch. The batch's own randomness hides what 8 bits of precision do to them, so
    /// a model may round here, but not in [`Model::refresh`], from which bounds and scores are computed.
    fn refresh_for_batch(&self, lambda: &Lambda, rows: &RowSet, expect: &mut Self::Expect) {
        self.refresh(lambda, rows, expect);
    }

    /// The rows of lambda that these items touch: the others neither need expectations nor get
    /// statistics. By default all; see [`Layout::lazy`].
    fn support(&self, _data: &Self::Data, _items: &[u32], rows: &mut RowSet) {
        rows.insert_all();
    }

    /// The expectations of some of the rows that `expect` holds, in the slots of `wanted`: what is sent to
    /// a worker. By default everything, for models whose items touch all rows.
    fn pick(&self, expect: &Self::Expect, _held: &RowSet, _wanted: &RowSet) -> Self::Expect {
        expect.clone()
    }

    /// The linear map from raw statistics to the natural-parameter increment of one row, for the
    /// columns of a phase.
    fn to_natural(&self, target: Target<'_>, raw: &Stats, increment: &mut [f64]) {
        increment.copy_from_slice(raw.row(target.row));
    }

    /// Fills in what suits this model better than the usual defaults, where the user says nothing.
    fn fit_defaults(&self, _config: &mut FitConfig) {}

    /// How a batch is cut into pieces.
    fn sharding(&self) -> Sharding {
        Sharding::for_dense(&self.layout())
    }

    /// Brings lambda into an equivalent form after an update: components sorted by size. Must not lower
    /// the bound of a noiseless full-batch step.
    fn sort_components(&self, _lambda: &mut Lambda) {}

    /// Numbers per item with which its next local step can start; 0 if all start from scratch.
    fn warm_width(&self) -> usize {
        0
    }

    /// Where the local steps on these data run, if not on the threads of a pool as usual.
    fn engine<'a>(&'a self, _data: &'a Self::Data) -> Result<Option<Box<dyn Engine<Self> + 'a>>> {
        Ok(None)
    }

    /// Guards and tests of the domain beyond [`Model::in_domain`].
    fn domain(&self) -> Option<&dyn Domain<Self>> {
        None
    }

    /// Hyperparameters, and how they are learned.
    fn learner(&self) -> Option<&dyn Learn<Self>> {
        None
    }

    /// Scores and measures of its own. Without them held-out items are scored by their parts of the bound.
    fn judge(&self) -> Option<&dyn Judge<Self>> {
        None
    }

    /// Ways to leave an optimum. Without them a search makes fresh starts with the hyperparameters learned so far.
    fn kicks(&self) -> Option<&dyn Kicking<Self>> {
        None
    }
}
