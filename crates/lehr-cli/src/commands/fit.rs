//! `lehr fit`: settings from file and flags, then one fit into one run directory.

use std::path::{Path, PathBuf};

use lehr::models::mixture::{Mixture, Weights};
use lehr::run::directory::RunResult;
use lehr::run::session;
use lehr::run::stop::StopReason;

use super::End;
use crate::args::{ConfigFile, FitModel, MixtureArgs, OutputArgs};
use crate::progress::Bar;
use crate::text::{number, seconds};

/// Fits the model.
pub fn run(model: FitModel) -> anyhow::Result<End> {
    match model {
        FitModel::Gmm(args) => mixture(args, Weights::Dirichlet, "gmm"),
        FitModel::Dpgmm(args) => mixture(args, Weights::Sticks, "dpgmm"),
    }
}

fn mixture(args: MixtureArgs, weights: Weights, name: &str) -> anyhow::Result<End> {
    let file = ConfigFile::read(args.fit.config.as_deref())?;
    let params = args.params(weights, file.model)?;
    let config = args.fit.over(file.fit);
    let options = args.points.over(file.data);
    let directory = args.fit.output.clone().unwrap_or_else(|| free_directory(name));
    let batch_mode = config.batch.is_none();
    let steps = config.steps.unwrap_or(if batch_mode { 500 } else { 1000 });
    let mut bar = Bar::new(steps, config.n_init, args.fit.print.quiet);
    let result =
        session::start::<Mixture>(&directory, &args.data, &options, params, &config, &mut bar);
    bar.finish();
    let result = result.map_err(|error| naming_file(error, &args.data))?;
    report(&result, args.fit.print);
    Ok(end(&result))
}

/// Data errors of the model do not know the file's name; the user does.
fn naming_file(error: lehr::Error, path: &Path) -> anyhow::Error {
    match error.kind() {
        lehr::ErrorKind::Data(message) => anyhow::anyhow!("{}: {message}", path.display()),
        _ => error.into(),
    }
}

/// The first of runs/NAME-1, runs/NAME-2, ... that does not exist.
fn free_directory(name: &str) -> PathBuf {
    (1..)
        .map(|i| Path::new("runs").join(format!("{name}-{i}")))
        .find(|path| !path.exists())
        .expect("there are always more numbers")
}

/// Tells how a fit ended: one JSON line, or a few lines for a person.
pub fn report(result: &RunResult, print: OutputArgs) {
    if print.json {
        println!("{}", serde_json::to_string(result).expect("plain values become JSON"));
        return;
    }
    if print.quiet {
        return;
    }
    let run = result.run.display();
    println!(
        "{run}: bound {} after {} steps in {}; {}",
        number(result.best.bound),
        result.best.steps,
        seconds(result.seconds),
        result.best.stop
    );
    if let Some(heldout) = result.heldout {
        println!("held-out log predictive density: {} per item", number(heldout));
    }
    if result.restarts.len() > 1 {
        println!(
            "best of {} starts; their bounds are {} on average, with a spread (sd) of {}",
            result.restarts.len(),
            number(result.bound_mean),
            number(result.bound_sd)
        );
    }
    if result.guard_hits > 0 {
        println!("the guard acted {} times", result.guard_hits);
    }
    if result.complete {
        println!("look at it with: lehr show {run}");
    } else {
        println!("saved; continue with: lehr resume {run}");
    }
}

/// Interrupted runs end early; a time limit was asked for.
pub fn end(result: &RunResult) -> End {
    let interrupted = result.restarts.iter().any(|o| o.stop == StopReason::Interrupted);
    if interrupted { End::StoppedEarly } else { End::Done }
}
