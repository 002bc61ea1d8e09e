//! The loop: the one place where the whole algorithm is visible, and restarts around it.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::lambda::Lambda;
use crate::math::rng::{Address, Purpose};
use crate::math::table::Table;
use crate::model::{Ask, Blocks, Dataset, HyperStep, Model, RowSet, Stats};
use crate::run::objective;
use crate::run::stop::{Change, StopReason, Tolerance};
use crate::run::trace::Observation;
use crate::settings::Plan;
use crate::step::anneal::Law;
use crate::step::local::{Executor, Pass, Threads};
use crate::step::sample::{Batch, Sampler, split};
use crate::step::update::{Guard, Step, Steps, Updater};
use crate::step::warm::Warm;
use crate::{Error, ErrorKind, Result};

/// A model and the data it is fitted to and judged by.
#[derive(Debug)]
pub struct Problem<'a, M: Model> {
    /// The model.
    pub model: &'a M,
    /// The items to fit.
    pub data: &'a M::Data,
    /// Items to score only.
    pub heldout: Option<&'a M::Data>,
}

impl<M: Model> Clone for Problem<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Model> Copy for Problem<'_, M> {}

/// Where one climb stands. With the plan, all that is needed to go on: a checkpoint is this.
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
    pub fn start<M: Model>(problem: Problem<'_, M>, seed: u64, restart: u32) -> Result<Self> {
        let layout = problem.model.layout();
        let mut lambda = Table::new(layout.n_rows, layout.width);
        let address = Address::new(seed, Purpose::Init, restart, 0);
        problem.model.start(problem.data, address, &mut lambda)?;
        Ok(State::at(problem.model, lambda))
    }

    /// Begin from given natural parameters.
    pub fn at<M: Model>(model: &M, table: Table) -> Self {
        State::from(Lambda::new(table, model.layout().lazy, model.hyper()))
    }

    /// The share of rows or entries that the guard changed, of those that noise could have harmed.
    pub fn guard_share(&self) -> f64 {
        self.guard_hits as f64 / self.guard_checks.max(1) as f64
    }

    /// Brings lambda's lazy rows up to date: the end of a climb.
    fn settle<M: Model>(&mut self, model: &M) {
        let hyper = self.lambda.hyper.clone();
        self.lambda.settle(|row, eta| model.prior(&hyper, row, eta));
    }
}

impl From<Lambda> for State {
    fn from(lambda: Lambda) -> Self {
        let warm = Warm::off();
        State { lambda, warm, step: 0, items: 0, guard_hits: 0, guard_checks: 0, seconds: 0.0 }
    }
}

/// Steps between exact sums of a lazy lambda's columns, which are otherwise kept along.
const SETTLE_EVERY: u64 = 1024;

/// Seconds spent in each part of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Timings {
    /// Drawing batches.
    pub sample: f64,
    /// Drawing noise.
    pub anneal: f64,
    /// Local steps and statistics.
    pub local: f64,
    /// Expectations, updates and guards.
    pub update: f64,
    /// Evaluating and reporting the bound, beyond what the local pass gives.
    pub observe: f64,
    /// Whatever the watcher does after a step, e.g. saving.
    pub checkpoint: f64,
}

/// Runs `work` and adds the seconds it took to `total`.
fn timed<T>(total: &mut f64, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    *total += begin.elapsed().as_secs_f64();
    result
}

/// What a climb tells while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The bound was evaluated.
    Observed(&'a Observation),
    /// An update was made.
    Stepped(&'a State),
}

/// Runs climbs: owns the plan, the workers' buffers and the clock.
pub struct Climber<'a, M: Model, E: Executor<M>> {
    problem: Problem<'a, M>,
    plan: &'a Plan,
    executor: E,
    /// When this session began: a time limit holds for all its climbs together.
    session: Instant,
    /// Seconds by part, over all climbs.
    pub timings: Timings,
    /// Iterations of all local steps that led to updates, for models that iterate.
    pub iterations: u64,
}

impl<'a, M: Model, E: Executor<M>> Climber<'a, M, E> {
    /// A climber on this problem.
    pub fn new(problem: Problem<'a, M>, plan: &'a Plan, executor: E) -> Self {
        let (session, timings) = (Instant::now(), Timings::default());
        Climber { problem, plan, executor, session, timings, iterations: 0 }
    }

