//! What figure 2 runs: step sizes and methods, and their settings in words.

use lehr::FitConfig;
use lehr::models::LdaParams;
use lehr::step::anneal::Law;
use lehr::step::guard::Guard;
use lehr::step::schedule::{Effective, StepSize};

use crate::{Job, Options};

/// What keeps lambda positive under noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Gaussian weights; statistics that become negative count as 0: the paper's reading.
    Clamp,
    /// The same, the noise of rare words made smaller first.
    Shrink,
    /// Weights that are never negative.
    Gamma,
}

impl Noise {
    /// All of them, the paper's first.
    pub const ALL: [Noise; 3] = [Noise::Clamp, Noise::Shrink, Noise::Gamma];
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// SVI with this |S|.
    Svi(usize),
    /// SVI+ with the largest |S| and this M.
    Plus(usize, Noise),
}

impl Method {
    /// Its name in records and figures.
    pub fn name(self) -> String {
        match self {
            Method::Svi(size) => format!("SVI, |S| = {size}"),
            Method::Plus(m, Noise::Clamp) => format!("SVI+, M = {m}"),
            Method::Plus(m, Noise::Shrink) => format!("SVI+, M = {m}, shrink"),
            Method::Plus(m, Noise::Gamma) => format!("SVI+, M = {m}, gamma"),
        }
    }
}

/// rho_t = (tau0 + t)^-kappa and all its methods.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Its name in records and claims.
    pub name: String,
    /// The step size.
    pub rho: StepSize,
    /// The methods, and how many starts each has.
    pub methods: Vec<(Method, u32)>,
}

/// All that is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// K.
    pub topics: usize,
    /// |S| from small to large; M of SVI+ are the first two.
    pub sizes: [usize; 3],
    /// Steps of every run.
    pub steps: u64,
    /// Steps between observations: so that the large batches are looked at when they have had as many
    /// documents as the small ones in all their steps.
    pub eval_every: u64,
    /// The main one first.
    pub schedules: Vec<Schedule>,
}

/// (tau0, kappa); the first is the main one.
const STEP_SIZES: [(f64, f64); 3] = [(1024.0, 0.7), (64.0, 0.6), (10.0, 0.75)];

/// The bound on training documents is not looked at, and cannot be turned off.
const BOUND_SAMPLE: usize = 10;

impl Settings {
    /// As asked.
    pub fn new(options: &Options) -> Self {
        let (topics, sizes, steps) =
            if options.quick { (10, [10, 20, 100], 200) } else { (150, [50, 100, 1000], 1500) };
        let [small, middle, large] = sizes;
        let paper = [
            Method::Svi(small),
            Method::Svi(middle),
            Method::Svi(large),
            Method::Plus(small, Noise::Clamp),
            Method::Plus(middle, Noise::Clamp),
        ];
        let others = [Noise::Shrink, Noise::Gamma]
            .into_iter()
            .flat_map(|noise| [Method::Plus(small, noise), Method::Plus(middle, noise)]);
        // Controls have fewer starts: a run takes two minutes.
        let (main, control) = (options.runs(10, 4), options.runs(3, 3));
        let schedule = |(index, (tau0, kappa)): (usize, (f64, f64))| {
            let starts = if index == 0 { main } else { control };
            let mut methods = paper.map(|method| (method, starts)).to_vec();
            if index == 0 {
                methods.extend(others.clone().map(|method| (method, control)));
            }
            Schedule {
                name: format!("rho = ({tau0}+t)^-{kappa}"),
                rho: StepSize::Power { tau0, kappa },
                methods,
            }
        };
        let schedules = STEP_SIZES.into_iter().enumerate().map(schedule).collect();
        Settings {
            topics,
            sizes,
            steps,
            eval_every: steps * small as u64 / large as u64,
            schedules,
        }
    }

    /// The methods of the paper's figure.
    pub fn paper(&self) -> Vec<Method> {
        self.schedules[1].methods.iter().map(|&(method, _)| method).collect()
    }

    /// The model's settings.
    pub fn params(&self) -> LdaParams {
        LdaParams::fixed(self.topics)
    }

