//! Counts, means and scatters of clusters, their prior, and what follows of both in closed form.

use super::super::LN_2PI;
use super::super::shape::{Precision, Shape};
use crate::family::{beta, gaussian};
use crate::math::kernels::GaussianBlock;

/// Added to the variances of a learned prior, as a share of the data's.
pub const RIDGE: f64 = 1e-6;

/// Deviations squared from the mean of all, of the one cluster that beta0 is given.
const SPREAD: f64 = 10.0;

/// beta0 before anything is known.
pub const BROAD: f64 = 1.0 / SPREAD;

/// Times that a prior's scatter and the clusters' precisions are computed from each other.
const REFINEMENTS: usize = 5;

/// Clusters: for each its weight, its mean, and the scatter around it.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub counts: Vec<f64>,
    pub means: Vec<Vec<f64>>,
    pub scatters: Vec<Vec<f64>>,
}

/// A prior of clusters.
#[derive(Debug, Clone)]
pub struct Hyper {
    /// m0.
    pub mean: Vec<f64>,
    /// beta0.
    pub beta: f64,
    /// nu0.
    pub nu: f64,
    /// W0^-1.
    pub scatter: Vec<f64>,
    /// alpha.
    pub concentration: f64,
}

impl Hyper {
    /// What clusters teach: their pooled covariance W is the prior mean of a covariance, and beta0 says how far apart
    /// their means are. Before there are clusters, the data's covariance and a broad guess.
    pub fn learned(shape: Shape, total: f64, covariance: &[f64], clusters: Option<&Parts>) -> Self {
        let d = shape.n_dims();
        let (nu, times, worth) = shape.learned_freedom();
        let of = |w: Vec<f64>, beta: f64| Hyper {
            mean: vec![0.0; d],
            beta,
            nu,
            scatter: w.iter().map(|w| times * w).collect(),
            concentration: 1.0,
        };
        let Some(clusters) = clusters else { return of(covariance.to_vec(), BROAD) };
        let mut w: Vec<f64> = covariance.iter().map(|c| worth * c).collect();
        for scatter in &clusters.scatters {
            w.iter_mut().zip(scatter).for_each(|(w, s)| *w += s);
        }
        // Some clusters are on their way out.
        let real = || clusters.counts.iter().zip(&clusters.means).filter(|(n, _)| **n >= 1.0);
        let k = real().count() as f64;
        w.iter_mut().for_each(|w| *w /= (total - k).max(0.0) + worth);
        for i in 0..shape.scatter().n_dims() {
            let at = shape.scatter().diagonal_index(i);
            w[at] += RIDGE * covariance[at];
        }
        let Some(precision) = shape.precision(1.0, w.clone()) else {
            return of(covariance.to_vec(), BROAD);
        };
        let scale = shape.scale(&precision);
        let square = |mean: &Vec<f64>| shape.quadratic(precision.nu, &scale, mean);
        let far: f64 = real().map(|(_, mean)| square(mean)).sum();
        of(w, k.max(1.0) / (far / d as f64 + SPREAD))
    }
}

impl Hyper {
    /// The same prior with another scatter: what the clusters' expected precisions have in common, the data's own
    /// counting as one of them. Where clusters are narrow in different directions their pooled covariance is broad in
    /// all of them, and this is not. beta0 follows: by its own precision, a narrow cluster is far from the mean of all.
    pub fn refined(mut self, shape: Shape, covariance: &[f64], clusters: &Parts) -> Self {
        let (_, times, _) = shape.learned_freedom();
        for _ in 0..REFINEMENTS {
            let Some(mut sum) = shape.precision(1.0, covariance.to_vec()).map(|p| shape.scale(&p))
            else {
                break;
            };
            let (mut count, mut far) = (1.0, 0.0);
            for k in (0..clusters.len()).filter(|&k| clusters.counts[k] >= 1.0) {
                let Some(q) = clusters.posterior(k, &self, shape) else { continue };
                let expected = shape.scale(&q.precision);
                sum.iter_mut().zip(&expected).for_each(|(s, w)| *s += q.precision.nu * w);
                far += shape.quadratic(q.precision.nu, &expected, &clusters.means[k]);
                count += 1.0;
            }
            let Some(mean) = shape.precision(1.0, sum) else { break };
            self.scatter = shape.scale(&mean).iter().map(|w| times * count * w).collect();
            self.beta = (count - 1.0).max(1.0) / (far / shape.n_dims() as f64 + SPREAD);
        }
        self
    }
}

/// q of a cluster.
struct Posterior {
    beta: f64,
    mean: Vec<f64>,
    precision: Precision,
}

impl Parts {
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The sum of two clusters.
    pub fn joined(&self, i: usize, j: usize, shape: Shape) -> (f64, Vec<f64>, Vec<f64>) {
        let (a, b) = (self.counts[i], self.counts[j]);
        let n = a + b;
        let pairs = || self.means[i].iter().zip(&self.means[j]);
        let mean = pairs().map(|(x, y)| (a * x + b * y) / n).collect();
        let apart: Vec<f64> = pairs().map(|(x, y)| x - y).collect();
        let mut scatter: Vec<f64> =
            self.scatters[i].iter().zip(&self.scatters[j]).map(|(x, y)| x + y).collect();
        shape.add_outer(a * b / n, &apart, &apart, &mut scatter);
        (n, mean, scatter)
    }

