//! What an experiment is: jobs that can be run, and figures and claims from what they found.

use std::path::PathBuf;

use lehr_plot::Figure;

use crate::claims::Claim;
use crate::records::{Job, Record, Records};

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Small synthetic or bundled data, minutes instead of hours.
    pub quick: bool,
    /// Starts of each method, instead of the experiment's own number.
    pub runs: Option<u32>,
    /// Where the data sets are.
    pub data: Option<PathBuf>,
    /// The seed of everything random.
    pub seed: u64,
}

impl Options {
    /// Starts of each method: as asked, or else the experiment's number, or a few if it is to be quick.
    pub fn runs(&self, full: u32, quick: u32) -> u32 {
        self.runs.unwrap_or(if self.quick { quick } else { full })
    }
}

/// Asks whether a run is to stop.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// One figure of the paper, or one statement, as something that can be run.
pub trait Experiment: Sync {
    /// Its name on the command line and of its folder.
    fn name(&self) -> &'static str;

    /// The heading of its part of the page.
    fn title(&self) -> String;

    /// Its data and settings, a paragraph of Markdown each. Also what stored runs are compared by: runs
    /// of other settings are not mixed with these. Every run is a function of this, the seed and its job.
    fn about(&self) -> Vec<String>;

    /// How many starts there are, in a paragraph of Markdown. Runs of some starts can be followed by
    /// those of more.
    fn starts(&self) -> String;

    /// Whether its data come from the user's folder, unless it is to be quick.
    fn reads_data(&self) -> bool {
        false
    }

    /// All runs.
    fn jobs(&self) -> Vec<Job>;

    /// One run, in this thread; the same job gives the same bits. `None` if `stop` told it to stop.
    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>>;

    /// The figures of finished runs, with the ends of their file names and what is to be seen.
    fn figures(&self, records: &Records) -> Vec<Picture>;

    /// What the finished runs say about the paper's claims.
    fn claims(&self, records: &Records) -> Vec<Claim>;
}

/// A figure with its words.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What its file name ends with; nothing, for the only one.
    pub suffix: String,
    /// What is to be seen, in a sentence or two.
    pub caption: String,
    /// The figure itself.
    pub figure: Figure,
}
