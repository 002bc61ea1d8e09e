//! Gaussian mixtures with Dirichlet weights or stick-breaking (a truncated Dirichlet process).
//!
//! ```text
//! pi ~ Dirichlet(a0) or v_k ~ Beta(1, alpha)        x_n | c_n = k ~ N(mu_k, Lambda_k^-1)
//! q  = q(pi) prod_k q(mu_k, Lambda_k) prod_n q(c_n)
//! raw statistics of component k, with w the weights and phi the responsibilities:
//!      N_k = sum w phi     S1 = sum w phi x     S2 = sum w phi x x'
//! ```
//! Normal-Wishart `q(mu, Lambda) = N(mu | m, (beta Lambda)^-1) W(Lambda | W, nu)`. The parameters of a component are
//! `(a [, b], beta, beta m | nu, A = W^-1 + beta m m')`, and every entry is its prior plus a raw
//! statistic. Independent `q(mu) q(Lambda) = N(m, R^-1) W(W, nu)`. Its parameters are `(a [, b], R, R m | nu,
//! W^-1)`, updated in two phases, before and after the bar:
//! ```text
//! R* = R0 + N_k nu W       (R m)* = R0 m0 + nu W S1                             (the current nu W)
//! nu* = nu0 + N_k          W^-1* = W0^-1 + S2 - S1 m' - m S1' + N_k (m m' + R^-1)  (the new m, R)
//! ```
//! Other shapes than full have other distributions of the precision, in `shape.rs`: tied components share what stands
//! behind the bar (`A = W^-1 + sum_k beta_k m_k m_k'`), diagonal and spherical ones have Gamma distributions.

mod kmeans;
mod clusters;
mod params;
mod prior;
mod shape;
mod rows;
mod expect;
mod sums;
mod missing;
mod local;
mod bound;
mod start;
mod readout;
mod posterior;
mod sample;
mod scatter;
mod stored;
mod by_component;
mod usage;
mod kicks;
mod wide;

pub use expect::Densities;
pub use kicks::Merge;
pub use local::Scratch;
pub use missing::Imputed;
pub(super) use params::TABLES;
pub use params::{
    Covariance, Defaults, FIT, Factorisation, MixtureParams, SETTINGS, Start, StartUnits, Weights,
};
pub use posterior::Posterior;
pub use prior::{Prior, Units};
pub use readout::{Component, too_far};
pub use stored::Frozen;

use expect::Spread;
use rows::{Columns, Sums};
use shape::Shape;

use crate::data::Points;
use crate::lambda::Lambda;
use crate::math::kernels::Isa;
use crate::math::rng::Address;
use crate::math::table::Table;
use crate::model::{
    Ask, Domain, Judge, Kicking, Layout, Model, Phase, RowSet, Scores, Shard, Sharding, Shared,
    Stats, Target,
};
use crate::step::guard::Guard;
use crate::{Error, Result};

const LN_2PI: f64 = 1.837_877_066_409_345_3;

/// Parameters closer than this (relative to the prior) to the edge of their domain count as outside.
const MARGIN: f64 = 1e-9;

/// A Gaussian mixture, ready to be fitted to data.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
///
/// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2], 1)?;
/// let mixture = Mixture::new(MixtureParams::gmm(2), &points)?;
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mixture {
    params: MixtureParams,
    units: Units,
    prior: Prior,
    shape: Shape,
    isa: Isa,
    /// Whether values were missing in the data that it was made for.
    gaps: bool,
}

impl Mixture {
    /// A mixture whose units and missing priors are taken from `points`.
    pub fn new(params: MixtureParams, points: &Points) -> Result<Self> {
        let (units, prior) = prior::from_data(&params, points)?;
        let mixture = Self::assemble(params, units, prior, points.has_missing());
        mixture.check_prior()?;
        Ok(mixture)
    }

    fn assemble(params: MixtureParams, units: Units, prior: Prior, gaps: bool) -> Self {
        let shape = Shape::new(params.covariance, units.shift.len());
        Mixture { params, units, prior, shape, isa: Isa::detect(), gaps }
    }

