//! What depends on the components' shape: how many numbers a precision has, its distribution under q, and what
//! follows from it.
//!
//! ```text
//! full        Lambda_k ~ Wishart(W, nu)            one matrix a component
//! tied        Lambda ~ Wishart(W, nu)              one matrix for all of them
//! diagonal    tau_kj ~ Gamma(nu/2, s_j/2)          a number for each column, independent under prior and q
//! spherical   tau_k ~ Gamma(d nu/2, d s/2)         one number a component
//! ```
//! In each `E[Lambda] = nu W`, with `W^-1` the scatter: a packed triangle, the `s_j`, or the one `s`; and an item adds
//! 1 to nu.

use super::params::Covariance;
use crate::family::wishart::{Taken, Wisharts};
use crate::math::kernels::Second;
use crate::math::packed::Symmetric;

/// The shape of the components of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    covariance: Covariance,
    n_dims: usize,
    /// How the scatter is stored; of a sphere, as one number.
    scatter: Symmetric,
}

/// A precision under q, taken apart.
#[derive(Debug)]
pub(super) struct Precision {
    pub nu: f64,
    /// `C^-1` with `W^-1 = C C'`, so that `W = C^-T C^-1`.
    pub whitening: Vec<f64>,
    /// ln |W^-1|.
    pub ln_det_scatter: f64,
    /// W^-1.
    pub scatter: Vec<f64>,
}

/// A prior of precisions, as divergences from it need it.
pub(super) struct PrecisionPrior<'a> {
    scatter: &'a [f64],
    taken: Taken,
}

impl Shape {
    pub fn new(covariance: Covariance, n_dims: usize) -> Self {
        let scatter = match covariance {
            Covariance::Full | Covariance::Tied => Symmetric::full(n_dims),
            Covariance::Diagonal => Symmetric::diagonal(n_dims),
            Covariance::Spherical => Symmetric::diagonal(1),
        };
        Shape { covariance, n_dims, scatter }
    }

    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Whether all components have the same precision.
    pub fn is_tied(&self) -> bool {
        self.covariance == Covariance::Tied
    }

    fn is_sphere(&self) -> bool {
        self.covariance == Covariance::Spherical
    }

    /// How the scatter is stored.
    pub fn scatter(&self) -> Symmetric {
        self.scatter
    }

    /// How the precision of a mean is stored, where it is a parameter of its own: a sphere's is diagonal.
    pub fn of_means(&self) -> Symmetric {
        if self.is_sphere() { Symmetric::diagonal(self.n_dims) } else { self.scatter }
    }

    /// The second moments that are summed for each component.
    pub fn second(&self) -> Second {
        match self.covariance {
            Covariance::Full => Second::Triangle,
            Covariance::Tied => Second::Nothing,
            Covariance::Diagonal => Second::Squares,
            Covariance::Spherical => Second::Norm,
        }
    }

    /// The degrees of freedom must exceed this.
    pub fn least_freedom(&self) -> f64 {
        match self.covariance {
            Covariance::Full | Covariance::Tied => self.n_dims as f64 - 1.0,
            Covariance::Diagonal | Covariance::Spherical => 0.0,
        }
    }

    /// The degrees of freedom with which the scatter is the prior mean of a covariance.
    pub fn usual_freedom(&self) -> f64 {
        match self.covariance {
            Covariance::Full | Covariance::Tied => self.n_dims as f64 + 2.0,
            Covariance::Diagonal => 3.0,
            Covariance::Spherical => 1.0 + 2.0 / self.n_dims as f64,
        }
    }

    /// Of a prior that is learned from clusters: nu0, what the covariance is multiplied by to be its scatter, and how
    /// many items the data's own covariance is worth when it is learned.
    pub fn learned_freedom(&self) -> (f64, f64, f64) {
        let d = self.n_dims as f64;
        match self.covariance {
            Covariance::Full | Covariance::Tied => (2.0 * d + 2.0, d + 1.0, d + 1.0),
            Covariance::Diagonal => (4.0, 2.0, 2.0),
            Covariance::Spherical => (4.0 / d, 2.0 / d, 2.0),
        }
    }

    /// The shape in which clusters are looked for: tied ones each by itself.
    pub fn searched(&self) -> Shape {
        if self.is_tied() { Shape::new(Covariance::Full, self.n_dims) } else { *self }
    }

