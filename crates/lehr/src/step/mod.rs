//! Algorithm 1, one file per line of it.

pub mod schedule;
pub mod sample;
pub mod anneal;
pub mod warm;
pub mod local;
pub mod update;
