//! The Beta distribution: one stick of a stick-breaking process.

use crate::math::special::{digamma, ln_gamma};

/// E[ln v] and E[ln (1 - v)] under Beta(a, b).
pub fn expected_ln(a: f64, b: f64) -> (f64, f64) {
    let total = digamma(a + b);
    (digamma(a) - total, digamma(b) - total)
}

/// KL(Beta(a, b) || Beta(a0, b0)).
pub fn divergence(a: f64, b: f64, a0: f64, b0: f64) -> f64 {
    let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let (ln_v, ln_rest) = expected_ln(a, b);
    ln_beta(a0, b0) - ln_beta(a, b) + (a - a0) * ln_v + (b - b0) * ln_rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule on a fine grid.
    fn integral(f: impl Fn(f64) -> f64) -> f64 {
        let n = 20_000;
        let h = 1.0 / n as f64;
        let weight = |i: usize| match i {
            0 => 1.0,
            i if i == n => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=n).map(|i| weight(i) * f((i as f64 * h).clamp(1e-12, 1.0 - 1e-12))).sum::<f64>() * h
            / 3.0
    }

    #[test]
    fn agrees_with_numerical_integrals() {
        let (a, b, a0, b0) = (3.5, 2.0, 1.0, 4.0);
        let density = |a: f64, b: f64, v: f64| {
            (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)
                + (a - 1.0) * v.ln()
                + (b - 1.0) * (-v).ln_1p())
            .exp()
        };
        let kl = integral(|v| {
            let (q, p) = (density(a, b, v), density(a0, b0, v));
            q * (q / p).ln()
        });
        assert!((divergence(a, b, a0, b0) - kl).abs() < 1e-8);
        let mean_ln = integral(|v| density(a, b, v) * v.ln());
        assert!((expected_ln(a, b).0 - mean_ln).abs() < 1e-8);
    }
}
