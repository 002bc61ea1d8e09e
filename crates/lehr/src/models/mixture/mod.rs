//! Gaussian mixtures with Dirichlet weights or stick-breaking (a truncated Dirichlet process).
//!
//! ```text
//! pi ~ Dirichlet(a0) or v_k ~ Beta(1, alpha)        x_n | c_n = k ~ N(mu_k, Lambda_k^-1)
//! q  = q(pi) prod_k q(mu_k, Lambda_k) prod_n q(c_n)
//! raw statistics of component k, with w the weights and phi the responsibilities:
//!      N_k = sum w phi     S1 = sum w phi x     S2 = sum w phi x x'
//! ```
//! Normal-Wishart `q(mu, Lambda) = N(mu | m, (beta Lambda)^-1) W(Lambda | W, nu)`. A row of lambda is
//! `(a [, b], beta, beta m, nu, A = W^-1 + beta m m')`, and every entry is its prior plus a raw
//! statistic. Independent `q(mu) q(Lambda) = N(m, R^-1) W(W, nu)`. A row is `(a [, b], R, R m | nu,
//! W^-1)`, updated in two phases, before and after the bar:
//! ```text
//! R* = R0 + N_k nu W       (R m)* = R0 m0 + nu W S1                             (the current nu W)
//! nu* = nu0 + N_k          W^-1* = W0^-1 + S2 - S1 m' - m S1' + N_k (m m' + R^-1)  (the new m, R)
//! ```
//! Diagonal covariances: the same distributions with W (and R) restricted to diagonal matrices.

mod kmeans;
mod params;
mod prior;
mod expect;
mod local;
mod missing;
mod bound;
mod start;
mod readout;
mod posterior;
mod sample;
mod scatter;
mod stored;

pub(super) use params::TABLES;
pub use local::Scratch;
pub use params::{
    Covariance, Defaults, FIT, Factorisation, MixtureParams, SETTINGS, Start, StartUnits, Weights,
};
pub use posterior::Posterior;
pub use prior::{Prior, Units};
pub use readout::Component;
pub use stored::Frozen;

use expect::{Row, Spread};

use crate::data::Points;
use crate::lambda::Lambda;
use crate::math::kernels::{GaussianBlock, Isa};
use crate::math::packed::Symmetric;
use crate::math::rng::Address;
use crate::math::table::Table;
use crate::model::{
    Ask, Domain, Judge, Layout, Model, Phase, RowSet, Scores, Shard, Shared, Stats, Target,
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
    shape: Symmetric,
    isa: Isa,
}

impl Mixture {
    /// A mixture whose units and missing priors are taken from `points`.
    pub fn new(params: MixtureParams, points: &Points) -> Result<Self> {
        missing::refuse(points)?;
        let (units, prior) = prior::from_data(&params, points)?;
        let mixture = Self::assemble(params, units, prior);
        mixture.check_prior()?;
        Ok(mixture)
    }

    fn assemble(params: MixtureParams, units: Units, prior: Prior) -> Self {
        let d = units.shift.len();
        let shape = match params.covariance {
            Covariance::Full => Symmetric::full(d),
            Covariance::Diagonal => Symmetric::diagonal(d),
        };
        Mixture { params, units, prior, shape, isa: Isa::detect() }
    }

    /// Refuses a prior that a user gave and that no component can begin with: numbers have been lost in it.
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
            for (j, scale) in self.units.scale.iter().enumerate() {
                scatter[self.shape.diagonal_index(j)] +=
                    count * self.params.ridge / (scale * scale);
            }
        }
    }

    /// Where the parts of a row begin: precision, linear, nu, scatter, end.
    fn columns(&self) -> [usize; 5] {
        let precision = if self.sticks() { 2 } else { 1 };
        let linear = precision + if self.joint() { 1 } else { self.shape.len() };
        let nu = linear + self.n_dims();
        [precision, linear, nu, nu + 1, nu + 1 + self.shape.len()]
    }

    fn row<'a>(&self, row: &'a [f64]) -> Row<'a> {
        let [precision, linear, nu, scatter, end] = self.columns();
        Row {
            weights: &row[..precision],
            precision: &row[precision..linear],
            linear: &row[linear..nu],
            nu: row[nu],
            scatter: &row[scatter..end],
        }
    }

}

impl Model for Mixture {
    type Data = Points;
    type Expect = GaussianBlock;
    type Pass = Shared<Stats>;
    type Scratch = Scratch;

