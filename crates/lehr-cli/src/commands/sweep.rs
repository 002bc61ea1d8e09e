//! `lehr sweep`: the same fit at several sizes, a table, a chart, and which size to take.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use serde::Serialize;

use lehr::data::Count;
use lehr::error::Advice;
use lehr::models::ReadOptions;
use lehr::store::{RunResult, path_text};
use lehr::sweep::{By, Onlooker, Row, Swept, Table, is_sweep, model_name, table_of};
use lehr::write::{self, Column};
use lehr_plot::terminal::{TermSeries, chart};
use lehr_plot::{Colour, Figure, Panel, Series};

use super::End;
use super::claim::Claimed;
use super::fit::naming_file;
use crate::args::{OutputArgs, Request, ResumeArgs, SweepArgs};
use crate::complaint::told;
use crate::look;
use crate::models::Served;
use crate::progress;
use crate::text::{self, counted, number, quoted};

/// Makes the runs.
pub fn run(args: &SweepArgs) -> anyhow::Result<End> {
    let model = args.fit.tables.model;
    lehr::with_model!(model, M => sweep::<M>(args), else anyhow::bail!("there is no model {model}"))
}

fn sweep<M: Served>(args: &SweepArgs) -> anyhow::Result<End> {
    let Request { params, options, config } = args.fit.request::<M::Params, ReadOptions<M>>()?;
    let (flags, data) = (&args.fit.fit, &args.fit.data);
    let bar = Bar::new(flags.print.quiet, data);
    let claimed = Claimed::new(flags, "sweeps", args.fit.tables.model)?;
    let directory = &claimed.path;
    let swept = M::sweep_file(directory, data, &options, params, &config, &args.grid, &bar);
    bar.bar.finish_and_clear();
    let swept = swept.map_err(|error| match is_sweep(directory) {
        true => error.into(), // of a run, which names itself, or of a sweep that is there already
        false => naming_file(error, data),
    })?;
    report::<M>(directory, &swept, flags.print)
}

/// Goes on with a sweep.
pub fn resume(args: &ResumeArgs) -> anyhow::Result<End> {
    if args.steps.is_some() || args.tol.is_some() || args.time.is_some() {
        anyhow::bail!(
            "{}: is a sweep, which is resumed as it was begun; --steps, --tol and --time are for one of its runs",
            args.run.display()
        );
    }
    let name = model_name(&args.run)?;
    lehr::with_model!(name.as_str(), M => resume_of::<M>(args), else unknown(&args.run, &name))
}

fn resume_of<M: Served>(args: &ResumeArgs) -> anyhow::Result<End> {
    let bar = Bar::new(args.output.quiet, &args.run);
    let swept = M::resume_sweep(&args.run, args.data.as_deref(), args.threads, &bar);
    bar.bar.finish_and_clear();
    report::<M>(&args.run, &swept?, args.output)
}

/// Shows a sweep.
pub fn show(directory: &Path, json: bool) -> anyhow::Result<End> {
    let name = model_name(directory)?;
    let print = OutputArgs { json, quiet: false };
    lehr::with_model!(name.as_str(), M => {
        tell::<M>(directory, &table_of::<M>(directory)?, None, print)?;
        Ok(End::Done)
    }, else unknown(directory, &name))
}

fn unknown(directory: &Path, model: &str) -> anyhow::Result<End> {
    anyhow::bail!(
        "{}: this sweep's model is '{model}', which this version of lehr does not know; update lehr",
        directory.display()
    )
}

/// What a person sees while the runs are made.
struct Bar<'a> {
    bar: ProgressBar,
    quiet: bool,
    /// The file that is read.
    file: &'a Path,
}

impl<'a> Bar<'a> {
    fn new(quiet: bool, file: &'a Path) -> Self {
        progress::catch_interrupts(quiet);
        let bar = progress::bar(quiet, "", "{pos}/{len} runs  {eta} left  {wide_msg}");
        Bar { bar, quiet, file }
    }
}

impl Onlooker for Bar<'_> {
    fn begins(&self, runs: usize, done: usize) {
        progress::begun();
        self.bar.set_length(runs as u64);
        self.bar.set_position(done as u64);
        self.bar.reset_eta();
    }

    fn reads(&self, counts: &[Count]) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{}", progress::read_line(self.file, counts)));
        }
    }

    fn ended(&self, name: &str, result: &RunResult) {
        self.bar.inc(1);
        let score = result.heldout.map_or_else(
            || format!("bound {}", number(result.best.bound)),
            |heldout| format!("held out {}", number(heldout)),
        );
        self.bar.set_message(format!("{name}: {score}"));
    }

    fn warn(&self, message: &str) {
        self.bar.suspend(|| eprintln!("{}", text::for_stderr(&format!("warning: {message}"))));
    }

    fn note(&self, note: &Advice) {
        if !self.quiet {
            let line = format!("note: {}", told(note));
            self.bar.suspend(|| eprintln!("{}", text::for_stderr(&line)));
        }
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(progress::stop_flag())
    }
}

