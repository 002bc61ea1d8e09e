//! SVI+ where every row has its own batch: each variable's noise has its own |S| and M, and the
//! moments that the theorem asks for.

mod common;

use common::{above_prior, bits, hyper, made_ratings, start, watched};
use lehr::FitConfig;
use lehr::data::Ratings;
use lehr::fit::State;
use lehr::model::{Ask, Dataset, Model, RowSet, Stats};
use lehr::models::{Pmf, PmfParams};
use lehr::step::anneal::{Anneal, Law};
use lehr::step::engine::{Engine, Threads, Work};
use lehr::step::guard::Guard;
use lehr::step::sample::RowBatch;
use lehr::step::schedule::{Effective, StepSize};
use lehr::step::warm::Warm;

const LAWS: [Law; 3] = [Law::Gaussian, Law::Gamma, Law::Subsample];
const M: f64 = 8.0;

fn ratings() -> Ratings {
    made_ratings((40, 30, 2), 500, (1.0, 0.5, 0.5), 3).ratings
}

fn model(ratings: &Ratings) -> Pmf {
    let params = PmfParams { exact: true, ..PmfParams::paper(2) };
    Pmf::new(params, ratings).unwrap()
}

/// All ratings of every row of a phase, without noise.
fn everything(pmf: &Pmf, ratings: &Ratings, phase: usize) -> RowBatch {
    RowBatch::all(&pmf.layout(), phase, ratings.groups(phase))
}

/// The same with the noise of step `t`.
fn noisy_batch(pmf: &Pmf, ratings: &Ratings, phase: usize, law: Law, t: u64) -> RowBatch {
    let mut batch = everything(pmf, ratings, phase);
    let anneal = Anneal {
        effective: Effective::Constant(M),
        law,
        corrected: true,
        until: u64::MAX,
        seed: 7,
        restart: 0,
    };
    anneal.weigh_rows(t, &mut batch);
    assert!(batch.noise.is_some());
    batch
}

fn weights(pmf: &Pmf, ratings: &Ratings, phase: usize, law: Law, t: u64) -> Vec<f32> {
    let batch = noisy_batch(pmf, ratings, phase, law, t);
    let mut out = Vec::new();
    assert!(batch.noise.unwrap().weights(&batch.starts, &mut out));
    out
}

#[test]
fn every_variable_has_the_moments_of_its_own_batch() {
    let ratings = ratings();
    let pmf = model(&ratings);
    let n_draws = 6000;
    for law in LAWS {
        for phase in 0..2 {
            let starts = ratings.groups(phase);
            let n = ratings.n_items();
            let (mut sum, mut square) = (vec![0.0; n], vec![0.0; n]);
            let (mut next, mut across) = (vec![0.0; n], vec![0.0; starts.len()]);
            for t in 1..=n_draws {
                let w = weights(&pmf, &ratings, phase, law, t);
                assert_eq!(w.len(), n);
                for (row, pair) in starts.windows(2).enumerate() {
                    let own = &w[pair[0]..pair[1]];
                    let total: f64 = own.iter().map(|&w| f64::from(w)).sum();
                    assert!((total - own.len() as f64).abs() < 1e-4 * (1.0 + own.len() as f64));
                    if own.len() as f64 <= M {
                        // M_t has overtaken |S|: exactly no noise.
                        assert!(own.iter().all(|w| w.to_bits() == 1f32.to_bits()), "{law:?}");
                    }
                    if let (Some(&a), Some(&b)) = (own.first(), w.get(pair[1])) {
                        across[row] += f64::from(a - 1.0) * f64::from(b - 1.0);
                    }
                }
                for i in 0..n {
                    let e = f64::from(w[i]) - 1.0;
                    sum[i] += e;
                    square[i] += e * e;
                    next[i] += w.get(i + 1).map_or(0.0, |&w| e * (f64::from(w) - 1.0));
                }
            }
            let draws = n_draws as f64;
            for (row, pair) in starts.windows(2).enumerate() {
                let size = (pair[1] - pair[0]) as f64;
                if size <= M {
                    continue;
                }
                let v = size / M - 1.0;
                let error = 6.0 / draws.sqrt();
                for i in pair[0]..pair[1] {
                    let what = format!("{law:?}, phase {phase}, row {row}, {size} ratings");
                    assert!((sum[i] / draws).abs() < error * v.sqrt(), "{what}: mean");
                    let found = square[i] / draws;
                    // Fourth moments differ by law; the largest belong to subsamples of few.
                    let spread = (1.0 + 3.0 * size / M).sqrt();
                    assert!((found / v - 1.0).abs() < error * spread * 2.0, "{what}: {found}, {v}");
                    if i + 1 < pair[1] {
                        let found = next[i] / draws;
                        let expected = -v / (size - 1.0);
                        assert!((found - expected).abs() < error * 2.0 * v, "{what}: covariance");
                    }
                }
                assert!(
                    (across[row] / draws).abs() < error * 3.0 * v.max(1.0),
                    "{law:?}: rows are independent"
                );
            }
        }
    }
}

