//! The search: from where a plain run ends, kicks and ascents within a budget of passes over the data. It starts with
//! the plain run's state and keeps nothing that is worse, so it never ends below that.
//!
//! ```text
//! ascend from the plain run's end to the top; best <- that
//! while there are passes left:
//!     a kick, likelier the more often it has won for what it cost
//!     ascend from the kicked best; give up as soon as it cannot end above the best
//!     best <- where it ended, if that is higher
//! ascend from the best to its top
//! ```
//! A checkpoint is what is known between two tries. A try that is cut short is made again, with the same random
//! numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::single::Ran;
use super::{DriverPart, Session};
use crate::fit::stop::{Change, StopReason};
use crate::fit::{Fit, Progress, RunId, State, Watcher};
use crate::math::rng::{Address, Purpose, Rng};
use crate::math::table::Table;
use crate::model::{Kicking, Model};
use crate::settings::{Kick, Plan, Search};
use crate::step::engine::Sums;
use crate::{Error, ErrorKind, Result};

/// A search of N items gains and loses by the thousand of them.
const ITEMS_PER_UNIT: f64 = 1000.0;

/// An ascent is at its top when a pass gains less than this, in nats a unit; or less than the plan's tolerance, which is then
/// not more than this.
const TOP: f64 = 2e-4;
const LARGEST_TOP: f64 = 0.05;

/// An ascent that is above the best and gains less than this has won, in nats a unit.
const NEARLY: f64 = 5e-3;

/// What must be gained, in nats, and in gains of a pass at the top.
const GAIN: f64 = 0.01;
const GAIN_OF_TOP: f64 = 2.0;

/// A state as near as this below the best was not shaken enough, in nats.
const NEAR: f64 = 0.3;

/// Two states are the same optimum if fewer items than this share have changed components.
const SAME: f64 = 0.01;

/// Passes before an ascent is judged, and the most that it makes.
const PATIENCE: u32 = 4;
const LONGEST: u32 = 1500;

/// A plain run of fewer passes than this counts as one of this many: the budget of small problems.
const LEAST_PASSES: f64 = 30.0;

/// Draws of a kick that is possible, before there is none.
const DRAWS: u32 = 50;

/// What one kind of kick has done.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// How often it was tried.
    pub tries: u32,
    /// How often that led to a higher bound.
    pub wins: u32,
    /// Passes over the data of its tries.
    pub passes: f64,
}

/// What a search has done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The bound of the plain run.
    pub plain_bound: f64,
    /// Passes over the data of the plain run.
    pub passes_plain: f64,
    /// All passes, the plain run's included.
    pub passes: f64,
    /// By kick.
    pub kicks: BTreeMap<String, Tally>,
}

impl Searched {
    /// All tries, and how many of them won.
    pub fn tries(&self) -> (u32, u32) {
        self.kicks.values().fold((0, 0), |(tries, wins), t| (tries + t.tries, wins + t.wins))
    }
}

/// What is known between two tries, but for the best state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stage {
    /// The run under way: 0 is the plain one, with kicks 1 ascends from its end, and every other is a try.
    pub run: u32,
    /// Whether it has started: a checkpoint may be of between two.
    pub begun: bool,
    /// Whether all is done.
    pub over: bool,
    /// The bound of the best state.
    pub bound: f64,
    /// What it is chosen by, if not its bound.
    pub score: f64,
    /// Of the plain run, and why that ended.
    pub plain_bound: f64,
    pub plain_passes: f64,
    pub plain_stop: StopReason,
    /// Of everything.
    pub passes: f64,
    pub steps: u64,
    /// The variance with which noise starts.
    variance: f64,
    tallies: BTreeMap<String, Tally>,
}

