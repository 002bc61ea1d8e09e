//! Synthetic items: draws from a fitted mixture.

use super::Mixture;
use crate::math::packed::Symmetric;
use crate::math::rng::{Address, Purpose};
use crate::math::table::Table;

impl Mixture {
    /// `n_items` draws from the mixture of normal distributions with the expected weights, means and
    /// precisions, row after row, and the component of each. Sorted by components.
    ///
    /// ```
    /// use lehr::data::Points;
    /// use lehr::models::{Mixture, MixtureParams};
    ///
    /// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2], 1)?;
    /// let mixture = Mixture::new(MixtureParams::gmm(1), &points)?;
    /// let lambda = mixture.lambda_from_responsibilities(&points, &[1.0; 6]);
    /// let (values, labels) = mixture.sample(&lambda, 4, 7);
    /// assert_eq!((values.len(), labels), (4, vec![0; 4]));
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn sample(&self, lambda: &Table, n_items: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let d = self.n_dims();
        let components = self.components(lambda);
        let address = Address::new(seed, Purpose::Data, 0, 0);
        let mut labels: Vec<u32> = (0..n_items)
            .map(|n| {
                let mut left = address.rng(n as u64).uniform();
                let chosen = components.iter().position(|component| {
                    left -= component.weight;
                    left < 0.0
                });
                chosen.unwrap_or(components.len() - 1) as u32
            })
            .collect();
        labels.sort_unstable();
        let shape = self.shape.of_means();
        let roots: Vec<Vec<f64>> = components
            .iter()
            .map(|component| {
                let mut root = packed(shape, &self.shape.spread_out(component.covariance.clone()));
                assert!(shape.cholesky(&mut root), "a covariance is positive definite");
                root
            })
            .collect();
        let address = Address::new(seed, Purpose::Data, 0, 1);
        let mut values = vec![0.0; n_items * d];
        for (n, (row, &label)) in values.chunks_exact_mut(d).zip(&labels).enumerate() {
            let mut rng = address.rng(n as u64);
            let normal: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            shape.lower_times(&roots[label as usize], &normal, row);
            let mean = &components[label as usize].mean;
            row.iter_mut().zip(mean).for_each(|(x, m)| *x += m);
        }
        (values, labels)
    }
}

/// A matrix given by rows, or its diagonal, packed.
fn packed(shape: Symmetric, dense: &[f64]) -> Vec<f64> {
    if shape.is_diagonal() {
        return dense.to_vec();
    }
    let d = shape.n_dims();
    (0..d).flat_map(|i| dense[i * d..i * d + i + 1].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use crate::data::Points;
    use crate::models::mixture::{Covariance, Mixture, MixtureParams};

    #[test]
    fn many_draws_have_the_mixtures_mean_and_covariance() {
        let square = [0.0, 0.0, 2.0, 1.0, 4.0, 1.0, 6.0, 4.0];
        let points = Points::new(square.to_vec(), 2).unwrap();
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let params = MixtureParams { covariance, ..MixtureParams::gmm(1) };
            let mixture = Mixture::new(params, &points).unwrap();
            let lambda = mixture.lambda_from_responsibilities(&points, &[1.0; 4]);
            let component = &mixture.components(&lambda)[0];
            let n = 40_000;
            let (values, _) = mixture.sample(&lambda, n, 3);
            let mean =
                |of: &dyn Fn(&[f64]) -> f64| values.chunks_exact(2).map(of).sum::<f64>() / n as f64;
            for i in 0..2 {
                let off = mean(&|x| x[i]) - component.mean[i];
                assert!(off.abs() < 0.1, "{off}");
            }
            let (a, b) = (component.mean[0], component.mean[1]);
            let found = mean(&|x| (x[0] - a) * (x[1] - b));
            let expected =
                if covariance == Covariance::Full { component.covariance[1] } else { 0.0 };
            assert!((found - expected).abs() < 0.15, "{found} {expected}");
        }
    }

    #[test]
    fn components_come_as_often_as_they_weigh_and_in_order() {
        let values: Vec<f64> = (0..40).map(|n| f64::from(n % 4)).collect();
        let points = Points::new(values, 1).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(2), &points).unwrap();
        let resp: Vec<f64> =
            (0..40).flat_map(|n| if n % 4 == 0 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
        let lambda = mixture.lambda_from_responsibilities(&points, &resp);
        let (_, labels) = mixture.sample(&lambda, 10_000, 1);
        assert!(labels.is_sorted());
        let first = labels.iter().filter(|&&label| label == 0).count() as f64 / 10_000.0;
        assert!((first - mixture.components(&lambda)[0].weight).abs() < 0.03, "{first}");
    }
}
