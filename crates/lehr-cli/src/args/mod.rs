//! What can be typed: plain structures without side effects.

mod config;
mod data;
mod examples;
mod fit;
mod flags;
mod recommend;
mod report;
mod reproduce;
mod screen;
mod shell;
mod sweep;

pub use config::{ConfigFile, over};
pub use data::{DataArgs, DocsArgs, PointsArgs};
pub use fit::{About, FitArgs, FitFlags, OutputArgs, Request, tables_of};
pub use recommend::{Ranking, RecommendArgs, SimilarArgs};
pub use report::{BesideArgs, PictureFormat, PlotArgs, ReportArgs, What};
pub use reproduce::ReproduceArgs;
pub use shell::{CompletionsArgs, ManArgs};
pub use sweep::SweepArgs;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use lehr::write::TableFormat;

use crate::look::Colour;
use crate::output::{Force, data_path, file_path, folder_path};
use crate::text::{parse_number, parse_whole};

/// Bayesian clustering, topics and recommendations by annealed variational inference (SVI+).
///
/// Fits Gaussian and Dirichlet-process mixtures to points, topics (LDA) to documents and matrix
/// factorisations (PMF) to ratings, with bounds that leave out no constant, the same bits on any
/// number of threads, and runs that can be stopped and resumed.
#[derive(Debug, Parser)]
#[command(name = "lehr", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = examples::LEHR)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// When there are colours; auto is in a terminal, unless NO_COLOR is set.
    // Hidden, or every command would list it: the end of help has it.
    #[arg(long, alias = "colour", global = true, hide = true, value_name = "WHEN")]
    #[arg(value_enum, default_value_t = Colour::Auto)]
    pub color: Colour,
}

impl Cli {
    /// What was typed, or what to print instead: help, or what is wrong.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Cli::command().color(Colour::asked(args).of_help());
        if screen::is_asked(args) {
            command = screen::of_usual(command);
        }
        let matches = command.try_get_matches_from_mut(args)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one value in the whole program")]
pub enum Command {
    /// Fit a model to a file and leave a run directory.
    Fit(FitArgs),
    /// Fit a model at several sizes and say how many components, topics or dimensions to take.
    #[command(after_help = examples::SWEEP)]
    Sweep(SweepArgs),
    /// Continue a run or a sweep that was stopped, or give a finished one more steps.
    Resume(ResumeArgs),
    /// Go on with a fitted model on new data, into its own run.
    #[command(after_help = examples::PARTIAL)]
    Partial(PartialArgs),
    /// Score data that the model has not seen.
    #[command(after_help = examples::EVAL)]
    Eval(EvalArgs),
    /// Label items: clusters and responsibilities of points, topics of documents, factors of new
    /// users and items.
    #[command(after_help = examples::TRANSFORM)]
    Transform(TransformArgs),
    /// Show a run or a sweep: components, topics or latent dimensions, bound, why it stopped.
    Show(ShowArgs),
    /// Make a page of HTML to look at a run with, or to compare several, and to share.
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Draw one picture of a run: bound, topics, clusters, calibration. The charts of 'lehr report' as files.
    #[command(after_help = examples::PLOT)]
    Plot(PlotArgs),
    /// Show the topics of an LDA run: sizes, words, how well these go together.
    #[command(after_help = examples::TOPICS)]
    Topics(TopicsArgs),
    /// Match the topics, clusters or latent dimensions of two runs.
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Show what users of a PMF run may like, best first.
    #[command(after_help = examples::RECOMMEND)]
    Recommend(RecommendArgs),
    /// Show which items or users of a PMF run are most like one.
    #[command(after_help = examples::SIMILAR)]
    Similar(SimilarArgs),
    /// Turn a corpus of any format into one file that is memory-mapped afterwards, or into shards.
    #[command(after_help = examples::CONVERT)]
    Convert(ConvertArgs),
    /// See what annealing and a search do: a small mixture fitted four ways. Needs no data.
    Demo(DemoArgs),
    /// Run the paper's experiments again: figures, raw runs, and a page with a verdict on every claim.
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(ReproduceArgs),
    /// Print a shell completion script.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for every command into a folder.
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

/// `lehr resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Make this many more updates (sweeps in batch mode) from where the run stands, whatever is
    /// left of its plan. A run that has converged makes them all, unless --tol is given too.
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, allow_negative_numbers = true)]
    pub steps: Option<u64>,
    /// Change the tolerance; 0 turns it off.
    #[arg(long, value_name = "X", value_parser = parse_number, allow_negative_numbers = true)]
    pub tol: Option<f64>,
    /// Stop after this long: seconds, or 90s, 5m, 2h.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = crate::text::parse_seconds)]
    pub time: Option<f64>,
    /// Where the data are now, if they were moved or came through a pipe; they must be the same.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub data: Option<PathBuf>,
    /// Threads; 0 uses all cores. Does not change results.
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// What to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `lehr partial`.
#[derive(Debug, Args)]
pub struct PartialArgs {
    /// The run directory to go on from; it stays as it is.
    pub run: PathBuf,
    /// The new data, in any format that fit reads; - is standard input.
    #[arg(value_parser = data_path())]
    pub data: PathBuf,
    /// How to read them; by default as in the run, points by the names of the model's columns.
    #[command(flatten)]
    pub input: DataArgs,
    /// How to fit.
    #[command(flatten)]
    pub fit: FitFlags,
}

