//! `lehr show`: what a person wants to know about a run.

use std::io::{IsTerminal, Write};

use serde::Serialize;

use lehr::models::mixture::Component;
use lehr::run::checkpoint::Saved;
use lehr::run::trace::Observation;

use super::{End, OpenRun};
use crate::args::ShowArgs;
use crate::picture::terminal::{TermSeries, chart, histogram_bar};
use crate::text::{number, seconds, table};

/// Means of more columns than this do not fit a line.
const COLUMNS_SHOWN: usize = 6;

#[derive(Serialize)]
struct Summary<'a> {
    model: &'a str,
    complete: bool,
    step: u64,
    bound: Option<f64>,
    effective_clusters: f64,
    guard_hits: u64,
    components: &'a [Component],
}

/// Shows the run.
pub fn run(args: ShowArgs) -> anyhow::Result<End> {
    let run = OpenRun::open(&args.run)?;
    let trace = run.directory.trace()?;
    let state = run.saved.model_state();
    let components = run.model.components(&state.lambda);
    let shown = shown_restart(&run.saved);
    let climb: Vec<&Observation> = trace.iter().filter(|o| o.restart == shown).collect();
    if args.json {
        let summary = Summary {
            model: &run.record.model,
            complete: matches!(run.saved, Saved::Complete(..)),
            step: state.step,
            bound: climb.last().map(|o| o.bound),
            effective_clusters: run.model.effective_clusters(&state.lambda),
            guard_hits: state.guard_hits,
            components: &components,
        };
        println!("{}", serde_json::to_string(&summary)?);
        return Ok(End::Done);
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", heading(&run))?;
    writeln!(out, "\n{}", ending(&run, &climb))?;
    writeln!(out, "{}", component_table(&run, &components, args.top))?;
    if climb.len() > 1 {
        let points = climb.iter().map(|o| (o.step as f64, o.bound));
        let colour = std::io::stdout().is_terminal();
        writeln!(out, "bound against steps")?;
        writeln!(out, "{}", chart(&[TermSeries::new("bound", points)], 78, 12, colour))?;
    }
    Ok(End::Done)
}

/// The restart whose lambda is the model.
fn shown_restart(saved: &Saved) -> u32 {
    match saved {
        Saved::Complete(_, best, outcomes) => outcomes[*best].restart,
        Saved::Pending(progress) => match &progress.best {
            Some((best, _)) => progress.done[*best].restart,
            None => progress.restart,
        },
    }
}

fn heading(run: &OpenRun) -> String {
    let record = &run.record;
    let params = &record.params;
    let mut text = format!(
        "{}: {} with {} components, {} covariances, {} q, {} start\n",
        run.directory.path().display(),
        record.model,
        params.components,
        name(&params.covariance),
        name(&params.factorisation),
        name(&params.start),
    );
    text += &format!(
        "data    {} ({} items, fingerprint {})\n",
        record.data.path.display(),
        record.data.items,
        record.data.fingerprint
    );
    let fit = &record.fit;
    let method = match (fit.batch, fit.effective.to_string().as_str()) {
        (None, "off") => "batch VI".to_string(),
        (None, m) => format!("annealed batch VI, M = {m}, {} noise", name(&fit.law)),
        (Some(s), "off") => format!("SVI, |S| = {s}"),
        (Some(s), m) => format!("SVI+, |S| = {s}, M = {m}, {} noise", name(&fit.law)),
    };
    text + &format!(
        "method  {method}, seed {}, lehr {}, {} kernels\n",
        fit.seed,
        record.lehr,
        name(&record.cpu.kernels)
    )
}

/// An enumeration's name as the command line spells it.
fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(str::to_string))
        .unwrap_or_default()
}

fn ending(run: &OpenRun, climb: &[&Observation]) -> String {
    let state = run.saved.model_state();
    let mut text = match &run.saved {
        Saved::Complete(_, best, outcomes) => {
            let outcome = &outcomes[*best];
            format!("ended because {} after {} steps", outcome.stop, outcome.steps)
        }
        Saved::Pending(_) => format!(
            "not complete: {} steps made; continue with lehr resume {}",
            state.step,
            run.directory.path().display()
        ),
    };
    text += &format!(" ({})\n", seconds(state.seconds));
    if let Some(last) = climb.last() {
        text += &format!("bound   {}\n", number(last.bound));
        if let Some(heldout) = last.heldout {
            text += &format!("held out  {} per item (log predictive density)\n", number(heldout));
        }
    }
    let outcomes = run.saved.outcomes();
    if outcomes.len() > 1 {
        let bounds: Vec<String> = outcomes.iter().map(|o| number(o.bound)).collect();
        text += &format!("starts  {} (bounds {})\n", outcomes.len(), bounds.join(", "));
    }
    text += &format!("guard   acted {} times\n", state.guard_hits);
    text += &format!(
        "clusters in effect  {:.1} (exp of the entropy of the sizes)\n",
        run.model.effective_clusters(&state.lambda)
    );
    text
}

fn component_table(run: &OpenRun, components: &[Component], top: usize) -> String {
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by(|&a, &b| components[b].size.total_cmp(&components[a].size));
    let largest = order.first().map_or(1.0, |&k| components[k].size);
    let d = components.first().map_or(0, |c| c.mean.len());
    let columns = |j: usize| {
        let names = &run.record.data.columns;
        names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1))
    };
    let shown = d.min(COLUMNS_SHOWN);
    let mut header =
        vec!["component".to_string(), "size".to_string(), "weight".to_string(), String::new()];
    header.extend((0..shown).map(|j| format!("mean {}", columns(j))));
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(top)
        .map(|&k| {
            let c = &components[k];
            let bar = format!("{:<16}", histogram_bar(c.size, largest, 16));
            let mut row =
                vec![k.to_string(), format!("{:.1}", c.size), format!("{:.4}", c.weight), bar];
            row.extend(c.mean[..shown].iter().map(|&m| number(m)));
            row
        })
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut text = table(&header, &rows);
    if order.len() > top {
        let rest: f64 = order[top..].iter().map(|&k| components[k].size).sum();
        text += &format!(
            "and {} smaller ones with {rest:.1} items; --top {} shows all\n",
            order.len() - top,
            order.len()
        );
    }
    if shown < d {
        text += &format!("and {} more columns; --json has every number\n", d - shown);
    }
    text
}
