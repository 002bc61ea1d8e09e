//! A run directory: everything about one fit, in files that other programs can read.
//!
//! `config.json` (settings, data fingerprint, versions, CPU), `trace.jsonl` (one observation a
//! line), `checkpoint.safetensors` (lambda and progress) and the one before it, `result.json` (once the
//! fit has ended), and what a model keeps beside them (LDA: `vocabulary.tsv`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{Verb, action, advice};
use crate::models::Stored;
use crate::run::checkpoint::Saved;
use crate::run::checkpoints::{BEFORE, NEWEST};
use crate::run::fit::{Fit, Progress};
use crate::run::lock::{self, Lock};
use crate::run::trace::Observation;
use crate::run::{beside, trace_file};
use crate::{Error, ErrorKind, Result, write};

pub use crate::run::beside::Sum;
pub use crate::run::record::{Cpu, DataRecord, Extension, Record, RecordOf};
pub use crate::run::recorder::Recorder;
pub use crate::run::result::RunResult;

/// The version of the directory's layout. Version 2 has checksums of the files beside the checkpoint;
/// version 1 is still read.
pub const FORMAT: u32 = 2;

/// The oldest version that is read.
const OLDEST: u32 = 1;

const CONFIG: &str = "config.json";
const TRACE: &str = "trace.jsonl";
const RESULT: &str = "result.json";

/// A directory that holds a run.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    /// Held while a fit writes here.
    _lock: Option<Arc<Lock>>,
}

impl RunDirectory {
    /// Begins a run, at `first` if it does not begin at random. Refuses a directory that holds one.
    pub fn create<M: Stored>(
        path: &Path,
        model: &M,
        record: &RecordOf<M>,
        first: Option<&Progress>,
    ) -> Result<Self> {
        RunDirectory::planned(path).check_free()?;
        fs::create_dir_all(path).map_err(|e| Error::io(path, "cannot create", e))?;
        let directory = RunDirectory::planned(path).locked()?;
        directory.check_free()?; // another fit may just have begun here
        directory.clear()?;
        model.save_beside(path)?;
        if let Some(first) = first {
            directory.save(model, &Saved::Pending(first.clone()), 0)?;
        }
        // The record comes last: with it, everything is there.
        let files = beside::sums(path, M::BESIDE)?;
        let record = RecordOf::<M> { format: FORMAT, files, ..record.clone() };
        directory.write_record::<M>(&record)?;
        Ok(directory)
    }

