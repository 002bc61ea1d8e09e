//! The ratings of many pairs at once, on all threads: every user and item is solved for once, however many pairs have it.

use rayon::prelude::*;

use super::Pmf;
use super::readout::{Factor, Prediction, Predictor};
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::stop;
use crate::model::RowSet;

/// Pairs that one worker predicts at a time.
const CHUNK: usize = 4096;

/// A user and an item; `None` is one that the model does not know.
pub type Pair = (Option<u32>, Option<u32>);

impl Pmf {
    /// The expected ratings of pairs, in their order. Of who or what is unknown the prior is all that is known.
    ///
    /// Much faster than [`Predictor::predict_all`], whose means are the same: no variance is computed.
    pub fn expected(&self, lambda: &Lambda, pairs: &[Pair]) -> Vec<f64> {
        let n_rows = lambda.n_rows();
        let mut rows = RowSet::all(n_rows);
        if pairs.len() < n_rows {
            rows.collect(|touch| {
                for &(user, item) in pairs {
                    let both = [self.row_of(Side::User, user), self.row_of(Side::Item, item)];
                    both.into_iter().flatten().for_each(|row| touch(&[row as u32]));
                }
            });
        }
        let (n, means) = (self.columns.free(), self.means_of(lambda, &rows));
        let nobody = vec![0.0; n];
        let mean = |side, number| match self.row_of(side, number) {
            Some(row) => &means[rows.slot(row) * n..][..n],
            None => &nobody[..],
        };
        let parts = pairs.par_iter().with_min_len(CHUNK);
        parts
            .map(|&(user, item)| self.centre(mean(Side::User, user), mean(Side::Item, item)))
            .collect()
    }

    /// The expected rating of every item by each of some users, user after user.
    pub fn expected_of_all(&self, lambda: &Lambda, users: &[Factor]) -> Vec<f64> {
        let (n, n_items) = (self.columns.free(), self.n_rows_of(Side::Item));
        let means = self.means(lambda, Side::Item);
        let mut ratings = vec![0.0; users.len() * n_items];
        ratings.par_chunks_mut(n_items.max(1)).zip(users).for_each(|(ratings, user)| {
            stop::check();
            for (rating, mean) in ratings.iter_mut().zip(means.chunks_exact(n)) {
                *rating = self.centre(user.mean(), mean);
            }
        });
        ratings
    }

    /// The row of lambda that a user or an item has, if it is known.
    fn row_of(&self, side: Side, number: Option<u32>) -> Option<usize> {
        let number = number? as usize;
        (number < self.n_rows_of(side)).then(|| self.first_row(side) + number)
    }
}

impl Predictor<'_> {
    /// The ratings of pairs, in their order, each as [`predict`](Predictor::predict) tells it.
    pub fn predict_all(&self, pairs: &[Pair]) -> Vec<Prediction> {
        let order = by_user(pairs, self.pmf.n_rows_of(Side::User));
        let parts: Vec<Vec<Prediction>> = order
            .par_chunks(CHUNK)
            .map(|part| {
                stop::check();
                let mut last: Option<(Option<u32>, Factor)> = None;
                let predict = |&at: &usize| {
                    let (user, item) = pairs[at];
                    let known = last.take().filter(|(number, _)| *number == user);
                    let (_, factor) = last.insert(known.unwrap_or_else(|| (user, self.user(user))));
                    self.rate(factor, item)
                };
                part.iter().map(predict).collect()
            })
            .collect();
        let nothing = Prediction { mean: 0.0, uncertainty: 0.0, variance: 0.0 };
        let mut predictions = vec![nothing; pairs.len()];
        for (&at, prediction) in order.iter().zip(parts.into_iter().flatten()) {
            predictions[at] = prediction;
        }
        predictions
    }
}

/// The places of pairs, sorted by their users; unknown ones last.
fn by_user(pairs: &[Pair], n_users: usize) -> Vec<usize> {
    let number = |pair: &Pair| pair.0.map_or(n_users, |user| (user as usize).min(n_users));
    let mut next = vec![0; n_users + 2];
    pairs.iter().for_each(|pair| next[number(pair) + 1] += 1);
    for i in 0..=n_users {
        next[i + 1] += next[i];
    }
    let mut order = vec![0; pairs.len()];
    for (at, pair) in pairs.iter().enumerate() {
        let next = &mut next[number(pair)];
        order[*next] = at;
        *next += 1;
    }
    order
}