#[test]
fn the_two_sides_and_the_steps_draw_apart() {
    let ratings = ratings();
    let pmf = model(&ratings);
    for law in LAWS {
        let draw = |phase, t| weights(&pmf, &ratings, phase, law, t);
        assert_eq!(draw(0, 1), draw(0, 1));
        assert_ne!(draw(0, 1), draw(0, 2));
        assert_ne!(draw(0, 1), draw(1, 1));
    }
}

#[test]
fn any_part_of_the_noise_can_be_drawn_alone() {
    let ratings = ratings();
    let pmf = model(&ratings);
    for law in LAWS {
        let batch = noisy_batch(&pmf, &ratings, 0, law, 5);
        let noise = batch.noise.unwrap();
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        noise.weights(&batch.starts, &mut whole);
        for first in 0..batch.rows.len() {
            for end in first + 1..(first + 4).min(batch.starts.len()) {
                let starts = &batch.starts[first..=end.min(batch.starts.len() - 1)];
                if noise.weights(starts, &mut part) {
                    assert_eq!(part, whole[starts[0]..starts[starts.len() - 1]], "{law:?}");
                }
            }
        }
    }
}

/// The statistics' noise has mean 0 and the covariance n^2 Sigma (1/M - 1/n) of the theorem.
#[test]
fn statistics_have_the_mean_and_the_variance_of_a_batch_of_m() {
    let ratings = ratings();
    let pmf = model(&ratings);
    let lambda = State::at(&pmf, start(&pmf, &ratings)).lambda;
    let layout = pmf.layout();
    let mut expect = Default::default();
    pmf.refresh(&lambda, &RowSet::all(layout.n_rows), &mut expect);
    let pass = |batch: &RowBatch| {
        let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
        stats.rows.clone_from(&batch.rows);
        let work = Work { model: &pmf, expect: &expect, batch, ask: Ask::STATS, defers: false };
        Threads::new(&pmf, &ratings).sum(work, &mut Warm::off(), &mut stats).unwrap();
        stats
    };
    let all = everything(&pmf, &ratings, 0);
    let quiet = pass(&all);
    let row = (0..40).max_by_key(|&r| ratings.groups(0)[r + 1] - ratings.groups(0)[r]).unwrap();
    let range = ratings.groups(0)[row]..ratings.groups(0)[row + 1];
    let n = range.len() as f64;
    // Each rating's own statistics, by taking out all others.
    let single = |i: usize| {
        let mut one = all.noiseless(&[row]);
        one.items = vec![i as u32];
        one.starts = vec![0, 1];
        one.populations = vec![1];
        pass(&one).row(row).to_vec()
    };
    let each: Vec<Vec<f64>> = range.clone().map(single).collect();
    for law in LAWS {
        let n_draws = 4000;
        let (mut sum, mut square) = (vec![0.0; layout.raw_width], vec![0.0; layout.raw_width]);
        for t in 1..=n_draws {
            let noisy = pass(&noisy_batch(&pmf, &ratings, 0, law, t));
            for (c, (x, q)) in noisy.row(row).iter().zip(quiet.row(row)).enumerate() {
                sum[c] += x - q;
                square[c] += (x - q) * (x - q);
            }
        }
        for c in 0..layout.raw_width {
            let mean = each.iter().map(|x| x[c]).sum::<f64>() / n;
            let scatter: f64 = each.iter().map(|x| (x[c] - mean).powi(2)).sum();
            let variance = (n / M - 1.0) * n / (n - 1.0) * scatter;
            let draws = n_draws as f64;
            let (found_mean, found) = (sum[c] / draws, square[c] / draws);
            let what = format!("{law:?}, column {c}");
            assert!(
                found_mean.abs() <= 6.0 * (variance / draws).sqrt() + 1e-5,
                "{what}: {found_mean}"
            );
            assert!(
                (found - variance).abs() <= 0.2 * variance + 1e-8,
                "{what}: {found}, {variance}"
            );
        }
    }
}

