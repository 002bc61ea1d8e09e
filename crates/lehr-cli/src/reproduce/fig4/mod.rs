//! Figure 4: Dirichlet-process mixtures. How many of four clusters do batch VI, SVI and SVI+ find?

mod claims;
mod figures;
#[cfg(test)]
mod tests;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::{Problem, State};
use lehr::models::mixture::{Factorisation, Mixture, MixtureParams, Start};
use lehr::step::schedule::Effective;

use super::fig3::data::{Cluster, draw, rng, turned};
use super::quench::{quench, thin};
use super::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};

/// Points in the data.
const N_ITEMS: usize = 400;
/// Clusters in the data.
const TRUTH: usize = 4;
/// Components of the truncated process.
const TRUNCATION: usize = 50;
/// |S|.
const BATCHES: [usize; 5] = [10, 20, 30, 40, 50];
/// M as a share of |S|.
const SHARES: [f64; 3] = [0.2, 0.4, 0.6];
/// A component with less of the data than this is not counted as a cluster.
const LEAST: f64 = 0.01;
/// The priors of a cluster's shape, which decide what counts as one: the library's, under which 50 clusters
/// share the data's volume, and scikit-learn's, under which one cluster is as wide as the data.
const PRIORS: [&str; 2] = ["narrow prior", "broad prior"];

/// M, which is whole for the paper's shares.
fn effective(batch: usize, share: f64) -> f64 {
    (share * batch as f64).round()
}

/// One way to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Batch,
    Svi { batch: usize },
    SviPlus { batch: usize, share: f64 },
}

impl Method {
    fn name(self) -> String {
        match self {
            Method::Batch => "batch VI".into(),
            Method::Svi { batch } => format!("SVI |S|={batch}"),
            Method::SviPlus { batch, share } => {
                format!("SVI+ |S|={batch} M={}", effective(batch, share))
            }
        }
    }

    fn all() -> Vec<Method> {
        let svi = BATCHES.iter().map(|&batch| Method::Svi { batch });
        let plus = BATCHES
            .iter()
            .flat_map(|&batch| SHARES.iter().map(move |&share| Method::SviPlus { batch, share }));
        [Method::Batch].into_iter().chain(svi).chain(plus).collect()
    }
}

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

/// Four clusters of different size and shape that touch each other.
fn clusters() -> [Cluster; TRUTH] {
    [
        turned(0.4, [0.0, 0.0], [1.0, 0.6], 0.5),
        turned(0.3, [3.6, 0.4], [0.8, 0.5], -0.6),
        turned(0.2, [0.8, 3.2], [0.8, 0.4], 0.1),
        turned(0.1, [3.9, 3.3], [0.5, 0.4], 0.8),
    ]
}

/// The data's covariance, by rows.
fn covariance(points: &Points) -> Vec<f64> {
    let (n_items, d) = (points.n_items(), points.n_dims());
    let (mut sums, mut squares, mut row) = (vec![0.0; d], vec![0.0; d * d], vec![0.0; d]);
    for n in 0..n_items {
        points.copy_row(n, &mut row);
        sums.iter_mut().zip(&row).for_each(|(s, x)| *s += x);
        squares.iter_mut().enumerate().for_each(|(at, s)| *s += row[at / d] * row[at % d]);
    }
    let n = n_items as f64;
    let entry = |(at, s): (usize, &f64)| (s - sums[at / d] * sums[at % d] / n) / (n - 1.0);
    squares.iter().enumerate().map(entry).collect()
}

impl Fig4 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let (points, from) = draw(&clusters(), N_ITEMS, &mut rng(options.seed, 4))?;
        let mut truth = vec![0.0; TRUTH];
        from.iter().for_each(|&cluster| truth[cluster] += 1.0 / N_ITEMS as f64);
        truth.sort_by(|a, b| b.total_cmp(a));
        let narrow = MixtureParams {
            factorisation: Factorisation::Independent,
            start: Start::Points,
            ..MixtureParams::dpgmm(TRUNCATION)
        };
        let broad = MixtureParams { scatter: Some(covariance(&points)), ..narrow.clone() };
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

    /// The starts of a method. Those of SVI+ go on from one M to the next, so that every run of SVI+ has
    /// a run of SVI with the same |S| and start.
    fn starts_of(&self, method: Method) -> std::ops::Range<u32> {
        match method {
            Method::SviPlus { share, .. } => {
                let at = SHARES.iter().position(|&s| s == share).unwrap_or(0) as u32;
                at * self.starts..(at + 1) * self.starts
            }
            Method::Batch | Method::Svi { .. } => 0..SHARES.len() as u32 * self.starts,
        }
    }

    /// Batch VI until it stands still.
    fn quiet(&self, start: u32) -> FitConfig {
        let seed = self.seed.rotate_left(32) ^ u64::from(start);
        FitConfig { steps: Some(self.sweeps), tol: 1e-8, seed, ..FitConfig::default() }
    }

    /// The noisy part of a run; none of batch VI.
    fn noisy(&self, method: Method, start: u32) -> Option<FitConfig> {
        let (batch, effective) = match method {
            Method::Batch => return None,
            Method::Svi { batch } => (batch, Effective::Off),
            Method::SviPlus { batch, share } => {
                (batch, Effective::Constant(effective(batch, share)))
            }
        };
        let steps = (self.passes * N_ITEMS as u64).div_ceil(batch as u64);
        let (batch, steps) = (Some(batch), Some(steps));
        let quiet = self.quiet(start);
        Some(FitConfig { batch, effective, steps, tol: 0.0, noise_end: 1.0, ..quiet })
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
        let problem = Problem { model: mixture, data: &self.points, heldout: None };
        let mut record = Record::of(job);
        let quiet = self.quiet(job.start);
        let config = self.noisy(method, job.start);
        let noisy = config.is_some();
        let config = config.unwrap_or_else(|| quiet.clone());
        let Some(fit) = observe(problem, &config, stop, &mut record)? else { return Ok(None) };
        // Batch VI has no noise that could end: it is the same before and after.
        self.note(mixture, "before", &fit.state, &mut record);
        record.note("bound_before", fit.outcome.bound);
        record.note("guard_share", fit.state.guard_share());
        let state = if noisy {
            match quench(problem, fit.state, &quiet, stop, &mut record)? {
                Some(state) => state,
                None => return Ok(None),
            }
        } else {
            fit.state
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
