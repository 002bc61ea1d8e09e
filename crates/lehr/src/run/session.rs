//! From a data file to a run directory, and on from there: what `lehr fit` and `lehr resume` do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::math::rng::Purpose;
use crate::model::Dataset;
use crate::models::Stored;
use crate::read::Unknown;
use crate::run::checkpoint::Saved;
use crate::run::directory::{
    Cpu, DataRecord, Extension, FORMAT, Loaded, Record, RecordOf, Recorder, RunDirectory,
    RunResult, now,
};
use crate::run::fit::{Problem, Progress, State, Watcher, fit};
use crate::run::resume::Resumed;
use crate::run::trace::Observation;
use crate::settings::{FitConfig, Plan};
use crate::step::sample::split;
use crate::step::warm::Warm;
use crate::{Error, Result};

pub use crate::run::resume::resume;

/// The items to fit and the items to score, split as the settings say.
pub(super) struct Parts<'a, D> {
    whole: &'a D,
    split: Option<(D, D)>,
}

impl<D> Parts<'_, D> {
    pub(super) fn train(&self) -> &D {
        self.split.as_ref().map_or(self.whole, |(train, _)| train)
    }

    pub(super) fn heldout(&self) -> Option<&D> {
        self.split.as_ref().map(|(_, heldout)| heldout)
    }
}

pub(super) fn parts<'a, M: Stored>(
    data: &'a M::Data,
    config: &FitConfig,
) -> Result<Parts<'a, M::Data>> {
    let n_items = data.n_items();
    let held_out = config.holdout.count(n_items);
    if held_out == 0 {
        return Ok(Parts { whole: data, split: None });
    }
    if held_out >= n_items {
        let allowed = format!("there are only {n_items} {}; hold out fewer", M::Data::ITEMS);
        return Err(Error::config("holdout", config.holdout, allowed));
    }
    let (kept, out) = split(n_items, held_out, config.seed, Purpose::Holdout);
    let split = Some((M::subset(data, &kept), M::subset(data, &out)));
    Ok(Parts { whole: data, split })
}

/// Fits a model to a file and leaves a run directory. Everything is checked before anything is
/// written.
pub fn start<M: Stored>(
    directory: &Path,
    data_path: &Path,
    options: &M::ReadOptions,
    params: M::Params,
    config: &FitConfig,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    RunDirectory::planned(directory).check_free()?;
    let (mut params, mut options) = (params, options.clone());
    M::anchor(&mut params, &mut options);
    let options = &options;
    let data = M::read(data_path, options)?;
    let data_record = DataRecord::new::<M>(Some(data_path), options, &data);
    let parts = parts::<M>(&data, config)?;
    let model = M::build(params, parts.train())?;
    let config = &config.with_defaults_of(&model);
    let plan = config.check_as_it_is(&model, parts.train())?;
    if model.is_given_its_start() && plan.n_init > 1 {
        let allowed = "must be 1: all starts would be the given one";
        return Err(Error::config("n_init", plan.n_init, allowed));
    }
    let mut first = None;
    if model.is_given_its_start() {
        // What gave it may be gone when the run is resumed.
        let problem = Problem { model: &model, data: parts.train(), heldout: None };
        first = Some(beginning(State::start(problem, plan.seed, 0)?));
    }
    let record = record(&model, config, data_record);
    let directory = RunDirectory::create(directory, &model, &record, first.as_ref())?;
    let resumed = first.map(|first| ((first, Vec::new()), Vec::new()));
    run(&directory, &model, &parts, &plan, config.threads, resumed, watcher)
}

fn beginning(state: State) -> Progress {
    Progress { restart: 0, state, done: Vec::new(), best: None }
}

