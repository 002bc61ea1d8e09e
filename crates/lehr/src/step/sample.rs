//! Line 1 of Algorithm 1: which items form the batch S_t. A pure function of (seed, restart, step).

use std::ops::Range;

use crate::math::rng::{Address, Purpose};
use crate::model::{Layout, RowSet};
use crate::settings::choices;
use crate::step::anneal::{Normal, RowNoise};
use crate::step::engine::part_of;

/// The items of one step and their annealing weights, where all rows of lambda share them.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The items of S_t, then those that only carry noise (the laws `lagged` and `exact`).
    pub items: Vec<u32>,
    /// The annealing weight of each; exactly 1 without noise.
    pub weights: Vec<f64>,
    /// |S|: how many of `items` belong to S_t and count for the bound.
    pub size: usize,
    /// N: how many items there are in all.
    pub population: usize,
    /// Whether the weights carry annealing noise.
    pub noisy: bool,
    /// The variance of that noise.
    pub variance: f64,
    /// How to draw the weights again, where only their places are known; none where they are all 1, or are drawn in
    /// another way.
    pub noise: Option<Normal>,
}

impl Batch {
    /// A batch of the given items with weights of 1.
    pub fn of(items: Vec<u32>, population: usize) -> Self {
        let size = items.len();
        let weights = vec![1.0; size];
        Batch { items, weights, size, population, noisy: false, variance: 0.0, noise: None }
    }

    /// How many of the items in a range of places count for the bound: those of S_t. Those that merely carry noise
    /// are somewhere else in time.
    pub fn counted(&self, places: &Range<usize>) -> usize {
        self.size.saturating_sub(places.start).min(places.len())
    }

    /// Everything, once.
    pub fn all(n_items: usize) -> Self {
        Self::of((0..n_items as u32).collect(), n_items)
    }

    /// Takes the noise off again: S_t with weights of 1.
    fn drop_noise(&mut self) {
        self.items.truncate(self.size);
        self.weights.clear();
        self.weights.resize(self.size, 1.0);
        self.noisy = false;
        self.variance = 0.0;
        self.noise = None;
    }
}

/// Puts the items of each part together, in the order in which they were drawn.
pub(crate) fn arrange(items: &mut [u32], parts: &[usize]) {
    if parts.len() > 2 {
        items.sort_by_key(|&item| part_of(parts, item));
    }
}

/// The rows of a phase that have items in the step, each with its own batch.
#[derive(Debug, Clone)]
pub struct RowBatch {
    /// The phase.
    pub phase: usize,
    /// Its first row of lambda.
    first_row: usize,
    /// Its rows that have items in the step.
    pub rows: RowSet,
    /// The items, row after row, by their places in the phase's order of all items; none are listed if
    /// every row has all of its items.
    pub items: Vec<u32>,
    /// Where each row's items start, and the end of the last row's: in `items`, or in the phase's order of
    /// all items if none are listed.
    pub starts: Vec<usize>,
    /// N of each row: all the items it has.
    pub populations: Vec<usize>,
    /// The noise of this step, if there is any. Workers draw it.
    pub noise: Option<RowNoise>,
}

impl RowBatch {
    /// All items of every row of a phase, `groups` being where each row's items start.
    pub fn all(layout: &Layout, phase: usize, groups: &[usize]) -> Self {
        let mut rows = RowSet::all(layout.n_rows);
        let of_phase = layout.phases[phase].rows.clone();
        let first_row = of_phase.start;
        let all: Vec<u32> = of_phase.map(|row| row as u32).collect();
        assert_eq!(all.len() + 1, groups.len(), "the data have a group for every row of the phase");
        rows.collect(|touch| touch(&all));
        let populations = groups.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let starts = groups.to_vec();
        RowBatch { phase, first_row, rows, items: Vec::new(), starts, populations, noise: None }
    }

