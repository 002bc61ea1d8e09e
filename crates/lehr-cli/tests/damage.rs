//! Run directories with damaged files: what is left is used, and what is wrong is reported.

#![cfg(any(debug_assertions, feature = "faults"))]

mod common;

use std::fs;

use common::Place;

const NEWEST: &str = "run/checkpoint.safetensors";
const BEFORE: &str = "run/checkpoint.previous.safetensors";

/// A run of 40 steps that was killed after its checkpoint of step 30; the one before is of step 20.
fn killed() -> Place {
    let place = Place::new();
    place.points("points.csv", 300);
    let fit = "fit gmm points.csv -k 3 --batch 100 --effective 20 --tol 0 --steps 40 --checkpoint-every 10 --eval-every 3";
    place.ok(&format!("{fit} -o reference"));
    let mut command = place.command(&format!("{fit} -o run"));
    let fault = "kill:done:3:checkpoint.safetensors";
    let status = command.env("LEHR_FAULT", fault).output().unwrap().status;
    assert_eq!(status.code(), None);
    fs::remove_file(place.path("run/.lock")).unwrap(); // or every command would tidy it up
    place
}

/// The result is that of the untouched run.
fn same(place: &Place) {
    assert_eq!(place.trace("run"), place.trace("reference"));
    assert_eq!(place.lambda("run"), place.lambda("reference"));
}