/// `lehr eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The data to score, in any format that fit reads; - is standard input.
    #[arg(value_parser = data_path())]
    pub data: PathBuf,
    /// Of ratings: score lists of this many items for every user, too; several, comma-separated, are
    /// allowed. Without it only runs of implicit feedback have them, of 10 and of 20 items.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: Vec<usize>,
    /// With --top: what is rated at least so high is to be found; without it, all that is rated.
    #[arg(long, value_name = "RATING", value_parser = parse_number, allow_negative_numbers = true)]
    pub relevant: Option<f64>,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
    /// How to read them; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
}

/// `lehr transform`.
#[derive(Debug, Args)]
pub struct TransformArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The data to label; - is standard input.
    #[arg(value_parser = data_path())]
    pub data: PathBuf,
    /// Where to write: .csv, .tsv, .csv.gz, .tsv.gz, .json, .jsonl, .npy or .parquet; - is
    /// standard output, as CSV.
    #[arg(short, long, value_name = "FILE", value_parser = file_path())]
    pub output: PathBuf,
    /// The format to write, if the file's name does not say it.
    #[arg(long, value_name = "FORMAT", value_parser = table_format())]
    pub output_format: Option<TableFormat>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// Of points and documents: the column or field to copy to the front of the output, e.g. a row's name, so
    /// that rows can be told apart. Documents that have an id are written with it without being asked.
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Of points: columns to copy to the output as they are, comma-separated. If one of them is called
    /// label, the output's own is called cluster.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// How to read the data; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
}

fn table_format() -> impl TypedValueParser<Value = TableFormat> {
    PossibleValuesParser::new(TableFormat::NAMES).try_map(|name| name.parse::<TableFormat>())
}

/// `lehr show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run directory.
    pub run: PathBuf,
    /// How many components, topics or most loved items to list, from the largest [default: 20;
    /// topics: 5; items: 10].
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// Print one JSON line with everything.
    #[arg(long)]
    pub json: bool,
}

/// `lehr compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A run directory.
    pub first: PathBuf,
    /// Another one, of the same model.
    pub second: PathBuf,
    /// Write a table with a row for each part instead, those without a match last: .csv, .tsv, .json, .jsonl
    /// or .parquet; - is standard output, as CSV.
    #[arg(short, long, value_name = "FILE", value_parser = file_path(), conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `lehr topics`.
#[derive(Debug, Args)]
pub struct TopicsArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Call a topic by a name, which the run keeps, e.g. 3=sport; without a name it loses the one it has. May be
    /// given several times.
    #[arg(long, value_name = "TOPIC=NAME", value_parser = parse_name)]
    pub name: Vec<(usize, String)>,
    /// The same for the topics in a file with a number and a name a line, such as the topic-names.csv that the page
    /// of 'lehr report' saves.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub names: Option<PathBuf>,
    /// How many words of each topic.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: usize,
    /// The weight of plain probability in the relevance, from 0 to 1.
    #[arg(long, value_name = "X", default_value = "0.6", value_parser = parse_number, allow_negative_numbers = true)]
    pub relevance: f64,
    /// How many words of each topic its coherence looks at.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub coherence: usize,
    /// Leave out the coherence, for which the training documents are read again.
    #[arg(long, conflicts_with = "coherence")]
    pub no_coherence: bool,
    /// More of each topic: UMass and C_V coherence, effective number of words, exclusivity, and which
    /// other topic is most like it.
    #[arg(long)]
    pub diagnostics: bool,
    /// Documents of which to list those with most of each topic, read as the run's own; - is
    /// standard input.
    #[arg(long, value_name = "DATA", value_parser = data_path())]
    pub documents: Option<PathBuf>,
    /// With --documents: how many of each topic.
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top_documents: usize,
    /// Write a table with a row for each topic instead: .csv, .tsv, .json, .jsonl or .parquet; - is
    /// standard output, as CSV.
    #[arg(short, long, value_name = "FILE", value_parser = file_path(), conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// The order of the topics: the largest or the most coherent first.
    #[arg(long, value_enum, default_value_t = TopicOrder::Size)]
    pub sort: TopicOrder,
    /// Print one JSON line with everything.
    #[arg(long)]
    pub json: bool,
}

/// The number of a topic and what to call it.
fn parse_name(text: &str) -> Result<(usize, String), String> {
    let Some((topic, name)) = text.split_once('=') else {
        return Err("has no =; give a topic's number and its name, e.g. 3=sport".into());
    };
    let topic = parse_whole(topic.trim())
        .map_err(|wrong| format!("before = stands the number of a topic, from 0: {wrong}"))?;
    Ok((topic, name.trim().to_string()))
}

/// An order of topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TopicOrder {
    // No doc comments here: help would become its own page.
    Size,
    Coherence,
}

/// `lehr convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The documents, in any format that 'lehr fit lda' reads; - is standard input. Several files make shards.
    #[arg(value_parser = data_path(), required = true)]
    pub data: Vec<PathBuf>,
    /// The file to write; its name ends in .lehr. - is standard output. With --shards, the folder to make.
    #[arg(short, long, value_name = "FILE", value_parser = file_path())]
    pub output: PathBuf,
    /// Make a folder of this many shards, for fits on many machines (docs/guide/distributed.md).
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub shards: Option<usize>,
    /// What the rows of shards are.
    #[arg(long, value_name = "KIND", requires = "shards", default_value = "documents")]
    #[arg(value_parser = PossibleValuesParser::new(lehr::shards::Kind::NAMES))]
    pub kind: String,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
    /// How to read the documents, and which words to keep.
    #[command(flatten)]
    pub docs: DocsArgs,
    /// How to read points.
    #[command(flatten)]
    pub points: PointsArgs,
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
    /// Where to write the figure, demo.png and demo.svg.
    #[arg(short, long, value_name = "DIR", default_value = "lehr-demo", value_parser = folder_path())]
    pub output: PathBuf,
    /// Whether the figure may be there.
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}
