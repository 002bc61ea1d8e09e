//! How well ratings are predicted, and how well the model knows how well.

use serde::Serialize;

use lehr::data::{Ratings, Side};
use lehr::models::pmf::{Pmf, RatingScores};

use super::intervals;
use crate::args::EvalArgs;
use crate::models::OpenRun;
use crate::text::{self, counted, rounded};

#[derive(Serialize)]
struct Scores {
    ratings: u64,
    rmse: f64,
    mae: f64,
    /// Mean log predictive density of a rating.
    log_density: f64,
    coverage_50: f64,
    coverage_80: f64,
    coverage_95: f64,
    /// The RMSE of the best constant, known only afterwards.
    constant_rmse: f64,
    /// Ratings by users that the model does not know.
    unknown_users: u64,
    /// Ratings of items that the model does not know.
    unknown_items: u64,
    /// Ratings of pairs that the model was fitted to.
    fitted_pairs: usize,
}

pub(super) fn run(run: &OpenRun<Pmf>, ratings: &Ratings, args: &EvalArgs) -> anyhow::Result<()> {
    let scores = run.model.predictor(&run.saved.model_state().lambda).scores(ratings);
    if !(scores.rmse.is_finite() && scores.log_density.is_finite()) {
        anyhow::bail!(
            "{}: some ratings are so far from what the model expects that their densities \
             overflow; look for a wrong column or scale",
            args.data.display()
        );
    }
    let fitted_pairs = fitted_pairs(run, ratings);
    let constant_rmse = ratings.variance().sqrt();
    if args.json {
        let [coverage_50, coverage_80, coverage_95] = scores.coverage;
        return text::print_json(&Scores {
            ratings: scores.ratings,
            rmse: scores.rmse,
            mae: scores.mae,
            log_density: scores.log_density,
            coverage_50,
            coverage_80,
            coverage_95,
            constant_rmse,
            unknown_users: scores.unknown_users,
            unknown_items: scores.unknown_items,
            fitted_pairs,
        });
    }
    text::print(&shown(&scores, constant_rmse, fitted_pairs, args))
}

/// How many of the ratings are of pairs that the model was fitted to.
fn fitted_pairs(run: &OpenRun<Pmf>, ratings: &Ratings) -> usize {
    let n_users = run.model.ids(Side::User).len();
    let is_fitted = |&(user, item, _): &(u32, u32, f32)| {
        (user as usize) < n_users && run.model.seen(user).binary_search(&item).is_ok()
    };
    ratings.triples().filter(is_fitted).count()
}

fn shown(scores: &RatingScores, constant: f64, fitted_pairs: usize, args: &EvalArgs) -> String {
    let mut out = format!("{}: {}\n", args.data.display(), counted(scores.ratings, "rating"));
    out += &format!(
        "RMSE         {} (the best constant: {})\n",
        rounded(scores.rmse, 5),
        rounded(constant, 5)
    );
    out += &format!("MAE          {}\n", rounded(scores.mae, 5));
    out += &format!("log density  {} per rating\n", rounded(scores.log_density, 5));
    out += &format!("{}\n", intervals(scores.coverage));
    for (n, who) in
        [(scores.unknown_users, "by unknown users"), (scores.unknown_items, "of unknown items")]
    {
        if n > 0 {
            let is = if n == 1 { "is" } else { "are" };
            out += &format!("{} {who} {is} answered from the prior\n", counted(n, "rating"));
        }
    }
    if fitted_pairs > 0 {
        out += &format!(
            "{} of pairs that the model was fitted to: on new ones it is not as good as this\n",
            counted(fitted_pairs as u64, "rating")
        );
    }
    out
}
