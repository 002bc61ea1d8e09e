//! Clusters of points: sizes, means and spreads in the data's units, pictures, and what the items say of them.

mod items;
mod plane;

use std::sync::Arc;

use lehr::Result;
use lehr::data::Points;
use lehr::fit::Observation;
use lehr::models::mixture::{Component, Covariance, Mixture};
use lehr::store::Run;
use lehr_plot::caption::{counted, rounded};
use lehr_plot::{Colour, Legend, Panel, Series};
use serde::Serialize;
use serde_json::Value;

use crate::chart::Chart;
use crate::head::Number;
use crate::{Part, Reported};
use items::{Ill, Joined};
use plane::Plane;

/// Components whose profiles are drawn.
const PROFILES: usize = 8;
/// Bars that have names.
const NAMED: usize = 30;
/// Columns of the profile and of the table.
const COLUMNS: usize = 24;
/// Spreads that are drawn into the profile: more would be a hatching.
const SPREADS: usize = 100;

/// What a page of clusters is made with besides the run.
#[derive(Default)]
pub struct Given {
    /// Items to show.
    pub points: Option<Arc<Points>>,
    /// What each of these is called, if they have names.
    pub names: Option<Vec<String>>,
    /// What is known of these.
    pub notes: Vec<String>,
}

/// What a page of clusters shows.
#[derive(Serialize)]
pub struct Clusters {
    columns: Vec<String>,
    /// Columns that are not shown.
    more_columns: usize,
    components: Vec<Row>,
    n_empty: usize,
    /// What the principal components are made of.
    made_of: Vec<String>,
    /// How many items are drawn, of how many.
    drawn: Option<(usize, usize)>,
    ill: Vec<Ill>,
    joined: Vec<Joined>,
    /// Whether the bound of these was computed on the items.
    joined_on_items: bool,
    has_scatter: bool,
    notes: Vec<String>,
    pub(crate) charts: Vec<Chart>,
    #[serde(skip)]
    pub(crate) data: Value,
}

/// A component in use.
#[derive(Serialize)]
struct Row {
    component: usize,
    size: String,
    weight: String,
    bar: String,
    colour: String,
    /// Mean and standard deviation by column.
    cells: Vec<(String, String)>,
}

/// The variances of a component, column by column.
fn variances(component: &Component, covariance: Covariance) -> Vec<f64> {
    let d = component.mean.len();
    match covariance {
        Covariance::Full | Covariance::Tied => {
            (0..d).map(|j| component.covariance[j * d + j]).collect()
        }
        Covariance::Diagonal => component.covariance.clone(),
        Covariance::Spherical => vec![component.covariance[0]; d],
    }
}

/// A mean and its deviation; the mean without digits that are negligible against it.
fn cell(mean: f64, deviation: f64) -> (String, String) {
    let step = 10_f64.powf(deviation.log10().floor() - 2.0);
    let seen = (mean / step).round() * step;
    let mean = if seen.is_finite() { seen + 0.0 } else { mean };
    (rounded(mean, 4), rounded(deviation, 3))
}

/// The colour of a component, by its number.
fn colour(component: usize) -> Colour {
    Colour::nth(component)
}

/// The same for the page, where black is the colour of its letters, so that it can be seen on a dark ground.
fn paint(component: usize) -> String {
    match colour(component) {
        Colour::BLACK => "currentColor".into(),
        other => other.to_string(),
    }
}

fn column_names(run: &Run<Mixture>) -> Vec<String> {
    let names = &run.config.data.columns;
    let d = run.config.frozen.units.shift.len();
    (0..d).map(|j| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1))).collect()
}

impl Reported for Mixture {
    type Given = Given;
    const SCORE: &'static str = "Held-out log predictive density (nats per item)";

    fn heading(run: &Run<Self>) -> String {
        let params = &run.config.params;
        let shape = serde_json::to_value(params.covariance).unwrap_or_default();
        let kind = match run.config.model.as_str() {
            "dpgmm" => "Dirichlet-process mixture with up to",
            _ => "Gaussian mixture with",
        };
        format!(
            "{kind} {}, {} covariances",
            counted(params.components as u64, "component"),
            shape.as_str().unwrap_or("full")
        )
    }

    fn data(run: &Run<Self>) -> String {
        let items = run.config.data.items;
        let held_out = match run.config.fit.holdout.count(items) {
            0 => String::new(),
            n => format!(" ({n} of them held out)"),
        };
        let columns = counted(run.config.frozen.units.shift.len() as u64, "column");
        format!("{}{held_out}, {columns}", counted(items as u64, "item"))
    }

