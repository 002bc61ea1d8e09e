//! The flags of `lehr report`.

use std::path::PathBuf;

use clap::Args;

use super::DataArgs;
use crate::output::{Force, data_path, file_path};

/// `lehr report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run directory; or several of one model, or one sweep, which are compared.
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// The page to write, e.g. news.html; - is standard output.
    #[arg(short, long, value_name = "FILE", value_parser = file_path())]
    pub output: PathBuf,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// Data to show in the page: documents under their topics, items in the scatter, ratings to test on. They become
    /// part of the file.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub data: Option<PathBuf>,
    /// Of points and documents: the column or field of the data that says what each is called.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub id: Option<String>,
    /// Of documents: show the topics' shares by this column or field of the data; dates are gathered by month.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub by: Option<String>,
    /// Of ratings: what items are called, as for 'lehr recommend'.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub titles: Option<PathBuf>,
    /// Of ratings: who to recommend to. May be given several times [default: nine users with few to many ratings].
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub user: Vec<String>,
    /// How to read the data; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
}
