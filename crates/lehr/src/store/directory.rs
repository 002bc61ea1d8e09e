//! A run directory: everything about one fit, in files that other programs can read.
//!
//! `config.json` (settings, data fingerprint, versions, CPU), `trace.jsonl` (one observation a
//! line), `checkpoint.safetensors` (lambda and progress) and the one before it, `result.json` (once the
//! fit has ended), and the model's sidecars (LDA: `vocabulary.tsv`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::checkpoint;
use super::checkpoints::{self, Found};
use super::files::{BEFORE, CONFIG, Files, Folder, NEWEST, RESULT, TRACE};
use super::lock::{self, Lock, NOTE};
use super::open::{self, Loaded};
use super::result::RunResult;
use super::run_config::{self, FORMAT, RunConfig};
use super::saved::Saved;
use super::sidecar::{Sum, Sums};
use super::trace_file;
use crate::fit::Observation;
use crate::fit::Progress;
use crate::models::{SIDECARS, Stored};
use crate::{Error, ErrorKind, Result, read, write};

/// A directory that holds a run.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    /// Where the data are now, if not where the run has found them.
    data: Option<PathBuf>,
    /// Held while a fit writes here.
    _lock: Option<Arc<Lock>>,
}

impl RunDirectory {
    /// Starts a run, at `first` if it does not start at random. Refuses a directory that holds one.
    pub(super) fn create<M: Stored>(
        path: &Path,
        model: &M,
        config: &mut RunConfig<M>,
        first: Option<&Progress>,
    ) -> Result<Self> {
        RunDirectory::planned(path).check_free()?;
        fs::create_dir_all(path).map_err(|e| Error::io(path, "cannot create", e))?;
        let directory = RunDirectory::planned(path).locked()?;
        directory.check_free()?; // another fit may just have started here
        directory.clear()?;
        let mut files = Sums::new();
        model.sidecars(&mut |name, bytes| {
            files.insert(name.to_string(), Sum::of(&bytes));
            write::whole(&path.join(name), &bytes)
        })?;
        if let Some(first) = first {
            directory.save(model, &Saved::Pending(first.clone()), 0)?;
        }
        // The configuration comes last: with it, everything is there.
        config.format = FORMAT;
        config.files = files;
        directory.write_config(config)?;
        Ok(directory)
    }

    /// Removes what a process left that was killed before its run had started: it is not of the next one.
    fn clear(&self) -> Result<()> {
        [NEWEST, BEFORE, TRACE, RESULT].iter().try_for_each(|name| self.remove(name))
    }

