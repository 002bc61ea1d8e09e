//! One run: a fit at a state, under a plan, to its end.

use super::Session;
use crate::Result;
use crate::fit::Observation;
use crate::fit::stop::StopReason;
use crate::fit::{Progress, RunId, State, Watcher};
use crate::model::Model;
use crate::settings::Plan;

/// What a run led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// Where it stands. Rows may have to be brought up to date before they are used.
    pub state: State,
    /// Why it ended.
    pub stop: StopReason,
    /// Its last bound; NaN if it was never evaluated.
    pub bound: f64,
}

impl Ran {
    /// Whether it was stopped before its plan had ended it.
    pub fn is_early(&self) -> bool {
        matches!(self.stop, StopReason::Interrupted | StopReason::Time)
    }
}

/// Runs a fit at `state` under a plan. `history` are this run's observations before an interruption;
/// `progress` makes what a checkpoint holds of a state of this run.
pub fn run<M: Model>(
    session: &mut Session<'_, M>,
    plan: &Plan,
    id: RunId,
    state: State,
    history: &[Observation],
    watcher: &mut dyn Watcher,
    progress: &dyn Fn(&State) -> Progress,
) -> Result<Ran> {
    let mut fit = session.fit_under(plan, id, state)?;
    let end = fit.run(history, watcher, progress)?;
    Ok(Ran { state: fit.state, stop: end.stop, bound: end.bound })
}
