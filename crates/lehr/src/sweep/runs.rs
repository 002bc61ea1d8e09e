//! The runs of a sweep: made side by side, each in its own directory, and read back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::table::{deviation, standard_error};
use super::{Cell, Grid, HasSize, Row, Table};
use crate::data::{Count, Dataset, FromFile};
use crate::error::{Advice, Verb, action, advice, setting};
use crate::fit::Watcher;
use crate::fit::stop::StopReason;
use crate::models::ReadOptions;
use crate::settings::{FitConfig, Holdout};
use crate::store::{
    self, Begin, DataSource, Disk, Extension, Items, Run, RunDirectory, RunResult, Saved,
    lock_folder,
};
use crate::{Error, ErrorKind, Result, read, write};

/// What was asked for.
const FILE: &str = "sweep.json";
/// The version of that file.
const FORMAT: u32 = 1;

/// `sweep.json`: all that is needed to make the runs.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Asked<M: HasSize> {
    format: u32,
    lehr: String,
    model: String,
    grid: Grid,
    /// The settings of each shape, with the prior that all sizes share.
    params: Vec<M::Params>,
    /// How many numbers the model of each cell has to learn.
    parameters: Vec<f64>,
    /// Over how many items a score is a mean.
    scored: f64,
    fit: FitConfig,
    data: DataSource<ReadOptions<M>>,
}

/// Looks on while the runs of a sweep are made, several at a time.
pub trait Onlooker: Sync {
    /// This many runs are to be made, of which this many are there already.
    fn begins(&self, _runs: usize, _done: usize) {}

    /// The items were read, of which this is worth counting.
    fn reads(&self, _counts: &[Count]) {}

    /// A run has ended.
    fn ended(&self, _name: &str, _result: &RunResult) {}

    /// Something is not as it should be.
    fn warn(&self, _message: &str) {}

    /// Something about the data or the model that a user should know; told once.
    fn note(&self, _note: &Advice) {}

    /// A flag that is raised when all runs are to stop at once.
    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// Watches nothing.
impl Onlooker for () {}

/// How a sweep ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// What its runs say, as far as they are there.
    pub table: Table,
    /// How many runs there are to be.
    pub runs: usize,
    /// How many have ended.
    pub done: usize,
}

/// A run to be made.
struct Job<P> {
    name: String,
    /// Whether it is the run of all items of its size.
    is_whole: bool,
    params: P,
    config: FitConfig,
}

/// Fits a model at every size to a file and leaves a directory of runs. Everything is checked before anything is
/// written.
pub fn fit_file<M: HasSize>(
    directory: &Path,
    data_path: &Path,
    options: &ReadOptions<M>,
    params: M::Params,
    config: &FitConfig,
    grid: &Grid,
    onlooker: &dyn Onlooker,
) -> Result<Swept> {
    check_free(directory)?;
    let data = crate::threads::own(config.threads, || M::Data::read(data_path, options))?;
    onlooker.reads(&data.counts());
    let items = Items::<M>::of_file(&data, data_path, options);
    let asked = Asked::new(&items, params, config, grid, onlooker)?;
    fs::create_dir_all(directory).map_err(|e| Error::io(directory, "cannot create", e))?;
    let _lock = lock_folder(directory)?;
    check_free(directory)?; // another sweep may just have started here
    asked.write(directory)?;
    asked.make(directory, items, config.threads, onlooker)
}

