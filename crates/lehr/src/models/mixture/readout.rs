//! A fitted mixture in a person's terms: weights, means, covariances in the data's units; order by
//! size; responsibilities; predictive densities.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::expect::{Densities, Gaussians};
use super::local::Tile;
use super::missing::Pattern;
use super::{Mixture, Scratch, Spread};
use crate::data::Points;
use crate::lambda::Lambda;
use crate::math::kernels::{TILE, pad_to_lanes, softmax};
use crate::math::special::ln_gamma;
use crate::math::table::Table;
use crate::model::{Model, RowSet, SHARD, Shard, for_each_item, for_shards, weighted_mean};
use crate::{Error, Result};

/// One component of a fitted mixture, in the data's units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Component {
    /// `E[pi_k]`.
    pub weight: f64,
    /// N_k: how many items it holds, in expectation.
    pub size: f64,
    /// `E[mu_k]`.
    pub mean: Vec<f64>,
    /// `E[Lambda_k]^-1`: row by row, or its diagonal, or the one variance of a sphere.
    pub covariance: Vec<f64>,
    /// `E[Lambda_k]`, likewise.
    pub precision: Vec<f64>,
}

/// How many items each component holds.
pub(super) fn sizes(mixture: &Mixture, lambda: &Table) -> Vec<f64> {
    let prior = if mixture.sticks() { 1.0 } else { mixture.prior.concentration };
    mixture.rows(lambda).map(|row| (row.weights[0] - prior).max(0.0)).collect()
}

/// Sticks only: reorders the components from large to small and cuts the sticks again. With
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
    // Components follow each other, as rows or within the one row of tied components.
    let columns = mixture.columns();
    let width = if mixture.shape.is_tied() { columns.component } else { columns.end };
    let mut rest = 0.0;
    for (new, &from) in order.iter().enumerate().rev() {
        let row = &mut lambda.values_mut()[new * width..][..width];
        row.copy_from_slice(&old.values()[from * width..][..width]);
        row[1] = mixture.prior.concentration + rest;
        rest += sizes[from];
    }
}

