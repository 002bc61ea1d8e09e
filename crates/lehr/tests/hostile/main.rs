//! Files from strangers: whatever they hold, no reader panics or takes more memory than is promised.
//! A short run of the targets in `fuzz/targets`, with the seeds of `fuzz/seeds` and damage done to them.

mod large;
mod mutate;
mod regressions;
#[path = "../../../../fuzz/targets/mod.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mutate::{Numbers, damaged};
use targets::{Folder, Read, TARGETS, Target};

/// Damaged files for each target, unless the variable HOSTILE_FILES has another number.
const DAMAGED: usize = 1000;

/// Memory is counted for all threads together, so that the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

struct Seed {
    name: String,
    bytes: Vec<u8>,
    /// Whether it was made for this target.
    own: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn seeds(target: &Target) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (folder, ending) in target.seeds {
        let Ok(files) = fs::read_dir(root().join(folder)) else { continue };
        for file in files {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(ending) && path.is_file() {
                let own = folder.ends_with(&format!("seeds/{}", target.name));
                seeds.push(Seed { name, bytes: fs::read(&path).unwrap(), own });
            }
        }
    }
    assert!(!seeds.is_empty(), "{} has no seeds", target.name);
    seeds.sort_by(|a, b| a.name.cmp(&b.name));
    seeds
}

/// Reads the file, or says what was wrong with the reading; the memory that it took, too.
fn tried(target: &Target, folder: &Folder, bytes: &[u8]) -> Result<(Read, usize), String> {
    let (caught, peak) =
        targets::meter::peak(|| catch_unwind(AssertUnwindSafe(|| (target.run)(folder, bytes))));
    let most = target.limit.of(bytes);
    match caught {
        Err(_) => Err("it panicked".into()),
        Ok(_) if peak > most => {
            Err(format!("{peak} bytes of memory for a file of {}, limit {most}", bytes.len()))
        }
        Ok(read) => Ok((read, peak)),
    }
}

fn short_run(name: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (target, folder) = (targets::find(name).unwrap(), Folder::new());
    if target.limit.is_for_runs() {
        folder.runs();
    }
    let seeds = seeds(target);
    let mut most = 0;
    let mut read = |what: &str, bytes: &[u8]| {
        tried(target, &folder, bytes)
            .map(|(read, peak)| {
                most = most.max(peak);
                read
            })
            .unwrap_or_else(|fault| {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}"));
                fs::write(&kept, bytes).unwrap();
                panic!("{name}, {what}: {fault}; the file is kept as {}", kept.display());
            })
    };
    for Seed { name, bytes, own } in &seeds {
        let read = read(name, bytes);
        // Seeds that are sound are named so, and so are those that must be refused.
        match read {
            _ if !own => {}
            Err(error) => assert!(!name.starts_with("ok-"), "{}: {name}: {error}", target.name),
            Ok(()) => assert!(!name.starts_with("bad-"), "{}: {name} was read", target.name),
        }
    }
    let mut numbers = Numbers(
        name.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into())),
    );
    let mut n_read = 0;
    let n_damaged = std::env::var("HOSTILE_FILES").map_or(DAMAGED, |n| n.parse().unwrap());
    for n in 0..n_damaged {
        let [seed, other] = [(); 2].map(|()| numbers.below(seeds.len()));
        let bytes = damaged(&seeds[seed].bytes, &seeds[other].bytes, &mut numbers);
        n_read +=
            usize::from(read(&format!("{} damaged, number {n}", seeds[seed].name), &bytes).is_ok());
    }
    println!(
        "{name}: {} seeds, {n_damaged} damaged files, {n_read} of them read, {most} bytes at most",
        seeds.len()
    );
}

macro_rules! short_runs {
    ($($name:ident),*) => {
        $(#[test] fn $name() { short_run(stringify!($name)); })*
        const RUN: &[&str] = &[$(stringify!($name)),*];
    };
}
short_runs!(
    npz,
    npz_members,
    parquet_points,
    parquet_docs,
    parquet_ratings,
    npy,
    corpus,
    checkpoint,
    run_config,
    matrix_market,
    uci,
    ldac,
    svmlight,
    csv,
    ratings,
    matrix,
    jsonl,
    json,
    csv_docs,
    text,
    docs,
    gzip,
    titles,
    words,
    config,
    trace,
    vocabulary,
    ids,
    seen
);

#[test]
fn every_target_is_run() {
    let all: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(RUN, all);
}

/// Writes the seeds that only lehr itself can write: `cargo test -p lehr --test hostile -- --ignored`.
#[test]
#[ignore = "writes to fuzz/seeds"]
fn make_seeds() {
    let folder = Folder::new();
    let runs = folder.runs();
    let place = folder.path().to_string_lossy().into_owned();
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root().join("fuzz/seeds").join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    };
    for run in targets::runs::NAMES {
        let text = fs::read_to_string(runs.file(run, "config.json")).unwrap();
        write("run_config", &format!("ok-{run}.json"), text.replace(&place, "/data").as_bytes());
        let checkpoint = fs::read(runs.file(run, "checkpoint.safetensors")).unwrap();
        write("checkpoint", &format!("ok-{run}.safetensors"), &checkpoint);
    }
    for (target, run, file) in [
        ("trace", "gmm", "trace.jsonl"),
        ("vocabulary", "lda", "vocabulary.tsv"),
        ("ids", "pmf", "users.jsonl"),
        ("seen", "pmf", "seen.safetensors"),
    ] {
        write(target, &format!("ok-{file}"), &fs::read(runs.file(run, file)).unwrap());
    }
    let (named, numbered) = (folder.path().join("docs.txt"), folder.path().join("numbers.txt"));
    fs::write(&numbered, "3\n4\n3\n1 1 2\n2 4 1\n3 1 7\n").unwrap();
    for (name, path) in [("named", named), ("numbered", numbered)] {
        let docs = lehr::read::docs(&path, &lehr::read::DocsOptions::default()).unwrap();
        let converted = folder.path().join("c.lehr");
        docs.save(&converted).unwrap();
        write("corpus", &format!("ok-{name}.lehr"), &fs::read(converted).unwrap());
    }
}
