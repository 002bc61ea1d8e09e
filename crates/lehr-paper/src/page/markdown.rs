//! The page in Markdown: an overview, then for every experiment its figures and a row for every claim.

use std::fmt::Write;

use super::{Drawn, RULES, Section, TITLE, in_short, kind, marks};
use crate::Condition;

/// The whole page.
pub fn page(sections: &[Section]) -> String {
    let rules = RULES.map(|rule| format!("- {rule}\n")).concat();
    let mut page = format!("# {TITLE}\n\n{rules}");
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
        page.push_str("| whose | statement | our setting | effect (for : against) | verdict |\n");
        page.push_str("|---|---|---|---|---|\n");
        for claim in claims {
            let effects: Vec<String> = claim.conditions.iter().map(effect).collect();
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | **{}** |",
                kind(claim),
                cell(&claim.words),
                cell(&claim.setting),
                effects.join("<br>"),
                cell(&in_short(claim)),
            );
        }
        for claim in claims.iter().filter(|claim| !claim.remark.is_empty()) {
            let _ = write!(page, "\n*{}*: {}\n", claim.words, claim.remark);
        }
    }
    page
}

/// A condition's line in the cell of its claim: tables of Markdown have no cells over several rows.
fn effect(condition: &Condition) -> String {
    let Condition { when, effect, pairs, finding, .. } = condition;
    let pairs = if pairs.is_empty() { String::new() } else { format!(" ({pairs})") };
    cell(&format!("{} {when}: {effect}{pairs}", finding.mark()))
}

/// A text inside a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::section;
    use super::*;

    #[test]
    fn every_claim_has_a_row_with_all_its_conditions() {
        let text = page(&[section()]);
        let row = text.lines().find(|line| line.contains("| made |")).unwrap();
        assert_eq!(
            row,
            "| paper | noise helps | made | ✓ d = 5: +1.50 ± 0.29 nats (4 : 0)<br>✗ \\|S\\| < 3: -1.50 ± 0.29 \
             nats (0 : 4) | **holds only when: d = 5 (shown elsewhere: the opposite under 1)** |"
        );
        assert!(text.contains("*noise helps*: Odd."));
    }
}
