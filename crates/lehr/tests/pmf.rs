//! Matrix factorisation: its bound, its gauge, its predictions, against brute force and planted truths.

mod common;

use common::{
    MadeRatings, bits, deviation, every_pmf, hyper, made_ratings, ratings_of, rng, start, sweeps,
    watched,
};
use lehr::FitConfig;
use lehr::data::{Ratings, Side};
use lehr::fit::State;
use lehr::lambda::Lambda;
use lehr::math::packed::Symmetric;
use lehr::model::{Dataset, HyperStep, Learn, Model, RowSet, Stats};
use lehr::models::pmf::Pair;
use lehr::models::{Pmf, PmfParams, Stored};
use lehr::step::engine::Threads;
use lehr::step::sample::RowBatch;
use lehr::step::schedule::{Effective, StepSize};
use lehr::store::Folder;

fn small(seed: u64) -> MadeRatings {
    made_ratings((30, 20, 2), 300, (1.0, 0.5, 0.5), seed)
}

fn bound(pmf: &Pmf, lambda: &Lambda, data: &Ratings) -> f64 {
    lehr::fit::bound(pmf, lambda, &mut Threads::new(pmf, data)).unwrap()
}

#[test]
fn the_bound_never_falls_whatever_is_learned() {
    let made = small(1);
    for (name, params) in every_pmf(3) {
        for init in [(0.1, 0.01), (1.0, 1.0)] {
            let params =
                PmfParams { init_sd: Some(init.0), init_var: Some(init.1), ..params.clone() };
            let pmf = Pmf::new(params, &made.ratings).unwrap();
            let (_, bounds) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 60);
            for (t, pair) in bounds.windows(2).enumerate() {
                let fall = (pair[0] - pair[1]) / pair[0].abs();
                assert!(fall < 1e-12, "{name}, {init:?}, sweep {t}: {} to {}", pair[0], pair[1]);
            }
        }
    }
}

#[test]
fn the_bound_of_single_precision_falls_by_rounding_only() {
    let made = made_ratings((300, 200, 4), 9000, (0.6, 0.4, 0.7), 2);
    for biases in [false, true] {
        let params = PmfParams { biases, ..PmfParams::new(6) };
        let exact = Pmf::new(PmfParams { exact: true, ..params.clone() }, &made.ratings).unwrap();
        let pmf = Pmf::new(params, &made.ratings).unwrap();
        let (state, bounds) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 150);
        for (t, pair) in bounds.windows(2).enumerate() {
            // The moments are rounded to f32 again in every sweep.
            assert!((pair[0] - pair[1]) / pair[0].abs() < 1e-7, "sweep {t}: {pair:?}");
        }
        let last = *bounds.last().unwrap();
        let same = bound(&exact, &state.lambda, &made.ratings);
        assert!((last / same - 1.0).abs() < 1e-7, "{last} in f32, {same} in f64");
    }
}

/// Almost no noise, and dimensions that die down to their floor.
#[test]
fn the_bound_never_falls_where_there_is_little_noise() {
    for (sd, biases) in [(0.0, true), (0.01, false), (0.01, true)] {
        let made = made_ratings((60, 40, 2), 1200, (1.0, 0.5, sd), 9);
        let params = PmfParams { exact: true, biases, ..PmfParams::new(4) };
        let pmf = Pmf::new(params, &made.ratings).unwrap();
        let (_, bounds) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 200);
        for (t, pair) in bounds.windows(2).enumerate() {
            let fall = pair[0] - pair[1];
            // Errors are differences of numbers 1e8 times as large where there is no noise at all.
            assert!(fall < 1e-7 * pair[0].abs(), "sd {sd}, sweep {t}: {pair:?}");
        }
    }
    // Single precision cannot tell such errors: it stays where it can.
    let made = made_ratings((60, 40, 2), 1200, (1.0, 0.5, 0.0), 9);
    let pmf = Pmf::new(PmfParams::new(2), &made.ratings).unwrap();
    let (state, bounds) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 200);
    assert!(bounds.iter().all(|bound| bound.is_finite()));
    assert!(pmf.noise_variance(&state.lambda) >= 1e-4 * pmf.frozen().variance);
}

