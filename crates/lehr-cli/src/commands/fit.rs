//! `lehr fit`: settings from file and flags, then one fit into one run directory.

use std::path::{Path, PathBuf};

use lehr::models::mixture::{Mixture, Weights};
use lehr::run::directory::RunResult;
use lehr::run::session;
use lehr::run::stop::StopReason;

use super::End;
use crate::args::{ConfigFile, FitModel, MixtureArgs, OutputArgs};
use crate::progress::Bar;
use crate::text::{self, counted, number, quoted, seconds};

/// Fits the model.
pub fn run(model: FitModel) -> anyhow::Result<End> {
    match model {
        FitModel::Gmm(args) => mixture(args, Weights::Dirichlet, "gmm"),
        FitModel::Dpgmm(args) => mixture(args, Weights::Sticks, "dpgmm"),
    }
}

fn mixture(args: MixtureArgs, weights: Weights, name: &str) -> anyhow::Result<End> {
    let file = ConfigFile::read(args.fit.config.as_deref())?;
    let params = args.params(weights, file.model, args.fit.config.as_deref())?;
    let config = args.fit.over(file.fit);
    let options = args.points.over(file.data);
    let directory = args.fit.output.clone().unwrap_or_else(|| free_directory(name));
    let mut bar = Bar::new(args.fit.print.quiet);
    let result =
        session::start::<Mixture>(&directory, &args.data, &options, params, &config, &mut bar);
    bar.finish();
    let result = result.map_err(|error| naming_file(error, &args.data))?;
    report(&result, config.n_init, args.fit.print)?;
    Ok(end(&result))
}

/// Data errors of the model do not know the file's name; the user does.
pub fn naming_file(error: lehr::Error, path: &Path) -> anyhow::Error {
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
pub fn report(result: &RunResult, n_init: u32, print: OutputArgs) -> anyhow::Result<()> {
    if print.json {
        return text::print_json(result);
    }
    if print.quiet {
        return Ok(());
    }
    let run = quoted(&result.run);
    let mut lines = vec![format!(
        "{run}: bound {} after {} in {}; {}",
        number(result.best.bound),
        counted(result.best.steps, "step"),
        seconds(result.seconds),
        result.best.stop
    )];
    if let Some(heldout) = result.heldout {
        lines.push(format!("held-out log predictive density: {} per item", number(heldout)));
    }
    let starts = result.restarts.len();
    if starts > 1 {
        lines.push(format!(
            "best of {starts} starts; their bounds are {} on average, with a spread (sd) of {}",
            number(result.bound_mean),
            number(result.bound_sd)
        ));
    }
    if result.guard_hits > 0 {
        lines.push(format!("the guard acted {}", counted(result.guard_hits, "time")));
    }
    lines.push(match (result.complete, n_init > 1) {
        (true, _) => format!("look at it with: lehr show {run}"),
        (false, true) => {
            let last = result.restarts.iter().find(|o| is_early(o.stop));
            let at = last.map_or(String::new(), |o| {
                format!(" during start {} of {n_init}, step {}", o.restart + 1, o.steps)
            });
            format!("stopped{at}; saved; continue with: lehr resume {run}")
        }
        (false, false) => format!("saved; continue with: lehr resume {run}"),
    });
    text::print(&(lines.join("\n") + "\n"))
}

fn is_early(stop: StopReason) -> bool {
    matches!(stop, StopReason::Interrupted | StopReason::Time)
}

/// Interrupted runs end early; a time limit was asked for.
pub fn end(result: &RunResult) -> End {
    let interrupted = result.restarts.iter().any(|o| o.stop == StopReason::Interrupted);
    if interrupted { End::StoppedEarly } else { End::Done }
}
