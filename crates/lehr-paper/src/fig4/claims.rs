//! What the runs of the Dirichlet process say: counts of clusters, and how much the first ones hold, by data set, process,
//! prior and step size.

use std::collections::BTreeMap;

use lehr_plot::caption::rounded;

use super::{Fig4, Method, PRIORS, PROCESSES, RHOS, SETS, SHARES, Setting, TRUTH, rho_name};
use crate::claims::Finding;
use crate::{Claim, Condition, Record, Records};

const UNIT: &str = "clusters";

/// All claims.
pub fn all(fig: &Fig4, records: &Records) -> Vec<Claim> {
    let runs = format!("{} starts; every start the mean of all M", fig.starts);
    let alone = format!("{} starts", fig.starts);
    let all = Setting::all();
    let batch = |s: &Setting| records.ends(&s.name(), &Method::Batch.name(), "clusters_after");
    let over = all.iter().map(|s| {
        let above: Vec<f64> = batch(s).iter().map(|count| count - TRUTH as f64).collect();
        Condition::paired(s.name(), &above, UNIT)
    });
    let five = all.iter().map(|s| {
        let counts = batch(s);
        let hits = counts.iter().filter(|&&count| count == 5.0).count();
        Condition::always(s.name(), hits, counts.len(), "5 clusters")
    });
    let compare = |other: fn(usize) -> Method, name: &str, value: fn(f64) -> f64, unit: &str| {
        each(|s, rho| {
            let this: Vec<String> = Method::plus(rho).iter().map(|m| m.name()).collect();
            let differences = differences(records, s, &this, &other(rho).name(), name, value);
            Condition::paired(condition(s, rho), &differences, unit)
        })
    };
    let against_batch = compare(|_| Method::Batch, "clusters_before", distance, UNIT);
    let against_svi = compare(|rho| Method::Svi { rho }, "clusters_before", distance, UNIT);
    let (by_batch, by_svi) = (depends(&against_batch), depends(&against_svi));
    vec![
        Claim::new(
            "batch inference over-estimates the number of clusters",
            format!("{alone}; the count less {TRUTH}"),
            over.collect(),
        ),
        Claim::new(
            "batch inference consistently learned 5 clusters",
            format!("{alone}; the count"),
            five.collect(),
        )
        .remark(tallies(records)),
        Claim::new(
            "SVI under-estimates the number of clusters: it learned 3",
            format!("{alone}; {TRUTH} less the count before the quench"),
            svi(records, "clusters_before", |count| TRUTH as f64 - count, UNIT),
        ),
        Claim::new(
            "SVI+ is more accurate than batch inference",
            format!("{runs}; how much nearer its count is to {TRUTH}, before the quench"),
            against_batch,
        )
        .remark(by_batch),
        Claim::new(
            "SVI+ converges more consistently than batch inference to the right optimum",
            format!(
                "{runs}; share of runs with {TRUTH} clusters before the quench, SVI+ less batch"
            ),
            compare(|_| Method::Batch, "clusters_before", is_right, "% of the runs"),
        ),
        Claim::new(
            "SVI+ is more accurate than SVI",
            format!("{runs}; how much nearer its count is to {TRUTH}, before the quench"),
            against_svi,
        )
        .remark(by_svi),
        Claim::new(
            "Most of the data are contained in the first two clusters of SVI",
            format!("{alone}; share of the first two before the quench, less half"),
            svi(records, "first_two_before", |share| 100.0 * (share - 0.5), "% of the data"),
        )
        .remark(first_two(fig)),
        Claim::new(
            "SVI puts more data in fewer clusters than SVI+",
            format!("{runs}; share of the first two clusters before the quench, SVI less SVI+"),
            compare(|rho| Method::Svi { rho }, "first_two_before", |s| -100.0 * s, "% of the data"),
        ),
        Claim::control(
            "After the quench, too, SVI+ is more accurate than batch inference",
            format!("{runs}; how much nearer its count is to {TRUTH}"),
            compare(|_| Method::Batch, "clusters_after", distance, UNIT),
        ),
        Claim::control(
            "SVI+ reaches better local optima than batch inference here, too",
            format!("{runs}; the bound after the quench"),
            compare(|_| Method::Batch, "bound_after", |bound| bound, "nats"),
        ),
        Claim::control(
            "SVI+ reaches better local optima than the library's search",
            format!("{runs}; the bound after the quench, where SVI+ had more passes"),
            compare(|_| Method::Search, "bound_after", |bound| bound, "nats"),
        )
        .remark(passes(records)),
        Claim::control(
            "For a Dirichlet process, noise with the exact covariance is better than Algorithm 1's",
            format!("{alone}; M = {} |S|, the bound and the count", SHARES[0]),
            exact(records),
        ),
    ]
}

fn distance(count: f64) -> f64 {
    -(count - TRUTH as f64).abs()
}

fn is_right(count: f64) -> f64 {
    if count as usize == TRUTH { 100.0 } else { 0.0 }
}

/// A condition for every setting and step size.
fn each(condition: impl Fn(Setting, usize) -> Condition) -> Vec<Condition> {
    let all = Setting::all().into_iter();
    all.flat_map(|s| (0..RHOS.len()).map(move |rho| (s, rho)))
        .map(|(s, rho)| condition(s, rho))
        .collect()
}

fn condition(setting: Setting, rho: usize) -> String {
    format!("{}, {}", setting.name(), rho_name(rho))
}