    fn numbers(run: &Run<Self>, last: Option<&Observation>) -> Vec<Number> {
        let lambda = run.lambda().table();
        let in_use = run.model.components_in_use(lambda).len();
        let mut numbers = vec![Number::new(
            "clusters in use",
            in_use.to_string(),
            format!(
                "Components that hold at least one item, in expectation; by the entropy of their sizes they count as {}.",
                rounded(run.model.effective_clusters(lambda), 3)
            ),
        )];
        if let Some(heldout) = last.and_then(|last| last.heldout) {
            numbers.push(Number::new(
                "held-out density",
                format!("{} nats per item", rounded(heldout, 5)),
                "The mean log density that the mixture gives to items it has not seen, in the data's units: higher is \
                 better, and 1 more means that items are e times as likely.",
            ));
        }
        if let Some(last) = last {
            let items = run.config.data.items - run.config.fit.holdout.count(run.config.data.items);
            numbers.push(Number::new(
                "bound",
                format!("{} nats", rounded(last.bound, 7)),
                format!(
                    "The objective: a lower bound on the log evidence of the training items, every constant \
                     counted; {} per item. It compares fits of the same items.",
                    rounded(last.bound / items.max(1) as f64, 5)
                ),
            ));
        }
        if numbers.len() < 3 {
            let all = run.model.components(lambda);
            let largest = all.iter().map(|c| c.weight).fold(0.0, f64::max);
            numbers.push(Number::new(
                "largest cluster",
                format!("{} % of the items", rounded(100.0 * largest, 3)),
                "The expected share of the component that has most of them. Nothing was held out, so that there is no \
                 score of new items: --holdout 0.1 would make one.",
            ));
        }
        numbers
    }

    fn warnings(run: &Run<Self>, _last: Option<&Observation>) -> Vec<String> {
        let lambda = run.lambda().table();
        let (k, in_use) = (run.config.params.components, run.model.components_in_use(lambda).len());
        let mut all = Vec::new();
        if in_use < k && run.config.model == "gmm" {
            let empty = counted((k - in_use) as u64, "component");
            all.push(format!("{empty} of {k} hold less than one item: fewer would do."));
        }
        if in_use == k && run.config.model == "dpgmm" && k > 1 {
            all.push(format!(
                "All {k} components are in use: there may be more clusters than that."
            ));
        }
        all
    }

    fn part(run: &Run<Self>, given: &Given) -> Result<Part> {
        Ok(Part::Clusters(clusters(run, given)?))
    }
}

fn clusters(run: &Run<Mixture>, given: &Given) -> Result<Clusters> {
    let lambda = run.lambda();
    let all = run.model.components(lambda.table());
    let shape = run.config.params.covariance;
    let mut order = run.model.components_in_use(lambda.table());
    let n_empty = all.len() - order.len();
    order.sort_by(|&a, &b| all[b].size.total_cmp(&all[a].size).then(a.cmp(&b)));
    let names = column_names(run);
    let shown_columns = names.len().min(COLUMNS);
    let largest = order.first().map_or(1.0, |&k| all[k].size).max(1e-300);
    let row = |&k: &usize| {
        let component = &all[k];
        let spreads = variances(component, shape);
        let cell = |j: usize| cell(component.mean[j], spreads[j].max(0.0).sqrt());
        Row {
            component: k,
            size: format!("{:.1}", component.size),
            weight: format!("{:.1}", 100.0 * component.weight),
            bar: format!("{:.1}", 100.0 * component.size / largest),
            colour: paint(k),
            cells: (0..shown_columns).map(cell).collect(),
        }
    };
    let components: Vec<Row> = order.iter().map(row).collect();
    let mut notes = given.notes.clone();
    if given.points.is_none() {
        notes.push(
            "The page has no items, since none were given; with --data FILE it draws them and lists those that the \
             mixture explains least."
                .into(),
        );
    }
    let plane = Plane::of(run, &all, &order, &names);
    let (mut charts, mut drawn) = (vec![sizes(&order, &all)], None);
    if names.len() > 1 {
        charts.push(profile(run, &order, &all, &names[..shown_columns]));
    }
    let items = given
        .points
        .as_deref()
        .map(|points| items::Items::of(run, &plane, points, given))
        .transpose()?;
    let has_scatter = names.len() > 1;
    if has_scatter {
        charts.push(plane.chart(items.as_ref()));
        drawn = items.as_ref().map(|items| (items.rows.len(), items.n_items));
    }
    let data = plane.data(items.as_ref());
    Ok(Clusters {
        more_columns: names.len() - shown_columns,
        columns: names[..shown_columns].to_vec(),
        components,
        n_empty,
        made_of: plane.made_of(),
        drawn,
        joined: items::joined(run, given.points.as_deref())?,
        joined_on_items: given.points.is_some(),
        ill: items.map(|items| items.ill).unwrap_or_default(),
        has_scatter,
        notes,
        charts,
        data,
    })
}

