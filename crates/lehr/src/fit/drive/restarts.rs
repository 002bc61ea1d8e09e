//! Several runs from random starts, of which the best by bound is kept.

use super::single::run;
use super::{Driver, Fitted, Resume, Session};
use crate::fit::{Outcome, Progress, RunId, State, Watcher};
use crate::model::Model;
use crate::step::warm::Warm;
use crate::{Error, ErrorKind, Result};

/// `plan.n_init` runs; with one, simply that.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restarts;

impl<M: Model> Driver<M> for Restarts {
    fn drive(
        &self,
        session: &mut Session<'_, M>,
        resume: Option<Resume>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted> {
        let (plan, n_init) = (session.plan, session.plan.n_init);
        let Resume { mut progress, mut history } = match resume {
            Some(Resume { progress: Progress { driver: Some(part), .. }, .. }) => {
                return Err(Error::data(format!(
                    "this run was begun by {}, not by restarts",
                    part.name
                )));
            }
            Some(resume) => resume,
            None => Resume::from((session.start)(0)?),
        };
        watcher.begins(plan, &progress);
        loop {
            let Progress { restart, state, done, best, .. } = progress;
            if n_init > 1 {
                watcher.stage(&format!("start {}/{n_init}", restart + 1));
            }
            let saved = |state: &State| Progress {
                restart,
                state: state.clone(),
                done: done.clone(),
                best: best.clone(),
                driver: None,
            };
            let id = RunId { restart, run: 0 };
            let mut ran = run(session, plan, id, state, &history, watcher, &saved)?;
            let mut next = None;
            if !ran.is_early() && restart + 1 < n_init {
                match (session.start)(restart + 1) {
                    Ok(state) => next = Some(state),
                    // As if this run had been stopped at its very end: going on, it ends at once.
                    Err(error) => match *error.kind() {
                        ErrorKind::Stopped(why) => ran.stop = why,
                        _ => return Err(error),
                    },
                }
            }
            let pending = ran.is_early().then(|| saved(&ran.state));
            ran.state.catch_up(session.model);
            let is_last = next.is_none();
            let (mut done, mut best) = (done, best);
            let steps = ran.state.step;
            done.push(Outcome { restart, bound: ran.bound, steps, stop: ran.stop });
            // A run cut short never replaces one that ended: the checkpoint could not tell why.
            let is_better = |&(at, _): &(usize, State)| {
                let best: &Outcome = &done[at];
                pending.is_none() && ran.bound > best.bound
            };
            if best.as_ref().is_none_or(is_better) {
                if !is_last {
                    ran.state.warm = Warm::off(); // only the run under way needs its items' state
                }
                best = Some((done.len() - 1, ran.state));
            }
            let Some(state) = next else {
                let (at, state) = best.expect("at least this restart has ended");
                return Ok(ended(session, state, at, done, pending));
            };
            progress = Progress { restart: restart + 1, state, done, best, driver: None };
            history = Vec::new();
        }
    }
}

/// The end of all runs, `at` being the best of those that are done.
fn ended<M: Model>(
    session: &Session<'_, M>,
    state: State,
    at: usize,
    mut done: Vec<Outcome>,
    pending: Option<Progress>,
) -> Fitted {
    let outcome = done[at].clone();
    // A finished run that goes on appends its best restart, whichever that was.
    done.sort_by_key(|outcome| outcome.restart);
    Fitted {
        state,
        outcome,
        outcomes: done,
        timings: session.meter.timings(),
        local_iterations: session.meter.iterations(),
        pending,
    }
}
