//! What is trained: batches, methods and learning rates.

use lehr::step::anneal::Law;
use lehr::step::schedule::Effective;

/// Learning rates that every method tries.
pub const RATES: [f64; 6] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
/// M.
pub const EFFECTIVE: usize = 10;
/// |S|.
pub const BATCH: usize = 100;

/// A way to descend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// SGD with batches of M.
    Small,
    /// SGD with batches of |S|.
    Large,
    /// Batches of |S| with Gaussian noise as of M.
    Plus,
    /// The same with Dirichlet weights.
    Gamma,
    /// Gaussian noise, with M growing to |S| over the first half.
    Cooled,
}

impl Method {
    /// All.
    pub const ALL: [Method; 5] =
        [Method::Small, Method::Large, Method::Plus, Method::Gamma, Method::Cooled];

    /// Its name in jobs, figures and claims.
    pub fn name(self) -> &'static str {
        match self {
            Method::Small => "SGD, batch 10",
            Method::Large => "SGD, batch 100",
            Method::Plus => "SGD+",
            Method::Gamma => "SGD+ gamma",
            Method::Cooled => "SGD+ cooled",
        }
    }

    /// The method of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Images in a step.
    pub fn batch(self) -> usize {
        if self == Method::Small { EFFECTIVE } else { BATCH }
    }

    /// Its noise in a run of N steps.
    pub fn noise(self, steps: u64) -> (Law, Effective) {
        let constant = Effective::Constant(EFFECTIVE as f64);
        match self {
            Method::Small | Method::Large => (Law::Gaussian, Effective::Off),
            Method::Plus => (Law::Gaussian, constant),
            Method::Gamma => (Law::Gamma, constant),
            Method::Cooled => {
                let cooling = Effective::Geometric { from: EFFECTIVE as f64, steps: steps / 2 };
                (Law::Gaussian, cooling)
            }
        }
    }
}

/// The name of a setting.
pub fn setting(rate: f64) -> String {
    format!("learning rate {rate}")
}
