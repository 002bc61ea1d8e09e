//! The page: what was run, the figures, and one row for every claim; in Markdown and as one HTML file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use lehr::run::directory::Cpu;

use super::claims::{Claim, Finding, Verdict};
use super::records::Records;
use super::{Condition, Experiment, Options, Picture};
use crate::text::{counted, name};

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
        figure.write(&folder.join(&stem))?;
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
    use std::io::Write;
    lehr::write::atomically(path, |file| file.write_all(text.as_bytes()))?;
    Ok(())
}

/// Writes `RESULTS.md` and `results.html` from the sections that are there.
pub fn write(out: &Path, names: &[&str]) -> anyhow::Result<[PathBuf; 2]> {
    let mut sections = Vec::new();
    for name in names {
        let path = out.join(name).join(SECTION);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // Another experiment's part is not worth failing for.
        match serde_json::from_str(&text) {
            Ok(section) => sections.push(section),
            Err(_) => eprintln!(
                "warning: {} is damaged or of another version; 'lehr reproduce {name}' makes it anew",
                path.display()
            ),
        }
    }
    let paths = [out.join("RESULTS.md"), out.join("results.html")];
    write_text(&paths[0], &markdown(&sections))?;
    write_text(&paths[1], &html(out, &sections)?)?;
    Ok(paths)
}

const TITLE: &str = "The paper's claims, run again";

/// How verdicts are reached.
const RULES: &str = "Differences are paired by start: both methods begin at the same point, and draw the \
    same batches where they draw batches of the same size. An effect is the mean difference ± its \
    standard error; `a : b` counts the starts that it favours and those that it does not. A claim holds \
    under a condition (✓) if the mean is on its side beyond chance (Student's t, 5 %) and more than half of \
    the starts are; if both are on the other side, its opposite does (✗); else nothing is shown (·). Of \
    twenty conditions without any effect one is marked by chance: no correction is made for their number. \
    A predicted number holds if it is as near as said, and does not (✗) if it is further off than that and \
    than two standard errors. Together, a claim **holds** if it does so under every condition, **holds only \
    when** under some, and **does not hold** under none, which is also said where nothing is shown. \
    Controls are ours: what would have to be true as well if the claims meant what they seem to mean. All \
    errors are those of other starts on the same data.";

/// What the overview names of the conditions under which a claim holds; the table has them all.
const NAMED: usize = 2;

