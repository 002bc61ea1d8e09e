//! What the distances say of the factor d^(1/4).

use lehr_plot::caption::rounded;

use super::settings::{DIMS, METHOD, TAUS, setting};
use crate::claims::Finding;
use crate::theorem::measures::{jackknife, slope};
use crate::{Claim, Condition, Records};

/// Larger distances are not fitted: they near 1.
pub const LARGEST: f64 = 0.25;
/// How near an exponent has to be.
const ALLOWED: f64 = 0.05;

/// All claims.
pub fn all(records: &Records) -> Vec<Claim> {
    let bound = TAUS.map(|tau| {
        let dims: Vec<usize> = DIMS
            .into_iter()
            .filter(|&d| mean(records, tau, d, "distance", None).is_some_and(|x| x <= LARGEST))
            .collect();
        let mut condition = exponent(records, tau, &dims, "distance", 0.25);
        // The theorem is a bound: what grows more slowly obeys it.
        if condition.1 < 0.25 && condition.0.finding == Finding::Differs {
            condition.0.finding = Finding::Holds;
        }
        condition.0
    });
    let constant = exponent(records, TAUS[0], &DIMS, "cubes", 0.0).0;
    vec![
        Claim::new(
            "The total variation distance grows with the dimension as d^(1/4) at most, for a constant C",
            "exponent of a power law in d; less also counts as holding",
            bound.into(),
        )
        .remark(format!(
            "Where coordinates are independent, ln L is a sum of d independent terms, so that its deviation, and with it \
             the distance while it is small, grows as d^(1/2). Distances: {}.",
            distances(records)
        )),
        Claim::control(
            "What the proof absorbs in C, the mean of ||Sigma^(-1/2) lambda||^3, does not depend on d",
            "exponent of a power law in d",
            vec![constant],
        )
        .remark(
            "It grows towards d^(3/2) as d grows, and the bound with it towards d^(7/4), which the distances obey: what fails \
             is d^(1/4) with a C that is the same for every d.",
        ),
    ]
}

/// The mean of a number over the starts but for one.
pub fn mean(
    records: &Records,
    tau: usize,
    d: usize,
    name: &str,
    without: Option<u32>,
) -> Option<f64> {
    let runs = records.of(&setting(tau, d), METHOD);
    let those = runs.into_iter().filter(|run| Some(run.start) != without);
    let all: Vec<f64> = those.filter_map(|run| run.end.get(name).copied()).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// An exponent in d as a condition, and its value.
fn exponent(
    records: &Records,
    tau: usize,
    dims: &[usize],
    name: &str,
    predicted: f64,
) -> (Condition, f64) {
    let of = |without| {
        let point =
            |&d: &usize| Some(((d as f64).ln(), mean(records, tau, d, name, without)?.ln()));
        slope(&dims.iter().map(point).collect::<Option<Vec<_>>>()?)
    };
    let starts: Vec<u32> =
        records.of(&setting(tau, DIMS[0]), METHOD).iter().map(|run| run.start).collect();
    let (value, error) = jackknife(&starts, of).unzip();
    let value = value.unwrap_or(f64::NAN);
    let range = match (dims.first(), dims.last()) {
        (Some(first), Some(last)) => format!("for d = {first} to {last}"),
        _ => String::new(),
    };
    (Condition::value(format!("tau = {tau}"), (value, error), predicted, ALLOWED, &range), value)
}

fn distances(records: &Records) -> String {
    let of = |tau: usize| {
        let at = |d: usize| {
            let distance = mean(records, tau, d, "distance", None).unwrap_or(f64::NAN);
            format!("{} for d = {d}", rounded(distance, 3))
        };
        format!("tau = {tau}: {}", DIMS.map(at).join(", "))
    };
    TAUS.map(of).join("; ")
}
