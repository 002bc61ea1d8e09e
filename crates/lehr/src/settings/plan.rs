//! From what a user writes to what the loop runs: every setting checked against data and model, every default
//! filled in.

use super::{FitConfig, Holdout, Kick, Search, SearchBy, either};
use crate::error::{Advice, Part, advice, setting};
use crate::fit::stop::{Change, StopReason};
use crate::model::{Dataset, Model, guards_of};
use crate::step::anneal::{Anneal, Law};
use crate::step::guard::Guard;
use crate::step::sample::Sampling;
use crate::step::schedule::{Effective, StepSize, Temper};
use crate::{Error, Result, engine};

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
    /// How often items count at first, and the last step in which they do not count once.
    temper: (Temper, u64),
    /// rho.
    pub step_size: StepSize,
    /// The guard, if not the model's own; see [`Plan::guard_for`].
    guard: Option<Guard>,
    /// Whether items keep local state.
    pub warm: bool,
    /// Epochs in which they do not yet.
    warm_after: u64,
    /// N.
    pub population: usize,
    /// How many items the bound is estimated from, if not the model's own number; 0 is all.
    pub bound_sample: Option<usize>,
    /// The largest |S|, where every row is its own block.
    pub block: Option<usize>,
    /// Steps that earlier runs made on other data: step sizes go on from there, batches and noise
    /// start again.
    pub origin: u64,
    /// Steps in an epoch.
    epoch: u64,
    /// The seed.
    pub seed: u64,
    /// How many starts.
    pub n_init: u32,
    /// The search from where each of them ends, if any.
    pub search: Option<Search>,
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
        if let Some(search) = self.search
            && model.kicks().is_none()
            && !search.kicks.contains(Kick::Restart)
        {
            let allowed = format!("the only kick of a {} is restart", model.name());
            return Err(Error::config("kicks", search.kicks, allowed));
        }
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

    /// Whether items forget their local state before this run's step `t`: in the first epochs always, since what they
    /// found while topics were random would hold them; with batches now and then later on, since what has died in an
    /// item cannot come back by itself.
    pub fn is_cold(&self, t: u64) -> bool {
        const EPOCHS: u64 = 10;
        let now_and_then = self.batch.is_some() && (t - 1).is_multiple_of(EPOCHS * self.epoch);
        self.warm && (now_and_then || t <= self.warm_after.saturating_mul(self.epoch))
    }

    /// Whether an epoch ends with this run's step `t`.
    pub fn ends_epoch(&self, t: u64) -> bool {
        t.is_multiple_of(self.epoch)
    }

    /// Whether a run of this many steps and seconds is over, and why.
    pub fn ends(&self, step: u64, seconds: f64) -> Option<StopReason> {
        if step >= self.steps {
            Some(StopReason::Steps)
        } else {
            self.time.is_some_and(|time| seconds >= time).then_some(StopReason::Time)
        }
    }

    /// The last step that can be noisy or tempered, if any: before it a bound that does not change says nothing.
    pub fn last_unsettled_step(&self) -> u64 {
        self.origin + self.anneal.until.max(self.temper.1)
    }

    /// How many times every item counts in step `t` of all.
    pub fn times(&self, t: u64) -> f64 {
        let (temper, until) = self.temper;
        temper.at(self.own_step(t).max(1), until)
    }

    /// Which step of this run is step `t` of all.
    pub fn own_step(&self, t: u64) -> u64 {
        t.saturating_sub(self.origin)
    }

    /// Batch VI until the caller ends it, from step `origin` on: how a search improves a state.
    pub(crate) fn ascending(&self, origin: u64) -> Self {
        Plan {
            steps: u64::MAX,
            tol: 0.0,
            batch: None,
            anneal: Anneal { until: 0, effective: Effective::Off, ..self.anneal },
            temper: (Temper::Off, 0),
            step_size: StepSize::Constant(1.0),
            warm: false,
            origin,
            epoch: 1,
            n_init: 1,
            search: None,
            eval_every: 1,
            ..self.clone()
        }
    }

    /// The same with noise for this many steps, whose variance fades from `variance`, and steps of one half.
    pub(crate) fn shaken(self, variance: f64, steps: u64) -> Self {
        let effective = Effective::Fading { variance, steps };
        let anneal = Anneal { effective, until: steps, ..self.anneal };
        Plan { anneal, step_size: StepSize::Constant(0.5), ..self }
    }

    /// The same with a tempered start: items count one half at first, and once after this many steps.
    pub(crate) fn tempered(self, steps: u64) -> Self {
        Plan { temper: (Temper::From { times: 0.5, over: steps as f64 }, steps), ..self }
    }

    /// This plan after `origin` steps of an earlier run.
    pub fn after(self, origin: u64) -> Self {
        Plan { origin, steps: self.steps.saturating_add(origin), ..self }
    }
}

