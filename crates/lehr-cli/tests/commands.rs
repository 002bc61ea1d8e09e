//! Every documented command, from files to files.

mod common;

use std::process::Stdio;

use serde_json::Value;

use common::{Place, checkpoint, mixture, tensors};
use lehr::write::{self, Column};

fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 300);
    place
}

fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some_and(|v| !v.is_null()), "no {field} in {value}");
    }
}

#[test]
fn batch_vi_leaves_a_full_run_directory() {
    let place = place();
    let text = place.ok("fit gmm points.csv -k 3 --seed 7 -o runs/a");
    assert!(text.starts_with("runs/a: bound -"), "{text}");
    assert!(text.contains("the bound stopped changing"), "{text}");
    assert!(text.ends_with("look at it with: lehr show runs/a\n"), "{text}");

    let config = place.read_json("runs/a/config.json");
    has(&config, &["format", "lehr", "model", "params", "fit", "data", "frozen", "cpu", "created"]);
    assert_eq!(config["model"], "gmm");
    assert_eq!(config["fit"]["seed"], 7);
    assert_eq!(config["lehr"], env!("CARGO_PKG_VERSION"));
    assert_eq!(config["params"]["components"], 3);
    let settings = "steps tol time batch sampling effective law corrected noise_end step_size guard \
                    seed threads n_init checkpoint_every eval_every holdout";
    for setting in settings.split_whitespace() {
        assert!(config["fit"].get(setting).is_some(), "no {setting}");
    }
    has(&config["cpu"], &["arch", "kernels", "features"]);
    has(&config["data"], &["path", "options", "fingerprint", "items", "columns"]);
    assert_eq!(config["data"]["columns"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(config["data"]["path"], place.path("points.csv").to_str().unwrap());
    assert_eq!(config["data"]["fingerprint"].as_str().unwrap().len(), 32);

    let trace = String::from_utf8(place.read("runs/a/trace.jsonl")).unwrap();
    for (i, line) in trace.lines().enumerate() {
        let seen: Value = serde_json::from_str(line).unwrap();
        let fields = "restart step seconds items rho effective batch temperature bound guard_hits";
        has(&seen, &fields.split(' ').collect::<Vec<_>>());
        assert_eq!(seen["step"], i);
        assert_eq!(seen["items"], 300 * i);
        assert_eq!(seen["temperature"], 0.0, "batch VI has no noise");
    }

    let arrays = tensors(&place.path("runs/a"));
    let lambda = &arrays["lambda"];
    // a, beta, beta m (3), nu, A (6): twelve natural parameters a component.
    assert_eq!((lambda.dtype.as_str(), lambda.shape.as_slice()), ("F64", &[3, 12][..]));
    assert_eq!(lambda.bytes.len(), 3 * 12 * 8);
    assert_eq!(arrays["means"].shape, [3, 3]);
    assert_eq!(arrays["covariances"].shape, [3, 3, 3]);
    assert_eq!(arrays["weights"].shape, [3]);
    let number = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
    let sum: f64 = arrays["weights"].bytes.chunks(8).map(number).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    assert_eq!(checkpoint(&place.path("runs/a")).0["__metadata__"]["model"], "gmm");

    let result = place.read_json("runs/a/result.json");
    assert_eq!(result["complete"], true);
    assert_eq!(result["stop"], "converged");
}

#[test]
fn the_trace_tells_the_noise_of_svi_plus() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 --batch 50 --effective 10 --steps 40 --tol 0 -o a");
    let trace = place.trace("a");
    // Once an epoch of six batches, and at the end.
    let steps: Vec<u64> = trace.iter().map(|o| o["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [0, 6, 12, 18, 24, 30, 36, 40]);
    let number = |o: &Value, field: &str| o[field].as_f64().unwrap();
    for seen in &trace {
        assert_eq!(seen["batch"], 50);
        let m = if number(seen, "step") > 30.0 { 50.0 } else { 10.0 }; // the noise ends at 3/4
        assert_eq!(number(seen, "effective"), m);
        let temperature = number(seen, "rho") * 300.0 / (2.0 * m);
        assert!((number(seen, "temperature") / temperature - 1.0).abs() < 1e-12);
    }
    assert_eq!(trace[7]["closing"], true);
}

#[test]
fn svi_is_svi_plus_without_noise() {
    let place = place();
    let common = "fit gmm points.csv -k 3 --batch 50 --steps 30 --tol 0";
    place.ok(&format!("{common} -o plain"));
    place.ok(&format!("{common} --effective 50 -o same"));
    place.ok(&format!("{common} --effective 10 -o noisy"));
    assert_eq!(place.lambda("plain"), place.lambda("same"));
    assert_ne!(place.lambda("plain"), place.lambda("noisy"));
}

#[test]
fn every_format_is_read_and_gives_the_same_bits() {
    let place = place();
    let rows = mixture(300);
    let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let values = [column(0), column(1), column(2)];
    let columns: Vec<Column<'_>> =
        ["a", "b", "c"].iter().zip(&values).map(|(name, v)| Column::f64(*name, v)).collect();
    for file in ["p.tsv", "p.csv.gz", "p.tsv.gz", "p.npy", "p.parquet"] {
        write::table(&place.path(file), &columns).unwrap();
    }
    let fit = "-k 6 --batch 50 --effective 10 --steps 30 --tol 0 -o runs";
    let first = place.json(&format!("fit dpgmm points.csv {fit}/csv --json"));
    assert_eq!(first["model"], "dpgmm");
    for (file, run) in
        [("p.tsv", "t"), ("p.csv.gz", "cz"), ("p.tsv.gz", "tz"), ("p.npy", "n"), ("p.parquet", "p")]
    {
        place.ok(&format!("fit dpgmm {file} {fit}/{run}"));
        assert_eq!(place.lambda("runs/csv"), place.lambda(&format!("runs/{run}")), "{file}");
        let fingerprint = |run: &str| {
            place.read_json(&format!("runs/{run}/config.json"))["data"]["fingerprint"].clone()
        };
        assert_eq!(fingerprint("csv"), fingerprint(run));
        place.ok(&format!("eval runs/csv {file}"));
    }
    // Component sizes of the process come sorted.
    let shown = place.json("show runs/csv --json");
    let sizes: Vec<f64> = shown["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["size"].as_f64().unwrap())
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
}

#[test]
fn eval_scores_and_says_how() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 -o a");
    place.ok("fit gmm points.csv -k 3 --factorisation independent -o b");
    let scores = place.json("eval a points.csv --json");
    has(&scores, &["items", "log_predictive", "log_predictive_exact", "bound", "bound_per_item"]);
    assert_eq!(scores["items"], 300);
    assert_eq!(scores["log_predictive_exact"], true);
    // On the training data the bound is the fit's.
    let fitted = place.read_json("a/result.json")["bound"].as_f64().unwrap();
    assert!((scores["bound"].as_f64().unwrap() / fitted - 1.0).abs() < 1e-10);
    assert!(place.ok("eval a points.csv").contains("exact: a mixture of Student t"));
    assert!(place.ok("eval b points.csv").contains("approximate"));
    assert_eq!(place.json("eval b points.csv --json")["log_predictive_exact"], false);
}

#[test]
fn transform_writes_every_format() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 -o a");
    let said = place.ok("transform a points.csv -o out.csv");
    assert_eq!(said, "out.csv: 300 items labelled with 3 components\n");
    let text = String::from_utf8(place.read("out.csv")).unwrap();
    assert_eq!(
        text.lines().next(),
        Some("label,responsibility_0,responsibility_1,responsibility_2")
    );
    assert_eq!(text.lines().count(), 301);
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!((cells[1..].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let largest = cells[1..].iter().copied().fold(0.0, f64::max);
        assert_eq!(cells[1 + cells[0] as usize], largest);
    }
    let expected =
        lehr::read::points(&place.path("out.csv"), &Default::default()).unwrap().fingerprint();
    for file in ["out.tsv", "out.csv.gz", "out.tsv.gz", "out.npy", "out.parquet"] {
        place.ok(&format!("transform a points.csv -o {file}"));
        let read = lehr::read::points(&place.path(file), &Default::default()).unwrap();
        assert_eq!(read.fingerprint(), expected, "{file}");
    }
}

#[test]
fn every_shape_has_a_responsibility_for_each_component() {
    let place = place();
    for shape in ["full", "tied", "diagonal", "spherical"] {
        place.ok(&format!("fit gmm points.csv -k 3 --covariance {shape} -o {shape}"));
        let said = place.ok(&format!("transform {shape} points.csv -o {shape}.csv"));
        assert_eq!(said, format!("{shape}.csv: 300 items labelled with 3 components\n"));
        let text = String::from_utf8(place.read(&format!("{shape}.csv"))).unwrap();
        assert_eq!(
            (text.lines().count(), text.split('\n').next().unwrap().split(',').count()),
            (301, 4)
        );
    }
}

#[test]
fn no_steps_keep_the_start() {
    let place = place();
    let result = place.json("fit gmm points.csv -k 3 --steps 0 -o a --json");
    assert_eq!((result["steps"].as_u64(), result["stop"].as_str()), (Some(0), Some("steps")));
    assert!(result["bound"].as_f64().unwrap().is_finite());
    assert!(place.ok("show a").contains("after 0 steps"));
    assert!(place.ok("transform a points.csv -o out.csv").contains("300 items"));
    // It goes on as if it had never stopped there.
    place.ok("resume a --steps 5 -q");
    place.ok("fit gmm points.csv -k 3 --steps 5 -o b -q");
    assert_eq!(place.json("show a --json")["bound"], place.json("show b --json")["bound"]);
}

#[test]
fn show_tells_a_person_what_they_want_to_know() {
    let place = place();
    place.ok(
        "fit gmm points.csv -k 3 --batch 50 --effective 10 --steps 60 --n-init 2 --holdout 30 \
         --priors volume --start kmeans-plus-plus -o a",
    );
    let text = place.ok("show a");
    for part in [
        "a: gmm with 3 components, full covariances",
        "points.csv (300 items, 3 columns)",
        "method    SVI+, |S| = 50, M = 10, gaussian noise, seed 0",
        "ended     all steps were made, after 60 steps",
        "bound     -",
        "held out  -",
        "starts    2 of 2 ended; bounds -",
        "clusters  ",
        "component",
        "bound against steps",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains('\x1b'), "colours without a terminal");
    assert!(text.lines().all(|line| line.trim_end() == line || line.contains('│')), "{text}");
    let top = place.ok("show a --top 1");
    assert!(top.contains("and 2 smaller ones with"), "{top}");
    let json = place.json("show a --json");
    has(&json, &["model", "complete", "step", "bound", "effective_clusters", "components"]);
    has(&json, &["columns", "components_in_use", "components_empty"]);
}

#[test]
fn only_components_in_use_are_shown_by_the_numbers_of_transform() {
    let place = place();
    // Three clusters, and a truncation that leaves most components empty.
    place.ok("fit dpgmm points.csv -k 40 --concentration 0.01 -o a");
    let json = place.json("show a --json");
    let listed = json["components"].as_array().unwrap();
    let (n, empty) = (listed.len(), json["components_empty"].as_u64().unwrap() as usize);
    assert_eq!((json["components_in_use"].as_u64(), n + empty), (Some(n as u64), 40));
    assert!(n > 0 && empty > 0, "{n} in use");
    let d = json["columns"].as_array().unwrap().len();
    for component in listed {
        assert!(component["size"].as_f64().unwrap() >= 1.0, "{component}");
        assert_eq!(component["mean"].as_array().unwrap().len(), d);
        let rows = component["covariance"].as_array().unwrap();
        assert_eq!((rows.len(), rows[0].as_array().unwrap().len()), (d, d));
    }
    place.ok("transform a points.csv -o out.csv");
    let text = String::from_utf8(place.read("out.csv")).unwrap();
    let numbers: Vec<u64> = listed.iter().map(|c| c["component"].as_u64().unwrap()).collect();
    for line in text.lines().skip(1) {
        let label = line.split(',').next().unwrap().parse().unwrap();
        assert!(numbers.contains(&label), "{label} is not among {numbers:?}");
    }
    let shown = place.ok("show a");
    assert!(shown.contains(&format!("clusters  {n} in use (an item or more each), ")), "{shown}");
    let told = if empty == 1 {
        "1 component with less than one item is not listed".to_string()
    } else {
        format!("{empty} components with less than one item are not listed")
    };
    assert!(shown.contains(&told), "{shown}");
}

#[test]
fn wide_tables_are_cut_to_a_line() {
    let place = Place::new();
    let names: Vec<String> = (0..30).map(|j| format!("a_rather_long_name_{j}")).collect();
    let mut text = names.join(",") + "\n";
    for row in mixture(60) {
        let cells: Vec<String> = (0..30)
            .map(|j| format!("{:e}", (row[j % 3] + j as f64) * 10f64.powi(j as i32 - 15)))
            .collect();
        text += &(cells.join(",") + "\n");
    }
    place.write("wide.csv", text);
    place.ok("fit gmm wide.csv -k 2 --covariance diagonal -o a");
    let shown = place.ok("show a");
    assert!(
        shown.lines().filter(|l| !l.starts_with("data")).all(|l| l.chars().count() <= 100),
        "{shown}"
    );
    assert!(shown.contains("more columns; --json has every number"), "{shown}");
}

#[test]
fn resume_makes_more_steps() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 --steps 10 --tol 0 -o a");
    let result = place.json("resume a --steps 5 --json");
    assert_eq!((&result["steps"], &result["complete"]), (&15.into(), &true.into()));
    assert!(place.ok("resume a --steps 5").contains("after 20 steps"));
    assert_eq!(place.ok("resume a --steps 5 --quiet"), "");
    assert_eq!(place.trace("a").len(), 26);
}

#[test]
fn a_converged_run_that_is_given_more_steps_makes_them() {
    let place = place();
    let first = place.json("fit gmm points.csv -k 3 --json -o a");
    assert_eq!(first["stop"], "converged");
    let more = place.json("resume a --steps 7 --json");
    assert_eq!(more["steps"].as_u64(), first["steps"].as_u64().map(|n| n + 7));
    // Unless it is asked to stop as before.
    let again = place.json("resume a --steps 7 --tol 1e-6 --json");
    assert_eq!((&again["steps"], &again["stop"]), (&more["steps"], &"converged".into()));
}

#[test]
fn the_demo_needs_no_data() {
    let place = Place::new();
    let text = place.ok("demo --starts 1 -o figures");
    for part in [
        "batch VI",
        "SVI+",
        "search",
        "right number",
        "better / worse",
        "What to try next",
        "figures/demo",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(place.read("figures/demo.png").starts_with(b"\x89PNG"));
    assert!(String::from_utf8(place.read("figures/demo.svg")).unwrap().starts_with("<svg"));
    let rows = place.json("demo --starts 1 --json");
    assert_eq!(rows.as_array().unwrap().len(), 4);
    has(
        &rows[0],
        &[
            "method",
            "right_number",
            "mean_passes",
            "mean_bound",
            "best_bound",
            "worst_bound",
            "starts",
            "seconds",
        ],
    );
}

#[test]
fn json_is_one_line_with_the_promised_fields_and_quiet_is_silent() {
    let place = place();
    let result = place
        .json("fit gmm points.csv -k 3 --n-init 3 --holdout 0.1 --steps 9 --tol 0 --json -o a");
    let fields = "run model complete restart bound steps stop heldout guard_hits seconds \
                  seconds_by_part restarts bound_mean bound_sd";
    has(&result, &fields.split_whitespace().collect::<Vec<_>>());
    assert_eq!(result["run"], "a");
    // What only this session knows comes on top of what the run keeps.
    let mut kept = result.clone();
    let before = kept.as_object_mut().unwrap().remove("seconds_before_first_step");
    assert!(before.unwrap().as_f64().unwrap() > 0.0);
    let read = kept.as_object_mut().unwrap().remove("read");
    assert_eq!(read, Some(serde_json::json!({"rows": 300, "columns": 3})));
    assert_eq!(kept, place.read_json("a/result.json"));
    assert_eq!(place.ok("fit gmm points.csv -k 3 --quiet -o b"), "");
    assert!(place.json("fit gmm points.csv -k 3 --quiet --json -o c")["complete"] == true);
}

#[test]
fn n_init_keeps_the_best_and_reports_the_spread() {
    let place = place();
    let result =
        place.json("fit gmm points.csv -k 5 --start points --n-init 4 --steps 6 --json -o a");
    let restarts = result["restarts"].as_array().unwrap();
    let bounds: Vec<f64> = restarts.iter().map(|r| r["bound"].as_f64().unwrap()).collect();
    let order: Vec<u64> = restarts.iter().map(|r| r["restart"].as_u64().unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(result["bound"].as_f64(), bounds.iter().copied().reduce(f64::max));
    let mean = bounds.iter().sum::<f64>() / 4.0;
    let sd = (bounds.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    assert!((result["bound_mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12);
    assert!((result["bound_sd"].as_f64().unwrap() / sd - 1.0).abs() < 1e-9 && sd > 0.0);
    // The checkpoint holds that one.
    let scored = place.json("eval a points.csv --json")["bound"].as_f64().unwrap();
    assert!((scored / result["bound"].as_f64().unwrap() - 1.0).abs() < 1e-10);
    let text = place.ok("fit gmm points.csv -k 5 --n-init 2 -o b");
    assert!(text.contains("best of 2 starts") && text.contains("spread (sd)"), "{text}");
}

#[test]
fn more_steps_for_the_best_of_several_starts_keep_the_trace_in_order() {
    let place = place();
    // Some seed whose best start is not the last.
    let seed = (0..20)
        .find(|seed| {
            let fit = format!(
                "fit gmm points.csv -k 5 --start points --n-init 3 --steps 6 --tol 0 \
                               --seed {seed} --json -o s{seed}"
            );
            place.json(&fit)["restart"].as_u64().unwrap() < 2
        })
        .unwrap();
    let before = place.read_json(&format!("s{seed}/result.json"));
    let after = place.json(&format!("resume s{seed} --steps 4 --json"));
    assert_eq!(after["restart"], before["restart"]);
    assert_eq!(after["steps"], 10);
    let order: Vec<u64> = after["restarts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["restart"].as_u64().unwrap())
        .collect();
    assert_eq!(order, [0, 1, 2]);
    let trace = place.trace(&format!("s{seed}"));
    let places: Vec<(u64, u64)> = trace
        .iter()
        .map(|o| (o["restart"].as_u64().unwrap(), o["step"].as_u64().unwrap()))
        .collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    assert_eq!(places.len(), 7 + 7 + 11);
}

#[test]
fn a_configuration_file_works_with_flags_on_top() {
    let place = place();
    place.write(
        "run.toml",
        "[fit]\nsteps = 12\ntol = 0.0\nseed = 3\nbatch = 50\neffective = 10\nstep_size = 0.5\n\
         [model]\ncomponents = 4\ncovariance = \"diagonal\"\nmean_precision = 0.5\n\
         [data]\ndrop = [\"c\"]\n",
    );
    place.ok("fit gmm points.csv --config run.toml -o a");
    let config = place.read_json("a/config.json");
    assert_eq!(config["fit"]["batch"], 50);
    assert_eq!(config["fit"]["effective"], "10");
    assert_eq!(config["params"]["components"], 4);
    assert_eq!(config["params"]["covariance"], "diagonal");
    assert_eq!(config["data"]["columns"], serde_json::json!(["a", "b"]));
    assert_eq!(place.read_json("a/result.json")["steps"], 12);

    place.ok("fit gmm points.csv --config run.toml -k 2 --steps 5 --seed 4 --drop a -o b");
    let config = place.read_json("b/config.json");
    assert_eq!((&config["params"]["components"], &config["fit"]["seed"]), (&2.into(), &4.into()));
    assert_eq!(config["fit"]["batch"], 50);
    assert_eq!(config["data"]["columns"], serde_json::json!(["b", "c"]));
    assert_eq!(place.read_json("b/result.json")["steps"], 5);
}

#[test]
fn without_o_a_free_directory_is_made() {
    let place = place();
    for n in 1..=2 {
        let text = place.ok("fit gmm points.csv -k 2");
        assert!(text.starts_with(&format!("runs/gmm-{n}: ")), "{text}");
    }
    assert_eq!(place.json("fit dpgmm points.csv -k 2 --json")["run"], "runs/dpgmm-1");
}

#[test]
fn held_out_items_are_scored_and_not_fitted() {
    let place = place();
    let fit = "fit gmm points.csv -k 3 --tol 0 --steps 5";
    let result = place.json(&format!("{fit} --holdout 0.2 --json -o a"));
    let trace = place.trace("a");
    assert!(trace.iter().all(|o| o["batch"] == 240 && o["heldout"].is_f64()));
    assert_eq!(result["heldout"], trace[5]["heldout"]);
    place.ok(&format!("{fit} --holdout 60 -o b"));
    assert_eq!(place.lambda("a"), place.lambda("b"));
    place.ok(&format!("{fit} -o c"));
    assert!(place.trace("c").iter().all(|o| o.get("heldout").is_none() && o["batch"] == 300));
}

#[test]
fn a_time_limit_ends_the_run_and_can_be_continued() {
    let place = place();
    // Far more steps than the time allows, over all starts together.
    let fit = "fit gmm points.csv -k 3 --tol 0 --steps 100000000 --n-init 3 --eval-every 1000";
    let result = place.json(&format!("{fit} --time 0.2s --json -o a"));
    assert_eq!((&result["stop"], &result["complete"]), (&"time".into(), &false.into()));
    let steps = result["steps"].as_u64().unwrap();
    let again = place.json("resume a --time 0.1 --json");
    assert!(again["steps"].as_u64().unwrap() > steps);
    let shown = place.ok("show a");
    assert!(
        shown.contains("not done  start 1 of 3, ") && shown.contains("lehr resume a"),
        "{shown}"
    );
}

#[test]
fn a_time_limit_holds_for_all_starts_together() {
    let place = place();
    // Each start alone takes far less than the limit; all of them far more.
    let result = place
        .json("fit gmm points.csv -k 3 --tol 0 --steps 20 --n-init 5000 --time 0.3 --json -o a");
    assert_eq!(result["complete"], false);
    assert!(result["restarts"].as_array().unwrap().len() > 1);
    // The model is the best finished start, also in the checkpoint.
    assert_eq!(result["stop"], "steps");
    let scored = place.json("eval a points.csv --json")["bound"].as_f64().unwrap();
    assert!((scored / result["bound"].as_f64().unwrap() - 1.0).abs() < 1e-10);
}

#[test]
fn eval_every_sets_the_rhythm_of_the_trace() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 --tol 0 --steps 10 --eval-every 4 -o a");
    let steps: Vec<_> = place.trace("a").iter().map(|o| o["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [0, 4, 8, 10]);
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let place = Place::new();
    let rows = mixture(40);
    let line = |row: &[f64; 3]| format!("{},{},{}", row[0], row[1], row[2]);
    let weighted: Vec<String> = rows.iter().map(|r| format!("{},2", line(r))).collect();
    let doubled: Vec<String> = rows.iter().flat_map(|r| [line(r), line(r)]).collect();
    place.write("weighted.csv", format!("a,b,c,w\n{}\n", weighted.join("\n")));
    place.write("doubled.csv", format!("a,b,c\n{}\n", doubled.join("\n")));
    let bound = |file: &str, more: &str, run: &str| {
        let fit = format!("fit gmm {file} -k 1 --tol 0 --steps 3 --json -o {run} {more}");
        place.json(&fit)["bound"].as_f64().unwrap()
    };
    let (a, b) = (bound("weighted.csv", "--weight-column w", "a"), bound("doubled.csv", "", "b"));
    assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let place = Place::new();
    place.points("points.csv", 9000); // more than one shard
    for (i, method) in ["", "--batch 5000 --effective 1000"].iter().enumerate() {
        for threads in [1, 2, 7] {
            place.ok(&format!(
                "fit gmm points.csv -k 4 --tol 0 --steps 8 --threads {threads} -o m{i}-{threads} {method}"
            ));
        }
        for threads in [2, 7] {
            assert_eq!(place.lambda(&format!("m{i}-1")), place.lambda(&format!("m{i}-{threads}")));
            assert_eq!(place.trace(&format!("m{i}-1")), place.trace(&format!("m{i}-{threads}")));
        }
    }
}

#[test]
fn every_command_explains_itself() {
    let place = Place::new();
    let commands =
        "fit,fit gmm,fit dpgmm,fit lda,resume,partial,eval,transform,show,topics,convert,demo";
    for command in commands.split(',') {
        let text = place.ok(&format!("{command} --help"));
        assert!(text.contains("Usage: lehr"), "{text}");
    }
    let shared = "--steps --tol --time --batch --effective --seed --threads --n-init \
                  --checkpoint-every --eval-every --holdout --config --json --quiet -o, --columns \
                  --drop --weight-column -k,";
    for model in ["gmm", "dpgmm"] {
        let text = place.ok(&format!("fit {model} --help"));
        for flag in shared.split_whitespace() {
            assert!(text.contains(flag), "no {flag} in lehr fit {model} --help");
        }
    }
    let shared = "--vocab --format --one-based --transpose --field --stop-words --min-length";
    for command in ["fit lda", "partial", "eval", "transform", "convert"] {
        let text = place.ok(&format!("{command} --help"));
        for flag in shared.split_whitespace() {
            assert!(text.contains(flag), "no {flag} in lehr {command} --help");
        }
        assert!(text.contains("Examples:"), "{text}");
    }
    let text = place.ok("resume --help");
    assert!(["--steps", "--tol", "--time", "--threads"].iter().all(|flag| text.contains(flag)));
    assert!(
        place.ok("--help").contains("Exit codes: 0 done (a --time limit counts), 1 interrupted")
    );
    assert!(place.ok("--version").contains(env!("CARGO_PKG_VERSION")));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = place();
    place.ok("fit gmm points.csv -k 3 -o a");
    for line in ["show a", "show a --json", "eval a points.csv", "fit gmm points.csv -k 2 -o b"] {
        // A pipe whose reading end is closed before the program writes.
        let mut reader = std::process::Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = reader.stdin.take().unwrap();
        reader.wait().unwrap();
        let output = place.command(line).stdout(pipe).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "lehr {line}");
        assert_eq!(common::without_read(output.stderr).1, "", "lehr {line}");
    }
}