#[test]
fn quiet_variables_take_whole_steps_beside_noisy_ones() {
    let ratings = ratings();
    let pmf = model(&ratings);
    let config = |effective, step_size| FitConfig {
        steps: Some(1),
        tol: 0.0,
        noise_end: 1.0,
        effective,
        step_size: Some(step_size),
        ..FitConfig::default()
    };
    let rho = StepSize::UntilQuiet(0.85);
    let noisy = watched(&pmf, &ratings, &config(Effective::Constant(M), rho), 1).0;
    let plain = watched(&pmf, &ratings, &config(Effective::Off, StepSize::Constant(1.0)), 1).0;
    let (mut same, mut different) = (0, 0);
    // Items see users that differ; users see the same items.
    for row in 0..40 {
        let size = ratings.groups(0)[row + 1] - ratings.groups(0)[row];
        let equal =
            bits(noisy.state.lambda.table().row(row)) == bits(plain.state.lambda.table().row(row));
        assert_eq!(equal, size as f64 <= M, "row {row}: {size} ratings");
        same += usize::from(equal);
        different += usize::from(!equal);
    }
    assert!(same > 3 && different > 3, "{same}, {different}");
}

#[test]
fn guards_keep_every_row_in_its_domain_and_count() {
    let ratings = ratings();
    let pmf = model(&ratings);
    for guard in [Guard::RejectBelowPrior, Guard::Reject, Guard::Clip, Guard::Halve] {
        let config = FitConfig {
            steps: Some(40),
            tol: 0.0,
            noise_end: 1.0,
            effective: Effective::Constant(1.5),
            step_size: Some(StepSize::Constant(0.9)),
            guard: Some(guard),
            ..FitConfig::default()
        };
        let (fitted, bounds) = watched(&pmf, &ratings, &config, 2);
        let state = &fitted.state;
        assert!(state.guard_hits > 0, "{guard}");
        assert!(state.guard_hits < state.guard_checks, "{guard}");
        let valid = |(row, x): (usize, &[f64])| pmf.in_domain(row, x);
        assert!(state.lambda.table().rows().enumerate().all(valid), "{guard}");
        assert!(bounds.iter().all(|b| b.is_finite()), "{guard}");
        if guard == Guard::RejectBelowPrior {
            let above = |(row, x): (usize, &[f64])| above_prior(&pmf, &hyper(&pmf), row, x);
            assert!(state.lambda.table().rows().enumerate().all(above));
        }
    }
}