    /// The items of all rows together.
    pub fn n_items(&self) -> usize {
        self.starts[self.rows.len()] - self.starts[0]
    }

    /// |S| of the row in a slot.
    #[inline]
    pub fn size(&self, slot: usize) -> usize {
        self.starts[slot + 1] - self.starts[slot]
    }

    /// N/|S| of the row in a slot; 1 for a row whose items were all drawn, or more often than that.
    pub fn scale(&self, slot: usize) -> f64 {
        match (self.size(slot), self.populations[slot]) {
            (size, population) if size >= population || size == 0 => 1.0,
            (size, population) => population as f64 / size as f64,
        }
    }

    /// Whether the row in a slot has noise.
    #[inline]
    pub fn is_noisy(&self, slot: usize) -> bool {
        self.noise.is_some_and(|noise| noise.effective(self.size(slot)).is_some())
    }

    /// The same items of some of the rows, whose slots rise, without noise.
    pub fn noiseless(&self, slots: &[usize]) -> Self {
        let mut rows = self.rows.clone();
        let picked: Vec<u32> = slots.iter().map(|&slot| self.rows.row(slot) as u32).collect();
        rows.collect(|touch| touch(&picked));
        let (mut items, mut starts) = (Vec::new(), vec![0]);
        for &slot in slots {
            let range = self.starts[slot]..self.starts[slot + 1];
            if self.items.is_empty() {
                items.extend(range.map(|n| n as u32));
            } else {
                items.extend_from_slice(&self.items[range]);
            }
            starts.push(items.len());
        }
        let populations = slots.iter().map(|&slot| self.populations[slot]).collect();
        let (phase, first_row) = (self.phase, self.first_row);
        RowBatch { phase, first_row, rows, items, starts, populations, noise: None }
    }

    /// Sorts the listed items into the rows that have them.
    fn group(&mut self, groups: &[usize]) {
        self.items.sort_unstable();
        self.starts.clear();
        self.starts.push(0);
        self.populations.clear();
        let mut touched = Vec::new();
        let (mut at, mut group) = (0, 0);
        while at < self.items.len() {
            // The items rise, and so do the groups they are in.
            group += groups[group + 1..].partition_point(|&start| start <= self.items[at] as usize);
            let end = groups[group + 1];
            at += self.items[at..].partition_point(|&item| (item as usize) < end);
            touched.push((self.first_row + group) as u32);
            self.starts.push(at);
            self.populations.push(end - groups[group]);
        }
        self.rows.collect(|touch| touch(&touched));
    }
}

choices! {
    /// How batches are drawn.
    #[derive(Default)]
    pub enum Sampling {
        /// Epochs: all items in random order, then all again in another order. Every item is seen
        /// equally often.
        #[default]
        Epochs = "epochs",
        /// Every batch on its own, no item twice in one batch.
        WithoutReplacement = "without-replacement",
        /// Every item on its own, as the paper's theorem assumes.
        WithReplacement = "with-replacement",
        /// In the order of the file, again and again: for data whose order is random already, and for
        /// comparisons with programs that read them so.
        InOrder = "in-order",
    }
}

/// Draws the batch of any step, in any order of steps.
#[derive(Debug)]
pub struct Sampler {
    n_items: usize,
    size: Option<usize>,
    sampling: Sampling,
    seed: u64,
    restart: u32,
    /// Which of a step's passes draws from it.
    pass: u64,
    /// The last two epochs' orders: a batch can lie across the boundary.
    epochs: Vec<(u64, Vec<u32>)>,
    /// The identity, outside of `draw`; for drawing without replacement in O(|S|).
    identity: Vec<u32>,
}

impl Sampler {
    /// Batches of `size` out of `n_items`; `None` is the full batch.
    pub fn new(
        n_items: usize,
        size: Option<usize>,
        sampling: Sampling,
        seed: u64,
        restart: u32,
    ) -> Self {
        let (epochs, identity) = (Vec::new(), Vec::new());
        Sampler { n_items, size, sampling, seed, restart, pass: 0, epochs, identity }
    }

