//! Lazy rows of lambda are those of an update that touches every row, whatever the step sizes.

mod common;

use std::path::PathBuf;

use common::{bits, rng, small_corpus};
use lehr::FitConfig;
use lehr::data::Docs;
use lehr::fit::Observation;
use lehr::fit::{FitBuilder, Fitted, Progress, Resume, State, Watcher};
use lehr::lambda::Lambda;
use lehr::math::table::Table;
use lehr::model::{Model, RowSet, Stats};
use lehr::models::lda::LearnAlpha;
use lehr::models::{Lda, LdaParams};
use lehr::step::guard::Guard;
use lehr::step::update::{Step, Steps, Updater};
use lehr::store::{Saved, checkpoint};

const WORDS: usize = 700;
const TOPICS: usize = 3;
const ETA: f64 = 0.02;

fn lda() -> Lda {
    let docs = Docs::from_rows([vec![(0, 1.0)]], WORDS).unwrap();
    Lda::new(LdaParams { eta: Some(ETA), ..LdaParams::fixed(TOPICS) }, &docs).unwrap()
}

/// Rows, and statistics for them.
fn stats(rows: &[u32], value: impl Fn(usize, usize) -> f64) -> Stats {
    let mut stats = Stats::empty(WORDS, TOPICS);
    stats.rows.collect(|touch| touch(rows));
    stats.fit_to_rows();
    for slot in 0..stats.rows.len() {
        let row = stats.rows.row(slot);
        for (k, x) in stats.slot_mut(slot).iter_mut().enumerate() {
            *x = value(row, k);
        }
    }
    stats
}

/// The largest difference relative to each number itself.
fn worst(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(f, e)| (f / e - 1.0).abs()).fold(0.0, f64::max)
}

fn apply(model: &Lda, rho: f64, scale: f64, raw: &Stats, lambda: &mut Lambda) {
    let step = Step { rho, scale, noisy: false };
    let never = |_: &RowSet, _: &[usize]| unreachable!("the step is noiseless");
    let (steps, mut raw) = (Steps::All(step), raw.clone());
    let guarded = Updater::new(model, Guard::Clamp).apply(
        model,
        0..1,
        steps,
        (&mut raw).into(),
        never,
        lambda,
    );
    assert_eq!(guarded.unwrap().hits, 0);
}

fn caught_up(lambda: &Lambda) -> Lambda {
    let mut lambda = lambda.clone();
    lambda.catch_up(|_, row| row.fill(ETA));
    lambda
}

#[test]
fn a_thousand_sparse_steps_are_those_of_a_dense_table() {
    let (model, mut rng) = (lda(), rng(1));
    let start: Vec<f64> = (0..WORDS * TOPICS).map(|_| rng.gamma(2.0)).collect();
    let table = Table::from_values(WORDS, TOPICS, start.clone()).unwrap();
    let (mut lambda, mut dense) = (State::at(&model, table).lambda, start);
    let mut largest = [0.0f64; 3];
    for t in 0..1000 {
        let rho = match rng.below(20) {
            0 => 1.0 - 1e-9 * rng.uniform(),
            1 => rng.uniform(),
            2 if t % 7 == 0 => 1.0,
            3 => 1e-12,
            _ => 0.2 * rng.uniform(),
        };
        let rows: Vec<u32> = (0..rng.below(60)).map(|_| rng.below(WORDS as u64) as u32).collect();
        let seed = rng.uniform();
        let value = |row: usize, k: usize| (seed * (row + k) as f64).sin().powi(2) * 5.0;
        let scale = 1.0 + 10.0 * rng.uniform();
        apply(&model, rho, scale, &stats(&rows, value), &mut lambda);
        for (i, x) in dense.iter_mut().enumerate() {
            let touched = rows.contains(&((i / TOPICS) as u32));
            let natural = if touched { value(i / TOPICS, i % TOPICS) } else { 0.0 };
            *x = (1.0 - rho) * *x + rho * (ETA + scale * natural);
        }
        let now = lambda.current(|_, row| row.fill(ETA));
        largest[0] = largest[0].max(worst(now.values(), &dense));
        let sums: Vec<f64> =
            (0..TOPICS).map(|k| dense.iter().skip(k).step_by(TOPICS).sum()).collect();
        largest[1] = largest[1].max(worst(lambda.totals(), &sums));
        largest[2] = largest[2].max(worst(caught_up(&lambda).totals(), &sums));
        let mut row = [0.0; TOPICS];
        lambda.read(t % WORDS, &[ETA; TOPICS], &mut row);
        assert_eq!(bits(&row), bits(now.row(t % WORDS)));
    }
    println!(
        "lambda {:.1e}, totals {:.1e}, totals of current rows {:.1e}",
        largest[0], largest[1], largest[2]
    );
    assert!(largest.iter().all(|&x| x < 1e-10), "{largest:?}");
    assert!(!lambda.is_current());
}