    /// The variance of each column as a scatter's diagonal: of a sphere, their mean.
    pub fn mean_variance_of_columns(&self, variance: &[f64]) -> Vec<f64> {
        if self.is_sphere() { self.mean_variance(variance.to_vec()) } else { variance.to_vec() }
    }

    /// A covariance stored as [`Shape::of_means`] as a scatter: of a sphere, the mean of the variances.
    pub fn mean_variance(&self, covariance: Vec<f64>) -> Vec<f64> {
        if self.is_sphere() {
            return vec![covariance.iter().sum::<f64>() / self.n_dims as f64];
        }
        covariance
    }

    /// What an outer product is divided by: the scatter of a sphere is a mean over the columns.
    fn share(&self) -> f64 {
        if self.is_sphere() { 1.0 / self.n_dims as f64 } else { 1.0 }
    }

    /// Adds `factor (x y' + y x') / 2` to a scatter.
    pub fn add_outer(&self, factor: f64, x: &[f64], y: &[f64], scatter: &mut [f64]) {
        if self.is_sphere() {
            let dot: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            scatter[0] += factor * dot * self.share();
        } else {
            self.scatter.add_outer(factor, x, y, scatter);
        }
    }

    /// Adds variances, one for each column, to a scatter.
    pub fn add_variances(&self, variances: impl Iterator<Item = f64>, scatter: &mut [f64]) {
        for (j, variance) in variances.enumerate() {
            let at = if self.is_sphere() { 0 } else { self.scatter.diagonal_index(j) };
            scatter[at] += variance * self.share();
        }
    }

    /// Adds a multiple of a mean's covariance (stored as [`Shape::of_means`]) to a scatter.
    pub fn add_covariance(&self, factor: f64, covariance: &[f64], scatter: &mut [f64]) {
        if self.is_sphere() {
            self.add_variances(covariance.iter().map(|c| factor * c), scatter);
        } else {
            scatter.iter_mut().zip(covariance).for_each(|(s, c)| *s += factor * c);
        }
    }

    /// Adds the second moments that were summed to a scatter.
    pub fn add_second(&self, second: &[f64], scatter: &mut [f64]) {
        let share = self.share();
        scatter.iter_mut().zip(second).for_each(|(s, x)| *s += x * share);
    }

    /// The other way round: adds a scatter to second moments.
    pub fn add_as_second(&self, scatter: &[f64], second: &mut [f64]) {
        let share = self.share();
        second.iter_mut().zip(scatter).for_each(|(x, s)| *x += s / share);
    }

    /// A precision of its parts; `None` if the scatter is not positive definite.
    pub fn precision(&self, nu: f64, scatter: Vec<f64>) -> Option<Precision> {
        let shape = self.scatter;
        let mut factor = scatter.clone();
        if !shape.cholesky(&mut factor) {
            return None;
        }
        let ln_det_scatter = shape.ln_det(&factor);
        shape.invert_lower(&mut factor);
        Some(Precision { nu, whitening: factor, ln_det_scatter, scatter })
    }

    /// W.
    pub fn scale(&self, precision: &Precision) -> Vec<f64> {
        let mut w = vec![0.0; self.scatter.len()];
        self.scatter.gram(&precision.whitening, &mut w);
        w
    }

    /// E[Lambda], stored as [`Shape::of_means`].
    pub fn expected(&self, precision: &Precision) -> Vec<f64> {
        let mut w = self.scale(precision);
        w.iter_mut().for_each(|x| *x *= precision.nu);
        self.spread_out(w)
    }

    /// G with `G'G = root^2 W`: a packed triangle, or a diagonal.
    pub fn whitening(&self, precision: &Precision, root: f64) -> Vec<f64> {
        self.spread_out(precision.whitening.iter().map(|x| x * root).collect())
    }

    /// ln |W^-1| as a matrix of all columns.
    pub fn ln_det_of(&self, precision: &Precision) -> f64 {
        let times = if self.is_sphere() { self.n_dims as f64 } else { 1.0 };
        times * precision.ln_det_scatter
    }

    /// The one number of a sphere as a diagonal.
    pub fn spread_out(&self, numbers: Vec<f64>) -> Vec<f64> {
        if self.is_sphere() { vec![numbers[0]; self.n_dims] } else { numbers }
    }

    /// nu tr(W R^-1), for the covariance R^-1 of a mean.
    pub fn trace_with(&self, precision: &Precision, covariance: &[f64]) -> f64 {
        let w = self.scale(precision);
        if self.is_sphere() {
            return precision.nu * w[0] * covariance.iter().sum::<f64>();
        }
        precision.nu * self.scatter.trace_of_product(&w, covariance)
    }