/// Goes on with the fitted model of `parent` on new data and leaves a run directory of its own, after
/// `config.steps` more steps or one pass over the data. Step sizes go on from where the parent stands;
/// batches and noise begin anew. N is that of both together, unless `config.population` says otherwise.
pub fn partial<M: Stored>(
    parent: &RunDirectory,
    directory: &Path,
    data_path: &Path,
    options: &M::ReadOptions,
    config: &FitConfig,
    watcher: &mut dyn Watcher,
) -> Result<(RunResult, Unknown)> {
    RunDirectory::planned(directory).check_free()?;
    let Loaded { mut model, saved, warning } = parent.load::<M>()?;
    if let Some(warning) = warning {
        watcher.warn(&warning);
    }
    let old = parent.record::<M>()?;
    let mut options = options.clone();
    M::anchor(&mut old.params.clone(), &mut options);
    let options = &options;
    let (data, unknown) = model.read_new(data_path, options)?;
    model.check_fits(&data, &old.data.columns)?;
    let data_record = DataRecord {
        unknown_dropped: true,
        ..DataRecord::new::<M>(Some(data_path), options, &data)
    };
    let parts = parts::<M>(&data, config)?;
    model.extend(parts.train())?;
    let GoingOn { config, plan, mut record, state } =
        go_on(&model, &saved, &old, &parts, data_record, config)?;
    record.parent = Some(absolute(parent.path()));
    // Without a checkpoint a crash would begin from random numbers, not from the parent.
    let first = beginning(state);
    let directory = RunDirectory::create(directory, &model, &record, Some(&first))?;
    let resumed = Some(((first, Vec::new()), Vec::new()));
    Ok((run(&directory, &model, &parts, &plan, config.threads, resumed, watcher)?, unknown))
}

/// All that is needed to go on with a fitted model on new data.
pub(super) struct GoingOn<M: Stored> {
    pub config: FitConfig,
    pub plan: Plan,
    pub record: RecordOf<M>,
    pub state: State,
}

/// How a fitted model goes on with new data: `model` has taken note of them already.
pub(super) fn go_on<M: Stored>(
    model: &M,
    saved: &Saved,
    old: &RecordOf<M>,
    parts: &Parts<'_, M::Data>,
    data: DataRecord<M::ReadOptions>,
    config: &FitConfig,
) -> Result<GoingOn<M>> {
    let n_items = parts.train().n_items();
    // The parent has seen all but what it held out, and perhaps grandparents before.
    let seen = old
        .population
        .or(old.fit.population)
        .unwrap_or_else(|| old.data.items.saturating_sub(old.fit.holdout.count(old.data.items)));
    let mut state = saved.model_state().clone();
    state.warm = Warm::off();
    let origin = state.step;
    // A full batch of the new data is a batch all the same: the old data are not in it.
    let batch = config.batch.unwrap_or(n_items);
    let epoch = n_items.div_ceil(batch.max(1)) as u64;
    let config = FitConfig {
        steps: config.steps.or(Some(epoch)),
        batch: Some(batch),
        population: config.population.or(Some(seen + n_items)),
        n_init: 1,
        ..config.clone()
    };
    let config = config.with_defaults_of(model);
    let plan = config.check_as_it_is(model, parts.train())?.after(origin);
    if plan.step_size.at(origin + 1, false) >= 1.0 {
        let allowed = "a step of 1 would forget what the run has learned; use power:10:0.75";
        return Err(Error::config("step_size", plan.step_size, allowed));
    }
    let record =
        RecordOf::<M> { population: config.population, origin, ..record(model, &config, data) };
    Ok(GoingOn { config, plan, record, state })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

pub(super) fn record<M: Stored>(
    model: &M,
    config: &FitConfig,
    data: DataRecord<M::ReadOptions>,
) -> RecordOf<M> {
    Record {
        format: FORMAT,
        lehr: env!("CARGO_PKG_VERSION").to_string(),
        model: model.name().to_string(),
        params: model.params().clone(),
        fit: config.clone(),
        extension: Extension::default(),
        data,
        frozen: model.frozen(),
        files: BTreeMap::new(), // known once they are written
        parent: None,
        population: None,
        origin: 0,
        cpu: Cpu::here(),
        created: now(),
    }
}

pub(super) fn run<M: Stored>(
    directory: &RunDirectory,
    model: &M,
    parts: &Parts<'_, M::Data>,
    plan: &Plan,
    threads: usize,
    resumed: Option<(Resumed, Vec<Observation>)>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    let problem = Problem { model, data: parts.train(), heldout: parts.heldout() };
    let (resume, kept) = match resumed {
        None => (None, Vec::new()),
        Some(((progress, history), trace)) => {
            // Restarts that have ended, and this one up to here. What a killed run did after its
            // last checkpoint will be done again. The climb under way comes last.
            let ended = |o: &Observation| progress.done.iter().any(|d| d.restart == o.restart);
            let mut kept: Vec<_> = trace.into_iter().filter(ended).collect();
            kept.extend(history.iter().cloned());
            (Some((progress, history)), kept)
        }
    };
    let mut recorder = Recorder::new(directory, model, &kept, plan.checkpoint_every, watcher)?;
    let fit = fit(problem, plan, threads, resume, &mut recorder)?;
    directory.finish(model, &fit)
}
