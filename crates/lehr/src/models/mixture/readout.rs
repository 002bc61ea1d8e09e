//! A fitted mixture in a person's terms: weights, means, covariances in the data's units; order by
//! size; responsibilities; predictive densities.

use rayon::prelude::*;
use serde::Serialize;

use super::{Mixture, Scratch, Spread};
use crate::data::Points;
use crate::lambda::Lambda;
use crate::math::kernels::{GaussianBlock, pad_to_lanes, softmax};
use crate::math::special::ln_gamma;
use crate::math::table::Table;
use crate::model::{Model, RowSet, SHARD, Shard, for_each_item, weighted_mean};

/// One component of a fitted mixture, in the data's units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Component {
    /// `E[pi_k]`.
    pub weight: f64,
    /// N_k: how many items it holds, in expectation.
    pub size: f64,
    /// `E[mu_k]`.
    pub mean: Vec<f64>,
    /// `E[Lambda_k]^-1`, row by row (or its diagonal).
    pub covariance: Vec<f64>,
    /// `E[Lambda_k]`, row by row (or its diagonal).
    pub precision: Vec<f64>,
}

/// How many items each component holds.
pub(super) fn sizes(mixture: &Mixture, lambda: &Table) -> Vec<f64> {
    let prior = if mixture.sticks() { 1.0 } else { mixture.prior.concentration };
    lambda.rows().map(|row| (row[0] - prior).max(0.0)).collect()
}

