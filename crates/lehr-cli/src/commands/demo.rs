//! `lehr demo`: a Dirichlet process on planted clusters, fitted four ways from the same starts with the same passes over the
//! data, shown as a table, a chart and a figure.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::Observation;
use lehr::fit::{Fitted, Watcher};
use lehr::math::rng::{Address, Purpose};
use lehr::models::mixture::{Mixture, MixtureParams, Start};
use lehr_plot::terminal::{TermSeries, chart};
use lehr_plot::{Colour, Figure, Panel, Series};

use super::End;
use crate::args::DemoArgs;
use crate::look;
use crate::output;
use crate::text::{narrowed, print, print_json, seconds};

const N_ITEMS: usize = 1000;
const N_CLUSTERS: usize = 8;
/// The nearest two clusters are at least this many deviations apart.
const APART: f64 = 4.5;
/// K, at which the process is truncated.
const MOST_CLUSTERS: usize = 20;
/// A cluster that holds less than this share of the items does not count as one.
const SHARE: f64 = 0.01;
/// How often each method sees every item.
const PASSES: u64 = 300;
const BATCH: usize = 100;
/// The effective batch size with which annealing starts.
const M_0: usize = 30;
/// The first passes are not drawn: what comes later would be a flat line next to them.
const DRAWN_FROM: f64 = 10.0;

/// One method and how all its starts went.
struct Method {
    name: &'static str,
    about: &'static str,
    colour: Colour,
    config: FitConfig,
    /// Whether a search spends the passes that a plain fit leaves.
    searches: bool,
    runs: Vec<Run>,
    seconds: f64,
}

struct Run {
    fit: Fitted,
    /// Clusters found.
    clusters: usize,
    /// Passes over the data.
    passes: f64,
    /// (passes over the data, bound).
    curve: Vec<(f64, f64)>,
}

/// Collects the observations of one run.
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
    right_number: usize,
    mean_passes: f64,
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
    // Before the folder is there, nothing can be in the way.
    if args.output.is_dir() {
        for name in ["demo.png", "demo.svg"] {
            output::check(&args.output.join(name), args.force)?;
        }
    }
    let points = planted_clusters(args.seed)?;
    // The default start finds these clusters by itself, which leaves nothing to see.
    let params = MixtureParams { start: Start::Points, ..MixtureParams::dpgmm(MOST_CLUSTERS) };
    let mixture = Mixture::new(params, &points)?;
    let mut methods = methods(args.seed);
    for method in &mut methods {
        fit_all(&mixture, &points, method, args.starts)?;
    }
    let rows: Vec<Row<'_>> = methods.iter().map(|m| row(m, &methods[0])).collect();
    let figure = draw(&mixture, &points, &methods)?;
    let [png, svg] = write(&figure, &args.output)?;
    if args.json {
        print_json(&rows)?;
        return Ok(End::Done);
    }
    let report = report(&args, &methods, &rows);
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
  lehr demo --seed 2                                   another data set
  lehr fit dpgmm points.csv -k 50 -o runs/a            your data (CSV, Parquet)
  lehr fit dpgmm points.csv -k 50 --search 4 -o runs/b   and a search from there
  lehr show runs/b                                     what it found";

