//! What a session spends: seconds by part of the loop, and iterations of local steps.

use std::cell::Cell;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The parts of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Line 1.
    Sample,
    /// Lines 2 to 4.
    Anneal,
    /// Line 5.
    Local,
    /// Expectations, line 6, hyperparameters.
    Update,
    /// The bound, and telling it.
    Observe,
    /// Whatever the watcher does after a step.
    Checkpoint,
}

/// Seconds spent in each part of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Timings {
    /// Drawing batches.
    pub sample: f64,
    /// Drawing noise.
    pub anneal: f64,
    /// Local steps and statistics.
    pub local: f64,
    /// Expectations, updates and guards.
    pub update: f64,
    /// Evaluating and reporting the bound, beyond what the local pass gives.
    pub observe: f64,
    /// Whatever the watcher does after a step, e.g. saving.
    pub checkpoint: f64,
}

/// Counts what a session spends, over all its runs.
#[derive(Debug)]
pub struct Meter {
    /// When the session started: a time limit holds for all its runs together.
    began: Instant,
    timings: Cell<Timings>,
    iterations: Cell<u64>,
}

impl Default for Meter {
    fn default() -> Self {
        Meter { began: Instant::now(), timings: Cell::default(), iterations: Cell::default() }
    }
}

impl Meter {
    /// Does `work`, and adds the seconds that it took to a part.
    pub(crate) fn time<T>(&self, part: Part, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.add(part, begin.elapsed().as_secs_f64());
        result
    }

    /// Counts seconds of one part for another: noise that workers draw within line 5.
    pub(crate) fn shift(&self, from: Part, to: Part, seconds: f64) {
        self.add(from, -seconds);
        self.add(to, seconds);
    }

    fn add(&self, part: Part, seconds: f64) {
        let mut timings = self.timings.get();
        *match part {
            Part::Sample => &mut timings.sample,
            Part::Anneal => &mut timings.anneal,
            Part::Local => &mut timings.local,
            Part::Update => &mut timings.update,
            Part::Observe => &mut timings.observe,
            Part::Checkpoint => &mut timings.checkpoint,
        } += seconds;
        self.timings.set(timings);
    }

    /// Adds iterations of local steps that led to updates.
    pub(crate) fn iterate(&self, iterations: u64) {
        self.iterations.set(self.iterations.get() + iterations);
    }

    /// Seconds by part.
    pub fn timings(&self) -> Timings {
        self.timings.get()
    }

    /// Iterations of all local steps that led to updates, for models that iterate.
    pub fn iterations(&self) -> u64 {
        self.iterations.get()
    }

    /// Seconds since the session started.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