/// E[pi_k]; for sticks, made to sum to 1 although the truncation leaves a rest.
pub(super) fn expected_weights(mixture: &Mixture, lambda: &Table) -> Vec<f64> {
    let mut rest = 1.0;
    let mut weights: Vec<f64> = mixture
        .rows(lambda)
        .map(|row| {
            let &[a, ref b @ ..] = row.weights else { return 0.0 };
            let [b] = b else { return a };
            let v = a / (a + b);
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
        let (weights, sizes) = (expected_weights(self, lambda), sizes(self, lambda));
        let moments = self.all_moments(lambda).into_iter().enumerate();
        moments
            .map(|(k, m)| {
                let nu = m.precision.nu;
                let mut precision = self.shape.scale(&m.precision);
                precision.iter_mut().for_each(|x| *x *= nu);
                let covariance: Vec<f64> = m.precision.scatter.iter().map(|x| x / nu).collect();
                Component {
                    weight: weights[k],
                    size: sizes[k],
                    mean: self.in_their_units(&m.mean),
                    covariance: self.matrix_in_their_units(&covariance, 1),
                    precision: self.matrix_in_their_units(&precision, -1),
                }
            })
            .collect()
    }

    /// A mean in the data's units.
    pub(super) fn in_their_units(&self, mean: &[f64]) -> Vec<f64> {
        let units = self.units.scale.iter().zip(&self.units.shift);
        mean.iter().zip(units).map(|(m, (scale, shift))| m * scale + shift).collect()
    }

    /// A covariance (`power` 1) or precision (-1) in the data's units: by rows, a diagonal, or the one number of a
    /// sphere.
    pub(super) fn matrix_in_their_units(&self, packed: &[f64], power: i32) -> Vec<f64> {
        let (d, scale, stored) = (self.n_dims(), &self.units.scale, self.shape.scatter());
        let unit = |i: usize, j: usize| (scale[i] * scale[j]).powi(power);
        if stored.is_diagonal() {
            return packed.iter().enumerate().map(|(i, x)| x * unit(i, i)).collect();
        }
        let mut dense = vec![0.0; d * d];
        stored.to_dense(packed, &mut dense);
        dense.iter_mut().enumerate().for_each(|(at, x)| *x *= unit(at / d, at % d));
        dense
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
        let mut out = vec![0.0; points.n_items() * self.params.components];
        let expect = self.densities(lambda);
        self.with_responsibilities(&expect, points, 0..points.n_items(), &mut out, |resp, out| {
            out.copy_from_slice(resp);
        });
        out
    }

    /// The responsibilities of some items, `expect` being [`Model::refresh`]ed, so that a table can be made block by
    /// block. An error if an item is so far from all components that its densities overflow.
    pub fn fill_responsibilities(
        &self,
        expect: &Densities,
        points: &Points,
        items: Range<usize>,
        out: &mut [f64],
    ) -> Result<()> {
        let (first, overflow) = (items.start, AtomicBool::new(false));
        self.with_responsibilities(expect, points, items, out, |resp, out| {
            out.copy_from_slice(resp);
            if !is_finite(resp) {
                overflow.store(true, Ordering::Relaxed);
            }
        });
        if !overflow.into_inner() {
            return Ok(());
        }
        let row = out.chunks(self.params.components).position(|resp| !is_finite(resp));
        Err(too_far(first + row.unwrap_or(0)))
    }

    /// The component that has most of each item, the first of several; without a row of K numbers for each. An error if
    /// an item is so far from all of them that its densities overflow.
    pub fn labels(&self, lambda: &Table, points: &Points) -> Result<Vec<u32>> {
        self.labels_under(&self.densities(lambda), points)
    }

    /// The same, `expect` being [`Model::refresh`]ed.
    pub fn labels_under(&self, expect: &Densities, points: &Points) -> Result<Vec<u32>> {
        const NONE: u32 = u32::MAX;
        let mut labels = vec![NONE; points.n_items()];
        let items = 0..points.n_items();
        self.with_responsibilities(expect, points, items, &mut labels, |resp, label| {
            let best =
                resp.iter().enumerate().fold(0, |a, (b, r)| if *r > resp[a] { b } else { a });
            label[0] = if is_finite(resp) { best as u32 } else { NONE };
        });
        match labels.iter().position(|&label| label == NONE) {
            None => Ok(labels),
            Some(row) => Err(too_far(row)),
        }
    }

    /// Whether readouts of this many items are done before another thread would be awake: they then stay on the thread
    /// that asks for them.
    pub fn is_short(&self, n_items: usize) -> bool {
        const SHORT: usize = 1 << 18;
        let (k, d) = (self.params.components, self.n_dims());
        let matrix = self.shape.scatter().len();
        let product = |a: usize, b: usize| a.saturating_mul(b);
        n_items <= SHARD
            && product(product(n_items, k), matrix + d) <= SHORT
            && product(product(k, matrix), d) <= SHORT
    }

    /// Fills `out`, as many entries for each item as there are in all, by `each` from the item's responsibilities.
    fn with_responsibilities<T: Send>(
        &self,
        expect: &Densities,
        points: &Points,
        items: Range<usize>,
        out: &mut [T],
        each: impl Fn(&[f64], &mut [T]) + Sync,
    ) {
        let k = self.params.components;
        let padded = pad_to_lanes(k);
        let width = out.len() / items.len().max(1);
        let rows = RowSet::all(self.layout().n_rows);
        for_shards(self, points, &rows, items, out, |shard, scratch, out| {
            let ones = shard.weights;
            self.for_tiles(expect, &shard, scratch, |scratch, tile| {
                let Tile::Items(places, _) = tile else { return };
                let Scratch { logits, resp, log_sums, .. } = scratch;
                softmax(self.isa, places.len(), k, logits, ones, resp, log_sums);
                for (&place, resp) in places.iter().zip(resp.chunks_exact(padded)) {
                    each(&resp[..k], &mut out[place as usize * width..][..width]);
                }
            });
        });
    }
}

fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

impl Mixture {
    /// The log predictive density of each item: see [`Mixture::mean_log_predictive`].
    pub fn log_predictive(&self, lambda: &Lambda, points: &Points) -> Vec<f64> {
        let rows = RowSet::all(self.layout().n_rows);
        // Once for all shards: of many components they cost more than the densities of a shard.
        let students = Students::new(self, lambda.table());
        for_each_item(self, points, &rows, |shard, scratch, out| {
            log_predictive(self, &students, shard, scratch, out);
        })
    }

    /// The mean log predictive density of items, weighted by their own weights. Exact for a Normal-Wishart
    /// q, and an approximation for independent q(mu) q(Lambda).
    pub fn mean_log_predictive(&self, lambda: &Lambda, points: &Points) -> f64 {
        weighted_mean(points, &self.log_predictive(lambda, points))
    }
}

/// No component is near enough to row number `row`, from 0, for numbers to tell.
pub fn too_far(row: usize) -> Error {
    let row = row + 1;
    Error::data(format!("row {row} is so far from every component that its densities overflow"))
}

/// ln of the mixture of Student t densities, with E[pi] as weights.
///
/// Exact for a Normal-Wishart q: degrees of freedom nu + 1 - d, scale (beta + 1) / (beta (nu + 1 -
/// d)) W^-1; likewise for the other shapes, of which the diagonal one is a product over columns. For independent
/// q(mu) q(Lambda) the integral has no closed form; the scale is then W^-1 / (nu + 1 - d) + R^-1, which adds the
/// mean's covariance to the Student t of known mean.
fn log_predictive(
    mixture: &Mixture,
    students: &Students,
    shard: Shard<'_, Points>,
    scratch: &mut Scratch,
    out: &mut [f64],
) {
    mixture.for_tiles(&students.densities, &shard, scratch, |scratch, tile| {
        let Tile::Items(places, pattern) = tile else { return };
        let marginal = pattern.map(|pattern| students.marginal(mixture, pattern));
        let all = marginal.as_ref().unwrap_or(&students.all);
        for (slot, &place) in places.iter().enumerate() {
            let ln = |(k, student): (usize, &Student)| match &students.by_column {
                // The kernel's log density less its offset is -square / 2.
                None => {
                    let offset = pattern.map_or(0.0, |pattern| pattern.offsets[k]);
                    student.ln_density(-2.0 * (scratch.logits[k * TILE + slot] - offset))
                }
                Some(columns) => {
                    let observed = |i: usize| pattern.map_or(i, |pattern| pattern.observed[i]);
                    let n_observed = pattern.map_or(columns[k].len(), |p| p.observed.len());
                    scratch.tile[..n_observed * TILE]
                        .chunks_exact(TILE)
                        .enumerate()
                        .map(|(i, x)| columns[k][observed(i)].ln_density_at(x[slot]))
                        .fold(student.constant, |sum, ln| sum + ln)
                }
            };
            let top = all.iter().enumerate().map(ln).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = all.iter().enumerate().map(|s| (ln(s) - top).exp()).sum();
            out[place as usize] = top + sum.ln();
        }
    });
}

/// The Student t densities with which the components of a mixture predict.
struct Students {
    densities: Densities,
    /// One for each component; where columns are predicted one by one, only the constants mean something.
    all: Vec<Student>,
    by_column: Option<Vec<Vec<Column>>>,
    ln_weights: Vec<f64>,
}

/// A Student t density as a function of the squared distance.
struct Student {
    constant: f64,
    half: f64,
    freedom: f64,
}

impl Student {
    /// Of `d` dimensions, with the determinant of its scale matrix and the logarithm of its weight.
    fn new(ln_weight: f64, d: usize, freedom: f64, ln_det_scale: f64) -> Self {
        let half = 0.5 * (freedom + d as f64);
        let constant = ln_weight + ln_gamma(half)
            - ln_gamma(0.5 * freedom)
            - 0.5 * d as f64 * (freedom * std::f64::consts::PI).ln()
            - 0.5 * ln_det_scale;
        Student { constant, half, freedom }
    }

    fn ln_density(&self, square: f64) -> f64 {
        self.constant - self.half * (square / self.freedom).ln_1p()
    }
}

/// The density of one column.
struct Column {
    student: Student,
    mean: f64,
    /// The reciprocal of its scale.
    root: f64,
}

impl Column {
    fn ln_density_at(&self, x: f64) -> f64 {
        let y = (x - self.mean) * self.root;
        self.student.ln_density(y * y)
    }
}

impl Students {
    fn new(mixture: &Mixture, lambda: &Table) -> Self {
        let (d, shape) = (mixture.n_dims(), mixture.shape);
        let ln_weights: Vec<f64> =
            expected_weights(mixture, lambda).iter().map(|weight| weight.ln()).collect();
        let mut gaussians = Gaussians::new(mixture);
        let mut all = Vec::with_capacity(mixture.params.components);
        let mut by_column = shape.predicts_by_column().then(Vec::new);
        for (k, m) in mixture.all_moments(lambda).iter().enumerate() {
            let (nu, scatter) = (m.precision.nu, &m.precision.scatter);
            let (freedom, divisor) = (shape.student_freedom(nu), shape.student_divisor(nu));
            let (whitening, ln_det_scale) = match &m.spread {
                Spread::Beta(beta) => {
                    let scale = (beta + 1.0) / (beta * divisor);
                    let ln_det = shape.ln_det_of(&m.precision) + d as f64 * scale.ln();
                    (shape.whitening(&m.precision, 1.0 / scale.sqrt()), ln_det)
                }
                Spread::Covariance(covariance) => {
                    let mut scale = covariance.clone();
                    let scatter = scatter.iter().map(|s| s / divisor).collect();
                    scale.iter_mut().zip(shape.spread_out(scatter)).for_each(|(c, s)| *c += s);
                    let shape = shape.of_means();
                    assert!(shape.cholesky(&mut scale), "a sum of positive definite matrices");
                    let ln_det = shape.ln_det(&scale);
                    shape.invert_lower(&mut scale);
                    (scale, ln_det)
                }
            };
            let (ln_weight, jacobian) = (ln_weights[k], mixture.units.ln_jacobian());
            gaussians.set(k, 0.0, &whitening, &m.mean);
            match &mut by_column {
                None => {
                    let student = Student::new(ln_weight, d, freedom, ln_det_scale);
                    all.push(Student { constant: student.constant + jacobian, ..student });
                }
                Some(columns) => {
                    let of = |(&root, &mean): (&f64, &f64)| Column {
                        student: Student::new(0.0, 1, freedom, -2.0 * root.ln()),
                        mean,
                        root,
                    };
                    columns.push(whitening.iter().zip(&m.mean).map(of).collect());
                    all.push(Student { constant: ln_weight + jacobian, half: 0.0, freedom });
                }
            }
        }
        Students { densities: gaussians.done(), all, by_column, ln_weights }
    }

    /// The densities of the observed columns alone: marginals of Student t densities are Student t densities.
    fn marginal(&self, mixture: &Mixture, pattern: &Pattern) -> Vec<Student> {
        let scale = &mixture.units.scale;
        let jacobian: f64 = pattern.observed.iter().map(|&j| -scale[j].ln()).sum();
        let each = self.all.iter().zip(&self.ln_weights).zip(&pattern.ln_dets);
        each.map(|((all, ln_weight), &ln_det)| {
            let student = Student::new(*ln_weight, pattern.observed.len(), all.freedom, ln_det);
            let own = if self.by_column.is_some() { *ln_weight } else { student.constant };
            Student { constant: own + jacobian, ..student }
        })
        .collect()
    }
}
