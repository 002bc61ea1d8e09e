//! Engines: where the local steps of a fit run, and what their workers are sent and send back.
//!
//! A fit runs on the threads of its process unless [`fit_on`](crate::fit::fit_on) gives it another engine. An
//! [`Engine`] owns the items; the fit knows their number and nothing else of them. It is asked for the rows of
//! lambda that some items touch ([`Engine::support`]) and for the weighted statistics of a batch
//! ([`Engine::sum`]), and may fail. [`Gather`] adds up what shards leave behind in the order of the shards, so that the
//! bits do not depend on who has run them. [`Remote`](crate::remote::Remote) is the engine of models whose rows share a
//! batch; where every row has its own, [`RowTask`] and [`RowReply`] are what one worker needs and returns, and
//! `tests/engines.rs` is a complete engine.
//!
//! An engine that counts what is asked of it, and leaves the work to [`Threads`]:
//!
//! ```
//! use lehr::engine::{Engine, Sizes, Sums, Threads, Warm, Work};
//! use lehr::fit::fit_on;
//! use lehr::model::{RowSet, Stats};
//! use lehr::{Mixture, MixtureParams, Points, Result, State};
//!
//! struct Counting<'a>(Threads<'a, Mixture>, usize);
//!
//! impl Engine<Mixture> for Counting<'_> {
//!     fn sizes(&self) -> &Sizes {
//!         self.0.sizes()
//!     }
//!
//!     fn support(&mut self, model: &Mixture, items: &[u32], rows: &mut RowSet) -> Result<()> {
//!         self.0.support(model, items, rows)
//!     }
//!
//!     fn sum(&mut self, work: Work<'_, Mixture>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
//!         self.1 += 1;
//!         self.0.sum(work, warm, stats)
//!     }
//! }
//!
//! let points = Points::new((0..60).map(|n| f64::from(n % 3 * 50 + n)).collect(), 1)?;
//! let mixture = Mixture::new(MixtureParams::gmm(3), &points)?;
//! let mut engine = Counting(Threads::new(&mixture, &points), 0);
//! let start = State::start(&mixture, &points, 0, 0)?;
//! let fitted = fit_on(&mixture, &mut engine).from(start).run()?;
//! assert!(engine.1 as u64 >= fitted.outcome.steps);
//! # Ok::<(), lehr::Error>(())
//! ```

pub use crate::step::engine::{Advance, Engine, Holder, Later, Sizes, Sums, Threads, Work};
pub use crate::step::message::{RowReply, RowTask};
pub use crate::step::pass::{BatchOf, Pass, ShardOf, SumsOf};
pub use crate::step::sample::{Batch, RowBatch};
pub use crate::step::shards::Shards;
pub use crate::step::shared::Gather;
pub use crate::step::warm::Warm;