    /// All runs.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for schedule in &self.schedules {
            for &(method, starts) in &schedule.methods {
                jobs.extend((0..starts).map(|start| Job {
                    setting: schedule.name.clone(),
                    method: method.name(),
                    start,
                    cost: self.cost(method),
                }));
            }
        }
        jobs
    }

    /// How long a run takes, in documents: those of the steps, what a step costs besides, and the
    /// evaluations.
    fn cost(&self, method: Method) -> f64 {
        let evaluations = self.steps / self.eval_every * 12 * self.sizes[2] as u64;
        (self.steps * (self.batch(method) as u64 + 120) + evaluations) as f64
    }

    /// |S| of a method.
    fn batch(&self, method: Method) -> usize {
        match method {
            Method::Svi(size) => size,
            Method::Plus(..) => self.sizes[2],
        }
    }

    /// The fit's settings for a job; `None` if there is no such job.
    pub fn config(&self, job: &Job, seed: u64) -> Option<FitConfig> {
        let schedule = self.schedules.iter().find(|s| s.name == job.setting)?;
        let mut methods = schedule.methods.iter().map(|&(method, _)| method);
        let method = methods.find(|method| method.name() == job.method)?;
        let (effective, noise) = match method {
            Method::Svi(_) => (Effective::Off, Noise::Clamp),
            Method::Plus(m, noise) => (Effective::Constant(m as f64), noise),
        };
        Some(FitConfig {
            steps: Some(self.steps),
            tol: 0.0,
            batch: Some(self.batch(method)),
            effective,
            law: if noise == Noise::Gamma { Law::Gamma } else { Law::Gaussian },
            guard: Some(if noise == Noise::Shrink { Guard::Shrink } else { Guard::Clamp }),
            // The paper's variance, and the same M in every step.
            corrected: false,
            noise_end: 1.0,
            step_size: Some(schedule.rho),
            bound_sample: Some(BOUND_SAMPLE),
            // Seeds next to each other must not share starts.
            seed: seed.wrapping_add(u64::from(job.start) << 32),
            eval_every: Some(self.eval_every),
            ..FitConfig::default()
        })
    }

    /// The settings in words.
    pub fn about(&self) -> Vec<String> {
        let Settings { topics, sizes: [small, middle, large], steps, .. } = self;
        let params = self.params();
        let LdaParams { local_tol, local_iterations, .. } = params;
        let eta = params.start_eta();
        let others: Vec<&str> = self.schedules[1..].iter().map(|s| &*s.name).collect();
        vec![
            format!(
                "K = {topics} topics, alpha = 1/K, eta = {eta}, {steps} steps. Starts draw lambda from Gamma(100, \
                 1/100); a start has the same topics for all methods, and the same batches for those with the \
                 same |S| (epochs in random order). Local steps end when gamma changes by less than {local_tol} on \
                 average, after {local_iterations} at the latest."
            ),
            format!(
                "`SVI` with |S| = {small}, {middle} and {large}; `SVI+` with |S| = {large} and M = {small} and \
                 {middle} in every step, with the paper's noise variance |S|/M - 1. The paper does not say what \
                 happens to statistics that noise makes negative: here they count as 0 (guard `clamp`), or the \
                 noise of rare words is made smaller first (`shrink`), or the weights are drawn from a law that \
                 has no negative ones (`gamma`)."
            ),
            format!(
                "The paper does not give its step size. Main: {}, all methods. Also {}, without `shrink` and \
                 `gamma`.",
                self.schedules[0].name,
                others.join(" and "),
            ),
            format!(
                "Scores of the held-out documents every {} steps, in nats per word, with local steps converged to \
                 1e-5: `local`, the documents' own part of the bound, is the paper's number; `full` also charges \
                 for the topics; `completion` predicts every other word of a document from the rest.",
                self.eval_every
            ),
        ]
    }

    /// How many starts there are, in words.
    pub fn starts(&self) -> String {
        let methods = || self.schedules.iter().flat_map(|schedule| &schedule.methods);
        let main = methods().map(|&(_, starts)| starts).max().unwrap_or(0);
        let controls = methods().map(|&(_, starts)| starts).min().unwrap_or(0);
        format!(
            "{main} starts of the paper's methods with the main step size, {controls} of `shrink`, `gamma` and \
             the other step sizes."
        )
    }
}
