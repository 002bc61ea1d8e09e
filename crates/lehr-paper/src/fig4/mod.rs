//! Figure 4: Dirichlet-process mixtures. How many of four clusters do batch VI, SVI and SVI+ find?
//!
//! ```text
//! data.rs      four made clusters
//! settings.rs  what is run on them: priors, methods
//! figures.rs   sorted shares as bars, cumulative shares as boxes, counts
//! claims.rs    what the runs say about the paper's claims
//! ```

mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use lehr::data::Points;
use lehr::fit::State;
use lehr::models::mixture::Mixture;

use lehr::FitConfig;

use crate::quench::{quench, thin};
use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use data::{N_ITEMS, TRUTH};
use settings::{BATCHES, Method, PRIORS, SHARES, TRUNCATION};

/// A component with less of the data than this is not counted as a cluster.
const LEAST: f64 = 0.01;

/// The experiment.
struct Fig4 {
    points: Points,
    /// One for each of [`PRIORS`].
    mixtures: [Mixture; 2],
    /// The true shares, the largest first.
    truth: Vec<f64>,
    /// Starts of every |S| and M; SVI has as many for each M that it is compared with.
    starts: u32,
    /// Passes over the data of the stochastic phase.
    passes: u64,
    /// The most sweeps of a noiseless climb.
    sweeps: u64,
    seed: u64,
}

/// The experiment, with its data made.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Fig4::new(options)?))
}

impl Fig4 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let (points, truth) = data::made(options.seed)?;
        let [narrow, broad] = settings::params(&points);
        Ok(Fig4 {
            mixtures: [Mixture::new(narrow, &points)?, Mixture::new(broad, &points)?],
            points,
            truth,
            starts: options.runs(10, 2),
            passes: if options.quick { 20 } else { 100 },
            sweeps: if options.quick { 200 } else { 2000 },
            seed: options.seed,
        })
    }

    /// Notes how the data are spread over the components: shares from large to small, and the count.
    fn note(&self, mixture: &Mixture, moment: &str, state: &State, record: &mut Record) {
        let table = state.lambda.table();
        let mut shares = vec![0.0; TRUNCATION];
        for row in mixture.responsibilities(table, &self.points).chunks_exact(TRUNCATION) {
            shares.iter_mut().zip(row).for_each(|(s, r)| *s += r / N_ITEMS as f64);
        }
        shares.sort_by(|a, b| b.total_cmp(a));
        record.note(
            &format!("clusters_{moment}"),
            shares.iter().filter(|&&s| s >= LEAST).count() as f64,
        );
        record.note(&format!("first_two_{moment}"), shares[..2].iter().sum());
        record.lists.insert(format!("shares_{moment}"), shares);
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
        let truth: Vec<String> = self.truth.iter().map(|s| format!("{:.1} %", 100.0 * s)).collect();
        vec![
            format!(
                "{N_ITEMS} points in 2 dimensions from {TRUTH} clusters that touch, made from the seed (the \
                 paper gives the number of clusters only); they hold {}.",
                truth.join(", ")
            ),
            format!(
                "Stick-breaking Dirichlet process truncated at {TRUNCATION}, alpha = 1, which favours few \
                 clusters; independent q(mu) q(Lambda); starts at {TRUNCATION} random items. The paper does \
                 not give the prior of a cluster's shape, and it decides how many clusters there seem to be, \
                 so there are two: **narrow** is the library's own (W0^-1 the data's covariance over \
                 {TRUNCATION}, nu0 = 4), **broad** is W0^-1 = the data's covariance (scikit-learn's), nu0 = 4."
            ),
            format!(
                "|S| = {BATCHES:?}, M = {SHARES:?} of |S|; SVI: the same |S|, so that every run of SVI+ has one of SVI \
                 with the same start."
            ),
            format!(
                "SVI and SVI+ see the data {} times with rho_t = (10 + t)^-0.75 (the library's) and are noisy \
                 to the last step. Then, as a control, batch VI finishes them until a sweep changes the \
                 bound by less than 1e-8 of it (at most {} sweeps). A cluster is a component that holds at \
                 least {:.0} % of the data, by the sum of their responsibilities. Guard: `reject`.",
                self.passes,
                self.sweeps,
                100.0 * LEAST
            ),
        ]
    }

    fn starts(&self) -> String {
        let runs = (BATCHES.len() * SHARES.len()) as u32 * self.starts;
        format!(
            "{} starts of every |S| and M: {runs} runs of SVI+ with each prior. SVI: {} starts of every |S|. \
             Batch VI: {} starts.",
            self.starts,
            self.starts_of(Method::Svi { batch: BATCHES[0] }).len(),
            self.starts_of(Method::Batch).len(),
        )
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for method in Method::all() {
            // Most of a step is work for all components, whatever |S|.
            let cost = self.noisy(method, 0).and_then(|config| config.steps).unwrap_or(0) + 1000;
            for setting in PRIORS {
                jobs.extend(self.starts_of(method).map(|start| Job {
                    setting: setting.into(),
                    method: method.name(),
                    start,
                    cost: cost as f64,
                }));
            }
        }
        jobs
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let method = Method::all().into_iter().find(|m| m.name() == job.method);
        let prior = PRIORS.iter().position(|prior| *prior == job.setting);
        let Some((method, prior)) = method.zip(prior) else {
            anyhow::bail!("there is no run {}, {}", job.setting, job.method);
        };
        let mixture = &self.mixtures[prior];
        let fit = |config: FitConfig| lehr::fit(mixture, &self.points).config(config);
        let mut record = Record::of(job);
        let quiet = self.quiet(job.start);
        let config = self.noisy(method, job.start);
        let noisy = config.is_some();
        let config = config.unwrap_or_else(|| quiet.clone());
        let Some(found) = observe(fit(config), stop, &mut record)? else { return Ok(None) };
        // Batch VI has no noise that could end: it is the same before and after.
        self.note(mixture, "before", &found.state, &mut record);
        record.note("bound_before", found.outcome.bound);
        record.note("guard_share", found.state.guard_share());
        let state = if noisy {
            match quench(fit(quiet), found.state, stop, &mut record)? {
                Some(state) => state,
                None => return Ok(None),
            }
        } else {
            found.state
        };
        self.note(mixture, "after", &state, &mut record);
        record.note("bound_after", record.end.get("bound").copied().unwrap_or(f64::NAN));
        record.note("passes", state.items as f64 / N_ITEMS as f64);
        thin(&mut record);
        Ok(Some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(self, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(self, records)
    }
}