    fn name(&self) -> &'static str {
        if self.sticks() { "dpgmm" } else { "gmm" }
    }

    fn layout(&self) -> Layout {
        let [_, _, nu, _, width] = self.columns();
        let raw_width = 1 + self.n_dims() + self.shape.len();
        let mut layout = Layout::one_phase(self.params.components, width, raw_width);
        if !self.joint() {
            let phase = |columns| Phase { rows: 0..layout.n_rows, columns };
            layout.phases = vec![phase(0..nu), phase(nu..width)];
        }
        layout
    }

    fn prior(&self, _hyper: &[f64], _row: usize, eta: &mut [f64]) {
        let [precision, linear, nu, scatter, end] = self.columns();
        let prior = &self.prior;
        if self.sticks() {
            eta[..2].copy_from_slice(&[1.0, prior.concentration]);
        } else {
            eta[0] = prior.concentration;
        }
        eta[nu] = prior.degrees_of_freedom;
        eta[scatter..end].copy_from_slice(&prior.scatter);
        if self.joint() {
            let beta = prior.mean_precision;
            eta[precision] = beta;
            for (out, m) in eta[linear..nu].iter_mut().zip(&prior.mean) {
                *out = beta * m;
            }
            self.shape.add_outer(beta, &prior.mean, &prior.mean, &mut eta[scatter..end]);
        } else {
            eta[precision..linear].copy_from_slice(&prior.mean_precision_matrix);
            self.shape.times(&prior.mean_precision_matrix, &prior.mean, &mut eta[linear..nu]);
        }
    }

    fn start(&self, data: &Points, address: Address, lambda: &mut Table) -> Result<()> {
        start::fill(self, data, address, lambda);
        Ok(())
    }

    fn refresh(&self, lambda: &Lambda, _rows: &RowSet, expect: &mut GaussianBlock) {
        *expect = self.densities(lambda.table());
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    fn local_step(
        &self,
        expect: &GaussianBlock,
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
        let d = self.n_dims();
        let (count, first, second) = {
            let raw = raw.row(row);
            (raw[0], &raw[1..=d], &raw[d + 1..])
        };
        let [precision, linear, nu, scatter, end] = self.columns();
        if phase == 0 {
            increment[0] = count;
            if self.sticks() {
                increment[1] = (row + 1..raw.n_rows()).map(|l| raw.row(l)[0]).sum();
            }
        }
        if self.joint() {
            increment[precision] = count;
            increment[linear..nu].copy_from_slice(first);
            increment[nu] = count;
            increment[scatter..end].copy_from_slice(second);
            self.add_ridge(count, &mut increment[scatter..end]);
            return;
        }
        let shape = self.shape;
        let m = self.valid_moments(&self.row(old));
        if phase == 0 {
            let mut expected = vec![0.0; shape.len()];
            shape.gram(&m.whitening, &mut expected);
            expected.iter_mut().for_each(|x| *x *= m.nu);
            shape.times(&expected, first, &mut increment[linear..nu]);
            for (out, x) in increment[precision..linear].iter_mut().zip(&expected) {
                *out = count * x;
            }
        } else {
            let Spread::Covariance(covariance) = &m.spread else {
                unreachable!("only the independent factorisation has two phases");
            };
            let out = &mut increment[1..];
            increment_scatter(shape, count, first, second, &m.mean, covariance, out);
            self.add_ridge(count, out);
            increment[0] = count;
        }
    }

    fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
        let row = self.row(lambda);
        let weights_floor = MARGIN * self.prior.concentration.min(1.0);
        row.weights.iter().all(|&a| a > weights_floor)
            && row.nu > (self.n_dims() as f64 - 1.0) * (1.0 + MARGIN) + MARGIN
            && self.moments(&row).is_some()
    }

    fn global_bound(&self, lambda: &Lambda, _expect: &GaussianBlock) -> f64 {
        bound::minus_divergence(self, lambda.table())
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
}

impl Domain<Mixture> for Mixture {
    fn guards(&self) -> &'static [Guard] {
        Guard::OF_ROWS
    }

    fn above_prior(&self, _hyper: &[f64], _row: usize, lambda: &[f64]) -> bool {
        let row = self.row(lambda);
        let prior = &self.prior;
        let most = 1.0 - MARGIN;
        let mut excess = row.scatter.to_vec();
        let subtract = |excess: &mut [f64], floor: &[f64]| {
            excess.iter_mut().zip(floor).for_each(|(e, f)| *e -= most * f);
        };
        if self.joint() {
            let mean: Vec<f64> = row.linear.iter().map(|l| l / row.precision[0]).collect();
            self.shape.add_outer(-row.precision[0], &mean, &mean, &mut excess);
        } else {
            let mut excess = row.precision.to_vec();
            subtract(&mut excess, &prior.mean_precision_matrix);
            if !self.shape.cholesky(&mut excess) {
                return false;
            }
        }
        subtract(&mut excess, &prior.scatter);
        row.nu >= most * prior.degrees_of_freedom && self.shape.cholesky(&mut excess)
    }
}

impl Judge<Mixture> for Mixture {
    fn score(&self, lambda: &Lambda, points: &Points, _population: usize) -> Scores {
        Scores { main: self.mean_log_predictive(lambda, points), named: Vec::new() }
    }
}

/// S2 - S1 m' - m S1' + N (m m' + R^-1).
fn increment_scatter(
    shape: Symmetric,
    count: f64,
    first: &[f64],
    second: &[f64],
    mean: &[f64],
    covariance: &[f64],
    out: &mut [f64],
) {
    for ((out, s), c) in out.iter_mut().zip(second).zip(covariance) {
        *out = s + count * c;
    }
    shape.add_outer(-2.0, first, mean, out);
    shape.add_outer(count, mean, mean, out);
}