/// The same in memory: with the table come the runs of all items, in the order of its rows. A sweep that is stopped
/// leaves nothing.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
/// use lehr::store::Items;
/// use lehr::sweep::{self, Grid};
///
/// let points = Points::new((0..120).map(|n| f64::from(n % 2 * 40 + n % 7)).collect(), 1)?;
/// let grid = Grid { sizes: "1..3".parse().unwrap(), shapes: Vec::new(), folds: 3 };
/// let (items, params) = (Items::in_memory(&points), MixtureParams::gmm(3));
/// let (swept, runs) = sweep::fit::<Mixture>(items, params, &Default::default(), &grid, &())?;
/// assert_eq!((runs.len(), swept.table.recommended().unwrap().size), (3, 2));
/// # Ok::<(), lehr::Error>(())
/// ```
pub fn fit<M: HasSize>(
    items: Items<'_, M>,
    params: M::Params,
    config: &FitConfig,
    grid: &Grid,
    onlooker: &dyn Onlooker,
) -> Result<(Swept, Vec<Run<M>>)> {
    let asked = Asked::new(&items, params, config, grid, onlooker)?;
    let jobs: Vec<_> = asked.jobs();
    onlooker.begins(jobs.len(), 0);
    let ended = Mutex::new(HashMap::new());
    let one = |job: &Job<M::Params>, threads: usize, looking: &mut Looking<'_>| {
        let config = FitConfig { threads, ..job.config.clone() };
        let run = Run::fit(items, job.params.clone(), &config, Begin::Random, looking)?;
        let result = run.result.clone().expect("a fit that has ended has a result");
        if result.best.stop == StopReason::Interrupted {
            return Err(ErrorKind::Stopped(StopReason::Interrupted).into());
        }
        let run = job.is_whole.then_some(run);
        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.insert(job.name.clone(), (result.clone(), run));
        Ok(result)
    };
    side_by_side(&jobs.iter().collect::<Vec<_>>(), config.threads, onlooker, one)
        .map_err(|(_, error)| error)?;
    let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    let result = |name: &str| Ok(ended.get(name).map(|(result, _)| result.clone()));
    let run = |name: &str| ended.get(name).and_then(|(_, run): &(_, Option<Run<M>>)| run.as_ref());
    let in_use = |name: &str| Ok(run(name).and_then(|run| run.model.in_use(run.lambda())));
    let swept = asked.swept(result, in_use)?;
    let whole = |cell: &Cell| ended.remove(&cell.name()).and_then(|(_, run)| run);
    let runs = grid.cells().iter().filter_map(whole).collect();
    Ok((swept, runs))
}

/// Goes on with a sweep that was stopped: makes the runs that are missing. The data are where they were, or in the
/// file `data` now.
pub fn resume<M: HasSize>(
    directory: &Path,
    data: Option<&Path>,
    threads: Option<usize>,
    onlooker: &dyn Onlooker,
) -> Result<Swept> {
    let mut asked = Asked::<M>::read(directory)?;
    let _lock = lock_folder(directory)?;
    let swept = asked.swept_in(directory)?;
    if swept.done == swept.runs {
        return Ok(swept);
    }
    if let Some(path) = data {
        asked.data.pipe = read::is_pipe(path);
        asked.data.path = Some(read::behind(path));
    }
    let Some(path) = asked.data.path.clone() else {
        return Err(Error::damaged(directory.join(FILE), "it names no data"));
    };
    if asked.data.pipe {
        return Err(store::no_pipe(directory, &path));
    }
    let threads = threads.unwrap_or(asked.fit.threads);
    let data = crate::threads::own(threads, || M::Data::read(&path, &asked.data.options))?;
    if data.fingerprint() != asked.data.fingerprint {
        let message =
            "is not the data of this sweep any more; put the old file back, or start a new sweep";
        return Err(Error::run(path, message));
    }
    asked.write(directory)?;
    let items = Items::<M>::of_file(&data, &path, &asked.data.options);
    asked.make(directory, items, threads, onlooker)
}

/// What the runs of a sweep say, as far as they are there.
pub fn table_of<M: HasSize>(directory: &Path) -> Result<Swept> {
    Asked::<M>::read(directory)?.swept_in(directory)
}

/// Whether a directory holds a sweep.
pub fn is_sweep(directory: &Path) -> bool {
    directory.join(FILE).is_file()
}

/// The name of the model of a sweep.
pub fn model_name(directory: &Path) -> Result<String> {
    #[derive(Deserialize)]
    struct Name {
        model: String,
    }
    Ok(parsed::<Name>(directory)?.model)
}

fn parsed<T: serde::de::DeserializeOwned>(directory: &Path) -> Result<T> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let path = directory.join(FILE);
    let bytes = fs::read(&path).map_err(|e| Error::io(&path, "cannot read", e))?;
    let wrong = |e: serde_json::Error| {
        let message = format!("{e}; this file is written by lehr and not meant to be edited");
        Error::parse_at(&path, e.line() as u64, None, message)
    };
    let Version { format } = serde_json::from_slice(&bytes).map_err(wrong)?;
    if format != FORMAT {
        let message = format!(
            "is version {format} of a sweep, and this lehr reads version {FORMAT}; update lehr"
        );
        return Err(Error::run(path, message));
    }
    serde_json::from_slice(&bytes).map_err(wrong)
}

