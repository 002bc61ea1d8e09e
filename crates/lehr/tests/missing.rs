//! Missing values: bounds that never fall, truths that are found, predictions of what is missing.
//! `truth.rs` has the bound from first principles.

mod common;

use common::{bits, every_mixture, rng, sweeps, watched};
use lehr::FitConfig;
use lehr::data::Points;
use lehr::models::{Mixture, MixtureParams};

const CENTRES: [[f64; 3]; 3] = [[0.0, 0.0, 5.0], [8.0, 0.0, -5.0], [0.0, -9.0, 0.0]];

/// Items of three clusters whose columns go together, a share of the values missing, and the cluster of each.
fn gappy(n: usize, share: f64, seed: u64) -> (Points, Vec<f64>, Vec<usize>) {
    let mut rng = rng(seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let k = rng.below(3) as usize;
        let z = [rng.normal(), rng.normal(), rng.normal()];
        let x = [z[0], 0.8 * z[0] + 0.6 * z[1], z[2] - 0.5 * z[1]];
        values.extend((0..3).map(|j| CENTRES[k][j] + x[j]));
        labels.push(k);
    }
    let gone: Vec<f64> =
        values.iter().map(|&x| if rng.uniform() < share { f64::NAN } else { x }).collect();
    (Points::with_missing(gone, 3).unwrap(), values, labels)
}

#[test]
fn the_bound_never_falls() {
    // Some items miss everything.
    let (points, ..) = gappy(300, 0.4, 1);
    for (name, params) in every_mixture(4) {
        let mixture = Mixture::new(params, &points).unwrap();
        let mut draw = rng(2);
        let start: Vec<f64> = (0..300)
            .flat_map(|_| {
                let parts = [draw.uniform(), draw.uniform(), draw.uniform(), draw.uniform()];
                parts.map(|x| x / parts.iter().sum::<f64>())
            })
            .collect();
        let lambda = mixture.lambda_from_responsibilities(&points, &start);
        let (_, bounds) = sweeps(&mixture, &points, lambda, 60);
        for (sweep, pair) in bounds.windows(2).enumerate() {
            let slack = 1e-12 * pair[0].abs();
            assert!(
                pair[1] >= pair[0] - slack,
                "{name}, sweep {sweep}: {} after {}",
                pair[1],
                pair[0]
            );
        }
        assert!(bounds[60] > bounds[0] + 10.0, "{name}: {} after {}", bounds[60], bounds[0]);
    }
}

#[test]
fn planted_clusters_are_found_with_a_fifth_of_the_values_missing() {
    let (points, _, labels) = gappy(900, 0.2, 3);
    for (name, params) in every_mixture(3) {
        let mixture = Mixture::new(params, &points).unwrap();
        let config = FitConfig { n_init: 3, ..FitConfig::default() };
        let (fitted, _) = watched(&mixture, &points, &config, 2);
        let table = fitted.state.lambda.table();
        let components = mixture.components(table);
        let at = CENTRES.map(|centre| {
            let near = |mean: &[f64]| (0..3).all(|j| (mean[j] - centre[j]).abs() < 0.35);
            let found = components.iter().position(|c| near(&c.mean));
            found.unwrap_or_else(|| panic!("{name}: nothing at {centre:?}: {components:?}"))
        });
        let phi = mixture.responsibilities(table, &points);
        let right = labels.iter().zip(phi.chunks_exact(3)).filter(|(l, phi)| phi[at[**l]] > 0.5);
        let share = right.count() as f64 / 900.0;
        assert!(share > 0.95, "{name}: {share}");
    }
}

#[test]
fn covariances_are_those_of_the_whole_items() {
    let mut rng = rng(4);
    let mut values = Vec::new();
    for _ in 0..4000 {
        let z = [rng.normal(), rng.normal()];
        let x = [z[0], 0.8 * z[0] + 0.6 * z[1]];
        // At most one is missing, so that each item says something.
        let gone = rng.below(10);
        values.extend([0, 1].map(|j| if gone == j as u64 { f64::NAN } else { x[j] }));
    }
    let points = Points::with_missing(values, 2).unwrap();
    let mixture = Mixture::new(MixtureParams::gmm(1), &points).unwrap();
    let config = FitConfig { tol: 1e-10, ..FitConfig::default() };
    let (fitted, _) = watched(&mixture, &points, &config, 1);
    let covariance = &mixture.components(fitted.state.lambda.table())[0].covariance;
    for (found, expected) in covariance.iter().zip([1.0, 0.8, 0.8, 1.0]) {
        assert!((found - expected).abs() < 0.06, "{covariance:?}");
    }
}

