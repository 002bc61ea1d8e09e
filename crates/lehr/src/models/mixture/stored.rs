//! How a mixture is saved and loaded.

use serde::{Deserialize, Serialize};

use super::expect::Row;
use super::readout::expected_weights;
use super::{Covariance, Mixture, MixtureParams, Prior, Units, wide};
use crate::data::Points;
use crate::error::{Advice, advice, setting};
use crate::lambda::Lambda;
use crate::math::packed::Symmetric;
use crate::models::{NamedArray, Stored};
use crate::settings::FitConfig;
use crate::store::Files;
use crate::{Error, Result, memory};

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
        let all = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if config.threads > 0 { config.threads } else { all() };
        let size = (data.n_items(), data.n_dims());
        wide::foresee(params, size, config.batch, threads, memory::available())
    }

    fn build(params: MixtureParams, data: &Points) -> Result<Self> {
        Mixture::new(params, data)
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
        let lambda = lambda.table();
        let (k, d) = (lambda.n_rows(), self.n_dims());
        let (mut means, mut covariances) = (Vec::new(), Vec::new());
        for row in lambda.rows() {
            let (mean, covariance) = self.mean_and_covariance(&self.row(row));
            means.extend(mean);
            covariances.extend(covariance);
        }
        let mut matrix_shape = vec![k, d];
        if !self.shape.is_diagonal() {
            matrix_shape.push(d);
        }
        let array = |name, shape: Vec<usize>, values: Vec<f64>| NamedArray { name, shape, values };
        vec![
            array("weights", vec![k], expected_weights(self, lambda)),
            array("means", vec![k, d], means),
            array("covariances", matrix_shape, covariances),
        ]
    }
}

impl Mixture {
    /// `E[mu]` and `E[Lambda]^-1` in the data's units. Of a Normal-Wishart q without factors of matrices, which take
    /// long where there are many columns: a checkpoint is also written when somebody waits for the end.
    fn mean_and_covariance(&self, row: &Row<'_>) -> (Vec<f64>, Vec<f64>) {
        let (d, scale) = (self.n_dims(), &self.units.scale);
        let mut covariance = row.scatter.to_vec();
        let mut mean: Vec<f64> = if self.joint() {
            let beta = row.precision[0];
            let mean: Vec<f64> = row.linear.iter().map(|l| l / beta).collect();
            self.shape.add_outer(-beta, &mean, &mean, &mut covariance);
            mean
        } else {
            self.valid_moments(row).mean
        };
        covariance.iter_mut().for_each(|x| *x /= row.nu);
        for (j, mean) in mean.iter_mut().enumerate() {
            *mean = *mean * scale[j] + self.units.shift[j];
        }
        if self.shape.is_diagonal() {
            covariance.iter_mut().zip(scale).for_each(|(x, s)| *x *= s * s);
            return (mean, covariance);
        }
        let mut dense = vec![0.0; d * d];
        self.shape.to_dense(&covariance, &mut dense);
        dense.iter_mut().enumerate().for_each(|(at, x)| *x *= scale[at / d] * scale[at % d]);
        (mean, dense)
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
            for covariance in [Covariance::Full, Covariance::Diagonal] {
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