/// Points of clusters of different size, shape and direction, of which no two overlap much.
fn planted_clusters(seed: u64) -> lehr::Result<Points> {
    let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
    let mut clusters: Vec<([f64; 2], f64, f64, f64, f64)> = Vec::new();
    let mut side = 8.0;
    while clusters.len() < N_CLUSTERS {
        let centre = [side * (rng.uniform() - 0.5), side * (rng.uniform() - 0.5)];
        let (long, short) = (0.3 + 0.6 * rng.uniform(), 0.12 + 0.2 * rng.uniform());
        let cluster =
            (centre, long, short, std::f64::consts::PI * rng.uniform(), 0.3 + rng.uniform());
        // The long deviations of both: they are apart whichever way they lie.
        let is_apart = |other: &([f64; 2], f64, f64, f64, f64)| {
            let [dx, dy] = [0, 1].map(|i| centre[i] - other.0[i]);
            dx.hypot(dy) >= APART * long.max(other.1)
        };
        if clusters.iter().all(is_apart) {
            clusters.push(cluster);
        } else {
            side *= 1.01;
        }
    }
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
    Points::new(values, 2)
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
    let plain = FitConfig { tol: FitConfig::default().tol, ..base.clone() };
    let method = |name, about, colour, config| Method {
        name,
        about,
        colour,
        config,
        searches: false,
        runs: Vec::new(),
        seconds: 0.0,
    };
    vec![
        method("batch VI", "all items in every step", Colour::BLUE, base),
        method("SVI", "batches of 100", Colour::ORANGE, batches),
        method("SVI+", "all items, M from 30 up", Colour::GREEN, annealed),
        Method {
            searches: true,
            ..method("search", "batch VI, then kicks", Colour::VERMILION, plain)
        },
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
        let mut config = method.config.clone();
        let fit =
            |config: FitConfig| lehr::fit(mixture, points).config(config).threads(1).start(start);
        if method.searches {
            // The same passes as the other methods: a budget is a multiple of the plain fit's.
            let plain = fit(config.clone()).run()?.outcome.steps as f64 + 1.0;
            config.search = Some((PASSES as f64 / plain.max(30.0)).max(1.0));
        }
        let mut curve = Curve::default();
        let fit = fit(config).watch(&mut curve).run()?;
        let components = mixture.components(fit.state.lambda.table());
        let clusters = components.iter().filter(|c| c.size > SHARE * N_ITEMS as f64).count();
        let passes = fit.state.items as f64 / N_ITEMS as f64;
        method.runs.push(Run { fit, clusters, passes, curve: curve.0 });
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
        right_number: method.runs.iter().filter(|run| run.clusters == N_CLUSTERS).count(),
        mean_passes: method.runs.iter().map(|run| run.passes).sum::<f64>() / bounds.len() as f64,
        mean_bound: bounds.iter().sum::<f64>() / bounds.len() as f64,
        best_bound: bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        worst_bound: bounds.iter().copied().fold(f64::INFINITY, f64::min),
        better_than_batch: differences().filter(|&d| d > 0.5).count(),
        worse_than_batch: differences().filter(|&d| d < -0.5).count(),
        starts: bounds.len(),
        seconds: method.seconds,
    }
}

fn report(args: &DemoArgs, methods: &[Method], rows: &[Row<'_>]) -> String {
    let begin = format!(
        "A Dirichlet process, truncated at {MOST_CLUSTERS}, on {N_ITEMS} points of {N_CLUSTERS} clusters (seed {}),\n\
         fitted four ways from the same {} random starts, about {PASSES} passes over the data\n\
         each. The bound is in nats; higher is better.\n\n",
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
                format!("{} of {}", r.right_number, r.starts),
                format!("{:.0}", r.mean_passes),
                format!("{:.1}", r.mean_bound),
                format!("{:.1}", r.best_bound),
                format!("{:.1}", r.worst_bound),
                against,
                seconds(r.seconds),
            ]
        })
        .collect();
    let header = [
        "method",
        "",
        "right number",
        "passes",
        "mean bound",
        "best",
        "worst",
        "better / worse",
        "time",
    ];
    // Worst, best, what the methods are and how long they took: what a narrow terminal can do without.
    let width = look::width_of_stdout().unwrap_or(usize::MAX);
    let table = narrowed(&header, &lines, &[6, 5, 1, 8], width);
    let verdict = verdict(rows);
    let series: Vec<TermSeries> =
        methods.iter().map(|m| TermSeries::new(m.name, mean_curve(m))).collect();
    let chart = chart(&series, look::width().min(78), 16, look::colours_on_stdout());
    format!(
        "{begin}{table}\n{verdict}\n\nmean bound against passes over the data (from pass \
         {DRAWN_FROM})\n{chart}\n"
    )
}

/// What the numbers say, in words.
fn verdict(rows: &[Row<'_>]) -> String {
    let [batch, others @ ..] = rows else { return String::new() };
    let line = |row: &Row<'_>| {
        let gain = row.mean_bound - batch.mean_bound;
        let than = if gain >= 0.0 { "higher" } else { "lower" };
        format!(
            "{}: {:.1} nats {than} than batch VI on average, higher from {} of the {} starts and lower from {}.",
            row.method,
            gain.abs(),
            row.better_than_batch,
            row.starts,
            row.worse_than_batch
        )
    };
    let best = rows.iter().max_by(|a, b| a.mean_bound.total_cmp(&b.mean_bound));
    let best = best.map_or("", |row| row.method);
    let end = match best {
        "search" => "On this data the search wins. It is lehr fit --search.",
        _ => "On this data the search does not win: compare, and keep the best.",
    };
    others.iter().map(line).chain([end.to_string()]).collect::<Vec<_>>().join("\n")
}

