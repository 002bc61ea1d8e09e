//! Passes in which all rows of lambda share a batch: shards of items on all threads, summed in an order
//! that does not depend on their number.

use std::marker::PhantomData;
use std::ops::Range;
use std::time::Duration;

use rayon::prelude::*;

use crate::Result;
use crate::lambda::Lambda;
use crate::math::rng::Purpose;
use crate::math::stop;
use crate::model::{Ask, Dataset, Local, Model, RowSet, Shard, Stats, mean_item_bound};
use crate::settings::Plan;
use crate::step::anneal::{Anneal, Law};
use crate::step::engine::{Engine, Later, Sizes, Sums, Threads, Work};
use crate::step::guard::Guard;
use crate::step::pass::Pass;
use crate::step::sample::{Batch, Sampler, arrange, split};
use crate::step::shards::Shards;
use crate::step::update::{Step, Steps};
use crate::step::warm::Warm;

/// One batch serves all rows, and all phases of the update. `L` is what a shard's local steps leave behind.
pub struct Shared<L = Stats> {
    sampler: Sampler,
    anneal: Anneal,
    batch: Batch,
    /// Whether every step uses all items.
    is_full: bool,
    /// Where the items of each part of the data start.
    parts: Vec<usize>,
    /// N.
    population: usize,
    /// Whether the guard wants less noise where few items touch a row.
    shrinks: bool,
    n_phases: usize,
    step: Step,
    locals: PhantomData<fn() -> L>,
}

/// A model in which all rows of lambda share a batch.
pub trait SharedModel: Model<Pass = Shared<Self::Local>> {
    /// What a shard's local steps leave behind.
    type Local: Local<Self::Expect>;
}

impl<M, L> SharedModel for M
where
    M: Model<Pass = Shared<L>>,
    L: Local<M::Expect>,
{
    type Local = L;
}

