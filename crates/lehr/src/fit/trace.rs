//! What a run tells of itself: one observation per evaluation of the bound, one JSON line each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The state of a fit at one moment. In the trace file, one JSON object a line with these fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Which start, from 0.
    pub restart: u32,
    /// Which run of a driver inside this start, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub run: u32,
    /// How many updates lambda has had.
    pub step: u64,
    /// Seconds of work so far, those before an interruption included.
    pub seconds: f64,
    /// Items seen so far, each as often as it was seen.
    pub items: u64,
    /// rho of the last update (of the first one, before it).
    pub rho: f64,
    /// M of the last update; |S| if it had no noise.
    pub effective: f64,
    /// |S|.
    pub batch: usize,
    /// rho N / (2 M): the noise left in lambda, relative to the data's own. 0 where nothing is random: batch VI.
    pub temperature: f64,
    /// The bound on all training items, every constant included.
    pub bound: f64,
    /// If the bound is an estimate: from this many random training items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_sample: Option<usize>,
    /// The score of the held-out items: for mixtures their mean log predictive density, for LDA
    /// the completion score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heldout: Option<f64>,
    /// Rows of lambda (entries, for the guards `clamp` and `shrink`) that the guard had to change.
    pub guard_hits: u64,
    /// What else the model has to tell: for LDA `mass`, `clamped_share` and the held-out scores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// An evaluation outside the usual rhythm, made because the run ended here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
    /// What a driver has to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<serde_json::Value>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
