//! The `lehr` command line: parse the arguments, run one command, map its end to an exit code.
//!
//! It is a library with a program of one line, since cargo compiles a library while those that it uses are still being
//! optimised, and a program only afterwards. `python -m lehr` is the other program that runs it.

mod args;
mod commands;
mod complaint;
mod interrupts;
mod look;
mod models;
mod output;
mod progress;
mod text;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

use lehr::ErrorKind;
use lehr::fit::stop::StopReason;
use lehr::math::kernels::Isa;

use args::{Cli, Command};

/// The program, with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs a command line, whose first word is the name of the program, and gives its exit code. 0: done, which a time limit
/// is too. 1: interrupted, with a usable model. 2: error. 130: ended by a signal before there was a model, or by a second
/// one. Signals and panics are its own from the first long command on, so that a process can run one command line.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    started();
    lehr::read::keep_pipes();
    let args: Vec<OsString> = args.into_iter().collect();
    look::Colour::asked(&args).choose();
    let cli = match Cli::read(&args) {
        Ok(cli) => cli,
        Err(said) => {
            // Help is one of these; a reader that has gone away has seen enough.
            let _ = said.print();
            return u8::try_from(said.exit_code()).unwrap_or(2);
        }
    };
    match complaint::catch_panics(|| obey(cli)) {
        Ok(commands::End::Done) => 0,
        Ok(commands::End::StoppedEarly) => 1,
        Err(error) if was_interrupted(&error) => interrupts::ENDED_BY_SIGNAL,
        Err(error) => {
            let line = format!("error: {}", complaint::in_one_line(&error));
            // If stderr is closed as well, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "{}", text::for_stderr(&line));
            2
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

fn obey(cli: Cli) -> anyhow::Result<commands::End> {
    Isa::check_environment().map_err(anyhow::Error::msg)?;
    match cli.command {
        Command::Fit(args) => commands::fit::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Resume(args) => commands::resume::run(args),
        Command::Eval(args) => commands::eval::run(args),
        Command::Transform(args) => commands::transform::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Plot(args) => commands::plot::run(args),
        Command::Partial(args) => commands::partial::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Topics(args) => commands::topics::run(args),
        Command::Recommend(args) => commands::recommend::run(args),
        Command::Similar(args) => commands::similar::run(&args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Reproduce(args) => commands::reproduce::run(args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    }
}
