//! The last two checkpoints of a run: the newest, and the one before in case that is damaged.

use std::io;

use super::checkpoint;
use super::files::{BEFORE, Files, NEWEST};
use super::saved::Saved;
use crate::models::Stored;
use crate::{Error, ErrorKind, Result};

/// A checkpoint that was read.
pub(super) struct Found {
    pub saved: Saved,
    /// How many observations there were when it was written; not known of runs before format 2.
    pub observations: Option<u64>,
    /// If it is not the newest: what is wrong with that one.
    pub warning: Option<String>,
}

/// The newest checkpoint that is whole; none if there never was one.
pub(super) fn find<M: Stored>(files: &dyn Files, model: &M) -> Result<Option<Found>> {
    let newest = read(files, NEWEST, model);
    let fault = match newest {
        Ok(Some((saved, observations))) => {
            return Ok(Some(Found { saved, observations, warning: None }));
        }
        Ok(None) => None,
        Err(fault) if is_damage(&fault) => Some(fault),
        Err(other) => return Err(other),
    };
    let before = read(files, BEFORE, model);
    let fault = match (fault, &before) {
        (None, Ok(None)) => return Ok(None),
        (Some(fault), Ok(None)) => return Err(fault),
        (fault, _) => fault.unwrap_or_else(|| Error::run(files.path(NEWEST), "is missing")),
    };
    match before {
        Ok(before) => Ok(before.map(|(saved, observations)| {
            let step = match &saved {
                Saved::Pending(progress) => progress.state.step,
                Saved::Complete(state, ..) => state.step,
            };
            let warning = format!(
                "{}; the checkpoint before it is used, which is of step {step}",
                what(&fault)
            );
            Found { saved, observations, warning: Some(warning) }
        })),
        Err(second) => Err(Error::run(
            files.place(),
            format!(
                "neither checkpoint can be used: {}; {}; restore one from a backup, or fit again \
                 into another directory",
                what(&fault),
                what(&second)
            ),
        )),
    }
}

/// One of them, if it is there, and the observations that go with it.
fn read<M: Stored>(
    files: &dyn Files,
    name: &str,
    model: &M,
) -> Result<Option<(Saved, Option<u64>)>> {
    match files.find(name) {
        Ok(bytes) => checkpoint::from_bytes(&bytes, &files.path(name), model).map(Some),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(files.path(name), "cannot read", e)),
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
