//! The bound on items that the step itself did not see, every constant kept.

use crate::lambda::Lambda;
use crate::model::{Ask, Dataset, Model, Stats};
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
    local_bound(model, lambda, data, &everything, executor) + model.global_bound(lambda)
}

/// The sum of some items' parts of the bound, each evaluated as exactly as can be.
pub fn local_bound<M: Model>(
    model: &M,
    lambda: &Lambda,
    data: &M::Data,
    items: &[u32],
    executor: &mut impl Executor<M>,
) -> f64 {
    let layout = model.layout();
    let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
    model.support(data, items, &mut stats.rows);
    let mut expect = M::Expect::default();
    model.refresh(lambda, &stats.rows, &mut expect);
    let batch = Batch::of(items.to_vec(), data.n_items());
    executor
        .local_pass(model, &expect, data, &batch, Ask::EVALUATE, &mut Warm::off(), &mut stats)
        .bound
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
