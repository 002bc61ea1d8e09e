//! Line 5 of Algorithm 1: the weighted statistics of a batch, shard by shard on all threads, summed
//! in an order that does not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::model::{Ask, Dataset, Model, Shard, Stats};
use crate::step::sample::Batch;

/// Items in a shard. Part of the results' definition: sums are made per shard, then over shards.
pub const SHARD: usize = 512;

/// Numbers that the statistics of all shards in flight may hold together (8 MB: they stay in cache).
const IN_FLIGHT: usize = 1 << 20;

/// Shards in flight per thread at most. All threads wait for each other between waves, which takes
/// long where the machine is shared; so waves are long.
const WAVE: usize = 128;

/// Runs the local pass of a batch. The loop does not know where: on threads here, or on a cluster.
pub trait Executor<M: Model> {
    /// `stats <- sum_n w_n E_q[t_n]` if asked for; returns the unweighted bound of the items of S_t.
    fn local_pass(
        &mut self,
        model: &M,
        expect: &M::Expect,
        data: &M::Data,
        batch: &Batch,
        ask: Ask,
        stats: &mut Stats,
    ) -> f64;
}

/// One shard's results, and the room for its weights; reused from pass to pass.
struct Slot {
    stats: Stats,
    weights: Vec<f64>,
    bounds: Vec<f64>,
    bound: f64,
}

/// The threads of the surrounding rayon pool.
pub struct Threads<M: Model> {
    slots: Vec<Slot>,
    /// One per thread, which alone uses it; the lock only proves that to the compiler.
    scratch: Vec<Mutex<M::Scratch>>,
}

impl<M: Model> Threads<M> {
    /// Buffers are made at the first pass.
    pub fn new() -> Self {
        Threads { slots: Vec::new(), scratch: Vec::new() }
    }

    fn prepare(&mut self, model: &M, n_slots: usize, n_threads: usize) {
        let layout = model.layout();
        self.scratch.resize_with(n_threads.max(self.scratch.len()), || Mutex::new(model.scratch()));
        self.slots.resize_with(n_slots.max(self.slots.len()), || Slot {
            stats: Stats::new(layout.n_rows, layout.raw_width),
            weights: vec![0.0; SHARD],
            bounds: vec![0.0; SHARD],
            bound: 0.0,
        });
    }
}

impl<M: Model> Default for Threads<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Model> Executor<M> for Threads<M> {
    fn local_pass(
        &mut self,
        model: &M,
        expect: &M::Expect,
        data: &M::Data,
        batch: &Batch,
        ask: Ask,
        stats: &mut Stats,
    ) -> f64 {
        let n_shards = batch.items.len().div_ceil(SHARD);
        // How many shards are in flight does not matter for the result.
        let threads = rayon::current_num_threads();
        let affordable = IN_FLIGHT / stats.values().len().max(1);
        let wave = affordable.clamp(2 * threads, WAVE * threads).min(n_shards.max(1));
        self.prepare(model, wave, threads);
        let Threads { slots, scratch } = self;
        let mut bound = 0.0;
        stats.clear();
        for first in (0..n_shards).step_by(wave) {
            let in_flight = &mut slots[..wave.min(n_shards - first)];
            in_flight.par_iter_mut().enumerate().for_each(|(i, slot)| {
                // Outside of a pool of ours these are the threads of the global one, numbered as well.
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut scratch = scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
                slot.run(model, expect, data, batch, first + i, ask, &mut scratch);
            });
            bound = in_flight.iter().fold(bound, |sum, slot| sum + slot.bound);
            if ask.stats {
                // Entry by entry in parallel, but each entry's sum runs over the shards in order.
                let parts: Vec<&[f64]> = in_flight.iter().map(|s| s.stats.values()).collect();
                let chunk = (stats.values().len() / 64).max(1024);
                stats.values_mut().par_chunks_mut(chunk).enumerate().for_each(|(c, out)| {
                    for part in &parts {
                        let part = &part[c * chunk..][..out.len()];
                        out.iter_mut().zip(part).for_each(|(o, p)| *o += p);
                    }
                });
            }
        }
        bound
    }
}

impl Slot {
    #[allow(clippy::too_many_arguments)]
    fn run<M: Model>(
        &mut self,
        model: &M,
        expect: &M::Expect,
        data: &M::Data,
        batch: &Batch,
        shard: usize,
        ask: Ask,
        scratch: &mut M::Scratch,
    ) {
        let range = shard * SHARD..((shard + 1) * SHARD).min(batch.items.len());
        let items = &batch.items[range.clone()];
        let own = data.item_weights();
        let weights = &mut self.weights[..items.len()];
        weights.copy_from_slice(&batch.weights[range.clone()]);
        if let Some(own) = own {
            weights.iter_mut().zip(items).for_each(|(w, &n)| *w *= own[n as usize]);
        }
        if ask.stats {
            self.stats.clear();
        }
        let bounds = &mut self.bounds[..items.len()];
        let shard = Shard { data, items, weights };
        model.local_step(expect, shard, ask, scratch, &mut self.stats, bounds);
        // Noise never touches the bound: items beyond S_t do not count, weights are the items' own.
        let counted = batch.size.saturating_sub(range.start).min(items.len());
        self.bound = match own {
            None => bounds[..counted].iter().sum(),
            Some(own) => {
                bounds[..counted].iter().zip(items).map(|(b, &n)| b * own[n as usize]).sum()
            }
        };
    }
}

/// The log predictive density of each of `items`, in their order.
pub fn log_predictive<M: Model>(
    model: &M,
    lambda: &crate::math::table::Table,
    data: &M::Data,
    items: &[u32],
) -> Vec<f64> {
    let mut out = vec![0.0; items.len()];
    out.par_chunks_mut(SHARD).zip(items.par_chunks(SHARD)).for_each_init(
        || model.scratch(),
        |scratch, (out, items)| {
            let weights = [1.0; SHARD];
            let shard = Shard { data, items, weights: &weights[..items.len()] };
            model.log_predictive(lambda, shard, scratch, out);
        },
    );
    out
}
