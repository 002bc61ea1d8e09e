//! Lists of items: the ends of each dimension, by bias, and what users may like.

use std::collections::HashMap;

use lehr::data::Side;
use lehr::models::Stored;
use lehr::models::pmf::{By, Pmf, Predictor, Recommendation};
use lehr::store::Run;
use lehr_plot::caption::rounded;
use lehr_plot::{Panel, Series};
use serde::Serialize;

use crate::chart::Chart;

/// Items at each end of a dimension, by bias, and for a user.
const ENDS: usize = 6;
const LOVED: usize = 10;
const RECOMMENDED: usize = 10;
/// Dimensions that are listed, those with the largest variances.
const AXES: usize = 20;
/// Users that are chosen if none are named.
const USERS: usize = 9;
/// Half the width of an 80 % interval, in standard deviations.
const EIGHTY: f64 = 1.281_551_565_544_6;

/// A dimension and the items at its ends.
#[derive(Debug, Serialize)]
pub struct Axis {
    dimension: usize,
    variance: String,
    high: Vec<Liked>,
    low: Vec<Liked>,
}

/// An item with a number.
#[derive(Debug, Clone, Serialize)]
pub struct Liked {
    item: String,
    number: String,
    ratings: usize,
}

/// A user and what they may like.
#[derive(Debug, Serialize)]
pub struct User {
    /// Their id.
    pub id: String,
    rated: usize,
    /// By expected rating.
    by_mean: Vec<Listed>,
    /// By its upper end.
    by_upper: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    item: String,
    rating: String,
    sd: String,
    low: String,
    high: String,
}

/// What lists are made of.
pub struct Lists<'a> {
    run: &'a Run<Pmf>,
    titles: &'a HashMap<String, String>,
    /// Training ratings of each item.
    pub counts: Vec<usize>,
}

impl<'a> Lists<'a> {
    /// Of a run.
    pub fn of(run: &'a Run<Pmf>, titles: &'a HashMap<String, String>) -> Self {
        let mut counts = vec![0; run.config.frozen.items];
        for user in 0..run.config.frozen.users as u32 {
            run.model.seen(user).iter().for_each(|&item| counts[item as usize] += 1);
        }
        Lists { run, titles, counts }
    }

    fn name(&self, item: usize) -> String {
        let id = self.run.model.ids(Side::Item).get(item).to_string();
        self.titles.get(&id).cloned().unwrap_or(id)
    }

    fn liked(&self, item: usize, number: f64) -> Liked {
        Liked { item: self.name(item), number: format!("{number:+.2}"), ratings: self.counts[item] }
    }

