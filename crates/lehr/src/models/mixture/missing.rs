//! Missing values as part of the model: items are grouped by which of their values are missing.
//!
//! What is missing of an item, x_m, is hidden like its component c, with `q(c = k, x_m) = phi_k N(x_m | ...)`. With the
//! component's mean m and covariance `S = E[Lambda]^-1` under q, and o the columns that are there:
//! ```text
//! ln phi_k = E ln pi_k + ln N(x_o | m_o, S_oo) + (E ln |Lambda| + ln |S| - tr) / 2          up to the sum over k
//! x_m | x_o, k ~ N(B x_o + b, C)     B = S_mo S_oo^-1     b = m_m - B m_o     C = S_mm - B S_om
//! ```
//! which is the optimal q, so that the bound is exact and never falls. Statistics of whole items are linear in those of
//! the observed columns, so these are summed for each pattern as for complete items, and completed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::expect::Densities;
use super::local::{Scratch, Tile};
use super::{LN_2PI, Mixture};
use crate::data::{Points, Rows};
use crate::math::kernels::{GaussianBlock, Second, TILE, pad_to_lanes, softmax};
use crate::math::packed::Symmetric;
use crate::math::table::Table;
use crate::model::{Model, RowSet, SHARD, Shard, Stats};

/// Which values of an item are missing: a bit for each column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mask(Box<[u64]>);

impl Mask {
    fn of<T: Copy>(row: &[T], is_missing: impl Fn(T) -> bool) -> Self {
        let mut bits = vec![0u64; row.len().div_ceil(64)];
        for (j, &x) in row.iter().enumerate() {
            bits[j / 64] |= u64::from(is_missing(x)) << (j % 64);
        }
        Mask(bits.into())
    }

    fn is_missing(&self, j: usize) -> bool {
        self.0[j / 64] >> (j % 64) & 1 == 1
    }
}

/// The places of a shard's items, by what is missing of them.
pub(super) fn groups(points: &Points, items: &[u32]) -> BTreeMap<Mask, Vec<u32>> {
    let d = points.n_dims();
    let mut groups: BTreeMap<Mask, Vec<u32>> = BTreeMap::new();
    for (place, &n) in items.iter().enumerate() {
        let (rows, first) = points.block_of(n as usize);
        let at = n as usize - first;
        let range = at * d..(at + 1) * d;
        let mask = match rows {
            Rows::F64(rows) => Mask::of(&rows[range], f64::is_nan),
            Rows::F32(rows) => Mask::of(&rows[range], f32::is_nan),
        };
        groups.entry(mask).or_default().push(place as u32);
    }
    groups
}

/// The components as Gaussians: what patterns are made from.
#[derive(Debug)]
struct Component {
    /// What stands before the density of the observed columns.
    base: f64,
    mean: Vec<f64>,
    /// S, packed as the means' precisions are.
    covariance: Vec<f64>,
}

/// What all items have in common of which the same values are missing.
#[derive(Debug)]
pub(super) struct Pattern {
    pub observed: Vec<usize>,
    pub missing: Vec<usize>,
    /// The components' log densities of the observed columns.
    pub block: GaussianBlock,
    /// The offset of each in `block`.
    pub offsets: Vec<f64>,
    /// ln |S_oo| of each component.
    pub ln_dets: Vec<f64>,
    regressions: Vec<Regression>,
}

/// How a component predicts what is missing from what is there.
#[derive(Debug)]
struct Regression {
    /// B by rows; empty if columns are independent given the component.
    slope: Vec<f64>,
    /// b.
    constant: Vec<f64>,
    /// C, packed; or its diagonal.
    covariance: Vec<f64>,
}

/// The patterns of one set of densities, made when they are first met.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// The densities that they are of.
    of: Densities,
    components: Vec<Component>,
    known: BTreeMap<Mask, Arc<Pattern>>,
}

/// Patterns are forgotten rather than to hold more numbers than this; 128 MB.
const MOST_NUMBERS: usize = 1 << 24;

impl Patterns {
    /// The pattern of a mask under these densities.
    pub fn get(&mut self, mixture: &Mixture, densities: &Densities, mask: &Mask) -> Arc<Pattern> {
        if self.components.is_empty() || self.of != *densities {
            self.of = densities.clone();
            self.components = components(mixture, densities);
            self.known.clear();
        }
        if let Some(pattern) = self.known.get(mask) {
            return Arc::clone(pattern);
        }
        let (k, d) = (mixture.params.components, mixture.n_dims());
        if self.known.len() * k * d * d > MOST_NUMBERS {
            self.known.clear();
        }
        let pattern = Arc::new(Pattern::new(mixture, &self.components, mask));
        self.known.insert(mask.clone(), Arc::clone(&pattern));
        pattern
    }
}

