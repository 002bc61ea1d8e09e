//! Fits whose local steps are made elsewhere, on the shards of a folder: the driver's side and the workers'.
//!
//! [`Remote`] is an [`Engine`](crate::engine::Engine): it cuts a pass into tasks, one for each shard of the folder
//! that the batch touches, and [`Hands`] has them done, wherever that is. A worker ([`Works`]) opens shards and does tasks. A task
//! is a pure function of what is sent, so that one that was lost is done again by another process, with the same bits; and
//! replies are summed in the order of the shards, so that it does not matter who has sent them.
//!
//! What travels, of one pass:
//!
//! | to | what |
//! |---|---|
//! | every worker | the rows of lambda that the batch touches, their expectations, and where the noise is to be drawn from |
//! | who has a shard | the items of the batch that are in the shard, and those of the next batch |
//! | back | q of those items (topics) or their sums (mixtures), their part of the bound, and the rows of the next batch |

mod driver;
mod engine;
mod model;
mod users;
mod users_wire;
mod users_worker;
mod wire;
mod worker;

pub use driver::{OnShards, OnWorkers};
pub use engine::{Hands, Remote, Take, Task};
pub use model::pack;
pub(crate) use users::Users;
pub use worker::{Works, worker};
