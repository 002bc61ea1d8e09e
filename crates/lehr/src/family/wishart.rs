//! The Wishart distribution W(Lambda | W, nu) over a component's precision.

use crate::math::special::{ln_multigamma, multidigamma};

const LN_2: f64 = std::f64::consts::LN_2;

/// E[ln |Lambda|].
pub fn expected_ln_det(d: usize, nu: f64, ln_det_w: f64) -> f64 {
    multidigamma(0.5 * nu, d) + d as f64 * LN_2 + ln_det_w
}

/// ln of the normaliser B(W, nu).
fn ln_normaliser(d: usize, nu: f64, ln_det_w: f64) -> f64 {
    -0.5 * nu * (ln_det_w + d as f64 * LN_2) - ln_multigamma(0.5 * nu, d)
}

/// KL(W(W, nu) || W(W0, nu0)), where `trace` is tr(W0^-1 W).
pub fn divergence(d: usize, nu: f64, ln_det_w: f64, nu0: f64, ln_det_w0: f64, trace: f64) -> f64 {
    ln_normaliser(d, nu, ln_det_w) - ln_normaliser(d, nu0, ln_det_w0)
        + 0.5 * (nu - nu0) * expected_ln_det(d, nu, ln_det_w)
        + 0.5 * nu * (trace - d as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::special::{digamma, ln_gamma};

    #[test]
    fn one_dimension_is_a_gamma_distribution() {
        // W(w, nu) in one dimension is Gamma(nu/2, rate 1/(2w)).
        let (nu, w, nu0, w0) = (7.0_f64, 0.3_f64, 3.0_f64, 1.1_f64);
        let (a, b, a0, b0) = (0.5 * nu, 0.5 / w, 0.5 * nu0, 0.5 / w0);
        let gamma_kl: f64 = (a - a0) * digamma(a) - ln_gamma(a)
            + ln_gamma(a0)
            + a0 * (b.ln() - b0.ln())
            + a * (b0 - b) / b;
        let kl = divergence(1, nu, w.ln(), nu0, w0.ln(), w / w0);
        assert!((kl - gamma_kl).abs() < 1e-13, "{kl} {gamma_kl}");
        assert!(divergence(4, 9.0, -1.0, 9.0, -1.0, 4.0).abs() < 1e-12);
    }
}
