//! What the local steps of a mixture read: each component's expected log density.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::by_component::in_order;
use super::rows::Row;
use super::shape::Precision;
use super::{LN_2PI, MARGIN, Mixture};
use crate::family::{beta, dirichlet};
use crate::math::kernels::GaussianBlock;
use crate::math::table::Table;

/// The components' expected log densities, weights included, as the kernels read them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Densities {
    /// The Gaussians; of tied components, as functions of items that were whitened.
    pub(super) block: GaussianBlock,
    /// How items are whitened, where all components have the same precision.
    pub(super) whitener: Option<GaussianBlock>,
    #[serde(skip)]
    pub(super) known: Kept,
}

/// What the densities were made from, where little of it is kept for the bound; no part of what they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Arc<Vec<Known>>);

impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Kept {
    /// Of a row of lambda.
    pub fn row(&self, row: usize) -> Option<&Known> {
        self.0.get(row)
    }
}

/// Kept are at most this many numbers of precisions: where there are more, to find them again is no great part of a step.
const KEPT: usize = 1 << 16;

/// What expectations are made from, of the components of one row of lambda.
#[derive(Debug)]
pub(super) struct Known {
    pub moments: Vec<Moments>,
    /// E[ln |Lambda|], as [`Shape::stored_ln_det`](super::shape::Shape::stored_ln_det).
    pub ln_det: f64,
}

/// What the expectations of one component are made from.
#[derive(Debug)]
pub(super) struct Moments {
    pub mean: Vec<f64>,
    pub precision: Arc<Precision>,
    /// beta, or R^-1.
    pub spread: Spread,
}

/// The uncertainty of a component's mean.
#[derive(Debug)]
pub(super) enum Spread {
    Beta(f64),
    Covariance(Vec<f64>),
}