/// Whether a new sweep may start here.
fn check_free(directory: &Path) -> Result<()> {
    if is_sweep(directory) {
        let message = advice![
            "already holds a sweep, which is left as it is; choose another directory, continue it with ",
            action(Verb::Resume).with(directory),
            ", or delete it first",
        ];
        return Err(Error::run(directory, message));
    }
    RunDirectory::planned(directory).check_free()?;
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    // What a process leaves that was killed while it wrote the first file.
    if entries.any(|entry| {
        !entry.file_name().to_string_lossy().contains(FILE) && entry.file_name() != ".lock"
    }) {
        let message =
            "is not empty; a sweep makes directories of its own in it, so choose another one";
        return Err(Error::run(directory, message));
    }
    Ok(())
}

impl<M: HasSize> Asked<M> {
    /// What is asked for, checked against the data, with the prior that all sizes share.
    fn new(
        items: &Items<'_, M>,
        params: M::Params,
        config: &FitConfig,
        grid: &Grid,
        onlooker: &dyn Onlooker,
    ) -> Result<Self> {
        if config.holdout != Holdout::default() {
            let allowed = advice![
                "a sweep holds items out by itself; choose the number of parts with ",
                setting("folds")
            ];
            return Err(Error::config("holdout", config.holdout, allowed));
        }
        if config.eval_every == Some(0) {
            let allowed = "a sweep compares bounds, so they must be evaluated";
            return Err(Error::config("eval_every", 0, allowed));
        }
        let data = items.data;
        let n_items = data.n_items();
        if grid.folds == 1 || grid.folds as usize > n_items {
            let allowed =
                format!("must be 0, or from 2 to the number of {}, {n_items}", M::Data::ITEMS);
            return Err(Error::config("folds", grid.folds, allowed));
        }
        // Where a fold is held out, fewer are left.
        let fewest =
            n_items - n_items.div_ceil(grid.folds.max(1) as usize) * usize::from(grid.folds > 0);
        let mut of_shapes = Vec::new();
        for cell in grid.cells().iter().filter(|cell| cell.size == grid.sizes.largest()) {
            let params = match &cell.shape {
                Some(shape) => M::with_shape(&params, shape)?,
                None => params.clone(),
            };
            let mut params = M::with_size(&params, cell.size);
            M::check_size(&params, data, n_items)?;
            if M::check_size(&params, data, fewest).is_err() {
                let (folds, items) = (grid.folds, M::Data::ITEMS);
                let allowed = format!(
                    "{fewest} of the {n_items} {items} are left to fit when one of {folds} parts is held out; try fewer"
                );
                return Err(Error::config(M::SIZE, cell.size, allowed));
            }
            M::anchor(&mut params);
            if let Some(advice) = M::foresee(&params, data, config)? {
                onlooker.note(&advice);
            }
            let params = M::with_fixed_prior(params, data)?;
            config.with_defaults_of(&M::build(params.clone(), data)?).check(fewest)?;
            of_shapes.push(params);
        }
        let model = M::build(of_shapes[0].clone(), data)?.name().to_string();
        let mut asked = Asked {
            parameters: Vec::new(),
            scored: M::n_scored(data),
            format: FORMAT,
            lehr: env!("CARGO_PKG_VERSION").to_string(),
            model,
            grid: grid.clone(),
            params: of_shapes,
            fit: config.clone(),
            data: items.describe(),
        };
        let count = |(cell, params): (Cell, &M::Params)| {
            M::n_parameters(&M::with_size(params, cell.size), data)
        };
        asked.parameters = asked.cells().map(count).collect();
        Ok(asked)
    }