/// Ratings in other units give predictions in those units.
#[test]
fn the_scale_of_the_ratings_does_not_matter() {
    let made = made_ratings((60, 40, 2), 1200, (1.0, 0.5, 0.3), 13);
    let fitted = |scale: f32| {
        let scaled: Vec<_> = made.ratings.triples().map(|(i, j, y)| (i, j, scale * y)).collect();
        let ratings = ratings_of(60, 40, &scaled);
        let pmf = Pmf::new(PmfParams::new(3), &ratings).unwrap();
        let (state, _) = sweeps(&pmf, &ratings, start(&pmf, &ratings), 60);
        pmf.predictor(&state.lambda).scores(&ratings)
    };
    let one = fitted(1.0);
    for scale in [0.001f32, 128.0, 1000.0] {
        let found = fitted(scale);
        let off = (found.rmse / f64::from(scale) / one.rmse - 1.0).abs();
        assert!(off < 1e-3 && one.rmse < 0.4, "{scale}: {one:?}, {found:?}");
    }
}

/// q of every row as dense matrices, for formulas from first principles.
struct Dense {
    mean: Vec<Vec<f64>>,
    covariance: Vec<Vec<f64>>,
    ln_det: Vec<f64>,
}

fn dense(lambda: &Lambda, n: usize) -> Dense {
    let shape = Symmetric::full(n);
    let mut out = Dense { mean: Vec::new(), covariance: Vec::new(), ln_det: Vec::new() };
    for row in lambda.table().rows() {
        let mut factor = row[..shape.len()].to_vec();
        assert!(shape.cholesky(&mut factor));
        out.ln_det.push(shape.ln_det(&factor));
        shape.invert_lower(&mut factor);
        let (mut packed, mut full) = (vec![0.0; shape.len()], vec![0.0; n * n]);
        shape.gram(&factor, &mut packed);
        shape.to_dense(&packed, &mut full);
        let h = &row[shape.len()..];
        let mean = (0..n).map(|i| (0..n).map(|j| full[i * n + j] * h[j]).sum()).collect();
        out.mean.push(mean);
        out.covariance.push(full);
    }
    out
}

/// The features that the other side's variable (o, b) gives to this side's (u, a): o and 1.
fn second_moment(dense: &Dense, row: usize, i: usize, j: usize) -> f64 {
    let n = dense.mean[row].len();
    dense.covariance[row][i * n + j] + dense.mean[row][i] * dense.mean[row][j]
}

#[test]
fn a_small_problem_agrees_with_brute_force() {
    let made = small(3);
    let ratings = &made.ratings;
    let (n_users, d) = (ratings.ids(Side::User).len(), 3);
    for biases in [false, true] {
        let params = PmfParams {
            biases,
            noise_variance: Some(0.4),
            learn_noise: false,
            ard: false,
            gauge: false,
            prior_variance: Some(0.8),
            exact: true,
            ..PmfParams::new(d)
        };
        let pmf = Pmf::new(params, ratings).unwrap();
        let n = d + usize::from(biases);
        let table = start(&pmf, ratings);
        let mut ours = State::at(&pmf, table.clone()).lambda;
        let mut theirs = ours.clone();
        let hyper = hyper(&pmf);
        for sweep in 0..4 {
            // Brute force, rating by rating, users and then items.
            let found = by_hand(&pmf, ratings, &theirs, n_users, n, 0.4);
            let before = bound(&pmf, &ours, ratings);
            assert!((before / found - 1.0).abs() < 1e-12, "sweep {sweep}: {before}, {found}");
            for side in [Side::User, Side::Item] {
                update_by_hand(&pmf, ratings, side, &mut theirs, n_users, (n, d), 0.4, &hyper);
            }
            ours = sweeps(&pmf, ratings, ours.table().clone(), 1).0.lambda;
            // Biases' variances are learned; take them over, so that the next sweep starts equal.
            theirs.hyper.clone_from(&ours.hyper);
            for (row, (a, b)) in ours.table().rows().zip(theirs.table().rows()).enumerate() {
                assert!(deviation(a, b) < 1e-10, "biases {biases}, sweep {sweep}, row {row}");
            }
            ours = State::at(&pmf, ours.table().clone()).lambda;
            theirs.hyper.clone_from(&ours.hyper);
        }
    }
}