/// Tells how a sweep ended, and leaves the table and the chart in files.
fn report<M: Served>(directory: &Path, swept: &Swept, print: OutputArgs) -> anyhow::Result<End> {
    let figure = if swept.done == swept.runs {
        write_table(directory, &swept.table)?;
        Some(write_figure::<M>(directory, &swept.table)?)
    } else {
        None
    };
    tell::<M>(directory, swept, figure, print)?;
    Ok(if progress::interrupted() { End::StoppedEarly } else { End::Done })
}

/// The result line of a sweep.
#[derive(Serialize)]
struct ResultLine<'a> {
    #[serde(serialize_with = "path_text::serialize")]
    sweep: &'a Path,
    complete: bool,
    runs: usize,
    done: usize,
    #[serde(flatten)]
    table: &'a Table,
}

fn tell<M: Served>(
    directory: &Path,
    swept: &Swept,
    figure: Option<PathBuf>,
    print: OutputArgs,
) -> anyhow::Result<()> {
    let Swept { table, runs, done } = swept;
    if print.json {
        let complete = runs == done;
        let (runs, done) = (*runs, *done);
        return text::print_json(&ResultLine { sweep: directory, complete, runs, done, table });
    }
    if print.quiet {
        return Ok(());
    }
    let mut out = String::new();
    if !table.rows.is_empty() {
        let left = if table.rows[0].shape.is_some() { 2 } else { 1 };
        out += &text::aligned(&header::<M>(table), &lines(table), 0..left);
        out += &format!("\n{}\n", legend(table));
        out += &drawing(table);
        out += &recommendation::<M>(table);
    }
    if done < runs {
        let path = quoted(directory);
        out += &format!("{done} of {runs} runs have ended; continue with: lehr resume {path}\n");
    }
    if let Some(figure) = figure {
        out += &format!("figure: {}; table: {}\n", figure.display(), directory.join(CSV).display());
    }
    text::print(&out)
}

/// What the size is called.
fn size_name<M: Served>() -> &'static str {
    if M::SIZE == "dims" { "d" } else { "K" }
}

/// A measure that people ask for, and its column.
const RMSE: (&str, &str) = ("rmse", "RMSE");

fn header<M: Served>(table: &Table) -> Vec<&'static str> {
    let mut header = vec![size_name::<M>()];
    if table.rows.iter().any(|row| row.shape.is_some()) {
        header.push("shape");
    }
    if table.rows.iter().any(|row| row.in_use.is_some()) {
        header.push("in use");
    }
    header.extend(["bound", "sd"]);
    if table.by == By::Heldout {
        header.extend(["held out", "se"]);
    }
    if table.rows.iter().any(|row| row.measures.contains_key(RMSE.0)) {
        header.push(RMSE.1);
    }
    header.push("");
    header
}

fn lines(table: &Table) -> Vec<Vec<String>> {
    let or_dash = |x: Option<f64>, digits| x.map_or("-".into(), |x| text::rounded(x, digits));
    let has_shape = table.rows.iter().any(|row| row.shape.is_some());
    let counts = table.rows.iter().any(|row| row.in_use.is_some());
    let has_rmse = table.rows.iter().any(|row| row.measures.contains_key(RMSE.0));
    let choice = table.choice.as_ref();
    let line = |(at, row): (usize, &Row)| {
        let mut line = vec![row.size.to_string()];
        line.extend(has_shape.then(|| row.shape.clone().unwrap_or_default()));
        line.extend(counts.then(|| row.in_use.map_or("-".into(), |n| n.to_string())));
        // Starts that end in the same place differ by rounding.
        let spread = row.bound_sd.map(|sd| if sd < 1e-6 * row.bound.abs() { 0.0 } else { sd });
        line.extend([number(row.bound), or_dash(spread, 2)]);
        if table.by == By::Heldout {
            line.extend([or_dash(row.heldout, 6), or_dash(row.heldout_se, 2)]);
        }
        line.extend(has_rmse.then(|| or_dash(row.measures.get(RMSE.0).copied(), 5)));
        let is = |place: fn(&lehr::sweep::Choice) -> usize| choice.is_some_and(|c| place(c) == at);
        let verdict = match (is(|c| c.recommended), is(|c| c.best), row.alike) {
            (true, ..) => "<- take this",
            (_, true, _) => "best",
            (.., true) => "~ best",
            _ => "",
        };
        line.push(format!("{verdict:<12}"));
        line
    };
    table.rows.iter().enumerate().map(line).collect()
}

