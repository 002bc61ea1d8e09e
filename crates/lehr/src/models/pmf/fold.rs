//! New users and new items, folded in without fitting again: their q given the other side's as it is.

use rayon::prelude::*;

use super::predict::Factor;
use super::{Pmf, sums};
use crate::data::{Ratings, Side};
use crate::lambda::Lambda;
use crate::model::{Ask, Model, RowSet, RowShard};

/// Rows that one worker folds in at a time.
const CHUNK: usize = 64;

/// Users and items with what their new ratings tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// Every user that has a new rating of a known item: new ones from the prior, known ones from
    /// what the model knew. As the file numbers them.
    pub users: Vec<(u32, Factor)>,
    /// Every new item that a known user has rated.
    pub items: Vec<(u32, Factor)>,
    /// Ratings left out because neither user nor item is known.
    pub both_unknown: usize,
    /// Ratings left out because the model was fitted to a rating of this pair already.
    pub known_pairs: usize,
}

impl Pmf {
    /// Folds in ratings whose ids are numbered as the model's, new ones after them
    /// ([`crate::read::ratings_for`]).
    pub fn fold_in(&self, lambda: &Lambda, ratings: &Ratings) -> Folded {
        let (n_users, n_items) =
            (self.n_rows_of(Side::User) as u32, self.n_rows_of(Side::Item) as u32);
        let (mut for_users, mut for_items) = (Vec::new(), Vec::new());
        let (mut both_unknown, mut known_pairs) = (0, 0);
        for (n, (user, item, _)) in ratings.triples().enumerate() {
            let n = n as u32;
            match (user < n_users, item < n_items) {
                (true, true) if self.seen(user).binary_search(&item).is_ok() => known_pairs += 1,
                (_, true) => for_users.push(n),
                (true, false) => for_items.push(n),
                (false, false) => both_unknown += 1,
            }
        }
        let mut expect = super::Expect::default();
        self.refresh(lambda, &RowSet::all(lambda.n_rows()), &mut expect);
        let side =
            |side, kept: &[u32]| self.fold_side(lambda, &expect, side, &ratings.subset(kept));
        Folded {
            users: side(Side::User, &for_users),
            items: side(Side::Item, &for_items),
            both_unknown,
            known_pairs,
        }
    }

    fn fold_side(
        &self,
        lambda: &Lambda,
        expect: &super::Expect,
        side: Side,
        ratings: &Ratings,
    ) -> Vec<(u32, Factor)> {
        let starts = ratings.side(side).starts();
        let rated: Vec<u32> = (0..starts.len() as u32 - 1)
            .filter(|&r| starts[r as usize] < starts[r as usize + 1])
            .collect();
        let ask = Ask { bound: false, ..Ask::TRAIN };
        let parts: Vec<Vec<(u32, Factor)>> = rated
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut scratch = self.scratch();
                let mut raw = vec![0.0; self.columns.raw_width()];
                let (mut natural, mut increment) = (self.natural_buffer(), self.natural_buffer());
                let fold = |&row: &u32| {
                    let shard = RowShard {
                        data: ratings,
                        phase: side as usize,
                        rows: &[row],
                        starts: &starts[row as usize..row as usize + 2],
                        items: None,
                        weights: None,
                    };
                    self.row_step(expect, shard, ask, &mut scratch, &mut raw, &mut []);
                    match (row as usize) < self.n_rows_of(side) {
                        true => natural.copy_from_slice(
                            lambda.table().row(self.first_row(side) + row as usize),
                        ),
                        false => self.prior(&lambda.hyper, self.first_row(side), &mut natural),
                    }
                    sums::to_natural(self, &lambda.hyper, &raw, &mut increment);
                    natural.iter_mut().zip(&increment).for_each(|(n, i)| *n += i);
                    (row, self.factor_of(&natural))
                };
                rows.iter().map(fold).collect()
            })
            .collect();
        parts.concat()
    }

    fn natural_buffer(&self) -> Vec<f64> {
        vec![0.0; self.columns.width()]
    }
}
