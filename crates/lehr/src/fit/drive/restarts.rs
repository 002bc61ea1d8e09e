//! Several runs from random starts, of which the best by bound is kept; each may search on from where it ends.

use serde::Deserialize;

use super::search::{self, Improved, Searched, Stage};
use super::single::{Ran, run};
use super::{AFTER_SEARCH, Driver, Fitted, Resume, SEARCH, Session, again};
use crate::fit::{DriverPart, Observation, Outcome, Progress, RunId, State, Watcher};
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
            Some(resume) => resume,
            None => Resume::from((session.start)(0)?),
        };
        watcher.begins(plan, &progress);
        loop {
            let Progress { restart, state, done, best, driver } = progress;
            if n_init > 1 {
                watcher.stage(&format!("start {}/{n_init}", restart + 1));
            }
            let saved = |state: &State, driver: Option<DriverPart>| Progress {
                restart,
                state: state.clone(),
                done: done.clone(),
                best: best.clone(),
                driver,
            };
            let start = Start { restart, state, driver, history: &history };
            let Ended { mut ran, searched, mut pending, over } =
                start.run(session, watcher, &saved)?;
            let mut next = None;
            if !ran.is_early() && restart + 1 < n_init {
                match (session.start)(restart + 1) {
                    Ok(state) => next = Some(state),
                    // As if this run had been stopped at its very end: going on, it ends at once.
                    Err(error) => match *error.kind() {
                        ErrorKind::Stopped(why) => {
                            ran.stop = why;
                            pending = Some(saved(&ran.state, over));
                        }
                        _ => return Err(error),
                    },
                }
            }
            ran.state.catch_up(session.model);
            let is_last = next.is_none();
            let (mut done, mut best) = (done, best);
            let steps = ran.state.step;
            done.push(Outcome {
                restart,
                bound: ran.bound,
                steps,
                stop: ran.stop,
                search: searched,
            });
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

/// A start: its run, and the search from there if the plan has one.
struct Start<'a> {
    restart: u32,
    /// Where it stands.
    state: State,
    /// What a checkpoint has besides the state.
    driver: Option<DriverPart>,
    history: &'a [Observation],
}

/// How a start has ended.
struct Ended {
    ran: Ran,
    searched: Option<Searched>,
    /// If it was stopped early: what it needs to go on.
    pending: Option<Progress>,
    /// What tells a checkpoint that its search is over.
    over: Option<DriverPart>,
}

impl Start<'_> {
    fn run<M: Model>(
        self,
        session: &mut Session<'_, M>,
        watcher: &mut dyn Watcher,
        saved: &dyn Fn(&State, Option<DriverPart>) -> Progress,
    ) -> Result<Ended> {
        let Start { restart, state, driver, history } = self;
        let (mut part, mut stage, mut run_number) = (None, None, 0);
        match driver {
            None => {}
            Some(driver) if driver.name == AFTER_SEARCH => {
                run_number = driver.run;
                part = Some(driver);
            }
            Some(driver) if driver.name == SEARCH && session.plan.search.is_some() => {
                stage = Some((Stage::of(&driver)?, driver.states.into_iter().next()));
            }
            Some(driver) => {
                let message = format!("this run was started by {}, not by restarts", driver.name);
                return Err(Error::data(message));
            }
        }
        let ran = match &stage {
            // The plain run has ended already.
            Some((stage, _)) => Ran { state, stop: stage.plain_stop, bound: stage.plain_bound },
            None => {
                let id = RunId { restart, run: run_number };
                let progress = |state: &State| saved(state, part.clone());
                run(session, session.plan, id, state, history, watcher, &progress)?
            }
        };
        let search = session.plan.search.filter(|_| part.is_none());
        let Some(search) = search.filter(|_| stage.is_some() || !ran.is_early()) else {
            // Of a run that goes on after a search: what that did. Older ones did not keep it.
            let searched = part.as_ref().and_then(|part| Searched::deserialize(&part.notes).ok());
            let pending = ran.is_early().then(|| saved(&ran.state, part));
            return Ok(Ended { ran, searched, pending, over: None });
        };
        let progress = |state: &State, part: DriverPart| saved(state, Some(part));
        let improved = match session.model.kicks() {
            Some(_) => {
                let stage = stage.map(|(stage, _)| stage);
                search::improve(session, search, restart, ran, stage, watcher, &progress)?
            }
            None => {
                again::improve(session, search, restart, ran, stage, history, watcher, &progress)?
            }
        };
        let Improved { ran, searched, pending, over } = improved;
        Ok(Ended { ran, searched: Some(searched), pending, over: Some(over) })
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
