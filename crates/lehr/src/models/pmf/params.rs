//! What the user of probabilistic matrix factorisation can choose, and what is allowed.

use serde::{Deserialize, Serialize};

use crate::error::{advice, setting};
use crate::read::RATINGS;
use crate::settings::Tables;
use crate::settings::{FitConfig, Flag, Kind, Setting, Variant};
use crate::step::anneal::Law;
use crate::step::guard::Guard;
use crate::step::schedule::StepSize;
use crate::{Error, Result};

/// What a noisy step leaves of a row's last value.
const NOISY_STEP: f64 = 0.85;
/// With noise the bound takes a pass of its own: sweeps between two evaluations.
const NOISY_SWEEPS: u64 = 5;

/// What suits this model: larger steps with noise, and fewer evaluations.
pub(super) fn fit_defaults(config: &mut FitConfig) {
    if !config.effective.is_off() && config.batch.is_none() {
        config.step_size.get_or_insert(StepSize::UntilQuiet(NOISY_STEP));
        config.eval_every.get_or_insert(NOISY_SWEEPS);
    }
}

const MODEL: &str = "Model";

/// All settings that a fit of this model has.
pub(in crate::models) const TABLES: Tables = Tables {
    model: "", // the list of models has the names
    own: SETTINGS,
    fit: FIT,
    data: RATINGS,
    items: "ratings",
    guards: Guard::OF_ROWS_WITH_PRIORS,
    laws: Law::works_in_blocks,
};

/// The settings of a matrix factorisation: the fields of [`PmfParams`], and `preset`.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "dims",
        kind: Kind::Whole,
        flag: Flag::Short('d'),
        value_name: "D",
        help: "d, the number of latent dimensions. Those that explain nothing are pruned (ARD), so give \
               more than needed",
        group: MODEL,
        python: Some("n_components"),
        ..Setting::BLANK
    },
    Setting {
        name: "preset",
        kind: Kind::Choice(&["paper"]),
        value_name: "NAME",
        help: "paper: c = 1, sigma^2 = 1/2, rho = 0.85, M = 50t with the paper's variance and without an earlier end of \
               the noise, nothing centred, no biases, nothing learned. Other flags and the configuration file win over it",
        group: MODEL,
        ..Setting::BLANK
    },
    Setting {
        name: "implicit",
        kind: Kind::Toggle(false),
        help: "Values say how often an item was used, not how it was liked: pairs without one count as not used, and \
               what is predicted is use. For lists of items to show",
        group: MODEL,
        python: Some("implicit"),
        ..Setting::BLANK
    },
    Setting {
        name: "confidence",
        kind: Kind::Number,
        value_name: "X",
        help: "With --implicit: a pair that was used n times weighs 1 + X n, one that was not used 1",
        default: "1",
        group: MODEL,
        python: Some("confidence"),
        ..Setting::BLANK
    },
    Setting {
        name: "prior_variance",
        kind: Kind::Number,
        value_name: "X",
        help: "c, the prior variance of the factors; of the items' only the first one, unless --no-ard",
        default: "the standard deviation of the ratings",
        group: MODEL,
        python: Some("prior_variance"),
        ..Setting::BLANK
    },
    Setting {
        name: "noise_variance",
        kind: Kind::Number,
        value_name: "X",
        help: "sigma^2, how far ratings scatter around their mean; only the first value, unless \
               --no-learn-noise",
        default: "the variance of the ratings",
        group: MODEL,
        python: Some("noise_variance"),
        ..Setting::BLANK
    },
    Setting {
        name: "learn_noise",
        kind: Kind::Toggle(true),
        help: "Keep sigma^2 as it is",
        group: MODEL,
        python: Some("learn_noise"),
        ..Setting::BLANK
    },
    Setting {
        name: "ard",
        kind: Kind::Toggle(true),
        help: "Keep the prior variance of each latent dimension, so that none is pruned",
        group: MODEL,
        python: Some("ard"),
        ..Setting::BLANK
    },
    Setting {
        name: "gauge",
        kind: Kind::Toggle(true),
        help: "Do not turn the latent space to the best bound after sweeps (with relevance learned, from the sixth \
               on); fits take longer to converge",
        group: MODEL,
        python: Some("gauge"),
        ..Setting::BLANK
    },
    Setting {
        name: "centre",
        kind: Kind::Toggle(true),
        help: "Do not subtract the mean of the ratings",
        group: MODEL,
        python: Some("centre"),
        ..Setting::BLANK
    },
    Setting {
        name: "biases",
        kind: Kind::Toggle(true),
        help: "No bias for each user and item",
        group: MODEL,
        python: Some("biases"),
        ..Setting::BLANK
    },
    Setting {
        name: "init_sd",
        kind: Kind::Number,
        value_name: "X",
        help: "Starts: the standard deviation of the factors' random means",
        default: "as in the prior",
        group: MODEL,
        ..Setting::BLANK
    },
    Setting {
        name: "init_var",
        kind: Kind::Number,
        value_name: "X",
        help: "Starts: the variance of each factor under q",
        default: "as in the prior",
        group: MODEL,
        ..Setting::BLANK
    },
    Setting {
        name: "exact",
        kind: Kind::Toggle(false),
        help: "Sums in double precision: slower, for checks",
        group: MODEL,
        ..Setting::BLANK
    },
];

