//! Runs that are stopped, politely or not, and go on as if nothing had happened.

#![cfg(unix)]

mod common;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use common::Place;

/// Large enough that a step takes about a millisecond.
const ITEMS: usize = 3000;

fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", ITEMS);
    place
}

/// A command under way; killed when dropped, so that a failing test leaves nothing running.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(place: &Place, line: &str) -> Self {
        let mut command = place.command(line);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until the run's trace has this many lines; false if the command ended before.
    fn reaches(&mut self, place: &Place, run: &str, lines: usize) -> bool {
        let begin = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            if self::lines(place, run) >= lines {
                return true;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no progress in {run}");
            std::thread::sleep(Duration::from_micros(300));
        }
        false
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// The exit code and what was printed; no word on stderr.
    fn end(mut self) -> (Option<i32>, String) {
        use std::io::Read;
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(err, "");
        (self.0.wait().unwrap().code(), out)
    }
}

fn lines(place: &Place, run: &str) -> usize {
    let bytes = fs::read(place.path(&format!("{run}/trace.jsonl"))).unwrap_or_default();
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Everything but the clock must be the same, and nothing may be left over.
fn same_run(place: &Place, run: &str, reference: &str) {
    let (trace, expected) = (place.trace(run), place.trace(reference));
    assert_eq!(trace.len(), expected.len(), "{run}");
    for (seen, expected) in trace.iter().zip(&expected) {
        assert_eq!(seen, expected, "{run}");
    }
    assert_eq!(place.lambda(run), place.lambda(reference), "{run}");
    let result = |run: &str| -> Value {
        let mut result = place.read_json(&format!("{run}/result.json"));
        let fields = result.as_object_mut().unwrap();
        for field in ["run", "seconds", "seconds_by_part", "local_iterations"] {
            fields.remove(field);
        }
        result
    };
    assert_eq!(result(run), result(reference), "{run}");
    let names = |run: &str| -> Vec<String> {
        let files = place.snapshot(run).into_keys();
        files.map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect()
    };
    let mut own = vec!["checkpoint.safetensors", "config.json", "result.json", "trace.jsonl"];
    match place.read_json(&format!("{run}/config.json"))["model"].as_str() {
        Some("lda") => own.push("vocabulary.tsv"),
        Some("pmf") => own.extend(["items.jsonl", "seen.safetensors", "users.jsonl"]),
        _ => {}
    }
    own.sort_unstable();
    assert_eq!(names(run), own);
}

#[test]
fn a_signal_saves_and_says_how_to_resume() {
    let place = place();
    let fit =
        "fit gmm points.csv -k 5 --batch 1000 --effective 200 --steps 250 --tol 0 --eval-every 2";
    place.ok(&format!("{fit} -o reference"));
    for signal in ["INT", "TERM"] {
        let mut running = Running::start(&place, &format!("{fit} -o {signal}"));
        assert!(running.reaches(&place, signal, 5), "too fast");
        running.signal(signal);
        let (code, out) = running.end();
        assert_eq!(code, Some(1), "{out}");
        assert!(out.contains("it was interrupted"), "{out}");
        assert!(out.ends_with(&format!("saved; continue with: lehr resume {signal}\n")), "{out}");
        let result = place.read_json(&format!("{signal}/result.json"));
        assert_eq!((&result["complete"], &result["stop"]), (&false.into(), &"interrupted".into()));
        // What is there can be used.
        assert!(place.ok(&format!("show {signal}")).contains("not done  "));
        place.ok(&format!("eval {signal} points.csv"));
        assert!(place.ok(&format!("resume {signal}")).contains("all steps were made"));
        same_run(&place, signal, "reference");
    }
}

#[test]
fn json_is_still_one_line_when_interrupted() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --steps 1000000 --tol 0 --json -o run";
    let mut running = Running::start(&place, fit);
    assert!(running.reaches(&place, "run", 3));
    running.signal("INT");
    let (code, out) = running.end();
    assert_eq!((code, out.lines().count()), (Some(1), 1));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["stop"], "interrupted");
}

#[test]
fn a_later_start_is_interrupted_and_resumed() {
    let place = place();
    // A seed whose second start is soon better than the first: it must not count before its end.
    let fit = |seed: u64| {
        format!(
            "fit gmm points.csv -k 5 --start points --steps 60 --tol 0 --n-init 4 --seed {seed}"
        )
    };
    let seed = (0..20).find(|&seed| {
        place.ok(&format!("{} -o seed{seed}", fit(seed)));
        let trace = place.trace(&format!("seed{seed}"));
        trace[61 + 30]["bound"].as_f64() > trace[60]["bound"].as_f64()
    });
    let seed = seed.expect("a seed with a better second start");
    let reference = format!("seed{seed}");
    let mut running = Running::start(&place, &format!("{} -o run", fit(seed)));
    assert!(running.reaches(&place, "run", 61 + 32), "too fast");
    running.signal("INT");
    let (code, out) = running.end();
    assert_eq!(code, Some(1));
    assert!(out.contains("stopped during start ") && out.contains(" of 4, step "), "{out}");
    // The model is the best start that has ended, in the result as in the checkpoint.
    let result = place.read_json("run/result.json");
    assert_eq!(result["stop"], "steps");
    let scored = place.json("eval run points.csv --json")["bound"].as_f64().unwrap();
    assert!((scored / result["bound"].as_f64().unwrap() - 1.0).abs() < 1e-10);
    let shown = place.ok("show run");
    assert!(shown.contains("not done  start ") && shown.contains(" of 4 ended; bounds"), "{shown}");
    place.ok("resume run");
    same_run(&place, "run", &reference);
}

