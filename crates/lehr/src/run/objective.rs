//! The bound on items that the step itself did not see, every constant kept.

use crate::lambda::Lambda;
use crate::model::{Ask, Blocks, Dataset, Model, Stats};
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
