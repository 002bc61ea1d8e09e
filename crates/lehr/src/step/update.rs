//! Line 6 of Algorithm 1: lambda <- (1 - rho) lambda + rho (eta + N/|S| s), with a guard that keeps every row of
//! lambda in its domain.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use crate::Result;
use crate::lambda::{Lambda, Lazy, catch_up, left};
use crate::math::kernels::{Isa, advance_row, prefetch, replace_row, step_row};
use crate::math::stop;
use crate::math::table::Table;
use crate::model::{Ask, Layout, Model, RowSet, Stats, Target, check_rows, hyper_of};
use crate::step::engine::Later;
use crate::step::guard::Guard;

/// The size of one update.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// rho_t.
    pub rho: f64,
    /// N/|S|.
    pub scale: f64,
    /// Whether the statistics carry annealing noise.
    pub noisy: bool,
}

/// The size of an update of each row.
#[derive(Debug, Clone, Copy)]
pub enum Steps<'a> {
    /// The same for all.
    All(Step),
    /// One for every slot: where every row has its own batch, and some are noisy.
    Each(&'a [Step]),
}

impl Steps<'_> {
    /// The step of a slot. Where every row has its own N/|S|, that is in the statistics already: what is
    /// learned from them needs it there.
    fn at(&self, slot: usize) -> Step {
        match self {
            Steps::All(step) => *step,
            Steps::Each(steps) => Step { scale: 1.0, ..steps[slot] },
        }
    }

    /// rho, where all rows have the same; else that of the noisy rows, if there are any.
    pub fn rho(&self) -> f64 {
        match self {
            Steps::All(step) => step.rho,
            Steps::Each(steps) => {
                let noisy = steps.iter().find(|step| step.noisy);
                noisy.or(steps.first()).map_or(1.0, |step| step.rho)
            }
        }
    }

    /// Multiplies the statistics by N/|S|, where every row has its own.
    fn scale(&self, raw: &mut Stats) {
        if let Steps::Each(steps) = self
            && steps.iter().any(|step| step.scale != 1.0)
        {
            let width = raw.width();
            let rows = raw.values_mut().par_chunks_exact_mut(width).enumerate();
            rows.with_min_len(256).for_each(|(slot, row)| self.scale_row(slot, row));
        }
    }

    fn scale_row(&self, slot: usize, row: &mut [f64]) {
        if let Steps::Each(steps) = self
            && steps[slot].scale != 1.0
        {
            row.iter_mut().for_each(|x| *x *= steps[slot].scale);
        }
    }

    fn any_noisy(&self) -> bool {
        match self {
            Steps::All(step) => step.noisy,
            Steps::Each(steps) => steps.iter().any(|step| step.noisy),
        }
    }
}

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guarded {
    /// Rows (entries, for `clamp` and `shrink`) that the guard changed.
    pub hits: u64,
    /// Rows or entries that noise could have pushed out of their domain.
    pub noisy: u64,
}

/// Applies updates.
#[derive(Debug)]
pub struct Updater {
    guard: Guard,
    layout: Layout,
    /// For each slot whether its row is still to be updated.
    pending: Vec<bool>,
    /// Room for the statistics of some rows, one per thread, where they are deferred.
    gathered: Vec<Mutex<Vec<f64>>>,
    /// Nanoseconds of all threads that went into those.
    gathering: AtomicU64,
}

/// The raw statistics of a batch.
pub struct Raw<'a, M: Model> {
    /// Which rows there are, and their statistics.
    pub stats: &'a mut Stats,
    /// Where the statistics are, if not in their table.
    pub deferred: Option<Deferred<'a, M>>,
}

impl<'a, M: Model> From<&'a mut Stats> for Raw<'a, M> {
    fn from(stats: &'a mut Stats) -> Self {
        Raw { stats, deferred: None }
    }
}

