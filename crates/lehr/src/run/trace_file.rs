//! `trace.jsonl`: observations to lines and back, and whether all are there that a checkpoint builds on.

use std::fs;
use std::io;
use std::path::Path;

use crate::run::checkpoint::Saved;
use crate::run::trace::Observation;
use crate::{Error, Result, write};

pub(super) fn line(observation: &Observation) -> String {
    let mut line = serde_json::to_string(observation).expect("plain numbers become JSON");
    line.push('\n');
    line
}

pub(super) fn save(path: &Path, observations: &[Observation]) -> Result<()> {
    let lines: String = observations.iter().map(line).collect();
    write::whole(path, lines.as_bytes())
}

/// The observations of a file, up to the first damaged line.
pub(super) struct Read {
    pub observations: Vec<Observation>,
    /// What is wrong with that line, if there is one.
    pub fault: Option<Error>,
    /// Whether there is no file at all.
    pub is_missing: bool,
}

/// Reads all observations. A last line that a crash cut short is left out.
pub(super) fn read(path: &Path) -> Result<Read> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Ok(Read { observations: Vec::new(), fault: None, is_missing: true });
        }
        Err(e) => return Err(Error::io(path, "cannot read", e)),
    };
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    let mut read = Read { observations: Vec::new(), fault: None, is_missing: false };
    let lines = bytes[..complete].split(|&byte| byte == b'\n').filter(|_| complete > 0);
    for (i, line) in lines.enumerate() {
        match serde_json::from_slice(line) {
            Ok(observation) => read.observations.push(observation),
            Err(e) => {
                let message = format!("is damaged ({e}); {WHAT_TO_DO}");
                read.fault = Some(Error::parse_at(path, i as u64 + 1, None, message));
                break;
            }
        }
    }
    Ok(read)
}

const WHAT_TO_DO: &str =
    "restore the file from a backup, or delete it to go on without the observations so far";

/// How many observations a checkpoint builds on: those before its climb's step and all of the restarts
/// that have ended. Those that a run makes because it ends do not count: it may go on.
pub(super) fn count(trace: &[Observation], saved: &Saved) -> u64 {
    let (restart, step) = match saved {
        Saved::Pending(progress) => (progress.restart, progress.state.step),
        Saved::Complete(state, best, outcomes) => (outcomes[*best].restart, state.step),
    };
    let ended = |o: &Observation| saved.outcomes().iter().any(|d| d.restart == o.restart);
    let counts = |o: &&Observation| match o.restart == restart {
        true => o.step < step && !o.closing,
        false => ended(o) && !o.closing,
    };
    trace.iter().filter(counts).count() as u64
}

/// The trace to go on with from `saved`, which was written when there were `expected` observations; with a
/// warning if there is something to say. Damage behind the checkpoint does no harm: those steps are
/// made again.
pub(super) fn read_for(
    path: &Path,
    saved: &Saved,
    expected: Option<u64>,
) -> Result<(Vec<Observation>, Option<String>)> {
    let Read { observations, fault, is_missing } = read(path)?;
    let found = count(&observations, saved);
    match (expected, fault) {
        (Some(expected), _) if found == expected => Ok((observations, None)),
        (Some(_), None) if is_missing => {
            let text = format!(
                "{}: is missing; the run goes on, and its trace begins here, as does what a tolerance \
                 looks at",
                path.display()
            );
            Ok((observations, Some(text)))
        }
        (_, Some(fault)) => Err(fault),
        (Some(expected), None) => {
            let text = format!(
                "has {found} observations, and {expected} were there when the checkpoint was written; \
                 {WHAT_TO_DO}"
            );
            Err(Error::run(path, text))
        }
        (None, None) => Ok((observations, None)),
    }
}
