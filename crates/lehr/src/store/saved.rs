//! What a checkpoint stands for: a fit under way, or its end.

use crate::fit::{Fitted, Outcome, Progress, Searched, State};

/// What is saved: progress that can go on, or the end.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one value for each run")]
pub enum Saved {
    /// A fit under way.
    Pending(Progress),
    /// A finished fit: the best state, its index among the outcomes, and all outcomes.
    Complete(State, usize, Vec<Outcome>),
}

impl Saved {
    /// What to save of a fit that has ended.
    pub fn of(fit: Fitted) -> Self {
        let is_best = |o: &Outcome| o.restart == fit.outcome.restart;
        let best = fit.outcomes.iter().position(is_best).expect("one of them");
        match fit.pending {
            Some(progress) => Saved::Pending(progress),
            None => Saved::Complete(fit.state, best, fit.outcomes),
        }
    }

    /// The state whose lambda is the model to use: of a fit under way the best restart that has ended,
    /// else the first state that a driver holds, else the state under way.
    pub fn model_state(&self) -> &State {
        match self {
            Saved::Pending(Progress { state, best, driver, .. }) => {
                let held = driver.as_ref().and_then(|driver| driver.states.first());
                best.as_ref().map(|(_, best)| best).or(held).unwrap_or(state)
            }
            Saved::Complete(state, ..) => state,
        }
    }

    /// What the search of the best restart has done, if there was one and it has ended.
    pub fn search(&self) -> Option<&Searched> {
        match self {
            Saved::Complete(_, best, outcomes) => outcomes[*best].search.as_ref(),
            Saved::Pending(progress) => {
                progress.best.as_ref().and_then(|(at, _)| progress.done[*at].search.as_ref())
            }
        }
    }

    /// The restarts that have ended.
    pub fn outcomes(&self) -> &[Outcome] {
        match self {
            Saved::Pending(progress) => &progress.done,
            Saved::Complete(_, _, outcomes) => outcomes,
        }
    }
}
