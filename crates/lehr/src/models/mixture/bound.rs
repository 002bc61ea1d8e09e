//! The part of a mixture's bound that is not its items' own.

use super::Mixture;
use super::by_component::in_order;
use super::expect::{Densities, Known, Moments, Spread};
use super::rows::Row;
use crate::family::{beta, dirichlet, gaussian};
use crate::math::table::Table;

/// E_q[ln p - ln q] of the weights and of every component, with every constant.
/// What `expect` knows of this lambda is not found again.
pub(super) fn minus_divergence(mixture: &Mixture, lambda: &Table, expect: &Densities) -> f64 {
    let (d, shape, prior) = (mixture.n_dims(), mixture.shape, &mixture.prior);
    let prior_ln_det = {
        let mut factor = prior.scatter.clone();
        assert!(shape.scatter().cholesky(&mut factor), "the prior was checked");
        shape.scatter().ln_det(&factor)
    };
    let of_precision = shape.prior(prior.degrees_of_freedom, &prior.scatter, prior_ln_det);
    let mut divergence = if mixture.sticks() {
        mixture
            .rows(lambda)
            .map(|r| beta::divergence(r.weights[0], r.weights[1], 1.0, prior.concentration))
            .sum()
    } else {
        let a: Vec<f64> = mixture.rows(lambda).map(|row| row.weights[0]).collect();
        dirichlet::divergence_from_symmetric(&a, prior.concentration)
    };
    let divergences = |r: usize, row: &[f64]| {
        let parts = mixture.parts(row);
        let found = expect.known.row(r).is_none().then(|| mixture.known(&parts));
        let Known { moments, ln_det } =
            expect.known.row(r).or(found.as_ref()).expect("one of them");
        let precision = &moments[0].precision;
        let w = shape.scale(precision);
        let of_precision = shape.divergence(precision, &w, *ln_det, &of_precision);
        let of_mean = |(m, part): (&Moments, &Row<'_>)| {
            let offset: Vec<f64> = m.mean.iter().zip(&prior.mean).map(|(m, p)| m - p).collect();
            match &m.spread {
                Spread::Beta(beta) => gaussian::divergence_given_precision(
                    d,
                    *beta,
                    prior.mean_precision,
                    shape.quadratic(precision.nu, &w, &offset),
                ),
                Spread::Covariance(covariance) => gaussian::divergence(
                    shape.of_means(),
                    &offset,
                    covariance,
                    part.precision,
                    &prior.mean_precision_matrix,
                ),
            }
        };
        let of_means: Vec<f64> = moments.iter().zip(&parts).map(of_mean).collect();
        (of_precision, of_means)
    };
    in_order(mixture, lambda, divergences, |_, (of_precision, of_means)| {
        divergence += of_precision;
        of_means.iter().for_each(|of_mean| divergence += of_mean);
    });
    -divergence
}
