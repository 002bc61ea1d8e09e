//! What every model's page starts and ends with: what was fitted, how it went, and how to do it again.

use std::path::Path;

use lehr::FitConfig;
use lehr::fit::{Observation, Progress, Tally};
use lehr::models::TABLES;
use lehr::store::{Run, Saved};
use lehr_plot::caption::{counted, rounded};
use serde::Serialize;
use serde_json::Value;

use crate::again::{configuration, quoted};
use crate::chart::Chart;
use crate::{Reported, curves};

/// A number and what it means.
#[derive(Debug, Clone, Serialize)]
pub struct Number {
    /// What it is.
    pub name: String,
    /// How large, with its unit.
    pub value: String,
    /// What that means, in a sentence.
    pub meaning: String,
}

impl Number {
    /// A number and what it means.
    pub fn new(
        name: impl Into<String>,
        value: impl Into<String>,
        meaning: impl Into<String>,
    ) -> Self {
        Number { name: name.into(), value: value.into(), meaning: meaning.into() }
    }
}

/// A name and a value.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    name: &'static str,
    value: String,
}

/// A setting of the fit.
#[derive(Debug, Clone, Serialize)]
pub struct Chosen {
    name: &'static str,
    value: String,
    help: &'static str,
}

/// A kick of a search.
#[derive(Debug, Clone, Serialize)]
pub struct KickRow {
    kick: String,
    tries: u32,
    wins: u32,
    passes: String,
}

/// The same for all models.
#[derive(Serialize)]
pub struct Head {
    /// What the run is called.
    pub name: String,
    /// What was fitted.
    pub title: String,
    /// The model's name.
    pub model: String,
    /// In a table.
    pub facts: Vec<Fact>,
    /// Three of them.
    pub numbers: Vec<Number>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Bound and held-out score.
    pub charts: Vec<Chart>,
    /// What the search did.
    pub search: Option<String>,
    /// By kick.
    pub kicks: Vec<KickRow>,
    /// All of them.
    pub settings: Vec<Chosen>,
    /// How to do it again.
    pub command: String,
    /// Whether the data were in a file.
    pub in_file: bool,
    /// With this file.
    pub configuration: String,
    /// The version of this page's maker.
    pub version: &'static str,
}

