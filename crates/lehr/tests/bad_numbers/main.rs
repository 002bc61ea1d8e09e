//! Random models, settings and degenerate data: every step leaves finite parameters in their domain and a
//! finite bound, or the fit ends in an error that says why. Never a panic.
//!
//! `PROPTEST_CASES=20000` tries this many instead of a few hundred.

#[path = "../common/mod.rs"]
mod common;
mod odd;

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use common::{SHAPES, STARTS, rng};
use lehr::data::Points;
use lehr::fit::Observation;
use lehr::fit::{Progress, State, Watcher};
use lehr::model::{Dataset, Model};
use lehr::models::lda::LearnAlpha;
use lehr::models::mixture::{Factorisation, Weights};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams};
use lehr::step::anneal::Law;
use lehr::step::sample::Sampling;
use lehr::step::schedule::{Effective, StepSize};
use lehr::{ErrorKind, FitConfig, Result};
use odd::{ODDITIES, Oddity, odd_docs, odd_points, odd_ratings};

/// What became of a case.
const ENDED: &str = "came to their end";

/// Tries a few hundred cases, or as many as the environment asks for; failing seeds are kept. `work`
/// says what became of each, and all of it is printed: errors alone would prove nothing, so a quarter
/// must come to their end.
fn try_many<S: Strategy>(strategy: S, work: impl Fn(S::Value) -> &'static str) {
    let tally = RefCell::new(BTreeMap::<&str, u32>::new());
    let outcome = TestRunner::new(config()).run(&strategy, |values| {
        let what = work(values);
        *tally.borrow_mut().entry(what).or_default() += 1;
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let tally = tally.into_inner();
    println!("{tally:?}");
    let (ended, tried) = (tally.get(ENDED).copied().unwrap_or(0), tally.values().sum::<u32>());
    assert!(4 * ended > tried, "only {ended} of {tried}");
}

/// The kind of an error that says something.
fn reason(error: &lehr::Error) -> &'static str {
    let text = error.to_string();
    assert!(text.len() > 20, "{text}");
    match error.kind() {
        ErrorKind::Config { field, .. } if field == "components" => "refused: components",
        ErrorKind::Config { .. } => "refused: a setting",
        ErrorKind::Data(_) => "refused: the data",
        ErrorKind::Diverged { .. } => "ended with a bound that is no number",
        ErrorKind::Domain { .. } => "ended with a row out of its domain",
        _ => panic!("{text}"),
    }
}

fn config() -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/proptest-regressions/bad_numbers.txt");
    let cases = match std::env::var("PROPTEST_CASES") {
        Ok(cases) => cases.parse().expect("PROPTEST_CASES is a number"),
        Err(_) => 300,
    };
    ProptestConfig { cases, failure_persistence: Some(Box::new(seeds)), ..Default::default() }
}

/// Looks at every step.
struct Judge<'a, M: Model>(&'a M);

impl<M: Model> Judge<'_, M> {
    fn look(&self, state: &State) -> std::result::Result<(), String> {
        let hyper = &state.lambda.hyper;
        if let Some(x) = hyper.iter().find(|x| !x.is_finite()) {
            return Err(format!("step {}: a hyperparameter is {x}", state.step));
        }
        let table = state.lambda.current(|row, eta| self.0.prior(hyper, row, eta));
        for row in 0..table.n_rows() {
            let values = table.row(row);
            let mut valid = [false];
            let domain = self.0.domain();
            if !domain.is_some_and(|d| d.check_rows(hyper, &[row], values, false, &mut valid)) {
                valid = [self.0.in_domain(row, values)];
            }
            if !valid[0] || !values.iter().all(|x| x.is_finite()) {
                return Err(format!("step {}: row {row} is {values:?}", state.step));
            }
        }
        Ok(())
    }
}

impl<M: Model> Watcher for Judge<'_, M> {
    fn observe(&mut self, seen: &Observation) -> Result<()> {
        assert!(seen.bound.is_finite(), "step {}: the bound is {}", seen.step, seen.bound);
        for (name, x) in &seen.measures {
            assert!(!x.is_nan(), "step {}: {name} is {x}", seen.step);
        }
        Ok(())
    }

    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> Result<()> {
        if let Err(what) = self.look(state) {
            panic!("{what}");
        }
        Ok(())
    }
}

