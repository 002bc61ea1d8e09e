//! Runs that are stopped politely, by a signal or a limit, and go on as if nothing had happened.

#![cfg(all(unix, any(debug_assertions, feature = "faults")))]

mod common;

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use common::running::{Running, place, same_run};

#[test]
fn a_signal_saves_and_says_how_to_resume() {
    let place = place();
    let fit =
        "fit gmm points.csv -k 5 --batch 1000 --effective 200 --steps 250 --tol 0 --eval-every 2";
    place.ok(&format!("{fit} -o reference"));
    for signal in ["INT", "TERM", "HUP"] {
        // Whoever has started these tests may ignore it, and what they start ignores it, too.
        if signal == "HUP" && ignores_hang_ups() {
            continue;
        }
        let mut running = Running::slowly(&place, &format!("{fit} -o {signal}"));
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

/// Whether this process ignores SIGHUP, signal 1, as under nohup; elsewhere than on Linux it does not say.
fn ignores_hang_ups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --steps 60 --tol 0 -o run";
    let mut command = Command::new("nohup");
    let lehr = place.command(fit);
    command.arg(lehr.get_program()).args(lehr.get_args()).current_dir(place.path(""));
    command.env("LEHR_FAULT", "slow:half:5:trace.jsonl").stdin(Stdio::null());
    let mut running = Running::of(command);
    assert!(running.reaches(&place, "run", 5), "too fast");
    running.signal("HUP");
    let (code, out) = running.end();
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("all steps were made"), "{out}");
}

#[test]
fn json_is_still_one_line_when_interrupted() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --steps 1000000 --tol 0 --json -o run";
    let mut running = Running::slowly(&place, fit);
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
    let mut running = Running::slowly(&place, &format!("{} -o run", fit(seed)));
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

#[test]
fn a_run_that_ran_out_of_time_again_and_again_ends_the_same() {
    let place = place();
    // What comes before the first step takes next to nothing, so that a busy machine gets that far as well.
    let fit = "fit gmm points.csv -k 5 --start points --priors volume --batch 1000 --effective 200 --tol 0 \
               --steps 3000 --n-init 2";
    place.ok(&format!("{fit} -o reference"));
    let mut result = place.json(&format!("{fit} --time 0.05 --json -o run"));
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
fn a_run_is_resumed_from_another_folder_and_with_other_threads() {
    let place = place();
    let fit = "fit gmm points.csv -k 5 --batch 1000 --effective 200 --tol 0 --steps 200";
    place.ok(&format!("{fit} -o reference"));
    let mut running = Running::slowly(&place, &format!("{fit} --threads 1 -o run"));
    assert!(running.reaches(&place, "run", 4), "too fast");
    running.signal("INT");
    assert_eq!(running.end().0, Some(1));
    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut command = place.command("resume ../run --threads 7");
    let output = command.current_dir(place.path("elsewhere")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    same_run(&place, "run", "reference");
}
