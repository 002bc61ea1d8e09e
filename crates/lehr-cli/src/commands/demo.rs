//! `lehr demo`: one small mixture fitted three ways from the same starts, shown as a table, a chart
//! and a figure.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::Observation;
use lehr::fit::{Fitted, Watcher};
use lehr::math::rng::{Address, Purpose};
use lehr::models::mixture::{Defaults, Mixture, MixtureParams, Start};
use lehr_plot::terminal::{TermSeries, chart};
use lehr_plot::{Colour, Figure, Panel, Series};

use super::End;
use crate::args::DemoArgs;
use crate::text::{print, print_json, seconds, table};

const N_ITEMS: usize = 1000;
const N_CLUSTERS: usize = 12;
/// How often each method sees every item.
const PASSES: u64 = 300;
const BATCH: usize = 100;
/// The effective batch size with which annealing begins.
const M_0: usize = 30;
/// The first passes are not drawn: what comes later would be a flat line beside them.
const DRAWN_FROM: f64 = 10.0;

/// One method and how all its starts went.
struct Method {
    name: &'static str,
    about: &'static str,
    colour: Colour,
    config: FitConfig,
    runs: Vec<Run>,
    seconds: f64,
}

struct Run {
    fit: Fitted,
    /// (passes over the data, bound).
    curve: Vec<(f64, f64)>,
}

/// Collects the observations of one climb.
#[derive(Default)]
struct Curve(Vec<(f64, f64)>);

impl Watcher for Curve {
    fn observe(&mut self, o: &Observation) -> lehr::Result<()> {
        self.0.push((o.items as f64 / N_ITEMS as f64, o.bound));
        Ok(())
    }
}

#[derive(Serialize)]
struct Row<'a> {
    method: &'a str,
    mean_bound: f64,
    best_bound: f64,
    worst_bound: f64,
    better_than_batch: usize,
    worse_than_batch: usize,
    starts: usize,
    seconds: f64,
}

/// Runs the demonstration.
pub fn run(args: DemoArgs) -> anyhow::Result<End> {
    let (points, truth) = made_up_mixture(args.seed)?;
    let params = MixtureParams {
        start: Start::Points,
        defaults: Defaults::Volume,
        ..MixtureParams::gmm(N_CLUSTERS)
    };
    let mixture = Mixture::new(params, &points)?;
    let mut methods = methods(args.seed);
    for method in &mut methods {
        fit_all(&mixture, &points, method, args.starts)?;
    }
    let rows: Vec<Row<'_>> = methods.iter().map(|m| row(m, &methods[0])).collect();
    let best = methods
        .iter()
        .flat_map(|m| &m.runs)
        .max_by(|a, b| a.fit.outcome.bound.total_cmp(&b.fit.outcome.bound))
        .context("a demonstration needs at least one start")?;
    let figure = draw(&mixture, &points, &methods, best);
    let [png, svg] = write(&figure, &args.output)?;
    if args.json {
        print_json(&rows)?;
        return Ok(End::Done);
    }
    let report = report(&args, &methods, &rows, truth);
    let (png, svg) = (png.display(), svg.display());
    print(&format!("{report}\nfigure: {png} and {svg}\n{NEXT}\n"))?;
    Ok(End::Done)
}

/// Writes `demo.png` and `demo.svg` into a folder, which is made if it is missing.
fn write(figure: &Figure, folder: &Path) -> anyhow::Result<[PathBuf; 2]> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let files = figure.files(&folder.join("demo"))?;
    for (path, bytes) in &files {
        lehr::write::whole(path, bytes)?;
    }
    Ok(files.map(|(path, _)| path))
}

const NEXT: &str = "
What to try next
  lehr demo --seed 2                                          another data set
  lehr fit gmm points.csv -k 10 -o runs/a                     your own data (CSV, .npy, Parquet)
  lehr fit gmm points.csv -k 10 --effective geometric:10:150 -o runs/b      the same, annealed
  lehr show runs/b                                            what it found";

