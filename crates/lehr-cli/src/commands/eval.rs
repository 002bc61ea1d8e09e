//! `lehr eval`: how well the model predicts data it has not seen.

use serde::Serialize;

use lehr::data::Points;
use lehr::model::Model;
use lehr::models::Stored;
use lehr::models::mixture::Factorisation;
use lehr::run::objective;
use lehr::step::local::Threads;

use super::{End, OpenRun};
use crate::args::EvalArgs;
use crate::text::{self, counted, number};

#[derive(Serialize)]
struct Scores {
    items: usize,
    /// Mean log predictive density of an item.
    log_predictive: f64,
    /// Whether that is exact under q.
    log_predictive_exact: bool,
    /// The items' own part of the bound, per item.
    bound_per_item: f64,
    /// The bound with these data in place of the training data, every constant included.
    bound: f64,
}

/// Scores the data.
pub fn run(args: EvalArgs) -> anyhow::Result<End> {
    let run = OpenRun::open(&args.run)?;
    let points = run.read(&args.data, &args.points)?;
    let scores = score(&run, &points);
    if !(scores.log_predictive.is_finite() && scores.bound.is_finite()) {
        anyhow::bail!(
            "{}: some rows are so far from every component that their densities overflow; look for \
             outliers or a wrong unit",
            args.data.display()
        );
    }
    if args.json {
        text::print_json(&scores)?;
        return Ok(End::Done);
    }
    let how = if scores.log_predictive_exact {
        "exact: a mixture of Student t densities"
    } else {
        "approximate: Student t densities widened by the means' uncertainty"
    };
    text::print(&format!(
        "{}\n\
         log predictive density  {} per item ({how})\n\
         bound                   {} per item, without the global part\n\
         bound                   {} in all, with every constant\n",
        counted(scores.items as u64, "item"),
        number(scores.log_predictive),
        number(scores.bound_per_item),
        number(scores.bound)
    ))?;
    Ok(End::Done)
}

fn score(run: &OpenRun, points: &Points) -> Scores {
    let lambda = &run.saved.model_state().lambda;
    let bound = objective::bound(&run.model, lambda, points, &mut Threads::new());
    let weight = points.weights().map_or(points.n_items() as f64, |w| w.iter().sum());
    Scores {
        items: points.n_items(),
        log_predictive: objective::mean_log_predictive(&run.model, lambda, points),
        log_predictive_exact: run.model.params().factorisation == Factorisation::NormalWishart,
        bound_per_item: (bound - run.model.global_bound(lambda)) / weight,
        bound,
    }
}