impl<M, L> Pass<M> for Shared<L>
where
    M: Model<Pass = Shared<L>>,
    L: Local<M::Expect>,
{
    type Shard<'a>
        = Shard<'a, M::Data>
    where
        Self: 'a,
        M: 'a;
    type Sums<'a>
        = &'a mut L
    where
        Self: 'a,
        M: 'a;
    type Batch = Batch;
    type Buffers = Buffers<L>;

    fn of_a_step(model: &M, sizes: &Sizes, plan: &Plan, stream: u32) -> Result<Vec<Self>> {
        let anneal = plan.anneal(stream);
        Ok(vec![Shared {
            sampler: Sampler::new(sizes.n_items, plan.batch, plan.sampling, plan.seed, stream),
            anneal,
            batch: Batch::default(),
            is_full: plan.batch.is_none(),
            parts: sizes.parts.clone(),
            population: plan.population,
            // Other laws have no negative weights, or their noise sits on items that are not in the batch.
            shrinks: plan.guard_for(model)? == Guard::Shrink
                && (anneal.law == Law::Gaussian
                    || anneal.law == Law::Exact && plan.batch.is_none()),
            n_phases: model.layout().phases.len(),
            step: Step { rho: 1.0, scale: 1.0, noisy: false },
            locals: PhantomData,
        }])
    }

    fn phases(&self) -> Range<usize> {
        0..self.n_phases
    }

    /// The pass says little of an update whose rows are wide.
    const LONG: Duration = Duration::from_millis(50);

    /// Every step refreshes what its batch touches.
    fn begin(_model: &M, _lambda: &Lambda, _expect: &mut M::Expect) {}

    fn draw(&mut self, t: u64, _sizes: &Sizes) {
        self.sampler.draw(t, &mut self.batch);
        if !self.is_full {
            arrange(&mut self.batch.items, &self.parts);
        }
        self.batch.population = self.population;
    }

    fn weigh(&mut self, t: u64) {
        self.anneal.weigh(t, &mut self.sampler, &mut self.batch);
        // Items that only carry noise come behind those of S_t, and their weights do not depend on who has them.
        let Batch { items, size, .. } = &mut self.batch;
        arrange(&mut items[*size..], &self.parts);
    }

    fn ahead(&mut self, t: u64) -> Option<Vec<u32>> {
        let Batch { size, .. } = self.batch;
        let carries = self.anneal.law.needs_others() && self.anneal.effective_at(t, size).is_some();
        if self.is_full || carries {
            return None;
        }
        let mut items = Vec::with_capacity(size);
        self.sampler.append(t, &mut items);
        arrange(&mut items, &self.parts);
        Some(items)
    }

    fn refresh(
        &mut self,
        model: &M,
        engine: &mut dyn Engine<M>,
        lambda: &Lambda,
        rows: &mut RowSet,
        expect: &mut M::Expect,
    ) -> Result<()> {
        engine.support(model, &self.batch.items, rows)?;
        match self.is_full {
            true => model.refresh(lambda, rows, expect),
            false => model.refresh_for_batch(lambda, rows, expect),
        }
        Ok(())
    }

    fn batch(&self) -> &Batch {
        &self.batch
    }

    fn n_items(&self) -> usize {
        self.batch.items.len()
    }

    fn is_noisy(&self) -> bool {
        self.batch.noisy
    }

    fn shrink(&self) -> f64 {
        if self.shrinks { self.batch.variance } else { 0.0 }
    }

    fn size_steps(&mut self, plan: &Plan, t: u64) {
        let Batch { size, population, noisy, .. } = self.batch;
        let rho = plan.step_size.at(t, noisy);
        let scale = plan.times(t) * (population as f64 / size as f64);
        self.step = Step { rho, scale, noisy };
    }

    fn steps(&self) -> Steps<'_> {
        Steps::All(self.step)
    }

    fn noiseless(&self, rows: &RowSet, _slots: &[usize]) -> (Batch, RowSet) {
        let Batch { items, size, population, .. } = &self.batch;
        (Batch::of(items[..*size].to_vec(), *population), rows.clone())
    }

    fn follow(_model: &M, _lambda: &Lambda, _rows: &RowSet, _expect: &mut M::Expect) {}

    fn bound_sample(model: &M, sizes: &Sizes, plan: &Plan) -> Vec<u32> {
        if plan.batch.is_none() {
            return Vec::new(); // every step's own pass has the bound
        }
        let n_items = sizes.n_items;
        let sample = plan.bound_sample.or(model.judge().and_then(|judge| judge.bound_sample()));
        match sample.filter(|&sample| sample > 0 && sample < n_items) {
            None => (0..n_items as u32).collect(),
            Some(sample) => split(n_items, sample, plan.seed, Purpose::Bound).1,
        }
    }

    fn for_bound(
        model: &M,
        engine: &mut dyn Engine<M>,
        lambda: &Lambda,
        items: &[u32],
        expect: &mut M::Expect,
    ) -> Result<(Batch, RowSet)> {
        let mut rows = RowSet::all(model.layout().n_rows);
        engine.support(model, items, &mut rows)?;
        model.refresh(lambda, &rows, expect);
        Ok((Batch::of(items.to_vec(), engine.sizes().n_items), rows))
    }

    fn counted(batch: &Batch) -> usize {
        batch.size
    }

    fn score(model: &M, lambda: &Lambda, data: &M::Data) -> f64 {
        mean_item_bound(model, lambda, data)
    }

    fn sum_on_threads(
        threads: &mut Threads<'_, M>,
        work: Work<'_, M>,
        warm: &mut Warm,
        stats: &mut Stats,
    ) -> Sums {
        let Work { model, expect, batch, ask, defers } = work;
        let (data, workers, buffers) = threads.parts();
        let shards = Shards::new(model, &batch.items, data.parts());
        buffers.reserve(model, &shards);
        let Buffers { slots, locals, n_later } = buffers;
        *n_later = 0;
        let mut gather = Gather::new(model, batch, ask, stats);
        for wave in shards.waves() {
            let (slots, locals) = (&mut slots[..wave.len()], &mut locals[..wave.len()]);
            // One shard at a time: shards are few and long.
            slots.par_iter_mut().zip(locals.par_iter_mut()).enumerate().with_max_len(1).for_each(
                |(i, (slot, local))| {
                    stop::check();
                    let range = shards.range(wave.start + i);
                    let Slot { weights, warm: state, bounds, bound } = slot;
                    let items = &batch.items[range.clone()];
                    weights.clear();
                    weights.extend_from_slice(&batch.weights[range.clone()]);
                    warm.fetch(items, state);
                    bounds.resize(items.len(), 0.0);
                    let rows = &stats.rows;
                    let shard = Shard { data, items, weights: &[], rows, warm: state };
                    workers.with(|worker| {
                        let scratch = &mut worker.scratch;
                        run_shard(model, expect, shard, weights, ask, scratch, local, bounds);
                    });
                    *bound = bounds[..batch.counted(&range)].iter().sum();
                },
            );
            gather.count(shards.places(&wave), slots.iter().map(|slot| slot.bound), locals, warm);
            let groups = shards.groups(&wave, L::ADDS);
            if defers && ask.stats && wave.len() == shards.len() && groups.is_none() {
                *n_later = wave.len();
                gather.sums.deferred = true;
            } else {
                gather.add(expect, locals, groups.as_deref(), stats);
            }
        }
        gather.sums
    }

    fn later(buffers: &Buffers<L>) -> Option<&dyn Later<M::Expect>> {
        (buffers.n_later > 0).then_some(buffers)
    }
}

/// The local steps of some items. `weights` are their annealing weights, which become w_n; `bounds` get each
/// item's part of the bound times its own weight, if asked for.
#[allow(clippy::too_many_arguments)]
pub(crate) fn run_shard<M: SharedModel>(
    model: &M,
    expect: &M::Expect,
    shard: Shard<'_, M::Data>,
    weights: &mut [f64],
    ask: Ask,
    scratch: &mut M::Scratch,
    local: &mut M::Local,
    bounds: &mut [f64],
) {
    let (data, items) = (shard.data, shard.items);
    let own = data.item_weights();
    if let Some(own) = own {
        weights.iter_mut().zip(items).for_each(|(w, &n)| *w *= own[n as usize]);
    }
    local.clear();
    model.local_step(expect, Shard { weights, ..shard }, ask, scratch, local, bounds);
    data.release(items.len());
    if let (true, Some(own)) = (ask.bound, own) {
        // Noise never touches the bound: its weights are the items' own.
        bounds.iter_mut().zip(items).for_each(|(bound, &n)| *bound *= own[n as usize]);
    }
}

