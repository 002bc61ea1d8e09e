//! The search of models that have no kicks: fresh starts with the hyperparameters that the best run has learned, as many
//! as the budget has plain runs.

use super::search::{Improved, Stage};
use super::single::{Ran, run};
use super::{DriverPart, Session};
use crate::fit::{Observation, Progress, RunId, State, Watcher};
use crate::model::{Model, score};
use crate::settings::{Kick, Search, SearchBy};
use crate::step::warm::Warm;
use crate::{ErrorKind, Result};

/// Searches from the end of a plain run, or goes on with a search, whose best state is then kept with its stage.
#[allow(clippy::too_many_arguments, reason = "what a search needs, each once")]
pub(super) fn improve<M: Model>(
    session: &mut Session<'_, M>,
    search: Search,
    restart: u32,
    ran: Ran,
    resumed: Option<(Stage, Option<State>)>,
    history: &[Observation],
    watcher: &mut dyn Watcher,
    progress: &dyn Fn(&State, DriverPart) -> Progress,
) -> Result<Improved> {
    let (plan, n_items) = (session.plan, session.engine.sizes().n_items);
    let n_runs = search.times.floor() as u32;
    let (mut stage, mut best, mut under_way) = match resumed {
        Some((stage, Some(best))) if stage.begun => (stage, best, Some((ran.state, history))),
        Some((stage, _)) => (stage, ran.state, None),
        None => {
            let mut best = ran.state.clone();
            best.catch_up(session.model);
            best.warm = Warm::off();
            let mut stage = Stage::new(&ran, n_items);
            stage.score = judged(session, search.by, &best, ran.bound);
            (stage, best, None)
        }
    };
    // Of a run under way the best state is kept with it; between two it is the state itself.
    let part_of = |stage: &Stage, best: &State| -> Result<DriverPart> {
        let states = if stage.begun { vec![best.clone()] } else { Vec::new() };
        Ok(DriverPart { states, ..stage.part()? })
    };
    while stage.run < n_runs {
        let (tries, wins) = stage.searched().tries();
        let line = format!("search: fit {}/{n_runs}, {wins} of {tries} won", stage.run + 1);
        watcher.stage(&line);
        let (state, history) = match under_way.take() {
            Some(under_way) => under_way,
            None => {
                // Starts that no restart of this seed has.
                let number = (restart + 1).wrapping_mul(0x0001_0000).wrapping_add(stage.run);
                let mut state = match (session.start)(number) {
                    Ok(state) => state,
                    Err(error) => match *error.kind() {
                        ErrorKind::Stopped(stop) => {
                            let pending = Some(progress(&best, part_of(&stage, &best)?));
                            let ran = Ran { state: best, stop, bound: stage.bound };
                            return Improved::new(ran, stage, pending);
                        }
                        _ => return Err(error),
                    },
                };
                state.lambda.hyper = best.lambda.hyper.clone();
                state.seconds = best.seconds;
                (state, &[][..])
            }
        };
        stage.begun = true;
        let part = part_of(&stage, &best)?;
        let id = RunId { restart, run: stage.run };
        let saved = |state: &State| progress(state, part.clone());
        let mut ran = run(session, plan, id, state, history, watcher, &saved)?;
        if ran.is_early() {
            let pending = Some(progress(&ran.state, part));
            let ran = Ran { state: best, stop: ran.stop, bound: stage.bound };
            return Improved::new(ran, stage, pending);
        }
        ran.state.catch_up(session.model);
        let passes = ran.state.items as f64 / n_items as f64 + 1.0;
        let score = judged(session, search.by, &ran.state, ran.bound);
        let won = score > stage.score;
        stage.passes += passes;
        stage.steps += ran.state.step;
        stage.count(Kick::Restart, won, passes);
        let seconds = ran.state.seconds;
        if won {
            (stage.score, stage.bound) = (score, ran.bound);
            best = State { warm: Warm::off(), ..ran.state };
        }
        best.seconds = seconds;
        (stage.run, stage.begun) = (stage.run + 1, false);
        let part = part_of(&stage, &best)?;
        watcher.after_step(&best, &|| progress(&best, part.clone()))?;
    }
    if !stage.over {
        let ended = stage.end(session, restart, &best, watcher);
        if let Err(error) = ended {
            let ErrorKind::Stopped(stop) = *error.kind() else { return Err(error) };
            let pending = Some(progress(&best, part_of(&stage, &best)?));
            return Improved::new(Ran { state: best, stop, bound: stage.bound }, stage, pending);
        }
    }
    let ran = Ran { state: best, stop: stage.plain_stop, bound: stage.bound };
    Improved::new(ran, stage, None)
}

/// What a run is judged by: its bound, or the score of the items held out.
fn judged<M: Model>(session: &Session<'_, M>, by: SearchBy, state: &State, bound: f64) -> f64 {
    match (by, session.heldout) {
        (SearchBy::Heldout, Some(heldout)) => {
            score(session.model, &state.lambda, heldout, session.plan.population).main
        }
        _ => bound,
    }
}
