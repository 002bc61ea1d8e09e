//! The documents quote code that exists, line by line, and keep their promises about it.

mod common;

use std::fs;
use std::path::PathBuf;

use lehr::FitConfig;

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The blocks of code in one language, each with its first line's number.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<(usize, Vec<&'a str>)> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line == fence {
            let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            blocks.push((at + 2, body.collect()));
        }
    }
    blocks
}

#[test]
fn own_model_quotes_the_example() {
    let (document, example) =
        (read("../../docs/guide/own_model.md"), read("examples/bernoulli.rs"));
    let example: Vec<&str> = example.lines().collect();
    let quoted = blocks(&document, "rust");
    assert!(quoted.len() > 10, "only {} blocks: has the fence changed?", quoted.len());
    for (at, block) in &quoted {
        let found = example.windows(block.len()).any(|window| window == block.as_slice());
        assert!(
            found,
            "docs/guide/own_model.md, line {at}: not in the example:\n{}",
            block.join("\n")
        );
    }
    // All of the trait is explained, except the name.
    for line in example.iter().filter(|line| line.starts_with("    fn ")) {
        let shown = quoted.iter().any(|(_, block)| block.contains(line));
        assert!(shown || line.contains("fn name("), "docs/guide/own_model.md does not show {line}");
    }
}

#[test]
fn own_model_shows_what_the_example_prints() {
    let data = common::bernoulli::noisy_letters(2000, 0.15, 1).unwrap();
    let model = common::BernoulliMixture { n_components: 4, n_columns: 25, a0: 0.25, b0: 0.5 };
    let outcome = common::watched(&model, &data, &FitConfig::default(), 0).0.outcome;
    let line = format!("batch VI: bound {:.2} after {} steps", outcome.bound, outcome.steps);
    assert!(read("../../docs/guide/own_model.md").contains(&line), "{line}");
}

#[test]
fn the_example_has_under_200_lines() {
    let lines = read("examples/bernoulli.rs").lines().count();
    assert!(
        lines < 200,
        "examples/bernoulli.rs has {lines} lines; the documents promise under 200"
    );
}