/// Starts, kills after at most `span` more observations and resumes until the run is complete; how
/// often it was killed.
fn killed_again_and_again(
    place: &Place,
    fit: &str,
    run: &str,
    mut state: u64,
    span: usize,
    most: usize,
) -> usize {
    let mut kills = 0;
    let mut line = format!("{fit} -o {run}");
    loop {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let target = lines(place, run) + 1 + (state >> 33) as usize % span;
        let mut running = Running::start(place, &line);
        if kills < most && running.reaches(place, run, target) {
            running.0.kill().unwrap();
            let (code, _) = running.end();
            if code.is_none() {
                kills += 1;
                line = format!("resume {run}");
                continue;
            }
            assert_eq!(code, Some(0));
            return kills;
        }
        assert_eq!(running.end().0, Some(0), "{run}");
        return kills;
    }
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
        let kills = killed_again_and_again(&place, &fit, name, i as u64, span, 6);
        assert!(kills > 0, "{name} was too fast to be killed");
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
    assert!(killed_again_and_again(&place, more, "partial", 7, 12, 4) > 0);
    same_run(&place, "partial", "partial-reference");
}

/// A fit that is killed four times ends like one that is left alone, whatever the rhythm of its saves.
fn loses_nothing(place: &Place, fit: &str, name: &str, i: usize) {
    let rhythm = format!("--eval-every {} --checkpoint-every {}", 1 + i % 2, 1 + i % 3);
    let fit = format!("{fit} {rhythm}");
    let reference = format!("{name}-reference");
    place.ok(&format!("{fit} -o {reference}"));
    let span = lines(place, &reference) / 4;
    let kills = killed_again_and_again(place, &fit, name, i as u64, span, 4);
    assert!(kills > 0, "{name} was too fast to be killed");
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
    let mut running = Running::start(&place, &format!("{fit} -o run"));
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
    assert_eq!(killed_again_and_again(&place, fit, "run", 1, 40, 1), 1);
    same_run(&place, "run", "reference");

    let mut running = Running::start(&place, &format!("{fit} -o again"));
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
fn a_run_that_ran_out_of_time_again_and_again_ends_the_same() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --batch 1000 --effective 200 --tol 0 --steps 200 --n-init 2";
    place.ok(&format!("{fit} -o reference"));
    let mut result = place.json(&format!("{fit} --time 0.02 --json -o run"));
    let mut sessions = 1;
    while result["complete"] == false {
        result = place.json("resume run --json");
        sessions += 1;
        assert!(sessions < 1000);
    }
    assert!(sessions > 1);
    same_run(&place, "run", "reference");
}

#[test]
fn twice_some_steps_are_as_good_as_all_at_once() {
    let place = place();
    for (name, flags) in [
        ("batch", "-k 5"),
        ("svi", "-k 5 --batch 500 --eval-every 7"),
        ("noisy", "-k 5 --batch 500 --effective 100 --eval-every 7"),
        ("starts", "-k 5 --n-init 3 --start points"),
    ] {
        let fit = format!("fit gmm points.csv {flags} --tol 0");
        place.ok(&format!("{fit} --steps 20 -o {name}-twice"));
        place.ok(&format!("resume {name}-twice --steps 10"));
        place.ok(&format!("resume {name}-twice --steps 10"));
        place.ok(&format!("{fit} --steps 20 -o {name}-once"));
        place.ok(&format!("resume {name}-once --steps 20"));
        same_run(&place, &format!("{name}-twice"), &format!("{name}-once"));
        // Without annealing no schedule knows the planned end: a longer plan is the same run.
        if name == "batch" || name == "svi" {
            place.ok(&format!("{fit} --steps 40 -o {name}-planned"));
            same_run(&place, &format!("{name}-twice"), &format!("{name}-planned"));
        }
    }
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
        let mut running = Running::start(&place, &format!("resume {run} --steps 150"));
        assert!(running.reaches(&place, run, 33 + 20), "too fast");
        running.0.kill().unwrap();
        drop(running);
        // Under way again, with the model it had.
        assert!(place.ok(&format!("show {run}")).contains("not done  "));
        place.ok(&format!("resume {run}"));
        same_run(&place, run, "reference");
    }
}

#[test]
fn two_programs_do_not_work_on_one_run() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --tol 0 --steps 1000000 --checkpoint-every 5 -o run";
    let mut running = Running::start(&place, fit);
    assert!(running.reaches(&place, "run", 10));
    let ended = place.run("resume run");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("another lehr is working on this run"), "{}", ended.stderr);
    // Looking is free.
    place.ok("show run");
    running.signal("INT");
    assert_eq!(running.end().0, Some(1));
}

#[test]
fn a_run_is_resumed_from_another_folder_and_with_other_threads() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --batch 1000 --effective 200 --tol 0 --steps 200";
    place.ok(&format!("{fit} -o reference"));
    let mut running = Running::start(&place, &format!("{fit} --threads 1 -o run"));
    assert!(running.reaches(&place, "run", 4), "too fast");
    running.signal("INT");
    assert_eq!(running.end().0, Some(1));
    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut command = place.command("resume ../run --threads 7");
    let output = command.current_dir(place.path("elsewhere")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    same_run(&place, "run", "reference");
}
