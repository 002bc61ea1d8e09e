//! `lehr completions`: shell completion scripts.

use clap::CommandFactory;

use super::End;
use crate::args::{Cli, CompletionsArgs};
use crate::text;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<End> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lehr", &mut script);
    text::print_as_it_is(&String::from_utf8(script)?)?;
    Ok(End::Done)
}