/// Points of overlapping clusters of different size, shape and direction, and how many clusters.
fn made_up_mixture(seed: u64) -> lehr::Result<(Points, usize)> {
    let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
    let clusters: Vec<_> = (0..N_CLUSTERS)
        .map(|_| {
            let centre = [8.0 * (rng.uniform() - 0.5), 8.0 * (rng.uniform() - 0.5)];
            let (long, short) = (0.3 + 0.6 * rng.uniform(), 0.12 + 0.2 * rng.uniform());
            (centre, long, short, std::f64::consts::PI * rng.uniform(), 0.3 + rng.uniform())
        })
        .collect();
    let total: f64 = clusters.iter().map(|c| c.4).sum();
    let mut values = Vec::with_capacity(2 * N_ITEMS);
    for _ in 0..N_ITEMS {
        let mut left = rng.uniform() * total;
        let chosen = clusters.iter().position(|c| {
            left -= c.4;
            left <= 0.0
        });
        let (centre, long, short, angle, _) = clusters[chosen.unwrap_or(N_CLUSTERS - 1)];
        let (a, b) = (long * rng.normal(), short * rng.normal());
        let (sin, cos) = angle.sin_cos();
        values.extend([centre[0] + cos * a - sin * b, centre[1] + sin * a + cos * b]);
    }
    Ok((Points::new(values, 2)?, N_CLUSTERS))
}

fn methods(seed: u64) -> Vec<Method> {
    let base = FitConfig { seed, tol: 0.0, steps: Some(PASSES), ..FitConfig::default() };
    let steps = PASSES * (N_ITEMS / BATCH) as u64;
    let per_pass = (N_ITEMS / BATCH) as u64;
    let batches = FitConfig {
        batch: Some(BATCH),
        steps: Some(steps),
        eval_every: Some(per_pass),
        ..base.clone()
    };
    let annealed = FitConfig {
        effective: format!("geometric:{M_0}:{}", 2 * PASSES / 3).parse().expect("a valid schedule"),
        ..base.clone()
    };
    let method = |name, about, colour, config| Method {
        name,
        about,
        colour,
        config,
        runs: Vec::new(),
        seconds: 0.0,
    };
    vec![
        method("batch VI", "all items in every step", Colour::BLUE, base),
        method("SVI", "batches of 100", Colour::ORANGE, batches),
        method("SVI+", "all items, M from 30 up", Colour::GREEN, annealed),
    ]
}

fn fit_all(
    mixture: &Mixture,
    points: &Points,
    method: &mut Method,
    starts: u32,
) -> anyhow::Result<()> {
    let begin = Instant::now();
    for start in 0..starts {
        // The same seed gives every method the same starts.
        let mut curve = Curve::default();
        let fit = lehr::fit(mixture, points).config(method.config.clone()).threads(1).start(start);
        method.runs.push(Run { fit: fit.watch(&mut curve).run()?, curve: curve.0 });
    }
    method.seconds = begin.elapsed().as_secs_f64();
    Ok(())
}

fn row<'a>(method: &'a Method, batch: &Method) -> Row<'a> {
    let bounds: Vec<f64> = method.runs.iter().map(|r| r.fit.outcome.bound).collect();
    // Paired by start; half a nat is a difference worth the name.
    let differences = || {
        method.runs.iter().zip(&batch.runs).map(|(a, b)| a.fit.outcome.bound - b.fit.outcome.bound)
    };
    Row {
        method: method.name,
        mean_bound: bounds.iter().sum::<f64>() / bounds.len() as f64,
        best_bound: bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        worst_bound: bounds.iter().copied().fold(f64::INFINITY, f64::min),
        better_than_batch: differences().filter(|&d| d > 0.5).count(),
        worse_than_batch: differences().filter(|&d| d < -0.5).count(),
        starts: bounds.len(),
        seconds: method.seconds,
    }
}

