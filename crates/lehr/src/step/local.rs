//! Line 5 of Algorithm 1: the weighted statistics of a batch, shard by shard on all threads, summed
//! in an order that does not depend on the number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use crate::lambda::Lambda;
use crate::model::{Ask, Dataset, Local, Model, RowSet, RowShard, SHARD, Shard, Stats};
use crate::step::sample::{Batch, BlockList};
use crate::step::warm::Warm;

/// What a local pass found, beside the statistics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pass {
    /// The unweighted bound of the items of S_t; 0 if it was not asked for.
    pub bound: f64,
    /// What learning hyperparameters needs, summed over the items.
    pub hyper: Vec<f64>,
    /// Iterations of all local steps, if they iterate.
    pub iterations: u64,
    /// Seconds of all threads together that went into noise, where workers draw it.
    pub noise_seconds: f64,
}

/// Runs the local pass of a batch. The loop does not know where: on threads here, or on a cluster.
pub trait Executor<M: Model> {
    /// `stats <- sum_n w_n E_q[t_n]` for the rows in `stats.rows`, if asked for. Items begin from
    /// `warm`, if it is on, and leave their local state there if statistics are asked for.
    #[allow(clippy::too_many_arguments)]
    fn local_pass(
        &mut self,
        model: &M,
        expect: &M::Expect,
        data: &M::Data,
        batch: &Batch,
        ask: Ask,
        warm: &mut Warm,
        stats: &mut Stats,
    ) -> Pass;
}

/// A pass over rows that are blocks of their own.
struct RowWork<'a, M: Model> {
    model: &'a M,
    expect: &'a M::Expect,
    data: &'a M::Data,
    batch: &'a Batch,
    blocks: &'a BlockList,
    ask: Ask,
}

/// Items in a shard of rows, at least. Not part of any result.
const LEAST_ITEMS: usize = 8192;

/// Items in a shard, at most, for each number in a row's statistics. A worker reads all moments of the
/// other side for each shard, so wide rows want long shards; what it notes about the items themselves
/// should stay in a cache, so narrow rows want short ones.
const ITEMS_PER_COLUMN: usize = 512;

/// Shards that each thread has to itself at least, where there is that much work.
const SHARDS_PER_THREAD: usize = 2;

impl<M: Model> Threads<M> {
    /// Statistics row by row: every row belongs to one shard, so there is nothing to merge.
    fn row_pass(&mut self, work: RowWork<'_, M>, stats: &mut Stats) -> Pass {
        let RowWork { model, blocks, ask, .. } = work;
        let n_threads = rayon::current_num_threads();
        self.reserve(model, n_threads);
        stats.fit_to_rows();
        let (width, n_slots) = (stats.width(), blocks.rows.len());
        let mut bounds = vec![0.0; if ask.bound { n_slots } else { 0 }];
        let mut tasks = Vec::new();
        let (mut left, mut left_bounds) = (stats.values_mut(), &mut bounds[..]);
        let share = work.batch.size / (SHARDS_PER_THREAD * n_threads);
        let most = share.min(ITEMS_PER_COLUMN * width).max(LEAST_ITEMS);
        let mut first = 0;
        while first < n_slots {
            // Rows without items are work, too.
            let size = |end: usize| blocks.starts[end] - blocks.starts[first] + end - first;
            let mut end = first + 1;
            while end < n_slots && size(end + 1) <= most {
                end += 1;
            }
            let (stats, rest) = left.split_at_mut((end - first) * width);
            left = rest;
            let (bounds, rest) = left_bounds.split_at_mut(if ask.bound { end - first } else { 0 });
            left_bounds = rest;
            tasks.push((first..end, stats, bounds));
            first = end;
        }
        let workers = &self.workers;
        let noise: Vec<f64> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(slots, stats, bounds)| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut worker = workers[thread].lock().unwrap_or_else(PoisonError::into_inner);
                work.shard(slots, &mut worker, stats, bounds)
            })
            .collect();
        // In order of the rows, whatever the shards.
        let bound = bounds.iter().sum();
        Pass {
            bound,
            hyper: vec![0.0; model.hyper_width()],
            noise_seconds: noise.iter().sum(),
            ..Pass::default()
        }
    }
}

