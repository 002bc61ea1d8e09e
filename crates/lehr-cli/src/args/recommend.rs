//! The flags of `lehr recommend`.

use std::path::PathBuf;

use clap::Args;

use lehr::write::TableFormat;

use crate::output::{Force, data_path, file_path};
use crate::text::{parse_number, parse_whole};

/// `lehr recommend`.
#[derive(Debug, Args)]
pub struct RecommendArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Who to recommend to: a user's id as in the ratings. May be given several times.
    #[arg(long, value_name = "ID", required_unless_present_any = ["users", "all"], allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// Who to recommend to: a file with an id on each line.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub users: Option<PathBuf>,
    /// Recommend to all users of the fit, and of --ratings; to a file, with -o.
    #[arg(long, requires = "output", conflicts_with_all = ["user", "users"])]
    pub all: bool,
    /// Write a table with a row for each item of each list instead: .csv, .tsv, .json, .jsonl or .parquet; - is
    /// standard output, as CSV. Any number of users, in little memory.
    #[arg(short, long, value_name = "FILE", value_parser = file_path(), conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// The format to write, if the file's name does not say it.
    #[arg(long, value_name = "FORMAT", value_parser = super::table_format(), requires = "output")]
    pub output_format: Option<TableFormat>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// How many items.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: usize,
    /// What items are called: movies.dat, u.item, or a CSV or TSV file with ids and titles.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub titles: Option<PathBuf>,
    /// What comes first: the highest expected rating, the highest upper end (expected rating plus
    /// beta standard deviations), or the best in one random draw of everything that is uncertain.
    #[arg(long, value_enum, default_value_t = Ranking::Mean)]
    pub by: Ranking,
    /// ucb: how many standard deviations are added [default: 1].
    #[arg(long, value_name = "X", value_parser = parse_number, allow_negative_numbers = true)]
    pub beta: Option<f64>,
    /// thompson: which draw [default: 0].
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// List only these items: a file with an id on each line.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub items: Option<PathBuf>,
    /// Never list these items: a file with an id on each line.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub exclude: Option<PathBuf>,
    /// Keep expected ratings within a scale, LOW:HIGH; without a value within that of the run's ratings.
    #[arg(long, value_name = "LOW:HIGH", num_args = 0..=1, default_missing_value = "", allow_negative_numbers = true)]
    pub clip: Option<String>,
    /// For each item show which N of the user's ratings most influence the prediction, and by how much.
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub explain: Option<usize>,
    /// With -o: leave out how sure expected ratings are, which saves time.
    #[arg(long, requires = "output")]
    pub no_sd: bool,
    /// Also list items the user has already rated.
    #[arg(long)]
    pub include_seen: bool,
    /// Ratings that came after the fit, of new or known users; they are folded in first. Read like
    /// those of the run.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub ratings: Option<PathBuf>,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// An order of recommendations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Ranking {
    // No doc comments here: help would become its own page.
    Mean,
    Ucb,
    Thompson,
}

/// `lehr similar`.
#[derive(Debug, Args)]
pub struct SimilarArgs {
    /// The run directory.
    pub run: PathBuf,
    /// The item to find others for: its id as in the ratings. May be given several times.
    #[arg(
        long,
        value_name = "ID",
        required_unless_present = "user",
        allow_negative_numbers = true
    )]
    pub item: Vec<String>,
    /// The user to find others for. May be given several times.
    #[arg(long, value_name = "ID", conflicts_with = "item", allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// How many.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_whole::<usize>, allow_negative_numbers = true)]
    pub top: usize,
    /// What items are called: movies.dat, u.item, or a CSV or TSV file with ids and titles.
    #[arg(long, value_name = "FILE", value_parser = data_path(), conflicts_with = "user")]
    pub titles: Option<PathBuf>,
    /// Write a table instead: .csv, .tsv, .json, .jsonl or .parquet; - is standard output, as CSV.
    #[arg(short, long, value_name = "FILE", value_parser = file_path(), conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}
