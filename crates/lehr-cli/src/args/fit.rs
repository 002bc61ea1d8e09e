//! The flags that every `fit` shares, laid over a configuration file.

use std::path::{Path, PathBuf};

use clap::Args;

use lehr::FitConfig;
use lehr::settings::Holdout;
use lehr::step::anneal::Law;
use lehr::step::sample::Sampling;
use lehr::step::schedule::{Effective, StepSize};
use lehr::step::update::Guard;

use super::named;
use crate::text::{parse_number, parse_whole};

/// What to print.
#[derive(Debug, Clone, Copy, Args)]
pub struct OutputArgs {
    /// Print one machine-readable result line on stdout.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}

/// How to fit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct FitArgs {
    /// The run directory to make [default: runs/MODEL-N].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// A TOML file with settings in [fit], [model] and [data]; flags go on top.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Updates; in batch mode, sweeps [default: 1000; 500 in batch mode].
    #[arg(long, value_parser = parse_whole::<u64>, allow_negative_numbers = true, value_name = "N", help_heading = "How long")]
    pub steps: Option<u64>,
    /// Stop when the bound's relative change falls below this; 0 turns it off [default: 1e-6].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "X", help_heading = "How long")]
    pub tol: Option<f64>,
    /// Stop after this long: seconds, or 90s, 5m, 2h.
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = crate::text::parse_seconds, help_heading = "How long")]
    pub time: Option<f64>,
    /// |S|, the batch size. Left out, every step uses all items (batch VI); for large corpora 1000
    /// is usual.
    #[arg(long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "S", help_heading = "Batches and annealing")]
    pub batch: Option<usize>,
    /// How batches are drawn [default: epochs].
    #[arg(long, value_parser = named::<Sampling>(&["epochs", "without-replacement", "with-replacement", "in-order"]),
        help_heading = "Batches and annealing")]
    pub sampling: Option<Sampling>,
    /// M, the effective batch size: smaller is noisier. 50, 50t (50 times the step),
    /// geometric:10:150 (from 10 to the batch size over 150 steps) or off.
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "M",
        help_heading = "Batches and annealing"
    )]
    pub effective: Option<Effective>,
    /// The distribution of the annealing noise [default: gaussian].
    #[arg(long, value_parser = named::<Law>(&["gaussian", "gamma", "subsample", "lagged"]),
        help_heading = "Batches and annealing")]
    pub law: Option<Law>,
    /// Use the paper's noise variance, without the factor |S|/(|S|-1).
    #[arg(long, help_heading = "Batches and annealing")]
    pub paper_variance: bool,
    /// The fraction of the steps after which the noise ends [default: 0.75].
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true, value_name = "FRACTION", help_heading = "Batches and annealing")]
    pub noise_end: Option<f64>,
    /// rho: 0.5, power:10:0.75 for (10 + t)^-0.75, or 0.5,1 for 0.5 while there is noise, then 1.
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "RHO",
        help_heading = "Batches and annealing"
    )]
    pub step_size: Option<StepSize>,
    /// What to do when noise pushes a parameter out of its domain [default: reject; lda: shrink].
    #[arg(long, value_parser = named::<Guard>(&["reject", "reject-below-prior", "clip", "halve", "clamp", "shrink"]),
        help_heading = "Batches and annealing")]
    pub guard: Option<Guard>,
    /// lda: documents begin where their last local step ended, which is faster in later epochs.
    #[arg(long, help_heading = "Batches and annealing")]
    pub warm: bool,
    /// N, if the items are only some of a larger collection [default: as many as there are].
    #[arg(long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "N", help_heading = "Batches and annealing")]
    pub population: Option<usize>,
    /// The seed: same seed, data and settings, same bits [default: 0].
    #[arg(long, value_parser = parse_whole::<u64>, allow_negative_numbers = true, value_name = "N", help_heading = "Starts and threads")]
    pub seed: Option<u64>,
    /// How many starts to try; the best by bound is kept [default: 1].
    #[arg(long, value_parser = parse_whole::<u32>, allow_negative_numbers = true, value_name = "N", help_heading = "Starts and threads")]
    pub n_init: Option<u32>,
    /// Threads; 0 uses all cores. Does not change results [default: 0].
    #[arg(long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "N", help_heading = "Starts and threads")]
    pub threads: Option<usize>,
    /// Items (documents) to hold out and score during the run: a count (1000) or a fraction (0.1).
    #[arg(long, allow_negative_numbers = true, value_name = "N", help_heading = "Watching")]
    pub holdout: Option<Holdout>,
    /// Evaluate the bound every N steps; 0 is never, for --tol 0 [default: every sweep, or once an epoch].
    #[arg(long, value_parser = parse_whole::<u64>, allow_negative_numbers = true, value_name = "N", help_heading = "Watching")]
    pub eval_every: Option<u64>,
    /// With --batch, estimate the bound from N random training items; 0 is all [default: 0; lda:
    /// 1000].
    #[arg(long, value_parser = parse_whole::<usize>, allow_negative_numbers = true, value_name = "N", help_heading = "Watching")]
    pub bound_sample: Option<usize>,
    /// Save every N steps [default: once a minute].
    #[arg(long, value_parser = parse_whole::<u64>, allow_negative_numbers = true, value_name = "N", help_heading = "Watching")]
    pub checkpoint_every: Option<u64>,
    /// What to print.
    #[command(flatten)]
    pub print: OutputArgs,
}

impl FitArgs {
    /// The run directory: as asked, or the first of runs/NAME-1, runs/NAME-2, ... that is free.
    pub fn directory(&self, name: &str) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            (1..)
                .map(|i| Path::new("runs").join(format!("{name}-{i}")))
                .find(|path| !path.exists())
                .expect("there are always more numbers")
        })
    }

    /// These flags on top of the configuration file's settings.
    pub fn over(&self, file: FitConfig) -> FitConfig {
        FitConfig {
            steps: self.steps.or(file.steps),
            tol: self.tol.unwrap_or(file.tol),
            tol_of: file.tol_of,
            time: self.time.or(file.time),
            batch: self.batch.or(file.batch),
            sampling: self.sampling.unwrap_or(file.sampling),
            effective: self.effective.unwrap_or(file.effective),
            law: self.law.unwrap_or(file.law),
            corrected: file.corrected && !self.paper_variance,
            noise_end: self.noise_end.unwrap_or(file.noise_end),
            step_size: self.step_size.or(file.step_size),
            guard: self.guard.or(file.guard),
            warm: self.warm || file.warm,
            population: self.population.or(file.population),
            bound_sample: self.bound_sample.or(file.bound_sample),
            seed: self.seed.unwrap_or(file.seed),
            threads: self.threads.unwrap_or(file.threads),
            n_init: self.n_init.unwrap_or(file.n_init),
            checkpoint_every: self.checkpoint_every.or(file.checkpoint_every),
            eval_every: self.eval_every.or(file.eval_every),
            holdout: self.holdout.unwrap_or(file.holdout),
        }
    }
}
