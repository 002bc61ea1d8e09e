//! What the runs of the mixtures say: paired by start, before and after the quench.

use std::collections::HashMap;

use lehr_plot::caption::rounded;

use super::{CONTROL, Fig3, M_0, Method, Set};
use crate::{Claim, Condition, Record, Records};

const UNIT: &str = "nats";
/// What is compared when, and how it is called.
const MOMENTS: [(&str, &str); 2] = [("before", "before the quench"), ("after", "after it")];

/// All claims.
pub fn all(fig: &Fig3, records: &Records) -> Vec<Claim> {
    let with = format!(
        "{} starts; before: when noise ends; after: when batch VI has finished; the paper does not give its \
         step size, so there are two",
        fig.starts
    );
    vec![
        Claim::new(
            "SVI+ reaches better local optima than batch inference",
            with.as_str(),
            against(fig, records, &Steps::ALL, |_| Method::Batch),
        )
        .remark(guard_remark(fig, records)),
        Claim::new(
            "SVI+ reaches better local optima than regular SVI",
            with.as_str(),
            against(fig, records, &Steps::ALL, Steps::svi),
        ),
        Claim::new("SVI+ with smaller M is better", with.as_str(), smaller(fig, records)),
        Claim::control(
            "SVI+ is better than batch inference with the other guard, too",
            format!("guard `{CONTROL}`, the usual steps"),
            against(fig, records, &[Steps::OtherGuard], |_| Method::Batch),
        ),
        restarts(fig, records),
        annealed(fig, records),
        Claim::control(
            "Noise with the exact covariance, for which the theorem is proved, is better than Algorithm 1's",
            "SVI+ with `--law exact` minus SVI+ by Definition 1 with the same batches and the usual steps",
            exact(fig, records),
        ),
    ]
}

/// How SVI and SVI+ make their steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    Usual,
    Larger,
    OtherGuard,
}

impl Steps {
    const ALL: [Steps; 2] = [Steps::Usual, Steps::Larger];

    fn svi_plus(self, effective: usize) -> Method {
        match self {
            Steps::Usual => Method::SviPlus { effective, guard: None },
            Steps::Larger => Method::Larger { effective: Some(effective) },
            Steps::OtherGuard => Method::SviPlus { effective, guard: Some(CONTROL) },
        }
    }

    fn svi(self) -> Method {
        match self {
            Steps::Larger => Method::Larger { effective: None },
            Steps::Usual | Steps::OtherGuard => Method::Svi,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Steps::Larger => "larger steps",
            Steps::Usual | Steps::OtherGuard => "usual steps",
        }
    }
}

/// SVI+ against another method, on each data set, for each M and kind of steps.
fn against(
    fig: &Fig3,
    records: &Records,
    kinds: &[Steps],
    other: impl Fn(Steps) -> Method,
) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for &steps in kinds {
            for &m in set.effective {
                let (this, other) = (steps.svi_plus(m).name(), other(steps).name());
                for (name, moment) in MOMENTS {
                    let differences = records.differences(set.name, &this, &other, name);
                    let when = format!("{}, M = {m}, {}, {moment}", set.name, steps.words());
                    conditions.push(Condition::paired(when, &differences, UNIT));
                }
            }
        }
    }
    conditions
}

/// The exact covariance against the batch's own.
fn exact(fig: &Fig3, records: &Records) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for &m in set.effective {
            let (this, other) =
                (Method::Exact { effective: m }.name(), Steps::Usual.svi_plus(m).name());
            for (name, moment) in MOMENTS {
                let differences = records.differences(set.name, &this, &other, name);
                conditions.push(Condition::paired(
                    format!("{}, M = {m}, {moment}", set.name),
                    &differences,
                    UNIT,
                ));
            }
        }
    }
    conditions
}

