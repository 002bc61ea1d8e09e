//! One file per command.

pub mod fit;
pub mod resume;
pub mod eval;
pub mod transform;
pub mod show;
pub mod demo;

use std::path::Path;

use anyhow::bail;

use lehr::data::Points;
use lehr::models::Stored;
use lehr::models::mixture::Mixture;
use lehr::run::checkpoint::Saved;
use lehr::run::directory::{RecordOf, RunDirectory};

use crate::args::PointsArgs;

/// How a command ended, if not in an error.
pub enum End {
    /// As asked.
    Done,
    /// Early, but what is there can be used.
    StoppedEarly,
}

/// A saved run of a mixture.
struct OpenRun {
    directory: RunDirectory,
    record: RecordOf<Mixture>,
    model: Mixture,
    saved: Saved,
}

impl OpenRun {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let directory = RunDirectory::open(path)?;
        check_model(&directory)?;
        let record = directory.record::<Mixture>()?;
        let (model, saved) = directory.load::<Mixture>()?;
        Ok(OpenRun { directory, record, model, saved })
    }

    /// Reads data for this model: as the run did, with flags on top.
    fn read(&self, path: &Path, flags: &PointsArgs) -> anyhow::Result<Points> {
        let points = Mixture::read(path, &flags.over(self.record.data.options.clone()))?;
        self.model
            .check_fits(&points, &self.record.data.columns)
            .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        Ok(points)
    }
}

/// Whether this program knows the run's model.
fn check_model(directory: &RunDirectory) -> anyhow::Result<()> {
    match directory.model_name()?.as_str() {
        "gmm" | "dpgmm" => Ok(()),
        other => bail!(
            "{}: this run's model is '{other}', which this version of lehr does not know; update lehr",
            directory.path().display()
        ),
    }
}
