//! The settings that every fit shares: what a user writes ([`FitConfig`]), the table that says so ([`FIT`]),
//! and what the loop runs ([`Plan`]).

mod choices;
mod plan;
mod search;
mod table;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fit::stop::Change;
use crate::step::anneal::Law;
use crate::step::guard::Guard;
use crate::step::sample::Sampling;
use crate::step::schedule::{Effective, StepSize, Temper};

pub(crate) use choices::choices;
pub use choices::either;
pub use plan::Plan;
pub use search::{Kick, Kicks, Search, SearchBy};
pub use table::{Flag, Kind, Setting, Tables, Variant, varied};

/// How to fit: shared by all models, by the command line's flags and by `--config run.toml`.
///
/// ```
/// use lehr::FitConfig;
/// let svi_plus = FitConfig { batch: Some(200), effective: "50".parse().unwrap(), ..FitConfig::default() };
/// assert!(svi_plus.check(1000).is_ok());
/// assert!(svi_plus.check(100).is_err()); // a batch of 200 out of 100 items
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitConfig {
    /// Updates; in batch mode, sweeps. Default 500 sweeps or 1000 updates.
    pub steps: Option<u64>,
    /// Stop when the bound's relative change falls below this; 0 turns it off. Default 1e-6.
    pub tol: f64,
    /// What the tolerance is compared with, if not the bound's relative change.
    #[serde(skip_serializing_if = "Change::is_usual")]
    pub tol_of: Change,
    /// Stop after this many seconds.
    pub time: Option<f64>,
    /// |S|. Left out: every step uses all items (batch VI).
    pub batch: Option<usize>,
    /// How batches are drawn.
    pub sampling: Sampling,
    /// M. `off`, or as large as the batch: no annealing noise.
    pub effective: Effective,
    /// The distribution of the noise.
    pub law: Law,
    /// The noise variance carries the factor |S|/(|S|-1); `false` is the paper's exact form.
    pub corrected: bool,
    /// The fraction of the steps after which noise ends and a noiseless phase starts.
    pub noise_end: f64,
    /// How many times items count at first. Default: the model's own, mostly once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temper: Option<Temper>,
    /// rho. Default: 1 for batch VI, `0.5,1` for annealed batch VI, `power:10:0.75` for batches.
    pub step_size: Option<StepSize>,
    /// What happens when noise pushes a parameter out of its domain. Default: the model's own.
    pub guard: Option<Guard>,
    /// Items keep what their local steps found for the next time, in models that iterate. Faster in
    /// later epochs, and the only way in which the bound of batch VI rises at every step, up to rounding;
    /// starting from scratch every time often ends higher.
    pub warm: bool,
    /// Epochs (in batch mode, sweeps) before items keep anything. Default: the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_after: Option<u64>,
    /// N, if the items are only some of a larger collection, e.g. those that have just arrived.
    pub population: Option<usize>,
    /// Estimate the bound from this many random training items when steps use batches; 0 is all.
    /// Default: all for mixtures, 1000 for LDA.
    pub bound_sample: Option<usize>,
    /// Two runs with the same seed, data and settings give the same bits.
    pub seed: u64,
    /// Threads; 0 uses all cores. Does not change results.
    pub threads: usize,
    /// How many starts to try; the best by bound is kept.
    pub n_init: u32,
    /// Search for better optima from where the plain fit ends, with N times its passes, those included; 0 is
    /// off. Default: the model's own, mostly off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<f64>,
    /// What the search may try. Default: everything that the model knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kicks: Option<Kicks>,
    /// What the fits of a search are chosen by.
    #[serde(skip_serializing_if = "is_default")]
    pub search_by: SearchBy,
    /// Save every N steps. Default: once a minute.
    pub checkpoint_every: Option<u64>,
    /// Evaluate the bound every N steps; 0 is never, not even at the end. Default: every sweep, or
    /// once an epoch.
    pub eval_every: Option<u64>,
    /// Items to hold out and score during the run: a count, a fraction below 1, or one of several parts.
    pub holdout: Holdout,
}

impl Default for FitConfig {
    fn default() -> Self {
        FitConfig {
            steps: None,
            tol: 1e-6,
            tol_of: Change::default(),
            time: None,
            batch: None,
            sampling: Sampling::default(),
            effective: Effective::Off,
            law: Law::default(),
            corrected: true,
            noise_end: 0.75,
            temper: None,
            step_size: None,
            guard: None,
            warm: false,
            warm_after: None,
            population: None,
            bound_sample: None,
            seed: 0,
            threads: 0,
            n_init: 1,
            search: None,
            kicks: None,
            search_by: SearchBy::default(),
            checkpoint_every: None,
            eval_every: None,
            holdout: Holdout::default(),
        }
    }
}

