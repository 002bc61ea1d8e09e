//! The `lehr` command line: parse the arguments, run one command, map its end to an exit code.

mod args;
mod commands;
mod picture;
mod progress;
mod text;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// 0: done. 1: stopped early with a usable model. 2: error.
fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(commands::End::Done) => ExitCode::SUCCESS,
        Ok(commands::End::StoppedEarly) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
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

/// Whether somebody closed our output, as `head` does: no reason to complain.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
