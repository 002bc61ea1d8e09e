//! One file per command.

pub mod fit;
pub mod resume;
pub mod partial;
pub mod eval;
pub mod transform;
pub mod show;
pub mod topics;
pub mod recommend;
pub mod convert;
pub mod demo;
pub mod reproduce;

/// How a command ended, if not in an error.
pub enum End {
    /// As asked.
    Done,
    /// Early, but what is there can be used.
    StoppedEarly,
}
