//! Two columns or principal components at a time: where components and items lie in them.

use lehr::models::mixture::{Component, Covariance, Mixture};
use lehr::store::Run;
use lehr_plot::caption::rounded;
use lehr_plot::{Colour, Legend, Panel, Series};
use serde_json::{Value, json};

use super::items::Items;
use super::{colour, paint, short_name, variances};
use crate::chart::{Chart, short};
use crate::spectrum;

/// Columns that can be chosen; of more, those in which the components differ most.
const AXES: usize = 14;
/// Ellipses hold this many standard deviations.
const SIGMAS: f64 = 2.0;
/// Letters of an axis' name.
const AXIS_LETTERS: usize = 40;
/// What the components' numbers are written with.
const INK: Colour = Colour(0x11, 0x11, 0x11);
/// Components that are drawn.
const DRAWN: usize = 40;

/// What can be drawn against each other: linear functions of an item.
pub struct Plane {
    names: Vec<String>,
    /// For each axis the weights of the columns and what is added.
    weights: Vec<(Vec<f64>, f64)>,
    /// The components that are drawn, the largest first.
    order: Vec<usize>,
    /// How many there are.
    n_components: usize,
    /// For each of these its place and covariances on the axes.
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<f64>>,
    columns: Vec<String>,
    /// How many of the axes are columns.
    n_columns: usize,
    /// The share of the variance that each principal component has.
    shares: Vec<f64>,
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Plane {
    /// The axes of a mixture.
    pub fn of(run: &Run<Mixture>, all: &[Component], order: &[usize], names: &[String]) -> Self {
        let (units, shape) = (&run.config.frozen.units, run.config.params.covariance);
        let d = names.len();
        let total: f64 = order.iter().map(|&k| all[k].weight).sum::<f64>().max(1e-300);
        let spread = |j: usize| -> f64 {
            let of = |&k: &usize| {
                all[k].weight * ((all[k].mean[j] - units.shift[j]) / units.scale[j]).powi(2)
            };
            order.iter().map(of).sum()
        };
        let mut chosen: Vec<usize> = (0..d).collect();
        if d > AXES {
            chosen.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)).then(a.cmp(&b)));
            chosen.truncate(AXES);
            chosen.sort_unstable();
        }
        let unit = |j: usize| (0..d).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let mut axes: Vec<String> = chosen.iter().map(|&j| names[j].clone()).collect();
        let mut weights: Vec<(Vec<f64>, f64)> = chosen.iter().map(|&j| (unit(j), 0.0)).collect();
        let mut shares = Vec::new();
        // A square of very many columns would take long, and what it is made of cannot be read.
        if (3..=2000).contains(&d) {
            let covariance = covariance_of_all(run, all, order, total);
            let trace: f64 = (0..d).map(|j| covariance[j * d + j]).sum();
            for (at, (value, vector)) in
                spectrum::leading(&covariance, d, 2).into_iter().enumerate()
            {
                let own: Vec<f64> = vector.iter().zip(&units.scale).map(|(v, s)| v / s).collect();
                let added = -own.iter().zip(&units.shift).map(|(w, m)| w * m).sum::<f64>();
                weights.push((own, added));
                axes.push(format!("principal component {}", at + 1));
                shares.push(value / trace.max(1e-300));
            }
        }
        let drawn: Vec<usize> = order.iter().copied().take(DRAWN).collect();
        let apply = |x: &[f64]| -> Vec<f64> {
            let along = |(w, added): &(Vec<f64>, f64)| {
                added + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
            };
            weights.iter().map(along).collect()
        };
        let means = drawn.iter().map(|&k| apply(&all[k].mean)).collect();
        let covariances = drawn.iter().map(|&k| projected(&weights, &all[k], shape)).collect();
        Plane {
            n_columns: chosen.len(),
            names: axes,
            weights,
            order: drawn,
            n_components: order.len(),
            means,
            covariances,
            columns: names.to_vec(),
            shares,
            shift: units.shift.clone(),
            scale: units.scale.clone(),
        }
    }

    /// The place of an item on each axis; where a column is missing, a principal component takes the data's mean for it.
    pub fn place(&self, x: &[f64]) -> Vec<f64> {
        let along = |(at, (weights, added)): (usize, &(Vec<f64>, f64))| {
            if at < self.n_columns {
                let column = weights.iter().position(|&w| w != 0.0).unwrap_or(0);
                return x[column];
            }
            let there = |j: usize| if x[j].is_nan() { self.shift[j] } else { x[j] };
            added + weights.iter().enumerate().map(|(j, w)| w * there(j)).sum::<f64>()
        };
        self.weights.iter().enumerate().map(along).collect()
    }

    /// The axes of the first picture: the principal components, or two columns.
    fn first(&self) -> (usize, usize) {
        if self.names.len() > self.n_columns + 1 {
            (self.n_columns, self.n_columns + 1)
        } else {
            (0, 1)
        }
    }

    /// What each principal component is made of, in words.
    pub fn made_of(&self) -> Vec<String> {
        let units = &self.weights[self.n_columns..];
        let said = |(at, (weights, _)): (usize, &(Vec<f64>, f64))| {
            let mut order: Vec<usize> = (0..weights.len()).collect();
            // In standard units, in which the components were found.
            let size = |j: usize| weights[j] * self.scale[j];
            order.sort_by(|&a, &b| size(b).abs().total_cmp(&size(a).abs()).then(a.cmp(&b)));
            let parts: Vec<String> = order
                .iter()
                .take(4)
                .map(|&j| {
                    format!("{} {}", if size(j) < 0.0 { "\u{2212}" } else { "+" }, self.columns[j])
                })
                .collect();
            format!(
                "Principal component {} has {} % of the variance in standard units; mostly {}.",
                at + 1,
                rounded(100.0 * self.shares[at], 3),
                parts.join(" ")
            )
        };
        units.iter().enumerate().map(said).collect()
    }

    /// The picture that is there without scripts.
    pub fn chart(&self, items: Option<&Items>) -> Chart {
        let (x, y) = self.first();
        let mut panel = Panel::new("")
            .x_label(short_name(&self.names[x], AXIS_LETTERS))
            .y_label(short_name(&self.names[y], AXIS_LETTERS))
            .legend(Legend::Hidden);
        if let Some(items) = items {
            for &k in &self.order {
                let own = items.rows.iter().filter(|row| row.label == k);
                let dots: Vec<(f64, f64)> = own.map(|row| (row.place[x], row.place[y])).collect();
                if !dots.is_empty() {
                    panel = panel
                        .with(Series::scatter(dots).colour(colour(k)).radius(1.8).opacity(0.45));
                }
            }
        }
        let axes = self.names.len();
        for (at, &k) in self.order.iter().enumerate() {
            let of = |i: usize, j: usize| self.covariances[at][i * axes + j];
            let covariance = [[of(x, x), of(x, y)], [of(x, y), of(y, y)]];
            let centre = [self.means[at][x], self.means[at][y]];
            panel = panel.with(Series::ellipse(centre, covariance, SIGMAS).colour(colour(k)));
        }
        let numbers = self.order.iter().zip(&self.means);
        let numbers = numbers.map(|(k, mean)| ((mean[x], mean[y]), k.to_string()));
        panel = panel.with(Series::words(numbers).colour(INK).width(13.0));
        let mut rows = Vec::new();
        for (at, &k) in self.order.iter().enumerate() {
            rows.push(vec![
                "component".into(),
                k.into(),
                self.means[at][x].into(),
                self.means[at][y].into(),
            ]);
        }
        for row in items.iter().flat_map(|items| &items.rows) {
            rows.push(vec![
                "item".into(),
                row.label.into(),
                row.place[x].into(),
                row.place[y].into(),
            ]);
        }
        let mut note =
            "Ellipses reach two standard deviations from each component's mean.".to_string();
        if self.n_components > self.order.len() {
            note += &format!(
                " Of {} components the {} largest are drawn.",
                self.n_components,
                self.order.len()
            );
        }
        Chart::new("scatter", "Components and items", panel, (560.0, 420.0))
            .note(note)
            .numbers(&["what", "component", &self.names[x], &self.names[y]], rows)
    }

    /// What scripts draw.
    pub fn data(&self, items: Option<&Items>) -> Value {
        let rounded = |values: &[f64]| -> Vec<Option<f64>> {
            values.iter().map(|&x| x.is_finite().then(|| short(x, 5))).collect()
        };
        let components: Vec<Value> = self
            .order
            .iter()
            .enumerate()
            .map(|(at, &k)| {
                json!({
                    "component": k,
                    "colour": paint(k),
                    "mean": rounded(&self.means[at]),
                    "covariance": rounded(&self.covariances[at]),
                })
            })
            .collect();
        let items = items.map(|items| {
            let rows = items.rows.iter();
            let row = |row: &super::items::Drawn| {
                json!([row.number, row.name, rounded(&row.place), row.most])
            };
            rows.map(row).collect::<Vec<Value>>()
        });
        let (x, y) = self.first();
        let small: Vec<Value> = self.names.iter().map(|name| json!(name)).collect();
        json!({ "axes": small, "first": [x, y], "components": components, "items": items, "sigmas": SIGMAS })
    }
}

