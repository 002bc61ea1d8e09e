//! The page as one HTML file with its figures inside: a row for every condition of every claim.

use std::fmt::Write;
use std::path::Path;

use super::{Claim, Drawn, RULES, Section, TITLE, Verdict, in_short, kind, marks};
use crate::Condition;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;\
    padding:0 1rem;color:#222;background:#fff}table{border-collapse:collapse;margin:1rem 0}\
    td,th{border:1px solid #ccc;padding:.35rem .6rem;text-align:left;vertical-align:top}\
    th{background:#f4f4f4}td.when{min-width:17rem}td.number{white-space:nowrap;font-variant-numeric:tabular-nums}\
    figure{margin:1.5rem 0}svg{max-width:100%;height:auto}figcaption{color:#555}\
    .holds{color:#1a6d2f}.partly{color:#8a5a00}.not{color:#a3212b}";

/// The whole page; the figures are read from `out`.
pub fn page(out: &Path, sections: &[Section]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n\
         <ul>{}</ul>\n<table>\n<tr><th></th><th>whose</th><th>statement</th><th>verdict</th>\
         <th>conditions</th></tr>\n",
        RULES.map(|rule| format!("<li>{}</li>\n", inline(rule))).concat(),
    );
    for section in sections {
        for claim in &section.claims {
            let name = &section.name;
            let _ = writeln!(
                page,
                "<tr><td><a href=\"#{name}\">{name}</a></td><td>{}</td><td>{}</td>{}\
                 <td class=\"number\">{}</td></tr>",
                kind(claim),
                inline(&claim.words),
                verdict(claim, 1),
                marks(claim),
            );
        }
    }
    page.push_str("</table>\n");
    sections.iter().for_each(|section| part(out, section, &mut page));
    page.push_str("</body>\n</html>\n");
    page
}

/// One experiment's part.
fn part(out: &Path, section: &Section, page: &mut String) {
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
        let _ = writeln!(page, "<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>");
    }
    page.push_str(
        "<table>\n<tr><th>whose</th><th>statement</th><th>our setting</th><th>condition</th>\
         <th>effect</th><th>for : against</th><th>verdict</th></tr>\n",
    );
    claims.iter().for_each(|claim| rows(claim, page));
    page.push_str("</table>\n");
    for claim in claims.iter().filter(|claim| !claim.remark.is_empty()) {
        let (words, remark) = (inline(&claim.words), inline(&claim.remark));
        let _ = writeln!(page, "<p><em>{words}</em>: {remark}</p>");
    }
}

/// A claim's rows, one for each condition: the cells about the claim itself span them all.
fn rows(claim: &Claim, page: &mut String) {
    let span = claim.conditions.len().max(1);
    let mut conditions = claim.conditions.iter().map(condition);
    let _ = writeln!(
        page,
        "<tr><td rowspan=\"{span}\">{}</td><td rowspan=\"{span}\">{}</td><td rowspan=\"{span}\">{}</td>\
         {}{}</tr>",
        kind(claim),
        inline(&claim.words),
        inline(&claim.setting),
        conditions.next().unwrap_or_else(|| "<td></td><td></td><td></td>".into()),
        verdict(claim, span),
    );
    conditions.for_each(|cells| page.push_str(&format!("<tr>{cells}</tr>\n")));
}

/// The cells of a condition.
fn condition(condition: &Condition) -> String {
    let Condition { when, effect, pairs, finding, .. } = condition;
    format!(
        "<td class=\"when\">{} {}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>",
        finding.mark(),
        inline(when),
        inline(effect),
        inline(pairs)
    )
}

fn verdict(claim: &Claim, span: usize) -> String {
    let class = match claim.verdict() {
        Verdict::Holds => "holds",
        Verdict::HoldsOnlyWhen(_) => "partly",
        Verdict::DoesNotHold { .. } | Verdict::TooFew | Verdict::NotRun => "not",
    };
    let text = inline(&in_short(claim));
    format!("<td class=\"{class}\" rowspan=\"{span}\"><strong>{text}</strong></td>")
}

/// A drawing whose ids are its own: on one page with others they must be different.
fn own_ids(svg: &str, stem: &str) -> String {
    svg.replace("id=\"", &format!("id=\"{stem}-")).replace("url(#", &format!("url(#{stem}-"))
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
    use super::super::tests::section;
    use super::*;

    #[test]
    fn every_condition_has_a_row_and_every_claim_spans_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let html = page(folder.path(), &[section()]);
        assert!(html.contains("Made <code>data</code> &amp; <b>more</b>."));
        assert!(html.contains("<td rowspan=\"2\">noise helps</td>"));
        let second = "<tr><td class=\"when\">✗ |S| &lt; 3</td><td class=\"number\">-1.50 ± 0.29 nats</td>\
                      <td class=\"number\">0 : 4</td></tr>";
        assert!(html.contains(second), "{html}");
        assert!(html.contains("class=\"partly\" rowspan=\"2\""));
        assert!(html.contains("</em>: Odd."));
        // As many cells as columns, once spans are counted.
        let table = html.rsplit("<table>").next().unwrap();
        assert_eq!(table.matches("<tr>").count(), 3);
        assert_eq!(table.matches("<td").count(), 7 + 3);
    }

    #[test]
    fn drawings_on_one_page_do_not_share_ids() {
        let svg = "<c id=\"p0\"/><g c=\"url(#p0)\"/>";
        assert_eq!(own_ids(svg, "f"), "<c id=\"f-p0\"/><g c=\"url(#f-p0)\"/>");
    }
}
