//! Learning the priors: alpha from the documents, eta from the topics.

use super::{Lda, LearnAlpha, bound, split_hyper};
use crate::family::dirichlet;
use crate::lambda::Lambda;
use crate::model::HyperStep;

/// Steps between updates of eta when steps use batches: each is a few passes over all of lambda.
const ETA_EVERY: u64 = 20;

/// The most passes of one of them, and the relative change of eta that ends it earlier.
const ETA_PASSES: usize = 10;
const ETA_TOL: f64 = 0.01;

/// The hyperparameters at the start: eta, alpha, and the E ln theta that this alpha expects.
pub(super) fn start(lda: &Lda) -> Vec<f64> {
    let alpha = lda.params.start_alpha();
    let means = dirichlet::expected_ln(&alpha);
    [vec![lda.base_eta()], alpha, means].concat()
}

/// Learns what the settings ask for.
pub(super) fn learn(lda: &Lda, step: HyperStep<'_, Lda>, lambda: &mut Lambda) {
    let params = &lda.params;
    if params.learned_alpha() != LearnAlpha::No && step.size > 0 {
        let (eta, alpha, means) = split_hyper(&lambda.hyper);
        // Statistics are blended as lambda's are; the best alpha for them follows at once.
        let blend = |(old, sum): (&f64, &f64)| old + step.rho * (sum / step.size as f64 - old);
        let means: Vec<f64> = means.iter().zip(step.sums).map(blend).collect();
        let most = most_alpha(lda);
        let alpha = match params.learned_alpha() {
            LearnAlpha::Asymmetric => dirichlet::fit_below(&means, alpha, most),
            _ => {
                let mean = means.iter().sum::<f64>() / means.len() as f64;
                let found = dirichlet::fit_symmetric(means.len(), mean, alpha[0]);
                vec![found.min(most / means.len() as f64); means.len()]
            }
        };
        lambda.hyper = [vec![eta], alpha, means].concat();
    }
    if params.learns_eta() && (step.full || step.step.is_multiple_of(ETA_EVERY)) {
        let eta = lambda.hyper[0];
        // Rows that lag behind decay towards the eta of their time: up to here, the old one.
        lambda.catch_up(|_, row| row.fill(eta));
        if step.full {
            lambda.hyper[0] = best_eta(lda, lambda);
        } else {
            follow_eta(lda, lambda);
        }
    }
}

/// What the alphas of all topics are together at most, as a share of a document's length, and where documents are short.
const MOST_ALPHA: (f64, f64) = (0.1, 5.0);

/// The most for these documents. Where they do not differ, as while topics are still alike, every step would add a
/// document's length to the sum of alpha, and under such a prior topics would never come apart.
fn most_alpha(lda: &Lda) -> f64 {
    let (share, least) = MOST_ALPHA;
    (share * lda.tokens() / lda.n_docs.max(1) as f64).max(least)
}

/// The best eta for the topics as they are.
fn best_eta(lda: &Lda, lambda: &Lambda) -> f64 {
    let (n_words, mean, eta) = (lambda.n_rows(), bound::mean_ln_beta(lda, lambda), lambda.hyper[0]);
    match &lda.seed_prior {
        None => dirichlet::fit_symmetric(n_words, mean, eta),
        Some(seeds) => {
            let added: Vec<f64> = seeds.added.iter().map(|&(_, _, c)| c).collect();
            dirichlet::fit_common(n_words, mean, &lda.added_totals(), &added, eta)
        }
    }
}

/// Eta and its part of lambda where steps are smaller than 1. Lambda is eta and what words add; would it only drift to
/// a new eta, step by step, the eta that is best for it would lag behind the drift. So lambda is put where the new eta
/// has it, until both stand still.
fn follow_eta(lda: &Lda, lambda: &mut Lambda) {
    for _ in 0..ETA_PASSES {
        let (old, new) = (lambda.hyper[0], best_eta(lda, lambda));
        // What the start or noise left below eta stays there.
        lambda.map(|x| (x + new - old).max(x.min(new)));
        lambda.hyper[0] = new;
        if (new - old).abs() <= ETA_TOL * old {
            break;
        }
    }
}
