//! What the local steps of a mixture read: each component's expected log density.

use super::by_component::in_order;
use super::{LN_2PI, MARGIN, Mixture};
use crate::family::{beta, dirichlet, wishart};
use crate::math::kernels::GaussianBlock;
use crate::math::table::Table;

/// One row of lambda, taken apart.
pub(super) struct Row<'a> {
    pub weights: &'a [f64],
    /// beta, or R packed.
    pub precision: &'a [f64],
    /// beta m, or R m.
    pub linear: &'a [f64],
    pub nu: f64,
    /// A, or W^-1.
    pub scatter: &'a [f64],
}

/// What the expectations of one component are made from.
pub(super) struct Moments {
    pub mean: Vec<f64>,
    pub nu: f64,
    /// C^-1 with W^-1 = C C', so that W = C^-T C^-1.
    pub whitening: Vec<f64>,
    pub ln_det_scatter: f64,
    /// beta, or R^-1.
    pub spread: Spread,
}

/// The uncertainty of a component's mean.
pub(super) enum Spread {
    Beta(f64),
    Covariance(Vec<f64>),
}

impl Mixture {
    /// Mean, W and the mean's spread; `None` if the row is out of its domain.
    pub(super) fn moments(&self, row: &Row<'_>) -> Option<Moments> {
        let shape = self.shape;
        let mut mean = vec![0.0; shape.n_dims()];
        let mut scatter = row.scatter.to_vec();
        let spread = if self.joint() {
            let beta = row.precision[0];
            if beta <= MARGIN * self.prior.mean_precision {
                return None;
            }
            mean.iter_mut().zip(row.linear).for_each(|(m, l)| *m = l / beta);
            shape.add_outer(-beta, &mean, &mean, &mut scatter);
            Spread::Beta(beta)
        } else {
            let mut factor = row.precision.to_vec();
            if !shape.cholesky(&mut factor) {
                return None;
            }
            shape.invert_lower(&mut factor);
            let mut covariance = vec![0.0; shape.len()];
            shape.gram(&factor, &mut covariance);
            shape.times(&covariance, row.linear, &mut mean);
            Spread::Covariance(covariance)
        };
        if !shape.cholesky(&mut scatter) {
            return None;
        }
        let ln_det_scatter = shape.ln_det(&scatter);
        shape.invert_lower(&mut scatter);
        Some(Moments { mean, nu: row.nu, whitening: scatter, ln_det_scatter, spread })
    }

    /// The moments of a row that is known to be in its domain.
    pub(super) fn valid_moments(&self, row: &Row<'_>) -> Moments {
        self.moments(row).expect("every step leaves lambda in its domain")
    }

    /// E_q[ln pi_k] for all components.
    pub(super) fn expected_ln_weights(&self, lambda: &Table) -> Vec<f64> {
        let first: Vec<f64> = lambda.rows().map(|row| row[0]).collect();
        if !self.sticks() {
            return dirichlet::expected_ln(&first);
        }
        let mut before = 0.0;
        lambda
            .rows()
            .map(|row| {
                let (ln_v, ln_rest) = beta::expected_ln(row[0], row[1]);
                let ln_weight = ln_v + before;
                before += ln_rest;
                ln_weight
            })
            .collect()
    }

    /// The components' expected log densities, weights included.
    pub(super) fn densities(&self, lambda: &Table) -> GaussianBlock {
        let d = self.n_dims();
        let ln_weights = self.expected_ln_weights(lambda);
        let constant = self.units.ln_jacobian() - 0.5 * d as f64 * LN_2PI;
        let mut block = GaussianBlock::new(self.params.components, d, self.shape.is_diagonal());
        let density = |k: usize, row: &[f64]| {
            let mut m = self.valid_moments(&self.row(row));
            let ln_det = wishart::expected_ln_det(d, m.nu, -m.ln_det_scatter);
            // E[(x - mu)' Lambda (x - mu)] = nu (x - m)' W (x - m) + this:
            let trace = match &m.spread {
                Spread::Beta(beta) => d as f64 / beta,
                Spread::Covariance(covariance) => {
                    let mut w = vec![0.0; self.shape.len()];
                    self.shape.gram(&m.whitening, &mut w);
                    m.nu * self.shape.trace_of_product(&w, covariance)
                }
            };
            let root = m.nu.sqrt();
            m.whitening.iter_mut().for_each(|x| *x *= root);
            let mut shift = vec![0.0; d];
            self.shape.lower_times(&m.whitening, &m.mean, &mut shift);
            (ln_weights[k] + 0.5 * (ln_det - trace) + constant, m.whitening, shift)
        };
        in_order(self, lambda, density, |k, (offset, whitening, shift)| {
            block.set(k, offset, &whitening, &shift);
        });
        block
    }
}
