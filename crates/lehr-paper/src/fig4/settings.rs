//! What figure 4 runs: priors, methods, and the settings of their fits.

use lehr::FitConfig;
use lehr::data::Points;
use lehr::models::mixture::{Defaults, Factorisation, MixtureParams, Start};
use lehr::step::schedule::Effective;

use super::Fig4;
use super::data::{N_ITEMS, covariance};

/// Components of the truncated process.
pub const TRUNCATION: usize = 50;
/// |S|.
pub const BATCHES: [usize; 5] = [10, 20, 30, 40, 50];
/// M as a share of |S|.
pub const SHARES: [f64; 3] = [0.2, 0.4, 0.6];
/// The priors of a cluster's shape, which decide what counts as one: `volume`, under which 50 clusters
/// share the data's volume, and scikit-learn's, under which one cluster is as wide as the data.
pub const PRIORS: [&str; 2] = ["narrow prior", "broad prior"];

/// M, which is whole for the paper's shares.
pub fn effective(batch: usize, share: f64) -> f64 {
    (share * batch as f64).round()
}

/// The model's settings under each of [`PRIORS`].
pub fn params(points: &Points) -> [MixtureParams; 2] {
    let narrow = MixtureParams {
        factorisation: Factorisation::Independent,
        start: Start::Points,
        defaults: Defaults::Volume,
        ..MixtureParams::dpgmm(TRUNCATION)
    };
    let broad = MixtureParams { scatter: Some(covariance(points)), ..narrow.clone() };
    [narrow, broad]
}

/// One way to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    Batch,
    Svi { batch: usize },
    SviPlus { batch: usize, share: f64 },
}

impl Method {
    /// Its name in records and figures.
    pub fn name(self) -> String {
        match self {
            Method::Batch => "batch VI".into(),
            Method::Svi { batch } => format!("SVI |S|={batch}"),
            Method::SviPlus { batch, share } => {
                format!("SVI+ |S|={batch} M={}", effective(batch, share))
            }
        }
    }

    /// All of them.
    pub fn all() -> Vec<Method> {
        let svi = BATCHES.iter().map(|&batch| Method::Svi { batch });
        let plus = BATCHES
            .iter()
            .flat_map(|&batch| SHARES.iter().map(move |&share| Method::SviPlus { batch, share }));
        [Method::Batch].into_iter().chain(svi).chain(plus).collect()
    }
}

impl Fig4 {
    /// The starts of a method. Those of SVI+ go on from one M to the next, so that every run of SVI+ has
    /// a run of SVI with the same |S| and start.
    pub fn starts_of(&self, method: Method) -> std::ops::Range<u32> {
        match method {
            Method::SviPlus { share, .. } => {
                let at = SHARES.iter().position(|&s| s == share).unwrap_or(0) as u32;
                at * self.starts..(at + 1) * self.starts
            }
            Method::Batch | Method::Svi { .. } => 0..SHARES.len() as u32 * self.starts,
        }
    }

    /// Batch VI until it stands still.
    pub fn quiet(&self, start: u32) -> FitConfig {
        let seed = self.seed.rotate_left(32) ^ u64::from(start);
        FitConfig { steps: Some(self.sweeps), tol: 1e-8, seed, ..FitConfig::default() }
    }

    /// The noisy part of a run; none of batch VI.
    pub fn noisy(&self, method: Method, start: u32) -> Option<FitConfig> {
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
}