impl Stage {
    /// Before the first try.
    pub(super) fn new(ran: &Ran, n_items: usize) -> Self {
        // The last pass found the bound, and no step followed it.
        let passes = ran.state.items as f64 / n_items as f64 + 1.0;
        Stage {
            run: 1,
            begun: false,
            over: false,
            bound: ran.bound,
            score: ran.bound,
            plain_bound: ran.bound,
            plain_passes: passes,
            plain_stop: ran.stop,
            passes,
            steps: ran.state.step,
            variance: 0.0,
            tallies: BTreeMap::new(),
        }
    }

    /// Its part of a checkpoint, whose state is the best.
    pub(super) fn part(&self) -> Result<DriverPart> {
        let notes = serde_json::to_value(self)
            .map_err(|error| Error::data(format!("a search cannot be saved: {error}")))?;
        Ok(DriverPart { name: super::SEARCH.to_string(), run: self.run, notes, states: Vec::new() })
    }

    /// Where a checkpoint has left it.
    pub(super) fn of(part: &DriverPart) -> Result<Self> {
        serde_json::from_value(part.notes.clone()).map_err(|error| {
            Error::data(format!("the checkpoint of the search is damaged: {error}"))
        })
    }

    pub(super) fn searched(&self) -> Searched {
        Searched {
            plain_bound: self.plain_bound,
            passes_plain: self.plain_passes,
            passes: self.passes,
            kicks: self.tallies.clone(),
        }
    }

    /// The last line of the trace: the best state, and what was done.
    pub(super) fn end<M: Model>(
        &mut self,
        session: &mut Session<'_, M>,
        restart: u32,
        best: &State,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        let mut fit = session.fit_at(RunId { restart, run: self.run }, best.clone())?;
        let mut seen = fit.look()?;
        let (tries, wins) = self.searched().tries();
        let gain = self.bound - self.plain_bound;
        seen.event = Some(serde_json::json!({
            "search": "over", "tries": tries, "wins": wins, "gain": gain, "passes": self.passes,
        }));
        (seen.closing, seen.bound) = (true, self.bound);
        watcher.observe(&seen)?;
        self.over = true;
        Ok(())
    }

    /// A try has ended.
    pub(super) fn count(&mut self, kick: Kick, won: bool, passes: f64) {
        let tally = self.tallies.entry(kick.to_string()).or_default();
        tally.tries += 1;
        tally.wins += u32::from(won);
        tally.passes += passes;
    }

    /// A kick at random, likelier the more it has won for its passes.
    fn draw(&self, search: &Search, rng: &mut Rng) -> Kick {
        let weight = |kick: Kick| {
            let Tally { wins, passes, .. } =
                self.tallies.get(kick.name()).copied().unwrap_or_default();
            // Noise must win more often to be worth its passes.
            let cost = if kick == Kick::Noise { 3.0 } else { 1.0 };
            (f64::from(wins) + 0.5) / (passes + cost * self.plain_passes)
        };
        let kicks: Vec<Kick> =
            Kick::ALL.iter().copied().filter(|&kick| search.kicks.contains(kick)).collect();
        let total: f64 = kicks.iter().map(|&kick| weight(kick)).sum();
        let mut left = rng.uniform() * total;
        for &kick in &kicks {
            left -= weight(kick);
            if left < 0.0 {
                return kick;
            }
        }
        kicks[kicks.len() - 1]
    }
}

/// Where a search has led.
pub(super) struct Improved {
    /// The best state, and why the search ended.
    pub ran: Ran,
    /// What it did.
    pub searched: Searched,
    /// If it was stopped early: what it needs to go on.
    pub pending: Option<Progress>,
    /// If not: what tells a checkpoint that it is over.
    pub over: DriverPart,
}

impl Improved {
    pub(super) fn new(ran: Ran, stage: Stage, pending: Option<Progress>) -> Result<Self> {
        Ok(Improved { ran, searched: stage.searched(), pending, over: stage.part()? })
    }
}

