//! Run directories of every format version so far still open, score and go on (`fixtures/runs/make.py`).

mod common;

use std::fs;

use serde_json::Value;

use common::{Place, fixtures};

/// Equal up to a relative difference.
fn close(found: &Value, expected: &Value, far: f64, what: &str) {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= far * b.abs().max(1.0), "{what}: {a}, and was {b}");
        }
        (Value::Object(a), Value::Object(b)) => {
            for (name, b) in b {
                close(&a[name], b, far, &format!("{what} {name}"));
            }
        }
        _ => assert_eq!(found, expected, "{what}"),
    }
}

#[test]
fn runs_of_every_version_open_score_and_go_on() {
    let data = [
        ("gmm", "points.csv"),
        ("dpgmm", "points.csv"),
        ("lda", "docword.txt"),
        ("pmf", "ratings.dat"),
    ];
    let mut versions = 0;
    for version in 1.. {
        let version = version.to_string();
        let Ok(text) = fs::read(fixtures().join(&version).join("expected.json")) else { break };
        let expected: Value = serde_json::from_slice(&text).unwrap();
        versions += 1;
        let place = Place::new();
        for (model, file) in data {
            let target = place.path(file);
            fs::copy(fixtures().join(file), target).unwrap();
            let expected = &expected[model];
            let killed = &format!("{model}-killed");
            let ended = &format!("{model}-ended");
            for run in [killed, ended] {
                place.kept_run(&version, run);
                place.ok(&format!("show {run}"));
                place.ok(&format!("eval {run} {file}"));
            }
            place.ok(&format!("resume {killed}"));
            for run in [killed, ended] {
                let what = format!("version {version}, {run}");
                let scores = place.json(&format!("eval {run} {file} --json"));
                // What other instructions may change in the last digits; steps of topics on batches have read
                // rows of 16 bits since then.
                let far = if run == "lda-killed" { 1e-3 } else { 1e-6 };
                close(&scores, &expected["eval"], far, &what);
                let result = place.read_json(&format!("{run}/result.json"));
                close(&result["bound"], &expected["bound"], far, &what);
                assert_eq!(place.trace(run).len() as u64, expected["observations"], "{what}");
            }
            // What has ended goes on, too.
            place.ok(&format!("resume {ended} --steps 3"));
        }
    }
    assert_eq!(versions, 2, "there is one folder for each version of the format");
}
