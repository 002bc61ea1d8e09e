//! Units and priors: taken from the data where the user gave none, kept with the run.

use serde::{Deserialize, Serialize};

use super::clusters::{self, Hyper, Learn, Sample};
use super::params::{Covariance, Defaults, Factorisation, MixtureParams, Weights};
use super::scatter;
use super::shape::Shape;
use crate::data::{Dataset, Points, Rows};
use crate::error::{advice, index, setting};
use crate::math::kernels::TILE;
use crate::math::packed::Symmetric;
use crate::math::rng::{Address, Purpose};
use crate::math::stop;
use crate::{Error, Result};

/// The coordinates in which a mixture computes: z = (x - shift) / scale, column by column.
///
/// Shifted by the mean and scaled by a power of two near the standard deviation, so that neither
/// large offsets (years, temperatures in kelvin) nor huge or tiny units cost digits. Results and
/// bounds are given in the data's own units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// What is subtracted.
    pub shift: Vec<f64>,
    /// What is divided by, a power of two; 1 for a column without any spread.
    pub scale: Vec<f64>,
    /// The columns, counted from 0, that were always the same number. They have no density of their own: their
    /// prior has a variance of a millionth in z, and no covariance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<usize>,
}

impl Units {
    /// ln |dz/dx| of one item: what a density in z needs to be one in x.
    pub fn ln_jacobian(&self) -> f64 {
        -self.scale.iter().map(|s| s.ln()).sum::<f64>()
    }

    /// Copies up to [`TILE`] items, transposed and in z, to `tile` (`[n_dims][TILE]`).
    pub(super) fn load(&self, points: &Points, items: &[u32], tile: &mut [f64]) {
        let Some(&first) = items.first() else { return };
        if points.parts().is_empty() {
            return self.load_block(points.block_of(first as usize), items, 0, tile);
        }
        for (slot, item) in items.iter().enumerate() {
            let block = points.block_of(*item as usize);
            self.load_block(block, std::slice::from_ref(item), slot, tile);
        }
    }

    /// The same of items that are in one place, to slots from `slot` on.
    fn load_block(
        &self,
        (rows, first): (Rows<'_>, usize),
        items: &[u32],
        slot: usize,
        tile: &mut [f64],
    ) {
        match rows {
            Rows::F64(rows) => self.load_rows(rows, first, items, |x| x, slot, tile),
            Rows::F32(rows) => self.load_rows(rows, first, items, f64::from, slot, tile),
        }
    }

    #[inline(always)]
    fn load_rows<T: Copy>(
        &self,
        rows: &[T],
        first: usize,
        items: &[u32],
        wide: impl Fn(T) -> f64,
        slot: usize,
        tile: &mut [f64],
    ) {
        let d = self.shift.len();
        for (slot, &n) in (slot..).zip(items) {
            let at = (n as usize - first) * d;
            self.load_row(rows[at..at + d].iter().map(|&x| wide(x)), slot, tile);
        }
    }

    #[inline(always)]
    fn load_row(&self, row: impl Iterator<Item = f64>, slot: usize, tile: &mut [f64]) {
        let columns = tile.chunks_exact_mut(TILE).zip(&self.shift).zip(&self.scale);
        for (x, ((column, shift), scale)) in row.zip(columns) {
            // The scale is a power of two: dividing is exact, and the reciprocal is too.
            column[slot] = (x - shift) * (1.0 / scale);
        }
    }
}

/// The prior of a mixture with every number fixed, in the coordinates of [`Units`].
///
/// By default it is learned from clusters that are found before the fit, whatever K is (`docs/method/priors.md`): with W their
/// pooled covariance, nu0 = 2d + 2 and W0^-1 = (d + 1) W, so that W is the prior mean of a covariance; beta0 such that
/// their means are as far from m0, the data's mean, as they are; alpha = 1 for sticks, or a0 = 1/K. Diagonal components
/// have nu0 = 4 and twice the variances, spherical ones nu0 = 4/d and 2/d of the variance.
///
/// With `defaults = "volume"`, after Fraley and Raftery (2007), W0^-1 is the data's covariance (divisor N - 1) over
/// K^(2/d), so that K components share the data's volume, nu0 = d + 2, which makes W0^-1 the prior mean of a covariance,
/// and beta0 = 0.01. For independent q(mu) q(Lambda) the mean's prior precision is beta0 = 1 times the inverse of the
/// data's covariance. To the covariance a millionth of its diagonal is added, so that collinear columns stay usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// a0 or alpha.
    pub concentration: f64,
    /// m0.
    pub mean: Vec<f64>,
    /// beta0 (Normal-Wishart).
    pub mean_precision: f64,
    /// R0, packed (independent q(mu)).
    pub mean_precision_matrix: Vec<f64>,
    /// nu0.
    pub degrees_of_freedom: f64,
    /// W0^-1, packed.
    pub scatter: Vec<f64>,
}

