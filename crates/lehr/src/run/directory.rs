//! A run directory: everything about one fit, in files that other programs can read.
//!
//! `config.json` (settings, data fingerprint, versions, CPU), `trace.jsonl` (one observation a
//! line), `checkpoint.safetensors` (lambda and progress), `result.json` (once the fit has ended), and
//! what a model keeps beside them (LDA: `vocabulary.tsv`).

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::config::{FitConfig, Plan};
use crate::math::kernels::Isa;
use crate::model::Dataset;
use crate::models::Stored;
use crate::run::checkpoint::{self, Saved};
use crate::run::fit::{Fit, Outcome, Progress, State, Timings, Watcher, or_nan};
use crate::run::trace::Observation;
use crate::{Error, ErrorKind, Result, write};

/// The version of the directory's layout.
pub const FORMAT: u32 = 1;

/// Seconds between checkpoints when no number of steps was given.
const CHECKPOINT_SECONDS: f64 = 60.0;

/// `config.json`: all that is needed to do the run again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record<P, F, R> {
    /// The version of the directory's layout.
    pub format: u32,
    /// The version of lehr that began the run.
    pub lehr: String,
    /// The model's name.
    pub model: String,
    /// The model's settings.
    pub params: P,
    /// The fit's settings, the seed among them.
    pub fit: FitConfig,
    /// Settings that `resume` changed.
    #[serde(default)]
    pub extension: Extension,
    /// The data.
    pub data: DataRecord<R>,
    /// What was taken from the data: units and priors.
    pub frozen: F,
    /// The run that this one went on from with new data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PathBuf>,
    /// How many items this run and those before it have been fitted to, if there were any before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<usize>,
    /// How many steps those made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: u64,
    /// The machine.
    pub cpu: Cpu,
    /// When the run began, in seconds since 1970.
    pub created: u64,
}

/// The record of a model's run.
pub type RecordOf<M> =
    Record<<M as Stored>::Params, <M as Stored>::Frozen, <M as Stored>::ReadOptions>;

/// What a later `resume` changed: the schedules keep the rhythm of the first plan.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The new total of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The new tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
    /// The new time limit, for the next session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// Which data were fitted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord<R> {
    /// The file, absolute; none if the data came from a program's memory.
    pub path: Option<PathBuf>,
    /// How it was read.
    pub options: R,
    /// A hash of its numbers; the same for the same numbers in any format.
    pub fingerprint: String,
    /// How many items it has, the held-out ones included.
    pub items: usize,
    /// The columns' names, if it has any.
    pub columns: Vec<String>,
    /// Whether it was read for a model that was there before: what that does not know is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_dropped: bool,
}

impl<R: Clone> DataRecord<R> {
    /// The record of data as they were read.
    pub(crate) fn new<M: Stored<ReadOptions = R>>(
        path: Option<&Path>,
        options: &R,
        data: &M::Data,
    ) -> Self {
        DataRecord {
            path: path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())),
            options: options.clone(),
            fingerprint: M::fingerprint(data),
            items: data.n_items(),
            columns: M::column_names(data),
            unknown_dropped: false,
        }
    }
}

/// What decides the bits of a result beside the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// The architecture.
    pub arch: String,
    /// The instruction set of the kernels.
    pub kernels: Isa,
    /// Features of interest that the CPU has.
    pub features: Vec<String>,
}

impl Cpu {
    /// This machine's.
    pub fn here() -> Self {
        #[allow(unused_mut)]
        let mut features = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! note {
                ($($name:tt),*) => {$(
                    if is_x86_feature_detected!($name) {
                        features.push($name.to_string());
                    }
                )*};
            }
            note!("sse4.2", "avx", "avx2", "fma", "avx512f");
        }
        Cpu { arch: std::env::consts::ARCH.to_string(), kernels: Isa::detect(), features }
    }
}

/// `result.json`: how a fit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The run directory.
    pub run: PathBuf,
    /// The model's name.
    pub model: String,
    /// False if the fit was stopped early; the model is usable all the same.
    pub complete: bool,
    /// The best restart.
    #[serde(flatten)]
    pub best: Outcome,
    /// The score of the held-out items at the end of the best restart, see [`Observation::heldout`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heldout: Option<f64>,
    /// What else the model has to tell of its last state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// Rows or entries that the guard changed in the best restart.
    pub guard_hits: u64,
    /// Seconds worked on the best restart.
    pub seconds: f64,
    /// Where this session's time went.
    pub seconds_by_part: Timings,
    /// Iterations of this session's local steps, for models that iterate.
    #[serde(default)]
    pub local_iterations: u64,
    /// All restarts.
    pub restarts: Vec<Outcome>,
    /// Mean of the restarts' bounds.
    #[serde(deserialize_with = "or_nan")]
    pub bound_mean: f64,
    /// Standard deviation of the restarts' bounds.
    #[serde(deserialize_with = "or_nan")]
    pub bound_sd: f64,
}

