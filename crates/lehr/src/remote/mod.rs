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
//!
//! All of it in one process:
//!
//! ```
//! use std::path::PathBuf;
//!
//! use lehr::remote::{Hands, OnWorkers, Take, Task, Works, worker};
//! use lehr::shards::make_points;
//! use lehr::{Mixture, MixtureParams, Result};
//!
//! struct OneWorker(PathBuf, Option<Box<dyn Works>>);
//!
//! impl Hands for OneWorker {
//!     fn model(&mut self, model: Vec<u8>) -> Result<()> {
//!         self.1 = Some(worker(&model, &self.0)?);
//!         Ok(())
//!     }
//!
//!     fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> Result<()> {
//!         let tasks: Vec<(usize, &[u8])> = tasks.iter().map(|(at, task)| (*at, &task[..])).collect();
//!         let replies = self.1.as_mut().expect("the model comes first").run(&common, &tasks)?;
//!         take(&replies.iter().map(Vec::as_slice).collect::<Vec<_>>())
//!     }
//! }
//!
//! let place = tempfile::tempdir()?;
//! let (file, shards) = (place.path().join("points.csv"), place.path().join("points.shards"));
//! let rows: String = (0..90).map(|n| format!("{}\n", n % 3 * 50 + n)).collect();
//! std::fs::write(&file, format!("x\n{rows}"))?;
//! make_points(&[file], &Default::default(), 2, &shards)?;
//! let points = lehr::read::points(&shards, &Default::default())?;
//! let mixture = Mixture::new(MixtureParams::gmm(3), &points)?;
//!
//! let mut hands = OneWorker(shards, None);
//! let there = lehr::fit(&mixture, &points).driver(&OnWorkers::new(&mut hands)).run()?;
//! let here = lehr::fit(&mixture, &points).run()?;
//! assert_eq!(there.outcome.bound, here.outcome.bound);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
