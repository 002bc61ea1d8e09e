//! `lehr reproduce`: the figures, the theorem and the claims of the paper, run again with controls.
//!
//! ```text
//! an experiment      what is run and why: its jobs, its figures, its claims     fig1/ ... sgd/
//! jobs -> records    one job is one run; finished ones are kept and not repeated   records.rs, pool.rs
//! records -> claims  paired differences, their standard errors, a verdict       claims.rs
//! all of it -> out/  raw tables, figures, a page in Markdown and HTML           tables.rs, page.rs
//! ```
//! Every fit goes through the library's own `fit`, as a user's would.

mod claims;
mod curve;
mod data;
#[cfg(test)]
mod fake;
mod fig1;
mod fig2;
mod fig3;
mod fig4;
mod page;
mod pool;
mod quench;
mod records;
mod sgd;
mod tables;
mod theorem;

use std::path::{Path, PathBuf};

use anyhow::anyhow;

pub use claims::{Claim, Condition};
pub use curve::observe;
pub use records::{Job, Point, Record, Records, X};

use lehr_plot::Figure;

use crate::args::Which;
use records::Store;

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Small and made or bundled data, minutes instead of hours.
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

/// Complains about data that are not there, before hours are spent on other experiments.
pub fn check(which: Which, options: &Options) -> anyhow::Result<()> {
    data::check_folder(options)?;
    match which {
        Which::Fig1 if !options.quick => data::first_of(options, &[data::MOVIELENS_1M]).map(drop),
        Which::Fig2 if !options.quick => {
            data::first_of(options, &[data::NEW_YORK_TIMES, data::REUTERS]).map(drop)
        }
        _ => Ok(()),
    }
}

/// An experiment with its data read.
pub fn experiment(which: Which, options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    match which {
        Which::All => anyhow::bail!("'all' is not one experiment"),
        Which::Fig1 => fig1::new(options),
        Which::Fig2 => fig2::new(options),
        Which::Fig3 => fig3::new(options),
        Which::Fig4 => fig4::new(options),
        Which::Theorem => theorem::new(options),
        Which::Sgd => sgd::new(options),
    }
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

/// How an experiment ended.
pub enum Outcome {
    /// All runs are there, and all files written.
    Complete,
    /// The user stopped it; the same command goes on.
    Stopped {
        /// Runs that are there.
        done: usize,
        /// Runs there should be.
        all: usize,
    },
}

/// Runs what is left of an experiment and writes its figures, tables and part of the page.
pub fn reproduce(
    experiment: &dyn Experiment,
    options: &Options,
    threads: usize,
    quiet: bool,
    out: &Path,
) -> anyhow::Result<Outcome> {
    let folder = out.join(experiment.name());
    std::fs::create_dir_all(&folder)
        .map_err(|error| anyhow!("cannot create the folder {}: {error}", folder.display()))?;
    let jobs = experiment.jobs();
    let mut store = Store::open(&folder, experiment, options)?;
    pool::run(experiment, &jobs, &mut store, threads, quiet)?;
    let records = store.records(&jobs);
    if records.len() < jobs.len() {
        return Ok(Outcome::Stopped { done: records.len(), all: jobs.len() });
    }
    tables::write(&folder, &records)?;
    page::write_section(&folder, experiment, options, &records)?;
    Ok(Outcome::Complete)
}

/// Puts the parts that are there together to one page, in Markdown and in HTML.
pub fn write_page(out: &Path, names: &[&str]) -> anyhow::Result<[PathBuf; 2]> {
    page::write(out, names)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn more_starts_go_on_from_fewer() {
        for which in Which::EACH {
            let of = |runs| {
                let options = Options { quick: true, runs: Some(runs), data: None, seed: 1 };
                experiment(which, &options).unwrap()
            };
            let (few, more) = (of(2), of(4));
            assert_eq!(few.about(), more.about(), "{}: what runs are compared by", few.name());
            assert_ne!(few.starts(), more.starts());
            let keys = |e: &dyn Experiment| -> HashSet<_> {
                e.jobs().into_iter().map(|job| (job.setting, job.method, job.start)).collect()
            };
            let (first, all) = (keys(&*few), keys(&*more));
            let again: Vec<_> = first.difference(&all).collect();
            // Figure 3's further starts begin after its starts, and figure 4's go on from one M to the next:
            // these alone move when there are more.
            let moved = |(_, method, _): &(String, String, u32)| match which {
                Which::Fig3 => method.ends_with("further starts"),
                Which::Fig4 => method.starts_with("SVI+"),
                _ => false,
            };
            assert!(again.iter().all(|key| moved(key)), "{}: {again:?}", few.name());
        }
    }
}
