//! Lists of items for many users at once, on all threads: the same lists that each of them gets alone.
//!
//! By expected ratings, products are taken in single precision, item by item against a floor that rises with what was
//! found; what is within rounding of the floor is kept and ranked in double precision. Nothing is lost by it, and the
//! matrix of all ratings never exists.

use rayon::prelude::*;

use super::Pmf;
use super::readout::{Factor, Prediction, Predictor};
use super::recommend::{By, Recommendation};
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::kernels::{LIST_ITEMS, LIST_USERS, reach};
use crate::math::stop;

/// Users whose lists one worker makes at a time, so that items come from its cache.
const TOGETHER: usize = 8 * LIST_USERS;

/// Panels between two looks at the floors.
const PANELS: usize = 16;

/// Larger numbers are no matter for single precision.
const LARGEST: f64 = 1e15;

/// Which items lists may have, and in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListOptions {
    /// The most items that a list has.
    pub top: usize,
    /// What comes first.
    pub by: By,
    /// Whether items that a user has rated are listed.
    pub include_seen: bool,
    /// The only items that are listed, rising; all, if there are none.
    pub allowed: Option<Vec<u32>>,
    /// Whether it also gives how sure each expected rating is, which takes most of the time.
    pub uncertainty: bool,
}

/// Makes lists: a fitted model with its items at hand.
pub struct Lists<'a> {
    pmf: &'a Pmf,
    lambda: &'a Lambda,
    options: ListOptions,
    /// Items that may be listed, rising.
    items: Vec<u32>,
    /// Those that may not.
    barred: Vec<u32>,
    /// The means of all items.
    means: Vec<f64>,
    /// The items that may be listed in panels, and the norm of the longest.
    panels: Vec<f32>,
    longest: f64,
    /// Where variances are asked for.
    predictor: Option<Predictor<'a>>,
}

impl Pmf {
    /// What makes lists for the users of this state.
    pub fn lists<'a>(&'a self, lambda: &'a Lambda, options: ListOptions) -> Lists<'a> {
        let n_items = self.n_rows_of(Side::Item) as u32;
        let items = match &options.allowed {
            Some(allowed) => allowed.iter().copied().filter(|&item| item < n_items).collect(),
            None => (0..n_items).collect::<Vec<u32>>(),
        };
        let barred = (0..n_items).filter(|item| items.binary_search(item).is_err()).collect();
        let predictor =
            (options.uncertainty || options.by != By::Mean).then(|| self.predictor(lambda));
        let means = match &predictor {
            Some(predictor) => predictor.means().to_vec(),
            None => self.means(lambda, Side::Item),
        };
        let (n, d) = (self.columns.free(), self.columns.free().max(1));
        let mut panels = vec![0.0; items.len().div_ceil(LIST_ITEMS) * d * LIST_ITEMS];
        let mut longest: f64 = 0.0;
        for (at, &item) in items.iter().enumerate() {
            let mean = &means[item as usize * n..][..n];
            longest = longest.max(norm(mean));
            let panel = &mut panels[at / LIST_ITEMS * d * LIST_ITEMS..][..d * LIST_ITEMS];
            for (row, &x) in panel.chunks_exact_mut(LIST_ITEMS).zip(mean) {
                row[at % LIST_ITEMS] = x as f32;
            }
        }
        Lists { pmf: self, lambda, options, items, barred, means, panels, longest, predictor }
    }
}

