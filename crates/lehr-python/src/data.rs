//! Data as Python has them: matrices, sparse matrices, columns, Arrow streams and files.

use std::path::PathBuf;
use std::sync::Arc;

use lehr::data::{Duplicates, FromFile, Ids, Side};
use lehr::models::{ReadOptions, Stored};
use lehr::read::{Document, FittedColumns, PointsOptions};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;
use rayon::prelude::*;

use crate::arrays::rows_of;
use crate::arrow;
use crate::errors::{guarded, parts};
use crate::lda::Lda;
use crate::mixture::Mixture;
use crate::pmf::Pmf;
use crate::run::computed;
use crate::setting::{options_of, options_over};

/// A file and how it was read.
type Source<M> = Option<(PathBuf, ReadOptions<M>)>;

/// The data in a file that the command line reads, for a model that knows names already if there is one.
fn from_file<M: Stored>(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
    known: Option<&M>,
) -> PyResult<(Arc<M::Data>, Source<M>)>
where
    M::Data: Send,
{
    let options: ReadOptions<M> = options_of(options)?;
    let data = computed(py, 1, || match known {
        Some(known) => Ok(known.read_new(&path, &options)?.0),
        None => M::Data::read(&path, &options),
    })?;
    Ok((Arc::new(data), Some((path, options))))
}

/// Rows of numbers.
#[pyclass(frozen, module = "lehr._lehr")]
pub struct Points {
    pub data: Arc<lehr::data::Points>,
    pub source: Source<lehr::models::Mixture>,
}

#[pymethods]
impl Points {
    /// Of an array of float64 or float32 in C order, which is read where it is; with `missing`, NaN stands for
    /// a number that is missing.
    #[staticmethod]
    #[pyo3(signature = (values, weights=None, names=None, missing=false))]
    fn from_array(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        names: Option<Vec<String>>,
        missing: bool,
    ) -> PyResult<Self> {
        let (rows, n_dims) = rows_of(values)?;
        let weights = copied(weights)?;
        let points = match missing {
            true => lehr::data::Points::shared_with_missing,
            false => lehr::data::Points::shared,
        };
        let data = py.detach(|| guarded(|| named(points(rows, n_dims)?, weights, names)))?;
        Ok(Points { data: Arc::new(data), source: None })
    }

    /// Of a data frame that exports an Arrow stream; with `missing`, empty cells and NaN stand for numbers that
    /// are missing.
    #[staticmethod]
    #[pyo3(signature = (frame, weights=None, missing=false))]
    fn from_arrow(
        frame: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        missing: bool,
    ) -> PyResult<Self> {
        let (values, names) = arrow::matrix(frame, missing)?;
        let weights = copied(weights)?;
        let n_dims = names.len();
        let points = match missing {
            true => lehr::data::Points::with_missing,
            false => lehr::data::Points::new,
        };
        let data = guarded(|| named(points(values, n_dims)?, weights, Some(names)))?;
        Ok(Points { data: Arc::new(data), source: None })
    }

    /// Of a file that the command line reads; for a model that is fitted already, its columns by name, and read
    /// as its own file was if `options` do not say otherwise.
    #[staticmethod]
    #[pyo3(signature = (path, options, known=None))]
    fn from_path(
        py: Python<'_>,
        path: PathBuf,
        options: &str,
        known: Option<&Mixture>,
    ) -> PyResult<Self> {
        let Some(known) = known else {
            let (data, source) = from_file::<lehr::models::Mixture>(py, path, options, None)?;
            return Ok(Points { data, source });
        };
        let run = &known.fitted.config.data;
        let n_dims = known.fitted.config.frozen.units.shift.len();
        let own = PointsOptions { model: None, ..run.options.clone() };
        let mut options: PointsOptions = options_over(&own, options)?;
        options.model = Some(FittedColumns::of(run, n_dims));
        let data = computed(py, 1, || lehr::data::Points::read(&path, &options))?;
        Ok(Points { data: Arc::new(data), source: Some((path, options)) })
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.data.n_items(), self.data.n_dims())
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.data.names().to_vec()
    }

    /// How many numbers are missing, and how many rows of the file were left out for one that is.
    #[getter]
    fn gaps(&self) -> (usize, usize) {
        (self.data.n_missing(), self.data.left_out().len())
    }
}

fn copied<T: numpy::Element + Copy>(
    array: Option<PyReadonlyArray1<'_, T>>,
) -> PyResult<Option<Vec<T>>> {
    array.map(|array| Ok(array.as_slice()?.to_vec())).transpose()
}

fn named(
    points: lehr::data::Points,
    weights: Option<Vec<f64>>,
    names: Option<Vec<String>>,
) -> lehr::Result<lehr::data::Points> {
    let points = match weights {
        Some(weights) => points.with_weights(weights)?,
        None => points,
    };
    match names {
        Some(names) => points.with_names(names),
        None => Ok(points),
    }
}

/// Which columns are the user, the item and the rating, by their usual names.
#[pyfunction]
pub fn usual_columns(names: Vec<String>) -> (Option<usize>, Option<usize>, Option<usize>) {
    lehr::read::usual_columns(&names).into()
}

