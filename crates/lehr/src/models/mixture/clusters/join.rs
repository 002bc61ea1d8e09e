//! Pieces joined to clusters: the pair that gains the most evidence first, until one is left.

use super::super::shape::Shape;
use super::parts::{Hyper, Parts, evidence};
use crate::math::special::ln_gamma;
use crate::math::stop;

/// For every number of clusters, from one to that of the pieces: its evidence, and the cluster of each piece.
pub struct Path(Vec<(f64, Vec<u32>)>);

impl Path {
    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The best evidence of `most` clusters or fewer and their number, the smaller of equals.
    pub fn best(&self, most: usize) -> (f64, usize) {
        let mut best = (f64::NEG_INFINITY, 1);
        for (i, &(evidence, _)) in self.0.iter().enumerate().take(most) {
            if evidence > best.0 {
                best = (evidence, i + 1);
            }
        }
        best
    }

    /// The clusters of items, from their pieces.
    pub fn labels(&self, n_clusters: usize, pieces: &[u32]) -> Vec<u32> {
        let cluster = &self.0[n_clusters - 1].1;
        pieces.iter().map(|&piece| cluster[piece as usize]).collect()
    }
}

/// The evidence of a cluster (its count, mean and scatter), with its part of the prior of a partition, which is the
/// Chinese restaurant's: prod alpha Gamma(n_k).
pub fn worth(prior: &Hyper, shape: Shape) -> impl Fn(f64, &[f64], Vec<f64>) -> f64 + '_ {
    let prior_ln = shape
        .precision(prior.nu, prior.scatter.clone())
        .map_or(0.0, |precision| shape.ln_normaliser(&precision));
    move |n, mean, scatter| {
        let of_partition = ln_gamma(n.max(1e-3)) + prior.concentration.ln();
        evidence(n, mean, scatter, prior, prior_ln, shape) + of_partition
    }
}

/// Joins all pieces.
pub fn joins(pieces: &Parts, prior: &Hyper, shape: Shape) -> Path {
    let k = pieces.len();
    let worth = worth(prior, shape);
    let mut now = pieces.clone();
    let mut own: Vec<f64> =
        (0..k).map(|i| worth(now.counts[i], &now.means[i], now.scatters[i].clone())).collect();
    // What joining i < j gains.
    let mut gains = vec![f64::NEG_INFINITY; k * k];
    let gain_of = |now: &Parts, own: &[f64], i: usize, j: usize| {
        let (n, mean, scatter) = now.joined(i, j, shape);
        worth(n, &mean, scatter) - own[i] - own[j]
    };
    for i in 0..k {
        stop::check();
        for j in i + 1..k {
            gains[i * k + j] = gain_of(&now, &own, i, j);
        }
    }
    let mut group: Vec<usize> = (0..k).collect();
    let mut left: Vec<bool> = vec![true; k];
    let mut total: f64 = own.iter().sum();
    let mut path = vec![(total, numbered(&group))];
    for _ in 1..k {
        stop::check();
        let Some((i, j)) = best_pair(&gains, k, &left) else { break };
        let gain = gains[i * k + j];
        let (n, mean, scatter) = now.joined(i, j, shape);
        (now.counts[i], now.means[i], now.scatters[i]) = (n, mean, scatter);
        total += gain;
        own[i] += gain + own[j];
        left[j] = false;
        group.iter_mut().filter(|g| **g == j).for_each(|g| *g = i);
        for other in (0..k).filter(|&other| left[other] && other != i) {
            let (a, b) = (i.min(other), i.max(other));
            gains[a * k + b] = gain_of(&now, &own, a, b);
        }
        path.push((total, numbered(&group)));
    }
    path.reverse();
    Path(path)
}

/// The pair that gains the most, the first of equals.
fn best_pair(gains: &[f64], k: usize, left: &[bool]) -> Option<(usize, usize)> {
    let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
    let mut best = None;
    for (i, j) in pairs.filter(|&(i, j)| left[i] && left[j]) {
        if best.is_none_or(|(a, b)| gains[i * k + j] > gains[a * k + b]) {
            best = Some((i, j));
        }
    }
    best
}

/// Groups numbered without gaps, in their order.
fn numbered(groups: &[usize]) -> Vec<u32> {
    let mut names: Vec<usize> = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    groups.iter().map(|g| names.partition_point(|name| name < g) as u32).collect()
}
