//! The settings that every fit shares: what a user writes ([`FitConfig`]) and what the loop runs
//! ([`Plan`], checked and with every default filled in).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fit::stop::{Change, StopReason};
use crate::model::{Dataset, Model, guards_of};
use crate::step::anneal::{Anneal, Law};
use crate::step::sample::Sampling;
use crate::step::schedule::{Effective, StepSize};
use crate::step::update::Guard;
use crate::{Error, Result};

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
    /// The fraction of the steps after which noise ends and a noiseless phase begins.
    pub noise_end: f64,
    /// rho. Default: 1 for batch VI, `0.5,1` for annealed batch VI, `power:10:0.75` for batches.
    pub step_size: Option<StepSize>,
    /// What happens when noise pushes a parameter out of its domain. Default: the model's own.
    pub guard: Option<Guard>,
    /// Items keep what their local steps found for the next time, in models that iterate. Faster in
    /// later epochs, and the only way in which the bound of batch VI never falls; starting afresh
    /// every time often ends higher.
    pub warm: bool,
    /// N, if the items are only some of a larger collection, e.g. those that have just arrived.
    pub population: Option<usize>,
    /// Estimate the bound from so many random training items when steps use batches; 0 is all.
    /// Default: all for mixtures, 1000 for LDA.
    pub bound_sample: Option<usize>,
    /// Two runs with the same seed, data and settings give the same bits.
    pub seed: u64,
    /// Threads; 0 uses all cores. Does not change results.
    pub threads: usize,
    /// How many starts to try; the best by bound is kept.
    pub n_init: u32,
    /// Save every so many steps. Default: once a minute.
    pub checkpoint_every: Option<u64>,
    /// Evaluate the bound every so many steps; 0 is never, not even at the end. Default: every sweep, or
    /// once an epoch.
    pub eval_every: Option<u64>,
    /// Items to hold out and score during the run: a count, or a fraction below 1.
    pub holdout: Holdout,
}

/// More threads than any machine has cores are a slip of the keyboard, and would take forever to start.
const MOST_THREADS: usize = 4096;

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
            step_size: None,
            guard: None,
            warm: false,
            population: None,
            bound_sample: None,
            seed: 0,
            threads: 0,
            n_init: 1,
            checkpoint_every: None,
            eval_every: None,
            holdout: Holdout::default(),
        }
    }
}

/// How many items to hold out: `0`, a count (`1000`) or a fraction (`0.1`).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Holdout(f64);

impl Holdout {
    /// The number of items out of `n_items`.
    pub fn count(&self, n_items: usize) -> usize {
        if self.0 < 1.0 { (self.0 * n_items as f64).round() as usize } else { self.0 as usize }
    }
}

impl TryFrom<f64> for Holdout {
    type Error = String;

    fn try_from(x: f64) -> Result<Self, String> {
        let whole = x.is_finite() && x >= 1.0 && x.fract() == 0.0;
        if whole || (0.0..1.0).contains(&x) {
            Ok(Holdout(x))
        } else {
            Err(format!("{x}: use a whole number of items (1000) or a fraction below 1 (0.1)"))
        }
    }
}

impl From<Holdout> for f64 {
    fn from(holdout: Holdout) -> f64 {
        holdout.0
    }
}

impl FromStr for Holdout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |_| format!("'{text}': use a whole number of items (1000) or a fraction below 1 (0.1)");
        Holdout::try_from(text.parse::<f64>().map_err(wrong)?)
    }
}