/// Each M against the next larger one.
fn smaller(fig: &Fig3, records: &Records) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for steps in Steps::ALL {
            for pair in set.effective.windows(2) {
                let (this, other) =
                    (steps.svi_plus(pair[0]).name(), steps.svi_plus(pair[1]).name());
                for (name, moment) in MOMENTS {
                    let differences = records.differences(set.name, &this, &other, name);
                    let (what, steps) =
                        (format!("M = {} against {}", pair[0], pair[1]), steps.words());
                    let when = format!("{}, {what}, {steps}, {moment}", set.name);
                    conditions.push(Condition::paired(when, &differences, UNIT));
                }
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

/// How many runs of batch VI one run of a method is worth.
pub fn worth(records: &Records, set: &Set, method: &str) -> f64 {
    let (batch, more) = (Method::Batch.name(), Method::MoreBatch.name());
    passes(records, set, &[method])
        .zip(passes(records, set, &[&batch, &more]))
        .map_or(1.0, |(this, batch)| this / batch)
}

/// A method against the best of as many runs of batch VI as one run of it is worth, at most what there are:
/// between whole numbers of runs, so far between what is above the best of one and of the other.
fn against_restarts(
    fig: &Fig3,
    records: &Records,
    set: &Set,
    method: Method,
    what: &str,
) -> Condition {
    let method = method.name();
    let worth = worth(records, set, &method);
    let k = worth.clamp(1.0, f64::from(fig.restarts));
    let above = |k: f64| above_best_of(fig, records, set, &method, k as u32);
    let part = k - k.floor();
    let between = above(k.floor()).into_iter().zip(above(k.ceil()));
    let differences: Vec<f64> =
        between.map(|(fewer, more)| (1.0 - part) * fewer + part * more).collect();
    let when = format!("{}, {what}, worth {} runs", set.name, rounded(worth, 2));
    Condition::paired(when, &differences, UNIT)
}

/// A method's final bound minus the best of `k` runs of batch VI: the same start, and further ones
/// that no other start shares.
pub fn above_best_of(fig: &Fig3, records: &Records, set: &Set, method: &str, k: u32) -> Vec<f64> {
    let ends: HashMap<u32, f64> = [Method::Batch, Method::MoreBatch]
        .iter()
        .flat_map(|batch| records.of(set.name, &batch.name()))
        .filter_map(|r| Some((r.start, *r.end.get("after")?)))
        .collect();
    let best = |start: u32| {
        let group = (0..k).filter_map(|i| ends.get(&(start + i * fig.starts)));
        group.copied().reduce(f64::max)
    };
    let own = |r: &Record| r.end.get("after").copied().unwrap_or(f64::NAN);
    let found = records.of(set.name, method);
    found.iter().filter_map(|r| Some(own(r) - best(r.start)?)).collect()
}

fn restarts(fig: &Fig3, records: &Records) -> Claim {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for steps in Steps::ALL {
            for &m in set.effective {
                let what = format!("M = {m}, {}", steps.words());
                conditions.push(against_restarts(fig, records, set, steps.svi_plus(m), &what));
            }
        }
    }
    let setting =
        "after the quench; the best of as many restarts as take the same number of passes";
    let costs = fig.sets.iter().filter_map(|set| {
        let (batch, more) = (Method::Batch.name(), Method::MoreBatch.name());
        let alone = passes(records, set, &[&batch, &more])?;
        let plus = passes(records, set, &[&Steps::Usual.svi_plus(*set.effective.first()?).name()])?;
        Some(format!(
            "{}: a run of batch VI takes {} passes on average, SVI+ with its quench {}",
            set.name,
            rounded(alone, 3),
            rounded(plus, 3)
        ))
    });
    let words = "SVI+ is better than restarts of batch inference at equal compute";
    let remark = costs.collect::<Vec<_>>().join("; ");
    Claim::control(words, setting, conditions).remark(format!(
        "{remark}. Both go on until a sweep changes the bound by less than 1e-8 of it; a looser end \
         would make restarts cheaper and more of them fit in."
    ))
}

fn annealed(fig: &Fig3, records: &Records) -> Claim {
    let mut conditions = Vec::new();
    for set in &fig.sets {
        for from in M_0 {
            let method = Method::Annealed { from };
            let alone = above_best_of(fig, records, set, &method.name(), 1);
            let when = format!("{}, M from {from}, against one run", set.name);
            conditions.push(Condition::paired(when, &alone, UNIT));
            let what = format!("M from {from}");
            conditions.push(against_restarts(fig, records, set, method, &what));
        }
    }
    let words = "Annealing the full batch is better than batch inference";
    Claim::control(
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
        for &m in set.effective {
            let method = Steps::Usual.svi_plus(m).name();
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
