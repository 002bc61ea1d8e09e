//! What a checkpoint says in its metadata: everything but the tables.

use serde::{Deserialize, Serialize};

use crate::fit::{DriverPart, Outcome, State};
use crate::lambda::Lambda;
use crate::step::warm::Warm;

/// The version of the file's layout.
pub const FORMAT: u32 = 1;

/// Everything but the tables.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta {
    pub format: u32,
    pub complete: bool,
    pub restart: u32,
    pub climb: Counters,
    pub done: Vec<Outcome>,
    pub best: Option<usize>,
    pub best_counters: Option<Counters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
}

/// A driver's own part, but for the tables of its states.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Driver {
    pub name: String,
    pub run: u32,
    pub notes: serde_json::Value,
    pub states: Vec<Counters>,
}

impl Driver {
    pub(super) fn of(part: &DriverPart) -> Self {
        Driver {
            name: part.name.clone(),
            run: part.run,
            notes: part.notes.clone(),
            states: part.states.iter().map(Counters::of).collect(),
        }
    }
}

/// What a state counts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counters {
    step: u64,
    items: u64,
    guard_hits: u64,
    guard_checks: u64,
    seconds: f64,
    /// ln P of a lazy lambda that is not up_to_date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<f64>,
}

impl Counters {
    pub(super) fn of(state: &State) -> Self {
        let State { step, items, guard_hits, guard_checks, seconds, .. } = *state;
        let now = state.lambda.parts().1.map(|lazy| lazy.now).filter(|&now| now != 0.0);
        Counters { step, items, guard_hits, guard_checks, seconds, now }
    }

    pub(super) fn with(self, lambda: Lambda, warm: Warm) -> State {
        let Counters { step, items, guard_hits, guard_checks, seconds, .. } = self;
        State { lambda, warm, step, items, guard_hits, guard_checks, seconds }
    }
}
