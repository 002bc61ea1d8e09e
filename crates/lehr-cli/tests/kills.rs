//! Runs that are killed, at any moment and at the worst ones, and end bit-identical to a run that was not.

#![cfg(all(unix, any(debug_assertions, feature = "faults")))]

mod common;

use std::fs;

use common::Place;
use common::running::{Running, is_complete, lines, place, same_run, tidy};

/// Starts, kills after at most `span` more observations and resumes until the run is complete; kills
/// once at least, and `most` times at most.
fn killed_again_and_again(
    place: &Place,
    fit: &str,
    run: &str,
    mut state: u64,
    span: usize,
    most: usize,
) {
    let begin = format!("{fit} -o {run}");
    let (mut kills, mut line) = (0, begin.clone());
    for _ in 0..100 {
        if kills == most {
            place.ok(&line);
            return;
        }
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let target = lines(place, run) + 1 + (state >> 33) as usize % span;
        let mut running = Running::slowly(place, &line);
        if running.reaches(place, run, target) {
            running.0.kill().unwrap();
        }
        match running.end().0 {
            None if is_complete(place, run) => return tidy(place, run),
            None => {
                kills += 1;
                line = format!("resume {run}");
            }
            Some(0) if kills > 0 => return,
            // It was faster than its murderer.
            Some(0) => fs::remove_dir_all(place.path(run)).unwrap(),
            code => panic!("{line}: {code:?}"),
        }
    }
    panic!("{begin}: killed {kills} times, and never complete");
}

#[test]
fn a_run_that_is_killed_at_any_moment_loses_nothing() {
    let place = place();
    let noisy = "--batch 500 --effective 100 --tol 0 --steps 120";
    let cases = [
        ("batch", "gmm -k 5 --tol 0 --steps 120".to_string()),
        ("converging", "gmm -k 4 --tol 1e-7 --steps 400".to_string()),
        ("annealed", "gmm -k 5 --effective geometric:50:80 --tol 0 --steps 120".to_string()),
        ("svi", "gmm -k 5 --batch 500 --tol 0 --steps 120".to_string()),
        ("smoothed", "gmm -k 3 --batch 500 --tol 1e-4 --steps 400".to_string()),
        (
            "drawn",
            "gmm -k 5 --batch 500 --sampling with-replacement --tol 0 --steps 120".to_string(),
        ),
        ("gaussian", format!("gmm -k 5 --law gaussian {noisy}")),
        ("gamma", format!("gmm -k 5 --law gamma {noisy}")),
        ("subsample", format!("gmm -k 5 --law subsample {noisy}")),
        ("lagged", format!("gmm -k 5 --law lagged {noisy}")),
        ("exact", format!("gmm -k 5 --law exact {noisy}")),
        ("independent", format!("gmm -k 5 --factorisation independent {noisy}")),
        ("process", format!("dpgmm -k 10 {noisy}")),
        ("starts", "gmm -k 5 --start points --n-init 3 --tol 0 --steps 50".to_string()),
        ("holdout", format!("gmm -k 5 --holdout 0.1 {noisy}")),
    ];
    for (i, (name, flags)) in cases.iter().enumerate() {
        let model_and_data = flags.replacen("mm ", "mm points.csv ", 1);
        let rhythm = format!("--eval-every {} --checkpoint-every {}", 1 + i % 2, 1 + i % 5);
        let fit = format!("fit {model_and_data} {rhythm}");
        let reference = format!("{name}-reference");
        place.ok(&format!("{fit} -o {reference}"));
        let span = lines(&place, &reference) / 4;
        killed_again_and_again(&place, &fit, name, i as u64, span, 6);
        same_run(&place, name, &reference);
    }
}

