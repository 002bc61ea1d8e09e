//! `lehr show`: what a person wants to know about a run.

use std::io::IsTerminal;

use serde::Serialize;

use lehr::models::mixture::Component;
use lehr::run::checkpoint::Saved;
use lehr::run::fit::Progress;
use lehr::run::trace::Observation;

use super::{End, OpenRun};
use crate::args::ShowArgs;
use crate::picture::terminal::{TermSeries, chart, histogram_bar};
use crate::text::{self, counted, number, quoted, rounded, seconds, table, table_width};

/// How long a line of the table may be.
const LINE: usize = 100;
/// The longest name of a column.
const NAME: usize = 14;

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
    let components = run.model.components(state.lambda.table());
    let shown = shown_restart(&run.saved);
    let climb: Vec<&Observation> = trace.iter().filter(|o| o.restart == shown).collect();
    if args.json {
        let summary = Summary {
            model: &run.record.model,
            complete: matches!(run.saved, Saved::Complete(..)),
            step: state.step,
            bound: climb.last().map(|o| o.bound),
            effective_clusters: run.model.effective_clusters(state.lambda.table()),
            guard_hits: state.guard_hits,
            components: &components,
        };
        text::print_json(&summary)?;
        return Ok(End::Done);
    }
    let mut out = heading(&run);
    out += &format!("\n{}\n", ending(&run, &climb));
    out += &component_table(&run, &components, args.top);
    if climb.len() > 1 {
        let points = climb.iter().map(|o| (o.step as f64, o.bound));
        let colour = std::io::stdout().is_terminal();
        let chart = chart(&[TermSeries::new("bound", points)], 78, 12, colour);
        out += &format!("\nbound against steps\n{chart}\n");
    }
    text::print(&out)?;
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
        "{}: {} with {}, {} covariances, {} q, {} start\n",
        run.directory.path().display(),
        record.model,
        counted(params.components as u64, "component"),
        name(&params.covariance),
        name(&params.factorisation),
        name(&params.start),
    );
    text += &format!(
        "data      {} ({} items, {} columns)\n",
        record.data.path.display(),
        record.data.items,
        run.record.frozen.units.shift.len()
    );
    let fit = &record.fit;
    let method = match (fit.batch, fit.effective.to_string().as_str()) {
        (None, "off") => "batch VI".to_string(),
        (None, m) => format!("annealed batch VI, M = {m}, {} noise", name(&fit.law)),
        (Some(s), "off") => format!("SVI, |S| = {s}"),
        (Some(s), m) => format!("SVI+, |S| = {s}, M = {m}, {} noise", name(&fit.law)),
    };
    text + &format!(
        "method    {method}, seed {}, lehr {}, {} kernels\n",
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
    let time = seconds(state.seconds);
    let mut text = match &run.saved {
        Saved::Complete(_, best, outcomes) => {
            let outcome = &outcomes[*best];
            let steps = counted(outcome.steps, "step");
            format!("ended     {}, after {steps} and {time}\n", outcome.stop)
        }
        Saved::Pending(Progress { restart, state, .. }) => {
            let (n_init, step) = (run.record.fit.n_init, counted(state.step, "step"));
            let start = match n_init {
                1 => String::new(),
                _ => format!("start {} of {n_init}, ", restart + 1),
            };
            let path = quoted(run.directory.path());
            format!("not done  {start}{step} made; continue with: lehr resume {path}\n")
        }
    };
    if let Some(last) = climb.last() {
        text += &format!("bound     {}\n", number(last.bound));
        if let Some(heldout) = last.heldout {
            text += &format!("held out  {} per item (log predictive density)\n", number(heldout));
        }
    }
    let outcomes = run.saved.outcomes();
    if run.record.fit.n_init > 1 && !outcomes.is_empty() {
        let bounds: Vec<String> = outcomes.iter().map(|o| number(o.bound)).collect();
        text += &format!(
            "starts    {} of {} ended; bounds {}\n",
            outcomes.len(),
            run.record.fit.n_init,
            bounds.join(", ")
        );
    }
    text += &format!("guard     acted {}\n", counted(state.guard_hits, "time"));
    text += &format!(
        "clusters  {:.1} in effect (exp of the entropy of the sizes)\n",
        run.model.effective_clusters(state.lambda.table())
    );
    text
}

fn component_table(run: &OpenRun, components: &[Component], top: usize) -> String {
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by(|&a, &b| components[b].size.total_cmp(&components[a].size));
    let largest = order.first().map_or(1.0, |&k| components[k].size);
    let d = components.first().map_or(0, |c| c.mean.len());
    let listed = &order[..top.min(order.len())];
    let mut header: Vec<String> = ["component", "size", "weight", ""].map(String::from).into();
    let mut rows: Vec<Vec<String>> = listed
        .iter()
        .map(|&k| {
            let c = &components[k];
            let bar = format!("{:<16}", histogram_bar(c.size, largest, 16));
            vec![k.to_string(), format!("{:.1}", c.size), format!("{:.4}", c.weight), bar]
        })
        .collect();
    // As many means as fit the line.
    let mut shown = 0;
    while shown < d {
        header.push(column_name(&run.record.data.columns, shown));
        for (row, &k) in rows.iter_mut().zip(listed) {
            row.push(rounded(components[k].mean[shown], 4));
        }
        if table_width(&header, &rows) > LINE && shown > 0 {
            header.pop();
            rows.iter_mut().for_each(|row| drop(row.pop()));
            break;
        }
        shown += 1;
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut text = format!("sizes and means of the components\n{}", table(&header, &rows));
    if order.len() > top {
        let rest: f64 = order[top..].iter().map(|&k| components[k].size).sum();
        text += &format!(
            "and {} smaller ones with {rest:.1} items; --top {} shows all\n",
            order.len() - top,
            order.len()
        );
    }
    if shown < d {
        let more = counted((d - shown) as u64, "more column");
        text += &format!("and {more}; --json has every number\n");
    }
    text
}

/// A column's name, cut where it is too long for a table.
fn column_name(names: &[String], at: usize) -> String {
    let name = names.get(at).cloned().unwrap_or_else(|| format!("x{}", at + 1));
    if name.chars().count() <= NAME {
        return name;
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}
