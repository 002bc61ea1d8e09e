//! Keeps a run directory up to date while a fit runs.

use std::fs::File;
use std::time::Instant;

use crate::models::Stored;
use crate::run::checkpoint::Saved;
use crate::run::directory::RunDirectory;
use crate::run::fit::{Progress, State, Watcher};
use crate::run::trace::Observation;
use crate::run::trace_file;
use crate::settings::Plan;
use crate::{Error, Result, write};

/// Seconds between checkpoints when no number of steps was given.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// Keeps a run directory up to date while a fit runs, and passes everything on to `inner`.
pub struct Recorder<'a, M: Stored> {
    directory: &'a RunDirectory,
    model: &'a M,
    trace: File,
    /// How many observations a checkpoint builds on.
    observations: u64,
    every: Option<u64>,
    last: Instant,
    inner: &'a mut dyn Watcher,
}

impl<'a, M: Stored> Recorder<'a, M> {
    /// Records to `directory`, where `kept` are the observations so far; all others are dropped.
    pub fn new(
        directory: &'a RunDirectory,
        model: &'a M,
        kept: &[Observation],
        every: Option<u64>,
        inner: &'a mut dyn Watcher,
    ) -> Result<Self> {
        directory.sweep::<M>();
        directory.write_trace(kept)?;
        let path = directory.trace_path();
        let trace = File::options()
            .append(true)
            .open(&path)
            .map_err(|e| Error::io(&path, "cannot write", e))?;
        let observations = kept.iter().filter(|o| !o.closing).count() as u64;
        Ok(Recorder { directory, model, trace, observations, every, last: Instant::now(), inner })
    }
}

impl<M: Stored> Watcher for Recorder<'_, M> {
    fn begins(&mut self, plan: &Plan, progress: &Progress) {
        self.inner.begins(plan, progress);
    }

    fn observe(&mut self, observation: &Observation) -> Result<()> {
        let path = self.directory.trace_path();
        write::append(&mut self.trace, trace_file::line(observation).as_bytes(), &path)?;
        self.observations += u64::from(!observation.closing);
        self.inner.observe(observation)
    }

    fn after_step(&mut self, state: &State, progress: &dyn Fn() -> Progress) -> Result<()> {
        let due = match self.every {
            Some(every) => state.step.is_multiple_of(every),
            None => self.last.elapsed().as_secs_f64() >= CHECKPOINT_SECONDS,
        };
        if due {
            // The trace must never be behind the checkpoint: the tolerance is rebuilt from it.
            let path = self.directory.trace_path();
            self.trace.sync_data().map_err(|e| Error::io(path, "cannot write", e))?;
            let saved = Saved::Pending(progress());
            self.directory.save(self.model, &saved, self.observations)?;
            self.last = Instant::now();
        }
        self.inner.after_step(state, progress)
    }

    fn warn(&mut self, message: &str) {
        self.inner.warn(message);
    }

    fn wants_stop(&self) -> bool {
        self.inner.wants_stop()
    }
}
