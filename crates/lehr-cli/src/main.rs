//! The `lehr` command line: parse the arguments, run one command, map its end to an exit code.

mod args;
mod commands;
mod complaint;
#[allow(dead_code, reason = "figures of other commands will use the rest of it")]
mod picture;
mod progress;
mod text;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// 0: done, which a time limit is too. 1: interrupted, with a usable model. 2: error.
fn main() -> ExitCode {
    let cli = Cli::parse();
    match complaint::catch_panics(|| run(cli)) {
        Ok(commands::End::Done) => ExitCode::SUCCESS,
        Ok(commands::End::StoppedEarly) => ExitCode::from(1),
        Err(error) => {
            // If nobody listens on stderr either, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "error: {}", complaint::in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<commands::End> {
    match cli.command {
        Command::Fit { model } => commands::fit::run(model),
        Command::Resume(args) => commands::resume::run(args),
        Command::Eval(args) => commands::eval::run(args),
        Command::Transform(args) => commands::transform::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Demo(args) => commands::demo::run(args),
    }
}