/// The bound as its definition says: E of the squared error is the error of the means plus the
/// variance of the prediction.
fn by_hand(
    pmf: &Pmf,
    ratings: &Ratings,
    lambda: &Lambda,
    n_users: usize,
    n: usize,
    s2: f64,
) -> f64 {
    let q = dense(lambda, n);
    let biases = n > pmf.params().dims;
    let d = pmf.params().dims;
    let mut total = 0.0;
    for (user, item, y) in ratings.triples() {
        let (i, j) = (user as usize, n_users + item as usize);
        // z = x' w with x = (u, a, 1) and w = (v, 1, b).
        let m = |row: usize, order: [usize; 2], k: usize| match k {
            k if k < d => q.mean[row][k],
            k if k == order[0] => {
                if biases {
                    q.mean[row][d]
                } else {
                    0.0
                }
            }
            _ => f64::from(u8::from(biases)),
        };
        let c = |row: usize, bias_at: usize, k: usize, l: usize| {
            let at = |k: usize| if k < d { Some(k) } else { (k == bias_at && biases).then_some(d) };
            at(k).zip(at(l)).map_or(0.0, |(k, l)| q.covariance[row][k * n + l])
        };
        let (x, w): (Vec<f64>, Vec<f64>) =
            (0..d + 2).map(|k| (m(i, [d, d + 1], k), m(j, [d + 1, d], k))).unzip();
        let mean: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
        let mut variance = 0.0;
        for k in 0..d + 2 {
            for l in 0..d + 2 {
                let (cu, cv) = (c(i, d, k, l), c(j, d + 1, k, l));
                variance += cu * cv + cu * w[k] * w[l] + cv * x[k] * x[l];
            }
        }
        let error = f64::from(y) - pmf.frozen().mean - mean;
        total +=
            -0.5 * (2.0 * std::f64::consts::PI * s2).ln() - (error * error + variance) / (2.0 * s2);
    }
    for row in 0..lambda.n_rows() {
        let mut eta = vec![0.0; lambda.width()];
        pmf.prior(&lambda.hyper, row, &mut eta);
        let mut kl = q.ln_det[row] - n as f64;
        for k in 0..n {
            let precision = eta[Symmetric::full(n).diagonal_index(k)];
            kl += precision * second_moment(&q, row, k, k) - precision.ln();
        }
        total -= 0.5 * kl;
    }
    total
}

#[allow(clippy::too_many_arguments)]
fn update_by_hand(
    pmf: &Pmf,
    ratings: &Ratings,
    side: Side,
    lambda: &mut Lambda,
    n_users: usize,
    (n, d): (usize, usize),
    s2: f64,
    hyper: &[f64],
) {
    let q = dense(lambda, n);
    let shape = Symmetric::full(n);
    let rows = if side == Side::User { 0..n_users } else { n_users..lambda.n_rows() };
    for row in rows {
        let mut new = vec![0.0; lambda.width()];
        pmf.prior(hyper, row, &mut new);
        for (user, item, y) in ratings.triples() {
            let (own, other) = match side {
                Side::User => (user as usize, n_users + item as usize),
                Side::Item => (n_users + item as usize, user as usize),
            };
            if own != row {
                continue;
            }
            let y = f64::from(y) - pmf.frozen().mean;
            // Features (o, 1): moments where the last coordinate is the constant 1.
            let square = |k: usize, l: usize| match (k < d, l < d) {
                (true, true) => second_moment(&q, other, k, l),
                (true, false) => q.mean[other][k],
                (false, true) => q.mean[other][l],
                (false, false) => 1.0,
            };
            for k in 0..n {
                for l in 0..=k {
                    new[k * (k + 1) / 2 + l] += square(k, l) / s2;
                }
                let feature = if k < d { q.mean[other][k] } else { 1.0 };
                let with_bias = match (n > d, k < d) {
                    (false, _) => 0.0,
                    (true, true) => second_moment(&q, other, d, k),
                    (true, false) => q.mean[other][d],
                };
                new[shape.len() + k] += (y * feature - with_bias) / s2;
            }
        }
        lambda.table_mut().row_mut(row).copy_from_slice(&new);
    }
}

/// One gauge step, nothing else.
fn gauge_step(pmf: &Pmf, ratings: &Ratings, lambda: &mut Lambda) {
    let layout = pmf.layout();
    let mut expect = Default::default();
    pmf.refresh(lambda, &RowSet::all(layout.n_rows), &mut expect);
    let raw = Stats::empty(layout.n_rows, layout.raw_width);
    let step = HyperStep {
        // A sweep after which one is due, whether or not variances are learned.
        step: 8,
        rho: 1.0,
        size: ratings.n_ratings(),
        full: true,
        epoch_ends: true,
        sums: &[],
        raw: &raw,
        batch: &RowBatch::all(&layout, 1, ratings.groups(1)),
    };
    pmf.learn(step, lambda, &mut expect);
}

