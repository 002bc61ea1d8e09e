//! Line 6 of Algorithm 1: lambda <- (1 - rho) lambda + rho (eta + N/|S| s), and the guard that keeps
//! every row of lambda in its domain.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::math::table::Table;
use crate::model::{Layout, Model, Stats};

/// What to do when noise would push a row of lambda out of its domain. Annealing weights can be
/// negative, so it happens; every time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// The row takes its noiseless step. Tends to let surplus components die.
    #[default]
    Reject,
    /// The same, already when the row falls below its prior. Tends to keep components alive.
    RejectBelowPrior,
    /// The row's statistics count as empty for this step.
    Clip,
    /// The row's step size is halved until it fits.
    Halve,
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

/// Applies updates; owns their buffers.
#[derive(Debug)]
pub struct Updater {
    guard: Guard,
    layout: Layout,
    eta: Table,
    proposal: Table,
    valid: Vec<bool>,
}

impl Updater {
    /// An updater for this model.
    pub fn new<M: Model>(model: &M, guard: Guard) -> Self {
        let layout = model.layout();
        let table = || Table::new(layout.n_rows, layout.width);
        let (mut eta, proposal) = (table(), table());
        (0..layout.n_rows).for_each(|r| model.prior(r, eta.row_mut(r)));
        Updater { guard, eta, proposal, valid: vec![true; layout.n_rows], layout }
    }

    /// One update of all phases from the raw statistics. `quiet_stats` makes the noiseless
    /// statistics of the same batch and is called only if the guard needs them; rows that it
    /// replaces stay replaced in `raw`. Returns how many rows the guard had to change.
    pub fn apply<M: Model>(
        &mut self,
        model: &M,
        step: Step,
        raw: &mut Stats,
        mut quiet_stats: impl FnMut() -> Stats,
        lambda: &mut Table,
    ) -> u64 {
        let mut hits = 0;
        let mut quiet = None;
        for phase in 0..self.layout.phases.len() {
            self.propose(model, phase, step, raw, lambda);
            let strict = step.noisy && self.guard == Guard::RejectBelowPrior;
            if !self.check(model, strict) {
                hits += self.valid.iter().filter(|&&valid| !valid).count() as u64;
                if step.noisy && self.guard != Guard::Halve {
                    for r in (0..self.layout.n_rows).filter(|&r| !self.valid[r]) {
                        match self.guard {
                            Guard::Clip => raw.row_mut(r).fill(0.0),
                            _ => {
                                let quiet: &Stats = quiet.get_or_insert_with(&mut quiet_stats);
                                raw.row_mut(r).copy_from_slice(quiet.row(r));
                            }
                        }
                    }
                    self.propose(model, phase, step, raw, lambda);
                    self.check(model, false);
                }
                (0..self.layout.n_rows)
                    .filter(|&r| !self.valid[r])
                    .for_each(|r| halve(model, r, lambda.row(r), self.proposal.row_mut(r)));
            }
            lambda.values_mut().copy_from_slice(self.proposal.values());
        }
        model.settle(lambda);
        hits
    }

    /// `proposal <- (1 - rho) lambda + rho (eta + scale * natural(raw))` in the phase's columns.
    fn propose<M: Model>(
        &mut self,
        model: &M,
        phase: usize,
        step: Step,
        raw: &Stats,
        lambda: &Table,
    ) {
        let columns = self.layout.phases[phase].columns.clone();
        let (eta, width) = (&self.eta, self.layout.width);
        self.proposal.values_mut().par_chunks_mut(width).enumerate().for_each(|(r, out)| {
            out.copy_from_slice(lambda.row(r));
            let part = &mut out[columns.clone()];
            model.to_natural(phase, lambda, raw, r, part);
            let (old, eta) = (&lambda.row(r)[columns.clone()], &eta.row(r)[columns.clone()]);
            for ((p, &old), &eta) in part.iter_mut().zip(old).zip(eta) {
                let target = eta + step.scale * *p;
                // rho = 1 must give the target's bits, also where the old value is huge.
                *p = if step.rho < 1.0 { old + step.rho * (target - old) } else { target };
            }
        });
    }

    /// Notes which rows of the proposal are valid; true if all are.
    fn check<M: Model>(&mut self, model: &M, strict: bool) -> bool {
        let proposal = &self.proposal;
        self.valid.par_iter_mut().enumerate().for_each(|(r, valid)| {
            let row = proposal.row(r);
            *valid = row.iter().all(|x| x.is_finite())
                && model.in_domain(r, row)
                && (!strict || model.above_prior(r, row));
        });
        self.valid.iter().all(|&valid| valid)
    }
}

/// Moves the proposal half-way back to the old row until it is valid; the domain is convex and the
/// old row inside, so this ends. Should rounding defeat it, the old row stays.
fn halve<M: Model>(model: &M, row: usize, old: &[f64], proposal: &mut [f64]) {
    for _ in 0..50 {
        for (p, &old) in proposal.iter_mut().zip(old) {
            *p = 0.5 * (*p + old);
        }
        if proposal.iter().all(|x| x.is_finite()) && model.in_domain(row, proposal) {
            return;
        }
    }
    proposal.copy_from_slice(old);
}

/// The lambda that raw statistics of the whole data lead to, from the prior: how starts are made.
pub fn from_raw<M: Model>(model: &M, raw: &Stats, lambda: &mut Table) {
    let layout = model.layout();
    (0..layout.n_rows).for_each(|r| model.prior(r, lambda.row_mut(r)));
    let mut updater = Updater::new(model, Guard::Halve);
    let step = Step { rho: 1.0, scale: 1.0, noisy: false };
    updater.apply(model, step, &mut raw.clone(), || unreachable!("the step is noiseless"), lambda);
}