    fn write(&self, directory: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self).expect("plain values become JSON");
        text.push(b'\n');
        write::whole(&directory.join(FILE), &text)
    }

    fn read(directory: &Path) -> Result<Self> {
        let asked: Self = parsed(directory)?;
        let grid = &asked.grid;
        if asked.params.len() == grid.shapes.len().max(1)
            && asked.parameters.len() == grid.cells().len()
        {
            return Ok(asked);
        }
        Err(Error::damaged(directory.join(FILE), "its lists do not belong together"))
    }

    fn cells(&self) -> impl Iterator<Item = (Cell, &M::Params)> {
        let per_shape = self.grid.sizes.all().len();
        self.grid
            .cells()
            .into_iter()
            .enumerate()
            .map(move |(at, cell)| (cell, &self.params[at / per_shape]))
    }

    fn folds(&self) -> impl Iterator<Item = u32> {
        1..=self.grid.folds
    }

    /// All runs, the longest first, so that none of them is waited for alone in the end.
    fn jobs(&self) -> Vec<Job<M::Params>> {
        let mut jobs = Vec::new();
        for ((cell, params), &cost) in self.cells().zip(&self.parameters) {
            let params = M::with_size(params, cell.size);
            let job = |name: String, is_whole: bool, config: FitConfig| {
                (cost, Job { name, is_whole, params: params.clone(), config })
            };
            jobs.push(job(cell.name(), true, self.fit.clone()));
            jobs.extend(self.folds().map(|fold| {
                let holdout = Holdout::Fold { fold, of: self.grid.folds };
                // A fold is one of several already: it has one start.
                let config = FitConfig { holdout, n_init: 1, ..self.fit.clone() };
                job(fold_name(&cell, fold), false, config)
            }));
        }
        jobs.sort_by(|a, b| b.0.total_cmp(&a.0));
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    /// Makes the runs that are missing, as many at a time as there are threads.
    fn make(
        &self,
        directory: &Path,
        items: Items<'_, M>,
        threads: usize,
        onlooker: &dyn Onlooker,
    ) -> Result<Swept> {
        let jobs = self.jobs();
        let missing: Vec<&Job<M::Params>> = jobs
            .iter()
            .filter_map(|job| match ended::<M>(&directory.join(&job.name)) {
                Ok(true) => None,
                Ok(false) => Some(Ok(job)),
                Err(error) => Some(Err(error)),
            })
            .collect::<Result<_>>()?;
        onlooker.begins(jobs.len(), jobs.len() - missing.len());
        let one = |job: &Job<M::Params>, threads: usize, looking: &mut Looking<'_>| {
            self.one(&directory.join(&job.name), job, items, threads, looking)
        };
        match side_by_side(&missing, threads, onlooker, one) {
            Err((_, error))
                if matches!(error.kind(), ErrorKind::Stopped(StopReason::Interrupted)) => {}
            Err((name, error)) => return Err(of_run(&directory.join(name), error)),
            Ok(()) => {}
        }
        self.swept_in(directory)
    }

    /// One run: started or continued.
    fn one(
        &self,
        path: &Path,
        job: &Job<M::Params>,
        items: Items<'_, M>,
        threads: usize,
        looking: &mut Looking<'_>,
    ) -> Result<RunResult> {
        if let Ok(mut directory) = RunDirectory::open(path) {
            if let Some((data, _)) = items.source {
                directory = directory.with_data(data);
            }
            return store::resume::<M>(&directory, Extension::default(), Some(threads), looking);
        }
        let config = FitConfig { threads, ..job.config.clone() };
        let mut disk = Disk::new(path)?;
        let run =
            store::fit(items, job.params.clone(), &config, Begin::Random, &mut disk, looking)?;
        Ok(run.into_result())
    }

    /// What the runs in a directory say.
    fn swept_in(&self, directory: &Path) -> Result<Swept> {
        let result = |name: &str| {
            let path = directory.join(name);
            Ok(if ended::<M>(&path)? { RunDirectory::open(&path)?.result() } else { None })
        };
        let in_use = |name: &str| {
            let loaded = RunDirectory::open(&directory.join(name))?.load::<M>()?;
            Ok(loaded.model.in_use(&loaded.saved.model_state().lambda))
        };
        let mut swept = self.swept(result, in_use)?;
        swept.table.rows.iter_mut().for_each(|row| row.run = directory.join(&row.run));
        Ok(swept)
    }

    /// What the runs say: `result` tells how the one with a name ended, if it has, and `in_use` how many of its parts
    /// are in use.
    fn swept(
        &self,
        result: impl Fn(&str) -> Result<Option<RunResult>>,
        in_use: impl Fn(&str) -> Result<Option<usize>>,
    ) -> Result<Swept> {
        let (mut rows, mut runs, mut done) = (Vec::new(), 0, 0);
        for (cell, &parameters) in self.grid.cells().into_iter().zip(&self.parameters) {
            let whole = result(&cell.name())?;
            let of_fold = |fold| result(&fold_name(&cell, fold));
            let folds = self.folds().map(of_fold).collect::<Result<Vec<_>>>()?;
            runs += 1 + folds.len();
            done += usize::from(whole.is_some()) + folds.iter().flatten().count();
            let folds: Option<Vec<RunResult>> = folds.into_iter().collect();
            if let (Some(whole), Some(folds)) = (whole, folds) {
                let name = cell.name();
                let in_use = in_use(&name)?;
                rows.push(row(cell, name.into(), parameters, in_use, &whole, &folds));
            }
        }
        Ok(Swept { table: Table::new(rows, self.scored), runs, done })
    }
}

