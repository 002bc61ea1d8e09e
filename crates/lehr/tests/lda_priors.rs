//! Priors that LDA learns, the start that goes with them, and local steps that start warm.

mod common;

use common::{Recorder, dirichlet, documents, rng};
use lehr::FitConfig;
use lehr::data::Docs;
use lehr::fit::{Fitted, Observation};
use lehr::models::lda::{LearnAlpha, Priors};
use lehr::models::{Lda, LdaParams};
use lehr::store::{Begin, Items, Run};

const ETA: f64 = 0.05;

/// Documents of topics that have this many words each, and some more of them.
fn corpus(n_topics: usize, n_docs: usize, seed: u64) -> (Docs, Docs) {
    let mut rng = rng(seed);
    let topics: Vec<Vec<f64>> = (0..n_topics).map(|_| dirichlet(&mut rng, &[ETA; 600])).collect();
    let docs = documents(&topics, &vec![0.1; n_topics], n_docs + 100, 80, seed);
    let all: Vec<u32> = (0..docs.n_items() as u32).collect();
    (docs.subset(&all[..n_docs]), docs.subset(&all[n_docs..]))
}

fn fitted(lda: &Lda, docs: &Docs, config: &FitConfig) -> (Fitted, Vec<Observation>) {
    let mut recorder = Recorder::default();
    let fit = lehr::fit(lda, docs).config(config.clone()).threads(2).watch(&mut recorder);
    (fit.run().unwrap(), recorder.0)
}

fn steps(n: u64, batch: Option<usize>) -> FitConfig {
    FitConfig { steps: Some(n), batch, tol: 0.0, eval_every: Some(n), ..FitConfig::default() }
}

#[test]
fn learned_priors_come_back_from_where_nobody_would_begin() {
    let (docs, new) = corpus(8, 500, 5);
    for batch in [None, Some(50)] {
        let config = steps(if batch.is_some() { 1000 } else { 100 }, batch);
        let scored = |params: LdaParams| {
            let lda = Lda::new(params, &docs).unwrap();
            let (found, _) = fitted(&lda, &docs, &config);
            let lambda = &found.state.lambda;
            let (most, eta) =
                (lda.alpha(lambda).iter().copied().fold(0.0, f64::max), lda.eta(lambda));
            (most, eta, lda.score_docs(lambda, &new, new.n_items()).completion)
        };
        let (_, _, usual) = scored(LdaParams::new(8));
        for learn_alpha in [LearnAlpha::Asymmetric, LearnAlpha::Symmetric] {
            for (alpha, eta) in [(5.0, 3.0), (0.001, 0.001)] {
                let params = LdaParams {
                    alpha: Some(alpha.into()),
                    eta: Some(eta),
                    learn_alpha: Some(learn_alpha),
                    ..LdaParams::new(8)
                };
                let (most, found, completion) = scored(params);
                let what = format!(
                    "{batch:?}, {learn_alpha:?} from {alpha} and {eta}: alpha up to {most:.3}, eta {found:.4}, \
                     completion {completion:.3}, usually {usual:.3}"
                );
                println!("{what}");
                assert!((0.01..1.0).contains(&most), "{what}");
                assert!((0.5 * ETA..2.0 * ETA).contains(&found), "{what}");
                assert!(completion > usual - 0.2, "{what}");
            }
        }
    }
}

#[test]
fn eta_from_batches_is_that_of_all_documents() {
    let (docs, _) = corpus(8, 500, 6);
    let eta = |batch: Option<usize>, n: u64| {
        let lda = Lda::new(LdaParams { eta: Some(0.5), ..LdaParams::new(8) }, &docs).unwrap();
        let start = lehr::fit::State::start(&lda, &docs, 3, 0).unwrap();
        // From topics that have formed, so that only eta differs.
        let formed = Lda::new(LdaParams::fixed(8), &docs).unwrap();
        let formed = lehr::fit(&formed, &docs).config(steps(60, None)).from(start).threads(2);
        let mut state = formed.run().unwrap().state;
        state.lambda.hyper[0] = 0.5;
        (state.step, state.items) = (0, 0);
        let config = FitConfig { temper: Some("off".parse().unwrap()), ..steps(n, batch) };
        let found = lehr::fit(&lda, &docs).config(config).from(state).threads(2).run().unwrap();
        lda.eta(&found.state.lambda)
    };
    let (all, batches) = (eta(None, 60), eta(Some(50), 300));
    println!("all {all:.4}, batches {batches:.4}");
    assert!((0.8..1.25).contains(&(batches / all)), "all {all}, batches {batches}");
}

