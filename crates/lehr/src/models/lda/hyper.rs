//! Learning the priors: alpha from the documents, eta from the topics.

use super::{Lda, LdaParams, LearnAlpha, bound, split_hyper};
use crate::family::dirichlet;
use crate::lambda::Lambda;
use crate::model::HyperStep;

/// Steps between updates of eta when steps use batches: each is a pass over all of lambda.
const ETA_EVERY: u64 = 20;

/// The hyperparameters at the start: eta, alpha, and the E ln theta that this alpha expects.
pub(super) fn start(params: &LdaParams) -> Vec<f64> {
    let alpha = vec![params.start_alpha(); params.topics];
    let means = dirichlet::expected_ln(&alpha);
    [vec![params.eta], alpha, means].concat()
}

/// Learns what the settings ask for.
pub(super) fn learn(params: &LdaParams, step: HyperStep<'_, Lda>, lambda: &mut Lambda) {
    if params.learn_alpha != LearnAlpha::No && step.size > 0 {
        let (eta, alpha, means) = split_hyper(&lambda.hyper);
        // Statistics are blended as lambda's are; the best alpha for them follows at once.
        let blend = |(old, sum): (&f64, &f64)| old + step.rho * (sum / step.size as f64 - old);
        let means: Vec<f64> = means.iter().zip(step.sums).map(blend).collect();
        let alpha = match params.learn_alpha {
            LearnAlpha::Asymmetric => dirichlet::fit(&means, alpha),
            _ => {
                let mean = means.iter().sum::<f64>() / means.len() as f64;
                vec![dirichlet::fit_symmetric(means.len(), mean, alpha[0]); means.len()]
            }
        };
        lambda.hyper = [vec![eta], alpha, means].concat();
    }
    if params.learn_eta && (step.full || step.step.is_multiple_of(ETA_EVERY)) {
        let eta = lambda.hyper[0];
        // Rows that lag behind decay towards the eta of their time: up to here, the old one.
        lambda.catch_up(|_, row| row.fill(eta));
        let mean = bound::mean_ln_beta(lambda);
        lambda.hyper[0] = dirichlet::fit_symmetric(lambda.n_rows(), mean, eta);
    }
}
