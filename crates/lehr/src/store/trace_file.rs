//! `trace.jsonl`: observations to lines and back, and whether all are there that a checkpoint builds on.

use std::io;
use std::path::Path;

use super::files::{Files, TRACE};
use super::saved::Saved;
use crate::fit::Observation;
use crate::fit::{Outcome, Progress};
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

    /// Whether this is an observation of the run under way, before its step. One that was made
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

pub(super) fn last_run(trace: &[Observation], restart: u32) -> u32 {
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
                "{}: is missing; the run goes on, and its trace starts here, as does what a tolerance \
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::stop::StopReason;
    use crate::fit::{DriverPart, State};
    use crate::lambda::Lambda;
    use crate::math::table::Table;

    fn observation(restart: u32, run: u32, step: u64, closing: bool) -> Observation {
        let text = format!(
            r#"{{"restart": {restart}, "run": {run}, "step": {step}, "seconds": 0.5, "items": 1, "rho": 1.0,
            "effective": 2.0, "batch": 2, "temperature": 0.5, "bound": -1.0, "guard_hits": 0,
            "closing": {closing}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn outcome(restart: u32) -> Outcome {
        Outcome { restart, bound: -1.0, steps: 3, stop: StopReason::Steps, search: None }
    }

    fn state(step: u64) -> State {
        State { step, ..State::from(Lambda::new(Table::new(1, 1), false, Vec::new())) }
    }

    fn pending(restart: u32, run: Option<u32>, step: u64, done: Vec<Outcome>) -> Saved {
        let driver = run.map(|run| DriverPart {
            name: "hops".to_string(),
            run,
            notes: serde_json::Value::Null,
            states: Vec::new(),
        });
        Saved::Pending(Progress { restart, state: state(step), done, best: None, driver })
    }

    #[test]
    fn a_checkpoint_builds_on_ended_restarts_and_its_own_steps() {
        let trace: Vec<_> = [(0, 0), (0, 2), (0, 3), (1, 0), (1, 2), (1, 4), (2, 0)]
            .map(|(restart, step)| observation(restart, 0, step, step == 3))
            .to_vec();
        // Two of restart 0, not its closing one; of restart 1 those before step 4.
        assert_eq!(count(&trace, &pending(1, None, 4, vec![outcome(0)])), 4);
        assert_eq!(count(&trace, &pending(1, None, 4, vec![])), 2);
        let complete = Saved::Complete(state(3), 0, vec![outcome(0), outcome(1)]);
        assert_eq!(count(&trace, &complete), 2 + 3);
    }

    #[test]
    fn earlier_runs_of_a_driver_count_fully_and_later_ones_not() {
        let mut trace = Vec::new();
        for run in 0..3 {
            trace.extend([0, 2, 4].map(|step| observation(0, run, step, false)));
            trace.push(observation(0, run, 5, true));
        }
        for (run, expected) in [(0, 1), (1, 4), (2, 7)] {
            let saved = pending(0, Some(run), 2, vec![]);
            assert_eq!(count(&trace, &saved), expected, "{run}");
        }
        // Without a driver's word for it, the last run is under way.
        assert_eq!(count(&trace, &pending(0, None, 2, vec![])), 7);
        let cut = Cut::of(&Saved::Complete(state(4), 0, vec![outcome(0)]), &trace);
        let history: Vec<u64> =
            trace.iter().filter(|o| cut.is_history(o)).map(|o| o.step).collect();
        assert_eq!(history, [0, 2]);
        assert_eq!(trace.iter().filter(|o| cut.is_past(o)).count(), 8);
    }

    #[test]
    fn plain_observations_are_written_as_ever_and_events_survive() {
        let plain = observation(0, 0, 2, false);
        assert!(!line(&plain).contains("run") && !line(&plain).contains("event"));
        let told = Observation {
            run: 3,
            event: Some(serde_json::json!({"hop": 2, "kept": true})),
            ..plain.clone()
        };
        let bytes = to_bytes(&[plain.clone(), told.clone()]);
        let read = parse(&bytes, Path::new("trace.jsonl"));
        assert!(read.fault.is_none());
        assert_eq!(read.observations, [plain, told]);
    }
}