#[test]
fn a_step_of_one_forgets_everything() {
    let (model, mut rng) = (lda(), rng(2));
    let start = (0..WORDS * TOPICS).map(|_| 1e12 * rng.gamma(2.0)).collect();
    let table = Table::from_values(WORDS, TOPICS, start).unwrap();
    let mut lambda = State::at(&model, table).lambda;
    apply(&model, 0.3, 1.0, &stats(&[5], |_, _| 1.0), &mut lambda);
    apply(&model, 1.0, 2.0, &stats(&[1, 699], |row, k| (row + k) as f64), &mut lambda);
    let now = lambda.current(|_, row| row.fill(ETA));
    for (row, values) in now.rows().enumerate() {
        for (k, &x) in values.iter().enumerate() {
            let natural = if row == 1 || row == 699 { 2.0 * (row + k) as f64 } else { 0.0 };
            assert_eq!(x, ETA + natural, "row {row}, topic {k}");
        }
    }
    assert!(worst(lambda.totals(), caught_up(&lambda).totals()) < 1e-14);
}

#[test]
fn catching_up_changes_nothing_but_the_form() {
    let (model, mut rng) = (lda(), rng(3));
    let start = (0..WORDS * TOPICS).map(|_| rng.gamma(2.0)).collect();
    let mut lambda = State::at(&model, Table::from_values(WORDS, TOPICS, start).unwrap()).lambda;
    for t in 0..50u32 {
        apply(&model, 0.1, 3.0, &stats(&[t, 9 * t], |_, _| 0.5), &mut lambda);
    }
    let current = lambda.current(|_, row| row.fill(ETA));
    let done = caught_up(&lambda);
    assert!(done.is_current() && !lambda.is_current());
    assert_eq!(bits(done.table().values()), bits(current.values()));
    assert_eq!(caught_up(&done), done, "catching up twice");
    assert!(worst(done.totals(), lambda.totals()) < 1e-12);
    let unused = Default::default();
    let found = model.global_bound(&lambda, &unused) / model.global_bound(&done, &unused) - 1.0;
    assert!(found.abs() < 1e-12, "{found:e}");

    // Parts make the same lambda again; parts that do not fit make none.
    let (stored, lazy) = lambda.parts();
    let again = Lambda::from_parts(stored.clone(), lazy.cloned(), lambda.hyper.clone());
    assert_eq!(again.as_ref(), Some(&lambda));
    let mut lazy = lazy.unwrap().clone();
    lazy.since[4] = lazy.now - 1.0;
    assert!(Lambda::from_parts(stored.clone(), Some(lazy.clone()), Vec::new()).is_none());
    lazy.since.pop();
    assert!(Lambda::from_parts(stored.clone(), Some(lazy), Vec::new()).is_none());
}

/// Saves, loads and stops at given steps.
struct Stopper {
    at: u64,
    now: bool,
    saved: Option<Progress>,
}

impl Watcher for Stopper {
    fn after_step(&mut self, state: &State, progress: &dyn Fn() -> Progress) -> lehr::Result<()> {
        self.now = state.step == self.at;
        if self.now {
            self.saved = Some(progress());
        }
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        self.now
    }
}

fn on_two_threads<'a>(lda: &'a Lda, docs: &'a Docs, config: &FitConfig) -> FitBuilder<'a, Lda> {
    lehr::fit(lda, docs).config(config.clone()).threads(2)
}

