//! Two programs that want to write to one run directory.

#![cfg(unix)]

mod common;

use std::fs;

use common::Place;
use common::running::Running;

const FIT: &str = "fit gmm points.csv -k 5 --tol 0 --steps 1000000 --checkpoint-every 5 -o run";

fn running() -> (Place, Running) {
    let place = Place::new();
    place.points("points.csv", 3000);
    let mut running = Running::start(&place, FIT);
    assert!(running.reaches(&place, "run", 10));
    (place, running)
}

#[test]
fn the_second_one_hears_who_was_first() {
    let (place, running) = running();
    place.ok("fit gmm points.csv -k 2 --steps 2 -o other");
    let first = format!("another lehr (process {}) is working on this run", running.0.id());
    for line in ["resume run", FIT, "partial other points.csv -o run"] {
        let ended = place.run(line);
        assert_eq!(ended.code, 2, "{line}");
        assert!(ended.stderr.contains(&first), "{line}: {}", ended.stderr);
    }
    // Looking is free.
    place.ok("show run");
    running.signal("INT");
    assert_eq!(running.end().0, Some(1));
    assert!(!place.path("run/.lock").exists());
}

#[test]
fn two_that_begin_at_the_same_moment_do_not_mix() {
    let place = Place::new();
    place.points("points.csv", 300);
    for round in 0..5 {
        let line = format!("fit gmm points.csv -k 2 --steps 200 --tol 0 -o run{round}");
        let mut both: Vec<_> = (0..4).map(|_| Running::start(&place, &line)).collect();
        let codes = both.iter_mut().map(|one| one.0.wait().unwrap().code());
        let mut codes: Vec<_> = codes.collect();
        codes.sort();
        assert_eq!(codes, [Some(0), Some(2), Some(2), Some(2)]);
        place.ok(&format!("show run{round}"));
    }
}

#[test]
fn the_lock_of_a_dead_process_is_taken_over() {
    let (place, running) = running();
    let process = running.0.id();
    drop(running); // killed
    let note = String::from_utf8(place.read("run/.lock")).unwrap();
    assert!(note.contains(&format!("\"process\":{process},")), "{note}");
    place.ok("resume run --time 0.01");
    assert!(!place.path("run/.lock").exists());
    // Its number is that of another program now: ours.
    let number = format!("\"process\":{},", std::process::id());
    fs::write(place.path("run/.lock"), note.replace(&format!("\"process\":{process},"), &number))
        .unwrap();
    place.ok("resume run --time 0.01");
}
