//! What can be typed: plain structures without side effects.

mod config;
mod docs;
mod fit;
mod lda;
mod mixture;
mod pmf;
mod reproduce;

pub use config::{ConfigFile, model_table};
pub use docs::{DocsArgs, WordsArgs};
pub use fit::{FitArgs, OutputArgs};
pub use lda::LdaArgs;
pub use mixture::{MixtureArgs, PointsArgs};
pub use pmf::{PmfArgs, Ranking, RatingsArgs, RecommendArgs};
pub use reproduce::ReproduceArgs;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::text::{parse_number, parse_whole};

/// Bayesian clustering, topics and recommendations by annealed variational inference (SVI+).
///
/// Fits Gaussian and Dirichlet-process mixtures to points, topics (LDA) to documents and matrix
/// factorisations (PMF) to ratings, with bounds that leave out no constant, the same bits on any
/// number of threads, and runs that can be stopped and resumed.
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
    /// Go on with a fitted model on new data, into a run of its own.
    #[command(after_help = PARTIAL_EXAMPLES)]
    #[command(mut_arg("steps", |arg| {
        arg.help("Updates from where the run stands [default: one pass over the new data]")
    }))]
    #[command(mut_arg("batch", |arg| arg.help("|S|, the batch size [default: that of the run]")))]
    #[command(mut_arg("population", |arg| {
        arg.help("N [default: all that the run and those before it were fitted to, and the new ones]")
    }))]
    #[command(mut_arg("n_init", |arg| arg.hide(true)))]
    #[command(mut_arg("config", |arg| {
        arg.help("A TOML file with settings in [fit], instead of those of the run; flags go on top")
    }))]
    Partial(PartialArgs),
    /// Score data that the model has not seen.
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(EvalArgs),
    /// Label items: clusters and responsibilities of points, topics of documents, factors of new
    /// users and items.
    #[command(after_help = TRANSFORM_EXAMPLES)]
    Transform(TransformArgs),
    /// Show a run: components, topics or latent dimensions, bound, why it stopped.
    Show(ShowArgs),
    /// Show the topics of an LDA run: sizes, words, how well these go together.
    #[command(after_help = TOPICS_EXAMPLES)]
    Topics(TopicsArgs),
    /// Show what users of a PMF run may like, best first.
    #[command(after_help = RECOMMEND_EXAMPLES)]
    Recommend(RecommendArgs),
    /// Turn a corpus of any format into one file that is memory-mapped afterwards.
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(ConvertArgs),
    /// See what annealing does: a small mixture fitted three ways. Needs no data.
    Demo(DemoArgs),
    /// Run the paper's experiments again: figures, raw runs, and a page with a verdict on every claim.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
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
    /// Latent Dirichlet allocation: K topics of documents.
    #[command(after_help = LDA_EXAMPLES)]
    Lda(LdaArgs),
    /// Probabilistic matrix factorisation: ratings that users gave to items.
    #[command(after_help = PMF_EXAMPLES)]
    #[command(mut_arg("warm", |arg| arg.hide(true)))]
    #[command(mut_arg("bound_sample", |arg| arg.hide(true)))]
    #[command(mut_arg("population", |arg| arg.hide(true)))]
    #[command(mut_arg("batch", |arg| {
        arg.help("|S|, the ratings of a step. Left out, every step uses all of them (batch VI)")
    }))]
    #[command(mut_arg("effective", |arg| {
        arg.help(
            "M, the effective number of ratings of each user and item: smaller is noisier, and those \
             with fewer ratings than M have no noise. 50, 50t (50 times the step), geometric:10:150 \
             (from 10 to all over 150 steps) or off",
        )
    }))]
    #[command(mut_arg("step_size", |arg| {
        arg.help(
            "rho: 0.5, power:10:0.75 for (10 + t)^-0.75, or 0.5,1 for 0.5 while there is noise, then 1 \
             [default: 1; 0.85,1 with noise; power:10:0.75 with --batch]",
        )
    }))]
    #[command(mut_arg("guard", |arg| {
        arg.help(
            "What to do when noise pushes a parameter out of its domain [default: reject-below-prior]",
        )
    }))]
    #[command(mut_arg("holdout", |arg| {
        arg.help("Ratings to hold out and score during the run: a count (1000) or a fraction (0.1)")
    }))]
    #[command(mut_arg("eval_every", |arg| {
        arg.help(
            "Evaluate the bound every N steps [default: every sweep, every 5 with noise; once an epoch \
             with --batch]",
        )
    }))]
    Pmf(PmfArgs),
}

const PMF_EXAMPLES: &str = "\
Examples:
  lehr fit pmf ratings.dat -d 10 --holdout 0.1 -o runs/ml               batch VI
  lehr fit pmf ratings.csv -d 20 --user who --item what --rating stars
  lehr fit pmf ratings.dat -d 10 --effective 50t -o runs/b              annealed
  lehr fit pmf ratings.dat -d 10 --preset paper -o runs/p               the paper's model
  lehr recommend runs/ml --user 42 --titles movies.dat";

const REPRODUCE_EXAMPLES: &str = "Examples:\n  \
    lehr reproduce all --quick -o out\n  \
    lehr reproduce fig3 -o out\n  \
    lehr reproduce fig1 --data DIR --runs 5 -o out\n\n\
    MovieLens and the news corpora are not ours to ship: the README says where to get them.\n\
    An interrupted command goes on where it stopped when it is given again.";