/// One step from the same start with and without noise: a row that noise would make invalid takes its
/// noiseless step, goes to its prior, or goes part of the way; every other keeps its noise.
#[test]
fn a_guard_does_to_a_row_what_it_says() {
    let ratings = ratings();
    let pmf = model(&ratings);
    let rho = 0.9;
    let step = |effective, guard| {
        let config = FitConfig {
            steps: Some(1),
            tol: 0.0,
            noise_end: 1.0,
            effective,
            step_size: Some(StepSize::Constant(rho)),
            guard: Some(guard),
            ..FitConfig::default()
        };
        watched(&pmf, &ratings, &config, 1).0.state
    };
    let plain = step(Effective::Off, Guard::Reject);
    let begin = State::start(&pmf, &ratings, FitConfig::default().seed, 0).unwrap();
    // Items see users that differ; users see the same items. Those with one rating or none have no noise.
    let is_noisy = |row: &usize| ratings.groups(0)[row + 1] > ratings.groups(0)[*row] + 1;
    let rows = |state: &State, row: usize| state.lambda.table().row(row).to_vec();
    for guard in [Guard::Reject, Guard::Clip, Guard::Halve] {
        let noisy = step(Effective::Constant(0.3), guard);
        let mut changed = 0;
        for row in (0..40).filter(is_noisy) {
            let (old, new) = (rows(&begin, row), rows(&noisy, row));
            assert_ne!(bits(&new), bits(&old), "{guard}: row {row} stands still");
            let mut prior = vec![0.0; new.len()];
            pmf.prior(&hyper(&pmf), row, &mut prior);
            let towards_prior = |(new, (old, prior)): (&f64, (&f64, &f64))| {
                (new - ((1.0 - rho) * old + rho * prior)).abs() < 1e-12
            };
            changed += usize::from(match guard {
                Guard::Reject => bits(&new) == bits(&rows(&plain, row)),
                Guard::Clip => new.iter().zip(old.iter().zip(&prior)).all(towards_prior),
                _ => false,
            });
        }
        assert!(noisy.guard_hits > 0, "{guard}");
        if guard != Guard::Halve {
            assert!(0 < changed && changed as u64 <= noisy.guard_hits, "{guard}: {changed} rows");
        }
    }
}

/// M_t = 50 t per variable goes over into batch, so that the bound rises at the end.
#[test]
fn annealing_ends_by_itself() {
    let ratings = ratings();
    let pmf = model(&ratings);
    let config = FitConfig {
        steps: Some(30),
        tol: 0.0,
        noise_end: 1.0,
        effective: Effective::Linear(3.0),
        eval_every: Some(1),
        ..FitConfig::default()
    };
    let plan = config.check_for(&pmf, &ratings).unwrap();
    assert_eq!(plan.step_size, StepSize::UntilQuiet(0.85));
    let last = plan.last_unsettled_step();
    assert_eq!(last, (ratings.largest_block() as u64 - 1) / 3);
    let (_, bounds) = watched(&pmf, &ratings, &config, 1);
    let quiet = &bounds[last as usize..];
    assert!(
        quiet.len() > 5 && quiet.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9),
        "{bounds:?}"
    );
    assert!(bounds[..last as usize].windows(2).any(|pair| pair[1] < pair[0]), "{bounds:?}");
}

/// While most ratings are noisy nothing is learned: noisy weights would be taken for the model's errors.
#[test]
fn noise_is_not_learned() {
    let ratings = ratings();
    let pmf = Pmf::new(PmfParams::new(2), &ratings).unwrap();
    for law in LAWS {
        let config = FitConfig {
            steps: Some(30),
            tol: 0.0,
            noise_end: 0.5,
            effective: Effective::Constant(1.0),
            law,
            step_size: Some(StepSize::UntilQuiet(0.85)),
            ..FitConfig::default()
        };
        let (fitted, _) = watched(&pmf, &ratings, &config, 1);
        let noise = pmf.noise_variance(&fitted.state.lambda);
        assert!((0.1..0.6).contains(&noise), "{law:?}: sigma^2 {noise}, 0.25 is true");
    }
}
