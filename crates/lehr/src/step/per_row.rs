//! Passes in which every row of lambda has its own batch: its own items, |S|, N, M and noise. Each
//! phase of a step has a pass, which sees what the phases before it have done.

use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::Result;
use crate::lambda::Lambda;
use crate::math::stop;
use crate::model::{Ask, Dataset, Model, RowSet, RowShard, Stats};
use crate::settings::Plan;
use crate::step::anneal::Anneal;
use crate::step::engine::{Engine, Sizes, Sums, Threads, Work, Worker};
use crate::step::pass::Pass;
use crate::step::sample::{RowBatch, Sampler};
use crate::step::update::{Step, Steps};
use crate::step::warm::Warm;

/// Every row has its own batch.
pub struct PerRow {
    sampler: Sampler,
    anneal: Anneal,
    batch: RowBatch,
    steps: Vec<Step>,
}

/// Items in a shard of rows, at least. Not part of any result.
const LEAST_ITEMS: usize = 8192;

/// Items in a shard, at most, for each number in a row's statistics. A worker reads all moments of the
/// other side for each shard, so wide rows want long shards; what it notes about the items themselves
/// should stay in a cache, so narrow rows want short ones.
const ITEMS_PER_COLUMN: usize = 512;

/// Shards that each thread has to itself at least, where there is that much work.
const SHARDS_PER_THREAD: usize = 2;

impl<M: Model<Pass = PerRow>> Pass<M> for PerRow {
    type Shard<'a>
        = RowShard<'a, M::Data>
    where
        M: 'a;
    type Sums<'a>
        = &'a mut [f64]
    where
        M: 'a;
    type Batch = RowBatch;
    type Buffers = ();

    /// The update solves for all rows, as `begin` does, and the other passes are like the first. Lambda is most of what
    /// such a fit holds: to copy it takes a fifth of the time of a short step, and as much memory again.
    const LONG: Duration = Duration::from_secs(2);

    fn of_a_step(model: &M, sizes: &Sizes, plan: &Plan, stream: u32) -> Result<Vec<Self>> {
        let layout = model.layout();
        let pass = |(phase, groups): (usize, &Vec<usize>)| PerRow {
            sampler: Sampler::new(sizes.n_items, plan.batch, plan.sampling, plan.seed, stream)
                .for_pass(phase),
            anneal: plan.anneal(stream),
            batch: RowBatch::all(&layout, phase, groups),
            steps: Vec::new(),
        };
        Ok(sizes.groups.iter().enumerate().map(pass).collect())
    }

    fn phases(&self) -> Range<usize> {
        self.batch.phase..self.batch.phase + 1
    }

    /// From here on every update refreshes the rows it has written.
    fn begin(model: &M, lambda: &Lambda, expect: &mut M::Expect) {
        model.refresh(lambda, &RowSet::all(lambda.n_rows()), expect);
    }

    fn draw(&mut self, t: u64, sizes: &Sizes) {
        self.sampler.draw_rows(t, &sizes.groups[self.batch.phase], &mut self.batch);
    }

    /// Workers draw the weights themselves.
    fn weigh(&mut self, t: u64) {
        self.anneal.weigh_rows(t, &mut self.batch);
    }

    fn refresh(
        &mut self,
        _model: &M,
        _engine: &mut dyn Engine<M>,
        _lambda: &Lambda,
        rows: &mut RowSet,
        _expect: &mut M::Expect,
    ) -> Result<()> {
        rows.clone_from(&self.batch.rows);
        Ok(())
    }

    fn batch(&self) -> &RowBatch {
        &self.batch
    }

    fn n_items(&self) -> usize {
        self.batch.n_items()
    }

    fn is_noisy(&self) -> bool {
        self.batch.noise.is_some()
    }

    fn shrink(&self) -> f64 {
        0.0
    }

    fn size_steps(&mut self, plan: &Plan, t: u64) {
        let batch = &self.batch;
        self.steps.clear();
        self.steps.extend((0..batch.rows.len()).map(|slot| {
            let noisy = batch.is_noisy(slot);
            Step { rho: plan.step_size.at(t, noisy), scale: batch.scale(slot), noisy }
        }));
    }

