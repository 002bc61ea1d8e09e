//! Fits that live in memory: what a run directory holds, made without one, saved to one, loaded from one.

use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::lambda::Lambda;
use crate::models::Stored;
use crate::run::checkpoint::{self, Saved};
use crate::run::directory::{DataRecord, Loaded, RecordOf, RunDirectory, RunResult};
use crate::run::fit::{Fit, Problem, Progress, State, Watcher, fit};
use crate::run::session::{GoingOn, go_on, parts, record};
use crate::run::trace::Observation;
use crate::run::trace_file;
use crate::settings::{FitConfig, Plan};
use crate::{Error, Result};

/// Data, and the file that they come from if there is one.
pub struct Items<'a, M: Stored> {
    /// The items.
    pub data: &'a M::Data,
    /// The file and how it was read; none if they came from a program's memory.
    pub source: Option<(&'a Path, &'a M::ReadOptions)>,
}

impl<M: Stored> Items<'_, M> {
    /// The record of these data; makes paths in the settings absolute.
    fn record(&self, params: &mut M::Params) -> DataRecord<M::ReadOptions> {
        let path = self.source.map(|(path, _)| path);
        let mut options = self.source.map_or(M::ReadOptions::default(), |(_, o)| o.clone());
        M::anchor(params, &mut options);
        DataRecord::new::<M>(path, &options, self.data)
    }
}

/// Where a fit begins.
pub enum Begin<'a, M: Stored> {
    /// At random.
    Random,
    /// At the state that this makes of the model and the items to fit.
    At(&'a dyn Fn(&M, &M::Data) -> Result<State>),
    /// Where another fit stands, with its model: units and priors stay as they are.
    With(&'a Fitted<M>),
}

/// A fit that has ended, or was stopped with a usable model.
///
/// ```
/// use lehr::data::Points;
/// use lehr::models::{Mixture, MixtureParams};
/// use lehr::run::memory::{Begin, Fitted, Items};
///
/// let points = Points::new((0..60).map(|n| f64::from(n % 2 * 9 + n % 5)).collect(), 1)?;
/// let items = Items { data: &points, source: None };
/// let params = MixtureParams::gmm(2);
/// let fitted = Fitted::<Mixture>::new(items, params, &Default::default(), Begin::Random, &mut ())?;
/// assert_eq!(fitted.model.components(fitted.lambda().table()).len(), 2);
///
/// // The directory is one that `lehr show` and the other commands read.
/// let folder = tempfile::tempdir().unwrap();
/// fitted.save(&folder.path().join("run"))?;
/// let again = Fitted::<Mixture>::load(&folder.path().join("run"))?;
/// assert_eq!(again.lambda(), fitted.lambda());
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Clone)]
pub struct Fitted<M: Stored> {
    /// The model.
    pub model: M,
    /// The settings.
    pub record: RecordOf<M>,
    /// Where the fit stands.
    pub saved: Saved,
    /// All observations.
    pub trace: Vec<Observation>,
    /// How it ended; none if it is of a run that was killed.
    pub result: Option<RunResult>,
    /// What the user should know: the newest checkpoint of the run that it was loaded from is damaged.
    pub warning: Option<String>,
    lambda: Lambda,
}

impl<M: Stored> Fitted<M> {
    /// Fits a model: the same steps with the same bits as [`session::start`](super::session::start)
    /// makes, without a directory.
    pub fn new(
        items: Items<'_, M>,
        params: M::Params,
        config: &FitConfig,
        begin: Begin<'_, M>,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        let mut params = params;
        let data_record = items.record(&mut params);
        let parts = parts::<M>(items.data, config)?;
        let model = match begin {
            Begin::With(other) => {
                other.model.check_fits(items.data, &other.record.data.columns)?;
                other.model.clone()
            }
            _ => M::build(params, parts.train())?,
        };
        let config = &config.with_defaults_of(&model);
        let plan = config.check_as_it_is(&model, parts.train())?;
        let begins = match begin {
            Begin::Random => None,
            Begin::At(start) => Some(start(&model, parts.train())?),
            Begin::With(other) => Some(State::from(other.lambda.clone())),
        };
        if (begins.is_some() || model.is_given_its_start()) && plan.n_init > 1 {
            let allowed = "must be 1: all starts would be the given one";
            return Err(Error::config("n_init", plan.n_init, allowed));
        }
        let record = record(&model, config, data_record);
        let problem = Problem { model: &model, data: parts.train(), heldout: parts.heldout() };
        let (fit, trace) = climb(problem, &plan, config.threads, begins, watcher)?;
        Ok(Fitted::ended(model, record, &fit, trace))
    }

    /// Goes on with new data, as [`session::partial`](super::session::partial) does.
    pub fn partial(
        &self,
        items: Items<'_, M>,
        config: &FitConfig,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        let mut model = self.model.clone();
        model.check_fits(items.data, &self.record.data.columns)?;
        let parts = parts::<M>(items.data, config)?;
        model.extend(parts.train())?;
        let data_record = items.record(&mut self.record.params.clone());
        let GoingOn { config, plan, record, state } =
            go_on(&model, &self.saved, &self.record, &parts, data_record, config)?;
        let problem = Problem { model: &model, data: parts.train(), heldout: parts.heldout() };
        let (fit, new) = climb(problem, &plan, config.threads, Some(state), watcher)?;
        let mut trace = self.trace.clone();
        trace.extend(new);
        Ok(Fitted::ended(model, record, &fit, trace))
    }

