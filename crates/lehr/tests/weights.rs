//! Ratings with weights: the bound pair by pair, what weights do, and that runs keep them.

mod common;

use common::{Recorder, bits, made_ratings, pairs_by_hand, rng};
use lehr::data::{Duplicates, Ids, Ratings, Side};
use lehr::fit::{State, bound};
use lehr::models::{Pmf, PmfParams};
use lehr::read::{self, RatingsOptions};
use lehr::step::engine::Threads;
use lehr::store::{Begin, Items, Run};
use lehr::{FitConfig, Result};

type Rated = (u32, u32, f32, f32);

fn weighted(n_users: i64, n_items: i64, all: &[Rated]) -> Ratings {
    let (users, items): (Ids, Ids) = ((0..n_users).collect(), (0..n_items).collect());
    let user = all.iter().map(|r| r.0).collect();
    let item = all.iter().map(|r| r.1).collect();
    let value = all.iter().map(|r| r.2).collect();
    let weight = all.iter().map(|r| r.3).collect();
    Ratings::weighted(users, items, user, item, value, weight).unwrap()
}

/// A third of all pairs, in no order, and weights between 1/8 and 8.
fn some(n_users: u32, n_items: u32, seed: u64) -> Vec<Rated> {
    let mut random = rng(seed);
    let mut all = Vec::new();
    for j in 0..n_items {
        for i in (0..n_users).rev() {
            let y = 3.0 + f64::from(i % 2) - f64::from(j % 3) + 0.3 * random.normal();
            let weight = (2.0_f64).powf(6.0 * random.uniform() - 3.0);
            if random.uniform() < 0.34 {
                all.push((i, j, y as f32, weight as f32));
            }
        }
    }
    all
}

fn sweeps(n: u64) -> FitConfig {
    FitConfig { steps: Some(n), tol: 0.0, eval_every: Some(1), ..FitConfig::default() }
}

fn by_hand(pmf: &Pmf, state: &State, data: &Ratings, all: &[Rated]) -> f64 {
    let mean = data.mean();
    pairs_by_hand::by_hand(pmf, state, data, |i, j| {
        let found = all.iter().find(|r| (r.0 as usize, r.1 as usize) == (i, j))?;
        Some((f64::from(found.2) - mean, f64::from(found.3)))
    })
}

#[test]
fn the_bound_is_the_sum_over_weighted_ratings_and_never_falls() {
    let all = some(9, 7, 1);
    let data = weighted(9, 8, &all);
    for learn in [true, false] {
        let params = PmfParams {
            exact: true,
            biases: learn,
            learn_noise: learn,
            ard: learn,
            gauge: learn,
            ..PmfParams::new(2)
        };
        let pmf = Pmf::new(params, &data).unwrap();
        let mut recorder = Recorder::default();
        let fit = lehr::fit(&pmf, &data).config(sweeps(30)).threads(2).watch(&mut recorder);
        let state = fit.run().unwrap().state;
        let bounds: Vec<f64> = recorder.0.iter().map(|seen| seen.bound).collect();
        for (t, pair) in bounds.windows(2).enumerate() {
            assert!(pair[1] - pair[0] > -1e-9 * pair[0].abs(), "{learn}, step {t}: {bounds:?}");
        }
        for state in [state, State::start(&pmf, &data, 3, 0).unwrap()] {
            let found = bound(&pmf, &state.lambda, &mut Threads::new(&pmf, &data)).unwrap();
            let expected = by_hand(&pmf, &state, &data, &all);
            assert!((found - expected).abs() < 1e-8 * expected.abs(), "{found} by hand {expected}");
        }
    }
}

#[test]
fn weights_of_1_are_none_and_threads_change_nothing() {
    let plain = made_ratings((200, 60, 2), 3000, (1.0, 0.5, 0.4), 3).ratings;
    let ones: Vec<Rated> = plain.triples().map(|(i, j, y)| (i, j, y, 1.0)).collect();
    let ones = weighted(200, 60, &ones);
    assert!(ones.is_weighted() && ones.fingerprint() != plain.fingerprint());
    let fit = |data: &Ratings, threads: usize, batch: Option<usize>| {
        let pmf = Pmf::new(PmfParams::new(3), data).unwrap();
        let config = FitConfig {
            batch,
            effective: "50t".parse().unwrap(),
            ..FitConfig { steps: Some(12), tol: 0.0, ..FitConfig::default() }
        };
        let fit = lehr::fit(&pmf, data).config(config).threads(threads);
        fit.run().unwrap().state.lambda
    };
    for batch in [None, Some(700)] {
        let (a, b) = (fit(&plain, 1, batch), fit(&ones, 2, batch));
        let values = |lambda: &lehr::lambda::Lambda| lambda.table().values().to_vec();
        let near =
            values(&a).iter().zip(values(&b)).all(|(a, b)| (a - b).abs() <= 1e-3 * (a.abs() + 1.0));
        assert!(near, "batch {batch:?}");
    }
    let all = weighted(200, 60, &some(200, 60, 7));
    for batch in [None, Some(700)] {
        let (a, b) = (fit(&all, 1, batch), fit(&all, 3, batch));
        assert_eq!(bits(a.table().values()), bits(b.table().values()));
    }
}