impl Lists<'_> {
    /// The lists of some users, in their order; who is `None` is unknown, and gets what users like on the whole.
    pub fn of(&self, users: &[Option<u32>]) -> Vec<Vec<Recommendation>> {
        let parts: Vec<Vec<Vec<Recommendation>>> = users
            .par_chunks(TOGETHER)
            .map(|users| {
                stop::check();
                match self.options.by {
                    By::Mean => self.by_mean(users),
                    _ => users.iter().map(|&user| self.by_score(user)).collect(),
                }
            })
            .collect();
        parts.into_iter().flatten().collect()
    }

    /// The items that a user is not to be shown, rising, besides those that no user is.
    fn seen(&self, user: Option<u32>) -> &[u32] {
        user.filter(|_| !self.options.include_seen).map_or(&[][..], |user| self.pmf.seen(user))
    }

    /// By what takes variances or draws.
    fn by_score(&self, user: Option<u32>) -> Vec<Recommendation> {
        let Some(predictor) = &self.predictor else { return Vec::new() };
        let mut skipped = [&self.barred, self.seen(user)].concat();
        skipped.sort_unstable();
        let by = match (self.options.by, user) {
            (By::Thompson { seed }, Some(user)) => {
                By::of_user(seed, &self.pmf.ids(Side::User).get(user as usize).to_string())
            }
            (by, _) => by,
        };
        predictor.recommend(&predictor.user(user), self.options.top, by, &skipped)
    }

    fn by_mean(&self, users: &[Option<u32>]) -> Vec<Vec<Recommendation>> {
        let n = self.pmf.columns.free();
        let known: Vec<usize> = users.iter().flatten().map(|&user| user as usize).collect();
        let mut means = self.pmf.means_of_users(self.lambda, &known).into_iter();
        let means: Vec<Vec<f64>> = users
            .iter()
            .map(|user| match user {
                Some(_) => means.by_ref().take(n).collect(),
                None => vec![0.0; n],
            })
            .collect();
        let found = self.reached(users, &means);
        let told = users.iter().zip(means).zip(found);
        told.map(|((&user, mean), places)| self.ranked(user, &mean, &places)).collect()
    }

    /// For each user the places of items among which the list is.
    fn reached(&self, users: &[Option<u32>], means: &[Vec<f64>]) -> Vec<Vec<u32>> {
        let d = self.pmf.columns.free().max(1);
        let mut found: Vec<Found> =
            users.iter().zip(means).map(|(&user, mean)| self.begun(user, mean)).collect();
        let mut packed = vec![0.0; d * LIST_USERS];
        let step = PANELS * d * LIST_ITEMS;
        let groups: Vec<Vec<f32>> = means
            .chunks(LIST_USERS)
            .map(|means| {
                packed.fill(0.0);
                for (u, mean) in means.iter().enumerate() {
                    self.coefficients(mean)
                        .enumerate()
                        .for_each(|(k, x)| packed[k * LIST_USERS + u] = x as f32);
                }
                packed.clone()
            })
            .collect();
        let mut hits: Vec<Vec<(f32, u32)>> = vec![Vec::new(); LIST_USERS];
        for (block, panels) in self.panels.chunks(step.max(1)).enumerate() {
            let first = (block * PANELS * LIST_ITEMS) as u32;
            for (found, packed) in found.chunks_mut(LIST_USERS).zip(&groups) {
                let mut floors = [f32::INFINITY; LIST_USERS];
                floors.iter_mut().zip(&*found).for_each(|(floor, found)| *floor = found.floor);
                hits.iter_mut().for_each(Vec::clear);
                reach(self.pmf.isa, packed, panels, first, &floors, &mut hits);
                found.iter_mut().zip(&hits).for_each(|(found, hits)| found.add(hits, self));
            }
        }
        found
            .into_iter()
            .map(|found| found.hits.iter().map(|&(_, place)| place).collect())
            .collect()
    }

    /// What a user's factors are multiplied by: the item's bias counts once.
    fn coefficients<'m>(&self, mean: &'m [f64]) -> impl Iterator<Item = f64> + 'm {
        let d = self.pmf.columns.d;
        mean.iter().enumerate().map(move |(k, &x)| if k < d { x } else { 1.0 })
    }

    fn begun(&self, user: Option<u32>, mean: &[f64]) -> Found<'_> {
        let length = self.coefficients(mean).map(|x| x * x).sum::<f64>().sqrt();
        let size = length * self.longest;
        // Factors are rounded, and so is each of n sums of products.
        let error = (mean.len() + 4) as f64 * f64::from(f32::EPSILON) * size;
        // What single precision cannot hold is all ranked in double.
        let is_open = size.is_finite() && size < LARGEST;
        Found {
            seen: self.seen(user),
            hits: Vec::new(),
            floor: f32::NEG_INFINITY,
            margin: if is_open { 2.0 * error } else { f64::INFINITY },
        }
    }

    /// The best of some places in double precision.
    fn ranked(&self, user: Option<u32>, mean: &[f64], places: &[u32]) -> Vec<Recommendation> {
        let n = self.pmf.columns.free();
        let mut all: Vec<(f64, u32)> = places
            .iter()
            .map(|&place| {
                let item = self.items[place as usize];
                (self.pmf.centre(mean, &self.means[item as usize * n..][..n]), item)
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.truncate(self.options.top);
        let sure = self.predictor.as_ref().map(|predictor| (predictor, predictor.user(user)));
        let told = all.into_iter().map(|(mean, item)| {
            let unsure = Prediction { mean, uncertainty: f64::NAN, variance: f64::NAN };
            let rate =
                |(predictor, user): &(&Predictor<'_>, Factor)| predictor.rate(user, Some(item));
            let prediction = sure.as_ref().map_or(unsure, rate);
            Recommendation { item, score: mean, prediction }
        });
        told.collect()
    }
}

/// What has been found of a user's list.
struct Found<'a> {
    seen: &'a [u32],
    /// Products and places.
    hits: Vec<(f32, u32)>,
    /// What a product needs to be worth a look.
    floor: f32,
    /// How far below the last of the list an item may be that belongs there.
    margin: f64,
}

impl Found<'_> {
    fn add(&mut self, hits: &[(f32, u32)], lists: &Lists<'_>) {
        let top = lists.options.top;
        let may = |&&(_, place): &&(f32, u32)| {
            // Panels are filled up with places that no item has.
            let item = lists.items.get(place as usize);
            item.is_some_and(|item| self.seen.binary_search(item).is_err())
        };
        self.hits.extend(hits.iter().filter(may));
        if top == 0 {
            self.hits.clear();
        } else if self.hits.len() >= 2 * top && self.margin.is_finite() {
            let higher = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0);
            let (_, last, _) = self.hits.select_nth_unstable_by(top - 1, higher);
            let floor = f64::from(last.0) - self.margin;
            self.floor = (floor as f32).next_down();
            self.hits.retain(|&(product, _)| product >= self.floor);
        }
    }
}

/// The length of an item's row, of which the bias counts once.
fn norm(mean: &[f64]) -> f64 {
    mean.iter().map(|x| x * x).sum::<f64>().sqrt()
}
