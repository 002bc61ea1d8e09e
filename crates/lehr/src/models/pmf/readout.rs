//! Predictions with their uncertainty, and how good they are.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use super::Pmf;
use super::expect::Solver;
use crate::data::{Ratings, Side};
use crate::lambda::Lambda;
use crate::math::packed::Symmetric;
use crate::model::{RowSet, Scores};

/// Rows that one worker solves for at a time.
const CHUNK: usize = 16;

/// Users whose ratings one worker scores at a time; part of the definition of the sums.
const SCORED: usize = 64;

/// The intervals whose coverage is measured, in percent, and their half widths in standard deviations.
const INTERVALS: [(&str, f64); 3] = [
    ("coverage_50", 0.674_489_750_196_081_7),
    ("coverage_80", 1.281_551_565_544_600_4),
    ("coverage_95", 1.959_963_984_540_054),
];

/// A predicted rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Its mean.
    pub mean: f64,
    /// The variance of the mean: what more ratings of this user and item would take away.
    pub uncertainty: f64,
    /// The variance of a rating around it, sigma^2 included.
    pub variance: f64,
}

impl Prediction {
    /// The standard deviation of the mean.
    pub fn sd(&self) -> f64 {
        self.uncertainty.max(0.0).sqrt()
    }

    /// The log density of a rating, the prediction taken as a normal distribution.
    pub fn log_density(&self, rating: f64) -> f64 {
        let error = rating - self.mean;
        -0.5 * ((2.0 * std::f64::consts::PI * self.variance).ln() + error * error / self.variance)
    }
}

/// One user's q: means and covariance of factors and bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Vec<f64>,
    /// Covariance plus the mean's square, those off the diagonal doubled: what an item's covariance is
    /// multiplied by.
    weighted: Vec<f64>,
}

/// Predicts ratings: a fitted model with its items' q at hand.
pub struct Predictor<'a> {
    pub(super) pmf: &'a Pmf,
    pub(super) lambda: &'a Lambda,
    /// Mean and covariance of every item, and of an unknown one at the end.
    means: Vec<f64>,
    covariances: Vec<f32>,
    noise: f64,
}

impl Pmf {
    /// A predictor for this state.
    pub fn predictor<'a>(&'a self, lambda: &'a Lambda) -> Predictor<'a> {
        let packed = self.columns.linear();
        let mut covariances = vec![0.0; (self.n_rows_of(Side::Item) + 1) * packed];
        let mut means = self.solve_side(lambda, Side::Item, &mut covariances);
        let unknown = self.unknown(lambda, Side::Item);
        means.extend_from_slice(&unknown.mean);
        let last = covariances.len() - packed;
        covariances[last..].iter_mut().zip(&unknown.covariance).for_each(|(c, &x)| *c = x as f32);
        Predictor { pmf: self, lambda, means, covariances, noise: self.noise_variance(lambda) }
    }

    /// The means of a side's factors and biases, row after row.
    pub(super) fn means(&self, lambda: &Lambda, side: Side) -> Vec<f64> {
        self.solve_side(lambda, side, &mut [])
    }

    /// The means of some users, in their order.
    pub(super) fn means_of_users(&self, lambda: &Lambda, users: &[usize]) -> Vec<f64> {
        let n = self.columns.free();
        let mut solver = self.solver();
        let mut means = Vec::with_capacity(users.len() * n);
        for users in users.chunks(CHUNK) {
            solver.solve_some(self.isa, users.iter().map(|&user| lambda.table().row(user)));
            means.extend_from_slice(&solver.mean[..users.len() * n]);
        }
        means
    }

    /// The means of some rows of lambda, slot after slot.
    pub(super) fn means_of(&self, lambda: &Lambda, rows: &RowSet) -> Vec<f64> {
        self.solve_slots(lambda, rows, 0..rows.len(), &mut [])
    }

