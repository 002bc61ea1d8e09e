//! Agreement with scikit-learn's BayesianGaussianMixture, sweep by sweep, from the same start and
//! priors. `fixtures/sklearn/README.md` says what the file holds and how it was made.

mod common;

use common::sweeps;
use lehr::data::Points;
use lehr::fit::State;
use lehr::model::Table;
use lehr::models::mixture::{Component, Covariance, Defaults, Weights};
use lehr::models::{Mixture, MixtureParams};
use serde_json::Value;

const TOLERANCE: f64 = 1e-8;

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

fn points(value: &Value) -> Points {
    let n_dims = value[0].as_array().unwrap().len();
    Points::new(flat(value), n_dims).unwrap()
}

/// Panics if two lists differ by more than the tolerance, relative to numbers above 1.
fn agree(what: &str, found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "{what}");
    let difference = |(f, e): (&f64, &f64)| (f - e).abs() / e.abs().max(1.0);
    let worst = found.iter().zip(expected).map(difference).fold(0.0, f64::max);
    assert!(worst < TOLERANCE, "{what}: off by {worst:e}");
    worst
}

/// The name of a case, and the settings that make its prior.
fn described(fixture: &Value, case: &Value, components: usize) -> (String, MixtureParams) {
    let (covariance, weights) =
        (&case["covariance_type"], &case["weight_concentration_prior_type"]);
    let params = MixtureParams {
        covariance: match covariance.as_str().unwrap() {
            "full" => Covariance::Full,
            "tied" => Covariance::Tied,
            "diag" => Covariance::Diagonal,
            _ => Covariance::Spherical,
        },
        weights: match weights.as_str().unwrap() {
            "dirichlet_distribution" => Weights::Dirichlet,
            _ => Weights::Sticks,
        },
        concentration: fixture["weight_concentration_prior"].as_f64(),
        mean: Some(flat(&fixture["mean_prior"])),
        mean_precision: fixture["mean_precision_prior"].as_f64(),
        degrees_of_freedom: fixture["degrees_of_freedom_prior"].as_f64(),
        scatter: Some(flat(&case["covariance_prior"])),
        defaults: Defaults::ScikitLearn,
        sort: false,
        ..MixtureParams::gmm(components)
    };
    (format!("{covariance}, {weights}"), params)
}

/// Compares a lambda with what scikit-learn has after this many sweeps.
fn agree_with_state(
    name: &str,
    mixture: &Mixture,
    data: &Points,
    lambda: &Table,
    case: &Value,
    sweep: usize,
) {
    let state = &case["states"][sweep.to_string()];
    let fitted = mixture.components(lambda);
    // Tied components have one covariance, which scikit-learn writes once.
    let one = case["covariance_type"] == "tied";
    let all = |part: fn(&Component) -> &[f64], once: bool| {
        let shown = if once { &fitted[..1] } else { &fitted[..] };
        shown.iter().flat_map(|c| part(c).to_vec()).collect::<Vec<f64>>()
    };
    let found = [
        ("weights", fitted.iter().map(|c| c.weight).collect()),
        ("means", all(|c| &c.mean, false)),
        ("covariances", all(|c| &c.covariance, one)),
        ("precisions", all(|c| &c.precision, one)),
        ("mean_precision", mixture.posterior(lambda).mean_precision.unwrap()),
        ("responsibilities", mixture.responsibilities(lambda, data)),
    ];
    for (part, found) in found.iter().filter(|(part, _)| !state[part].is_null()) {
        let what = format!("{name}: {part} after sweep {sweep}");
        let worst = agree(&what, found, &flat(&state[part]));
        println!("{what} {worst:.1e}");
    }
}

#[test]
fn other_shapes_agree_where_the_formula_is_the_same() {
    let text = include_str!("fixtures/sklearn/bayesian_mixture.json");
    let fixture: Value = serde_json::from_str(text).unwrap();
    let data = points(&fixture["x"]);
    let start = flat(&fixture["start_responsibilities"]);
    let components = start.len() / data.n_items();
    let others = fixture["other_shapes"].as_array().unwrap();
    assert_eq!(others.len(), 6);
    for case in others {
        let (name, params) = described(&fixture, case, components);
        let mixture = Mixture::new(params, &data).unwrap();
        let mut lambda = mixture.lambda_from_responsibilities(&data, &start);
        let last = if case["covariance_type"] == "tied" { 50 } else { 1 };
        for sweep in 1..=last {
            if sweep > 1 {
                lambda = sweeps(&mixture, &data, lambda, 1).0.lambda.table().clone();
            }
            if !case["states"][sweep.to_string()].is_null() {
                agree_with_state(&name, &mixture, &data, &lambda, case, sweep);
            }
        }
    }
}

#[test]
fn agrees_with_scikit_learn_after_every_recorded_sweep() {
    let text = include_str!("fixtures/sklearn/bayesian_mixture.json");
    let fixture: Value = serde_json::from_str(text).unwrap();
    let data = points(&fixture["x"]);
    let start = flat(&fixture["start_responsibilities"]);
    let components = start.len() / data.n_items();
    let new_points = points(&fixture["new_points"]);
    for case in fixture["cases"].as_array().unwrap() {
        let (name, params) = described(&fixture, case, components);
        let mixture = Mixture::new(params, &data).unwrap();
        let first = mixture.lambda_from_responsibilities(&data, &start);

        // The lambda after sweeps 1 to 50, and the bound L(R_t, lambda_t) after each.
        let mut lambdas = vec![first.clone()];
        for _ in 1..50 {
            let last = lambdas.last().unwrap().clone();
            lambdas.push(sweeps(&mixture, &data, last, 1).0.lambda.table().clone());
        }
        let (last, bounds) = sweeps(&mixture, &data, first, 49);
        assert_eq!(common::bits(last.lambda.table().values()), common::bits(lambdas[49].values()));
        let worst = agree(&format!("{name}: bounds"), &bounds, &flat(&case["exact_objective"]));
        println!("{name}: bounds {worst:.1e}");

        // scikit-learn's bound is L(R_{t-1}, lambda_t) without constants, which is the exact bound
        // less the divergence of R_{t-1} from R_t; its increments are free of the constants.
        let mut before = start.clone();
        let mut paired = Vec::new();
        for (lambda, bound) in lambdas.iter().zip(&bounds) {
            let after = mixture.responsibilities(lambda, &data);
            let divergence: f64 = before
                .iter()
                .zip(&after)
                .filter(|(b, _)| **b > 0.0)
                // A responsibility below 1e-20 is exactly 0 here; its logarithm is not.
                .map(|(b, a)| b * (b.ln() - a.max(1e-20).ln()))
                .sum();
            paired.push(bound - divergence);
            before = after;
        }
        let increments = |x: &[f64]| x.windows(2).map(|p| p[1] - p[0]).collect::<Vec<f64>>();
        let expected = increments(&flat(&case["lower_bound"]));
        let worst = agree(&format!("{name}: increments"), &increments(&paired), &expected);
        println!("{name}: increments {worst:.1e}");
        agree(&format!("{name}: paired bounds"), &paired, &flat(&case["exact_bound"]));

        for sweep in [1, 5, 50] {
            agree_with_state(&name, &mixture, &data, &lambdas[sweep - 1], case, sweep);
        }

        let last = State::at(&mixture, lambdas[49].clone()).lambda;
        let found = mixture.log_predictive(&last, &new_points);
        let worst =
            agree(&format!("{name}: log predictive"), &found, &flat(&case["log_predictive"]));
        println!("{name}: log predictive {worst:.1e}");
    }
}
