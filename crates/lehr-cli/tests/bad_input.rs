//! Whatever is wrong gets one clear line and exit code 2, and nothing that existed is damaged.

mod common;

use std::fs;

use common::{Place, checkpoint};

fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 60);
    place
}

impl Place {
    fn fails_on(&self, content: &str, parts: &[&str]) {
        self.write("bad.csv", content);
        self.fails("fit gmm bad.csv -k 2 -o run", parts);
        assert!(!self.path("run").exists());
    }
}

#[test]
fn cells_that_are_no_numbers_are_named_by_line_and_column() {
    let place = Place::new();
    let ok = "1,2\n3,5\n";
    place
        .fails_on(&format!("a,b\n{ok}7,\n"), &["bad.csv, line 4, column b", "empty", "fill it in"]);
    place
        .fails_on(&format!("a,b\n{ok}NA,1\n"), &["bad.csv, line 4, column a", "\"NA\"", "missing"]);
    place.fails_on(&format!("a,b\n{ok}x,1\n"), &["line 4, column a", "\"x\"", "with --drop"]);
    place.fails_on(&format!("{ok}1,x\n"), &["bad.csv, line 3, column 2", "not a number"]);
    place.fails_on(&format!("{ok}nan,1\n"), &["bad.csv, line 3, column 1", "--missing drop-rows"]);
    place.fails_on(&format!("{ok}1,inf\n"), &["bad.csv, line 3, column 2", "finite"]);
    place.fails_on(&format!("{ok}1,-1e999\n"), &["bad.csv, line 3, column 2", "finite"]);
    place.fails_on(&format!("{ok}1,2,3\n"), &["bad.csv, line 3", "found 3 fields, expected 2"]);
    place.fails_on(&format!("{ok}1\n"), &["bad.csv, line 3", "found 1 field, expected 2"]);
}

#[test]
fn tables_that_are_too_small_or_too_plain_are_refused() {
    let place = Place::new();
    place.fails_on("", &["bad.csv: is empty", "at least one row"]);
    place.fails_on("a,b\n", &["bad.csv: has a line of names but no rows"]);
    place.fails_on("1,2\n", &["bad.csv: there is only one row", "at least two"]);
    place.fails_on("1,2\n3,4\n\0\x01", &["bad.csv", "neither text nor"]);
}

#[test]
fn weights_must_not_be_negative() {
    let place = Place::new();
    place.write("w.csv", "a,w\n1,1\n2,-1\n3,1\n");
    let fit = "fit gmm w.csv -k 1 -o run --weight-column";
    place.fails(&format!("{fit} w"), &["w.csv, line 3, column w", "-1"]);
    place.fails(&format!("{fit} v"), &["w.csv: --weight-column asks for column \"v\"", "a, w"]);
    place.write("w.csv", "a,w\n1,0\n2,0\n");
    place.fails(&format!("{fit} w"), &["w.csv", "weight"]);
}

#[test]
fn sizes_that_do_not_fit_the_data_are_refused_with_what_would() {
    let place = place();
    let fit = "fit gmm points.csv -o run";
    place.fails(&format!("{fit} -k 61"), &["-k 61: there are only 60 rows", "try 10"]);
    place.fails(&format!("{fit} -k 18446744073709551615"), &["there are only 60 rows"]);
    place.fails(&format!("{fit} -k 0"), &["-k 0: a mixture needs at least one component"]);
    place.fails(fit, &["how many components? Give -k K"]);
    place.fails(
        &format!("{fit} -k 2 --batch 61"),
        &["--batch 61: there are only 60 items", "leave it"],
    );
    place.fails(
        &format!("{fit} -k 2 --batch 20 --effective 21"),
        &["--effective 21: must be at most the batch size, 20", "plain SVI"],
    );
    place.fails(&format!("{fit} -k 2 --effective 61"), &["--effective 61: must be at most", "60"]);
    place.fails(&format!("{fit} -k 2 --holdout 60"), &["--holdout 60: there are only 60 items"]);
    place.fails(
        &format!("{fit} -k 2 --batch 20 --step-size 0.5,1"),
        &["--step-size 0.5,1", "with --batch use power:10:0.75"],
    );
    // The held-out items do not count.
    place.fails(&format!("{fit} -k 2 --holdout 10 --batch 51"), &["--batch 51", "only 50 items"]);
}

