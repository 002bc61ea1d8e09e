//! New users and new items, folded in without fitting again: their q given the other side's as it is.

use std::sync::Arc;

use rayon::prelude::*;

use super::readout::Factor;
use super::{Frozen, Pmf, PmfParams, implicit, local};
use crate::data::{Grouped, Ratings, Side};
use crate::lambda::Lambda;
use crate::math::table::Table;
use crate::model::{Ask, Model, RowSet, RowShard};
use crate::{Error, Result};

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

/// [`Folded`] as natural parameters.
struct Naturals {
    users: Vec<(u32, Vec<f64>)>,
    items: Vec<(u32, Vec<f64>)>,
    both_unknown: usize,
    known_pairs: usize,
}

impl Pmf {
    /// Folds in ratings whose ids are numbered as the model's, new ones after them
    /// ([`crate::read::ratings_for`]).
    pub fn fold_in(&self, lambda: &Lambda, ratings: &Ratings) -> Folded {
        let naturals = self.fold_naturals(lambda, ratings);
        let factors = |rows: Vec<(u32, Vec<f64>)>| {
            rows.into_par_iter().map(|(row, natural)| (row, self.factor_of(&natural))).collect()
        };
        Folded {
            users: factors(naturals.users),
            items: factors(naturals.items),
            both_unknown: naturals.both_unknown,
            known_pairs: naturals.known_pairs,
        }
    }

    /// The model with the users and items of new ratings in it, as [`fold_in`](Pmf::fold_in) finds
    /// them: what was known of others stays as it is. New users and items of which nothing is known
    /// are at their prior.
    pub fn absorb(&self, lambda: &Lambda, ratings: &Ratings) -> Result<(Pmf, Lambda)> {
        let (old_users, old_items) = (self.n_rows_of(Side::User), self.n_rows_of(Side::Item));
        let (users, items) = (ratings.ids(Side::User).clone(), ratings.ids(Side::Item).clone());
        let naturals = self.fold_naturals(lambda, ratings);
        if naturals.users.is_empty() && naturals.items.is_empty() {
            return Err(Error::data(
                "there is nothing to learn from these ratings: of each the model knows the pair \
                 already, or neither user nor item",
            ));
        }
        let mut table = Table::new(users.len() + items.len(), self.columns.width());
        let old = lambda.table();
        let first_new =
            [(0, 0, old_users, users.len()), (users.len(), old_users, old_items, items.len())];
        for (to, from, known, all) in first_new {
            (0..known).for_each(|r| table.row_mut(to + r).copy_from_slice(old.row(from + r)));
            (known..all).for_each(|r| self.prior(&lambda.hyper, from, table.row_mut(to + r)));
        }
        for (first, rows) in [(0, &naturals.users), (users.len(), &naturals.items)] {
            for (row, natural) in rows {
                table.row_mut(first + *row as usize).copy_from_slice(natural);
            }
        }
        let seen = self.seen_with(ratings, items.len());
        let frozen = Frozen {
            users: users.len(),
            items: items.len(),
            ratings: seen.others().len(),
            mean: self.mean,
            variance: self.variance,
        };
        let params = PmfParams { prior_variance: Some(self.prior_variance), ..self.params.clone() };
        let pmf = Pmf::assemble(params, frozen, users, items, Arc::new(seen));
        Ok((pmf, Lambda::new(table, false, lambda.hyper.clone())))
    }

    /// How many ratings are of pairs that the model was fitted to with another rating, which it keeps.
    pub fn n_changed(&self, ratings: &Ratings) -> usize {
        let is_changed = |&(user, item, value): &(u32, u32, f32)| {
            let Some(row) = Some(user as usize).filter(|&row| row < self.seen.n_rows()) else {
                return false;
            };
            let (items, values) = self.seen.row(row);
            items.binary_search(&item).is_ok_and(|at| values[at] != value)
        };
        ratings.triples().filter(is_changed).count()
    }

