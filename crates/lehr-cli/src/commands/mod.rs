//! One file per command.

pub mod claim;
pub mod compare;
pub mod fit;
pub mod sweep;
pub mod resume;
pub mod partial;
pub mod eval;
pub mod transform;
pub mod show;
pub mod similar;
pub mod report;
pub mod plot;
pub mod topics;
pub mod recommend;
pub mod convert;
pub mod demo;
pub mod reproduce;
pub mod completions;
pub mod man;
mod dry_run;
mod print_config;

/// How a command ended, if not in an error.
pub enum End {
    /// As asked.
    Done,
    /// Early, but what is there can be used.
    StoppedEarly,
}