const RECOMMEND_EXAMPLES: &str = "\
mean is for what a user will like most now. ucb prefers items of which the model is unsure, so that
it learns; thompson shows each item as often as it may be the best. Users that the model does not
know get what most people like.

Examples:
  lehr recommend runs/ml --user 42 --top 5 --titles movies.dat
  lehr recommend runs/ml --user 42 --user 43 --by ucb --beta 2
  lehr recommend runs/ml --user 42 --by thompson --seed 7 --json
  lehr recommend runs/ml --user new --ratings today.csv                 folded in, not fitted again";

const LDA_EXAMPLES: &str = "\
Examples:
  lehr fit lda docword.txt.gz --vocab vocab.txt -k 150 --batch 1000 --effective 100 --steps 1500
  lehr fit lda news.jsonl --field body -k 50 --batch 1000 --holdout 500 -o runs/news
  lehr fit lda small.txt -k 10 --stop-words none                        batch VI
  lehr fit lda corpus.lehr -k 50 --batch 1000 --seed-topics runs/news   go on from its topics";

const PARTIAL_EXAMPLES: &str = "\
The new run keeps the settings and schedules of the old one, from the step where that stands,
unless flags say otherwise; nothing is held out unless --holdout says so.

Examples:
  lehr partial runs/news today.jsonl -o runs/news-2
  lehr partial runs/news today.jsonl -o runs/news-2 --steps 50 --batch 200";

const EVAL_EXAMPLES: &str = "\
Examples:
  lehr eval runs/a heldout.csv
  lehr eval runs/news heldout.txt.gz --json
  lehr eval runs/ml test.csv                          RMSE, MAE, coverage of the intervals";

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  lehr transform runs/a points.csv -o labels.csv      label, responsibility_0, responsibility_1, ...
  lehr transform runs/news new.txt.gz -o theta.npy    one row a document, one column a topic
  lehr transform runs/news new.txt.gz -o theta.csv    topic_1, topic_2, ...
  lehr transform runs/ml new.csv -o factors.parquet   new users and items: side, id, factor_1, ...";

const TOPICS_EXAMPLES: &str = "\
Relevance is X ln p(word|topic) + (1 - X) ln(p(word|topic) / p(word)): 1 is the order by
probability, 0 puts words first that are rare elsewhere. The coherence (NPMI) is 1 for words that
always stand in the same documents, 0 for those that meet as by chance, -1 for those that never do.

Examples:
  lehr topics runs/news --top 15
  lehr topics runs/news --sort coherence --relevance 0.3
  lehr topics runs/news --json --no-coherence";

const CONVERT_EXAMPLES: &str = "\
Examples:
  lehr convert news.jsonl -o news.lehr
  lehr convert docword.txt.gz --vocab vocab.txt -o corpus.lehr
  lehr fit lda corpus.lehr -k 50";

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

/// How to read new data, of whatever kind the run's model takes.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// Of mixtures.
    #[command(flatten)]
    pub points: PointsArgs,
    /// Of LDA.
    #[command(flatten)]
    pub docs: DocsArgs,
    /// Of PMF.
    #[command(flatten)]
    pub ratings: RatingsArgs,
}

/// The kinds of data; each has its own flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Rows of numbers.
    Points,
    /// Bags of words.
    Documents,
    /// Numbers that users gave to items.
    Ratings,
}

impl DataArgs {
    /// A given flag that is for another kind of data, and that kind's name.
    pub fn not_for(&self, kind: DataKind) -> Option<(&'static str, &'static str)> {
        let given = [
            (DataKind::Points, "points", self.points.given()),
            (DataKind::Documents, "documents", self.docs.given()),
            (DataKind::Ratings, "ratings", self.ratings.given()),
        ];
        let others = given.into_iter().filter(|(of, ..)| *of != kind);
        let mut flags =
            others.flat_map(|(_, name, flags)| flags.into_iter().map(move |flag| (flag, name)));
        // Ratings may have a line of names as well.
        flags.find(|(flag, _)| !(kind == DataKind::Ratings && *flag == "--header"))
    }
}

/// `lehr partial`.
#[derive(Debug, Args)]
pub struct PartialArgs {
    /// The run directory to go on from; it stays as it is.
    pub run: PathBuf,
    /// The new data, in any format that fit reads.
    pub data: PathBuf,
    /// How to read them; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
    /// How to fit.
    #[command(flatten)]
    pub fit: FitArgs,
}

/// `lehr eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The data to score, in any format that fit reads.
    pub data: PathBuf,
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
    /// The data to label.
    pub data: PathBuf,
    /// Where to write: .csv, .tsv, .csv.gz, .tsv.gz, .npy or .parquet.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// How to read the data; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
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

/// `lehr topics`.
#[derive(Debug, Args)]
pub struct TopicsArgs {
    /// The run directory.
    pub run: PathBuf,
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
    /// The order of the topics: the largest or the most coherent first.
    #[arg(long, value_enum, default_value_t = TopicOrder::Size)]
    pub sort: TopicOrder,
    /// Print one JSON line with everything.
    #[arg(long)]
    pub json: bool,
}

/// An order of topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TopicOrder {
    // No doc comments here: help would become a page of its own.
    Size,
    Coherence,
}

/// `lehr convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The documents, in any format that 'lehr fit lda' reads.
    pub data: PathBuf,
    /// The file to write; its name ends in .lehr.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it is there.
    #[arg(long)]
    pub force: bool,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
    /// How to read the documents.
    #[command(flatten)]
    pub docs: DocsArgs,
    /// Which words to keep.
    #[command(flatten)]
    pub words: WordsArgs,
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
