//! How far predictions are off, and whether the model knows it.

use lehr::data::{Ratings, Side};
use lehr::models::pmf::Pmf;
use lehr::store::Run;
use lehr_plot::caption::rounded;
use lehr_plot::{Colour, Panel, Series};
use rayon::prelude::*;
use serde::Serialize;

use crate::chart::{Cell, Chart};

/// Users that one worker looks at.
const CHUNK: usize = 64;

/// Levels of the intervals, in percent, and their half widths in standard deviations.
const LEVELS: [(f64, f64); 10] = [
    (10.0, 0.125_661_346_855_074),
    (20.0, 0.253_347_103_135_8),
    (30.0, 0.385_320_466_407_568),
    (40.0, 0.524_400_512_708_041),
    (50.0, 0.674_489_750_196_082),
    (60.0, 0.841_621_233_572_914),
    (70.0, 1.036_433_389_493_79),
    (80.0, 1.281_551_565_544_6),
    (90.0, 1.644_853_626_951_47),
    (95.0, 1.959_963_984_540_05),
];

/// From this many ratings on, a bin.
const BINS: [usize; 7] = [0, 1, 5, 20, 50, 200, 1000];

/// A test rating: how far off, and how far the model thinks it may be.
struct Seen {
    error: f64,
    deviation: f64,
    /// Of the user and of the item, in the training ratings.
    ratings: [usize; 2],
}

/// The errors of all test ratings.
pub struct Errors(Vec<Seen>);

/// A fifth of the ratings, by the model's own uncertainty.
#[derive(Debug, Serialize)]
pub struct Fifth {
    name: &'static str,
    deviations: String,
    rmse: String,
    inside: [String; 3],
}

/// Ratings of users or items with this many training ratings.
#[derive(Debug, Serialize)]
pub struct Bin {
    name: String,
    ratings: usize,
    rmse: String,
    expected: String,
}

fn root_mean<'a>(
    errors: impl Iterator<Item = &'a Seen>,
    of: impl Fn(&Seen) -> f64,
) -> (f64, usize) {
    let (mut sum, mut n) = (0.0, 0);
    for seen in errors {
        sum += of(seen).powi(2);
        n += 1;
    }
    ((sum / f64::from(n.max(1))).sqrt(), n as usize)
}

fn inside(errors: &[Seen], width: f64) -> f64 {
    let n = errors.iter().filter(|seen| seen.error.abs() <= width * seen.deviation).count();
    n as f64 / errors.len().max(1) as f64
}