/// The sizes as bars, from large to small.
fn sizes(order: &[usize], all: &[Component]) -> Chart {
    let named = order.len() <= NAMED;
    // Ranks count from 1.
    let place = |at: usize| (at + usize::from(!named)) as f64;
    let bars = order.iter().enumerate().map(|(at, &k)| (place(at), all[k].size));
    let panel = Panel::new("").x_label("component").y_label("items, in expectation");
    let panel = if named {
        panel.x_names(order.iter().map(ToString::to_string))
    } else {
        panel.x_label("rank of the component")
    };
    let rows = order.iter().map(|&k| vec![k.into(), all[k].size.into(), all[k].weight.into()]);
    Chart::new("sizes", "Sizes of the components", panel.with(Series::bars(bars)), (440.0, 220.0))
        .numbers(&["component", "size", "weight"], rows.collect())
}

/// The means by column, as deviations of the data's own.
fn profile(run: &Run<Mixture>, order: &[usize], all: &[Component], names: &[String]) -> Chart {
    let units = &run.config.frozen.units;
    let mut panel = Panel::new("")
        .y_label("mean, in the data's deviations")
        .x_names(names.iter().map(|name| short_name(name, 18)))
        .legend(Legend::Outside);
    let place = |k: usize, j: usize| (all[k].mean[j] - units.shift[j]) / units.scale[j];
    let n_drawn = order.len().min(PROFILES);
    let spread = n_drawn * names.len() <= SPREADS;
    for (at, &k) in order.iter().take(PROFILES).enumerate() {
        // Spreads stand side by side.
        let aside = if spread { 0.07 * (at as f64 - 0.5 * (n_drawn - 1) as f64) } else { 0.0 };
        let points: Vec<(f64, f64)> =
            (0..names.len()).map(|j| (j as f64 + aside, place(k, j))).collect();
        if spread {
            let spreads = variances(&all[k], run.config.params.covariance);
            for (&(x, mean), (variance, scale)) in
                points.iter().zip(spreads.iter().zip(&units.scale))
            {
                let reach = variance.max(0.0).sqrt() / scale;
                let bar = Series::line([(x, mean - reach), (x, mean + reach)]);
                panel = panel.with(bar.colour(colour(k)).width(2.5).opacity(0.35));
            }
        }
        panel = panel.with(Series::line(points).colour(colour(k)).label(k.to_string()));
    }
    let rows = order.iter().flat_map(|&k| {
        let spreads = variances(&all[k], run.config.params.covariance);
        let row = move |(j, name): (usize, &String)| {
            vec![k.into(), name.as_str().into(), all[k].mean[j].into(), spreads[j].sqrt().into()]
        };
        names.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    let rows = rows.collect();
    let note =
        "Where each component's mean lies, in standard deviations of all items around their mean.";
    let bars = match spread {
        true => " Bars reach one standard deviation of the component to each side.",
        false => "",
    };
    let more = match order.len().saturating_sub(PROFILES) {
        0 => String::new(),
        n => format!(" Of {} the {PROFILES} largest are drawn.", n + PROFILES),
    };
    Chart::new("profile", "Profiles of the components", panel, (440.0, 220.0))
        .note(format!("{note}{bars} The table has the data's own units.{more}"))
        .numbers(&["component", "column", "mean", "sd"], rows)
}

/// A column's name where there is little room.
fn short_name(name: &str, most: usize) -> String {
    match name.chars().count() {
        n if n <= most => name.to_string(),
        _ => name.chars().take(most - 1).chain(['\u{2026}']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_next_to_nothing_is_nought() {
        assert_eq!(cell(2.7e-7, 0.194), ("0".to_string(), "0.194".to_string()));
        assert_eq!(cell(-2.7e-7, 0.194).0, "0");
        assert_eq!(cell(0.0502, 2.84).0, "0.05");
        assert_eq!(cell(0.000_554, 0.165).0, "0.001");
        assert_eq!(cell(199.5, 135.0).0, "200");
        assert_eq!(cell(1e6, 0.01).0, "1000000");
        assert_eq!(cell(5.0, 0.0), ("5".to_string(), "0".to_string()));
    }

    #[test]
    fn no_component_has_the_colour_of_either_ground() {
        let all: Vec<String> = (0..16).map(paint).collect();
        assert!(!all.iter().any(|colour| colour == "#000000" || colour == "#ffffff"), "{all:?}");
    }
}
