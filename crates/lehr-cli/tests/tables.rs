//! Tables as people have them: gaps, labels, ids, columns in another order or without names.

mod common;

use common::{Place, mixture};
use lehr::write::{Column, table};

/// Rows of these columns as CSV: a name, a label, three numbers, a weight and one more.
fn people(place: &Place, name: &str, columns: &[&str], header: bool) {
    let mut text = if header { columns.join(",") + "\n" } else { String::new() };
    for (n, row) in mixture(60).iter().enumerate() {
        let cell = |column: &&str| match *column {
            "who" => format!("person {n}"),
            "label" => ["x", "y"][n % 2].to_string(),
            "w" => (1 + n % 2).to_string(),
            "extra" => "7".to_string(),
            other => row[usize::from(other.as_bytes()[0] - b'a')].to_string(),
        };
        text += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    place.write(name, text);
}

fn fitted() -> Place {
    let place = Place::new();
    people(&place, "all.csv", &["who", "a", "label", "b", "c", "w"], true);
    place.ok("fit gmm all.csv -k 2 --steps 20 --seed 3 --drop who,label --weight-column w -o run");
    place
}

/// The same numbers as an array.
fn array(place: &Place) {
    let values: Vec<f64> = mixture(60).into_iter().flatten().collect();
    table(&place.path("a.npy"), &[Column::matrix("x", &values, 3)]).unwrap();
}

#[test]
fn new_rows_need_the_models_columns_and_no_others() {
    let place = fitted();
    place.ok("transform run all.csv -o expected.csv");
    let weighted = place.ok("eval run all.csv");
    people(&place, "plain.csv", &["a", "b", "c"], true);
    people(&place, "turned.csv", &["c", "label", "a", "w", "b"], true);
    people(&place, "nameless.csv", &["a", "b", "c"], false);
    people(&place, "same.csv", &["who", "a", "label", "b", "c", "w"], false);
    array(&place);
    for (file, flags) in [
        ("plain.csv", ""),
        ("turned.csv", ""),
        ("nameless.csv", ""),
        ("a.npy", ""),
        ("same.csv", "--header no"),
        ("plain.csv", "--columns a,b,c"),
        ("turned.csv", "--drop label"),
    ] {
        place.ok(&format!("transform run {file} {flags} --force -o out.csv"));
        assert_eq!(place.read("out.csv"), place.read("expected.csv"), "{file} {flags}");
    }
    // Weights count where they are.
    assert_eq!(place.ok("eval run turned.csv"), weighted);
    assert_eq!(place.ok("eval run same.csv --header no"), weighted);
    assert_ne!(place.ok("eval run plain.csv"), weighted);
    place.ok("partial run plain.csv -o more --steps 2");
    // What the first fit dropped, the second has not heard of.
    let ended = place.run("partial more turned.csv --weight-column w -o most --steps 2");
    let note = "note: the model was not fitted to column label; left aside\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, note));
    place.ok("transform most plain.csv --force -o out.csv");
    // The runs can read their data again.
    let options = place.read_json("most/config.json")["data"]["options"].clone();
    assert_eq!(options["columns"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(
        (&options["drop"], &options["weight_column"]),
        (&serde_json::json!([]), &"w".into())
    );
    place.ok("resume more --steps 1");
    place.ok("resume most --steps 1");
    place.ok("partial run same.csv --header no -o numbered --steps 1");
    place.ok("resume numbered --steps 1");
}

#[test]
fn what_is_new_is_noted_and_what_is_absent_is_listed() {
    let place = fitted();
    people(&place, "more.csv", &["extra", "a", "b", "who", "c"], true);
    let ended = place.run("transform run more.csv -o out.csv");
    let note = "note: the model was not fitted to column extra; left aside\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, note));
    place.ok("transform run more.csv --force -o out.csv --keep extra");
    assert_eq!(place.run("partial run more.csv -o loud --steps 1").stderr, note);
    assert_eq!(place.run("partial run more.csv -o next --quiet --steps 1").stderr, "");
    people(&place, "less.csv", &["c", "who"], true);
    let absent = "less.csv: columns a, b of the model are not there; the columns are c, who;";
    for command in
        ["transform run less.csv -o new.csv", "eval run less.csv", "partial run less.csv -o new"]
    {
        place.fails(command, &[absent, "--columns"]);
    }
    people(&place, "five.csv", &["a", "b", "c", "w", "extra"], false);
    let five = "five.csv: the data have 5 columns, and the model was fitted to 3 (a, b, c) of a table of 6";
    place.fails("eval run five.csv", &[five]);
    place.fails("eval run less.csv --drop z", &["--drop asks for column \"z\"", "c, who"]);
    place.fails("eval run less.csv --columns z", &["--columns asks for column \"z\""]);
    place.fails("eval run more.csv --weight-column z", &["--weight-column asks for column \"z\""]);
}

#[test]
fn ids_and_columns_are_copied_beside_the_labels() {
    let place = fitted();
    place.ok("transform run all.csv -o plain.csv");
    place.ok("transform run all.csv -o out.csv --id who --keep a,w");
    let lines = |name: &str| -> Vec<String> {
        String::from_utf8(place.read(name)).unwrap().lines().map(String::from).collect()
    };
    let (all, plain, out) = (lines("all.csv"), lines("plain.csv"), lines("out.csv"));
    assert_eq!(out[0], format!("who,a,w,{}", plain[0]));
    assert_eq!(out.len(), 61);
    for ((all, plain), out) in all.iter().zip(&plain).zip(&out).skip(1) {
        let cells: Vec<&str> = all.split(',').collect();
        assert_eq!(*out, format!("{},{},{},{plain}", cells[0], cells[1], cells[5]));
    }
    // The usual name of the truth is the table's, if it is there.
    place.ok("transform run all.csv -o out.tsv --keep label");
    assert!(lines("out.tsv")[0].starts_with("label\tcluster\tresponsibility_0"));
    assert!(lines("out.tsv")[1].starts_with("x\t"));
    // From and to Parquet.
    let (names, rows) = (["ann", "bob"].map(String::from), [[0.5, 1.0], [2.0, 3.0], [0.1, 0.2]]);
    let number = |name: &str, at: usize| Column::f64(name, &rows[at]);
    let columns = [Column::text("who", &names), number("c", 0), number("a", 1), number("b", 2)];
    table(&place.path("two.parquet"), &columns).unwrap();
    place.ok("transform run two.parquet -o two.csv --id who --keep c");
    assert!(
        lines("two.csv")[1].starts_with("ann,0.5,") && lines("two.csv")[2].starts_with("bob,1,")
    );
    place.ok("transform run all.csv -o out.parquet --id who --keep 3");
    place.ok("fit gmm out.parquet -k 2 --steps 2 --drop who,label,cluster -o of-labels");
}

#[test]
fn columns_that_cannot_be_copied_are_refused() {
    let place = fitted();
    let fails =
        |flags: &str, parts: &[&str]| place.fails(&format!("transform run all.csv {flags}"), parts);
    fails("-o x.csv --id nobody", &["all.csv: --id asks for column \"nobody\"", "who, a, label"]);
    fails("-o x.csv --keep a,nobody", &["--keep asks for column \"nobody\""]);
    fails("-o x.csv --keep 7", &["--keep asks for column \"7\"", "1 to 6"]);
    fails("-o x.csv --keep a,,b", &["--keep asks for column \"\""]);
    fails("-o x.csv --id who --keep a,who", &["column who is asked for twice"]);
    fails("-o x.csv --id 0", &["--id asks for column \"0\"", "1 to 6"]);
    fails(
        "-o x.npy --id who",
        &["--id: x.npy is an array, which has no room for text", "-o, e.g."],
    );
    place.write("odd.csv", "a,b,c,cluster,label,responsibility_1\n1,2,3,0,0,1\n2,3,5,0,1,1\n");
    let fails =
        |flags: &str, parts: &[&str]| place.fails(&format!("transform run odd.csv {flags}"), parts);
    let aside = "--columns a,b,c -o x.csv --keep";
    fails(&format!("{aside} responsibility_1"), &["odd.csv: column responsibility_1 has the name"]);
    fails(&format!("{aside} label,cluster"), &["column cluster has the name", "--keep"]);
    array(&place);
    place.fails("transform run a.npy -o x.csv --id 1", &["a.npy: an array has numbers alone"]);
    place.docs("d", 20);
    place.ok("fit lda docword.d.txt --vocab vocab.d.txt -k 2 --steps 2 -o topics");
    place.fails(
        "transform topics docword.d.txt -o x.csv --id 1",
        &["--id 1: has a meaning", "is read as uci"],
    );
}

#[test]
fn gaps_are_refused_dropped_or_told() {
    let place = Place::new();
    let mut text = String::from("name,a,b\n");
    for (n, row) in mixture(40).iter().enumerate() {
        let a = if n % 10 == 3 { "NA".to_string() } else { row[0].to_string() };
        text += &format!("p{n},{a},{}\n", row[1]);
    }
    place.write("gaps.csv", text);
    let fit = "fit gmm gaps.csv -k 2 --steps 5 --drop name -o";
    let found = "gaps.csv, line 5, column a: found \"NA\", a missing value";
    place.fails(&format!("{fit} run"), &[found, "--missing model", "--missing drop-rows"]);
    let ended = place.run(&format!("{fit} run --missing drop-rows"));
    let note = "note: 4 of 40 rows have missing values and were left out\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, note));
    let data = &place.read_json("run/config.json")["data"];
    assert_eq!((&data["items"], &data["gaps"]["rows_left_out"]), (&36.into(), &4.into()));
    // Ids stay with their rows.
    let ended = place.run("transform run gaps.csv -o out.csv --id name");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, note));
    let out = String::from_utf8(place.read("out.csv")).unwrap();
    assert_eq!(out.lines().count(), 37);
    assert!(out.contains("\np2,") && !out.contains("\np3,") && out.contains("\np4,"));
    place.ok("resume run --steps 2");
    for nonsense in ["", "maybe", "Model", "drop rows", "1"] {
        let mut command = place.command("fit gmm gaps.csv -k 2 -o none --missing");
        let ended = command.arg(nonsense).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains("refuse, drop-rows, model"), "{said}");
    }
    place.docs("d", 20);
    place.ok("fit lda docword.d.txt --vocab vocab.d.txt -k 2 --steps 2 -o topics");
    place.fails("eval topics docword.d.txt --missing model", &["--missing is for points"]);
}

