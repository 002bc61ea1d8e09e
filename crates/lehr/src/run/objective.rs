//! The bound on items that the step itself did not see, every constant kept.

use crate::math::table::Table;
use crate::model::{Ask, Dataset, Model, Stats};
use crate::step::local::{Executor, log_predictive};
use crate::step::sample::Batch;

/// The exact bound on all of `data`: the items' parts plus the global part.
pub fn bound<M: Model>(
    model: &M,
    lambda: &Table,
    expect: &M::Expect,
    data: &M::Data,
    executor: &mut impl Executor<M>,
) -> f64 {
    let everything = Batch::all(data.n_items());
    let layout = model.layout();
    let mut unused = Stats::new(layout.n_rows, layout.raw_width);
    let ask = Ask { stats: false };
    executor.local_pass(model, expect, data, &everything, ask, &mut unused)
        + model.global_bound(lambda)
}

/// The mean log predictive density of held-out items, weighted by their own weights.
pub fn mean_log_predictive<M: Model>(model: &M, lambda: &Table, data: &M::Data) -> f64 {
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