/// The settings with what this model or these data have no use for left out: most fits should run.
fn fitting<M: Model>(config: FitConfig, model: &M, data: &M::Data) -> FitConfig {
    let guards = model.domain().expect("models that ship know their guards").guards();
    // Whether every row has its own batch.
    let (n_items, per_row) = (data.n_items(), !data.groups(0).is_empty());
    FitConfig {
        warm: config.warm && model.warm_width() > 0,
        guard: config.guard.map(|_| guards[config.seed as usize % guards.len()]),
        batch: config.batch.map(|batch| batch.min(n_items)),
        population: config.population.filter(|_| !per_row).map(|n| n.max(n_items)),
        law: if per_row && !config.law.works_in_blocks() { Law::Gamma } else { config.law },
        step_size: match config.step_size {
            Some(StepSize::UntilQuiet(_)) if config.batch.is_some() => None,
            step_size => step_size,
        },
        ..config
    }
}

/// Fits and judges; what became of it.
fn judged<M: Model>(model: &M, data: &M::Data, config: FitConfig, tame: bool) -> &'static str {
    let config = fitting(config, model, data);
    let plan = match config.check_for(model, data) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Config { .. }), "{error}");
            return reason(&error);
        }
    };
    let mut judge = Judge(model);
    let fit = lehr::fit(model, data).heldout(Some(data)).plan(plan).threads(1);
    match fit.watch(&mut judge).run() {
        Ok(fitted) => {
            assert!(fitted.outcome.bound.is_finite());
            judge.look(&fitted.state).unwrap();
            ENDED
        }
        Err(error) => {
            assert!(!tame, "ordinary sizes must be fitted: {error}");
            reason(&error)
        }
    }
}

/// Settings of every kind; some will not go together, which must be an error.
fn settings() -> impl Strategy<Value = FitConfig> {
    let batch = prop_oneof![2 => Just(None), 1 => Just(Some(1)), 3 => (1usize..30).prop_map(Some)];
    let effective = prop_oneof![
        2 => Just(Effective::Off),
        2 => (-3.0..2.0f64).prop_map(|e| Effective::Constant(10f64.powf(e))),
        1 => (-3.0..1.0f64).prop_map(|e| Effective::Linear(10f64.powf(e))),
        1 => (1u64..9).prop_map(|steps| Effective::Geometric { from: 0.5, steps }),
    ];
    let step_size = prop_oneof![
        3 => Just(None),
        1 => Just(Some(StepSize::Constant(1.0))),
        1 => (-9.0..0.0f64).prop_map(|e| Some(StepSize::Constant(10f64.powf(e)))),
        1 => (0.0..20.0f64, 0.51..1.0f64).prop_map(|(tau0, kappa)| Some(StepSize::Power { tau0, kappa })),
        1 => (0.1..1.0f64).prop_map(|rho| Some(StepSize::UntilQuiet(rho))),
    ];
    let guard = prop_oneof![
        3 => Just(None),
        4 => prop::sample::select(vec!["reject", "reject-below-prior", "clip", "halve", "clamp", "shrink"])
            .prop_map(|name| Some(serde_json::from_value(name.into()).unwrap())),
    ];
    let law = prop::sample::select(Law::ALL);
    let sampling = prop::sample::select(vec![
        Sampling::Epochs,
        Sampling::WithoutReplacement,
        Sampling::WithReplacement,
        Sampling::InOrder,
    ]);
    let rest = (
        any::<bool>(),
        any::<bool>(),
        0.0..=1.0f64,
        any::<u16>(),
        prop::option::weighted(0.2, 1usize..5000),
    );
    (batch, effective, step_size, guard, law, sampling, rest).prop_map(
        |(batch, effective, step_size, guard, law, sampling, rest)| {
            let (warm, corrected, noise_end, seed, population) = rest;
            FitConfig {
                steps: Some(10),
                tol: 0.0,
                batch,
                effective,
                step_size,
                guard,
                law,
                sampling,
                warm,
                warm_after: Some(0),
                corrected,
                noise_end,
                seed: u64::from(seed),
                population,
                eval_every: Some(1),
                threads: 1,
                ..FitConfig::default()
            }
        },
    )
}

fn mixtures() -> impl Strategy<Value = MixtureParams> {
    let kinds = (
        prop::sample::select(vec![Weights::Dirichlet, Weights::Sticks]),
        prop::sample::select(vec![Factorisation::NormalWishart, Factorisation::Independent]),
        prop::sample::select(SHAPES.to_vec()),
        prop::sample::select(STARTS.to_vec()),
    );
    let priors = (
        prop::option::weighted(0.2, -12.0..12.0f64),
        prop::option::weighted(0.2, -12.0..12.0f64),
        prop::option::weighted(0.2, 0.0..1e6f64),
        prop_oneof![4 => Just(0.0), 1 => Just(1e-6), 1 => Just(1e100)],
    );
    (1usize..40, kinds, priors).prop_map(|(components, kinds, priors)| {
        let (weights, factorisation, covariance, start) = kinds;
        let (concentration, mean_precision, freedom, ridge) = priors;
        MixtureParams {
            weights,
            factorisation,
            covariance,
            start,
            concentration: concentration.map(|e| 10f64.powf(e)),
            mean_precision: mean_precision.map(|e| 10f64.powf(e)),
            degrees_of_freedom: freedom.map(|more| 5.0 + more),
            ridge,
            ..MixtureParams::gmm(components)
        }
    })
}