    /// nu x' W x, for W as [`Shape::scale`] makes it.
    pub fn quadratic(&self, nu: f64, w: &[f64], x: &[f64]) -> f64 {
        if self.is_sphere() {
            return nu * w[0] * x.iter().map(|x| x * x).sum::<f64>();
        }
        nu * self.scatter.quadratic(w, x)
    }

    /// The distributions of q, and by what nu and scatter are multiplied to get theirs.
    fn wisharts(&self) -> (Wisharts, f64) {
        match self.covariance {
            Covariance::Full | Covariance::Tied => (Wisharts { count: 1, dims: self.n_dims }, 1.0),
            Covariance::Diagonal => (Wisharts { count: self.n_dims, dims: 1 }, 1.0),
            Covariance::Spherical => (Wisharts { count: 1, dims: 1 }, self.n_dims as f64),
        }
    }

    /// E[ln |Lambda|].
    pub fn expected_ln_det(&self, precision: &Precision) -> f64 {
        self.ln_det_from(self.stored_ln_det(precision))
    }

    /// E[ln |Lambda|] as it is stored: of a sphere, of the one number that its precision is.
    pub fn stored_ln_det(&self, precision: &Precision) -> f64 {
        let (wisharts, times) = self.wisharts();
        wisharts.expected_ln_det(times * precision.nu, self.ln_det_scale(precision))
    }

    /// E[ln |Lambda|] from what [`Shape::stored_ln_det`] gives.
    pub fn ln_det_from(&self, stored: f64) -> f64 {
        if self.is_sphere() { self.n_dims as f64 * stored } else { stored }
    }

    /// ln |W| of the distributions of q, from ln |W^-1|.
    fn ln_det_scale_of(&self, ln_det_scatter: f64) -> f64 {
        let more = if self.is_sphere() { (self.n_dims as f64).ln() } else { 0.0 };
        -(ln_det_scatter + more)
    }

    fn ln_det_scale(&self, precision: &Precision) -> f64 {
        self.ln_det_scale_of(precision.ln_det_scatter)
    }

    /// ln of the normaliser of a precision's density.
    pub fn ln_normaliser(&self, precision: &Precision) -> f64 {
        let (wisharts, times) = self.wisharts();
        wisharts.ln_normaliser(times * precision.nu, self.ln_det_scale(precision))
    }

    /// A prior of precisions: nu0, W0^-1 and ln |W0^-1|.
    pub fn prior<'a>(
        &self,
        nu: f64,
        scatter: &'a [f64],
        ln_det_scatter: f64,
    ) -> PrecisionPrior<'a> {
        let (wisharts, times) = self.wisharts();
        let nu = times * nu;
        let ln_normaliser = wisharts.ln_normaliser(nu, self.ln_det_scale_of(ln_det_scatter));
        PrecisionPrior { scatter, taken: Taken { nu, ln_normaliser } }
    }

    /// KL(q(Lambda) || p(Lambda)) of one precision, from its W ([`Shape::scale`]) and [`Shape::stored_ln_det`].
    pub fn divergence(
        &self,
        precision: &Precision,
        w: &[f64],
        stored_ln_det: f64,
        prior: &PrecisionPrior<'_>,
    ) -> f64 {
        let (wisharts, times) = self.wisharts();
        // Of a sphere both scatters are multiplied, which leaves the trace as it is.
        let trace = self.scatter.trace_of_product(prior.scatter, w);
        let q = Taken { nu: times * precision.nu, ln_normaliser: self.ln_normaliser(precision) };
        wisharts.divergence(q, prior.taken, stored_ln_det, trace)
    }

    /// The degrees of freedom of the Student t densities with which a component predicts.
    pub fn student_freedom(&self, nu: f64) -> f64 {
        match self.covariance {
            Covariance::Full | Covariance::Tied => nu + 1.0 - self.n_dims as f64,
            Covariance::Diagonal => nu,
            Covariance::Spherical => nu * self.n_dims as f64,
        }
    }

    /// What the scatter is divided by to be the scale of these densities.
    pub fn student_divisor(&self, nu: f64) -> f64 {
        if self.is_sphere() { nu } else { self.student_freedom(nu) }
    }

    /// Whether a component predicts each column by itself, given the component.
    pub fn predicts_by_column(&self) -> bool {
        self.covariance == Covariance::Diagonal
    }
}