#[test]
fn what_is_left_out_is_learned_after_a_tempered_start_and_recorded() {
    let (docs, new) = corpus(3, 60, 7);
    let batches = steps(10, Some(20));
    let times = |params: LdaParams, config: &FitConfig| {
        let plan = config.check_for(&Lda::new(params, &docs).unwrap(), &docs).unwrap();
        [1, 4, 7].map(|t| plan.times(t))
    };
    assert_eq!(times(LdaParams::new(3), &batches), [2.0, 1.5, 1.0]);
    let off = FitConfig { temper: Some("off".parse().unwrap()), ..batches.clone() };
    assert_eq!(times(LdaParams::new(3), &off), [1.0; 3]);
    assert_eq!(times(LdaParams::fixed(3), &batches), [1.0; 3]);

    let items = Items::in_memory(&docs);
    let run = Run::<Lda>::fit(items, LdaParams::new(3), &batches, Begin::Random, &mut ()).unwrap();
    let params = &run.config.params;
    assert_eq!((params.eta, params.learn_eta), (Some(0.05), Some(true)));
    assert_eq!(params.learn_alpha, Some(LearnAlpha::Asymmetric));
    assert_eq!(run.config.fit.temper, Some("2".parse().unwrap()));
    // More documents come to topics that have formed: no second start.
    let more = run.update(Items::in_memory(&new), &FitConfig::default(), &mut ()).unwrap();
    assert_eq!(more.config.fit.temper, Some("off".parse().unwrap()));
}

#[test]
fn settings_of_before_mean_what_they_meant() {
    let text =
        r#"{"topics": 3, "alpha": null, "eta": 0.01, "learn_alpha": "no", "learn_eta": false}"#;
    let params: LdaParams = serde_json::from_str(text).unwrap();
    let (docs, _) = corpus(3, 60, 8);
    let fit = |params: LdaParams| {
        let config = FitConfig { temper: Some("off".parse().unwrap()), ..steps(5, Some(20)) };
        fitted(&Lda::new(params, &docs).unwrap(), &docs, &config).0.state.lambda
    };
    assert_eq!(fit(params), fit(LdaParams { priors: Priors::Fixed, ..LdaParams::new(3) }));
}

#[test]
fn warm_fits_end_where_cold_ones_do_and_rise_once_they_are_warm() {
    for (params, seed) in [(LdaParams::new(10), 9), (LdaParams::fixed(10), 10)] {
        let (docs, _) = corpus(6, 300, seed);
        let lda = Lda::new(params, &docs).unwrap();
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        for seed in 0..3 {
            let config = FitConfig { seed, eval_every: Some(1), ..steps(60, None) };
            cold.push(fitted(&lda, &docs, &config).0.outcome.bound);
            let (found, seen) = fitted(&lda, &docs, &FitConfig { warm: true, ..config });
            warm.push(found.outcome.bound);
            // Step 31 is the first that starts where the one before ended.
            for pair in seen[30..].windows(2) {
                let change = (pair[1].bound - pair[0].bound) / pair[0].bound.abs();
                assert!(change > -1e-6, "{change:e} in step {}", pair[1].step);
            }
        }
        println!("cold {cold:.1?}, warm {warm:.1?}");
        for (cold, warm) in cold.iter().zip(&warm) {
            assert!(warm - cold > -0.01 * cold.abs(), "cold {cold}, warm {warm}");
        }
    }
}