impl<M: Model> RowWork<'_, M> {
    /// One shard; returns the seconds that its noise took.
    fn shard(
        &self,
        slots: Range<usize>,
        worker: &mut Worker<M>,
        stats: &mut [f64],
        bounds: &mut [f64],
    ) -> f64 {
        let RowWork { model, expect, data, batch, blocks, ask } = self;
        let rows: Vec<u32> = slots.clone().map(|slot| blocks.rows.row(slot) as u32).collect();
        let starts = &blocks.starts[slots.start..=slots.end];
        let listed = starts[0]..starts[rows.len()];
        let items = (!batch.items.is_empty()).then(|| &batch.items[listed]);
        let shard = |weights| RowShard {
            data: *data,
            phase: blocks.phase,
            rows: &rows,
            starts,
            items,
            weights,
        };
        let begin = Instant::now();
        let Worker { scratch, weights } = worker;
        let noisy = ask.stats && blocks.noise.is_some_and(|noise| noise.weights(starts, weights));
        let seconds = if noisy { begin.elapsed().as_secs_f64() } else { 0.0 };
        if ask.bound || !noisy {
            // Noise never touches the bound.
            model.row_step(expect, shard(None), *ask, scratch, stats, bounds);
        }
        if noisy {
            let ask = Ask { bound: false, ..*ask };
            model.row_step(expect, shard(Some(weights)), ask, scratch, stats, &mut []);
        }
        // N/|S| of each row.
        let width = stats.len() / rows.len();
        for (slot, stats) in slots.zip(stats.chunks_exact_mut(width)) {
            let (size, population) = (blocks.size(slot), blocks.populations[slot]);
            if size < population && size > 0 {
                let scale = population as f64 / size as f64;
                stats.iter_mut().for_each(|x| *x *= scale);
            }
        }
        data.release(items.map_or(0, <[u32]>::len));
        seconds
    }
}

/// One shard's bounds, and the room for its weights; reused from pass to pass.
struct Slot {
    weights: Vec<f64>,
    bounds: Vec<f64>,
    bound: f64,
    warm: Vec<f32>,
}

/// The threads of the surrounding rayon pool.
pub struct Threads<M: Model> {
    slots: Vec<Slot>,
    locals: Vec<M::Local>,
    /// One per thread, which alone uses it; the lock only proves that to the compiler.
    workers: Vec<Mutex<Worker<M>>>,
}

/// The buffers of a thread.
struct Worker<M: Model> {
    scratch: M::Scratch,
    /// The annealing weights of a shard of rows.
    weights: Vec<f32>,
}

impl<M: Model> Threads<M> {
    /// Buffers are made at the first pass.
    pub fn new() -> Self {
        Threads { slots: Vec::new(), locals: Vec::new(), workers: Vec::new() }
    }

    fn reserve(&mut self, model: &M, n_threads: usize) {
        self.workers.resize_with(n_threads.max(self.workers.len()), || {
            Mutex::new(Worker { scratch: model.scratch(), weights: Vec::new() })
        });
    }