    /// One climb: Algorithm 1 from `state` until the plan ends it, or `watch` by returning true.
    /// Returns why it ended and the last bound. `history` are this climb's observations before an
    /// interruption, if there was one.
    pub fn climb(
        &mut self,
        restart: u32,
        state: &mut State,
        history: &[Observation],
        mut watch: impl FnMut(Event<'_>) -> Result<bool>,
    ) -> Result<(StopReason, f64)> {
        let Climber {
            problem: Problem { model, data, .. },
            plan,
            executor,
            session,
            timings,
            iterations,
        } = self;
        let (model, data, plan, session) = (*model, *data, *plan, *session);
        let layout = model.layout();
        let anneal = plan.anneal(restart);
        let guard = plan.guard_for(model)?;
        // Other laws have no negative weights, or their noise sits on items of another batch.
        let shrinks = guard == Guard::Shrink && anneal.law == Law::Gaussian;
        let per_row = layout.blocks == Blocks::PerRow;
        let passes = layout.passes();
        let sampler = |pass: usize| {
            Sampler::new(data.n_items(), plan.batch, plan.sampling, plan.seed, restart)
                .for_pass(pass)
        };
        let mut samplers: Vec<Sampler> = (0..passes.len()).map(sampler).collect();
        let mut updater = Updater::new(model, guard);
        let mut tolerance =
            Tolerance::new(plan.tol, plan.batch.is_some(), plan.last_noisy_step()).of(plan.tol_of);
        let words = model.words(plan.population).filter(|_| plan.tol_of == Change::Perplexity);
        let judged = |bound: f64| words.map_or(bound, |words| (-bound / words).exp());
        for seen in history.iter().filter(|o| o.step < state.step && !o.closing) {
            tolerance.reached(seen.step, judged(seen.bound));
        }
        let mut bound = history.last().map_or(f64::NAN, |o| o.bound);
        let mut batches = vec![Batch::default(); passes.len()];
        let mut expect = M::Expect::default();
        let mut raw = Stats::empty(layout.n_rows, layout.raw_width);
        let mut row_steps = Vec::new();
        if per_row {
            // From here on every update refreshes the rows it has written.
            model.refresh(&state.lambda, &RowSet::all(layout.n_rows), &mut expect);
        }
        let clock = Clock { begin: Instant::now(), before: state.seconds };
        if plan.warm && !state.warm.is_on() {
            state.warm = Warm::new(data.n_items(), model.warm_width());
        }
        if state.warm.is_on() && !state.warm.fits(data.n_items()) {
            return Err(Error::data(
                "the local state in the checkpoint is not of these items; it belongs to another run",
            ));
        }
        // Where every row is a block of its own, the bound is always that of all items.
        let sample = match plan.batch {
            Some(_) if !per_row => self.problem.bound_items(plan),
            _ => Vec::new(),
        };

        loop {
            let end = plan.ends(state.step, session.elapsed().as_secs_f64());
            let evaluates = plan.eval_every > 0;
            let regular = evaluates && plan.own_step(state.step).is_multiple_of(plan.eval_every);
            let observed = evaluates && (regular || end.is_some());
            if let Some(reason) = end.filter(|_| !evaluates) {
                // A bound would have told.
                if !state.lambda.is_finite() {
                    return Err(ErrorKind::Diverged { bound: f64::NAN, step: state.step }.into());
                }
                return Ok((reason, bound));
            }

            let t = state.step + 1;
            let own = plan.own_step(t);
            let mut hyper_sums = Vec::new();
            let mut rho = 1.0;
            for (pass, phases) in passes.iter().enumerate() {
                let (batch, sampler) = (&mut batches[pass], &mut samplers[pass]);

                // Algorithm 1, lines 1 to 5: S_t, the annealing weights, the weighted statistics. A
                // full batch has its bound from here, too.
                timed(&mut timings.sample, || match per_row {
                    true => sampler.draw_blocks(own, pass, data.groups(pass), &layout, batch),
                    false => sampler.draw(own, batch),
                });
                batch.population = plan.population;
                let noisy = timed(&mut timings.anneal, || anneal.weigh(own, sampler, batch));
                let ask = Ask {
                    stats: end.is_none(),
                    bound: pass == 0 && observed && plan.batch.is_none(),
                    precise: false,
                    shrink: if shrinks { batch.variance } else { 0.0 },
                };
                let mut local = Pass::default();
                if ask.stats || ask.bound {
                    if plan.is_cold(own) {
                        state.warm.cool();
                    }
                    timed(&mut timings.update, || match &batch.blocks {
                        Some(blocks) => raw.rows.clone_from(&blocks.rows),
                        None => {
                            model.support(data, &batch.items, &mut raw.rows);
                            model.refresh(&state.lambda, &raw.rows, &mut expect);
                        }
                    });
                    local = timed(&mut timings.local, || {
                        let warm = &mut state.warm;
                        executor.local_pass(model, &expect, data, batch, ask, warm, &mut raw)
                    });
                    let noise = local.noise_seconds / rayon::current_num_threads() as f64;
                    timings.local -= noise;
                    timings.anneal += noise;
                }

                if let Some(fault) = data.fault() {
                    return Err(fault);
                }

                // Look at the state as it is before this step's updates.
                if pass == 0 && observed {
                    let begin = Instant::now();
                    let global = model.global_bound(&state.lambda, &expect);
                    bound = match plan.batch {
                        None => plan.share(data.n_items()) * local.bound + global,
                        Some(_) => {
                            let lambda = &state.lambda;
                            let local =
                                objective::local_bound(model, lambda, data, &sample, executor);
                            let counted = if per_row { data.n_items() } else { sample.len() };
                            plan.share(counted) * local + global
                        }
                    };
                    state.seconds = clock.seconds();
                    let estimated =
                        (!per_row && sample.len() < data.n_items()).then_some(sample.len());
                    let mut seen =
                        self.problem.observation(plan, restart, state, bound, !regular)?;
                    seen.bound_sample = estimated.filter(|_| plan.batch.is_some());
                    // Should it ask for a stop: the step is made first, so that items' local state
                    // and lambda are of the same age.
                    watch(Event::Observed(&seen))?;
                    timings.observe += begin.elapsed().as_secs_f64();
                    let ended = match end {
                        _ if regular && tolerance.reached(state.step, judged(bound)) => {
                            Some(StopReason::Converged)
                        }
                        end => end,
                    };
                    if let Some(reason) = ended {
                        return Ok((reason, bound));
                    }
                }

                // Line 6: the update. The guard may ask for the same statistics without noise.
                let begin = Instant::now();
                let one = |noisy: bool| Step {
                    rho: plan.step_size.at(t, noisy),
                    // Rows that are blocks of their own have their N/|S| in the statistics.
                    scale: if per_row { 1.0 } else { batch.population as f64 / batch.size as f64 },
                    noisy,
                };
                rho = one(noisy).rho;
                let steps = match &batch.blocks {
                    None => Steps::All(one(noisy)),
                    Some(blocks) => {
                        row_steps.clear();
                        let slots = 0..blocks.rows.len();
                        row_steps.extend(slots.map(|slot| one(blocks.is_noisy(slot))));
                        Steps::Each(&row_steps)
                    }
                };
                let warm = &state.warm;
                let batch = &*batch;
                let quiet_stats = |rows: &RowSet, slots: &[usize]| {
                    let quiet = match per_row {
                        true => batch.quiet_rows(slots),
                        false => Batch::of(batch.items[..batch.size].to_vec(), batch.population),
                    };
                    let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
                    stats.rows.clone_from(quiet.blocks.as_ref().map_or(rows, |b| &b.rows));
                    let ask = Ask { bound: false, shrink: 0.0, ..ask };
                    // Items begin where the noisy pass has just left them, so that q is the same.
                    let mut warm = warm.clone();
                    executor.local_pass(model, &expect, data, &quiet, ask, &mut warm, &mut stats);
                    stats
                };
                let lambda = &mut state.lambda;
                let guarded =
                    updater.apply(model, phases.clone(), steps, &mut raw, quiet_stats, lambda);
                if per_row {
                    model.refresh(lambda, &raw.rows, &mut expect);
                }
                timings.update += begin.elapsed().as_secs_f64();
                *iterations += local.iterations;
                state.guard_hits += guarded.hits;
                state.guard_checks += guarded.noisy;
                if pass == 0 {
                    hyper_sums = local.hyper;
                    state.items += batch.items.len().max(batch.size) as u64;
                }
            }

            let begin = Instant::now();
            let hyper = HyperStep {
                step: t,
                rho,
                batch: batches[0].items.len().max(batches[0].size),
                full: plan.batch.is_none(),
                epoch_ends: plan.ends_epoch(own),
                sums: &hyper_sums,
                raw: &raw,
                blocks: batches.last().and_then(|batch| batch.blocks.as_ref()),
            };
            model.learn_hyper(hyper, &mut state.lambda, &mut expect);
            if let Some((row, message)) = model.broken(&expect) {
                let model = model.name().to_string();
                return Err(ErrorKind::Domain { model, row, step: t, message }.into());
            }
            if t.is_multiple_of(SETTLE_EVERY) {
                state.settle(model);
            }
            timings.update += begin.elapsed().as_secs_f64();
            state.step = t;
            state.seconds = clock.seconds();
            if timed(&mut timings.checkpoint, || watch(Event::Stepped(state)))? {
                return Ok((StopReason::Interrupted, bound));
            }
        }
    }
}

/// Counts the seconds of a climb across interruptions.
struct Clock {
    begin: Instant,
    before: f64,
}

impl Clock {
    fn seconds(&self) -> f64 {
        self.before + self.begin.elapsed().as_secs_f64()
    }
}

impl<M: Model> Problem<'_, M> {
    /// The training items that the bound is estimated from when steps use batches: always the same.
    fn bound_items(&self, plan: &Plan) -> Vec<u32> {
        let n_items = self.data.n_items();
        let sample = plan.bound_sample.or(self.model.bound_sample());
        match sample.filter(|&sample| sample > 0 && sample < n_items) {
            None => (0..n_items as u32).collect(),
            Some(sample) => split(n_items, sample, plan.seed, Purpose::Bound).1,
        }
    }

