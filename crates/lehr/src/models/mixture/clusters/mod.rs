//! Clusters before there is a fit: what the default prior is learned from, and where a fit starts.
//!
//! The data are cut into pieces by k-means, pieces are joined while the evidence rises, a prior is learned from the
//! clusters found, and a few sweeps of variational inference decide how many of the joins were right. K only limits
//! the number of clusters, so a truncation does not change what is found below it. `docs/method/priors.md` has the study
//! that chose the rule and its numbers, and `benchsuite/priors_rules.py` the same rule in numpy.

mod items;
mod join;
mod parts;

pub(super) use join::worth;
pub(super) use parts::{Hyper, Parts};

use super::shape::Shape;
use super::{Mixture, Units};
use crate::data::Points;
use crate::math::rng::Rng;
use crate::math::stop;
use items::Items;
use join::{Path, joins};

/// Pieces that k-means cuts the data into, or K if that is more.
const PIECES: usize = 50;

/// But never more than this: joins look at all pairs.
pub(super) const MOST_PIECES: usize = 128;

/// Multiplications of the joins that a search may make; wide tables are cut into fewer pieces.
const WORK: f64 = 4e8;

/// Sweeps of a search, roughly, and the multiplications with the clusters' matrices that all searches may make in them.
const SWEEPS: f64 = 160.0;
const SWEEP_WORK: f64 = 2e9;

/// Items that are looked at, times the number of columns; and at least and at most this many.
const ITEMS: usize = 40_000;
const FEWEST_ITEMS: usize = 2_000;
const MOST_ITEMS: usize = 5_000;

/// Sweeps of k-means.
const KMEANS_SWEEPS: usize = 20;

/// Sweeps in which pieces or clusters adapt, with hard assignments.
const HARD_SWEEPS: usize = 5;

/// Times that a prior is learned.
const ROUNDS: usize = 3;

/// Times that clusters adapt and are joined again, in a round.
const AGAIN: usize = 3;

/// Sweeps of variational inference for every number of clusters that is tried.
const SOFT_SWEEPS: usize = 5;

/// Numbers of clusters that are tried after the best.
const PATIENCE: usize = 2;

/// Items times searches: the fewer items, the more searches.
const SEARCHES: usize = 4_000;
const MOST_SEARCHES: usize = 5;

/// The best few are run on, this many sweeps.
const FINALISTS: usize = 3;
const MORE_SWEEPS: usize = 20;

/// Items per number of a covariance, in each cluster, from which on the clusters' own precisions say more about the prior
/// than their pooled covariance.
const ITEMS_PER_NUMBER: usize = 2;

/// What a search found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The bound, with all orders of the clusters, less what a learned prior is charged.
    score: f64,
    /// The clusters, from large to small.
    pub clusters: Parts,
    /// Their prior.
    pub prior: Hyper,
}

/// How a prior comes about.
#[derive(Debug, Clone)]
pub(super) enum Learn {
    /// From the clusters.
    Learned,
    /// It was learned before, from the same data.
    Known(Hyper),
    /// It is given.
    Given(Hyper),
}

/// Items in deviations from their mean, and how they become the coordinates of a mixture.
pub(super) struct Sample {
    items: Items,
    /// A deviation, in the mixture's coordinates.
    pub unit: Vec<f64>,
    /// The mean of the sample, in the mixture's coordinates.
    pub mean: Vec<f64>,
}

impl Found {
    /// Whether clusters were looked for at all: tables can be too wide for it.
    pub fn is_searched(&self) -> bool {
        self.score > f64::NEG_INFINITY
    }
}

/// Looks for clusters, `most` of them at the most; `None` if not even one has a density.
pub(super) fn find(
    sample: &Sample,
    shape: Shape,
    most: usize,
    learn: Learn,
    rng: &mut Rng,
) -> Option<Found> {
    let search = Search::new(&sample.items, shape, most, learn);
    let found = search.run(rng)?;
    let real = found.clusters.counts.iter().filter(|&&n| n >= 1.0).count().max(1);
    let enough = (ITEMS_PER_NUMBER * shape.scatter().len() * real) as f64;
    if !matches!(search.learn, Learn::Learned) || sample.items.total < enough {
        return Some(found);
    }
    let prior = found.prior.clone().refined(shape, &search.covariance, &found.clusters);
    Some(Found { prior, ..found })
}

