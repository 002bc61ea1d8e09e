//! What `lehr completions` and `lehr man` take.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// `lehr completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `lehr man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder for the pages of all commands, which is made if it is missing; older pages are
    /// replaced. Left out, the page of lehr itself is printed.
    pub folder: Option<PathBuf>,
}
