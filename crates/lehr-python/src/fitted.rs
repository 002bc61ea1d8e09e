//! What the classes of all models share: fit, go on, save, load, pack, and tell how it went.

use std::path::Path;

use lehr::models::{Shipped, Stored};
use lehr::store::{Run, RunDirectory};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::set;
use crate::errors::raised;

/// The name of the model of a run directory.
#[pyfunction]
pub fn model_name(path: std::path::PathBuf) -> PyResult<String> {
    raised(RunDirectory::open(&path).and_then(|directory| directory.model_name()))
}

/// Writes an auxiliary file of a run as the run's own are written: whole, or not at all.
#[pyfunction]
pub fn write_whole(path: std::path::PathBuf, text: &str) -> PyResult<()> {
    raised(lehr::write::whole(&path, text.as_bytes()))
}

/// The observations as columns; what an observation does not have is NaN.
pub fn trace<'py, M: Stored>(py: Python<'py>, fitted: &Run<M>) -> PyResult<Bound<'py, PyDict>> {
    let trace = &fitted.trace;
    let columns = PyDict::new(py);
    macro_rules! column {
        ($($name:ident),*) => {$(
            set(&columns, stringify!($name), trace.iter().map(|o| o.$name).collect())?;
        )*};
    }
    column!(restart, step, seconds, items, rho, effective, batch, temperature, bound);
    let or_nan = |x: Option<f64>| x.unwrap_or(f64::NAN);
    set(&columns, "heldout", trace.iter().map(|o| or_nan(o.heldout)).collect())?;
    column!(guard_hits, closing);
    let mut names: Vec<&String> = trace.iter().flat_map(|o| o.measures.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let values = trace.iter().map(|o| or_nan(o.measures.get(name).copied())).collect();
        set(&columns, name, values)?;
    }
    Ok(columns)
}

/// Refuses the run directory of another model.
pub fn check_model<M: Shipped>(path: &Path) -> lehr::Result<()> {
    let names = M::NAMES;
    let name = RunDirectory::open(path)?.model_name()?;
    if names.contains(&name.as_str()) {
        return Ok(());
    }
    Err(lehr::Error::run(path, format!("is a run of {name}, not of {}", names.join(" or "))))
}

