//! What a fit leaves behind, kept in a directory or in memory, and how it goes on from there.
//!
//! A [`Run`] is a fit with its model, its configuration, its progress, its trace and its result. [`fit`] is
//! the one way to make one; while it runs, a [`Sink`] keeps it, which is a run directory ([`Disk`]) or
//! nothing but the memory ([`Memory`]). One word for each thing:
//!
//! | name | what it is | file |
//! |---|---|---|
//! | [`RunConfig`] | all that is needed to do the run again | `config.json` |
//! | [`Observation`](crate::fit::Observation) | a line of the trace | `trace.jsonl` |
//! | [`Saved`] | where the fit stands: under way, or at its end | [`checkpoint`] |
//! | [`RunResult`] | how it ended | `result.json` |
//! | sidecar | a file that the model adds ([`Stored::SIDECARS`](crate::models::Stored::SIDECARS)) | `vocabulary.tsv`, ... |
//! | [`RunDirectory`] | all of these, of one run | |
//! | [`Files`] | the same files, wherever they are: in a folder, or packed into bytes | |

pub mod checkpoint;
mod checkpoints;
mod directory;
mod disk;
mod files;
mod items;
mod lock;
mod open;
pub mod path_text;
mod result;
mod resume;
mod run;
mod run_config;
mod saved;
mod session;
mod sidecar;
mod sink;
pub(crate) mod tensors;
mod trace_file;

pub use directory::RunDirectory;
pub use disk::Disk;
pub use files::{Files, Folder};
pub use items::{Begin, Items, held_out};
pub(crate) use lock::lock_folder;
pub use open::Loaded;
pub use result::RunResult;
pub(crate) use resume::no_pipe;
pub use resume::{resume, resume_with};
pub use run::Run;
pub use run_config::{Cpu, DataSource, Extension, FORMAT, RunConfig};
pub use saved::Saved;
pub use session::{fit, fit_file, fit_file_into, fit_with, update_file};
pub use sidecar::{Keep, Sum, Sums};
pub use sink::{Memory, Sink};
