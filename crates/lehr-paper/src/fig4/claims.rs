//! What the runs of the Dirichlet process say: counts of clusters, and how much the first ones hold.

use std::collections::BTreeMap;

use lehr_plot::caption::rounded;

use super::figures::GROUPS;
use super::{BATCHES, Fig4, Method, PRIORS, SHARES, TRUTH};
use crate::{Claim, Condition, Record, Records};

const UNIT: &str = "clusters";
/// What is compared when, and how it is called.
const MOMENTS: [(&str, &str); 2] = [("before", "before the quench"), ("after", "after it")];

/// All claims.
pub fn all(fig: &Fig4, records: &Records) -> Vec<Claim> {
    let runs = format!("{} starts; every start the mean of all |S|", fig.starts);
    let distance = |count: f64| -(count - TRUTH as f64).abs();
    let is_right = |count: f64| if count as usize == TRUTH { 100.0 } else { 0.0 };
    let batch = |prior: &str| records.ends(prior, &Method::Batch.name(), "clusters_after");
    let over = PRIORS.map(|prior| {
        let above: Vec<f64> = batch(prior).iter().map(|count| count - TRUTH as f64).collect();
        Condition::paired(prior, &above, UNIT)
    });
    let five = PRIORS.map(|prior| {
        let counts = batch(prior);
        let hits = counts.iter().filter(|&&count| count == 5.0).count();
        Condition::always(prior, hits, counts.len(), "5 clusters")
    });
    let starts = fig.starts_of(Method::Batch).len();
    vec![
        Claim::new(
            "batch inference over-estimates the number of clusters",
            format!("{starts} starts; the count less {TRUTH}"),
            over.into(),
        ),
        Claim::new(
            "batch inference consistently learned 5 clusters",
            format!("{starts} starts; the count"),
            five.into(),
        )
        .remark(tallies(records)),
        Claim::new(
            "SVI under-estimates the number of clusters: it learned 3",
            format!("{starts} starts; every start the mean of all |S|; {TRUTH} less the count"),
            svi(records, "clusters", |count| TRUTH as f64 - count, UNIT),
        ),
        Claim::new(
            "SVI+ is more accurate than batch inference",
            format!("{runs}; how much nearer its count is to {TRUTH}"),
            compare(records, |_| Method::Batch, "clusters", distance, UNIT),
        ),
        Claim::new(
            "SVI+ converges more consistently than batch inference to the right optimum",
            format!("{runs}; share of runs with {TRUTH} clusters, SVI+ less batch"),
            compare(records, |_| Method::Batch, "clusters", is_right, "% of the runs"),
        ),
        Claim::new(
            "SVI+ is more accurate than SVI",
            format!("{runs}; how much nearer its count is to {TRUTH}"),
            compare(records, |batch| Method::Svi { batch }, "clusters", distance, UNIT),
        ),
        Claim::new(
            "Most of the data are contained in the first two clusters of SVI",
            format!("{starts} starts; every start the mean of all |S|; share of the first two, less half"),
            svi(records, "first_two", |share| 100.0 * (share - 0.5), "% of the data"),
        )
        .remark(format!(
            "Of the made data the two largest clusters hold {} %.",
            rounded(100.0 * fig.truth[..2].iter().sum::<f64>(), 3)
        )),
        Claim::new(
            "SVI puts more data in fewer clusters than SVI+",
            format!("{runs}; share of the first two clusters, SVI less SVI+"),
            compare(
                records,
                |batch| Method::Svi { batch },
                "first_two",
                |share| -100.0 * share,
                "% of the data",
            ),
        ),
        Claim::control(
            "SVI+ reaches better local optima than batch inference here, too",
            format!("{runs}; the bound"),
            compare(records, |_| Method::Batch, "bound", |bound| bound, "nats"),
        ),
    ]
}

/// A value of SVI+ less that of another method with the same start, for each prior, M and moment.
fn compare(
    records: &Records,
    other: impl Fn(usize) -> Method,
    name: &str,
    value: impl Fn(f64) -> f64,
    unit: &str,
) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for prior in PRIORS {
        for share in SHARES {
            for (moment, words) in MOMENTS {
                let name = format!("{name}_{moment}");
                let of = |batch: usize| {
                    let plus = Method::SviPlus { batch, share }.name();
                    let pairs = records.pairs(prior, &plus, &other(batch).name(), &name);
                    let difference = |(this, other): (&Record, &Record)| {
                        let own = this.end.get(&name).copied().map_or(f64::NAN, &value);
                        (this.start, own - value(other.end[&name]))
                    };
                    pairs.into_iter().map(difference).collect::<Vec<_>>()
                };
                let differences = by_start(BATCHES.iter().flat_map(|&batch| of(batch)));
                let when = format!("{prior}, M = {share} |S|, {words}");
                conditions.push(Condition::paired(when, &differences, unit));
            }
        }
    }
    conditions
}

/// The mean of each start's numbers: runs of one start are not independent of each other. To two decimals,
/// because runs in the same optimum differ by where the tolerance ended them.
fn by_start(numbers: impl Iterator<Item = (u32, f64)>) -> Vec<f64> {
    let mut starts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    numbers.for_each(|(start, x)| starts.entry(start).or_default().push(x));
    let mean = |all: &Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    starts.values().map(|all| (100.0 * mean(all)).round() / 100.0).collect()
}

/// The counts of all runs of a kind.
fn counts(records: &Records, prior: &str, moment: &str, kind: fn(&Method) -> bool) -> Vec<f64> {
    let name = format!("clusters_{moment}");
    let methods = Method::all().into_iter().filter(kind);
    methods.flat_map(|m| records.ends(prior, &m.name(), &name)).collect()
}

/// A value of SVI for each prior and moment, every start the mean of all batch sizes.
fn svi(records: &Records, name: &str, value: fn(f64) -> f64, unit: &str) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for prior in PRIORS {
        for (moment, words) in MOMENTS {
            let name = format!("{name}_{moment}");
            let values = BATCHES.iter().flat_map(|&batch| {
                let runs = records.of(prior, &Method::Svi { batch }.name());
                runs.into_iter().filter_map(|r| Some((r.start, value(*r.end.get(&name)?))))
            });
            let values = by_start(values);
            conditions.push(Condition::paired(format!("{prior}, {words}"), &values, unit));
        }
    }
    conditions
}

/// The counts of every method in a sentence each.
fn tallies(records: &Records) -> String {
    let mut texts = Vec::new();
    for prior in PRIORS {
        for (name, _, kind) in GROUPS {
            for (moment, words) in MOMENTS {
                let found = counts(records, prior, moment, kind);
                let (least, most) = found
                    .iter()
                    .fold((f64::INFINITY, 0.0_f64), |(low, high), &c| (low.min(c), high.max(c)));
                if found.is_empty() || (name == GROUPS[0].0 && moment == MOMENTS[0].0) {
                    continue;
                }
                let right = found.iter().filter(|&&c| c as usize == TRUTH).count();
                texts.push(format!(
                    "{prior}, {name} {words}: {least} to {most} clusters, {} on average, {TRUTH} in {right} \
                     of {} runs",
                    rounded(found.iter().sum::<f64>() / found.len() as f64, 3),
                    found.len()
                ));
            }
        }
    }
    format!("{}.", texts.join("; "))
}
