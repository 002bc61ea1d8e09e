//! What a mixture finds with default settings: the number of clusters, whatever K is.

mod common;

use common::{SHAPES, rng, watched};
use lehr::FitConfig;
use lehr::data::Points;
use lehr::models::mixture::Covariance;
use lehr::models::{Mixture, MixtureParams};

/// Clusters of unit variance, `apart` deviations from each other at least.
fn planted(n: usize, d: usize, truth: usize, apart: f64, seed: u64) -> Points {
    let mut rng = rng(seed);
    let mut centres: Vec<Vec<f64>> = Vec::new();
    let width = apart * (truth as f64).powf(1.0 / d as f64);
    while centres.len() < truth {
        let new: Vec<f64> = (0..d).map(|_| width * 2.0 * (rng.uniform() - 0.5)).collect();
        let far = |old: &Vec<f64>| {
            old.iter().zip(&new).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() > apart
        };
        if centres.iter().all(far) {
            centres.push(new);
        }
    }
    let item = |_| {
        let centre = &centres[rng.below(truth as u64) as usize];
        centre.iter().map(|c| c + rng.normal()).collect::<Vec<f64>>()
    };
    Points::new((0..n).flat_map(item).collect(), d).unwrap()
}

/// Clusters that hold more than a hundredth of the items.
fn clusters(params: MixtureParams, points: &Points) -> usize {
    let mixture = Mixture::new(params, points).unwrap();
    let (fitted, _) = watched(&mixture, points, &FitConfig::default(), 2);
    let components = mixture.components(fitted.state.lambda.table());
    components.iter().filter(|c| c.size > 0.01 * points.n_items() as f64).count()
}

#[test]
fn a_process_finds_the_number_of_clusters_whatever_the_truncation() {
    let cases = [
        // items, columns, truth, distance
        (400, 2, 4, 7.0),
        (300, 1, 3, 8.0),
        (300, 2, 1, 0.0),
        (60, 5, 2, 7.0),
        (800, 5, 6, 6.0),
        (600, 10, 3, 6.0),
        (600, 20, 4, 7.0),
        (1500, 3, 8, 6.0),
    ];
    for (n, d, truth, apart) in cases {
        let points = planted(n, d, truth, apart, (n + d) as u64);
        let found = [10, 20, 50].map(|k| clusters(MixtureParams::dpgmm(k), &points));
        assert_eq!(found, [truth; 3], "{n} items of {d} columns, {truth} clusters");
    }
}

#[test]
fn every_shape_finds_clusters_of_its_own() {
    let points = planted(600, 3, 5, 7.0, 11);
    for covariance in SHAPES {
        for k in [10, 30] {
            let params = MixtureParams { covariance, ..MixtureParams::dpgmm(k) };
            assert_eq!(clusters(params, &points), 5, "{covariance:?}, {k}");
        }
    }
}

#[test]
fn the_learned_prior_depends_on_the_data_alone() {
    let points = planted(500, 3, 4, 6.0, 12);
    let mut values = vec![0.0; 1500];
    (0..500).for_each(|n| points.copy_row(n, &mut values[3 * n..3 * n + 3]));
    let prior = |params: MixtureParams, points: &Points| {
        let mixture = Mixture::new(params, points).unwrap();
        let lambda = mixture.lambda_from_responsibilities(points, &vec![1.0 / 10.0; 10 * 500]);
        let posterior = mixture.posterior(&lambda);
        (posterior.prior_scatter, posterior.prior_mean_precision)
    };
    let params = |covariance| MixtureParams { covariance, ..MixtureParams::dpgmm(10) };
    let (scatter, beta) = prior(params(Covariance::Full), &points);
    let (gmm, _) = prior(MixtureParams::gmm(10), &points);
    assert_eq!(scatter, gmm, "the weights do not matter");
    // Other units, other numbers of the same thing.
    let scale = [1e3, 0.01, 7.0];
    let scaled = values.iter().enumerate().map(|(i, x)| x * scale[i % 3] + 1e4);
    let scaled = Points::new(scaled.collect(), 3).unwrap();
    let (other, other_beta) = prior(params(Covariance::Full), &scaled);
    for (at, (a, b)) in scatter.iter().zip(&other).enumerate() {
        let expected = a * scale[at / 3] * scale[at % 3];
        let size =
            (scatter[at / 3 * 4] * scatter[at % 3 * 4]).sqrt() * scale[at / 3] * scale[at % 3];
        assert!((b - expected).abs() < 1e-6 * size, "{b} for {expected}");
    }
    assert!((beta / other_beta - 1.0).abs() < 1e-6);
}
