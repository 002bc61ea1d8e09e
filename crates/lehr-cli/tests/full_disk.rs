//! Disks that are full, small or gone: an error with the file and the sizes, and no data lost.

#![cfg(all(target_os = "linux", any(debug_assertions, feature = "faults")))]

mod common;

use std::fs;
use std::process::{Command, Output};

use common::Place;
use common::running::same_run;

/// Runs a shell script with the program as `$LEHR`.
fn shell(place: &Place, wrapper: &[&str], script: &str) -> Output {
    let mut line: Vec<&str> = wrapper.to_vec();
    line.extend(["sh", "-c", script]);
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(place.path(""));
    command.env("LEHR", env!("CARGO_BIN_EXE_lehr")).output().unwrap()
}

/// Nothing half-written is left in a folder.
fn tidy(place: &Place, folder: &str) {
    for path in place.snapshot(folder).keys() {
        assert!(!path.to_string_lossy().ends_with(".tmp"), "{}", path.display());
    }
}

/// As `shell`, with files of at most this many blocks of 512 bytes; what it printed on stderr, with code 2.
fn limited(place: &Place, blocks: u64, line: &str) -> String {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$LEHR\" {line}");
    let output = shell(place, &[], &script);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "lehr {line}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A fit whose checkpoint, and nothing else, has more than 10 kB.
const FIT: &str = "fit gmm points.csv -k 10 --priors volume --start kmeans-plus-plus --batch 50 --effective 20 --tol 0 --steps 40 --checkpoint-every 5 --eval-every 20";

