//! The flags of `lehr report` and `lehr plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    /// Of points and documents: the column or field of the data that says what each is called.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub id: Option<String>,
    /// Of ratings: who to recommend to. May be given several times [default: nine users with few to many ratings].
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub user: Vec<String>,
    // Last, since flags that are there already are not taken for columns of ratings.
    /// What is shown with the run.
    #[command(flatten)]
    pub beside: BesideArgs,
}

/// What a page or a picture shows with the run.
#[derive(Debug, Args)]
pub struct BesideArgs {
    /// Data to show: documents under their topics, items in the scatter, ratings to test on. They become part of the
    /// file.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub data: Option<PathBuf>,
    /// Of documents: show the topics' shares by this column or field of the data; dates are gathered by month.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub by: Option<String>,
    /// Of ratings: what items are called, as for 'lehr recommend'.
    #[arg(long, value_name = "FILE", value_parser = data_path())]
    pub titles: Option<PathBuf>,
    /// How to read the data; by default as in the run.
    #[command(flatten)]
    pub input: DataArgs,
    /// What items and documents are called.
    #[arg(skip)]
    pub id: Option<String>,
    /// Who to recommend to.
    #[arg(skip)]
    pub user: Vec<String>,
}

impl BesideArgs {
    /// Tells the reader which columns of the data are no numbers of the model.
    pub fn set_columns(&mut self) {
        self.input.aside = self.id.iter().chain(&self.by).cloned().collect();
        self.input.id.clone_from(&self.id);
        self.input.ids = true;
    }
}

/// `lehr plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The run directory; or several of one model, or sweeps.
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// The picture to write, e.g. bound.png or bound.svg; - is standard output, with --output-format.
    #[arg(short, long, value_name = "FILE", value_parser = file_path())]
    pub output: PathBuf,
    /// What to draw.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = What::Bound)]
    pub what: What,
    /// Of bound and held-out: what to draw against.
    #[arg(long, value_enum, value_name = "AXIS", default_value_t = Against::Steps)]
    pub against: Against,
    /// The format, if the file's name does not say it.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<PictureFormat>,
    /// Whether the file may be there.
    #[command(flatten)]
    pub force: Force,
    /// What is shown with the run.
    #[command(flatten)]
    pub beside: BesideArgs,
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The bound, every start of it; of sweeps against the size.
    Bound,
    /// The held-out score; of sweeps and several runs against the size.
    HeldOut,
    /// Topics: their words, as bars or, of more than twelve, as a list.
    Topics,
    /// Clusters: items and components on principal components.
    Clusters,
    /// Topics and clusters: how large they are.
    Sizes,
    /// Topics: those that are alike near each other.
    Map,
    /// Topics: their shares by the column that --by names.
    Groups,
    /// Clusters: their means, column by column.
    Profile,
    /// Ratings: how much each dimension tells apart.
    Relevance,
    /// Ratings: what intervals hold against what they shall hold.
    Calibration,
    /// Ratings: the error by number of ratings.
    Errors,
    /// Ratings: how well items are liked by all.
    Biases,
}

impl What {
    /// The chart of a page that shows it.
    pub fn chart(self) -> &'static str {
        match self {
            What::Bound => "bound",
            What::HeldOut => "held-out",
            What::Topics => "topics",
            What::Clusters => "scatter",
            What::Sizes => "sizes",
            What::Map => "map",
            What::Groups => "by-group",
            What::Profile => "profile",
            What::Relevance => "relevance",
            What::Calibration => "calibration",
            What::Errors => "by-count",
            What::Biases => "biases",
        }
    }

    /// What it is called on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
    }
}

/// What a bound is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Updates; sweeps over the data in batch mode.
    Steps,
    /// Passes over the data.
    Passes,
    /// Seconds of work.
    Seconds,
}

impl Against {
    /// The view of a chart that has it.
    pub fn view(self) -> &'static str {
        match self {
            Against::Steps => "steps",
            Against::Passes => "passes",
            Against::Seconds => "seconds",
        }
    }
}

/// The formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    /// Pixels.
    Png,
    /// Lines and text, to be scaled and edited.
    Svg,
}