impl Errors {
    /// Of ratings that the model was not fitted to; pairs that it was are left out. `counts` are the items' training
    /// ratings.
    pub fn of(run: &Run<Pmf>, test: &Ratings, counts: &[usize]) -> Self {
        let predictor = run.model.predictor(run.lambda());
        let n_users = run.config.frozen.users;
        let grouped = test.side(Side::User);
        let users: Vec<usize> = (0..grouped.n_rows()).collect();
        let of_user = |&user: &usize| {
            let (items, values) = grouped.row(user);
            let known = (user < n_users).then_some(user as u32);
            let factor = predictor.user(known);
            let fitted = known.map_or(&[][..], |user| run.model.seen(user));
            let new =
                items.iter().zip(values).filter(|(item, _)| fitted.binary_search(item).is_err());
            new.map(|(&item, &rating)| {
                let known = Some(item).filter(|&item| (item as usize) < counts.len());
                let prediction = predictor.rate(&factor, known);
                Seen {
                    error: f64::from(rating) - prediction.mean,
                    deviation: prediction.variance.sqrt(),
                    ratings: [fitted.len(), known.map_or(0, |item| counts[item as usize])],
                }
            })
            .collect::<Vec<Seen>>()
        };
        let parts: Vec<Vec<Seen>> =
            users.par_chunks(CHUNK).map(|users| users.iter().flat_map(of_user).collect()).collect();
        let mut all: Vec<Seen> = parts.into_iter().flatten().collect();
        all.sort_by(|a, b| a.deviation.total_cmp(&b.deviation));
        Errors(all)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn fifth(&self, at: usize) -> &[Seen] {
        let n = self.0.len();
        &self.0[at * n / 5..(at + 1) * n / 5]
    }

    /// By how unsure the model is, from sure to unsure.
    pub fn fifths(&self) -> Vec<Fifth> {
        let names = ["surest", "second", "third", "fourth", "least sure"];
        let of = |(at, name): (usize, &'static str)| {
            let part = self.fifth(at);
            let ends = part.first().zip(part.last());
            let percent = |width: f64| format!("{:.1}", 100.0 * inside(part, width));
            Fifth {
                name,
                deviations: ends.map_or(String::new(), |(a, b)| {
                    format!("{} to {}", rounded(a.deviation, 3), rounded(b.deviation, 3))
                }),
                rmse: rounded(root_mean(part.iter(), |seen| seen.error).0, 4),
                inside: [LEVELS[4].1, LEVELS[7].1, LEVELS[9].1].map(percent),
            }
        };
        if self.0.len() < 5 { Vec::new() } else { names.into_iter().enumerate().map(of).collect() }
    }

    /// Shares inside the intervals against what they shall hold.
    pub fn chart(&self) -> Chart {
        let line = |errors: &[Seen]| -> Vec<(f64, f64)> {
            LEVELS.iter().map(|(level, width)| (*level, 100.0 * inside(errors, *width))).collect()
        };
        let ideal = Series::line([(0.0, 0.0), (100.0, 100.0)])
            .colour(Colour::GREY)
            .width(1.0)
            .dash([4.0, 3.0]);
        let mut panel = Panel::new("")
            .x_label("level of the interval, in percent")
            .y_label("ratings inside, in percent")
            .x_range(0.0, 100.0)
            .y_range(0.0, 100.0)
            .with(ideal.label("as it should be"))
            .with(Series::line(line(&self.0)).colour(Colour::BLUE).label("all ratings"));
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut add = |name: &str, errors: &[Seen]| {
            rows.extend(
                line(errors).into_iter().map(|(x, y)| vec![name.into(), x.into(), y.into()]),
            );
        };
        add("all", &self.0);
        if self.0.len() >= 5 {
            for (at, name, colour) in
                [(0, "surest fifth", Colour::GREEN), (4, "least sure fifth", Colour::VERMILION)]
            {
                panel = panel
                    .with(Series::line(line(self.fifth(at))).colour(colour).width(1.3).label(name));
                add(name, self.fifth(at));
            }
        }
        Chart::new("calibration", "Calibration of the intervals", panel, (440.0, 300.0))
            .note(
                "Below the dashed line the model is too sure of itself, above it too careful. Ratings on a scale with \
                 ends and whole stars cannot follow it exactly.",
            )
            .numbers(&["ratings", "level", "inside"], rows)
    }

    fn bins(&self, side: usize) -> Vec<Bin> {
        let mut bins = Vec::new();
        for (at, &from) in BINS.iter().enumerate() {
            let below = BINS.get(at + 1).copied();
            let own = || {
                self.0.iter().filter(move |seen| {
                    seen.ratings[side] >= from
                        && below.is_none_or(|below| seen.ratings[side] < below)
                })
            };
            let (rmse, n) = root_mean(own(), |seen| seen.error);
            if n > 0 {
                let name = match below {
                    Some(below) if below == from + 1 => from.to_string(),
                    Some(below) => format!("{from} to {}", below - 1),
                    None => format!("{from} or more"),
                };
                let expected = rounded(root_mean(own(), |seen| seen.deviation).0, 4);
                bins.push(Bin { name, ratings: n, rmse: rounded(rmse, 4), expected });
            }
        }
        bins
    }

    /// By the number of the user's training ratings.
    pub fn by_user(&self) -> Vec<Bin> {
        self.bins(0)
    }

    /// By the number of the item's training ratings.
    pub fn by_item(&self) -> Vec<Bin> {
        self.bins(1)
    }

    /// The error by number of ratings as a chart.
    pub fn by_count(&self) -> Chart {
        let mut names: Vec<String> = Vec::new();
        let both = [self.by_user(), self.by_item()];
        for bin in both.iter().flatten() {
            if !names.contains(&bin.name) {
                names.push(bin.name.clone());
            }
        }
        let order = |name: &String| name.split(' ').next().and_then(|n| n.parse::<usize>().ok());
        names.sort_by_key(order);
        let mut panel = Panel::new("")
            .x_label("training ratings")
            .y_label("RMSE")
            .x_names(names.iter().cloned());
        let mut rows = Vec::new();
        for (bins, name, colour) in both
            .iter()
            .zip(["of the user", "of the item"])
            .zip([Colour::BLUE, Colour::ORANGE])
            .map(|((a, b), c)| (a, b, c))
        {
            let point = |bin: &Bin| {
                let at = names.iter().position(|name| *name == bin.name)?;
                Some((at as f64, bin.rmse.parse().ok()?))
            };
            panel =
                panel.with(Series::bars(bins.iter().filter_map(point)).colour(colour).label(name));
            for bin in bins {
                rows.push(vec![
                    name.into(),
                    bin.name.as_str().into(),
                    bin.ratings.into(),
                    bin.rmse.parse().unwrap_or(f64::NAN).into(),
                    bin.expected.parse().unwrap_or(f64::NAN).into(),
                ]);
            }
        }
        Chart::new("by-count", "Error by number of ratings", panel, (440.0, 300.0))
            .numbers(&["ratings", "count", "tested", "rmse", "expected"], rows)
    }
}