    /// Refuses a prior that a user gave and that no component can start with: numbers have been lost in it.
    fn check_prior(&self) -> Result<()> {
        let mut eta = vec![0.0; self.layout().width];
        self.prior(&[], 0, &mut eta);
        let is_given = self.params.mean.is_some() || self.params.scatter.is_some();
        if !is_given || (eta.iter().all(|x| x.is_finite()) && self.in_domain(0, &eta)) {
            return Ok(());
        }
        let field = if self.params.mean.is_some() { "mean" } else { "scatter" };
        let allowed = "is so far from the data, or the scatter around it so small, that no digits are left; \
                       give numbers nearer to the data's, or leave it out to take them from the data";
        Err(Error::config(field, "the prior given", allowed))
    }

    /// The same mixture computing with another instruction set, for comparisons.
    pub fn with_isa(self, isa: Isa) -> Self {
        Mixture { isa, ..self }
    }

    fn n_dims(&self) -> usize {
        self.shape.n_dims()
    }

    fn sticks(&self) -> bool {
        self.params.weights == Weights::Sticks
    }

    fn joint(&self) -> bool {
        self.params.factorisation == Factorisation::NormalWishart
    }

    /// Makes `count` items wider than they are, in their own units.
    fn add_ridge(&self, count: f64, scatter: &mut [f64]) {
        if self.params.ridge > 0.0 {
            let variance = |scale: &f64| count * self.params.ridge / (scale * scale);
            self.shape.add_variances(self.units.scale.iter().map(variance), scatter);
        }
    }
}

impl Model for Mixture {
    type Data = Points;
    type Expect = Densities;
    type Pass = Shared<Stats>;
    type Scratch = Scratch;