    /// How many items it draws from.
    pub fn n_items(&self) -> usize {
        self.n_items
    }

    /// The sampler of another pass of the same steps, which draws batches of its own.
    pub fn for_pass(self, pass: usize) -> Self {
        Sampler { pass: pass as u64, ..self }
    }

    /// The items of step `t` (from 1) of a phase whose rows have batches of their own.
    pub fn draw_rows(&mut self, t: u64, groups: &[usize], batch: &mut RowBatch) {
        batch.noise = None;
        if self.size.is_some() {
            batch.items.clear();
            self.append(t, &mut batch.items);
            batch.group(groups);
        }
    }

    /// The items of step `t` (from 1) with weights of 1, into `batch`.
    pub fn draw(&mut self, t: u64, batch: &mut Batch) {
        if self.size.is_none() && batch.size == self.n_items && !batch.noisy {
            return; // everything, noiseless, as the step before
        }
        batch.items.clear();
        self.append(t, &mut batch.items);
        batch.size = batch.items.len();
        batch.population = self.n_items;
        batch.drop_noise();
    }

    /// Appends the items of step `t`; step 0 is its own batch that no step uses.
    pub fn append(&mut self, t: u64, out: &mut Vec<u32>) {
        let Some(size) = self.size else {
            out.extend(0..self.n_items as u32);
            return;
        };
        let mut rng = Address::new(self.seed, Purpose::Sample, self.restart, t).rng(2 * self.pass);
        // Epochs start at step 1; the batch before them is one of its own.
        let sampling = match self.sampling {
            Sampling::Epochs | Sampling::InOrder if t == 0 => Sampling::WithoutReplacement,
            sampling => sampling,
        };
        match sampling {
            Sampling::WithReplacement => {
                out.extend((0..size).map(|_| rng.below(self.n_items as u64) as u32));
            }
            Sampling::WithoutReplacement => {
                if self.identity.is_empty() {
                    self.identity = (0..self.n_items as u32).collect();
                }
                let mut swaps = Vec::with_capacity(size);
                for i in 0..size {
                    let j = i + rng.below((self.n_items - i) as u64) as usize;
                    self.identity.swap(i, j);
                    swaps.push(j);
                }
                out.extend_from_slice(&self.identity[..size]);
                for (i, j) in swaps.into_iter().enumerate().rev() {
                    self.identity.swap(i, j);
                }
            }
            Sampling::InOrder => {
                let first = u128::from(t - 1) * size as u128 % self.n_items as u128;
                out.extend(
                    (first as usize..self.n_items)
                        .chain(0..self.n_items)
                        .cycle()
                        .take(size)
                        .map(|n| n as u32),
                );
            }
            Sampling::Epochs => {
                let first = u128::from(t - 1) * size as u128;
                let mut position = (first % self.n_items as u128) as usize;
                let mut epoch = (first / self.n_items as u128) as u64;
                let mut left = size;
                while left > 0 {
                    let take = left.min(self.n_items - position);
                    let order = self.epoch(epoch);
                    out.extend_from_slice(&order[position..position + take]);
                    left -= take;
                    epoch += 1;
                    position = 0;
                }
            }
        }
    }

    /// The order of the items in one epoch.
    fn epoch(&mut self, epoch: u64) -> &[u32] {
        let known = self.epochs.iter().position(|(e, _)| *e == epoch);
        let at = known.unwrap_or_else(|| {
            // Odd streams, so that epochs and single batches never share numbers.
            let address = Address::new(self.seed, Purpose::Sample, self.restart, epoch);
            let mut rng = address.rng(2 * self.pass + 1);
            let mut order: Vec<u32> = (0..self.n_items as u32).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, rng.below(i as u64 + 1) as usize);
            }
            if self.epochs.len() == 2 {
                self.epochs.remove(0);
            }
            self.epochs.push((epoch, order));
            self.epochs.len() - 1
        });
        &self.epochs[at].1
    }
}

