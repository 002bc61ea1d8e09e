//! What the tests of the command line share: running it, synthetic data, reading a run directory.

#![allow(dead_code, reason = "every test file uses its own part")]

#[cfg(unix)]
pub mod running;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own in which the program runs.
pub struct Place(TempDir);

/// How a command ended.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    /// Without the line about what was read.
    pub stderr: String,
    /// The line about what was read, if there is one.
    pub read: String,
}

/// Runs of every format version so far (`fixtures/runs/make.py`).
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs")
}

/// What a fit says of what it has read, and what else is on stderr.
pub fn without_read(stderr: Vec<u8>) -> (String, String) {
    let text = String::from_utf8(stderr).unwrap();
    text.split_inclusive('\n').partition(|line| line.starts_with("read "))
}

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A copy of a kept run, whose data are here.
    pub fn kept_run(&self, version: &str, run: &str) {
        fs::create_dir_all(self.path(run)).unwrap();
        for entry in fs::read_dir(fixtures().join(version).join(run)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, self.path(run).join(path.file_name().unwrap())).unwrap();
        }
        let config = format!("{run}/config.json");
        let text = String::from_utf8(self.read(&config)).unwrap();
        let folder = self.path("").canonicalize().unwrap();
        let folder = serde_json::to_string(&folder).unwrap();
        self.write(&config, text.replace("\"/data", folder.trim_end_matches(['"', '/'])));
    }

    /// The program with these arguments, separated by blanks.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        for name in ["RUST_BACKTRACE", "COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        command.env("LANG", "C.UTF-8").stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Ended {
        let Output { status, stdout, stderr } = self.command(line).output().unwrap();
        let (read, stderr) = without_read(stderr);
        Ended {
            code: status.code().expect("the program was killed"),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr,
            read,
        }
    }

    /// Runs a command that must succeed without a word on stderr; what it printed.
    pub fn ok(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "lehr {line}");
        ended.stdout
    }

    /// The same with exactly one JSON line on stdout.
    pub fn json(&self, line: &str) -> Value {
        let text = self.ok(line);
        assert!(text.ends_with('\n') && text.lines().count() == 1, "lehr {line}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Runs a command that must fail with one line that holds all these parts, and leave no trace.
    pub fn fails(&self, line: &str, parts: &[&str]) {
        let before = self.snapshot("");
        let ended = self.run(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "lehr {line}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "lehr {line}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "lehr {line}: {}", ended.stderr);
        self.check(line, &ended.stderr, parts);
        assert!(self.snapshot("") == before, "lehr {line} changed a file");
    }

    /// The same for what is refused while the flags are read, which also shows the usage.
    pub fn misused(&self, line: &str, parts: &[&str]) {
        let before = self.snapshot("");
        let ended = self.run(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "lehr {line}: {}", ended.stderr);
        self.check(line, &ended.stderr, parts);
        assert!(self.snapshot("") == before, "lehr {line} changed a file");
    }

    pub fn check(&self, line: &str, stderr: &str, parts: &[&str]) {
        assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
        assert!(!stderr.contains("is a bug"), "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "lehr {line}: no {part:?} in\n{stderr}");
        }
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// Three clusters that are far apart as CSV with the columns a, b, c.
    pub fn apart(&self, name: &str, n_items: usize) {
        let row = |(n, row): (usize, &[f64; 3])| {
            let shift = 30.0 * (n % 3) as f64;
            format!("{},{},{}\n", row[0] + shift, row[1] - shift, row[2])
        };
        let rows: String = mixture(n_items).iter().enumerate().map(row).collect();
        self.write(name, format!("a,b,c\n{rows}"));
    }

    /// A seeded mixture of three clusters as CSV with the columns a, b, c.
    pub fn points(&self, name: &str, n_items: usize) {
        let mut text = String::from("a,b,c\n");
        for row in mixture(n_items) {
            text.push_str(&format!("{},{},{}\n", row[0], row[1], row[2]));
        }
        self.write(name, text);
    }

    /// A synthetic corpus in UCI's form: `docword.NAME.txt` and `vocab.NAME.txt`.
    pub fn docs(&self, name: &str, n_docs: usize) {
        let docs = corpus(n_docs);
        let entries: usize = docs.iter().map(Vec::len).sum();
        let mut text = format!("{n_docs}\n{WORDS}\n{entries}\n");
        for (d, doc) in docs.iter().enumerate() {
            for (w, n) in doc {
                text.push_str(&format!("{} {} {n}\n", d + 1, w + 1));
            }
        }
        self.write(&format!("docword.{name}.txt"), text);
        self.write(&format!("vocab.{name}.txt"), words().join("\n") + "\n");
    }

    /// Planted ratings in the form of MovieLens: `user::item::rating::time`.
    pub fn ratings(&self, name: &str, n_users: usize) {
        let line =
            |(user, item, rating): (usize, usize, f64)| format!("{user}::{item}::{rating}::0\n");
        self.write(name, ratings(n_users).map(line).collect::<String>());
    }

    /// Every file of a folder, byte for byte.
    pub fn snapshot(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        files
    }

    /// The trace without the seconds, which no two runs share.
    pub fn trace(&self, run: &str) -> Vec<Value> {
        let text = String::from_utf8(self.read(&format!("{run}/trace.jsonl"))).unwrap();
        let line = |line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value.as_object_mut().unwrap().remove("seconds").expect("every line has seconds");
            value
        };
        text.lines().map(line).collect()
    }

    pub fn lambda(&self, run: &str) -> Tensor {
        tensors(&self.path(run)).remove("lambda").expect("a checkpoint has lambda")
    }
}

/// An array of a checkpoint.
#[derive(Debug, PartialEq)]
pub struct Tensor {
    pub dtype: String,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// Reads a checkpoint without the library: eight bytes of length, a JSON header, then the arrays.
pub fn tensors(run: &Path) -> BTreeMap<String, Tensor> {
    let (header, data) = checkpoint(run);
    let tensor = |value: &Value| {
        let at = |i: usize| value["data_offsets"][i].as_u64().unwrap() as usize;
        Tensor {
            dtype: value["dtype"].as_str().unwrap().to_string(),
            shape: value["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect(),
            bytes: data[at(0)..at(1)].to_vec(),
        }
    };
    let named = header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__");
    named.map(|(name, value)| (name.clone(), tensor(value))).collect()
}

/// A checkpoint's header and the bytes behind it.
pub fn checkpoint(run: &Path) -> (Value, Vec<u8>) {
    let bytes = fs::read(run.join("checkpoint.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + length]).unwrap(), bytes[8 + length..].to_vec())
}

/// Rows of three seeded, well-separated but touching clusters.
pub fn mixture(n_items: usize) -> Vec<[f64; 3]> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let centres = [[0.0, 0.0, 0.0], [3.0, 1.0, -2.0], [-1.0, 4.0, 2.0]];
    (0..n_items)
        .map(|_| {
            let centre = centres[(uniform() * 3.0) as usize];
            centre.map(|x| x + 4.0 * (uniform() + uniform() + uniform() - 1.5))
        })
        .collect()
}

/// The words of the synthetic corpus.
pub const WORDS: usize = 30;

/// Their names, in alphabetical order and without any that a stop list could have.
pub fn words() -> Vec<String> {
    let letters = "abcdefghij";
    let pair = |a: char| letters.chars().map(move |b| format!("{a}z{b}z"));
    ['p', 'q', 'r'].into_iter().flat_map(pair).collect()
}

/// Documents that each have most of their words from one of three themes of ten words: (word,
/// count), in order.
pub fn corpus(n_docs: usize) -> Vec<Vec<(usize, usize)>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % n
    };
    (0..n_docs)
        .map(|_| {
            let theme = below(3);
            let mut counts = [0; WORDS];
            for _ in 0..20 + below(40) {
                let word = if below(10) < 9 { 10 * theme + below(10) } else { below(WORDS) };
                counts[word] += 1;
            }
            counts.into_iter().enumerate().filter(|(_, n)| *n > 0).collect()
        })
        .collect()
}

/// The items of the planted ratings.
pub const ITEMS: usize = 40;

/// Users rate about half of the items. Even users like even items and odd users odd ones; items with
/// lower numbers are better liked by all.
pub fn ratings(n_users: usize) -> impl Iterator<Item = (usize, usize, f64)> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let pairs = (0..n_users).flat_map(|user| (0..ITEMS).map(move |item| (user, item)));
    pairs.filter_map(move |(user, item)| {
        let (is_rated, noise) = (uniform() < 0.5, uniform() + uniform() - 1.0);
        let rating = planted(user, item) + 0.6 * noise;
        is_rated.then_some((user, item, (1000.0 * rating).round() / 1000.0))
    })
}

/// What a user thinks of an item.
pub fn planted(user: usize, item: usize) -> f64 {
    let likes = if user % 2 == item % 2 { 1.0 } else { -1.0 };
    3.0 + likes + 0.5 - item as f64 / ITEMS as f64
}
