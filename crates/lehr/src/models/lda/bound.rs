//! The parts of the bound that are not the words' own: a document's theta, and the topics.

use rayon::prelude::*;

use super::{Lda, split_hyper};
use crate::lambda::Lambda;
use crate::math::kernels::{digamma_f64, ln_gamma_f64};
use crate::math::special::{digamma, ln_gamma};
use crate::math::stop;

/// Words that one worker sums at a time; part of the definition of the sum.
const CHUNK: usize = 256;

/// E_q[ln p(theta) - ln q(theta)] with q = Dirichlet(gamma).
pub(super) fn of_theta(alpha: &[f64], gamma: &[f64]) -> f64 {
    let total: f64 = gamma.iter().sum();
    let digamma_total = digamma(total);
    let mut sum = ln_gamma(alpha.iter().sum()) - ln_gamma(total);
    for (&a, &g) in alpha.iter().zip(gamma) {
        // A topic that the document does not have is where its prior is: its terms cancel.
        if a != g {
            sum += (a - g) * (digamma(g) - digamma_total) + ln_gamma(g) - ln_gamma(a);
        }
    }
    sum
}

/// E_q[ln p(beta) - ln q(beta)], summed over the topics.
pub(super) fn of_topics(lda: &Lda, lambda: &Lambda) -> f64 {
    let (eta, ..) = split_hyper(&lambda.hyper);
    let (n_words, n_topics) = (lambda.n_rows(), lambda.width());
    let prior = vec![eta; n_topics];
    let totals = lda.topic_totals(lambda);
    let digamma_totals: Vec<f64> = totals.iter().map(|&total| digamma(total)).collect();
    let ln_gamma_eta = ln_gamma(eta);
    let parts: Vec<f64> = (0..n_words.div_ceil(CHUNK))
        .into_par_iter()
        .map_init(
            || [(); 3].map(|()| vec![0.0; n_topics]),
            |[row, digammas, ln_gammas], chunk| {
                let mut sum = 0.0;
                for w in chunk * CHUNK..((chunk + 1) * CHUNK).min(n_words) {
                    stop::check();
                    lambda.read(w, &prior, row);
                    let more = lda.more_of(w);
                    let (eta, ln_gamma_eta) = match more > 0.0 {
                        true => (eta + more, ln_gamma(eta + more)),
                        false => (eta, ln_gamma_eta),
                    };
                    if more > 0.0 {
                        row.iter_mut().for_each(|x| *x += more);
                    }
                    // The terms of seed words have another prior; what is left of their topics then adds nothing.
                    for &(_, topic, c) in lda.added(w) {
                        let k = topic as usize;
                        let (x, least) = (row[k] + c, eta + c);
                        sum += (least - x) * (digamma(x) - digamma_totals[k]) + ln_gamma(x)
                            - ln_gamma(least);
                        row[k] = eta;
                    }
                    digamma_f64(lda.isa, row, digammas);
                    ln_gamma_f64(lda.isa, row, ln_gammas);
                    for (k, &x) in row.iter().enumerate() {
                        if x != eta {
                            sum += (eta - x) * (digammas[k] - digamma_totals[k]) + ln_gammas[k]
                                - ln_gamma_eta;
                        }
                    }
                }
                sum
            },
        )
        .collect();
    let of_prior = match lda.adds() {
        false => n_topics as f64 * ln_gamma(n_words as f64 * eta),
        true => lda.added_totals().iter().map(|c| ln_gamma(n_words as f64 * eta + c)).sum(),
    };
    let normalisers = of_prior - totals.iter().map(|&total| ln_gamma(total)).sum::<f64>();
    normalisers + parts.iter().sum::<f64>()
}

/// The mean of E_q[ln beta_kw] over all topics and words: what learning eta needs.
pub(super) fn mean_ln_beta(lda: &Lda, lambda: &Lambda) -> f64 {
    let table = lambda.table();
    let parts: Vec<f64> = table
        .values()
        .par_chunks(CHUNK * table.width())
        .map_init(Vec::new, |digammas, chunk| {
            digammas.resize(chunk.len(), 0.0);
            digamma_f64(lda.isa, chunk, digammas);
            sum_of(digammas)
        })
        .collect();
    let n_words = table.n_rows() as f64;
    let totals: f64 = lda.topic_totals(lambda).iter().map(|&total| digamma(total)).sum();
    let sum = parts.iter().sum::<f64>() + lda.digamma_of_seeds(lambda);
    (sum - n_words * totals) / (n_words * table.width() as f64)
}

/// A sum of which eight parts are added side by side.
fn sum_of(values: &[f64]) -> f64 {
    let mut parts = [0.0; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        parts.iter_mut().zip(eight).for_each(|(part, x)| *part += x);
    }
    parts.iter().chain(rest).sum()
}