/// A fit that is saved, loaded and continued after `stop` steps, if given.
fn fit_with_break(lda: &Lda, docs: &Docs, config: &FitConfig, stop: Option<u64>) -> Fitted {
    let Some(at) = stop else { return on_two_threads(lda, docs, config).run().unwrap() };
    let mut stopper = Stopper { at, now: false, saved: None };
    on_two_threads(lda, docs, config).watch(&mut stopper).run().unwrap();
    let name = format!("lehr-lazy-{}-{at}-{}.safetensors", std::process::id(), config.warm);
    let path: PathBuf = std::env::temp_dir().join(name);
    checkpoint::save(&path, lda, &Saved::Pending(stopper.saved.unwrap())).unwrap();
    let loaded = checkpoint::load(&path, lda).unwrap();
    std::fs::remove_file(&path).unwrap();
    let Saved::Pending(progress) = loaded else { panic!("it was under way") };
    let resume = Resume { progress, history: Vec::new() };
    on_two_threads(lda, docs, config).from(resume).run().unwrap()
}

#[test]
fn a_checkpoint_in_the_middle_does_not_change_a_bit() {
    let docs = small_corpus(120, 4);
    for (exact, learn_alpha, learn_eta) in [
        (false, LearnAlpha::No, false),
        (true, LearnAlpha::Asymmetric, true),
        (false, LearnAlpha::Symmetric, true),
    ] {
        let params = LdaParams {
            exact,
            learn_alpha: Some(learn_alpha),
            learn_eta: Some(learn_eta),
            ..LdaParams::fixed(4)
        };
        let lda = Lda::new(params, &docs).unwrap();
        for (batch, warm) in [(Some(7), false), (Some(7), true), (None, true)] {
            let config = FitConfig {
                batch,
                warm,
                warm_after: Some(1),
                steps: Some(40),
                tol: 0.0,
                ..FitConfig::default()
            };
            let whole = fit_with_break(&lda, &docs, &config, None);
            for stop in [1, 17, 39] {
                let broken = fit_with_break(&lda, &docs, &config, Some(stop));
                let what = format!("exact {exact}, batch {batch:?}, warm {warm}, stop {stop}");
                assert_eq!(broken.state.lambda, whole.state.lambda, "{what}");
                assert_eq!(broken.state.warm, whole.state.warm, "{what}");
                assert_eq!(broken.outcome.bound.to_bits(), whole.outcome.bound.to_bits(), "{what}");
            }
        }
    }
}

/// Wants to stop as soon as a bound is seen.
struct Impatient {
    at: u64,
    now: bool,
}

impl Watcher for Impatient {
    fn observe(&mut self, seen: &Observation) -> lehr::Result<()> {
        self.now = seen.step >= self.at;
        Ok(())
    }

    fn wants_stop(&self) -> bool {
        self.now
    }
}

#[test]
fn a_stop_at_an_observation_does_not_change_a_bit() {
    stop_at_an_observation(false);
}

#[test]
fn a_stop_at_an_observation_does_not_change_a_bit_of_a_warm_fit() {
    stop_at_an_observation(true);
}

fn stop_at_an_observation(warm: bool) {
    let docs = small_corpus(120, 4);
    let lda = Lda::new(LdaParams::fixed(4), &docs).unwrap();
    for batch in [Some(7), None] {
        let base = FitConfig {
            batch,
            warm,
            warm_after: Some(1),
            steps: Some(40),
            tol: 0.0,
            ..FitConfig::default()
        };
        let config = FitConfig { eval_every: Some(5), ..base };
        let whole = fit_with_break(&lda, &docs, &config, None);
        let mut impatient = Impatient { at: 15, now: false };
        let part = on_two_threads(&lda, &docs, &config).watch(&mut impatient).run().unwrap();
        let resume = Resume { progress: part.pending.unwrap(), history: Vec::new() };
        let rest = on_two_threads(&lda, &docs, &config).from(resume).run().unwrap();
        assert_eq!(rest.state.lambda, whole.state.lambda, "batch {batch:?}, warm {warm}");
    }
}

#[test]
fn looking_at_the_bound_at_the_end_leaves_no_trace() {
    // Ten steps, then ten more, as a run that is extended or had no more time.
    let docs = small_corpus(60, 5);
    let lda = Lda::new(LdaParams::fixed(4), &docs).unwrap();
    let config = |steps| FitConfig {
        warm: true,
        warm_after: Some(0),
        steps: Some(steps),
        tol: 0.0,
        ..FitConfig::default()
    };
    let whole = fit_with_break(&lda, &docs, &config(20), None);
    let first = fit_with_break(&lda, &docs, &config(10), None);
    let rest = on_two_threads(&lda, &docs, &config(20)).from(first.state).run().unwrap();
    assert_eq!(rest.state.lambda, whole.state.lambda);
}
