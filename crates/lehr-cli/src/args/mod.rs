//! What can be typed: plain structures without side effects.

mod fit;
mod mixture;

pub use fit::{ConfigFile, FitArgs, OutputArgs};
pub use mixture::{MixtureArgs, PointsArgs};

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::text::{parse_number, parse_whole};

/// Bayesian clustering by annealed variational inference (SVI+).
///
/// Fits Gaussian and Dirichlet-process mixtures with exact bounds, the same bits on any number of
/// threads, and runs that can be stopped and resumed.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Begin with 'lehr demo'. Every command explains itself with --help.\n\
    Exit codes: 0 done (a --time limit counts), 1 interrupted with a usable model, 2 error.")]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one value in the whole program")]
pub enum Command {
    /// Fit a model to a file and leave a run directory.
    Fit {
        /// Which model.
        #[command(subcommand)]
        model: FitModel,
    },
    /// Continue a run that was stopped, or give a finished one more steps.
    Resume(ResumeArgs),
    /// Score data that the model has not seen.
    Eval(EvalArgs),
    /// Label items: their cluster and the responsibility of each component.
    Transform(TransformArgs),
    /// Show a run: components, bound, why it stopped.
    Show(ShowArgs),
    /// See what annealing does: a small mixture fitted three ways. Needs no data.
    Demo(DemoArgs),
}

/// The models.
#[derive(Debug, Subcommand)]
pub enum FitModel {
    /// Gaussian mixture with K components.
    #[command(after_help = FIT_EXAMPLES)]
    Gmm(MixtureArgs),
    /// Dirichlet-process mixture: finds the number of clusters, up to K.
    #[command(after_help = FIT_EXAMPLES)]
    Dpgmm(MixtureArgs),
}

const FIT_EXAMPLES: &str = "\
Examples:
  lehr fit gmm points.csv -k 10 -o runs/a                               batch VI
  lehr fit gmm points.csv -k 10 --batch 200 -o runs/b                   SVI
  lehr fit gmm points.csv -k 10 --batch 200 --effective 50 -o runs/c    SVI+
  lehr fit gmm points.csv -k 10 --effective geometric:10:150 -o runs/d  annealed batch VI
  lehr fit dpgmm points.parquet -k 50 --n-init 5 --drop label -o runs/e";

/// `lehr resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Make this many more updates (sweeps in batch mode) from where the run stands, whatever is
    /// left of its plan. A run that ended because its bound stood still makes them all, unless
    /// --tol is given too.
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, allow_negative_numbers = true)]
    pub steps: Option<u64>,
    /// Change the tolerance; 0 turns it off.
    #[arg(long, value_name = "X", value_parser = parse_number, allow_negative_numbers = true)]
    pub tol: Option<f64>,
    /// Stop after this long: seconds, or 90s, 5m, 2h.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = crate::text::parse_seconds)]
    pub time: Option<f64>,
    /// Threads; 0 uses all cores. Does not change results.
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// What to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `lehr eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The data to score, in any format that fit reads.
    pub data: PathBuf,
    /// How to read them; by default as in the run.
    #[command(flatten)]
    pub points: PointsArgs,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `lehr transform`.
#[derive(Debug, Args)]
pub struct TransformArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The data to label.
    pub data: PathBuf,
    /// Where to write: .csv, .tsv, .csv.gz, .tsv.gz, .npy or .parquet.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// How to read the data; by default as in the run.
    #[command(flatten)]
    pub points: PointsArgs,
}

/// `lehr show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run directory.
    pub run: PathBuf,
    /// How many components to list, from the largest.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Print one JSON line with every component.
    #[arg(long)]
    pub json: bool,
}

/// `lehr demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// The seed of the data and of the starts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many starts each method gets.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub starts: u32,
    /// Where to write the figure.
    #[arg(short, long, value_name = "DIR", default_value = "lehr-demo")]
    pub output: PathBuf,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// A flag with named values, parsed into the library's own enumeration.
fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| {
        serde_json::from_value::<T>(serde_json::Value::String(name)).map_err(|e| e.to_string())
    })
}
