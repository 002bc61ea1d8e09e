//! What a user can choose about a mixture.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The prior of the mixture weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// A symmetric Dirichlet distribution over K weights.
    Dirichlet,
    /// Stick-breaking, a Dirichlet process truncated at K components.
    Sticks,
}

/// How q treats a component's mean and precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factorisation {
    /// q(mu, Lambda), one Normal-Wishart distribution, as in scikit-learn.
    NormalWishart,
    /// q(mu) q(Lambda) with independent priors, as in the paper.
    Independent,
}

/// The shape of the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// Any ellipsoid.
    Full,
    /// Ellipsoids along the axes: the Wishart's scale matrix is diagonal.
    Diagonal,
}

/// Where a fit begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Spread-out items chosen by k-means++, every item given to the nearest.
    KmeansPlusPlus,
    /// The same, then moved by k-means until no item changes its cluster.
    Kmeans,
    /// K random items as means.
    Points,
    /// Random responsibilities.
    Responsibilities,
}

/// In which units the two starts by nearness measure distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartUnits {
    /// In standard deviations of each column (weighted): what units the columns have does not matter.
    #[default]
    Deviations,
    /// In the columns' own units, as scikit-learn does: a column of large numbers decides.
    Own,
}

impl StartUnits {
    fn is_usual(&self) -> bool {
        *self == StartUnits::default()
    }
}

/// Where priors that are left out come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defaults {
    /// From the data and K, so that K components share the data's volume; see [`Prior`](super::Prior).
    #[default]
    Lehr,
    /// As scikit-learn has them: concentration 1/K, the mean worth one item, as many degrees of freedom
    /// as columns, and the data's covariance as scatter.
    ScikitLearn,
}

impl Defaults {
    fn is_usual(&self) -> bool {
        *self == Defaults::default()
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// The settings of a Gaussian mixture. Priors that are left out come from the data; see
/// [`Prior`](super::Prior).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixtureParams {
    /// K, the number of components (the truncation, for a Dirichlet process).
    pub components: usize,
    /// Dirichlet or stick-breaking weights.
    pub weights: Weights,
    /// One Normal-Wishart, or independent q(mu) q(Lambda).
    #[serde(default = "normal_wishart")]
    pub factorisation: Factorisation,
    /// Full or diagonal.
    #[serde(default = "full")]
    pub covariance: Covariance,
    /// Where a fit begins.
    #[serde(default = "kmeans")]
    pub start: Start,
    /// What the distances of a start by nearness are measured in.
    #[serde(default, skip_serializing_if = "StartUnits::is_usual")]
    pub start_units: StartUnits,
    /// a0 of the Dirichlet (default 1/K) or alpha of the sticks (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concentration: Option<f64>,
    /// m0, in the data's units (default: the data's mean).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
    /// beta0: how many items the prior mean is worth (default 0.01; 1 for independent q).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_precision: Option<f64>,
    /// nu0, the Wishart's degrees of freedom (default: the number of columns plus 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// W0^-1, the prior's scatter matrix by rows, or its diagonal (default: the
    /// data's covariance over K^(2/d)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter: Option<Vec<f64>>,
    /// Which defaults the priors above have.
    #[serde(default, skip_serializing_if = "Defaults::is_usual")]
    pub defaults: Defaults,
    /// Added to every variance of the data, in their units squared: a component of a few equal items
    /// keeps some width. The bound does not know of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ridge: f64,
    /// Sort the components by size after each step; the sticks' bound depends on the order.
    #[serde(default = "yes")]
    pub sort: bool,
}

fn normal_wishart() -> Factorisation {
    Factorisation::NormalWishart
}
fn full() -> Covariance {
    Covariance::Full
}
fn kmeans() -> Start {
    Start::KmeansPlusPlus
}
fn yes() -> bool {
    true
}

impl MixtureParams {
    /// A mixture of `components` Gaussians with Dirichlet weights (`gmm`).
    pub fn gmm(components: usize) -> Self {
        MixtureParams {
            components,
            weights: Weights::Dirichlet,
            factorisation: normal_wishart(),
            covariance: full(),
            start: kmeans(),
            start_units: StartUnits::Deviations,
            concentration: None,
            mean: None,
            mean_precision: None,
            degrees_of_freedom: None,
            scatter: None,
            defaults: Defaults::Lehr,
            ridge: 0.0,
            sort: true,
        }
    }

    /// A Dirichlet-process mixture truncated at `components` (`dpgmm`).
    pub fn dpgmm(components: usize) -> Self {
        MixtureParams { weights: Weights::Sticks, ..Self::gmm(components) }
    }

    /// Checks everything that can be checked without the data, then what needs their shape.
    pub(super) fn check(&self, n_items: usize, n_dims: usize) -> Result<()> {
        if self.components == 0 {
            return Err(Error::config("components", 0, "a mixture needs at least one component"));
        }
        if self.components > n_items {
            return Err(Error::config(
                "components",
                self.components,
                format!(
                    "there are only {n_items} rows, and a component needs at least one; \
                     try {} or fewer",
                    n_items.min(10)
                ),
            ));
        }
        let positive = |field: &str, value: Option<f64>| match value {
            Some(x) if !(x > 0.0 && x.is_finite()) => Err(Error::config(
                field,
                x,
                "must be a positive number; leave it out for the default",
            )),
            _ => Ok(()),
        };
        positive("concentration", self.concentration)?;
        positive("mean_precision", self.mean_precision)?;
        positive("degrees_of_freedom", self.degrees_of_freedom)?;
        if !(self.ridge >= 0.0 && self.ridge.is_finite()) {
            return Err(Error::config("ridge", self.ridge, "must be 0 or a positive number"));
        }
        if let Some(dof) = self.degrees_of_freedom.filter(|&dof| dof <= n_dims as f64 - 1.0) {
            return Err(Error::config(
                "degrees_of_freedom",
                dof,
                format!("must exceed the number of columns less one, {}", n_dims - 1),
            ));
        }
        let finite = |field: &str, values: &Option<Vec<f64>>, lengths: &[usize]| {
            let Some(values) = values else { return Ok(()) };
            if !lengths.contains(&values.len()) {
                let lengths: Vec<_> = lengths.iter().map(|l| l.to_string()).collect();
                let allowed =
                    format!("the data have {n_dims} columns, so {}", lengths.join(" or "));
                let found = format!("{} numbers", values.len());
                return Err(Error::config(field, found, format!("{allowed} are needed")));
            }
            match values.iter().find(|x| !x.is_finite()) {
                Some(x) => Err(Error::config(field, x, "every number must be finite")),
                None => Ok(()),
            }
        };
        finite("mean", &self.mean, &[n_dims])?;
        match self.covariance {
            Covariance::Full => finite("scatter", &self.scatter, &[n_dims * n_dims]),
            Covariance::Diagonal => finite("scatter", &self.scatter, &[n_dims]),
        }
    }
}
