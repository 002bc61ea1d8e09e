//! The items whose statistics a gradient sums: where they come from, and how they look in a few directions.

use anyhow::bail;

use lehr::FitConfig;
use lehr::data::Points;
use lehr::math::packed::Symmetric;
use lehr::math::rng::{Address, Purpose, Rng};
use lehr::models::mixture::{Defaults, Mixture, MixtureParams, Start};

use super::predict::Cumulants;

/// Items of a population: a power of two, so that any ten random bits are an item.
pub const N_ITEMS: usize = 1 << INDEX_BITS;
/// See there.
pub const INDEX_BITS: u32 = 10;
/// Directions in which gradients are looked at.
pub const N_DIRECTIONS: usize = 4;

/// One number for every direction.
pub type Projected = [f64; N_DIRECTIONS];

/// Coordinates of the synthetic items.
const MADE_DIMS: usize = 6;
/// The gamma shape of their independent parts, whose skewness is 2 / sqrt(shape).
pub const SHAPE: f64 = 0.25;
/// Components of the mixture, and the share of the points that each has made.
pub const SHARES: [f64; 3] = [0.6, 0.3, 0.1];

/// Fixed statistics lambda_n, seen in orthonormal directions of the space in which their covariance is
/// the identity. The distance from a Gaussian does not change with such a change of coordinates.
pub struct Population {
    /// Its name in the figures.
    pub name: &'static str,
    /// d.
    pub n_dims: usize,
    /// Every item's projections: mean 0, variance 1, not correlated.
    pub items: Vec<Projected>,
    /// The shape of each direction.
    pub shapes: [Cumulants; N_DIRECTIONS],
}

impl Population {
    /// Sums of independent gamma variables.
    pub fn made(seed: u64) -> anyhow::Result<Self> {
        let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
        let mixing: Vec<f64> = (0..MADE_DIMS * MADE_DIMS).map(|_| rng.normal()).collect();
        let mut values = Vec::with_capacity(N_ITEMS * MADE_DIMS);
        for _ in 0..N_ITEMS {
            let parts: Vec<f64> = (0..MADE_DIMS).map(|_| rng.gamma(SHAPE)).collect();
            let sum = |row: &[f64]| row.iter().zip(&parts).map(|(a, x)| a * x).sum::<f64>();
            values.extend(mixing.chunks_exact(MADE_DIMS).map(sum));
        }
        Self::of("gamma items", values, MADE_DIMS, &mut rng)
    }

    /// What an item adds to the gradient of a fitted Gaussian mixture: E_q of its indicators, and these
    /// times the point and its products.
    pub fn of_a_mixture(seed: u64) -> anyhow::Result<Self> {
        let mut rng = Address::new(seed, Purpose::Data, 0, 1).rng(0);
        let points = overlapping_clusters(&mut rng)?;
        let k = SHARES.len();
        let params = MixtureParams {
            defaults: Defaults::Volume,
            start: Start::KmeansPlusPlus,
            ..MixtureParams::gmm(k)
        };
        let mixture = Mixture::new(params, &points)?;
        let config = FitConfig { seed, ..FitConfig::default() };
        let fitted = lehr::fit(&mixture, &points).config(config).threads(1).run()?;
        let phi = mixture.responsibilities(fitted.state.lambda.table(), &points);
        let mut values = Vec::new();
        let mut x = [0.0; 2];
        for (n, phi) in phi.chunks_exact(k).enumerate() {
            points.copy_row(n, &mut x);
            // The indicators sum to 1: the last one says nothing new.
            values.extend(&phi[..k - 1]);
            for &p in phi {
                values.extend([
                    p * x[0],
                    p * x[1],
                    p * x[0] * x[0],
                    p * x[0] * x[1],
                    p * x[1] * x[1],
                ]);
            }
        }
        Self::of("mixture statistics", values, 6 * k - 1, &mut rng)
    }

