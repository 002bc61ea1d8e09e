//! A run directory as a sink: kept up to date while a fit runs, so that the fit can end at any moment.

use std::fs::File;
use std::path::Path;

use super::directory::RunDirectory;
use super::run::Run;
use super::run_config::RunConfig;
use super::saved::Saved;
use super::sink::Sink;
use super::trace_file;
use crate::fit::Observation;
use crate::fit::Progress;
use crate::models::Stored;
use crate::{Error, Result, write};

/// Keeps a fit in a run directory.
#[derive(Debug)]
pub struct Disk {
    directory: RunDirectory,
    /// Open from the first step on.
    trace: Option<File>,
}

impl Disk {
    /// A sink for a new run. Refuses a directory that holds one, before long work.
    pub fn new(path: &Path) -> Result<Self> {
        let directory = RunDirectory::planned(path);
        directory.check_free()?;
        Ok(Disk { directory, trace: None })
    }

    /// A sink for a run that goes on; its directory is locked.
    pub(super) fn of(directory: RunDirectory) -> Self {
        Disk { directory, trace: None }
    }

    fn with_trace(&mut self, work: impl FnOnce(&mut File, &Path) -> Result<()>) -> Result<()> {
        let trace = self.trace.as_mut().expect("a sink is opened before it is written to");
        work(trace, &self.directory.trace_path())
    }
}

impl<M: Stored> Sink<M> for Disk {
    fn create(
        &mut self,
        model: &M,
        config: &mut RunConfig<M>,
        first: Option<&Progress>,
    ) -> Result<()> {
        self.directory = RunDirectory::create(self.directory.path(), model, config, first)?;
        Ok(())
    }

    fn open(&mut self, kept: &[Observation]) -> Result<()> {
        self.directory.sweep::<M>();
        self.directory.write_trace(kept)?;
        let path = self.directory.trace_path();
        let file = File::options().append(true).open(&path);
        self.trace = Some(file.map_err(|e| Error::io(path, "cannot write", e))?);
        Ok(())
    }

    fn observe(&mut self, observation: &Observation) -> Result<()> {
        let line = trace_file::line(observation);
        self.with_trace(|trace, path| write::append(trace, line.as_bytes(), path))
    }

    fn checkpoint(
        &mut self,
        model: &M,
        progress: &dyn Fn() -> Progress,
        observations: u64,
    ) -> Result<()> {
        // The trace must never be behind the checkpoint: the tolerance is rebuilt from it.
        self.with_trace(|trace, path| {
            trace.sync_data().map_err(|e| Error::io(path, "cannot write", e))
        })?;
        self.directory.save(model, &Saved::Pending(progress()), observations)
    }

    fn end(&mut self, run: &mut Run<M>) -> Result<()> {
        let order = |o: &Observation| (o.restart, o.run, o.step);
        if !run.trace.is_sorted_by_key(order) {
            // A finished run went on with a restart that was not its last.
            run.trace.sort_by_key(order);
            self.directory.write_trace(&run.trace)?;
        }
        if let Some(result) = &mut run.result {
            result.run = self.directory.path().to_path_buf();
            self.directory.write_result(result)?;
        }
        // Last: a run whose checkpoint says that it has ended is not touched again.
        let observations = trace_file::count(&run.trace, &run.saved);
        self.directory.save(&run.model, &run.saved, observations)
    }
}
