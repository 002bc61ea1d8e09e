//! Where a fit of a mixture starts: clusters found before it, k-means, random points or random responsibilities.

use super::clusters::{self, Found, Learn, Sample};
use super::params::{Defaults, Start, StartUnits};
use super::{Mixture, Scratch, kmeans, prior::total_weight};
use crate::data::Points;
use crate::math::kernels::{TILE, pad_to_lanes};
use crate::math::rng::{Address, Rng};
use crate::math::stop;
use crate::math::table::Table;
use crate::model::{Model, Stats};
use crate::step::update::from_raw;

/// k-means++ looks at no more than this many random items; more would not seed better.
const SEEDING_ITEMS: usize = 20_000;

/// k-means ends after this many sweeps at the latest.
const MOST_SWEEPS: usize = 100;

/// Fills lambda with a start of the kind the settings name.
pub(super) fn fill(mixture: &Mixture, points: &Points, address: Address, lambda: &mut Table) {
    let mut rng = address.rng(0);
    let raw = match mixture.params.start {
        Start::Merge => match merged(mixture, points, &mut rng) {
            Some(raw) => raw,
            None => by_nearest_seed(mixture, points, &mut rng, 0),
        },
        Start::Responsibilities => statistics(mixture, points, &all(points), |n, resp| {
            let mut rng = address.rng(1 + n as u64);
            resp.iter_mut().for_each(|r| *r = rng.uniform());
            let sum: f64 = resp.iter().sum();
            resp.iter_mut().for_each(|r| *r /= sum);
        }),
        _ => quickly(mixture, points, &mut rng),
    };
    from_raw(mixture, &raw, lambda);
}

/// The sums of a start that takes no longer than a few passes: of the kind that the settings name, if that is one.
pub(super) fn quickly(mixture: &Mixture, points: &Points, rng: &mut Rng) -> Stats {
    match mixture.params.start {
        Start::Points => around_random_points(mixture, points, rng),
        Start::Kmeans => by_nearest_seed(mixture, points, rng, MOST_SWEEPS),
        Start::Merge | Start::KmeansPlusPlus | Start::Responsibilities => {
            by_nearest_seed(mixture, points, rng, 0)
        }
    }
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

/// A value in z; a missing one is its column's mean.
fn there(z: f64) -> f64 {
    if z.is_nan() { 0.0 } else { z }
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
        stop::check();
        mixture.units.load(points, items, &mut scratch.tile);
        for (&n, resp) in items.iter().zip(scratch.resp.chunks_exact_mut(padded)) {
            resp_of(n as usize, &mut resp[..k]);
            if let Some(w) = points.weights() {
                resp.iter_mut().for_each(|r| *r *= w[n as usize]);
            }
        }
        if points.has_missing() {
            mixture.widen(items.len(), &mut scratch, &mut stats);
        }
        mixture.add_moments(items.len(), None, &mut scratch);
    }
    mixture.flush_moments(None, &mut scratch, &mut stats);
    stats
}

impl Mixture {
    /// Before anything is known of the components, a missing value is its column's mean, give or take what the column
    /// varies by: puts the means into the tile, and adds the variances to the sums.
    fn widen(&self, n_items: usize, scratch: &mut Scratch, stats: &mut Stats) {
        let (k, padded) = (self.params.components, pad_to_lanes(self.params.components));
        let Scratch { tile, resp, .. } = scratch;
        let mut variances = vec![0.0; self.n_dims()];
        for (slot, resp) in resp.chunks_exact(padded).take(n_items).enumerate() {
            variances.fill(0.0);
            for (x, variance) in tile.chunks_exact_mut(TILE).zip(&mut variances) {
                if x[slot].is_nan() {
                    // Units are such that a column varies by 1 to 4.
                    (x[slot], *variance) = (0.0, 1.0);
                }
            }
            if variances.contains(&1.0) {
                for (k, r) in resp[..k].iter().enumerate().filter(|(_, r)| **r != 0.0) {
                    let (row, _, second) = self.place(k);
                    let mut scatter = vec![0.0; self.shape.scatter().len()];
                    self.shape.add_variances(variances.iter().map(|v| r * v), &mut scatter);
                    self.shape.add_as_second(&scatter, &mut stats.row_mut(row)[second..]);
                }
            }
        }
    }
}