    fn ended(model: M, record: RecordOf<M>, fit: &Fit, trace: Vec<Observation>) -> Self {
        let result = Some(RunResult::new(Path::new(""), &model, fit, &trace));
        let lambda = fit.state.lambda.clone();
        let (saved, warning) = (Saved::of(fit), None);
        Fitted { model, record, saved, trace, result, warning, lambda }
    }

    /// The same fit with another model and state, to which it was led by other means than steps.
    pub fn with(&self, model: M, lambda: Lambda) -> Self {
        let mut state = self.saved.model_state().clone();
        state.lambda = lambda.clone();
        let saved = match &self.saved {
            Saved::Complete(_, best, outcomes) => Saved::Complete(state, *best, outcomes.clone()),
            Saved::Pending(progress) => {
                Saved::Pending(Progress { state, best: None, ..progress.clone() })
            }
        };
        let (params, frozen) = (model.params().clone(), model.frozen());
        let record = RecordOf::<M> { params, frozen, ..self.record.clone() };
        let (trace, result) = (self.trace.clone(), self.result.clone());
        Fitted { model, record, saved, trace, result, warning: None, lambda }
    }

    /// The fitted natural parameters, every row up to date.
    pub fn lambda(&self) -> &Lambda {
        &self.lambda
    }

    /// Makes a run directory of it.
    pub fn save(&self, path: &Path) -> Result<()> {
        let directory = RunDirectory::create(path, &self.model, &self.record, None)?;
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
        let directory = RunDirectory::open(path)?;
        let record = directory.record::<M>()?;
        let Loaded { model, saved, warning } = directory.load::<M>()?;
        let (trace, result) = (directory.trace()?, directory.result());
        let lambda = checkpoint::settled(&model, &saved.model_state().lambda).into_owned();
        Ok(Fitted { model, record, saved, trace, result, warning, lambda })
    }

    /// All of it as bytes: a safetensors container whose tensors are the files of a run directory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let folder = room()?;
        let path = folder.path().join("run");
        self.save(&path)?;
        let mut files = Vec::new();
        for name in names(&path)? {
            let file = path.join(&name);
            let bytes = std::fs::read(&file).map_err(|e| Error::io(file, "cannot read", e))?;
            files.push((name, bytes));
        }
        let views = files.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::U8, vec![bytes.len()], bytes);
            (name, view.expect("as many bytes as there are"))
        });
        safetensors::serialize(views, None).map_err(|e| Error::data(e.to_string()))
    }

    /// What [`to_bytes`](Fitted::to_bytes) made bytes of.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = || Error::data("these bytes are no saved fit");
        let files = SafeTensors::deserialize(bytes).map_err(|_| wrong())?;
        let folder = room()?;
        for (name, view) in files.iter() {
            // Names of files only: nothing may be written elsewhere.
            if Path::new(name).file_name().is_none_or(|file| file != name) {
                return Err(wrong());
            }
            let path = folder.path().join(name);
            std::fs::write(&path, view.data()).map_err(|e| Error::io(path, "cannot write", e))?;
        }
        Fitted::load(folder.path())
    }
}

/// A folder that is gone when the value is.
fn room() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), "cannot make a folder in", e))
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let wrong = |e| Error::io(folder, "cannot read", e);
    let entries = std::fs::read_dir(folder).map_err(wrong)?;
    let name = |entry: std::io::Result<std::fs::DirEntry>| -> Result<PathBuf> {
        Ok(PathBuf::from(entry.map_err(wrong)?.file_name()))
    };
    let mut names = entries.map(name).collect::<Result<Vec<PathBuf>>>()?;
    names.sort();
    Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
}

/// The whole plan, or until the watcher ends it; with all observations.
fn climb<M: Stored>(
    problem: Problem<'_, M>,
    plan: &Plan,
    threads: usize,
    state: Option<State>,
    watcher: &mut dyn Watcher,
) -> Result<(Fit, Vec<Observation>)> {
    let mut notes = Notes { trace: Vec::new(), inner: watcher };
    let begins = |state| (Progress { restart: 0, state, done: Vec::new(), best: None }, Vec::new());
    let fit = fit(problem, plan, threads, state.map(begins), &mut notes)?;
    Ok((fit, notes.trace))
}

/// Takes down all observations and passes everything on to `inner`.
struct Notes<'a> {
    trace: Vec<Observation>,
    inner: &'a mut dyn Watcher,
}

impl Watcher for Notes<'_> {
    fn begins(&mut self, plan: &Plan, progress: &Progress) {
        self.inner.begins(plan, progress);
    }

    fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.trace.push(observation.clone());
        self.inner.observe(observation)
    }

    fn after_step(&mut self, state: &State, progress: &dyn Fn() -> Progress) -> Result<()> {
        self.inner.after_step(state, progress)
    }

    fn warn(&mut self, message: &str) {
        self.inner.warn(message);
    }

    fn wants_stop(&self) -> bool {
        self.inner.wants_stop()
    }
}
