//! Drivers: what runs fits one after the other, and what they have to hand.
//!
//! A driver owns states and runs. It makes fits at states, runs them, keeps or drops what they lead to, and
//! says in [`Progress`] what a checkpoint must hold so that it can go on with the same bits. One file each:
//! [`single`] is one run, [`restarts`] the best of several starts. Each start may search from where its run ends:
//! by kicks ([`search`]), or, in models that have none, by fresh starts (`again`).

mod again;
pub mod restarts;
pub mod search;
pub mod single;

use super::{DriverPart, Fit, Meter, Outcome, Progress, RunId, State, Timings, Watcher};
use crate::Result;
use crate::fit::Observation;
use crate::math::stop::Stop;
use crate::model::Model;
use crate::settings::Plan;
use crate::step::engine::Engine;

pub use restarts::Restarts;
pub use single::{Ran, run};

/// The name of a search in checkpoints, and that of a run that goes on after one.
const SEARCH: &str = "search";
pub(crate) const AFTER_SEARCH: &str = "after a search";

/// What a driver has to hand: a model, the items it is fitted to (where the engine has them) and judged by,
/// a plan, starts, and the meter of the session.
pub struct Session<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The items, if they are here.
    pub data: Option<&'a M::Data>,
    /// Items to score only.
    pub heldout: Option<&'a M::Data>,
    /// The plan of every run, unless the driver has others.
    pub plan: &'a Plan,
    /// Where local steps run.
    pub engine: &'a mut dyn Engine<M>,
    /// Makes start number `restart`; an error of the kind `Stopped` if a stop is asked for meanwhile.
    pub start: &'a (dyn Fn(u32) -> Result<State> + Sync),
    /// What the session spends.
    pub meter: Meter,
    /// Whether it is to stop.
    pub stop: Stop,
}

impl<M: Model> Session<'_, M> {
    /// A fit at a state, under the session's plan.
    pub fn fit_at(&mut self, id: RunId, state: State) -> Result<Fit<'_, M>> {
        let plan = self.plan;
        Fit::new(self, plan, id, state)
    }

    /// A fit at a state, under a plan of the driver's.
    pub fn fit_under<'a>(
        &'a mut self,
        plan: &'a Plan,
        id: RunId,
        state: State,
    ) -> Result<Fit<'a, M>> {
        Fit::new(self, plan, id, state)
    }
}

/// Where a fit goes on: its progress, and the observations of the run under way before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// What the checkpoint holds.
    pub progress: Progress,
    /// The observations of the run under way.
    pub history: Vec<Observation>,
}

impl Resume {
    /// A random start other than the first.
    pub(crate) fn at_start(restart: u32, state: State) -> Self {
        Resume { progress: Progress { restart, ..Progress::from(state) }, history: Vec::new() }
    }
}

impl From<State> for Resume {
    fn from(state: State) -> Self {
        Resume { progress: Progress::from(state), history: Vec::new() }
    }
}

/// Runs fits one after the other.
pub trait Driver<M: Model>: Sync {
    /// Drives a session from its start, or on from where it was, to its end.
    fn drive(
        &self,
        session: &mut Session<'_, M>,
        resume: Option<Resume>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted>;
}

/// A fit that has ended, or was stopped with a usable model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The best run's state; `state.lambda` is the fitted model.
    pub state: State,
    /// How the best restart ended.
    pub outcome: Outcome,
    /// All restarts, in order.
    pub outcomes: Vec<Outcome>,
    /// Where the time went.
    pub timings: Timings,
    /// Iterations of all local steps, for models that iterate.
    pub local_iterations: u64,
    /// If the fit was stopped early: what it needs to go on.
    pub pending: Option<Progress>,
}

impl Fitted {
    /// Whether the plan was carried out to its end.
    pub fn is_complete(&self) -> bool {
        self.pending.is_none()
    }

    /// Mean and standard deviation of the restarts' bounds.
    pub fn spread(&self) -> (f64, f64) {
        let n = self.outcomes.len() as f64;
        let mean = self.outcomes.iter().map(|o| o.bound).sum::<f64>() / n;
        let square = self.outcomes.iter().map(|o| (o.bound - mean).powi(2)).sum::<f64>();
        (mean, (square / (n - 1.0).max(1.0)).sqrt())
    }
}