const LONG: &str = "How long";
const ANNEALING: &str = "Batches and annealing";
const STARTS: &str = "Starts and threads";
const WATCHING: &str = "Watching";

/// The settings of every fit: the fields of [`FitConfig`]. Models have [`Variant`]s of some.
pub const FIT: &[Setting] = &[
    Setting {
        name: "steps",
        kind: Kind::Whole,
        value_name: "N",
        help: "Updates; in batch mode, sweeps. 0 keeps the start as it is",
        default: "1000; 500 in batch mode",
        group: LONG,
        python: Some("max_iter"),
        ..Setting::BLANK
    },
    Setting {
        name: "tol",
        kind: Kind::Number,
        value_name: "X",
        help: "Stop when the bound's relative change falls below this; 0 turns it off",
        default: "1e-6",
        group: LONG,
        python: Some("tol"),
        ..Setting::BLANK
    },
    Setting {
        name: "tol_of",
        kind: Kind::Choice(Change::NAMES),
        flag: Flag::None,
        help: "What the tolerance is compared with",
        default: "relative",
        group: LONG,
        ..Setting::BLANK
    },
    Setting {
        name: "time",
        kind: Kind::Seconds,
        value_name: "TIME",
        help: "Stop after this long: seconds, or 90s, 5m, 2h",
        group: LONG,
        python: Some("time_limit"),
        ..Setting::BLANK
    },
    Setting {
        name: "batch",
        kind: Kind::Whole,
        value_name: "S",
        help: "|S|, the batch size. Left out, every step uses all items (batch VI); for large corpora 1000 \
               is usual",
        group: ANNEALING,
        python: Some("batch_size"),
        ..Setting::BLANK
    },
    Setting {
        name: "sampling",
        kind: Kind::Choice(Sampling::NAMES),
        help: "How batches are drawn",
        default: "epochs",
        group: ANNEALING,
        ..Setting::BLANK
    },
    Setting {
        name: "effective",
        kind: Kind::Schedule(parses::<Effective>),
        value_name: "M",
        help: "M, the effective batch size: smaller is noisier. 50, 50t (50 times the step), \
               geometric:10:150 (from 10 to the batch size over 150 steps), fading:30:20 (variance 30 to 0 over 20 \
               steps), auto (the same as --search 4) or off",
        group: ANNEALING,
        python: Some("effective_batch_size"),
        ..Setting::BLANK
    },
    Setting {
        name: "law",
        kind: Kind::Choice(Law::NAMES),
        help: "The distribution of the annealing noise",
        default: "gaussian",
        group: ANNEALING,
        python: Some("noise"),
        ..Setting::BLANK
    },
    Setting {
        name: "corrected",
        kind: Kind::Toggle(true),
        flag: Flag::Named("paper-variance"),
        help: "Use the paper's noise variance, without the factor |S|/(|S|-1)",
        group: ANNEALING,
        ..Setting::BLANK
    },
    Setting {
        name: "noise_end",
        kind: Kind::Number,
        value_name: "FRACTION",
        help: "The fraction of the steps after which the noise ends",
        default: "0.75",
        group: ANNEALING,
        python: Some("noise_end"),
        old: &["quench"],
        ..Setting::BLANK
    },
    Setting {
        name: "temper",
        kind: Kind::Schedule(parses::<Temper>),
        value_name: "TIMES",
        help: "A tempered start: every item counts N times at first, and once in the end. 2 (over 60 % of \
               the steps), 2:0.3 (over 30 %), 2:20 (over 20 steps) or off",
        default: "off",
        group: ANNEALING,
        ..Setting::BLANK
    },
    Setting {
        name: "step_size",
        kind: Kind::Schedule(parses::<StepSize>),
        value_name: "RHO",
        help: "rho: 0.5, power:10:0.75 for (10 + t)^-0.75, or 0.5,1 for 0.5 while there is noise, then 1",
        default: "1; 0.5,1 with noise; power:10:0.75 with --batch",
        group: ANNEALING,
        python: Some("step_size"),
        ..Setting::BLANK
    },
    Setting {
        name: "guard",
        kind: Kind::Choice(Guard::NAMES),
        help: "What to do when noise pushes a parameter out of its domain",
        default: "reject",
        group: ANNEALING,
        python: Some("guard"),
        ..Setting::BLANK
    },
    Setting {
        name: "warm",
        kind: Kind::Toggle(false),
        help: "lda: documents start where their last local step ended, which is faster in later epochs",
        group: ANNEALING,
        ..Setting::BLANK
    },
    Setting {
        name: "warm_after",
        kind: Kind::Whole,
        value_name: "N",
        help: "With --warm, epochs (sweeps in batch mode) in which documents start from scratch, until topics have formed",
        default: "30",
        group: ANNEALING,
        ..Setting::BLANK
    },
    Setting {
        name: "population",
        kind: Kind::Whole,
        value_name: "N",
        help: "N, if the items are only some of a larger collection",
        default: "as many as there are",
        group: ANNEALING,
        python: Some("total_samples"),
        ..Setting::BLANK
    },
    Setting {
        name: "seed",
        kind: Kind::Seed,
        value_name: "N",
        help: "The seed: same seed, data and settings, same bits",
        default: "0",
        group: STARTS,
        python: Some("random_state"),
        ..Setting::BLANK
    },
    Setting {
        name: "n_init",
        kind: Kind::Whole,
        value_name: "N",
        help: "How many starts to try; the best by bound is kept",
        default: "1",
        group: STARTS,
        python: Some("n_init"),
        ..Setting::BLANK
    },
    Setting {
        name: "search",
        kind: Kind::Number,
        value_name: "TIMES",
        help: "Search for better optima from where the plain fit ends, with N times its passes, those included; \
               0 is off",
        default: "0",
        group: STARTS,
        python: Some("search"),
        ..Setting::BLANK
    },
    Setting {
        name: "kicks",
        kind: Kind::Schedule(parses::<Kicks>),
        value_name: "KICKS",
        help: "What the search may try: swap, merge, merge-birth, noise, restart; noise alone is pure SVI+",
        default: "all of them",
        group: STARTS,
        python: Some("kicks"),
        ..Setting::BLANK
    },
    Setting {
        name: "search_by",
        kind: Kind::Choice(SearchBy::NAMES),
        help: "What the fits of a search are chosen by: the bound, or the score of the items held out",
        default: "bound",
        group: STARTS,
        python: Some("search_by"),
        ..Setting::BLANK
    },
    Setting {
        name: "threads",
        kind: Kind::Whole,
        value_name: "N",
        help: "Threads; 0 uses all cores, and there are at most 4 for each core, or 16. Does not change results",
        default: "0",
        group: STARTS,
        python: Some("n_jobs"),
        ..Setting::BLANK
    },
    Setting {
        name: "holdout",
        kind: Kind::Schedule(parses::<Holdout>),
        value_name: "N",
        help: "Items (documents) to hold out and score during the run: a count (1000), a fraction (0.1) or one of several \
               parts (2/5)",
        group: WATCHING,
        python: Some("holdout"),
        ..Setting::BLANK
    },
    Setting {
        name: "eval_every",
        kind: Kind::Whole,
        value_name: "N",
        help: "Evaluate the bound every N steps; 0 is never, for --tol 0",
        default: "every sweep, or once an epoch",
        group: WATCHING,
        ..Setting::BLANK
    },
    Setting {
        name: "bound_sample",
        kind: Kind::Whole,
        value_name: "N",
        help: "With --batch, estimate the bound from N random training items; 0 is all",
        default: "0",
        group: WATCHING,
        ..Setting::BLANK
    },
    Setting {
        name: "checkpoint_every",
        kind: Kind::Whole,
        value_name: "N",
        help: "Save every N steps",
        default: "once a minute",
        group: WATCHING,
        ..Setting::BLANK
    },
];

