//! Line 6 of Algorithm 1: lambda <- (1 - rho) lambda + rho (eta + N/|S| s), and the guard that keeps
//! every row of lambda in its domain.

use std::fmt;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::lambda::{Lambda, Lazy, catch_up};
use crate::math::table::Table;
use crate::model::{Blocks, Layout, Model, Place, RowSet, Stats};

/// What to do when noise would push a row of lambda out of its domain. Annealing weights can be
/// negative, so it happens; every time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// The row takes its noiseless step. Tends to let surplus components die.
    Reject,
    /// The same, already when the row falls below its prior (in PMF: below half of it). Tends to keep
    /// components alive.
    RejectBelowPrior,
    /// The row's statistics count as empty for this step.
    Clip,
    /// The row's step size is halved until it fits.
    Halve,
    /// Entries of the statistics that noise makes negative count as 0, the others as they are. For
    /// models whose statistics are sums of positive terms and increments of lambda as they are (LDA):
    /// the paper's reading. Over-counts
    /// what is rare.
    Clamp,
    /// The same, after the noise of rows that few items touch is made smaller: by
    /// min(1, sqrt(n / 4v)) where n items of the batch touch the row and v is the noise variance. With
    /// the law `gaussian`; the same as `clamp` with `lagged`, and never needed with the others.
    Shrink,
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guard::Reject => "reject",
            Guard::RejectBelowPrior => "reject-below-prior",
            Guard::Clip => "clip",
            Guard::Halve => "halve",
            Guard::Clamp => "clamp",
            Guard::Shrink => "shrink",
        })
    }
}

impl Guard {
    /// Whether the guard changes single entries, and before they are added up.
    pub fn works_on_entries(self) -> bool {
        matches!(self, Guard::Clamp | Guard::Shrink)
    }
}

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
    /// One for every slot: where rows are blocks of their own, and some are noisy.
    Each(&'a [Step]),
}