    /// The means of a side; covariances, too, if there is room for them.
    fn solve_side(&self, lambda: &Lambda, side: Side, covariances: &mut [f32]) -> Vec<f64> {
        let first = self.first_row(side);
        let rows = RowSet::all(lambda.n_rows());
        self.solve_slots(lambda, &rows, first..first + self.n_rows_of(side), covariances)
    }

    fn solve_slots(
        &self,
        lambda: &Lambda,
        rows: &RowSet,
        slots: Range<usize>,
        covariances: &mut [f32],
    ) -> Vec<f64> {
        let (n, packed) = (self.columns.free(), self.columns.linear());
        let mut means = vec![0.0; slots.len() * n];
        let mut room: Vec<&mut [f32]> = covariances.chunks_mut(CHUNK * packed).collect();
        room.resize_with(slots.len().div_ceil(CHUNK).max(room.len()), || &mut []);
        means.par_chunks_mut(CHUNK * n).zip(room).enumerate().for_each_init(
            || self.solver(),
            |solver, (chunk, (means, covariances))| {
                let begin = slots.start + chunk * CHUNK;
                solver.solve(self.isa, lambda, rows, begin..begin + means.len() / n);
                means.copy_from_slice(&solver.mean[..means.len()]);
                covariances
                    .iter_mut()
                    .zip(&solver.covariance)
                    .for_each(|(out, &x)| *out = x as f32);
            },
        );
        means
    }

    pub(super) fn solver(&self) -> Solver {
        Solver::new(self.columns)
    }

    /// The expected rating, given the means of a user and an item.
    pub(super) fn centre(&self, user: &[f64], item: &[f64]) -> f64 {
        let d = self.columns.d;
        let mut centre: f64 = user[..d].iter().zip(item).map(|(u, v)| u * v).sum();
        if self.columns.biases {
            centre += user[d] + item[d];
        }
        centre + self.mean
    }

    /// q of a user or item that nothing is known of: the prior.
    fn unknown(&self, lambda: &Lambda, side: Side) -> Factor {
        let n = self.columns.free();
        let shape = Symmetric::full(n);
        let mut covariance = vec![0.0; shape.len()];
        for (k, variance) in self.hyper_of(lambda).prior(side).enumerate() {
            covariance[shape.diagonal_index(k)] = variance;
        }
        Factor::new(vec![0.0; n], covariance)
    }

    /// q of a user or an item; the prior if it is unknown.
    pub fn factor(&self, lambda: &Lambda, side: Side, index: Option<u32>) -> Factor {
        match index.filter(|&index| (index as usize) < self.n_rows_of(side)) {
            None => self.unknown(lambda, side),
            Some(index) => {
                let natural = lambda.table().row(self.first_row(side) + index as usize);
                self.factor_of(natural)
            }
        }
    }

    /// q of given natural parameters.
    pub(super) fn factor_of(&self, natural: &[f64]) -> Factor {
        let mut solver = self.solver();
        let (mean, covariance) = solver.solve_one(self.isa, natural);
        Factor::new(mean.to_vec(), covariance.to_vec())
    }
}

impl Factor {
    fn new(mean: Vec<f64>, covariance: Vec<f64>) -> Self {
        let mut weighted = Vec::with_capacity(covariance.len());
        for k in 0..mean.len() {
            for l in 0..=k {
                let square = covariance[weighted.len()] + mean[k] * mean[l];
                weighted.push(if k == l { square } else { 2.0 * square });
            }
        }
        Factor { mean, covariance, weighted }
    }

    /// The means of the factors, then that of the bias if there is one.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The standard deviations of the same.
    pub fn deviations(&self) -> impl Iterator<Item = f64> + '_ {
        let shape = Symmetric::full(self.mean.len());
        (0..self.mean.len()).map(move |k| self.covariance[shape.diagonal_index(k)].max(0.0).sqrt())
    }
}