/// The covariance of all items that the mixture implies, in standard units.
fn covariance_of_all(
    run: &Run<Mixture>,
    all: &[Component],
    order: &[usize],
    total: f64,
) -> Vec<f64> {
    let (units, shape) = (&run.config.frozen.units, run.config.params.covariance);
    let d = units.shift.len();
    let standard = |k: usize, j: usize| (all[k].mean[j] - units.shift[j]) / units.scale[j];
    let mean: Vec<f64> = (0..d)
        .map(|j| order.iter().map(|&k| all[k].weight * standard(k, j)).sum::<f64>() / total)
        .collect();
    let mut sum = vec![0.0; d * d];
    for &k in order {
        let (weight, own) = (all[k].weight / total, variances(&all[k], shape));
        let far: Vec<f64> = (0..d).map(|j| standard(k, j) - mean[j]).collect();
        for i in 0..d {
            for j in 0..d {
                let within = match shape {
                    Covariance::Full | Covariance::Tied => all[k].covariance[i * d + j],
                    _ if i == j => own[j],
                    _ => 0.0,
                };
                sum[i * d + j] +=
                    weight * (within / (units.scale[i] * units.scale[j]) + far[i] * far[j]);
            }
        }
    }
    sum
}

/// The covariance of a component on the axes.
fn projected(weights: &[(Vec<f64>, f64)], component: &Component, shape: Covariance) -> Vec<f64> {
    let d = component.mean.len();
    let own = variances(component, shape);
    let times = |w: &[f64]| -> Vec<f64> {
        match shape {
            Covariance::Full | Covariance::Tied => component
                .covariance
                .chunks_exact(d)
                .map(|row| row.iter().zip(w).map(|(c, w)| c * w).sum())
                .collect(),
            _ => own.iter().zip(w).map(|(c, w)| c * w).collect(),
        }
    };
    let mut out = Vec::with_capacity(weights.len() * weights.len());
    for (a, _) in weights {
        let row = times(a);
        out.extend(weights.iter().map(|(b, _)| row.iter().zip(b).map(|(x, w)| x * w).sum::<f64>()));
    }
    out
}