impl Steps<'_> {
    fn at(&self, slot: usize) -> Step {
        match self {
            Steps::All(step) => *step,
            Steps::Each(steps) => steps[slot],
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
    /// For each slot whether its row would stay in its domain.
    valid: Vec<bool>,
}

/// Rows that one worker updates at a time; part of the definition of the totals.
const CHUNK: usize = 256;

/// Rows whose domain is tested together.
const TESTED: usize = 32;

impl Updater {
    /// An updater for this model.
    pub fn new<M: Model>(model: &M, guard: Guard) -> Self {
        Updater { guard, layout: model.layout(), valid: Vec::new() }
    }

    /// One update of some phases from the raw statistics. `quiet_stats` makes the noiseless statistics
    /// of the same batch, at least for the rows in the slots it is given, and is called only if
    /// the guard needs them; rows that it replaces stay replaced in `raw`.
    pub fn apply<M: Model>(
        &mut self,
        model: &M,
        phases: Range<usize>,
        steps: Steps<'_>,
        raw: &mut Stats,
        mut quiet_stats: impl FnMut(&RowSet, &[usize]) -> Stats,
        lambda: &mut Lambda,
    ) -> Guarded {
        let mut guarded = Guarded::default();
        if let (true, Steps::All(step)) = (self.layout.lazy, steps) {
            // First the decay that all rows share; below, the rows of this batch get the rest.
            let hyper = lambda.hyper.clone();
            if step.rho < 1.0 {
                lambda.decay(step.rho);
            } else {
                lambda.forget(|row, eta| model.prior(&hyper, row, eta));
            }
        }
        let noisy = steps.any_noisy();
        let mut quiet = None;
        for phase in phases {
            if noisy && !self.guard.works_on_entries() {
                let strict = self.guard == Guard::RejectBelowPrior;
                let invalid = self.find_invalid(model, phase, steps, strict, raw, lambda);
                guarded.hits += invalid.len() as u64;
                guarded.noisy +=
                    (0..raw.rows.len()).filter(|&slot| steps.at(slot).noisy).count() as u64;
                let rejects = matches!(self.guard, Guard::Reject | Guard::RejectBelowPrior);
                if rejects && !invalid.is_empty() && quiet.is_none() {
                    quiet = Some(quiet_stats(&raw.rows, &invalid));
                }
                for slot in invalid {
                    match &quiet {
                        Some(quiet) => {
                            let row = raw.rows.row(slot);
                            raw.slot_mut(slot).copy_from_slice(quiet.row(row));
                        }
                        None if self.guard == Guard::Clip => raw.slot_mut(slot).fill(0.0),
                        None => {}
                    }
                }
            }
            let (halved, clamped) = self.write(model, phase, steps, raw, lambda);
            if !noisy {
                guarded.hits += halved;
            } else if self.guard.works_on_entries() {
                guarded.hits += clamped;
                guarded.noisy += raw.values().len() as u64;
            }
        }
        model.settle(lambda);
        guarded
    }

    /// The slots of rows that this step would push out of their domain.
    fn find_invalid<M: Model>(
        &mut self,
        model: &M,
        phase: usize,
        steps: Steps<'_>,
        strict: bool,
        raw: &Stats,
        lambda: &Lambda,
    ) -> Vec<usize> {
        self.valid.resize(raw.rows.len(), true);
        let hyper = &lambda.hyper;
        let row = RowUpdate { model, phase, raw, hyper, clamp: false };
        let (layout, (stored, lazy)) = (&self.layout, lambda.parts());
        let room =
            || (Buffers::new(layout), vec![0.0; layout.width], Vec::new(), Vec::new(), Vec::new());
        self.valid.par_chunks_mut(TESTED).enumerate().for_each_init(room, |room, (c, valid)| {
            let (buffers, old, rows, proposals, slots) = room;
            rows.clear();
            proposals.clear();
            slots.clear();
            for (i, valid) in valid.iter_mut().enumerate() {
                let step = steps.at(c * TESTED + i);
                *valid = true;
                if !step.noisy {
                    continue;
                }
                let r = raw.rows.row(c * TESTED + i);
                old.copy_from_slice(stored.row(r));
                let mark = lazy.map(|lazy| (lazy.since[r], lazy.now));
                row.propose(layout, r, step, mark, old, buffers);
                *valid = is_finite(&buffers.new);
                if *valid {
                    slots.push(i);
                    rows.push(r);
                    proposals.extend_from_slice(&buffers.new);
                }
            }
            let mut fits = [true; TESTED];
            model.check_rows(hyper, rows, proposals, strict, &mut fits[..rows.len()]);
            slots.iter().zip(fits).for_each(|(&i, fits)| valid[i] = fits);
        });
        (0..self.valid.len()).filter(|&slot| !self.valid[slot]).collect()
    }

    /// Updates the phase's columns of every row of the batch; a row that would leave its domain all
    /// the same goes only part of the way. Returns how many did, and how many entries were clamped.
    fn write<M: Model>(
        &mut self,
        model: &M,
        phase: usize,
        steps: Steps<'_>,
        raw: &Stats,
        lambda: &mut Lambda,
    ) -> (u64, u64) {
        let hyper = lambda.hyper.clone();
        let noisy = steps.any_noisy();
        let clamp = noisy && self.guard.works_on_entries();
        // Rows that would not fit have been found, or cannot be there.
        let tested = !model.is_always_valid_when_quiet() || (noisy && self.guard == Guard::Halve);
        let row = RowUpdate { model, phase, raw, hyper: &hyper, clamp };
        let (layout, width) = (&self.layout, self.layout.width);
        let (table, lazy) = lambda.rows_to_write();
        let (mut since, now, totals) = match lazy {
            Some(Lazy { since, now, totals }) => (&mut since[..], *now, Some(totals)),
            None => (&mut [][..], 0.0, None),
        };
        // Rows rise with their slots, so every chunk of slots has a stretch of the table to itself.
        let n_slots = raw.rows.len();
        let mut values = table.values_mut();
        let mut first_row = 0;
        let mut tasks = Vec::with_capacity(n_slots.div_ceil(CHUNK));
        for first in (0..n_slots).step_by(CHUNK) {
            let slots = first..(first + CHUNK).min(n_slots);
            let (from, to) = (raw.rows.row(first), raw.rows.row(slots.end - 1) + 1);
            let (_, rest) = values.split_at_mut((from - first_row) * width);
            let (stretch, rest) = rest.split_at_mut((to - from) * width);
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
            tasks.push((slots, from, stretch, marks));
        }
        let keep_totals = totals.is_some();
        let parts: Vec<(u64, u64, Vec<f64>)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(slots, from, stretch, marks)| {
                let mut buffers = Buffers::new(layout);
                let mut gain = vec![0.0; if keep_totals { width } else { 0 }];
                let mut halved = 0;
                for slot in slots {
                    let r = raw.rows.row(slot);
                    let out = &mut stretch[(r - from) * width..][..width];
                    let mark = marks.get(r - from).map(|&since| (since, now));
                    row.propose(layout, r, steps.at(slot), mark, out, &mut buffers);
                    let Buffers { new, .. } = &mut buffers;
                    if !(is_finite(new) && (!tested || model.in_domain(r, new))) {
                        halved += 1;
                        halve(model, r, out, new);
                    }
                    if keep_totals {
                        // The decay is in the totals already, see below: what the row gained beyond.
                        for ((gain, new), old) in gain.iter_mut().zip(&*new).zip(&mut *out) {
                            *gain += new - *old;
                            *old = *new;
                        }
                        marks[r - from] = now;
                    } else {
                        out.copy_from_slice(new);
                    }
                }
                (halved, buffers.clamped, gain)
            })
            .collect();
        if let Some(totals) = totals {
            // All rows: total <- (1 - rho) total + rho sum(eta); then what the batch adds. After a
            // step of 1 the totals are those of the prior already.
            let step = steps.at(0);
            if step.rho < 1.0 {
                let mut eta = vec![0.0; width];
                model.prior(&hyper, 0, &mut eta);
                for (total, eta) in totals.iter_mut().zip(eta) {
                    let prior = layout.n_rows as f64 * eta;
                    *total += step.rho * (prior - *total);
                }
            }
            for (.., gain) in &parts {
                totals.iter_mut().zip(gain).for_each(|(total, gain)| *total += gain);
            }
        }
        parts.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
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
}

struct Buffers {
    eta: Vec<f64>,
    /// The row that `eta` belongs to; rows that are lazy or blocks of their own share it.
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
}

impl<M: Model> RowUpdate<'_, M> {
    /// `new <- (1 - rho) old + rho (eta + scale * natural(raw))` in the phase's columns. A lazy row
    /// carries its `mark` (ln P when it was stored, ln P now), in which this step's decay is included;
    /// `old` is then brought up to date.
    fn propose(
        &self,
        layout: &Layout,
        row: usize,
        step: Step,
        mark: Option<(f64, f64)>,
        old: &mut [f64],
        buffers: &mut Buffers,
    ) {
        let RowUpdate { model, phase, raw, hyper, clamp } = *self;
        let Buffers { eta, eta_row, new, clamped } = buffers;
        let shared = layout.lazy || layout.blocks == Blocks::PerRow;
        if eta_row.is_none_or(|of| of != row && !shared) {
            model.prior(hyper, row, eta);
            *eta_row = Some(row);
        }
        if let Some((since, now)) = mark {
            catch_up(since, now, eta, old);
        } else if layout.phases[phase].columns.len() < new.len() {
            new.copy_from_slice(old);
        }
        let columns = layout.phases[phase].columns.clone();
        let part = &mut new[columns.clone()];
        model.to_natural(Place { hyper, phase, row, old }, raw, part);
        if clamp {
            for p in part.iter_mut() {
                *clamped += u64::from(*p < 0.0);
                *p = p.max(0.0);
            }
        }
        let (old, eta) = (&old[columns.clone()], &eta[columns]);
        if mark.is_some() {
            for (p, &old) in part.iter_mut().zip(old) {
                *p = old + step.rho * step.scale * *p;
            }
            return;
        }
        part.iter_mut().zip(eta).for_each(|(p, &eta)| *p = eta + step.scale * *p);
        // rho = 1 must give the target's bits, also where the old value is huge.
        if step.rho < 1.0 {
            part.iter_mut().zip(old).for_each(|(p, &old)| *p = old + step.rho * (*p - old));
        }
    }
}

fn is_finite(row: &[f64]) -> bool {
    // To the end in any case: a loop without a way out is done in vectors.
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
    let layout = model.layout();
    let hyper = model.hyper();
    (0..layout.n_rows).for_each(|r| model.prior(&hyper, r, table.row_mut(r)));
    let mut lambda = Lambda::new(table.clone(), layout.lazy, hyper);
    let mut updater = Updater::new(model, Guard::Halve);
    let step = Step { rho: 1.0, scale: 1.0, noisy: false };
    let never = |_: &RowSet, _: &[usize]| unreachable!("the step is noiseless");
    let phases = 0..layout.phases.len();
    updater.apply(model, phases, Steps::All(step), &mut raw.clone(), never, &mut lambda);
    table.values_mut().copy_from_slice(lambda.table().values());
}
