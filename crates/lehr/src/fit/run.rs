//! A fit under a plan: when to look, when to end, whom to tell.

use super::meter::Part;
use super::stop::{StopReason, Tolerance};
use super::{Fit, Progress, State, Watcher};
use crate::fit::Observation;
use crate::model::{Ask, Model};
use crate::step::engine::Sums;
use crate::{Error, ErrorKind, Result};

/// What the next look at a fit is for.
#[derive(Debug, Clone, Copy)]
struct Due {
    /// Why the plan ends here, if it does.
    end: Option<StopReason>,
    /// Whether the bound is evaluated.
    observed: bool,
    /// Whether that is in the plan's rhythm.
    regular: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Why.
    pub stop: StopReason,
    /// The last bound; NaN if it was never evaluated.
    pub bound: f64,
}

impl<M: Model> Fit<'_, M> {
    /// Looks at the state as it is: the bound, scores and measures.
    pub fn look(&mut self) -> Result<Observation> {
        let due = Due { end: Some(StopReason::Steps), observed: true, regular: true };
        let sums = self.begin_step(self.ask(due), due.observed)?;
        self.unless_stopped(|fit| fit.observe(&sums, false))
    }

    /// The bound of the state, and the sums of the pass that it took: all that a step needs.
    pub(super) fn peek(&mut self) -> Result<(f64, Sums)> {
        let due = Due { end: None, observed: true, regular: true };
        let sums = self.begin_step(self.ask(due), due.observed)?;
        let (bound, _) = self.unless_stopped(|fit| fit.bound(&sums))?;
        if !bound.is_finite() {
            return Err(self.diverged(bound));
        }
        Ok((bound, sums))
    }

    /// Runs the plan to its end, or until the watcher asks for one. `history` are this run's observations
    /// before an interruption, if there was one; `progress` makes what a checkpoint holds of the state. A step that
    /// a stop cuts short is not made.
    pub fn run(
        &mut self,
        history: &[Observation],
        watcher: &mut dyn Watcher,
        progress: &dyn Fn(&State) -> Progress,
    ) -> Result<End> {
        let mut bound = history.last().map_or(f64::NAN, |o| o.bound);
        let end = self.ascend(history, watcher, progress, &mut bound);
        let end = match end.as_ref().map_err(|error| error.kind()) {
            Err(&ErrorKind::Stopped(stop)) => Ok(End { stop, bound }),
            _ => end,
        }?;
        self.gather()?;
        Ok(end)
    }

    fn ascend(
        &mut self,
        history: &[Observation],
        watcher: &mut dyn Watcher,
        progress: &dyn Fn(&State) -> Progress,
        last_bound: &mut f64,
    ) -> Result<End> {
        let meter = self.meter;
        let mut tolerance = Tolerance::of_plan(self.plan, self.words());
        for seen in history.iter().filter(|o| o.step < self.state.step && !o.closing) {
            tolerance.reached(seen.step, seen.bound);
        }
        loop {
            let due = self.due();
            if let (Some(stop), false) = (due.end, due.observed) {
                self.check_finite()?;
                return Ok(End { stop, bound: *last_bound });
            }
            let sums = self.begin_step(self.ask(due), due.observed)?;
            if due.observed {
                let look = |fit: &mut Self| fit.observe(&sums, !due.regular);
                let seen = meter.time(Part::Observe, || self.unless_stopped(look))?;
                *last_bound = seen.bound;
                // Should it ask for a stop: the step is made first, so that items' local state
                // and lambda are of the same age.
                meter.time(Part::Observe, || watcher.observe(&seen))?;
                let converged = due.regular && tolerance.reached(self.state.step, seen.bound);
                if let Some(stop) = converged.then_some(StopReason::Converged).or(due.end) {
                    return Ok(End { stop, bound: seen.bound });
                }
            }
            self.end_step(sums)?;
            if watcher.saves(self.state.step) {
                self.gather()?;
            }
            let (state, seen) = (&self.state, &mut *watcher);
            meter.time(Part::Checkpoint, || seen.after_step(state, &|| progress(state)))?;
            if watcher.wants_stop() {
                return Ok(End { stop: StopReason::Interrupted, bound: *last_bound });
            }
        }
    }

    fn due(&self) -> Due {
        let (plan, step) = (self.plan, self.state.step);
        let end = plan.ends(step, self.meter.seconds());
        let evaluates = plan.eval_every > 0;
        let regular = evaluates && plan.own_step(step).is_multiple_of(plan.eval_every);
        Due { end, observed: evaluates && (regular || end.is_some()), regular }
    }

    /// A full batch has its bound from the step's own pass.
    fn ask(&self, due: Due) -> Ask {
        let bound = due.observed && self.plan.batch.is_none();
        Ask { stats: due.end.is_none(), bound, precise: false, shrink: 0.0 }
    }

    /// The error of a bound that is no number.
    pub(super) fn diverged(&self, bound: f64) -> Error {
        let model = self.model.name().to_string();
        ErrorKind::Diverged { model, bound, step: self.state.step }.into()
    }

    /// Without a bound nothing else reveals that a fit has diverged.
    fn check_finite(&self) -> Result<()> {
        if self.state.lambda.is_finite() {
            return Ok(());
        }
        Err(self.diverged(f64::NAN))
    }
}
