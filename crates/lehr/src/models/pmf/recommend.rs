//! The items to show a user: by expected rating, by its upper end, or by a draw from q.

use std::str::FromStr;

use rayon::prelude::*;

use super::readout::{Factor, Prediction, Predictor};
use crate::data::Side;
use crate::math::packed::Symmetric;
use crate::math::rng::{Address, Purpose};

/// What items are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum By {
    /// The expected rating.
    #[default]
    Mean,
    /// The expected rating plus `beta` standard deviations of it: items worth trying.
    Ucb {
        /// How many standard deviations.
        beta: f64,
    },
    /// The rating under one draw of all factors from q, so that each item is shown as often as it may
    /// be the best.
    Thompson {
        /// Which draw.
        seed: u64,
    },
}

impl By {
    /// A draw of a user's own, so that what one is shown says nothing of what another one is.
    pub fn of_user(seed: u64, id: &str) -> By {
        // FNV-1a.
        let spread = id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        By::Thompson { seed: seed ^ spread }
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(By::Mean),
            "ucb" => Ok(By::Ucb { beta: 1.0 }),
            "thompson" => Ok(By::Thompson { seed: 0 }),
            _ => Err(format!("'{text}': use mean, ucb or thompson")),
        }
    }
}

/// An item that a user may like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// The item's number.
    pub item: u32,
    /// What it is ranked by.
    pub score: f64,
    /// The predicted rating.
    pub prediction: Prediction,
}

impl Predictor<'_> {
    /// The `top` best items for a user with this q, best first. Items
    /// in `skipped`, which rise, are left out.
    pub fn recommend(
        &self,
        user: &Factor,
        top: usize,
        by: By,
        skipped: &[u32],
    ) -> Vec<Recommendation> {
        let n_items = self.pmf.n_rows_of(Side::Item) as u32;
        let drawn = match by {
            By::Thompson { seed } => Some((user.draw(seed), seed)),
            _ => None,
        };
        let mut all: Vec<Recommendation> = (0..n_items)
            .into_par_iter()
            .filter(|item| skipped.binary_search(item).is_err())
            .map(|item| {
                let prediction = self.rate(user, Some(item));
                let score = match (by, &drawn) {
                    (By::Ucb { beta }, _) => prediction.mean + beta * prediction.sd(),
                    (By::Thompson { .. }, Some((user, seed))) => self.draw(user, item, *seed),
                    _ => prediction.mean,
                };
                Recommendation { item, score, prediction }
            })
            .collect();
        // Equals in the order of their numbers, so that the list is always the same.
        let best_first = |a: &Recommendation, b: &Recommendation| {
            b.score.total_cmp(&a.score).then(a.item.cmp(&b.item))
        };
        if top < all.len() {
            all.select_nth_unstable_by(top, best_first);
            all.truncate(top);
        }
        all.sort_by(best_first);
        all
    }

    /// The rating of an item under a draw of the user's factors: given those it is normal.
    fn draw(&self, user: &[f64], item: u32, seed: u64) -> f64 {
        let (mean, covariance) = self.item(Some(item));
        let d = self.pmf.columns.d;
        // The item's bias counts once.
        let x: Vec<f64> = user[..d].iter().copied().chain([1.0]).take(mean.len()).collect();
        let mut centre: f64 = x.iter().zip(mean).map(|(x, m)| x * m).sum();
        centre += user.get(d).copied().unwrap_or(0.0) + self.pmf.mean;
        let covariance: Vec<f64> = covariance.iter().map(|&c| f64::from(c)).collect();
        let variance = Symmetric::full(x.len()).quadratic(&covariance, &x).max(0.0);
        let mut rng = Address::new(seed, Purpose::Thompson, 0, 1).rng(u64::from(item));
        centre + variance.sqrt() * rng.normal()
    }
}

impl Factor {
    /// A draw of factors and bias.
    fn draw(&self, seed: u64) -> Vec<f64> {
        let shape = Symmetric::full(self.mean.len());
        let mut factor = self.covariance.clone();
        if !shape.cholesky(&mut factor) {
            return self.mean.clone();
        }
        let mut rng = Address::new(seed, Purpose::Thompson, 0, 0).rng(0);
        let normal: Vec<f64> = self.mean.iter().map(|_| rng.normal()).collect();
        let mut out = vec![0.0; normal.len()];
        shape.lower_times(&factor, &normal, &mut out);
        out.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
        out
    }
}
