//! Figure 4: Dirichlet-process mixtures. How many of four clusters do batch VI, SVI and SVI+ find?
//!
//! ```text
//! data.rs      three synthetic sets of four clusters
//! settings.rs  what is run on them: processes, priors, step sizes, methods
//! figures.rs   how often there are four, sorted shares, cumulative shares as boxes
//! claims.rs    what the runs say about the paper's claims
//! ```

mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::State;
use lehr::models::mixture::Mixture;

use crate::quench::{quench, thin};
use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use data::{N_ITEMS, SETS, TRUTH};
use settings::{
    BATCHES, Method, PRIORS, PROCESSES, RHOS, SEARCH, SHARES, Setting, TRUNCATION, rho_name,
};

/// A component with less of the data than this is not counted as a cluster.
const LEAST: f64 = 0.01;

/// The experiment.
struct Fig4 {
    /// One for each of [`SETS`].
    points: Vec<Points>,
    /// The true shares in each of them, the largest first.
    truths: Vec<Vec<f64>>,
    /// One for each of [`Setting::all`].
    mixtures: Vec<Mixture>,
    /// Starts of every method.
    starts: u32,
    /// Passes over the data of the stochastic phase.
    passes: u64,
    /// The most sweeps of a noiseless run.
    sweeps: u64,
    seed: u64,
}

/// The experiment, with its data made.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Fig4::new(options)?))
}

impl Fig4 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let (mut points, mut truths) = (Vec::new(), Vec::new());
        for set in 0..SETS.len() {
            let (made, truth) = data::made(set, options.seed)?;
            points.push(made);
            truths.push(truth);
        }
        let of = |s: &Setting| Mixture::new(s.params(&points[s.set]), &points[s.set]);
        let mixtures = Setting::all().iter().map(of).collect::<lehr::Result<_>>()?;
        Ok(Fig4 {
            mixtures,
            points,
            truths,
            starts: options.runs(15, 2),
            passes: if options.quick { 20 } else { 100 },
            sweeps: if options.quick { 200 } else { 2000 },
            seed: options.seed,
        })
    }

    /// Notes how the data are spread over the components: shares from large to small, and the count.
    fn note(&self, place: usize, moment: &str, state: &State, record: &mut Record) {
        let table = state.lambda.table();
        let mut shares = vec![0.0; TRUNCATION];
        let points = &self.points[Setting::all()[place].set];
        for row in self.mixtures[place].responsibilities(table, points).chunks_exact(TRUNCATION) {
            shares.iter_mut().zip(row).for_each(|(s, r)| *s += r / N_ITEMS as f64);
        }
        shares.sort_by(|a, b| b.total_cmp(a));
        record.note(
            &format!("clusters_{moment}"),
            shares.iter().filter(|&&s| s >= LEAST).count() as f64,
        );
        record.note(&format!("first_two_{moment}"), shares[..2].iter().sum());
        if moment == "before" {
            // What the figures draw of them.
            shares.truncate(figures::DRAWN);
            let rounded = shares.iter().map(|share| (1e5 * share).round() / 1e5);
            record.lists.insert("shares".into(), rounded.collect());
        }
    }
}