/// Makes runs, as many at a time as there are threads, until one fails or a stop is asked for. The first failure
/// comes with the name of its run.
fn side_by_side<P: Sync>(
    jobs: &[&Job<P>],
    threads: usize,
    onlooker: &dyn Onlooker,
    one: impl Fn(&Job<P>, usize, &mut Looking<'_>) -> Result<RunResult> + Sync,
) -> Result<(), (String, Error)> {
    let all = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { all() } else { threads };
    let at_a_time = threads.min(jobs.len()).max(1);
    let (next, told, failed) = (AtomicUsize::new(0), Mutex::default(), Mutex::new(None));
    let stop = onlooker.stop_flag().unwrap_or_default();
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut looking = Looking { onlooker, told: &told, stop: Arc::clone(&stop) };
            match one(job, threads / at_a_time, &mut looking) {
                Ok(result) => onlooker.ended(&job.name, &result),
                Err(error) => {
                    let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert((job.name.clone(), error));
                    return;
                }
            }
            let is_over = failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            if is_over || stop.load(Ordering::Relaxed) {
                return;
            }
        }
    };
    std::thread::scope(|scope| (0..at_a_time).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn fold_name(cell: &Cell, fold: u32) -> String {
    format!("{}-fold{fold}", cell.name())
}

/// Whether there is a run that has come to its end, which a time limit is too.
fn ended<M: HasSize>(path: &Path) -> Result<bool> {
    let Ok(directory) = RunDirectory::open(path) else { return Ok(false) };
    let Some(result) = directory.result() else { return Ok(false) };
    if result.best.stop == StopReason::Time {
        return Ok(true);
    }
    // The result is written before the last checkpoint, and a process may have been killed between the two.
    Ok(result.complete && matches!(directory.load::<M>()?.saved, Saved::Complete(..)))
}

fn row(
    cell: Cell,
    run: PathBuf,
    parameters: f64,
    in_use: Option<usize>,
    whole: &RunResult,
    folds: &[RunResult],
) -> Row {
    let bounds: Vec<f64> = whole.restarts.iter().map(|outcome| outcome.bound).collect();
    let heldouts: Vec<f64> = folds.iter().map(|fold| fold.heldout.unwrap_or(f64::NAN)).collect();
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let told = if folds.is_empty() { std::slice::from_ref(whole) } else { folds };
    let mut measures: BTreeMap<String, f64> = BTreeMap::new();
    for (name, &value) in told.iter().flat_map(|run| &run.measures) {
        *measures.entry(name.clone()).or_default() += value / told.len() as f64;
    }
    Row {
        size: cell.size,
        shape: cell.shape,
        run,
        parameters,
        in_use,
        bound: whole.best.bound,
        bound_sd: deviation(&bounds),
        bounds,
        heldout: mean(&heldouts),
        heldout_se: standard_error(&heldouts),
        heldouts,
        measures,
        seconds: whole.seconds + folds.iter().map(|fold| fold.seconds).sum::<f64>(),
        alike: false,
    }
}

/// An error of one run; it names the run if the error does not do so itself.
fn of_run(path: &Path, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Io { .. } | ErrorKind::Run { .. } | ErrorKind::Config { .. } => error,
        _ => Error::run(path, error.message()),
    }
}

/// Looks on while one of the runs is made.
struct Looking<'a> {
    onlooker: &'a dyn Onlooker,
    /// What was reported already.
    told: &'a Mutex<HashSet<String>>,
    stop: Arc<AtomicBool>,
}

impl Looking<'_> {
    fn is_new(&self, text: String) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(text)
    }
}

impl Watcher for Looking<'_> {
    fn warn(&mut self, message: &str) {
        if self.is_new(message.to_string()) {
            self.onlooker.warn(message);
        }
    }

    fn note(&mut self, note: &Advice) {
        if self.is_new(note.to_string()) {
            self.onlooker.note(note);
        }
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.stop))
    }
}