fn legend(table: &Table) -> String {
    let starts = table.rows.iter().map(|row| row.bounds.len()).max().unwrap_or(0);
    let bound = format!(
        "bound: the best of {} with all items; sd: their spread",
        counted(starts as u64, "start")
    );
    match table.by {
        By::Bound => bound,
        By::Heldout => {
            let folds = table.rows.iter().map(|row| row.heldouts.len()).max().unwrap_or(0);
            format!(
                "{bound}\nheld out: the mean score of {folds} folds, in nats; se: its standard error"
            )
        }
    }
}

/// The lines of the chart, one for each shape: size and score.
fn curves(table: &Table) -> Vec<(String, Vec<&Row>)> {
    let mut curves: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in &table.rows {
        let shape = row.shape.clone().unwrap_or_default();
        match curves.iter_mut().find(|(name, _)| *name == shape) {
            Some((_, rows)) => rows.push(row),
            None => curves.push((shape, vec![row])),
        }
    }
    curves
}

fn score(table: &Table, row: &Row) -> f64 {
    match table.by {
        By::Heldout => row.heldout.unwrap_or(f64::NAN),
        By::Bound => row.bound,
    }
}

fn drawing(table: &Table) -> String {
    let curves = curves(table);
    if curves.iter().all(|(_, rows)| rows.len() < 2) {
        return String::new();
    }
    let series: Vec<TermSeries> = curves
        .into_iter()
        .map(|(shape, rows)| {
            TermSeries::new(shape, rows.iter().map(|row| (row.size as f64, score(table, row))))
        })
        .collect();
    let title = match table.by {
        By::Heldout => "held-out score against size",
        By::Bound => "bound against size",
    };
    let chart = chart(&series, look::width().min(78), 12, look::colours_on_stdout());
    format!("\n{title}\n{chart}\n")
}

fn recommendation<M: Served>(table: &Table) -> String {
    let (Some(row), Some(best), Some(choice)) = (table.recommended(), table.best(), &table.choice)
    else {
        return String::new();
    };
    let name = |row: &Row| match &row.shape {
        Some(shape) => format!("{shape} {} = {}", size_name::<M>(), row.size),
        None => format!("{} = {}", size_name::<M>(), row.size),
    };
    let error = match table.by {
        By::Heldout => "one standard error",
        By::Bound => "the spread over the starts",
    };
    let mut text = match choice.alike.len() {
        1 => format!("take {}: it is the best, and no other is within {error} of it", name(row)),
        _ if row == best => {
            format!("take {}: it is the best, and the simplest within {error} of it", name(row))
        }
        _ => format!("take {}: the simplest within {error} of the best, {}", name(row), name(best)),
    };
    let others: Vec<String> = choice.alike.iter().map(|&at| name(&table.rows[at])).collect();
    if others.len() > 1 {
        text += &format!("\ncannot be told apart: {}", others.join(", "));
    }
    if table.at_the_end {
        text += &format!(
            "\nit is the largest {} that was tried; larger ones may be better",
            size_name::<M>()
        );
    }
    if table.by == By::Bound && table.rows.iter().all(|row| row.bound_sd.is_none()) {
        text += "\none start and no folds know no spread; --n-init 3 or --folds 5 would";
    }
    text + &format!("\nlook at it with: lehr show {}\n", quoted(&row.run))
}

const CSV: &str = "sweep.csv";