/// A document as Python has it.
#[derive(FromPyObject)]
enum Given {
    Text(String),
    Words(Vec<String>),
}

/// Documents.
#[pyclass(frozen, module = "lehr._lehr")]
pub struct Docs {
    pub data: Arc<lehr::data::Docs>,
    pub source: Source<lehr::models::Lda>,
}

#[pymethods]
impl Docs {
    /// Of a sparse matrix by rows, `starts` being int64, `indices` int32 or int64 and `counts` float32 or
    /// float64.
    #[staticmethod]
    #[pyo3(signature = (starts, indices, counts, n_words, names=None))]
    fn from_csr(
        py: Python<'_>,
        starts: PyReadonlyArray1<'_, i64>,
        indices: &Bound<'_, PyAny>,
        counts: &Bound<'_, PyAny>,
        n_words: usize,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let starts = starts.as_slice()?;
        let data = match indices.cast::<PyArray1<i32>>() {
            Ok(_) => csr::<i32>(py, starts, indices, counts, n_words)?,
            Err(_) => csr::<i64>(py, starts, indices, counts, n_words)?,
        };
        let data = guarded(|| match names {
            Some(names) => data.with_vocabulary(names),
            None => Ok(data),
        })?;
        Ok(Docs { data: Arc::new(data), source: None })
    }

    /// Of a file that the command line reads, for a model that has its words already if there is one.
    #[staticmethod]
    #[pyo3(signature = (path, options, known=None))]
    fn from_path(
        py: Python<'_>,
        path: PathBuf,
        options: &str,
        known: Option<&Lda>,
    ) -> PyResult<Self> {
        let (data, source) = from_file(py, path, options, known.map(|known| &known.fitted.model))?;
        Ok(Docs { data, source })
    }

    /// Of texts and lists of words, None where there is no document; for a model that has its words already if there
    /// is one.
    #[staticmethod]
    #[pyo3(signature = (documents, options, known=None))]
    fn from_documents(
        py: Python<'_>,
        documents: Vec<Option<Given>>,
        options: &str,
        known: Option<&Lda>,
    ) -> PyResult<Self> {
        let options: ReadOptions<lehr::models::Lda> = options_of(options)?;
        let known = known.map(|known| known.fitted.model.vocabulary());
        let documents = documents.into_iter().map(|document| match document {
            Some(Given::Text(text)) => Document::Text(text),
            Some(Given::Words(words)) => Document::Words(words),
            None => Document::Missing,
        });
        let data = computed(py, 1, move || lehr::read::docs_of(documents, &options, known))?;
        Ok(Docs { data: Arc::new(data), source: None })
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.data.n_items(), self.data.n_words())
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.data.vocabulary().names().unwrap_or_default().to_vec()
    }

    /// What someone who reads the file should know, in parts.
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyList>>> {
        self.data.notes().iter().map(|note| parts(py, note)).collect()
    }

    /// The number of words of all documents, each as often as it occurs.
    fn tokens(&self) -> f64 {
        self.data.tokens()
    }
}

fn csr<I: numpy::Element + Copy + Into<i64>>(
    py: Python<'_>,
    starts: &[i64],
    indices: &Bound<'_, PyAny>,
    counts: &Bound<'_, PyAny>,
    n_words: usize,
) -> PyResult<lehr::data::Docs> {
    let indices = indices.extract::<PyReadonlyArray1<'_, I>>()?;
    let indices = indices.as_slice()?;
    match counts.extract::<PyReadonlyArray1<'_, f32>>() {
        Ok(counts) => {
            let counts = counts.as_slice()?;
            py.detach(|| guarded(|| lehr::data::Docs::from_csr(starts, indices, counts, n_words)))
        }
        Err(_) => {
            let counts = counts.extract::<PyReadonlyArray1<'_, f64>>()?;
            let counts = counts.as_slice()?;
            py.detach(|| guarded(|| lehr::data::Docs::from_csr(starts, indices, counts, n_words)))
        }
    }
}

/// Numbers that users gave to items.
#[pyclass(frozen, module = "lehr._lehr")]
pub struct Ratings {
    pub data: Arc<lehr::data::Ratings>,
    pub source: Source<lehr::models::Pmf>,
}

