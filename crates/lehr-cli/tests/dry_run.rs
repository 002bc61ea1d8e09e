//! What a fit says before it starts: what it has read, what it would take, which settings it has.

mod common;

use common::Place;
use serde_json::json;

fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 300);
    place.docs("a", 60);
    place.ratings("ratings.dat", 30);
    place
}

#[test]
fn every_fit_says_what_it_has_read() {
    let place = place();
    let read = |line: &str| place.run(line).read;
    assert_eq!(
        read("fit gmm points.csv -k 2 --steps 2 -o g"),
        "read points.csv: 300 rows, 3 columns\n"
    );
    assert_eq!(read("fit gmm points.csv -k 2 --steps 2 --quiet -o q"), "");
    let topics = read("fit lda docword.a.txt -k 2 --steps 2 -o l");
    assert!(topics.starts_with("read docword.a.txt: 60 documents, 30 words, "), "{topics}");
    assert!(topics.ends_with(" tokens\n"), "{topics}");
    let ratings = read("fit pmf ratings.dat -d 2 --steps 2 -o p");
    assert!(ratings.ends_with(" ratings, 30 users, 40 items\n"), "{ratings}");
    place.write("gaps.csv", "a,b\n1,2\n,3\n4,5\n7,1\n");
    let gaps = "fit gmm gaps.csv -k 1 --steps 2 --missing drop-rows -o d";
    assert_eq!(read(gaps), "read gaps.csv: 3 rows, 2 columns, 1 row left out\n");
    place.write("empty.txt", "apple pear\n\npear apple\n");
    let line = "fit lda empty.txt -k 1 --min-docs 1 --max-docs 1 --steps 2 --json -o e";
    let ended = place.run(line);
    assert_eq!(ended.read, "read empty.txt: 3 documents, 2 words, 4 tokens, 1 empty document\n");
    let said: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        said["read"],
        json!({"documents": 3, "words": 2, "tokens": 4, "empty_documents": 1})
    );
    assert_eq!(read("partial g points.csv -o more"), "read points.csv: 300 rows, 3 columns\n");
    let swept = read("sweep gmm points.csv -k 1,2 --folds 0 --n-init 1 --steps 2 -o s");
    assert_eq!(swept, "read points.csv: 300 rows, 3 columns\n");
}

#[test]
fn a_dry_run_says_what_a_fit_would_take_and_leaves_nothing() {
    let place = place();
    let before = place.snapshot("");
    let text = place.ok("fit gmm points.csv -k 3 --n-init 2 -o runs/a --dry-run");
    for part in [
        "runs/a: would be made; nothing was written\n",
        "data      points.csv: 300 rows, 3 columns\n",
        "steps     at most 500 sweeps of each of 2 starts\n",
        " a sweep, so at most ",
        "memory    ",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    for (line, steps) in [
        ("fit gmm points.csv -k 3 --batch 50 --steps 70", 70),
        ("fit lda docword.a.txt -k 3 --batch 20", 1000),
        ("fit pmf ratings.dat -d 3", 500),
    ] {
        let said = place.json(&format!("{line} --dry-run --json"));
        assert_eq!((&said["dry_run"], &said["steps"]), (&json!(true), &json!(steps)), "{line}");
        assert!(said["seconds"].as_f64().unwrap() > 0.0, "{said}");
        let a_step = said["seconds"].as_f64().unwrap() / f64::from(steps);
        assert!((said["seconds_per_step"].as_f64().unwrap() / a_step - 1.0).abs() < 1e-9, "{said}");
        if cfg!(target_os = "linux") {
            assert!(said["memory"].as_u64().unwrap() > 1_000_000, "{said}");
        }
    }
    assert_eq!(place.ok("fit gmm points.csv -k 3 --dry-run --quiet"), "");
    // All that a fit would refuse.
    place
        .fails("fit gmm points.csv -k 3 --batch 500 --dry-run", &["--batch 500", "only 300 items"]);
    place.fails("fit gmm none.csv -k 3 --dry-run", &["none.csv"]);
    place.fails("fit gmm points.csv --dry-run", &["Give -k K"]);
    assert!(place.snapshot("") == before);
    place.ok("fit gmm points.csv -k 3 --steps 2 -o there");
    place.fails("fit gmm points.csv -k 3 -o there --dry-run", &["already holds a run"]);
    place.misused("fit gmm points.csv -k 3 --dry-run --print-config", &["cannot be used with"]);
}

#[test]
fn printed_settings_make_the_same_fit() {
    let place = place();
    for (n, (model, line)) in [
        ("gmm", "points.csv -k 3 --seed 9"),
        ("gmm", "points.csv -k 3 --batch 50 --effective 10 --steps 60 --columns a,c --covariance diagonal"),
        ("dpgmm", "points.csv -k 8 --effective geometric:10:50 --n-init 2 --holdout 0.1 --search 2"),
        ("lda", "docword.a.txt -k 3 --seed 4"),
        ("lda", "docword.a.txt -k 3 --batch 20 --steps 40 --warm --learn-eta no --holdout 10"),
        ("pmf", "ratings.dat -d 3"),
        ("pmf", "ratings.dat -d 3 --preset paper --steps 20 --no-biases"),
    ]
    .into_iter()
    .enumerate()
    {
        let before = place.snapshot("");
        let printed = place.ok(&format!("fit {model} {line} --print-config"));
        assert!(place.snapshot("") == before, "{line}");
        let file = format!("{n}.toml");
        place.write(&file, &printed);
        for section in ["\n[model]\n", "\n[fit]\n", "\n[data]\n", "\nsteps = ", "\nseed = "] {
            assert!(printed.contains(section), "no {section:?} in\n{printed}");
        }
        let data = line.split(' ').next().unwrap();
        place.ok(&format!("fit {model} {line} -o own{n}"));
        place.ok(&format!("fit {model} {data} --config {file} -o again{n}"));
        assert_eq!(place.lambda(&format!("own{n}")), place.lambda(&format!("again{n}")), "{printed}");
        let config = |run: &str| place.read_json(&format!("{run}{n}/config.json"));
        let (own, again) = (config("own"), config("again"));
        assert_eq!(own["params"], again["params"], "{line}");
        assert_eq!(own["data"], again["data"], "{line}");
        // What is filled in is what held.
        let twice = place.ok(&format!("fit {model} {data} --config {file} --print-config"));
        assert_eq!(twice, printed, "{line}");
    }
}