impl Sample {
    /// Some of the items, in the coordinates of `units`; missing values are their columns' means.
    pub fn new(
        points: &Points,
        units: &Units,
        shape: Shape,
        components: usize,
        rng: &mut Rng,
    ) -> Self {
        let d = points.n_dims();
        let weight = |n: u32| points.weights().map_or(1.0, |w| w[n as usize]);
        let mut chosen: Vec<u32> =
            (0..points.n_items() as u32).filter(|&n| weight(n) > 0.0).collect();
        let total: f64 = chosen.iter().map(|&n| weight(n)).sum();
        let most =
            (ITEMS / d).clamp(FEWEST_ITEMS, MOST_ITEMS).max(50 * components.min(MOST_PIECES));
        if chosen.len() > most {
            chosen = super::start::distinct_many(chosen, most, rng);
            chosen.sort_unstable();
        }
        let mut z = vec![0.0; chosen.len() * d];
        for (row, &n) in z.chunks_exact_mut(d).zip(&chosen) {
            points.copy_row(n as usize, row);
            for (x, (shift, scale)) in row.iter_mut().zip(units.shift.iter().zip(&units.scale)) {
                *x = if x.is_nan() { 0.0 } else { (*x - shift) / scale };
            }
        }
        let mut weights: Vec<f64> = chosen.iter().map(|&n| weight(n)).collect();
        let times = total / weights.iter().sum::<f64>();
        weights.iter_mut().for_each(|w| *w *= times);
        let mean_of = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            let mut sums = vec![0.0; d];
            for (row, weight) in z.chunks_exact(d).zip(&weights) {
                let columns = sums.iter_mut().zip(row).enumerate();
                columns.for_each(|(j, (s, &x))| *s += weight * of(j, x));
            }
            sums.iter().map(|sum| sum / total).collect()
        };
        let mean = mean_of(&|_, x| x);
        let variance = mean_of(&|j, x| (x - mean[j]).powi(2));
        let unit = deviations(&variance, shape);
        for row in z.chunks_exact_mut(d) {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = (*x - mean[j]) / unit[j]);
        }
        Sample { items: Items::new(z, weights, d), unit, mean }
    }

    /// A scatter in the mixture's coordinates.
    pub fn scatter_out(&self, shape: Shape, scatter: &[f64]) -> Vec<f64> {
        self.rescaled(shape, scatter, |i, j| self.unit[i] * self.unit[j])
    }

    /// A scatter in deviations.
    pub fn scatter_in(&self, shape: Shape, scatter: &[f64]) -> Vec<f64> {
        self.rescaled(shape, scatter, |i, j| 1.0 / (self.unit[i] * self.unit[j]))
    }

    fn rescaled(
        &self,
        shape: Shape,
        scatter: &[f64],
        by: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let stored = shape.scatter();
        let mut out = scatter.to_vec();
        for i in 0..stored.n_dims() {
            if stored.is_diagonal() {
                out[i] *= by(i, i);
                continue;
            }
            (0..=i).for_each(|j| out[i * (i + 1) / 2 + j] *= by(i, j));
        }
        out
    }
}

/// The deviation of each column, or one for all of them where components are spheres; 1 where it is constant.
fn deviations(variance: &[f64], shape: Shape) -> Vec<f64> {
    let variance = shape.spread_out(shape.mean_variance_of_columns(variance));
    variance.iter().map(|v| if v.sqrt() > 1e-12 { v.sqrt() } else { 1.0 }).collect()
}

