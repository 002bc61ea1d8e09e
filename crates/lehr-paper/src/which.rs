//! The experiments by name.

use crate::experiment::{Experiment, Options};
use crate::{data, dimension, fig1, fig2, fig3, fig4, sgd, theorem};

/// One of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// PMF: the bound against sweeps.
    Fig1,
    /// LDA: held-out scores against steps.
    Fig2,
    /// Gaussian mixtures: the bound.
    Fig3,
    /// Dirichlet-process mixtures: how many clusters are found.
    Fig4,
    /// How Gaussian the noise is.
    Theorem,
    /// What the dimension does.
    Dimension,
    /// The same noise in SGD.
    Sgd,
}

impl Which {
    /// All of them, in the order of the page.
    pub const ALL: [Which; 7] = [
        Which::Fig1,
        Which::Fig2,
        Which::Fig3,
        Which::Fig4,
        Which::Theorem,
        Which::Dimension,
        Which::Sgd,
    ];

    /// Its name on the command line and of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Which::Fig1 => "fig1",
            Which::Fig2 => "fig2",
            Which::Fig3 => "fig3",
            Which::Fig4 => "fig4",
            Which::Theorem => "theorem",
            Which::Dimension => "dimension",
            Which::Sgd => "sgd",
        }
    }

    /// What it is about, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Which::Fig1 => "PMF: the bound against sweeps, batch VI and SVI+, with controls",
            Which::Fig2 => "LDA: held-out scores against steps, SVI and SVI+",
            Which::Fig3 => "Gaussian mixtures: the bound, batch VI, SVI and SVI+",
            Which::Fig4 => "Dirichlet-process mixtures: how many clusters are found",
            Which::Theorem => "How Gaussian the noise is, against the predicted rates",
            Which::Dimension => "The theorem's factor d^(1/4), against measured distances",
            Which::Sgd => "The same noise in SGD: a small network that reads digits",
        }
    }

    /// Fails early if required data are missing.
    pub fn check(self, options: &Options) -> anyhow::Result<()> {
        data::check_folder(options)?;
        match self {
            Which::Fig1 if !options.quick => {
                data::first_of(options, &[data::MOVIELENS_1M]).map(drop)
            }
            Which::Fig2 if !options.quick => {
                data::first_of(options, &[data::NEW_YORK_TIMES, data::REUTERS]).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// The experiment with its data read.
    pub(crate) fn experiment(self, options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
        match self {
            Which::Fig1 => fig1::new(options),
            Which::Fig2 => fig2::new(options),
            Which::Fig3 => fig3::new(options),
            Which::Fig4 => fig4::new(options),
            Which::Theorem => theorem::new(options),
            Which::Dimension => dimension::new(options),
            Which::Sgd => sgd::new(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn more_starts_go_on_from_fewer() {
        for which in Which::ALL {
            let of = |runs| {
                let options = Options { quick: true, runs: Some(runs), data: None, seed: 1 };
                which.experiment(&options).unwrap()
            };
            let (few, more) = (of(2), of(4));
            assert_eq!(few.about(), more.about(), "{}: what runs are compared by", few.name());
            assert_ne!(few.starts(), more.starts());
            let keys = |e: &dyn Experiment| -> HashSet<_> {
                e.jobs().into_iter().map(|job| (job.setting, job.method, job.start)).collect()
            };
            let (first, all) = (keys(&*few), keys(&*more));
            let again: Vec<_> = first.difference(&all).collect();
            // Figure 3's further starts come after its starts: these alone move when there are more.
            let moved = |(_, method, _): &(String, String, u32)| {
                which == Which::Fig3 && method.ends_with("further starts")
            };
            assert!(again.iter().all(|key| moved(key)), "{}: {again:?}", few.name());
        }
    }
}
