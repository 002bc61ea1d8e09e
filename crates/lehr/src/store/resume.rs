//! Going on with a run directory, whatever state its last process has left it in.

use std::path::Path;

use super::checkpoints::Found;
use super::directory::RunDirectory;
use super::disk::Disk;
use super::items::Parts;
use super::open;
use super::result::RunResult;
use super::run::Run;
use super::run_config::{Extension, RunConfig};
use super::saved::Saved;
use super::session::Prepared;
use super::trace_file::{self, Cut};
use crate::data::FromFile;
use crate::error::{Verb, action, advice, setting};
use crate::fit::Observation;
use crate::fit::drive::{AFTER_SEARCH, Restarts};
use crate::fit::stop::StopReason;
use crate::fit::{Driver, DriverPart, Outcome, Progress, Resume, Searched, Watcher};
use crate::models::Stored;
use crate::settings::{FitConfig, Plan};
use crate::{Error, ErrorKind, Result, threads};

/// Goes on with a run: to the end of its plan, or for `more.steps` steps from where it stands. A run
/// that has converged makes them all: its tolerance is off from then on, unless `more` has another.
pub fn resume<M: Stored>(
    directory: &RunDirectory,
    more: Extension,
    threads: Option<usize>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    resume_with::<M>(&Restarts, directory, more, threads, watcher)
}

/// The same with the driver that the run was started with, if that was not restarts.
pub fn resume_with<M: Stored>(
    driver: &dyn Driver<M>,
    directory: &RunDirectory,
    more: Extension,
    threads: Option<usize>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    let directory = directory.locked()?;
    let config = directory.config::<M>()?;
    let mut model = open::model(&directory.files(), &config)?;
    let recovered = recover(&directory, &model)?;
    if let Some(recovered) = &recovered {
        recovered.check_left(&directory, &config.extension, &more)?;
    }
    let threads = threads.unwrap_or(config.fit.threads);
    let data = threads::own(threads, || read_again(&directory, &model, &config))?;
    let parts = Parts::new(&data, &config.fit)?;
    if recovered.is_none() {
        model = begin_again(&directory, &config, &parts)?;
    }
    let opened = Opened { directory, config, model, parts, recovered };
    continue_with(driver, opened, more, Some(threads), watcher).map(Run::into_result)
}

/// A run that is about to go on.
struct Opened<'a, M: Stored> {
    directory: RunDirectory,
    config: RunConfig<M>,
    model: M,
    parts: Parts<'a, M::Data>,
    recovered: Option<Recovered>,
}

/// The data of the run, which must be as they were.
fn read_again<M: Stored>(
    directory: &RunDirectory,
    model: &M,
    config: &RunConfig<M>,
) -> Result<M::Data> {
    let Some(path) = &config.data.path else {
        return Err(Error::run(
            directory.path(),
            advice![
                "was fitted to data in a program's memory, which are in no file; go on where they are, or \
                 give new data with ",
                action(Verb::Partial),
            ],
        ));
    };
    if config.data.pipe {
        return Err(no_pipe(directory.path(), path));
    }
    let data = match config.data.unknown_dropped {
        false => M::Data::read(path, &config.data.options)?,
        true => model.read_new(path, &config.data.options)?.0,
    };
    let fingerprint = data.fingerprint();
    if fingerprint == config.data.fingerprint {
        return Ok(data);
    }
    Err(Error::run(
        path,
        format!(
            "is not the data of this run any more (fingerprint {fingerprint}, the run started \
             with {}); put the old file back, or start a new run",
            config.data.fingerprint
        ),
    ))
}

/// What to do about a run or a sweep whose data cannot be read again.
pub(crate) fn no_pipe(directory: &Path, data: &Path) -> Error {
    Error::run(
        directory,
        advice![
            format!(
                "its data came through a pipe ({}), which cannot be read again; ",
                data.display()
            ),
            "save them to a file, and name that with ",
            setting("data"),
        ],
    )
}

/// The model of a run that has no checkpoint: its start may need what only the data and the settings have.
fn begin_again<M: Stored>(
    directory: &RunDirectory,
    config: &RunConfig<M>,
    parts: &Parts<'_, M::Data>,
) -> Result<M> {
    if config.parent.is_some() {
        return Err(Error::run(
            directory.path(),
            advice![
                "the run was stopped before it had taken over its parent's model; delete it and start again \
                 with ",
                action(Verb::Partial),
            ],
        ));
    }
    M::build(config.params.clone(), parts.train())
}