    /// The state in the form of the trace; an error if the bound is not a number.
    fn observation(
        &self,
        plan: &Plan,
        restart: u32,
        state: &State,
        bound: f64,
        closing: bool,
    ) -> Result<Observation> {
        if !bound.is_finite() {
            return Err(ErrorKind::Diverged { bound, step: state.step }.into());
        }
        let n_items = self.data.n_items();
        let batch = plan.batch.unwrap_or(n_items);
        // Where every row is a block of its own, M and the temperature are those of the largest.
        let (size, population) = plan.block.map_or((batch, plan.population), |size| (size, size));
        let mut measures: BTreeMap<String, f64> = BTreeMap::new();
        let mut note = |numbers: Vec<(&'static str, f64)>| {
            measures.extend(numbers.into_iter().map(|(name, x)| (name.to_string(), x)));
        };
        note(self.model.measures(&state.lambda, plan.population));
        if plan.guard_for(self.model)?.works_on_entries() {
            note(vec![("clamped_share", state.guard_share())]);
        }
        let heldout = self.heldout.map(|data| {
            let scores = self.model.score(&state.lambda, data, plan.population);
            note(scores.named);
            scores.main
        });
        let last = state.step.max(1);
        let effective = plan.anneal(restart).effective_at(plan.own_step(last).max(1), size);
        let rho = plan.step_size.at(last, effective.is_some());
        let effective = effective.unwrap_or(size as f64);
        Ok(Observation {
            restart,
            step: state.step,
            seconds: state.seconds,
            items: state.items,
            rho,
            effective,
            batch,
            temperature: rho * population as f64 / (2.0 * effective),
            bound,
            bound_sample: None,
            heldout,
            guard_hits: state.guard_hits,
            measures,
            closing,
        })
    }
}

