//! The loop and what it leaves behind.

pub mod fit;
pub mod objective;
pub mod stop;
pub mod trace;
pub mod checkpoint;
pub mod directory;
pub mod session;
pub mod memory;
