//! Every reader as a function of a file's bytes, for libFuzzer and for the short run of `./check`:
//! what a command does with a file from a stranger, with a limit on the memory that it may take.

#![allow(dead_code, reason = "libFuzzer and the test use their own parts")]

pub mod meter;
mod docs;
pub mod repair;
pub mod runs;
mod tables;
#[path = "../../crates/lehr-cli/src/args/config.rs"]
mod config;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// What a reader made of a file: something, or an error in words.
pub type Read = Result<(), String>;

pub struct Target {
    pub name: &'static str,
    /// Files to start with, from the root of the repository: folders of which all files are taken,
    /// and folders of which those with this ending are.
    pub seeds: &'static [(&'static str, &'static str)],
    pub limit: Limit,
    pub run: fn(&Folder, &[u8]) -> Read,
}

/// The memory that reading a file may take: `base` bytes and `factor` for each byte of the file, for
/// each byte that it unpacks to if it is gzipped.
#[derive(Clone, Copy)]
pub struct Limit {
    base: usize,
    factor: usize,
}

const MIB: usize = 1 << 20;
/// Packed files may unpack to 16 MiB and 200 times their size, by the readers' own limit, and deflate
/// makes at most 1032 bytes of one.
const ALWAYS: usize = 16 * MIB;
const UNPACKED: usize = 200;
const DEFLATE: usize = 1032;

impl Limit {
    pub fn of(self, bytes: &[u8]) -> usize {
        let unpacked = match bytes.starts_with(&[0x1f, 0x8b]) {
            true => (DEFLATE * bytes.len()).min(ALWAYS + UNPACKED * bytes.len()),
            false => bytes.len(),
        };
        self.base + self.factor * unpacked
    }

    /// The bytes of memory for each byte of the file.
    pub fn factor(self) -> usize {
        self.factor
    }

    /// Whether it is that of files of a run directory.
    pub fn is_for_runs(self) -> bool {
        self.base == RUN.base
    }
}

/// Text: the numbers or words of a line take more room than its letters. What is numbered may have
/// 2^20 numbers before it needs as many entries, and buffers are there from the start.
const TEXT: Limit = Limit { base: 64 * MIB, factor: 64 };
/// Arrays of numbers, which are at most widened to f64.
const ARRAY: Limit = Limit { base: 64 * MIB, factor: 64 };
/// Members of an archive, each of which may be deflated.
const ARCHIVE: Limit = Limit { base: 32 * ALWAYS, factor: 32 * UNPACKED };
/// Parquet, of which 16 MiB and 1024 times the file's size may be unpacked, as texts at worst.
const PARQUET: Limit = Limit { base: 8 * ALWAYS, factor: 4 * 1024 };
/// Files of a run directory: what they hold is kept as it is.
const RUN: Limit = Limit { base: 8 * MIB, factor: 64 };

/// The folder of fixtures that other programs have written.
const DOCS: &str = "crates/lehr/tests/fixtures/docs";
const TABLES: &str = "crates/lehr/tests/fixtures/read";