fn report(args: &DemoArgs, methods: &[Method], rows: &[Row<'_>], clusters: usize) -> String {
    let begin = format!(
        "{N_ITEMS} points from {clusters} overlapping clusters (seed {}), fitted three ways from the same {} \
         random starts,\n{PASSES} passes over the data each. The bound is in nats; higher is better.\n\n",
        args.seed, args.starts
    );
    let lines: Vec<Vec<String>> = rows
        .iter()
        .zip(methods)
        .map(|(r, m)| {
            let against = if r.method == methods[0].name {
                String::from("-")
            } else {
                format!("{} / {}", r.better_than_batch, r.worse_than_batch)
            };
            vec![
                r.method.to_string(),
                m.about.to_string(),
                format!("{:.1}", r.mean_bound),
                format!("{:.1}", r.best_bound),
                format!("{:.1}", r.worst_bound),
                against,
                seconds(r.seconds),
            ]
        })
        .collect();
    let header = ["method", "", "mean bound", "best", "worst", "better / worse than batch", "time"];
    let table = table(&header, &lines);
    let verdict = verdict(rows);
    let series: Vec<TermSeries> =
        methods.iter().map(|m| TermSeries::new(m.name, mean_curve(m))).collect();
    let chart = chart(&series, 78, 16, std::io::stdout().is_terminal());
    format!(
        "{begin}{table}\n{verdict}\n\nmean bound against passes over the data (from pass \
         {DRAWN_FROM})\n{chart}\n"
    )
}

/// What the numbers say, in words.
fn verdict(rows: &[Row<'_>]) -> String {
    let [batch, .., annealed] = rows else { return String::new() };
    let gain = annealed.mean_bound - batch.mean_bound;
    let (better, worse) = (annealed.better_than_batch, annealed.worse_than_batch);
    format!(
        "On this data SVI+ ends higher than batch VI from {better} of the {} starts and lower from \
         {worse}, {:.1} nats {} on average.\nNoise is a tool, not a promise: compare, and keep the \
         best (--n-init).",
        annealed.starts,
        gain.abs(),
        if gain >= 0.0 { "higher" } else { "lower" },
    )
}

/// The mean over the starts, which all observe at the same passes.
fn mean_curve(method: &Method) -> Vec<(f64, f64)> {
    let n = method.runs.len() as f64;
    let first = &method.runs[0].curve;
    (0..first.len())
        .map(|i| (first[i].0, method.runs.iter().map(|r| r.curve[i].1).sum::<f64>() / n))
        .filter(|&(x, _)| x >= DRAWN_FROM)
        .collect()
}

fn draw(mixture: &Mixture, points: &Points, methods: &[Method], best: &Run) -> Figure {
    let mut row = [0.0; 2];
    let dots: Vec<(f64, f64)> = (0..points.n_items())
        .map(|n| {
            points.copy_row(n, &mut row);
            (row[0], row[1])
        })
        .collect();
    let mut map = Panel::new("The best fit: points and 2-sigma ellipses")
        .x_label("x1")
        .y_label("x2")
        .equal_units()
        .with(Series::scatter(dots).colour(Colour::GREY));
    for c in mixture.components(best.fit.state.lambda.table()) {
        if c.size < 1.0 {
            continue;
        }
        let covariance = [[c.covariance[0], c.covariance[1]], [c.covariance[2], c.covariance[3]]];
        let centre = [c.mean[0], c.mean[1]];
        map = map.with(Series::ellipse(centre, covariance, 2.0).colour(Colour::BLUE));
    }
    let mut bound = Panel::new("Bound: every start (thin) and the mean")
        .x_label("passes over the data")
        .y_label("bound (nats)");
    // Early noise reaches far below; the axis shows where the runs end up.
    let late = |run: &Run| run.curve.iter().copied().filter(|p| p.0 >= DRAWN_FROM).collect();
    let ends = || methods.iter().flat_map(|m| &m.runs).map(|r| r.fit.outcome.bound);
    let (worst, top) =
        (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let margin = 0.1 * (top - worst).max(1.0);
    bound = bound.y_range(worst - 3.0 * margin, top + margin);
    for method in methods {
        let fan = Series::fan(method.runs.iter().map(late).collect::<Vec<Vec<_>>>());
        bound = bound.with(fan.colour(method.colour).label(method.name));
    }
    Figure::new("lehr demo: the same starts, three methods").with(map).with(bound)
}
