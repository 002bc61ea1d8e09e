//! Lines 2 to 4 of Algorithm 1, the only home of SVI+: annealing weights 1 + eps_n - mean(eps).
//!
//! M below the real batch size |S| asks for noise of the size that a batch of M items would have.
//! Every law here gives weights whose noise has the same mean and covariance for whole M >= 1; they
//! differ in shape. `gamma` and `subsample` have no weights for less than one item, and `subsample`
//! none for parts of one: they take the nearest M they can.
//!
//! `lagged` and `exact` put noise on items that are not in the batch as well: these follow those of S_t, and count for
//! nothing else.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::math::kernels::{Isa, NORMAL_BLOCK_F32, fill_normal, fill_normal_f32};
use crate::math::rng::{Address, Purpose};
use crate::settings::choices;
use crate::step::sample::{Batch, RowBatch, Sampler};
use crate::step::schedule::Effective;

choices! {
    /// The distribution of the annealing noise.
    #[derive(Default)]
    pub enum Law {
        /// The paper's: centred normal numbers. Weights can be negative.
        #[default]
        Gaussian = "gaussian",
        /// Self-normalised Gamma numbers (Dirichlet weights): never negative.
        Gamma = "gamma",
        /// M of the |S| items, each with weight |S|/M: plain SVI with a batch of M, as a control.
        Subsample = "subsample",
        /// Normal noise on the statistics of the previous batch. With independent batches
        /// (`with-replacement`) the noise's skewness falls as 1/tau^2 again (tau = |S|/M), as the theorem
        /// says; its distance from a Gaussian does not, because a batch's variance still fluctuates. A full
        /// batch is its own predecessor. Costs a second batch per noisy step.
        Lagged = "lagged",
        /// Normal noise with the exact covariance of all items' statistics, which Algorithm 1 estimates from the
        /// batch: the paper's xi before its approximation, and what its theorem is about. The noise sits on all
        /// items, so a noisy step is a pass over the data. With a full batch it is `gaussian` with the paper's
        /// variance.
        Exact = "exact",
    }
}

impl Law {
    /// Whether the noise of a batch needs nothing but this batch, so that it works where every row has its
    /// own, and for anybody's gradients.
    pub fn works_in_blocks(self) -> bool {
        !self.needs_others()
    }

    /// Whether items that are not in the batch carry noise.
    pub fn needs_others(self) -> bool {
        matches!(self, Law::Lagged | Law::Exact)
    }
}

/// When and how statistics are made noisy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anneal {
    /// M_t.
    pub effective: Effective,
    /// The noise's distribution.
    pub law: Law,
    /// Multiply the variance by |S|/(|S|-1), which a batch's own covariance lacks; the paper's
    /// formula does not. The covariance of all items (`exact`) lacks nothing.
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

    /// The noise of step `t` where every row has its own batch: each has its own |S|, and its noise is
    /// centred by itself. The workers draw it, by [`RowNoise::weights`].
    pub fn weigh_rows(&self, t: u64, batch: &mut RowBatch) {
        let noise = RowNoise { anneal: *self, step: t, phase: batch.phase };
        let noisy = (0..batch.rows.len()).any(|i| noise.effective(batch.size(i)).is_some());
        batch.noise = noisy.then_some(noise);
    }

    /// Puts the annealing weights of step `t` on the batch. Without noise they stay exactly 1.
    pub fn weigh(&self, t: u64, sampler: &mut Sampler, batch: &mut Batch) {
        let Some(m) = self.effective_at(t, batch.size) else { return };
        batch.noisy = true;
        let corrected = self.corrected && self.law != Law::Exact;
        batch.variance = variance(batch.size as f64, m, corrected);
        let address = Address::new(self.seed, Purpose::Noise, self.restart, t);
        if self.law == Law::Exact && batch.size < sampler.n_items() {
            exact(batch, sampler.n_items(), address);
        } else if self.law == Law::Lagged {
            // S_t keeps weights of 1; the previous batch carries the centred noise alone.
            sampler.append(t - 1, &mut batch.items);
            let mut noise = vec![0.0; batch.items.len() - batch.size];
            weights(self.law, m, self.corrected, address, &mut noise);
            batch.weights.extend(noise.iter().map(|w| w - 1.0));
        } else if matches!(self.law, Law::Gaussian | Law::Exact) && batch.variance > 0.0 {
            batch.noise = Some(gaussian(batch.variance, address, &mut batch.weights));
        } else {
            weights(self.law, m, self.corrected, address, &mut batch.weights);
        }
    }
}

