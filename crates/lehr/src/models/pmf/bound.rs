//! The part of the bound that the prior has in it: minus the divergences of all users and items.

use rayon::prelude::*;

use super::Pmf;
use super::expect::{Expect, Real, with_tables};
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::packed::Symmetric;
use crate::math::slabs::{ColumnPlace, Slabs};

/// Rows that one worker sums at a time; part of the definition of the sum.
const CHUNK: usize = 1024;

/// `-sum KL(q(x) || p(x))` over all users and items.
pub(super) fn minus_kl(pmf: &Pmf, lambda: &Lambda, expect: &Expect) -> f64 {
    let (of_users, of_items) = expect.ln_det.split_at(pmf.n_rows_of(Side::User));
    with_tables!(&expect.sides, tables => {
        let items = side(pmf, Side::Item, lambda, &tables[1], of_items);
        match expect.apart {
            None => side(pmf, Side::User, lambda, &tables[0], of_users) + items,
            // Who has the users counts their part with their ratings'.
            Some(_) => items,
        }
    })
}

/// The users' part of [`minus_kl`].
pub(super) fn minus_kl_of_users(pmf: &Pmf, lambda: &Lambda, expect: &Expect) -> f64 {
    let (of_users, _) = expect.ln_det.split_at(pmf.n_rows_of(Side::User));
    with_tables!(&expect.sides, tables => side(pmf, Side::User, lambda, &tables[0], of_users))
}

/// KL = 1/2 { sum_k E[x_k^2] / c_k - n + ln |precision| + sum_k ln c_k } of every row of a side.
fn side<R: Real>(pmf: &Pmf, side: Side, lambda: &Lambda, table: &Slabs<R>, ln_det: &[f64]) -> f64 {
    let columns = pmf.columns;
    let shape = Symmetric::full(columns.d);
    let variances: Vec<f64> = pmf.hyper_of(lambda).prior(side).collect();
    // Where E[x_k^2] stands, and what it is divided by.
    let squares: Vec<(ColumnPlace, f64)> = variances
        .iter()
        .enumerate()
        .map(|(k, c)| {
            let column =
                if k < columns.d { shape.diagonal_index(k) } else { columns.bias_square() };
            (table.place(column), 1.0 / c)
        })
        .collect();
    let ln_variances: f64 = variances.iter().map(|c| c.ln()).sum();
    let parts: Vec<f64> = ln_det
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, dets)| {
            let mut sum = 0.0;
            for (i, det) in dets.iter().enumerate() {
                let row = chunk * CHUNK + i;
                let quadratic: f64 = squares
                    .iter()
                    .map(|&(place, by)| {
                        let square: f64 = table.get(row, place).into();
                        square * by
                    })
                    .sum();
                sum += quadratic - variances.len() as f64 + det + ln_variances;
            }
            sum
        })
        .collect();
    -0.5 * parts.iter().sum::<f64>()
}
