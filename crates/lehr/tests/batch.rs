//! Batch VI (rho = 1, S = everything) never lowers the bound, whatever the model, start and data.

mod common;

use common::{STARTS, bernoulli, clusters, every_mixture, letters_model, rng, sweeps};
use lehr::data::Points;
use lehr::math::rng::{Address, Purpose};
use lehr::math::table::Table;
use lehr::model::{Dataset, Model};
use lehr::models::mixture::Start;
use lehr::models::{Mixture, MixtureParams};

/// The fall, relative to the bound, that is rounding.
const ROUNDING: f64 = 1e-11;

/// Forty sweeps from one start: no bound below the one before, no guard ever needed. Returns how far
/// it rose; a start can be a fixed point, but not every one.
fn check<M: Model>(what: &str, model: &M, data: &M::Data, restart: u32, rounding: f64) -> f64 {
    let layout = model.layout();
    let mut lambda = Table::new(layout.n_rows, layout.width);
    model.start(data, Address::new(11, Purpose::Init, restart, 0), &mut lambda).unwrap();
    let (state, bounds) = sweeps(model, data, lambda, 40);
    assert_eq!(bounds.len(), 41);
    assert_eq!(state.guard_hits, 0, "{what}");
    for (t, pair) in bounds.windows(2).enumerate() {
        let scale = pair[0].abs().max(data.n_items() as f64);
        let change = (pair[1] - pair[0]) / scale;
        assert!(change > -rounding, "{what}: {change:e} in sweep {} of {bounds:?}", t + 1);
    }
    bounds[40] - bounds[0]
}

/// Data sets that are awkward for a mixture, each with a number of components.
fn data_sets() -> Vec<(&'static str, Points, usize)> {
    let mut rng = rng(3);
    let duplicates = {
        let few = clusters(6, 2, 6, 3.0, 4);
        let items: Vec<u32> = (0..60).map(|_| rng.below(6) as u32).collect();
        few.subset(&items)
    };
    let collinear = {
        let mut values = Vec::new();
        for _ in 0..50 {
            let (x, y) = (rng.normal(), rng.normal());
            values.extend([x, y, x - 2.0 * y]);
        }
        Points::new(values, 3).unwrap()
    };
    let outliers = {
        let mut values: Vec<f64> = (0..60).map(|_| rng.normal()).collect();
        values.extend([1e4, 0.0, 0.0, -1e4]);
        Points::new(values, 2).unwrap()
    };
    let weighted = clusters(50, 2, 3, 2.0, 6)
        .with_weights((0..50).map(|n| f64::from(n % 5) * 0.7).collect())
        .unwrap();
    vec![
        ("separable", clusters(90, 2, 3, 8.0, 1), 4),
        ("overlapping", clusters(120, 3, 4, 0.7, 2), 5),
        ("duplicates", duplicates, 8),
        ("collinear", collinear, 4),
        ("K close to N", clusters(12, 2, 3, 2.0, 5), 11),
        ("K = N", clusters(7, 3, 3, 2.0, 5), 7),
        ("tiny", Points::new(vec![0.0, 1.0], 1).unwrap(), 2),
        ("one column", clusters(40, 1, 3, 4.0, 8), 3),
        ("outliers", outliers, 3),
        ("weights", weighted, 4),
        ("many shards", clusters(1500, 2, 4, 1.5, 9), 6),
    ]
}

#[test]
fn the_bound_of_a_gaussian_mixture_never_falls() {
    for (title, points, components) in data_sets() {
        for (name, params) in every_mixture(components) {
            let mut risen = 0.0;
            for start in STARTS {
                let params = MixtureParams { start, ..params.clone() };
                let mixture = Mixture::new(params, &points).unwrap();
                for restart in 0..3 {
                    let what = format!("{title}: {name}, {start:?}, restart {restart}");
                    // The smallest eigenvalue of a scatter matrix of collinear columns is a millionth
                    // of the largest: this many digits of its inverse are lost.
                    let lost = if title == "collinear" { 1e3 } else { 1.0 };
                    risen += check(&what, &mixture, &points, restart, lost * ROUNDING);
                }
            }
            assert!(risen > 0.0, "{title}: {name}: nothing was learnt from any start");
        }
    }
}

#[test]
fn the_bound_never_falls_under_strong_and_weak_priors() {
    let points = clusters(60, 2, 3, 2.0, 12);
    for (name, params) in every_mixture(5) {
        for strength in [1e-3, 1.0, 1e3] {
            let params = MixtureParams {
                concentration: Some(strength),
                mean_precision: Some(strength),
                degrees_of_freedom: Some(1.0 + strength),
                mean: Some(vec![3.0, -4.0]),
                start: Start::Points,
                ..params.clone()
            };
            let mixture = Mixture::new(params, &points).unwrap();
            for restart in 0..4 {
                let what = format!("{name}, priors {strength}, restart {restart}");
                let risen = check(&what, &mixture, &points, restart, ROUNDING);
                assert!(risen > 0.0, "{what}: nothing was learnt");
            }
        }
    }
}

#[test]
fn the_bound_of_a_mixture_of_bernoullis_never_falls() {
    for noise in [0.0, 0.1, 0.4] {
        for n_items in [3, 40, 1200] {
            let letters = bernoulli::noisy_letters(n_items, noise, 2).unwrap();
            for restart in 0..4 {
                let what = format!("{n_items} letters, noise {noise}, restart {restart}");
                let risen = check(&what, &letters_model(), &letters, restart, ROUNDING);
                assert!(risen > 0.0, "{what}: nothing was learnt");
            }
        }
    }
}
