//! Lists for many users, why an item is on one, and what is alike, against plain and slow ways to the same.

mod common;

use common::{MadeRatings, made_ratings, ratings_of, start, sweeps};
use lehr::data::{Ratings, Side};
use lehr::lambda::Lambda;
use lehr::models::pmf::{By, ListOptions, Recommendation};
use lehr::models::{Pmf, PmfParams};

fn fitted(params: PmfParams, ratings: &Ratings) -> (Pmf, Lambda) {
    let pmf = Pmf::new(params, ratings).unwrap();
    let (state, _) = sweeps(&pmf, ratings, start(&pmf, ratings), 30);
    (pmf, state.lambda)
}

fn made(seed: u64) -> MadeRatings {
    made_ratings((130, 700, 3), 6000, (1.0, 0.5, 0.5), seed)
}

fn shown(list: &[Recommendation]) -> Vec<(u32, u64)> {
    list.iter().map(|listed| (listed.item, listed.score.to_bits())).collect()
}

/// Single precision only finds out who may be on a list.
#[test]
fn lists_of_many_are_those_of_each() {
    let made = made(5);
    for params in [
        PmfParams::new(4),
        PmfParams { biases: false, ..PmfParams::new(1) },
        PmfParams { implicit: true, ..PmfParams::new(3) },
    ] {
        let positive: Vec<_> = made.ratings.triples().map(|(i, j, _)| (i, j, 1.0)).collect();
        let ratings =
            if params.implicit { ratings_of(130, 700, &positive) } else { made.ratings.clone() };
        let (pmf, lambda) = fitted(params, &ratings);
        let predictor = pmf.predictor(&lambda);
        let users: Vec<Option<u32>> = (0..130).rev().map(Some).chain([None, Some(3)]).collect();
        for (top, by) in [
            (1, By::Mean),
            (20, By::Mean),
            (699, By::Mean),
            (5000, By::Mean),
            (0, By::Mean),
            (7, By::Ucb { beta: 1.5 }),
        ] {
            for include_seen in [false, true] {
                let allowed: Option<Vec<u32>> = (top == 20).then(|| (0..700).step_by(3).collect());
                let options = ListOptions {
                    top,
                    by,
                    include_seen,
                    allowed: allowed.clone(),
                    uncertainty: top == 1,
                };
                let lists = pmf.lists(&lambda, options).of(&users);
                assert_eq!(lists.len(), users.len());
                for (&user, list) in users.iter().zip(&lists) {
                    let skipped: Vec<u32> = (0..700u32)
                        .filter(|item| {
                            let seen = user.is_some_and(|user| pmf.seen(user).contains(item));
                            (seen && !include_seen)
                                || allowed.as_ref().is_some_and(|allowed| !allowed.contains(item))
                        })
                        .collect();
                    let alone = predictor.recommend(&predictor.user(user), top, by, &skipped);
                    assert_eq!(shown(list), shown(&alone), "{user:?}, {top}, {by:?}");
                    if top == 1 && by == By::Mean {
                        assert_eq!(list[0].prediction, alone[0].prediction);
                    }
                }
            }
        }
    }
}

/// Equal items are listed in the order of their numbers, however many there are.
#[test]
fn ties_are_listed_in_order() {
    // Items 2 to 599 have no ratings, and so all the same q.
    let triples: Vec<_> =
        (0..12).flat_map(|i| [(i, 0, 5.0), (i, 1, 1.0 + (i % 2) as f32)]).collect();
    let (pmf, lambda) = fitted(PmfParams::new(2), &ratings_of(12, 600, &triples));
    let lists = pmf.lists(&lambda, ListOptions { top: 9, ..Default::default() }).of(&[Some(4)]);
    assert_eq!(
        lists[0].iter().map(|listed| listed.item).collect::<Vec<_>>(),
        Vec::from_iter(2..11)
    );
}

