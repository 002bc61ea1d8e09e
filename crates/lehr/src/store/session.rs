//! The one way to run: from items to a run, whether a directory keeps it or memory alone.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::directory::RunDirectory;
use super::disk::Disk;
use super::items::{Begin, Items, Parts};
use super::open::Loaded;
use super::result::RunResult;
use super::run::Run;
use super::run_config::{DataSource, RunConfig};
use super::saved::Saved;
use super::sink::{Keeper, Sink};
use crate::data::{Dataset, FromFile};
use crate::error::{Advice, Verb, action, advice, setting};
use crate::fit::Observation;
use crate::fit::drive::Restarts;
use crate::fit::stop::deadline;
use crate::fit::{self, Driver, Resume, Watcher};
use crate::math::stop::Stop;
use crate::models::{ReadOptions, Stored};
use crate::read::Unknown;
use crate::settings::{FitConfig, Plan, SearchBy};
use crate::step::schedule::{Effective, Temper};
use crate::step::warm::Warm;
use crate::{Error, ErrorKind, Result, threads};

/// Fits a model to items and lets `sink` keep what comes of it. Everything is checked before anything is
/// written.
pub fn fit<M: Stored>(
    items: Items<'_, M>,
    params: M::Params,
    config: &FitConfig,
    begin: Begin<'_, M>,
    sink: &mut dyn Sink<M>,
    watcher: &mut dyn Watcher,
) -> Result<Run<M>> {
    fit_with(&Restarts, items, params, config, begin, sink, watcher)
}

/// The same with a driver other than restarts.
pub fn fit_with<M: Stored>(
    driver: &dyn Driver<M>,
    items: Items<'_, M>,
    params: M::Params,
    config: &FitConfig,
    begin: Begin<'_, M>,
    sink: &mut dyn Sink<M>,
    watcher: &mut dyn Watcher,
) -> Result<Run<M>> {
    let mut params = params;
    M::anchor(&mut params);
    items.tell(watcher);
    let source = items.describe();
    let parts = Parts::new(items.data, config)?;
    let piped = source.pipe.then(read_once);
    piped.iter().chain(&config.idle()).chain(&config.doubts()).for_each(|note| watcher.note(note));
    if !matches!(begin, Begin::With(_))
        && let Some(advice) = M::foresee(&params, parts.train(), config)?
    {
        watcher.note(&advice);
    }
    let began = Instant::now();
    let stop = Stop::new(watcher.stop_flag(), deadline(config.time));
    let model = unless_stopped(&stop, || begin.model(params, &items, parts.train()))?;
    let config = &config.with_defaults_of(&model);
    let mut plan = config.check_as_it_is(&model, parts.train())?;
    if begin.is_given(&model) && plan.n_init > 1 {
        let allowed = "must be 1: all starts would be the given one";
        return Err(Error::config("n_init", plan.n_init, allowed));
    }
    let from = unless_stopped(&stop, || begin.state(&model, parts.train(), config))?;
    let from = from.map(Resume::from);
    // The limit holds for all of it.
    plan.time = plan.time.map(|time| (time - began.elapsed().as_secs_f64()).max(0.0));
    let notes = [items.data.notes(), items.data.notes_of_fit(), model.notes(&source.columns)];
    notes.iter().flatten().for_each(|note| watcher.note(note));
    let (config, threads) = (RunConfig::new(&model, config, source), config.threads);
    let trace = Vec::new();
    Prepared { driver, model, config, plan, threads, parts, from, trace }.begin(sink, watcher)
}

/// What to know of data that came through a pipe.
pub(crate) fn read_once() -> Advice {
    advice![
        "the data come through a pipe, which cannot be read again: to go on with this run after a stop, they will have \
         to be in a file, which ",
        action(Verb::Resume),
        " takes with ",
        setting("data"),
    ]
}

/// Does what comes before the first step, unless a stop is asked for in the middle of it.
fn unless_stopped<T>(stop: &Stop, work: impl FnOnce() -> Result<T>) -> Result<T> {
    stop.heed(work).unwrap_or_else(|why| Err(ErrorKind::Stopped(why.into()).into()))
}

/// Fits a model to a file and leaves a run directory.
pub fn fit_file<M: Stored>(
    directory: &Path,
    data_path: &Path,
    options: &ReadOptions<M>,
    params: M::Params,
    config: &FitConfig,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    let mut disk = Disk::new(directory)?;
    fit_file_into::<M>(data_path, options, params, config, &mut disk, watcher).map(Run::into_result)
}

/// Fits a model to a file and lets `sink` keep what comes of it.
pub fn fit_file_into<M: Stored>(
    data_path: &Path,
    options: &ReadOptions<M>,
    params: M::Params,
    config: &FitConfig,
    sink: &mut dyn Sink<M>,
    watcher: &mut dyn Watcher,
) -> Result<Run<M>> {
    let data = threads::own(config.threads, || M::Data::read(data_path, options))?;
    let items = Items::of_file(&data, data_path, options);
    fit::<M>(items, params, config, Begin::Random, sink, watcher)
}

/// A fitted model that goes on with new data.
pub(super) struct Parent<'a, M: Stored> {
    pub model: M,
    pub config: &'a RunConfig<M>,
    pub saved: &'a Saved,
    /// Its directory, if the new run is to name it.
    pub path: Option<PathBuf>,
    /// Its observations, if the new run's come after them.
    pub trace: Vec<Observation>,
}

