//! The flags of `lehr recommend`.

use std::path::PathBuf;

use clap::Args;

use crate::output::data_path;
use crate::text::{parse_number, parse_whole};

/// `lehr recommend`.
#[derive(Debug, Args)]
pub struct RecommendArgs {
    /// The run directory.
    pub run: PathBuf,
    /// Who to recommend to: a user's id as in the ratings. May be given several times.
    #[arg(long, value_name = "ID", required = true, allow_negative_numbers = true)]
    pub user: Vec<String>,
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
    /// List items, too, that the user has rated already.
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