/// Statistics that are not in their table.
pub struct Deferred<'a, M: Model> {
    /// They are with the engine.
    pub later: &'a dyn Later<M::Expect>,
    /// What they were summed with.
    pub expect: &'a M::Expect,
    /// What was asked for.
    pub ask: Ask,
}

/// The most rows that one worker updates at a time where no totals are kept: rows of wide matrices are long work.
const CHUNK: usize = 256;

/// Stretches of rows that each thread has to itself at least, where there are that many rows.
const CHUNKS_PER_THREAD: usize = 4;

/// How many rows ahead lambda is asked for, since it seldom is in a cache.
const AHEAD: usize = 8;

/// Rows whose domain is tested together.
const TESTED: usize = 32;

impl Updater {
    /// An updater for this model.
    pub fn new<M: Model>(model: &M, guard: Guard) -> Self {
        Updater {
            guard,
            layout: model.layout(),
            pending: Vec::new(),
            gathered: Vec::new(),
            gathering: AtomicU64::new(0),
        }
    }

    /// Whether an update can do with [`Deferred`] statistics: it goes over each row once, and what is there is what
    /// the row gets.
    pub fn can_defer(&self, noisy: bool) -> bool {
        self.layout.lazy && !self.tests(noisy)
    }

    /// Whether rows are tested before they are written.
    fn tests(&self, noisy: bool) -> bool {
        noisy && !self.guard.works_on_entries()
    }

    /// The seconds that summing deferred statistics took since the last call.
    pub fn take_gathering(&mut self) -> f64 {
        let threads = rayon::current_num_threads() as f64;
        std::mem::take(self.gathering.get_mut()) as f64 * 1e-9 / threads
    }

    /// One update of some phases from the raw statistics. `noiseless` makes the noiseless statistics
    /// of the same batch, at least for the rows in the slots it is given, and is called only if
    /// the guard needs them; rows that it replaces stay replaced in `raw`.
    pub fn apply<M: Model>(
        &mut self,
        model: &M,
        phases: Range<usize>,
        steps: Steps<'_>,
        raw: Raw<'_, M>,
        mut noiseless: impl FnMut(&RowSet, &[usize]) -> Result<Stats>,
        lambda: &mut Lambda,
    ) -> Result<Guarded> {
        let mut guarded = Guarded::default();
        let Raw { stats: raw, deferred } = raw;
        steps.scale(raw);
        if let (true, Steps::All(step)) = (self.layout.lazy, steps) {
            self.decay(model, step.rho, lambda);
        }
        let noisy = steps.any_noisy();
        let tests = self.tests(noisy);
        let n_threads = rayon::current_num_threads();
        self.gathered.resize_with(n_threads.max(self.gathered.len()), Mutex::default);
        let mut quiet = None;
        for phase in phases {
            self.pending.clear();
            self.pending.resize(raw.rows.len(), true);
            let mut written = self.write(model, phase, steps, tests, raw, &deferred, lambda);
            if tests {
                let slots = 0..raw.rows.len();
                let invalid: Vec<usize> =
                    slots.clone().filter(|&slot| self.pending[slot]).collect();
                guarded.hits += invalid.len() as u64;
                guarded.noisy += slots.filter(|&slot| steps.at(slot).noisy).count() as u64;
                let rejects = matches!(self.guard, Guard::Reject | Guard::RejectBelowPrior);
                if rejects && !invalid.is_empty() && quiet.is_none() {
                    quiet = Some(noiseless(&raw.rows, &invalid)?);
                }
                for &slot in &invalid {
                    match &quiet {
                        Some(quiet) => {
                            let row = raw.rows.row(slot);
                            raw.slot_mut(slot).copy_from_slice(quiet.row(row));
                            steps.scale_row(slot, raw.slot_mut(slot));
                        }
                        None if self.guard == Guard::Clip => raw.slot_mut(slot).fill(0.0),
                        None => {}
                    }
                }
                if !invalid.is_empty() {
                    written = self.write(model, phase, steps, false, raw, &None, lambda);
                }
            }
            if !noisy {
                guarded.hits += written.halved;
            } else if self.guard.works_on_entries() {
                guarded.hits += written.clamped;
                // Not what the table holds: deferred statistics are elsewhere.
                guarded.noisy += (raw.rows.len() * raw.width()) as u64;
            }
        }
        model.sort_components(lambda);
        Ok(guarded)
    }

