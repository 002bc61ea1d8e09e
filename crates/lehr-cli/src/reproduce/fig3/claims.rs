//! What the runs of the mixtures say: paired by start, before and after the quench.

use std::collections::HashMap;

use super::{CONTROL, Fig3, M_0, Method, Set};
use crate::reproduce::{Claim, Condition, Records};
use crate::text::rounded;

const UNIT: &str = "nats";
/// What is compared when, and how it is called.
const MOMENTS: [(&str, &str); 2] = [("before", "before the quench"), ("after", "after it")];

/// All claims.
pub fn all(fig: &Fig3, records: &Records) -> Vec<Claim> {
    let with = format!(
        "{} starts; before: when noise ends; after: when batch VI has finished",
        fig.starts
    );
    vec![
        Claim::new(
            "SVI+ reaches better local optima than batch inference",
            with.as_str(),
            against(fig, records, None, "batch VI", &MOMENTS),
        )
        .remark(guard_remark(fig, records)),
        Claim::new(
            "SVI+ reaches better local optima than regular SVI",
            with.as_str(),
            against(fig, records, None, "SVI", &MOMENTS),
        ),
        Claim::new("SVI+ with smaller M is better", with.as_str(), smaller(fig, records)),
        Claim::new(
            "(control) SVI+ is better than batch inference with the other guard, too",
            format!("guard `{CONTROL}`, otherwise the same"),
            against(fig, records, Some(CONTROL), "batch VI", &MOMENTS),
        ),
        Claim::new(
            "(control) SVI+ is better with larger steps, too",
            "SVI and SVI+ with rho_t = (1 + t)^-0.6, otherwise the same",
            larger(fig, records),
        ),
        restarts(fig, records),
        annealed(fig, records),
    ]
}

fn plus(set: &Set, guard: Option<super::Guard>) -> impl Iterator<Item = (usize, String)> {
    set.effective
        .iter()
        .map(move |&effective| (effective, Method::SviPlus { effective, guard }.name()))
}

/// SVI+ against another method, on each data set and for each M.
fn against(
    fig: &Fig3,
    records: &Records,
    guard: Option<super::Guard>,
    other: &str,
    moments: &[(&str, &str)],
) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for (m, method) in plus(set, guard) {
            for (name, moment) in moments {
                let differences = records.differences(set.name, &method, other, name);
                let when = format!("{}, M = {m}, {moment}", set.name);
                conditions.push(Condition::paired(when, &differences, UNIT));
            }
        }
    }
    conditions
}

/// SVI+ with larger steps against batch VI, and against SVI with the same steps.
fn larger(fig: &Fig3, records: &Records) -> Vec<Condition> {
    let (batch, svi) = (Method::Batch.name(), Method::Larger { effective: None }.name());
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for &m in set.effective {
            let method = Method::Larger { effective: Some(m) }.name();
            for (other, words) in [(&batch, "batch VI"), (&svi, "SVI")] {
                for (name, moment) in MOMENTS {
                    let differences = records.differences(set.name, &method, other, name);
                    let when = format!("{}, M = {m}, against {words}, {moment}", set.name);
                    conditions.push(Condition::paired(when, &differences, UNIT));
                }
            }
        }
    }
    conditions
}

/// Each M against the next larger one.
fn smaller(fig: &Fig3, records: &Records) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        let methods: Vec<(usize, String)> = plus(set, None).collect();
        for pair in methods.windows(2) {
            let [(small, this), (large, other)] = pair else { continue };
            for (name, moment) in MOMENTS {
                let differences = records.differences(set.name, this, other, name);
                let when = format!("{}, M = {small} against {large}, {moment}", set.name);
                conditions.push(Condition::paired(when, &differences, UNIT));
            }
        }
    }
    conditions
}