#[test]
fn nonsense_in_flags_is_refused_with_what_is_allowed() {
    let place = place();
    let fit = "fit gmm points.csv -k 2 -o run";
    for (flags, parts) in [
        ("--tol nan", ["--tol NaN", "must be 0 (off) or a positive number"]),
        ("--tol inf", ["--tol inf", "must be 0 (off) or a positive number"]),
        ("--tol -1", ["--tol -1", "must be 0 (off) or a positive number"]),
        ("--n-init 0", ["--n-init 0", "must be at least 1"]),
        ("--batch 0", ["--batch 0", "must be at least 1"]),
        ("--eval-every 0", ["--eval-every 0", "nothing to stop by"]),
        ("--checkpoint-every 0", ["--checkpoint-every 0", "must be at least 1"]),
        ("--noise-end 1.5", ["--noise-end 1.5", "between 0 and 1"]),
        ("--noise-end nan", ["--noise-end NaN", "between 0 and 1"]),
        ("--n-init 5000000000", ["--n-init 5000000000", "u32"]),
        ("--concentration 0", ["--concentration 0", "must be a positive number"]),
        ("--concentration nan", ["--concentration NaN", "must be a positive number"]),
        ("--mean-precision -1", ["--mean-precision -1", "must be a positive number"]),
        ("--degrees-of-freedom 1", ["--degrees-of-freedom 1", "must exceed"]),
    ] {
        place.fails(&format!("{fit} {flags}"), &parts);
    }
    for (flags, parts) in [
        ("--steps -5", ["--steps", "whole number"]),
        ("--steps 1.5", ["--steps", "whole number"]),
        ("--batch ten", ["--batch", "whole number"]),
        ("--seed -1", ["--seed", "whole number"]),
        ("--seed 18446744073709551615", ["--seed", "whole number up to 9223372036854775807"]),
        ("--tol x", ["--tol", "use a number"]),
        ("--time 0", ["--time", "90s, 5m or 2h"]),
        ("--time -3", ["--time", "90s, 5m or 2h"]),
        ("--time nan", ["--time", "90s, 5m or 2h"]),
        ("--effective 0", ["--effective", "at least 0.001"]),
        ("--effective nan", ["--effective", "at least 0.001"]),
        ("--effective x", ["--effective", "geometric:10:150"]),
        ("--step-size 2", ["--step-size", "at most 1"]),
        ("--step-size nan", ["--step-size", "at most 1"]),
        ("--holdout -1", ["--holdout", "fraction below 1"]),
        ("--holdout nan", ["--holdout", "fraction below 1"]),
        ("--holdout 1.5", ["--holdout", "fraction below 1"]),
        ("--law normal", ["--law", "gaussian"]),
        ("--guard none", ["--guard", "reject"]),
        ("--bacth 20", ["--bacth", "--batch"]),
    ] {
        place.misused(&format!("{fit} {flags}"), &parts);
    }
    place.misused("fit gnm points.csv -k 2", &["gnm", "gmm"]);
    place.misused("fit gmm", &["<DATA>"]);
    place.misused("transform run points.csv", &["--output"]);
}

