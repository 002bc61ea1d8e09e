//! scikit-learn's online LDA as an oracle: expectations, local steps, batch and online updates, bounds.

mod common;

use lehr::data::Docs;
use lehr::fit::State;
use lehr::math::table::Table;
use lehr::model::{Ask, Local, Model, RowSet, Shard, SharedModel, Stats};
use lehr::models::{Lda, LdaParams};
use lehr::step::engine::{Engine, Threads, Work};
use lehr::step::guard::Guard;
use lehr::step::sample::Batch;
use lehr::step::update::{Step, Steps, Updater};
use lehr::step::warm::Warm;
use serde_json::Value;

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// K x V as the fixture has it, word by word as we have it.
fn by_word(value: &Value, topics: usize) -> Vec<f64> {
    let values = flat(value);
    let words = values.len() / topics;
    (0..words * topics).map(|i| values[(i % topics) * words + i / topics]).collect()
}

/// The largest difference relative to each number.
fn worst(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(f, e)| (f / e - 1.0).abs()).fold(0.0, f64::max)
}

struct Case {
    topics: usize,
    docs: Docs,
    lda: Lda,
    state: State,
}

fn case(fixture: &Value, case: &Value, exact: bool) -> Case {
    let topics = case["k"].as_u64().unwrap() as usize;
    let words = fixture["words"].as_u64().unwrap() as usize;
    let pair = |p: &Value| (p[0].as_u64().unwrap() as u32, p[1].as_f64().unwrap());
    let row = |d: &Value| d.as_array().unwrap().iter().map(pair).collect();
    let docs = Docs::from_rows(case["documents"].as_array().unwrap().iter().map(row), words);
    let docs = docs.unwrap();
    let params = LdaParams {
        alpha: case["alpha"].as_f64().map(Into::into),
        eta: case["eta"].as_f64(),
        exact,
        // As far as f32 goes; the fixture's local steps end at 1e-13.
        local_tol: if exact { 1e-12 } else { 1e-7 },
        local_iterations: 20_000,
        ..LdaParams::fixed(topics)
    };
    let lda = Lda::new(params, &docs).unwrap();
    let lambda = Table::from_values(words, topics, by_word(&case["lambda"], topics)).unwrap();
    let state = State::at(&lda, lambda);
    Case { topics, docs, lda, state }
}

/// Does `work` with each case in either precision.
fn for_cases(work: impl Fn(&Value, Case, bool)) {
    let text = include_str!("fixtures/sklearn_lda/lda.json");
    let fixture: Value = serde_json::from_str(text).unwrap();
    for expected in fixture["cases"].as_array().unwrap() {
        for exact in [true, false] {
            work(expected, case(&fixture, expected, exact), exact);
        }
    }
}

/// Statistics at the case's lambda, and the documents' parts of the bound.
fn pass(case: &Case) -> (Stats, f64) {
    let Case { docs, lda, state, .. } = case;
    let layout = lda.layout();
    let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
    let batch = Batch::all(docs.n_items());
    lda.support(docs, &batch.items, &mut stats.rows);
    let mut expect = Default::default();
    lda.refresh(&state.lambda, &stats.rows, &mut expect);
    let work = Work { model: lda, expect: &expect, batch: &batch, ask: Ask::TRAIN, defers: false };
    let sums = Threads::new(lda, docs).sum(work, &mut Warm::off(), &mut stats).unwrap();
    (stats, sums.bound)
}

fn check(what: &str, topics: usize, exact: bool, found: f64, limits: (f64, f64)) {
    println!("K = {topics}, exact {exact}: {what} {found:.1e}");
    let limit = if exact { limits.0 } else { limits.1 };
    assert!(found < limit, "K = {topics}, exact {exact}: {what} {found:e}");
}

#[test]
fn expectations_of_topics() {
    for_cases(|expected, case, exact| {
        let Case { topics, lda, state, .. } = case;
        let mut expect = Default::default();
        let words = lda.layout().n_rows;
        lda.refresh(&state.lambda, &RowSet::all(words), &mut expect);
        let found: Vec<f64> = (0..words).flat_map(|w| expect.word(w)).collect();
        let deviation = worst(&found, &by_word(&expected["exp_elog_beta"], topics));
        check("exp(E ln beta)", topics, exact, deviation, (1e-8, 1e-6));
    });
}

#[test]
fn topics_of_documents() {
    for_cases(|expected, case, exact| {
        let Case { topics, docs, lda, state } = case;
        let rows = RowSet::all(lda.layout().n_rows);
        let mut expect = Default::default();
        lda.refresh(&state.lambda, &rows, &mut expect);
        let items: Vec<u32> = (0..docs.n_items() as u32).collect();
        let (weights, mut bounds) = (vec![1.0; items.len()], vec![0.0; items.len()]);
        let mut local = <Lda as SharedModel>::Local::new(&lda.layout());
        // A state of zeros is none, and says that gamma is to be kept.
        let none = vec![0.0; items.len() * lda.warm_width()];
        let shard =
            Shard { data: &docs, items: &items, weights: &weights, rows: &rows, warm: &none };
        let mut scratch = lda.scratch();
        lda.local_step(&expect, shard, Ask::TRAIN, &mut scratch, &mut local, &mut bounds);
        let gamma: Vec<f64> = local.warm().iter().map(|&gamma| f64::from(gamma)).collect();
        let wanted = flat(&expected["gamma"]);
        check("gamma", topics, exact, worst(&gamma, &wanted), (1e-6, 1e-4));
        let off = gamma.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        check("gamma, absolute", topics, exact, off, (1e-5, 1e-3));
        let deviation = worst(&bounds, &flat(&expected["local_bound"]));
        check("documents' bounds", topics, exact, deviation, (1e-10, 1e-6));
    });
}

#[test]
fn bound_of_the_corpus() {
    for_cases(|expected, case, exact| {
        let global = case.lda.global_bound(&case.state.lambda, &Default::default());
        let deviation = worst(&[global], &flat(&expected["topics_bound"]));
        check("topics' bound", case.topics, exact, deviation, (1e-12, 1e-12));
        let bound = pass(&case).1 + global;
        let deviation = worst(&[bound], &flat(&expected["score"]));
        check("score", case.topics, exact, deviation, (1e-7, 1e-7));
    });
}

#[test]
fn batch_and_online_updates() {
    for_cases(|expected, case, exact| {
        let total = expected["total_samples"].as_f64().unwrap();
        let rho = expected["rho"].as_f64().unwrap();
        let (raw, _) = pass(&case);
        for (key, rho, scale) in
            [("batch_lambda", 1.0, 1.0), ("online_lambda", rho, total / case.docs.n_items() as f64)]
        {
            let mut lambda = case.state.lambda.clone();
            let step = Step { rho, scale, noisy: false };
            let never = |_: &RowSet, _: &[usize]| unreachable!("the step is noiseless");
            let (steps, raw) = (Steps::All(step), &mut raw.clone());
            Updater::new(&case.lda, Guard::Clamp)
                .apply(&case.lda, 0..1, steps, raw.into(), never, &mut lambda)
                .unwrap();
            let eta = case.lda.eta(&lambda);
            let found = lambda.current(|_, row| row.fill(eta));
            let deviation = worst(found.values(), &by_word(&expected[key], case.topics));
            // A small entry of one f32 document with 20 topics is off by 1e-5.
            check(key, case.topics, exact, deviation, (1e-7, 2e-5));
        }
    });
}