/// The components' means and covariances, from the form in which kernels read them.
fn components(mixture: &Mixture, densities: &Densities) -> Vec<Component> {
    let d = mixture.n_dims();
    let constant = mixture.units.ln_jacobian() - 0.5 * d as f64 * LN_2PI;
    let shape = mixture.shape.of_means();
    (0..mixture.params.components)
        .map(|k| {
            let (offset, mut whitening, shift) = densities.block.get(k);
            if let Some(whitener) = &densities.whitener {
                whitening = whitener.get(0).1;
            }
            // G'G = S^-1, so S = G^-1 G^-T, m = G^-1 c and ln |S| = -2 sum ln G_ii.
            let ln_det = -shape.ln_det(&whitening);
            shape.invert_lower(&mut whitening);
            let mut mean = vec![0.0; d];
            shape.lower_times(&whitening, &shift, &mut mean);
            let mut covariance = vec![0.0; shape.len()];
            shape.square(&whitening, &mut covariance);
            Component { base: offset - constant + 0.5 * ln_det, mean, covariance }
        })
        .collect()
}

impl Pattern {
    fn new(mixture: &Mixture, components: &[Component], mask: &Mask) -> Self {
        let d = mixture.n_dims();
        let (missing, observed): (Vec<usize>, Vec<usize>) =
            (0..d).partition(|&j| mask.is_missing(j));
        let diagonal = mixture.shape.of_means().is_diagonal();
        let jacobian: f64 = observed.iter().map(|&j| -mixture.units.scale[j].ln()).sum();
        let constant = jacobian - 0.5 * observed.len() as f64 * LN_2PI;
        let mut block = GaussianBlock::new(components.len(), observed.len(), diagonal);
        let (mut offsets, mut ln_dets) = (Vec::new(), Vec::new());
        let mut regressions = Vec::with_capacity(components.len());
        for (k, component) in components.iter().enumerate() {
            let part = if diagonal {
                Part::diagonal(component, &observed, &missing)
            } else {
                Part::full(component, &observed, &missing)
            };
            let offset = component.base - 0.5 * part.ln_det + constant;
            block.set(k, offset, &part.whitening, &part.shift);
            offsets.push(offset);
            ln_dets.push(part.ln_det);
            regressions.push(part.regression);
        }
        Pattern { observed, missing, block, offsets, ln_dets, regressions }
    }

    /// The second moments of the observed columns that are summed.
    pub fn second(mixture: &Mixture) -> Second {
        match mixture.shape.second() {
            Second::Nothing => Second::Triangle, // tied: what is missing differs by component
            second => second,
        }
    }

    /// Adds the statistics of component `k`, completed from sums over the observed columns.
    pub fn complete(&self, mixture: &Mixture, k: usize, sums: &[f64], stats: &mut Stats) {
        let (row, own, second) = mixture.place(k);
        let row = stats.row_mut(row);
        let (first, second) = row[own..].split_at_mut(second - own);
        let Pattern { observed, missing, regressions, .. } = self;
        let Regression { slope, constant, covariance } = &regressions[k];
        let n_observed = observed.len();
        let count = sums[0];
        let (sum, squares) = sums[1..].split_at(n_observed);
        first[0] += count;
        observed.iter().zip(sum).for_each(|(&j, s)| first[1 + j] += s);
        match mixture.shape.second() {
            Second::Norm => {
                second[0] += squares[0];
                for ((&j, b), c) in missing.iter().zip(constant).zip(covariance) {
                    first[1 + j] += count * b;
                    second[0] += count * (b * b + c);
                }
            }
            Second::Squares => {
                observed.iter().zip(squares).for_each(|(&j, s)| second[j] += s);
                for ((&j, b), c) in missing.iter().zip(constant).zip(covariance) {
                    first[1 + j] += count * b;
                    second[j] += count * (b * b + c);
                }
            }
            Second::Triangle | Second::Nothing => {
                let entry = |i: usize, j: usize| i.max(j) * (i.max(j) + 1) / 2 + i.min(j);
                for (a, &i) in observed.iter().enumerate() {
                    for (b, &j) in observed[..=a].iter().enumerate() {
                        second[entry(i, j)] += squares[entry(a, b)];
                    }
                }
                // E[x_m x_o'] = B S2 + b S1', and E[x_m x_m'] = E[x_m x_o'] B' + E[x_m] b' + N C.
                let mut cross = vec![0.0; n_observed];
                for (a, &i) in missing.iter().enumerate() {
                    let slope_a = &slope[a * n_observed..(a + 1) * n_observed];
                    let dot =
                        |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
                    let mean = dot(slope_a, sum) + count * constant[a];
                    first[1 + i] += mean;
                    for (b, cross) in cross.iter_mut().enumerate() {
                        let product: f64 =
                            slope_a.iter().enumerate().map(|(c, s)| s * squares[entry(c, b)]).sum();
                        *cross = product + constant[a] * sum[b];
                    }
                    observed.iter().zip(&cross).for_each(|(&j, x)| second[entry(i, j)] += x);
                    for (b, &j) in missing[..=a].iter().enumerate() {
                        let slope_b = &slope[b * n_observed..(b + 1) * n_observed];
                        let product = dot(&cross, slope_b) + mean * constant[b];
                        second[entry(i, j)] += product + count * covariance[entry(a, b)];
                    }
                }
            }
        }
    }