/// The items that a configuration is checked against.
struct Sizes<'a> {
    n_items: usize,
    /// What they are called.
    items: &'a str,
    /// The most items of a row, where every row has its own batch.
    block: Option<usize>,
}

impl FitConfig {
    /// Checks every setting against the number of items to fit and fills in the defaults.
    pub fn check(&self, n_items: usize) -> Result<Plan> {
        self.check_sizes(&Sizes { n_items, items: "items", block: None })
    }

    /// Checks every setting against a model and the items to fit, and fills in the defaults: the model's own
    /// first.
    pub fn check_for<M: Model>(&self, model: &M, data: &M::Data) -> Result<Plan> {
        self.with_defaults_of(model).check_as_it_is(model, data)
    }

    /// This configuration with the model's own defaults for what is left out. A run records it like this, so
    /// that it goes on in the same way when defaults change.
    pub fn with_defaults_of<M: Model>(&self, model: &M) -> FitConfig {
        let mut config = self.clone();
        if config.effective == Effective::Auto && config.search.is_none() {
            config.search = Some(Search::USUAL);
        }
        model.fit_defaults(&mut config);
        config
    }

    /// The search that it asks for, if any.
    fn searched(&self) -> Option<Search> {
        let usual = if self.effective == Effective::Auto { Search::USUAL } else { 0.0 };
        let times = self.search.unwrap_or(usual);
        let kicks = self.kicks.unwrap_or_default();
        (times > 0.0).then_some(Search { times, kicks, by: self.search_by })
    }

    /// The same where the items are elsewhere, and only their sizes are known.
    pub(crate) fn check_on<M: Model>(&self, model: &M, sizes: &engine::Sizes) -> Result<Plan> {
        let rows = sizes.groups.iter().flat_map(|groups| groups.windows(2));
        let block = rows.map(|pair| pair[1] - pair[0]).max();
        let sizes = Sizes { n_items: sizes.n_items, items: M::Data::ITEMS, block };
        self.with_defaults_of(model).check_against(model, &sizes)
    }

    /// Checks the configuration of a run, which has the model's defaults already.
    pub(crate) fn check_as_it_is<M: Model>(&self, model: &M, data: &M::Data) -> Result<Plan> {
        let has_blocks = !data.groups(0).is_empty();
        let block = has_blocks.then(|| data.largest_block());
        let sizes = Sizes { n_items: data.n_items(), items: M::Data::ITEMS, block };
        self.check_against(model, &sizes)
    }

    fn check_against<M: Model>(&self, model: &M, sizes: &Sizes<'_>) -> Result<Plan> {
        let mut plan = self.check_sizes(sizes)?;
        if let Some(block) = sizes.block {
            self.check_blocks()?;
            plan.block = Some(self.batch.map_or(block, |batch| batch.min(block)));
        }
        plan.check_model(model)?;
        Ok(plan)
    }

    fn check_sizes(&self, sizes: &Sizes<'_>) -> Result<Plan> {
        sizes.check()?;
        self.check_counts()?;
        self.check_end()?;
        self.check_batch(sizes)?;
        self.check_effective(sizes)?;
        self.check_search()?;
        Ok(self.plan(sizes, self.checked_step_size()?))
    }