/// The variance that the prior gives a constant column, in z.
const RIDGE: f64 = 1e-6;

/// The mean and standard deviation of each column, weighted, in two passes, and the columns that are constant.
fn column_moments(points: &Points) -> Result<(Vec<f64>, Vec<f64>, Vec<usize>)> {
    let d = points.n_dims();
    let mut row = vec![0.0; d];
    // Large numbers are summed as fractions of the largest, or squares of 1e200 would overflow.
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); d];
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        ranges.iter_mut().zip(&row).for_each(|((low, high), &x)| {
            *low = low.min(x);
            *high = high.max(x);
        });
    }
    let unit: Vec<f64> =
        ranges.iter().map(|(low, high)| power_of_two(low.abs().max(high.abs()))).collect();
    let weight = |n: usize| points.weights().map_or(1.0, |w| w[n]);
    let (mut mean, mut variance, mut constant) = (vec![0.0; d], vec![0.0; d], Vec::new());
    let totals = column_weights(points);
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        for j in (0..d).filter(|&j| !row[j].is_nan()) {
            mean[j] += weight(n) * (row[j] / unit[j]);
        }
    }
    if let Some(j) = totals.iter().position(|&total| total <= 0.0) {
        let name = points.names().get(j);
        return Err(Error::data(advice![
            "all values of column ",
            name.map_or(index(j), |name| format!("'{name}'").into()),
            " are missing; leave it out (",
            setting("drop").to(points.names().get(j).cloned().unwrap_or((j + 1).to_string())),
            ")",
        ]));
    }
    mean.iter_mut().zip(&totals).for_each(|(m, total)| *m /= total);
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        for j in (0..d).filter(|&j| !row[j].is_nan()) {
            variance[j] += weight(n) * (row[j] / unit[j] - mean[j]).powi(2);
        }
    }
    for j in 0..d {
        let deviation = (variance[j] / totals[j]).sqrt();
        // Below the rounding of the mean, a spread is noise, or needs a closer look.
        if deviation.is_nan() || deviation <= 1e-12 * mean[j].abs().max(f64::MIN_POSITIVE) {
            let (low, high) = ranges[j];
            (mean[j], variance[j]) = narrow_moments(points, j, low, high);
            if variance[j] <= 4.0 * f64::EPSILON * low.abs().max(high.abs()) {
                // Its roundings, if it has any, are to be small compared with the width that it is given.
                (mean[j], variance[j]) = (low, 1e4 * (high - low));
                constant.push(j);
            }
            continue;
        }
        mean[j] *= unit[j];
        variance[j] = deviation * unit[j];
    }
    Ok((mean, variance, constant))
}

/// Mean and standard deviation of a column whose numbers lie close together, from their distances to the lowest,
/// which are exact.
fn narrow_moments(points: &Points, j: usize, low: f64, high: f64) -> (f64, f64) {
    let range = high - low;
    if range == 0.0 {
        return (low, 0.0);
    }
    let mut row = vec![0.0; points.n_dims()];
    let mut mean_of = |number: &dyn Fn(f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for n in 0..points.n_items() {
            points.copy_row(n, &mut row);
            if !row[j].is_nan() {
                let weight = points.weights().map_or(1.0, |w| w[n]);
                sum += weight * number((row[j] - low) / range);
                total += weight;
            }
        }
        sum / total
    };
    let mean = mean_of(&|share| share);
    let variance = mean_of(&|share| (share - mean).powi(2));
    (low + mean * range, variance.sqrt() * range)
}

pub(super) fn total_weight(points: &Points) -> f64 {
    points.weights().map_or(points.n_items() as f64, |w| w.iter().sum())
}