/// The bound of a run after this many passes: the last that was observed.
fn bound_at(run: &Run, pass: f64) -> f64 {
    let seen = run.curve.iter().take_while(|&&(x, _)| x <= pass);
    // Noise and batches go up and down; a search only tells of what it keeps.
    seen.last().map_or(f64::NAN, |&(_, bound)| bound)
}

/// The passes that are drawn.
fn drawn() -> impl Iterator<Item = f64> {
    (DRAWN_FROM as u64..=PASSES).map(|pass| pass as f64)
}

/// The mean over the starts.
fn mean_curve(method: &Method) -> Vec<(f64, f64)> {
    let n = method.runs.len() as f64;
    let mean = |pass: f64| method.runs.iter().map(|run| bound_at(run, pass)).sum::<f64>() / n;
    drawn().map(|pass| (pass, mean(pass))).collect()
}

/// The clusters that a run has found.
fn map(mixture: &Mixture, points: &Points, run: &Run, title: &str) -> Panel {
    let mut row = [0.0; 2];
    let dots: Vec<(f64, f64)> = (0..points.n_items())
        .map(|n| {
            points.copy_row(n, &mut row);
            (row[0], row[1])
        })
        .collect();
    let mut map = Panel::new(title)
        .x_label("x1")
        .y_label("x2")
        .equal_units()
        .with(Series::scatter(dots).colour(Colour::GREY));
    for c in mixture.components(run.fit.state.lambda.table()) {
        if c.size < 1.0 {
            continue;
        }
        let covariance = [[c.covariance[0], c.covariance[1]], [c.covariance[2], c.covariance[3]]];
        let centre = [c.mean[0], c.mean[1]];
        map = map.with(Series::ellipse(centre, covariance, 2.0).colour(Colour::BLUE));
    }
    map
}

fn draw(mixture: &Mixture, points: &Points, methods: &[Method]) -> anyhow::Result<Figure> {
    // Batch VI from its median start, and the best of all.
    let mut batch: Vec<&Run> = methods[0].runs.iter().collect();
    batch.sort_by(|a, b| a.fit.outcome.bound.total_cmp(&b.fit.outcome.bound));
    let median = batch.get(batch.len() / 2).context("a demonstration needs at least one start")?;
    let by_bound = |(_, a): &(&Method, &Run), (_, b): &(&Method, &Run)| {
        a.fit.outcome.bound.total_cmp(&b.fit.outcome.bound)
    };
    let all = methods.iter().flat_map(|m| m.runs.iter().map(move |run| (m, run)));
    let (of, best) = all.max_by(by_bound).context("a demonstration needs at least one start")?;
    let title = |what: &str, run: &Run| format!("{what}: {} clusters", run.clusters);
    let median = map(mixture, points, median, &title("Batch VI, its median start", median));
    let best = map(mixture, points, best, &title(&format!("The best of all, {}", of.name), best));
    let mut bound = Panel::new("Bound: every start (thin) and the mean")
        .x_label("passes over the data")
        .y_label("bound (nats)");
    // Early noise reaches far below; the axis shows where the runs end up.
    let late = |run: &Run| drawn().map(|pass| (pass, bound_at(run, pass))).collect();
    let ends = || methods.iter().flat_map(|m| &m.runs).map(|r| r.fit.outcome.bound);
    let (worst, top) =
        (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
    let margin = 0.1 * (top - worst).max(1.0);
    bound = bound.y_range(worst - 3.0 * margin, top + margin);
    for method in methods {
        let fan = Series::fan(method.runs.iter().map(late).collect::<Vec<Vec<_>>>());
        bound = bound.with(fan.colour(method.colour).label(method.name));
    }
    let title = "lehr demo: the same starts, four methods";
    Ok(Figure::new(title).with(median).with(best).with(bound))
}
