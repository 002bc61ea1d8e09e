//! What a user can choose about a mixture.

use serde::{Deserialize, Serialize};

use super::scatter;
use super::shape::Shape;
use crate::read::POINTS;
use crate::settings::Tables;
use crate::settings::{Flag, Kind, Setting, Variant, choices, either};
use crate::step::guard::Guard;
use crate::{Error, Result};

const MODEL: &str = "Model";
/// The largest number of a prior: sums of larger ones overflow.
const MOST: f64 = 1e300;

/// All settings that a fit of this model has.
pub(in crate::models) const TABLES: Tables = Tables {
    model: "", // the list of models has the names
    own: SETTINGS,
    fit: FIT,
    data: POINTS,
    items: "points",
    guards: Guard::OF_ROWS,
    laws: |_| true,
};

/// The settings of a mixture: the fields of [`MixtureParams`].
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "components",
        kind: Kind::Whole,
        flag: Flag::Short('k'),
        value_name: "K",
        help: "K, the number of components; for dpgmm, the most there can be",
        group: MODEL,
        python: Some("n_components"),
        ..Setting::BLANK
    },
    Setting {
        name: "weights",
        kind: Kind::Choice(Weights::NAMES),
        flag: Flag::None,
        help: "The prior of the weights: gmm or dpgmm",
        group: MODEL,
        python: Some("weight_concentration_prior_type"),
        ..Setting::BLANK
    },
    Setting {
        name: "covariance",
        kind: Kind::Choice(Covariance::NAMES),
        help: "The components' shape",
        default: "full",
        group: MODEL,
        python: Some("covariance_type"),
        ..Setting::BLANK
    },
    Setting {
        name: "factorisation",
        kind: Kind::Choice(Factorisation::NAMES),
        help: "q of a component's mean and precision: one Normal-Wishart, or independent as in the paper",
        default: "normal-wishart",
        group: MODEL,
        ..Setting::BLANK
    },
    Setting {
        name: "start",
        kind: Kind::Choice(Start::NAMES),
        help: "Where a fit starts",
        default: "merge",
        group: MODEL,
        python: Some("init_params"),
        ..Setting::BLANK
    },
    Setting {
        name: "start_units",
        kind: Kind::Choice(StartUnits::NAMES),
        flag: Flag::None,
        help: "What the distances of a start by nearness are measured in",
        default: "deviations",
        group: MODEL,
        python: Some("init_units"),
        ..Setting::BLANK
    },
    Setting {
        name: "concentration",
        kind: Kind::Number,
        value_name: "X",
        help: "The weights' prior: a0 of the Dirichlet [default: 1/K] or alpha of the process",
        default: "1",
        group: MODEL,
        python: Some("weight_concentration_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "mean",
        kind: Kind::Numbers,
        flag: Flag::None,
        help: "The prior mean, in the data's units",
        default: "the data's mean",
        group: MODEL,
        python: Some("mean_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "mean_precision",
        kind: Kind::Number,
        value_name: "X",
        help: "How many items the prior mean is worth",
        default: "learned; 1 if independent",
        group: MODEL,
        python: Some("mean_precision_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "degrees_of_freedom",
        kind: Kind::Number,
        value_name: "X",
        help: "The Wishart prior's degrees of freedom",
        default: "2 d + 2 of d columns; 4 if diagonal, 4/d if spherical",
        group: MODEL,
        python: Some("degrees_of_freedom_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "scatter",
        kind: Kind::Numbers,
        flag: Flag::None,
        help: "The prior's scatter matrix: one number for every column, its diagonal, or all of it by rows",
        default: "learned from the data",
        group: MODEL,
        python: Some("covariance_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "defaults",
        kind: Kind::Choice(Defaults::NAMES),
        flag: Flag::Named("priors"),
        value_name: "RULE",
        help: "Where priors that are not given come from: clusters found before the fit, the data's volume shared by K \
               components, or scikit-learn's rule",
        default: "learned",
        group: MODEL,
        python: Some("priors"),
        ..Setting::BLANK
    },
    Setting {
        name: "ridge",
        kind: Kind::Number,
        flag: Flag::None,
        help: "Added to every variance of the data, in their units squared",
        default: "0",
        group: MODEL,
        python: Some("reg_covar"),
        ..Setting::BLANK
    },
    Setting {
        name: "sort",
        kind: Kind::Toggle(true),
        flag: Flag::None,
        help: "Sort the components by size after each step",
        group: MODEL,
        python: Some("sort_components"),
        ..Setting::BLANK
    },
];

/// What is different about the settings of a fit.
pub const FIT: &[Variant] = &[
    Variant::of("warm").hidden(),
    Variant::of("warm_after").hidden(),
    Variant::of("search_by").hidden().not_in_python(),
];

choices! {
    /// The prior of the mixture weights.
    pub enum Weights {
        /// A symmetric Dirichlet distribution over K weights.
        Dirichlet = "dirichlet",
        /// Stick-breaking, a Dirichlet process truncated at K components.
        Sticks = "sticks",
    }
}

choices! {
    /// How q treats a component's mean and precision.
    pub enum Factorisation {
        /// q(mu, Lambda), one Normal-Wishart distribution, as in scikit-learn.
        NormalWishart = "normal-wishart",
        /// q(mu) q(Lambda) with independent priors, as in the paper.
        Independent = "independent",
    }
}

choices! {
    /// The shape of the components.
    pub enum Covariance {
        /// Any ellipsoid, each component its own.
        Full = "full",
        /// Any ellipsoid, the same for all components.
        Tied = "tied",
        /// Ellipsoids along the axes: a variance for each column.
        Diagonal = "diagonal",
        /// Spheres in the data's own units: one variance.
        Spherical = "spherical",
    }
}

choices! {
    /// Where a fit starts.
    pub enum Start {
        /// Clusters: pieces that k-means cuts the data into, joined while the evidence rises, K or fewer of them.
        Merge = "merge",
        /// Spread-out items chosen by k-means++, every item given to the nearest.
        KmeansPlusPlus = "kmeans-plus-plus",
        /// The same, then moved by k-means until no item changes its cluster.
        Kmeans = "kmeans",
        /// K random items as means.
        Points = "points",
        /// Random responsibilities.
        Responsibilities = "responsibilities",
    }
}

choices! {
    /// In which units the two starts by nearness measure distances.
    #[derive(Default)]
    pub enum StartUnits {
        /// In standard deviations of each column (weighted): what units the columns have does not matter.
        #[default]
        Deviations = "deviations",
        /// In the columns' own units, as scikit-learn does: a column of large numbers decides.
        Own = "own",
    }
}

impl StartUnits {
    fn is_usual(&self) -> bool {
        *self == StartUnits::default()
    }
}

choices! {
    /// Where priors that are left out come from.
    #[derive(Default)]
    pub enum Defaults {
        /// Learned from clusters of the data that are found before the fit, whatever K is; see [`Prior`](super::Prior).
        #[default]
        Learned = "learned",
        /// From the data and K, so that K components share the data's volume: the data's covariance over K^(2/d).
        Volume = "volume",
        /// As scikit-learn has them: concentration 1/K, the mean worth one item, as many degrees of freedom
        /// as columns, and the data's covariance as scatter.
        ScikitLearn = "scikit-learn",
    }
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
    /// Full, tied, diagonal or spherical.
    #[serde(default = "full")]
    pub covariance: Covariance,
    /// Where a fit starts.
    #[serde(default = "merge")]
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
    /// beta0: how many items the prior mean is worth (default: learned, or 0.01 where the scatter is given; 1 for
    /// independent q).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_precision: Option<f64>,
    /// nu0, the degrees of freedom of the precision's prior: how many items its scatter is worth, roughly (default:
    /// 2 d + 2, or 4 if diagonal, or 4/d if spherical; where the scatter is given, such that it is the prior mean of a
    /// covariance: d + 2, 3, or 1 + 2/d).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// W0^-1, the prior's scatter matrix in the data's units squared: one number for every column, its diagonal,
    /// or all of it by rows (default: learned from clusters of the data).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "scatter::deserialize"
    )]
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
fn merge() -> Start {
    Start::Merge
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
            start: merge(),
            start_units: StartUnits::Deviations,
            concentration: None,
            mean: None,
            mean_precision: None,
            degrees_of_freedom: None,
            scatter: None,
            defaults: Defaults::Learned,
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
        let shape = Shape::new(self.covariance, n_dims);
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
            Some(x) if !(x > 0.0 && x <= MOST) => Err(Error::config(
                field,
                x,
                "must be a positive number up to 1e300; leave it out for the default",
            )),
            _ => Ok(()),
        };
        positive("concentration", self.concentration)?;
        positive("mean_precision", self.mean_precision)?;
        positive("degrees_of_freedom", self.degrees_of_freedom)?;
        if !(self.ridge >= 0.0 && self.ridge.is_finite()) {
            return Err(Error::config("ridge", self.ridge, "must be 0 or a positive number"));
        }
        // Of tied components scikit-learn's prior counts once for each.
        let times = match self.defaults {
            Defaults::ScikitLearn if shape.is_tied() => self.components as f64,
            _ => 1.0,
        };
        let too_few = |&dof: &f64| dof * times <= shape.least_freedom();
        if let Some(dof) = self.degrees_of_freedom.filter(too_few) {
            return Err(Error::config(
                "degrees_of_freedom",
                dof,
                format!("must exceed the number of columns less one, {}", n_dims - 1),
            ));
        }
        let finite = |field: &str, values: &Option<Vec<f64>>, lengths: &[usize]| {
            let Some(values) = values else { return Ok(()) };
            if !lengths.contains(&values.len()) {
                let mut lengths: Vec<_> = lengths.iter().map(|l| l.to_string()).collect();
                lengths.dedup();
                let allowed = format!("the data have {n_dims} columns, so {}", either(&lengths));
                let found = format!("{} numbers", values.len());
                return Err(Error::config(field, found, format!("{allowed} are needed")));
            }
            match values.iter().find(|x| !x.is_finite()) {
                Some(x) => Err(Error::config(field, x, "every number must be finite")),
                None => Ok(()),
            }
        };
        finite("mean", &self.mean, &[n_dims])?;
        finite("scatter", &self.scatter, &[1, n_dims, n_dims * n_dims])?;
        scatter::check(self.scatter.as_deref(), n_dims, self.covariance)
    }
}
