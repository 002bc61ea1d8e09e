//! Probabilistic matrix factorisation.

use lehr::data::{Ids, Side};
use lehr::fit::State;
use lehr::memory::room_for;
use lehr::models::pmf::{By, Factor, ListOptions, ListScores, Moved, Pair, RankingOptions};
use lehr::models::{Pmf as Core, Stored};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{set, shaped, vector};
use crate::data::{Names, Ratings};
use crate::distributed::on_workers;
use crate::errors::data_error;
use crate::fitted::model_class;
use crate::run::computed;

model_class!(
    /// A fitted matrix factorisation.
    Pmf,
    Ratings,
    begins
);

on_workers!(Pmf, Ratings);

fn begins(
    _model: &Core,
    _data: &lehr::data::Ratings,
    _shape: (usize, usize),
    _values: &[f64],
) -> lehr::Result<State> {
    Err(lehr::Error::data(
        "a matrix factorisation starts at random; initial values cannot be given",
    ))
}

/// The names of a side: an array of int64, or a list of strings.
fn names<'py>(py: Python<'py>, ids: &Ids) -> PyResult<Bound<'py, PyAny>> {
    match ids.integers() {
        Some(all) => Ok(vector(py, all.to_vec())),
        None => Ok(PyList::new(py, ids.iter().map(|id| id.to_string()))?.into_any()),
    }
}

impl Pmf {
    /// What a page shows of ratings to test on; of these, those that the model was fitted to are left out.
    fn tested_on(&self, data: Option<&Ratings>) -> lehr::Result<lehr_report::ratings::Given> {
        let mut given = lehr_report::ratings::Given::default();
        if let Some(data) = data {
            self.fitted.model.check_fits(&data.data, &[])?;
            given.test = Some(Ok(((*data.data).clone(), "the given ratings".into())));
        }
        Ok(given)
    }
}

