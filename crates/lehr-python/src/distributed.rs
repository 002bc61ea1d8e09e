//! Fits on workers elsewhere: shards, the driver, whose messages Python carries, and the worker that they reach.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lehr::engine::Sizes;
use lehr::error::Advice;
use lehr::math::stop;
use lehr::models::{ReadOptions, Stored};
use lehr::read::{DocsOptions, PointsOptions, RatingsOptions};
use lehr::remote::{Hands, OnShards, OnWorkers, Take, Task, Works, worker};
use lehr::shards::{Kind, ShardFolder, Sharded, make_docs, make_points, make_ratings};
use lehr::store::{self, Begin, Disk, Extension, Items, Memory, Run, RunDirectory, Sink};
use lehr::{Error, FitConfig};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{guarded, raised};
use crate::run::{Watched, computed, watched};
use crate::setting::options_of;

/// How long Python looks for replies before it is asked again, in seconds: then a fit that is to stop does.
const LOOK: f64 = 0.2;

/// Makes a folder of shards; what its manifest says, as JSON.
#[pyfunction]
pub fn make_shards(
    py: Python<'_>,
    files: Vec<PathBuf>,
    kind: &str,
    options: &str,
    n_shards: usize,
    folder: PathBuf,
) -> PyResult<String> {
    let kind = raised(kind.parse::<Kind>().map_err(|e| Error::config("kind", kind, e)))?;
    let made = match kind {
        Kind::Documents => {
            let options: DocsOptions = options_of(options)?;
            computed(py, 1, || make_docs(&files, &options, n_shards, &folder))?
        }
        Kind::Points => {
            let options: PointsOptions = options_of(options)?;
            computed(py, 1, || make_points(&files, &options, n_shards, &folder))?
        }
        Kind::Ratings => {
            let options: RatingsOptions = options_of(options)?;
            computed(py, 1, || make_ratings(&files, &options, n_shards, &folder))?
        }
    };
    Ok(manifest(&made))
}

/// What the manifest of a folder of shards says, as JSON.
#[pyfunction]
pub fn shard_manifest(folder: PathBuf) -> PyResult<String> {
    guarded(|| ShardFolder::open(&folder).map(|folder| manifest(&folder)))
}

/// Refuses a shard of a folder that is not the file any more that was written.
#[pyfunction]
pub fn check_shard(py: Python<'_>, folder: PathBuf, shard: usize) -> PyResult<()> {
    computed(py, 1, || {
        let folder = ShardFolder::open(&folder)?;
        if shard >= folder.n_shards() {
            return Err(Error::config("shard", shard, "the folder has fewer"));
        }
        folder.check(shard)
    })
}

fn manifest(folder: &ShardFolder) -> String {
    serde_json::to_string(folder.manifest()).expect("plain values become JSON")
}

/// The shards of a folder, left in their files, of which the lengths are checked.
pub fn opened<M: Stored<Data: Sharded>>(
    py: Python<'_>,
    folder: PathBuf,
) -> PyResult<(Arc<M::Data>, PathBuf, ReadOptions<M>)>
where
    M::Data: Send,
{
    let (data, path) = computed(py, 1, || {
        let folder = ShardFolder::open(&folder)?;
        Ok((M::Data::open_all(&folder)?, folder.path().to_path_buf()))
    })?;
    Ok((Arc::new(data), path, ReadOptions::<M>::default()))
}

/// Does the tasks of a driver.
#[pyclass(frozen, module = "lehr._lehr")]
pub struct Worker {
    works: Mutex<Box<dyn Works>>,
    pool: rayon::ThreadPool,
}

#[pymethods]
impl Worker {
    /// For the model that a driver has sent, and for the shards of a folder.
    #[new]
    fn new(model: PyReadonlyArray1<'_, u8>, folder: PathBuf, threads: usize) -> PyResult<Self> {
        let model = model.as_slice()?;
        guarded(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(lehr::threads::number(threads));
            let wrong = |error: rayon::ThreadPoolBuildError| {
                Error::config("threads", threads, format!("{error}; try fewer"))
            };
            let pool = pool.build().map_err(wrong)?;
            Ok(Worker { works: Mutex::new(worker(model, &folder)?), pool })
        })
    }

    /// The replies to tasks, each of a part of the data, that share what is common.
    fn run<'py>(
        &self,
        py: Python<'py>,
        common: PyReadonlyArray1<'_, u8>,
        parts: Vec<usize>,
        tasks: Vec<PyReadonlyArray1<'_, u8>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<u8>>>> {
        let common = common.as_slice()?;
        let tasks = tasks.iter().map(|task| Ok(task.as_slice()?));
        let tasks: Vec<(usize, &[u8])> =
            parts.into_iter().zip(tasks.collect::<PyResult<Vec<_>>>()?).collect();
        let Worker { works, pool } = self;
        let replies = py.detach(|| {
            guarded(|| {
                let mut works = works.lock().unwrap_or_else(PoisonError::into_inner);
                let works = &mut **works;
                pool.install(|| works.run(common, &tasks))
            })
        })?;
        Ok(replies.into_iter().map(|reply| PyArray1::from_vec(py, reply)).collect())
    }
}

