//! The page: what was run, the figures, and every claim with its verdict; in Markdown and as one HTML file.

mod html;
mod markdown;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use lehr::store::Cpu;
use lehr_plot::caption::counted;

use crate::claims::{Claim, Finding, Verdict};
use crate::records::Records;
use crate::{Experiment, Options, Picture, Which};

/// One experiment's part of the page, as it is kept between commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Section {
    name: String,
    title: String,
    command: String,
    /// Where it was written.
    machine: String,
    about: Vec<String>,
    runs: usize,
    figures: Vec<Drawn>,
    claims: Vec<Claim>,
}

/// A figure that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Drawn {
    /// Its name without the end.
    stem: String,
    caption: String,
}

const SECTION: &str = "section.json";

/// Draws the figures and writes down the claims.
pub fn write_section(
    folder: &Path,
    experiment: &dyn Experiment,
    options: &Options,
    records: &Records,
) -> anyhow::Result<()> {
    let name = experiment.name();
    let mut figures = Vec::new();
    for Picture { suffix, caption, figure } in experiment.figures(records) {
        let stem = if suffix.is_empty() { name.to_string() } else { format!("{name}-{suffix}") };
        for (path, bytes) in figure.files(&folder.join(&stem))? {
            lehr::write::whole(&path, &bytes)?;
        }
        figures.push(Drawn { stem, caption });
    }
    let section = Section {
        name: name.into(),
        title: experiment.title() + if options.quick { ", quickly" } else { "" },
        command: command(experiment, options),
        machine: machine(),
        about: experiment.about().into_iter().chain([experiment.starts()]).collect(),
        runs: records.len(),
        figures,
        claims: experiment.claims(records),
    };
    write_text(&folder.join(SECTION), &(serde_json::to_string_pretty(&section)? + "\n"))
}

/// What was typed, with the user's folders left out.
fn command(experiment: &dyn Experiment, options: &Options) -> String {
    let mut command = format!("lehr reproduce {}", experiment.name());
    if options.quick {
        command.push_str(" --quick");
    }
    if experiment.reads_data() && !options.quick {
        command.push_str(" --data DIR");
    }
    if let Some(runs) = options.runs {
        let _ = write!(command, " --runs {runs}");
    }
    let _ = write!(command, " --seed {} -o out", options.seed);
    command
}

fn write_text(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(lehr::write::whole(path, text.as_bytes())?)
}

/// Writes `RESULTS.md`, whose path is returned, and `results.html` from the sections that are there.
pub fn write(out: &Path) -> anyhow::Result<PathBuf> {
    let mut sections = Vec::new();
    for name in Which::ALL.map(Which::name) {
        let path = out.join(name).join(SECTION);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // Another experiment's part is not worth failing for.
        match serde_json::from_str(&text) {
            Ok(section) => sections.push(section),
            Err(_) => eprintln!(
                "warning: {} is damaged or of another version; 'lehr reproduce {name}' makes it again",
                path.display()
            ),
        }
    }
    let page = out.join("RESULTS.md");
    write_text(&page, &markdown::page(&sections))?;
    write_text(&out.join("results.html"), &html::page(out, &sections))?;
    Ok(page)
}

const TITLE: &str = "The paper's claims, run again";

/// How verdicts are reached, a point each.
const RULES: [&str; 7] = [
    "Methods are compared **start by start**: both start at the same point, and draw the same batches where they \
     have the same size. An effect is the mean difference ± its standard error, and `a : b` counts the starts for the \
     claim and those against it.",
    "✓ **holds**: the mean difference is on the claim's side beyond chance (Student's t, 5 %), and so are more than half of \
     the starts. ✗ **the opposite is shown**: both are on the other side. · **nothing is shown**: the data are \
     inconclusive, which is not evidence against the claim.",
    "A predicted number **holds** (✓) if the measured one is within the stated distance of it, and **does not hold** (✗) if \
     it is further off than that and than two standard errors.",
    "Over all conditions a claim **holds** if every one supports it and **holds only when** some do; what the others show \
     is listed with it. If none supports it, the verdict says whether the opposite is shown or nothing.",
    "Of twenty conditions without any effect, one is marked by chance: there is no correction for their number. All errors \
     are those of other starts on the same data; synthetic data are one draw from the seed.",
    "**Controls** are ours: what would also have to be true if the claims meant what they seem to mean.",
    "One statement of the paper has no row, that SVI+ takes virtually no added computation time: times differ between \
     machines, and everything here does not. `benchsuite/` has them.",
];

