//! The Gaussian distribution over a component's mean.

use crate::math::packed::Symmetric;

/// KL(N(m, R^-1) || N(m0, R0^-1)), from `offset = m - m0`, `covariance = R^-1`, R and R0.
pub fn divergence(
    shape: Symmetric,
    offset: &[f64],
    covariance: &[f64],
    precision: &[f64],
    prior_precision: &[f64],
) -> f64 {
    let ln_det = |a: &[f64]| {
        let mut factor = a.to_vec();
        assert!(shape.cholesky(&mut factor), "a precision in its domain");
        shape.ln_det(&factor)
    };
    0.5 * (shape.trace_of_product(prior_precision, covariance)
        + shape.quadratic(prior_precision, offset)
        - shape.n_dims() as f64
        + ln_det(precision)
        - ln_det(prior_precision))
}

/// E_Lambda[ KL(N(m, (beta Lambda)^-1) || N(m0, (beta0 Lambda)^-1)) ], where `expected_square` is
/// `(m - m0)' E[Lambda] (m - m0)`.
pub fn divergence_given_precision(d: usize, beta: f64, beta0: f64, expected_square: f64) -> f64 {
    let ratio = beta0 / beta;
    0.5 * (d as f64 * (ratio - 1.0 - ratio.ln()) + beta0 * expected_square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dimension_in_closed_form() {
        // KL(N(1, 1/4) || N(0, 1/2)) = ln(s0/s) + (s^2 + 1)/(2 s0^2) - 1/2.
        let kl = divergence(Symmetric::full(1), &[1.0], &[0.25], &[4.0], &[2.0]);
        let expected = 0.5 * 2f64.ln() + 1.25 / (2.0 * 0.5) - 0.5;
        assert!((kl - expected).abs() < 1e-14, "{kl} {expected}");
        assert!((divergence_given_precision(1, 4.0, 2.0, 1.0) - expected).abs() < 1e-14);
    }
}