/// Runs a command that must succeed with one warning that has all these parts.
fn warned(place: &Place, line: &str, parts: &[&str]) -> String {
    let ended = place.run(line);
    assert_eq!(ended.code, 0, "lehr {line}: {}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "lehr {line}: {}", ended.stderr);
    assert!(ended.stderr.starts_with("warning: "), "{}", ended.stderr);
    place.check(line, &ended.stderr, parts);
    ended.stdout
}

/// What becomes of a file's bytes; none if it is gone.
type Damage = fn(Vec<u8>) -> Option<Vec<u8>>;

/// Ways in which a file gets lost: its name, how, and the message about it.
fn damages() -> Vec<(&'static str, Damage, &'static str)> {
    vec![
        ("empty", |_| Some(Vec::new()), "is damaged ("),
        ("cut", |bytes| Some(bytes[..bytes.len() - 9].to_vec()), "is damaged ("),
        (
            "changed",
            |mut bytes| {
                let at = bytes.len() - 9;
                bytes[at] ^= 4;
                Some(bytes)
            },
            "is damaged (its checksum does not match its content)",
        ),
        ("missing", |_| None, "is missing"),
    ]
}

fn damage(place: &Place, name: &str, how: Damage) {
    match how(place.read(name)) {
        Some(bytes) => place.write(name, bytes),
        None => fs::remove_file(place.path(name)).unwrap(),
    }
}

#[test]
fn a_damaged_checkpoint_gives_way_to_the_one_before() {
    for (name, how, words) in damages() {
        let place = killed();
        damage(&place, NEWEST, how);
        let parts = ["checkpoint.safetensors: ", words, "before it is used, which is of step 20"];
        let before = place.snapshot("run");
        assert!(warned(&place, "show run", &parts).contains("20 steps made"), "{name}");
        warned(&place, "eval run points.csv", &parts);
        assert!(place.snapshot("run") == before, "{name}: looking changes nothing");
        warned(&place, "resume run", &parts);
        same(&place);
        place.ok("show run");
    }
}

#[cfg(unix)]
#[test]
fn a_damaged_checkpoint_never_takes_the_place_of_a_whole_one() {
    let place = killed();
    damage(&place, NEWEST, |_| Some(b"x".to_vec()));
    // Killed again before the next checkpoint is complete: the one of step 20 must still be there.
    let mut command = place.command("resume run");
    let status = command.env("LEHR_FAULT", "kill:kept:1:checkpoint.safetensors").output().unwrap();
    assert_eq!(status.status.code(), None);
    warned(&place, "resume run", &["checkpoint.safetensors: is missing", "of step 20"]);
    same(&place);
}

#[test]
fn two_damaged_checkpoints_are_both_named() {
    let place = killed();
    for (_, how, words) in damages().into_iter().take(3) {
        damage(&place, NEWEST, how);
        damage(&place, BEFORE, how);
        for line in ["resume run", "show run", "eval run points.csv"] {
            let parts =
                ["neither checkpoint can be used", "checkpoint.previous.safetensors: ", words];
            place.fails(line, &parts);
        }
        let whole = place.read("reference/checkpoint.safetensors");
        place.write(NEWEST, &whole);
        place.write(BEFORE, &whole);
    }
    // One that never had another says so itself.
    fs::remove_file(place.path(BEFORE)).unwrap();
    place.write(NEWEST, "");
    place.fails("resume run", &["checkpoint.safetensors: is damaged", "restore it from a backup"]);
}

#[test]
fn a_finished_run_whose_end_is_damaged_is_finished_again() {
    let place = killed();
    place.ok("resume run");
    damage(&place, NEWEST, |bytes| Some(bytes[..100].to_vec()));
    place.fails("resume run --steps 5", &["come to its end with 'lehr resume' first"]);
    warned(&place, "resume run", &["the checkpoint before it is used, which is of step 40"]);
    same(&place);
    // More steps, under way when the newest checkpoint was lost: the one before is the first end.
    place.ok("resume reference --steps 9");
    let mut command = place.command("resume run --steps 9");
    let killed = command.env("LEHR_FAULT", "kill:done:1:checkpoint.safetensors").output().unwrap();
    assert_eq!(killed.status.code(), None);
    place.write(NEWEST, "");
    warned(&place, "resume run", &["which is of step 40"]);
    same(&place);
}

#[test]
fn a_damaged_trace_is_an_error_unless_its_lines_are_made_again_anyway() {
    let place = killed();
    let whole = String::from_utf8(place.read("run/trace.jsonl")).unwrap();
    let line = |n: usize, text: &str| {
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[n] = text;
        lines.join("\n") + "\n"
    };
    // Before the checkpoint of step 30: lines 1 to 10.
    place.write("run/trace.jsonl", line(4, "{\"restart\":0,"));
    place.fails("resume run", &["trace.jsonl, line 5: is damaged", "delete it to go on without"]);
    let nine: String = whole.lines().take(9).map(|line| format!("{line}\n")).collect();
    for cut in ["", "\n", &nine] {
        place.write("run/trace.jsonl", cut);
        place.fails("resume run", &["trace.jsonl: has ", "10 were there when the checkpoint"]);
    }
    // Behind it, and not even text.
    let mut bytes = whole.clone().into_bytes();
    bytes.extend(b"\xff\xfe{\n{\n");
    place.write("run/trace.jsonl", bytes);
    place.ok("resume run");
    same(&place);
    // Given up by the user.
    let place = killed();
    fs::remove_file(place.path("run/trace.jsonl")).unwrap();
    warned(&place, "resume run", &["trace.jsonl: is missing; the run goes on"]);
    assert_eq!(place.lambda("run"), place.lambda("reference"));
    assert_eq!(place.trace("run"), place.trace("reference")[10..]);
}

#[test]
fn a_damaged_record_is_named() {
    let place = killed();
    let whole = place.read("run/config.json");
    place.write("run/config.json", "");
    place.fails("resume run", &["config.json: is damaged (it is empty); restore it"]);
    place.write("run/config.json", &whole[..whole.len() / 2]);
    place.fails("show run", &["config.json: is damaged (its end is missing); restore it"]);
    let later = String::from_utf8(whole).unwrap().replace("\"format\": 2", "\"format\": 3");
    place.write("run/config.json", later);
    place.fails("show run", &["version 3 of the format", "reads versions 1 to 2", "update lehr"]);
}

#[test]
fn sidecar_files_are_checked() {
    let place = Place::new();
    place.docs("a", 60);
    place.ratings("ratings.dat", 30);
    place.ok("fit lda docword.a.txt -k 3 --steps 3 -o lda");
    place.ok("fit pmf ratings.dat -d 2 --steps 3 -o pmf");
    let files =
        ["lda/vocabulary.tsv", "pmf/users.jsonl", "pmf/items.jsonl", "pmf/seen.safetensors"];
    for file in files {
        let run = &file[..3];
        let whole = place.read(file);
        // A digit for another: still the same format.
        let at = whole.iter().rposition(u8::is_ascii_digit).unwrap_or(whole.len() - 1);
        let mut changed = whole.clone();
        changed[at] ^= 1;
        place.write(file, changed);
        place.fails(
            &format!("show {run}"),
            &[file, "its checksum is not that of the file that was written"],
        );
        place.write(file, &whole[..whole.len() - 1]);
        let parts = [file, "is damaged (it has ", " bytes, and had "];
        place.fails(&format!("resume {run} --steps 2"), &parts);
        place.write(file, &whole);
        place.ok(&format!("show {run}"));
    }
}