/// How far a run has come, as its directory has it.
struct Recovered {
    saved: Saved,
    trace: Vec<Observation>,
    /// Whether the newest checkpoint is damaged, and this is the one before.
    is_damaged: bool,
    warnings: Vec<String>,
}

/// What is on disk; none if there never was a checkpoint.
fn recover<M: Stored>(directory: &RunDirectory, model: &M) -> Result<Option<Recovered>> {
    let Some(Found { saved, observations, warning }) = directory.find(model)? else {
        return Ok(None);
    };
    let (trace, missing) = trace_file::read_for(&directory.files(), &saved, observations)?;
    let is_damaged = warning.is_some();
    let warnings = warning.into_iter().chain(missing).collect();
    Ok(Some(Recovered { saved, trace, is_damaged, warnings }))
}

impl Recovered {
    /// Why the run ended, if it has.
    fn ended(&self) -> Option<StopReason> {
        match &self.saved {
            Saved::Complete(_, best, outcomes) => Some(outcomes[*best].stop),
            Saved::Pending(_) => None,
        }
    }

    /// The steps that a finished run was on its way to when its newest checkpoint was lost.
    fn steps_left(&self, extension: &Extension) -> Option<u64> {
        match &self.saved {
            Saved::Complete(state, ..) if self.is_damaged => {
                extension.steps.filter(|&steps| steps > state.step).map(|steps| steps - state.step)
            }
            _ => None,
        }
    }