#[test]
fn mixtures_stay_in_their_domain() {
    let strategy = (
        mixtures(),
        settings(),
        prop::sample::select(ODDITIES.to_vec()),
        (1usize..40, 1usize..5),
        prop_oneof![1 => Just(0), 2 => -150i32..=150],
        any::<u16>(),
    );
    try_many(strategy, |(params, config, oddity, (n, d), exponent, seed)| {
        let values = odd_points(oddity, n, d, 10f64.powi(exponent), u64::from(seed));
        let Ok(points) = Points::new(values, d) else { return "refused: the data" };
        let usual = params.concentration.is_none()
            && params.mean_precision.is_none()
            && params.degrees_of_freedom.is_none()
            && params.ridge == 0.0;
        let tame = exponent.abs() <= 100 && usual && !matches!(oddity, Oddity::UnequalColumns);
        match Mixture::new(params, &points) {
            Ok(mixture) => judged(&mixture, &points, config, tame),
            Err(error) => reason(&error),
        }
    });
}

#[test]
fn topics_stay_in_their_domain() {
    let learn = vec![LearnAlpha::No, LearnAlpha::Symmetric, LearnAlpha::Asymmetric];
    let strategy = (
        settings(),
        (1usize..30, 1usize..20, 0usize..7),
        prop_oneof![3 => Just(0.0), 2 => -6.0..12.0f64, 1 => -30.0..30.0f64],
        (1usize..40, any::<bool>(), any::<bool>()),
        prop::sample::select(learn),
        prop::option::weighted(0.4, -8.0..8.0f64),
        prop_oneof![2 => Just(-2.0), 1 => -8.0..8.0f64],
        any::<u16>(),
    );
    try_many(
        strategy,
        |(config, (n, n_words, kind), count, of_topics, learn_alpha, alpha, eta, seed)| {
            let (topics, exact, learn_eta) = of_topics;
            let mut rng = rng(u64::from(seed));
            let Ok(docs) = odd_docs(n, n_words, kind, 10f64.powf(count), &mut rng) else {
                return "refused: the data";
            };
            let params = LdaParams {
                alpha: alpha.map(|e| 10f64.powf(e).into()),
                eta: Some(10f64.powf(eta)),
                learn_alpha: Some(learn_alpha),
                learn_eta: Some(learn_eta),
                exact,
                ..LdaParams::fixed(topics)
            };
            let tame = (0.0..4.0).contains(&count) && alpha.is_none() && eta == -2.0;
            match Lda::new(params, &docs) {
                Ok(lda) => judged(&lda, &docs, config, tame),
                Err(error) => reason(&error),
            }
        },
    );
}

#[test]
fn factors_stay_in_their_domain() {
    let variance = || prop::option::weighted(0.2, -20.0..20.0f64);
    let strategy = (
        settings(),
        (1usize..12, 1usize..12, 1usize..60),
        0usize..5,
        prop_oneof![2 => Just(0.0), 1 => -44.0..38.0f64],
        1usize..16,
        any::<[bool; 6]>(),
        (variance(), variance()),
        any::<u16>(),
    );
    try_many(
        strategy,
        |(config, (n_users, n_items, n), kind, exponent, dims, flags, variances, seed)| {
            let mut rng = rng(u64::from(seed));
            let made = odd_ratings(n_users, n_items, n, kind, 10f64.powf(exponent), &mut rng);
            let Ok(ratings) = made else { return "refused: the data" };
            let [gauge, ard, biases, centre, learn_noise, exact] = flags;
            let (prior, noise) = variances;
            let params = PmfParams {
                gauge,
                ard,
                biases,
                centre,
                learn_noise,
                exact,
                prior_variance: prior.map(|e| 10f64.powf(e)),
                noise_variance: noise.map(|e| 10f64.powf(e)),
                ..PmfParams::new(dims)
            };
            // Noise that is a thousand times the data's own can still make a row singular.
            let quiet = config.effective == Effective::Off;
            let tame = quiet && exponent == 0.0 && prior.is_none() && noise.is_none() && kind != 2;
            match Pmf::new(params, &ratings) {
                Ok(pmf) => judged(&pmf, &ratings, config, tame),
                Err(error) => reason(&error),
            }
        },
    );
}
