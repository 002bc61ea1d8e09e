//! Implicit feedback: what users looked at, bought or played, in place of what they said of it.
//!
//! Every pair of user and item is an observation: y = 1 if the user has used the item, 0 if not, with
//! `y_ij ~ N(u_i'v_j + a_i + b_j, sigma^2 / w_ij)`, where w = 1 for what was not used and 1 + confidence * times for what
//! was. The sums over all pairs are those of all of the other side at weight 1, which every row shares, and of what was
//! used at weight w - 1 (Hu, Koren and Volinsky, 2008); but the factors are distributions here, and the bound is exact.

use rayon::prelude::*;

use super::Pmf;
use super::columns::Columns;
use super::expect::{Expect, Real, with_tables};
use crate::data::{Ratings, Side};
use crate::math::slabs::Slabs;
use crate::{Error, Result};

/// How much more a use counts than no use, unless something else is asked for.
pub(super) const CONFIDENCE: f64 = 1.0;

/// Rows that one worker sums at a time; part of the definition of the sums.
const CHUNK: usize = 256;

/// The values of some ratings, row after row, and noise on them.
pub(super) struct Uses<'a> {
    pub confidence: f64,
    pub starts: &'a [usize],
    pub values: &'a [f32],
    /// All 1, if there are none.
    pub noise: &'a [f32],
    /// How many the other side has.
    pub n_others: usize,
    /// What part of each row's ratings these are; sums are multiplied by N/|S| later.
    pub shares: Vec<f64>,
}

impl Uses<'_> {
    /// w of a pair that was used so often.
    fn weight(confidence: f64, times: f32) -> f64 {
        1.0 + confidence * f64::from(times)
    }

    /// What moments are multiplied by: w - 1 where they are summed as they are, w where they are summed times y; and
    /// of every row the sums of w, w y and w y^2 over all pairs.
    pub fn weigh<R: Real>(
        &self,
        weights: &mut Vec<R>,
        coefficients: &mut Vec<R>,
        totals: &mut [f64],
        stride: usize,
    ) {
        weights.clear();
        coefficients.clear();
        let first = self.starts[0];
        for (row, ends) in self.starts.windows(2).enumerate() {
            let (mut more, mut all) = (0.0, 0.0);
            for n in ends[0] - first..ends[1] - first {
                let noise = self.noise.get(n).map_or(1.0, |&noise| f64::from(noise));
                let weight = Self::weight(self.confidence, self.values[n]);
                weights.push(R::of(noise * (weight - 1.0)));
                coefficients.push(R::of(noise * weight));
                more += noise * (weight - 1.0);
                all += noise * weight;
            }
            totals[row * stride..][..3].copy_from_slice(&[
                self.shares[row] * self.n_others as f64 + more,
                all,
                all,
            ]);
        }
    }

    /// The sum of ln w over all pairs of a row.
    pub fn ln_weights(&self, row: usize) -> f64 {
        let range = self.starts[row] - self.starts[0]..self.starts[row + 1] - self.starts[0];
        self.values[range].iter().map(|&times| Self::weight(self.confidence, times).ln()).sum()
    }
}

/// The sum of each column over all rows of a side.
pub(super) fn sum_of_all<R: Real>(columns: Columns, table: &Slabs<R>) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = (0..table.n_rows().div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(table.n_rows());
            let mut sums = vec![0.0; columns.tail()];
            for (slab, &width) in table.widths().iter().enumerate() {
                let sums = &mut sums[table.columns(slab)];
                let values = &table.slab(slab)[rows.start * width..rows.end * width];
                for row in values.chunks_exact(width) {
                    sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += x.into());
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; columns.tail()];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    }
    total
}

/// Sums a side again whose rows have changed.
pub(super) fn refresh_sums(pmf: &Pmf, changed: Side, expect: &mut Expect) {
    if pmf.confidence().is_none() {
        return;
    }
    let Expect { sides, all, .. } = expect;
    all[changed as usize] =
        with_tables!(sides, tables => sum_of_all(pmf.columns, &tables[changed as usize]));
}

/// Adds the sums over all of the other side, times a factor, to the statistics of a row.
pub(super) fn add_all(columns: Columns, all: &[f64], times: f64, raw: &mut [f64]) {
    raw.iter_mut().zip(&all[..columns.summed()]).for_each(|(raw, x)| *raw += times * x);
}

/// Refuses what is no count of uses.
pub(super) fn check(ratings: &Ratings) -> Result<()> {
    let wrong = ratings.triples().find(|&(_, _, times)| times <= 0.0);
    let Some((user, item, times)) = wrong else { return Ok(()) };
    Err(Error::data(format!(
        "user {}, item {}: found {times}; with implicit feedback a value says how often, or how long, an item was \
         used, and is positive. Leave out pairs that were not used: they are counted as such",
        ratings.ids(Side::User).get(user as usize),
        ratings.ids(Side::Item).get(item as usize),
    )))
}
