//! Figure 3: Gaussian mixtures. Does SVI+ find better local optima than SVI, batch VI and restarts?

mod claims;
pub(super) mod data;
mod figures;
#[cfg(test)]
mod tests;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::Problem;
use lehr::models::mixture::{Factorisation, Mixture, MixtureParams, Start};
use lehr::step::schedule::{Effective, StepSize};
use lehr::step::update::Guard;

use super::quench::{quench, thin};
use super::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};

/// Sweeps over which the annealed full batch is noisy.
const NOISY_SWEEPS: u64 = 150;
/// Where the annealed full batch begins.
const M_0: [usize; 3] = [3, 10, 30];
/// Batch VI ends when a sweep changes the bound by less than this share; so does every quench.
const TOL: f64 = 1e-8;
/// The other step sizes.
const LARGER_STEPS: StepSize = StepSize::Power { tau0: 1.0, kappa: 0.6 };
/// The other guard.
const CONTROL: Guard = Guard::RejectBelowPrior;

/// One data set and the paper's settings for it.
struct Set {
    /// Its name in figures and records.
    name: &'static str,
    points: Points,
    mixture: Mixture,
    batch: usize,
    effective: &'static [usize],
    /// What it is.
    about: String,
}

/// One way to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Batch,
    /// Batch VI from further starts, for the best of several.
    MoreBatch,
    Svi,
    SviPlus {
        effective: usize,
        guard: Option<Guard>,
    },
    /// SVI, or SVI+, with larger steps.
    Larger {
        effective: Option<usize>,
    },
    Annealed {
        from: usize,
    },
}

impl Method {
    fn name(self) -> String {
        match self {
            Method::Batch => "batch VI".into(),
            Method::MoreBatch => "batch VI, further starts".into(),
            Method::Svi => "SVI".into(),
            Method::SviPlus { effective, guard: None } => format!("SVI+ M={effective}"),
            Method::SviPlus { effective, guard: Some(guard) } => {
                format!("SVI+ M={effective}, {guard}")
            }
            Method::Larger { effective: None } => "SVI, larger steps".into(),
            Method::Larger { effective: Some(effective) } => {
                format!("SVI+ M={effective}, larger steps")
            }
            Method::Annealed { from } => format!("annealed batch, M from {from}"),
        }
    }
}

/// The experiment.
struct Fig3 {
    sets: Vec<Set>,
    starts: u32,
    /// How many times as many starts batch VI has.
    restarts: u32,
    /// Passes over the data of the stochastic phase.
    passes: u64,
    /// The most sweeps of a noiseless climb.
    sweeps: u64,
    seed: u64,
}

/// The experiment, with its data made and read.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Fig3::new(options)?))
}

impl Fig3 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let about_pima = "Pima: 768 rows, 8 features, the label left out, zeros that stand for missing \
                          values left as they are";
        let made = data::overlapping(options.seed, 250, 7)?;
        let set = |name, points: Points, components, batch, effective, about: &str| {
            let params = MixtureParams {
                factorisation: Factorisation::Independent,
                start: Start::Points,
                ..MixtureParams::gmm(components)
            };
            let mixture = Mixture::new(params, &points)?;
            let about = format!("{about}; K = {components}, |S| = {batch}, M = {effective:?}");
            anyhow::Ok(Set { name, points, mixture, batch, effective, about })
        };
        let about_made = "Synthetic: 250 points in 2 dimensions from 7 overlapping clusters, made from \
                          the seed (the paper does not say which)";
        Ok(Fig3 {
            sets: vec![
                set("synthetic", made, 10, 50, &[10], about_made)?,
                set("Pima", data::pima()?, 10, 200, &[50, 100, 150], about_pima)?,
            ],
            starts: options.runs(40, 4),
            restarts: if options.quick { 3 } else { 10 },
            passes: if options.quick { 40 } else { 200 },
            sweeps: if options.quick { 300 } else { 2000 },
            seed: options.seed,
        })
    }

    /// What is run on a data set.
    fn methods(&self, set: &Set) -> Vec<Method> {
        let plus = |guard| {
            set.effective.iter().map(move |&effective| Method::SviPlus { effective, guard })
        };
        [Method::Batch, Method::MoreBatch, Method::Svi]
            .into_iter()
            .chain(plus(None))
            .chain(plus(Some(CONTROL)))
            .chain([Method::Larger { effective: None }])
            .chain(set.effective.iter().map(|&m| Method::Larger { effective: Some(m) }))
            .chain(M_0.map(|from| Method::Annealed { from }))
            .collect()
    }

    /// The seed of a start: the same for every method.
    fn seed(&self, start: u32) -> u64 {
        self.seed.rotate_left(32) ^ u64::from(start)
    }

    /// Batch VI until it stands still.
    fn quiet(&self, start: u32) -> FitConfig {
        FitConfig {
            steps: Some(self.sweeps),
            tol: TOL,
            seed: self.seed(start),
            ..FitConfig::default()
        }
    }

    /// The noisy part of a run; none of batch VI.
    fn noisy(&self, set: &Set, method: Method, start: u32) -> Option<FitConfig> {
        let base = FitConfig { tol: 0.0, noise_end: 1.0, ..self.quiet(start) };
        let n_items = set.points.n_items() as u64;
        let svi = FitConfig {
            batch: Some(set.batch),
            steps: Some((self.passes * n_items).div_ceil(set.batch as u64)),
            ..base.clone()
        };
        match method {
            Method::Batch | Method::MoreBatch => None,
            Method::Svi => Some(svi),
            Method::SviPlus { effective, guard } => {
                let effective = Effective::Constant(effective as f64);
                Some(FitConfig { effective, guard, ..svi })
            }
            Method::Larger { effective } => {
                let step_size = Some(LARGER_STEPS);
                let effective = effective.map_or(Effective::Off, |m| Effective::Constant(m as f64));
                Some(FitConfig { effective, step_size, ..svi })
            }
            Method::Annealed { from } => {
                let steps = NOISY_SWEEPS.min(self.passes);
                let effective = Effective::Geometric { from: from as f64, steps };
                Some(FitConfig { effective, steps: Some(steps), ..base })
            }
        }
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
                 climbs on until a sweep changes the bound by less than {TOL:e} of it (at most {} sweeps): \
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
                 the best of a group counts."
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
        let problem = Problem { model: &set.mixture, data: &set.points, heldout: None };
        let n_items = set.points.n_items() as u64;
        let mut record = Record::of(job);
        let quiet = self.quiet(job.start);
        let (before, state) = match self.noisy(set, method, job.start) {
            None => {
                let Some(fit) = observe(problem, &quiet, stop, &mut record)? else {
                    return Ok(None);
                };
                // Where it stood when the others' noise ended.
                let seen = record.curve.iter().rev().find(|p| p.items <= self.passes * n_items);
                (seen.and_then(|p| p.values.get("bound").copied()), fit.state)
            }
            Some(noisy) => {
                let Some(fit) = observe(problem, &noisy, stop, &mut record)? else {
                    return Ok(None);
                };
                let share = fit.state.guard_share();
                record.note("guard_share", share);
                let before = fit.outcome.bound;
                let Some(state) = quench(problem, fit.state, &quiet, stop, &mut record)? else {
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
