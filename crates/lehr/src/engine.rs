//! Engines: where the local steps of a fit run, and what their workers are sent and send back.
//!
//! A fit runs on the threads of its process unless [`fit_on`](crate::fit::fit_on) gives it another engine. An
//! [`Engine`] owns the items; the fit knows their number and nothing else of them. It is asked for the rows of
//! lambda that some items touch ([`Engine::support`]) and for the weighted statistics of a batch
//! ([`Engine::sum`]), and may fail. [`Task`] and [`Reply`] are what one worker needs and returns, as values that
//! serialise; [`Gather`] adds replies up in the order of the shards, so that the bits do not depend on who has
//! run them. `tests/engines.rs` is a complete engine.

pub use crate::step::engine::{Engine, Later, Sizes, Sums, Threads, Work};
pub use crate::step::message::{Reply, RowReply, RowTask, Task};
pub use crate::step::pass::{BatchOf, Pass, ShardOf, SumsOf};
pub use crate::step::sample::{Batch, RowBatch};
pub use crate::step::shared::{Gather, Shards};
pub use crate::step::warm::Warm;
