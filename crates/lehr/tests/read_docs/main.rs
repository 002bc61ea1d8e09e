//! Files in, documents out: every format, every refusal, and the converted corpus.

#[path = "../common/files.rs"]
mod files;
mod blocks;
mod formats;
mod texts;
mod tables;
mod new_documents;
mod refusals;
mod converted;
mod anything;

use std::fs;
use std::path::{Path, PathBuf};

use lehr::data::{Docs, FromFile, Vocabulary};
use lehr::read::{self, CorpusFormat, DocsOptions, Document, StopWords, Tokens};
use proptest::prelude::*;

use files::{Folder, gzip};

fn read_as(name: &str, bytes: impl AsRef<[u8]>, options: &DocsOptions) -> Docs {
    let folder = Folder::new();
    read::docs(&folder.file(name, bytes), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Docs {
    read_as(name, bytes, &DocsOptions::default())
}

fn fault_of(name: &str, bytes: impl AsRef<[u8]>, options: &DocsOptions) -> String {
    let folder = Folder::new();
    folder.fault(read::docs(&folder.file(name, bytes), options))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    fault_of(name, bytes, &DocsOptions::default())
}

fn forced(format: CorpusFormat) -> DocsOptions {
    DocsOptions { format: Some(format), ..Default::default() }
}

fn rows(docs: &Docs) -> Vec<Vec<(u32, f32)>> {
    (0..docs.n_items()).map(|n| docs.doc(n).iter().map(|e| (e.word, e.count)).collect()).collect()
}

fn names(docs: &Docs) -> Vec<&str> {
    docs.vocabulary().names().unwrap().iter().map(String::as_str).collect()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/docs").join(name)
}

/// The corpus of `fixtures/docs/make.py`.
fn corpus() -> Docs {
    let rows = vec![
        vec![(0, 2.0), (2, 1.0)],
        vec![],
        vec![(1, 0.5), (4, 3.0)],
        vec![(0, 7.0), (1, 1.0), (4, 1.0)],
    ];
    Docs::from_rows(rows, 5).unwrap()
}

const UCI: &str = "4\n5\n7\n1 1 2\n1 3 1\n3 2 0.5\n3 5 3\n4 1 7\n4 2 1\n4 5 1\n";
const LDAC: &str = "2 0:2 2:1\n0\n2 1:0.5 4:3\n3 0:7 1:1 4:1\n";

#[test]
fn topic_tables_are_not_negative() {
    let folder = Folder::new();
    let text =
        read::topic_table(&folder.file("t.csv", "a,b\n1,2\n3,-1\n")).unwrap_err().to_string();
    assert!(
        text.ends_with("t.csv: topic 2, word b: found -1; a topic's weights are 0 or more"),
        "{text}"
    );
    let (table, words) = read::topic_table(&folder.file("t.csv", "1,2\n3,4\n")).unwrap();
    assert_eq!((table.n_rows(), table.width(), words), (2, 2, None));
}

#[test]
fn names_must_be_one_per_word() {
    let text = corpus().with_vocabulary(vec!["a".into()]).unwrap_err().to_string();
    assert_eq!(text, "1 names for 5 words; give one for each word");
}