/// Whether a text is a value of this type, or why not.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn parses<T: FromStr<Err = String>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop)
}

/// Which items to hold out: none, a count (`1000`), a fraction (`0.1`), or one of several equal parts (`2/5`: the second of
/// five). The parts of one seed have no item in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NumberOrText", into = "NumberOrText")]
pub enum Holdout {
    /// This many random items, or such a fraction of them.
    Share(f64),
    /// A part of all items, `fold` of `of`, from 1.
    Fold {
        /// Which.
        fold: u32,
        /// How many there are.
        of: u32,
    },
}

impl Holdout {
    /// The number of items out of `n_items`.
    pub fn count(&self, n_items: usize) -> usize {
        match *self {
            Holdout::Share(share) if share < 1.0 => (share * n_items as f64).round() as usize,
            Holdout::Share(count) => count as usize,
            Holdout::Fold { .. } => self.places(n_items).len(),
        }
    }

    /// Where they are among all items in random order.
    pub(crate) fn places(&self, n_items: usize) -> Range<usize> {
        match *self {
            Holdout::Share(_) => 0..self.count(n_items),
            Holdout::Fold { fold, of } => {
                let end =
                    |folds: u32| (n_items as u128 * u128::from(folds) / u128::from(of)) as usize;
                end(fold - 1)..end(fold)
            }
        }
    }
}