    /// The dimensions that tell most apart, by their numbers, and the items at their ends.
    pub fn axes(&self) -> Vec<Axis> {
        let variances = self.run.model.item_variances(self.run.lambda());
        let arrays = self.run.model.readable(self.run.lambda());
        let Some(factors) = arrays.iter().find(|array| array.name == "item_factors") else {
            return Vec::new();
        };
        let d = variances.len();
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]).then(a.cmp(&b)));
        order.truncate(AXES);
        let axis = |&dimension: &usize| {
            let of = |item: usize| factors.values[item * d + dimension];
            let mut items: Vec<usize> = (0..self.counts.len()).collect();
            items.sort_by(|&a, &b| of(b).total_cmp(&of(a)).then(a.cmp(&b)));
            let liked = |&item: &usize| self.liked(item, of(item));
            Axis {
                dimension,
                variance: rounded(variances[dimension], 3),
                high: items.iter().take(ENDS).map(liked).collect(),
                low: items.iter().rev().take(ENDS).map(liked).collect(),
            }
        };
        order.iter().map(axis).collect()
    }

    fn item_biases(&self) -> Option<Vec<f64>> {
        self.run.model.biases(self.run.lambda(), Side::Item)
    }

    /// The items with the highest and the lowest biases, if there are biases.
    pub fn loved(&self) -> (Vec<Liked>, Vec<Liked>) {
        let Some(biases) = self.item_biases() else { return (Vec::new(), Vec::new()) };
        let mut order: Vec<usize> = (0..biases.len()).collect();
        order.sort_by(|&a, &b| biases[b].total_cmp(&biases[a]).then(a.cmp(&b)));
        let liked = |&item: &usize| self.liked(item, biases[item]);
        (
            order.iter().take(LOVED).map(liked).collect(),
            order.iter().rev().take(LOVED).map(liked).collect(),
        )
    }

    /// How biases are spread, of users and of items.
    pub fn biases(&self) -> Option<Chart> {
        let all = [
            ("users", self.run.model.biases(self.run.lambda(), Side::User)?),
            ("items", self.item_biases()?),
        ];
        let most = all.iter().flat_map(|(_, b)| b).fold(1e-9_f64, |most, x| most.max(x.abs()));
        const BINS: usize = 24;
        let width = 2.0 * most / BINS as f64;
        let mut panel = Panel::new("").x_label("bias").y_label("percent");
        let mut rows = Vec::new();
        for (name, biases) in &all {
            let mut counts = [0usize; BINS];
            for bias in biases {
                counts[(((bias + most) / width) as usize).min(BINS - 1)] += 1;
            }
            let percent = |n: usize| 100.0 * n as f64 / biases.len().max(1) as f64;
            let middle = |at: usize| (at as f64 + 0.5) * width - most;
            let bars = counts.iter().enumerate().map(|(at, &n)| (middle(at), percent(n)));
            panel = panel.with(Series::bars(bars).label(*name));
            let row = |(at, &n): (usize, &usize)| vec![(*name).into(), middle(at).into(), n.into()];
            rows.extend(counts.iter().enumerate().map(row));
        }
        Some(
            Chart::new("biases", "Biases", panel, (560.0, 200.0))
                .note("How much higher a user rates than others do, and how much higher an item is rated.")
                .numbers(&["side", "bias", "count"], rows),
        )
    }

    /// What users may like, and who is not known. By default, users with few to many ratings.
    pub fn users(&self, named: &[String]) -> (Vec<User>, Vec<String>) {
        let predictor = self.run.model.predictor(self.run.lambda());
        let mut unknown = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for id in named {
            match self.run.model.find_user(id.trim()) {
                Some(user) => numbers.push(user),
                None => unknown.push(format!("User {id} is not in the model, and has no list.")),
            }
        }
        if named.is_empty() {
            let mut order: Vec<u32> = (0..self.run.config.frozen.users as u32).collect();
            order.sort_by_key(|&user| (self.run.model.seen(user).len(), user));
            let n = order.len().min(USERS);
            let place = |at: usize| order[at * (order.len() - 1) / n.saturating_sub(1).max(1)];
            numbers = (0..n).map(place).collect();
            numbers.dedup();
        }
        (numbers.into_iter().map(|user| self.user(&predictor, user)).collect(), unknown)
    }

    fn user(&self, predictor: &Predictor<'_>, user: u32) -> User {
        let (factor, seen) = (predictor.user(Some(user)), self.run.model.seen(user));
        let listed = |found: &Recommendation| {
            let (mean, reach) =
                (found.prediction.mean, EIGHTY * found.prediction.variance.max(0.0).sqrt());
            Listed {
                item: self.name(found.item as usize),
                rating: format!("{mean:.2}"),
                sd: format!("{:.2}", found.prediction.sd()),
                low: format!("{:.1}", mean - reach),
                high: format!("{:.1}", mean + reach),
            }
        };
        let list = |by: By| -> Vec<Listed> {
            predictor.recommend(&factor, RECOMMENDED, by, seen).iter().map(listed).collect()
        };
        User {
            id: self.run.model.ids(Side::User).get(user as usize).to_string(),
            rated: seen.len(),
            by_mean: list(By::Mean),
            by_upper: list(By::Ucb { beta: 1.0 }),
        }
    }
}