    /// The decay that all rows of a lazy lambda share; the rows of the batch get the rest later.
    fn decay<M: Model>(&self, model: &M, rho: f64, lambda: &mut Lambda) {
        let hyper = lambda.hyper.clone();
        if rho == 1.0 {
            return lambda.forget(|row, eta| model.prior(&hyper, row, eta));
        }
        lambda.decay(rho);
        let mut eta = vec![0.0; self.layout.width];
        model.prior(&hyper, 0, &mut eta);
        if let (_, Some(Lazy { totals, .. })) = lambda.rows_to_write() {
            for (total, eta) in totals.iter_mut().zip(eta) {
                *total += rho * (self.layout.n_rows as f64 * eta - *total);
            }
        }
    }

    /// Updates the phase's columns of every pending row of the batch. If it `tests`, noisy rows that
    /// would leave their domain stay as they are, and pending; if not, they go only part of the way.
    #[allow(clippy::too_many_arguments)]
    fn write<M: Model>(
        &mut self,
        model: &M,
        phase: usize,
        steps: Steps<'_>,
        tests: bool,
        raw: &Stats,
        deferred: &Option<Deferred<'_, M>>,
        lambda: &mut Lambda,
    ) -> Written {
        let hyper = lambda.hyper.clone();
        let noisy = steps.any_noisy();
        let clamp = noisy && self.guard.works_on_entries();
        let chunk = Chunk {
            steps,
            row: RowUpdate {
                model,
                phase,
                raw,
                hyper: &hyper,
                clamp,
                shares_prior: self.layout.lazy || matches!(steps, Steps::Each(_)),
            },
            layout: &self.layout,
            deferred: deferred.as_ref(),
            gathered: &self.gathered,
            gathering: &self.gathering,
            test: tests.then_some(self.guard == Guard::RejectBelowPrior),
            halves: !model.domain().is_some_and(|domain| domain.is_valid_when_noiseless())
                || (noisy && self.guard == Guard::Halve),
        };
        let width = self.layout.width;
        let (table, lazy) = lambda.rows_to_write();
        let (mut since, now, totals) = match lazy {
            Some(Lazy { since, now, totals }) => (&mut since[..], *now, Some(totals)),
            None => (&mut [][..], 0.0, None),
        };
        // Rows rise with their slots, so every chunk of slots has a stretch of the table to itself.
        let n_slots = raw.rows.len();
        let fair = n_slots.div_ceil(CHUNKS_PER_THREAD * rayon::current_num_threads());
        // Totals are sums over such stretches, whose length must not depend on the threads then.
        let length = if totals.is_some() { raw.rows.part(width) } else { fair.clamp(1, CHUNK) };
        let mut values = table.values_mut();
        let mut first_row = 0;
        let mut tasks = Vec::with_capacity(n_slots.div_ceil(length));
        for (first, pending) in (0..n_slots).step_by(length).zip(self.pending.chunks_mut(length)) {
            let last = first + pending.len() - 1;
            let (from, to) = (raw.rows.row(first), raw.rows.row(last) + 1);
            let (_, rest) = values.split_at_mut((from - first_row) * width);
            let (rows, rest) = rest.split_at_mut((to - from) * width);
            values = rest;
            let marks = if since.is_empty() {
                &mut [][..]
            } else {
                let (_, rest) = since.split_at_mut(from - first_row);
                let (marks, rest) = rest.split_at_mut(to - from);
                since = rest;
                marks
            };
            first_row = to;
            if pending.contains(&true) {
                tasks.push(Stretch { first, pending, from, rows, marks, now });
            }
        }
        let keep_totals = totals.is_some();
        let parts: Vec<(Written, Vec<f64>)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|stretch| {
                let mut gain = vec![0.0; if keep_totals { width } else { 0 }];
                (chunk.update(stretch, &mut gain), gain)
            })
            .collect();
        if let Some(totals) = totals {
            for (_, gain) in &parts {
                totals.iter_mut().zip(gain).for_each(|(total, gain)| *total += gain);
            }
        }
        let mut written = Written::default();
        for (part, _) in parts {
            written.halved += part.halved;
            written.clamped += part.clamped;
        }
        written
    }
}