/// Half of the ratings are noise, and their weights say so.
#[test]
fn what_is_known_to_be_noisy_does_less_harm() {
    let made = made_ratings((300, 80, 2), 5000, (1.0, 0.5, 0.2), 11);
    let mut random = rng(12);
    let all: Vec<Rated> = made
        .ratings
        .triples()
        .map(|(i, j, y)| match (i + j) % 2 {
            0 => (i, j, y, 1.0),
            _ => (i, j, y + 3.0 * random.normal() as f32, 0.005),
        })
        .collect();
    let error = |data: &Ratings| {
        let pmf = Pmf::new(PmfParams::new(4), data).unwrap();
        let fitted = lehr::fit(&pmf, data).config(sweeps(60)).threads(2).run().unwrap();
        let noise = pmf.noise_variance(&fitted.state.lambda);
        let predictor = pmf.predictor(&fitted.state.lambda);
        let truth = (0..299u32).flat_map(|i| (0..79u32).map(move |j| (i, j)));
        let squares = truth.map(|(i, j)| {
            let found = predictor.predict(Some(i), Some(j)).mean;
            (found - made.truth(i as usize, j as usize)).powi(2)
        });
        (squares.sum::<f64>() / (299.0 * 79.0), noise)
    };
    let (with, noise) = error(&weighted(300, 80, &all));
    let plain: Vec<Rated> = all.iter().map(|&(i, j, y, _)| (i, j, y, 1.0)).collect();
    let (without, _) = error(&weighted(300, 80, &plain));
    assert!(with < 0.5 * without, "{with} with weights, {without} without");
    // sigma^2 is that of a rating of weight 1.
    assert!((0.5..2.0).contains(&(noise / 0.04)), "{noise}");
}

/// What moves an expected rating is what it would be without, and new ratings have weights, too.
#[test]
fn a_run_keeps_weights_for_its_reasons_and_folds_them_in() -> Result<()> {
    let all = some(20, 12, 5);
    let data = weighted(20, 12, &all);
    let params = PmfParams {
        exact: true,
        gauge: false,
        ard: false,
        learn_noise: false,
        ..PmfParams::new(2)
    };
    let run =
        Run::<Pmf>::fit(Items::in_memory(&data), params, &sweeps(30), Begin::Random, &mut ())?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    run.save(&path)?;
    let run = Run::<Pmf>::load(&path)?;
    let (pmf, lambda) = (&run.model, run.lambda());
    let own: Vec<Rated> = all.iter().filter(|r| r.0 == 3).copied().collect();
    let as_new = |left_out: Option<u32>| -> Ratings {
        let kept = own.iter().filter(|r| Some(r.1) != left_out);
        weighted(21, 12, &kept.map(|&(_, j, y, w)| (20, j, y, w)).collect::<Vec<_>>())
    };
    let (with, lambda_with) = pmf.absorb(lambda, &as_new(None))?;
    let expected = with.predictor(&lambda_with).predict(Some(20), Some(5)).mean;
    let told = with.predictor(&lambda_with).explain(20, &[5], 100);
    assert!(own.len() > 2 && told[0].len() == own.len());
    for moved in &told[0] {
        let (without, lambda) = pmf.absorb(lambda, &as_new(Some(moved.item)))?;
        let rest = without.predictor(&lambda).predict(Some(20), Some(5)).mean;
        assert!((expected - rest - moved.by).abs() < 1e-5, "{moved:?} {}", expected - rest);
    }
    Ok(())
}