/// The table of targets, the most dangerous first.
pub static TARGETS: &[Target] = &[
    target("npz", &[(DOCS, "npz"), ("fuzz/seeds/npz", "")], ARCHIVE, docs::npz),
    target("npz_members", &[("fuzz/seeds/npz_members", "")], ARCHIVE, docs::npz_members),
    target(
        "parquet_points",
        &[(TABLES, "parquet"), (DOCS, "parquet"), ("fuzz/seeds/parquet_points", "")],
        PARQUET,
        tables::parquet_points,
    ),
    target(
        "parquet_docs",
        &[(DOCS, "parquet"), (TABLES, "parquet"), ("fuzz/seeds/parquet_docs", "")],
        PARQUET,
        docs::parquet,
    ),
    target(
        "parquet_ratings",
        &[(DOCS, "parquet"), (TABLES, "parquet"), ("fuzz/seeds/parquet_ratings", "")],
        PARQUET,
        tables::parquet_ratings,
    ),
    target("npy", &[(TABLES, "npy"), ("fuzz/seeds/npy", "")], ARRAY, tables::npy),
    target("corpus", &[("fuzz/seeds/corpus", "")], ARRAY, docs::corpus),
    target("checkpoint", &[("fuzz/seeds/checkpoint", "")], RUN, runs::checkpoint),
    target("run_config", &[("fuzz/seeds/run_config", "")], RUN, runs::run_config),
    target(
        "matrix_market",
        &[(DOCS, "mtx"), ("fuzz/seeds/matrix_market", "")],
        TEXT,
        docs::matrix_market,
    ),
    target("uci", &[("fuzz/seeds/uci", "")], TEXT, docs::uci),
    target("ldac", &[("fuzz/seeds/ldac", "")], TEXT, docs::ldac),
    target("svmlight", &[(DOCS, "svm"), ("fuzz/seeds/svmlight", "")], TEXT, docs::svmlight),
    target("csv", &[("fuzz/seeds/csv", "")], TEXT, tables::csv),
    target("ratings", &[("fuzz/seeds/ratings", "")], TEXT, tables::ratings),
    target(
        "matrix",
        &[("fuzz/seeds/matrix", ""), ("fuzz/seeds/csv", ""), ("fuzz/seeds/npy", "")],
        TEXT,
        tables::matrix,
    ),
    target("jsonl", &[("fuzz/seeds/jsonl", "")], TEXT, docs::jsonl),
    target("json", &[("fuzz/seeds/json", ""), ("fuzz/seeds/jsonl", "")], TEXT, docs::json),
    target(
        "csv_docs",
        &[("fuzz/seeds/csv_docs", ""), ("fuzz/seeds/csv", "")],
        TEXT,
        docs::csv_docs,
    ),
    target("text", &[("fuzz/seeds/text", "")], TEXT, docs::text),
    target(
        "docs",
        &[
            ("fuzz/seeds/text", ""),
            ("fuzz/seeds/uci", ""),
            ("fuzz/seeds/ldac", ""),
            (DOCS, "svm"),
            (DOCS, "mtx"),
            ("fuzz/seeds/jsonl", ""),
            ("fuzz/seeds/json", ""),
            ("fuzz/seeds/gzip", ""),
        ],
        TEXT,
        docs::recognised,
    ),
    target("gzip", &[("fuzz/seeds/gzip", "")], TEXT, tables::gzip),
    target("titles", &[("fuzz/seeds/titles", "")], TEXT, tables::titles),
    target("words", &[("fuzz/seeds/words", "")], TEXT, docs::words),
    target("config", &[("fuzz/seeds/config", "")], RUN, runs::config_file),
    target("trace", &[("fuzz/seeds/trace", "")], RUN, runs::trace),
    target("vocabulary", &[("fuzz/seeds/vocabulary", "")], RUN, runs::vocabulary),
    target("ids", &[("fuzz/seeds/ids", "")], RUN, runs::ids),
    target("seen", &[("fuzz/seeds/seen", "")], RUN, runs::seen),
];

const fn target(
    name: &'static str,
    seeds: &'static [(&'static str, &'static str)],
    limit: Limit,
    run: fn(&Folder, &[u8]) -> Read,
) -> Target {
    Target { name, seeds, limit, run }
}

pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A folder for the file under test, and the runs that it may belong to.
pub struct Folder {
    place: TempDir,
    runs: OnceLock<runs::Runs>,
}

impl Folder {
    pub fn new() -> Self {
        Folder { place: tempfile::tempdir().expect("a folder for files"), runs: OnceLock::new() }
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.place.path().join(name);
        put(&path, bytes);
        path
    }

    /// A finished run of each model; made when it is first asked for.
    pub fn runs(&self) -> &runs::Runs {
        self.runs.get_or_init(|| runs::Runs::new(self.place.path()))
    }
}

/// Makes this the file's bytes. It is not emptied before: millions of files take less time if the system
/// keeps their pages.
fn put(path: &Path, bytes: &[u8]) {
    let write = || {
        let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)
    };
    write().expect("the folder takes files");
}

/// Forgets what was read; keeps why it was not.
fn told<T, E: std::fmt::Display>(read: Result<T, E>) -> Read {
    read.map(drop).map_err(|error| error.to_string())
}