/// What the overview names of the conditions under which a claim holds; the table has them all.
const NAMED: usize = 2;

/// A verdict that fits into the overview.
fn in_short(claim: &Claim) -> String {
    match claim.verdict() {
        Verdict::HoldsOnlyWhen(when) if when.len() > NAMED => format!(
            "holds only under {} of {} conditions: {}; ...{}",
            when.len(),
            claim.conditions.len(),
            when[..NAMED].join("; "),
            elsewhere(claim)
        ),
        verdict @ Verdict::HoldsOnlyWhen(_) => format!("{verdict}{}", elsewhere(claim)),
        verdict => verdict.to_string(),
    }
}

/// What is shown where a claim does not hold that holds somewhere.
fn elsewhere(claim: &Claim) -> String {
    let opposite = claim.count(&[Finding::Opposite]);
    let differs = claim.count(&[Finding::Differs]);
    let unclear = claim.conditions.len() - claim.count(&[Finding::Holds]) - opposite - differs;
    let parts = [(opposite, "the opposite"), (differs, "another value"), (unclear, "nothing")];
    let shown = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} under {n}"));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        String::new()
    } else {
        format!(" (shown elsewhere: {})", shown.join(", "))
    }
}

/// How many conditions have each mark.
fn marks(claim: &Claim) -> String {
    let of = |findings: &[Finding]| (findings[0].mark(), claim.count(findings));
    let counts = [
        of(&[Finding::Holds]),
        of(&[Finding::Unclear, Finding::TooFew]),
        of(&[Finding::Opposite, Finding::Differs]),
    ];
    let shown = counts.iter().filter(|(_, n)| *n > 0).map(|(mark, n)| format!("{mark} {n}"));
    shown.collect::<Vec<_>>().join(", ")
}

fn kind(claim: &Claim) -> &'static str {
    if claim.control { "control" } else { "paper" }
}

fn machine() -> String {
    let cpu = Cpu::here();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    // Linux says which processor it is.
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    format!(
        "lehr {} on {}{} with {} kernels, {}",
        env!("CARGO_PKG_VERSION"),
        cpu.arch,
        model.map_or(String::new(), |(_, model)| format!(" ({})", model.trim())),
        cpu.kernels,
        counted(cores as u64, "core"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Condition;

    /// A part with a claim that holds under one of two conditions.
    pub fn section() -> Section {
        let up = Condition::paired("d = 5", &[1.0, 2.0, 1.0, 2.0], "nats");
        let down = Condition::paired("|S| < 3", &[-1.0, -2.0, -1.0, -2.0], "nats");
        Section {
            name: "fig9".into(),
            title: "A figure".into(),
            command: "lehr reproduce fig9".into(),
            machine: "lehr on a machine".into(),
            about: vec!["Made `data` & **more**.".into()],
            runs: 4,
            figures: vec![],
            claims: vec![Claim::new("noise helps", "made", vec![up, down]).remark("Odd.")],
        }
    }

    #[test]
    fn the_overview_names_a_few_conditions_only() {
        let up = |when: &str| Condition::paired(when, &[1.0, 2.0, 1.0, 2.0], "nats");
        let unclear = Condition::paired("e", &[1.0, -1.0], "nats");
        let claim = Claim::new("x", "made", vec![up("a"), up("b"), up("c"), unclear.clone()]);
        assert_eq!(
            in_short(&claim),
            "holds only under 3 of 4 conditions: a; b; ... (shown elsewhere: nothing under 1)"
        );
        assert_eq!(marks(&claim), "✓ 3, · 1");
        let claim = Claim::new("x", "made", vec![up("a"), up("b"), unclear]);
        let down = Condition::paired("d", &[-1.0, -2.0, -1.0, -2.0], "nats");
        assert_eq!(in_short(&claim), "holds only when: a; b (shown elsewhere: nothing under 1)");
        let claim = Claim::new("x", "made", vec![up("a"), down]);
        assert_eq!(in_short(&claim), "holds only when: a (shown elsewhere: the opposite under 1)");
    }
}