impl RunResult {
    /// How this fit ended, `trace` being all its observations.
    pub(crate) fn new<M: Stored>(run: &Path, model: &M, fit: &Fit, trace: &[Observation]) -> Self {
        let (bound_mean, bound_sd) = fit.spread();
        let last = trace.iter().rfind(|o| o.restart == fit.outcome.restart);
        let (heldout, measures) =
            last.map_or((None, BTreeMap::new()), |o| (o.heldout, o.measures.clone()));
        RunResult {
            run: run.to_path_buf(),
            model: model.name().to_string(),
            complete: fit.is_complete(),
            best: fit.outcome.clone(),
            heldout,
            measures,
            guard_hits: fit.state.guard_hits,
            seconds: fit.state.seconds,
            seconds_by_part: fit.timings,
            local_iterations: fit.local_iterations,
            restarts: fit.outcomes.clone(),
            bound_mean,
            bound_sd,
        }
    }
}

/// A directory that holds a run.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    /// Held while a fit writes here.
    _lock: Option<Arc<File>>,
}

impl RunDirectory {
    /// Begins a run. Refuses a directory that holds one.
    pub fn create<M: Stored>(path: &Path, model: &M, record: &RecordOf<M>) -> Result<Self> {
        RunDirectory::planned(path).check_free()?;
        fs::create_dir_all(path).map_err(|e| Error::io(path, "cannot create", e))?;
        let directory = RunDirectory::planned(path).locked()?;
        directory.check_free()?; // another fit may just have begun here
        // The record comes last: with it, everything is there.
        model.save_beside(path)?;
        directory.write_record::<M>(record)?;
        Ok(directory)
    }

    /// Whether a new run may begin here: no run yet, and not a file.
    pub fn check_free(&self) -> Result<()> {
        if self.config().exists() {
            return Err(Error::run(
                &self.path,
                "already holds a run, which is left as it is; choose another directory, or delete it first",
            ));
        }
        if self.path.exists() && !self.path.is_dir() {
            return Err(Error::run(&self.path, "is a file; choose another directory"));
        }
        Ok(())
    }

    /// A directory in which a run is to begin.
    pub fn planned(path: &Path) -> Self {
        RunDirectory { path: path.to_path_buf(), _lock: None }
    }

    /// The same directory, which no other process can lock until this value is gone. The system
    /// lets go of the lock when the process ends, however it ends; nothing stays behind.
    pub(crate) fn locked(&self) -> Result<Self> {
        let open = |lock| RunDirectory { path: self.path.clone(), _lock: lock };
        // Not every system can open a folder, nor every disk lock it: then there is no protection.
        let Ok(folder) = File::open(&self.path) else { return Ok(open(None)) };
        match folder.try_lock() {
            Ok(()) => Ok(open(Some(Arc::new(folder)))),
            Err(TryLockError::Error(_)) => Ok(open(None)),
            Err(TryLockError::WouldBlock) => Err(Error::run(
                &self.path,
                "another lehr is working on this run; wait until it has ended, or stop it first",
            )),
        }
    }

    /// Opens the directory of an earlier run.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = RunDirectory::planned(path);
        if directory.config().is_file() {
            return Ok(directory);
        }
        let message = if path.exists() {
            "holds no run (there is no config.json in it)"
        } else {
            "there is no such directory"
        };
        Err(Error::run(path, message))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn config(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// The observations, one JSON object a line.
    pub fn trace_path(&self) -> PathBuf {
        self.path.join("trace.jsonl")
    }

    /// Lambda and progress.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path.join("checkpoint.safetensors")
    }

    fn result_path(&self) -> PathBuf {
        self.path.join("result.json")
    }