/// What a pass over the rows did.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    /// Rows that went only part of the way.
    halved: u64,
    /// Entries that were negative.
    clamped: u64,
}

/// How the rows of a chunk are updated.
struct Chunk<'a, M: Model> {
    steps: Steps<'a>,
    row: RowUpdate<'a, M>,
    layout: &'a Layout,
    deferred: Option<&'a Deferred<'a, M>>,
    gathered: &'a [Mutex<Vec<f64>>],
    gathering: &'a AtomicU64,
    /// Whether noisy rows are tested first, and if so, how strictly.
    test: Option<bool>,
    /// Whether rows that would leave their domain may still be found, and are halved.
    halves: bool,
}

/// The slots of a chunk and the rows of lambda that belong to it.
struct Stretch<'a> {
    /// The first slot.
    first: usize,
    /// Which slots are to be updated.
    pending: &'a mut [bool],
    /// The first row.
    from: usize,
    rows: &'a mut [f64],
    /// Where lambda is lazy: ln P when each row was stored.
    marks: &'a mut [f64],
    /// ln P now.
    now: f64,
}

impl<M: Model> Chunk<'_, M> {
    /// Updates the pending rows of a stretch; `gain` collects what they gain, if it has room.
    fn update(&self, stretch: Stretch<'_>, gain: &mut [f64]) -> Written {
        let Chunk { steps, row, layout, test, halves, .. } = self;
        let Stretch { first, pending, from, rows, marks, now } = stretch;
        let (model, width) = (row.model, layout.width);
        let mut buffers = Buffers::new(layout);
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut gathered = self.gathered[thread].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Deferred { later, expect, ask }) = self.deferred {
            let began = Instant::now();
            gathered.resize(pending.len() * width, 0.0);
            later.rows(expect, &row.raw.rows, first..first + pending.len(), *ask, &mut gathered);
            self.gathering.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
        let goes_on = self.deferred.is_some() && !halves;
        let mut halved = 0;
        let (mut tested, mut proposals) = (Vec::new(), Vec::new());
        for i in 0..pending.len() {
            if pending[i] {
                stop::check();
                let (r, step) = (row.raw.rows.row(first + i), steps.at(first + i));
                if i + AHEAD < pending.len() {
                    let soon = row.raw.rows.row(first + i + AHEAD) - from;
                    prefetch(&rows[soon * width..][..width]);
                }
                let old = &mut rows[(r - from) * width..][..width];
                if let (true, Some(since)) = (goes_on, marks.get_mut(r - from)) {
                    let own = &mut gathered[i * width..][..width];
                    if row.advance(r, step, since, now, own, old, gain, &mut buffers) {
                        pending[i] = false;
                        continue;
                    }
                }
                let own = self.deferred.map(|_| &gathered[i * width..][..width]);
                let mark = marks.get(r - from).map(|&since| (since, now));
                let is_finite = row.propose(layout, r, step, mark, own, old, &mut buffers);
                if let Some(since) = marks.get_mut(r - from) {
                    *since = now;
                }
                let new = &mut buffers.new;
                if test.is_some() && step.noisy {
                    if is_finite {
                        tested.push((i, r));
                        proposals.extend_from_slice(new);
                    }
                } else {
                    if !(is_finite && (!halves || model.in_domain(r, new))) {
                        halved += 1;
                        halve(model, r, old, new);
                    }
                    replace(old, new, gain);
                    pending[i] = false;
                }
            }
            if tested.len() == TESTED || (i + 1 == pending.len() && !tested.is_empty()) {
                let mut fits = [true; TESTED];
                let numbers: Vec<usize> = tested.iter().map(|&(_, r)| r).collect();
                let strict = *test == Some(true);
                let fits = &mut fits[..numbers.len()];
                check_rows(model, row.hyper, &numbers, &proposals, strict, fits);
                for ((&(i, r), &fits), new) in
                    tested.iter().zip(&*fits).zip(proposals.chunks_exact(width))
                {
                    if fits {
                        replace(&mut rows[(r - from) * width..][..width], new, gain);
                        pending[i] = false;
                    }
                }
                tested.clear();
                proposals.clear();
            }
        }
        Written { halved, clamped: buffers.clamped }
    }
}

