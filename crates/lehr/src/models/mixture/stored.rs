//! How a mixture is saved and loaded.

use serde::{Deserialize, Serialize};

use super::shape::Shape;
use super::{Mixture, MixtureParams, Prior, Units};
use crate::data::Points;
use crate::error::{advice, setting};
use crate::lambda::Lambda;
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
    /// Whether values were missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gaps: bool,
    /// Whether precisions have Gamma distributions: diagonal components had a Wishart distribution once.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gammas: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Stored for Mixture {
    type Params = MixtureParams;
    type Frozen = Frozen;

    fn check_fits(&self, data: &Points, names: &[String]) -> Result<()> {
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

    fn params(&self) -> &MixtureParams {
        &self.params
    }

    fn frozen(&self) -> Frozen {
        Frozen {
            units: self.units.clone(),
            prior: self.prior.clone(),
            gaps: self.gaps,
            gammas: self.shape.scatter().is_diagonal(),
        }
    }

    fn restore(params: MixtureParams, frozen: Frozen, _files: &dyn Files) -> Result<Self> {
        let Frozen { units, prior, .. } = &frozen;
        let d = units.shift.len();
        params.check(usize::MAX, d)?;
        let shape = Shape::new(params.covariance, d);
        if shape.scatter().is_diagonal() && !frozen.gammas {
            return Err(Error::config(
                "covariance",
                params.covariance,
                "this run is of an earlier lehr, whose diagonal components were a Wishart distribution with a \
                 diagonal matrix, another model; fit it again",
            ));
        }
        let (stored, of_means) = (shape.scatter(), shape.of_means());
        let finite = |values: &[f64], length: usize| {
            values.len() == length && values.iter().all(|x| x.is_finite())
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let fits = d > 0
            && finite(&units.shift, d)
            && finite(&units.scale, d)
            && units.scale.iter().all(|&s| positive(s))
            && finite(&prior.mean, d)
            && positive(prior.concentration)
            && positive(prior.mean_precision)
            && positive(prior.degrees_of_freedom)
            && prior.degrees_of_freedom > shape.least_freedom()
            && finite(&prior.scatter, stored.len())
            && finite(&prior.mean_precision_matrix, of_means.len())
            && stored.cholesky(&mut prior.scatter.clone())
            && of_means.cholesky(&mut prior.mean_precision_matrix.clone());
        if !fits {
            return Err(Error::config(
                "frozen",
                "the units and prior of this run",
                "they do not fit the model's settings; the configuration was changed by hand",
            ));
        }
        Ok(Mixture::assemble(params, frozen.units, frozen.prior, frozen.gaps))
    }

    fn readable(&self, lambda: &Lambda) -> Vec<NamedArray> {
        let components = self.components(lambda.table());
        let (k, d) = (components.len(), self.n_dims());
        // One for each component; tied ones are written again for each, so that readers need not know.
        let matrix_shape = match components[0].covariance.len() {
            1 if d > 1 => vec![k],
            n if n == d && self.shape.scatter().is_diagonal() => vec![k, d],
            _ => vec![k, d, d],
        };
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