impl Mixture {
    /// Mean, W and the mean's spread of the components of one row of lambda; `None` if it is out of its domain.
    pub(super) fn moments(&self, parts: &[Row<'_>]) -> Option<Vec<Moments>> {
        let mut means = Vec::with_capacity(parts.len());
        let scatter = self.centred(parts, |mean, spread| means.push((mean, spread)))?;
        let precision = Arc::new(self.shape.precision(parts[0].nu, scatter)?);
        let of = |(mean, spread)| Moments { mean, precision: Arc::clone(&precision), spread };
        Some(means.into_iter().map(of).collect())
    }

    /// Whether there are moments. It takes half the work to know that: no inverse, no logarithm.
    pub(super) fn has_moments(&self, parts: &[Row<'_>]) -> bool {
        let scatter = self.centred(parts, |_, _| {});
        scatter.is_some_and(|mut scatter| self.shape.scatter().cholesky(&mut scatter))
    }

    /// W^-1 of the components of one row, whose means and their spreads are handed on; `None` if a mean has none.
    fn centred(
        &self,
        parts: &[Row<'_>],
        mut each: impl FnMut(Vec<f64>, Spread),
    ) -> Option<Vec<f64>> {
        let mut scatter = parts[0].scatter.to_vec();
        for part in parts {
            let (mean, spread) = self.mean(part)?;
            if let Spread::Beta(beta) = spread {
                self.shape.add_outer(-beta, &mean, &mean, &mut scatter);
            }
            each(mean, spread);
        }
        Some(scatter)
    }

    fn mean(&self, part: &Row<'_>) -> Option<(Vec<f64>, Spread)> {
        let mut mean = vec![0.0; self.n_dims()];
        if self.joint() {
            let beta = part.precision[0];
            if beta <= MARGIN * self.prior.mean_precision {
                return None;
            }
            mean.iter_mut().zip(part.linear).for_each(|(m, l)| *m = l / beta);
            return Some((mean, Spread::Beta(beta)));
        }
        let shape = self.shape.of_means();
        let mut factor = part.precision.to_vec();
        if !shape.cholesky(&mut factor) {
            return None;
        }
        shape.invert_lower(&mut factor);
        let mut covariance = vec![0.0; shape.len()];
        shape.gram(&factor, &mut covariance);
        shape.times(&covariance, part.linear, &mut mean);
        Some((mean, Spread::Covariance(covariance)))
    }

    /// The moments of a row that is known to be in its domain.
    pub(super) fn valid_moments(&self, parts: &[Row<'_>]) -> Vec<Moments> {
        self.moments(parts).expect("every step leaves lambda in its domain")
    }

    /// The same with what follows.
    pub(super) fn known(&self, parts: &[Row<'_>]) -> Known {
        let moments = self.valid_moments(parts);
        Known { ln_det: self.shape.stored_ln_det(&moments[0].precision), moments }
    }

    /// The moments of all components.
    pub(super) fn all_moments(&self, lambda: &Table) -> Vec<Moments> {
        lambda.rows().flat_map(|row| self.valid_moments(&self.parts(row))).collect()
    }

    /// E_q[ln pi_k] for all components.
    pub(super) fn expected_ln_weights(&self, lambda: &Table) -> Vec<f64> {
        if !self.sticks() {
            let first: Vec<f64> = self.rows(lambda).map(|row| row.weights[0]).collect();
            return dirichlet::expected_ln(&first);
        }
        let mut before = 0.0;
        self.rows(lambda)
            .map(|row| {
                let (ln_v, ln_rest) = beta::expected_ln(row.weights[0], row.weights[1]);
                let ln_weight = ln_v + before;
                before += ln_rest;
                ln_weight
            })
            .collect()
    }

    /// The components' expected log densities, weights included.
    pub(super) fn densities(&self, lambda: &Table) -> Densities {
        let (d, shape) = (self.n_dims(), self.shape);
        let ln_weights = self.expected_ln_weights(lambda);
        let constant = self.units.ln_jacobian() - 0.5 * d as f64 * LN_2PI;
        let density = |k: usize, m: &Moments, ln_det: f64| {
            // E[(x - mu)' Lambda (x - mu)] = nu (x - m)' W (x - m) + this:
            let trace = match &m.spread {
                Spread::Beta(beta) => d as f64 / beta,
                Spread::Covariance(covariance) => shape.trace_with(&m.precision, covariance),
            };
            let offset = ln_weights[k] + 0.5 * (ln_det - trace) + constant;
            (offset, shape.whitening(&m.precision, m.precision.nu.sqrt()))
        };
        let mut gaussians = Gaussians::new(self);
        let per_row = self.per_row();
        let mut kept = Vec::new();
        let keeps = lambda.n_rows().saturating_mul(shape.scatter().len()) <= KEPT;
        let densities = |r: usize, row: &[f64]| {
            let known = self.known(&self.parts(row));
            let ln_det = shape.ln_det_from(known.ln_det);
            let moments = known.moments.iter().enumerate();
            let made: Vec<_> = moments.map(|(i, m)| density(r * per_row + i, m, ln_det)).collect();
            (made, known)
        };
        in_order(self, lambda, densities, |r, (made, known)| {
            for (i, ((offset, whitening), m)) in made.iter().zip(&known.moments).enumerate() {
                gaussians.set(r * per_row + i, *offset, whitening, &m.mean);
            }
            if keeps {
                kept.push(known);
            }
        });
        let mut densities = gaussians.done();
        densities.known = Kept(Arc::new(kept));
        densities
    }
}

/// Densities that are filled in, component by component.
pub(super) struct Gaussians<'a> {
    mixture: &'a Mixture,
    densities: Densities,
    shift: Vec<f64>,
}

impl<'a> Gaussians<'a> {
    pub fn new(mixture: &'a Mixture) -> Self {
        let (k, d) = (mixture.params.components, mixture.n_dims());
        let tied = mixture.shape.is_tied();
        let block = GaussianBlock::new(k, d, tied || mixture.shape.of_means().is_diagonal());
        let whitener = tied.then(|| GaussianBlock::new(1, d, false));
        Gaussians {
            mixture,
            densities: Densities { block, whitener, known: Kept::default() },
            shift: vec![0.0; d],
        }
    }

    /// Component k has the density `offset - |G (x - m)|^2 / 2`; of tied components G is the same.
    pub fn set(&mut self, k: usize, offset: f64, whitening: &[f64], mean: &[f64]) {
        let Densities { block, whitener, .. } = &mut self.densities;
        self.mixture.shape.of_means().lower_times(whitening, mean, &mut self.shift);
        match whitener {
            None => block.set(k, offset, whitening, &self.shift),
            Some(whitener) => {
                if k == 0 {
                    whitener.set(0, 0.0, whitening, &vec![0.0; mean.len()]);
                }
                block.set(k, offset, &vec![1.0; mean.len()], &self.shift);
            }
        }
    }

    pub fn done(self) -> Densities {
        self.densities
    }
}
