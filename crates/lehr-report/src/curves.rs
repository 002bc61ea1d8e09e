//! The bound and the held-out score against steps, passes and seconds.

use lehr::fit::Observation;
use lehr::store::Run;
use lehr_plot::{Colour, Figure, Panel, Point, Series, first_drawn};

use crate::Reported;
use crate::chart::{Cell, Chart, view};

/// Points of a line that are drawn, and rows of numbers that are kept, at most.
const DRAWN: usize = 400;
const KEPT: usize = 800;

/// How to read either chart.
const BETTER: &str = "Higher is better. ";

/// The size of the plots.
const SIZE: (f64, f64) = (440.0, 230.0);

/// What a chart is drawn against, and how an observation has it.
type Against = (&'static str, &'static str, Box<dyn Fn(&Observation) -> f64>);

/// The charts of a run whose best start is `shown`.
pub fn of<M: Reported>(run: &Run<M>, shown: u32, score: &str) -> Vec<Chart> {
    let n_items = run.config.data.items - run.config.fit.holdout.count(run.config.data.items);
    let axes: [Against; 3] = [
        ("steps", "steps", Box::new(|seen| seen.step as f64)),
        (
            "passes",
            "passes over the data",
            Box::new(move |seen| seen.items as f64 / n_items.max(1) as f64),
        ),
        ("seconds", "seconds of work", Box::new(|seen| seen.seconds)),
    ];
    let trace = &run.trace;
    let quiet = quiet_from::<M>(run);
    let mut charts = Vec::new();
    if trace.iter().filter(|seen| seen.restart == shown).count() > 1 {
        let bound = |seen: &Observation| Some(seen.bound);
        let noisy = trace.iter().any(|seen| is_noisy(seen, quiet));
        let mut note = BETTER.to_string();
        if trace.iter().any(|seen| seen.restart != shown) {
            note += "Every start is a line; the one that was kept is strong. ";
        }
        if trace.iter().any(is_win) {
            note += "Dots are kicks of the search that won. ";
        }
        if noisy {
            note += "Shaded: steps with noise. ";
        }
        note += left_out(trace, shown, bound);
        charts.push(drawn("bound", "Bound (nats)", trace, (shown, quiet), &axes, bound).note(note));
    }
    let scored =
        trace.iter().filter(|seen| seen.restart == shown && seen.heldout.is_some()).count();
    if scored > 1 {
        let heldout = |seen: &Observation| seen.heldout;
        charts.push(
            drawn("held-out", score, trace, (shown, quiet), &axes, heldout)
                .note(BETTER.to_string() + left_out(trace, shown, heldout)),
        );
    }
    charts
}

/// From which M on there is no noise: that of every observation if there never is any, none if a step's batch says it.
fn quiet_from<M: Reported>(run: &Run<M>) -> Option<f64> {
    let off = matches!(run.config.fit.effective.to_string().as_str(), "off" | "auto");
    let all = || run.trace.iter().map(|seen| seen.effective);
    let most = all().fold(0.0, f64::max);
    match M::BATCH_PER_ROW {
        _ if off => Some(0.0),
        // The largest batch of a row is not kept, but the end of the noise has it; if that does not come, all are noisy.
        true if all().any(|effective| effective < most) => Some(most),
        true => Some(f64::INFINITY),
        false => None,
    }
}

fn is_noisy(seen: &Observation, quiet: Option<f64>) -> bool {
    seen.effective < quiet.unwrap_or(seen.batch as f64)
}

/// Whether this is where a search stood: its winning kicks and its end.
fn is_of_search(seen: &Observation) -> bool {
    seen.event.is_some()
}

/// Whether a kick of a search has won here.
fn is_win(seen: &Observation) -> bool {
    seen.event.as_ref().is_some_and(|event| event.get("kick").is_some())
}