/// Sticks only: reorders the components from large to small and cuts the sticks anew. With
/// Dirichlet weights the order means nothing and is left alone.
pub(super) fn sort_by_size(mixture: &Mixture, lambda: &mut Table) {
    if !mixture.sticks() {
        return;
    }
    let sizes = sizes(mixture, lambda);
    if sizes.is_sorted_by(|a, b| a >= b) {
        return;
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    let old = lambda.clone();
    let mut rest = 0.0;
    for (new, &from) in order.iter().enumerate().rev() {
        let row = lambda.row_mut(new);
        row.copy_from_slice(old.row(from));
        row[1] = mixture.prior.concentration + rest;
        rest += sizes[from];
    }
}

/// E[pi_k]; for sticks, made to sum to 1 although the truncation leaves a rest.
pub(super) fn expected_weights(mixture: &Mixture, lambda: &Table) -> Vec<f64> {
    let mut rest = 1.0;
    let mut weights: Vec<f64> = lambda
        .rows()
        .map(|row| {
            if !mixture.sticks() {
                return row[0];
            }
            let v = row[0] / (row[0] + row[1]);
            let weight = rest * v;
            rest *= 1.0 - v;
            weight
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    weights
}

impl Mixture {
    /// The fitted components, in the order of lambda's rows.
    pub fn components(&self, lambda: &Table) -> Vec<Component> {
        let d = self.n_dims();
        let (weights, sizes) = (expected_weights(self, lambda), sizes(self, lambda));
        let scale = &self.units.scale;
        let read = |packed: &[f64], power: i32| {
            let unit = |i: usize, j: usize| (scale[i] * scale[j]).powi(power);
            if self.shape.is_diagonal() {
                return packed.iter().enumerate().map(|(i, x)| x * unit(i, i)).collect();
            }
            let mut dense = vec![0.0; d * d];
            self.shape.to_dense(packed, &mut dense);
            dense.iter_mut().enumerate().for_each(|(at, x)| *x *= unit(at / d, at % d));
            dense
        };
        lambda
            .rows()
            .enumerate()
            .map(|(k, row)| {
                let row = self.row(row);
                let m = self.valid_moments(&row);
                let mut precision = vec![0.0; self.shape.len()];
                self.shape.gram(&m.whitening, &mut precision);
                precision.iter_mut().for_each(|x| *x *= m.nu);
                let mut covariance = row.scatter.to_vec();
                if let Spread::Beta(beta) = m.spread {
                    self.shape.add_outer(-beta, &m.mean, &m.mean, &mut covariance);
                }
                covariance.iter_mut().for_each(|x| *x /= m.nu);
                let mean = (0..d).map(|j| m.mean[j] * scale[j] + self.units.shift[j]).collect();
                Component {
                    weight: weights[k],
                    size: sizes[k],
                    mean,
                    covariance: read(&covariance, 1),
                    precision: read(&precision, -1),
                }
            })
            .collect()
    }

    /// The effective number of clusters, exp of the entropy of the sizes.
    pub fn effective_clusters(&self, lambda: &Table) -> f64 {
        let sizes = sizes(self, lambda);
        let total: f64 = sizes.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let share = |s: f64| s / total;
        (-sizes.iter().filter(|&&s| s > 0.0).map(|&s| share(s) * share(s).ln()).sum::<f64>()).exp()
    }

    /// The responsibilities of all items: one row of K numbers each.
    pub fn responsibilities(&self, lambda: &Table, points: &Points) -> Vec<f64> {
        let k = self.params.components;
        let padded = pad_to_lanes(k);
        let expect = self.densities(lambda);
        let items: Vec<u32> = (0..points.n_items() as u32).collect();
        let mut out = vec![0.0; items.len() * k];
        let rows = RowSet::all(k);
        out.par_chunks_mut(SHARD * k).zip(items.par_chunks(SHARD)).for_each_init(
            || self.scratch(),
            |scratch, (out, items)| {
                let weights = [1.0; SHARD];
                let ones = &weights[..items.len()];
                let shard = Shard { data: points, items, weights: ones, rows: &rows, warm: &[] };
                self.for_tiles(&expect, &shard, scratch, |scratch, range| {
                    let Scratch { logits, resp, log_sums, .. } = scratch;
                    let ones = &weights[range.clone()];
                    softmax(self.isa, range.len(), k, logits, ones, resp, log_sums);
                    let rows = out[range.start * k..range.end * k].chunks_exact_mut(k);
                    for (row, resp) in rows.zip(resp.chunks_exact(padded)) {
                        row.copy_from_slice(&resp[..k]);
                    }
                });
            },
        );
        out
    }
}

impl Mixture {
    /// The log predictive density of each item: see [`Mixture::mean_log_predictive`].
    pub fn log_predictive(&self, lambda: &Lambda, points: &Points) -> Vec<f64> {
        let rows = RowSet::all(self.params.components);
        for_each_item(self, points, &rows, |shard, scratch, out| {
            log_predictive(self, lambda.table(), shard, scratch, out);
        })
    }

    /// The mean log predictive density of items, weighted by their own weights. Exact for a Normal-Wishart
    /// q, and an approximation for independent q(mu) q(Lambda).
    pub fn mean_log_predictive(&self, lambda: &Lambda, points: &Points) -> f64 {
        weighted_mean(points, &self.log_predictive(lambda, points))
    }
}

/// ln of the mixture of Student t densities, with E[pi] as weights.
///
/// Exact for a Normal-Wishart q: degrees of freedom nu + 1 - d, scale (beta + 1) / (beta (nu + 1 -
/// d)) W^-1. For independent q(mu) q(Lambda) the integral has no closed form; the scale is then
/// W^-1 / (nu + 1 - d) + R^-1, which adds the mean's covariance to the Student t of known mean.
fn log_predictive(
    mixture: &Mixture,
    lambda: &Table,
    shard: Shard<'_, Points>,
    scratch: &mut Scratch,
    out: &mut [f64],
) {
    let (d, shape, k) = (mixture.n_dims(), mixture.shape, mixture.params.components);
    let weights = expected_weights(mixture, lambda);
    let mut block = GaussianBlock::new(k, d, shape.is_diagonal());
    let mut students = Vec::with_capacity(k);
    let mut shift = vec![0.0; d];
    for (k, row) in lambda.rows().enumerate() {
        let row = mixture.row(row);
        let m = mixture.valid_moments(&row);
        let dof = m.nu + 1.0 - d as f64;
        let (whitening, ln_det_scale) = match &m.spread {
            Spread::Beta(beta) => {
                let scale = (beta + 1.0) / (beta * dof);
                let root = 1.0 / scale.sqrt();
                let whitening = m.whitening.iter().map(|x| x * root).collect();
                (whitening, m.ln_det_scatter + d as f64 * scale.ln())
            }
            Spread::Covariance(covariance) => {
                let mut scale: Vec<f64> =
                    row.scatter.iter().zip(covariance).map(|(s, c)| s / dof + c).collect();
                assert!(shape.cholesky(&mut scale), "a sum of positive definite matrices");
                let ln_det = shape.ln_det(&scale);
                shape.invert_lower(&mut scale);
                (scale, ln_det)
            }
        };
        shape.lower_times(&whitening, &m.mean, &mut shift);
        block.set(k, 0.0, &whitening, &shift);
        let half = 0.5 * (dof + d as f64);
        let constant = weights[k].ln() + ln_gamma(half)
            - ln_gamma(0.5 * dof)
            - 0.5 * d as f64 * (dof * std::f64::consts::PI).ln()
            - 0.5 * ln_det_scale
            + mixture.units.ln_jacobian();
        students.push((constant, half, dof));
    }
    mixture.for_tiles(&block, &shard, scratch, |scratch, range| {
        let tile = crate::math::kernels::TILE;
        for n in range.clone() {
            let slot = n - range.start;
            // The kernel's log density without offset is -square / 2.
            let ln = |(k, &(constant, half, dof)): (usize, &(f64, f64, f64))| {
                constant - half * (-2.0 * scratch.logits[k * tile + slot] / dof).ln_1p()
            };
            let top = students.iter().enumerate().map(ln).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = students.iter().enumerate().map(|s| (ln(s) - top).exp()).sum();
            out[n] = top + sum.ln();
        }
    });
}