#[test]
fn documents_lose_nothing_either() {
    let place = Place::new();
    place.docs("a", 1200);
    let noisy = "--batch 300 --effective 60 --tol 0 --steps 60";
    let cases = [
        ("batch", "--tol 0 --steps 40".to_string()),
        ("noisy", format!("--holdout 50 {noisy}")),
        ("warm", format!("--warm --learn-alpha {noisy}")),
        ("lagged", format!("--law lagged --learn-eta {noisy}")),
    ];
    for (i, (name, flags)) in cases.iter().enumerate() {
        loses_nothing(&place, &format!("fit lda docword.a.txt -k 8 {flags}"), name, i);
    }
    // A run that goes on from another one stands on its parent, not on random numbers.
    place.docs("b", 900);
    let more =
        "partial noisy docword.b.txt --batch 300 --steps 60 --eval-every 1 --checkpoint-every 9";
    place.ok(&format!("{more} -o partial-reference"));
    killed_again_and_again(&place, more, "partial", 7, 12, 4);
    same_run(&place, "partial", "partial-reference");
}

/// A fit that is killed four times ends like one that is left alone, whatever the rhythm of its saves.
fn loses_nothing(place: &Place, fit: &str, name: &str, i: usize) {
    let rhythm = format!("--eval-every {} --checkpoint-every {}", 1 + i % 2, 1 + i % 3);
    let fit = format!("{fit} {rhythm}");
    let reference = format!("{name}-reference");
    place.ok(&format!("{fit} -o {reference}"));
    let span = lines(place, &reference) / 4;
    killed_again_and_again(place, &fit, name, i as u64, span, 4);
    same_run(place, name, &reference);
}

#[test]
fn ratings_lose_nothing_either() {
    let place = Place::new();
    place.ratings("ratings.dat", 1500);
    let cases = [
        ("batch", "--tol 0 --steps 40"),
        ("noisy", "--holdout 0.1 --effective 5t --tol 0 --steps 40"),
        ("paper", "--preset paper --effective 1t --tol 0 --steps 40"),
        ("svi", "--batch 5000 --effective 8 --tol 0 --steps 60"),
    ];
    for (i, (name, flags)) in cases.iter().enumerate() {
        loses_nothing(&place, &format!("fit pmf ratings.dat -d 6 {flags}"), name, i);
    }
}

#[test]
fn starts_made_since_the_last_checkpoint_are_made_again() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --start points --n-init 4 --tol 0 --steps 50 --checkpoint-every 40";
    place.ok(&format!("{fit} -o reference"));
    let mut running = Running::slowly(&place, &format!("{fit} -o run"));
    // The checkpoint is one of the first or second start; the trace is beyond it.
    assert!(running.reaches(&place, "run", 51 + 15), "too fast");
    running.0.kill().unwrap();
    drop(running);
    place.ok("resume run");
    same_run(&place, "run", "reference");
}

#[test]
fn a_run_that_is_killed_before_its_first_checkpoint_begins_again() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --tol 0 --steps 150 --checkpoint-every 100000";
    place.ok(&format!("{fit} -o reference"));
    killed_again_and_again(&place, fit, "run", 1, 40, 1);
    same_run(&place, "run", "reference");

    let mut running = Running::slowly(&place, &format!("{fit} -o again"));
    assert!(running.reaches(&place, "again", 5));
    running.0.kill().unwrap();
    drop(running);
    for command in ["show again", "eval again points.csv"] {
        let ended = place.run(command);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains("before its first checkpoint"), "{}", ended.stderr);
        assert!(ended.stderr.contains("lehr resume again"), "{}", ended.stderr);
    }
    place.ok("resume again");
    same_run(&place, "again", "reference");
}

#[test]
fn more_steps_survive_being_killed() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --start points --n-init 3 --tol 0 --steps 10";
    for run in ["reference", "checkpoints", "none"] {
        let every = if run == "none" { 100_000 } else { 3 };
        place.ok(&format!("{fit} --checkpoint-every {every} -o {run}"));
    }
    place.ok("resume reference --steps 150");
    for run in ["checkpoints", "none"] {
        let mut running = Running::slowly(&place, &format!("resume {run} --steps 150"));
        assert!(running.reaches(&place, run, 33 + 20), "too fast");
        running.0.kill().unwrap();
        drop(running);
        // Under way again, with the model it had.
        assert!(place.ok(&format!("show {run}")).contains("not done  "));
        place.ok(&format!("resume {run}"));
        same_run(&place, run, "reference");
    }
}
