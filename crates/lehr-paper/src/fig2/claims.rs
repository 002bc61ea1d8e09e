//! What the runs of figure 2 say about the paper's claims.

use lehr_plot::caption::rounded;

use super::settings::{Method, Noise, Schedule, Settings};
use crate::{Claim, Condition, Record, Records};

const UNIT: &str = "nats per word";

/// All claims.
pub fn all(settings: &Settings, records: &Records) -> Vec<Claim> {
    let found = Found { settings, records };
    let [small, middle, large] = settings.sizes;
    let (steps, ms) = (settings.steps, format!("M = {small}, {middle}"));
    let after = |score: &str| format!("`{score}` after {steps} steps, guard `clamp`");
    let than_large =
        format!("SVI+ with |S| = {large} and {ms} is better than SVI with |S| = {large}");
    let than_small =
        format!("SVI+ with |S| = {large} and {ms} is better than SVI with |S| = {small}, {middle}");
    vec![
        Claim::new(&than_large, after("local"), found.against_large("local"))
            .remark(found.means("local")),
        Claim::new(&than_small, after("local"), found.against_small("local"))
            .remark("Each M against SVI with |S| = M, after equal numbers of steps."),
        Claim::new(
            &format!("Increasing the batch size of SVI degrades it: |S| = {small}, {middle} beat {large}"),
            after("local"),
            found.small_batches(),
        ),
        Claim::control(
            &format!("By words that were not looked at, too, SVI+ is better than SVI with |S| = {large}"),
            after("completion"),
            found.against_large("completion"),
        )
        .remark(format!("{} {}", found.means("completion"), found.means("full"))),
        Claim::control(
            &format!(
                "By words that were not looked at, too, SVI+ is better than SVI with |S| = {small}, {middle}"
            ),
            after("completion"),
            found.against_small("completion"),
        ),
        Claim::control(
            "It is the noise and not the clamping: with other guards SVI+ is better, too",
            format!(
                "SVI+ minus SVI with |S| = {large} after {steps} steps, guard `shrink` and law `gamma`, {}",
                settings.schedules[0].name
            ),
            found.other_guards(),
        )
        .remark(found.masses()),
        Claim::control(
            &format!(
                "After equal numbers of documents, too, SVI+ is better than SVI with |S| = {small}, {middle}"
            ),
            format!(
                "`local` of SVI with |S| = M after {steps} steps, and of SVI+ after as many documents ({} and {} \
                 steps)",
                steps * small as u64 / large as u64,
                steps * middle as u64 / large as u64,
            ),
            found.equal_documents(),
        )
        .remark(
            "A step of SVI+ costs as much as a step of SVI with its |S|, so this is the comparison at equal work.",
        ),
    ]
}

struct Found<'a> {
    settings: &'a Settings,
    records: &'a Records,
}

impl Found<'_> {
    /// M of SVI+.
    fn ms(&self) -> [usize; 2] {
        [self.settings.sizes[0], self.settings.sizes[1]]
    }

    fn large(&self) -> Method {
        Method::Svi(self.settings.sizes[2])
    }

    /// A condition for every M and step size: `score` of SVI+ with that M minus that of another method.
    fn for_all(&self, score: &str, other: impl Fn(usize) -> Method) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for schedule in &self.settings.schedules {
            for m in self.ms() {
                let plus = Method::Plus(m, Noise::Clamp);
                let when = format!("M = {m}, {}", schedule.name);
                let differences = self.ends(schedule, plus, other(m), score);
                conditions.push(Condition::paired(when, &differences, UNIT));
            }
        }
        conditions
    }

    fn against_large(&self, score: &str) -> Vec<Condition> {
        self.for_all(score, |_| self.large())
    }

    fn against_small(&self, score: &str) -> Vec<Condition> {
        self.for_all(score, Method::Svi)
    }

    fn small_batches(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for schedule in &self.settings.schedules {
            for size in self.ms() {
                let when = format!("|S| = {size}, {}", schedule.name);
                let differences = self.ends(schedule, Method::Svi(size), self.large(), "local");
                conditions.push(Condition::paired(when, &differences, UNIT));
            }
        }
        conditions
    }

    fn other_guards(&self) -> Vec<Condition> {
        let main = &self.settings.schedules[0];
        let mut conditions = Vec::new();
        for score in ["local", "completion"] {
            for (noise, name) in [(Noise::Shrink, "shrink"), (Noise::Gamma, "gamma")] {
                for m in self.ms() {
                    let plus = Method::Plus(m, noise);
                    let differences = self.ends(main, plus, self.large(), score);
                    let when = format!("M = {m}, `{name}`, by `{score}`");
                    conditions.push(Condition::paired(when, &differences, UNIT));
                }
            }
        }
        conditions
    }

    fn equal_documents(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for schedule in &self.settings.schedules {
            for m in self.ms() {
                let documents = self.settings.steps * m as u64;
                let difference = |(plus, svi): (&Record, &Record)| {
                    after(plus, documents, "local") - svi.end["local"]
                };
                let (plus, svi) = (Method::Plus(m, Noise::Clamp).name(), Method::Svi(m).name());
                let pairs = self.records.pairs(&schedule.name, &plus, &svi, "local");
                let differences: Vec<f64> = pairs.into_iter().map(difference).collect();
                let when = format!("M = {m}, {documents} documents, {}", schedule.name);
                conditions.push(Condition::paired(when, &differences, UNIT));
            }
        }
        conditions
    }

    fn ends(&self, schedule: &Schedule, a: Method, b: Method, score: &str) -> Vec<f64> {
        self.records.differences(&schedule.name, &a.name(), &b.name(), score)
    }

    fn mean(&self, schedule: &Schedule, method: Method, name: &str) -> f64 {
        let ends = self.records.ends(&schedule.name, &method.name(), name);
        ends.iter().sum::<f64>() / ends.len() as f64
    }

    /// The mean last score of every method of the paper's figure.
    fn means(&self, score: &str) -> String {
        let mut texts = Vec::new();
        for schedule in &self.settings.schedules {
            let of = |method: &Method| {
                let mean = self.mean(schedule, *method, score);
                format!("{} {}", method.name(), rounded(mean, 5))
            };
            let methods: Vec<String> = self.settings.paper().iter().map(of).collect();
            texts.push(format!("{}: {}", schedule.name, methods.join("; ")));
        }
        format!("Mean `{score}` at the end. {}.", texts.join(". "))
    }

    /// What each guard does to lambda.
    fn masses(&self) -> String {
        let main = &self.settings.schedules[0];
        let mut methods = vec![self.large()];
        methods.extend(Noise::ALL.iter().flat_map(|&n| self.ms().map(|m| Method::Plus(m, n))));
        let of = |method: &Method| {
            format!("{} {}", method.name(), rounded(self.mean(main, *method, "mass"), 4))
        };
        let texts: Vec<String> = methods.iter().map(of).collect();
        format!(
            "Clamping adds to what is rare. The sum of lambda over what it would be without noise, at the end: \
             {}.",
            texts.join("; ")
        )
    }
}

/// A score after N documents.
fn after(record: &Record, documents: u64, score: &str) -> f64 {
    let point = record.curve.iter().find(|point| point.items == documents);
    point.and_then(|point| point.values.get(score).copied()).unwrap_or(f64::NAN)
}