/// Items of lists, their expected ratings, and perhaps the standard deviations of these.
type ListArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl Pmf {
    /// Factors and what was learned with them, as the checkpoint names them; ids and the mean rating.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let model = &self.fitted.model;
        let arrays = computed(py, 1, || Ok(model.readable(self.fitted.lambda())))?;
        let out = PyDict::new(py);
        for array in arrays {
            out.set_item(array.name, shaped(py, array.values, &array.shape)?)?;
        }
        out.set_item("users", names(py, model.ids(Side::User))?)?;
        out.set_item("items", names(py, model.ids(Side::Item))?)?;
        let frozen = model.frozen();
        out.set_item("mean", frozen.mean)?;
        out.set_item("n_ratings", frozen.ratings)?;
        out.set_item("prior_variance", model.prior_variance())?;
        out.set_item("dims_in_use", model.dims_in_use(self.fitted.lambda()))?;
        Ok(out)
    }

    /// A page of HTML, with ratings to test on, the items' titles and users if there are any.
    #[pyo3(signature = (threads, data=None, titles=None, users=None))]
    fn report(
        &self,
        py: Python<'_>,
        threads: usize,
        data: Option<&Ratings>,
        titles: Option<std::collections::HashMap<String, String>>,
        users: Option<Vec<String>>,
    ) -> PyResult<String> {
        computed(py, threads, || {
            let mut given = self.tested_on(data)?;
            given.titles = titles.unwrap_or_default();
            given.users = users.unwrap_or_default();
            lehr_report::one("", &self.fitted, &given)
        })
    }

    /// The numbers of that page's charts as JSON.
    #[pyo3(signature = (threads, data=None))]
    fn chart_numbers(
        &self,
        py: Python<'_>,
        threads: usize,
        data: Option<&Ratings>,
    ) -> PyResult<String> {
        computed(py, threads, || lehr_report::numbers(&self.fitted, &self.tested_on(data)?))
    }

    /// Means and, if asked for, variances of the ratings of pairs, by names; who or what is unknown is at its prior.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        users: &Bound<'py, PyAny>,
        items: &Bound<'py, PyAny>,
        with_variances: bool,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let (users, items) = (Names::new(users)?, Names::new(items)?);
        let (means, variances) = computed(py, threads, || {
            let (model, lambda) = (&self.fitted.model, self.fitted.lambda());
            let users = users.found(model.ids(Side::User));
            let items = items.found(model.ids(Side::Item));
            let pairs: Vec<Pair> = users.into_iter().zip(items).collect();
            if !with_variances {
                return Ok((model.expected(lambda, &pairs), None));
            }
            let predictions = model.predictor(lambda).predict_all(&pairs);
            let told = predictions.iter().map(|p| (p.mean, p.variance));
            let (means, variances): (Vec<f64>, Vec<f64>) = told.unzip();
            Ok((means, Some(variances)))
        })?;
        Ok((vector(py, means), variances.map(|variances| vector(py, variances))))
    }

    /// Folds ratings in. Of the users of `first_user` and on, whether rated or not: factors and biases in
    /// rows, and, if asked for, the expected rating of every item.
    fn fold_in<'py>(
        &self,
        py: Python<'py>,
        data: &Ratings,
        first_user: usize,
        with_ratings: bool,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let model = &self.fitted.model;
        let n_users = data.data.ids(Side::User).len() - first_user;
        let n_items = model.ids(Side::Item).len();
        let (means, ratings) = computed(py, threads, || {
            model.check_fits(&data.data, &[])?;
            let what = format!("an array of the ratings of {n_items} items by {n_users} users");
            room_for(&what, if with_ratings { n_users.saturating_mul(n_items) } else { 0 })?;
            let lambda = self.fitted.lambda();
            let folded = model.fold_in(lambda, &data.data);
            // Those of whom nothing new is known are as they were, or at the prior.
            let users = first_user as u32..(first_user + n_users) as u32;
            let known = |user| model.factor(lambda, Side::User, Some(user));
            let mut factors: Vec<Factor> = users.map(known).collect();
            for (user, factor) in folded.users {
                if let Some(at) = (user as usize).checked_sub(first_user) {
                    factors[at] = factor;
                }
            }
            let means: Vec<f64> = factors.iter().flat_map(|f| f.mean().to_vec()).collect();
            let ratings = match with_ratings {
                true => model.expected_of_all(lambda, &factors),
                false => Vec::new(),
            };
            Ok((means, ratings))
        })?;
        let width = means.len() / n_users.max(1);
        let ratings = match with_ratings {
            true => Some(shaped(py, ratings, &[n_users, n_items])?),
            false => None,
        };
        Ok((shaped(py, means, &[n_users, width])?, ratings))
    }

    /// The model with the users and items of new ratings in it, and how many ratings were left out because the
    /// model was fitted to another rating of the pair.
    fn absorb(&self, py: Python<'_>, data: &Ratings, threads: usize) -> PyResult<(Self, usize)> {
        computed(py, threads, || {
            let model = &self.fitted.model;
            model.check_fits(&data.data, &[])?;
            let n_changed = model.n_changed(&data.data);
            let (model, lambda) = model.absorb(self.fitted.lambda(), &data.data)?;
            Ok((Pmf::new(self.fitted.with(model, lambda)), n_changed))
        })
    }

    /// The numbers of users (side 0) or items, -1 where the model does not know one.
    fn numbers_of<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        side: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let side = if side == 0 { Side::User } else { Side::Item };
        let found = Names::new(ids)?.found(self.fitted.model.ids(side));
        Ok(vector(py, found.iter().map(|n| n.map_or(-1, i64::from)).collect::<Vec<i64>>()))
    }

    /// The best items for some users, as many for each: their numbers, -1 where no more are left, their expected ratings,
    /// and if asked for the standard deviations of these; row after row.
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    #[pyo3(signature = (users, top, by, beta, seed, with_seen, allowed, uncertainty, threads))]
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        users: &Bound<'py, PyAny>,
        top: usize,
        by: &str,
        beta: f64,
        seed: u64,
        with_seen: bool,
        allowed: Option<Vec<u32>>,
        uncertainty: bool,
        threads: usize,
    ) -> PyResult<ListArrays<'py>> {
        let by = match by.parse().map_err(data_error)? {
            By::Mean => By::Mean,
            By::Ucb { .. } => By::Ucb { beta },
            By::Thompson { .. } => By::Thompson { seed },
        };
        let users = Names::new(users)?;
        let model = &self.fitted.model;
        let width = top.min(model.ids(Side::Item).len());
        let (items, means, deviations) = computed(py, threads, || {
            let users = users.found(model.ids(Side::User));
            let n = users.len().saturating_mul(width);
            room_for(&format!("lists of {width} items for {} users", users.len()), n)?;
            let options =
                ListOptions { top: width, by, include_seen: with_seen, allowed, uncertainty };
            let lists = model.lists(self.fitted.lambda(), options);
            let mut items = Vec::with_capacity(n);
            let (mut means, mut deviations) = (Vec::with_capacity(n), Vec::new());
            for users in users.chunks(8192) {
                for list in lists.of(users) {
                    let full = items.len() + width;
                    items.extend(list.iter().map(|r| i64::from(r.item)));
                    means.extend(list.iter().map(|r| r.prediction.mean));
                    items.resize(full, -1);
                    means.resize(full, f64::NAN);
                    if uncertainty {
                        deviations.extend(list.iter().map(|r| r.prediction.sd()));
                        deviations.resize(full, f64::NAN);
                    }
                }
            }
            Ok((items, means, deviations))
        })?;
        let deviations = uncertainty.then(|| vector(py, deviations));
        Ok((vector(py, items), vector(py, means), deviations))
    }

    /// Which ratings of a user move the expected ratings of some items most: for each the items' numbers, how they were
    /// rated, and by how much they move it.
    fn explain(
        &self,
        py: Python<'_>,
        user: u32,
        items: Vec<u32>,
        n: usize,
        threads: usize,
    ) -> PyResult<Vec<Vec<(u32, f64, f64)>>> {
        computed(py, threads, || {
            let predictor = self.fitted.model.predictor(self.fitted.lambda());
            let told = predictor.explain(user, &items, n).into_iter();
            let plain = |m: Moved| (m.item, m.rating, m.by);
            Ok(told.map(|moved| moved.into_iter().map(plain).collect()).collect())
        })
    }

    /// Users (side 0) or items like one of them: their numbers, how alike they are, and how sure that is.
    fn similar<'py>(
        &self,
        py: Python<'py>,
        side: usize,
        number: u32,
        top: usize,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let side = if side == 0 { Side::User } else { Side::Item };
        let found = computed(py, threads, || {
            Ok(self.fitted.model.similar(self.fitted.lambda(), side, number, top))
        })?;
        let numbers: Vec<i64> = found.iter().map(|other| i64::from(other.number)).collect();
        let similarity: Vec<f64> = found.iter().map(|other| other.similarity).collect();
        let deviations: Vec<f64> = found.iter().map(|other| other.sd).collect();
        Ok((vector(py, numbers), vector(py, similarity), vector(py, deviations)))
    }

    /// The least and the largest rating of the fit.
    fn scale(&self) -> (f64, f64) {
        self.fitted.model.scale()
    }

    /// How good lists of `k` items are: of the model, and of the most popular items, each by name.
    fn rank<'py>(
        &self,
        py: Python<'py>,
        data: &Ratings,
        k: usize,
        relevant: Option<f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = computed(py, threads, || {
            self.fitted.model.check_fits(&data.data, &[])?;
            let options = RankingOptions { k, relevant };
            Ok(self.fitted.model.rank(self.fitted.lambda(), &data.data, options))
        })?;
        let lists = |scores: ListScores| {
            let out = PyDict::new(py);
            out.set_item("ndcg", scores.ndcg)?;
            out.set_item("recall", scores.recall)?;
            out.set_item("precision", scores.precision)?;
            out.set_item("map", scores.map)?;
            out.set_item("hit_rate", scores.hit_rate)?;
            out.set_item("coverage", scores.coverage)?;
            Ok::<_, PyErr>(out)
        };
        let out = lists(found.model)?;
        out.set_item("popularity", lists(found.popularity)?)?;
        out.set_item("n_users", found.users)?;
        out.set_item("unknown_users", found.unknown_users)?;
        out.set_item("unknown_items", found.unknown_items)?;
        Ok(out)
    }

    /// How well ratings are predicted, by name.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        data: &Ratings,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        // Fifths of the ratings, by how sure the model is.
        const PARTS: usize = 5;
        let (scores, parts) = computed(py, threads, || {
            self.fitted.model.check_fits(&data.data, &[])?;
            let predictor = self.fitted.model.predictor(self.fitted.lambda());
            let parts = predictor.scores_by_uncertainty(&data.data, PARTS);
            Ok((predictor.scores(&data.data), parts))
        })?;
        let out = PyDict::new(py);
        out.set_item("rmse", scores.rmse)?;
        out.set_item("mae", scores.mae)?;
        out.set_item("log_density", scores.log_density)?;
        set(&out, "coverage", scores.coverage.to_vec())?;
        let parts = parts.into_iter().map(|part| {
            let out = PyDict::new(py);
            out.set_item("n_ratings", part.ratings)?;
            out.set_item("predicted_rmse", part.predicted_rmse)?;
            out.set_item("rmse", part.rmse)?;
            set(&out, "coverage", part.coverage.to_vec())?;
            Ok(out)
        });
        out.set_item("by_uncertainty", parts.collect::<PyResult<Vec<_>>>()?)?;
        out.set_item("unknown_users", scores.unknown_users)?;
        out.set_item("unknown_items", scores.unknown_items)?;
        Ok(out)
    }
}