    fn read_config<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        let path = self.config();
        let text = fs::read_to_string(&path).map_err(|e| Error::io(&path, "cannot read", e))?;
        let wrong = |e: serde_json::Error| {
            let message = format!("{e}; this file is written by lehr and not meant to be edited");
            Error::parse_at(&path, e.line() as u64, None, message)
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(FORMAT)) {
            let found = format.map_or("no version".to_string(), |f| format!("version {f}"));
            return Err(Error::run(
                &path,
                format!(
                    "is {found} of the format, and this lehr reads version {FORMAT}; update lehr"
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
        M::restore(record.params, record.frozen, &self.path).map_err(|error| match error.kind() {
            // These name their file.
            ErrorKind::Io { .. } | ErrorKind::Parse { .. } => error,
            _ => Error::run(self.config(), error.to_string()),
        })
    }

    /// The model and where its fit stands.
    pub fn load<M: Stored>(&self) -> Result<(M, Saved)> {
        let model = self.model::<M>()?;
        let path = self.checkpoint_path();
        if !path.exists() {
            return Err(Error::run(
                &self.path,
                format!(
                    "the run was stopped before its first checkpoint; start it afresh with 'lehr \
                     resume {}'",
                    self.path.display()
                ),
            ));
        }
        let saved = checkpoint::load(&path, &model)?;
        Ok((model, saved))
    }

    /// All observations. A last line that a crash cut short is left out.
    pub fn trace(&self) -> Result<Vec<Observation>> {
        let path = self.trace_path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io(&path, "cannot read", e)),
        };
        let complete = text.rfind('\n').map_or(0, |at| at + 1);
        text[..complete]
            .lines()
            .enumerate()
            .map(|(i, line)| {
                serde_json::from_str(line).map_err(|e| {
                    let message = format!("{e}; this file is written by lehr, not edited");
                    Error::parse_at(&path, i as u64 + 1, None, message)
                })
            })
            .collect()
    }

    pub(crate) fn write_trace(&self, observations: &[Observation]) -> Result<()> {
        let lines: String = observations.iter().map(json_line).collect();
        write::atomically(&self.trace_path(), |file| file.write_all(lines.as_bytes()))
    }

    /// Removes half-written files of a process that was killed.
    fn sweep(&self) {
        let ours = [
            "config.json",
            "trace.jsonl",
            "checkpoint.safetensors",
            "result.json",
            "vocabulary.tsv",
            "users.jsonl",
            "items.jsonl",
            "seen.safetensors",
        ];
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".tmp")
                && ours.iter().any(|our| name.starts_with(&format!(".{our}.")))
            {
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
        checkpoint::save(&self.checkpoint_path(), model, &Saved::of(fit))?;
        let mut trace = self.trace()?;
        let place = |o: &Observation| (o.restart, o.step);
        if !trace.is_sorted_by_key(place) {
            // A finished run went on with a restart that was not its last.
            trace.sort_by_key(place);
            self.write_trace(&trace)?;
        }
        let result = RunResult::new(&self.path, model, fit, &trace);
        self.write_result(&result)?;
        Ok(result)
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The time now, in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).expect("plain values become JSON");
    text.push('\n');
    write::atomically(path, |file| file.write_all(text.as_bytes()))
}

/// Keeps a run directory up to date while a fit runs, and passes everything on to `inner`.
pub struct Recorder<'a, M: Stored> {
    directory: &'a RunDirectory,
    model: &'a M,
    trace: File,
    every: Option<u64>,
    last: Instant,
    inner: &'a mut dyn Watcher,
}

impl<'a, M: Stored> Recorder<'a, M> {
    /// Records to `directory`, where `kept` are the observations so far; all others are dropped.
    pub fn new(
        directory: &'a RunDirectory,
        model: &'a M,
        kept: &[Observation],
        every: Option<u64>,
        inner: &'a mut dyn Watcher,
    ) -> Result<Self> {
        directory.sweep();
        directory.write_trace(kept)?;
        let path = directory.trace_path();
        let trace = File::options()
            .append(true)
            .open(&path)
            .map_err(|e| Error::io(&path, "cannot write", e))?;
        Ok(Recorder { directory, model, trace, every, last: Instant::now(), inner })
    }
}

fn json_line(observation: &Observation) -> String {
    let mut line = serde_json::to_string(observation).expect("plain numbers become JSON");
    line.push('\n');
    line
}

impl<M: Stored> Watcher for Recorder<'_, M> {
    fn begins(&mut self, plan: &Plan, progress: &Progress) {
        self.inner.begins(plan, progress);
    }

    fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.trace
            .write_all(json_line(observation).as_bytes())
            .map_err(|e| Error::io(self.directory.trace_path(), "cannot write", e))?;
        self.inner.observe(observation)
    }

    fn after_step(&mut self, state: &State, progress: &dyn Fn() -> Progress) -> Result<()> {
        let due = match self.every {
            Some(every) => state.step.is_multiple_of(every),
            None => self.last.elapsed().as_secs_f64() >= CHECKPOINT_SECONDS,
        };
        if due {
            // The trace must never be behind the checkpoint: the tolerance is rebuilt from it.
            let path = self.directory.trace_path();
            self.trace.sync_data().map_err(|e| Error::io(path, "cannot write", e))?;
            let saved = Saved::Pending(progress());
            checkpoint::save(&self.directory.checkpoint_path(), self.model, &saved)?;
            self.last = Instant::now();
        }
        self.inner.after_step(state, progress)
    }

    fn wants_stop(&self) -> bool {
        self.inner.wants_stop()
    }
}