/// Searches from the end of a plain run, or goes on with a search. `progress` makes what a checkpoint holds.
pub(super) fn improve<M: Model>(
    session: &mut Session<'_, M>,
    search: Search,
    restart: u32,
    ran: Ran,
    resumed: Option<Stage>,
    watcher: &mut dyn Watcher,
    progress: &dyn Fn(&State, DriverPart) -> Progress,
) -> Result<Improved> {
    let (Some(kicks), Some(data)) = (session.model.kicks(), session.data) else {
        return Err(Error::data("a search needs the items here"));
    };
    let n_items = session.engine.sizes().n_items;
    let stage = resumed.unwrap_or_else(|| Stage::new(&ran, n_items));
    let plan = session.plan.clone();
    let best = ran.state;
    let unit = (n_items as f64 / ITEMS_PER_UNIT).max(1.0);
    let mut hunt =
        Hunt { kicks, data, search, plan, restart, n_items, unit, stage, best, watcher, progress };
    let ended = hunt.run(session);
    let Hunt { stage, best, .. } = hunt;
    let (stop, pending) = match ended {
        Ok(()) => (stage.plain_stop, None),
        Err(error) => match *error.kind() {
            ErrorKind::Stopped(stop) => (stop, Some(progress(&best, stage.part()?))),
            _ => return Err(error),
        },
    };
    let ran = Ran { state: best, stop, bound: stage.bound };
    Improved::new(ran, stage, pending)
}

/// A search under way.
struct Hunt<'a, M: Model> {
    kicks: &'a dyn Kicking<M>,
    data: &'a M::Data,
    search: Search,
    plan: Plan,
    restart: u32,
    n_items: usize,
    /// Thousands of items, or one.
    unit: f64,
    stage: Stage,
    best: State,
    watcher: &'a mut dyn Watcher,
    progress: &'a dyn Fn(&State, DriverPart) -> Progress,
}

/// Why an ascent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Top {
    /// It is at its top, or has won, or has no hope.
    Ended,
    /// It came back to where it was kicked from.
    Same,
}

/// An ascent that has ended: the first and the last bound, why, and what the last pass summed.
struct Ascended {
    first: f64,
    bound: f64,
    top: Top,
    sums: Sums,
}

