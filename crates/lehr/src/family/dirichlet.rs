//! The Dirichlet distribution.

use crate::math::special::{digamma, ln_gamma};

/// E[ln pi_k] under Dirichlet(a).
pub fn expected_ln(a: &[f64]) -> Vec<f64> {
    let total = digamma(a.iter().sum());
    a.iter().map(|&a| digamma(a) - total).collect()
}

/// KL(Dirichlet(a) || Dirichlet(prior, ..., prior)).
pub fn divergence_from_symmetric(a: &[f64], prior: f64) -> f64 {
    let k = a.len() as f64;
    let total: f64 = a.iter().sum();
    let normalisers = ln_gamma(total) - ln_gamma(k * prior) + k * ln_gamma(prior);
    let expected = expected_ln(a);
    a.iter().zip(expected).fold(normalisers, |sum, (&a, e)| sum - ln_gamma(a) + (a - prior) * e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_vanishes_at_the_prior_and_matches_the_beta_case() {
        assert!(divergence_from_symmetric(&[0.3; 5], 0.3).abs() < 1e-13);
        let two = divergence_from_symmetric(&[2.5, 0.7], 1.0);
        assert!((two - super::super::beta::divergence(2.5, 0.7, 1.0, 1.0)).abs() < 1e-13);
        assert!(two > 0.0);
    }
}