impl fmt::Display for Holdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A checked configuration for data of a known size: what the loop runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Steps until the end.
    pub steps: u64,
    /// The change at which to stop; 0 is never.
    pub tol: f64,
    /// The change of what.
    pub tol_of: Change,
    /// Seconds at which to stop.
    pub time: Option<f64>,
    /// |S|, if not everything.
    pub batch: Option<usize>,
    /// How batches are drawn.
    pub sampling: Sampling,
    /// The noise of the first restart; see [`Plan::anneal`].
    anneal: Anneal,
    /// rho.
    pub step_size: StepSize,
    /// The guard, if not the model's own; see [`Plan::guard_for`].
    guard: Option<Guard>,
    /// Whether items keep local state.
    pub warm: bool,
    /// N.
    pub population: usize,
    /// How many items the bound is estimated from, if not the model's own number; 0 is all.
    pub bound_sample: Option<usize>,
    /// The largest |S|, where every row is a block of its own.
    pub block: Option<usize>,
    /// Steps that earlier runs made on other data: step sizes go on from there, batches and noise
    /// begin anew.
    pub origin: u64,
    /// Steps in an epoch.
    epoch: u64,
    /// The seed.
    pub seed: u64,
    /// How many starts.
    pub n_init: u32,
    /// Steps between evaluations of the bound; 0 if there are none.
    pub eval_every: u64,
    /// Steps between checkpoints, if not by time.
    pub checkpoint_every: Option<u64>,
}

impl Plan {
    /// The noise of one restart.
    pub fn anneal(&self, restart: u32) -> Anneal {
        Anneal { restart, ..self.anneal }
    }

    /// The guard for this model, or why there is none.
    pub fn guard_for<M: Model>(&self, model: &M) -> Result<Guard> {
        let known = guards_of(model);
        let Some(guard) = self.guard else { return Ok(known[0]) };
        if known.contains(&guard) {
            return Ok(guard);
        }
        let names: Vec<String> = known.iter().map(Guard::to_string).collect();
        let allowed = format!("a {} allows {}", model.name(), names.join(", "));
        Err(Error::config("guard", guard, allowed))
    }

    /// Checks what depends on the model.
    pub fn check_model<M: Model>(&self, model: &M) -> Result<()> {
        self.guard_for(model)?;
        if self.warm && model.warm_width() == 0 {
            let allowed = format!("the local steps of a {} have nothing to keep", model.name());
            return Err(Error::config("warm", true, allowed));
        }
        let words = model.judge().and_then(|judge| judge.words(self.population));
        if self.tol_of == Change::Perplexity && words.is_none() {
            let allowed = format!("a {} has no words, and so no perplexity", model.name());
            return Err(Error::config("tol_of", "perplexity", allowed));
        }
        Ok(())
    }

    /// How many times over `n_items` items stand for all.
    pub fn share(&self, n_items: usize) -> f64 {
        self.population as f64 / n_items as f64
    }

    /// Whether items forget their local state before this run's step `t`: with batches now and then, since what
    /// has died in an item cannot come back by itself.
    pub fn is_cold(&self, t: u64) -> bool {
        const EPOCHS: u64 = 10;
        self.warm && self.batch.is_some() && (t - 1).is_multiple_of(EPOCHS * self.epoch)
    }

    /// Whether an epoch ends with this run's step `t`.
    pub fn ends_epoch(&self, t: u64) -> bool {
        t.is_multiple_of(self.epoch)
    }

    /// Whether a climb of so many steps and seconds is over, and why.
    pub fn ends(&self, step: u64, seconds: f64) -> Option<StopReason> {
        if step >= self.steps {
            Some(StopReason::Steps)
        } else {
            self.time.is_some_and(|time| seconds >= time).then_some(StopReason::Time)
        }
    }

    /// The last step that can be noisy, if any.
    pub fn last_noisy_step(&self) -> u64 {
        self.origin + self.anneal.until
    }

    /// Which step of this run is step `t` of all.
    pub fn own_step(&self, t: u64) -> u64 {
        t.saturating_sub(self.origin)
    }

    /// This plan after `origin` steps of an earlier run.
    pub fn after(self, origin: u64) -> Self {
        Plan { origin, steps: self.steps.saturating_add(origin), ..self }
    }
}

impl FitConfig {
    /// Checks every setting against the number of items to fit and fills in the defaults.
    pub fn check(&self, n_items: usize) -> Result<Plan> {
        self.check_sizes(n_items, "items", None)
    }

