//! When and why a fit ends.

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::math::stop::Why;
use crate::settings::{Plan, choices};

/// Why a fit ended. Not converging is not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The bound's change fell below the tolerance.
    Converged,
    /// All steps were made.
    Steps,
    /// The time was up.
    Time,
    /// The user asked for it.
    Interrupted,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Converged => "the bound stopped changing",
            StopReason::Steps => "all steps were made",
            StopReason::Time => "the time was up",
            StopReason::Interrupted => "it was interrupted",
        })
    }
}

/// A step that is nearly done when the time is up is worth waiting for, if not for long.
const GRACE: Duration = Duration::from_millis(100);

/// When work that may take this many seconds from now on is left in the middle.
pub(crate) fn deadline(time: Option<f64>) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(time?).ok()?;
    Instant::now().checked_add(limit)?.checked_add(GRACE)
}

impl From<Why> for StopReason {
    fn from(why: Why) -> Self {
        match why {
            Why::Asked => StopReason::Interrupted,
            Why::Late => StopReason::Time,
        }
    }
}

choices! {
    /// What a tolerance is compared with.
    #[derive(Default)]
    pub enum Change {
        /// The bound's change as a share of the bound.
        #[default]
        Relative = "relative",
        /// The bound's change.
        Absolute = "absolute",
        /// The change of exp(-bound / words), for models of words.
        Perplexity = "perplexity",
    }
}

impl Change {
    /// Whether it is the usual one.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Change::default()
    }
}

/// How many observations a noisy bound must stand still.
const PATIENCE: usize = 10;

/// Watches the bound. In batch VI it rises steadily, so one small change is the end. With batches it
/// fluctuates: then its running mean must not have changed over `PATIENCE` observations.
#[derive(Debug, Clone)]
pub struct Tolerance {
    tol: f64,
    of: Change,
    smooth: bool,
    /// Observations before this step are ignored: annealing noise is still on.
    noiseless_from: u64,
    /// The words that a perplexity is per.
    words: Option<f64>,
    history: Vec<f64>,
}

impl Tolerance {
    /// `smooth`: the steps use batches. `noiseless_from`: the last noisy step.
    pub fn new(tol: f64, smooth: bool, noiseless_from: u64) -> Self {
        let (of, words) = (Change::Relative, None);
        Tolerance { tol, of, smooth, noiseless_from, words, history: Vec::new() }
    }

    /// The same, compared with something else.
    pub fn of(self, of: Change) -> Self {
        Tolerance { of, ..self }
    }

    /// The tolerance of a plan, `words` being those that a perplexity is per.
    pub(super) fn of_plan(plan: &Plan, words: Option<f64>) -> Self {
        let new = Tolerance::new(plan.tol, plan.batch.is_some(), plan.last_unsettled_step());
        Tolerance { words, ..new.of(plan.tol_of) }
    }

    /// Takes note of the bound after `step` updates; true if what it is compared by has converged.
    pub fn reached(&mut self, step: u64, bound: f64) -> bool {
        if self.tol == 0.0 || step < self.noiseless_from {
            return false;
        }
        let bound = self.words.map_or(bound, |words| (-bound / words).exp());
        let smoothed = match self.history.last() {
            Some(last) if self.smooth => last + 0.3 * (bound - last),
            _ => bound,
        };
        self.history.push(smoothed);
        let back = if self.smooth { PATIENCE } else { 1 };
        let Some(at) = self.history.len().checked_sub(back + 1) else {
            return false;
        };
        let scale = if self.of == Change::Relative { smoothed.abs() } else { 1.0 };
        (smoothed - self.history[at]).abs() <= self.tol * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_bound_stops_at_the_first_small_change() {
        let mut tolerance = Tolerance::new(1e-3, false, 0);
        let bounds = [-200.0, -150.0, -101.0, -100.95];
        let stops: Vec<bool> =
            bounds.iter().enumerate().map(|(i, &b)| tolerance.reached(i as u64, b)).collect();
        assert_eq!(stops, [false, false, false, true]);
    }

    #[test]
    fn an_absolute_change_does_not_look_at_the_size_of_the_bound() {
        let mut tolerance = Tolerance::new(1e-3, false, 0).of(Change::Absolute);
        let bounds = [-100.0, -99.0, -98.95, -98.9495];
        let stops: Vec<bool> =
            bounds.iter().enumerate().map(|(i, &b)| tolerance.reached(i as u64, b)).collect();
        assert_eq!(stops, [false, false, false, true]);
    }

    #[test]
    fn zero_turns_it_off_and_noise_is_waited_for() {
        assert!((0..9).all(|t| !Tolerance::new(0.0, false, 0).reached(t, -1.0)));
        let mut tolerance = Tolerance::new(1e-3, false, 5);
        let first = (0..9).find(|&t| tolerance.reached(t, -1.0));
        assert_eq!(first, Some(6));
    }

    #[test]
    fn a_wobbling_bound_is_smoothed() {
        let wobble = |t: u64| -100.0 + if t.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut plain = Tolerance::new(5e-3, false, 0);
        assert!((0..200).all(|t| !plain.reached(t, wobble(t))));
        let mut smooth = Tolerance::new(5e-3, true, 0);
        assert!((0..200).any(|t| smooth.reached(t, wobble(t))));
        // And steady progress is not taken for a standstill.
        let mut smooth = Tolerance::new(5e-3, true, 0);
        assert!((0..100).all(|t| !smooth.reached(t, -1000.0 + 2.0 * t as f64)));
    }
}