/// Names of users or items, one for each rating.
pub enum Names {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Names {
    /// Of an array of int64 or a list of strings.
    pub fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(list) = column.cast::<PyList>() {
            return Ok(Names::Texts(list.extract()?));
        }
        Ok(Names::Integers(column.extract::<PyReadonlyArray1<'_, i64>>()?.as_slice()?.to_vec()))
    }

    /// Their numbers among `ids`, to which new ones are added.
    fn numbered(&self, ids: &mut Ids) -> Vec<u32> {
        match self {
            Names::Integers(all) => all.iter().map(|&id| ids.insert_integer(id)).collect(),
            Names::Texts(all) => all.iter().map(|id| ids.insert(id)).collect(),
        }
    }

    /// Their numbers among `ids`, if they are there.
    pub fn found(&self, ids: &Ids) -> Vec<Option<u32>> {
        match self {
            Names::Integers(all) => all.par_iter().map(|&id| ids.find_integer(id)).collect(),
            Names::Texts(all) => all.par_iter().map(|id| ids.find(id)).collect(),
        }
    }
}

#[pymethods]
impl Ratings {
    /// Of three columns; users and items are numbered as they come, after those that a model knows.
    #[staticmethod]
    #[pyo3(signature = (users, items, values, average, known=None, weights=None))]
    fn from_columns(
        py: Python<'_>,
        users: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        values: PyReadonlyArray1<'_, f32>,
        average: bool,
        known: Option<&Pmf>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let (users, items) = (Names::new(users)?, Names::new(items)?);
        let weights = weights.map(|weights| weights.as_slice().map(<[f32]>::to_vec)).transpose()?;
        Self::built(py, (users, items), values.as_slice()?.to_vec(), weights, average, known)
    }

    /// Of a data frame that exports an Arrow stream, by the names of its columns.
    #[staticmethod]
    #[pyo3(signature = (frame, columns, average, known=None, weight=None))]
    fn from_arrow(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        columns: (String, String, String),
        average: bool,
        known: Option<&Pmf>,
        weight: Option<String>,
    ) -> PyResult<Self> {
        let ratings = arrow::ratings(frame, &columns, weight.as_ref())?;
        Self::built(py, ratings.ids, ratings.values, ratings.weights, average, known)
    }

    /// Of a sparse matrix by rows. Row i is user `first_user` + i; all rows and columns are there, rated or
    /// not, and the users that a model knows before them.
    #[staticmethod]
    #[pyo3(signature = (starts, columns, values, n_items, first_user=0, weights=None))]
    fn from_csr(
        py: Python<'_>,
        starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, u32>,
        values: PyReadonlyArray1<'_, f32>,
        n_items: usize,
        first_user: usize,
        weights: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let starts = starts.as_slice()?;
        let weights = weights.map(|weights| weights.as_slice().map(<[f32]>::to_vec)).transpose()?;
        let (columns, values) = (columns.as_slice()?.to_vec(), values.as_slice()?.to_vec());
        let n_users = first_user + starts.len().saturating_sub(1);
        let data = computed(py, 1, || {
            let rows = starts.windows(2).enumerate();
            let user = rows
                .flat_map(|(i, ends)| {
                    let n = usize::try_from(ends[1] - ends[0]).unwrap_or(0);
                    std::iter::repeat_n((first_user + i) as u32, n)
                })
                .collect();
            let ids = |n: usize| (0..n as i64).collect::<Ids>();
            let (users, items) = (ids(n_users), ids(n_items));
            made(users, items, user, columns, values, weights, Duplicates::Refuse)
        })?;
        Ok(Ratings { data: Arc::new(data), source: None })
    }

    /// Of a file that the command line reads; ids that a model knows have their numbers there.
    #[staticmethod]
    #[pyo3(signature = (path, options, known=None))]
    fn from_path(
        py: Python<'_>,
        path: PathBuf,
        options: &str,
        known: Option<&Pmf>,
    ) -> PyResult<Self> {
        let (data, source) = from_file(py, path, options, known.map(|known| &known.fitted.model))?;
        Ok(Ratings { data, source })
    }

    /// How many users, items and ratings.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let n = |side| self.data.ids(side).len();
        (n(Side::User), n(Side::Item), self.data.n_ratings())
    }
}

impl Ratings {
    fn built(
        py: Python<'_>,
        (users, items): (Names, Names),
        values: Vec<f32>,
        weights: Option<Vec<f32>>,
        average: bool,
        known: Option<&Pmf>,
    ) -> PyResult<Self> {
        let duplicates = if average { Duplicates::Mean } else { Duplicates::Refuse };
        let data = computed(py, 1, || {
            let ids = |side| known.map_or(Ids::default(), |k| k.fitted.model.ids(side).clone());
            let (mut user_ids, mut item_ids) = (ids(Side::User), ids(Side::Item));
            let user = users.numbered(&mut user_ids);
            let item = items.numbered(&mut item_ids);
            made(user_ids, item_ids, user, item, values, weights, duplicates)
        })?;
        Ok(Ratings { data: Arc::new(data), source: None })
    }
}

/// Ratings with weights, or without.
fn made(
    users: Ids,
    items: Ids,
    user: Vec<u32>,
    item: Vec<u32>,
    values: Vec<f32>,
    weights: Option<Vec<f32>>,
    duplicates: Duplicates,
) -> lehr::Result<lehr::data::Ratings> {
    use lehr::data::Ratings;
    match weights {
        None => Ratings::new(users, items, user, item, values, duplicates),
        Some(_) if duplicates == Duplicates::Mean => Err(lehr::Error::config(
            "duplicates",
            "mean",
            "ratings with weights are not averaged; keep one rating of each pair",
        )),
        Some(weights) => Ratings::weighted(users, items, user, item, values, weights),
    }
}