/// What is different about the settings of a fit.
pub const FIT: &[Variant] = &[
    Variant::of("warm").hidden(),
    Variant::of("warm_after").hidden(),
    Variant::of("bound_sample").hidden(),
    Variant::of("temper").hidden(),
    Variant::of("search").hidden().not_in_python(),
    Variant::of("kicks").hidden().not_in_python(),
    Variant::of("search_by").hidden().not_in_python(),
    Variant::of("population").hidden().not_in_python(),
    Variant::of("batch")
        .help("|S|, the ratings of a step. Left out, every step uses all of them (batch VI)"),
    Variant::of("effective").help(
        "M, the effective number of ratings of each user and item: smaller is noisier, and those with \
         fewer ratings than M have no noise. 50, 50t (50 times the step), geometric:10:150 (from 10 to \
         all over 150 steps) or off",
    ),
    Variant::of("step_size").default("1; 0.85,1 with noise; power:10:0.75 with --batch"),
    Variant::of("guard").default("reject-below-prior"),
    Variant::of("holdout")
        .help("Ratings to hold out and score during the run: a count (1000), a fraction (0.1) or a part (2/5)"),
    Variant::of("eval_every")
        .help("Evaluate the bound every N steps")
        .default("every sweep, every 5 with noise; once an epoch with --batch"),
];

/// The settings of a fit that belong to [`PmfParams::paper`], in TOML. The annealing is the paper's Algorithm 1 to the letter: its variance, and noise for as long as M_t lasts.
pub const PAPER_FIT: &str =
    "effective = '50t'\nstep_size = '0.85'\ncorrected = false\nnoise_end = 1.0";

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
    /// Whether values say how often items were used, and pairs without one that they were not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implicit: bool,
    /// A pair that was used n times weighs 1 + this times n. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
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
    /// After the first sweeps (with `ard`, those from the sixth on) and every eighth of the later ones, move along
    /// u -> A u, v -> A^-T v to the best bound.
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

/// Upper bound on the dimensions that catches typos: a row of lambda has half their square.
pub(super) const MOST_DIMS: usize = 1000;

impl PmfParams {
    /// The defaults, with d dimensions.
    pub fn new(dims: usize) -> Self {
        PmfParams {
            dims,
            implicit: false,
            confidence: None,
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
                "must be between 1e-9 and 1e9, usually between 0.001 and 10",
            ))
        };
        if let (false, Some(confidence)) = (self.implicit, self.confidence) {
            let allowed = advice!["is of use with ", setting("implicit").to(true), " only"];
            return Err(Error::config("confidence", confidence, allowed));
        }
        for (field, value) in [
            ("confidence", self.confidence),
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