impl Experiment for Fig4 {
    fn name(&self) -> &'static str {
        "fig4"
    }

    fn title(&self) -> String {
        "Figure 4: Dirichlet-process mixtures".into()
    }

    fn about(&self) -> Vec<String> {
        vec![
            format!(
                "{N_ITEMS} points from {TRUTH} clusters, made from the seed (the paper gives the number of clusters \
                 only), in three sets. {}.",
                data::ABOUT
            ),
            format!(
                "\"An approximate DP with {TRUNCATION} clusters and a sparsity-inducing prior\" can be two things: \
                 **sticks**, a stick-breaking process truncated at {TRUNCATION} with alpha = 1, and a **sparse \
                 Dirichlet** distribution over {TRUNCATION} weights with a0 = 1/{TRUNCATION} each. Independent q(mu) \
                 q(Lambda); starts at {TRUNCATION} random items. Nor does the paper give the prior of a cluster's \
                 shape, which decides how many clusters there seem to be: **narrow** is W0^-1 = the data's covariance \
                 over {TRUNCATION}^(2/d), **broad** is W0^-1 = the data's covariance (scikit-learn's); nu0 = d + 2."
            ),
            format!(
                "|S| = {BATCHES:?}: every |S| has a fifth of the starts, the same for all methods. M = {SHARES:?} of |S|. The \
                 paper does not give its step size; there are four: {}.",
                (0..RHOS.len()).map(rho_name).collect::<Vec<_>>().join(", ")
            ),
            format!(
                "SVI and SVI+ see the data {} times and are noisy to the last step: **before the quench** is what they \
                 have then, and what the paper speaks of. Then, as a control, batch VI finishes them until a sweep \
                 changes the bound by less than 1e-8 of it (at most {} sweeps). `batch VI` is that from the start; \
                 `search` is the library's `--search {SEARCH}`, which may take {SEARCH} times the passes of batch VI. A \
                 cluster is a component that holds at least {:.0} % of the data, by the sum of their responsibilities. \
                 Guard: `reject`. Noise variance: with the factor |S|/(|S|-1).",
                self.passes,
                self.sweeps,
                100.0 * LEAST
            ),
            format!(
                "`exact covariance`: SVI+ whose noise has the covariance of all items' statistics (`--law exact`), the \
                 paper's xi before its approximation; on *{}*, {}, with M = {} |S|.",
                SETS[0], PROCESSES[0], SHARES[0]
            ),
        ]
    }

    fn starts(&self) -> String {
        let runs = SHARES.len() as u32 * self.starts;
        format!(
            "{} starts: with each step size, data set, process and prior {runs} runs of SVI+, {} of SVI; {} of batch VI.",
            self.starts, self.starts, self.starts
        )
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for setting in Setting::all() {
            for method in Method::of(setting) {
                jobs.extend(self.all_starts().map(|start| {
                    let (config, finishes) = self.first(method, start);
                    // Most of a step is work for all components, whatever |S|; a sweep is about four of them.
                    let steps = if finishes { config.steps.unwrap_or(0) } else { 0 } as f64;
                    let cost = match method {
                        Method::Search => 1000.0 * SEARCH,
                        Method::Exact { .. } => 4.0 * steps + 1000.0,
                        _ => steps + 1000.0,
                    };
                    Job { setting: setting.name(), method: method.name(), start, cost }
                }));
            }
        }
        jobs
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let settings = Setting::all();
        let place = settings.iter().position(|setting| setting.name() == job.setting);
        let method = place.and_then(|place| {
            Method::of(settings[place]).into_iter().find(|method| method.name() == job.method)
        });
        let Some((place, method)) = place.zip(method) else {
            anyhow::bail!("there is no run {}, {}", job.setting, job.method);
        };
        let (mixture, points) = (&self.mixtures[place], &self.points[settings[place].set]);
        let fit = |config: FitConfig| lehr::fit(mixture, points).config(config);
        let mut record = Record::of(job);
        let (config, finishes) = self.first(method, job.start);
        let Some(found) = observe(fit(config), stop, &mut record)? else { return Ok(None) };
        // Without noise that could end it is the same before and after.
        self.note(place, "before", &found.state, &mut record);
        record.note("bound_before", found.outcome.bound);
        record.note("bound", found.outcome.bound);
        record.note("guard_share", found.state.guard_share());
        let state = if finishes {
            match quench(fit(self.quiet(job.start)), found.state, stop, &mut record)? {
                Some(state) => state,
                None => return Ok(None),
            }
        } else {
            found.state
        };
        self.note(place, "after", &state, &mut record);
        record.note("bound_after", record.end.get("bound").copied().unwrap_or(f64::NAN));
        record.note("passes", state.items as f64 / N_ITEMS as f64);
        record.note("batch", Fig4::batch_of(job.start) as f64);
        thin(&mut record);
        // No figure draws it.
        record.curve.clear();
        Ok(Some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(self, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(self, records)
    }
}
