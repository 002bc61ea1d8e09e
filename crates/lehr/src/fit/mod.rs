//! A fit is a value: made at a state, looked at, stepped, run under a plan, kept or dropped.
//!
//! Algorithm 1 is here and nowhere else: [`Fit::step`]. `run.rs` runs it under a plan, `observe.rs` evaluates the
//! bound, [`stop`] says when it ends, and [`drive`] has what runs fits one after the other.

mod builder;
pub mod drive;
mod meter;
mod observe;
mod run;
mod state;
pub mod stop;
mod trace;
mod undo;
mod watch;

use std::time::{Duration, Instant};

use crate::lambda::Lambda;
use crate::math::stop::Stop;
use crate::model::{Ask, HyperStep, Model, RowSet, Stats};
use crate::settings::Plan;
use crate::step::engine::{Advance, Engine, Sums, Work};
use crate::step::pass::Pass;
use crate::step::update::{Deferred, Raw, Updater};
use crate::step::warm::Warm;
use crate::{Error, ErrorKind, Result};

pub use builder::{FitBuilder, fit, fit_on};
pub use drive::search::{Searched, Tally};
pub use drive::{Driver, Fitted, Resume, Session};
use meter::Part;
pub use meter::{Meter, Timings};
pub use observe::bound;
pub use run::End;
pub(crate) use state::or_nan;
pub use state::{DriverPart, Outcome, Progress, State};
pub use trace::Observation;
use undo::Undo;
pub use watch::Watcher;

/// Steps between exact sums of a lazy lambda's columns, which are otherwise kept along.
const SUM_EVERY: u64 = 1024;

/// Which run this is: its random numbers and its lines in the trace are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunId {
    /// Which start, from 0.
    pub restart: u32,
    /// Which run of its driver within this start; 0 is the first.
    pub run: u32,
}

impl RunId {
    /// Where the run's random numbers live: that of the restart for its first run. Multiples of the golden ratio
    /// lie far apart, so that ten thousand runs of each of a hundred thousand restarts never share one.
    fn stream(self) -> u32 {
        self.restart.wrapping_add(self.run.wrapping_mul(0x9e37_79b9))
    }
}

/// A fit under way: Algorithm 1, a step at a time.
pub struct Fit<'a, M: Model> {
    model: &'a M,
    /// Items to score only.
    heldout: Option<&'a M::Data>,
    plan: &'a Plan,
    engine: &'a mut dyn Engine<M>,
    meter: &'a Meter,
    /// Whether the fit is to stop, also in the middle of a step.
    stop: Stop,
    undo: Undo,
    id: RunId,
    /// The passes of a step: draw, weigh, how far to go.
    passes: Vec<M::Pass>,
    updater: Updater,
    expect: M::Expect,
    raw: Stats,
    /// The items that the bound is estimated from, where steps use batches.
    bound_items: Vec<u32>,
    /// When this fit was made, and the seconds that were worked on its state before.
    began: (Instant, f64),
    /// How long it took to make the expectations that are kept from step to step.
    beginning: Duration,
    /// Where it stands.
    pub state: State,
}

impl<'a, M: Model> Fit<'a, M> {
    /// A fit at a state.
    pub(crate) fn new(
        session: &'a mut Session<'_, M>,
        plan: &'a Plan,
        id: RunId,
        state: State,
    ) -> Result<Self> {
        let Session { model, heldout, engine, meter, stop, .. } = session;
        let (model, layout) = (*model, model.layout());
        let mut state = state;
        if plan.warm && !state.warm.is_on() {
            state.warm = Warm::new(engine.sizes().n_items, model.warm_width());
        }
        if state.warm.is_on() && !state.warm.fits(engine.sizes().n_items) {
            return Err(Error::data(
                "the local state in the checkpoint is not of these items; it belongs to another run",
            ));
        }
        let mut expect = M::Expect::default();
        let before = Instant::now();
        match engine.holder() {
            Some(holder) => holder.begin(model, &state.lambda, &mut expect)?,
            None => M::Pass::begin(model, &state.lambda, &mut expect),
        }
        let beginning = before.elapsed();
        let sizes = engine.sizes();
        Ok(Fit {
            model,
            heldout: *heldout,
            plan,
            meter,
            stop: stop.clone(),
            undo: Undo::default(),
            id,
            passes: M::Pass::of_a_step(model, sizes, plan, id.stream())?,
            updater: Updater::new(model, plan.guard_for(model)?),
            expect,
            raw: Stats::empty(layout.n_rows, layout.raw_width),
            bound_items: M::Pass::bound_sample(model, sizes, plan),
            began: (Instant::now(), state.seconds),
            beginning,
            engine: &mut **engine,
            state,
        })
    }

