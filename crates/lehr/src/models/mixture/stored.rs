//! How a mixture is saved and loaded.

use serde::{Deserialize, Serialize};

use super::readout::expected_weights;
use super::rows::Row;
use super::shape::Shape;
use super::{Covariance, Defaults, Mixture, MixtureParams, Prior, Units, Weights, wide};
use crate::data::Points;
use crate::error::{Advice, advice, index, setting};
use crate::lambda::Lambda;
use crate::models::{NamedArray, Stored};
use crate::settings::FitConfig;
use crate::store::Files;
use crate::sweep::HasSize;
use crate::{Error, Result, memory, threads};

/// Units and prior, fixed when the run started.
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

impl HasSize for Mixture {
    const SIZE: &'static str = "components";

    fn with_size(params: &MixtureParams, size: usize) -> MixtureParams {
        MixtureParams { components: size, ..params.clone() }
    }

    fn with_shape(params: &MixtureParams, shape: &str) -> Result<MixtureParams> {
        let covariance =
            shape.parse().map_err(|why: String| Error::config("covariance", shape, why))?;
        Ok(MixtureParams { covariance, ..params.clone() })
    }

    /// Means and precisions have one prior for all sizes, that of the largest; weights of a Dirichlet keep a total
    /// concentration of 1 (a0 = 1/K) unless a0 is given.
    fn with_fixed_prior(params: MixtureParams, data: &Points) -> Result<MixtureParams> {
        let mixture = Mixture::new(params.clone(), data)?;
        let prior = mixture.prior_in_units();
        let concentration = match params.weights {
            Weights::Sticks => Some(prior.concentration),
            Weights::Dirichlet => params.concentration,
        };
        Ok(MixtureParams {
            concentration,
            mean: Some(prior.mean),
            mean_precision: Some(prior.mean_precision),
            degrees_of_freedom: Some(prior.degrees_of_freedom),
            scatter: Some(prior.scatter),
            // All of it is given; scikit-learn's rule would multiply what tied components share by K again.
            defaults: Defaults::Learned,
            ..params
        })
    }

    fn check_size(params: &MixtureParams, data: &Points, n_items: usize) -> Result<()> {
        params.check(n_items, data.n_dims())
    }

    fn n_parameters(params: &MixtureParams, data: &Points) -> f64 {
        let (k, d) = (params.components as f64, data.n_dims() as f64);
        let matrix = d * (d + 1.0) / 2.0;
        k - 1.0
            + k * d
            + match params.covariance {
                Covariance::Full => k * matrix,
                Covariance::Tied => matrix,
                Covariance::Diagonal => k * d,
                Covariance::Spherical => k,
            }
    }

    fn in_use(&self, lambda: &Lambda) -> Option<usize> {
        Some(self.components_in_use(lambda.table()).len())
    }
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

    fn foresee(
        params: &MixtureParams,
        data: &Points,
        config: &FitConfig,
    ) -> Result<Option<Advice>> {
        let size = (data.n_items(), data.n_dims());
        let threads = threads::number(config.threads);
        wide::foresee(params, size, config.batch, threads, memory::available())
    }

    fn build(params: MixtureParams, data: &Points) -> Result<Self> {
        Mixture::new(params, data)
    }

    fn notes(&self, names: &[String]) -> Vec<Advice> {
        let told = |&j: &usize| {
            let (shown, label) = match names.get(j) {
                Some(name) => (format!("'{name}'").into(), name.clone()),
                None => (index(j), (j + 1).to_string()),
            };
            advice![
                "column ",
                shown,
                format!(
                    " is constant (always {}) and adds nothing; leave it out (",
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
            && units.constant.iter().all(|&j| j < d)
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
        let lambda = lambda.table();
        let (k, d) = (self.params.components, self.n_dims());
        let (mut means, mut covariances) = (Vec::new(), Vec::new());
        for row in lambda.rows() {
            let (of_row, covariance) = self.means_and_covariance(&self.parts(row));
            // Tied components' one is written for each of them, so that readers need not know.
            of_row.iter().for_each(|_| covariances.extend(&covariance));
            means.extend(of_row.into_iter().flatten());
        }
        let matrix_shape = match self.params.covariance {
            Covariance::Full | Covariance::Tied => vec![k, d, d],
            Covariance::Diagonal => vec![k, d],
            Covariance::Spherical => vec![k],
        };
        let array = |name, shape: Vec<usize>, values: Vec<f64>| NamedArray { name, shape, values };
        vec![
            array("weights", vec![k], expected_weights(self, lambda)),
            array("means", vec![k, d], means),
            array("covariances", matrix_shape, covariances),
        ]
    }
}

impl Mixture {
    /// `E[mu]` of the components of a row of lambda, and their `E[Lambda]^-1`, in the data's units. Of a Normal-Wishart
    /// q without factors of matrices, which take long where there are many columns: a checkpoint is also written when
    /// a user waits for the end.
    fn means_and_covariance(&self, parts: &[Row<'_>]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut covariance = parts[0].scatter.to_vec();
        let means: Vec<Vec<f64>> = if self.joint() {
            let mean_of = |part: &Row<'_>| {
                let beta = part.precision[0];
                let mean: Vec<f64> = part.linear.iter().map(|l| l / beta).collect();
                self.shape.add_outer(-beta, &mean, &mean, &mut covariance);
                mean
            };
            parts.iter().map(mean_of).collect()
        } else {
            self.valid_moments(parts).into_iter().map(|m| m.mean).collect()
        };
        covariance.iter_mut().for_each(|x| *x /= parts[0].nu);
        let means = means.iter().map(|mean| self.in_their_units(mean)).collect();
        (means, self.matrix_in_their_units(&covariance, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::State;
    use crate::math::rng::{Address, Purpose};
    use crate::models::mixture::Factorisation;

    #[test]
    fn what_is_saved_for_reading_is_what_the_components_are() {
        let mut rng = Address::new(3, Purpose::Data, 0, 0).rng(0);
        let values = (0..60).map(|n| rng.normal() * f64::from(1 + n % 3)).collect();
        let points = Points::new(values, 3).unwrap();
        for factorisation in [Factorisation::NormalWishart, Factorisation::Independent] {
            for covariance in
                [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical]
            {
                let params = MixtureParams { covariance, factorisation, ..MixtureParams::dpgmm(4) };
                let mixture = Mixture::new(params, &points).unwrap();
                let lambda = State::start(&mixture, &points, 1, 0).unwrap().lambda;
                let components = mixture.components(lambda.table());
                let expected = [
                    components.iter().map(|c| c.weight).collect::<Vec<f64>>(),
                    components.iter().flat_map(|c| c.mean.clone()).collect(),
                    components.iter().flat_map(|c| c.covariance.clone()).collect(),
                ];
                let found = mixture.readable(&lambda).into_iter().map(|array| array.values);
                assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