struct Search<'a> {
    items: &'a Items,
    shape: Shape,
    /// Clusters at the most.
    most: usize,
    learn: Learn,
    /// The data's scatter an item.
    covariance: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(items: &'a Items, shape: Shape, most: usize, learn: Learn) -> Self {
        let all = items.of_labels(&vec![0; items.len()], 1, shape);
        let divisor = if items.total > 1.0 { items.total - 1.0 } else { items.total };
        let mut covariance: Vec<f64> = all.scatters[0].iter().map(|s| s / divisor).collect();
        // A constant column has none, and a matrix must have an inverse.
        for i in 0..shape.scatter().n_dims() {
            let x = &mut covariance[shape.scatter().diagonal_index(i)];
            *x = if *x > 1e-12 { *x * (1.0 + parts::RIDGE) } else { parts::RIDGE };
        }
        Search { items, shape, most, learn, covariance }
    }

    /// The prior that clusters teach, or the one that is given.
    fn prior(&self, clusters: Option<&Parts>) -> Hyper {
        match &self.learn {
            Learn::Known(prior) | Learn::Given(prior) => prior.clone(),
            Learn::Learned => {
                Hyper::learned(self.shape, self.items.total, &self.covariance, clusters)
            }
        }
    }

    /// How many searches with this many clusters are affordable, by the time that their matrices take in sweeps.
    fn affordable_searches(&self, clusters: usize) -> f64 {
        let d = self.shape.n_dims() as f64;
        let of_sweep = if self.shape.scatter().is_diagonal() { d } else { d.powi(3) / 2.0 };
        SWEEP_WORK / (SWEEPS * clusters as f64 * of_sweep)
    }

    /// Into how many pieces the data are cut; fewer than two if that is not worth it or takes too long.
    fn pieces(&self) -> usize {
        let (n, d) = (self.items.len(), self.shape.n_dims());
        let of_pair =
            if self.shape.scatter().is_diagonal() { d as f64 } else { (d as f64).powi(3) / 6.0 };
        // Half the pairs of pieces, in every join of every round.
        let joins = (ROUNDS * (1 + AGAIN)) as f64;
        let affordable = (2.0 * WORK / (joins * (of_pair + 100.0))).sqrt() as usize;
        let in_sweeps = self.affordable_searches(1) as usize;
        PIECES.max(self.most).min(MOST_PIECES).min(n / (d + 1)).min(affordable).min(in_sweeps)
    }

    fn run(&self, rng: &mut Rng) -> Option<Found> {
        let (n, pieces) = (self.items.len(), self.pieces());
        if self.affordable_searches(2) < 1.0 {
            // One cluster teaches a prior without a sweep.
            let clusters = self.items.of_labels(&vec![0; n], 1, self.shape);
            let prior = self.prior(Some(&clusters));
            return Some(Found { score: f64::NEG_INFINITY, clusters, prior });
        }
        let mut found = vec![self.refine(&vec![0; n], 1)?];
        let most = MOST_SEARCHES.min(self.affordable_searches(pieces.max(2)) as usize).max(1);
        for _ in 0..(SEARCHES / n).clamp(1, most) {
            for pieces in [pieces, pieces / 3, pieces / 9].into_iter().filter(|&p| p >= 2) {
                found.extend(self.chain(pieces, rng));
            }
        }
        // The best of each number of clusters; the best few of these are run on. The first of equals stays first.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut numbers = Vec::new();
        found.retain(|found| {
            let is_new = !numbers.contains(&found.clusters.len());
            numbers.push(found.clusters.len());
            is_new
        });
        let refine_more = |found: Found| self.refine_more(found.clusters, MORE_SWEEPS);
        let finalists = found.into_iter().take(FINALISTS).filter_map(refine_more);
        finalists.reduce(|best, other| if other.score > best.score { other } else { best })
    }

    /// From pieces to clusters and a prior, and then all that is worth running from.
    fn chain(&self, pieces: usize, rng: &mut Rng) -> Vec<Found> {
        let mut fine = self.items.kmeans(pieces, KMEANS_SWEEPS, rng);
        let mut prior = self.prior(None);
        let mut labels = fine.clone();
        for _ in 0..ROUNDS {
            fine = self.adapted(fine, &prior);
            let path = joins(&self.parts(&fine), &prior, self.shape);
            let mut best = path.best(self.most);
            labels = path.labels(best.1, &fine);
            for _ in 0..AGAIN {
                let again = self.adapted(labels.clone(), &prior);
                let path = joins(&self.parts(&again), &prior, self.shape);
                let better = path.best(self.most);
                if better.0 <= best.0 + 1e-6 {
                    break;
                }
                (best, labels) = (better, path.labels(better.1, &again));
            }
            prior = self.prior(Some(&self.parts(&labels)));
        }
        let path = joins(&self.parts(&fine), &prior, self.shape);
        self.around(&path, &fine, labels)
    }

    /// Runs from the clusters found, and from more and fewer of them while that may pay.
    fn around(&self, path: &Path, fine: &[u32], labels: Vec<u32>) -> Vec<Found> {
        let size = count(&labels);
        let mut all: Vec<Found> = self.refine(&labels, size).into_iter().collect();
        let mut top = f64::NEG_INFINITY;
        for rises in [true, false] {
            let (mut at, mut missed) = (size, 0);
            while missed < PATIENCE {
                at = if rises { at + 1 } else { at - 1 };
                if at < 1 || at > self.most || at > path.len() {
                    break;
                }
                let Some(found) = self.refine(&path.labels(at, fine), at) else { break };
                missed = if found.score > top { 0 } else { missed + 1 };
                top = top.max(found.score);
                all.push(found);
            }
        }
        all
    }

    fn parts(&self, labels: &[u32]) -> Parts {
        self.items.of_labels(labels, count(labels), self.shape)
    }

    /// Variational inference with hard assignments: every item to the cluster that it is likeliest in.
    fn adapted(&self, mut labels: Vec<u32>, prior: &Hyper) -> Vec<u32> {
        for _ in 0..HARD_SWEEPS {
            stop::check();
            let parts = self.parts(&labels);
            let Some(block) = parts.densities(prior, self.shape, |k| parts.counts[k].ln()) else {
                break;
            };
            let new = self.items.likeliest(&block);
            if new == labels {
                break;
            }
            labels = new;
        }
        labels
    }

    fn refine(&self, labels: &[u32], n_clusters: usize) -> Option<Found> {
        self.refine_more(self.items.of_labels(labels, n_clusters, self.shape).sorted(), SOFT_SWEEPS)
    }

    /// A few sweeps of variational inference, the prior learned along.
    fn refine_more(&self, mut clusters: Parts, sweeps: usize) -> Option<Found> {
        let mut found = None;
        for _ in 0..sweeps {
            stop::check();
            let prior = self.prior(Some(&clusters));
            let (ln_weights, of_weights) = clusters.sticks(prior.concentration);
            let block = clusters.densities(&prior, self.shape, |k| ln_weights[k])?;
            let (after, ln_sum) = self.items.share(&block, self.shape);
            let mut score = ln_sum - of_weights - clusters.divergence(&prior, self.shape)?;
            score += clusters.ln_orders(prior.concentration);
            if !matches!(self.learn, Learn::Given(_)) {
                // The scatter was learned: half a log of the items that inform it, for each of its numbers.
                let informed = clusters.counts.iter().map(|n| prior.nu * n / (prior.nu + n));
                score -= 0.5 * self.shape.scatter().len() as f64 * informed.sum::<f64>().ln_1p();
            }
            clusters = after.sorted();
            found = Some(Found { score, clusters: clusters.clone(), prior });
        }
        found
    }
}

/// Labels are numbered without gaps.
fn count(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&last| last as usize + 1)
}

impl Mixture {
    /// The prior as the search knows it, for a sample.
    pub(super) fn hyper(&self, sample: &Sample) -> Hyper {
        let shape = self.shape.searched();
        let mean = self.prior.mean.iter().zip(&sample.mean).zip(&sample.unit);
        Hyper {
            mean: mean.map(|((m, at), unit)| (m - at) / unit).collect(),
            beta: if self.joint() { self.prior.mean_precision } else { parts::BROAD },
            nu: self.prior.degrees_of_freedom,
            scatter: sample.scatter_in(shape, &self.prior.scatter),
            concentration: if self.sticks() { self.prior.concentration } else { 1.0 },
        }
    }
}