    /// Refuses a run of which nothing is left to do, before its data are read.
    fn check_left(
        &self,
        directory: &RunDirectory,
        extension: &Extension,
        more: &Extension,
    ) -> Result<()> {
        match self.ended() {
            Some(stop) if more.steps.is_none() && self.steps_left(extension).is_none() => {
                Err(ErrorKind::Complete { path: directory.path().to_path_buf(), stop }.into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses more steps for a run of which it is not known where it stood.
    fn check_extension(&self, directory: &RunDirectory, more: &Extension) -> Result<()> {
        if self.is_damaged && more.steps.is_some() && self.ended().is_none() {
            return Err(Error::run(
                directory.path(),
                advice![
                    "has lost its newest checkpoint, and with it where it stood; let it come to its end with ",
                    action(Verb::Resume),
                    " first, then give it more steps",
                ],
            ));
        }
        Ok(())
    }

    /// The run to continue, and the trace before it: what a killed run did after its last checkpoint
    /// will be done again.
    fn pick_up(self, directory: &RunDirectory, more: Extension) -> Result<PickedUp> {
        let progress = match self.saved {
            Saved::Pending(progress) => progress,
            Saved::Complete(state, best, mut done) if more.steps.is_some() => {
                // The run replaces its own earlier end; the other restarts stay on record.
                let Outcome { restart, search, .. } = done.remove(best);
                let driver = after_search(&self.trace, restart, search);
                Progress { restart, state, done, best: None, driver }
            }
            Saved::Complete(_, best, done) => {
                let (path, stop) = (directory.path().to_path_buf(), done[best].stop);
                return Err(ErrorKind::Complete { path, stop }.into());
            }
        };
        let cut = Cut::at(&progress, &self.trace);
        let (mut trace, mut history) = (Vec::new(), Vec::new());
        for observation in self.trace {
            if cut.is_history(&observation) {
                history.push(observation);
            } else if cut.is_past(&observation) {
                trace.push(observation);
            }
        }
        trace.extend(history.iter().cloned()); // the run under way comes last
        Ok(PickedUp { progress, history, trace })
    }
}

/// What a run that goes on after a search gets: what that did, and its own number.
fn after_search(
    trace: &[Observation],
    restart: u32,
    search: Option<Searched>,
) -> Option<DriverPart> {
    let run = trace_file::last_run(trace, restart) + 1;
    let notes = serde_json::to_value(search).expect("plain values become JSON");
    let (name, states) = (AFTER_SEARCH.to_string(), Vec::new());
    (run > 1).then_some(DriverPart { name, run, notes, states })
}

/// Where a run goes on.
struct PickedUp {
    progress: Progress,
    /// The earlier observations of this run.
    history: Vec<Observation>,
    /// All observations before.
    trace: Vec<Observation>,
}

/// Decides how the run goes on, writes that down, and runs.
fn continue_with<M: Stored>(
    driver: &dyn Driver<M>,
    opened: Opened<'_, M>,
    more: Extension,
    threads: Option<usize>,
    watcher: &mut dyn Watcher,
) -> Result<Run<M>> {
    let Opened { directory, mut config, model, parts, recovered } = opened;
    let (mut more, mut standstill, mut is_damaged, mut had_ended) = (more, false, false, false);
    let mut picked = None;
    if let Some(mut recovered) = recovered {
        recovered.check_extension(&directory, &more)?;
        let left = recovered.steps_left(&config.extension).filter(|_| more.steps.is_none());
        more.steps = more.steps.or(left);
        standstill = left.is_none() && recovered.ended() == Some(StopReason::Converged);
        (is_damaged, had_ended) = (recovered.is_damaged, recovered.ended().is_some());
        let warnings = std::mem::take(&mut recovered.warnings);
        picked = Some(recovered.pick_up(&directory, more)?);
        warnings.iter().for_each(|warning| watcher.warn(warning));
    }
    let progress = picked.as_ref().map(|picked| &picked.progress);
    if let Some(steps) = more.steps {
        check_more(&directory, steps, &config.fit, progress)?;
        let done = progress.map_or(0, |progress| progress.state.step);
        config.extension.steps = Some(done.saturating_add(steps));
    }
    config.extension.tol = more.tol.or(standstill.then_some(0.0)).or(config.extension.tol);
    config.extension.time = more.time;
    let threads = threads.unwrap_or(config.fit.threads);
    let plan = plan(&model, &config, threads, parts.train(), progress)?;
    directory.write_config(&config)?;
    if is_damaged {
        directory.drop_damaged()?;
    }
    if let Some(picked) = picked.as_ref().filter(|_| had_ended) {
        // From here on the run is under way again, also if the next thing is a crash.
        let observations = picked.trace.iter().filter(|o| !o.closing).count() as u64;
        directory.save(&model, &Saved::Pending(picked.progress.clone()), observations)?;
    }
    let (from, trace) = match picked {
        Some(PickedUp { progress, history, trace }) => (Some(Resume { progress, history }), trace),
        None => (None, Vec::new()),
    };
    let prepared = Prepared { driver, model, config, plan, threads, parts, from, trace };
    prepared.run(&mut Disk::of(directory), watcher)
}

/// The plan of a run that goes on: the schedules keep the rhythm of the first plan; only the end moves.
fn plan<M: Stored>(
    model: &M,
    config: &RunConfig<M>,
    threads: usize,
    train: &M::Data,
    progress: Option<&Progress>,
) -> Result<Plan> {
    let Extension { steps, tol, time } = config.extension;
    let fit = FitConfig {
        tol: tol.unwrap_or(config.fit.tol),
        time: time.or(config.fit.time),
        threads,
        ..config.fit.clone()
    };
    let mut plan = fit.check_as_it_is(model, train)?.after(config.origin);
    plan.steps = steps.unwrap_or(plan.steps);
    if let Some(progress) = progress.filter(|progress| is_extension(progress)) {
        plan.n_init = progress.restart + 1; // a finished run goes on with its best restart alone
    }
    Ok(plan)
}

/// Whether this is a finished run that goes on with its best restart: the others have ended.
fn is_extension(progress: &Progress) -> bool {
    progress.best.is_none() && !progress.done.is_empty()
}

/// Whether a run in this state can be given its own number of steps to go.
fn check_more(
    directory: &RunDirectory,
    more: u64,
    config: &FitConfig,
    progress: Option<&Progress>,
) -> Result<()> {
    if more == 0 {
        return Err(Error::config("steps", more, "must be at least 1"));
    }
    match progress {
        Some(Progress { driver: Some(driver), .. }) if driver.name != AFTER_SEARCH => {
            let allowed = advice![
                format!("the run is in the middle of a {}", driver.name),
                "; let it end with ",
                action(Verb::Resume).with(directory.path()),
                " first",
            ];
            Err(Error::config("steps", more, allowed))
        }
        Some(progress) if config.n_init > 1 && !is_extension(progress) => {
            let (start, of) = (progress.restart + 1, config.n_init);
            let allowed = advice![
                format!(
                    "the run is at start {start} of {of}, which all make the same number of steps"
                ),
                "; let it end with ",
                action(Verb::Resume).with(directory.path()),
                " first",
            ];
            Err(Error::config("steps", more, allowed))
        }
        _ => Ok(()),
    }
}
