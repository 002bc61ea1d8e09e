//! What the user of LDA can choose, and what is allowed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::priors::{ALLOWED, Alpha, RANGE, WordEta, check_eta};
use super::seed_words::{SeedWords, check_strength};
use crate::error::{advice, setting};
use crate::read::DOCS;
use crate::settings::Tables;
use crate::settings::{Flag, Kind, Setting, Variant, choices, parses};
use crate::step::guard::Guard;
use crate::step::schedule::Temper;
use crate::store::path_text;
use crate::{Error, FitConfig, Result};

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
        name: "priors",
        kind: Kind::Choice(Priors::NAMES),
        value_name: "RULE",
        help: "Default treatment of priors not given: alpha and eta are learned after a tempered start, or they stay \
               at 1/K and 0.01",
        default: "learned",
        group: MODEL,
        python: Some("priors"),
        ..Setting::BLANK
    },
    Setting {
        name: "alpha",
        kind: Kind::Schedule(parses::<Alpha>),
        value_name: "X",
        help: "The prior of a document's topics, the first value if it is learned: smaller values give fewer topics \
               per document. A number for all topics, or one for each: 0.5,0.1,0.1",
        default: "1/K",
        group: MODEL,
        python: Some("doc_topic_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "eta",
        kind: Kind::Number,
        value_name: "X",
        help: "The prior of a topic's words, the first value if it is learned: smaller values give fewer words \
               per topic",
        default: "0.05, or less for few tokens; 0.01 with --priors fixed",
        group: MODEL,
        python: Some("topic_word_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "word_eta",
        kind: Kind::Path,
        value_name: "FILE",
        help: "Words with an eta of their own: a line for each, 'word 0.5', or JSON, {\"word\": 0.5}. Others have \
               --eta, and none is learned then",
        group: MODEL,
        python: Some("topic_word_prior"),
        ..Setting::BLANK
    },
    Setting {
        name: "learn_alpha",
        kind: Kind::Choice(LearnAlpha::NAMES),
        value_name: "HOW",
        help: "Learn alpha: one for all topics, one for each, or not at all",
        default: "asymmetric; no with --priors fixed",
        group: MODEL,
        python: Some("learn_doc_topic_prior"),
        alone: Some("asymmetric"),
        ..Setting::BLANK
    },
    Setting {
        name: "learn_eta",
        kind: Kind::Toggle(true),
        flag: Flag::Named("learn-eta"),
        value_name: "WHETHER",
        help: "Learn eta, or not",
        default: "yes; no with --priors fixed or --word-eta",
        group: MODEL,
        python: Some("learn_topic_word_prior"),
        alone: Some("yes"),
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
        name: "seed_words",
        kind: Kind::Path,
        value_name: "FILE",
        help: "Words that topics have by their prior, to the end of the fit: a line for each topic, 'name: word word \
               word', in the order of the topics; or JSON, {\"name\": [\"word\", ...]}. A word may be in several",
        group: MODEL,
        python: Some("seed_words"),
        ..Setting::BLANK
    },
    Setting {
        name: "seed_strength",
        kind: Kind::Number,
        value_name: "X",
        help: "How strong seed words are: the prior has each X times as often as the documents do",
        default: "1",
        group: MODEL,
        python: Some("seed_strength"),
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
    Variant::of("temper")
        .default("2 with --batch; off in batch mode and with --priors fixed")
        .python("temper"),
    Variant::of("warm")
        .help("Documents start where their last local step ended, which is faster in later epochs")
        .python("warm"),
    Variant::of("search")
        .help(
            "Search for better topics: N fits in all, each from a fresh start with the priors that the best one \
             has learned; 0 is off",
        ),
    Variant::of("kicks").hidden().not_in_python(),
    Variant::of("holdout")
        .help("Documents to hold out and score during the run: a count (1000), a fraction (0.1) or a part (2/5)"),
    Variant::of("bound_sample").default("1000"),
];

/// The settings of an LDA model.
///
/// ```
/// use lehr::models::LdaParams;
/// use lehr::models::lda::LearnAlpha;
///
/// let params = LdaParams { eta: Some(0.1), ..LdaParams::new(20) };
/// assert_eq!((params.start_alpha(), params.start_eta()), (vec![1.0 / 20.0; 20], 0.1));
/// assert_eq!((params.learned_alpha(), params.learns_eta()), (LearnAlpha::Asymmetric, true));
/// assert_eq!(LdaParams::fixed(20).learned_alpha(), LearnAlpha::No);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LdaParams {
    /// K, the number of topics.
    pub topics: usize,
    /// What holds where the four below say nothing. Runs record what they say.
    #[serde(default)]
    pub priors: Priors,
    /// The Dirichlet prior of a document's topics, or its first value. Default 1/K.
    #[serde(default)]
    pub alpha: Option<Alpha>,
    /// The Dirichlet prior of a topic's words, or its first value. Default 0.05, but at least 0.01 and at most
    /// 3 % of the tokens over K V; 0.01 if priors are fixed.
    #[serde(default)]
    pub eta: Option<f64>,
    /// Words with an eta of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_eta: Option<WordEta>,
    /// Whether alpha is learned. Default: one for each topic, unless priors are fixed.
    #[serde(default)]
    pub learn_alpha: Option<LearnAlpha>,
    /// Whether eta is learned. Default: yes, unless priors are fixed or words have an eta of their own.
    #[serde(default)]
    pub learn_eta: Option<bool>,
    /// A document's local steps end when gamma changes by less than this on average.
    #[serde(default = "default_tol")]
    pub local_tol: f64,
    /// The most local steps of a document.
    #[serde(default = "default_iterations")]
    pub local_iterations: u32,
    /// Double precision and no shortcuts in local steps: slower, for checks.
    #[serde(default)]
    pub exact: bool,
    /// Topics to start with: an earlier run's directory, or a file with a topic-word table.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub seed_topics: Option<PathBuf>,
    /// Words that topics have by their prior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_words: Option<SeedWords>,
    /// How strong they are: what is added to eta, by how often the documents have the word. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_strength: Option<f64>,
}

choices! {
    /// Default treatment of priors not given.
    #[derive(Default)]
    pub enum Priors {
        /// Alpha is learned, one for each topic, and eta, which starts at 0.05; fits start tempered.
        #[default]
        Learned = "learned",
        /// Alpha stays 1/K and eta 0.01; no fit starts tempered.
        Fixed = "fixed",
    }
}

choices! {
    /// How alpha is learned.
    pub enum LearnAlpha {
        /// It stays as it is.
        No = "no",
        /// One number for all topics.
        Symmetric = "symmetric",
        /// A number for each topic.
        Asymmetric = "asymmetric",
    }
}

fn default_tol() -> f64 {
    1e-3
}

fn default_iterations() -> u32 {
    100
}

/// Epochs after which topics have formed, and what documents found in the last one is worth starting with.
const WARM_AFTER: u64 = 30;

/// Eta at the start if it is learned, and the most that it is together, as a share of the tokens.
const ETA: f64 = 0.05;
const ETA_SHARE: f64 = 0.03;

/// Eta if it is not learned, and the least at the start if it is.
const FIXED_ETA: f64 = 0.01;

/// Upper bound on the topics that catches typos.
const MOST_TOPICS: usize = 100_000;

impl LdaParams {
    /// The defaults, with K topics.
    pub fn new(topics: usize) -> Self {
        LdaParams {
            topics,
            priors: Priors::Learned,
            alpha: None,
            eta: None,
            word_eta: None,
            learn_alpha: None,
            learn_eta: None,
            local_tol: default_tol(),
            local_iterations: default_iterations(),
            exact: false,
            seed_topics: None,
            seed_words: None,
            seed_strength: None,
        }
    }

    /// The same with priors that stay as they are.
    pub fn fixed(topics: usize) -> Self {
        LdaParams { priors: Priors::Fixed, ..Self::new(topics) }
    }

    /// With what holds for this many tokens of this many words in place of what is left out: a run records that, and goes
    /// on like it when defaults change.
    pub(super) fn said(self, tokens: f64, n_words: usize) -> Self {
        // Where there are many topics for few tokens, 0.05 would be more than the tokens have to say.
        let most = ETA_SHARE * tokens / (self.topics as f64 * n_words as f64);
        let eta = match (self.eta, self.priors) {
            (None, Priors::Learned) => ETA.min(most.max(FIXED_ETA)),
            _ => self.start_eta(),
        };
        LdaParams {
            eta: Some(eta),
            learn_alpha: Some(self.learned_alpha()),
            learn_eta: Some(self.learns_eta()),
            ..self
        }
    }

    /// Eta at the start; less for few tokens, if it is left out and learned.
    pub fn start_eta(&self) -> f64 {
        self.eta.unwrap_or(match self.priors {
            Priors::Learned => ETA,
            Priors::Fixed => FIXED_ETA,
        })
    }

    /// How alpha is learned.
    pub fn learned_alpha(&self) -> LearnAlpha {
        self.learn_alpha.unwrap_or(match self.priors {
            Priors::Learned => LearnAlpha::Asymmetric,
            Priors::Fixed => LearnAlpha::No,
        })
    }

    /// Whether eta is learned.
    pub fn learns_eta(&self) -> bool {
        self.learn_eta.unwrap_or(self.priors == Priors::Learned && self.word_eta.is_none())
    }

    /// Fills in what suits these priors about a fit.
    pub(super) fn fit_defaults(&self, config: &mut FitConfig) {
        if self.priors == Priors::Learned && config.batch.is_some() {
            config.temper.get_or_insert(Temper::USUAL);
        }
        if config.warm {
            config.warm_after.get_or_insert(WARM_AFTER);
        }
    }

    /// Alpha of every topic at the start.
    pub fn start_alpha(&self) -> Vec<f64> {
        self.alpha.clone().unwrap_or(Alpha::All(1.0 / self.topics as f64)).of(self.topics)
    }

    /// Whether every setting is allowed.
    pub fn check(&self) -> Result<()> {
        if self.topics == 0 || self.topics > MOST_TOPICS {
            let allowed = format!("must be between 1 and {MOST_TOPICS}");
            return Err(Error::config("topics", self.topics, allowed));
        }
        if let Some(alpha) = &self.alpha {
            alpha.check(self.topics)?;
            if self.learned_alpha() == LearnAlpha::Symmetric && matches!(alpha, Alpha::Each(_)) {
                let allowed = "is another number for each topic, and symmetric is one for all";
                return Err(Error::config("alpha", alpha.to_string(), allowed));
            }
        }
        if !RANGE.contains(&self.start_eta()) {
            return Err(Error::config("eta", self.start_eta(), ALLOWED));
        }
        check_eta(self)?;
        if !(self.local_tol > 0.0 && self.local_tol <= 1.0) {
            let allowed = "must be positive and at most 1; 0.001 is usual";
            return Err(Error::config("local_tol", self.local_tol, allowed));
        }
        if let Some(strength) = self.seed_strength {
            check_strength("seed_strength", strength)?;
            if self.seed_words.is_none() {
                let allowed = advice!["there are no seed words; give ", setting("seed_words")];
                return Err(Error::config("seed_strength", strength, allowed));
            }
        }
        if self.local_iterations == 0 {
            return Err(Error::config("local_iterations", 0, "must be at least 1"));
        }
        Ok(())
    }
}
