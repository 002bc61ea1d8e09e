//! What the runs of figure 1 say about the paper's claims.

use lehr_plot::caption::rounded;

use super::data::Set;
use super::figures::is_main;
use super::settings::{Method, Setting};
use crate::{Claim, Condition, Record, Records};

/// All claims.
pub fn all(sets: &[Set], settings: &[Setting], records: &Records) -> Vec<Claim> {
    let found = Found { settings, records };
    let sweeps: Vec<String> =
        sets.iter().map(|set| format!("{} sweeps of {}", set.sweeps, set.name)).collect();
    let sweeps = sweeps.join(", ");
    let short = |s: &Setting| !s.long;
    let long = |s: &Setting| s.long;
    let bounds = |which: &dyn Fn(&Setting) -> bool, other: Method| {
        found.conditions(which, |s| found.ends(s, Method::SviPlus, other), "nats")
    };
    vec![
        Claim::new(
            "SVI+ converges to a better local optimum than batch, for both data sets and ranks",
            format!("bound after {sweeps}, SVI+ minus batch"),
            bounds(&short, Method::Batch),
        )
        .remark(format!("{} {}", found.still_moving(), found.guards())),
        Claim::control(
            "The local optimum is better, and not only reached sooner",
            "bound after ten times as many sweeps, SVI+ minus batch",
            found.conditions(&long, |s| found.ends(s, Method::SviPlus, Method::Batch), "nats"),
        )
        .remark(format!("{} {}", found.leads(&long, Method::SviPlus), found.means(&long))),
        Claim::control(
            "The same of a variant, SVI+ with rho 1 once a row's noise is over, which nothing holds back at the end",
            "bound after ten times as many sweeps, that variant minus batch",
            found.conditions(&long, |s| found.ends(s, Method::QuietOne, Method::Batch), "nats"),
        )
        .remark(found.leads(&long, Method::QuietOne)),
        Claim::new(
            "SVI+ converges significantly faster",
            "sweeps of batch minus sweeps of SVI+ to the lower of their two last bounds",
            found.conditions(&short, |s| found.sweeps_saved(s), "sweeps"),
        ),
        Claim::new(
            "The gain is entirely due to annealing: SVI+ is better than its step size without noise",
            format!("bound after {sweeps}, SVI+ minus rho = 0.85 without noise"),
            bounds(&is_main, Method::Damped),
        )
        .remark(found.means(&is_main)),
        Claim::control(
            "It takes noise: SVI+ is better than batch with the gauge step, which has none",
            format!("bound after {sweeps}, SVI+ minus batch with gauge step"),
            bounds(&short, Method::Gauge),
        )
        .remark(
            "The gauge step moves along u -> A u, v -> A^-T v, which changes no prediction. \
             Where it ends as high or higher, what SVI+ gains over batch is motion that batch makes slowly, not \
             the escape from a worse optimum.",
        ),
        Claim::control(
            "It takes Gaussian noise: SVI+ is better than noise from taking M_t of the ratings",
            format!("bound after {sweeps}, SVI+ minus subsample"),
            bounds(&is_main, Method::Subsample),
        ),
        Claim::control(
            "It takes rho = 0.85: in every sweep that is better than 1 once a row's noise is over",
            format!("bound after {sweeps}, SVI+ minus SVI+ with rho 1 once quiet"),
            bounds(&is_main, Method::QuietOne),
        ),
    ]
}

struct Found<'a> {
    settings: &'a [Setting],
    records: &'a Records,
}

