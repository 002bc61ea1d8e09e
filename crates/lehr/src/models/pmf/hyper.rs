//! What is learned by point estimates: sigma^2, the prior variances of biases, and those of the latent
//! dimensions, each to where the bound is highest given the rest.

use rayon::prelude::*;

use super::columns::Columns;
use super::expect::{Expect, Real, with_tables};
use super::gauge::Time;
use super::{Pmf, error, gauge};
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::slabs::Slabs;
use crate::model::{HyperStep, Model, RowSet};
use crate::step::sample::RowBatch;

/// Learned variances stay above this share of where they started.
const SMALLEST: f64 = 1e-8;

/// Nothing is learned while less than this share of the ratings are those of noiseless items: their errors
/// under noisy weights are not those of the model.
const NOISELESS_SHARE: f64 = 0.5;

/// Rows that one worker sums at a time; part of the definition of the sum.
const CHUNK: usize = 256;

/// A view of the hyperparameters: sigma^2; the prior variances of the users' factors and bias; those of the items'.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hyper<'a> {
    values: &'a [f64],
    columns: Columns,
}

impl<'a> Hyper<'a> {
    pub fn new(values: &'a [f64], columns: Columns) -> Self {
        Hyper { values, columns }
    }

    /// sigma^2.
    pub fn noise(&self) -> f64 {
        self.values[0]
    }

    /// The prior variance of every free coordinate of a side.
    pub fn prior(&self, side: Side) -> impl Iterator<Item = f64> + use<'a> {
        let free = self.columns.free();
        self.values[1 + side as usize * free..][..free].iter().copied()
    }

    /// The prior variances of a side's factors.
    pub fn variances(&self, side: Side) -> &'a [f64] {
        &self.values[1 + side as usize * self.columns.free()..][..self.columns.d]
    }
}

/// The first hyperparameters.
pub(super) fn start(pmf: &Pmf) -> Vec<f64> {
    let params = &pmf.params;
    let mut hyper = vec![params.noise_variance.unwrap_or(pmf.variance.max(pmf.least_noise()))];
    for _ in [Side::User, Side::Item] {
        hyper.extend(std::iter::repeat_n(pmf.prior_variance, params.dims));
        if params.biases {
            hyper.push(pmf.variance.max(SMALLEST));
        }
    }
    hyper
}

/// After a sweep, or with batches after an epoch: everything that is learned.
pub(super) fn learn(pmf: &Pmf, step: HyperStep<'_, Pmf>, lambda: &mut Lambda, expect: &mut Expect) {
    learn_all(pmf, step, lambda, expect);
    if let Some(users) = &mut expect.apart {
        users.hyper.clone_from(&lambda.hyper);
    }
}

fn learn_all(pmf: &Pmf, step: HyperStep<'_, Pmf>, lambda: &mut Lambda, expect: &mut Expect) {
    if noiseless_share(step.batch) < NOISELESS_SHARE {
        return;
    }
    if pmf.params.learn_noise {
        let (squares, count) = with_tables!(&expect.sides, tables => {
            squared_error(pmf, &tables[1], &step)
        });
        let found = squares / count;
        if found.is_finite() {
            let old = lambda.hyper[0];
            let new = if step.full { found } else { old + step.rho * (found - old) };
            lambda.hyper[0] = new.max(pmf.least_noise());
            expect.noise = lambda.hyper[0];
        }
    }
    if !(step.full || step.epoch_ends) {
        return;
    }
    if pmf.params.biases {
        learn_biases(pmf, lambda, expect);
    }
    if pmf.params.gauge || pmf.params.ard {
        let time = if step.full {
            Time::Sweep(step.step)
        } else {
            let steps = pmf.seen.others().len().div_ceil(step.size.max(1)).max(1);
            Time::Epoch(step.step / steps as u64)
        };
        gauge::rotate(pmf, time, lambda, expect);
    }
    if !step.full && !pmf.unrated.is_empty() {
        // Batches never touch what has no ratings: it stays at the prior, which has just moved.
        let mut rows = RowSet::all(lambda.n_rows());
        rows.collect(|touch| touch(&pmf.unrated));
        let hyper = lambda.hyper.clone();
        for &row in &pmf.unrated {
            pmf.prior(&hyper, row as usize, lambda.table_mut().row_mut(row as usize));
        }
        pmf.refresh(lambda, &rows, expect);
    }
}

