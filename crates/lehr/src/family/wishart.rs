//! The Wishart distribution W(Lambda | W, nu) over a component's precision.

use crate::math::special::{ln_multigamma, multidigamma};

const LN_2: f64 = std::f64::consts::LN_2;

/// Several independent Wishart distributions of the same degrees of freedom: one of d dimensions for a full
/// precision, d of one dimension (Gamma distributions) for a diagonal one. What they say of determinants and traces
/// are sums over all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wisharts {
    /// How many.
    pub count: usize,
    /// Of how many dimensions each.
    pub dims: usize,
}

impl Wisharts {
    /// The dimensions of all of them.
    fn total(self) -> f64 {
        (self.count * self.dims) as f64
    }

    /// E[ln |Lambda|].
    pub fn expected_ln_det(self, nu: f64, ln_det_w: f64) -> f64 {
        self.count as f64 * multidigamma(0.5 * nu, self.dims) + self.total() * LN_2 + ln_det_w
    }

    /// ln of the normaliser B(W, nu).
    pub fn ln_normaliser(self, nu: f64, ln_det_w: f64) -> f64 {
        -0.5 * nu * (ln_det_w + self.total() * LN_2)
            - self.count as f64 * ln_multigamma(0.5 * nu, self.dims)
    }

    /// KL(W(W, nu) || W(W0, nu0)), where `ln_det` is E[ln |Lambda|] under the first and `trace` is tr(W0^-1 W).
    pub fn divergence(self, q: Taken, prior: Taken, ln_det: f64, trace: f64) -> f64 {
        q.ln_normaliser - prior.ln_normaliser
            + 0.5 * (q.nu - prior.nu) * ln_det
            + 0.5 * q.nu * (trace - self.total())
    }
}

/// What divergences need of a distribution.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// The degrees of freedom.
    pub nu: f64,
    /// As [`Wisharts::ln_normaliser`] gives it.
    pub ln_normaliser: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::special::{digamma, ln_gamma};

    fn divergence(of: Wisharts, q: (f64, f64), prior: (f64, f64), trace: f64) -> f64 {
        let taken = |(nu, ln_det)| Taken { nu, ln_normaliser: of.ln_normaliser(nu, ln_det) };
        of.divergence(taken(q), taken(prior), of.expected_ln_det(q.0, q.1), trace)
    }

    #[test]
    fn one_dimension_is_a_gamma_distribution() {
        // W(w, nu) in one dimension is Gamma(nu/2, rate 1/(2w)).
        let (nu, w, nu0, w0) = (7.0_f64, 0.3_f64, 3.0_f64, 1.1_f64);
        let (a, b, a0, b0) = (0.5 * nu, 0.5 / w, 0.5 * nu0, 0.5 / w0);
        let gamma_kl: f64 = (a - a0) * digamma(a) - ln_gamma(a)
            + ln_gamma(a0)
            + a0 * (b.ln() - b0.ln())
            + a * (b0 - b) / b;
        let one = Wisharts { count: 1, dims: 1 };
        let kl = divergence(one, (nu, w.ln()), (nu0, w0.ln()), w / w0);
        assert!((kl - gamma_kl).abs() < 1e-13, "{kl} {gamma_kl}");
        // Three of them are three times one.
        let three = Wisharts { count: 3, dims: 1 };
        let kl = divergence(three, (nu, 3.0 * w.ln()), (nu0, 3.0 * w0.ln()), 3.0 * w / w0);
        assert!((kl - 3.0 * gamma_kl).abs() < 1e-12, "{kl} {gamma_kl}");
        let full = Wisharts { count: 1, dims: 4 };
        assert!(divergence(full, (9.0, -1.0), (9.0, -1.0), 4.0).abs() < 1e-12);
    }
}