    /// The mean and the variance of each missing value of an item under component `k`, in z.
    pub fn predict(&self, k: usize, observed: &[f64], out: &mut [(f64, f64)]) {
        let Regression { slope, constant, covariance } = &self.regressions[k];
        for (a, out) in out.iter_mut().enumerate() {
            let slope = slope.get(a * observed.len()..(a + 1) * observed.len()).unwrap_or(&[]);
            let mean = slope.iter().zip(observed).map(|(s, x)| s * x).sum::<f64>() + constant[a];
            let variance = if slope.is_empty() && covariance.len() == self.missing.len() {
                covariance[a]
            } else {
                covariance[a * (a + 3) / 2]
            };
            *out = (mean, variance);
        }
    }
}

/// One component's part of a pattern.
struct Part {
    whitening: Vec<f64>,
    /// G m_o.
    shift: Vec<f64>,
    /// ln |S_oo|.
    ln_det: f64,
    regression: Regression,
}

impl Part {
    fn diagonal(component: &Component, observed: &[usize], missing: &[usize]) -> Self {
        let Component { mean, covariance, .. } = component;
        let of = |columns: &[usize], values: &[f64]| -> Vec<f64> {
            columns.iter().map(|&j| values[j]).collect()
        };
        let variances = of(observed, covariance);
        let whitening: Vec<f64> = variances.iter().map(|v| 1.0 / v.sqrt()).collect();
        let shift = of(observed, mean).iter().zip(&whitening).map(|(m, w)| m * w).collect();
        let ln_det = variances.iter().map(|v| v.ln()).sum();
        let (constant, covariance) = (of(missing, mean), of(missing, covariance));
        let regression = Regression { slope: Vec::new(), constant, covariance };
        Part { whitening, shift, ln_det, regression }
    }

    fn full(component: &Component, observed: &[usize], missing: &[usize]) -> Self {
        let Component { mean, covariance, .. } = component;
        let (shape, n) = (Symmetric::full(observed.len()), observed.len());
        let at = |i: usize, j: usize| covariance[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        let mut whitening = Vec::with_capacity(shape.len());
        for (a, &i) in observed.iter().enumerate() {
            whitening.extend(observed[..=a].iter().map(|&j| at(i, j)));
        }
        // A block of a positive definite matrix; rounding can only defeat it where the whole one is at its edge.
        if !shape.cholesky(&mut whitening) {
            whitening.fill(0.0);
            observed
                .iter()
                .enumerate()
                .for_each(|(a, &i)| whitening[a * (a + 3) / 2] = at(i, i).sqrt());
        }
        let ln_det = shape.ln_det(&whitening);
        shape.invert_lower(&mut whitening);
        let mean_o: Vec<f64> = observed.iter().map(|&j| mean[j]).collect();
        let mut shift = vec![0.0; n];
        shape.lower_times(&whitening, &mean_o, &mut shift);
        // T = S_mo G', then B = T G and C = S_mm - T T'.
        let mut white = vec![0.0; missing.len() * n];
        let mut slope = vec![0.0; missing.len() * n];
        let (mut constant, mut covariance) = (Vec::new(), Vec::new());
        for (a, &i) in missing.iter().enumerate() {
            let cross: Vec<f64> = observed.iter().map(|&j| at(i, j)).collect();
            shape.lower_times(&whitening, &cross, &mut white[a * n..(a + 1) * n]);
            let (white_a, slope) = (&white[a * n..(a + 1) * n], &mut slope[a * n..(a + 1) * n]);
            for (r, w) in white_a.iter().enumerate() {
                let row = &whitening[r * (r + 1) / 2..][..=r];
                slope.iter_mut().zip(row).for_each(|(s, g)| *s += w * g);
            }
            constant.push(mean[i] - slope.iter().zip(&mean_o).map(|(s, m)| s * m).sum::<f64>());
            for (b, &j) in missing[..=a].iter().enumerate() {
                let dot: f64 =
                    white_a.iter().zip(&white[b * n..(b + 1) * n]).map(|(x, y)| x * y).sum();
                covariance.push(at(i, j) - dot);
            }
        }
        let regression = Regression { slope, constant, covariance };
        Part { whitening, shift, ln_det, regression }
    }
}

/// What is known of the missing values of items: by item, then by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Imputed {
    /// All values, row after row: those that are there, and the expected ones where they are missing.
    pub values: Vec<f64>,
    /// How far each may be off, as a standard deviation; 0 where it is there.
    pub deviations: Vec<f64>,
}