    fn name(&self) -> &'static str {
        if self.sticks() { "dpgmm" } else { "gmm" }
    }

    fn layout(&self) -> Layout {
        let Columns { nu, end, .. } = self.columns();
        let n_rows = self.params.components / self.per_row();
        let mut layout = Layout::one_phase(n_rows, end, self.raw_width());
        if !self.joint() {
            let phase = |columns| Phase { rows: 0..layout.n_rows, columns };
            layout.phases = vec![phase(0..nu), phase(nu..end)];
        }
        layout
    }

    fn prior(&self, _hyper: &[f64], _row: usize, eta: &mut [f64]) {
        let Columns { precision, linear, component, nu, scatter, .. } = self.columns();
        let prior = &self.prior;
        eta[nu] = prior.degrees_of_freedom;
        eta[scatter..].copy_from_slice(&prior.scatter);
        let (components, of_precision) = eta.split_at_mut(nu);
        for eta in components.chunks_exact_mut(component) {
            if self.sticks() {
                eta[..2].copy_from_slice(&[1.0, prior.concentration]);
            } else {
                eta[0] = prior.concentration;
            }
            let (parts, out) = eta[precision..].split_at_mut(linear - precision);
            if self.joint() {
                let beta = prior.mean_precision;
                parts[0] = beta;
                for (out, m) in out.iter_mut().zip(&prior.mean) {
                    *out = beta * m;
                }
                self.shape.add_outer(beta, &prior.mean, &prior.mean, &mut of_precision[1..]);
            } else {
                parts.copy_from_slice(&prior.mean_precision_matrix);
                let shape = self.shape.of_means();
                shape.times(&prior.mean_precision_matrix, &prior.mean, out);
            }
        }
    }

    fn start(&self, data: &Points, address: Address, lambda: &mut Table) -> Result<()> {
        start::fill(self, data, address, lambda);
        Ok(())
    }

    fn refresh(&self, lambda: &Lambda, _rows: &RowSet, expect: &mut Densities) {
        *expect = self.densities(lambda.table());
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    fn local_step(
        &self,
        expect: &Densities,
        shard: Shard<'_, Points>,
        ask: Ask,
        scratch: &mut Scratch,
        stats: &mut Stats,
        bounds: &mut [f64],
    ) {
        self.step(expect, shard, ask, scratch, stats, bounds);
    }

    fn to_natural(&self, target: Target<'_>, raw: &Stats, increment: &mut [f64]) {
        let Target { phase, row, old, .. } = target;
        let Columns { precision, linear, component, nu, .. } = self.columns();
        let (shape, joint) = (self.shape, self.joint());
        let first = row * self.per_row();
        let sums = || (0..self.per_row()).map(|i| self.sums(raw, first + i));
        let moments = if joint { Vec::new() } else { self.valid_moments(&self.parts(old)) };
        let (components, of_precision) = increment.split_at_mut(if phase == 0 { nu } else { 0 });
        for (i, out) in components.chunks_exact_mut(component).enumerate() {
            let Sums { count, first: sum, .. } = self.sums(raw, first + i);
            out[0] = count;
            if self.sticks() {
                let later = first + i + 1..self.params.components;
                out[1] = later.map(|l| self.sums(raw, l).count).sum();
            }
            let (parts, out) = out[precision..].split_at_mut(linear - precision);
            if joint {
                parts[0] = count;
                out.copy_from_slice(sum);
            } else {
                let expected = shape.expected(&moments[i].precision);
                shape.of_means().times(&expected, sum, out);
                parts.iter_mut().zip(&expected).for_each(|(out, x)| *out = count * x);
            }
        }
        let Some((nu, scatter)) = of_precision.split_first_mut() else { return };
        let count: f64 = sums().map(|sums| sums.count).sum();
        *nu = count;
        scatter.fill(0.0);
        shape.add_second(self.sums(raw, first).second, scatter);
        for (sums, m) in sums().zip(&moments) {
            let Spread::Covariance(covariance) = &m.spread else { continue };
            // S2 - S1 m' - m S1' + N (m m' + R^-1).
            shape.add_covariance(sums.count, covariance, scatter);
            shape.add_outer(-2.0, sums.first, &m.mean, scatter);
            shape.add_outer(sums.count, &m.mean, &m.mean, scatter);
        }
        self.add_ridge(count, scatter);
    }

    fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
        let parts = self.parts(lambda);
        let weights_floor = MARGIN * self.prior.concentration.min(1.0);
        let floor = self.shape.least_freedom();
        parts.iter().all(|part| part.weights.iter().all(|&a| a > weights_floor))
            && parts[0].nu > floor * (1.0 + MARGIN) + MARGIN
            && self.has_moments(&parts)
    }

    fn global_bound(&self, lambda: &Lambda, expect: &Densities) -> f64 {
        bound::minus_divergence(self, lambda.table(), expect)
    }

    fn sharding(&self) -> Sharding {
        let usual = Sharding::for_dense(&self.layout());
        // Longer shards have more items of which the same values are missing, and those are worked off together.
        let items = if self.gaps { 4 * usual.items } else { usual.items };
        Sharding { items, least: items, ..usual }
    }

    fn sort_components(&self, lambda: &mut Lambda) {
        if self.params.sort {
            readout::sort_by_size(self, lambda.table_mut());
        }
    }

    fn domain(&self) -> Option<&dyn Domain<Self>> {
        Some(self)
    }

    fn judge(&self) -> Option<&dyn Judge<Self>> {
        Some(self)
    }

    fn kicks(&self) -> Option<&dyn Kicking<Self>> {
        Some(self)
    }
}

impl Domain<Mixture> for Mixture {
    fn guards(&self) -> &'static [Guard] {
        Guard::OF_ROWS
    }

    fn above_prior(&self, _hyper: &[f64], _row: usize, lambda: &[f64]) -> bool {
        let (parts, prior, shape) = (self.parts(lambda), &self.prior, self.shape);
        let most = 1.0 - MARGIN;
        let mut excess = parts[0].scatter.to_vec();
        let subtract = |excess: &mut [f64], floor: &[f64]| {
            excess.iter_mut().zip(floor).for_each(|(e, f)| *e -= most * f);
        };
        for part in &parts {
            if self.joint() {
                let mean: Vec<f64> = part.linear.iter().map(|l| l / part.precision[0]).collect();
                shape.add_outer(-part.precision[0], &mean, &mean, &mut excess);
            } else {
                let mut excess = part.precision.to_vec();
                subtract(&mut excess, &prior.mean_precision_matrix);
                if !shape.of_means().cholesky(&mut excess) {
                    return false;
                }
            }
        }
        subtract(&mut excess, &prior.scatter);
        parts[0].nu >= most * prior.degrees_of_freedom && shape.scatter().cholesky(&mut excess)
    }
}

impl Judge<Mixture> for Mixture {
    fn score(&self, lambda: &Lambda, points: &Points, _population: usize) -> Scores {
        Scores { main: self.mean_log_predictive(lambda, points), named: Vec::new() }
    }
}
