//! `lehr fit`: settings from file and flags, then one fit into one run directory.

use std::path::Path;

use serde::Serialize;

use lehr::fit::stop::StopReason;
use lehr::models::ReadOptions;
use lehr::read::Unknown;
use lehr::store::RunResult;

use super::End;
use super::claim::Claimed;
use crate::args::{FitArgs, OutputArgs, Request};
use crate::complaint::in_words;
use crate::models::{Served, left_out};
use crate::progress::{Bar, Seen, as_map};
use crate::text::{self, counted, number, quoted, seconds};

/// Fits the model.
pub fn run(args: &FitArgs) -> anyhow::Result<End> {
    let model = args.tables.model;
    lehr::with_model!(model, M => fit::<M>(args), else anyhow::bail!("there is no model {model}"))
}

fn fit<M: Served>(args: &FitArgs) -> anyhow::Result<End> {
    let request = args.request::<M::Params, ReadOptions<M>>()?;
    if args.dry_run {
        return super::dry_run::run::<M>(args, request);
    }
    if args.print_config {
        return super::print_config::run::<M>(args, request);
    }
    let Request { params, options, config } = request;
    let (flags, data) = (&args.fit, &args.data);
    let mut bar = Bar::new(flags.print.quiet).of(data);
    let directory = Claimed::new(flags, "runs", args.tables.model)?;
    let result = M::fit_file(&directory.path, data, &options, params, &config, &mut bar);
    bar.finish();
    let result = result.map_err(|error| naming_file(error, data))?;
    report::<M>(&result, config.n_init, flags.print, &bar.seen, None)?;
    Ok(end(&result))
}

/// Data errors of the model do not know the file's name; the user does.
pub fn naming_file(error: lehr::Error, path: &Path) -> anyhow::Error {
    match error.kind() {
        lehr::ErrorKind::Data(_) | lehr::ErrorKind::Memory(_) => {
            anyhow::anyhow!("{}: {}", path.display(), in_words(&error))
        }
        _ => error.into(),
    }
}

/// The result line of a fit: what `result.json` has, and what only this session knows.
#[derive(Serialize)]
struct ResultLine<'a> {
    #[serde(flatten)]
    result: &'a RunResult,
    /// What was read, by its name; a run that goes on reads what it has read before.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    read: serde_json::Value,
    /// If the bound is an estimate: from this many random training items.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_sample: Option<usize>,
    /// From the start of the program.
    seconds_before_first_step: Option<f64>,
    /// Mean iterations of an item's local step, for models that iterate.
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_tokens: Option<f64>,
}

/// Tells how a fit ended: one JSON line, or a few lines for a person.
pub fn report<M: Served>(
    result: &RunResult,
    n_init: u32,
    print: OutputArgs,
    seen: &Seen,
    unknown: Option<Unknown>,
) -> anyhow::Result<()> {
    if print.json {
        let iterations = result.local_iterations;
        return text::print_json(&ResultLine {
            result,
            read: as_map(&seen.counts),
            bound_sample: seen.bound_sample,
            seconds_before_first_step: seen.seconds_before_first_step,
            iterations: (iterations > 0 && seen.items > 0)
                .then(|| iterations as f64 / seen.items as f64),
            unknown_words: unknown.map(|unknown| unknown.words),
            unknown_tokens: unknown.map(|unknown| unknown.tokens),
        });
    }
    if print.quiet {
        return Ok(());
    }
    let run = quoted(&result.run);
    let estimated = seen
        .bound_sample
        .map_or(String::new(), |n| format!(" (estimated from {})", counted(n as u64, M::ITEM)));
    let bound = match result.best.bound {
        bound if bound.is_nan() => "no bound was evaluated,".to_string(),
        bound => format!("bound {}{estimated}", number(bound)),
    };
    let mut lines = vec![format!(
        "{run}: {bound} after {} in {}; {}",
        counted(result.best.steps, "step"),
        seconds(result.seconds),
        result.best.stop
    )];
    lines.extend(unknown.and_then(|unknown| left_out(&unknown, None)));
    lines.extend(M::summary(result));
    if let Some(search) = &result.best.search {
        let line = text::search_lines(search, result.best.bound).swap_remove(0);
        lines.push(line.replacen("search    ", "search: ", 1));
    }
    let starts = result.restarts.len();
    if starts > 1 {
        lines.push(format!(
            "best of {starts} starts; their bounds are {} on average, with a spread (sd) of {}",
            number(result.bound_mean),
            number(result.bound_sd)
        ));
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