impl Head {
    /// What there is to say of a run.
    pub fn of<M: Reported>(name: &str, run: &Run<M>) -> Self {
        let shown = best_restart(&run.saved);
        let last = run.trace.iter().rfind(|seen| seen.restart == shown);
        let (search, kicks) = searched(run, last);
        let config = &run.config;
        let file = data_name(run);
        let mut facts = vec![
            fact("model", M::heading(run)),
            fact("data", format!("{file}: {}", M::data(run))),
            fact("method", method(&config.fit)),
            fact("stopped", ending(run)),
        ];
        facts.extend(last.map(|last| {
            let sample = last.bound_sample.map_or(String::new(), |n| {
                format!(" (estimated from {})", counted(n as u64, "random item"))
            });
            fact("bound", format!("{}{sample}", rounded(last.bound, 7)))
        }));
        facts.extend(starts(run).map(|starts| fact("starts", starts)));
        facts.push(fact("seed", config.fit.seed.to_string()));
        facts.push(fact("started", date(config.created)));
        let fingerprint: String = config.data.fingerprint.chars().take(12).collect();
        facts.push(fact("fingerprint of the data", fingerprint));
        facts
            .push(fact("made by", format!("lehr {}, {} kernels", config.lehr, config.cpu.kernels)));
        let in_file = config.data.path.is_some();
        let command = format!(
            "lehr fit {} {} --config fit.toml -o runs/again",
            config.model,
            if in_file { quoted(Path::new(&file)) } else { "DATA".into() }
        );
        let options = &config.data.options;
        Head {
            name: name.to_string(),
            title: M::heading(run),
            model: config.model.clone(),
            facts,
            numbers: M::numbers(run, last),
            warnings: warnings::<M>(run, last),
            charts: charts(run),
            search,
            kicks,
            settings: settings(run),
            command,
            in_file,
            configuration: configuration(&config.params, &config.fit, options)
                .unwrap_or_else(|error| format!("# {error}\n")),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Bound and held-out score of a run.
pub fn charts<M: Reported>(run: &Run<M>) -> Vec<Chart> {
    curves::of(run, best_restart(&run.saved), M::SCORE)
}

fn fact(name: &'static str, value: String) -> Fact {
    Fact { name, value }
}

/// The name of the data's file, without its folders: the page may be shared.
pub fn data_name<M: Reported>(run: &Run<M>) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    run.config.data.path.as_deref().map_or("in memory".to_string(), name)
}

/// The restart whose lambda is the model.
pub fn best_restart(saved: &Saved) -> u32 {
    match saved {
        Saved::Complete(_, best, outcomes) => outcomes[*best].restart,
        Saved::Pending(progress) => match &progress.best {
            Some((best, _)) => progress.done[*best].restart,
            None => progress.restart,
        },
    }
}

/// How a fit is made, in half a line.
pub fn method(fit: &FitConfig) -> String {
    let law = serde_json::to_value(fit.law).ok();
    let law = law.as_ref().and_then(Value::as_str).unwrap_or_default();
    let search = fit.search.filter(|&times| times > 0.0);
    let search = search.map_or(String::new(), |times| format!(", search {}", rounded(times, 6)));
    let method = match (fit.batch, fit.effective.to_string().as_str()) {
        (None, "off" | "auto") => "batch VI".to_string(),
        (None, m) => format!("annealed batch VI, M = {m}, {law} noise"),
        (Some(s), "off" | "auto") => format!("SVI, |S| = {s}"),
        (Some(s), m) => format!("SVI+, |S| = {s}, M = {m}, {law} noise"),
    };
    method + &search
}

fn ending<M: Reported>(run: &Run<M>) -> String {
    let time = seconds(run.saved.model_state().seconds);
    match &run.saved {
        Saved::Complete(_, best, outcomes) => {
            let outcome = &outcomes[*best];
            format!("{}, after {} and {time}", outcome.stop, counted(outcome.steps, "step"))
        }
        Saved::Pending(Progress { restart, state, .. }) => {
            let start = match run.config.fit.n_init {
                1 => String::new(),
                n_init => format!("start {} of {n_init}, ", restart + 1),
            };
            format!("not yet: {start}{} made", counted(state.step, "step"))
        }
    }
}

fn starts<M: Reported>(run: &Run<M>) -> Option<String> {
    let (n_init, outcomes) = (run.config.fit.n_init, run.saved.outcomes());
    (n_init > 1 && !outcomes.is_empty()).then(|| {
        let bounds: Vec<String> = outcomes.iter().map(|o| rounded(o.bound, 7)).collect();
        format!("{} of {n_init} ended; bounds {}", outcomes.len(), bounds.join(", "))
    })
}

/// Seconds as a person reads them.
pub fn seconds(x: f64) -> String {
    match x {
        x if x < 60.0 => format!("{} s", rounded(x, 3)),
        x if x < 3600.0 => format!("{:.0} min {:.0} s", (x / 60.0).floor(), x % 60.0),
        x => format!("{:.0} h {:.0} min", (x / 3600.0).floor(), (x % 3600.0) / 60.0),
    }
}

/// Seconds since 1970 as a date in UTC.
fn date(since: u64) -> String {
    let (days, seconds) = (since / 86_400, since % 86_400);
    // Years that start in March have their leap day at the end.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds % 3600 / 60)
}

fn searched<M: Reported>(
    run: &Run<M>,
    last: Option<&Observation>,
) -> (Option<String>, Vec<KickRow>) {
    let (Some(search), Some(last)) = (run.saved.search(), last) else { return (None, Vec::new()) };
    let best = run.saved.outcomes().iter().find(|o| o.search.as_ref() == Some(search));
    let bound = best.map_or(last.bound, |outcome| outcome.bound);
    let (tries, wins) = search.tries();
    let passes = |x: f64| rounded(x.round(), 6);
    let said = format!(
        "The search ended {} nats above the plain fit: {wins} of {} won, in {} passes over the data, {} of them the \
         plain fit's.",
        rounded(bound - search.plain_bound, 5),
        if tries == 1 { "1 try".to_string() } else { format!("{tries} tries") },
        passes(search.passes),
        passes(search.passes_plain),
    );
    let row = |(kick, tally): (&String, &Tally)| KickRow {
        kick: kick.clone(),
        tries: tally.tries,
        wins: tally.wins,
        passes: passes(tally.passes),
    };
    (Some(said), search.kicks.iter().map(row).collect())
}

fn warnings<M: Reported>(run: &Run<M>, last: Option<&Observation>) -> Vec<String> {
    let mut all: Vec<String> = run.warning.iter().cloned().collect();
    if let Saved::Pending(_) = run.saved {
        all.push("The fit has not ended: this is how far it has come.".into());
    }
    if last.is_none() {
        all.push(
            "There is no record of the fit's steps (trace.jsonl in its folder): the page lacks bounds, scores and \
             convergence."
                .into(),
        );
    }
    let stopped = run.saved.outcomes().iter().find(|o| o.restart == best_restart(&run.saved));
    let tol = run.config.extension.tol.unwrap_or(run.config.fit.tol);
    if let Some(outcome) = stopped
        && outcome.stop == lehr::fit::stop::StopReason::Steps
        && run.config.fit.batch.is_none()
        && tol > 0.0
    {
        let steps = counted(outcome.steps, "step");
        all.push(format!(
            "The bound was still changing after {steps}, which were all: more may help."
        ));
    }
    let state = run.saved.model_state();
    if state.guard_hits > 0 {
        /// From this share on the fit is not what was asked for.
        const MANY: f64 = 0.1;
        let hits = counted(state.guard_hits, "time");
        let share = state.guard_share();
        let many = match share > MANY {
            true => {
                " With this many the noise is not what was asked for; a larger M makes less of it."
            }
            false => "",
        };
        all.push(format!(
            "The guard acted {hits}, at {} % of what it looked at: noise had taken parameters out of their domain.{many}",
            rounded(100.0 * share, 2)
        ));
    }
    all.extend(M::warnings(run, last));
    all
}

fn settings<M: Reported>(run: &Run<M>) -> Vec<Chosen> {
    let Some(tables) = TABLES.iter().find(|tables| tables.model == run.config.model) else {
        return Vec::new();
    };
    let json = |value: serde_json::Result<Value>| value.unwrap_or_default();
    let own = json(serde_json::to_value(&run.config.params));
    let fit = json(serde_json::to_value(&run.config.fit));
    let of = |values: &Value, setting: &lehr::settings::Setting| {
        let value = match values.get(setting.name)? {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(Chosen { name: setting.name, value, help: setting.help })
    };
    let of_fit = tables.of_fit();
    let own = tables.own.iter().filter_map(|setting| of(&own, setting));
    own.chain(of_fit.iter().filter_map(|setting| of(&fit, setting))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_700_000_000), "2023-11-14 22:13 UTC");
        assert_eq!(date(4_107_542_399), "2100-02-28 23:59 UTC");
    }

    #[test]
    fn times_read_well() {
        assert_eq!(
            [0.1234, 59.0, 61.0, 7260.0].map(seconds),
            ["0.123 s", "59 s", "1 min 1 s", "2 h 1 min"]
        );
    }
}