impl Mixture {
    /// The missing values of items: their means and standard deviations given what is there, in the data's units.
    ///
    /// ```
    /// use lehr::data::Points;
    /// use lehr::models::{Mixture, MixtureParams};
    ///
    /// // Two columns that rise together.
    /// let rows = (0..40).flat_map(|n| [f64::from(n), 2.0 * f64::from(n) + f64::from(n % 3)]);
    /// let points = Points::new(rows.collect(), 2)?;
    /// let fitted = lehr::fit(&Mixture::new(MixtureParams::gmm(1), &points)?, &points).run()?;
    /// let mixture = Mixture::new(MixtureParams::gmm(1), &points)?;
    /// let new = Points::with_missing(vec![10.0, f64::NAN], 2)?;
    /// let imputed = mixture.impute(fitted.state.lambda.table(), &new);
    /// assert!((imputed.values[1] - 21.0).abs() < 1.0 && imputed.deviations[1] < 2.0);
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn impute(&self, lambda: &Table, points: &Points) -> Imputed {
        let (k, d) = (self.params.components, self.n_dims());
        let densities = self.densities(lambda);
        let items: Vec<u32> = (0..points.n_items() as u32).collect();
        let rows = RowSet::all(self.layout().n_rows);
        let mut values = vec![0.0; items.len() * d];
        let mut deviations = vec![0.0; items.len() * d];
        let shards = values.par_chunks_mut(SHARD * d).zip(deviations.par_chunks_mut(SHARD * d));
        shards.zip(items.par_chunks(SHARD)).for_each_init(
            || self.scratch(),
            |scratch, ((values, deviations), items)| {
                for (row, &n) in values.chunks_exact_mut(d).zip(items) {
                    points.copy_row(n as usize, row);
                }
                let ones = [1.0; SHARD];
                let weights = &ones[..items.len()];
                let shard = Shard { data: points, items, weights, rows: &rows, warm: &[] };
                self.for_tiles(&densities, &shard, scratch, |scratch, tile| {
                    let Tile::Items(places, Some(pattern)) = tile else { return };
                    let Scratch { tile, logits, resp, log_sums, .. } = scratch;
                    softmax(self.isa, places.len(), k, logits, &ones, resp, log_sums);
                    let mut observed = vec![0.0; pattern.observed.len()];
                    let mut predicted = vec![(0.0, 0.0); pattern.missing.len()];
                    for (slot, &place) in places.iter().enumerate() {
                        let column = observed.iter_mut().zip(tile.chunks_exact(TILE));
                        column.for_each(|(x, column)| *x = column[slot]);
                        let mut moments = vec![(0.0, 0.0); pattern.missing.len()];
                        for (c, &r) in resp[slot * pad_to_lanes(k)..][..k].iter().enumerate() {
                            pattern.predict(c, &observed, &mut predicted);
                            for (sum, (mean, variance)) in moments.iter_mut().zip(&predicted) {
                                sum.0 += r * mean;
                                sum.1 += r * (variance + mean * mean);
                            }
                        }
                        for (&j, (mean, square)) in pattern.missing.iter().zip(moments) {
                            let at = place as usize * d + j;
                            values[at] = mean * self.units.scale[j] + self.units.shift[j];
                            deviations[at] =
                                (square - mean * mean).max(0.0).sqrt() * self.units.scale[j];
                        }
                    }
                });
            },
        );
        Imputed { values, deviations }
    }
}