impl Default for Holdout {
    fn default() -> Self {
        Holdout::Share(0.0)
    }
}

const HOLDOUT: &str = "must be a whole number of items (1000), a fraction below 1 (0.1) or one of several parts (2/5)";

impl TryFrom<f64> for Holdout {
    type Error = String;

    fn try_from(x: f64) -> Result<Self, String> {
        let whole = x.is_finite() && x >= 1.0 && x.fract() == 0.0;
        let is_share = whole || (0.0..1.0).contains(&x);
        if is_share { Ok(Holdout::Share(x)) } else { Err(HOLDOUT.to_string()) }
    }
}

impl FromStr for Holdout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((fold, of)) = text.split_once('/') else {
            let share = Holdout::try_from(text.parse::<f64>().map_err(|_| HOLDOUT)?);
            // One item, or all of them?
            return match share {
                Ok(Holdout::Share(1.0)) if text.trim() != "1" => Err(HOLDOUT.to_string()),
                share => share,
            };
        };
        let (fold, of) = (fold.trim().parse().ok(), of.trim().parse().ok());
        let (Some(fold), Some(of)) = (fold, of) else { return Err(HOLDOUT.to_string()) };
        if of < 2 || fold < 1 || fold > of {
            return Err(format!("{HOLDOUT}: the first of five is 1/5, the last 5/5"));
        }
        Ok(Holdout::Fold { fold, of })
    }
}

impl fmt::Display for Holdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holdout::Share(share) => share.fmt(f),
            Holdout::Fold { fold, of } => write!(f, "{fold}/{of}"),
        }
    }
}

/// A value of a configuration file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

impl TryFrom<NumberOrText> for Holdout {
    type Error = String;

    fn try_from(value: NumberOrText) -> Result<Self, String> {
        match value {
            NumberOrText::Number(x) => Holdout::try_from(x),
            NumberOrText::Text(text) => text.parse(),
        }
    }
}

impl From<Holdout> for NumberOrText {
    fn from(holdout: Holdout) -> Self {
        match holdout {
            Holdout::Share(share) => NumberOrText::Number(share),
            fold => NumberOrText::Text(fold.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_survives_toml_and_refuses_unknown_fields() {
        let config = FitConfig {
            batch: Some(20),
            effective: "5t".parse().unwrap(),
            step_size: Some("power:1:0.6".parse().unwrap()),
            holdout: "0.1".parse().unwrap(),
            ..FitConfig::default()
        };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<FitConfig>(&text).unwrap(), config);
        let error = toml::from_str::<FitConfig>("bacth = 3").unwrap_err().to_string();
        assert!(error.contains("unknown field `bacth`") && error.contains("`batch`"), "{error}");
    }

    #[test]
    fn what_is_held_out_is_a_count_a_share_or_a_part() {
        let count = |text: &str| text.parse::<Holdout>().map(|holdout| holdout.count(103));
        assert_eq!((count("0"), count("10"), count("0.1")), (Ok(0), Ok(10), Ok(10)));
        let parts = (1..=5).map(|fold| format!("{fold}/5").parse::<Holdout>().unwrap());
        let places: Vec<_> = parts.clone().map(|part| part.places(103)).collect();
        assert_eq!(places, [0..20, 20..41, 41..61, 61..82, 82..103]);
        for part in parts {
            let text = serde_json::to_string(&part).unwrap();
            assert_eq!(serde_json::from_str::<Holdout>(&text).unwrap(), part);
        }
        assert_eq!((count("1"), count("0.5")), (Ok(1), Ok(52)));
        for text in
            ["1.0", "1e0", "0/5", "6/5", "1/1", "a/b", "1/", "/5", "-1/5", "1.5", "-0.1", "nan", ""]
        {
            assert!(text.parse::<Holdout>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_table_has_every_field_and_no_other() {
        let config = FitConfig {
            tol_of: Change::Absolute,
            temper: Some(Temper::Off),
            warm_after: Some(0),
            search: Some(4.0),
            kicks: Some(Kicks::ALL),
            search_by: SearchBy::Heldout,
            ..FitConfig::default()
        };
        let fields = serde_json::to_value(config).unwrap();
        let mut fields: Vec<&String> = fields.as_object().unwrap().keys().collect();
        let mut names: Vec<&str> = FIT.iter().map(|setting| setting.name).collect();
        fields.sort();
        names.sort_unstable();
        assert_eq!(names, fields);
    }
}