/// Mean passes over the data of a method, its quench among them.
fn passes(records: &Records, set: &Set, methods: &[&str]) -> Option<f64> {
    let all: Vec<f64> =
        methods.iter().flat_map(|method| records.ends(set.name, method, "passes")).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// How many climbs of batch VI one run of a method is worth.
pub fn worth(records: &Records, set: &Set, method: &str) -> f64 {
    let (batch, more) = (Method::Batch.name(), Method::MoreBatch.name());
    passes(records, set, &[method])
        .zip(passes(records, set, &[&batch, &more]))
        .map_or(1.0, |(this, climb)| this / climb)
}

/// A method against the best of as many climbs as one run of it is worth: at least one, at most what
/// there are. Parts of a climb count as a whole one.
fn against_restarts(
    fig: &Fig3,
    records: &Records,
    set: &Set,
    method: Method,
    what: &str,
) -> Condition {
    let method = method.name();
    let worth = worth(records, set, &method);
    let k = (worth.ceil() as u32).clamp(1, fig.restarts);
    let when = format!(
        "{}, {what}, against the best of {k} (worth {} climbs)",
        set.name,
        rounded(worth, 2)
    );
    Condition::paired(when, &above_best_of(fig, records, set, &method, k), UNIT)
}

/// A method's final bound minus the best of `k` climbs of batch VI: the same start, and further ones
/// that no other start shares.
pub fn above_best_of(fig: &Fig3, records: &Records, set: &Set, method: &str, k: u32) -> Vec<f64> {
    let climbs: HashMap<u32, f64> = [Method::Batch, Method::MoreBatch]
        .iter()
        .flat_map(|climb| records.of(set.name, &climb.name()))
        .filter_map(|r| Some((r.start, *r.end.get("after")?)))
        .collect();
    let best = |start: u32| {
        let group = (0..k).filter_map(|i| climbs.get(&(start + i * fig.starts)));
        group.copied().reduce(f64::max)
    };
    let found = records.of(set.name, method);
    found.iter().filter_map(|r| Some(r.end.get("after")? - best(r.start)?)).collect()
}

fn restarts(fig: &Fig3, records: &Records) -> Claim {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for &m in set.effective {
            let method = Method::SviPlus { effective: m, guard: None };
            conditions.push(against_restarts(fig, records, set, method, &format!("M = {m}")));
            let larger = Method::Larger { effective: Some(m) };
            let what = format!("M = {m}, larger steps");
            conditions.push(against_restarts(fig, records, set, larger, &what));
        }
    }
    let setting =
        "after the quench; as many restarts as take the same number of passes or just more";
    let climbs = fig.sets.iter().filter_map(|set| {
        let (batch, more) = (Method::Batch.name(), Method::MoreBatch.name());
        let climb = passes(records, set, &[&batch, &more])?;
        let plus = passes(records, set, &[&plus(set, None).next()?.1])?;
        Some(format!(
            "{}: a climb of batch VI takes {} passes on average, SVI+ with its quench {}",
            set.name,
            rounded(climb, 3),
            rounded(plus, 3)
        ))
    });
    let words = "(control) SVI+ is better than restarts of batch inference at equal compute";
    let remark = climbs.collect::<Vec<_>>().join("; ");
    Claim::new(words, setting, conditions).remark(format!(
        "{remark}. Both are climbed until a sweep changes the bound by less than 1e-8 of it; a looser end \
         would make restarts cheaper and more of them fit in."
    ))
}

fn annealed(fig: &Fig3, records: &Records) -> Claim {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for from in M_0 {
            let method = Method::Annealed { from };
            let alone = above_best_of(fig, records, set, &method.name(), 1);
            let when = format!("{}, M from {from}, against one climb", set.name);
            conditions.push(Condition::paired(when, &alone, UNIT));
            let what = format!("M from {from}");
            conditions.push(against_restarts(fig, records, set, method, &what));
        }
    }
    let words = "(control) annealing the full batch is better than batch inference";
    Claim::new(
        words,
        "rho = 0.5 while noisy, M growing to N, then batch VI; after the quench",
        conditions,
    )
}

/// How often the guard had to act, and how many components were left.
fn guard_remark(fig: &Fig3, records: &Records) -> String {
    let mean = |set: &Set, method: &str, name: &str| {
        let all = records.ends(set.name, method, name);
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let mut parts = Vec::new();
    for set in &fig.sets {
        let batch = Method::Batch.name();
        if let Some(held) = mean(set, &batch, "components") {
            parts.push(format!("{}, batch VI: {} components", set.name, rounded(held, 2)));
        }
        for (m, method) in plus(set, None) {
            let share = mean(set, &method, "guard_share").zip(mean(set, &method, "components"));
            if let Some((share, held)) = share {
                parts.push(format!(
                    "{}, SVI+ M = {m}: {}, the guard acted on {} % of the noisy updates",
                    set.name,
                    rounded(held, 2),
                    rounded(100.0 * share, 2)
                ));
            }
        }
    }
    format!("Components that hold an item or more at the end, of K. {}.", parts.join("; "))
}