    /// What is asked for and changes nothing, as far as that can be known from the settings alone.
    pub fn idle(&self) -> Vec<Advice> {
        let usual = FitConfig::default();
        let has_noise = !self.effective.is_off() || self.searched().is_some();
        let noise = ("there is no noise: ask for it with ", setting("effective"));
        let batches = ("all items are in every step: ask for batches with ", setting("batch"));
        let idle = [
            ("law", self.law != usual.law && !has_noise, self.law.to_string(), &noise),
            ("corrected", !self.corrected && !has_noise, "false".into(), &noise),
            (
                "sampling",
                self.sampling != usual.sampling && self.batch.is_none(),
                self.sampling.to_string(),
                &batches,
            ),
            (
                "bound_sample",
                self.bound_sample.unwrap_or(0) > 0 && self.batch.is_none(),
                self.bound_sample.unwrap_or(0).to_string(),
                &batches,
            ),
        ];
        let note = |(name, _, value, (why, remedy)): (&str, bool, String, &(&str, Part))| {
            advice![setting(name).to(value), " changes nothing, since ", *why, remedy.clone()]
        };
        idle.into_iter().filter(|(_, is_idle, ..)| *is_idle).map(note).collect()
    }

    /// What is allowed, and may not do what one expects.
    pub fn doubts(&self) -> Vec<Advice> {
        let mut doubts = Vec::new();
        if let Some(slow @ StepSize::Power { kappa, .. }) =
            self.step_size.filter(|_| self.batch.is_some())
            && kappa <= 0.5
        {
            doubts.push(advice![
                setting("step_size").to(slow.to_string()),
                " falls so slowly that the noise of batches never dies out: SVI converges for exponents above 0.5, \
                 of which 0.75 is usual"
            ]);
        }
        doubts
    }

