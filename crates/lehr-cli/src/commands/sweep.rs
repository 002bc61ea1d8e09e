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
use lehr_plot::Figure;
use lehr_plot::terminal::{TermSeries, chart};

use super::End;
use super::claim::Claimed;
use super::fit::naming_file;
use crate::args::{OutputArgs, Request, ResumeArgs, SweepArgs};
use crate::complaint::render;
use crate::interrupts;
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
            "{}: is a sweep, which is resumed with its own settings; --steps, --tol and --time are for one of its runs",
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
        interrupts::catch_interrupts(quiet);
        let bar = progress::bar(quiet, "", "{pos}/{len} runs  {eta} left  {wide_msg}");
        Bar { bar, quiet, file }
    }
}

impl Onlooker for Bar<'_> {
    fn begins(&self, runs: usize, done: usize) {
        interrupts::begun();
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
            let line = format!("note: {}", render(note));
            self.bar.suspend(|| eprintln!("{}", text::for_stderr(&line)));
        }
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(interrupts::stop_flag())
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
    Ok(if interrupts::interrupted() { End::StoppedEarly } else { End::Done })
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
pub fn size_name<M: Served>() -> &'static str {
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

fn score(table: &Table, row: &Row) -> f64 {
    match table.by {
        By::Heldout => row.heldout.unwrap_or(f64::NAN),
        By::Bound => row.bound,
    }
}

fn drawing(table: &Table) -> String {
    let curves = lehr_report::shapes(table);
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
    let (Some(text), Some(row)) =
        (lehr_report::recommendation(table, size_name::<M>()), table.recommended())
    else {
        return String::new();
    };
    format!("{text}\nlook at it with: lehr show {}\n", quoted(&row.run))
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
    let mut figure = Figure::new(format!("lehr sweep: {} from {low} to {high}", size_name::<M>()));
    figure.panels = lehr_report::size_panels(table, size_name::<M>());
    let files = figure.files(&directory.join("sweep"))?;
    for (path, bytes) in &files {
        write::whole(path, bytes)?;
    }
    let [png, _] = files;
    Ok(png.0)
}
