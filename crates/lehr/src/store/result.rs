//! `result.json`: how a fit ended.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::path_text;
use crate::fit::Observation;
use crate::fit::{Fitted, Outcome, Searched, Timings, or_nan};
use crate::models::Stored;

/// `result.json`: how a fit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The run directory; empty for a fit that is in none.
    #[serde(with = "path_text")]
    pub run: PathBuf,
    /// The model's name.
    pub model: String,
    /// False if the fit was stopped early; the model is usable all the same.
    pub complete: bool,
    /// The best restart.
    #[serde(flatten)]
    pub best: Outcome,
    /// The score of the held-out items at the end of the best restart, see [`Observation::heldout`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heldout: Option<f64>,
    /// What else the model has to tell of its last state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// Rows or entries that the guard changed in the best restart.
    pub guard_hits: u64,
    /// Seconds worked on the best restart.
    pub seconds: f64,
    /// Where this session's time went.
    pub seconds_by_part: Timings,
    /// Iterations of this session's local steps, for models that iterate.
    #[serde(default)]
    pub local_iterations: u64,
    /// All restarts.
    pub restarts: Vec<Outcome>,
    /// With a search: passes over the data of all starts, everything counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<f64>,
    /// With a search: those of the plain runs among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_plain: Option<f64>,
    /// Mean of the restarts' bounds.
    #[serde(deserialize_with = "or_nan")]
    pub bound_mean: f64,
    /// Standard deviation of the restarts' bounds.
    #[serde(deserialize_with = "or_nan")]
    pub bound_sd: f64,
}

impl RunResult {
    /// How this fit ended, `trace` being all its observations.
    pub(super) fn new<M: Stored>(model: &M, fit: &Fitted, trace: &[Observation]) -> Self {
        let (bound_mean, bound_sd) = fit.spread();
        let last = trace.iter().rfind(|o| o.restart == fit.outcome.restart);
        let (heldout, measures) =
            last.map_or((None, BTreeMap::new()), |o| (o.heldout, o.measures.clone()));
        let searched = || fit.outcomes.iter().filter_map(|outcome| outcome.search.as_ref());
        let sum = |of: fn(&Searched) -> f64| searched().map(of).reduce(|sum, passes| sum + passes);
        RunResult {
            passes: sum(|searched| searched.passes),
            passes_plain: sum(|searched| searched.passes_plain),
            run: PathBuf::new(),
            model: model.name().to_string(),
            complete: fit.is_complete(),
            best: fit.outcome.clone(),
            heldout,
            measures,
            guard_hits: fit.state.guard_hits,
            seconds: fit.state.seconds,
            seconds_by_part: fit.timings,
            local_iterations: fit.local_iterations,
            restarts: fit.outcomes.clone(),
            bound_mean,
            bound_sd,
        }
    }
}
