//! Users, items and ratings: what the dimensions tell apart, how sure the model is, and what users may like.

mod calibration;
mod lists;

use std::collections::HashMap;

use lehr::Result;
use lehr::data::Ratings as Data;
use lehr::fit::Observation;
use lehr::models::pmf::Pmf;
use lehr::store::Run;
use lehr_plot::caption::{counted, rounded};
use lehr_plot::{Panel, Series};
use serde::Serialize;
use serde_json::{Value, json};

use crate::chart::Chart;
use crate::head::Number;
use crate::{Part, Reported};
use calibration::{Bin, Fifth};
use lists::{Axis, Liked, User};

/// What a page of ratings is made with besides the run.
#[derive(Default)]
pub struct Given {
    /// Ratings that the model was not fitted to, and what they are; or why there are none.
    pub test: Option<std::result::Result<(Data, String), String>>,
    /// What items are called.
    pub titles: HashMap<String, String>,
    /// Who to recommend to; some if there are none.
    pub users: Vec<String>,
    /// What is known of these.
    pub notes: Vec<String>,
}

/// What a page of ratings shows.
#[derive(Serialize)]
pub struct Ratings {
    axes: Vec<Axis>,
    dims: usize,
    loved: Vec<Liked>,
    unloved: Vec<Liked>,
    /// What the calibration was measured on.
    tested: Option<String>,
    untested: Option<String>,
    fifths: Vec<Fifth>,
    by_user: Vec<Bin>,
    by_item: Vec<Bin>,
    users: Vec<User>,
    sigma: String,
    notes: Vec<String>,
    pub(crate) charts: Vec<Chart>,
    #[serde(skip)]
    pub(crate) data: Value,
}

impl Reported for Pmf {
    type Given = Given;
    const SCORE: &'static str = "Held-out log density (nats per rating)";
    const BATCH_PER_ROW: bool = true;

    fn heading(run: &Run<Self>) -> String {
        let params = &run.config.params;
        let mut text =
            format!("Matrix factorisation with {}", counted(params.dims as u64, "dimension"));
        if params.biases {
            text += " and biases";
        }
        text
    }

    fn data(run: &Run<Self>) -> String {
        let config = &run.config;
        let held_out = match config.fit.holdout.count(config.data.items) {
            0 => String::new(),
            n => format!(" ({n} of them held out)"),
        };
        format!(
            "{}{held_out} of {} by {}",
            counted(config.data.items as u64, "rating"),
            counted(config.frozen.items as u64, "item"),
            counted(config.frozen.users as u64, "user")
        )
    }

    fn numbers(run: &Run<Self>, last: Option<&Observation>) -> Vec<Number> {
        let measure = |name: &str| last.and_then(|last| last.measures.get(name).copied());
        let mut numbers = Vec::new();
        let constant = run.config.frozen.variance.sqrt();
        if let Some(rmse) = measure("rmse") {
            numbers.push(Number::new(
                "held-out RMSE",
                rounded(rmse, 4),
                format!(
                    "How far predictions of ratings that were held out are off, in the ratings' own units. To predict \
                     the mean every time would be off by about {}.",
                    rounded(constant, 4)
                ),
            ));
        }
        if let Some(share) = measure("coverage_80") {
            numbers.push(Number::new(
                "inside 80 % intervals",
                format!("{:.1} %", 100.0 * share),
                "The share of held-out ratings that lie inside the intervals which shall hold 80 % of them: less means \
                 that the model is too sure of itself, more that it is too careful.",
            ));
        }
        let lambda = run.lambda();
        let dims = run.config.params.dims;
        if numbers.is_empty() {
            let sigma = run.model.noise_variance(lambda).sqrt();
            numbers.push(Number::new(
                "noise",
                rounded(sigma, 4),
                format!(
                    "The standard deviation of training ratings around what the model expects; around their mean it is \
                     {}. Nothing was held out, so that this says nothing of new ratings: --holdout 0.1 would.",
                    rounded(constant, 4)
                ),
            ));
        }
        numbers.push(Number::new(
            "dimensions in use",
            format!("{} of {dims}", run.model.dims_in_use(lambda)),
            "Latent dimensions whose prior variance has not shrunk to next to nothing.",
        ));
        if let Some(last) = last.filter(|_| numbers.len() < 3) {
            numbers.push(Number::new(
                "bound",
                format!("{} nats", rounded(last.bound, 7)),
                "The objective: a lower bound on the log evidence of the training ratings, every constant \
                 counted. It compares fits of the same ratings.",
            ));
        }
        numbers
    }

