//! The loop and what it leaves behind.

pub mod trace;
mod saved;
pub mod checkpoint;
mod lock;
mod beside;
mod record;
mod result;
mod trace_file;
pub mod directory;
mod checkpoints;
mod recorder;
pub mod session;
mod resume;
pub mod memory;