/// Adds up what shards leave behind, in their order, no matter which worker has run them.
pub struct Gather<'a> {
    batch: &'a Batch,
    ask: Ask,
    is_first: bool,
    /// What the pass found besides the statistics.
    pub sums: Sums,
}

impl<'a> Gather<'a> {
    /// Nothing yet.
    pub fn new<M: Model>(model: &M, batch: &'a Batch, ask: Ask, stats: &mut Stats) -> Self {
        let width = model.learner().map_or(0, |learner| learner.width());
        if ask.stats && batch.items.is_empty() {
            stats.fit_to_rows();
            stats.clear();
        }
        let sums = Sums { hyper: vec![0.0; width], ..Sums::default() };
        Gather { batch, ask, is_first: true, sums }
    }

    /// Adds a wave of shards: their places in the batch, each shard's part of the bound, what they left behind. Those
    /// that are added up already have one of it together.
    pub fn wave<E: Sync, L: Local<E>>(
        &mut self,
        expect: &E,
        places: impl Iterator<Item = Range<usize>>,
        bounds: impl Iterator<Item = f64>,
        locals: &[L],
        warm: &mut Warm,
        stats: &mut Stats,
    ) {
        self.count(places, bounds, locals, warm);
        self.add(expect, locals, None, stats);
    }

    /// All of a wave but its statistics.
    fn count<E, L: Local<E>>(
        &mut self,
        places: impl Iterator<Item = Range<usize>>,
        bounds: impl Iterator<Item = f64>,
        locals: &[L],
        warm: &mut Warm,
    ) {
        let (batch, ask) = (self.batch, self.ask);
        if ask.bound {
            bounds.for_each(|bound| self.sums.bound += bound);
        }
        for (range, local) in places.zip(locals) {
            self.sums.iterations += local.iterations();
            local.add_hyper(&mut self.sums.hyper);
            // Only in a step: to look at the bound must not change how a fit goes on.
            if ask.stats {
                let counted = range.start..range.start + batch.counted(&range);
                warm.keep(&batch.items[counted], local.warm());
            }
        }
    }

    /// The statistics of a wave, those of the shards of each group being added up first if there are `groups`.
    fn add<E: Sync, L: Local<E>>(
        &mut self,
        expect: &E,
        locals: &[L],
        groups: Option<&[Range<usize>]>,
        stats: &mut Stats,
    ) {
        let ask = self.ask;
        if ask.stats {
            let is_first = std::mem::take(&mut self.is_first);
            if is_first {
                // Not earlier: deferred statistics need no table.
                stats.fit_to_rows();
            }
            let width = stats.width();
            let Stats { rows, table } = stats;
            let chunk = rows.part(width);
            table.values_mut().par_chunks_mut(chunk * width).enumerate().for_each(|(c, out)| {
                let range = c * chunk..c * chunk + out.len() / width;
                let Some(groups) = groups else {
                    return L::gather(locals, expect, rows, range, ask, is_first, out);
                };
                if is_first {
                    out.fill(0.0);
                }
                let mut sum = vec![0.0; out.len()];
                for group in groups {
                    let locals = &locals[group.clone()];
                    L::gather(locals, expect, rows, range.clone(), ask, true, &mut sum);
                    out.iter_mut().zip(&sum).for_each(|(out, sum)| *out += sum);
                }
            });
        }
    }
}

/// What threads keep from pass to pass: room for the shards of a wave.
pub struct Buffers<L> {
    slots: Vec<Slot>,
    locals: Vec<L>,
    /// How many of the locals have statistics that were deferred.
    n_later: usize,
}

impl<E, L: Local<E>> Later<E> for Buffers<L> {
    fn rows(&self, expect: &E, rows: &RowSet, slots: Range<usize>, ask: Ask, out: &mut [f64]) {
        L::gather(&self.locals[..self.n_later], expect, rows, slots, ask, true, out);
    }
}

impl<L> Default for Buffers<L> {
    fn default() -> Self {
        Buffers { slots: Vec::new(), locals: Vec::new(), n_later: 0 }
    }
}

impl<L> Buffers<L> {
    fn reserve<M: Model>(&mut self, model: &M, shards: &Shards)
    where
        L: Local<M::Expect>,
    {
        let (layout, n) = (model.layout(), shards.largest_wave());
        self.locals.resize_with(n.max(self.locals.len()), || L::new(&layout));
        self.slots.resize_with(n.max(self.slots.len()), Slot::default);
    }
}

/// A shard's numbers per item.
#[derive(Default)]
struct Slot {
    weights: Vec<f64>,
    warm: Vec<f32>,
    bounds: Vec<f64>,
    /// The shard's part of the bound.
    bound: f64,
}
