//! The products that reach a floor against plain sums, in every instruction set this machine has.

use lehr_kernels::{Isa, LIST_ITEMS, LIST_USERS, reach};

mod common;

use common::*;

type Hits = Vec<Vec<(f32, u32)>>;

/// Numbers from a normal distribution, in single precision.
fn singles(seed: u64, n: usize) -> Vec<f32> {
    normals(&mut rng(seed), n).into_iter().map(|x| x as f32).collect()
}

fn found(isa: Isa, users: &[f32], items: &[f32], first: u32, floors: &[f32]) -> Hits {
    let mut hits = vec![vec![(7.0, 7)]; LIST_USERS];
    reach(isa, users, items, first, floors, &mut hits);
    hits
}

/// The same in plain Rust.
fn plain(users: &[f32], items: &[f32], first: u32, floors: &[f32]) -> Hits {
    let d = users.len() / LIST_USERS;
    let of_user = |u: usize| {
        let product = |item: usize| {
            let (panel, lane) = (item / LIST_ITEMS * d * LIST_ITEMS, item % LIST_ITEMS);
            let add = |sum: f32, k: usize| {
                users[k * LIST_USERS + u].mul_add(items[panel + k * LIST_ITEMS + lane], sum)
            };
            (0..d).fold(0.0, add)
        };
        let all = (0..items.len() / d).map(|item| (product(item), first + item as u32));
        std::iter::once((7.0, 7)).chain(all.filter(|hit| hit.0 >= floors[u])).collect()
    };
    (0..LIST_USERS).map(of_user).collect()
}

#[test]
fn what_reaches_its_floor_is_told_in_order() {
    for d in sizes(1..=20).filter(|&d| d > 0).chain(longer([51, 64])) {
        for n_panels in 0..3 {
            let users = singles(1, d * LIST_USERS);
            let items = singles(2, d * LIST_ITEMS * n_panels);
            let floors = [f32::NEG_INFINITY, -1.0, 0.0, 1.0, 2.5, f32::INFINITY];
            let expected = plain(&users, &items, 64, &floors);
            for isa in Isa::available() {
                let hits = found(isa, &users, &items, 64, &floors);
                if isa.fuses() {
                    assert_eq!(hits, expected, "{isa}, {d} dimensions, {n_panels} panels");
                }
                assert_eq!(hits[0].len(), 1 + n_panels * LIST_ITEMS);
                assert!(hits[0].iter().zip(&expected[0]).all(|(a, b)| (a.0 - b.0).abs() < 1e-4));
                assert_eq!(hits[5].len(), 1);
            }
        }
    }
}

#[test]
#[should_panic(expected = "whole panels")]
fn half_a_panel_is_refused() {
    found(Isa::detect(), &[0.0; 2 * LIST_USERS], &[0.0; LIST_ITEMS], 0, &[0.0; LIST_USERS]);
}