    /// Removes what a process left that was killed before its run had begun: it is not of the next one.
    fn clear(&self) -> Result<()> {
        for name in [NEWEST, BEFORE, TRACE, RESULT] {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(path, "cannot remove", e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a new run may begin here: no run yet, and not a file.
    pub fn check_free(&self) -> Result<()> {
        if self.config().exists() {
            if let Some(held) = lock::held(&self.path) {
                return Err(held);
            }
            return Err(ErrorKind::Occupied { path: self.path.clone(), is_run: true }.into());
        }
        if self.path.exists() && !self.path.is_dir() {
            return Err(ErrorKind::Occupied { path: self.path.clone(), is_run: false }.into());
        }
        Ok(())
    }

    /// A directory in which a run is to begin.
    pub fn planned(path: &Path) -> Self {
        RunDirectory { path: path.to_path_buf(), _lock: None }
    }

    /// The same directory, which no other process can lock until this value is gone.
    pub(crate) fn locked(&self) -> Result<Self> {
        let lock = Lock::take(&self.path)?;
        Ok(RunDirectory { path: self.path.clone(), _lock: Some(Arc::new(lock)) })
    }

    /// Opens the directory of an earlier run.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = RunDirectory::planned(path);
        if directory.config().is_file() {
            return Ok(directory);
        }
        Err(ErrorKind::NoRun { path: path.to_path_buf(), exists: path.exists() }.into())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn config(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The observations, one JSON object a line.
    pub fn trace_path(&self) -> PathBuf {
        self.path.join(TRACE)
    }

    fn result_path(&self) -> PathBuf {
        self.path.join(RESULT)
    }

    fn read_config<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        let path = self.config();
        let text = fs::read_to_string(&path).map_err(|e| Error::io(&path, "cannot read", e))?;
        let wrong = |e: serde_json::Error| {
            if e.is_eof() {
                let what = if text.is_empty() { "it is empty" } else { "its end is missing" };
                return Error::damaged(&path, what);
            }
            let message = format!("{e}; this file is written by lehr and not meant to be edited");
            Error::parse_at(&path, e.line() as u64, None, message)
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        let known = u64::from(OLDEST)..=u64::from(FORMAT);
        if !format.is_some_and(|format| known.contains(&format)) {
            let found = format.map_or("no version".to_string(), |f| format!("version {f}"));
            return Err(Error::run(
                &path,
                format!(
                    "is {found} of the format, and this lehr reads versions {OLDEST} to {FORMAT}; \
                     update lehr"
                ),
            ));
        }
        serde_json::from_str(&text).map_err(wrong)
    }

    /// The name of the model, to know how to read the rest.
    pub fn model_name(&self) -> Result<String> {
        #[derive(Deserialize)]
        struct Name {
            model: String,
        }
        Ok(self.read_config::<Name>()?.model)
    }

    /// The record.
    pub fn record<M: Stored>(&self) -> Result<RecordOf<M>> {
        self.read_config()
    }

    pub(crate) fn write_record<M: Stored>(&self, record: &RecordOf<M>) -> Result<()> {
        write_json(&self.config(), record)
    }

    /// The model, as it was when the run began.
    pub(crate) fn model<M: Stored>(&self) -> Result<M> {
        let record = self.record::<M>()?;
        beside::check(&self.path, M::BESIDE, &record.files)?;
        M::restore(record.params, record.frozen, &self.path).map_err(|error| match error.kind() {
            // These name their file.
            ErrorKind::Io { .. } | ErrorKind::Parse { .. } | ErrorKind::Damaged { .. } => error,
            _ => Error::run(self.config(), error.to_string()),
        })
    }

    /// The model and where its fit stands.
    pub fn load<M: Stored>(&self) -> Result<Loaded<M>> {
        let model = self.model::<M>()?;
        let found = self.find(&model)?.ok_or_else(|| {
            let what = "the run was stopped before its first checkpoint; start it afresh with ";
            Error::run(&self.path, advice![what, action(Verb::Resume).with(&self.path)])
        })?;
        Ok(Loaded { model, saved: found.saved, warning: found.warning })
    }

    /// All observations. A last line that a crash cut short is left out.
    pub fn trace(&self) -> Result<Vec<Observation>> {
        let trace = trace_file::read(&self.trace_path())?;
        trace.fault.map_or(Ok(trace.observations), Err)
    }

    pub(crate) fn write_trace(&self, observations: &[Observation]) -> Result<()> {
        trace_file::save(&self.trace_path(), observations)
    }

    /// Removes half-written files of a process that was killed.
    pub(super) fn sweep<M: Stored>(&self) {
        let ours = [CONFIG, TRACE, NEWEST, BEFORE, RESULT];
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if ours.iter().chain(M::BESIDE).any(|our| write::is_unfinished(&name, our)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// How the fit ended, if it has.
    pub fn result(&self) -> Option<RunResult> {
        serde_json::from_str(&fs::read_to_string(self.result_path()).ok()?).ok()
    }

    pub(crate) fn write_result(&self, result: &RunResult) -> Result<()> {
        write_json(&self.result_path(), result)
    }

    /// Writes `result.json` and the last checkpoint.
    pub fn finish<M: Stored>(&self, model: &M, fit: &Fit) -> Result<RunResult> {
        let mut trace = self.trace()?;
        let place = |o: &Observation| (o.restart, o.step);
        if !trace.is_sorted_by_key(place) {
            // A finished run went on with a restart that was not its last.
            trace.sort_by_key(place);
            self.write_trace(&trace)?;
        }
        let result = RunResult::new(&self.path, model, fit, &trace);
        self.write_result(&result)?;
        // Last: a run whose checkpoint says that it has ended is not touched again.
        let saved = Saved::of(fit);
        self.save(model, &saved, trace_file::count(&trace, &saved))?;
        Ok(result)
    }
}

/// What a run directory holds.
#[derive(Debug)]
pub struct Loaded<M> {
    /// The model.
    pub model: M,
    /// Where its fit stands.
    pub saved: Saved,
    /// What the user should know: the newest checkpoint is damaged, and the one before was taken.
    pub warning: Option<String>,
}

/// The time now, in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).expect("plain values become JSON");
    text.push('\n');
    write::whole(path, text.as_bytes())
}
