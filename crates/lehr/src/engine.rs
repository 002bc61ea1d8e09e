//! Engines: where the local steps of a fit run, and what their workers are sent and send back.
//!
//! A fit runs on the threads of its process unless [`fit_on`](crate::fit::fit_on) gives it another engine. An
//! [`Engine`] owns the items; the fit knows their number and nothing else of them. It is asked for the rows of
//! lambda that some items touch ([`Engine::support`]) and for the weighted statistics of a batch
//! ([`Engine::sum`]), and may fail. [`Gather`] adds up what shards leave behind in the order of the shards, so that the
//! bits do not depend on who has run them. [`Remote`](crate::remote::Remote) is the engine of models whose rows share a
//! batch; where every row has its own, [`RowTask`] and [`RowReply`] are what one worker needs and returns, and
//! `tests/engines.rs` is a complete engine.

pub use crate::step::engine::{Advance, Engine, Holder, Later, Sizes, Sums, Threads, Work};
pub use crate::step::message::{RowReply, RowTask};
pub use crate::step::pass::{BatchOf, Pass, ShardOf, SumsOf};
pub use crate::step::sample::{Batch, RowBatch};
pub use crate::step::shards::Shards;
pub use crate::step::shared::Gather;
pub use crate::step::warm::Warm;