    /// What cannot be where every row has its own batch.
    fn check_blocks(&self) -> Result<()> {
        if !self.law.works_in_blocks() && !self.effective.is_off() {
            let others: Vec<&Law> = Law::ALL.iter().filter(|law| law.works_in_blocks()).collect();
            let others: Vec<&str> = others.into_iter().map(|law| law.name()).collect();
            let allowed = "is for models in which one batch serves all; use ".to_string();
            return Err(Error::config("law", self.law, allowed + &either(&others)));
        }
        if let Some(population) = self.population {
            let allowed = "every row has its own number of items here; leave it out";
            return Err(Error::config("population", population, allowed));
        }
        if let Some(search) = self.searched() {
            let allowed = "a matrix factorisation ends at the same place from every start, so that there is nothing \
                           to find; leave it out";
            return Err(Error::config("search", search.times, allowed));
        }
        if let Some(temper @ Temper::From { .. }) = self.temper {
            let allowed = "is for mixtures and topic models, which have one N; leave it out";
            return Err(Error::config("temper", temper, allowed));
        }
        if let Some(sample @ 1..) = self.bound_sample {
            let allowed = "the bound is that of all items here; leave it out";
            return Err(Error::config("bound_sample", sample, allowed));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<()> {
        let counts = [
            ("checkpoint_every", self.checkpoint_every),
            ("n_init", Some(u64::from(self.n_init))),
            ("batch", self.batch.map(|batch| batch as u64)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|&(_, count)| count == Some(0)) {
            return Err(Error::config(name, 0, "must be at least 1"));
        }
        Ok(())
    }

    fn check_end(&self) -> Result<()> {
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            return Err(Error::config("tol", self.tol, "must be 0 (off) or a positive number"));
        }
        if self.eval_every == Some(0) && (self.tol > 0.0 || self.n_init > 1) {
            let allowed = advice![
                "without a bound there is nothing to stop by, and no best start: ",
                setting("tol"),
                " must be 0 and ",
                setting("n_init"),
                " 1; or evaluate it every N steps",
            ];
            return Err(Error::config("eval_every", 0, allowed));
        }
        if let Some(time) = self.time.filter(|&t| t.is_nan() || t <= 0.0) {
            return Err(Error::config("time", time, "must be a positive number of seconds"));
        }
        if !(0.0..=1.0).contains(&self.noise_end) {
            let allowed = "must be a fraction of the steps between 0 and 1";
            return Err(Error::config("noise_end", self.noise_end, allowed));
        }
        if let Some((temper, problem)) = self.temper.and_then(|t| Some((t, t.problem()?))) {
            return Err(Error::config("temper", temper, problem));
        }
        Ok(())
    }

    fn check_batch(&self, &Sizes { n_items, items, .. }: &Sizes<'_>) -> Result<()> {
        if let Some(batch) = self.batch.filter(|&batch| batch > n_items) {
            let allowed = format!(
                "there are only {n_items} {items} to fit; use a smaller batch, or leave it out to use \
                 all {items} in every step (batch VI)"
            );
            return Err(Error::config("batch", batch, allowed));
        }
        if let Some(population) = self.population.filter(|&population| population < n_items) {
            let allowed =
                format!("there are {n_items} {items} to fit already; leave it out, or more");
            return Err(Error::config("population", population, allowed));
        }
        Ok(())
    }

    fn check_search(&self) -> Result<()> {
        if let Some(times) = self.search
            && times != 0.0
            && !(1.0..=Search::MOST).contains(&times)
        {
            let allowed = format!(
                "must be 0 (off) or between 1 and {}: how many times the passes of the plain fit, that one included; \
                 4 is usual",
                Search::MOST
            );
            return Err(Error::config("search", times, allowed));
        }
        let Some(search) = self.searched() else {
            let of_search = [
                ("kicks", self.kicks.map(|kicks| kicks.to_string())),
                (
                    "search_by",
                    (self.search_by != SearchBy::Bound).then(|| self.search_by.to_string()),
                ),
            ];
            for (name, value) in of_search {
                if let Some(value) = value {
                    let allowed =
                        advice!["is for a search; ask for one with ", setting("search").to(4)];
                    return Err(Error::config(name, value, allowed));
                }
            }
            if self.effective == Effective::Auto {
                let allowed =
                    advice!["is a search, and ", setting("search").to(0), " turns that off"];
                return Err(Error::config("effective", self.effective, allowed));
            }
            return Ok(());
        };
        if search.by == SearchBy::Heldout && self.holdout == Holdout::default() {
            let allowed = advice![
                "needs items to be judged by; hold some out with ",
                setting("holdout").to(0.1)
            ];
            return Err(Error::config("search_by", search.by, allowed));
        }
        if self.eval_every == Some(0) {
            let allowed = "a search goes by the bound; leave it out, or evaluate it every N steps";
            return Err(Error::config("eval_every", 0, allowed));
        }
        Ok(())
    }

    fn check_effective(&self, sizes: &Sizes<'_>) -> Result<()> {
        if let Some(problem) = self.effective.problem() {
            return Err(Error::config("effective", self.effective, problem));
        }
        let size = sizes.noisy_batch(self.batch);
        if let Effective::Constant(m) | Effective::Geometric { from: m, .. } = self.effective
            && m > size as f64
        {
            let allowed = format!(
                "must be at most the batch size, {size}; smaller is noisier, and {size} or leaving it \
                 out is no noise at all (plain SVI)"
            );
            return Err(Error::config("effective", self.effective, allowed));
        }
        Ok(())
    }

    /// The step size: as asked for, or what suits the batches and the noise.
    fn checked_step_size(&self) -> Result<StepSize> {
        let noise = !self.effective.is_off();
        let step_size = self.step_size.unwrap_or(match (self.batch, noise) {
            (Some(_), _) => StepSize::Power { tau0: 10.0, kappa: 0.75 },
            (None, true) => StepSize::UntilQuiet(0.5),
            (None, false) => StepSize::Constant(1.0),
        });
        if let Some(problem) = step_size.problem() {
            return Err(Error::config("step_size", step_size, problem));
        }
        if matches!(step_size, StepSize::UntilQuiet(_)) && self.batch.is_some() {
            let allowed = advice![
                "a step of 1 would forget all other batches; with ",
                setting("batch"),
                " use power:10:0.75 or a constant below 1",
            ];
            return Err(Error::config("step_size", step_size, allowed));
        }
        Ok(step_size)
    }

    fn plan(&self, sizes: &Sizes<'_>, step_size: StepSize) -> Plan {
        let steps = self.steps.unwrap_or(if self.batch.is_some() { 1000 } else { 500 });
        let epoch = sizes.n_items.div_ceil(self.batch.unwrap_or(sizes.n_items)) as u64;
        let temper = self.temper.unwrap_or_default();
        Plan {
            steps,
            tol: self.tol,
            tol_of: self.tol_of,
            time: self.time,
            batch: self.batch,
            sampling: self.sampling,
            anneal: self.anneal(steps, sizes.noisy_batch(self.batch)),
            temper: (temper, temper.until(steps)),
            step_size,
            guard: self.guard,
            warm: self.warm,
            warm_after: self.warm_after.unwrap_or(0),
            population: self.population.unwrap_or(sizes.n_items),
            bound_sample: self.bound_sample,
            block: None,
            origin: 0,
            epoch,
            seed: self.seed,
            n_init: self.n_init,
            search: self.searched(),
            eval_every: self.eval_every.unwrap_or(epoch),
            checkpoint_every: self.checkpoint_every,
        }
    }

    fn anneal(&self, steps: u64, size: usize) -> Anneal {
        let ends = (self.noise_end * steps as f64).ceil() as u64;
        Anneal {
            effective: self.effective,
            law: self.law,
            corrected: self.corrected,
            // A schedule that ends earlier, or has no noise at all, must not delay the stopping rule:
            // M = |S| is plain SVI to the last bit.
            until: ends.min(self.effective.last_noisy_step(size)),
            seed: self.seed,
            restart: 0,
        }
    }
}

impl Sizes<'_> {
    fn check(&self) -> Result<()> {
        let Sizes { n_items, items, .. } = *self;
        if n_items == 0 {
            let message = format!("there are no {items} to fit; is everything held out?");
            return Err(Error::data(message));
        }
        if n_items > u32::MAX as usize {
            let most = u32::MAX;
            return Err(Error::data(format!(
                "there are {n_items} {items}, and {most} is the most"
            )));
        }
        Ok(())
    }

    /// The most items whose noise M is compared with.
    fn noisy_batch(&self, batch: Option<usize>) -> usize {
        batch.unwrap_or(self.n_items).min(self.block.unwrap_or(self.n_items))
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
    fn settings_that_change_nothing_are_told() {
        let base = FitConfig::default;
        let notes =
            |config: FitConfig| config.idle().iter().map(Advice::to_string).collect::<Vec<_>>();
        assert!(notes(base()).is_empty());
        let idle = FitConfig {
            law: Law::Gamma,
            sampling: Sampling::WithReplacement,
            bound_sample: Some(10),
            ..base()
        };
        let told = notes(idle.clone());
        let law =
            "`law = gamma` changes nothing, since there is no noise: ask for it with `effective`";
        assert_eq!((told.len(), told[0].as_str()), (3, law));
        assert!(
            told[1].contains("sampling") && told[2].contains("`bound_sample = 10`"),
            "{told:?}"
        );
        assert!(idle.doubts().is_empty());
        let slow = |kappa| {
            let step_size = Some(StepSize::Power { tau0: 10.0, kappa });
            FitConfig { batch: Some(10), step_size, ..base() }.doubts()
        };
        assert!(slow(0.51).is_empty());
        let told = slow(0.5)[0].to_string();
        assert!(told.starts_with("`step_size = power:10:0.5` falls so slowly"), "{told}");
        assert!(
            FitConfig {
                batch: None,
                step_size: Some(StepSize::Power { tau0: 10.0, kappa: 0.3 }),
                ..base()
            }
            .doubts()
            .is_empty()
        );
        let busy = FitConfig { batch: Some(10), effective: Effective::Constant(5.0), ..idle };
        assert!(notes(busy).is_empty());
    }
}