/// The weight of the rows that have a value, for each column.
fn column_weights(points: &Points) -> Vec<f64> {
    let mut totals = vec![total_weight(points); points.n_dims()];
    if points.has_missing() {
        totals.fill(0.0);
        let mut row = vec![0.0; points.n_dims()];
        for n in 0..points.n_items() {
            points.copy_row(n, &mut row);
            let weight = points.weights().map_or(1.0, |w| w[n]);
            let there = totals.iter_mut().zip(&row).filter(|(_, x)| !x.is_nan());
            there.for_each(|(total, _)| *total += weight);
        }
    }
    totals
}

/// The power of two at or below |x|, within the range where its reciprocal is a normal number.
fn power_of_two(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.abs().log2().floor().clamp(-1000.0, 1000.0).exp2() }
}

/// Units and prior for this data.
pub(super) fn from_data(params: &MixtureParams, points: &Points) -> Result<(Units, Prior)> {
    let d = points.n_dims();
    if points.n_items() < 2 {
        return Err(Error::data(
            "there is only one row; a mixture needs at least two to learn a spread from",
        ));
    }
    params.check(points.n_items(), d)?;
    if total_weight(points) <= 0.0 {
        return Err(Error::data("all rows that are left to fit have a weight of 0"));
    }
    let (mean, deviation, constant) = column_moments(points)?;
    let units = Units { shift: mean, scale: scales(params.covariance, &deviation), constant };
    // Spheres are spheres in the data's units, so all columns have the same scale.
    let kind = Shape::new(params.covariance, d);
    let shape = kind.of_means();
    let mut plain = covariance(points, &units, shape);
    for &j in &units.constant {
        // It has no spread and goes with no other column: a little width of its own keeps densities finite.
        (0..d).filter(|_| !shape.is_diagonal()).for_each(|i| plain[at(i, j)] = 0.0);
        plain[shape.diagonal_index(j)] = RIDGE;
    }
    let mut covariance = plain.clone();
    for i in 0..d {
        covariance[shape.diagonal_index(i)] *= 1.0 + 1e-6;
    }

    let theirs = params.defaults == Defaults::ScikitLearn;
    let learns = params.defaults == Defaults::Learned && params.scatter.is_none();
    let learned = if learns { learned(params, points, &units, kind) } else { None };
    let mut scatter = match (&params.scatter, &learned) {
        // Collinear columns have no density without a little help.
        (None, _) if theirs && shape.cholesky(&mut plain.clone()) => kind.mean_variance(plain),
        (None, _) if theirs => kind.mean_variance(covariance.clone()),
        (None, Some(learned)) => learned.scatter.clone(),
        (None, None) => {
            let share = (params.components as f64).powf(-2.0 / d as f64);
            kind.mean_variance(covariance.iter().map(|c| c * share).collect())
        }
        (Some(given), _) => scatter::packed(given, kind, &units.scale),
    };
    if params.scatter.is_some() && !kind.scatter().cholesky(&mut scatter.clone()) {
        return Err(Error::config(
            "scatter",
            "the matrix given",
            "it must be symmetric and positive definite; leave it out to use the data's covariance",
        ));
    }
    let mean_precision = params.mean_precision.unwrap_or(match params.factorisation {
        Factorisation::NormalWishart if !theirs => learned.as_ref().map_or(0.01, |l| l.beta),
        _ => 1.0,
    });
    let mut factor = covariance;
    if !shape.cholesky(&mut factor) {
        return Err(Error::data(advice![
            "the columns' covariance is singular or overflows; leave out columns that are combinations of \
             others, rescale extreme ones, or use ",
            setting("covariance").to(Covariance::Diagonal),
        ]));
    }
    shape.invert_lower(&mut factor);
    let mut mean_precision_matrix = vec![0.0; shape.len()];
    shape.gram(&factor, &mut mean_precision_matrix);
    mean_precision_matrix.iter_mut().for_each(|x| *x *= mean_precision);

    let mean = match &params.mean {
        None => vec![0.0; d],
        Some(given) => standard_mean(given, &units)?,
    };
    let concentration = params.concentration.unwrap_or(match params.weights {
        Weights::Sticks if !theirs => 1.0,
        _ => 1.0 / params.components as f64,
    });
    let usual_freedom = match &learned {
        Some(learned) => learned.nu,
        None if theirs => d as f64,
        None => kind.usual_freedom(),
    };
    let mut degrees_of_freedom = params.degrees_of_freedom.unwrap_or(usual_freedom);
    if theirs && kind.is_tied() {
        // Their prior of a shared precision counts once for each component.
        degrees_of_freedom *= params.components as f64;
        scatter.iter_mut().for_each(|x| *x *= params.components as f64);
    }
    let prior = Prior {
        concentration,
        mean,
        mean_precision,
        mean_precision_matrix,
        degrees_of_freedom,
        scatter,
    };
    Ok((units, prior))
}

