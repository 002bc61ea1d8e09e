//! Where a fit stands: what a checkpoint holds, and all that is needed to go on.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::fit::drive::search::Searched;
use crate::fit::stop::StopReason;
use crate::lambda::Lambda;
use crate::math::rng::{Address, Purpose};
use crate::math::table::Table;
use crate::model::{Model, hyper_of};
use crate::step::warm::Warm;

/// Where one run stands. With the plan, all that is needed to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The natural parameters.
    pub lambda: Lambda,
    /// What items keep from one local step to the next, if they do.
    pub warm: Warm,
    /// Updates made.
    pub step: u64,
    /// Items seen.
    pub items: u64,
    /// Rows or entries that the guard changed.
    pub guard_hits: u64,
    /// Rows or entries that noise could have pushed out of their domain.
    pub guard_checks: u64,
    /// Seconds worked.
    pub seconds: f64,
}

impl State {
    /// A random start: number `restart` of this seed.
    pub fn start<M: Model>(model: &M, data: &M::Data, seed: u64, restart: u32) -> Result<Self> {
        let layout = model.layout();
        let mut lambda = Table::new(layout.n_rows, layout.width);
        let address = Address::new(seed, Purpose::Init, restart, 0);
        model.start(data, address, &mut lambda)?;
        Ok(State::at(model, lambda))
    }

    /// Start from given natural parameters.
    pub fn at<M: Model>(model: &M, table: Table) -> Self {
        State::from(Lambda::new(table, model.layout().lazy, hyper_of(model)))
    }

    /// The share of rows or entries that the guard changed, of those that noise could have harmed.
    pub fn guard_share(&self) -> f64 {
        self.guard_hits as f64 / self.guard_checks.max(1) as f64
    }

    /// Brings lambda's lazy rows up to date: the end of a run.
    pub(crate) fn catch_up<M: Model>(&mut self, model: &M) {
        let hyper = self.lambda.hyper.clone();
        self.lambda.catch_up(|row, eta| model.prior(&hyper, row, eta));
    }
}

impl From<Lambda> for State {
    fn from(lambda: Lambda) -> Self {
        let warm = Warm::off();
        State { lambda, warm, step: 0, items: 0, guard_hits: 0, guard_checks: 0, seconds: 0.0 }
    }
}

/// How one restart ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which one.
    pub restart: u32,
    /// Its last bound; NaN if it was never evaluated, in JSON null.
    #[serde(deserialize_with = "or_nan")]
    pub bound: f64,
    /// Its updates.
    pub steps: u64,
    /// Why it ended.
    pub stop: StopReason,
    /// What the search from there has done, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Searched>,
}

/// JSON has no NaN: it writes null.
pub(crate) fn or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// The run under way, the restarts before it, and what else its driver keeps: what a checkpoint holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The restart under way.
    pub restart: u32,
    /// Where its run stands.
    pub state: State,
    /// The restarts that have ended.
    pub done: Vec<Outcome>,
    /// The best of those, with its index in `done`.
    pub best: Option<(usize, State)>,
    /// What the driver keeps besides, if it does more than restarts.
    pub driver: Option<DriverPart>,
}

/// A driver's own part of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverPart {
    /// The driver's name: another one cannot go on with it.
    pub name: String,
    /// Which of its runs is under way, as observations number them.
    pub run: u32,
    /// Counters and the like; numbers that are no numbers do not survive.
    pub notes: serde_json::Value,
    /// Its states. The first, if there is one, is the model to use while no restart has ended.
    pub states: Vec<State>,
}

impl From<State> for Progress {
    /// The first run, from a given state.
    fn from(state: State) -> Self {
        Progress { restart: 0, state, done: Vec::new(), best: None, driver: None }
    }
}