#[test]
fn subsets_keep_weights_and_means_are_weighted() {
    let all = some(30, 20, 2);
    let data = weighted(30, 20, &all);
    let weight = |i: u32, j: u32| all.iter().find(|r| (r.0, r.1) == (i, j)).unwrap().3;
    let sum: f64 = all.iter().map(|r| f64::from(r.3)).sum();
    let mean: f64 = all.iter().map(|r| f64::from(r.2) * f64::from(r.3)).sum::<f64>() / sum;
    assert!((data.mean() - mean).abs() < 1e-12);
    let places: Vec<u32> = (0..data.n_ratings() as u32).filter(|n| n % 3 != 1).collect();
    for ratings in [&data, &data.subset(&places)] {
        for side in [Side::User, Side::Item] {
            let grouped = ratings.side(side);
            assert_eq!(grouped.weights().len(), ratings.n_ratings());
            for row in 0..grouped.n_rows() {
                for (&other, &found) in grouped.row(row).0.iter().zip(grouped.weights_of(row)) {
                    let (i, j) = match side {
                        Side::User => (row as u32, other),
                        Side::Item => (other, row as u32),
                    };
                    assert_eq!(found, weight(i, j));
                }
            }
        }
    }
}

#[test]
fn weights_are_read_from_every_kind_of_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ratings.csv");
    let named = |name: &str| RatingsOptions { weight: Some(name.into()), ..Default::default() };
    let expected = [(0, 0, 4.0), (0, 1, 2.0), (1, 0, 5.0)];
    for (text, weight) in [
        ("user,item,rating,n\n1,7,4,0.5\n1,8,2,3\n2,7,5,1e1\n", "n"),
        ("n,rating,item,user\n0.5,4,\"7\",1\n3,2,\"8\",1\n10,5,\"7\",2\n", "n"),
        ("1::7::4::0.5\n1::8::2::3\n2::7::5::10\n", "4"),
        ("1\t7\t4\t0.5\n\n1\t8\t2\t3\n2\t7\t5\t10\n", "4"),
    ] {
        std::fs::write(&path, text).unwrap();
        let found = read::ratings(&path, &named(weight)).unwrap();
        assert!(found.triples().eq(expected), "{text}");
        assert_eq!(found.side(Side::User).weights(), [0.5, 3.0, 10.0], "{text}");
        assert_eq!(found.side(Side::Item).weights(), [0.5, 10.0, 3.0], "{text}");
    }
    // New ratings may lack the column; the first ones may not.
    std::fs::write(&path, "user,item,rating\n1,7,4\n").unwrap();
    let ids = || -> Ids { [1, 7].into_iter().collect() };
    let new = read::ratings_for(&path, &named("n"), &ids(), &ids()).unwrap();
    assert!(!new.is_weighted());
    let said = read::ratings(&path, &named("n")).unwrap_err().to_string();
    assert!(said.contains("asks for column \"n\", which is not there"), "{said}");
    for (line, what) in [
        ("1,7,4,0", "found \"0\""),
        ("1,7,4,-1", "found \"-1\""),
        ("1,7,4,nan", "found \"nan\""),
        ("1,7,4,", "found \"\""),
        ("1,7,4,x", "found \"x\""),
    ] {
        std::fs::write(&path, format!("user,item,rating,n\n1,9,4,1\n{line}\n")).unwrap();
        let said = read::ratings(&path, &named("n")).unwrap_err().to_string();
        assert!(said.contains("line 3") && said.contains("a weight must be positive"), "{said}");
        assert!(said.contains(what) || line.ends_with(','), "{said}");
    }
    std::fs::write(&path, "user,item,rating,n\n1,9,4,1\n").unwrap();
    let mean = RatingsOptions { duplicates: Duplicates::Mean, ..named("n") };
    let said = read::ratings(&path, &mean).unwrap_err().to_string();
    assert!(said.contains("are not averaged"), "{said}");
    let implicit = PmfParams { implicit: true, ..PmfParams::new(1) };
    let data = read::ratings(&path, &named("n")).unwrap();
    assert!(Pmf::new(implicit, &data).unwrap_err().to_string().contains("implicit feedback"));
    let wrong = |weight: Vec<f32>| {
        let made = Ratings::weighted(ids(), ids(), vec![0; 2], vec![0, 1], vec![1.0; 2], weight);
        made.unwrap_err().to_string()
    };
    assert!(wrong(vec![1.0]).contains("1 weights are not those of 2 ratings"));
    assert!(wrong(vec![1.0, 0.0]).contains("rating 2 (user 1, item 7) has weight 0"));
}