#[test]
fn a_directory_that_holds_a_run_is_left_as_it_is() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 -o run");
    place.fails(
        "fit gmm points.csv -k 3 -o run",
        &["run: already holds a run", "left as it is", "-o", "lehr resume run", "delete it"],
    );
    place.fails("fit gmm points.csv -k 3 -o points.csv", &["points.csv: is a file", "-o"]);
    place.fails("fit gmm points.csv -k 3 -o points.csv/run", &["points.csv/run: cannot create"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_where_nothing_can_be_written_is_named() {
    let place = place();
    // Not even root can make a folder there.
    place.fails("fit gmm points.csv -k 2 -o /proc/lehr/run", &["/proc/lehr/run: cannot create"]);
    place.ok("fit gmm points.csv -k 2 -o run");
    place.fails("transform run points.csv -o /proc/out.csv", &["/proc/out.csv: cannot write"]);
}

#[test]
fn missing_files_are_named() {
    let place = place();
    place.fails("fit gmm no.csv -k 2", &["no.csv: there is no such file"]);
    place.fails("fit gmm no/no.csv -k 2", &["no/no.csv: there is no folder no"]);
    place.fails("fit gmm . -k 2", &["is a folder"]);
    place.fails("fit gmm points.csv -k 2 --config no.toml", &["no.toml: cannot read"]);
    for command in
        ["show no", "eval no points.csv", "transform no points.csv -o x.csv", "resume no"]
    {
        place.fails(command, &["no: there is no such directory", "lehr fit"]);
    }
    fs::create_dir(place.path("empty")).unwrap();
    for command in ["show empty", "eval empty points.csv", "resume empty"] {
        place.fails(command, &["empty: holds no run", "config.json", "lehr fit"]);
    }
}

#[test]
fn configurations_with_unknown_or_wrong_fields_are_refused() {
    let place = place();
    let fails = |text: &str, parts: &[&str]| {
        place.write("run.toml", text);
        place.fails("fit gmm points.csv -k 2 --config run.toml -o run", parts);
    };
    fails("[fit]\nseed = 1\nbacth = 3\n", &["run.toml, line 3, column 1", "`bacth`", "`batch`"]);
    fails("[fits]\nseed = 1\n", &["run.toml, line 1", "`fits`", "`fit`"]);
    fails(
        "[model]\ncomponent = 3\n",
        &["run.toml, line 2, column 1", "`component`", "`components`"],
    );
    fails("[model]\nstart = 'x'\n", &["run.toml, line 2, column 9", "\"x\"", "kmeans-plus-plus"]);
    fails(
        "[fit]\nquench = 0.25\n",
        &["run.toml, line 2, column 1", "`quench` is called `noise_end` now"],
    );
    fails("fit = 3\n", &["run.toml, line 1", "is not a table; write [fit]"]);
    fails("[data]\ndorp = ['a']\n", &["run.toml, line 2", "`dorp`", "`drop`"]);
    fails("[fit]\nseed = 'x'\n", &["run.toml, line 2, column 8", "must be a whole number"]);
    fails("[fit]\neffective = 'x'\n", &["run.toml, line 2", "geometric:10:150"]);
    fails("[fit]\nholdout = 1.5\n", &["run.toml, line 2", "fraction below 1"]);
    fails("[fit\n", &["run.toml, line 1"]);
    for (line, said) in [
        ("steps = 'x'", "`steps` = \"x\": must be a whole number, such as 10"),
        ("steps = 1.5", "`steps` = 1.5: must be a whole number"),
        ("steps = -3", "`steps` = -3: must be 0 or more"),
        ("n_init = 99999999999", "`n_init` = 99999999999: is too large"),
        (
            "seed = 18446744073709551616",
            "the number is too large; the largest is 9223372036854775807",
        ),
        ("tol = true", "`tol` = true: must be a number, such as 0.5"),
        ("time = '5m'", "`time` = \"5m\": must be a number of seconds"),
        ("warm = 1", "`warm` = 1: must be true or false"),
        ("effective = []", "`effective` = a list: must be a number or a text"),
        ("law = 'x'", "`law` = \"x\": must be gaussian,"),
    ] {
        fails(&format!("[fit]\n{line}\n"), &["run.toml, line 2", said]);
    }
    fails("[data]\ndrop = 'a'\n", &["`drop` = \"a\": must be a list of strings"]);
    fails("[data]\nweight_column = 3\n", &["`weight_column` = 3: must be a text in quotes"]);
    fails("[fit]\nn_init = 0\n", &["--n-init 0: must be at least 1"]);
    fails("[model]\nmean = [1.0]\n", &["mean = 1 numbers", "the data have 3 columns"]);
}

#[test]
fn data_of_another_shape_are_not_scored() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 -o run");
    place.write("two.csv", "a,b\n1,2\n2,3\n");
    place.write("order.csv", "a,c,b\n1,2,3\n2,3,4\n");
    for command in ["eval run", "transform run"] {
        let end = if command == "eval run" { "" } else { "-o out.csv" };
        place.fails(
            &format!("{command} two.csv {end}"),
            &["two.csv: column c of the model is not there; the columns are a, b", "--columns"],
        );
        // Names decide, and not the order.
        place.ok(&format!("{command} order.csv {end}"));
        let _ = fs::remove_file(place.path("out.csv"));
        place.fails(
            &format!("{command} order.csv --columns a,c,b {end}"),
            &["order.csv: the data's columns are a, c, b", "--columns a,b,c"],
        );
    }
    place.fails("eval run points.csv --drop z", &["points.csv: --drop asks for column \"z\""]);
    place.fails("transform run points.csv -o out.xyz", &["out.xyz", ".csv", ".parquet"]);
    place.fails("transform run points.csv -o out", &["out: ", ".csv", ".parquet"]);
    place.fails("transform run points.csv -o no/out.csv", &["no/out.csv: there is no folder no"]);
    place.fails("transform run points.csv -o run", &["run"]);
}

#[test]
fn resume_refuses_what_it_cannot_continue() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 --steps 5 --tol 0 -o run");
    place.fails("resume run --tol 0.1", &["run: this run is complete"]);
    place.fails("resume run --steps 0", &["--steps 0: must be at least 1"]);
    place.fails("resume run --steps 1 --tol nan", &["--tol NaN: must be 0 (off)"]);
    place.misused("resume run --steps -1", &["--steps", "whole number"]);
    let points = place.read("points.csv");
    place.points("points.csv", 61);
    place.fails(
        "resume run --steps 1",
        &["points.csv: is not the data of this run any more", "start a new run"],
    );
    fs::remove_file(place.path("points.csv")).unwrap();
    place.fails("resume run --steps 1", &["points.csv: there is no such file"]);
    place.write("points.csv", points);
    place.ok("resume run --steps 1");
    // A start under way cannot be given other steps than the starts before it.
    place.ok("fit gmm points.csv -k 2 --steps 100000000 --tol 0 --n-init 2 --time 0.05 -o many");
    place.fails(
        "resume many --steps 3",
        &["--steps 3: the run is at start 1 of 2", "lehr resume many"],
    );
}

