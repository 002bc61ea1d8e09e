//! How a mixture is saved and loaded.

use serde::{Deserialize, Serialize};

use super::{Covariance, Mixture, MixtureParams, Prior, Units, missing};
use crate::data::Points;
use crate::error::{Advice, advice, setting};
use crate::lambda::Lambda;
use crate::math::packed::Symmetric;
use crate::models::{NamedArray, Stored};
use crate::store::Files;
use crate::{Error, Result};

/// Units and prior, fixed when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The coordinates of lambda.
    pub units: Units,
    /// The prior in those coordinates.
    pub prior: Prior,
}

impl Stored for Mixture {
    type Params = MixtureParams;
    type Frozen = Frozen;

    fn check_fits(&self, data: &Points, names: &[String]) -> Result<()> {
        missing::refuse(data)?;
        if data.n_dims() != self.n_dims() {
            let (found, fitted) = (data.n_dims(), self.n_dims());
            let listed = match names {
                [] => String::new(),
                names => format!(" ({})", names.join(", ")),
            };
            return Err(Error::data(advice![
                format!(
                    "the data have {found} columns, and the model was fitted to {fitted}{listed}"
                ),
                "; choose the right ones with ",
                setting("columns"),
                " or ",
                setting("drop"),
            ]));
        }
        if !names.is_empty() && !data.names().is_empty() && data.names() != names {
            let (found, fitted) = (data.names().join(", "), names.join(", "));
            return Err(Error::data(advice![
                format!("the data's columns are {found}, and the model was fitted to {fitted}"),
                "; put them in that order (",
                setting("columns").to(names.join(",")),
                ")",
            ]));
        }
        Ok(())
    }

    fn build(params: MixtureParams, data: &Points) -> Result<Self> {
        Mixture::new(params, data)
    }

    fn notes(&self, names: &[String]) -> Vec<Advice> {
        let told = |&j: &usize| {
            let (shown, label) = match names.get(j) {
                Some(name) => (format!("'{name}'"), name.clone()),
                None => ((j + 1).to_string(), (j + 1).to_string()),
            };
            advice![
                format!(
                    "column {shown} is constant (always {}) and adds nothing; leave it out (",
                    self.units.shift[j]
                ),
                setting("drop").to(label),
                ")",
            ]
        };
        self.units.constant.iter().map(told).collect()
    }

    fn params(&self) -> &MixtureParams {
        &self.params
    }

    fn frozen(&self) -> Frozen {
        Frozen { units: self.units.clone(), prior: self.prior.clone() }
    }

    fn restore(params: MixtureParams, frozen: Frozen, _files: &dyn Files) -> Result<Self> {
        let Frozen { units, prior } = &frozen;
        let d = units.shift.len();
        params.check(usize::MAX, d)?;
        let shape = match params.covariance {
            Covariance::Full => Symmetric::full(d),
            Covariance::Diagonal => Symmetric::diagonal(d),
        };
        let finite = |values: &[f64], length: usize| {
            values.len() == length && values.iter().all(|x| x.is_finite())
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let fits = d > 0
            && finite(&units.shift, d)
            && finite(&units.scale, d)
            && units.scale.iter().all(|&s| positive(s))
            && units.constant.iter().all(|&j| j < d)
            && finite(&prior.mean, d)
            && positive(prior.concentration)
            && positive(prior.mean_precision)
            && positive(prior.degrees_of_freedom)
            && prior.degrees_of_freedom > d as f64 - 1.0
            && finite(&prior.scatter, shape.len())
            && finite(&prior.mean_precision_matrix, shape.len())
            && shape.cholesky(&mut prior.scatter.clone())
            && shape.cholesky(&mut prior.mean_precision_matrix.clone());
        if !fits {
            return Err(Error::config(
                "frozen",
                "the units and prior of this run",
                "they do not fit the model's settings; the configuration was changed by hand",
            ));
        }
        Ok(Mixture::assemble(params, frozen.units, frozen.prior))
    }

    fn readable(&self, lambda: &Lambda) -> Vec<NamedArray> {
        let components = self.components(lambda.table());
        let (k, d) = (components.len(), self.n_dims());
        let mut matrix_shape = vec![k, d];
        if !self.shape.is_diagonal() {
            matrix_shape.push(d);
        }
        let array = |name, shape: Vec<usize>, values: Vec<f64>| NamedArray { name, shape, values };
        vec![
            array("weights", vec![k], components.iter().map(|c| c.weight).collect()),
            array("means", vec![k, d], components.iter().flat_map(|c| c.mean.clone()).collect()),
            array(
                "covariances",
                matrix_shape,
                components.iter().flat_map(|c| c.covariance.clone()).collect(),
            ),
        ]
    }
}