/// What clusters of the data teach about the prior, in z; `None` where none can be looked for.
fn learned(params: &MixtureParams, points: &Points, units: &Units, kind: Shape) -> Option<Hyper> {
    // The same for every start, so that the bounds of starts can be compared.
    let mut rng = Address::new(0, Purpose::Init, u32::MAX, 0).rng(0);
    let shape = kind.searched();
    let sample = Sample::new(points, units, shape, params.components, &mut rng);
    let found = clusters::find(&sample, shape, params.components, Learn::Learned, &mut rng)?.prior;
    let (nu, times, _) = shape.learned_freedom();
    let scatter = sample.scatter_out(shape, &found.scatter);
    // With other degrees of freedom, the same prior mean of a covariance.
    let given = params.degrees_of_freedom.unwrap_or(nu);
    let share = (given - (nu - times)).max(0.5 * times) / times;
    Some(Hyper { scatter: scatter.iter().map(|s| s * share).collect(), nu: given, ..found })
}

/// The scale of each column: a power of two near its deviation, or near the typical deviation where they must be the
/// same.
fn scales(covariance: Covariance, deviation: &[f64]) -> Vec<f64> {
    if covariance != Covariance::Spherical {
        return deviation.iter().map(|&s| power_of_two(s)).collect();
    }
    // Fractions of the largest: squares of 1e200 would overflow.
    let largest = deviation.iter().fold(0.0f64, |a, &b| a.max(b));
    if largest == 0.0 {
        return vec![1.0; deviation.len()];
    }
    let mean = deviation.iter().map(|s| (s / largest).powi(2)).sum::<f64>();
    vec![power_of_two(largest * (mean / deviation.len() as f64).sqrt()); deviation.len()]
}

/// The place of entry (i, j) of a packed full matrix.
fn at(i: usize, j: usize) -> usize {
    let (i, j) = (i.max(j), i.min(j));
    i * (i + 1) / 2 + j
}

/// A prior mean in z. Far from the data its square would drown everything that is added to it.
fn standard_mean(given: &[f64], units: &Units) -> Result<Vec<f64>> {
    const FARTHEST: f64 = 1e6;
    let z = |j: usize| (given[j] - units.shift[j]) / units.scale[j];
    if let Some(j) = (0..given.len()).find(|&j| z(j).abs() > FARTHEST) {
        let allowed = advice![
            "column ",
            index(j),
            format!(
                " of it is more than a million standard deviations from the data's mean, {}; give it in the \
                 data's units, or leave it out to use their mean",
                units.shift[j]
            ),
        ];
        return Err(Error::config("mean", format!("{:e}", given[j]), allowed));
    }
    Ok((0..given.len()).map(z).collect())
}

/// The data's covariance in z (divisor N - 1). A missing value counts as its column's mean, and the variances are those
/// of the values that are there: the sum of two matrices that are not negative.
fn covariance(points: &Points, units: &Units, shape: Symmetric) -> Vec<f64> {
    let d = points.n_dims();
    let mut out = vec![0.0; shape.len()];
    let mut row = vec![0.0; d];
    for n in 0..points.n_items() {
        stop::check();
        points.copy_row(n, &mut row);
        for ((x, shift), scale) in row.iter_mut().zip(&units.shift).zip(&units.scale) {
            *x = if x.is_nan() { 0.0 } else { (*x - shift) / scale };
        }
        shape.add_outer(points.weights().map_or(1.0, |w| w[n]), &row, &row, &mut out);
    }
    // With weights below 1 the total can be small; the divisor must stay positive.
    let divisor = |total: f64| if total > 1.0 { total - 1.0 } else { total };
    let all = divisor(total_weight(points));
    out.iter_mut().for_each(|x| *x /= all);
    if points.has_missing() {
        for (j, total) in column_weights(points).into_iter().enumerate() {
            out[shape.diagonal_index(j)] *= all / divisor(total);
        }
    }
    out
}
