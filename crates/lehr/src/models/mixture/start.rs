//! Where a fit of a mixture begins: k-means++, random points or random responsibilities.

use super::params::Start;
use super::{Mixture, prior::total_weight};
use crate::data::Points;
use crate::math::kernels::{TILE, pad_to_lanes};
use crate::math::rng::{Address, Rng};
use crate::math::table::Table;
use crate::model::{Model, Stats};
use crate::step::update::from_raw;

/// k-means++ looks at no more than this many random items; more would not seed better.
const SEEDING_ITEMS: usize = 20_000;

/// k-means ends after so many sweeps at the latest.
const MOST_SWEEPS: usize = 100;

/// Fills lambda with a start of the kind the settings name.
pub(super) fn fill(mixture: &Mixture, points: &Points, address: Address, lambda: &mut Table) {
    let mut rng = address.rng(0);
    let raw = match mixture.params.start {
        Start::Points => around_random_points(mixture, points, &mut rng),
        Start::KmeansPlusPlus => by_nearest_seed(mixture, points, &mut rng, 0),
        Start::Kmeans => by_nearest_seed(mixture, points, &mut rng, MOST_SWEEPS),
        Start::Responsibilities => statistics(mixture, points, &all(points), |n, resp| {
            let mut rng = address.rng(1 + n as u64);
            resp.iter_mut().for_each(|r| *r = rng.uniform());
            let sum: f64 = resp.iter().sum();
            resp.iter_mut().for_each(|r| *r /= sum);
        }),
    };
    from_raw(mixture, &raw, lambda);
}

impl Mixture {
    /// The lambda that the given responsibilities (rows of K, one row per item) lead to in one
    /// update: a start of one's own.
    ///
    /// # Panics
    ///
    /// If there are not as many as items times components.
    pub fn lambda_from_responsibilities(&self, points: &Points, responsibilities: &[f64]) -> Table {
        let layout = self.layout();
        let k = self.params.components;
        assert_eq!(responsibilities.len(), points.n_items() * k, "one row of K per item");
        let raw = statistics(self, points, &all(points), |n, resp| {
            resp.copy_from_slice(&responsibilities[n * k..(n + 1) * k]);
        });
        let mut lambda = Table::new(layout.n_rows, layout.width);
        from_raw(self, &raw, &mut lambda);
        lambda
    }
}

fn all(points: &Points) -> Vec<u32> {
    (0..points.n_items() as u32).collect()
}

/// The raw statistics of `items` under responsibilities that `resp_of` writes, item by item.
fn statistics(
    mixture: &Mixture,
    points: &Points,
    items: &[u32],
    mut resp_of: impl FnMut(usize, &mut [f64]),
) -> Stats {
    let layout = mixture.layout();
    let k = mixture.params.components;
    let padded = pad_to_lanes(k);
    let mut stats = Stats::new(layout.n_rows, layout.raw_width);
    let mut scratch = mixture.scratch();
    for items in items.chunks(TILE) {
        mixture.units.load(points, items, &mut scratch.tile);
        for (&n, resp) in items.iter().zip(scratch.resp.chunks_exact_mut(padded)) {
            resp_of(n as usize, &mut resp[..k]);
            if let Some(w) = points.weights() {
                resp.iter_mut().for_each(|r| *r *= w[n as usize]);
            }
        }
        mixture.add_moments(items.len(), &mut scratch);
    }
    mixture.flush_moments(&mut scratch, &mut stats);
    stats
}

/// K components of equal size around random items, each with the prior's spread.
fn around_random_points(mixture: &Mixture, points: &Points, rng: &mut Rng) -> Stats {
    let (k, d, shape) = (mixture.params.components, mixture.n_dims(), mixture.shape);
    let layout = mixture.layout();
    let mut stats = Stats::new(layout.n_rows, layout.raw_width);
    let size = total_weight(points) / k as f64;
    let chosen = distinct(points.n_items(), k, rng);
    let mut tile = vec![0.0; d * TILE];
    let mut x = vec![0.0; d];
    for (row, n) in chosen.into_iter().enumerate() {
        mixture.units.load(points, &[n], &mut tile);
        x.iter_mut().enumerate().for_each(|(j, x)| *x = tile[j * TILE]);
        let out = stats.row_mut(row);
        out[0] = size;
        x.iter().zip(&mut out[1..]).for_each(|(x, o)| *o = size * x);
        let second = &mut out[1 + d..];
        second.iter_mut().zip(&mixture.prior.scatter).for_each(|(s, c)| *s = size * c);
        shape.add_outer(size, &x, &x, second);
    }
    stats
}