/// A value of some methods less that of another with the same start, the mean of every start: its runs are not
/// independent. To two decimals, because runs in the same optimum differ by where the tolerance ended them.
fn differences(
    records: &Records,
    setting: Setting,
    these: &[String],
    other: &str,
    name: &str,
    value: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut starts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for this in these {
        for (this, other) in records.pairs(&setting.name(), this, other, name) {
            let own = this.end.get(name).copied().map_or(f64::NAN, &value);
            starts.entry(this.start).or_default().push(own - value(other.end[name]));
        }
    }
    let mean = |all: &Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    // Plus zero, which makes -0 to 0.
    starts.values().map(|all| (100.0 * mean(all)).round() / 100.0 + 0.0).collect()
}

/// A value of SVI in every setting and with every step size.
fn svi(records: &Records, name: &str, value: fn(f64) -> f64, unit: &str) -> Vec<Condition> {
    each(|s, rho| {
        let found = records.ends(&s.name(), &Method::Svi { rho }.name(), name);
        let values: Vec<f64> = found.into_iter().map(value).collect();
        Condition::paired(condition(s, rho), &values, unit)
    })
}

/// A number of a run: its name, what to call it, what is compared of it, and its unit.
type Value = (&'static str, &'static str, fn(f64) -> f64, &'static str);

/// The exact covariance against Algorithm 1's, with the same batches.
fn exact(records: &Records) -> Vec<Condition> {
    let values: [Value; 3] = [
        ("bound_before", "bound before the quench", |bound| bound, "nats"),
        ("bound_after", "bound after it", |bound| bound, "nats"),
        ("clusters_before", "count before the quench", distance, UNIT),
    ];
    let mut conditions = Vec::new();
    for setting in Setting::all().into_iter().filter(|setting| setting.has_exact()) {
        for rho in 0..RHOS.len() {
            for (name, words, value, unit) in values {
                let this = [Method::Exact { rho }.name()];
                let other = Method::SviPlus { rho, share: 0 }.name();
                let found = differences(records, setting, &this, &other, name, value);
                let when = format!("{}, {words}", condition(setting, rho));
                conditions.push(Condition::paired(when, &found, unit));
            }
        }
    }
    conditions
}

/// What the verdicts depend on: how many conditions hold with each data set, process, prior and step size.
fn depends(conditions: &[Condition]) -> String {
    let rhos: Vec<String> = (0..RHOS.len()).map(rho_name).collect();
    let factors: [Vec<&str>; 4] = [
        SETS.to_vec(),
        PROCESSES.to_vec(),
        PRIORS.to_vec(),
        rhos.iter().map(String::as_str).collect(),
    ];
    let of = |place: usize, value: &str| {
        let those: Vec<&Condition> =
            conditions.iter().filter(|c| c.when.split(", ").nth(place) == Some(value)).collect();
        let count = |finding| those.iter().filter(|c| c.finding == finding).count();
        let (holds, opposite) = (count(Finding::Holds), count(Finding::Opposite));
        let unclear = those.len() - holds - opposite;
        format!("{value}: ✓ {holds}, · {unclear}, ✗ {opposite}")
    };
    let by = factors.iter().enumerate().map(|(place, values)| {
        values.iter().map(|value| of(place, value)).collect::<Vec<_>>().join("; ")
    });
    format!("What it depends on. {}.", by.collect::<Vec<_>>().join(". "))
}

/// How often each method found the right number, a sentence for every setting.
fn tallies(records: &Records) -> String {
    let right = |setting: &str, methods: &[String]| {
        let found: Vec<f64> =
            methods.iter().flat_map(|m| records.ends(setting, m, "clusters_before")).collect();
        let hits = found.iter().filter(|&&count| count as usize == TRUTH).count();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        format!("{hits} of {} (mean count {})", found.len(), rounded(mean, 3))
    };
    let mut texts = Vec::new();
    for setting in Setting::all() {
        let name = setting.name();
        let mut parts = vec![
            format!("batch VI {}", right(&name, &[Method::Batch.name()])),
            format!("search {}", right(&name, &[Method::Search.name()])),
        ];
        for rho in 0..RHOS.len() {
            parts.push(format!(
                "{}: SVI {}, SVI+ {}",
                rho_name(rho),
                right(&name, &[Method::Svi { rho }.name()]),
                right(&name, &Method::plus(rho).map(Method::name))
            ));
        }
        texts.push(format!("{name}: {}", parts.join("; ")));
    }
    format!("Runs with {TRUTH} clusters before the quench. {}.", texts.join(". "))
}

/// What the first two clusters truly hold.
fn first_two(fig: &Fig4) -> String {
    let of = |(name, truth): (&&str, &Vec<f64>)| {
        format!("{name} {} %", rounded(100.0 * truth[..2].iter().sum::<f64>(), 3))
    };
    let all: Vec<String> = SETS.iter().zip(&fig.truths).map(of).collect();
    format!("The two largest clusters of the synthetic data hold: {}.", all.join(", "))
}

/// What the methods cost.
fn passes(records: &Records) -> String {
    let mean = |methods: &[Method]| {
        let name = |m: &Method| m.name();
        let of = |r: &&Record| methods.iter().any(|m| name(m) == r.method);
        let found: Vec<f64> =
            records.iter().filter(of).filter_map(|r| r.end.get("passes").copied()).collect();
        rounded(found.iter().sum::<f64>() / found.len() as f64, 3)
    };
    let plus: Vec<Method> = (0..RHOS.len()).flat_map(Method::plus).collect();
    format!(
        "Passes over the data, on average, the quench included: batch VI {}, SVI+ {}. The search counts its own: at most \
         4 times those of batch VI.",
        mean(&[Method::Batch]),
        mean(&plus)
    )
}