/// How many of the first values of the start that was kept are not drawn, since they lie far below all others. Where other
/// starts end far below as well, they would take the room that this saves.
fn skipped(trace: &[Observation], shown: u32, of: impl Fn(&Observation) -> Option<f64>) -> usize {
    let kept: Vec<Point> = trace
        .iter()
        .filter(|seen| seen.restart == shown && seen.run == 0)
        .filter_map(|seen| Some((seen.step as f64, of(seen)?)))
        .collect();
    let skipped = first_drawn(&kept);
    let Some(from) = kept.get(skipped).map(|point| point.0) else { return 0 };
    let height = |from: f64| {
        let all = || trace.iter().filter(|seen| seen.step as f64 >= from).filter_map(&of);
        all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
    };
    if height(from) < 0.5 * height(0.0) { skipped } else { 0 }
}

/// Says so if the first steps are not drawn.
fn left_out(
    trace: &[Observation],
    shown: u32,
    of: impl Fn(&Observation) -> Option<f64>,
) -> &'static str {
    match skipped(trace, shown, of) {
        0 => "",
        _ => "The first steps, far below, are not drawn.",
    }
}

fn drawn(
    id: &str,
    title: &str,
    trace: &[Observation],
    (shown, quiet): (u32, Option<f64>),
    axes: &[Against],
    of: impl Fn(&Observation) -> Option<f64>,
) -> Chart {
    let mut chart = Chart {
        id: id.into(),
        title: title.into(),
        note: String::new(),
        views: Vec::new(),
        columns: Vec::new(),
        rows: Vec::new(),
    };
    let mut starts: Vec<u32> = trace.iter().map(|seen| seen.restart).collect();
    starts.dedup();
    // The one that was kept comes last, on top.
    starts.sort_by_key(|&start| (start == shown, start));
    starts.dedup();
    let skipped = skipped(trace, shown, &of);
    for (label, name, x) in axes {
        let points = |wanted: &dyn Fn(&Observation) -> bool| -> Vec<Point> {
            let seen = trace.iter().filter(|seen| wanted(seen));
            seen.filter_map(|seen| Some((x(seen), of(seen)?))).collect()
        };
        let kept = points(&|seen| seen.restart == shown && seen.run == 0);
        let from = match skipped {
            0 => f64::NEG_INFINITY,
            n => kept.get(n).map_or(f64::NEG_INFINITY, |point| point.0),
        };
        let mut panel = Panel::new("").x_label(*name);
        if *label == "steps" {
            panel = panel.x_whole();
        }
        let last_noisy = trace
            .iter()
            .filter(|seen| seen.restart == shown && is_noisy(seen, quiet))
            .map(x)
            .reduce(f64::max);
        if let Some(last) = last_noisy {
            panel = panel.shade(from.max(0.0), last);
        }
        for &start in &starts {
            let all =
                points(&|seen| seen.restart == start && (seen.run == 0 || is_of_search(seen)));
            let mut late: Vec<Point> = all.into_iter().filter(|point| point.0 >= from).collect();
            late.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line = Series::line(thinned(&late)).colour(Colour::BLUE);
            panel = panel.with(if start == shown { line } else { line.opacity(0.3).width(1.2) });
        }
        let wins = points(&|seen| seen.restart == shown && is_win(seen));
        if !wins.is_empty() {
            panel = panel
                .with(Series::scatter(wins).colour(Colour::VERMILION).radius(3.5).opacity(0.9));
        }
        let mut said = format!("{title}, higher is better");
        if from > 0.0 && from.is_finite() {
            said += &format!(", from {from} on");
        }
        let mut figure = Figure::new("").with(panel);
        figure.plot_size = Some(SIZE);
        chart.views.push(view(id, label, &said, figure));
    }
    chart.columns = ["start", "run", "step", "passes", "seconds", id].map(String::from).to_vec();
    let every = trace.len().div_ceil(KEPT).max(1);
    for (at, seen) in trace.iter().enumerate() {
        let Some(value) = of(seen) else { continue };
        if at % every == 0 || at + 1 == trace.len() || seen.closing {
            let mut row: Vec<Cell> =
                vec![(seen.restart as usize).into(), (seen.run as usize).into()];
            row.extend(axes.iter().map(|(_, _, x)| Cell::from(x(seen))));
            row.push(value.into());
            chart.rows.push(row);
        }
    }
    chart
}

/// Not more points than can be distinguished, the last one among them.
fn thinned(points: &[Point]) -> Vec<Point> {
    let every = points.len().div_ceil(DRAWN).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last);
    kept.map(|(_, point)| *point).collect()
}
