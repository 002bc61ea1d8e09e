//! The data of figure 4: three synthetic sets of four clusters.

use lehr::data::Points;

use crate::fig3::data::{Cluster, draw, rng, turned};

/// Points in each set.
pub const N_ITEMS: usize = 400;
/// Clusters in each set.
pub const TRUTH: usize = 4;
/// The sets.
pub const SETS: [&str; 3] = ["touching", "apart", "five columns"];

/// The points of one of [`SETS`], and the true shares of their clusters, the largest first.
pub fn made(set: usize, seed: u64) -> lehr::Result<(Points, Vec<f64>)> {
    let clusters = match set {
        0 => touching(),
        1 => apart(),
        _ => five_columns(),
    };
    let (points, from) = draw(&clusters, N_ITEMS, &mut rng(seed, 4 + 10 * set as u64))?;
    let mut truth = vec![0.0; TRUTH];
    from.iter().for_each(|&cluster| truth[cluster] += 1.0 / N_ITEMS as f64);
    truth.sort_by(|a, b| b.total_cmp(a));
    Ok((points, truth))
}

/// What the sets are.
pub const ABOUT: &str = "*touching*: 2 dimensions, clusters of different size and shape that touch each other; *apart*: 2 \
    dimensions, round clusters of equal size at the corners of a square whose side is 7 standard deviations; *five \
    columns*: 5 dimensions, round clusters of different size, 5.7 standard deviations from each other";

/// Four clusters of different size and shape that touch each other.
fn touching() -> [Cluster; TRUTH] {
    [
        turned(0.4, [0.0, 0.0], [1.0, 0.6], 0.5),
        turned(0.3, [3.6, 0.4], [0.8, 0.5], -0.6),
        turned(0.2, [0.8, 3.2], [0.8, 0.4], 0.1),
        turned(0.1, [3.9, 3.3], [0.5, 0.4], 0.8),
    ]
}

/// Four round clusters of the same size, far from each other.
fn apart() -> [Cluster; TRUTH] {
    [[0.0, 0.0], [7.0, 0.0], [0.0, 7.0], [7.0, 7.0]].map(|at| turned(0.25, at, [1.0, 1.0], 0.0))
}

/// Four round clusters of different size along four of five axes.
fn five_columns() -> [Cluster; TRUTH] {
    const D: usize = 5;
    let along = |value: f64, axis: usize| (0..D).map(move |i| if i == axis { value } else { 0.0 });
    [0.4, 0.3, 0.2, 0.1].map(|weight| {
        let axis = ((0.4 - weight) * 10.0_f64).round() as usize;
        let factor = (0..D).flat_map(|i| along(1.0, i)).collect();
        Cluster { weight, centre: along(4.0, axis).collect(), factor }
    })
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
