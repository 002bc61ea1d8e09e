//! Going on with a run directory, whatever state its last process has left it in.

use crate::error::{Verb, action, advice};
use crate::models::Stored;
use crate::run::checkpoint::Saved;
use crate::run::checkpoints::Found;
use crate::run::directory::{Extension, RunDirectory, RunResult};
use crate::run::fit::{Progress, Watcher};
use crate::run::session::{parts, run};
use crate::run::stop::StopReason;
use crate::run::trace::Observation;
use crate::run::trace_file;
use crate::settings::FitConfig;
use crate::{Error, Result};

/// Goes on with a run: to the end of its plan, or for `more.steps` steps from where it stands. A run
/// that ended because its bound stood still makes them all: its tolerance is off from then on,
/// unless `more` has another.
pub fn resume<M: Stored>(
    directory: &RunDirectory,
    more: Extension,
    threads: Option<usize>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult> {
    let directory = &directory.locked()?;
    let mut record = directory.record::<M>()?;
    let mut model = directory.model::<M>()?;
    let Some(data_path) = &record.data.path else {
        return Err(Error::run(
            directory.path(),
            advice![
                "was fitted to data in a program's memory, which are in no file; go on where they are, or \
                 give new data with ",
                action(Verb::Partial),
            ],
        ));
    };
    let data = match record.data.unknown_dropped {
        false => M::read(data_path, &record.data.options)?,
        true => model.read_new(data_path, &record.data.options)?.0,
    };
    let fingerprint = M::fingerprint(&data);
    if fingerprint != record.data.fingerprint {
        return Err(Error::run(
            data_path,
            format!(
                "is not the data of this run any more (fingerprint {fingerprint}, the run began \
                 with {}); put the old file back, or begin a new run",
                record.data.fingerprint
            ),
        ));
    }
    let parts = parts::<M>(&data, &record.fit)?;
    let found = directory.find(&model)?;
    if found.is_none() {
        if record.parent.is_some() {
            return Err(Error::run(
                directory.path(),
                advice![
                    "the run was stopped before it had taken over its parent's model; delete it and begin \
                     anew with ",
                    action(Verb::Partial),
                ],
            ));
        }
        // Not even begun: the start may need what only the data and the settings have.
        model = M::build(record.params.clone(), parts.train())?;
    }
    let is_damaged = found.as_ref().is_some_and(|found| found.warning.is_some());
    let mut more = more;
    let mut on_its_way = false;
    let (mut ended, mut resumed, mut trace) = (None, None, Vec::new());
    if let Some(Found { saved, observations, warning }) = found {
        let (lines, missing) = trace_file::read_for(&directory.trace_path(), &saved, observations)?;
        if let Saved::Complete(state, best, outcomes) = &saved {
            ended = Some(outcomes[*best].stop);
            let longer = record.extension.steps.filter(|&steps| steps > state.step);
            if let (true, None, Some(steps)) = (is_damaged, more.steps, longer) {
                on_its_way = true; // when the newest was saved
                more.steps = Some(steps - state.step);
            }
        } else if is_damaged && more.steps.is_some() {
            return Err(Error::run(
                directory.path(),
                advice![
                    "has lost its newest checkpoint, and with it where it stood; let it come to its end with ",
                    action(Verb::Resume),
                    " first, then give it more steps",
                ],
            ));
        }
        resumed = Some(pick_up(directory, saved, more, &lines)?);
        trace = lines;
        [warning, missing].iter().flatten().for_each(|warning| watcher.warn(warning));
    }
    if let Some(more) = more.steps {
        check_more(directory, more, &record.fit, resumed.as_ref().map(|(progress, _)| progress))?;
        let done = resumed.as_ref().map_or(0, |(progress, _)| progress.state.step);
        record.extension.steps = Some(done.saturating_add(more));
    }
    let still = (ended == Some(StopReason::Converged) && !on_its_way).then_some(0.0);
    record.extension.tol = more.tol.or(still).or(record.extension.tol);
    record.extension.time = more.time;
    let config = FitConfig {
        tol: record.extension.tol.unwrap_or(record.fit.tol),
        time: record.extension.time.or(record.fit.time),
        threads: threads.unwrap_or(record.fit.threads),
        ..record.fit.clone()
    };
    let mut plan = config.check_as_it_is(&model, parts.train())?.after(record.origin);
    // The schedules keep the rhythm of the first plan; only the end moves.
    plan.steps = record.extension.steps.unwrap_or(plan.steps);
    if let Some((progress, _)) = &resumed
        && is_extension(progress)
    {
        plan.n_init = progress.restart + 1; // a finished run goes on with its best restart alone
    }
    directory.write_record::<M>(&record)?;
    if is_damaged {
        directory.drop_damaged()?;
    }
    if let Some((progress, _)) = resumed.as_ref().filter(|_| ended.is_some()) {
        // From here on the run is under way again, also if the next thing is a crash.
        let saved = Saved::Pending(progress.clone());
        directory.save(&model, &saved, trace_file::count(&trace, &saved))?;
    }
    run(directory, &model, &parts, &plan, config.threads, resumed.map(|r| (r, trace)), watcher)
}

/// Where a climb goes on, and its own observations before.
pub(super) type Resumed = (Progress, Vec<Observation>);

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

/// The progress to go on from, and the climb's own observations before it.
fn pick_up(
    directory: &RunDirectory,
    saved: Saved,
    more: Extension,
    trace: &[Observation],
) -> Result<Resumed> {
    let progress = match saved {
        Saved::Pending(progress) => progress,
        Saved::Complete(state, best, mut done) if more.steps.is_some() => {
            // The climb replaces its own earlier end; the other restarts stay on record.
            let restart = done.remove(best).restart;
            Progress { restart, state, done, best: None }
        }
        Saved::Complete(_, best, done) => {
            let path = directory.path();
            let what =
                format!("this run is complete ({}); give it more steps with ", done[best].stop);
            let message = advice![what, action(Verb::MoreSteps).with(path)];
            return Err(Error::run(path, message));
        }
    };
    let history = trace
        .iter()
        .filter(|o| o.restart == progress.restart && o.step < progress.state.step && !o.closing)
        .cloned()
        .collect();
    Ok((progress, history))
}