#[test]
fn what_is_missing_is_predicted_with_its_spread() {
    let (points, values, _) = gappy(2000, 0.15, 5);
    for (name, params) in every_mixture(3) {
        let mixture = Mixture::new(params, &points).unwrap();
        let (fitted, _) = watched(&mixture, &points, &FitConfig::default(), 2);
        let imputed = mixture.impute(fitted.state.lambda.table(), &points);
        let mut row = [0.0; 3];
        let (mut squares, mut count) = (0.0, 0.0);
        for n in 0..2000 {
            points.copy_row(n, &mut row);
            for (j, x) in row.iter().enumerate() {
                let (found, deviation) = (imputed.values[3 * n + j], imputed.deviations[3 * n + j]);
                if x.is_nan() {
                    assert!(deviation > 0.0, "{name}");
                    squares += ((values[3 * n + j] - found) / deviation).powi(2);
                    count += 1.0;
                } else {
                    assert_eq!((found, deviation), (*x, 0.0), "{name}");
                }
            }
        }
        let calibration = (squares / count).sqrt();
        assert!((0.85..1.15).contains(&calibration), "{name}: {calibration}");
    }
}

#[test]
fn steps_with_batches_and_noise_do_not_depend_on_threads() {
    let (points, ..) = gappy(5000, 0.3, 6);
    for (name, params) in every_mixture(4) {
        let mixture = Mixture::new(params, &points).unwrap();
        for config in [
            FitConfig { steps: Some(4), ..FitConfig::default() },
            FitConfig {
                steps: Some(6),
                batch: Some(3000),
                effective: "500".parse().unwrap(),
                ..FitConfig::default()
            },
        ] {
            let run = |threads| {
                let (fitted, bounds) = watched(&mixture, &points, &config, threads);
                (bits(fitted.state.lambda.table().values()), bits(&bounds))
            };
            assert_eq!(run(1), run(3), "{name}");
        }
    }
}

#[test]
fn an_item_without_a_value_says_nothing_about_its_cluster() {
    let (points, ..) = gappy(300, 0.1, 7);
    let mixture = Mixture::new(MixtureParams::gmm(3), &points).unwrap();
    let (fitted, _) = watched(&mixture, &points, &FitConfig::default(), 1);
    let table = fitted.state.lambda.table();
    let nothing = Points::with_missing(vec![f64::NAN; 3], 3).unwrap();
    let phi = mixture.responsibilities(table, &nothing);
    for (phi, component) in phi.iter().zip(mixture.components(table)) {
        assert!((phi - component.weight).abs() < 0.02, "{phi} {}", component.weight);
    }
    // Nor has it a density.
    let found = mixture.log_predictive(&fitted.state.lambda, &nothing)[0];
    assert!(found.abs() < 1e-12, "{found}");
}

#[test]
fn the_predictive_density_of_some_columns_is_the_integral_over_the_others() {
    let (points, ..) = gappy(200, 0.0, 8);
    for (name, params) in every_mixture(2) {
        let mixture = Mixture::new(params, &points).unwrap();
        let (fitted, _) = watched(&mixture, &points, &FitConfig::default(), 1);
        let predict = |row: [f64; 3]| {
            let points = Points::with_missing(row.to_vec(), 3).unwrap();
            mixture.log_predictive(&fitted.state.lambda, &points)[0]
        };
        let (step, mut sum) = (0.05, 0.0);
        for i in -2000..2000 {
            sum += predict([1.0, f64::from(i) * step, -2.0]).exp() * step;
        }
        let found = predict([1.0, f64::NAN, -2.0]);
        assert!((found - sum.ln()).abs() < 1e-4, "{name}: {found} {}", sum.ln());
    }
}

#[test]
fn a_column_without_a_value_is_refused() {
    let points =
        Points::with_missing(vec![1.0, f64::NAN, 2.0, f64::NAN, 4.0, f64::NAN], 2).unwrap();
    let error = Mixture::new(MixtureParams::gmm(1), &points).unwrap_err().to_string();
    assert_eq!(error, "all values of column 2 are missing; leave it out (`drop = 2`)");
}