/// JSON has no NaN: it writes null.
pub(super) fn or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
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
}

/// The climb under way and the restarts before it: what a checkpoint holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The restart under way.
    pub restart: u32,
    /// Where it stands.
    pub state: State,
    /// The restarts that have ended.
    pub done: Vec<Outcome>,
    /// The best of those, with its index in `done`.
    pub best: Option<(usize, State)>,
}

/// Looks on while a fit runs. The loop knows nothing of files, terminals or signals.
pub trait Watcher: Send {
    /// The fit is about to go on from `progress`.
    fn begins(&mut self, _plan: &Plan, _progress: &Progress) {}

    /// The bound was evaluated.
    fn observe(&mut self, _observation: &Observation) -> Result<()> {
        Ok(())
    }

    /// An update was made, or a restart ended: the moment to save. `progress` makes what to save.
    fn after_step(&mut self, _state: &State, _progress: &dyn Fn() -> Progress) -> Result<()> {
        Ok(())
    }

    /// Something is not as it should be, and the fit goes on all the same.
    fn warn(&mut self, _message: &str) {}

    /// Should the fit stop after the current step?
    fn wants_stop(&self) -> bool {
        false
    }
}

/// Watches nothing.
impl Watcher for () {}

/// A finished fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The best restart's state; `state.lambda` is the fitted model.
    pub state: State,
    /// How the best restart ended.
    pub outcome: Outcome,
    /// All restarts, in order.
    pub outcomes: Vec<Outcome>,
    /// Where the time went.
    pub timings: Timings,
    /// Iterations of all local steps, for models that iterate.
    pub local_iterations: u64,
    /// If the fit was stopped early: what it needs to go on.
    pub pending: Option<Progress>,
}

impl Fit {
    /// Whether the plan was carried out to its end.
    pub fn is_complete(&self) -> bool {
        self.pending.is_none()
    }

