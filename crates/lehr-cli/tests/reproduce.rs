//! `lehr reproduce`: everything quickly from one end to the other, interruptions, and wrong commands.

#![cfg(unix)]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use common::Place;

const EACH: [&str; 7] = ["fig1", "fig2", "fig3", "fig4", "theorem", "dimension", "sgd"];

/// Width and height of a PNG file.
fn size_of(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn all_of_it_quickly() {
    let place = Place::new();
    place.ok("reproduce all --quick -o out --quiet");
    let page = String::from_utf8(place.read("out/RESULTS.md")).unwrap();
    let html = String::from_utf8(place.read("out/results.html")).unwrap();
    for name in EACH {
        let section: Value = place.read_json(&format!("out/{name}/section.json"));
        let claims = section["claims"].as_array().unwrap();
        assert!(!claims.is_empty(), "{name}");
        for claim in claims {
            let words = claim["words"].as_str().unwrap();
            assert!(!claim["conditions"].as_array().unwrap().is_empty(), "{name}: {words}");
            let whose = if claim["control"].as_bool().unwrap() { "control" } else { "paper" };
            let row = format!("| {whose} | {} |", words.replace('|', "\\|"));
            assert_eq!(page.matches(&row).count(), 2, "{name}: {words}");
        }
        let figures = section["figures"].as_array().unwrap();
        assert!(!figures.is_empty(), "{name}");
        for figure in figures {
            let stem = figure["stem"].as_str().unwrap();
            let (width, height) = size_of(&place.read(&format!("out/{name}/{stem}.png")));
            assert!(width > 400 && height > 300, "{stem}: {width} x {height}");
            let svg = String::from_utf8(place.read(&format!("out/{name}/{stem}.svg"))).unwrap();
            // But for its ids, which must be its own on one page with others.
            let mark = format!("id=\"{stem}-plot0\"");
            assert_eq!(html.matches(&mark).count(), 1, "{stem} is part of the page");
            let has_id = |line: &&str| line.contains("id=\"") || line.contains("url(#");
            let half = svg.lines().count() / 2;
            let drawn = svg.lines().skip(half).find(|line| !has_id(line)).unwrap();
            assert!(html.contains(drawn), "{stem}: {drawn}");
            assert!(page.contains(&format!("({name}/{stem}.png)")), "{stem}");
        }
        // As many rows as runs, which are all different.
        let runs = String::from_utf8(place.read(&format!("out/{name}/runs.csv"))).unwrap();
        assert_eq!(runs.lines().count() as u64, 1 + section["runs"].as_u64().unwrap(), "{name}");
    }
    for verdict in ["| **holds** |", "| **holds only ", "| **does not hold"] {
        assert!(page.contains(verdict), "{verdict}");
    }
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|x| x.split('"').next()).collect();
    let different: std::collections::HashSet<&&str> = ids.iter().collect();
    assert_eq!(different.len(), ids.len(), "no id twice");
    assert!(!html.contains("src=") && !html.contains("<link"), "one file is all of the page");

    // Nothing is left to do, and nothing changes: runs that were repeated would stand in the lists twice.
    let before = place.snapshot("out");
    place.ok("reproduce all --quick -o out --quiet");
    assert!(before == place.snapshot("out"));
}

/// All files of a folder but those in which runs stand in the order in which they ended.
fn ordered(place: &Place, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let relative = |path: PathBuf| path.strip_prefix(place.path(folder)).unwrap().to_path_buf();
    let files = place.snapshot(folder).into_iter().map(|(path, bytes)| (relative(path), bytes));
    files.filter(|(path, _)| !path.ends_with("runs.jsonl")).collect()
}

#[cfg(any(debug_assertions, feature = "faults"))]
#[test]
fn an_interrupted_command_goes_on_and_ends_with_the_same_bits() {
    let place = Place::new();
    place.ok("reproduce fig4 --quick --runs 2 -o whole --quiet --threads 1");
    let store = place.path("parts/fig4/runs.jsonl");
    let lines = || std::fs::read_to_string(&store).map_or(0, |text| text.lines().count());
    let mut interrupted = 0;
    for (signal, more) in [("INT", 3), ("KILL", 3), ("TERM", 2)] {
        let goal = lines() + more;
        let mut command = place.command("reproduce fig4 --quick --runs 2 -o parts --threads 2");
        // Time to be interrupted, however busy the machine is.
        command.env("LEHR_FAULT", "slow:half:20:runs.jsonl");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while lines() < goal && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(500));
        }
        let kill = format!("kill -{signal} {}", child.id());
        // It may have ended by itself.
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        match ended.status.code() {
            Some(0) => {}
            Some(1) => {
                assert!(said.contains("run the same command to continue"), "{said}");
                interrupted += 1;
            }
            None if signal == "KILL" => interrupted += 1,
            code => panic!("{signal}: {code:?} {}", String::from_utf8_lossy(&ended.stderr)),
        }
    }
    assert!(interrupted > 0, "it was too fast to be interrupted");
    place.ok("reproduce fig4 --quick --runs 2 -o parts --quiet --threads 2");
    let (parts, whole) = (ordered(&place, "parts"), ordered(&place, "whole"));
    assert!(whole.len() > 5 && parts.keys().eq(whole.keys()), "{:?}", parts.keys());
    whole.iter().for_each(|(path, bytes)| assert!(parts[path] == *bytes, "{}", path.display()));
}

#[test]
fn wrong_commands_say_what_is_wrong() {
    let place = Place::new();
    place.misused("reproduce fig5 -o out", &["fig5", "theorem"]);
    place.misused("reproduce fig3 --runs 0 -o out", &["--runs", "from 1 to"]);
    place.misused("reproduce fig3", &["--out"]);
    place.fails(
        "reproduce fig1 -o out",
        &["--data DIR", "ml-1m/ratings.dat", "GroupLens", "--quick"],
    );
    place.fails("reproduce fig2 -o out --data nowhere", &["nowhere", "no such folder"]);
    place.fails("reproduce fig4 --quick -o out --data nowhere", &["nowhere", "no such folder"]);
    place.misused("reproduce fig3 --runs 4294967295 -o out", &["--runs", "10000"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place.fails("reproduce fig2 -o out --data empty", &["empty", "docword"]);
    std::fs::create_dir(place.path("empty/ml-1m")).unwrap();
    place.write("empty/ml-1m/ratings.dat", "1::2::3::4\n1::3::3::4\n2::3::1::4\n");
    place.fails("reproduce fig1 -o out --data empty", &["ratings.dat", "3 rows", "1000209"]);
    // A folder with runs of other settings.
    place.ok("reproduce fig4 --quick --runs 1 -o out --quiet");
    place.fails("reproduce fig4 --quick --runs 1 --seed 7 -o out", &["--seed 1", "-o"]);
    place.write("file", "");
    place.fails("reproduce fig4 --quick --runs 1 -o file", &["folder file/fig4", "directory"]);
}