impl Found<'_> {
    /// A condition for every setting of a kind.
    fn conditions(
        &self,
        which: &dyn Fn(&Setting) -> bool,
        differences: impl Fn(&Setting) -> Vec<f64>,
        unit: &str,
    ) -> Vec<Condition> {
        let those = self.settings.iter().filter(|setting| which(setting));
        those.map(|s| Condition::paired(s.name.clone(), &differences(s), unit)).collect()
    }

    fn runs(&self, setting: &Setting, method: Method) -> Vec<&Record> {
        self.records.of(&setting.name, method.name())
    }

    /// Last bounds of one method minus those of another.
    fn ends(&self, setting: &Setting, a: Method, b: Method) -> Vec<f64> {
        self.records.differences(&setting.name, a.name(), b.name(), "bound")
    }

    /// Sweeps of batch minus those of SVI+ to the lower of their last bounds, which both have reached.
    fn sweeps_saved(&self, setting: &Setting) -> Vec<f64> {
        let (plus, batch) = (Method::SviPlus.name(), Method::Batch.name());
        let saved = |(plus, batch): (&Record, &Record)| {
            let goal = end(plus).min(end(batch));
            let sweeps = |record| reached(record, goal).map_or(f64::NAN, |sweep| sweep as f64);
            if end(plus).is_nan() { f64::NAN } else { sweeps(batch) - sweeps(plus) }
        };
        self.records.pairs(&setting.name, plus, batch, "bound").into_iter().map(saved).collect()
    }

    /// How often the guard had to act.
    fn guards(&self) -> String {
        let of = |setting: &Setting| {
            let hits = self.records.ends(&setting.name, Method::SviPlus.name(), "guard_hits");
            format!("{}: {}", setting.name, rounded(mean(hits.into_iter()), 3))
        };
        let main = self.settings.iter().filter(|s| is_main(s));
        format!(
            "Rows of a run of SVI+ whose noise the guard refused, on average: {}.",
            main.map(of).collect::<Vec<_>>().join("; ")
        )
    }

    /// Whether the runs had ended at all.
    fn still_moving(&self) -> String {
        let mut texts = Vec::new();
        for setting in self.settings.iter().filter(|s| is_main(s)) {
            let gained = |method| {
                let gains = self.runs(setting, method).into_iter().map(|run| {
                    let from = setting.sweeps - setting.sweeps / 8;
                    end(run) - at(run, from)
                });
                rounded(mean(gains), 3)
            };
            let (batch, plus) = (gained(Method::Batch), gained(Method::SviPlus));
            texts.push(format!("{}: batch {batch}, SVI+ {plus}", setting.name));
        }
        format!(
            "Nats that were still gained in the last eighth of the sweeps, on average: {}.",
            texts.join("; ")
        )
    }

    /// How the lead over batch goes on in long runs, and how much is left to the one method that moves
    /// along what changes no prediction.
    fn leads(&self, which: &dyn Fn(&Setting) -> bool, method: Method) -> String {
        let mut texts = Vec::new();
        for setting in self.settings.iter().filter(|setting| which(setting)) {
            let early = setting.sweeps / 10;
            let lead = |(plus, batch): (&Record, &Record)| at(plus, early) - at(batch, early);
            let (plus, batch) = (method.name(), Method::Batch.name());
            let pairs = self.records.pairs(&setting.name, plus, batch, "bound");
            let first = mean(pairs.into_iter().map(lead));
            let [last, above] = [Method::Batch, Method::Gauge]
                .map(|other| mean(self.ends(setting, method, other).into_iter()));
            texts.push(format!(
                "{}: {first:+.1} after {early} sweeps, {last:+.1} at the end, where it is {:.1} {} batch with \
                 gauge step",
                setting.name,
                above.abs(),
                if above < 0.0 { "below" } else { "above" },
            ));
        }
        format!("{} less batch, in nats. {}.", method.name(), texts.join(". "))
    }

    /// The mean last bound of every method, from the starts that all of them have.
    fn means(&self, which: &dyn Fn(&Setting) -> bool) -> String {
        let mut texts = Vec::new();
        for setting in self.settings.iter().filter(|setting| which(setting)) {
            let starts = setting.methods.iter().map(|&(_, starts)| starts).min().unwrap_or(0);
            let of = |&(method, _): &(Method, u32)| {
                let runs = self.runs(setting, method).into_iter().filter(|run| run.start < starts);
                format!("{} {:.1}", method.name(), mean(runs.map(end)))
            };
            let methods: Vec<String> = setting.methods.iter().map(of).collect();
            texts.push(format!("{}: {}", setting.name, methods.join("; ")));
        }
        format!("Mean last bounds. {}.", texts.join(". "))
    }
}

fn end(record: &Record) -> f64 {
    record.end.get("bound").copied().unwrap_or(f64::NAN)
}

/// The bound after `step` sweeps.
fn at(record: &Record, step: u64) -> f64 {
    let point = record.curve.iter().find(|point| point.step == step);
    point.and_then(|point| point.values.get("bound").copied()).unwrap_or(f64::NAN)
}

/// The first sweep after which the bound is as high as `goal`.
fn reached(record: &Record, goal: f64) -> Option<u64> {
    let high = |bound: &f64| *bound >= goal;
    let point = record.curve.iter().find(|p| p.values.get("bound").is_some_and(high));
    point.map(|point| point.step)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Point};

    #[test]
    fn a_bound_is_reached_at_the_first_sweep_as_high() {
        let job = Job { setting: "s".into(), method: "m".into(), start: 0, cost: 1.0 };
        let mut record = Record::of(&job);
        let point = |step, bound| {
            let values = [("bound".to_string(), bound)].into();
            Point { step, items: 0, values }
        };
        record.curve = vec![point(0, -9.0), point(1, -3.0), point(2, -4.0), point(3, -1.0)];
        assert_eq!(reached(&record, -3.5), Some(1));
        assert_eq!(reached(&record, -1.0), Some(3));
        assert_eq!(reached(&record, 0.0), None);
        assert_eq!(reached(&record, f64::NAN), None);
        assert_eq!(at(&record, 2), -4.0);
    }
}
