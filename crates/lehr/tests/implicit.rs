//! Implicit feedback against brute force over all pairs; lists of items against a second way to score them.

mod common;

use std::collections::HashSet;

use common::{Recorder, bits, pairs_by_hand, rng};
use lehr::FitConfig;
use lehr::data::{Duplicates, Ids, Ratings, Side};
use lehr::fit::{State, bound};
use lehr::models::pmf::{ListScores, RankingOptions, RankingScores};
use lehr::models::{Pmf, PmfParams};
use lehr::step::engine::Threads;
use lehr::store::{Begin, Items, Run};

fn ratings(n_users: i64, n_items: i64, triples: &[(u32, u32, f32)]) -> Ratings {
    let (users, items): (Ids, Ids) = ((0..n_users).collect(), (0..n_items).collect());
    let user = triples.iter().map(|t| t.0).collect();
    let item = triples.iter().map(|t| t.1).collect();
    let value = triples.iter().map(|t| t.2).collect();
    Ratings::new(users, items, user, item, value, Duplicates::Refuse).unwrap()
}

/// Users of two tastes, who use items of theirs mostly; some items are popular.
fn uses(n_users: u32, n_items: u32, seed: u64) -> Vec<(u32, u32, f32)> {
    let mut random = rng(seed);
    let mut triples = Vec::new();
    for i in 0..n_users {
        for j in 0..n_items {
            let likes = i % 2 == j % 2;
            let popular = 1.0 / (1.0 + f64::from(j / 4));
            if random.uniform() < popular * if likes { 0.8 } else { 0.15 } {
                triples.push((i, j, 1.0 + random.below(3) as f32));
            }
        }
    }
    triples
}

fn implicit(dims: usize) -> PmfParams {
    PmfParams { implicit: true, confidence: Some(2.5), exact: true, ..PmfParams::new(dims) }
}

fn sweeps(n: u64) -> FitConfig {
    FitConfig { steps: Some(n), tol: 0.0, eval_every: Some(1), ..FitConfig::default() }
}

/// The bound as a sum over all pairs, used or not.
fn by_hand(pmf: &Pmf, state: &State, data: &Ratings) -> f64 {
    let confidence = pmf.confidence().unwrap();
    pairs_by_hand::by_hand(pmf, state, data, |i, j| {
        let (used, times) = data.side(Side::User).row(i);
        let at = used.iter().position(|&item| item as usize == j);
        let y = f64::from(u8::from(at.is_some()));
        Some((y, at.map_or(1.0, |at| 1.0 + confidence * f64::from(times[at]))))
    })
}

