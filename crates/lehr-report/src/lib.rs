//! One page of HTML to look at a fit, and to share.
//!
//! A page is one file: it makes no requests, which its content security policy holds every browser to; it has its
//! tables and charts in it, so that it can be read and printed without JavaScript; and the same run makes the same bytes.
//! What a model has to show is a [`Part`], made by its [`Reported`]; [`one`] puts it into the page, and [`card`] is the
//! short form for notebooks. Templates, style and scripts are files in `templates/`.
//!
//! ```
//! use lehr::data::Points;
//! use lehr::models::{Mixture, MixtureParams};
//! use lehr::store::{Begin, Items, Run};
//!
//! let points = Points::new((0..60).map(|n| f64::from(n % 2 * 9 + n % 5)).collect(), 1)?;
//! let (params, config) = (MixtureParams::gmm(2), Default::default());
//! let run = Run::<Mixture>::fit(Items::in_memory(&points), params, &config, Begin::Random, &mut ())?;
//! let page = lehr_report::one("two lumps", &run, &Default::default())?;
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("two lumps"));
//! # Ok::<(), lehr::Error>(())
//! ```

mod again;
mod chart;
pub mod clusters;
mod curves;
mod head;
mod page;
pub mod ratings;
mod several;
mod spectrum;
mod sweep;
pub mod topics;

pub use again::{configuration, quoted};
pub use chart::{Cell, Chart, View};
pub use head::{Number, method};
pub use several::{Member, Several, several};
pub use sweep::{recommendation, shapes, size_panels, sweep};

use lehr::Result;
use lehr::fit::Observation;
use lehr::models::Shipped;
use lehr::store::Run;
use serde::Serialize;

/// A model that has something to show beyond its numbers.
pub trait Reported: Shipped {
    /// What is given besides the run: data, names, what to choose.
    type Given: Default;

    /// What was fitted, in half a line.
    fn heading(run: &Run<Self>) -> String;

    /// What the data are, in half a line.
    fn data(run: &Run<Self>) -> String;

    /// Three numbers that say how well it went, and what they mean.
    fn numbers(run: &Run<Self>, last: Option<&Observation>) -> Vec<Number>;

    /// What the held-out score is called, if the axis of a chart shall say it.
    const SCORE: &'static str;

    /// Whether every row has its own batch, so that there is no noise before M is as large as the largest of them.
    const BATCH_PER_ROW: bool = false;

    /// What the user should know of this model's fit.
    fn warnings(run: &Run<Self>, last: Option<&Observation>) -> Vec<String>;

    /// What the model has to show.
    fn part(run: &Run<Self>, given: &Self::Given) -> Result<Part>;
}

/// What a model has to show.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "there is one value for each page")]
pub enum Part {
    /// Topics of documents.
    Topics(topics::Topics),
    /// Clusters of points.
    Clusters(clusters::Clusters),
    /// Users, items and ratings.
    Ratings(ratings::Ratings),
}

impl Part {
    /// Takes what the scripts read, which no template prints.
    fn take_data(&mut self) -> serde_json::Value {
        match self {
            Part::Topics(topics) => topics.data.take(),
            Part::Clusters(clusters) => clusters.data.take(),
            Part::Ratings(ratings) => ratings.data.take(),
        }
    }

    /// Everything that can be drawn.
    fn pictures(&self) -> Vec<Chart> {
        let mut all = self.charts().to_vec();
        if let Part::Topics(topics) = self {
            all.insert(0, topics.words());
        }
        all
    }

    fn charts(&self) -> &[Chart] {
        match self {
            Part::Topics(topics) => &topics.charts,
            Part::Clusters(clusters) => &clusters.charts,
            Part::Ratings(ratings) => &ratings.charts,
        }
    }
}

/// The page of one run, which is called `name`.
pub fn one<M: Reported>(name: &str, run: &Run<M>, given: &M::Given) -> Result<String> {
    let head = head::Head::of(name, run);
    let part = M::part(run, given)?;
    page::of_one(head, part)
}

/// The charts of how a run converged, which need no more than the run: bound and held-out score.
pub fn bounds<M: Reported>(run: &Run<M>) -> Vec<Chart> {
    head::charts(run)
}

/// The charts of what a run's model has to show.
pub fn pictures<M: Reported>(run: &Run<M>, given: &M::Given) -> Result<Vec<Chart>> {
    Ok(M::part(run, given)?.pictures())
}

/// The numbers of all charts of [`pictures`] as JSON: by their ids, names of columns and rows.
pub fn numbers<M: Reported>(run: &Run<M>, given: &M::Given) -> Result<String> {
    let charts = pictures(run, given)?;
    serde_json::to_string(&chart::numbers(&charts))
        .map_err(|error| lehr::Error::data(format!("the numbers become no JSON: {error}")))
}

/// A fitted model in a few lines of HTML, for notebooks.
pub fn card<M: Reported>(run: &Run<M>) -> Result<String> {
    page::card(&head::Head::of("", run))
}
