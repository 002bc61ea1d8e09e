//! One experiment from its data to its part of the page.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::experiment::{Experiment, Options, Stop};
use crate::records::Store;
use crate::{Which, page, pool, tables};

/// An experiment with its data read.
pub struct Reproduction {
    experiment: Box<dyn Experiment>,
    options: Options,
}

/// How an experiment ended.
#[derive(Debug)]
pub enum Outcome {
    /// All runs are there, and all files written.
    Complete {
        /// The page in Markdown, with this and all other experiments in the folder; it is there as HTML too.
        page: PathBuf,
    },
    /// It was stopped; the same command continues.
    Stopped {
        /// Runs that are there.
        done: usize,
        /// Runs there should be.
        all: usize,
    },
}

impl Reproduction {
    /// Reads or makes the experiment's data.
    pub fn new(which: Which, options: &Options) -> anyhow::Result<Self> {
        Ok(Reproduction { experiment: which.experiment(options)?, options: options.clone() })
    }

    /// Runs what the folder `out` does not have yet, on this many `threads` (0: one for every core), and writes
    /// figures, tables and the page. Shows its progress on stderr unless it is to be `quiet`.
    pub fn run(
        &self,
        out: &Path,
        threads: usize,
        quiet: bool,
        stop: Stop<'_>,
    ) -> anyhow::Result<Outcome> {
        let Reproduction { experiment, options } = self;
        let experiment = &**experiment;
        let folder = out.join(experiment.name());
        std::fs::create_dir_all(&folder)
            .map_err(|error| anyhow!("cannot create the folder {}: {error}", folder.display()))?;
        let jobs = experiment.jobs();
        let mut store = Store::open(&folder, experiment, options)?;
        pool::run(experiment, &jobs, &mut store, threads, quiet, stop)?;
        let records = store.records(&jobs);
        if records.len() < jobs.len() {
            return Ok(Outcome::Stopped { done: records.len(), all: jobs.len() });
        }
        tables::write(&folder, &records)?;
        page::write_section(&folder, experiment, options, &records)?;
        // Another experiment may take an hour: what is there can be read meanwhile.
        let page = page::write(out)?;
        Ok(Outcome::Complete { page })
    }
}