/// Taking a rating away is fitting its user without it, all else as it is.
#[test]
fn what_moves_an_expected_rating_is_what_it_would_be_without() {
    let made = made_ratings((20, 12, 2), 120, (1.0, 0.5, 0.4), 8);
    for implicit in [false, true] {
        let triples: Vec<(u32, u32, f32)> = made
            .ratings
            .triples()
            .map(|(i, j, y)| (i, j, if implicit { 1.0 + (j % 3) as f32 } else { y }))
            .collect();
        // Nothing else is learned, so that a user's row depends on the items alone.
        let params = PmfParams {
            implicit,
            exact: true,
            gauge: false,
            ard: false,
            learn_noise: false,
            ..PmfParams::new(2)
        };
        let ratings = ratings_of(20, 12, &triples);
        let (pmf, lambda) = fitted(params.clone(), &ratings);
        // A user who is up to date with the items: folded in, as a new user.
        let own: Vec<_> = triples.iter().filter(|rating| rating.0 == 3).copied().collect();
        let as_new = |left_out: Option<u32>| -> Vec<(u32, u32, f32)> {
            let kept = own.iter().filter(|rating| Some(rating.1) != left_out);
            kept.map(|&(_, item, value)| (20, item, value)).collect()
        };
        let (with, lambda_with) = pmf.absorb(&lambda, &ratings_of(21, 12, &as_new(None))).unwrap();
        let items = [0, 5, 11];
        let told = with.predictor(&lambda_with).explain(20, &items, 100);
        assert!(own.len() > 2);
        for (&item, moved) in items.iter().zip(&told) {
            assert_eq!(moved.len(), own.len());
            assert!(moved.windows(2).all(|pair| pair[0].by.abs() >= pair[1].by.abs()));
            let expected = with.predictor(&lambda_with).predict(Some(20), Some(item)).mean;
            for rating in moved {
                let fewer = ratings_of(21, 12, &as_new(Some(rating.item)));
                let (without, lambda) = pmf.absorb(&lambda, &fewer).unwrap();
                let rest = without.predictor(&lambda).predict(Some(20), Some(item)).mean;
                let difference = expected - rest - rating.by;
                // Covariances of items are at hand in single precision.
                assert!(difference.abs() < 1e-5, "implicit {implicit}, {rating:?}: {difference}");
            }
        }
        let short = with.predictor(&lambda_with).explain(20, &items, 2);
        assert!(short.iter().zip(&told).all(|(short, all)| short[..] == all[..2]));
    }
}

#[test]
fn alike_is_who_is_thought_the_same_of() {
    // Three kinds of items, and users who like one each.
    let triples: Vec<(u32, u32, f32)> = (0..90u32)
        .flat_map(|i| (0..30u32).map(move |j| (i, j)))
        .filter(|(i, j)| (i * 7 + j * 3) % 5 != 0)
        .filter(|&(i, j)| j != 29 || i == 2)
        .map(|(i, j)| (i, j, if i % 3 == j % 3 { 5.0 } else { 1.0 }))
        .collect();
    let ratings = ratings_of(90, 30, &triples);
    let plain = PmfParams { gauge: false, ard: false, ..PmfParams::new(3) };
    for params in [PmfParams::new(3), plain] {
        let (pmf, lambda) = fitted(params, &ratings);
        for side in [Side::Item, Side::User] {
            let found = pmf.similar(&lambda, side, 4, 8);
            assert!(
                found.iter().all(|other| other.number % 3 == 1 && other.number != 4),
                "{found:?}"
            );
            assert!(found.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity));
            assert!(found[0].similarity > 0.8 && found[0].similarity < 1.0, "{found:?}");
            assert!(found.iter().all(|other| other.sd > 0.0 && other.sd < 0.5), "{found:?}");
        }
        // An item of one rating is like nothing, and that is not sure.
        let all = pmf.similar(&lambda, Side::Item, 4, 100);
        assert_eq!(all.len(), 29);
        let rare = all.iter().find(|other| other.number == 29).unwrap();
        assert!(rare.similarity.abs() < 0.8 && rare.sd > 2.0 * all[0].sd, "{rare:?} {:?}", all[0]);
    }
}

/// The standard deviation is that of draws from q.
#[test]
fn how_sure_that_is_is_what_draws_say() {
    let made = made_ratings((25, 15, 2), 150, (1.0, 0.5, 0.8), 4);
    let (pmf, lambda) = fitted(PmfParams { biases: false, ..PmfParams::new(1) }, &made.ratings);
    // With one dimension x'Sy is S x y, of two independent normal variables.
    let found = pmf.similar(&lambda, Side::Item, 0, 100);
    let one = |number| {
        let factor = pmf.factor(&lambda, Side::Item, Some(number));
        let sd = factor.deviations().next().unwrap();
        (factor.mean()[0], sd * sd)
    };
    let (m, c) = one(0);
    for other in found {
        let (n, e) = one(other.number);
        let sizes = ((m * m + c) * (n * n + e)).sqrt();
        assert!((other.similarity - m * n / sizes).abs() < 1e-9);
        let sd = (m * m * e + n * n * c + c * e).sqrt() / sizes;
        assert!((other.sd - sd).abs() < 1e-9, "{other:?} {sd}");
    }
}