    /// The first pass of the next step, unless a stop is asked for in the middle of it.
    /// Between it and the rest of the step the engine may be asked for a bound, if the step `is_observed`.
    fn begin_step(&mut self, ask: Ask, is_observed: bool) -> Result<Sums> {
        self.undo = Undo::before(&self.state, self.plan.batch.is_none());
        self.unless_stopped(|fit| fit.sum(0, ask, !is_observed))
    }

    /// Algorithm 1, lines 1 to 5, for one pass of the next step: the weighted statistics of S_t.
    /// They may stay with the engine if it `may_defer` and does nothing else before the update.
    fn sum(&mut self, pass: usize, ask: Ask, may_defer: bool) -> Result<Sums> {
        let Fit { model, plan, engine, meter, passes, updater, expect, raw, state, .. } = self;
        let (t, pass) = (plan.own_step(state.step + 1), &mut passes[pass]);
        // 1    S_t: the items of this step.
        meter.time(Part::Sample, || pass.draw(t, engine.sizes()));
        // 2-4  e_n: noise of the size that a batch of M items would have; w_n = 1 + e_n - mean(e).
        meter.time(Part::Anneal, || pass.weigh(t));
        if !ask.is_something() {
            return Ok(Sums::default());
        }
        if plan.is_cold(t) {
            state.warm.forget();
        }
        let (lambda, rows) = (&state.lambda, &mut raw.rows);
        meter.time(Part::Update, || pass.refresh(model, &mut **engine, lambda, rows, expect))?;
        let ask = Ask { shrink: pass.shrink(), ..ask };
        if let Some(items) = engine.looks_ahead().then(|| pass.ahead(t + 1)).flatten() {
            engine.ahead(items);
        }
        let defers = may_defer && updater.can_defer(pass.is_noisy());
        let work = Work { model: *model, expect, batch: pass.batch(), ask, defers };
        // 5    s = sum_n w_n E_q[t(theta_n)].
        let sums = meter.time(Part::Local, || engine.sum(work, &mut state.warm, raw))?;
        meter.shift(Part::Local, Part::Anneal, sums.noise_seconds);
        Ok(sums)
    }

    /// The rest of the step, likewise.
    fn end_step(&mut self, first: Sums) -> Result<()> {
        self.update_unless_stopped(|fit| fit.update(first))
    }

    /// Algorithm 1, line 6, from the statistics of the first pass; then the other passes of the step, and the
    /// hyperparameters.
    fn update(&mut self, first: Sums) -> Result<()> {
        let (meter, t) = (self.meter, self.state.step + 1);
        let mut sums = first;
        let hyper_sums = std::mem::take(&mut sums.hyper);
        self.state.items += self.passes[0].n_items() as u64;
        for pass in 0..self.passes.len() {
            if pass == 0 && self.advance(t)? {
                continue;
            }
            if pass > 0 {
                sums = self.sum(pass, Ask::STATS, true)?;
            }
            meter.iterate(sums.iterations);
            // 6    lambda <- (1 - rho) lambda + rho (eta + N/|S| s), row by row.
            let deferred = sums.deferred;
            meter.time(Part::Update, || self.apply(pass, t, deferred))?;
            meter.shift(Part::Update, Part::Local, self.updater.take_gathering());
        }
        meter.time(Part::Update, || self.learn(t, &hyper_sums))?;
        self.state.step = t;
        self.state.seconds = self.seconds();
        Ok(())
    }

    /// The update of the first pass where the engine keeps its rows; false, and nothing done, where it does not.
    fn advance(&mut self, t: u64) -> Result<bool> {
        let Fit { model, plan, engine, meter, passes, expect, state, .. } = self;
        if engine.holder().is_none() {
            return Ok(false);
        }
        let (model, (first, others)) = (*model, passes.split_at_mut(1));
        let [next, ..] = others else { return Ok(false) };
        // Batches are functions of the step, so that this one can be known already.
        let own = plan.own_step(t);
        next.draw(own, engine.sizes());
        next.weigh(own);
        let (batch, next, hyper) = (first[0].batch(), next.batch(), &state.lambda.hyper);
        let (guard, rho) = (plan.guard_for(model)?, plan.step_size);
        let rho = [false, true].map(|noisy| rho.at(t, noisy));
        let advance = Advance { model, hyper, batch, next, rho, guard };
        let Some(holder) = engine.holder() else { return Ok(false) };
        let guarded = meter.time(Part::Local, || holder.advance(advance, expect))?;
        state.guard_hits += guarded.hits;
        state.guard_checks += guarded.noisy;
        Ok(true)
    }