/// `k` different numbers below `n`.
fn distinct(n: usize, k: usize, rng: &mut Rng) -> Vec<u32> {
    // Floyd's algorithm: k draws, no table of n numbers.
    let mut chosen = Vec::with_capacity(k);
    for j in n - k..n {
        let candidate = rng.below(j as u64 + 1) as u32;
        chosen.push(if chosen.contains(&candidate) { j as u32 } else { candidate });
    }
    chosen
}

/// Seeds by k-means++ (each next one with probability proportional to its squared distance from
/// the nearest so far), moved by so many sweeps of k-means at most, then every item wholly to its
/// nearest.
fn by_nearest_seed(mixture: &Mixture, points: &Points, rng: &mut Rng, sweeps: usize) -> Stats {
    let (k, d) = (mixture.params.components, mixture.n_dims());
    let mut items = all(points);
    if items.len() > SEEDING_ITEMS {
        items = distinct_many(items, SEEDING_ITEMS.max(k), rng);
    }
    // In z, item after item.
    let mut z = vec![0.0; items.len() * d];
    let mut tile = vec![0.0; d * TILE];
    for (chunk, items) in z.chunks_mut(TILE * d).zip(items.chunks(TILE)) {
        mixture.units.load(points, items, &mut tile);
        for (slot, row) in chunk.chunks_exact_mut(d).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = tile[j * TILE + slot]);
        }
    }
    let weight = |i: usize| points.weights().map_or(1.0, |w| w[items[i] as usize]);
    let mut nearest = vec![(f64::INFINITY, 0usize); items.len()];
    for seed in 0..k {
        let mass = |i: usize, square: f64| weight(i) * if seed == 0 { 1.0 } else { square };
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
        let at = at.unwrap_or_else(|| rng.below(items.len() as u64) as usize);
        let centre = z[at * d..(at + 1) * d].to_vec();
        for (row, nearest) in z.chunks_exact(d).zip(&mut nearest) {
            let square: f64 = row.iter().zip(&centre).map(|(a, b)| (a - b).powi(2)).sum();
            if square < nearest.0 {
                *nearest = (square, seed);
            }
        }
    }
    let weights: Vec<f64> = (0..items.len()).map(weight).collect();
    for _ in 0..sweeps {
        if !lloyd(&z, &weights, k, &mut nearest) {
            break;
        }
    }
    let mut next = nearest.iter();
    let mut stats = statistics(mixture, points, &items, |_, resp| {
        resp.fill(0.0);
        resp[next.next().expect("one per item").1] = 1.0;
    });
    let sampled: f64 = (0..k).map(|row| stats.row(row)[0]).sum();
    let scale = total_weight(points) / sampled;
    stats.values_mut().iter_mut().for_each(|s| *s *= scale);
    stats
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
    let mut moved = false;
    for (row, nearest) in z.chunks_exact(d).zip(nearest) {
        let own = nearest.1;
        let square =
            |centre: &[f64]| -> f64 { row.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum() };
        *nearest = (square(&centres[own * d..][..d]), own);
        for (other, centre) in centres.chunks_exact(d).enumerate() {
            let square = square(centre);
            if square < nearest.0 {
                *nearest = (square, other);
            }
        }
        moved |= nearest.1 != own;
    }
    moved
}

/// `count` of the items at random (partial Fisher-Yates).
fn distinct_many(mut items: Vec<u32>, count: usize, rng: &mut Rng) -> Vec<u32> {
    for i in 0..count {
        let j = i + rng.below((items.len() - i) as u64) as usize;
        items.swap(i, j);
    }
    items.truncate(count);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