impl Predictor<'_> {
    /// The rating of an item by a user; of unknown ones the prior is all that is known.
    pub fn predict(&self, user: Option<u32>, item: Option<u32>) -> Prediction {
        self.rate(&self.user(user), item)
    }

    /// The means of all items, and of an unknown one.
    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    /// q of a user.
    pub fn user(&self, user: Option<u32>) -> Factor {
        self.pmf.factor(self.lambda, Side::User, user)
    }

    /// Mean and covariance of an item.
    pub(super) fn item(&self, item: Option<u32>) -> (&[f64], &[f32]) {
        let n_items = self.pmf.n_rows_of(Side::Item);
        let at = item.map_or(n_items, |item| (item as usize).min(n_items));
        let (n, packed) = (self.pmf.columns.free(), self.pmf.columns.linear());
        (&self.means[at * n..][..n], &self.covariances[at * packed..][..packed])
    }

    /// The rating of an item by a user with this q.
    pub fn rate(&self, user: &Factor, item: Option<u32>) -> Prediction {
        let d = self.pmf.columns.d;
        let (mean, covariance) = self.item(item);
        let (of_factors, of_bias) = covariance.split_at(self.pmf.columns.packed());
        let (user_factors, user_bias) = user.covariance.split_at(of_factors.len());
        // Var(u'v) = tr(Cu Cv) + mu'Cv mu + mv'Cu mv.
        let mut variance: f64 =
            user.weighted.iter().zip(of_factors).map(|(w, &c)| w * f64::from(c)).sum();
        let mut at = 0;
        for k in 0..d {
            let row = &user_factors[at..=at + k];
            let dot: f64 = row[..k].iter().zip(mean).map(|(c, m)| c * m).sum();
            variance += mean[k] * (2.0 * dot + row[k] * mean[k]);
            at += k + 1;
        }
        if self.pmf.columns.biases {
            // Each side's factors and bias are correlated under q.
            let with_user: f64 = user_bias[..d].iter().zip(mean).map(|(c, m)| c * m).sum();
            let with_item: f64 =
                of_bias[..d].iter().zip(&user.mean).map(|(&c, m)| f64::from(c) * m).sum();
            variance += user_bias[d] + f64::from(of_bias[d]) + 2.0 * (with_user + with_item);
        }
        let uncertainty = variance.max(0.0);
        let centre = self.pmf.centre(&user.mean, mean);
        Prediction { mean: centre, uncertainty, variance: uncertainty + self.noise }
    }

    /// How well the ratings are predicted.
    pub fn scores(&self, ratings: &Ratings) -> RatingScores {
        let grouped = ratings.side(Side::User);
        let (n_users, n_items) = (self.pmf.n_rows_of(Side::User), self.pmf.n_rows_of(Side::Item));
        let users: Vec<usize> = (0..grouped.n_rows()).collect();
        let parts: Vec<Sums> = users
            .par_chunks(SCORED)
            .map(|users| {
                let mut sums = Sums::default();
                for &i in users {
                    let (items, values) = grouped.row(i);
                    if items.is_empty() {
                        continue;
                    }
                    let known = (i < n_users).then_some(i as u32);
                    let user = self.user(known);
                    for (&j, &y) in items.iter().zip(values) {
                        let item = Some(j).filter(|&j| (j as usize) < n_items);
                        sums.add(&self.rate(&user, item), f64::from(y));
                        sums.unknown_users += u64::from(known.is_none());
                        sums.unknown_items += u64::from(item.is_none());
                    }
                }
                sums
            })
            .collect();
        Sums::total(&parts).scores()
    }

    /// How well the ratings are predicted of which the model is surest, and so on to those of which it is least sure:
    /// parts of equal size, in the order of the predicted deviation of a rating.
    ///
    /// Intervals that are right on average may still be too wide where the model is sure, and too narrow where it is not.
    pub fn scores_by_uncertainty(&self, ratings: &Ratings, parts: usize) -> Vec<UncertaintyScores> {
        let grouped = ratings.side(Side::User);
        let (n_users, n_items) = (self.pmf.n_rows_of(Side::User), self.pmf.n_rows_of(Side::Item));
        let users: Vec<usize> = (0..grouped.n_rows()).collect();
        let of_user = |&i: &usize| {
            let (items, values) = grouped.row(i);
            let user = self.user((i < n_users).then_some(i as u32));
            let rate = |(&j, &y): (&u32, &f32)| {
                (self.rate(&user, Some(j).filter(|&j| (j as usize) < n_items)), f64::from(y))
            };
            items.iter().zip(values).map(rate).collect::<Vec<_>>()
        };
        let mut all: Vec<(Prediction, f64)> = users.par_iter().flat_map_iter(of_user).collect();
        // Stable, so that equals stay in the order of the data.
        all.par_sort_by(|a, b| a.0.variance.total_cmp(&b.0.variance));
        let n = all.len();
        let parts = (0..parts).map(|part| &all[part * n / parts..(part + 1) * n / parts]);
        parts.filter(|part| !part.is_empty()).map(UncertaintyScores::of).collect()
    }
}