#[test]
fn records_that_were_changed_or_come_from_the_future_are_refused() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 --steps 5 --tol 0 -o run");
    let original = String::from_utf8(place.read("run/config.json")).unwrap();
    let commands = ["show run", "eval run points.csv", "resume run --steps 1"];
    let with = |from: &str, to: &str, parts: &[&str]| {
        assert!(original.contains(from), "{original}");
        place.write("run/config.json", original.replacen(from, to, 1));
        commands.iter().for_each(|command| place.fails(command, parts));
    };
    with(
        "\"format\": 2",
        "\"format\": 3",
        &["config.json", "version 3", "versions 1 to 2", "update lehr"],
    );
    with("\"format\": 2,", "", &["config.json", "no version"]);
    with("\"seed\"", "\"sede\"", &["run/config.json, line ", "`sede`", "not meant to be edited"]);
    with("\"model\": \"gmm\"", "\"model\": \"hmm\"", &["run", "'hmm'", "update lehr"]);
    with(
        "\"components\": 2",
        "\"components\": 3",
        &["run/checkpoint.safetensors", "another shape"],
    );
    with("\"components\": 2", "\"components\": 0", &["run/config.json: components = 0"]);
    with("{", "", &["run/config.json, line 2", "not meant to be edited"]);
    with("\"concentration\": 0.5", "\"concentration\": -0.5", &["run/config.json: frozen"]);
    place.write("run/config.json", &original);
    let trace = place.read("run/trace.jsonl");
    place.write("run/trace.jsonl", [b"{}\n", trace.as_slice()].concat());
    place.fails("show run", &["run/trace.jsonl, line 1", "missing field"]);
}

