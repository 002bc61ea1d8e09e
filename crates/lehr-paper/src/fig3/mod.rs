//! Figure 3: Gaussian mixtures. Does SVI+ find better local optima than SVI, batch VI and restarts?
//!
//! ```text
//! data.rs      synthetic clusters, and Pima
//! settings.rs  what is run on them: methods
//! figures.rs   bound against passes, final bounds as boxes, a map of the best fit
//! claims.rs    what the runs say about the paper's claims
//! ```

pub(super) mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use lehr::FitConfig;

use crate::quench::{quench, thin};
use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use data::Set;
use settings::{CONTROL, M_0, Method, NOISY_SWEEPS, TOL};

/// The experiment.
struct Fig3 {
    sets: Vec<Set>,
    starts: u32,
    /// How many times as many starts batch VI has.
    restarts: u32,
    /// Passes over the data of the stochastic phase.
    passes: u64,
    /// The most sweeps of a noiseless run.
    sweeps: u64,
    seed: u64,
}

/// The experiment, with its data made and read.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Fig3::new(options)?))
}

impl Fig3 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        Ok(Fig3 {
            sets: data::sets(options.seed)?,
            starts: options.runs(40, 4),
            restarts: if options.quick { 3 } else { 10 },
            passes: if options.quick { 40 } else { 200 },
            sweeps: if options.quick { 300 } else { 2000 },
            seed: options.seed,
        })
    }
}

impl Experiment for Fig3 {
    fn name(&self) -> &'static str {
        "fig3"
    }

    fn title(&self) -> String {
        "Figure 3: Gaussian mixtures".into()
    }

    fn about(&self) -> Vec<String> {
        let sets: Vec<&str> = self.sets.iter().map(|set| set.about.as_str()).collect();
        let noisy = NOISY_SWEEPS.min(self.passes);
        vec![
            format!("{}.", sets.join(". ")),
            "Independent q(pi) q(mu) q(Lambda) as in the paper; the library's own priors (a0 = 1/K, W0^-1 \
             the data's covariance over K^(2/d), nu0 = d + 2) and units; starts at K random items."
                .into(),
            format!(
                "SVI and SVI+ see the data {} times, in batches \
                 drawn by epochs, with the library's step sizes for batches, rho_t = (10 + t)^-0.75, and \
                 noise to the last of these steps: **before the quench** is the bound there. Then batch VI \
                 goes on until a sweep changes the bound by less than {TOL:e} of it (at most {} sweeps): \
                 **after the quench**. Batch VI from the start is compared after as many passes, and where \
                 it ends by the same rule.",
                self.passes, self.sweeps
            ),
            format!(
                "Guard: `reject` (a component whose parameters noise would make invalid takes its \
                 noiseless step), and `{CONTROL}` as a control. Larger steps, as a control: rho_t = \
                 (1 + t)^-0.6. Annealed full batch: rho = 0.5, M growing \
                 geometrically from {M_0:?} to N over {noisy} sweeps, then batch VI. Restarts: batch VI \
                 from further starts, in groups as large as what SVI+ takes is worth, with the quench; \
                 the best of a group counts. Exact covariance: SVI+ whose noise has the covariance of all items' \
                 statistics (`--law exact`), the paper's xi before its approximation."
            ),
        ]
    }

    fn starts(&self) -> String {
        format!(
            "{} starts, the same for every method; with the further ones of batch VI {}.",
            self.starts,
            self.starts * self.restarts
        )
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for set in &self.sets {
            for method in self.methods(set) {
                let starts = match method {
                    Method::MoreBatch => self.starts..self.starts * self.restarts,
                    _ => 0..self.starts,
                };
                let batches =
                    !matches!(method, Method::Batch | Method::MoreBatch | Method::Annealed { .. });
                let cost = (set.points.n_items() * if batches { 2 } else { 1 }) as f64;
                jobs.extend(starts.map(|start| Job {
                    setting: set.name.into(),
                    method: method.name(),
                    start,
                    cost,
                }));
            }
        }
        jobs
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let found = self.sets.iter().find_map(|set| {
            let method = self.methods(set).into_iter().find(|m| m.name() == job.method)?;
            (set.name == job.setting).then_some((set, method))
        });
        let Some((set, method)) = found else {
            anyhow::bail!("there is no run {}, {}", job.setting, job.method);
        };
        let fit = |config: FitConfig| lehr::fit(&set.mixture, &set.points).config(config);
        let n_items = set.points.n_items() as u64;
        let mut record = Record::of(job);
        let quiet = self.quiet(job.start);
        let (before, state) = match self.noisy(set, method, job.start) {
            None => {
                let Some(found) = observe(fit(quiet), stop, &mut record)? else {
                    return Ok(None);
                };
                // Where it stood when the others' noise ended.
                let seen = record.curve.iter().rev().find(|p| p.items <= self.passes * n_items);
                (seen.and_then(|p| p.values.get("bound").copied()), found.state)
            }
            Some(noisy) => {
                let Some(found) = observe(fit(noisy), stop, &mut record)? else {
                    return Ok(None);
                };
                let share = found.state.guard_share();
                record.note("guard_share", share);
                let before = found.outcome.bound;
                let Some(state) = quench(fit(quiet), found.state, stop, &mut record)? else {
                    return Ok(None);
                };
                (Some(before), state)
            }
        };
        record.note("before", before.unwrap_or(f64::NAN));
        record.note("after", record.end.get("bound").copied().unwrap_or(f64::NAN));
        record.note("passes", state.items as f64 / n_items as f64);
        let components = set.mixture.components(state.lambda.table());
        let held = components.iter().filter(|c| c.size >= 1.0);
        record.note("components", held.clone().count() as f64);
        if set.points.n_dims() == 2 {
            // For the map: centre and covariance of each.
            let numbers = held.flat_map(|c| c.mean.iter().chain(&c.covariance).copied());
            record.lists.insert("ellipses".into(), numbers.collect());
        }
        if method == Method::MoreBatch {
            record.curve.clear();
        }
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