    /// What each user has rated, the new ratings included.
    fn seen_with(&self, ratings: &Ratings, n_items: usize) -> Grouped {
        let new: &Grouped = ratings.side(Side::User);
        let (mut starts, mut others, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut weights = Vec::new();
        for row in 0..new.n_rows() {
            let mut all: Vec<(u32, f32, f32)> = Vec::new();
            let mut add = |of: &Grouped| {
                let ((others, values), weights) = (of.row(row), of.weights_of(row));
                let ratings = others.iter().zip(values).enumerate();
                all.extend(ratings.map(|(n, (&other, &value))| {
                    (other, value, weights.get(n).copied().unwrap_or(1.0))
                }));
            };
            // A pair that is known keeps its first rating, which comes first.
            if row < self.seen.n_rows() {
                add(&self.seen);
            }
            add(new);
            all.sort_by_key(|&(other, ..)| other);
            all.dedup_by_key(|&mut (other, ..)| other);
            others.extend(all.iter().map(|&(other, ..)| other));
            values.extend(all.iter().map(|&(_, value, _)| value));
            weights.extend(all.iter().map(|&(.., weight)| weight));
            starts.push(others.len());
        }
        if [&*self.seen, new].iter().all(|ratings| ratings.weights().is_empty()) {
            weights.clear();
        }
        Grouped::new(starts, others, values, n_items)
            .and_then(|seen| seen.with_weights(weights))
            .expect("rows that rise and are in range")
    }

    fn fold_naturals(&self, lambda: &Lambda, ratings: &Ratings) -> Naturals {
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
        Naturals {
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
    ) -> Vec<(u32, Vec<f64>)> {
        let starts = ratings.side(side).starts();
        let rated: Vec<u32> = (0..starts.len() as u32 - 1)
            .filter(|&r| starts[r as usize] < starts[r as usize + 1])
            .collect();
        let ask = Ask { bound: false, ..Ask::TRAIN };
        let parts: Vec<Vec<(u32, Vec<f64>)>> = rated
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
                    self.local_step(expect, shard, ask, &mut scratch, &mut raw, &mut []);
                    match (row as usize) < self.n_rows_of(side) {
                        true => {
                            natural.copy_from_slice(
                                lambda.table().row(self.first_row(side) + row as usize),
                            );
                            if self.confidence().is_some() {
                                // It has those of all of the other side already.
                                let all = &expect.all[side.other() as usize];
                                implicit::add_all(self.columns, all, -1.0, &mut raw);
                                raw[self.columns.totals()] -= self.n_rows_of(side.other()) as f64;
                            }
                        }
                        false => self.prior(&lambda.hyper, self.first_row(side), &mut natural),
                    }
                    local::to_natural(self, &lambda.hyper, &raw, &mut increment);
                    natural.iter_mut().zip(&increment).for_each(|(n, i)| *n += i);
                    (row, natural.clone())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Duplicates, Ids};

    fn ratings(n_users: i64, n_items: i64, triples: &[(u32, u32, f32)]) -> Ratings {
        let (users, items): (Ids, Ids) = ((0..n_users).collect(), (0..n_items).collect());
        let user = triples.iter().map(|t| t.0).collect();
        let item = triples.iter().map(|t| t.1).collect();
        let value = triples.iter().map(|t| t.2).collect();
        Ratings::new(users, items, user, item, value, Duplicates::Refuse).unwrap()
    }

    #[test]
    fn who_is_taken_in_is_as_if_folded_in_and_others_stay() {
        let taste = |i: u32, j: u32| if i % 2 == j % 2 { 5.0 } else { 1.0 };
        let pairs =
            (0..8).flat_map(|i| (0..6).map(move |j| (i, j))).filter(|(i, j)| (i + j) % 4 > 0);
        let triples: Vec<_> = pairs.map(|(i, j)| (i, j, taste(i, j))).collect();
        let data = ratings(8, 6, &triples);
        let pmf = Pmf::new(PmfParams::new(2), &data).unwrap();
        let lambda = crate::fit(&pmf, &data).threads(1).run().unwrap().state.lambda;
        // User 9 is new, user 8 too but without ratings; item 6 is new and rated by user 0.
        let new = ratings(10, 7, &[(9, 1, 5.0), (9, 2, 1.0), (0, 6, 4.0), (0, 1, 2.0)]);
        let folded = pmf.fold_in(&lambda, &new);
        let (wider, longer) = pmf.absorb(&lambda, &new).unwrap();
        assert_eq!(wider.factor(&longer, Side::User, Some(9)), folded.users[0].1);
        assert_eq!(wider.factor(&longer, Side::Item, Some(6)), folded.items[0].1);
        for (side, row) in [(Side::User, 0), (Side::User, 7), (Side::Item, 5)] {
            let known = pmf.factor(&lambda, side, Some(row));
            assert_eq!(wider.factor(&longer, side, Some(row)), known);
        }
        let nobody = pmf.factor(&lambda, Side::User, None);
        for (found, expected) in
            wider.factor(&longer, Side::User, Some(8)).mean().iter().zip(nobody.mean())
        {
            assert!((found - expected).abs() < 1e-12);
        }
        assert_eq!((wider.seen(9), wider.seen(0)), (&[1, 2][..], &[1, 2, 3, 5, 6][..]));
        assert!(wider.predictor(&longer).predict(Some(9), Some(3)).mean > 3.0);
        assert!(wider.absorb(&longer, &new).is_err());
    }
}
