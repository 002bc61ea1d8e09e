//! The last two checkpoints of a run: the newest, and the one before in case that is damaged.

use std::fs;
use std::path::PathBuf;

use crate::models::Stored;
use crate::store::checkpoint::{self, Saved};
use crate::store::directory::RunDirectory;
use crate::{Error, ErrorKind, Result};

pub(super) const NEWEST: &str = "checkpoint.safetensors";
pub(super) const BEFORE: &str = "checkpoint.previous.safetensors";

/// A checkpoint that was read.
pub(super) struct Found {
    pub saved: Saved,
    /// How many observations there were when it was written; not known of runs before format 2.
    pub observations: Option<u64>,
    /// If it is not the newest: what is wrong with that one.
    pub warning: Option<String>,
}

impl RunDirectory {
    /// Lambda and progress.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path().join(NEWEST)
    }

    /// The same, one checkpoint earlier.
    pub fn previous_checkpoint_path(&self) -> PathBuf {
        self.path().join(BEFORE)
    }

    /// Saves where the fit stands, `observations` being there; what was saved last is kept.
    pub(super) fn save<M: Stored>(
        &self,
        model: &M,
        saved: &Saved,
        observations: u64,
    ) -> Result<()> {
        let previous = self.previous_checkpoint_path();
        let (newest, observations) = (self.checkpoint_path(), Some(observations));
        let written = checkpoint::write(&newest, Some(&previous), model, saved, observations);
        written.map_err(|error| match self.path().is_dir() {
            true => error,
            false => Error::run(
                self.path(),
                "the directory is gone; it was deleted or moved while the fit was running",
            ),
        })
    }

    /// The newest checkpoint that is whole; none if there never was one.
    pub(super) fn find<M: Stored>(&self, model: &M) -> Result<Option<Found>> {
        let (newest, before) = (self.checkpoint_path(), self.previous_checkpoint_path());
        let has_before = before.exists();
        let fault = match newest.exists() {
            false if !has_before => return Ok(None),
            false => Error::run(&newest, "is missing"),
            true => match checkpoint::read(&newest, model) {
                Ok((saved, observations)) => {
                    return Ok(Some(Found { saved, observations, warning: None }));
                }
                Err(fault) if has_before && is_damage(&fault) => fault,
                Err(other) => return Err(other),
            },
        };
        match checkpoint::read(&before, model) {
            Ok((saved, observations)) => {
                let step = match &saved {
                    Saved::Pending(progress) => progress.state.step,
                    Saved::Complete(state, ..) => state.step,
                };
                let warning = format!(
                    "{}; the checkpoint before it is used, which is of step {step}",
                    what(&fault)
                );
                Ok(Some(Found { saved, observations, warning: Some(warning) }))
            }
            Err(second) => Err(Error::run(
                self.path(),
                format!(
                    "neither checkpoint can be used: {}; {}; restore one from a backup, or fit again \
                     into another directory",
                    what(&fault),
                    what(&second)
                ),
            )),
        }
    }

    /// Removes a newest checkpoint that is damaged, so that it does not become the one before.
    pub(super) fn drop_damaged(&self) -> Result<()> {
        let path = self.checkpoint_path();
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(path, "cannot remove", e))
            }
            _ => Ok(()),
        }
    }
}

/// Whether an older checkpoint helps. One of another model or a later version is no accident.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Damaged { .. } | ErrorKind::Io { .. })
}

/// What is wrong, without what to do about it.
fn what(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Damaged { path, what } => format!("{}: is damaged ({what})", path.display()),
        _ => error.to_string(),
    }
}