    /// Brings rows that the engine keeps into the state.
    fn gather(&mut self) -> Result<()> {
        let Fit { engine, expect, state, .. } = self;
        engine.holder().map_or(Ok(()), |holder| holder.fetch(expect, &mut state.lambda))
    }

    /// One step. If a stop is asked for in the middle of it, the error says why, and the state is that before the
    /// step: it can be kept, and the fit is to be dropped.
    pub fn step(&mut self) -> Result<()> {
        let sums = self.begin_step(Ask::STATS, false)?;
        self.end_step(sums)
    }

    /// Line 6 for one pass; the guard may ask for the same statistics without noise.
    fn apply(&mut self, pass: usize, t: u64, deferred: bool) -> Result<()> {
        let Fit { model, plan, engine, passes, updater, expect, raw, state, .. } = self;
        let (model, pass) = (*model, &mut passes[pass]);
        pass.size_steps(plan, t);
        let State { lambda, warm, .. } = state;
        if deferred {
            let later = engine.later().expect("an engine that has deferred says where to find it");
            let ask = Ask { shrink: pass.shrink(), ..Ask::STATS };
            let deferred = Some(Deferred { later, expect, ask });
            let all = Raw { stats: raw, deferred };
            // Rows are not tested, so that noiseless statistics are not asked for.
            let none = |_: &RowSet, _: &[usize]| Ok(Stats::empty(0, 0));
            let (phases, steps) = (pass.phases(), pass.steps());
            let guarded = updater.apply(model, phases, steps, all, none, lambda)?;
            M::Pass::follow(model, lambda, &raw.rows, expect);
            state.guard_hits += guarded.hits;
            state.guard_checks += guarded.noisy;
            return Ok(());
        }
        let noiseless = |rows: &RowSet, slots: &[usize]| {
            let (batch, rows) = pass.noiseless(rows, slots);
            let layout = model.layout();
            let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
            stats.rows = rows;
            let ask = Ask::STATS;
            let work = Work { model, expect: &*expect, batch: &batch, ask, defers: false };
            // Items start where the noisy pass has just left them, so that q is the same.
            engine.sum(work, &mut warm.clone(), &mut stats)?;
            Ok(stats)
        };
        let guarded =
            updater.apply(model, pass.phases(), pass.steps(), raw.into(), noiseless, lambda)?;
        M::Pass::follow(model, lambda, &raw.rows, expect);
        state.guard_hits += guarded.hits;
        state.guard_checks += guarded.noisy;
        Ok(())
    }

    /// What follows the updates of step `t`: hyperparameters, and a look at what rounding has done.
    fn learn(&mut self, t: u64, sums: &[f64]) -> Result<()> {
        let Fit { model, plan, passes, expect, raw, state, .. } = self;
        let last = &passes[passes.len() - 1];
        if let Some(learner) = model.learner() {
            let step = HyperStep {
                step: t,
                rho: last.steps().rho(),
                size: passes[0].n_items(),
                full: plan.batch.is_none(),
                epoch_ends: plan.ends_epoch(plan.own_step(t)),
                sums,
                raw,
                batch: last.batch(),
            };
            learner.learn(step, &mut state.lambda, expect);
        }
        if let Some((row, message)) = model.domain().and_then(|domain| domain.broken(expect)) {
            let model = model.name().to_string();
            return Err(ErrorKind::Domain { model, row, step: t, message }.into());
        }
        if t.is_multiple_of(SUM_EVERY) {
            state.catch_up(*model);
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        let (began, before) = self.began;
        before + began.elapsed().as_secs_f64()
    }

    /// The natural parameters as they are, every row up to date; those that the engine keeps as they were last brought.
    pub fn lambda(&self) -> Lambda {
        let mut state = self.state.clone();
        state.catch_up(self.model);
        state.lambda
    }

    /// Keeps where it stands, every row up to date.
    pub fn into_state(mut self) -> State {
        self.state.catch_up(self.model);
        self.state
    }
}
