//! Where things are: paths that are no text, numbers that several processes want, limits of what is read.

#![cfg(unix)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use common::Place;

/// Runs a command in a folder, arguments as bytes.
fn run(place: &Place, folder: &OsStr, args: &[&[u8]]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
    command.args(args.iter().map(|arg| OsStr::from_bytes(arg)));
    let output = command.current_dir(place.path("").join(folder)).stdin(Stdio::null()).output();
    output.unwrap()
}

fn ok(place: &Place, folder: &OsStr, args: &[&[u8]]) -> String {
    let Output { status, stdout, stderr } = run(place, folder, args);
    let said = String::from_utf8_lossy(&stderr).into_owned();
    // What was read, and nothing else.
    let other: Vec<&str> = said.lines().filter(|line| !line.starts_with("read ")).collect();
    assert_eq!((status.code(), other), (Some(0), vec![]), "{args:?}");
    String::from_utf8_lossy(&stdout).into_owned()
}

#[test]
fn paths_need_not_be_text() {
    let place = Place::new();
    place.points("points.csv", 100);
    place.docs("a", 40);
    place.ratings("r.dat", 30);
    place.write("stop.txt", "pzaz\n");
    place.write("t.txt", "pzaz pzbz\nqzaz qzbz pzbz\n");
    let latin = OsStr::from_bytes(b"lat\xe4");
    fs::create_dir(place.path("").join(latin)).unwrap();
    for name in ["points.csv", "docword.a.txt", "vocab.a.txt", "r.dat", "stop.txt", "t.txt"] {
        fs::copy(place.path(name), place.path("").join(latin).join(name)).unwrap();
    }
    let odd = OsStr::from_bytes(b"\xff.csv");
    fs::copy(place.path("points.csv"), place.path("").join(odd)).unwrap();
    // The file, and the run.
    let here = OsStr::new("");
    let said = ok(&place, here, &[b"fit", b"gmm", b"\xff.csv", b"-k", b"2", b"-o", b"r\xff"]);
    assert!(said.ends_with("look at it with: lehr show $'r\\xff'\n"), "{said}");
    ok(&place, here, &[b"resume", b"r\xff", b"--steps", b"2"]);
    ok(&place, here, &[b"show", b"r\xff"]);
    ok(&place, here, &[b"transform", b"r\xff", b"\xff.csv", b"-o", b"l\xff.csv"]);
    ok(&place, here, &[b"partial", b"r\xff", b"\xff.csv", b"-o", b"p\xff"]);
    ok(&place, here, &[b"convert", b"t.txt", b"--json", b"-o", b"l\xff.lehr"]);
    // The folder in which everything is.
    let fits: [&[u8]; 4] = [
        b"fit gmm points.csv -k 2 -o gmm",
        b"fit lda docword.a.txt -k 2 --vocab vocab.a.txt --steps 2 -o lda",
        b"fit lda t.txt -k 2 --stop-words stop.txt --steps 2 -o text",
        b"fit pmf r.dat -d 2 --steps 2 --json -o pmf",
    ];
    for line in fits {
        let args: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        ok(&place, latin, &args);
        ok(&place, latin, &[b"resume", args[args.len() - 1], b"--steps", b"1"]);
    }
    ok(
        &place,
        latin,
        &[b"fit", b"lda", b"t.txt", b"-k", b"2", b"--seed-topics", b"text", b"-o", b"s"],
    );
    ok(&place, latin, &[b"sweep", b"gmm", b"points.csv", b"-k", b"2", b"--folds", b"0", b"--json"]);
    ok(&place, latin, &[b"resume", b"sweeps/gmm-1"]);
    // A setting has to be text.
    let ended = run(&place, here, &[b"fit", b"lda", b"t.txt", b"-k", b"2", b"--vocab", b"\xff"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("UTF-8"));
}

#[test]
fn fits_that_start_at_once_get_a_number_each() {
    let place = Place::new();
    place.points("points.csv", 100);
    let start = |_| place.command("fit gmm points.csv -k 2 --quiet").spawn().unwrap();
    let running: Vec<_> = (0..8).map(start).collect();
    for mut child in running {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    for number in 1..=8 {
        assert!(place.path(&format!("runs/gmm-{number}/result.json")).exists(), "{number}");
    }
    assert_eq!(fs::read_dir(place.path("runs")).unwrap().count(), 8);
    // What comes to nothing leaves no number behind.
    place.fails("fit gmm missing.csv -k 2", &["missing.csv: there is no such file"]);
    place.fails("sweep gmm missing.csv -k 2", &["missing.csv: there is no such file"]);
    assert!(!place.path("runs/gmm-9").exists() && !place.path("sweeps").exists());
}

#[test]
fn a_complete_run_is_what_resume_was_asked_for() {
    let place = Place::new();
    place.points("points.csv", 100);
    place.ok("fit gmm points.csv -k 2 --steps 5 --tol 0 -o run");
    fs::remove_file(place.path("points.csv")).unwrap(); // it is not needed
    let said = place.ok("resume run");
    assert_eq!(
        said,
        "run: this run is complete (all steps were made); give it more steps with 'lehr resume run --steps 500'\n"
    );
    assert_eq!(place.ok("resume run --quiet"), "");
    let result = place.json("resume run --json");
    assert_eq!((&result["complete"], &result["steps"]), (&true.into(), &5.into()));
}

#[test]
fn what_flags_read_has_an_end() {
    let place = Place::new();
    place.points("points.csv", 50);
    place.write("t.txt", "pzaz pzbz\nqzaz qzbz pzbz\n");
    let config = "fit gmm points.csv -k 2 -o run --config";
    place.fails(&format!("{config} /dev/zero"), &["/dev/zero: has more than 1 MiB"]);
    place.write("latin.toml", b"[fit]\n# \xe4\n");
    place.fails(&format!("{config} latin.toml"), &["latin.toml: is not UTF-8"]);
    place.write("long.txt", "pzaz\n".repeat(4 << 20));
    let parts = ["long.txt: cannot read: it has more than 16 MiB"];
    place.fails("fit lda t.txt -k 2 -o run --stop-words long.txt", &parts);
    for flag in ["--stop-words", "--vocab"] {
        place.fails(
            &format!("fit lda t.txt -k 2 -o run {flag} /dev/zero"),
            &["/dev/zero: is neither"],
        );
    }
}