    /// Checks every setting against the items to fit, which may belong to blocks of their own.
    pub fn check_for<D: Dataset>(&self, data: &D) -> Result<Plan> {
        let (n_items, block) = (data.n_items(), data.largest_block());
        let block = (!data.groups(0).is_empty()).then_some(block);
        let mut plan = self.check_sizes(n_items, D::ITEMS, block)?;
        if block.is_some() && self.law == Law::Lagged && self.effective != Effective::Off {
            let allowed =
                "is for models in which one batch serves all; use gaussian, gamma or subsample";
            return Err(Error::config("law", "lagged", allowed));
        }
        if let (Some(_), Some(population)) = (block, self.population) {
            let allowed = "every row has its own number of items here; leave it out";
            return Err(Error::config("population", population, allowed));
        }
        if let (Some(_), Some(sample @ 1..)) = (block, self.bound_sample) {
            let allowed = "the bound is that of all items here; leave it out";
            return Err(Error::config("bound_sample", sample, allowed));
        }
        plan.block = block.map(|block| self.batch.map_or(block, |batch| batch.min(block)));
        Ok(plan)
    }

    fn check_sizes(&self, n_items: usize, items: &str, block: Option<usize>) -> Result<Plan> {
        if n_items == 0 {
            return Err(Error::data(format!(
                "there are no {items} to fit; is everything held out?"
            )));
        }
        if n_items > u32::MAX as usize {
            let most = u32::MAX;
            return Err(Error::data(format!(
                "there are {n_items} {items}, and {most} is the most"
            )));
        }
        let positive = |field: &str, value: Option<u64>| match value {
            Some(0) => Err(Error::config(field, 0, "must be at least 1")),
            _ => Ok(()),
        };
        positive("steps", self.steps)?;
        positive("checkpoint_every", self.checkpoint_every)?;
        positive("n_init", Some(u64::from(self.n_init)))?;
        if self.threads > MOST_THREADS {
            let allowed = format!("must be at most {MOST_THREADS}; 0 uses all cores");
            return Err(Error::config("threads", self.threads, allowed));
        }
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            return Err(Error::config("tol", self.tol, "must be 0 (off) or a positive number"));
        }
        if self.eval_every == Some(0) && (self.tol > 0.0 || self.n_init > 1) {
            let allowed = "without a bound there is nothing to stop by, and no best start: `tol` must be 0 and \
                           `n_init` 1; or evaluate it every so many steps";
            return Err(Error::config("eval_every", 0, allowed));
        }
        if let Some(time) = self.time.filter(|&t| t.is_nan() || t <= 0.0) {
            return Err(Error::config("time", time, "must be a positive number of seconds"));
        }
        if !(0.0..=1.0).contains(&self.noise_end) {
            let allowed = "must be a fraction of the steps between 0 and 1";
            return Err(Error::config("noise_end", self.noise_end, allowed));
        }
        if let Some(batch) = self.batch {
            positive("batch", Some(batch as u64))?;
            if batch > n_items {
                return Err(Error::config(
                    "batch",
                    batch,
                    format!(
                        "there are only {n_items} {items} to fit; use a smaller batch, or leave it \
                         out to use all {items} in every step (batch VI)"
                    ),
                ));
            }
        }
        if let Some(population) = self.population.filter(|&population| population < n_items) {
            let allowed =
                format!("there are {n_items} {items} to fit already; leave it out, or more");
            return Err(Error::config("population", population, allowed));
        }
        if let Some(problem) = self.effective.problem() {
            return Err(Error::config("effective", self.effective, problem));
        }
        let batch_size = self.batch.unwrap_or(n_items);
        let size = batch_size.min(block.unwrap_or(n_items));
        if let Effective::Constant(m) | Effective::Geometric { from: m, .. } = self.effective
            && m > size as f64
        {
            return Err(Error::config(
                "effective",
                self.effective,
                format!(
                    "must be at most the batch size, {size}; smaller is noisier, and {size} or \
                     leaving it out is no noise at all (plain SVI)"
                ),
            ));
        }
        let noise = self.effective != Effective::Off;
        let step_size = self.step_size.unwrap_or(match (self.batch, noise) {
            (Some(_), _) => StepSize::Power { tau0: 10.0, kappa: 0.75 },
            (None, true) => StepSize::UntilQuiet(0.5),
            (None, false) => StepSize::Constant(1.0),
        });
        if let Some(problem) = step_size.problem() {
            return Err(Error::config("step_size", step_size, problem));
        }
        if matches!(step_size, StepSize::UntilQuiet(_)) && self.batch.is_some() {
            return Err(Error::config(
                "step_size",
                step_size,
                "a step of 1 would forget all other batches; with `batch` use power:10:0.75 or a \
                 constant below 1",
            ));
        }
        let steps = self.steps.unwrap_or(if self.batch.is_some() { 1000 } else { 500 });
        let epoch = n_items.div_ceil(batch_size) as u64;
        Ok(Plan {
            steps,
            tol: self.tol,
            tol_of: self.tol_of,
            time: self.time,
            batch: self.batch,
            sampling: self.sampling,
            anneal: Anneal {
                effective: self.effective,
                law: self.law,
                corrected: self.corrected,
                // A schedule that ends earlier, or has no noise at all, must not delay the
                // stopping rule: M = |S| is plain SVI to the last bit.
                until: ((self.noise_end * steps as f64).ceil() as u64)
                    .min(self.effective.last_noisy_step(size)),
                seed: self.seed,
                restart: 0,
            },
            step_size,
            guard: self.guard,
            warm: self.warm,
            population: self.population.unwrap_or(n_items),
            bound_sample: self.bound_sample,
            block: None,
            origin: 0,
            epoch,
            seed: self.seed,
            n_init: self.n_init,
            eval_every: self.eval_every.unwrap_or(epoch),
            checkpoint_every: self.checkpoint_every,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(config: FitConfig) -> String {
        config.check(100).unwrap_err().to_string()
    }

    #[test]
    fn each_bad_setting_is_named_with_what_is_allowed() {
        let base = FitConfig::default;
        let effective = |m: f64| Effective::Constant(m);
        for (config, expected) in [
            (FitConfig { steps: Some(0), ..base() }, "steps = 0: must be at least 1"),
            (FitConfig { n_init: 0, ..base() }, "n_init = 0: must be at least 1"),
            (FitConfig { tol: -1.0, ..base() }, "tol = -1: must be 0"),
            (FitConfig { tol: f64::NAN, ..base() }, "tol = NaN: must be 0"),
            (FitConfig { time: Some(0.0), ..base() }, "time = 0: must be a positive"),
            (FitConfig { noise_end: 1.5, ..base() }, "noise_end = 1.5: must be a fraction"),
            (FitConfig { batch: Some(0), ..base() }, "batch = 0: must be at least 1"),
            (FitConfig { eval_every: Some(0), ..base() }, "eval_every = 0: without a bound"),
            (
                FitConfig { eval_every: Some(0), tol: 0.0, n_init: 2, ..base() },
                "eval_every = 0: without a bound",
            ),
            (FitConfig { batch: Some(101), ..base() }, "batch = 101: there are only 100 items"),
            (
                FitConfig { batch: Some(20), effective: effective(30.0), ..base() },
                "effective = 30: must be at most the batch size, 20",
            ),
            (FitConfig { effective: effective(-1.0), ..base() }, "effective = -1: the effective"),
            (
                FitConfig { step_size: Some(StepSize::Constant(2.0)), ..base() },
                "step_size = 2: a step size must",
            ),
            (
                FitConfig { step_size: Some(StepSize::UntilQuiet(0.5)), batch: Some(5), ..base() },
                "step_size = 0.5,1: a step of 1 would forget",
            ),
        ] {
            let text = message(config);
            assert!(text.starts_with(expected), "{text}");
        }
        assert!(base().check(0).is_err());
    }

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
}
