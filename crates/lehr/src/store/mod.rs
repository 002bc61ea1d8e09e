//! What a fit leaves behind, in a directory or in memory, and how it goes on from there.

mod saved;
pub mod checkpoint;
mod lock;
mod sidecar;
mod record;
mod result;
mod trace_file;
pub mod directory;
mod checkpoints;
mod recorder;
pub mod session;
mod resume;
pub mod memory;
