//! The README's commands, run as they stand, in order, in a folder with made-up data.

use std::path::Path;
use std::process::Command;

use lehr::math::rng::{Address, Purpose};
use lehr::write::{self, Column};

const README: &str = include_str!("../../../README.md");

/// Three clusters in two columns, and a label that the configuration drops.
fn make_points(path: &Path, n_items: usize, item: u64, label: bool) {
    let mut rng = Address::new(11, Purpose::Data, 0, 0).rng(item);
    let labels: Vec<i64> = (0..n_items).map(|_| rng.below(3) as i64).collect();
    let mut column = |centres: [f64; 3]| -> Vec<f64> {
        labels.iter().map(|&l| centres[l as usize] + rng.normal()).collect()
    };
    let (x, y) = (column([0.0, 9.0, -9.0]), column([5.0, 0.0, -5.0]));
    let mut columns = vec![Column::f64("x", &x), Column::f64("y", &y)];
    if label {
        columns.push(Column::i64("label", &labels));
    }
    write::table(path, &columns).unwrap();
}

/// Documents of 40 words about one of three things.
fn make_articles(path: &Path, n_docs: usize, item: u64) {
    const THINGS: [&str; 3] = [
        "glass furnace oven kiln melt silica anneal window bottle lens",
        "river boat sail harbour anchor tide captain fish net wave",
        "guitar drum chord melody rhythm singer concert stage song violin",
    ];
    let mut rng = Address::new(12, Purpose::Data, 0, 0).rng(item);
    let mut lines = String::new();
    for _ in 0..n_docs {
        let words: Vec<&str> = THINGS[rng.below(3) as usize].split(' ').collect();
        let text: Vec<&str> = (0..40).map(|_| words[rng.below(10) as usize]).collect();
        lines += &format!("{{\"text\": \"{}\"}}\n", text.join(" "));
    }
    std::fs::write(path, lines).unwrap();
}

fn run(folder: &Path, line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = Command::new(env!("CARGO_BIN_EXE_lehr"))
        .args(&words)
        .current_dir(folder)
        .output()
        .expect("lehr starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_command_of_the_readme_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 600, 0, false);
    make_points(&folder.path().join("heldout.csv"), 100, 1, false);
    make_articles(&folder.path().join("articles.jsonl"), 400, 0);
    make_articles(&folder.path().join("new.jsonl"), 60, 1);
    let commands: Vec<&str> = README
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .filter(|l| l.starts_with("lehr "))
        .collect();
    assert!(commands.len() >= 13, "the README lost its commands: {commands:?}");
    for command in commands {
        let output = run(folder.path(), command);
        assert!(!output.is_empty(), "{command} said nothing");
    }
    let labels = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    assert_eq!(labels.lines().count(), 601);
}

#[test]
fn the_configuration_file_of_the_readme_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 600, 0, true);
    let begin = README.find("```toml\n").expect("a TOML example") + "```toml\n".len();
    let length = README[begin..].find("```").expect("its end");
    std::fs::write(folder.path().join("run.toml"), &README[begin..begin + length]).unwrap();
    run(folder.path(), "lehr fit gmm points.csv --config run.toml -o run");
    let config = std::fs::read_to_string(folder.path().join("run/config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["fit"]["effective"], "geometric:10:150");
    assert_eq!(config["fit"]["batch"], 200);
    assert_eq!(config["params"]["covariance"], "diagonal");
    assert_eq!(config["data"]["columns"], serde_json::json!(["x", "y"]));
}
