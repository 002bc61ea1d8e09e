//! The data of the mixtures: synthetic clusters, and Pima.

use anyhow::{Context, ensure};

use lehr::data::Points;
use lehr::math::rng::{Address, Purpose, Rng};
use lehr::models::mixture::{Defaults, Factorisation, Mixture, MixtureParams, Start};

/// Pima Indians Diabetes, with its names; see the README next to it.
const PIMA: &str = include_str!("../../data/pima.csv");

/// Its rows, and its features, after which comes the label.
const PIMA_ROWS: usize = 768;
const PIMA_DIMS: usize = 8;

/// One data set and the paper's settings for it.
pub struct Set {
    /// Its name in figures and records.
    pub name: &'static str,
    /// The points.
    pub points: Points,
    /// The model.
    pub mixture: Mixture,
    /// |S|.
    pub batch: usize,
    /// M.
    pub effective: &'static [usize],
    /// What it is.
    pub about: String,
}

/// The data sets of figure 3.
pub fn sets(seed: u64) -> anyhow::Result<Vec<Set>> {
    let about_pima = "Pima: 768 rows, 8 features, the label left out, zeros that stand for missing \
                      values left as they are";
    let made = overlapping(seed, 250, 7)?;
    let set = |name, points: Points, components, batch, effective, about: &str| {
        let params = MixtureParams {
            factorisation: Factorisation::Independent,
            start: Start::Points,
            defaults: Defaults::Volume,
            ..MixtureParams::gmm(components)
        };
        let mixture = Mixture::new(params, &points)?;
        let about = format!("{about}; K = {components}, |S| = {batch}, M = {effective:?}");
        anyhow::Ok(Set { name, points, mixture, batch, effective, about })
    };
    let about_made = "Synthetic: 250 points in 2 dimensions from 7 overlapping clusters, made from \
                      the seed (the paper does not say which)";
    Ok(vec![
        set("synthetic", made, 10, 50, &[10], about_made)?,
        set("Pima", pima()?, 10, 200, &[50, 100, 150], about_pima)?,
    ])
}

/// A Gaussian cluster: items are the centre plus the factor (by rows) times standard normal numbers.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its share of the items is proportional to this.
    pub weight: f64,
    /// Its mean.
    pub centre: Vec<f64>,
    /// A factor of its covariance.
    pub factor: Vec<f64>,
}

/// The numbers that data number `which` of a seed are made from.
pub fn rng(seed: u64, which: u64) -> Rng {
    Address::new(seed, Purpose::Data, 0, which).rng(0)
}

/// A 2-D cluster with these standard deviations along axes turned by `angle`.
pub fn turned(weight: f64, centre: [f64; 2], deviations: [f64; 2], angle: f64) -> Cluster {
    let (sin, cos) = angle.sin_cos();
    let [long, short] = deviations;
    let factor = vec![cos * long, -sin * short, sin * long, cos * short];
    Cluster { weight, centre: centre.to_vec(), factor }
}

/// Items of some clusters, and which cluster each is from.
pub fn draw(
    clusters: &[Cluster],
    n_items: usize,
    rng: &mut Rng,
) -> lehr::Result<(Points, Vec<usize>)> {
    let total: f64 = clusters.iter().map(|c| c.weight).sum();
    let n_dims = clusters.first().map_or(0, |c| c.centre.len());
    let (mut values, mut from) = (Vec::with_capacity(n_items * n_dims), Vec::new());
    for _ in 0..n_items {
        let mut left = rng.uniform() * total;
        let chosen = clusters.iter().position(|c| {
            left -= c.weight;
            left <= 0.0
        });
        let chosen = chosen.unwrap_or(clusters.len() - 1);
        let Cluster { centre, factor, .. } = &clusters[chosen];
        let normal: Vec<f64> = (0..n_dims).map(|_| rng.normal()).collect();
        for (c, row) in centre.iter().zip(factor.chunks_exact(n_dims)) {
            values.push(c + row.iter().zip(&normal).map(|(a, z)| a * z).sum::<f64>());
        }
        from.push(chosen);
    }
    Ok((Points::new(values, n_dims)?, from))
}

/// 2-D points of overlapping clusters of different size, shape and direction.
pub fn overlapping(seed: u64, n_items: usize, n_clusters: usize) -> lehr::Result<Points> {
    let mut rng = rng(seed, 3);
    let clusters: Vec<Cluster> = (0..n_clusters)
        .map(|_| {
            let centre = [6.0 * (rng.uniform() - 0.5), 6.0 * (rng.uniform() - 0.5)];
            let deviations = [0.4 + 0.5 * rng.uniform(), 0.15 + 0.25 * rng.uniform()];
            turned(0.3 + rng.uniform(), centre, deviations, std::f64::consts::PI * rng.uniform())
        })
        .collect();
    Ok(draw(&clusters, n_items, &mut rng)?.0)
}

/// Pima, without its label.
pub fn pima() -> anyhow::Result<Points> {
    let mut values = Vec::with_capacity(PIMA_ROWS * PIMA_DIMS);
    for line in PIMA.lines().skip(1) {
        for field in line.split(',').take(PIMA_DIMS) {
            values.push(field.parse::<f64>().with_context(|| format!("Pima: '{line}'"))?);
        }
    }
    let points = Points::new(values, PIMA_DIMS)?;
    ensure!(points.n_items() == PIMA_ROWS, "Pima has {PIMA_ROWS} rows");
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_points_are_where_their_clusters_are_and_the_same_for_the_same_seed() {
        let clusters = [
            turned(1.0, [0.0, 0.0], [0.1, 0.1], 0.0),
            turned(3.0, [10.0, 0.0], [1.0, 0.1], std::f64::consts::FRAC_PI_2),
        ];
        let (points, from) = draw(&clusters, 400, &mut rng(1, 0)).unwrap();
        let mut row = [0.0; 2];
        let (mut second, mut across, mut along) = (0, 0.0_f64, 0.0_f64);
        for (n, &cluster) in from.iter().enumerate() {
            points.copy_row(n, &mut row);
            assert_eq!(cluster, usize::from(row[0] > 5.0));
            if cluster == 1 {
                second += 1;
                across = across.max((row[0] - 10.0).abs());
                along = along.max(row[1].abs());
            }
        }
        assert!((270..330).contains(&second), "{second}");
        assert!(across < 0.6 && along > 1.5, "turned by a right angle: {across}, {along}");
        let same = |seed| overlapping(seed, 50, 3).unwrap().fingerprint();
        assert_eq!(same(1), same(1));
        assert_ne!(same(1), same(2));
    }

    /// Means as they are published with the data.
    #[test]
    fn pima_is_whole_and_has_no_label() {
        let points = pima().unwrap();
        let mut row = vec![0.0; PIMA_DIMS];
        let mut sums = [0.0; PIMA_DIMS];
        for n in 0..points.n_items() {
            points.copy_row(n, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
        }
        let means = sums.map(|sum| (10.0 * sum / PIMA_ROWS as f64).round() / 10.0);
        assert_eq!(means, [3.8, 120.9, 69.1, 20.5, 79.8, 32.0, 0.5, 33.2]);
    }
}