#[test]
fn a_checkpoint_that_was_cut_or_changed_anywhere_is_refused() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 --steps 5 --tol 0 -o run");
    let name = "run/checkpoint.safetensors";
    let whole = place.read(name);
    let header = whole.len() - checkpoint(&place.path("run")).1.len();
    let damaged = &["run/checkpoint.safetensors", "is damaged", "fit again"];
    for length in [0, 1, 7, 8, 9, header - 1, header, header + 1, whole.len() - 1] {
        place.write(name, &whole[..length]);
        place.fails("show run", damaged);
    }
    place.write(name, [whole.as_slice(), b"x"].concat());
    place.fails("show run", damaged);
    // One bit of the length, of the header with its metadata, and of the numbers.
    let places = (0..8).chain((8..header).step_by(11)).chain((header..whole.len()).step_by(17));
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        place.write(name, &bytes);
        place.fails("show run", &["run/checkpoint.safetensors"]);
    }
    // What is written there by another name or as another type is noticed, too.
    let text = String::from_utf8_lossy(&whole[..header]).into_owned();
    for (from, to) in [("\"gmm\"", "\"gmn\""), ("\"0.1.0\"", "\"0.1.1\""), ("F64", "I64")] {
        let at = text.find(from).unwrap_or_else(|| panic!("no {from} in {text}"));
        let mut bytes = whole.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        place.write(name, &bytes);
        place.fails("show run", damaged);
        place.fails("resume run --steps 1", damaged);
        place.fails("eval run points.csv", damaged);
    }
    // The checkpoint of another model with the same shape.
    place.write(name, &whole);
    place.ok("fit dpgmm points.csv -k 2 --steps 5 --tol 0 -o other");
    fs::copy(place.path("other/checkpoint.safetensors"), place.path(name)).unwrap();
    place.fails("show run", &["holds a dpgmm where config.json has a gmm"]);
}

#[test]
fn a_damaged_parquet_file_gets_one_line() {
    let place = Place::new();
    let values: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
    let columns =
        [lehr::write::Column::f64("a", &values), lehr::write::Column::matrix("m", &values, 1)];
    lehr::write::table(&place.path("whole.parquet"), &columns).unwrap();
    let whole = place.read("whole.parquet");
    let mut refused = 0;
    for at in (4..whole.len()).step_by(9) {
        let mut bytes = whole.clone();
        bytes[at] = !bytes[at];
        place.write("bad.parquet", &bytes);
        let ended = place.run("fit gmm bad.parquet -k 1 --steps 1 --quiet -o run");
        if ended.code == 2 {
            refused += 1;
            assert!(ended.stderr.contains("bad.parquet"), "byte {at}: {}", ended.stderr);
        }
        // A changed number or name is not damage that anybody could notice.
        let lines = usize::from(ended.code == 2);
        assert_eq!(ended.stderr.lines().count(), lines, "byte {at}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "byte {at}: {}", ended.stderr);
        let _ = fs::remove_dir_all(place.path("run"));
    }
    assert!(refused > 10, "{refused}");
}

/// Pages that lost their dictionary, on which the library that reads Parquet panics.
#[test]
fn a_panic_of_the_parquet_library_is_one_line_too() {
    let place = Place::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../lehr/tests/fixtures/read/none.parquet");
    let whole = fs::read(fixture).unwrap();
    for at in [620, 706, 812] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        place.write("bad.parquet", &bytes);
        let parts = ["bad.parquet: is damaged or cut off (", "convert it to .npy"];
        place.fails("fit gmm bad.parquet -k 1 --columns x,y,count -o run", &parts);
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_behind_stdout_is_reported() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 -o run");
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let output = place.command("show run").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("error: stdout: cannot write") && text.lines().count() == 1, "{text}");
}

