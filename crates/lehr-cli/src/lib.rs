//! The `lehr` command line: parse the arguments, run one command, map its end to an exit code.
//!
//! It is a library with a program of one line, since cargo compiles a library while those that it uses are still being
//! optimised, and a program only afterwards. Nothing here is meant for other programs.

mod args;
mod commands;
mod complaint;
mod models;
mod progress;
mod text;

use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

use clap::Parser;
use lehr::ErrorKind;
use lehr::fit::stop::StopReason;

use args::{Cli, Command};

/// The program. 0: done, which a time limit is too. 1: interrupted, with a usable model. 2: error. 130: ended by a
/// signal before there was a model, or by a second one.
pub fn main() -> ExitCode {
    started();
    let cli = Cli::parse();
    match complaint::catch_panics(|| run(cli)) {
        Ok(commands::End::Done) => ExitCode::SUCCESS,
        Ok(commands::End::StoppedEarly) => ExitCode::from(1),
        Err(error) if was_interrupted(&error) => ExitCode::from(progress::ENDED_BY_SIGNAL),
        Err(error) => {
            // If nobody listens on stderr either, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "error: {}", complaint::in_one_line(&error));
            ExitCode::from(2)
        }
    }
}

/// Whether it is the answer to a signal, which has said so itself.
fn was_interrupted(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<lehr::Error>().map(lehr::Error::kind);
    matches!(kind, Some(ErrorKind::Stopped(StopReason::Interrupted)))
}

/// When the program started.
fn started() -> Instant {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    *STARTED.get_or_init(Instant::now)
}

fn run(cli: Cli) -> anyhow::Result<commands::End> {
    match cli.command {
        Command::Fit(args) => commands::fit::run(&args),
        Command::Resume(args) => commands::resume::run(args),
        Command::Eval(args) => commands::eval::run(args),
        Command::Transform(args) => commands::transform::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Partial(args) => commands::partial::run(args),
        Command::Topics(args) => commands::topics::run(args),
        Command::Recommend(args) => commands::recommend::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Reproduce(args) => commands::reproduce::run(args),
    }
}