    /// From large to small, without those that are as good as empty.
    pub fn sorted(self) -> Self {
        let total: f64 = self.counts.iter().sum();
        let mut order: Vec<usize> =
            (0..self.len()).filter(|&k| self.counts[k] > 1e-8 * total).collect();
        order.sort_by(|&a, &b| self.counts[b].total_cmp(&self.counts[a]));
        let mut sorted = Parts::default();
        for k in order {
            sorted.counts.push(self.counts[k]);
            sorted.means.push(self.means[k].clone());
            sorted.scatters.push(self.scatters[k].clone());
        }
        sorted
    }

    fn posterior(&self, k: usize, prior: &Hyper, shape: Shape) -> Option<Posterior> {
        posterior(self.counts[k], &self.means[k], self.scatters[k].clone(), prior, shape)
    }

    /// The clusters' expected log densities as kernels read them; `None` if one has none.
    pub fn densities(
        &self,
        prior: &Hyper,
        shape: Shape,
        ln_weight: impl Fn(usize) -> f64,
    ) -> Option<GaussianBlock> {
        let (d, of_means) = (shape.n_dims(), shape.of_means());
        let mut block = GaussianBlock::new(self.len(), d, of_means.is_diagonal());
        let mut shift = vec![0.0; d];
        for k in 0..self.len() {
            let q = self.posterior(k, prior, shape)?;
            let ln_det = shape.expected_ln_det(&q.precision);
            let whitening = shape.whitening(&q.precision, q.precision.nu.sqrt());
            of_means.lower_times(&whitening, &q.mean, &mut shift);
            let offset = ln_weight(k) + 0.5 * (ln_det - d as f64 / q.beta - d as f64 * LN_2PI);
            block.set(k, offset, &whitening, &shift);
        }
        Some(block)
    }

    /// E[ln pi_k] of stick-breaking weights, and their divergence from the prior. Clusters are sorted by size.
    pub fn sticks(&self, concentration: f64) -> (Vec<f64>, f64) {
        let mut rest: f64 = self.counts.iter().sum();
        let (mut before, mut divergence) = (0.0, 0.0);
        let mut ln_weight = |n: &f64| {
            rest -= n;
            let (a, b) = (1.0 + n, concentration + rest.max(0.0));
            let (ln_v, ln_rest) = beta::expected_ln(a, b);
            divergence += beta::divergence(a, b, 1.0, concentration);
            let ln_weight = ln_v + before;
            before += ln_rest;
            ln_weight
        };
        let ln_weights = self.counts.iter().map(&mut ln_weight).collect();
        (ln_weights, divergence)
    }

    /// What the bound gains if all orders of the clusters count and not just this one, which alone the sticks stand
    /// for: ln k! if they are of the same size, less if not. Clusters are sorted by size.
    pub fn ln_orders(&self, concentration: f64) -> f64 {
        let mut rest: f64 = self.counts.iter().sum();
        let mut of_next = |n: &f64| {
            let ln = ((concentration + rest) / (concentration + n)).ln();
            rest -= n;
            ln
        };
        // Some clusters are on their way out.
        self.counts.iter().filter(|n| **n >= 1.0).map(&mut of_next).sum()
    }

    /// KL(q(mu, Lambda) || prior) of all clusters.
    pub fn divergence(&self, prior: &Hyper, shape: Shape) -> Option<f64> {
        let prior_precision = shape.precision(prior.nu, prior.scatter.clone())?;
        let of_precision = shape.prior(prior.nu, &prior.scatter, prior_precision.ln_det_scatter);
        let mut sum = 0.0;
        for k in 0..self.len() {
            let q = self.posterior(k, prior, shape)?;
            let offset: Vec<f64> = q.mean.iter().zip(&prior.mean).map(|(m, p)| m - p).collect();
            let w = shape.scale(&q.precision);
            let square = shape.quadratic(q.precision.nu, &w, &offset);
            let ln_det = shape.stored_ln_det(&q.precision);
            sum += shape.divergence(&q.precision, &w, ln_det, &of_precision);
            sum += gaussian::divergence_given_precision(shape.n_dims(), q.beta, prior.beta, square);
        }
        Some(sum)
    }
}

fn posterior(
    n: f64,
    mean: &[f64],
    mut scatter: Vec<f64>,
    prior: &Hyper,
    shape: Shape,
) -> Option<Posterior> {
    let beta = prior.beta + n;
    let offset: Vec<f64> = mean.iter().zip(&prior.mean).map(|(m, p)| m - p).collect();
    shape.add_outer(prior.beta * n / beta, &offset, &offset, &mut scatter);
    scatter.iter_mut().zip(&prior.scatter).for_each(|(s, p)| *s += p);
    let precision = shape.precision(prior.nu + n, scatter)?;
    let mean = mean.iter().zip(&prior.mean).map(|(m, p)| (prior.beta * p + n * m) / beta).collect();
    Some(Posterior { beta, mean, precision })
}

/// ln p(the items of a cluster | prior), in closed form; `prior_ln` is the normaliser of the prior's precision.
pub fn evidence(
    n: f64,
    mean: &[f64],
    scatter: Vec<f64>,
    prior: &Hyper,
    prior_ln: f64,
    shape: Shape,
) -> f64 {
    let d = shape.n_dims() as f64;
    let Some(q) = posterior(n, mean, scatter, prior, shape) else { return f64::NEG_INFINITY };
    prior_ln - shape.ln_normaliser(&q.precision) + 0.5 * d * (prior.beta / q.beta).ln()
        - 0.5 * d * n * LN_2PI
}