    /// Removes a file if it is there.
    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(path, "cannot remove", e))
            }
            _ => Ok(()),
        }
    }

    /// Whether a new run may start here: no run yet, not a file, and nothing that is not of a run.
    pub fn check_free(&self) -> Result<()> {
        if self.config_path().exists() {
            if let Some(held) = lock::held(&self.path) {
                return Err(held);
            }
            return Err(ErrorKind::Occupied { path: self.path.clone(), is_run: true }.into());
        }
        if self.path.exists() && !self.path.is_dir() {
            return Err(ErrorKind::Occupied { path: self.path.clone(), is_run: false }.into());
        }
        let mut entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        match entries.find(|entry| !is_ours(&entry.file_name().to_string_lossy())) {
            Some(entry) => {
                let (path, file) = (self.path.clone(), PathBuf::from(entry.file_name()));
                Err(ErrorKind::NotEmpty { path, file }.into())
            }
            None => Ok(()),
        }
    }

    /// A directory in which a run is to start.
    pub fn planned(path: &Path) -> Self {
        RunDirectory { path: path.to_path_buf(), data: None, _lock: None }
    }

    /// The same directory, which no other process can lock until this value is gone.
    pub(super) fn locked(&self) -> Result<Self> {
        let lock = Lock::take(&self.path)?;
        let (path, data) = (self.path.clone(), self.data.clone());
        Ok(RunDirectory { path, data, _lock: Some(Arc::new(lock)) })
    }

    /// Opens the directory of an earlier run.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = RunDirectory::planned(path);
        if directory.config_path().is_file() {
            return Ok(directory);
        }
        Err(ErrorKind::NoRun { path: path.to_path_buf(), exists: path.exists() }.into())
    }

    /// The same run, whose data are in another file now. They must be the same data, which is checked where they
    /// are read.
    pub fn with_data(self, path: &Path) -> Self {
        RunDirectory { data: Some(path.to_path_buf()), ..self }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn config_path(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The observations, one JSON object a line.
    pub fn trace_path(&self) -> PathBuf {
        self.path.join(TRACE)
    }

    /// Lambda and progress.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path.join(NEWEST)
    }

    /// The same, one checkpoint earlier.
    pub fn previous_checkpoint_path(&self) -> PathBuf {
        self.path.join(BEFORE)
    }

    pub(super) fn files(&self) -> Folder<'_> {
        Folder(&self.path)
    }

    fn read_config<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        run_config::parse(&self.files().read(CONFIG)?, &self.config_path())
    }

    /// The name of the model, to know how to read the rest.
    pub fn model_name(&self) -> Result<String> {
        #[derive(Deserialize)]
        struct Name {
            model: String,
        }
        Ok(self.read_config::<Name>()?.model)
    }

    /// The settings.
    pub fn config<M: Stored>(&self) -> Result<RunConfig<M>> {
        let mut config: RunConfig<M> = self.read_config()?;
        if let Some(path) = &self.data {
            config.data.pipe = read::is_pipe(path);
            config.data.path = Some(read::behind(path));
        }
        Ok(config)
    }

    pub(super) fn write_config<M: Stored>(&self, config: &RunConfig<M>) -> Result<()> {
        write::whole(&self.config_path(), &config.to_bytes())
    }

    /// Writes what a model says of itself that is no part of its fit, such as the names of topics. Refused while a
    /// process is fitting here.
    pub fn amend<M: Stored>(&self, model: &M) -> Result<()> {
        let directory = self.locked()?;
        let mut config: RunConfig<M> = directory.read_config()?;
        config.frozen = model.frozen();
        directory.write_config(&config)
    }

    /// The run without its trace and its result.
    pub fn load<M: Stored>(&self) -> Result<Loaded<M>> {
        open::load(&self.files())
    }

    /// All observations. A last line that a crash cut short is left out.
    pub fn trace(&self) -> Result<Vec<Observation>> {
        open::trace(&self.files())
    }

    pub(super) fn write_trace(&self, observations: &[Observation]) -> Result<()> {
        write::whole(&self.trace_path(), &trace_file::to_bytes(observations))
    }

    /// How the fit ended, if it has.
    pub fn result(&self) -> Option<RunResult> {
        open::result(&self.files())
    }

    pub(super) fn write_result(&self, result: &RunResult) -> Result<()> {
        write::whole(&self.path.join(RESULT), &run_config::json(result))
    }

    /// The newest checkpoint that is whole; none if there never was one.
    pub(super) fn find<M: Stored>(&self, model: &M) -> Result<Option<Found>> {
        checkpoints::find(&self.files(), model)
    }

    /// Saves where the fit stands, `observations` being there; what was saved last is kept.
    pub(super) fn save<M: Stored>(
        &self,
        model: &M,
        saved: &Saved,
        observations: u64,
    ) -> Result<()> {
        let (newest, before) = (self.checkpoint_path(), self.previous_checkpoint_path());
        let written = checkpoint::with_pieces(model, saved, Some(observations), |pieces| {
            write::whole_keeping(&newest, &before, pieces)
        });
        written.map_err(|error| match self.path.is_dir() {
            true => error,
            false => Error::run(
                &self.path,
                "the directory is gone; it was deleted or moved while the fit was running",
            ),
        })
    }

    /// Removes a newest checkpoint that is damaged, so that it does not become the one before.
    pub(super) fn drop_damaged(&self) -> Result<()> {
        self.remove(NEWEST)
    }

    /// Removes half-written files of a process that was killed.
    pub(super) fn sweep<M: Stored>(&self) {
        let ours = [CONFIG, TRACE, NEWEST, BEFORE, RESULT];
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if ours.iter().chain(M::SIDECARS).any(|our| write::is_unfinished(&name, our)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a file is of a run, whole or half written: a process that was killed before its run started leaves these.
fn is_ours(name: &str) -> bool {
    let ours = [CONFIG, TRACE, NEWEST, BEFORE, RESULT, NOTE];
    let mut known = ours.iter().chain(SIDECARS.iter().copied().flatten());
    known.any(|known| name == *known || write::is_unfinished(name, known))
}
