//! A fit with all that it leaves: made in memory, saved to a directory, loaded from one, packed into bytes.

use std::path::Path;

use super::checkpoint;
use super::directory::RunDirectory;
use super::files::{CONFIG, Files, NEWEST, Packed, RESULT, TRACE};
use super::items::{Begin, Items};
use super::open::{self, Loaded};
use super::result::RunResult;
use super::run_config::{self, FORMAT, RunConfig};
use super::saved::Saved;
use super::session::{self, Parent};
use super::sidecar::{Sum, Sums};
use super::sink::Memory;
use super::tensors::{Array, pack};
use super::trace_file;
use crate::fit::Observation;
use crate::fit::{Fitted, Progress, Watcher};
use crate::lambda::Lambda;
use crate::models::Stored;
use crate::settings::FitConfig;
use crate::{Error, Result};

/// A fit that has ended, or was stopped with a usable model.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
/// use lehr::store::{Begin, Items, Run};
///
/// let points = Points::new((0..60).map(|n| f64::from(n % 2 * 9 + n % 5)).collect(), 1)?;
/// let items = Items::in_memory(&points);
/// let params = MixtureParams::gmm(2);
/// let run = Run::<Mixture>::fit(items, params, &Default::default(), Begin::Random, &mut ())?;
/// assert_eq!(run.model.components(run.lambda().table()).len(), 2);
///
/// // The directory is one that `lehr show` and the other commands read.
/// let folder = tempfile::tempdir().unwrap();
/// run.save(&folder.path().join("run"))?;
/// let again = Run::<Mixture>::load(&folder.path().join("run"))?;
/// assert_eq!(again.lambda(), run.lambda());
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Clone)]
pub struct Run<M: Stored> {
    /// The model.
    pub model: M,
    /// The settings.
    pub config: RunConfig<M>,
    /// Where the fit stands.
    pub saved: Saved,
    /// All observations.
    pub trace: Vec<Observation>,
    /// How it ended; none if it is of a run that was killed.
    pub result: Option<RunResult>,
    /// What the user should know: the newest checkpoint of the run that it was loaded from is damaged.
    pub warning: Option<String>,
    /// The fitted natural parameters, if those in `saved` are not up to date.
    up_to_date: Option<Lambda>,
}

impl<M: Stored> Run<M> {
    /// Fits a model in memory: the same steps with the same bits as
    /// [`fit_file`](super::fit_file) makes.
    pub fn fit(
        items: Items<'_, M>,
        params: M::Params,
        config: &FitConfig,
        begin: Begin<'_, M>,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        session::fit(items, params, config, begin, &mut Memory, watcher)
    }

    /// Goes on with new data in memory, as [`update_file`](super::update_file) does.
    pub fn update(
        &self,
        items: Items<'_, M>,
        config: &FitConfig,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        let parent = Parent {
            model: self.model.clone(),
            config: &self.config,
            saved: &self.saved,
            path: None,
            trace: self.trace.clone(),
        };
        session::update(parent, items, config, &mut Memory, watcher)
    }

    /// The run of a fit that has just ended.
    pub(super) fn ended(
        model: M,
        config: RunConfig<M>,
        fit: Fitted,
        trace: Vec<Observation>,
    ) -> Self {
        let result = Some(RunResult::new(&model, &fit, &trace));
        Run::new(Loaded { model, config, saved: Saved::of(fit), warning: None }, trace, result)
    }

    fn new(loaded: Loaded<M>, trace: Vec<Observation>, result: Option<RunResult>) -> Self {
        let Loaded { model, config, saved, warning } = loaded;
        let lambda = &saved.model_state().lambda;
        let up_to_date =
            (!lambda.is_current()).then(|| checkpoint::up_to_date(&model, lambda).into_owned());
        Run { model, config, saved, trace, result, warning, up_to_date }
    }

    /// The same fit with another model and state, to which it was led by other means than steps.
    pub fn with(&self, model: M, lambda: Lambda) -> Self {
        let mut state = self.saved.model_state().clone();
        state.lambda = lambda;
        let saved = match &self.saved {
            Saved::Complete(_, best, outcomes) => Saved::Complete(state, *best, outcomes.clone()),
            Saved::Pending(progress) => {
                Saved::Pending(Progress { state, best: None, driver: None, ..progress.clone() })
            }
        };
        let (params, frozen) = (model.params().clone(), model.frozen());
        let config = RunConfig { params, frozen, ..self.config.clone() };
        let loaded = Loaded { model, config, saved, warning: None };
        Run::new(loaded, self.trace.clone(), self.result.clone())
    }

    /// The fitted natural parameters, every row up to date.
    pub fn lambda(&self) -> &Lambda {
        self.up_to_date.as_ref().unwrap_or_else(|| &self.saved.model_state().lambda)
    }

    /// How a fit that has just ended has ended.
    pub(crate) fn into_result(self) -> RunResult {
        self.result.expect("a fit that has ended has a result")
    }

    /// Makes a run directory of it.
    pub fn save(&self, path: &Path) -> Result<()> {
        let directory = RunDirectory::create(path, &self.model, &mut self.config.clone(), None)?;
        directory.write_trace(&self.trace)?;
        let observations = trace_file::count(&self.trace, &self.saved);
        directory.save(&self.model, &self.saved, observations)?;
        match &self.result {
            Some(result) => {
                directory.write_result(&RunResult { run: path.to_path_buf(), ..result.clone() })
            }
            None => Ok(()),
        }
    }

    /// Loads a run directory.
    pub fn load(path: &Path) -> Result<Self> {
        Run::from_files(&RunDirectory::open(path)?.files())
    }

    fn from_files(files: &dyn Files) -> Result<Self> {
        let loaded = open::load(files)?;
        Ok(Run::new(loaded, open::trace(files)?, open::result(files)))
    }

    /// All of it as bytes: a safetensors container whose tensors are the files of a run directory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (mut files, mut sums) = (Vec::new(), Sums::new());
        self.model.sidecars(&mut |name, bytes| {
            sums.insert(name.to_string(), Sum::of(&bytes));
            files.push((name, bytes));
            Ok(())
        })?;
        let config = RunConfig { format: FORMAT, files: sums, ..self.config.clone() };
        files.push((CONFIG, config.to_bytes()));
        files.push((TRACE, trace_file::to_bytes(&self.trace)));
        let observations = Some(trace_file::count(&self.trace, &self.saved));
        files.push((NEWEST, checkpoint::to_bytes(&self.model, &self.saved, observations)?));
        files.extend(self.result.as_ref().map(|result| (RESULT, run_config::json(result))));
        let arrays: Vec<_> =
            files.iter().map(|(name, bytes)| (*name, Array::list(bytes.as_slice()))).collect();
        pack(&arrays, None)
    }

    /// What [`to_bytes`](Run::to_bytes) made bytes of.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let files = Packed::new(bytes).filter(|files| files.find(CONFIG).is_ok());
        Run::from_files(&files.ok_or_else(|| Error::data("these bytes are no saved fit"))?)
    }
}