/// The share of the batch's ratings that are those of noiseless rows.
fn noiseless_share(batch: &RowBatch) -> f64 {
    let slots = 0..batch.rows.len();
    let all: usize = slots.clone().map(|slot| batch.size(slot)).sum();
    let noiseless = slots.filter(|&slot| !batch.is_noisy(slot)).map(|slot| batch.size(slot));
    noiseless.sum::<usize>() as f64 / all.max(1) as f64
}

/// The sum of expected squared errors of the ratings of noiseless items, and how many they are.
fn squared_error<R: Real>(pmf: &Pmf, items: &Slabs<R>, step: &HyperStep<'_, Pmf>) -> (f64, f64) {
    let (columns, raw) = (pmf.columns, step.raw);
    let (width, first_row) = (columns.raw_width(), pmf.first_row(Side::Item));
    // With implicit feedback every pair counts.
    let weighted = !pmf.seen.weights().is_empty();
    let n_pairs = pmf.confidence().map(|_| pmf.n_rows_of(Side::User) as f64);
    let parts: Vec<(f64, f64)> = raw
        .values()
        .par_chunks(CHUNK * width)
        .enumerate()
        .map(|(chunk, stats)| {
            let mut own = vec![R::of(0.0); columns.tail()];
            let (mut squares, mut count) = (0.0, 0.0);
            for (i, stats) in stats.chunks_exact(width).enumerate() {
                let slot = chunk * CHUNK + i;
                let size = step.batch.size(slot);
                if step.batch.is_noisy(slot) || (size == 0 && n_pairs.is_none()) {
                    continue;
                }
                items.gather(raw.rows.row(slot) - first_row, &mut own);
                // Statistics carry N/|S| of their row; a rating counts once.
                let (scale, n) = match n_pairs {
                    // Their totals are those of the weights.
                    None if weighted => (1.0 / step.batch.scale(slot), size as f64),
                    None => (size as f64 / stats[columns.totals()], size as f64),
                    Some(n_pairs) => (1.0, n_pairs),
                };
                squares += scale * error::squares(columns, &own, stats);
                count += n;
            }
            (squares, count)
        })
        .collect();
    parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

/// c_a and c_b: the mean squares of the biases under q.
fn learn_biases(pmf: &Pmf, lambda: &mut Lambda, expect: &Expect) {
    let columns = pmf.columns;
    for side in [Side::User, Side::Item] {
        let n_rows = pmf.n_rows_of(side);
        let sum: f64 = match &expect.apart {
            Some(users) if side == Side::User => users.squares,
            _ => bias_squares(pmf, side, expect),
        };
        let at = 1 + side as usize * columns.free() + columns.d;
        lambda.hyper[at] = floored(sum / n_rows as f64, pmf.variance.max(SMALLEST));
    }
}

/// The sum of E[b^2] over a side.
pub(super) fn bias_squares(pmf: &Pmf, side: Side, expect: &Expect) -> f64 {
    if !pmf.columns.biases {
        return 0.0;
    }
    let column = pmf.columns.bias_square();
    with_tables!(&expect.sides, tables => tables[side as usize].sum_of_column(column))
}

impl Pmf {
    /// The least sigma^2 that is learned. Moments in single precision cannot tell errors that are smaller.
    fn least_noise(&self) -> f64 {
        let share = if self.params.exact { SMALLEST } else { 1e-4 };
        share * if self.variance > 0.0 { self.variance } else { 1.0 }
    }
}

/// A learned variance, kept away from 0.
pub(super) fn floored(variance: f64, scale: f64) -> f64 {
    if variance.is_finite() { variance.max(SMALLEST * scale) } else { scale }
}
