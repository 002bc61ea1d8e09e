//! Standard input and output, pipes and devices: read and written like files, and never replaced.

#![cfg(unix)]

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Output, Stdio};

use common::{Ended, Place};

/// Runs a command with this on its standard input, through a pipe.
fn fed(place: &Place, line: &str, input: &[u8]) -> (i32, Vec<u8>, String) {
    let mut command = place.command(line);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // A command may end without having read all of it.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    (status.code().unwrap(), stdout, String::from_utf8(stderr).unwrap())
}

fn fed_ok(place: &Place, line: &str, input: &[u8]) -> (Vec<u8>, String) {
    let (code, out, err) = fed(place, line, input);
    assert_eq!(code, 0, "lehr {line}: {err}");
    (out, err)
}

fn mkfifo(place: &Place, name: &str) {
    assert!(Command::new("mkfifo").arg(place.path(name)).status().unwrap().success());
}

fn place() -> Place {
    let place = Place::new();
    place.points("points.csv", 200);
    place.ok("fit gmm points.csv -k 3 -o run");
    place
}

#[test]
fn a_hyphen_is_standard_input_and_output() {
    let place = place();
    place.ok("transform run points.csv -o expected.csv");
    let (points, expected) = (place.read("points.csv"), place.read("expected.csv"));
    for line in ["transform run - -o -", "transform run /dev/stdin -o /dev/stdout"] {
        let (out, err) = fed_ok(&place, line, &points);
        assert_eq!(out, expected, "{line}");
        assert_eq!(err, "/dev/stdout: 200 items labelled with 3 components\n", "{line}");
    }
    let line = "transform run - -o - --output-format tsv";
    let tabs = String::from_utf8(expected.clone()).unwrap().replace(',', "\t");
    assert_eq!(fed_ok(&place, line, &points).0, tabs.into_bytes());
    // Columns to copy are read a second time, and Parquet from its end.
    let (out, _) = fed_ok(&place, "transform run - --id a -o -", &points);
    assert!(out.starts_with(b"a,label,responsibility_0,"));
    let (packed, _) = fed_ok(&place, "transform run - -o - --output-format parquet", &points);
    assert!(packed.starts_with(b"PAR1"));
    place.write("labels.parquet", &packed);
    let fit = "-k 2 --columns responsibility_0,responsibility_1";
    place.ok(&format!("fit gmm labels.parquet {fit} -o by-name"));
    fed_ok(&place, &format!("fit gmm - {fit} -o by-pipe"), &packed);
    assert_eq!(place.lambda("by-pipe"), place.lambda("by-name"));
    // A file on standard input is a file, and one on standard output is written to, not replaced.
    let log = fs::File::create(place.path("log.csv")).unwrap();
    (&log).write_all(b"# before\n").unwrap();
    let mut command = place.command("transform run - -o -");
    let input = fs::File::open(place.path("points.csv")).unwrap();
    let output = command.stdin(input).stdout(log).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let whole = [b"# before\n".as_slice(), &expected].concat();
    assert_eq!(place.read("log.csv"), whole);
}

#[test]
fn documents_and_ratings_come_through_pipes_too() {
    let place = Place::new();
    place.docs("a", 60);
    place.ratings("r.dat", 30);
    // The words' names do not come through the pipe.
    place.ok("fit lda docword.a.txt -k 2 --vocab vocab.a.txt --steps 3 -o docs");
    let docs = place.read("docword.a.txt");
    fed_ok(&place, "fit lda - -k 2 --vocab vocab.a.txt --steps 3 -o piped-docs", &docs);
    assert_eq!(place.lambda("piped-docs"), place.lambda("docs"));
    assert!(place.ok("topics piped-docs").contains("came through a pipe"));
    place.ok("fit pmf r.dat -d 2 --steps 3 -o ratings");
    fed_ok(&place, "fit pmf - -d 2 --steps 3 -o piped-ratings", &place.read("r.dat"));
    assert_eq!(place.lambda("piped-ratings"), place.lambda("ratings"));
    // The format can be given where it cannot be seen; settings of the run that it has no use for are left out.
    place.write("t.jsonl", "{\"body\": \"pzaz pzbz\"}\n{\"body\": \"qzaz qzbz pzaz\"}\n");
    let text = place.read("t.jsonl");
    fed_ok(&place, "fit lda - --format jsonl --field body -k 2 --steps 2 -o text", &text);
    let (_, err) = fed_ok(&place, "eval text - --format text", b"pzaz qzaz\n");
    assert_eq!(err, "");
    // A converted corpus is written to standard output and mapped from standard input.
    place.ok("convert t.jsonl --field body -o t.lehr");
    let (corpus, err) = fed_ok(&place, "convert - --format jsonl --field body -o -", &text);
    assert!(
        corpus == place.read("t.lehr") && err.starts_with("/dev/stdout: 2 documents\n"),
        "{err}"
    );
    fed_ok(&place, "fit lda - -k 2 --steps 2 -o converted", &corpus);
    assert_eq!(place.lambda("converted"), place.lambda("text"));
    // Fewer new rows than a batch: the data are read again.
    place.points("points.csv", 100);
    place.ok("fit gmm points.csv -k 2 --batch 50 -o run");
    fed_ok(&place, "partial run - -o more", b"a,b,c\n1,2,3\n2,1,0\n0,0,1\n");
}