#[test]
fn the_gauge_step_raises_the_bound_and_leaves_predictions_alone() {
    for (n_users, n_items) in [(30, 20), (15, 40), (25, 25)] {
        let made = made_ratings((n_users, n_items, 2), 250, (1.0, 0.5, 0.5), 5);
        for (ard, biases) in [(false, false), (true, false), (false, true), (true, true)] {
            let params = PmfParams {
                ard,
                biases,
                learn_noise: false,
                exact: true,
                init_sd: Some(0.7),
                init_var: Some(0.3),
                ..PmfParams::new(3)
            };
            let pmf = Pmf::new(params, &made.ratings).unwrap();
            let free = Pmf::new(PmfParams { gauge: false, ..pmf.params().clone() }, &made.ratings)
                .unwrap();
            for sweep in 1..6 {
                let (state, _) = sweeps(&free, &made.ratings, start(&free, &made.ratings), sweep);
                let (mut after, mut plain) = (state.lambda.clone(), state.lambda.clone());
                gauge_step(&pmf, &made.ratings, &mut after);
                gauge_step(&free, &made.ratings, &mut plain);
                let what = format!("{n_users} x {n_items}, ard {ard}, biases {biases}, {sweep}");
                let (old, new) =
                    (bound(&pmf, &plain, &made.ratings), bound(&pmf, &after, &made.ratings));
                // The first sweeps have most to gain; later ones never lose.
                let least = if sweep == 1 { 0.1 } else { -1e-12 * old.abs() };
                assert!(new >= old + least, "{what}: {old} to {new}");
                let mut again = after.clone();
                gauge_step(&pmf, &made.ratings, &mut again);
                let twice = bound(&pmf, &again, &made.ratings);
                assert!((twice - new).abs() < 1e-7 * new.abs(), "{what}: {new}, again {twice}");
                let (one, two) = (pmf.predictor(&plain), pmf.predictor(&after));
                for i in 0..n_users as u32 {
                    for j in 0..n_items as u32 {
                        let (a, b) = (one.predict(Some(i), Some(j)), two.predict(Some(i), Some(j)));
                        assert!((a.mean - b.mean).abs() < 1e-9, "{what}: {a:?} {b:?}");
                        // Items' covariances are kept in f32.
                        let off = (a.uncertainty / b.uncertainty - 1.0).abs();
                        assert!(off < 1e-5, "{what}: {a:?} {b:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn planted_factors_are_found_and_surplus_dimensions_die() {
    let made = made_ratings((400, 300, 3), 24_000, (1.0, 0.5, 0.3), 11);
    let pmf = Pmf::new(PmfParams::new(8), &made.ratings).unwrap();
    let config = FitConfig { steps: Some(300), tol: 1e-8, ..FitConfig::default() };
    let (fitted, _) = watched(&pmf, &made.ratings, &config, 2);
    let lambda = &fitted.state.lambda;
    let variances = pmf.item_variances(lambda);
    let large = variances.iter().filter(|&&c| c > 0.01 * variances[0]).count();
    assert_eq!(large, 3, "{variances:?}");
    assert!((pmf.noise_variance(lambda) / 0.09 - 1.0).abs() < 0.05);
    // Also where there is no rating: the product of the factors is known, not the factors.
    let predictor = pmf.predictor(lambda);
    let (mut squares, mut truths, mut n) = (0.0, 0.0, 0.0);
    for i in 0..200u32 {
        for j in 0..150u32 {
            let truth = made.truth(i as usize, j as usize);
            squares += (predictor.predict(Some(i), Some(j)).mean - truth).powi(2);
            truths += (truth - made.mean).powi(2);
            n += 1.0;
        }
    }
    let (error, spread) = ((squares / n).sqrt(), (truths / n).sqrt());
    assert!(error < 0.15 && spread > 1.5, "error {error}, spread {spread}");
}

/// Few ratings per user, which factors explain for the most part: dimensions that are there must not be pruned
/// before they mean anything, whatever the draw and the number of dimensions.
#[test]
fn few_ratings_do_not_cost_dimensions_that_are_there() {
    let (n_users, n_items, truth, sd) = (500, 300, 4, 0.8);
    for seed in 0..4 {
        let mut rng = rng(seed);
        let factors: Vec<Vec<f64>> =
            (0..n_users + n_items).map(|_| (0..truth).map(|_| rng.normal()).collect()).collect();
        let mean = |i: usize, j: usize| -> f64 {
            let pairs = factors[i].iter().zip(&factors[n_users + j]);
            3.0 + pairs.map(|(u, v)| u * v).sum::<f64>()
        };
        let (mut triples, mut others) = (Vec::new(), Vec::new());
        for (i, j) in (0..n_users).flat_map(|i| (0..n_items).map(move |j| (i, j))) {
            match rng.uniform() {
                x if x < 0.045 => {
                    triples.push((i as u32, j as u32, (mean(i, j) + sd * rng.normal()) as f32));
                }
                x if x < 0.1 => others.push((i, j)),
                _ => {}
            }
        }
        let ratings = ratings_of(n_users, n_items, &triples);
        for d in [truth, 3 * truth] {
            let pmf = Pmf::new(PmfParams::new(d), &ratings).unwrap();
            let (fitted, _) =
                watched(&pmf, &ratings, &FitConfig { seed, ..FitConfig::default() }, 1);
            let lambda = &fitted.state.lambda;
            let predictor = pmf.predictor(lambda);
            let error = |&(i, j): &(usize, usize)| {
                (predictor.predict(Some(i as u32), Some(j as u32)).mean - mean(i, j)).powi(2)
            };
            let error = (others.iter().map(error).sum::<f64>() / others.len() as f64).sqrt();
            let in_use = pmf.dims_in_use(lambda);
            assert!(error < 1.1, "seed {seed}, d = {d}: error {error}, {in_use} in use");
            assert_eq!(in_use, truth, "seed {seed}, d = {d}: error {error}");
        }
    }
}

#[test]
fn intervals_cover_what_they_say() {
    // Few ratings each, so that much of the width is uncertainty and not noise.
    let made = made_ratings((500, 300, 2), 12_000, (0.8, 0.5, 0.5), 21);
    let n = made.ratings.n_ratings() as u32;
    let of = |test: bool| (0..n).filter(|n| (n % 5 == 0) == test).collect::<Vec<u32>>();
    let (train, test) = (made.ratings.subset(&of(false)), made.ratings.subset(&of(true)));
    let pmf = Pmf::new(PmfParams::new(2), &train).unwrap();
    let config = FitConfig { steps: Some(200), ..FitConfig::default() };
    let (fitted, _) = watched(&pmf, &train, &config, 2);
    let predictor = pmf.predictor(&fitted.state.lambda);
    let scores = predictor.scores(&test);
    for (found, share) in scores.coverage.into_iter().zip([0.5, 0.8, 0.95]) {
        // Four standard errors, and two points for the mean-field approximation.
        let error = 4.0 * (share * (1.0 - share) / scores.ratings as f64).sqrt() + 0.02;
        assert!((found - share).abs() < error, "{found} of {share}: {scores:?}");
    }
    // The uncertainty is not for show: without it too few would be inside.
    let mut narrow = 0.0;
    for (i, j, y) in test.triples() {
        let p = predictor.predict(Some(i), Some(j));
        narrow += f64::from(u8::from(
            (f64::from(y) - p.mean).abs() < 1.96 * (p.variance - p.uncertainty).sqrt(),
        ));
    }
    assert!(narrow / (scores.ratings as f64) < 0.92, "{narrow}");
}

#[test]
fn many_pairs_are_predicted_as_one_by_one_on_any_number_of_threads() {
    let made = small(31);
    for biases in [true, false] {
        let params = PmfParams { biases, ..PmfParams::new(2) };
        let pmf = Pmf::new(params, &made.ratings).unwrap();
        let (state, _) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 3);
        let (n_users, n_items) =
            (pmf.ids(Side::User).len() as u32, pmf.ids(Side::Item).len() as u32);
        // In no order, some of them twice, with users and items that are not known or that no one has.
        let number = |x: u32, n: u32| (x % (n + 3) < n + 2).then_some(x % (n + 3));
        let pair = |i: u32| (number(i.wrapping_mul(7919), n_users), number(i / 3, n_items));
        let all: Vec<Pair> = (0..20_000).map(pair).collect();
        let predictor = pmf.predictor(&state.lambda);
        for pairs in [&all[..], &all[5..9], &all[..0]] {
            let expected: Vec<_> = pairs.iter().map(|&(i, j)| predictor.predict(i, j)).collect();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (found, means) = pool
                    .install(|| (predictor.predict_all(pairs), pmf.expected(&state.lambda, pairs)));
                assert_eq!(found, expected, "{threads} threads");
                let expected: Vec<f64> = expected.iter().map(|p| p.mean).collect();
                assert_eq!(means, expected, "{threads} threads");
            }
        }
        let users: Vec<_> = [Some(3), None, Some(0)].map(|user| predictor.user(user)).into();
        let ratings = pmf.expected_of_all(&state.lambda, &users);
        for (user, ratings) in users.iter().zip(ratings.chunks_exact(n_items as usize)) {
            let expected = (0..n_items).map(|item| predictor.rate(user, Some(item)).mean);
            assert!(expected.eq(ratings.iter().copied()));
        }
    }
}

#[test]
fn scores_are_those_of_the_predictions() {
    let made = small(31);
    let pmf = Pmf::new(PmfParams::new(2), &made.ratings).unwrap();
    let (state, _) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 10);
    let predictor = pmf.predictor(&state.lambda);
    let scores = predictor.scores(&made.ratings);
    let (mut squares, mut absolute, mut density, mut n) = (0.0, 0.0, 0.0, 0.0);
    for (i, j, y) in made.ratings.triples() {
        let p = predictor.predict(Some(i), Some(j));
        let error = f64::from(y) - p.mean;
        squares += error * error;
        absolute += error.abs();
        density += (-error * error / (2.0 * p.variance)).exp().ln()
            - 0.5 * (2.0 * std::f64::consts::PI * p.variance).ln();
        n += 1.0;
    }
    let expected = [(squares / n).sqrt(), absolute / n, density / n];
    assert!(deviation(&[scores.rmse, scores.mae, scores.log_density], &expected) < 1e-12);
    // Fifths by the predicted deviation have all of it, from sure to unsure.
    let fifths = predictor.scores_by_uncertainty(&made.ratings, 5);
    assert_eq!(fifths.iter().map(|part| part.ratings).sum::<u64>(), scores.ratings);
    assert!(fifths.is_sorted_by(|a, b| a.predicted_rmse <= b.predicted_rmse), "{fifths:?}");
    let whole = fifths.iter().map(|part| part.ratings as f64 * part.rmse.powi(2)).sum::<f64>();
    assert!((whole / squares - 1.0).abs() < 1e-12);
    let inside = |k: usize| {
        let of =
            |part: &lehr::models::pmf::UncertaintyScores| part.ratings as f64 * part.coverage[k];
        fifths.iter().map(of).sum::<f64>() / n
    };
    assert!(deviation(&[inside(0), inside(1), inside(2)], &scores.coverage) < 1e-12);
    let mut variances: Vec<f64> = made
        .ratings
        .triples()
        .map(|(i, j, _)| predictor.predict(Some(i), Some(j)).variance)
        .collect();
    variances.sort_by(f64::total_cmp);
    let first = &variances[..fifths[0].ratings as usize];
    let predicted = (first.iter().sum::<f64>() / first.len() as f64).sqrt();
    assert!((fifths[0].predicted_rmse / predicted - 1.0).abs() < 1e-9);
    // Someone unknown is answered from the prior, and counted.
    let stranger = ratings_of(32, 21, &[(31, 0, 4.0), (0, 20, 4.0), (31, 20, 4.0)]);
    let scores = predictor.scores(&stranger);
    assert_eq!((scores.unknown_users, scores.unknown_items), (2, 2));
    let nobody = predictor.predict(None, None);
    assert!((nobody.mean - pmf.frozen().mean).abs() < 1e-12);
    let known = predictor.predict(Some(0), Some(0));
    assert!(nobody.uncertainty > known.uncertainty, "{nobody:?} {known:?}");
}

#[test]
fn one_rating_none_and_many() {
    // User 0 has one rating, user 1 none; item 1 none.
    let ratings = ratings_of(3, 3, &[(0, 0, 5.0), (2, 0, 1.0), (2, 2, 3.0)]);
    for (name, params) in every_pmf(4) {
        let pmf = Pmf::new(params, &ratings).unwrap();
        for effective in [Effective::Off, Effective::Constant(1.0)] {
            let config = FitConfig { effective, steps: Some(30), tol: 0.0, ..FitConfig::default() };
            let (fitted, bounds) = watched(&pmf, &ratings, &config, 1);
            assert!(bounds.iter().all(|b| b.is_finite()), "{name}");
            let lambda = &fitted.state.lambda;
            let mut eta = vec![0.0; lambda.width()];
            pmf.prior(&lambda.hyper, 1, &mut eta);
            let far = lambda
                .table()
                .row(1)
                .iter()
                .zip(&eta)
                .any(|(x, e)| (x - e).abs() > 1e-6 * (1.0 + e));
            assert!(!far || lambda.hyper != hyper(&pmf), "{name}: nothing is known of user 1");
            let predictor = pmf.predictor(lambda);
            for i in 0..3 {
                for j in 0..3 {
                    let p = predictor.predict(Some(i), Some(j));
                    assert!(p.mean.is_finite() && p.variance > 0.0, "{name}: {p:?}");
                }
            }
        }
    }
    // All ratings equal: nothing to explain, and nothing breaks.
    let equal = ratings_of(2, 2, &[(0, 0, 3.0), (0, 1, 3.0), (1, 1, 3.0)]);
    let pmf = Pmf::new(PmfParams::new(2), &equal).unwrap();
    let (fitted, _) = watched(&pmf, &equal, &FitConfig::default(), 1);
    let p = pmf.predictor(&fitted.state.lambda).predict(Some(1), Some(0));
    assert!((p.mean - 3.0).abs() < 1e-3, "{p:?}");
}

#[test]
fn a_batch_of_all_ratings_is_a_full_sweep() {
    let made = small(41);
    let n = made.ratings.n_ratings();
    let pmf = Pmf::new(PmfParams::paper(2), &made.ratings).unwrap();
    let base = FitConfig {
        steps: Some(5),
        tol: 0.0,
        step_size: Some(StepSize::Constant(0.9)),
        ..FitConfig::default()
    };
    let full = watched(&pmf, &made.ratings, &base, 1);
    let batch = FitConfig { batch: Some(n), ..base.clone() };
    let listed = watched(&pmf, &made.ratings, &batch, 1);
    assert_eq!(
        bits(full.0.state.lambda.table().values()),
        bits(listed.0.state.lambda.table().values())
    );
    assert!(deviation(&full.1, &listed.1) < 1e-12);
}

#[test]
fn batches_of_ratings_rise_to_where_sweeps_do() {
    let made = made_ratings((120, 80, 2), 3000, (1.0, 0.5, 0.5), 43);
    let pmf = Pmf::new(PmfParams::new(3), &made.ratings).unwrap();
    let sweep = FitConfig { steps: Some(200), ..FitConfig::default() };
    let best = watched(&pmf, &made.ratings, &sweep, 2).0.outcome.bound;
    let batch = FitConfig { batch: Some(500), steps: Some(1500), tol: 0.0, ..FitConfig::default() };
    let (found, bounds) = watched(&pmf, &made.ratings, &batch, 2);
    let gap = (best - found.outcome.bound) / best.abs();
    assert!(gap < 0.02, "batches {}, sweeps {best}", found.outcome.bound);
    assert!(found.outcome.bound > bounds[0]);
}

#[test]
fn a_new_user_is_what_an_update_would_make_of_it() {
    let made = small(51);
    let params = PmfParams { exact: true, ..PmfParams::new(2) };
    let pmf = Pmf::new(params, &made.ratings).unwrap();
    let (state, _) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 10);
    // A stranger with the ratings of user 3, and an unknown item rated like item 2.
    let (n_users, n_items) = (30u32, 20u32);
    let grouped = |side, row| made.ratings.side(side).row(row);
    let (items, values) = grouped(Side::User, 3);
    let (users, by_users) = grouped(Side::Item, 2);
    let mut triples: Vec<_> = items.iter().zip(values).map(|(&j, &y)| (n_users, j, y)).collect();
    triples.extend(users.iter().zip(by_users).map(|(&i, &y)| (i, n_items, y)));
    triples.push((n_users, n_items, 3.0)); // both unknown
    triples.push((3, items[0], values[0])); // fitted already
    let new = ratings_of(31, 21, &triples);
    let folded = pmf.fold_in(&state.lambda, &new);
    assert_eq!((folded.both_unknown, folded.known_pairs), (1, 1));
    assert_eq!(folded.users.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [n_users]);
    assert_eq!(folded.items.iter().map(|(j, _)| *j).collect::<Vec<_>>(), [n_items]);
    // What the next sweep would make of user 3, given the items as they are.
    let frozen = PmfParams { gauge: false, ard: false, learn_noise: false, ..pmf.params().clone() };
    let next = Pmf::new(frozen, &made.ratings).unwrap();
    let mut lambda = state.lambda.clone();
    update_by_hand(
        &next,
        &made.ratings,
        Side::User,
        &mut lambda,
        30,
        (3, 2),
        pmf.noise_variance(&state.lambda),
        &state.lambda.hyper,
    );
    let expected = next.factor(&lambda, Side::User, Some(3));
    assert!(deviation(folded.users[0].1.mean(), expected.mean()) < 1e-9);
}

#[test]
fn recommendations_are_ranked_and_leave_out_what_is_seen() {
    use lehr::models::pmf::By;
    let made = small(61);
    let pmf = Pmf::new(PmfParams::new(2), &made.ratings).unwrap();
    let (state, _) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 20);
    let predictor = pmf.predictor(&state.lambda);
    let user = predictor.user(Some(0));
    let all = predictor.recommend(&user, 100, By::Mean, &[]);
    assert_eq!(all.len(), 20);
    assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let unseen = predictor.recommend(&user, 5, By::Mean, pmf.seen(0));
    let expected: Vec<u32> =
        all.iter().map(|r| r.item).filter(|item| !pmf.seen(0).contains(item)).take(5).collect();
    assert_eq!(unseen.iter().map(|r| r.item).collect::<Vec<_>>(), expected);
    let hopeful = predictor.recommend(&user, 20, By::Ucb { beta: 2.0 }, &[]);
    assert!(
        hopeful
            .iter()
            .all(|r| (r.score - r.prediction.mean - 2.0 * r.prediction.sd()).abs() < 1e-12)
    );
    // Draws have the mean and the variance of the predictions.
    let (n_draws, item) = (4000, 7u32);
    let draws: Vec<f64> = (0..n_draws)
        .map(|seed| {
            let drawn = predictor.recommend(&user, 20, By::Thompson { seed }, &[]);
            drawn.iter().find(|r| r.item == item).unwrap().score
        })
        .collect();
    let p = predictor.rate(&user, Some(item));
    let mean = draws.iter().sum::<f64>() / n_draws as f64;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n_draws as f64;
    assert!((mean - p.mean).abs() < 5.0 * (p.uncertainty / n_draws as f64).sqrt(), "{mean} {p:?}");
    assert!((variance / p.uncertainty - 1.0).abs() < 0.15, "{variance} {p:?}");
}

#[test]
fn saved_and_loaded_it_is_the_same() {
    let made = small(71);
    let pmf = Pmf::new(PmfParams::new(2), &made.ratings).unwrap();
    let folder = tempfile();
    let mut write = |name: &'static str, bytes: Vec<u8>| {
        std::fs::write(folder.join(name), bytes).unwrap();
        Ok(())
    };
    pmf.sidecars(&mut write).unwrap();
    let back = Pmf::restore(pmf.params().clone(), pmf.frozen(), &Folder(&folder)).unwrap();
    let (state, _) = sweeps(&pmf, &made.ratings, start(&pmf, &made.ratings), 3);
    let scores = |pmf: &Pmf| pmf.predictor(&state.lambda).scores(&made.ratings);
    assert_eq!(scores(&pmf), scores(&back));
    assert_eq!(pmf.seen(5), back.seen(5));
    assert_eq!(pmf.find_item("7"), back.find_item("7"));
    let path = folder.join("seen.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes.truncate(last);
    std::fs::write(&path, bytes).unwrap();
    let error = Pmf::restore(pmf.params().clone(), pmf.frozen(), &Folder(&folder)).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("lehr-pmf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let made = small(81);
    for (params, expected) in [
        (PmfParams { dims: 0, ..PmfParams::new(1) }, "dims = 0: must be between 1 and"),
        (
            PmfParams { prior_variance: Some(-1.0), ..PmfParams::new(1) },
            "prior_variance = -1: must be",
        ),
        (PmfParams { noise_variance: Some(0.0), ..PmfParams::new(1) }, "noise_variance = 0"),
        (PmfParams { init_var: Some(f64::NAN), ..PmfParams::new(1) }, "init_var = NaN"),
    ] {
        let error = Pmf::new(params, &made.ratings).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let pmf = Pmf::new(PmfParams::new(1), &made.ratings).unwrap();
    let lagged = FitConfig {
        effective: Effective::Constant(2.0),
        law: lehr::step::anneal::Law::Lagged,
        ..FitConfig::default()
    };
    let error = lagged.check_for(&pmf, &made.ratings).unwrap_err().to_string();
    assert!(error.contains("law = lagged"), "{error}");
    let largest = made.ratings.largest_block();
    let large =
        FitConfig { effective: Effective::Constant(largest as f64 + 1.0), ..FitConfig::default() };
    let error = large.check_for(&pmf, &made.ratings).unwrap_err().to_string();
    assert!(error.contains("must be at most"), "{error}");
}
