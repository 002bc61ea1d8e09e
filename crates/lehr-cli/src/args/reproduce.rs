//! What `lehr reproduce` takes.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use lehr_paper::Which;

use crate::output::folder_path;
use crate::text::parse_whole;

/// Arguments of `lehr reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Which experiment
    #[arg(value_name = "EXPERIMENT", hide_possible_values = false, value_parser = wanted())]
    pub wanted: Wanted,
    /// Minutes instead of hours: synthetic and bundled data only, small, with few starts
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
    #[arg(long, short, value_name = "DIR", value_parser = folder_path())]
    pub out: PathBuf,
}

fn parse_runs(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 1..=10_000) => Ok(n),
        _ => Err("use a whole number from 1 to 10000, such as 10".into()),
    }
}

/// The experiments that were asked for.
#[derive(Debug, Clone)]
pub struct Wanted(pub Vec<Which>);

/// One experiment by its name, or all of them.
fn wanted() -> impl TypedValueParser<Value = Wanted> {
    let all = PossibleValue::new("all").help("All of them, one after the other");
    let each = Which::ALL.map(|which| PossibleValue::new(which.name()).help(which.about()));
    PossibleValuesParser::new([all].into_iter().chain(each)).map(|name| {
        let is_asked = |which: &Which| name == "all" || name == which.name();
        Wanted(Which::ALL.into_iter().filter(is_asked).collect())
    })
}