/// Replaces a row; what it gains is added to `gain`, if that has room.
fn replace(old: &mut [f64], new: &[f64], gain: &mut [f64]) {
    if gain.is_empty() {
        old.copy_from_slice(new);
    } else {
        replace_row(Isa::detect(), old, new, gain);
    }
}

/// All that the update of a row depends on, but for the row.
struct RowUpdate<'a, M: Model> {
    model: &'a M,
    phase: usize,
    raw: &'a Stats,
    hyper: &'a [f64],
    /// Whether negative statistics count as 0: where every term of a sum is positive, only noise
    /// makes it negative.
    clamp: bool,
    /// Whether all rows of the phase have the same prior.
    shares_prior: bool,
}

struct Buffers {
    eta: Vec<f64>,
    /// The row that `eta` belongs to.
    eta_row: Option<usize>,
    new: Vec<f64>,
    /// Entries that were negative.
    clamped: u64,
}

impl Buffers {
    fn new(layout: &Layout) -> Self {
        let row = || vec![0.0; layout.width];
        Buffers { eta: row(), eta_row: None, new: row(), clamped: 0 }
    }

    /// Makes `eta` the prior of this row.
    fn set_eta<M: Model>(&mut self, of: &RowUpdate<'_, M>, row: usize) {
        if self.eta_row.is_none_or(|known| known != row && !of.shares_prior) {
            of.model.prior(of.hyper, row, &mut self.eta);
            self.eta_row = Some(row);
        }
    }
}

