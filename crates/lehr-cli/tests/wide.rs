//! Wide tables and long starts: refused before they start if they cannot work, announced if they take long, and
//! stopped at once in the middle of a step, a start, or a file that does not come.

#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use common::Place;
use common::running::Running;

/// A table of random numbers.
fn table(place: &Place, name: &str, rows: usize, columns: usize) {
    let mut x = 1u64;
    let mut number = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 40) as f64 / (1 << 24) as f64
    };
    let mut text = String::new();
    for _ in 0..rows {
        let row: Vec<String> = (0..columns).map(|_| format!("{:.5}", number())).collect();
        text += &(row.join(",") + "\n");
    }
    fs::write(place.path(name), text).unwrap();
}

/// Waits until `is_so`, however long the machine takes.
fn wait_until(running: &mut Running, is_so: impl Fn(u32) -> bool) {
    let begin = Instant::now();
    while !is_so(running.0.id()) {
        assert!(running.0.try_wait().unwrap().is_none(), "it has ended");
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing happens");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the process has a handler for termination signals.
fn listens(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << 14) != 0)
}

/// The exit code, and what was printed on both streams.
fn end(mut running: Running) -> (Option<i32>, String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    running.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    running.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (running.0.wait().unwrap().code(), out, err)
}

#[test]
fn what_memory_cannot_hold_is_an_error_with_the_size() {
    let place = Place::new();
    let limited = |line: &str| {
        let program = env!("CARGO_BIN_EXE_lehr");
        let line = format!("ulimit -v 2000000; exec {program} {line}");
        Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap()
    };
    let words: Vec<String> = (0..2000).map(|w| format!("1 {w}:2")).collect();
    fs::write(place.path("docs.ldac"), words.join("\n") + "\n").unwrap();
    let ratings: Vec<String> = (0..3000).map(|n| format!("{},{},{}", n, n % 1000, n % 5)).collect();
    let ratings = format!("user,item,rating\n{}\n", ratings.join("\n"));
    fs::write(place.path("ratings.csv"), ratings).unwrap();
    for (line, what) in [
        (
            "fit lda docs.ldac -k 100000 -o a",
            "docs.ldac: 100000 topics of 2000 words: a fit needs about ",
        ),
        ("fit pmf ratings.csv -d 1000 -o b", "1000 latent dimensions of 3000 users and 1000 items"),
    ] {
        let done = limited(line);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(what) && said.contains(" GB of memory, and "), "{line}: {said}");
        let other = said.lines().filter(|line| !line.starts_with("read "));
        assert_eq!(other.count(), 1, "{said}");
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_file_that_does_not_come() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap().success());
    let mut running = Running::start(&place, "fit gmm pipe.csv -k 2 -o run");
    wait_until(&mut running, listens);
    running.signal("TERM");
    let (code, out, err) = end(running);
    assert_eq!((code, out.as_str()), (Some(130), ""), "{err}");
    assert_eq!(err, "interrupted before the first step, so that there is no model\n");
    assert!(!place.path("run").exists());
}

#[test]
fn a_signal_ends_a_long_start() {
    let place = Place::new();
    table(&place, "many.csv", 20_000, 8);
    let fit = "fit gmm many.csv --header no -k 1500 --start kmeans --steps 1 -o run";
    let mut running = Running::start(&place, fit);
    let config = place.path("run").join("config.json");
    wait_until(&mut running, |_| config.exists());
    running.signal("INT");
    let (code, _, err) = end(running);
    assert_eq!(code, Some(130), "{err}");
    assert!(err.contains("there is no model"), "{err}");
    assert!(!place.path("run").join("checkpoint.safetensors").exists());
    // A limit ends it as well; that is an error, since there is nothing to show for it.
    let failed = place.run(&format!("{fit}-late --time 0.05"));
    assert_eq!(failed.code, 2, "{}", failed.stderr);
    let what =
        "the time was up before the first step, so that there is no model; allow more with --time";
    assert!(failed.stderr.contains(what), "{}", failed.stderr);
}

#[test]
fn a_step_of_a_wide_table_is_cut_short_and_made_again() {
    let place = Place::new();
    table(&place, "wide.csv", 40, 500);
    let fit = "fit gmm wide.csv --header no -k 8 --tol 0";
    let mut running = Running::start(&place, &format!("{fit} --steps 1000000 -o run"));
    assert!(running.reaches(&place, "run", 1), "too fast");
    running.signal("INT");
    let (code, out, err) = end(running);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("it was interrupted"), "{out}");
    let note = "note: 40 rows are fewer than the 500 columns, so that full covariances are mostly the prior's; \
                consider --covariance diagonal\n";
    assert_eq!(err, format!("read wide.csv: 40 rows, 500 columns\n{note}"));
    let steps =
        |run: &str| place.read_json(&format!("{run}/result.json"))["steps"].as_u64().unwrap();
    assert!(steps("run") < 50, "{}", steps("run"));
    // A limit that is shorter than a step: no step is made, and all is well.
    let before = steps("run");
    let late = place.json("resume run --time 0.001 --json");
    assert_eq!((&late["complete"], &late["stop"]), (&false.into(), &"time".into()));
    assert!(steps("run") < before + 50);
    place.ok("resume run --steps 1");
    place.ok(&format!("{fit} --steps {} --quiet -o reference", steps("run")));
    assert_eq!(place.lambda("run"), place.lambda("reference"));
    assert_eq!(place.trace("run"), place.trace("reference"));
}

#[test]
fn a_table_that_is_too_wide_is_refused_with_what_to_try() {
    let place = Place::new();
    table(&place, "wide.csv", 4, 12_000);
    let failed = place.run("fit gmm wide.csv --header no -k 2 -o run");
    assert_eq!(failed.code, 2, "{}", failed.stderr);
    let begin = "error: wide.csv: full covariances of 12000 columns, 2 components: a ";
    assert!(failed.stderr.starts_with(begin), "{}", failed.stderr);
    let advice = "; try --covariance diagonal, fewer columns with --columns, or fewer -k\n";
    assert!(failed.stderr.ends_with(advice), "{}", failed.stderr);
    assert!(!place.path("run").exists());
    place.ok("fit gmm wide.csv --header no -k 2 --covariance diagonal --steps 2 -o run");
}