/// Gaussian annealing weights of a batch, of which any part can be drawn anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Normal {
    address: Address,
    mean: f64,
    deviation: f64,
}

impl Normal {
    /// The weights of the items from place `first` of the batch on.
    pub fn fill(&self, first: usize, out: &mut [f64]) {
        // What `fill_normal` draws together.
        const TOGETHER: usize = 32;
        let skipped = first % TOGETHER;
        let mut drawn = vec![0.0; skipped + out.len()];
        fill_normal(Isa::detect(), &self.address, first - skipped, &mut drawn);
        out.iter_mut().zip(&drawn[skipped..]).for_each(|(w, &x)| *w = self.weight(x));
    }

    #[inline(always)]
    fn weight(&self, x: f64) -> f64 {
        1.0 + self.deviation * (x - self.mean)
    }
}

/// The noise of a step whose rows have batches of their own: a pure function of the row's |S| and of where
/// its items stand in the phase, so that any worker can draw any part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowNoise {
    anneal: Anneal,
    step: u64,
    phase: usize,
}

impl RowNoise {
    /// M of a block of this many items; `None` if it has no noise.
    #[inline]
    pub fn effective(&self, size: usize) -> Option<f64> {
        self.anneal.effective_at(self.step, size)
    }

    /// The weights of neighbouring blocks, whose items start at `starts` of the batch (and end at its
    /// last). False, and no weights, if none of them has noise.
    pub fn weights(&self, starts: &[usize], out: &mut Vec<f32>) -> bool {
        out.clear();
        let sizes = starts.windows(2).map(|pair| pair[1] - pair[0]);
        if sizes.clone().all(|size| self.effective(size).is_none()) {
            return false;
        }
        let Anneal { law, corrected, seed, restart, .. } = self.anneal;
        let address = Address::new(seed, Purpose::Noise, restart, self.step);
        // Passes of a step have stretches of the address to themselves.
        let offset = self.phase << 36;
        let (first, last) = (starts[0], starts[starts.len() - 1]);
        if law == Law::Gaussian {
            // All at once: its own block would waste what it does not need of the last draws.
            let skipped = first % NORMAL_BLOCK_F32;
            out.resize(skipped + last - first, 0.0);
            fill_normal_f32(Isa::detect(), &address, offset + first - skipped, out);
            out.drain(..skipped);
        } else {
            out.resize(last - first, 0.0);
        }
        let mut rest = &mut out[..];
        let mut numbers = Vec::new();
        for (size, &start) in sizes.zip(starts) {
            let (block, others) = rest.split_at_mut(size);
            rest = others;
            let Some(m) = self.effective(size) else {
                block.fill(1.0);
                continue;
            };
            let variance = variance(size as f64, m, corrected);
            if law == Law::Gaussian {
                let mean = sum_of(block) / size as f64;
                let (mean, deviation) = (mean as f32, variance.sqrt() as f32);
                block.iter_mut().for_each(|w| *w = 1.0 + deviation * (*w - mean));
                continue;
            }
            numbers.resize(size, 0.0);
            let address = address.from(offset + start);
            match law {
                Law::Gamma => gamma(variance, address, &mut numbers),
                Law::Subsample => subsample(m, address, &mut numbers),
                Law::Gaussian | Law::Lagged | Law::Exact => {
                    unreachable!("drawn above, or refused by the plan")
                }
            }
            block.iter_mut().zip(&numbers).for_each(|(w, &x)| *w = x as f32);
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
    let variance = variance(out.len() as f64, effective, corrected && law != Law::Exact);
    if out.len() < 2 || variance.is_nan() || variance <= 0.0 {
        out.fill(1.0);
        return;
    }
    match law {
        // Of all items, if the law is exact: a batch's own covariance is that of all there are.
        Law::Gaussian | Law::Lagged | Law::Exact => {
            gaussian(variance, address, out);
        }
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

/// Runs `work` on every chunk, with its number; in parallel if there is more than one and this is a thread
/// of a pool. A caller's own thread does the work alone: the global pool is not ours to start.
fn each_chunk<T: Send>(out: &mut [f64], work: impl Fn(usize, &mut [f64]) -> T + Sync) -> Vec<T> {
    if out.len() <= CHUNK || rayon::current_thread_index().is_none() {
        return out.chunks_mut(CHUNK).enumerate().map(|(c, chunk)| work(c, chunk)).collect();
    }
    out.par_chunks_mut(CHUNK).enumerate().map(|(c, chunk)| work(c, chunk)).collect()
}

fn gaussian(variance: f64, address: Address, out: &mut [f64]) -> Normal {
    let isa = Isa::detect();
    // Sums per chunk, added in order of the chunks: the same bits for any number of threads.
    let sums = each_chunk(out, |c, chunk| {
        let mut sum = 0.0;
        for (s, strip) in chunk.chunks_mut(STRIP).enumerate() {
            fill_normal(isa, &address, c * CHUNK + s * STRIP, strip);
            sum += sum_of(strip);
        }
        sum
    });
    let mean = sums.iter().sum::<f64>() / out.len() as f64;
    let normal = Normal { address, mean, deviation: variance.sqrt() };
    each_chunk(out, |_, chunk| {
        for w in chunk {
            *w = normal.weight(*w);
        }
    });
    normal
}

/// Puts the noise N xi, xi ~ N(0, (1/M - 1/|S|) C), C being the covariance of the statistics of all `n_items`, on a batch
/// whose variance is |S|/M - 1. Without C: sum_n (e_n - mean(e)) t_n over all items has the covariance n_items C for
/// standard normal e, and line 6 multiplies what is summed by N/|S|; hence the factor |S|/n_items of the variance. Items of
/// S_t carry theirs next to their weight of 1, so that every item has one local step.
fn exact(batch: &mut Batch, n_items: usize, address: Address) {
    let mut noise = vec![0.0; n_items];
    gaussian(batch.variance * batch.size as f64 / n_items as f64, address, &mut noise);
    noise.iter_mut().for_each(|w| *w -= 1.0);
    let mut is_left = vec![true; n_items];
    for (&item, weight) in batch.items.iter().zip(&mut batch.weights) {
        // An item that was drawn twice carries its noise once.
        if std::mem::take(&mut is_left[item as usize]) {
            *weight += noise[item as usize];
        }
    }
    for (item, weight) in noise.into_iter().enumerate().filter(|&(item, _)| is_left[item]) {
        batch.items.push(item as u32);
        batch.weights.push(weight);
    }
}

/// Eight running sums, then their sum: additions need not wait for each other.
fn sum_of<R: Copy + Into<f64>>(numbers: &[R]) -> f64 {
    let mut sums = [0.0; 8];
    let eights = numbers.chunks_exact(8);
    let rest: f64 = eights.remainder().iter().map(|&x| x.into()).sum();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &x)| *sum += x.into());
    }
    sums.iter().sum::<f64>() + rest
}

/// Dirichlet weights: n g_i / sum(g) with g_i ~ Gamma(1/v - 1/n) have variance v (1 - 1/n).
fn gamma(variance: f64, address: Address, out: &mut [f64]) {
    let size = out.len() as f64;
    let shape = (1.0 / variance - 1.0 / size).max(0.0);
    if shape > 0.0 {
        each_chunk(out, |c, chunk| {
            for (n, w) in chunk.iter_mut().enumerate() {
                *w = address.rng((c * CHUNK + n) as u64).gamma(shape);
            }
        });
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
