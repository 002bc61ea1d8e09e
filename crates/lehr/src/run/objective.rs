//! The bound on items that the step itself did not see, every constant kept.

use rayon::prelude::*;

use crate::lambda::Lambda;
use crate::model::{Ask, Blocks, Dataset, Local, Model, RowSet, SHARD, Shard, Stats};
use crate::step::local::{Executor, log_predictive};
use crate::step::sample::Batch;
use crate::step::warm::Warm;

/// The exact bound on all of `data`: the items' parts plus the global part.
pub fn bound<M: Model>(
    model: &M,
    lambda: &Lambda,
    data: &M::Data,
    executor: &mut impl Executor<M>,
) -> f64 {
    let everything: Vec<u32> = (0..data.n_items() as u32).collect();
    let (local, expect) = evaluate(model, lambda, data, &everything, executor);
    local + model.global_bound(lambda, &expect)
}

/// The sum of some items' parts of the bound, each evaluated as exactly as can be. Where every row is
/// a block of its own, it is always that of all items.
pub fn local_bound<M: Model>(
    model: &M,
    lambda: &Lambda,
    data: &M::Data,
    items: &[u32],
    executor: &mut impl Executor<M>,
) -> f64 {
    evaluate(model, lambda, data, items, executor).0
}

fn evaluate<M: Model>(
    model: &M,
    lambda: &Lambda,
    data: &M::Data,
    items: &[u32],
    executor: &mut impl Executor<M>,
) -> (f64, M::Expect) {
    let layout = model.layout();
    let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
    let mut expect = M::Expect::default();
    let batch = match layout.blocks {
        Blocks::One => {
            model.support(data, items, &mut stats.rows);
            Batch::of(items.to_vec(), data.n_items())
        }
        Blocks::PerRow => Batch::of_blocks(&layout, 0, data.groups(0)),
    };
    model.refresh(lambda, &stats.rows, &mut expect);
    if let Some(blocks) = &batch.blocks {
        stats.rows.clone_from(&blocks.rows);
    }
    let warm = &mut Warm::off();
    let pass = executor.local_pass(model, &expect, data, &batch, Ask::EVALUATE, warm, &mut stats);
    (pass.bound, expect)
}

/// Each item's part of the bound: the log of what it would add to the evidence if q stayed as it is. For
/// models in which one batch serves all rows.
pub fn item_bounds<M: Model>(model: &M, lambda: &Lambda, data: &M::Data) -> Vec<f64> {
    let layout = model.layout();
    let mut rows = RowSet::all(layout.n_rows);
    let items: Vec<u32> = (0..data.n_items() as u32).collect();
    model.support(data, &items, &mut rows);
    let mut expect = M::Expect::default();
    model.refresh(lambda, &rows, &mut expect);
    let mut out = vec![0.0; items.len()];
    out.par_chunks_mut(SHARD).zip(items.par_chunks(SHARD)).for_each_init(
        || (model.scratch(), M::Local::new(&layout)),
        |(scratch, local), (out, items)| {
            let weights = [1.0; SHARD];
            let weights = &weights[..items.len()];
            let shard = Shard { data, items, weights, rows: &rows, warm: &[] };
            local.clear();
            model.local_step(&expect, shard, Ask::EVALUATE, scratch, local, out);
        },
    );
    out
}

/// The mean log predictive density of held-out items, weighted by their own weights.
pub fn mean_log_predictive<M: Model>(model: &M, lambda: &Lambda, data: &M::Data) -> f64 {
    let items: Vec<u32> = (0..data.n_items() as u32).collect();
    let densities = log_predictive(model, lambda, data, &items);
    match data.item_weights() {
        None => densities.iter().sum::<f64>() / densities.len() as f64,
        Some(w) => {
            let total: f64 = w.iter().sum();
            densities.iter().zip(w).map(|(l, w)| l * w).sum::<f64>() / total
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::models::{Mixture, MixtureParams};
    use crate::run::fit::{Problem, State};
    use crate::step::local::Threads;

    #[test]
    fn the_items_parts_and_the_global_part_are_the_bound() {
        let values: Vec<f64> =
            (0..2000).map(|n| f64::from(n % 7) + 0.1 * f64::from(n % 3)).collect();
        let points = Points::new(values, 1).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(3), &points).unwrap();
        let problem = Problem { model: &mixture, data: &points, heldout: None };
        let lambda = State::start(problem, 0, 0).unwrap().lambda;
        let parts = item_bounds(&mixture, &lambda, &points);
        let global = mixture.global_bound(&lambda, &Default::default());
        let whole = bound(&mixture, &lambda, &points, &mut Threads::new());
        let sum = parts.iter().sum::<f64>() + global;
        assert!((sum - whole).abs() < 1e-9 * whole.abs(), "{sum} {whole}");
    }
}
