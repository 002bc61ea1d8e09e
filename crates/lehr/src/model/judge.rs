//! How well a model does: scores of held-out items, measures for the trace, and the bound item by item.

use std::ops::Range;

use rayon::prelude::*;

use super::{Ask, Dataset, Local, Model, RowSet, SHARD, Shard};
use crate::lambda::Lambda;
use crate::math::stop;
use crate::step::pass::Pass;
use crate::step::shared::SharedModel;

/// Scores and measures of a model's own.
pub trait Judge<M: Model>: Sync {
    /// How well the model predicts items that it was not fitted to, `population` being the number
    /// of those it was fitted to.
    fn score(&self, lambda: &Lambda, data: &M::Data, population: usize) -> Scores;

    /// Numbers about this state that belong in the trace, `population` being N.
    fn measures(&self, _lambda: &Lambda, _population: usize) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// How many random training items the bound is estimated from when steps use batches; `None` is
    /// all of them, which takes as long as an epoch.
    fn bound_sample(&self) -> Option<usize> {
        None
    }

    /// How many words this many items have, in models of words: what a perplexity is per.
    fn words(&self, _population: usize) -> Option<f64> {
        None
    }
}

/// How well a model predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The one to choose by; higher is better.
    pub main: f64,
    /// Others, by name.
    pub named: Vec<(&'static str, f64)>,
}

/// How well a model predicts: by its own judge, or by the items' parts of the bound.
pub(crate) fn score<M: Model>(
    model: &M,
    lambda: &Lambda,
    data: &M::Data,
    population: usize,
) -> Scores {
    match model.judge() {
        Some(judge) => judge.score(lambda, data, population),
        None => Scores { main: M::Pass::score(model, lambda, data), named: Vec::new() },
    }
}

/// Does `work` on every shard of some items, on all threads; it fills as many entries of `out` for each item as there are
/// in all. A single shard is worked off on this thread, and no pool of threads is looked for.
pub(crate) fn for_shards<M: SharedModel, T: Send>(
    model: &M,
    data: &M::Data,
    rows: &RowSet,
    items: Range<usize>,
    out: &mut [T],
    work: impl Fn(Shard<'_, M::Data>, &mut M::Scratch, &mut [T]) + Sync,
) {
    let width = out.len() / items.len().max(1);
    assert_eq!(out.len(), width * items.len(), "every item has the same number of entries");
    let (weights, last) = ([1.0; SHARD], items.end);
    let shard = |scratch: &mut M::Scratch, (number, out): (usize, &mut [T])| {
        stop::check();
        let first = items.start + number * SHARD;
        let numbers: [u32; SHARD] = std::array::from_fn(|i| (first + i) as u32);
        let items = &numbers[..(last - first).min(SHARD)];
        work(
            Shard { data, items, weights: &weights[..items.len()], rows, warm: &[] },
            scratch,
            out,
        );
        data.release(items.len());
    };
    if items.len() <= SHARD {
        if !items.is_empty() {
            shard(&mut model.scratch(), (0, out));
        }
        return;
    }
    out.par_chunks_mut(SHARD * width).enumerate().for_each_init(|| model.scratch(), shard);
}

/// The same for all items, with a number for each.
pub(crate) fn for_each_item<M: SharedModel>(
    model: &M,
    data: &M::Data,
    rows: &RowSet,
    work: impl Fn(Shard<'_, M::Data>, &mut M::Scratch, &mut [f64]) + Sync,
) -> Vec<f64> {
    let mut out = vec![0.0; data.n_items()];
    for_shards(model, data, rows, 0..data.n_items(), &mut out, work);
    out
}

/// Each item's part of the bound: the log of what it would add to the evidence if q stayed as it is. For
/// models in which all rows share a batch.
pub fn item_bounds<M: SharedModel>(model: &M, lambda: &Lambda, data: &M::Data) -> Vec<f64> {
    let mut rows = RowSet::all(model.layout().n_rows);
    let items: Vec<u32> = (0..data.n_items() as u32).collect();
    model.support(data, &items, &mut rows);
    let mut expect = M::Expect::default();
    model.refresh(lambda, &rows, &mut expect);
    item_bounds_under(model, &expect, &rows, data)
}

/// The same with the expectations of the rows that the items touch at hand.
pub fn item_bounds_under<M: SharedModel>(
    model: &M,
    expect: &M::Expect,
    rows: &RowSet,
    data: &M::Data,
) -> Vec<f64> {
    let layout = model.layout();
    for_each_item(model, data, rows, |shard, scratch, out| {
        let mut unused = M::Local::new(&layout);
        model.local_step(expect, shard, Ask::EVALUATE, scratch, &mut unused, out);
    })
}

/// The mean of the items' parts of the bound, weighted by their own weights.
pub(crate) fn mean_item_bound<M: SharedModel>(model: &M, lambda: &Lambda, data: &M::Data) -> f64 {
    weighted_mean(data, &item_bounds(model, lambda, data))
}

/// The mean of a number per item, weighted by the items' own weights.
pub(crate) fn weighted_mean<D: Dataset>(data: &D, numbers: &[f64]) -> f64 {
    match data.item_weights() {
        None => numbers.iter().sum::<f64>() / numbers.len() as f64,
        Some(w) => {
            let total: f64 = w.iter().sum();
            numbers.iter().zip(w).map(|(l, w)| l * w).sum::<f64>() / total
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::fit::{State, bound};
    use crate::models::{Mixture, MixtureParams};
    use crate::step::engine::Threads;

    #[test]
    fn the_items_parts_and_the_global_part_are_the_bound() {
        let values: Vec<f64> =
            (0..2000).map(|n| f64::from(n % 7) + 0.1 * f64::from(n % 3)).collect();
        let points = Points::new(values, 1).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(3), &points).unwrap();
        let lambda = State::start(&mixture, &points, 0, 0).unwrap().lambda;
        let parts = item_bounds(&mixture, &lambda, &points);
        let global = mixture.global_bound(&lambda, &Default::default());
        let whole = bound(&mixture, &lambda, &mut Threads::new(&mixture, &points)).unwrap();
        let sum = parts.iter().sum::<f64>() + global;
        assert!((sum - whole).abs() < 1e-9 * whole.abs(), "{sum} {whole}");
    }
}
