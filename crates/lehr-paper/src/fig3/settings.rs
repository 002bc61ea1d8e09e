//! What figure 3 runs: methods, and the settings of their fits.

use lehr::FitConfig;
use lehr::step::anneal::Law;
use lehr::step::guard::Guard;
use lehr::step::schedule::{Effective, StepSize};

use super::Fig3;
use super::data::Set;

/// Sweeps over which the annealed full batch is noisy.
pub const NOISY_SWEEPS: u64 = 150;
/// Where the annealed full batch starts.
pub const M_0: [usize; 3] = [3, 10, 30];
/// Batch VI ends when a sweep changes the bound by less than this share; so does every quench.
pub const TOL: f64 = 1e-8;
/// The other step sizes.
pub const LARGER_STEPS: StepSize = StepSize::Power { tau0: 1.0, kappa: 0.6 };
/// The other guard.
pub const CONTROL: Guard = Guard::RejectBelowPrior;

/// One way to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
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
    /// SVI+ whose noise has the exact covariance.
    Exact {
        effective: usize,
    },
    Annealed {
        from: usize,
    },
}

impl Method {
    /// Its name in records and figures.
    pub fn name(self) -> String {
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
            Method::Exact { effective } => format!("SVI+ M={effective}, exact covariance"),
            Method::Annealed { from } => format!("annealed batch, M from {from}"),
        }
    }
}

impl Fig3 {
    /// What is run on a data set.
    pub fn methods(&self, set: &Set) -> Vec<Method> {
        let plus = |guard| {
            set.effective.iter().map(move |&effective| Method::SviPlus { effective, guard })
        };
        [Method::Batch, Method::MoreBatch, Method::Svi]
            .into_iter()
            .chain(plus(None))
            .chain(plus(Some(CONTROL)))
            .chain([Method::Larger { effective: None }])
            .chain(set.effective.iter().map(|&m| Method::Larger { effective: Some(m) }))
            .chain(set.effective.iter().map(|&effective| Method::Exact { effective }))
            .chain(M_0.map(|from| Method::Annealed { from }))
            .collect()
    }

    /// The seed of a start: the same for every method.
    pub fn seed(&self, start: u32) -> u64 {
        self.seed.rotate_left(32) ^ u64::from(start)
    }

    /// Batch VI until it converges.
    pub fn quiet(&self, start: u32) -> FitConfig {
        FitConfig {
            steps: Some(self.sweeps),
            tol: TOL,
            seed: self.seed(start),
            ..FitConfig::default()
        }
    }

    /// The noisy part of a run; none of batch VI.
    pub fn noisy(&self, set: &Set, method: Method, start: u32) -> Option<FitConfig> {
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
            Method::Exact { effective } => {
                let effective = Effective::Constant(effective as f64);
                Some(FitConfig { effective, law: Law::Exact, ..svi })
            }
            Method::Annealed { from } => {
                let steps = NOISY_SWEEPS.min(self.passes);
                let effective = Effective::Geometric { from: from as f64, steps };
                Some(FitConfig { effective, steps: Some(steps), ..base })
            }
        }
    }
}
