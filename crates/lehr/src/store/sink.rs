//! Where a fit is kept while it runs: a sink gets all that is worth keeping, when it is there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::run::Run;
use super::run_config::RunConfig;
use crate::Result;
use crate::error::Advice;
use crate::fit::Observation;
use crate::fit::{Progress, State, Watcher};
use crate::models::Stored;
use crate::settings::Plan;

/// Where a fit is kept: the only difference between one in a directory and one in memory. Its methods are
/// called in this order.
pub trait Sink<M: Stored>: Send {
    /// A new run is about to start, at `first` if it does not start at random. Adds to the
    /// configuration what only it knows.
    fn create(
        &mut self,
        _model: &M,
        _config: &mut RunConfig<M>,
        _first: Option<&Progress>,
    ) -> Result<()> {
        Ok(())
    }

    /// The first step is next; `kept` are the observations before it.
    fn open(&mut self, _kept: &[Observation]) -> Result<()> {
        Ok(())
    }

    /// The bound was evaluated.
    fn observe(&mut self, _observation: &Observation) -> Result<()> {
        Ok(())
    }

    /// A checkpoint is due, which builds on this many observations. `progress` makes what to save.
    fn checkpoint(
        &mut self,
        _model: &M,
        _progress: &dyn Fn() -> Progress,
        _observations: u64,
    ) -> Result<()> {
        Ok(())
    }

    /// The fit has ended.
    fn end(&mut self, _run: &mut Run<M>) -> Result<()> {
        Ok(())
    }
}

/// Keeps nothing: the [`Run`] that comes back is all there is.
#[derive(Debug, Clone, Copy)]
pub struct Memory;

impl<M: Stored> Sink<M> for Memory {}

/// Seconds between checkpoints when no number of steps was given.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// Looks on while a fit runs, notes all observations, hands the sink what is its, and passes everything on.
pub(super) struct Keeper<'a, M: Stored> {
    sink: &'a mut dyn Sink<M>,
    model: &'a M,
    trace: Vec<Observation>,
    /// How many of them a checkpoint builds on: those that a run makes because it ends do not count.
    observations: u64,
    every: Option<u64>,
    last: Instant,
    /// Whether a checkpoint is due after the step under way, once that is settled.
    due: Option<bool>,
    watcher: &'a mut dyn Watcher,
}

impl<'a, M: Stored> Keeper<'a, M> {
    /// Keeps what comes after `trace`.
    pub(super) fn new(
        sink: &'a mut dyn Sink<M>,
        model: &'a M,
        trace: Vec<Observation>,
        plan: &Plan,
        watcher: &'a mut dyn Watcher,
    ) -> Self {
        let observations = trace.iter().filter(|o| !o.closing).count() as u64;
        let (every, last) = (plan.checkpoint_every, Instant::now());
        Keeper { sink, model, trace, observations, every, last, due: None, watcher }
    }

    /// All observations, those before included.
    pub(super) fn into_trace(self) -> Vec<Observation> {
        self.trace
    }

    fn is_due(&self, step: u64) -> bool {
        match self.every {
            Some(every) => step.is_multiple_of(every),
            None => self.last.elapsed().as_secs_f64() >= CHECKPOINT_SECONDS,
        }
    }
}

impl<M: Stored> Watcher for Keeper<'_, M> {
    fn begins(&mut self, plan: &Plan, progress: &Progress) {
        self.watcher.begins(plan, progress);
    }

    fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.sink.observe(observation)?;
        self.trace.push(observation.clone());
        self.observations += u64::from(!observation.closing);
        self.watcher.observe(observation)
    }

    fn saves(&mut self, step: u64) -> bool {
        // Time goes on: what was decided here holds.
        self.due = Some(self.is_due(step));
        self.watcher.saves(step) || self.due == Some(true)
    }

    fn after_step(&mut self, state: &State, progress: &dyn Fn() -> Progress) -> Result<()> {
        if self.due.take().unwrap_or_else(|| self.is_due(state.step)) {
            self.sink.checkpoint(self.model, progress, self.observations)?;
            self.last = Instant::now();
        }
        self.watcher.after_step(state, progress)
    }

    fn stage(&mut self, line: &str) {
        self.watcher.stage(line);
    }

    fn warn(&mut self, message: &str) {
        self.watcher.warn(message);
    }

    fn note(&mut self, note: &Advice) {
        self.watcher.note(note);
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        self.watcher.stop_flag()
    }

    fn wants_stop(&self) -> bool {
        self.watcher.wants_stop()
    }
}