#[test]
fn data_of_a_pipe_are_asked_for_as_a_file() {
    let place = Place::new();
    place.points("points.csv", 200);
    let points = place.read("points.csv");
    let fit = "-k 3 --tol 0 --steps 20";
    place.ok(&format!("fit gmm points.csv {fit} -o reference"));
    let (_, err) = fed_ok(&place, &format!("fit gmm - {fit} -o run"), &points);
    assert!(err.contains("\nnote: the data come through a pipe"), "{err}");
    assert!(err.ends_with("which 'lehr resume' takes with --data\n"), "{err}");
    let parts = ["run: its data came through a pipe (/dev/stdin)", "with --data"];
    place.fails("resume run --steps 5", &parts);
    place.points("other.csv", 150);
    place.fails(
        "resume run --steps 5 --data other.csv",
        &["other.csv: is not the data of this run"],
    );
    place.ok("resume run --steps 5 --data points.csv");
    place.ok("resume reference --steps 5");
    assert_eq!(place.lambda("run"), place.lambda("reference"));
    place.ok("resume run --steps 5"); // it knows the file now
    // A file on standard input is known by its name.
    let mut command = place.command(&format!("fit gmm - {fit} -o of-file"));
    let input = fs::File::open(place.path("points.csv")).unwrap();
    let output = command.stdin(input).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.as_str()),
        (Some(0), "read /dev/stdin: 200 rows, 3 columns\n")
    );
    place.ok("resume of-file --steps 5");
}

#[test]
fn pipes_and_devices_get_the_bytes_and_stay_what_they_are() {
    let place = place();
    place.ok("transform run points.csv -o expected.csv");
    mkfifo(&place, "pipe.csv");
    symlink(place.path("pipe.csv"), place.path("link.csv")).unwrap();
    for name in ["pipe.csv", "link.csv"] {
        let pipe = place.path("pipe.csv");
        let reader = std::thread::spawn(move || fs::read(pipe).unwrap());
        place.ok(&format!("transform run points.csv -o {name}"));
        assert_eq!(reader.join().unwrap(), place.read("expected.csv"), "{name}");
        assert!(fs::metadata(place.path("pipe.csv")).unwrap().file_type().is_fifo());
    }
    fs::remove_file(place.path("pipe.csv")).unwrap();
    fs::remove_file(place.path("link.csv")).unwrap();
    place.docs("a", 20);
    for (line, name) in [
        ("transform run points.csv -o full.csv", "full.csv"),
        ("convert docword.a.txt --force -o full.lehr", "full.lehr"),
    ] {
        symlink("/dev/full", place.path(name)).unwrap();
        let Ended { code, stderr, .. } = place.run(line);
        assert_eq!(code, 2, "{line}");
        assert!(stderr.starts_with(&format!("error: {name}: cannot write: No space")), "{stderr}");
        fs::remove_file(place.path(name)).unwrap();
    }
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    place.ok("transform run points.csv -o /dev/null");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // A folder holds no table, and a run is no stream.
    place.fails("transform run points.csv -o .", &[".: is a folder; give the name of a file"]);
    for line in ["fit gmm points.csv -k 2 -o -", "demo -o -", "reproduce fig3 -o -"] {
        let ended = place.run(line);
        assert_eq!(ended.code, 2, "{line}");
        assert!(ended.stderr.contains("this makes a folder"), "{line}: {}", ended.stderr);
    }
    place.fails("fit gmm points.csv -k 2 -o /dev/null", &["/dev/null: is a file"]);
}

#[test]
fn files_are_replaced_only_if_that_is_asked_for() {
    let place = place();
    place.docs("a", 20);
    let commands = [
        ("transform run points.csv -o out.csv", "out.csv"),
        ("convert docword.a.txt -o out.lehr", "out.lehr"),
        ("demo --starts 1 -o pictures", "pictures/demo.png"),
    ];
    for (line, file) in commands {
        place.ok(line);
        let exists =
            format!("{file}: exists already; give another name, or replace it with --force");
        place.fails(line, &[&exists]);
        place.ok(&format!("{line} --force"));
    }
    // A run has its own folder.
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes.txt", "x");
    let parts = ["mine: is not empty (notes.txt is in it)", "choose another one with -o"];
    place.fails("fit gmm points.csv -k 2 -o mine", &parts);
    place.fails("fit gmm points.csv -k 2 -o .", &[".: is not empty"]);
    fs::create_dir(place.path("empty")).unwrap();
    place.ok("fit gmm points.csv -k 2 -o empty");
}
