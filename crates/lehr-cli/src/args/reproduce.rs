//! What `lehr reproduce` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::text::parse_whole;

/// Arguments of `lehr reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Which experiment
    #[arg(value_name = "EXPERIMENT", hide_possible_values = false)]
    pub which: Which,
    /// Minutes instead of hours: made and bundled data only, small, with few starts
    #[arg(long)]
    pub quick: bool,
    /// Where the data sets are: ml-1m/ratings.dat, netflix-10m/ratings.dat (or ml-10m/ratings.dat),
    /// docword.reuters-news.txt (or docword.nytimes.txt), each as it is or with .gz
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Starts of each method, of which the same folder may be given more later [default: the paper's
    /// number]
    #[arg(long, value_name = "N", value_parser = parse_runs)]
    pub runs: Option<u32>,
    /// The seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Runs at a time; 0 is one for every core. Does not change results
    #[arg(long, default_value_t = 0, value_parser = parse_whole::<usize>)]
    pub threads: usize,
    /// No progress bar
    #[arg(long, short)]
    pub quiet: bool,
    /// The folder for figures, raw runs and the page. What it has of these runs is not run again
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
}

fn parse_runs(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 1..=10_000) => Ok(n),
        _ => Err("use a whole number from 1 to 10000, such as 10".into()),
    }
}

/// The experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// All of them, one after the other
    All,
    /// PMF: the bound against sweeps, batch VI and SVI+, with controls
    Fig1,
    /// LDA: held-out scores against steps, SVI and SVI+
    Fig2,
    /// Gaussian mixtures: the bound, batch VI, SVI and SVI+
    Fig3,
    /// Dirichlet-process mixtures: how many clusters are found
    Fig4,
    /// How Gaussian the noise is, against the predicted rates
    Theorem,
    /// The same noise in SGD: a small network that reads digits
    Sgd,
}

impl Which {
    /// All but `all`, in the order of the page.
    pub const EACH: [Which; 6] =
        [Which::Fig1, Which::Fig2, Which::Fig3, Which::Fig4, Which::Theorem, Which::Sgd];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Which::All => "all",
            Which::Fig1 => "fig1",
            Which::Fig2 => "fig2",
            Which::Fig3 => "fig3",
            Which::Fig4 => "fig4",
            Which::Theorem => "theorem",
            Which::Sgd => "sgd",
        }
    }
}