/// A verdict that fits into the overview.
fn in_short(claim: &Claim) -> String {
    match claim.verdict() {
        Verdict::HoldsOnlyWhen(when) if when.len() > NAMED => format!(
            "holds only under {} of {} conditions: {}; ...",
            when.len(),
            claim.conditions.len(),
            when[..NAMED].join("; ")
        ),
        verdict => verdict.to_string(),
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

/// What was found under a condition, with its mark.
fn found(condition: &Condition) -> String {
    format!("{} {}: {}", condition.finding.mark(), condition.when, condition.effect)
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
        name(&cpu.kernels),
        counted(cores as u64, "core"),
    )
}

fn markdown(sections: &[Section]) -> String {
    let mut page = format!("# {TITLE}\n\n{RULES}\n");
    page.push_str("\n| | whose | statement | verdict | conditions |\n|---|---|---|---|---|\n");
    for section in sections {
        for claim in &section.claims {
            let (words, verdict) = (cell(&claim.words), cell(&in_short(claim)));
            let id = &section.name;
            let (kind, marks) = (kind(claim), marks(claim));
            let _ = writeln!(page, "| [{id}](#{id}) | {kind} | {words} | {verdict} | {marks} |");
        }
    }
    for section in sections {
        let Section { name, title, command, machine, about, runs, figures, claims } = section;
        let _ = write!(page, "\n<a id=\"{name}\"></a>\n\n## {title}\n\n");
        about.iter().for_each(|text| page.push_str(&format!("{text}\n\n")));
        let _ = write!(page, "`{command}`: {runs} runs; {machine}.\n\n");
        for Drawn { stem, caption } in figures {
            let _ = write!(page, "![{}]({name}/{stem}.png)\n\n{caption}\n\n", cell(caption));
        }
        page.push_str("| whose | statement | our setting | effect | for : against | verdict |\n");
        page.push_str("|---|---|---|---|---|---|\n");
        for claim in claims {
            let of = |f: &dyn Fn(&Condition) -> String| {
                claim.conditions.iter().map(|c| cell(&f(c))).collect::<Vec<_>>().join("<br>")
            };
            let effects = of(&found);
            let pairs = of(&|c| c.pairs.clone());
            let _ = writeln!(
                page,
                "| {} | {} | {} | {effects} | {pairs} | **{}** |",
                kind(claim),
                cell(&claim.words),
                cell(&claim.setting),
                cell(&in_short(claim)),
            );
        }
        for claim in claims.iter().filter(|claim| !claim.remark.is_empty()) {
            let _ = write!(page, "\n*{}*: {}\n", claim.words, claim.remark);
        }
    }
    page
}

/// A text inside a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;\
    padding:0 1rem;color:#222;background:#fff}table{border-collapse:collapse;margin:1rem 0}\
    td,th{border:1px solid #ccc;padding:.35rem .6rem;text-align:left;vertical-align:top}\
    th{background:#f4f4f4}figure{margin:1.5rem 0}svg{max-width:100%;height:auto}\
    figcaption{color:#555}.holds{color:#1a6d2f}.partly{color:#8a5a00}.not{color:#a3212b}";

fn html(out: &Path, sections: &[Section]) -> anyhow::Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n\
         <p>{}</p>\n<table>\n<tr><th></th><th>whose</th><th>statement</th><th>verdict</th>\
         <th>conditions</th></tr>\n",
        inline(RULES),
    );
    for section in sections {
        for claim in &section.claims {
            let name = &section.name;
            let _ = writeln!(
                page,
                "<tr><td><a href=\"#{name}\">{name}</a></td><td>{}</td><td>{}</td>{}<td>{}</td></tr>",
                kind(claim),
                inline(&claim.words),
                verdict_cell(claim),
                marks(claim),
            );
        }
    }
    page.push_str("</table>\n");
    for section in sections {
        let Section { name, title, command, machine, about, runs, figures, claims } = section;
        let _ = writeln!(page, "<h2 id=\"{name}\">{}</h2>", inline(title));
        about.iter().for_each(|text| page.push_str(&format!("<p>{}</p>\n", inline(text))));
        let command = escaped(command);
        let _ = writeln!(page, "<p><code>{command}</code>: {runs} runs; {}.</p>", escaped(machine));
        for Drawn { stem, caption } in figures {
            let path = out.join(name).join(format!("{stem}.svg"));
            // Without it, its words are better than nothing.
            let svg = std::fs::read_to_string(&path).unwrap_or_default();
            let (svg, caption) = (own_ids(&svg, stem), inline(caption));
            let _ =
                writeln!(page, "<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>");
        }
        page.push_str(
            "<table>\n<tr><th>whose</th><th>statement</th><th>our setting</th><th>effect</th>\
             <th>for : against</th><th>verdict</th></tr>\n",
        );
        for claim in claims {
            let of = |f: &dyn Fn(&Condition) -> String| {
                claim.conditions.iter().map(|c| inline(&f(c))).collect::<Vec<_>>().join("<br>")
            };
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>",
                kind(claim),
                inline(&claim.words),
                inline(&claim.setting),
                of(&found),
                of(&|c| c.pairs.clone()),
                verdict_cell(claim),
            );
        }
        page.push_str("</table>\n");
        for claim in claims.iter().filter(|claim| !claim.remark.is_empty()) {
            let (words, remark) = (inline(&claim.words), inline(&claim.remark));
            let _ = writeln!(page, "<p><em>{words}</em>: {remark}</p>");
        }
    }
    page.push_str("</body>\n</html>\n");
    Ok(page)
}

/// A drawing whose ids are its own: on one page with others they must be different.
fn own_ids(svg: &str, stem: &str) -> String {
    svg.replace("id=\"", &format!("id=\"{stem}-")).replace("url(#", &format!("url(#{stem}-"))
}

fn verdict_cell(claim: &Claim) -> String {
    let class = match claim.verdict() {
        Verdict::Holds => "holds",
        Verdict::HoldsOnlyWhen(_) => "partly",
        Verdict::DoesNotHold { .. } | Verdict::TooFew | Verdict::NotRun => "not",
    };
    format!("<td class=\"{class}\"><strong>{}</strong></td>", inline(&in_short(claim)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The little Markdown that our texts have: code and bold.
fn inline(text: &str) -> String {
    let mut html = String::new();
    for (i, part) in escaped(text).split('`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(html, "<code>{part}</code>");
            continue;
        }
        for (i, part) in part.split("**").enumerate() {
            let _ = if i % 2 == 1 { write!(html, "<b>{part}</b>") } else { write!(html, "{part}") };
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Section {
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
        assert!(found(&unclear).starts_with("· e:"));
        let claim = Claim::new("x", "made", vec![up("a"), up("b"), up("c"), unclear.clone()]);
        assert_eq!(in_short(&claim), "holds only under 3 of 4 conditions: a; b; ...");
        assert_eq!(marks(&claim), "✓ 3, · 1");
        let claim = Claim::new("x", "made", vec![up("a"), up("b"), unclear]);
        assert_eq!(in_short(&claim), "holds only when: a; b");
    }

    #[test]
    fn both_pages_have_a_row_for_every_claim() {
        let folder = tempfile::tempdir().unwrap();
        let text = markdown(&[section()]);
        let row = text.lines().find(|line| line.contains("| made |")).unwrap();
        assert_eq!(
            row,
            "| paper | noise helps | made | ✓ d = 5: +1.50 ± 0.29 nats<br>✗ \\|S\\| < 3: -1.50 ± 0.29 nats | 4 : \
             0<br>0 : 4 | **holds only when: d = 5** |"
        );
        let html = html(folder.path(), &[section()]).unwrap();
        assert!(html.contains("Made <code>data</code> &amp; <b>more</b>."));
        assert!(html.contains("|S| &lt; 3: -1.50 ± 0.29 nats"));
        assert_eq!(
            own_ids("<c id=\"p0\"/><g c=\"url(#p0)\"/>", "f"),
            "<c id=\"f-p0\"/><g c=\"url(#f-p0)\"/>"
        );
        assert!(html.contains("class=\"partly\""));
        assert!(text.contains("*noise helps*: Odd.") && html.contains("</em>: Odd."));
    }
}