/// Workers that an object of Python reaches.
struct Carrier<'a> {
    object: &'a Py<PyAny>,
    /// What Python has raised.
    raised: &'a Mutex<Option<PyErr>>,
}

impl Carrier<'_> {
    /// Calls into Python. An exception is kept for the caller.
    fn call<T>(
        &self,
        work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> lehr::Result<T> {
        Python::attach(|py| work(py, self.object.bind(py))).map_err(|error| {
            let text = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Error::data(text)
        })
    }
}

impl Hands for Carrier<'_> {
    fn model(&mut self, model: Vec<u8>) -> lehr::Result<()> {
        self.call(|py, hands| {
            hands.call_method1("model", (PyArray1::from_vec(py, model),)).map(drop)
        })
    }

    fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> lehr::Result<()> {
        self.call(|py, hands| {
            let list = PyList::empty(py);
            for (part, task) in tasks {
                list.append((part, PyArray1::from_vec(py, task)))?;
            }
            hands.call_method1("begin", (PyArray1::from_vec(py, common), list)).map(drop)
        })?;
        loop {
            let taken = self.call(|py, hands| {
                let found = hands.call_method1("poll", (LOOK,))?;
                if found.is_none() {
                    return Ok(None);
                }
                let replies = found.extract::<Vec<PyReadonlyArray1<'_, u8>>>()?;
                let replies = replies.iter().map(|reply| Ok(reply.as_slice()?));
                let replies = replies.collect::<PyResult<Vec<&[u8]>>>()?;
                Ok(Some(py.detach(|| take(&replies))))
            })?;
            if let Some(taken) = taken {
                return taken;
            }
            stop::check();
        }
    }
}

/// A fit that workers have made: the run, the exception that has cut it short, the exact bound if it was asked for, and
/// notes for the user.
pub type Made<M> = (Run<M>, Option<PyErr>, Option<f64>, Vec<Advice>);

/// What a fit on workers is made of.
pub struct Asked<M: Stored> {
    pub params: M::Params,
    pub config: FitConfig,
    /// Where it is kept, if not in memory alone.
    pub save: Option<PathBuf>,
    /// Whether the exact bound of all items is wanted.
    pub bound: bool,
}

/// Fits a model to the shards of a folder on the workers that `hands` reach.
pub fn fit_on<M: OnShards>(
    py: Python<'_>,
    data: &M::Data,
    (path, options): (&PathBuf, &ReadOptions<M>),
    asked: Asked<M>,
    hands: &Py<PyAny>,
    watch: Option<&Py<PyAny>>,
) -> PyResult<Made<M>>
where
    M::Data: Send,
{
    let slot = Mutex::new(None);
    let done = watched(py, watch, |watcher| {
        let Asked { params, config, save, bound } = asked;
        let mut carrier = Carrier { object: hands, raised: &slot };
        let driver = OnWorkers::new(&mut carrier);
        let items: Items<'_, M> = Items::of_file(data, path, options);
        let mut disk;
        let sink: &mut dyn Sink<M> = match &save {
            Some(path) => {
                disk = Disk::new(path)?;
                &mut disk
            }
            None => &mut Memory,
        };
        let run = store::fit_with(&driver, items, params, &config, Begin::Random, sink, watcher)?;
        let is_complete = matches!(run.saved, store::Saved::Complete(..));
        let bound = (bound && is_complete)
            .then(|| in_pool(&config, || driver.bound(&run, Sizes::of(data, 1))));
        Ok((run, bound.transpose()?))
    });
    finish(done, slot).map(|((run, bound), exception, notes)| (run, exception, bound, notes))
}

