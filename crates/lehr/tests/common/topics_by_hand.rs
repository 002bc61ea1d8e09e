//! The bound of topics from first principles, whatever their priors are.

use lehr::data::Docs;
use lehr::math::special::{digamma, ln_gamma};

/// E_q[ln p(x) - ln q(x)] of x ~ Dirichlet(prior), q = Dirichlet(a).
fn divergence(prior: &[f64], a: &[f64]) -> f64 {
    let total: f64 = a.iter().sum();
    let mut sum = ln_gamma(prior.iter().sum()) - ln_gamma(total);
    for (&p, &a) in prior.iter().zip(a) {
        sum += ln_gamma(a) - ln_gamma(p) + (p - a) * (digamma(a) - digamma(total));
    }
    sum
}

/// The bound of topics `q` (rows of parameters) under their priors, gamma of each document at its fixed point.
pub fn by_hand(docs: &Docs, alpha: &[f64], priors: &[Vec<f64>], q: &[Vec<f64>]) -> f64 {
    let k = q.len();
    let b: Vec<Vec<f64>> = q
        .iter()
        .map(|row| {
            let total = digamma(row.iter().sum());
            row.iter().map(|&x| (digamma(x) - total).exp()).collect()
        })
        .collect();
    let mut sum: f64 = priors.iter().zip(q).map(|(prior, q)| divergence(prior, q)).sum();
    for n in 0..docs.n_items() {
        let mut gamma = vec![1.0; k];
        let mut words = 0.0;
        for _ in 0..20_000 {
            let total = digamma(gamma.iter().sum());
            let theta: Vec<f64> = gamma.iter().map(|&g| (digamma(g) - total).exp()).collect();
            (gamma, words) = (alpha.to_vec(), 0.0);
            for entry in docs.doc(n) {
                let (w, count) = (entry.word as usize, f64::from(entry.count));
                let z: f64 = (0..k).map(|j| theta[j] * b[j][w]).sum();
                (0..k).for_each(|j| gamma[j] += count * theta[j] * b[j][w] / z);
                words += count * z.ln();
            }
        }
        sum += words + divergence(alpha, &gamma);
    }
    sum
}
