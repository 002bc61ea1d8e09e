//! The part of a mixture's bound that is not its items' own.

use super::Mixture;
use super::by_component::in_order;
use super::expect::Spread;
use crate::family::{beta, dirichlet, gaussian, wishart};
use crate::math::table::Table;

/// E_q[ln p - ln q] of the weights and of every component, with every constant.
pub(super) fn minus_divergence(mixture: &Mixture, lambda: &Table) -> f64 {
    let (d, shape, prior) = (mixture.n_dims(), mixture.shape, &mixture.prior);
    let prior_ln_det = {
        let mut factor = prior.scatter.clone();
        assert!(shape.cholesky(&mut factor), "the prior was checked");
        shape.ln_det(&factor)
    };
    let mut divergence = if mixture.sticks() {
        lambda.rows().map(|r| beta::divergence(r[0], r[1], 1.0, prior.concentration)).sum()
    } else {
        let a: Vec<f64> = lambda.rows().map(|row| row[0]).collect();
        dirichlet::divergence_from_symmetric(&a, prior.concentration)
    };
    let divergences = |_: usize, row: &[f64]| {
        let m = mixture.valid_moments(&mixture.row(row));
        let mut w = vec![0.0; shape.len()];
        shape.gram(&m.whitening, &mut w);
        let offset: Vec<f64> = m.mean.iter().zip(&prior.mean).map(|(m, p)| m - p).collect();
        let of_precision = wishart::divergence(
            d,
            m.nu,
            -m.ln_det_scatter,
            prior.degrees_of_freedom,
            -prior_ln_det,
            shape.trace_of_product(&prior.scatter, &w),
        );
        let of_mean = match &m.spread {
            Spread::Beta(beta) => gaussian::divergence_given_precision(
                d,
                *beta,
                prior.mean_precision,
                m.nu * shape.quadratic(&w, &offset),
            ),
            Spread::Covariance(covariance) => gaussian::divergence(
                shape,
                &offset,
                covariance,
                mixture.row(row).precision,
                &prior.mean_precision_matrix,
            ),
        };
        (of_precision, of_mean)
    };
    in_order(mixture, lambda, divergences, |_, (of_precision, of_mean)| {
        divergence += of_precision;
        divergence += of_mean;
    });
    -divergence
}