    fn prepare(&mut self, model: &M, n_slots: usize, n_items: usize, n_threads: usize) {
        let layout = model.layout();
        self.reserve(model, n_threads);
        self.locals.resize_with(n_slots.max(self.locals.len()), || M::Local::new(&layout));
        self.slots.resize_with(n_slots.max(self.slots.len()), || Slot {
            weights: vec![0.0; n_items],
            bounds: vec![0.0; n_items],
            bound: 0.0,
            warm: Vec::new(),
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
        warm: &mut Warm,
        stats: &mut Stats,
    ) -> Pass {
        if let Some(blocks) = &batch.blocks {
            let work = RowWork { model, expect, data, batch, blocks, ask };
            return self.row_pass(work, stats);
        }
        let sharding = model.sharding();
        let n_shards = batch.items.len().div_ceil(sharding.items);
        let wave = sharding.wave.min(n_shards.max(1));
        self.prepare(model, wave, sharding.items, rayon::current_num_threads());
        let Threads { slots, locals, workers } = self;
        let mut pass = Pass { hyper: vec![0.0; model.hyper_width()], ..Pass::default() };
        if ask.stats {
            stats.fit_to_rows();
            if n_shards == 0 {
                stats.clear();
            }
        }
        for first in (0..n_shards).step_by(wave) {
            let in_flight = wave.min(n_shards - first);
            let (slots, locals) = (&mut slots[..in_flight], &mut locals[..in_flight]);
            let run = |(i, (slot, local)): (usize, (&mut Slot, &mut M::Local))| {
                // Outside of a pool of ours these are the threads of the global one, numbered as well.
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut worker = workers[thread].lock().unwrap_or_else(PoisonError::into_inner);
                let begin = (first + i) * sharding.items;
                let range = begin..(begin + sharding.items).min(batch.items.len());
                let pass = Piece { model, expect, data, batch, ask, rows: &stats.rows, range };
                slot.run(pass, warm, &mut worker.scratch, local);
            };
            // One shard at a time: shards are few and long.
            slots
                .par_iter_mut()
                .zip(locals.par_iter_mut())
                .enumerate()
                .with_max_len(1)
                .for_each(run);
            for (i, (slot, local)) in slots.iter().zip(&*locals).enumerate() {
                pass.bound += slot.bound;
                pass.iterations += local.iterations();
                local.add_hyper(&mut pass.hyper);
                // Only the items of S_t: those that merely carry noise are somewhere else in time. And
                // only in a step: to look at the bound must not change how a fit goes on.
                if ask.stats {
                    let begin = (first + i) * sharding.items;
                    let end = (begin + sharding.items).min(batch.size).max(begin);
                    warm.keep(&batch.items[begin..end], local.warm());
                }
            }
            if ask.stats {
                let width = stats.width();
                let Stats { rows, table } = stats;
                let chunk = rows.part(width);
                table.values_mut().par_chunks_mut(chunk * width).enumerate().for_each(
                    |(c, out)| {
                        if first == 0 {
                            out.fill(0.0);
                        }
                        let range = c * chunk..c * chunk + out.len() / width;
                        M::Local::gather(locals, expect, rows, range, ask, out);
                    },
                );
            }
        }
        pass
    }
}

/// The work of one shard.
struct Piece<'a, M: Model> {
    model: &'a M,
    expect: &'a M::Expect,
    data: &'a M::Data,
    batch: &'a Batch,
    ask: Ask,
    rows: &'a RowSet,
    range: Range<usize>,
}

impl Slot {
    fn run<M: Model>(
        &mut self,
        piece: Piece<'_, M>,
        warm: &Warm,
        scratch: &mut M::Scratch,
        local: &mut M::Local,
    ) {
        let Piece { model, expect, data, batch, ask, rows, range } = piece;
        let items = &batch.items[range.clone()];
        let own = data.item_weights();
        let weights = &mut self.weights[..items.len()];
        weights.copy_from_slice(&batch.weights[range.clone()]);
        if let Some(own) = own {
            weights.iter_mut().zip(items).for_each(|(w, &n)| *w *= own[n as usize]);
        }
        local.clear();
        warm.fetch(items, &mut self.warm);
        let bounds = &mut self.bounds[..items.len()];
        let shard = Shard { data, items, weights, rows, warm: &self.warm };
        model.local_step(expect, shard, ask, scratch, local, bounds);
        data.release(items.len());
        if !ask.bound {
            self.bound = 0.0;
            return;
        }
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
    lambda: &Lambda,
    data: &M::Data,
    items: &[u32],
) -> Vec<f64> {
    let mut out = vec![0.0; items.len()];
    let layout = model.layout();
    out.par_chunks_mut(SHARD).zip(items.par_chunks(SHARD)).for_each_init(
        || (model.scratch(), RowSet::all(layout.n_rows)),
        |(scratch, rows), (out, items)| {
            model.support(data, items, rows);
            let weights = [1.0; SHARD];
            let weights = &weights[..items.len()];
            let shard = Shard { data, items, weights, rows, warm: &[] };
            model.log_predictive(lambda, shard, scratch, out);
        },
    );
    out
}