/// Goes on with a fitted model on new data, for `config.steps` more steps or one pass over the data. Step
/// sizes go on from where the parent stands; batches and noise start again. N is that of both together,
/// unless `config.population` says otherwise.
pub(super) fn update<M: Stored>(
    parent: Parent<'_, M>,
    items: Items<'_, M>,
    config: &FitConfig,
    sink: &mut dyn Sink<M>,
    watcher: &mut dyn Watcher,
) -> Result<Run<M>> {
    let Parent { mut model, config: old, saved, path, trace } = parent;
    model.check_fits(items.data, &old.data.columns)?;
    items.tell(watcher);
    let source = DataSource { unknown_dropped: items.source.is_some(), ..items.describe() };
    let parts = Parts::new(items.data, config)?;
    model.extend(parts.train())?;
    let mut state = saved.model_state().clone();
    state.warm = Warm::off();
    let origin = state.step;
    let config = going_on(config, parts.train().n_items(), old.population());
    let config = config.with_defaults_of(&model);
    let plan = config.check_as_it_is(&model, parts.train())?.after(origin);
    if plan.step_size.at(origin + 1, false) >= 1.0 {
        let allowed = "a step of 1 would forget what the run has learned; use power:10:0.75";
        return Err(Error::config("step_size", plan.step_size, allowed));
    }
    source.pipe.then(read_once).iter().for_each(|note| watcher.note(note));
    items.data.notes().iter().for_each(|note| watcher.note(note));
    let (population, threads) = (config.population, config.threads);
    let config =
        RunConfig { parent: path, population, origin, ..RunConfig::new(&model, &config, source) };
    // The sink keeps the first state: without it a crash would start from random numbers, not from the
    // parent.
    let from = Some(Resume::from(state));
    let driver = &Restarts;
    Prepared { driver, model, config, plan, threads, parts, from, trace }.begin(sink, watcher)
}

/// The settings for `n_items` new items after `seen` old ones. A full batch of the new is a batch all the
/// same: the old ones are not in it.
fn going_on(config: &FitConfig, n_items: usize, seen: usize) -> FitConfig {
    let batch = config.batch.unwrap_or(n_items);
    let epoch = n_items.div_ceil(batch.max(1)) as u64;
    FitConfig {
        steps: config.steps.or(Some(epoch)),
        batch: Some(batch),
        population: config.population.or(Some(seen + n_items)),
        n_init: 1,
        search: Some(0.0),
        kicks: None,
        search_by: SearchBy::default(),
        effective: match config.effective {
            Effective::Auto => Effective::Off,
            effective => effective,
        },
        // Topics, or whatever there is, have formed already.
        temper: config.temper.or(Some(Temper::Off)),
        warm_after: config.warm_after.or(Some(0)),
        ..config.clone()
    }
}

/// Goes on with the fitted model of `parent` on a file of new data and leaves a run directory of its own,
/// after `config.steps` more steps or one pass over the data; says what of the file the model does not know.
pub fn update_file<M: Stored>(
    parent: &RunDirectory,
    directory: &Path,
    data_path: &Path,
    options: &ReadOptions<M>,
    config: &FitConfig,
    watcher: &mut dyn Watcher,
) -> Result<(RunResult, Unknown)> {
    let mut disk = Disk::new(directory)?;
    let Loaded { model, config: old, saved, warning } = parent.load::<M>()?;
    if let Some(warning) = warning {
        watcher.warn(&warning);
    }
    let (data, unknown) = threads::own(config.threads, || model.read_new(data_path, options))?;
    let items = Items::of_file(&data, data_path, options);
    let path = Some(std::path::absolute(parent.path()).unwrap_or_else(|_| parent.path().into()));
    let parent = Parent { model, config: &old, saved: &saved, path, trace: Vec::new() };
    let run = update(parent, items, config, &mut disk, watcher)?;
    Ok((run.into_result(), unknown))
}

/// A fit of which everything is known and nothing is done.
pub(super) struct Prepared<'a, M: Stored> {
    /// What runs it.
    pub driver: &'a dyn Driver<M>,
    pub model: M,
    pub config: RunConfig<M>,
    pub plan: Plan,
    pub threads: usize,
    pub parts: Parts<'a, M::Data>,
    /// Where it starts, unless that is at random.
    pub from: Option<Resume>,
    /// All observations that come before it.
    pub trace: Vec<Observation>,
}

impl<M: Stored> Prepared<'_, M> {
    /// Fits, as a new run.
    fn begin(mut self, sink: &mut dyn Sink<M>, watcher: &mut dyn Watcher) -> Result<Run<M>> {
        let first = self.from.as_ref().map(|resume| &resume.progress);
        sink.create(&self.model, &mut self.config, first)?;
        self.run(sink, watcher)
    }

    /// Fits, as a run that the sink has already.
    pub(super) fn run(self, sink: &mut dyn Sink<M>, watcher: &mut dyn Watcher) -> Result<Run<M>> {
        let Prepared { driver, model, config, plan, threads, parts, from, trace } = self;
        sink.open(&trace)?;
        let mut keeper = Keeper::new(sink, &model, trace, &plan, watcher);
        let fitted = fit::fit(&model, parts.train())
            .heldout(parts.heldout())
            .plan(plan.clone())
            .threads(threads)
            .from_or_random(from)
            .driver(driver)
            .watch(&mut keeper)
            .run()?;
        let trace = keeper.into_trace();
        let mut run = Run::ended(model, config, fitted, trace);
        sink.end(&mut run)?;
        Ok(run)
    }
}
