//! Gaussian mixtures.

use lehr::fit::State;
use lehr::lambda::Lambda;
use lehr::memory::room_for;
use lehr::model::{Model, RowSet, item_bounds_under};
use lehr::models::mixture::{Component, Covariance, Densities};
use lehr::models::{Mixture as Core, Stored};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{matrix, set, shaped, vector};
use crate::data::Points;
use crate::distributed::on_workers;
use crate::errors::parts;
use crate::fitted::model_class;
use crate::run::{computed, computed_or_here};

model_class!(
    /// A fitted Gaussian or Dirichlet-process mixture.
    Mixture,
    Points,
    begins,
    expect: Densities
);

on_workers!(Mixture, Points);

/// The state that given responsibilities lead to, one row of K for each item.
fn begins(
    model: &Core,
    data: &lehr::data::Points,
    (rows, columns): (usize, usize),
    values: &[f64],
) -> lehr::Result<State> {
    let expected = (data.n_items(), model.params().components);
    if (rows, columns) != expected {
        return Err(lehr::Error::data(format!(
            "initial responsibilities are {rows} x {columns}; {} x {} are needed, a row for each \
             item and a column for each component",
            expected.0, expected.1
        )));
    }
    if let Some(value) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        return Err(lehr::Error::data(format!(
            "initial responsibilities are shares between 0 and 1, and one is {value}"
        )));
    }
    let lambda = model.lambda_from_responsibilities(data, values);
    let fine = lambda.rows().enumerate().all(|(row, values)| model.in_domain(row, values));
    if !fine {
        return Err(lehr::Error::data("the initial responsibilities lead to no density"));
    }
    Ok(State::at(model, lambda))
}