fn write_table(directory: &Path, table: &Table) -> lehr::Result<()> {
    let whole = |of: fn(&Row) -> i64| table.rows.iter().map(of).collect::<Vec<i64>>();
    let float = |of: fn(&Row) -> f64| table.rows.iter().map(of).collect::<Vec<f64>>();
    let texts = |of: fn(&Row) -> String| table.rows.iter().map(of).collect::<Vec<String>>();
    let or_nan = |x: Option<f64>| x.unwrap_or(f64::NAN);
    let shapes = texts(|row| row.shape.clone().unwrap_or_default());
    let runs = texts(|row| row.run.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let (sizes, alike) = (whole(|row| row.size as i64), whole(|row| i64::from(row.alike)));
    let in_use = whole(|row| row.in_use.map_or(-1, |n| n as i64));
    let (parameters, bound) = (float(|row| row.parameters), float(|row| row.bound));
    let bound_sd: Vec<f64> = table.rows.iter().map(|row| or_nan(row.bound_sd)).collect();
    let heldout: Vec<f64> = table.rows.iter().map(|row| or_nan(row.heldout)).collect();
    let heldout_se: Vec<f64> = table.rows.iter().map(|row| or_nan(row.heldout_se)).collect();
    let rmse: Vec<f64> =
        table.rows.iter().map(|row| or_nan(row.measures.get(RMSE.0).copied())).collect();
    let seconds = float(|row| row.seconds);
    let recommended: Vec<i64> = (0..table.rows.len())
        .map(|at| i64::from(table.choice.as_ref().is_some_and(|c| c.recommended == at)))
        .collect();
    let mut columns = vec![Column::text("run", &runs), Column::i64("size", &sizes)];
    if table.rows.iter().any(|row| row.shape.is_some()) {
        columns.push(Column::text("shape", &shapes));
    }
    columns.push(Column::f64("parameters", &parameters));
    if table.rows.iter().any(|row| row.in_use.is_some()) {
        columns.push(Column::i64("in_use", &in_use));
    }
    columns.extend([Column::f64("bound", &bound), Column::f64("bound_sd", &bound_sd)]);
    if table.by == By::Heldout {
        columns.extend([Column::f64("heldout", &heldout), Column::f64("heldout_se", &heldout_se)]);
    }
    if rmse.iter().any(|x| !x.is_nan()) {
        columns.push(Column::f64("rmse", &rmse));
    }
    columns.extend([
        Column::f64("seconds", &seconds),
        Column::i64("alike", &alike),
        Column::i64("recommended", &recommended),
    ]);
    write::table(&directory.join(CSV), &columns)
}

/// Writes `sweep.png` and `sweep.svg`.
fn write_figure<M: Served>(directory: &Path, table: &Table) -> anyhow::Result<PathBuf> {
    let sizes = || table.rows.iter().map(|row| row.size as f64);
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let panel = |title: &str, label: &str| {
        let panel = Panel::new(title).x_label(size_name::<M>()).y_label(label);
        if high >= 10.0 * low { panel.x_log() } else { panel }
    };
    let mut bound = panel("Bound: best of the starts, and each of them", "bound (nats)");
    let mut heldout = panel("Held out: mean and standard error of the folds", "score (nats)");
    for (at, (shape, rows)) in curves(table).into_iter().enumerate() {
        let colour = Colour::nth(at);
        let line = |of: fn(&Row) -> f64| {
            let line = Series::line(rows.iter().map(|row| (row.size as f64, of(row))));
            let line = line.colour(colour);
            // One line needs no name.
            if shape.is_empty() { line } else { line.label(&shape) }
        };
        let dots = |of: fn(&Row) -> Vec<f64>| {
            let points =
                rows.iter().flat_map(|row| of(row).into_iter().map(|y| (row.size as f64, y)));
            Series::scatter(points.collect::<Vec<_>>()).colour(colour).radius(3.0)
        };
        bound = bound.with(line(|row| row.bound)).with(dots(|row| row.bounds.clone()));
        heldout = heldout.with(line(|row| row.heldout.unwrap_or(f64::NAN)));
        heldout = heldout.with(dots(|row| row.heldout.into_iter().collect()));
        for row in &rows {
            if let (Some(mean), Some(error)) = (row.heldout, row.heldout_se) {
                let size = row.size as f64;
                let bar = Series::line([(size, mean - error), (size, mean + error)]);
                heldout = heldout.with(bar.colour(colour).width(1.5));
            }
        }
    }
    if let (Some(row), By::Heldout) = (table.recommended(), table.by) {
        let place = [(row.size as f64, row.heldout.unwrap_or(f64::NAN))];
        let ring = Series::scatter(place).colour(Colour::BLACK).radius(6.0).label("recommended");
        heldout = heldout.with(ring);
    }
    let title = format!("lehr sweep: {} from {low} to {high}", size_name::<M>());
    let figure = Figure::new(title).with(bound);
    let figure = if table.by == By::Heldout { figure.with(heldout) } else { figure };
    let files = figure.files(&directory.join("sweep"))?;
    for (path, bytes) in &files {
        write::whole(path, bytes)?;
    }
    let [png, _] = files;
    Ok(png.0)
}