/// Goes on with a run whose data are the shards of a folder.
pub fn resume_on<M: OnShards>(
    py: Python<'_>,
    path: PathBuf,
    threads: usize,
    hands: &Py<PyAny>,
    watch: Option<&Py<PyAny>>,
) -> PyResult<Watched<Run<M>>> {
    let slot = Mutex::new(None);
    let done = watched(py, watch, |watcher| {
        let mut carrier = Carrier { object: hands, raised: &slot };
        let driver = OnWorkers::new(&mut carrier);
        let directory = RunDirectory::open(&path)?;
        let more = Extension::default();
        store::resume_with::<M>(&driver, &directory, more, Some(threads), watcher)?;
        Run::load(&path)
    });
    finish(done, slot)
}

/// What Python has raised while it carried messages, in place of what the fit made of it.
fn finish<T>(done: PyResult<Watched<T>>, slot: Mutex<Option<PyErr>>) -> PyResult<Watched<T>> {
    match (done, slot.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        (Err(_), Some(raised)) => Err(raised),
        (done, _) => done,
    }
}

/// Work in threads of its own, as many as a fit has.
fn in_pool<T: Send>(
    config: &FitConfig,
    work: impl FnOnce() -> lehr::Result<T> + Send,
) -> lehr::Result<T> {
    let threads = config.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(lehr::threads::number(threads)).build();
    let wrong = |error| Error::config("threads", threads, format!("{error}; try fewer"));
    pool.map_err(wrong)?.install(work)
}

/// What makes classes of models fit on workers.
macro_rules! on_workers {
    ($Class:ident, $Data:ty) => {
        #[pymethods]
        impl $Class {
            /// Fits a model to the shards of a folder on workers; with it come the exception that has cut the fit short
            /// and the exact bound, if there are any, and notes.
            #[staticmethod]
            #[pyo3(signature = (data, params, config, hands, save=None, bound=false, watch=None))]
            #[allow(clippy::too_many_arguments)]
            fn fit_on(
                py: Python<'_>,
                data: &$Data,
                params: &str,
                config: &str,
                hands: Py<PyAny>,
                save: Option<std::path::PathBuf>,
                bound: bool,
                watch: Option<Py<PyAny>>,
            ) -> PyResult<(Self, Option<PyErr>, Option<f64>, $crate::errors::Notes)> {
                let params = $crate::setting::settings(params)?;
                let config = $crate::setting::settings(config)?;
                let asked = $crate::distributed::Asked { params, config, save, bound };
                let source = data.shards()?;
                let made = $crate::distributed::fit_on::<lehr::models::$Class>(
                    py,
                    &data.data,
                    source,
                    asked,
                    &hands,
                    watch.as_ref(),
                )?;
                let (run, exception, bound, notes) = made;
                Ok(($Class::new(run), exception, bound, $crate::errors::listed(py, &notes)?))
            }

            /// Goes on with a run of such a fit.
            #[staticmethod]
            #[pyo3(signature = (path, threads, hands, watch=None))]
            fn resume_on(
                py: Python<'_>,
                path: std::path::PathBuf,
                threads: usize,
                hands: Py<PyAny>,
                watch: Option<Py<PyAny>>,
            ) -> PyResult<(Self, Option<PyErr>)> {
                let made = $crate::distributed::resume_on::<lehr::models::$Class>(
                    py,
                    path,
                    threads,
                    &hands,
                    watch.as_ref(),
                )?;
                let (run, exception, _) = made;
                Ok(($Class::new(run), exception))
            }
        }

        #[pymethods]
        impl $Data {
            /// The shards of a folder, left in their files, of which the lengths are checked.
            #[staticmethod]
            fn from_shards(py: Python<'_>, folder: std::path::PathBuf) -> PyResult<Self> {
                let (data, path, options) =
                    $crate::distributed::opened::<lehr::models::$Class>(py, folder)?;
                Ok(Self { data, source: Some((path, options)) })
            }
        }

        impl $Data {
            /// The folder that they are the shards of, and how it was read.
            fn shards(
                &self,
            ) -> PyResult<(&std::path::PathBuf, &lehr::models::ReadOptions<lehr::models::$Class>)>
            {
                let source = self.source.as_ref().map(|(path, options)| (path, options));
                source.ok_or_else(|| {
                    $crate::errors::data_error("these are not the shards of a folder")
                })
            }
        }
    };
}
pub(crate) use on_workers;
