//! `trace.jsonl`: observations to lines and back, and whether all are there that a checkpoint builds on.

use std::io;
use std::path::Path;

use super::files::{Files, TRACE};
use super::saved::Saved;
use crate::fit::{Outcome, Progress};
use crate::run::trace::Observation;
use crate::{Error, Result};

pub(super) fn line(observation: &Observation) -> String {
    let mut line = serde_json::to_string(observation).expect("plain numbers become JSON");
    line.push('\n');
    line
}

/// The file's bytes.
pub(super) fn to_bytes(observations: &[Observation]) -> Vec<u8> {
    observations.iter().map(line).collect::<String>().into_bytes()
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
pub(super) fn read(files: &dyn Files) -> Result<Read> {
    let path = files.path(TRACE);
    match files.find(TRACE) {
        Ok(bytes) => Ok(parse(&bytes, &path)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Ok(Read { observations: Vec::new(), fault: None, is_missing: true })
        }
        Err(e) => Err(Error::io(path, "cannot read", e)),
    }
}

fn parse(bytes: &[u8], path: &Path) -> Read {
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    let mut read = Read { observations: Vec::new(), fault: None, is_missing: false };
    let lines = bytes[..complete].split(|&byte| byte == b'\n').filter(|_| complete > 0);
    for (i, line) in lines.enumerate() {
        match serde_json::from_slice(line) {
            Ok(observation) => read.observations.push(observation),
            Err(e) => {
                let message = format!("is damaged ({}); {WHAT_TO_DO}", e);
                read.fault = Some(Error::parse_at(path, i as u64 + 1, None, message));
                break;
            }
        }
    }
    read
}

const WHAT_TO_DO: &str =
    "restore the file from a backup, or delete it to go on without the observations so far";

/// Where a checkpoint cuts the trace: which observations it builds on.
pub(super) struct Cut {
    restart: u32,
    run: u32,
    step: u64,
    /// The restarts that have ended.
    ended: Vec<u32>,
}

impl Cut {
    fn of(saved: &Saved, trace: &[Observation]) -> Self {
        match saved {
            Saved::Pending(progress) => Cut::at(progress, trace),
            Saved::Complete(state, best, outcomes) => {
                let restart = outcomes[*best].restart;
                Cut {
                    restart,
                    run: last_run(trace, restart),
                    step: state.step,
                    ended: all(outcomes),
                }
            }
        }
    }

    /// The cut of a fit under way. Without a driver's word for it, the run under way is the last one that
    /// the trace has of the restart.
    pub(super) fn at(progress: &Progress, trace: &[Observation]) -> Self {
        let Progress { restart, state, done, driver, .. } = progress;
        let run = driver.as_ref().map_or_else(|| last_run(trace, *restart), |driver| driver.run);
        Cut { restart: *restart, run, step: state.step, ended: all(done) }
    }

    /// Whether this is an observation of the climb under way, before its step. One that was made
    /// because a run ended does not count: it may go on.
    pub(super) fn is_history(&self, o: &Observation) -> bool {
        (o.restart, o.run) == (self.restart, self.run) && o.step < self.step && !o.closing
    }

    /// Whether this is an observation of a restart that has ended, or of an earlier run of this one.
    pub(super) fn is_past(&self, o: &Observation) -> bool {
        match o.restart == self.restart {
            true => o.run < self.run,
            false => self.ended.contains(&o.restart),
        }
    }
}

fn all(outcomes: &[Outcome]) -> Vec<u32> {
    outcomes.iter().map(|outcome| outcome.restart).collect()
}

fn last_run(trace: &[Observation], restart: u32) -> u32 {
    trace.iter().filter(|o| o.restart == restart).map(|o| o.run).max().unwrap_or(0)
}

/// How many observations a checkpoint builds on.
pub(super) fn count(trace: &[Observation], saved: &Saved) -> u64 {
    let cut = Cut::of(saved, trace);
    let counts = |o: &&Observation| cut.is_history(o) || (cut.is_past(o) && !o.closing);
    trace.iter().filter(counts).count() as u64
}

/// The trace to go on with from `saved`, which was written when there were `expected` observations; with a
/// warning if there is something to say. Damage behind the checkpoint does no harm: those steps are
/// made again.
pub(super) fn read_for(
    files: &dyn Files,
    saved: &Saved,
    expected: Option<u64>,
) -> Result<(Vec<Observation>, Option<String>)> {
    let Read { observations, fault, is_missing } = read(files)?;
    let path = files.path(TRACE);
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