#[test]
fn a_scatter_may_be_written_in_four_ways() {
    let place = Place::new();
    place.points("points.csv", 60);
    let lambda = |scatter: &str, run: &str| {
        place.write("run.toml", format!("[model]\nscatter = {scatter}\n"));
        place.ok(&format!("fit gmm points.csv -k 2 --steps 4 --config run.toml -o {run}"));
        place.lambda(run).bytes
    };
    let number = lambda("2", "number");
    assert_eq!(lambda("[2.0, 2.0, 2]", "diagonal"), number);
    assert_eq!(lambda("[2, 0, 0, 0, 2, 0, 0, 0, 2]", "flat"), number);
    assert_eq!(lambda("[[2, 0, 0], [0, 2, 0], [0, 0, 2.0]]", "rows"), number);
    assert_ne!(lambda("3.5", "other"), number);
    place.ok("resume number --steps 2");
    let fails = |scatter: &str, parts: &[&str]| {
        place.write("run.toml", format!("[model]\nscatter = {scatter}\n"));
        place.fails("fit gmm points.csv -k 2 --config run.toml -o bad", parts);
    };
    fails("\"wide\"", &["run.toml, line 2", "the text \"wide\"", "one number for every column"]);
    fails("[1, [2]]", &["numbers and rows in one list"]);
    fails("[[1, 2], [3]]", &["row 2 of `scatter` has 1 numbers"]);
    fails("[1, 2]", &["scatter = 2 numbers: the data have 3 columns, so 1, 3 or 9 are needed"]);
    fails("-1", &["scatter = ", "positive definite"]);
    fails("nan", &["scatter = NaN: every number must be finite"]);
    place.write("run.toml", "[model]\nmean = [1e300, 1e300, 1e300]\n");
    let far = "mean = 1e300: column 1 of it is more than a million standard deviations";
    place.fails("fit gmm points.csv -k 2 --config run.toml -o bad", &[far]);
}

#[test]
fn a_table_of_several_blocks_is_that_of_its_parts() {
    let place = Place::new();
    // More rows than a block of the output has.
    const N: usize = 150_000;
    let row = |n: usize| {
        format!("row {n},{}\n", ((n * 7919) % 1000) as f64 / 100.0 + (n % 2 * 50) as f64)
    };
    let file = |rows: std::ops::Range<usize>| {
        rows.map(row).fold("who,x\n".to_string(), |text, row| text + &row)
    };
    place.write("some.csv", file(0..200));
    place.ok("fit gmm some.csv -k 2 --steps 5 --drop who -o run");
    for (name, rows) in [("all", 0..N), ("first", 0..N / 2), ("last", N / 2..N)] {
        place.write(&format!("{name}.csv"), file(rows));
        place.ok(&format!("transform run {name}.csv --id who -o {name}-out.csv"));
    }
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    let last = text("last-out.csv");
    let (header, last) = last.split_once('\n').unwrap();
    assert_eq!(header, "who,label,responsibility_0,responsibility_1");
    // Not assert_eq: they are too long to print.
    assert!(text("all-out.csv") == text("first-out.csv") + last);
}