    fn warnings(run: &Run<Self>, last: Option<&Observation>) -> Vec<String> {
        let mut all = Vec::new();
        let share = last.and_then(|last| last.measures.get("coverage_80").copied());
        if let Some(share) = share.filter(|share| (share - 0.8).abs() > 0.1) {
            all.push(format!(
                "80 % intervals hold {:.1} % of the held-out ratings: do not rely on them as they are.",
                100.0 * share
            ));
        }
        let params = &run.config.params;
        if params.ard && params.dims > 1 && run.model.dims_in_use(run.lambda()) == params.dims {
            all.push(format!("All {} dimensions are in use: more may help.", params.dims));
        }
        all
    }

    fn part(run: &Run<Self>, given: &Given) -> Result<Part> {
        Ok(Part::Ratings(ratings(run, given)))
    }
}

fn ratings(run: &Run<Pmf>, given: &Given) -> Ratings {
    let lists = lists::Lists::of(run, &given.titles);
    let mut charts = vec![relevance(run)];
    let (mut fifths, mut by_user, mut by_item) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tested, mut untested) = (None, None);
    match &given.test {
        Some(Ok((ratings, what))) => {
            let errors = calibration::Errors::of(run, ratings, &lists.counts);
            if errors.is_empty() {
                untested = Some(format!("{what} have no rating that the model was not fitted to"));
            } else {
                charts.push(errors.chart());
                charts.push(errors.by_count());
                (fifths, by_user, by_item) = (errors.fifths(), errors.by_user(), errors.by_item());
                tested = Some(format!("{what}: {}", counted(errors.len() as u64, "rating")));
            }
        }
        Some(Err(why)) => untested = Some(why.clone()),
        None => untested = Some("there were no ratings that the model was not fitted to".into()),
    }
    if let Some(chart) = lists.biases() {
        charts.push(chart);
    }
    let (users, unknown) = lists.users(&given.users);
    let mut notes = given.notes.clone();
    notes.extend(unknown);
    if given.titles.is_empty() {
        notes.push("Items are called by their ids; --titles FILE gives them names.".into());
    }
    let (loved, unloved) = lists.loved();
    let data = json!({ "users": users.iter().map(|user| user.id.as_str()).collect::<Vec<_>>() });
    Ratings {
        axes: lists.axes(),
        dims: run.config.params.dims,
        loved,
        unloved,
        tested,
        untested,
        fifths,
        by_user,
        by_item,
        users,
        sigma: rounded(run.model.noise_variance(run.lambda()).sqrt(), 3),
        notes,
        charts,
        data,
    }
}

/// The prior variances of the dimensions, by their numbers.
fn relevance(run: &Run<Pmf>) -> Chart {
    let variances = run.model.item_variances(run.lambda());
    let bars = variances.iter().enumerate().map(|(d, &variance)| (d as f64, variance));
    let panel = Panel::new("").x_label("dimension").y_label("prior variance of items");
    let panel = match variances.len() {
        ..=60 => panel.x_names((0..variances.len()).map(|d| d.to_string())),
        _ => panel,
    };
    let rows = variances.iter().enumerate().map(|(d, &variance)| vec![d.into(), variance.into()]);
    Chart::new("relevance", "Relevance of the dimensions", panel.with(Series::bars(bars)), (440.0, 220.0))
        .note(
            "The variance of the items' factors along each dimension, learned from the ratings where that was asked for: \
             a dimension next to 0 tells nothing apart.",
        )
        .numbers(&["dimension", "variance"], rows.collect())
}
