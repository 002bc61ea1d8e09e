//! Degenerate data: what no careful person fits a model to, and what files are full of.

use lehr::Result;
use lehr::data::{Docs, Duplicates, Ids, Ratings};
use lehr::math::rng::Rng;

use crate::common::rng;

/// What is odd about some points.
#[derive(Debug, Clone, Copy)]
pub enum Oddity {
    None,
    AllTheSame,
    FewDistinct,
    Collinear,
    ConstantColumn,
    Outlier,
    UnequalColumns,
    FarFromZero,
    TwoValues,
}

/// All of them.
pub const ODDITIES: [Oddity; 9] = [
    Oddity::None,
    Oddity::AllTheSame,
    Oddity::FewDistinct,
    Oddity::Collinear,
    Oddity::ConstantColumn,
    Oddity::Outlier,
    Oddity::UnequalColumns,
    Oddity::FarFromZero,
    Oddity::TwoValues,
];

/// Points of one oddity.
pub fn odd_points(oddity: Oddity, n: usize, d: usize, scale: f64, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut values: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
    let direction: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
    let row = |values: &mut [f64], i: usize, make: &mut dyn FnMut(usize) -> f64| {
        (0..d).for_each(|j| values[i * d + j] = make(j));
    };
    for i in 0..n {
        match oddity {
            Oddity::None => {}
            Oddity::AllTheSame => row(&mut values, i, &mut |j| direction[j]),
            Oddity::FewDistinct => {
                let k = rng.below(3) as f64;
                row(&mut values, i, &mut |j| k * direction[j] + k * k);
            }
            Oddity::Collinear => {
                let x = rng.normal();
                row(&mut values, i, &mut |j| x * direction[j]);
            }
            Oddity::ConstantColumn => values[i * d] = 3.0,
            Oddity::Outlier if i == 0 => row(&mut values, i, &mut |_| 1e8),
            Oddity::Outlier => {}
            Oddity::UnequalColumns => {
                for j in 0..d {
                    values[i * d + j] *= 10f64.powi(40 * j as i32 - 60);
                }
            }
            Oddity::FarFromZero => {
                for j in 0..d {
                    values[i * d + j] += 1e9;
                }
            }
            Oddity::TwoValues => {
                for j in 0..d {
                    values[i * d + j] = f64::from(u8::from(rng.uniform() < 0.5));
                }
            }
        }
    }
    values.iter_mut().for_each(|x| *x *= scale);
    values
}

/// Documents: empty ones, single words, repeated ones, and counts of any size.
pub fn odd_docs(n: usize, n_words: usize, kind: usize, count: f64, rng: &mut Rng) -> Result<Docs> {
    let rows: Vec<Vec<(u32, f64)>> = (0..n)
        .map(|i| match kind {
            0 => Vec::new(),
            1 => vec![(0, count)],
            2 => (0..n_words as u32).map(|w| (w, count)).collect(),
            3 if i % 2 == 0 => Vec::new(),
            4 if i == 0 => vec![(n_words as u32 - 1, 1e6 * count)],
            _ => {
                let some = 1 + rng.below(n_words as u64);
                let mut row: Vec<(u32, f64)> =
                    (0..some).map(|_| (rng.below(n_words as u64) as u32, count)).collect();
                row.sort_by_key(|entry| entry.0);
                row.dedup_by_key(|entry| entry.0);
                row
            }
        })
        .collect();
    Docs::from_rows(rows, n_words)
}

/// Ratings: equal ones, an outlier, repeated ones, one user, one item.
pub fn odd_ratings(
    n_users: usize,
    n_items: usize,
    n: usize,
    kind: usize,
    scale: f64,
    rng: &mut Rng,
) -> Result<Ratings> {
    let (mut users, mut items, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        users.push(rng.below(n_users as u64) as u32);
        items.push(rng.below(n_items as u64) as u32);
        let y = match kind {
            0 => 3.0,
            1 => 0.0,
            2 if i == 0 => 1e6,
            3 => f64::from(i as u32 % 2),
            _ => 3.0 + rng.normal(),
        };
        values.push((scale * y) as f32);
    }
    let ids = |n: usize| {
        let mut ids = Ids::default();
        for id in 0..n as i64 {
            ids.insert_integer(id);
        }
        ids
    };
    Ratings::new(ids(n_users), ids(n_items), users, items, values, Duplicates::Mean)
}