impl<M: Model> RowUpdate<'_, M> {
    /// The whole update of a lazy row from its own statistics, where neither it nor what it gains need be looked at in
    /// between; `since` is its mark. False, and nothing done, if it must be: the row has nothing to catch up with, or is
    /// not finite.
    #[allow(clippy::too_many_arguments)]
    fn advance(
        &self,
        row: usize,
        step: Step,
        since: &mut f64,
        now: f64,
        own: &mut [f64],
        old: &mut [f64],
        gain: &mut [f64],
        buffers: &mut Buffers,
    ) -> bool {
        if *since == now {
            return false;
        }
        if self.clamp {
            buffers.clamped += clamp(own);
        }
        let (isa, p, factor) = (Isa::detect(), left(*since, now), step.rho * step.scale);
        let mut done = false;
        buffers.set_eta(self, row);
        advance_row(isa, old, &buffers.eta, p, own, factor, gain, &mut done);
        if done {
            *since = now;
        }
        done
    }

    /// `new <- (1 - rho) old + rho (eta + scale * natural(raw))` in the phase's columns. A lazy row
    /// carries its `mark` (ln P when it was stored, ln P now), in which this step's decay is included;
    /// `old` is then brought up to date. Returns whether the new row is finite.
    #[allow(clippy::too_many_arguments)]
    fn propose(
        &self,
        layout: &Layout,
        row: usize,
        step: Step,
        mark: Option<(f64, f64)>,
        own: Option<&[f64]>,
        old: &mut [f64],
        buffers: &mut Buffers,
    ) -> bool {
        let RowUpdate { model, phase, raw, hyper, clamp: clamps, .. } = *self;
        buffers.set_eta(self, row);
        let Buffers { eta, new, clamped, .. } = buffers;
        if let Some((since, now)) = mark {
            catch_up(since, now, eta, old);
        } else if layout.phases[phase].columns.len() < new.len() {
            new.copy_from_slice(old);
        }
        let columns = layout.phases[phase].columns.clone();
        let part = &mut new[columns.clone()];
        match own {
            // In a model with lazy rows, statistics are natural parameters.
            Some(own) => part.copy_from_slice(own),
            None => model.to_natural(Target { hyper, phase, row, old }, raw, part),
        }
        let (old, eta) = (&old[columns.clone()], &eta[columns]);
        if mark.is_some() {
            let (factor, mut is_finite) = (step.rho * step.scale, false);
            step_row(Isa::detect(), old, factor, clamps, part, clamped, &mut is_finite);
            return is_finite;
        }
        if clamps {
            *clamped += clamp(part);
        }
        part.iter_mut().zip(eta).for_each(|(p, &eta)| *p = eta + step.scale * *p);
        // rho = 1 must give the target's bits, also where the old value is huge.
        if step.rho < 1.0 {
            part.iter_mut().zip(old).for_each(|(p, &old)| *p = old + step.rho * (*p - old));
        }
        is_finite(new)
    }
}

/// Makes negative entries 0; how many there were.
fn clamp(entries: &mut [f64]) -> u64 {
    let mut n = 0;
    for x in entries {
        n += u64::from(*x < 0.0);
        *x = x.max(0.0);
    }
    n
}

fn is_finite(row: &[f64]) -> bool {
    // No early exit, so that the loop vectorises.
    row.iter().fold(true, |finite, x| finite & x.is_finite())
}

/// Moves the proposal half-way back to the old row until it is valid; the domain is convex and the
/// old row inside, so this ends. Should rounding defeat it, the old row stays.
fn halve<M: Model>(model: &M, row: usize, old: &[f64], proposal: &mut [f64]) {
    for _ in 0..50 {
        for (p, &old) in proposal.iter_mut().zip(old) {
            *p = 0.5 * (*p + old);
        }
        if is_finite(proposal) && model.in_domain(row, proposal) {
            return;
        }
    }
    proposal.copy_from_slice(old);
}

/// The lambda that raw statistics of the whole data lead to, from the prior: how starts are made.
pub fn from_raw<M: Model>(model: &M, raw: &Stats, table: &mut Table) {
    let hyper = hyper_of(model);
    (0..model.layout().n_rows).for_each(|r| model.prior(&hyper, r, table.row_mut(r)));
    follow_raw(model, raw, table);
}

/// The same from the table as it is. In models whose update has several phases that makes a difference: an earlier
/// phase looks at what a later one has written.
pub(crate) fn follow_raw<M: Model>(model: &M, raw: &Stats, table: &mut Table) {
    let layout = model.layout();
    let mut lambda = Lambda::new(table.clone(), layout.lazy, hyper_of(model));
    let mut updater = Updater::new(model, Guard::Halve);
    let step = Step { rho: 1.0, scale: 1.0, noisy: false };
    // A noiseless step never asks for noiseless statistics.
    let same = |_: &RowSet, _: &[usize]| Ok(raw.clone());
    let phases = 0..layout.phases.len();
    let applied = updater.apply(
        model,
        phases,
        Steps::All(step),
        Raw::from(&mut raw.clone()),
        same,
        &mut lambda,
    );
    debug_assert!(applied.is_ok());
    table.values_mut().copy_from_slice(lambda.table().values());
}
