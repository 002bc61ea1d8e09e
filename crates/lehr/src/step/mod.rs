//! Algorithm 1, one file per line of it.

pub mod schedule;
pub mod sample;
pub mod anneal;
pub mod warm;
pub mod pass;
pub mod shards;
pub mod shared;
pub mod per_row;
pub mod engine;
pub mod message;
pub mod guard;
pub mod update;