/// A seeded split of `n_items` into (kept, held out), both in rising order.
pub fn split(n_items: usize, held_out: usize, seed: u64, purpose: Purpose) -> (Vec<u32>, Vec<u32>) {
    split_part(n_items, 0..held_out.min(n_items), seed, purpose)
}

/// The same, with those held out that have these places in a random order of all, which is the seed's.
pub fn split_part(
    n_items: usize,
    places: Range<usize>,
    seed: u64,
    purpose: Purpose,
) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..n_items as u32).collect();
    let mut rng = Address::new(seed, purpose, 0, 0).rng(0);
    for i in 0..places.end {
        order.swap(i, i + rng.below((n_items - i) as u64) as usize);
    }
    let mut held_out: Vec<u32> = order.drain(places).collect();
    order.sort_unstable();
    held_out.sort_unstable();
    (order, held_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(sampler: &mut Sampler, t: u64) -> Vec<u32> {
        let mut batch = Batch::default();
        sampler.draw(t, &mut batch);
        assert!(batch.weights.iter().all(|&w| w.to_bits() == 1f64.to_bits()));
        batch.items
    }

    #[test]
    fn any_step_can_be_drawn_alone() {
        for sampling in [
            Sampling::Epochs,
            Sampling::WithReplacement,
            Sampling::WithoutReplacement,
            Sampling::InOrder,
        ] {
            let mut forward = Sampler::new(23, Some(7), sampling, 5, 1);
            let all: Vec<_> = (0..40).map(|t| draw(&mut forward, t)).collect();
            for t in (0..40).rev() {
                let mut fresh = Sampler::new(23, Some(7), sampling, 5, 1);
                assert_eq!(draw(&mut fresh, t), all[t as usize]);
            }
            let mut other = Sampler::new(23, Some(7), sampling, 6, 1);
            assert_eq!(draw(&mut other, 3) == all[3], sampling == Sampling::InOrder);
        }
    }

    #[test]
    fn in_order_walks_through_the_items_again_and_again() {
        let mut sampler = Sampler::new(5, Some(3), Sampling::InOrder, 1, 0);
        let walk: Vec<u32> = (1..=5).flat_map(|t| draw(&mut sampler, t)).collect();
        assert_eq!(walk, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn epochs_see_every_item_equally_often() {
        let mut sampler = Sampler::new(10, Some(4), Sampling::Epochs, 1, 0);
        let mut seen = [0; 10];
        (1..=25).for_each(|t| draw(&mut sampler, t).iter().for_each(|&n| seen[n as usize] += 1));
        assert_eq!(seen, [10; 10]);
    }

    #[test]
    fn without_replacement_has_no_item_twice_and_is_uniform() {
        let mut sampler = Sampler::new(10, Some(4), Sampling::WithoutReplacement, 1, 0);
        let mut seen = [0f64; 10];
        for t in 0..10_000 {
            let mut items = draw(&mut sampler, t);
            items.iter().for_each(|&n| seen[n as usize] += 1.0);
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), 4);
        }
        // Binomial(10000, 0.4): standard deviation 49.
        assert!(seen.iter().all(|s| (s - 4000.0).abs() < 6.0 * 49.0), "{seen:?}");
    }

    #[test]
    fn a_split_is_a_partition() {
        let parts = [0..20, 20..41, 41..103];
        let mut all: Vec<u32> =
            parts.into_iter().flat_map(|p| split_part(103, p, 9, Purpose::Holdout).1).collect();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<u32>>());
        let (kept, held_out) = split(100, 30, 9, Purpose::Holdout);
        assert_eq!((kept.len(), held_out.len()), (70, 30));
        let mut all = [kept, held_out].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}