    /// Mean and standard deviation of the restarts' bounds.
    pub fn spread(&self) -> (f64, f64) {
        let n = self.outcomes.len() as f64;
        let mean = self.outcomes.iter().map(|o| o.bound).sum::<f64>() / n;
        let square = self.outcomes.iter().map(|o| (o.bound - mean).powi(2)).sum::<f64>();
        (mean, (square / (n - 1.0).max(1.0)).sqrt())
    }
}

/// Fits a model: `plan.n_init` climbs from random starts, on `threads` threads (0: all cores), of
/// which the best by bound is kept.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
/// use lehr::run::fit::{Problem, fit};
///
/// // Forty numbers around 0.5 and forty around 9.5.
/// let around = |centre: f64| (0..40).map(move |n| centre + 0.025 * f64::from(n - 20));
/// let points = Points::new(around(0.5).chain(around(9.5)).collect(), 1)?;
/// let mixture = Mixture::new(MixtureParams::gmm(2), &points)?;
/// let plan = lehr::FitConfig::default().check(points.n_items())?;
/// let problem = Problem { model: &mixture, data: &points, heldout: None };
/// let fitted = fit(problem, &plan, 1, None, &mut ())?;
/// let mut means: Vec<f64> =
///     mixture.components(fitted.state.lambda.table()).iter().map(|c| c.mean[0]).collect();
/// means.sort_by(f64::total_cmp);
/// assert!((means[0] - 0.5).abs() < 0.5 && (means[1] - 9.5).abs() < 0.5);
/// # Ok::<(), lehr::Error>(())
/// ```
pub fn fit<M: Model>(
    problem: Problem<'_, M>,
    plan: &Plan,
    threads: usize,
    resume: Option<(Progress, Vec<Observation>)>,
    watcher: &mut dyn Watcher,
) -> Result<Fit> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("lehr-{i}"))
        .build()
        .map_err(|error| Error::config("threads", threads, format!("{error}; try fewer")))?;
    plan.check_model(problem.model)?;
    // The whole loop lives in our own pool: nothing here ever touches rayon's global one.
    pool.install(|| restarts(problem, plan, resume, watcher))
}

fn restarts<M: Model>(
    problem: Problem<'_, M>,
    plan: &Plan,
    resume: Option<(Progress, Vec<Observation>)>,
    watcher: &mut dyn Watcher,
) -> Result<Fit> {
    let (mut progress, mut history) = match resume {
        Some(resume) => resume,
        None => {
            let state = State::start(problem, plan.seed, 0)?;
            (Progress { restart: 0, state, done: Vec::new(), best: None }, Vec::new())
        }
    };
    watcher.begins(plan, &progress);
    let mut climber = Climber::new(problem, plan, Threads::new());
    loop {
        let Progress { restart, mut state, mut done, mut best } = progress;
        let (stop, bound) = climber.climb(restart, &mut state, &history, |event| {
            match event {
                Event::Observed(observation) => watcher.observe(observation)?,
                Event::Stepped(state) => watcher.after_step(state, &|| Progress {
                    restart,
                    state: state.clone(),
                    done: done.clone(),
                    best: best.clone(),
                })?,
            }
            Ok(watcher.wants_stop())
        })?;
        let steps = state.step;
        let early = matches!(stop, StopReason::Interrupted | StopReason::Time);
        let pending = early.then(|| Progress {
            restart,
            state: state.clone(),
            done: done.clone(),
            best: best.clone(),
        });
        state.settle(problem.model);
        done.push(Outcome { restart, bound, steps, stop });
        // A climb cut short never replaces one that ended: the checkpoint could not tell why.
        let better = best.as_ref().is_none_or(|(at, _)| !early && bound > done[*at].bound);
        if better {
            if restart + 1 < plan.n_init {
                state.warm = Warm::off(); // only the climb under way needs its items' state
            }
            best = Some((done.len() - 1, state));
        }
        if early || restart + 1 >= plan.n_init {
            let (at, state) = best.expect("at least this restart has ended");
            let (outcome, timings) = (done[at].clone(), climber.timings);
            // A finished run that goes on appends its best restart, whichever that was.
            done.sort_by_key(|outcome| outcome.restart);
            let local_iterations = climber.iterations;
            return Ok(Fit { state, outcome, outcomes: done, timings, local_iterations, pending });
        }
        let state = State::start(problem, plan.seed, restart + 1)?;
        progress = Progress { restart: restart + 1, state, done, best };
        history = Vec::new();
    }
}