    fn steps(&self) -> Steps<'_> {
        Steps::Each(&self.steps)
    }

    fn noiseless(&self, _rows: &RowSet, slots: &[usize]) -> (RowBatch, RowSet) {
        let batch = self.batch.noiseless(slots);
        let rows = batch.rows.clone();
        (batch, rows)
    }

    fn follow(model: &M, lambda: &Lambda, rows: &RowSet, expect: &mut M::Expect) {
        model.refresh(lambda, rows, expect);
    }

    fn bound_sample(_model: &M, _sizes: &Sizes, _plan: &Plan) -> Vec<u32> {
        Vec::new()
    }

    /// The rows of one phase have all items.
    fn for_bound(
        model: &M,
        engine: &mut dyn Engine<M>,
        lambda: &Lambda,
        _items: &[u32],
        expect: &mut M::Expect,
    ) -> Result<(RowBatch, RowSet)> {
        Self::begin(model, lambda, expect);
        let batch = RowBatch::all(&model.layout(), 0, &engine.sizes().groups[0]);
        let rows = batch.rows.clone();
        Ok((batch, rows))
    }

    fn counted(batch: &RowBatch) -> usize {
        batch.n_items()
    }

    fn score(_model: &M, _lambda: &Lambda, _data: &M::Data) -> f64 {
        f64::NAN
    }

    /// Statistics row by row: every row belongs to one shard, so there is nothing to merge.
    fn sum_on_threads(
        threads: &mut Threads<'_, M>,
        work: Work<'_, M>,
        _warm: &mut Warm,
        stats: &mut Stats,
    ) -> Sums {
        let Work { batch, ask, .. } = work;
        let (data, workers, ()) = threads.parts();
        stats.fit_to_rows();
        let n_threads = rayon::current_num_threads();
        let mut bounds = vec![0.0; if ask.bound { batch.rows.len() } else { 0 }];
        let tasks = cut(batch, ask, n_threads, stats, &mut bounds);
        let noise: Vec<f64> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(slots, stats, bounds)| {
                stop::check();
                workers.with(|worker| run_rows(&work, data, slots, worker, stats, bounds))
            })
            .collect();
        // In order of the rows, whatever the shards.
        let bound = bounds.iter().sum();
        let noise_seconds = noise.iter().sum::<f64>() / n_threads as f64;
        let hyper = vec![0.0; work.model.learner().map_or(0, |learner| learner.width())];
        Sums { bound, hyper, noise_seconds, ..Sums::default() }
    }
}

/// The slots of a shard, and where its statistics and bounds go.
pub(crate) type Cut<'a> = (Range<usize>, &'a mut [f64], &'a mut [f64]);

/// Cuts a batch into shards of about equally many items.
pub(crate) fn cut<'a>(
    batch: &RowBatch,
    ask: Ask,
    n_threads: usize,
    stats: &'a mut Stats,
    bounds: &'a mut [f64],
) -> Vec<Cut<'a>> {
    let (width, n_slots) = (stats.width(), batch.rows.len());
    let (mut left, mut left_bounds) = (stats.values_mut(), bounds);
    let share = batch.n_items() / (SHARDS_PER_THREAD * n_threads);
    let most = share.min(ITEMS_PER_COLUMN * width).max(LEAST_ITEMS);
    let (mut tasks, mut first) = (Vec::new(), 0);
    while first < n_slots {
        // Rows without items are work, too.
        let size = |end: usize| batch.starts[end] - batch.starts[first] + end - first;
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
    tasks
}

/// The rows of some slots; returns the seconds that their noise took.
fn run_rows<M: Model<Pass = PerRow>>(
    work: &Work<'_, M>,
    data: &M::Data,
    slots: Range<usize>,
    worker: &mut Worker<M>,
    stats: &mut [f64],
    bounds: &mut [f64],
) -> f64 {
    let Work { model, expect, batch, ask, .. } = *work;
    let rows: Vec<u32> = slots.clone().map(|slot| batch.rows.row(slot) as u32).collect();
    let starts = &batch.starts[slots.start..=slots.end];
    let listed = starts[0]..starts[rows.len()];
    let items = (!batch.items.is_empty()).then(|| &batch.items[listed]);
    let phase = batch.phase;
    let shard = |weights| RowShard { data, phase, rows: &rows, starts, items, weights };
    let begin = Instant::now();
    let Worker { scratch, weights } = worker;
    let noisy = ask.stats && batch.noise.is_some_and(|noise| noise.weights(starts, weights));
    let seconds = if noisy { begin.elapsed().as_secs_f64() } else { 0.0 };
    if ask.bound || !noisy {
        // Noise never touches the bound.
        model.local_step(expect, shard(None), ask, scratch, stats, bounds);
    }
    if noisy {
        let ask = Ask { bound: false, ..ask };
        model.local_step(expect, shard(Some(weights)), ask, scratch, stats, &mut []);
    }
    data.release(items.map_or(0, <[u32]>::len));
    seconds
}