/// K components of equal size around random items, each with the prior's spread.
fn around_random_points(mixture: &Mixture, points: &Points, rng: &mut Rng) -> Stats {
    let (k, d) = (mixture.params.components, mixture.n_dims());
    let layout = mixture.layout();
    let mut stats = Stats::new(layout.n_rows, layout.raw_width);
    let size = total_weight(points) / k as f64;
    let chosen = distinct(points.n_items(), k, rng);
    let mut tile = vec![0.0; d * TILE];
    let mut x = vec![0.0; d];
    for (component, n) in chosen.into_iter().enumerate() {
        mixture.units.load(points, &[n], &mut tile);
        x.iter_mut().enumerate().for_each(|(j, x)| *x = there(tile[j * TILE]));
        mixture.add_around(component, size, &x, &mixture.prior.scatter, &mut stats);
    }
    stats
}

impl Mixture {
    /// Adds the sums of `size` items around `mean`, whose scatter is `scatter` an item, to those of a component.
    pub(super) fn add_around(
        &self,
        k: usize,
        size: f64,
        mean: &[f64],
        scatter: &[f64],
        stats: &mut Stats,
    ) {
        let (row, own, second) = self.place(k);
        let row = stats.row_mut(row);
        row[own] += size;
        mean.iter().zip(&mut row[own + 1..]).for_each(|(x, o)| *o += size * x);
        let mut about = scatter.iter().map(|c| size * c).collect::<Vec<_>>();
        self.shape.add_outer(size, mean, mean, &mut about);
        self.shape.add_as_second(&about, &mut row[second..]);
    }
}

/// Components at the clusters that [`clusters`] finds; the others have nothing. `None` where that is too much work.
fn merged(mixture: &Mixture, points: &Points, rng: &mut Rng) -> Option<Stats> {
    let (k, shape) = (mixture.params.components, mixture.shape.searched());
    if k > clusters::MOST_PIECES {
        return None;
    }
    let sample = Sample::new(points, &mixture.units, shape, k, rng);
    let prior = mixture.hyper(&sample);
    let was_learned =
        mixture.params.defaults == Defaults::Learned && mixture.params.scatter.is_none();
    let learn = if was_learned { Learn::Known(prior) } else { Learn::Given(prior) };
    let found = clusters::find(&sample, shape, k, learn, rng).filter(Found::is_searched)?.clusters;
    let layout = mixture.layout();
    let mut stats = Stats::new(layout.n_rows, layout.raw_width);
    for component in 0..found.len() {
        let size = found.counts[component];
        let columns = found.means[component].iter().zip(&sample.unit).zip(&sample.mean);
        let mean: Vec<f64> = columns.map(|((m, unit), at)| m * unit + at).collect();
        let mut scatter = sample.scatter_out(shape, &found.scatters[component]);
        scatter.iter_mut().for_each(|s| *s /= size);
        mixture.add_around(component, size, &mean, &scatter, &mut stats);
    }
    Some(stats)
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

/// Every item wholly to the cluster that k-means++ and this many sweeps of k-means at most find for it.
fn by_nearest_seed(mixture: &Mixture, points: &Points, rng: &mut Rng, sweeps: usize) -> Stats {
    let k = mixture.params.components;
    // Items that weigh nothing are as good as absent.
    let weight = |n: u32| points.weights().map_or(1.0, |w| w[n as usize]);
    let mut items: Vec<u32> = all(points).into_iter().filter(|&n| weight(n) > 0.0).collect();
    if items.len() > SEEDING_ITEMS {
        let count = SEEDING_ITEMS.max(k).min(items.len());
        items = distinct_many(items, count, rng);
    }
    let weights: Vec<f64> = items.iter().map(|&n| weight(n)).collect();
    let d = mixture.n_dims();
    // In z, item after item.
    let mut z = vec![0.0; items.len() * d];
    let mut tile = vec![0.0; d * TILE];
    for (chunk, items) in z.chunks_mut(TILE * d).zip(items.chunks(TILE)) {
        mixture.units.load(points, items, &mut tile);
        for (slot, row) in chunk.chunks_exact_mut(d).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = there(tile[j * TILE + slot]));
        }
    }
    match mixture.params.start_units {
        StartUnits::Deviations => kmeans::standardise(&mut z, &weights, d),
        StartUnits::Own => kmeans::rescale(&mut z, &mixture.units.scale),
    }
    let mut clusters = kmeans::clusters(&z, &weights, k, sweeps, rng).into_iter();
    let mut stats = statistics(mixture, points, &items, |_, resp| {
        resp.fill(0.0);
        resp[clusters.next().expect("one per item")] = 1.0;
    });
    let sampled: f64 = (0..k).map(|k| mixture.sums(&stats, k).count).sum();
    let scale = total_weight(points) / sampled;
    stats.values_mut().iter_mut().for_each(|s| *s *= scale);
    stats
}

