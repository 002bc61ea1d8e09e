//! What the user of probabilistic matrix factorisation can choose, and what is allowed.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The settings of a matrix factorisation.
///
/// ```
/// use lehr::models::PmfParams;
/// assert!(PmfParams::new(10).biases);
/// assert!(!PmfParams::paper(10).gauge);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmfParams {
    /// d, the number of latent dimensions.
    pub dims: usize,
    /// c: the prior variance of every factor; of the items' factors only at the start, if `ard`.
    /// Default: the standard deviation of the ratings, so that products are as large as ratings are.
    #[serde(default)]
    pub prior_variance: Option<f64>,
    /// sigma^2: the variance of a rating around its mean; only the first value, if `learn_noise`.
    /// Default: the variance of the ratings.
    #[serde(default)]
    pub noise_variance: Option<f64>,
    /// Learn sigma^2.
    #[serde(default = "yes")]
    pub learn_noise: bool,
    /// Learn a prior variance for each latent dimension of the items (automatic relevance
    /// determination), so that a d that is too large prunes itself.
    #[serde(default = "yes")]
    pub ard: bool,
    /// After the first sweeps and every fourth of the later ones, move along u -> A u, v -> A^-T v to
    /// the best bound.
    #[serde(default = "yes")]
    pub gauge: bool,
    /// Subtract the mean of the ratings.
    #[serde(default = "yes")]
    pub centre: bool,
    /// A bias for every user and item, with prior variances that are learned.
    #[serde(default = "yes")]
    pub biases: bool,
    /// Starts: the standard deviation of the random means. Default: as in the prior.
    #[serde(default)]
    pub init_sd: Option<f64>,
    /// Starts: the variance of every factor under q. Default: as in the prior.
    #[serde(default)]
    pub init_var: Option<f64>,
    /// Sums in double precision: slower, for checks.
    #[serde(default)]
    pub exact: bool,
}

fn yes() -> bool {
    true
}

/// More dimensions than this are a slip of the keyboard: a row of lambda has half their square.
const MOST_DIMS: usize = 1000;

impl PmfParams {
    /// The defaults, with d dimensions.
    pub fn new(dims: usize) -> Self {
        PmfParams {
            dims,
            prior_variance: None,
            noise_variance: None,
            learn_noise: true,
            ard: true,
            gauge: true,
            centre: true,
            biases: true,
            init_sd: None,
            init_var: None,
            exact: false,
        }
    }

    /// The paper's model: c = 1, sigma^2 = 1/2, nothing centred, nothing learned, starts from the prior.
    pub fn paper(dims: usize) -> Self {
        PmfParams {
            prior_variance: Some(1.0),
            noise_variance: Some(0.5),
            learn_noise: false,
            ard: false,
            gauge: false,
            centre: false,
            biases: false,
            ..PmfParams::new(dims)
        }
    }

    /// Whether every setting is allowed.
    pub fn check(&self) -> Result<()> {
        if self.dims == 0 || self.dims > MOST_DIMS {
            let allowed = format!("must be between 1 and {MOST_DIMS}");
            return Err(Error::config("dims", self.dims, allowed));
        }
        let positive = |field: &str, value: f64| {
            if (1e-9..=1e9).contains(&value) {
                return Ok(());
            }
            Err(Error::config(
                field,
                value,
                "must be a positive number, usually between 0.001 and 10",
            ))
        };
        for (field, value) in [
            ("prior_variance", self.prior_variance),
            ("noise_variance", self.noise_variance),
            ("init_var", self.init_var),
            ("init_sd", self.init_sd.filter(|&sd| sd != 0.0)),
        ] {
            value.map_or(Ok(()), |value| positive(field, value))?;
        }
        Ok(())
    }
}