#[pymethods]
impl Mixture {
    /// Everything that scikit-learn calls an attribute of a fitted mixture, by its name there.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (components, posterior) = computed(py, 1, || {
            let lambda = self.fitted.lambda().table();
            Ok((self.fitted.model.components(lambda), self.fitted.model.posterior(lambda)))
        })?;
        let k = components.len();
        let d = posterior.prior_mean.len();
        let covariance = self.fitted.model.params().covariance;
        let tied = covariance == Covariance::Tied;
        let matrix: &[usize] = match covariance {
            Covariance::Full | Covariance::Tied => &[d, d],
            Covariance::Diagonal => &[d],
            Covariance::Spherical => &[],
        };
        // Tied components have one matrix, and scikit-learn's numbers for it are shares of each component.
        let of_each = if tied { matrix.to_vec() } else { [&[k], matrix].concat() };
        let share = if tied { 1.0 / k as f64 } else { 1.0 };
        let shared = |values: Vec<f64>| values.into_iter().map(|x| x * share).collect::<Vec<f64>>();
        let matrices = if tied { &components[..1] } else { &components[..] };
        let all = |of: fn(&Component) -> &[f64]| -> Vec<f64> {
            matrices.iter().flat_map(|component| of(component).to_vec()).collect()
        };
        let means = components.iter().flat_map(|component| component.mean.clone()).collect();
        let out = PyDict::new(py);
        set(&out, "weights_", components.iter().map(|c| c.weight).collect())?;
        out.set_item("means_", shaped(py, means, &[k, d])?)?;
        out.set_item("covariances_", shaped(py, all(|c| &c.covariance), &of_each)?)?;
        out.set_item("precisions_", shaped(py, all(|c| &c.precision), &of_each)?)?;
        let factors = shaped(py, posterior.precision_factors, &of_each)?;
        out.set_item("precisions_cholesky_", factors)?;
        match posterior.concentration_rest {
            Some(rest) => {
                let pair = (vector(py, posterior.concentration), vector(py, rest));
                out.set_item("weight_concentration_", pair)?;
            }
            None => set(&out, "weight_concentration_", posterior.concentration)?,
        }
        if let Some(mean_precision) = posterior.mean_precision {
            set(&out, "mean_precision_", mean_precision)?;
        }
        let freedom = shared(posterior.degrees_of_freedom);
        match freedom[..] {
            [freedom] if tied => out.set_item("degrees_of_freedom_", freedom)?,
            _ => set(&out, "degrees_of_freedom_", freedom)?,
        }
        out.set_item("weight_concentration_prior_", posterior.prior_concentration)?;
        set(&out, "mean_prior_", posterior.prior_mean)?;
        out.set_item("mean_precision_prior_", posterior.prior_mean_precision)?;
        out.set_item("degrees_of_freedom_prior_", posterior.prior_degrees_of_freedom * share)?;
        let scatter = shared(posterior.prior_scatter);
        match scatter[..] {
            [variance] if matrix.is_empty() => out.set_item("covariance_prior_", variance)?,
            _ => out.set_item("covariance_prior_", shaped(py, scatter, matrix)?)?,
        }
        Ok(out)
    }

    /// The numbers of the components in use, and the effective number.
    fn usage<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, f64) {
        let (model, lambda) = (&self.fitted.model, self.fitted.lambda().table());
        let in_use = model.components_in_use(lambda).into_iter().map(|k| k as i64).collect();
        (vector::<i64>(py, in_use), model.effective_clusters(lambda))
    }

    /// How many columns it was fitted to.
    #[getter]
    fn n_dims(&self) -> usize {
        self.fitted.config.frozen.units.shift.len()
    }

    /// What someone who has fitted it should know, each in parts.
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyList>>> {
        let notes = self.fitted.model.notes(&self.fitted.config.data.columns);
        notes.iter().map(|note| parts(py, note)).collect()
    }

    /// A page of HTML, with items and their names if there are any.
    #[pyo3(signature = (threads, data=None, names=None))]
    fn report(
        &self,
        py: Python<'_>,
        threads: usize,
        data: Option<&Points>,
        names: Option<Vec<String>>,
    ) -> PyResult<String> {
        computed(py, threads, || {
            if let Some(data) = data {
                self.check(data)?;
            }
            let points = data.map(|data| std::sync::Arc::clone(&data.data));
            let given = lehr_report::clusters::Given { points, names, notes: Vec::new() };
            lehr_report::one("", &self.fitted, &given)
        })
    }

    /// Whether readouts of these items are so short that they need no number of threads.
    fn is_short(&self, data: &Points) -> bool {
        self.fitted.model.is_short(data.data.n_items())
    }

    /// One row of K shares for each item.
    fn responsibilities<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let k = self.fitted.model.params().components;
        let n = data.data.n_items();
        let values = computed_or_here(py, threads, || {
            self.check(data)?;
            let numbers = n.saturating_mul(k);
            if threads.is_some() {
                room_for(&format!("an array of {n} x {k} responsibilities"), numbers)?;
            }
            let mut out = vec![0.0; numbers];
            let model = &self.fitted.model;
            model.fill_responsibilities(self.expect(), &data.data, 0..n, &mut out)?;
            Ok(out)
        })?;
        matrix(py, values, [n, k])
    }

    /// The component that has most of each item; no row of K numbers is made for it.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let labels = computed_or_here(py, threads, || {
            self.check(data)?;
            if threads.is_some() {
                room_for("labels of all items", data.data.n_items().saturating_mul(2))?;
            }
            let labels = self.fitted.model.labels_under(self.expect(), &data.data)?;
            Ok(labels.into_iter().map(i64::from).collect())
        })?;
        Ok(vector::<i64>(py, labels))
    }

    /// Each item's part of the bound.
    fn item_bounds<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.of_each(py, data, threads, |model, lambda, data| {
            item_bounds_under(model, self.expect(), &RowSet::all(lambda.n_rows()), data)
        })
    }

    /// The log predictive density of each item.
    fn log_predictive<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.of_each(py, data, threads, |model, lambda, data| model.log_predictive(lambda, data))
    }

    /// The items with what is missing filled in, and how far each value may be off.
    fn impute<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let imputed = computed(py, threads, || {
            self.check(data)?;
            let n = data.data.n_items().saturating_mul(2 * data.data.n_dims());
            room_for("all values and their deviations", n)?;
            Ok(self.fitted.model.impute(self.fitted.lambda().table(), &data.data))
        })?;
        let shape = [data.data.n_items(), data.data.n_dims()];
        Ok((shaped(py, imputed.values, &shape)?, shaped(py, imputed.deviations, &shape)?))
    }

    /// Draws, and the component of each.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (values, labels) = computed(py, 1, || {
            let what = format!("{n} draws of {} numbers", self.n_dims());
            room_for(&what, n.saturating_mul(self.n_dims() + 2))?;
            Ok(self.fitted.model.sample(self.fitted.lambda().table(), n, seed))
        })?;
        let d = values.len().checked_div(n).unwrap_or(0);
        let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
        Ok((shaped(py, values, &[n, d])?, vector(py, labels)))
    }
}

impl Mixture {
    /// A number for each item.
    fn of_each<'py>(
        &self,
        py: Python<'py>,
        data: &Points,
        threads: Option<usize>,
        number: impl FnOnce(&Core, &Lambda, &lehr::data::Points) -> Vec<f64> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = computed_or_here(py, threads, || {
            self.check(data)?;
            Ok(number(&self.fitted.model, self.fitted.lambda(), &data.data))
        })?;
        Ok(vector(py, values))
    }

    /// The components' expected log densities: of many components they cost more than those of an item.
    fn expect(&self) -> &Densities {
        self.expect.get_or_init(|| {
            let lambda = self.fitted.lambda();
            let mut expect = Densities::default();
            self.fitted.model.refresh(lambda, &RowSet::all(lambda.n_rows()), &mut expect);
            expect
        })
    }

    fn check(&self, data: &Points) -> lehr::Result<()> {
        self.fitted.model.check_fits(&data.data, &self.fitted.config.data.columns)
    }
}
