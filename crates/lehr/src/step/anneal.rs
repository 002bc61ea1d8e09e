//! Lines 2 to 4 of Algorithm 1, the only home of SVI+: annealing weights 1 + eps_n - mean(eps).
//!
//! M below the real batch size |S| asks for noise of the size that a batch of M items would have.
//! Every law here gives weights whose noise has the same mean and covariance for whole M >= 1; they
//! differ in shape. `gamma` and `subsample` have no weights for less than one item, and `subsample`
//! none for parts of one: they take the nearest M they can.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::math::kernels::{Isa, fill_normal};
use crate::math::rng::{Address, Purpose};
use crate::step::sample::{Batch, Sampler};
use crate::step::schedule::Effective;

/// The distribution of the annealing noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The paper's: centred normal numbers. Weights can be negative.
    #[default]
    Gaussian,
    /// Self-normalised Gamma numbers (Dirichlet weights): never negative.
    Gamma,
    /// M of the |S| items, each with weight |S|/M: plain SVI with a batch of M, as a control.
    Subsample,
    /// Normal noise on the statistics of the previous batch. With independent batches
    /// (`with-replacement`) that restores the theorem's rate; a full batch is its own predecessor. Costs a second batch per noisy step.
    Lagged,
}

/// When and how statistics are made noisy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anneal {
    /// M_t.
    pub effective: Effective,
    /// The noise's distribution.
    pub law: Law,
    /// Multiply the variance by |S|/(|S|-1), which a batch's own covariance lacks; the paper's
    /// formula does not.
    pub corrected: bool,
    /// The last step that may be noisy.
    pub until: u64,
    /// Where the random numbers live.
    pub seed: u64,
    /// Which restart this is.
    pub restart: u32,
}

impl Anneal {
    /// M at step `t` (from 1); `None` if the step has no noise.
    pub fn effective_at(&self, t: u64, batch: usize) -> Option<f64> {
        if t > self.until || batch < 2 {
            return None;
        }
        self.effective.at(t, batch)
    }

    /// Puts the annealing weights of step `t` on the batch. Without noise they stay exactly 1.
    ///
    /// True if there is noise.
    pub fn weigh(&self, t: u64, sampler: &mut Sampler, batch: &mut Batch) -> bool {
        let Some(m) = self.effective_at(t, batch.size) else {
            return false;
        };
        batch.noisy = true;
        batch.variance = variance(batch.size as f64, m, self.corrected);
        let address = Address::new(self.seed, Purpose::Noise, self.restart, t);
        if self.law == Law::Lagged {
            // S_t keeps weights of 1; the previous batch carries the centred noise alone.
            sampler.append(t - 1, &mut batch.items);
            let mut noise = vec![0.0; batch.items.len() - batch.size];
            weights(self.law, m, self.corrected, address, &mut noise);
            batch.weights.extend(noise.iter().map(|w| w - 1.0));
        } else {
            weights(self.law, m, self.corrected, address, &mut batch.weights);
        }
        true
    }
}

/// Annealing weights for any stochastic gradient: multiply example n's loss or gradient by `out[n]`.
///
/// `out.len()` is |S|, `effective` is M. The weights have mean exactly 1 over the batch (up to
/// rounding), and the weighted sum has the covariance of a batch of M examples. If M >= |S| they
/// are exactly 1.
///
/// ```
/// use lehr::math::rng::{Address, Purpose};
/// use lehr::step::anneal::{Law, weights};
///
/// let mut w = [0.0; 100];
/// weights(Law::Gaussian, 25.0, true, Address::new(1, Purpose::Noise, 0, 1), &mut w);
/// assert!((w.iter().sum::<f64>() - 100.0).abs() < 1e-10);
/// ```
pub fn weights(law: Law, effective: f64, corrected: bool, address: Address, out: &mut [f64]) {
    let variance = variance(out.len() as f64, effective, corrected);
    if out.len() < 2 || variance.is_nan() || variance <= 0.0 {
        out.fill(1.0);
        return;
    }
    match law {
        Law::Gaussian | Law::Lagged => gaussian(variance, address, out),
        Law::Gamma => gamma(variance, address, out),
        Law::Subsample => subsample(effective, address, out),
    }
}

/// The variance of an annealing weight.
fn variance(size: f64, effective: f64, corrected: bool) -> f64 {
    let paper = size / effective - 1.0;
    if corrected { paper * (size / (size - 1.0)) } else { paper }
}

/// Numbers that one worker draws at a time: they fit its second-level cache.
const CHUNK: usize = 16_384;

/// Numbers that are summed while they are still in the first-level cache. Like `CHUNK` a multiple of
/// the 32 that `fill_normal` draws together, and part of the definition of the mean.
const STRIP: usize = 1024;

fn gaussian(variance: f64, address: Address, out: &mut [f64]) {
    let isa = Isa::detect();
    // Sums per chunk, added in order of the chunks: the same bits for any number of threads.
    let sums: Vec<f64> = out
        .par_chunks_mut(CHUNK)
        .enumerate()
        .map(|(c, chunk)| {
            let mut sum = 0.0;
            for (s, strip) in chunk.chunks_mut(STRIP).enumerate() {
                fill_normal(isa, &address, c * CHUNK + s * STRIP, strip);
                sum += sum_of(strip);
            }
            sum
        })
        .collect();
    let mean = sums.iter().sum::<f64>() / out.len() as f64;
    let deviation = variance.sqrt();
    out.par_chunks_mut(CHUNK).for_each(|chunk| {
        for w in chunk {
            *w = 1.0 + deviation * (*w - mean);
        }
    });
}

/// Eight running sums, then their sum: additions need not wait for each other.
fn sum_of(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let eights = numbers.chunks_exact(8);
    let rest: f64 = eights.remainder().iter().sum();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, x)| *sum += x);
    }
    sums.iter().sum::<f64>() + rest
}

/// Dirichlet weights: n g_i / sum(g) with g_i ~ Gamma(1/v - 1/n) have variance v (1 - 1/n).
fn gamma(variance: f64, address: Address, out: &mut [f64]) {
    let size = out.len() as f64;
    let shape = (1.0 / variance - 1.0 / size).max(0.0);
    if shape > 0.0 {
        out.par_iter_mut().enumerate().for_each(|(n, w)| *w = address.rng(n as u64).gamma(shape));
    }
    let sum: f64 = out.iter().sum();
    if shape > 0.0 && sum > 0.0 {
        out.iter_mut().for_each(|w| *w *= size / sum);
    } else {
        // The limit of vanishing shape (M = 1): one item has all the weight.
        out.fill(0.0);
        out[address.rng(0).below(size as u64) as usize] = size;
    }
}

fn subsample(effective: f64, address: Address, out: &mut [f64]) {
    let n = out.len();
    let chosen = (effective.round() as usize).clamp(1, n);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut rng = address.rng(0);
    out.fill(0.0);
    for i in 0..chosen {
        order.swap(i, i + rng.below((n - i) as u64) as usize);
        out[order[i] as usize] = n as f64 / chosen as f64;
    }
}
