//! How well ratings are predicted, how well the model knows how well, and how good lists of items are.

use serde::Serialize;

use lehr::data::{Ratings, Side};
use lehr::models::pmf::{Pmf, RankingOptions, RankingScores, RatingScores, UncertaintyScores};

use super::intervals;
use crate::args::EvalArgs;
use crate::models::OpenRun;
use crate::text::{self, aligned, counted, rounded};

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
    /// The same for fifths of the ratings, from those of which the model is surest to those of which it is least sure.
    by_uncertainty: Vec<UncertaintyScores>,
    /// The RMSE of the best constant, known only afterwards.
    constant_rmse: f64,
    /// Ratings by users that the model does not know.
    unknown_users: u64,
    /// Ratings of items that the model does not know.
    unknown_items: u64,
    /// Ratings of pairs that the model was fitted to.
    fitted_pairs: usize,
    /// How good lists are, by their lengths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranking: Vec<RankingScores>,
}

/// What there is to say where values are no ratings.
#[derive(Serialize)]
struct Lists {
    ratings: u64,
    fitted_pairs: usize,
    ranking: Vec<RankingScores>,
}

/// The default lengths of lists where values are no ratings.
const LENGTHS: [usize; 2] = [10, 20];

/// Parts of the ratings by how sure the model is.
const FIFTHS: usize = 5;

/// Ratings from which on each of these parts has enough to tell.
const ENOUGH: usize = 500;

pub(super) fn run(run: &OpenRun<Pmf>, ratings: &Ratings, args: &EvalArgs) -> anyhow::Result<()> {
    let is_implicit = run.model.confidence().is_some();
    let lengths = if is_implicit && args.top.is_empty() { &LENGTHS[..] } else { &args.top };
    if let Some(relevant) = args.relevant.filter(|_| lengths.is_empty()) {
        anyhow::bail!(
            "--relevant {relevant}: is for lists; ask for them with --top, e.g. --top 10"
        );
    }
    let lambda = &run.saved.model_state().lambda;
    let rank =
        |&k: &usize| run.model.rank(lambda, ratings, RankingOptions { k, relevant: args.relevant });
    let ranking: Vec<RankingScores> = lengths.iter().map(rank).collect();
    if let Some(nobody) = ranking.first().filter(|scores| scores.users == 0) {
        anyhow::bail!(
            "{}: no user whom the model knows has anything to find ({}); lists are for users of the fit, and for \
             items that they had not rated yet{}",
            args.data.display(),
            counted(nobody.unknown_users as u64, "unknown user"),
            if args.relevant.is_some() { "; or lower --relevant" } else { "" }
        );
    }
    if is_implicit {
        let fitted_pairs = fitted_pairs(run, ratings);
        if args.json {
            let ratings = ratings.n_ratings() as u64;
            return text::print_json(&Lists { ratings, fitted_pairs, ranking });
        }
        let n = counted(ratings.n_ratings() as u64, "pair");
        return text::print(&(format!("{}: {n}\n", args.data.display()) + &lists(&ranking)));
    }
    let predictor = run.model.predictor(lambda);
    let scores = predictor.scores(ratings);
    if !(scores.rmse.is_finite() && scores.log_density.is_finite()) {
        anyhow::bail!(
            "{}: some ratings are so far from what the model expects that their densities \
             overflow; look for a wrong column or scale",
            args.data.display()
        );
    }
    let by_uncertainty = predictor.scores_by_uncertainty(ratings, FIFTHS);
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
            by_uncertainty,
            constant_rmse,
            unknown_users: scores.unknown_users,
            unknown_items: scores.unknown_items,
            fitted_pairs,
            ranking,
        });
    }
    let mut shown = shown(&scores, constant_rmse, fitted_pairs, args);
    if ratings.n_ratings() >= ENOUGH {
        shown += &fifths(&by_uncertainty);
    }
    text::print(&(shown + &lists(&ranking)))
}

/// Whether the model is as sure as it says where it is surest and where it is least sure.
fn fifths(parts: &[UncertaintyScores]) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let head = ["fifth", "predicted RMSE", "RMSE", "in 50 %", "in 80 %", "in 95 %"];
    let mut rows = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let name = match at {
            0 => "surest".to_string(),
            at if at + 1 == parts.len() => "least sure".to_string(),
            at => (at + 1).to_string(),
        };
        let [half, most, nearly_all] = part.coverage.map(percent);
        let (predicted, found) = (rounded(part.predicted_rmse, 3), rounded(part.rmse, 3));
        rows.push(vec![name, predicted, found, half, most, nearly_all]);
    }
    format!("by how sure the model is:\n{}", aligned(&head, &rows, 0..1))
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

/// The scores of lists, and of a most-popular baseline.
fn lists(ranking: &[RankingScores]) -> String {
    let mut out = String::new();
    for scores in ranking {
        out += &format!(
            "\nlists of {} for {}, who have {} to find\n",
            counted(scores.k as u64, "item"),
            counted(scores.users as u64, "user"),
            counted(scores.relevant as u64, "item")
        );
        let row = |name: &str, model: f64, popularity: f64| {
            vec![name.to_string(), format!("{model:.4}"), format!("{popularity:.4}")]
        };
        let (model, popular) = (&scores.model, &scores.popularity);
        let rows = [
            row("NDCG", model.ndcg, popular.ndcg),
            row("recall", model.recall, popular.recall),
            row("precision", model.precision, popular.precision),
            row("MAP", model.map, popular.map),
            row("hit rate", model.hit_rate, popular.hit_rate),
            row("coverage", model.coverage, popular.coverage),
        ];
        out += &aligned(&["", "model", "most popular"], &rows, 0..1);
        for (n, what) in [
            (scores.unknown_users, "unknown user, who is left out"),
            (scores.unknown_items, "unknown item, which cannot be found"),
        ] {
            if n > 0 {
                let (one, rest) = what.split_once(',').unwrap_or((what, ""));
                let rest = if n == 1 { rest } else { &rest.replace(" is ", " are ") };
                out += &format!("{},{rest}\n", counted(n as u64, one));
            }
        }
    }
    out
}
