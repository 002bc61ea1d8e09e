//! The data of figure 4: four made clusters.

use lehr::data::Points;

use crate::fig3::data::{Cluster, draw, rng, turned};

/// Points in the data.
pub const N_ITEMS: usize = 400;
/// Clusters in the data.
pub const TRUTH: usize = 4;

/// The points, and the true shares of their clusters, the largest first.
pub fn made(seed: u64) -> lehr::Result<(Points, Vec<f64>)> {
    let (points, from) = draw(&clusters(), N_ITEMS, &mut rng(seed, 4))?;
    let mut truth = vec![0.0; TRUTH];
    from.iter().for_each(|&cluster| truth[cluster] += 1.0 / N_ITEMS as f64);
    truth.sort_by(|a, b| b.total_cmp(a));
    Ok((points, truth))
}

/// Four clusters of different size and shape that touch each other.
fn clusters() -> [Cluster; TRUTH] {
    [
        turned(0.4, [0.0, 0.0], [1.0, 0.6], 0.5),
        turned(0.3, [3.6, 0.4], [0.8, 0.5], -0.6),
        turned(0.2, [0.8, 3.2], [0.8, 0.4], 0.1),
        turned(0.1, [3.9, 3.3], [0.5, 0.4], 0.8),
    ]
}

/// The data's covariance, by rows.
pub fn covariance(points: &Points) -> Vec<f64> {
    let (n_items, d) = (points.n_items(), points.n_dims());
    let (mut sums, mut squares, mut row) = (vec![0.0; d], vec![0.0; d * d], vec![0.0; d]);
    for n in 0..n_items {
        points.copy_row(n, &mut row);
        sums.iter_mut().zip(&row).for_each(|(s, x)| *s += x);
        squares.iter_mut().enumerate().for_each(|(at, s)| *s += row[at / d] * row[at % d]);
    }
    let n = n_items as f64;
    let entry = |(at, s): (usize, &f64)| (s - sums[at / d] * sums[at % d] / n) / (n - 1.0);
    squares.iter().enumerate().map(entry).collect()
}