/// How well ratings are predicted of which the model is about equally sure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UncertaintyScores {
    /// How many ratings.
    pub ratings: u64,
    /// The RMSE that the model predicts: the root of the mean predicted variance.
    pub predicted_rmse: f64,
    /// The RMSE that they have.
    pub rmse: f64,
    /// The shares of ratings inside their 50, 80 and 95 % intervals.
    pub coverage: [f64; 3],
}

impl UncertaintyScores {
    fn of(part: &[(Prediction, f64)]) -> Self {
        let mut sums = Sums::default();
        part.iter().for_each(|(prediction, rating)| sums.add(prediction, *rating));
        let RatingScores { ratings, rmse, coverage, .. } = sums.scores();
        let variance = part.iter().map(|(prediction, _)| prediction.variance).sum::<f64>();
        UncertaintyScores {
            ratings,
            predicted_rmse: (variance / ratings as f64).sqrt(),
            rmse,
            coverage,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: u64,
    squares: f64,
    absolute: f64,
    log_density: f64,
    inside: [u64; 3],
    unknown_users: u64,
    unknown_items: u64,
}

impl Sums {
    fn add(&mut self, prediction: &Prediction, rating: f64) {
        let error = (rating - prediction.mean).abs();
        self.n += 1;
        self.squares += error * error;
        self.absolute += error;
        self.log_density += prediction.log_density(rating);
        for (inside, (_, width)) in self.inside.iter_mut().zip(INTERVALS) {
            *inside += u64::from(error <= width * prediction.variance.sqrt());
        }
    }

    fn total(parts: &[Sums]) -> Sums {
        parts.iter().fold(Sums::default(), |sum, part| Sums {
            n: sum.n + part.n,
            squares: sum.squares + part.squares,
            absolute: sum.absolute + part.absolute,
            log_density: sum.log_density + part.log_density,
            inside: std::array::from_fn(|i| sum.inside[i] + part.inside[i]),
            unknown_users: sum.unknown_users + part.unknown_users,
            unknown_items: sum.unknown_items + part.unknown_items,
        })
    }

    fn scores(&self) -> RatingScores {
        let n = self.n as f64;
        RatingScores {
            ratings: self.n,
            rmse: (self.squares / n).sqrt(),
            mae: self.absolute / n,
            log_density: self.log_density / n,
            coverage: self.inside.map(|inside| inside as f64 / n),
            unknown_users: self.unknown_users,
            unknown_items: self.unknown_items,
        }
    }
}

/// How well some ratings are predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatingScores {
    /// How many ratings.
    pub ratings: u64,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The mean log predictive density.
    pub log_density: f64,
    /// The shares of ratings inside their 50, 80 and 95 % intervals.
    pub coverage: [f64; 3],
    /// Ratings by users that the model does not know.
    pub unknown_users: u64,
    /// Ratings of items that the model does not know.
    pub unknown_items: u64,
}

impl RatingScores {
    /// In the form of the trace.
    pub(super) fn as_scores(&self) -> Scores {
        let mut named = vec![("rmse", self.rmse), ("mae", self.mae)];
        named.extend(INTERVALS.iter().zip(self.coverage).map(|((name, _), share)| (*name, share)));
        Scores { main: self.log_density, named }
    }
}
