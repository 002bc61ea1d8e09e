//! k-means++ and k-means: items to clusters, by the squared distances of rows of numbers.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::math::rng::Rng;
use crate::math::stop;

/// A column whose deviation is smaller than this, of one near 1 among all items, is constant: dividing by it would
/// make clusters of rounding errors.
const CONSTANT: f64 = 1e-12;

/// Divides each of `d` columns by its standard deviation among these rows; a constant column counts nothing.
pub(super) fn standardise(z: &mut [f64], weights: &[f64], d: usize) {
    let total: f64 = weights.iter().sum();
    let mean_of = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        let mut sums = vec![0.0; d];
        for (row, weight) in z.chunks_exact(d).zip(weights) {
            sums.iter_mut().zip(row).enumerate().for_each(|(j, (s, &x))| *s += weight * of(j, x));
        }
        sums.iter().map(|sum| sum / total).collect()
    };
    let mean = mean_of(&|_, x| x);
    let variance = mean_of(&|j, x| (x - mean[j]).powi(2));
    let factor = |v: &f64| if v.sqrt() > CONSTANT { 1.0 / v.sqrt() } else { 0.0 };
    rescale(z, &variance.iter().map(factor).collect::<Vec<_>>());
}

/// Multiplies each column by its factor, all of them divided by the largest, so that no square overflows.
pub(super) fn rescale(z: &mut [f64], factors: &[f64]) {
    let largest = factors.iter().fold(0.0, |a: f64, &b| a.max(b));
    if largest > 0.0 {
        for row in z.chunks_exact_mut(factors.len()) {
            row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor / largest);
        }
    }
}

/// The cluster of each row: seeds by k-means++ (each next one with probability proportional to its squared
/// distance from the nearest so far), moved by this many sweeps of k-means at most.
pub(super) fn clusters(
    z: &[f64],
    weights: &[f64],
    k: usize,
    sweeps: usize,
    rng: &mut Rng,
) -> Vec<usize> {
    let n = weights.len();
    let d = z.len() / n;
    let mut nearest = vec![(f64::INFINITY, 0usize); n];
    for seed in 0..k {
        stop::check();
        let mass = |i: usize, square: f64| weights[i] * if seed == 0 { 1.0 } else { square };
        let total: f64 = nearest.iter().enumerate().map(|(i, n)| mass(i, n.0)).sum();
        let at = if total > 0.0 && total.is_finite() {
            let mut left = rng.uniform() * total;
            nearest.iter().enumerate().position(|(i, n)| {
                left -= mass(i, n.0);
                left <= 0.0
            })
        } else {
            None // all items coincide with a seed: any will do
        };
        let at = at.unwrap_or_else(|| rng.below(n as u64) as usize);
        let centre = z[at * d..(at + 1) * d].to_vec();
        for_rows(z, &mut nearest, d, |row, nearest| {
            let square = square(row, &centre);
            if square < nearest.0 {
                *nearest = (square, seed);
            }
        });
    }
    for _ in 0..sweeps {
        if !lloyd(z, weights, k, &mut nearest) {
            break;
        }
    }
    nearest.into_iter().map(|(_, own)| own).collect()
}

/// Multiplications that are worth a thread's while.
const WORTHWHILE: usize = 1 << 16;

/// Does `each` for every row and its nearest centre, where `work` multiplications are one row's.
fn for_rows(
    z: &[f64],
    nearest: &mut [(f64, usize)],
    work: usize,
    each: impl Fn(&[f64], &mut (f64, usize)) + Sync,
) {
    let d = z.len() / nearest.len();
    let rows = (WORTHWHILE / work.max(1)).max(1);
    nearest.par_chunks_mut(rows).zip(z.par_chunks(rows * d)).with_max_len(1).for_each(
        |(nearest, z)| {
            stop::check();
            z.chunks_exact(d).zip(nearest).for_each(|(row, nearest)| each(row, nearest));
        },
    );
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// One sweep of k-means: clusters move to their means (an empty one stays without items), items to the
/// nearest cluster. False if no item has moved.
fn lloyd(z: &[f64], weights: &[f64], k: usize, nearest: &mut [(f64, usize)]) -> bool {
    let d = z.len() / nearest.len();
    let (mut centres, mut totals) = (vec![0.0; k * d], vec![0.0; k]);
    for ((row, &weight), &(_, own)) in z.chunks_exact(d).zip(weights).zip(&*nearest) {
        totals[own] += weight;
        centres[own * d..][..d].iter_mut().zip(row).for_each(|(c, x)| *c += weight * x);
    }
    for (centre, &total) in centres.chunks_exact_mut(d).zip(&totals) {
        // Far from everything if nothing is in it.
        centre.iter_mut().for_each(|c| *c = if total > 0.0 { *c / total } else { f64::INFINITY });
    }
    let moved = AtomicBool::new(false);
    for_rows(z, nearest, k * d, |row, nearest| {
        let own = nearest.1;
        *nearest = (square(row, &centres[own * d..][..d]), own);
        for (other, centre) in centres.chunks_exact(d).enumerate() {
            let square = square(row, centre);
            if square < nearest.0 {
                *nearest = (square, other);
            }
        }
        moved.fetch_or(nearest.1 != own, Ordering::Relaxed);
    });
    moved.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Address, Purpose};

    #[test]
    fn k_means_ends_where_every_item_is_nearest_to_its_own_mean() {
        // Two pairs, and a start that splits one of them; cluster 2 is empty.
        let z = [0.0, 1.0, 10.0, 11.0];
        let weights = [1.0, 1.0, 1.0, 3.0];
        let mut nearest = [(0.0, 0), (0.0, 1), (0.0, 1), (0.0, 1)];
        let mut sweeps = 0;
        while lloyd(&z, &weights, 3, &mut nearest) {
            sweeps += 1;
            assert!(sweeps < 10);
        }
        assert_eq!(nearest.map(|(_, own)| own), [0, 0, 1, 1]);
        // The heavy item draws its mean to itself: (10 + 3 * 11) / 4.
        assert_eq!(nearest[3].0, 0.0625);
        assert_eq!(nearest[0].0, 0.25);
    }

    #[test]
    fn a_column_counts_by_its_weighted_deviation_and_a_constant_one_not_at_all() {
        // 0 and 1, the second three times: mean 3/4, variance 3/16. The other column is ten times as wide.
        let mut z = [0.1, 0.0, 0.0, 0.1, 1.0, 10.0];
        standardise(&mut z, &[1.0, 3.0], 3);
        let (a, b) = (z[4] - z[1], z[5] - z[2]);
        assert_eq!((z[0], z[3]), (0.0, 0.0));
        assert!((a - b).abs() < 1e-15 && a > 0.0, "{a} {b}");
        // All that count nothing leave nothing to tell rows apart by.
        let mut same = [3.0, 3.0, 3.0];
        standardise(&mut same, &[1.0, 1.0, 1.0], 1);
        let mut rng = Address::new(0, Purpose::Init, 0, 0).rng(0);
        assert_eq!(clusters(&same, &[1.0; 3], 2, 5, &mut rng), [0, 0, 0]);
    }
}