impl<M: Model> Hunt<'_, M> {
    fn run(&mut self, session: &mut Session<'_, M>) -> Result<()> {
        if self.stage.over {
            return Ok(());
        }
        let sizes = self.kicks.sizes(self.best.lambda.table());
        if self.stage.run == 1 {
            self.stage.variance = 0.3 * self.n_items as f64 / sizes.len() as f64;
            self.tell();
            if self.plan.batch.is_some() {
                // It is not at its top, and its bound may be an estimate.
                self.stage.plain_bound = self.settle(session)?;
            }
            self.between()?;
        }
        let budget = self.search.times * self.stage.plain_passes.max(LEAST_PASSES);
        while self.stage.passes < budget && sizes.len() > 1 {
            self.tell();
            if !self.try_one(session)? {
                break;
            }
            self.between()?;
        }
        self.settle(session)?;
        self.stage.end(session, self.restart, &self.best, self.watcher)
    }

    /// An ascent is at its top when a pass gains less. Of what a checkpoint holds alone: a plain bound that was an
    /// estimate is replaced on the way.
    fn top(&self) -> f64 {
        let tol = match self.plan.tol_of {
            Change::Relative => self.plan.tol * self.stage.plain_bound.abs(),
            _ => self.plan.tol,
        };
        tol.clamp(TOP * self.unit, LARGEST_TOP * self.unit)
    }

    /// What counts as a gain, and not as the end of the same ascent.
    fn least_gain(&self) -> f64 {
        GAIN.max(GAIN_OF_TOP * self.top())
    }

    fn id(&self) -> RunId {
        RunId { restart: self.restart, run: self.stage.run }
    }

    fn tell(&mut self) {
        let (tries, wins) = self.stage.searched().tries();
        let spent = 100.0 * self.stage.passes
            / (self.search.times * self.stage.plain_passes.max(LEAST_PASSES));
        let of = match self.plan.n_init {
            1 => String::new(),
            n => format!("start {}/{n}, ", self.restart + 1),
        };
        self.watcher
            .stage(&format!("{of}search {:.0} %: {tries} tries, {wins} won", spent.min(100.0)));
    }

    /// Between two tries: the moment to save.
    fn between(&mut self) -> Result<()> {
        self.stage.run += 1;
        let part = self.stage.part()?;
        let (best, progress) = (&self.best, self.progress);
        self.watcher.after_step(best, &|| progress(best, part.clone()))
    }

    /// Whether it is to stop; an error that says why.
    fn heed(&mut self, seconds: f64) -> Result<()> {
        let late = self.plan.time.is_some_and(|time| seconds >= time);
        match (self.watcher.wants_stop(), late) {
            (true, _) => Err(ErrorKind::Stopped(StopReason::Interrupted).into()),
            (_, true) => Err(ErrorKind::Stopped(StopReason::Time).into()),
            _ => Ok(()),
        }
    }

    /// After each step of a try: a checkpoint holds what was known before it.
    fn after_step(&mut self, fit: &Fit<'_, M>) -> Result<()> {
        let (best, stage, progress) = (&self.best, &self.stage, self.progress);
        let part = stage.part()?;
        self.watcher.after_step(&fit.state, &|| progress(best, part.clone()))?;
        self.heed(fit.meter.seconds())
    }

    /// The best state with everything counted that was done so far.
    fn state(&self) -> State {
        let items = (self.stage.passes * self.n_items as f64) as u64;
        State { step: self.stage.steps, items, ..self.best.clone() }
    }

    /// Takes over what an ascent has spent.
    fn spent(&mut self, fit: &Fit<'_, M>, passes: f64) {
        self.stage.passes += passes;
        self.stage.steps = fit.state.step;
        self.best.seconds = fit.state.seconds;
        self.best.step = fit.state.step;
        self.best.items = (self.stage.passes * self.n_items as f64) as u64;
    }

    /// Ascends from the best state to its top; the bound where it started.
    fn settle(&mut self, session: &mut Session<'_, M>) -> Result<f64> {
        let plan = self.plan.ascending(self.stage.steps);
        let mut fit = session.fit_under(&plan, self.id(), self.state())?;
        let mut passes = 0.0;
        let ascended = self.ascend(&mut fit, None, &mut passes)?;
        self.stage.bound = ascended.bound;
        self.best.lambda = fit.state.lambda.clone();
        self.spent(&fit, passes);
        Ok(ascended.first)
    }

    /// One kick and its ascent; false if there is nothing to kick.
    fn try_one(&mut self, session: &mut Session<'_, M>) -> Result<bool> {
        let address =
            Address::new(self.plan.seed, Purpose::Search, self.restart, self.stage.run.into());
        let mut rng = address.rng(0);
        let mut state = self.state();
        let kicked = session.stop.heed(|| self.kicked(&mut rng, state.lambda.table_mut()));
        let Some(kick) = kicked.map_err(|why| ErrorKind::Stopped(why.into()))? else {
            return Ok(false);
        };
        let lead = (0.2 * self.stage.plain_passes).round().clamp(6.0, 30.0) as u64;
        let plan = self.plan.ascending(self.stage.steps);
        let (plan, lead) = match kick {
            Kick::Noise => (plan.shaken(self.stage.variance, lead), lead),
            Kick::Restart => (plan.tempered(lead), lead),
            _ => (plan, 0),
        };
        let mut fit = session.fit_under(&plan, self.id(), state)?;
        let mut passes = 0.0;
        for _ in 0..lead {
            let hits = fit.state.guard_hits;
            fit.step()?;
            // A guard that had something to do has made a second pass, without noise.
            passes += if fit.state.guard_hits > hits { 2.0 } else { 1.0 };
            self.after_step(&fit)?;
        }
        let sizes = self.kicks.sizes(self.best.lambda.table());
        let ascended = self.ascend(&mut fit, Some(&sizes), &mut passes)?;
        let gain = ascended.bound - self.stage.bound;
        let won = gain > self.least_gain();
        if won {
            fit.state.items = ((self.stage.passes + passes) * self.n_items as f64) as u64;
            let mut seen = fit.observe(&ascended.sums, true)?;
            seen.event = Some(serde_json::json!({
                "kick": kick.name(), "gain": gain, "passes": self.stage.passes + passes,
            }));
            self.watcher.observe(&seen)?;
            self.stage.bound = ascended.bound;
            self.best.lambda = fit.state.lambda.clone();
        } else if kick == Kick::Noise {
            let more = ascended.top == Top::Same || gain > -NEAR;
            let v = self.stage.variance;
            self.stage.variance = if more { (1.5 * v).min(1e9) } else { (v / 1.2).max(0.01) };
        }
        self.best.guard_hits = fit.state.guard_hits;
        self.best.guard_checks = fit.state.guard_checks;
        self.spent(&fit, passes);
        self.stage.count(kick, won, passes);
        Ok(true)
    }

    /// Kicks lambda; none if no kick is possible.
    fn kicked(&self, rng: &mut Rng, lambda: &mut Table) -> Option<Kick> {
        for _ in 0..DRAWS {
            let kick = self.stage.draw(&self.search, rng);
            if kick == Kick::Noise || self.kicks.kick(kick, self.data, rng, lambda) {
                return Some(kick);
            }
        }
        None
    }

    /// Ascends until a pass gains next to nothing; with the `sizes` of the best state's components also until it is
    /// clear that it has won, that it cannot, or that it is on its way back.
    fn ascend(
        &mut self,
        fit: &mut Fit<'_, M>,
        sizes: Option<&[f64]>,
        passes: &mut f64,
    ) -> Result<Ascended> {
        let (target, least) = (self.stage.bound, self.least_gain());
        let (mut first, mut last, mut gains) = (f64::NAN, f64::NAN, [f64::NAN; 2]);
        for pass in 0.. {
            let (bound, sums) = fit.peek()?;
            *passes += 1.0;
            if pass == 0 {
                first = bound;
            }
            gains = [bound - last, gains[0]];
            last = bound;
            let [gain, before] = gains;
            let ended = (pass > 0 && gain < self.top()) || pass >= LONGEST;
            let mut top = (ended
                || (pass > PATIENCE && sizes.is_some() && {
                    let ratio = (gain / before).clamp(0.0, 0.98);
                    let rest = (1.5 * gain * ratio / (1.0 - ratio)).max(10.0 * gain);
                    let hopeless = bound + rest < target + least;
                    let won = bound > target + least && gain < NEARLY * self.unit;
                    hopeless || won
                }))
            .then_some(Top::Ended);
            if let Some(sizes) = sizes.filter(|_| pass > PATIENCE && bound < target)
                && self.is_same(sizes, fit.state.lambda.table())
            {
                top = Some(Top::Same);
            }
            if let Some(top) = top {
                return Ok(Ascended { first, bound, top, sums });
            }
            fit.end_step(sums)?;
            self.after_step(fit)?;
        }
        unreachable!("an ascent has a longest")
    }

    /// Whether components have the same sizes, whichever is which.
    fn is_same(&self, sizes: &[f64], lambda: &Table) -> bool {
        let sorted = |mut sizes: Vec<f64>| {
            sizes.sort_by(f64::total_cmp);
            sizes
        };
        let (a, b) = (sorted(sizes.to_vec()), sorted(self.kicks.sizes(lambda)));
        let apart: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum();
        apart < SAME * a.iter().sum::<f64>()
    }
}