    /// Projects rows of `n_dims` numbers on directions that `rng` chooses.
    fn of(
        name: &'static str,
        mut values: Vec<f64>,
        n_dims: usize,
        rng: &mut Rng,
    ) -> anyhow::Result<Self> {
        let n = N_ITEMS as f64;
        for j in 0..n_dims {
            let mean = values.iter().skip(j).step_by(n_dims).sum::<f64>() / n;
            values.iter_mut().skip(j).step_by(n_dims).for_each(|x| *x -= mean);
        }
        let shape = Symmetric::full(n_dims);
        let mut covariance = vec![0.0; shape.len()];
        for row in values.chunks_exact(n_dims) {
            let mut at = 0;
            for i in 0..n_dims {
                for j in 0..=i {
                    covariance[at] += row[i] * row[j] / n;
                    at += 1;
                }
            }
        }
        if !shape.cholesky(&mut covariance) {
            bail!("{name}: the items do not fill their {n_dims} dimensions; try another --seed");
        }
        shape.invert_lower(&mut covariance);
        let directions = orthonormal(n_dims, rng);
        let project = |row: &[f64]| {
            let white: Vec<f64> = (0..n_dims)
                .map(|i| {
                    let begin = i * (i + 1) / 2;
                    dot(&covariance[begin..=begin + i], &row[..=i])
                })
                .collect();
            std::array::from_fn(|j| dot(&directions[j], &white))
        };
        let items: Vec<Projected> = values.chunks_exact(n_dims).map(project).collect();
        let shapes = std::array::from_fn(|j| {
            let power = |k: i32| items.iter().map(|x| x[j].powi(k)).sum::<f64>() / n;
            Cumulants { skewness: power(3), kurtosis: power(4) - 3.0 }
        });
        Ok(Population { name, n_dims, items, shapes })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Random unit vectors, each at right angles to those before (Gram and Schmidt).
fn orthonormal(n_dims: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    while found.len() < N_DIRECTIONS {
        let mut next: Vec<f64> = (0..n_dims).map(|_| rng.normal()).collect();
        for other in &found {
            let along = dot(&next, other);
            next.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
        let length = dot(&next, &next).sqrt();
        next.iter_mut().for_each(|x| *x /= length);
        found.push(next);
    }
    found
}

/// Points in the plane from clusters of different size and shape.
fn overlapping_clusters(rng: &mut Rng) -> lehr::Result<Points> {
    const CENTRES: [[f64; 2]; SHARES.len()] = [[0.0, 0.0], [2.5, 1.0], [-1.0, 3.0]];
    const SPREADS: [[f64; 2]; SHARES.len()] = [[1.0, 0.7], [0.6, 1.0], [0.5, 0.5]];
    let mut values = Vec::with_capacity(2 * N_ITEMS);
    for _ in 0..N_ITEMS {
        let mut left = rng.uniform();
        let mut k = 0;
        while k + 1 < SHARES.len() && left > SHARES[k] {
            left -= SHARES[k];
            k += 1;
        }
        values.extend([0, 1].map(|i| CENTRES[k][i] + SPREADS[k][i] * rng.normal()));
    }
    Points::new(values, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_are_white_and_skewed() {
        for population in [Population::made(1).unwrap(), Population::of_a_mixture(1).unwrap()] {
            assert_eq!(population.items.len(), N_ITEMS);
            let mean = |f: &dyn Fn(&Projected) -> f64| {
                population.items.iter().map(f).sum::<f64>() / N_ITEMS as f64
            };
            for i in 0..N_DIRECTIONS {
                assert!(mean(&|x| x[i]).abs() < 1e-9);
                for j in 0..=i {
                    let wanted = f64::from(u8::from(i == j));
                    assert!((mean(&|x| x[i] * x[j]) - wanted).abs() < 1e-6);
                }
            }
            let largest = population.shapes.iter().fold(0.0_f64, |g, s| g.max(s.skewness.abs()));
            assert!(largest > 0.5, "{}: {largest}", population.name);
        }
    }
}