#[test]
fn labels_are_never_written_over_the_data() {
    let place = place();
    place.points("other.csv", 20);
    place.ok("fit gmm points.csv -k 2 -o run");
    place.fails("transform run other.csv -o other.csv", &["other.csv: this is the data", "-o"]);
    place.fails("transform run other.csv -o ./points.csv", &["points.csv: this is the data"]);
}

#[test]
fn rows_beyond_all_numbers_are_an_error_and_no_nan() {
    let place = place();
    place.ok("fit gmm points.csv -k 2 -o run");
    let text = fs::read_to_string(place.path("points.csv")).unwrap();
    let width = text.lines().next().unwrap().split(',').count();
    let row = vec!["1e200"; width].join(",");
    place.write("far.csv", format!("{}\n{row}\n", text.trim_end()));
    place.fails("eval run far.csv", &["far.csv", "densities overflow"]);
    place.fails("transform run far.csv -o out.csv", &["far.csv: row 61", "densities overflow"]);
}

#[test]
fn numbers_and_settings_that_make_no_sense_are_told_in_plain_words() {
    let place = place();
    let fit = |flags: &str| format!("fit gmm points.csv -k 2 {flags} -o run");
    for (flags, said) in [
        ("--steps 1e20", "the number is too large here"),
        ("--steps 1e2", "write it as a whole number: 100"),
        ("--seed 18446744073709551616", "use a whole number up to 9223372036854775807"),
        ("--holdout 1.0", "a fraction below 1"),
    ] {
        let ended = place.run(&fit(flags));
        assert!(ended.code == 2 && ended.stderr.contains(said), "{flags}: {}", ended.stderr);
    }
    let items = place.read("points.csv").iter().filter(|&&byte| byte == b'\n').count() - 1;
    let none = format!("--holdout 0.0001: is none of {items} items");
    place.fails(&fit("--holdout 0.0001"), &[&none]);
    place.fails(&fit("--effective 1e300"), &["error: --effective 1e300: must be at most"]);
    place.fails(
        &fit("--concentration 1e308"),
        &["--concentration 1e308: must be a positive number up to"],
    );
    // What changes nothing is reported, and does no harm.
    let ended = place.run(&fit("--law gamma --sampling with-replacement --bound-sample 10"));
    assert_eq!(ended.code, 0);
    let notes: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(
        notes[0],
        "note: --law gamma changes nothing, since there is no noise: ask for it with --effective"
    );
    assert!(
        notes[1].contains("--sampling with-replacement") && notes[2].contains("--batch"),
        "{notes:?}"
    );
}

#[test]
fn bars_and_old_line_ends_are_read() {
    let place = place();
    let points = String::from_utf8(place.read("points.csv")).unwrap();
    place.ok("fit gmm points.csv -k 2 -o run");
    for (name, text) in [
        ("bars.csv", points.replace(',', "|")),
        ("semicolons.csv", points.replace(',', ";")),
        ("returns.csv", points.replace('\n', "\r")),
        ("both.csv", points.replace(',', " | ").replace('\n', "\r\n")),
    ] {
        place.write(name, text);
        place.ok(&format!("fit gmm {name} -k 2 -o {name}.run"));
        assert_eq!(place.lambda(&format!("{name}.run")), place.lambda("run"), "{name}");
    }
    // The line of a fault is that of an editor.
    place.write("bad.csv", "a,b\r1,2\r3,x\r");
    place.fails("fit gmm bad.csv -k 1 -o no", &["bad.csv, line 3, column b"]);
}
