//! Items that are liked by the same users, and users who like the same items, with how sure that is.

use rayon::prelude::*;

use super::Pmf;
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::packed::Symmetric;
use crate::math::stop;

/// Rows that one worker looks at at a time; part of the definition of the sums.
const CHUNK: usize = 256;

/// A user or an item that is like another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similar {
    /// Its number.
    pub number: u32,
    /// The expected correlation, from -1 to 1.
    pub similarity: f64,
    /// The standard deviation of that under q.
    pub sd: f64,
}

/// A row's factors: mean, covariance, and E[x'Sx].
struct Row {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    size: f64,
}

impl Pmf {
    /// The `top` users or items that are most like one of the same side, best first.
    ///
    /// With S the mean of E[oo'] over the other side, two rows x and y are alike by
    /// `E[x'Sy] / sqrt(E[x'Sx] E[y'Sy])`: the correlation of what the other side makes of both, biases aside. It does not
    /// change if the latent space is turned, and a user with few ratings is like no other. `sd` is that of `x'Sy` under q, by
    /// the same number.
    pub fn similar(&self, lambda: &Lambda, side: Side, number: u32, top: usize) -> Vec<Similar> {
        let d = self.columns.d;
        let shape = Symmetric::full(d);
        let metric = self.second_moment(lambda, side.other());
        let own = self.row_in(lambda, side, number as usize, &metric);
        let mut pointed = vec![0.0; d];
        shape.times(&metric, &own.mean, &mut pointed);
        let numbers: Vec<usize> =
            (0..self.n_rows_of(side)).filter(|&r| r != number as usize).collect();
        let parts: Vec<Vec<(f64, usize)>> = numbers
            .par_chunks(CHUNK)
            .map(|numbers| {
                stop::check();
                let alike = |&number: &usize| {
                    let row = self.row_in(lambda, side, number, &metric);
                    let product: f64 = pointed.iter().zip(&row.mean).map(|(a, b)| a * b).sum();
                    (ratio(product, own.size * row.size), number)
                };
                numbers.iter().map(alike).collect()
            })
            .collect();
        let mut all = parts.concat();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.truncate(top);
        // S C S, which the covariances of all others are multiplied by.
        let spread = sandwiched(d, &metric, &own.covariance);
        let told = all.into_iter().map(|(similarity, number)| {
            let row = self.row_in(lambda, side, number, &metric);
            let mut other = vec![0.0; d];
            shape.times(&metric, &row.mean, &mut other);
            let variance = shape.quadratic(&own.covariance, &other)
                + shape.quadratic(&row.covariance, &pointed)
                + shape.trace_of_product(&spread, &row.covariance);
            let sd = ratio(variance.max(0.0).sqrt(), own.size * row.size);
            Similar { number: number as u32, similarity, sd }
        });
        told.collect()
    }

    /// The mean of E[oo'] over a side, packed.
    fn second_moment(&self, lambda: &Lambda, side: Side) -> Vec<f64> {
        let (d, packed) = (self.columns.d, self.columns.packed());
        let shape = Symmetric::full(d);
        let numbers: Vec<usize> = (0..self.n_rows_of(side)).collect();
        let parts: Vec<Vec<f64>> = numbers
            .par_chunks(CHUNK)
            .map(|numbers| {
                stop::check();
                let mut sum = vec![0.0; packed];
                for &number in numbers {
                    let factor = self.factor(lambda, side, Some(number as u32));
                    sum.iter_mut().zip(&factor.covariance).for_each(|(sum, c)| *sum += c);
                    shape.add_outer(1.0, &factor.mean[..d], &factor.mean[..d], &mut sum);
                }
                sum
            })
            .collect();
        let mut mean = vec![0.0; packed];
        for part in parts {
            mean.iter_mut().zip(part).for_each(|(mean, x)| *mean += x / numbers.len() as f64);
        }
        mean
    }

    fn row_in(&self, lambda: &Lambda, side: Side, number: usize, metric: &[f64]) -> Row {
        let d = self.columns.d;
        let shape = Symmetric::full(d);
        let factor = self.factor(lambda, side, Some(number as u32));
        let (mut mean, mut covariance) = (factor.mean, factor.covariance);
        mean.truncate(d);
        covariance.truncate(self.columns.packed());
        let size = shape.quadratic(metric, &mean) + shape.trace_of_product(metric, &covariance);
        Row { mean, covariance, size }
    }
}

/// A product of two rows by their sizes, which may be 0.
fn ratio(product: f64, sizes: f64) -> f64 {
    if sizes > 0.0 { product / sizes.sqrt() } else { 0.0 }
}

/// A B A of two symmetric matrices, packed.
fn sandwiched(d: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let shape = Symmetric::full(d);
    let mut dense = vec![0.0; d * d];
    shape.to_dense(a, &mut dense);
    // The columns of B A, and then of A B A.
    let columns: Vec<Vec<f64>> = dense
        .chunks_exact(d)
        .map(|column| {
            let (mut inner, mut outer) = (vec![0.0; d], vec![0.0; d]);
            shape.times(b, column, &mut inner);
            shape.times(a, &inner, &mut outer);
            outer
        })
        .collect();
    (0..d).flat_map(|k| columns[k][..=k].to_vec()).collect()
}