#[test]
fn the_bound_is_the_sum_over_all_pairs_and_never_falls() {
    // The last user has used nothing, and the last item no user: both are known by that.
    let data = ratings(8, 7, &uses(7, 6, 1));
    for biases in [true, false] {
        for learn in [true, false] {
            let params =
                PmfParams { biases, learn_noise: learn, ard: learn, gauge: learn, ..implicit(2) };
            let pmf = Pmf::new(params, &data).unwrap();
            let mut recorder = Recorder::default();
            let fit = lehr::fit(&pmf, &data).config(sweeps(30)).threads(2).watch(&mut recorder);
            let state = fit.run().unwrap().state;
            let bounds: Vec<f64> = recorder.0.iter().map(|seen| seen.bound).collect();
            for (t, pair) in bounds.windows(2).enumerate() {
                assert!(
                    pair[1] - pair[0] > -1e-9 * pair[0].abs(),
                    "biases {biases}, learn {learn}, step {t}: {bounds:?}"
                );
            }
            let found = bound(&pmf, &state.lambda, &mut Threads::new(&pmf, &data)).unwrap();
            let expected = by_hand(&pmf, &state, &data);
            assert!((found - expected).abs() < 1e-8 * expected.abs(), "{found} by hand {expected}");
            let start = State::start(&pmf, &data, 3, 0).unwrap();
            let found = bound(&pmf, &start.lambda, &mut Threads::new(&pmf, &data)).unwrap();
            let expected = by_hand(&pmf, &start, &data);
            assert!((found - expected).abs() < 1e-8 * expected.abs(), "{found} by hand {expected}");
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads_and_single_precision_is_near() {
    let data = ratings(300, 90, &uses(300, 90, 2));
    let fit = |exact: bool, threads: usize| {
        let pmf = Pmf::new(PmfParams { exact, ..implicit(4) }, &data).unwrap();
        let state = lehr::fit(&pmf, &data).config(sweeps(8)).threads(threads).run().unwrap();
        (state.outcome.bound, bits(state.state.lambda.table().values()))
    };
    let (one, two, exact) = (fit(false, 1), fit(false, 2), fit(true, 2));
    assert_eq!(one, two);
    assert!((one.0 / exact.0 - 1.0).abs() < 1e-4, "{} and exactly {}", one.0, exact.0);
}

#[test]
fn batches_and_noise_come_near_to_full_sweeps() {
    let data = ratings(200, 60, &uses(200, 60, 4));
    let pmf = Pmf::new(implicit(2), &data).unwrap();
    let fit = |config: FitConfig| {
        let state = lehr::fit(&pmf, &data).config(config).threads(2).run().unwrap().state;
        bound(&pmf, &state.lambda, &mut Threads::new(&pmf, &data)).unwrap()
    };
    let full = fit(sweeps(60));
    let batches = fit(FitConfig { batch: Some(500), ..sweeps(400) });
    let noisy = fit(FitConfig { effective: "20t".parse().unwrap(), ..sweeps(60) });
    println!("full {full}, batches {batches}, noisy {noisy}");
    assert!((batches / full - 1.0).abs() < 0.05, "full {full}, batches {batches}");
    assert!((noisy / full - 1.0).abs() < 0.02, "full {full}, noisy {noisy}");
}

#[test]
fn who_comes_later_is_as_if_fitted_given_the_items() {
    let all = uses(60, 20, 6);
    let data = ratings(60, 20, &all);
    let pmf = Pmf::new(implicit(3), &data).unwrap();
    let lambda = lehr::fit(&pmf, &data).config(sweeps(200)).threads(2).run().unwrap().state.lambda;
    // User 60 uses what user 7 has used; in a converged fit user 7 is the best answer to the items.
    let new: Vec<_> =
        all.iter().filter(|t| t.0 == 7).map(|&(_, item, times)| (60, item, times)).collect();
    let folded = pmf.fold_in(&lambda, &ratings(61, 20, &new));
    let known = pmf.factor(&lambda, Side::User, Some(7));
    for (found, expected) in folded.users[0].1.mean().iter().zip(known.mean()) {
        assert!((found - expected).abs() < 2e-3, "{found} and {expected}");
    }
    // A use more of a known user moves what is expected of that pair towards 1, and of the others little.
    let item = (0..20).find(|item| pmf.seen(7).binary_search(item).is_err()).unwrap();
    let folded = pmf.fold_in(&lambda, &ratings(60, 20, &[(7, item, 1.0)]));
    let predictor = pmf.predictor(&lambda);
    let (before, after) = (
        predictor.rate(&known, Some(item)).mean,
        predictor.rate(&folded.users[0].1, Some(item)).mean,
    );
    assert!(before < after && after < 1.1, "{before} to {after}");
}

#[test]
fn a_run_is_scored_by_its_lists_and_comes_back() {
    let data = ratings(200, 60, &uses(200, 60, 8));
    let config = FitConfig { holdout: "0.2".parse().unwrap(), ..sweeps(10) };
    let params = PmfParams { confidence: None, ..implicit(3) };
    let run =
        Run::<Pmf>::fit(Items::in_memory(&data), params, &config, Begin::Random, &mut ()).unwrap();
    let measures = &run.trace.last().unwrap().measures;
    assert!(measures["ndcg_10"] > 0.0 && measures["recall_20"] <= 1.0, "{measures:?}");
    assert!(!measures.contains_key("rmse"));
    let folder = tempfile::tempdir().unwrap();
    run.save(&folder.path().join("run")).unwrap();
    let back = Run::<Pmf>::load(&folder.path().join("run")).unwrap();
    assert_eq!(back.model.confidence(), Some(1.0));
    assert_eq!(bits(back.lambda().table().values()), bits(run.lambda().table().values()));
}

#[test]
fn what_is_no_use_is_refused() {
    for value in [0.0, -2.0] {
        let data = ratings(2, 2, &[(0, 0, 1.0), (1, 1, value)]);
        let said = Pmf::new(implicit(1), &data).unwrap_err().to_string();
        assert!(said.contains("user 1, item 1") && said.contains("is positive"), "{said}");
    }
    let data = ratings(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]);
    for confidence in [0.0, -1.0, f64::NAN] {
        let params = PmfParams { confidence: Some(confidence), ..implicit(1) };
        assert!(Pmf::new(params, &data).unwrap_err().to_string().contains("confidence"));
    }
    let params = PmfParams { confidence: Some(1.0), ..PmfParams::new(1) };
    assert!(Pmf::new(params, &data).unwrap_err().to_string().contains("implicit"));
}

/// The scores once more, from whole rankings and sets.
fn second_way(
    pmf: &Pmf,
    state: &State,
    test: &Ratings,
    k: usize,
    least: Option<f64>,
    popular: bool,
) -> (usize, ListScores) {
    let predictor = pmf.predictor(&state.lambda);
    let n_items = pmf.ids(Side::Item).len();
    let mut counts = vec![0; n_items];
    for user in 0..pmf.ids(Side::User).len() as u32 {
        pmf.seen(user).iter().for_each(|&item| counts[item as usize] += 1);
    }
    let (mut users, mut sums, mut listed) = (0, ListScores::default(), HashSet::new());
    for user in 0..pmf.ids(Side::User).len() as u32 {
        let (items, values) = test.side(Side::User).row(user as usize);
        let seen: HashSet<u32> = pmf.seen(user).iter().copied().collect();
        let wanted: HashSet<u32> = items
            .iter()
            .zip(values)
            .filter(|&(item, &y)| least.is_none_or(|x| f64::from(y) >= x) && !seen.contains(item))
            .map(|(&item, _)| item)
            .collect();
        if wanted.is_empty() {
            continue;
        }
        users += 1;
        let mut all: Vec<u32> = (0..n_items as u32).filter(|item| !seen.contains(item)).collect();
        all.sort_by(|&a, &b| match popular {
            true => counts[b as usize].cmp(&counts[a as usize]).then(a.cmp(&b)),
            false => {
                let mean = |item| predictor.predict(Some(user), Some(item)).mean;
                mean(b).total_cmp(&mean(a)).then(a.cmp(&b))
            }
        });
        all.truncate(k);
        listed.extend(all.iter().copied());
        let found: Vec<bool> = all.iter().map(|item| wanted.contains(item)).collect();
        let hits = |n: usize| found[..n.min(found.len())].iter().filter(|&&is| is).count() as f64;
        let gain = |ranks: &mut dyn Iterator<Item = usize>| -> f64 {
            ranks.map(|rank| std::f64::consts::LN_2 / (rank as f64 + 2.0).ln()).sum()
        };
        let best = gain(&mut (0..wanted.len().min(k)));
        sums.ndcg += gain(&mut (0..found.len()).filter(|&rank| found[rank])) / best;
        sums.recall += hits(k) / wanted.len() as f64;
        sums.precision += hits(k) / k as f64;
        let precisions: f64 =
            (0..found.len()).filter(|&r| found[r]).map(|r| hits(r + 1) / (r + 1) as f64).sum();
        sums.map += precisions / wanted.len().min(k) as f64;
        sums.hit_rate += if hits(k) > 0.0 { 1.0 } else { 0.0 };
    }
    let n = users as f64;
    let scores = ListScores {
        ndcg: sums.ndcg / n,
        recall: sums.recall / n,
        precision: sums.precision / n,
        map: sums.map / n,
        hit_rate: sums.hit_rate / n,
        coverage: listed.len() as f64 / n_items as f64,
    };
    (users, scores)
}

fn near(a: ListScores, b: ListScores) -> bool {
    let numbers = |s: ListScores| [s.ndcg, s.recall, s.precision, s.map, s.hit_rate, s.coverage];
    numbers(a).into_iter().zip(numbers(b)).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn lists_are_scored_as_by_a_second_way() {
    let all = uses(150, 40, 10);
    let (train, held): (Vec<_>, Vec<_>) =
        all.iter().copied().enumerate().partition::<Vec<_>, _>(|(n, _)| n % 4 > 0);
    let strip = |part: Vec<(usize, (u32, u32, f32))>| -> Vec<_> {
        part.into_iter().map(|(_, t)| t).collect()
    };
    let train = ratings(150, 40, &strip(train));
    // A user and an item that the model does not know, and a pair that it was fitted to.
    let mut held = strip(held);
    held.extend([(150, 3, 2.0), (0, 40, 3.0)]);
    held.extend(train.triples().next());
    let test = ratings(151, 41, &held);
    for params in [implicit(3), PmfParams::new(3)] {
        let pmf = Pmf::new(params, &train).unwrap();
        let state = lehr::fit(&pmf, &train).config(sweeps(10)).threads(2).run().unwrap().state;
        for (k, relevant) in [(1, None), (5, None), (10, Some(2.0)), (100, None)] {
            let found: RankingScores =
                pmf.rank(&state.lambda, &test, RankingOptions { k, relevant });
            for (popular, found_lists) in [(false, found.model), (true, found.popularity)] {
                let (users, expected) = second_way(&pmf, &state, &test, k, relevant, popular);
                assert_eq!(found.users, users);
                assert!(near(found_lists, expected), "{k}: {found_lists:?} and {expected:?}");
            }
            assert_eq!((found.unknown_users, found.unknown_items), (1, 1));
        }
    }
}
