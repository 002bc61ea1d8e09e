//! Which of a user's ratings an expected rating comes from: what it would be without each of them.

use rayon::prelude::*;

use super::hyper::Hyper;
use super::readout::Predictor;
use crate::data::Side;
use crate::math::packed::Symmetric;
use crate::math::stop;

/// A rating of a user's, and what it has done to another one that is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The item that was rated.
    pub item: u32,
    /// How it was.
    pub rating: f64,
    /// The expected rating, less what it would be without this one.
    pub by: f64,
}

impl Predictor<'_> {
    /// For each of some items, which of a user's ratings move the expected one: the `n` that move it most, the first one
    /// most. Without a rating means: the user's factors and bias as they would be without it, given the items, sigma^2
    /// and the priors as they are. With implicit feedback, as if the item had not been used.
    pub fn explain(&self, user: u32, items: &[u32], n: usize) -> Vec<Vec<Moved>> {
        let pmf = self.pmf;
        let (rated, values) = pmf.seen.row(user as usize);
        let weights = pmf.seen.weights_of(user as usize);
        let natural = self.lambda.table().row(pmf.first_row(Side::User) + user as usize);
        let whole = pmf.factor_of(natural);
        // The mean of the user without each of the ratings.
        let without: Vec<Option<Vec<f64>>> = rated
            .par_iter()
            .zip(values)
            .enumerate()
            .map_init(
                || pmf.solver(),
                |solver, (n, (&item, &value))| {
                    stop::check();
                    let mut rest = natural.to_vec();
                    let weight = weights.get(n).map_or(1.0, |&weight| f64::from(weight));
                    let part = self.of_rating(item, value, weight);
                    rest.iter_mut().zip(part).for_each(|(rest, part)| *rest -= part);
                    solver.solve_valid(pmf.isa, &rest).map(<[f64]>::to_vec)
                },
            )
            .collect();
        let moved = |&item: &u32| {
            let (of_item, _) = self.item(Some(item));
            let expected = pmf.centre(whole.mean(), of_item);
            let mut all: Vec<Moved> = rated
                .iter()
                .zip(values)
                .zip(&without)
                .filter_map(|((&item, &rating), mean)| {
                    let by = expected - pmf.centre(mean.as_ref()?, of_item);
                    Some(Moved { item, rating: rating.into(), by })
                })
                .collect();
            all.sort_by(|a, b| b.by.abs().total_cmp(&a.by.abs()).then(a.item.cmp(&b.item)));
            all.truncate(n);
            all
        };
        items.iter().map(moved).collect()
    }

    /// What a rating has added to the natural parameters of its user.
    fn of_rating(&self, item: u32, value: f32, own: f64) -> Vec<f64> {
        let pmf = self.pmf;
        let (columns, shape) = (pmf.columns, Symmetric::full(pmf.columns.free()));
        let (mean, covariance) = self.item(Some(item));
        let d = columns.d;
        let by_noise = 1.0 / Hyper::new(&self.lambda.hyper, columns).noise();
        // The weight of the pair, and of its value; a use that was none would be a 0 of weight 1.
        let (weight, rated) = match pmf.confidence() {
            None => (own, own * (f64::from(value) - pmf.mean)),
            Some(confidence) => {
                let more = confidence * f64::from(value);
                (more, 1.0 + more)
            }
        };
        let (scale, rated) = (by_noise * weight, by_noise * rated);
        let second = |k: usize, l: usize| {
            f64::from(covariance[shape.diagonal_index(k) - (k - l)]) + mean[k] * mean[l]
        };
        let mut natural = Vec::with_capacity(columns.width());
        for k in 0..d {
            natural.extend((0..=k).map(|l| scale * second(k, l)));
        }
        if columns.biases {
            natural.extend(mean[..d].iter().map(|m| scale * m));
            natural.push(scale);
            let cross = (0..d).map(|l| second(d, l));
            natural.extend(mean[..d].iter().zip(cross).map(|(m, c)| rated * m - scale * c));
            natural.push(rated - scale * mean[d]);
        } else {
            natural.extend(mean[..d].iter().map(|m| rated * m));
        }
        natural
    }
}
