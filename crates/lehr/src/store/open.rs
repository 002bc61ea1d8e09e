//! A run from its files, wherever those are.

use super::checkpoints::{Found, find};
use super::files::{CONFIG, Files, RESULT};
use super::result::RunResult;
use super::run_config::{self, RunConfig};
use super::saved::Saved;
use super::sidecar::Checked;
use super::trace_file;
use crate::error::{Verb, action, advice};
use crate::fit::Observation;
use crate::models::Stored;
use crate::{Error, ErrorKind, Result};

/// A run without its trace and its result.
#[derive(Clone)]
pub struct Loaded<M: Stored> {
    /// The model.
    pub model: M,
    /// The settings.
    pub config: RunConfig<M>,
    /// Where its fit stands.
    pub saved: Saved,
    /// What the user should know: the newest checkpoint is damaged, and the one before was taken.
    pub warning: Option<String>,
}

/// Everything but the trace and the result.
pub(super) fn load<M: Stored>(files: &dyn Files) -> Result<Loaded<M>> {
    let config: RunConfig<M> = run_config::parse(&files.read(CONFIG)?, &files.path(CONFIG))?;
    let model = model(files, &config)?;
    let Some(Found { saved, warning, .. }) = find(files, &model)? else {
        let what = "the run was stopped before its first checkpoint; start it from scratch with ";
        let message = advice![what, action(Verb::Resume).with(files.place())];
        return Err(Error::run(files.place(), message));
    };
    Ok(Loaded { model, config, saved, warning })
}

/// The model, as it was when the run started.
pub(super) fn model<M: Stored>(files: &dyn Files, config: &RunConfig<M>) -> Result<M> {
    let sidecars = Checked { files, sums: &config.files };
    let restored = M::restore(config.params.clone(), config.frozen.clone(), &sidecars);
    restored.map_err(|error| match error.kind() {
        // These name their file.
        ErrorKind::Io { .. } | ErrorKind::Parse { .. } | ErrorKind::Damaged { .. } => error,
        _ => Error::run(files.path(CONFIG), error.to_string()),
    })
}

/// All observations. A last line that a crash cut short is left out.
pub(super) fn trace(files: &dyn Files) -> Result<Vec<Observation>> {
    let trace = trace_file::read(files)?;
    trace.fault.map_or(Ok(trace.observations), Err)
}

/// How the fit ended, if it has.
pub(super) fn result(files: &dyn Files) -> Option<RunResult> {
    serde_json::from_slice(&files.find(RESULT).ok()?).ok()
}
