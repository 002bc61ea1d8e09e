//! What the user of LDA can choose, and what is allowed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::read::DOCS;
use crate::settings::Tables;
use crate::settings::{Flag, Kind, Setting, Variant, choices};
use crate::step::guard::Guard;
use crate::{Error, Result};

const MODEL: &str = "Model";

/// All settings that a fit of this model has.
pub(in crate::models) const TABLES: Tables = Tables {
    model: "", // the list of models has the names
    own: SETTINGS,
    fit: FIT,
    data: DOCS,
    items: "documents",
    guards: Guard::OF_ENTRIES,
    laws: |_| true,
};

/// The settings of LDA: the fields of [`LdaParams`].
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "topics",
        kind: Kind::Whole,
        flag: Flag::Short('k'),
        value_name: "K",
        help: "K, the number of topics",
        group: MODEL,
        python: Some("n_components"),
        ..Setting::BLANK
    },
    Setting {
        name: "alpha",
        kind: Kind::Number,
        value_name: "X",
        help: "The prior of a document's topics: smaller, fewer topics a document",
        default: "1/K",
        group: MODEL,
        python: Some("doc_topic_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "eta",
        kind: Kind::Number,
        value_name: "X",
        help: "The prior of a topic's words: smaller, fewer words a topic",
        default: "0.01",
        group: MODEL,
        python: Some("topic_word_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "learn_alpha",
        kind: Kind::Choice(LearnAlpha::NAMES),
        value_name: "HOW",
        help: "Learn alpha: one for all topics, or one for each",
        default: "no; asymmetric if nothing follows",
        group: MODEL,
        python: Some("learn_doc_topic_prior"),
        alone: Some("asymmetric"),
        ..Setting::BLANK
    },
    Setting {
        name: "learn_eta",
        kind: Kind::Toggle(false),
        help: "Learn eta",
        group: MODEL,
        python: Some("learn_topic_word_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "seed_topics",
        kind: Kind::Path,
        value_name: "PATH",
        help: "Topics to start with, in this order: an earlier run's directory, or a table with a row for \
               each topic and a column for each word (CSV, .npy or Parquet)",
        group: MODEL,
        ..Setting::BLANK
    },
    Setting {
        name: "exact",
        kind: Kind::Toggle(false),
        help: "Double precision and no shortcuts in local steps: slower, for checks",
        group: MODEL,
        python: Some("exact"),
        ..Setting::BLANK
    },
    Setting {
        name: "local_tol",
        kind: Kind::Number,
        value_name: "X",
        help: "A document's local steps end when its topics change by less than this",
        default: "0.001",
        group: MODEL,
        python: Some("mean_change_tol"),
        ..Setting::BLANK
    },
    Setting {
        name: "local_iterations",
        kind: Kind::Whole,
        value_name: "N",
        help: "The most local steps of a document",
        default: "100",
        group: MODEL,
        python: Some("max_doc_update_iter"),
        ..Setting::BLANK
    },
];

/// What is different about the settings of a fit.
pub const FIT: &[Variant] = &[
    Variant::of("tol").python("perp_tol"),
    Variant::of("eval_every").python("evaluate_every"),
    Variant::of("guard").default("shrink"),
    Variant::of("warm")
        .help("Documents start where their last local step ended, which is faster in later epochs")
        .python("warm"),
    Variant::of("n_init").not_in_python(),
    Variant::of("search")
        .help(
            "Search for better topics: so many fits in all, each from a fresh start with the priors that the best one \
             has learned; 0 is off",
        )
        .not_in_python(),
    Variant::of("kicks").hidden().not_in_python(),
    Variant::of("holdout")
        .help("Documents to hold out and score during the run: a count (1000) or a fraction (0.1)"),
    Variant::of("bound_sample").default("1000"),
];

/// The settings of an LDA model.
///
/// ```
/// use lehr::models::LdaParams;
/// let params = LdaParams { eta: 0.05, ..LdaParams::new(20) };
/// assert_eq!(params.start_alpha(), 1.0 / 20.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LdaParams {
    /// K, the number of topics.
    pub topics: usize,
    /// The Dirichlet prior of a document's topics. Default 1/K.
    #[serde(default)]
    pub alpha: Option<f64>,
    /// The Dirichlet prior of a topic's words.
    #[serde(default = "default_eta")]
    pub eta: f64,
    /// Whether alpha is learned.
    #[serde(default)]
    pub learn_alpha: LearnAlpha,
    /// Whether eta is learned.
    #[serde(default)]
    pub learn_eta: bool,
    /// A document's local steps end when gamma changes by less than this on average.
    #[serde(default = "default_tol")]
    pub local_tol: f64,
    /// The most local steps of a document.
    #[serde(default = "default_iterations")]
    pub local_iterations: u32,
    /// Double precision and no shortcuts in local steps: slower, for checks.
    #[serde(default)]
    pub exact: bool,
    /// Topics to begin with: an earlier run's directory, or a file with a topic-word table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_topics: Option<PathBuf>,
}

choices! {
    /// How alpha is learned.
    #[derive(Default)]
    pub enum LearnAlpha {
        /// It stays as it is.
        #[default]
        No = "no",
        /// One number for all topics.
        Symmetric = "symmetric",
        /// A number for each topic.
        Asymmetric = "asymmetric",
    }
}

fn default_eta() -> f64 {
    0.01
}

fn default_tol() -> f64 {
    1e-3
}

fn default_iterations() -> u32 {
    100
}

/// More topics than this are a slip of the keyboard.
const MOST_TOPICS: usize = 100_000;

impl LdaParams {
    /// The defaults, with K topics.
    pub fn new(topics: usize) -> Self {
        LdaParams {
            topics,
            alpha: None,
            eta: default_eta(),
            learn_alpha: LearnAlpha::No,
            learn_eta: false,
            local_tol: default_tol(),
            local_iterations: default_iterations(),
            exact: false,
            seed_topics: None,
        }
    }

    /// Alpha at the start, for every topic.
    pub fn start_alpha(&self) -> f64 {
        self.alpha.unwrap_or(1.0 / self.topics as f64)
    }

    /// Whether every setting is allowed.
    pub fn check(&self) -> Result<()> {
        if self.topics == 0 || self.topics > MOST_TOPICS {
            let allowed = format!("must be between 1 and {MOST_TOPICS}");
            return Err(Error::config("topics", self.topics, allowed));
        }
        let prior = |field: &str, value: f64| {
            if (1e-6..=1e6).contains(&value) {
                return Ok(());
            }
            let allowed = "must be a positive number, usually between 0.001 and 10";
            Err(Error::config(field, value, allowed))
        };
        prior("alpha", self.start_alpha())?;
        prior("eta", self.eta)?;
        if !(self.local_tol > 0.0 && self.local_tol <= 1.0) {
            let allowed = "must be positive and at most 1; 0.001 is usual";
            return Err(Error::config("local_tol", self.local_tol, allowed));
        }
        if self.local_iterations == 0 {
            return Err(Error::config("local_iterations", 0, "must be at least 1"));
        }
        Ok(())
    }
}