/// `count` of the items at random (partial Fisher-Yates).
pub(super) fn distinct_many(mut items: Vec<u32>, count: usize, rng: &mut Rng) -> Vec<u32> {
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
    use crate::math::rng::Purpose;
    use crate::models::MixtureParams;

    /// How many items each cluster of the start has.
    fn sizes(values: &[f64], scale: [f64; 3], start_units: StartUnits, seed: u64) -> Vec<u64> {
        let scaled = values.chunks(3).flat_map(|row| row.iter().zip(scale).map(|(x, s)| x * s));
        let points = Points::new(scaled.collect(), 3).unwrap();
        let params = MixtureParams { start_units, ..MixtureParams::gmm(5) };
        let mixture = Mixture::new(params, &points).unwrap();
        let mut rng = Address::new(seed, Purpose::Init, 0, 0).rng(0);
        let stats = by_nearest_seed(&mixture, &points, &mut rng, MOST_SWEEPS);
        (0..5).map(|row| stats.row(row)[0] as u64).collect()
    }

    #[test]
    fn a_start_in_deviations_does_not_depend_on_the_columns_units() {
        let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
        let values: Vec<f64> = (0..600).map(|_| rng.normal()).collect();
        // Deviations a little below and above powers of two among them.
        let scales = [[1.99, 2.01, 1.0], [0.37, 713.0, 1e-5], [3.0, 1.0 / 3.0, 1e9]];
        let mut own_differs = false;
        for seed in 0..10 {
            let (deviations, own) = (StartUnits::Deviations, StartUnits::Own);
            let plain = sizes(&values, [1.0; 3], deviations, seed);
            assert_eq!(plain.iter().sum::<u64>(), 200);
            for scale in scales {
                assert_eq!(sizes(&values, scale, deviations, seed), plain, "{scale:?}");
                own_differs |= sizes(&values, scale, own, seed) != plain;
            }
        }
        assert!(own_differs);
    }

    #[test]
    fn items_that_weigh_nothing_are_as_good_as_absent() {
        let mut rng = Address::new(2, Purpose::Data, 0, 0).rng(0);
        let values: Vec<f64> = (0..80).map(|_| rng.normal()).collect();
        let some = Points::new(values[..60].to_vec(), 2).unwrap();
        let weights = (0..40).map(|n| f64::from(n < 30)).collect();
        let all = Points::new(values.clone(), 2).unwrap().with_weights(weights).unwrap();
        let start = |points: &Points| {
            let mixture = Mixture::new(MixtureParams::gmm(4), points).unwrap();
            let mut rng = Address::new(0, Purpose::Init, 0, 0).rng(0);
            by_nearest_seed(&mixture, points, &mut rng, MOST_SWEEPS).values_mut().to_vec()
        };
        for (a, b) in start(&some).iter().zip(start(&all)) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}