fn place() -> Place {
    let place = Place::new();
    let rows = common::mixture(400);
    let mut text = String::new();
    for row in rows.chunks_exact(4) {
        let cells: Vec<String> = row.iter().flatten().map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    place.write("points.csv", text);
    place.ok(&format!("{FIT} -o reference"));
    assert!(place.read("reference/checkpoint.safetensors").len() > 11_000);
    place
}

#[test]
fn a_disk_that_is_full_at_the_third_checkpoint() {
    let place = place();
    for point in ["begun", "half", "written", "synced", "kept"] {
        let mut command = place.command(&format!("{FIT} -o run"));
        command.env("LEHR_FAULT", format!("full:{point}:3:checkpoint.safetensors"));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        let parts = [
            "run/checkpoint.safetensors: cannot write",
            "the file needs ",
            " kB, and ",
            " are free; make room",
        ];
        place.check(point, &text, &parts);
        tidy(&place, "run");
        assert!(place.ok("show run").contains("10 steps made"), "{point}");
        place.ok("resume run");
        same_run(&place, "run", "reference");
        fs::remove_dir_all(place.path("run")).unwrap();
    }
    // A line of the trace: the last one that is whole counts.
    let mut command = place.command(&format!("{FIT} -o run"));
    let output = command.env("LEHR_FAULT", "full:half:2:trace.jsonl").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    place.check("trace", &text, &["run/trace.jsonl: cannot write", "the file needs "]);
    place.ok("resume run");
    same_run(&place, "run", "reference");
}

#[test]
fn a_file_that_may_not_become_so_large() {
    let place = place();
    let text = limited(&place, 20, &format!("{FIT} -o run"));
    let parts = [
        "run/checkpoint.safetensors: cannot write",
        "the file needs ",
        " kB, and a file may have 10.2 kB here",
    ];
    place.check("fit", &text, &parts);
    tidy(&place, "run");
    place.ok("resume run");
    same_run(&place, "run", "reference");
    // Results are written whole or not at all, and what was there stays.
    place.write("labels.csv", "old\n");
    for name in ["labels.csv", "labels.npy", "labels.parquet", "labels.csv.gz"] {
        let text = limited(&place, 1, &format!("transform run points.csv --force -o {name}"));
        place.check(
            name,
            &text,
            &[&format!("{name}: cannot write"), "the file needs ", "a file may have 512 bytes"],
        );
    }
    assert_eq!(place.read("labels.csv"), b"old\n");
    place.docs("a", 400);
    let text = limited(&place, 4, "convert docword.a.txt -o corpus.lehr");
    place.check("convert", &text, &["corpus.lehr: cannot write", "needs more than", "2.0 kB"]);
    let text = limited(&place, 1, "reproduce theorem --quick -o out");
    let parts = ["runs.jsonl: cannot write", "the file needs ", "a file may have 512 bytes here"];
    place.check("reproduce", &text, &parts);
    tidy(&place, "");
}

#[test]
fn a_disk_that_is_full_while_experiments_are_run_again() {
    let place = Place::new();
    let line = "reproduce fig3 --quick --runs 1 --quiet --threads 1 -o";
    place.ok(&format!("{line} whole"));
    for (point, n, file) in [
        ("half", 1, "runs.jsonl"), // its first line
        ("half", 3, "runs.jsonl"),
        ("begun", 1, "runs.csv"),
        ("written", 1, "fig3.png"),
        ("half", 1, "section.json"),
        ("synced", 1, "RESULTS.md"),
    ] {
        let mut command = place.command(&format!("{line} out"));
        command.env("LEHR_FAULT", format!("full:{point}:{n}:{file}"));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{file}: {text}");
        let parts = [&format!("{file}: cannot write"), "the file needs ", " are free; make room"];
        place.check(file, &text, &parts);
        tidy(&place, "out");
    }
    place.ok(&format!("{line} out"));
    assert_eq!(place.read("out/RESULTS.md"), place.read("whole/RESULTS.md"));
    assert_eq!(place.read("out/fig3/runs.jsonl"), place.read("whole/fig3/runs.jsonl"));
}

#[test]
fn a_real_disk_that_is_full_then_larger_then_read_only() {
    let place = place();
    let available = shell(&place, &["unshare", "-rm"], "mount -t tmpfs none /mnt");
    if !available.status.success() {
        println!(
            "SKIPPED: this user may not mount a file system; the other tests have simulated disks"
        );
        return;
    }
    // Room for two checkpoints and some small files, in blocks of 4 kB, and not for three.
    let blocks = place.read("reference/checkpoint.safetensors").len().div_ceil(4096);
    let size = 4 * (2 * blocks + blocks / 2 + 5);
    let script = format!(
        "mkdir small && mount -t tmpfs -o size={size}k none small && cd small || exit 9
         ln -s ../points.csv points.csv
         \"$LEHR\" {FIT} -o run; echo code $?
         ls -A run; \"$LEHR\" show run > /dev/null; echo code $?
         mount -o remount,size=10m none . && \"$LEHR\" resume run --quiet; echo code $?
         mount -o remount,ro none . && \"$LEHR\" resume run --steps 5; echo code $?
         \"$LEHR\" {FIT} -o other; echo code $?
         \"$LEHR\" show run > /dev/null; echo code $?
         cp -r run ../run"
    );
    let output = shell(&place, &["unshare", "-rm"], &script);
    let (out, err) =
        (String::from_utf8(output.stdout).unwrap(), common::without_read(output.stderr).1);
    let codes: Vec<&str> = out.lines().filter(|line| line.starts_with("code")).collect();
    assert_eq!(codes, ["code 2", "code 0", "code 0", "code 2", "code 2", "code 0"], "{out}\n{err}");
    assert!(!out.contains(".tmp") && !out.contains(".lock"), "{out}");
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 3, "{err}");
    assert!(lines[0].contains("run/checkpoint.safetensors: cannot write: No space left"), "{err}");
    assert!(lines[0].contains("; the file needs ") && lines[0].contains(" are free; "), "{err}");
    assert!(lines[1].contains("Read-only file system") && lines[2].contains("Read-only"), "{err}");
    same_run(&place, "run", "reference");
}

#[test]
fn a_directory_that_is_moved_during_the_fit() {
    let place = place();
    let mut command = place.command(&format!("{FIT} -o run"));
    // Stalls, so that it happens in the middle.
    command.env("LEHR_FAULT", "slow:synced:300:checkpoint.safetensors");
    let mut running = common::running::Running::of(command);
    while !place.path("run/checkpoint.safetensors").exists() {
        assert!(running.0.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    fs::rename(place.path("run"), place.path("elsewhere")).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(2));
    let mut text = String::new();
    std::io::Read::read_to_string(running.0.stderr.as_mut().unwrap(), &mut text).unwrap();
    assert!(text.contains("run: the directory is gone"), "{text}");
    place.ok(&format!("{FIT} -o run"));
    same_run(&place, "run", "reference");
}
