//! A fitted mixture as the numbers of its distributions, in the data's units: what other packages
//! call its parameters.

use super::shape::Precision;
use super::{Mixture, Prior, Spread};
use crate::math::table::Table;

/// q and its prior. Matrices are by rows, component after component; diagonals where covariances are
/// diagonal, one number where they are spheres, and the one matrix of tied components once.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The Dirichlet's parameters; of sticks, the first ones of their Beta distributions.
    pub concentration: Vec<f64>,
    /// Of sticks, the second ones.
    pub concentration_rest: Option<Vec<f64>>,
    /// beta, if q(mu, Lambda) is a Normal-Wishart.
    pub mean_precision: Option<Vec<f64>>,
    /// nu; one for all of tied components.
    pub degrees_of_freedom: Vec<f64>,
    /// Upper triangular U with `E[Lambda] = U U'`.
    pub precision_factors: Vec<f64>,
    /// a0 or alpha.
    pub prior_concentration: f64,
    /// m0.
    pub prior_mean: Vec<f64>,
    /// beta0.
    pub prior_mean_precision: f64,
    /// nu0.
    pub prior_degrees_of_freedom: f64,
    /// W0^-1.
    pub prior_scatter: Vec<f64>,
}

impl Mixture {
    /// q and its prior in the data's units.
    ///
    /// ```
    /// use lehr::data::Points;
    /// use lehr::models::{Mixture, MixtureParams};
    ///
    /// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2], 1)?;
    /// let mixture = Mixture::new(MixtureParams::gmm(1), &points)?;
    /// let lambda = mixture.lambda_from_responsibilities(&points, &[1.0; 6]);
    /// let posterior = mixture.posterior(&lambda);
    /// assert_eq!(posterior.degrees_of_freedom, [posterior.prior_degrees_of_freedom + 6.0]);
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn posterior(&self, lambda: &Table) -> Posterior {
        let (d, stored) = (self.n_dims(), self.shape.scatter());
        let scale = &self.units.scale;
        let column = |at: usize| self.rows(lambda).map(|row| row.weights[at]).collect::<Vec<f64>>();
        let mut mean_precision = Vec::new();
        let mut degrees_of_freedom = Vec::new();
        let mut precision_factors = Vec::new();
        for row in lambda.rows() {
            let moments = self.valid_moments(&self.parts(row));
            mean_precision.extend(moments.iter().filter_map(|m| match m.spread {
                Spread::Beta(beta) => Some(beta),
                Spread::Covariance(_) => None,
            }));
            let Precision { nu, whitening, .. } = &*moments[0].precision;
            degrees_of_freedom.push(*nu);
            // E[Lambda] = nu C^-T C^-1 in z, and z = x / scale.
            let root = nu.sqrt();
            if stored.is_diagonal() {
                precision_factors.extend(whitening.iter().zip(scale).map(|(w, s)| root * w / s));
                continue;
            }
            for (i, scale) in scale.iter().enumerate() {
                let entry = |j: usize| if j < i { 0.0 } else { whitening[j * (j + 1) / 2 + i] };
                precision_factors.extend((0..d).map(|j| root * entry(j) / scale));
            }
        }
        let prior = self.prior_in_units();
        Posterior {
            concentration: column(0),
            concentration_rest: self.sticks().then(|| column(1)),
            mean_precision: self.joint().then_some(mean_precision),
            degrees_of_freedom,
            precision_factors,
            prior_concentration: prior.concentration,
            prior_mean: prior.mean,
            prior_mean_precision: prior.mean_precision,
            prior_degrees_of_freedom: prior.degrees_of_freedom,
            prior_scatter: prior.scatter,
        }
    }

    /// The prior in the data's units; its scatter by rows, or the diagonal where that is all there is.
    pub(super) fn prior_in_units(&self) -> Prior {
        let (d, stored, scale) = (self.n_dims(), self.shape.scatter(), &self.units.scale);
        let prior = &self.prior;
        let scatter = if stored.is_diagonal() {
            prior.scatter.iter().zip(scale).map(|(x, s)| x * s * s).collect()
        } else {
            let mut dense = vec![0.0; d * d];
            stored.to_dense(&prior.scatter, &mut dense);
            dense.iter_mut().enumerate().for_each(|(at, x)| *x *= scale[at / d] * scale[at % d]);
            dense
        };
        let mean = (0..d).map(|j| prior.mean[j] * scale[j] + self.units.shift[j]).collect();
        Prior { mean, scatter, ..prior.clone() }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::Points;
    use crate::math::rng::{Address, Purpose};
    use crate::models::mixture::{Covariance, Mixture, MixtureParams};

    #[test]
    fn the_factors_are_those_of_the_precisions() {
        let mut rng = Address::new(5, Purpose::Data, 0, 0).rng(0);
        let values: Vec<f64> =
            (0..300).map(|i| rng.normal() * [1.0, 30.0, 0.02][i % 3] + 7.0).collect();
        let points = Points::new(values, 3).unwrap();
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let params = MixtureParams { covariance, ..MixtureParams::dpgmm(2) };
            let mixture = Mixture::new(params, &points).unwrap();
            let resp: Vec<f64> =
                (0..100).flat_map(|n| [n as f64 / 99.0, 1.0 - n as f64 / 99.0]).collect();
            let lambda = mixture.lambda_from_responsibilities(&points, &resp);
            let posterior = mixture.posterior(&lambda);
            let size = if covariance == Covariance::Full { 9 } else { 3 };
            let factors = posterior.precision_factors.chunks_exact(size);
            for (component, factor) in mixture.components(&lambda).iter().zip(factors) {
                for (at, &expected) in component.precision.iter().enumerate() {
                    let found: f64 = if size == 3 {
                        factor[at].powi(2)
                    } else {
                        (0..3).map(|l| factor[at / 3 * 3 + l] * factor[at % 3 * 3 + l]).sum()
                    };
                    assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0));
                }
            }
            assert!((posterior.prior_mean[1] - 7.0).abs() < 15.0);
        }
    }
}
