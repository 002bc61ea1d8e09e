//! What figure 4 runs: priors, processes, methods, step sizes, and the settings of their fits.

use std::ops::Range;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::models::mixture::{Defaults, Factorisation, MixtureParams, Start};
use lehr::step::anneal::Law;
use lehr::step::schedule::{Effective, StepSize};

use super::Fig4;
use super::data::{N_ITEMS, SETS, covariance};

/// Components of the truncated process.
pub const TRUNCATION: usize = 50;
/// |S|.
pub const BATCHES: [usize; 5] = [10, 20, 30, 40, 50];
/// M as a share of |S|.
pub const SHARES: [f64; 3] = [0.2, 0.4, 0.6];
/// How the process is approximated: truncated sticks, or a Dirichlet distribution with a0 = 1/50 for every weight, which
/// is what "a sparsity-inducing prior" of "an approximate Dirichlet process" may mean as well.
pub const PROCESSES: [&str; 2] = ["sticks", "sparse Dirichlet"];
/// The priors of a cluster's shape, which decide what counts as one: `volume`, under which 50 clusters
/// share the data's volume, and scikit-learn's, under which one cluster is as wide as the data.
pub const PRIORS: [&str; 2] = ["narrow prior", "broad prior"];
/// rho, which the paper does not give: the library's own, larger ones that fall, and two that do not.
pub const RHOS: [StepSize; 4] = [
    StepSize::Power { tau0: 10.0, kappa: 0.75 },
    StepSize::Power { tau0: 1.0, kappa: 0.6 },
    StepSize::Constant(0.1),
    StepSize::Constant(0.3),
];
/// What the search may take, in passes of batch VI.
pub const SEARCH: f64 = 4.0;

/// Data, process and prior: all that is common to the methods that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Which of [`SETS`].
    pub set: usize,
    /// Which of [`PROCESSES`].
    pub process: usize,
    /// Which of [`PRIORS`].
    pub prior: usize,
}

impl Setting {
    /// All of them.
    pub fn all() -> Vec<Setting> {
        let mut all = Vec::new();
        for set in 0..SETS.len() {
            for process in 0..PROCESSES.len() {
                all.extend((0..PRIORS.len()).map(|prior| Setting { set, process, prior }));
            }
        }
        all
    }

    /// Its name in records, which is also the start of a condition.
    pub fn name(self) -> String {
        format!("{}, {}, {}", SETS[self.set], PROCESSES[self.process], PRIORS[self.prior])
    }

    /// Whether SVI+ is run with the exact covariance, too: a pass over all data in every step.
    pub fn has_exact(self) -> bool {
        self.set == 0 && self.process == 0
    }

    /// The model's settings.
    pub fn params(self, points: &Points) -> MixtureParams {
        let weights = match self.process {
            0 => MixtureParams::dpgmm(TRUNCATION),
            _ => MixtureParams::gmm(TRUNCATION),
        };
        MixtureParams {
            factorisation: Factorisation::Independent,
            start: Start::Points,
            defaults: Defaults::Volume,
            scatter: (self.prior == 1).then(|| covariance(points)),
            ..weights
        }
    }
}

/// One way to fit. Step sizes are places in [`RHOS`], shares in [`SHARES`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    Batch,
    Search,
    Svi { rho: usize },
    SviPlus { rho: usize, share: usize },
    Exact { rho: usize },
}

/// A step size in words.
pub fn rho_name(rho: usize) -> String {
    match RHOS[rho] {
        StepSize::Power { tau0, kappa } => format!("rho = ({tau0}+t)^-{kappa}"),
        other => format!("rho = {other}"),
    }
}

impl Method {
    /// Its name in records and figures.
    pub fn name(self) -> String {
        match self {
            Method::Batch => "batch VI".into(),
            Method::Search => "search".into(),
            Method::Svi { rho } => format!("SVI, {}", rho_name(rho)),
            Method::SviPlus { rho, share } => {
                format!("SVI+ M = {} |S|, {}", SHARES[share], rho_name(rho))
            }
            Method::Exact { rho } => {
                format!("SVI+ M = {} |S|, {}, exact covariance", SHARES[0], rho_name(rho))
            }
        }
    }

    /// Those that are run in a setting.
    pub fn of(setting: Setting) -> Vec<Method> {
        let mut all = vec![Method::Batch, Method::Search];
        for rho in 0..RHOS.len() {
            all.push(Method::Svi { rho });
            all.extend((0..SHARES.len()).map(|share| Method::SviPlus { rho, share }));
            all.extend(setting.has_exact().then_some(Method::Exact { rho }));
        }
        all
    }

    /// SVI+ with one step size and every M.
    pub fn plus(rho: usize) -> [Method; SHARES.len()] {
        std::array::from_fn(|share| Method::SviPlus { rho, share })
    }
}

impl Fig4 {
    /// The starts of every method: each |S| has a fifth of them, the same for all methods.
    pub fn all_starts(&self) -> Range<u32> {
        0..self.starts
    }

    /// |S| of a start.
    pub fn batch_of(start: u32) -> usize {
        BATCHES[start as usize % BATCHES.len()]
    }

    /// Batch VI until it converges.
    pub fn quiet(&self, start: u32) -> FitConfig {
        let seed = self.seed.rotate_left(32) ^ u64::from(start);
        FitConfig { steps: Some(self.sweeps), tol: 1e-8, seed, ..FitConfig::default() }
    }

    /// The first part of a run, and whether batch VI has to finish it.
    pub fn first(&self, method: Method, start: u32) -> (FitConfig, bool) {
        let quiet = self.quiet(start);
        let batch = Fig4::batch_of(start);
        let (rho, effective, law) = match method {
            Method::Batch => return (quiet, false),
            Method::Search => return (FitConfig { search: Some(SEARCH), ..quiet }, false),
            Method::Svi { rho } => (rho, Effective::Off, Law::Gaussian),
            Method::SviPlus { rho, share } => (rho, effective(batch, share), Law::Gaussian),
            Method::Exact { rho } => (rho, effective(batch, 0), Law::Exact),
        };
        let steps = Some((self.passes * N_ITEMS as u64).div_ceil(batch as u64));
        let (batch, step_size) = (Some(batch), Some(RHOS[rho]));
        let noisy = FitConfig { batch, effective, law, steps, step_size, tol: 0.0, ..quiet };
        (FitConfig { noise_end: 1.0, ..noisy }, true)
    }
}

/// M, which is whole for the paper's shares.
fn effective(batch: usize, share: usize) -> Effective {
    Effective::Constant((SHARES[share] * batch as f64).round())
}
