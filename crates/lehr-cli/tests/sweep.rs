//! `lehr sweep`: what it says, what it leaves, how it is stopped and goes on, and what it refuses.

mod common;

use std::fs;

use serde_json::Value;

use common::Place;

/// Four clusters in the plane, far enough apart that no count of five is plausible.
fn planted(place: &Place) {
    let mut text = String::from("x,y\n");
    let mut state = 7u64;
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    for n in 0..400 {
        let centre = [[0.0, 0.0], [9.0, 1.0], [1.0, 10.0], [10.0, 9.0]][n % 4];
        text += &format!("{},{}\n", centre[0] + normal(), centre[1] + 0.7 * normal());
    }
    place.write("points.csv", text);
}

fn sizes(value: &Value, key: &str) -> Vec<u64> {
    let rows = &value["rows"];
    let at = |at: &Value| rows[at.as_u64().unwrap() as usize]["size"].as_u64().unwrap();
    match &value[key] {
        Value::Array(places) => places.iter().map(at).collect(),
        place => vec![at(place)],
    }
}

#[test]
fn it_finds_the_number_of_clusters_and_leaves_ordinary_runs() {
    let place = Place::new();
    planted(&place);
    let swept = place.json("sweep gmm points.csv -k 2..7 --json -o s");
    assert_eq!((sizes(&swept, "recommended"), &swept["complete"]), (vec![4], &true.into()));
    assert_eq!(swept["runs"], 36);
    for row in swept["rows"].as_array().unwrap() {
        assert_eq!(row["bounds"].as_array().unwrap().len(), 3);
        assert_eq!(row["heldouts"].as_array().unwrap().len(), 5);
    }
    // Each run is the one that the same settings make alone: fold 2 of five, with the shared prior.
    let shown = place.ok("show s/k4-fold2");
    assert!(shown.contains("gmm with 4 components"), "{shown}");
    place.ok("eval s/k4 points.csv");
    let config = |run: &str| place.read_json(&format!("s/{run}/config.json"));
    assert_eq!(config("k4-fold2")["fit"]["holdout"], "2/5");
    // The same prior for every size and every fold.
    for run in ["k2", "k7", "k3-fold5"] {
        for name in ["mean", "scatter", "mean_precision", "degrees_of_freedom"] {
            let (own, other) = (&config(run)["params"][name], &config("k4")["params"][name]);
            assert!(!own.is_null() && own == other, "{run}: {name}: {own} {other}");
        }
    }
    // The table, in words and in files.
    let text = place.ok("show s");
    assert!(text.contains("take K = 4"), "{text}");
    let csv = String::from_utf8(place.read("s/sweep.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7);
    assert!(place.read("s/sweep.png").starts_with(b"\x89PNG"));
    // The line of one shape has no name, so the legend is of the recommended size alone.
    let svg = String::from_utf8(place.read("s/sweep.svg")).unwrap();
    assert_eq!((svg.matches(" rx=\"3\"").count(), svg.matches(">recommended<").count()), (1, 1));
    assert!(place.ok("show s/k4").contains("4 in use"));
    // Nothing is left to do.
    let again = place.json("resume s --json");
    assert_eq!(again["rows"], swept["rows"]);
}

#[test]
fn held_out_parts_have_no_item_in_common_and_are_those_of_a_fit() {
    let place = Place::new();
    planted(&place);
    place.ok("sweep gmm points.csv -k 3 --folds 4 --n-init 1 --seed 6 -o s");
    let mut config = place.read_json("s/k3-fold3/config.json");
    let model = config["params"].as_object_mut().unwrap();
    // The weights of the model are its name's.
    model.remove("weights");
    let table: toml::Table = serde_json::from_value(serde_json::json!({ "model": model })).unwrap();
    place.write("same.toml", toml::to_string(&table).unwrap());
    place.ok("fit gmm points.csv --config same.toml --holdout 3/4 --seed 6 -o alone");
    assert_eq!(place.lambda("alone"), place.lambda("s/k3-fold3"));
    let heldout = |run: &str| place.read_json(&format!("{run}/result.json"))["heldout"].clone();
    assert_eq!(heldout("alone"), heldout("s/k3-fold3"));
    assert_ne!(heldout("s/k3-fold2"), heldout("s/k3-fold3"));
}

#[test]
fn shapes_are_compared_and_the_simplest_of_equals_is_taken() {
    let place = Place::new();
    planted(&place);
    let swept =
        place.json("sweep gmm points.csv -k 2,4 --covariance full,tied,spherical --json -o s");
    let rows = swept["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    let row = &rows[swept["recommended"].as_u64().unwrap() as usize];
    assert_eq!((&row["shape"], &row["size"]), (&"tied".into(), &4.into()), "{swept}");
    assert!(place.path("s/tied-k4-fold1/config.json").exists());
    let text = place.ok("show s");
    assert!(text.contains("take tied K = 4"), "{text}");
}

#[test]
fn without_folds_the_bounds_are_compared() {
    let place = Place::new();
    planted(&place);
    let swept = place.json("sweep gmm points.csv -k 3,4,6 --folds 0 --json -o s");
    assert_eq!((&swept["by"], &swept["runs"]), (&"bound".into(), &3.into()));
    assert_eq!(sizes(&swept, "recommended"), [4]);
    let text = place.ok("sweep dpgmm points.csv -k 3,12 --folds 0 --n-init 1 -o d");
    assert!(text.contains("know no spread"), "{text}");
    assert!(text.contains("in use"), "{text}");
}

#[test]
fn topics_and_factors_are_swept_too() {
    let place = Place::new();
    place.docs("a", 150);
    place.ratings("ratings.dat", 60);
    let words = "--vocab vocab.a.txt";
    let topics = place.json(&format!(
        "sweep lda docword.a.txt {words} -k 1,3,6 --folds 2 --n-init 2 --steps 30 --json -o t"
    ));
    assert_eq!(topics["rows"].as_array().unwrap().len(), 3);
    // There are three themes: one topic is not enough.
    assert!(sizes(&topics, "alike").iter().all(|&size| size > 1), "{topics}");
    let factors =
        place.json("sweep pmf ratings.dat -k 1,4 --folds 3 --n-init 1 --steps 20 --json -o f");
    let rmse = |row: &Value| row["measures"]["rmse"].as_f64().unwrap();
    assert!(rmse(&factors["rows"][0]) > 0.0, "{factors}");
    let text = place.ok("show f");
    assert!(text.contains("RMSE") && text.contains("take d = "), "{text}");
    // Both letters work.
    place.ok("sweep pmf ratings.dat -d 1,2 --folds 0 --n-init 1 --steps 5 -o g");
}

#[test]
fn a_sweep_on_any_number_of_threads_has_the_same_bits() {
    let place = Place::new();
    planted(&place);
    for threads in [1, 3] {
        place.ok(&format!(
            "sweep gmm points.csv -k 3,5 --folds 2 --threads {threads} -o t{threads}"
        ));
    }
    for run in ["k3", "k5", "k3-fold1", "k5-fold2"] {
        assert_eq!(place.lambda(&format!("t1/{run}")), place.lambda(&format!("t3/{run}")), "{run}");
    }
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_is_written() {
    let place = Place::new();
    planted(&place);
    let k = "sweep gmm points.csv -k";
    for (list, said) in [
        ("0", "a size must be 1 or more"),
        ("2,2", "2 is there twice"),
        ("9..2", "has no size in it"),
        ("2..99999", "has more than 1000 sizes"),
        ("two", "'two' is no size"),
        ("2,,4", "'' is no size"),
        ("1.5", "'1.5' is no size"),
    ] {
        place.misused(&format!("{k} {list} -o s"), &[said]);
    }
    place.misused("sweep gmm points.csv -o s", &["--components <LIST>"]);
    place.misused("sweep lda points.csv -k 2 --covariance full", &["unexpected argument"]);
    place.fails(&format!("{k} 2,500 -o s"), &["-k 500", "there are only 400 rows"]);
    place.fails(&format!("{k} 2,350 -o s"), &["-k 350", "320 of the 400", "try fewer"]);
    place.fails(&format!("{k} 2 --covariance round -o s"), &["--covariance round", "full, tied"]);
    place.fails(&format!("{k} 2 --folds 1 -o s"), &["folds", "0, or from 2 to"]);
    place.fails(&format!("{k} 2 --folds 401 -o s"), &["folds", "400"]);
    place.fails(&format!("{k} 2 --holdout 0.1 -o s"), &["--holdout 0.1", "folds"]);
    place.fails(&format!("{k} 2 --batch 0 -o s"), &["--batch 0"]);
    place.fails("sweep gmm missing.csv -k 2 -o s", &["missing.csv"]);

    place.ok(&format!("{k} 2 --folds 0 -o s"));
    place.fails(&format!("{k} 2 --folds 0 -o s"), &["already holds a sweep", "lehr resume s"]);
    place.ok("fit gmm points.csv -k 2 -o run");
    place.fails(&format!("{k} 2 -o run"), &["already holds a run"]);
    fs::create_dir(place.path("full")).unwrap();
    place.write("full/notes.txt", "mine");
    place.fails(&format!("{k} 2 -o full"), &["full: is not empty"]);
    place.fails(&format!("{k} 2 -o points.csv"), &["is a file"]);
    // What belongs to a run is not asked of a sweep.
    place.fails("eval s points.csv", &["s: is a sweep", "lehr show s"]);
    place.fails("resume s --steps 5", &["is a sweep", "--steps"]);
    // A sweep of other data does not go on, if there is anything left to do.
    place.write("points.csv", "x,y\n1,2\n2,3\n3,5\n");
    assert!(place.ok("resume s").contains("take K = 2"));
    fs::remove_file(place.path("s/k2/result.json")).unwrap();
    place.fails("resume s", &["is not the data of this sweep any more"]);
    for (text, said) in [("{", "sweep.json, line 1"), ("{\"format\": 9}", "version 9")] {
        place.write("s/sweep.json", text);
        place.fails("show s", &[said]);
    }
}

#[cfg(all(unix, any(debug_assertions, feature = "faults")))]
mod stopped {
    use super::*;
    use common::running::{Running, same_run};

    const SWEEP: &str = "sweep gmm points.csv -k 3,5 --folds 2 --start points --steps 60 --tol 0 --n-init 2 --threads 2";
    const RUNS: [&str; 6] = ["k3", "k5", "k3-fold1", "k3-fold2", "k5-fold1", "k5-fold2"];

    #[test]
    fn an_interrupted_sweep_goes_on() {
        let place = Place::new();
        planted(&place);
        place.ok(&format!("{SWEEP} -o reference"));
        let mut running = Running::slowly(&place, &format!("{SWEEP} -o s"));
        assert!(running.reaches(&place, "s/k5", 8), "too fast");
        running.signal("INT");
        let (code, out) = running.end();
        assert_eq!(code, Some(1), "{out}");
        assert!(out.contains("0 of 6 runs have ended; continue with: lehr resume s\n"), "{out}");
        assert!(place.ok("show s").contains("lehr resume s"));
        assert!(place.ok("resume s").contains("take K = "));
        for run in RUNS {
            same_run(&place, &format!("s/{run}"), &format!("reference/{run}"));
        }
    }

    #[test]
    fn a_killed_sweep_goes_on() {
        let place = Place::new();
        planted(&place);
        place.ok(&format!("{SWEEP} -o reference"));
        for (run, lines) in [("k5", 1), ("k5-fold2", 20), ("k3", 30)] {
            let _ = fs::remove_dir_all(place.path("s"));
            let mut running = Running::slowly(&place, &format!("{SWEEP} -o s"));
            assert!(running.reaches(&place, &format!("s/{run}"), lines), "too fast");
            drop(running); // SIGKILL
            place.ok("resume s");
            for run in RUNS {
                same_run(&place, &format!("s/{run}"), &format!("reference/{run}"));
            }
        }
    }
}