/// The class of a model: `$begins` makes a state of the array that says where to start, and `$kept` is what is computed
/// once for all readouts, if there is anything.
macro_rules! model_class {
    ($(#[$doc:meta])* $Class:ident, $Data:ty, $begins:expr $(, $kept:ident: $Kept:ty)?) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "lehr._lehr")]
        pub struct $Class {
            pub fitted: std::sync::Arc<lehr::store::Run<lehr::models::$Class>>,
            $($kept: std::sync::OnceLock<$Kept>,)?
        }

        impl $Class {
            pub fn new(fitted: lehr::store::Run<lehr::models::$Class>) -> Self {
                $Class {
                    fitted: std::sync::Arc::new(fitted),
                    $($kept: std::sync::OnceLock::new(),)?
                }
            }
        }

        #[pyo3::pymethods]
        impl $Class {
            /// Fits a model; with it come the exception that has cut the fit short, if there is one, and notes.
            #[staticmethod]
            #[pyo3(signature = (data, params, config, watch=None, begin=None, like=None))]
            fn fit(
                py: pyo3::Python<'_>,
                data: &$Data,
                params: &str,
                config: &str,
                watch: Option<pyo3::Py<pyo3::PyAny>>,
                begin: Option<numpy::PyReadonlyArray2<'_, f64>>,
                like: Option<&$Class>,
            ) -> pyo3::PyResult<(Self, Option<pyo3::PyErr>, $crate::errors::Notes)> {
                use lehr::store::{Begin, Items, Run};
                let params = $crate::setting::settings(params)?;
                let config: lehr::FitConfig = $crate::setting::settings(config)?;
                let begin = match &begin {
                    Some(array) => {
                        let shape = numpy::PyUntypedArrayMethods::shape(&**array);
                        Some(((shape[0], shape[1]), array.as_slice()?.to_vec()))
                    }
                    None => None,
                };
                let (fitted, exception, notes) = $crate::run::watched(py, watch.as_ref(), |watcher| {
                    let source = data.source.as_ref().map(|(path, options)| (&**path, options));
                    let items: Items<'_, lehr::models::$Class> = Items { data: &data.data, source };
                    let start = begin.as_ref().map(|(shape, values)| {
                        move |model: &lehr::models::$Class, data: &_| {
                            $begins(model, data, *shape, values.as_slice())
                        }
                    });
                    let begin = match (&start, like) {
                        (Some(start), _) => Begin::At(start),
                        (None, Some(other)) => Begin::With(&other.fitted),
                        (None, None) => Begin::Random,
                    };
                    Run::fit(items, params, &config, begin, watcher)
                })?;
                Ok(($Class::new(fitted), exception, $crate::errors::listed(py, &notes)?))
            }

            /// Fits the model at several sizes: the table as JSON, the fits to all items, a row each, and notes.
            #[staticmethod]
            #[pyo3(signature = (data, params, config, grid, watch=None))]
            fn sweep(
                py: pyo3::Python<'_>,
                data: &$Data,
                params: &str,
                config: &str,
                grid: &str,
                watch: Option<pyo3::Py<pyo3::PyAny>>,
            ) -> pyo3::PyResult<(String, Vec<Self>, $crate::errors::Notes)> {
                use lehr::store::Items;
                let params = $crate::setting::settings(params)?;
                let config: lehr::FitConfig = $crate::setting::settings(config)?;
                let grid: lehr::sweep::Grid = $crate::setting::settings(grid)?;
                let (swept, exception, notes) = $crate::run::watched(py, watch.as_ref(), |onlooker| {
                    let source = data.source.as_ref().map(|(path, options)| (&**path, options));
                    let items: Items<'_, lehr::models::$Class> = Items { data: &data.data, source };
                    lehr::sweep::fit(items, params, &config, &grid, &*onlooker)
                })?;
                if let Some(exception) = exception {
                    return Err(exception);
                }
                let (swept, runs) = swept;
                let table = serde_json::to_string(&swept.table).expect("plain values become JSON");
                let runs = runs.into_iter().map($Class::new).collect();
                Ok((table, runs, $crate::errors::listed(py, &notes)?))
            }

            /// Goes on with new data.
            #[pyo3(signature = (data, config, watch=None))]
            fn partial(
                &self,
                py: pyo3::Python<'_>,
                data: &$Data,
                config: &str,
                watch: Option<pyo3::Py<pyo3::PyAny>>,
            ) -> pyo3::PyResult<(Self, Option<pyo3::PyErr>, $crate::errors::Notes)> {
                use lehr::store::Items;
                let config: lehr::FitConfig = $crate::setting::settings(config)?;
                let (fitted, exception, notes) = $crate::run::watched(py, watch.as_ref(), |watcher| {
                    let source = data.source.as_ref().map(|(path, options)| (&**path, options));
                    let items: Items<'_, lehr::models::$Class> = Items { data: &data.data, source };
                    self.fitted.update(items, &config, watcher)
                })?;
                Ok(($Class::new(fitted), exception, $crate::errors::listed(py, &notes)?))
            }

            /// Makes a run directory of it.
            fn save(&self, py: pyo3::Python<'_>, path: std::path::PathBuf) -> pyo3::PyResult<()> {
                $crate::run::computed(py, 1, || self.fitted.save(&path))
            }

            /// Loads a run directory.
            #[staticmethod]
            fn load(py: pyo3::Python<'_>, path: std::path::PathBuf) -> pyo3::PyResult<Self> {
                $crate::run::computed(py, 1, || {
                    $crate::fitted::check_model::<lehr::models::$Class>(&path)?;
                    Ok($Class::new(lehr::store::Run::load(&path)?))
                })
            }

            /// All of it as bytes.
            fn to_bytes<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyBytes>> {
                let bytes = $crate::run::computed(py, 1, || self.fitted.to_bytes())?;
                Ok(pyo3::types::PyBytes::new(py, &bytes))
            }

            /// What such bytes were made of.
            #[staticmethod]
            fn from_bytes(py: pyo3::Python<'_>, bytes: &[u8]) -> pyo3::PyResult<Self> {
                $crate::run::computed(py, 1, || {
                    Ok($Class::new(lehr::store::Run::from_bytes(bytes)?))
                })
            }

            /// The settings, as `config.json` has them.
            fn record(&self) -> String {
                serde_json::to_string(&self.fitted.config).expect("plain values become JSON")
            }

            /// How it ended, as `result.json` has it; none for a run that was killed.
            fn result(&self) -> Option<String> {
                let result = self.fitted.result.as_ref()?;
                Some(serde_json::to_string(result).expect("plain values become JSON"))
            }

            /// Its parts matched to those of another fitted model, as JSON.
            fn compare(&self, py: pyo3::Python<'_>, other: &Self, threads: usize) -> pyo3::PyResult<String> {
                use lehr::compare::Comparable;
                $crate::run::computed(py, threads, || {
                    let found = lehr::models::$Class::compare(&self.fitted, &other.fitted)?;
                    Ok(serde_json::to_string(&found).expect("plain values become JSON"))
                })
            }

            /// The observations as columns.
            fn trace<'py>(
                &self,
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyDict>> {
                $crate::fitted::trace(py, &self.fitted)
            }

            /// The fitted model in a few lines of HTML.
            fn card(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<String> {
                $crate::run::computed(py, 1, || lehr_report::card(&self.fitted))
            }

            /// What is wrong with the run directory that it was loaded from, if something is.
            #[getter]
            fn warning(&self) -> Option<&str> {
                self.fitted.warning.as_deref()
            }

            /// The names of its runs.
            #[classattr]
            fn names() -> Vec<&'static str> {
                <lehr::models::$Class as lehr::models::Shipped>::NAMES.to_vec()
            }

            /// Updates made.
            #[getter]
            fn step(&self) -> u64 {
                self.fitted.saved.model_state().step
            }

            /// Rows or entries that the guard changed.
            #[getter]
            fn guard_hits(&self) -> u64 {
                self.fitted.saved.model_state().guard_hits
            }
        }
    };
}
pub(crate) use model_class;
