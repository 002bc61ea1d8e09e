//! Corpora, and the files with words that go with them.

use std::path::Path;

use lehr::data::{Docs, Vocabulary};
use lehr::read::{self, CorpusFormat, DocsOptions, Header, StopWords};

use super::{Folder, Read, repair, told};

/// Reads a file as this format, and walks over all that came of it as a fit would.
fn all(path: &Path, options: &DocsOptions) -> lehr::Result<Docs> {
    let docs = read::docs(path, options)?;
    used(&docs)?;
    Ok(docs)
}

fn used(docs: &Docs) -> lehr::Result<()> {
    let counts = docs.word_counts();
    for n in 0..docs.n_items() {
        // What indexes tables by word relies on it.
        assert!(docs.doc(n).iter().all(|entry| (entry.word as usize) < docs.n_words()));
    }
    assert_eq!(counts.len(), docs.n_words());
    docs.fingerprint();
    docs.subset(&[0]).doc(0);
    docs.fault().map_or(Ok(()), Err)
}

fn forced(format: CorpusFormat) -> DocsOptions {
    DocsOptions { format: Some(format), ..DocsOptions::default() }
}

pub fn uci(folder: &Folder, bytes: &[u8]) -> Read {
    told(all(&folder.file("a.txt", bytes), &forced(CorpusFormat::Uci)))
}

pub fn ldac(folder: &Folder, bytes: &[u8]) -> Read {
    told(all(&folder.file("a.dat", bytes), &forced(CorpusFormat::Ldac)))
}

pub fn svmlight(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.svm", bytes);
    let options = forced(CorpusFormat::Svmlight);
    let _ = all(&path, &DocsOptions { one_based: true, ..options.clone() });
    told(all(&path, &options))
}

pub fn matrix_market(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.mtx", bytes);
    let options = forced(CorpusFormat::MatrixMarket);
    let _ = all(&path, &DocsOptions { transpose: true, ..options.clone() });
    told(all(&path, &options))
}

pub fn text(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.txt", bytes);
    let options = forced(CorpusFormat::Text);
    let few =
        DocsOptions { max_words: Some(2), stop_words: Some(StopWords::None), ..options.clone() };
    let _ = all(&path, &few);
    let model = Vocabulary::named(vec!["bank".into(), "rates".into()]).expect("two words");
    let _ = read::docs_with(&path, &options, &model);
    told(all(&path, &options))
}

pub fn jsonl(folder: &Folder, bytes: &[u8]) -> Read {
    in_fields(&folder.file("a.jsonl", bytes), CorpusFormat::Jsonl)
}

/// A JSON list of documents, in the ways that the flags offer.
pub fn json(folder: &Folder, bytes: &[u8]) -> Read {
    in_fields(&folder.file("a.json", bytes), CorpusFormat::Json)
}

/// A table in text with a column of documents.
pub fn csv_docs(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.csv", bytes);
    let _ = all(&path, &DocsOptions { header: Header::No, ..forced(CorpusFormat::Csv) });
    let _ = all(&folder.file("a.tsv", bytes), &forced(CorpusFormat::Csv));
    in_fields(&path, CorpusFormat::Csv)
}

/// Reads documents that are in fields, with and without ids; the answer is that of the defaults.
fn in_fields(path: &Path, format: CorpusFormat) -> Read {
    let named = |name: &str| Some(name.to_string());
    let (field, id) = (named("a.b"), named("2"));
    let _ = all(path, &DocsOptions { field, id, ..forced(format) });
    if let Ok(docs) = all(path, &DocsOptions { ids: true, ..forced(format) }) {
        assert!(docs.ids().is_none_or(|ids| ids.len() == docs.n_items()));
    }
    told(all(path, &forced(format)))
}

/// Any format, recognised by content and for a model that knows three words by number.
pub fn recognised(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a", bytes);
    let options = DocsOptions::default();
    let _ = read::docs_with(&path, &options, &Vocabulary::unnamed(3));
    told(all(&path, &options))
}

pub fn npz(folder: &Folder, bytes: &[u8]) -> Read {
    told(all(&folder.file("a.npz", bytes), &forced(CorpusFormat::Npz)))
}

/// Members of an archive whose checksums fit, which mutations hardly ever do.
pub fn npz_members(folder: &Folder, bytes: &[u8]) -> Read {
    npz(folder, &repair::archive(bytes))
}

pub fn parquet(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("a.parquet", bytes);
    let field = Some("term".to_string());
    let _ = all(&path, &DocsOptions { field, ids: true, ..forced(CorpusFormat::Parquet) });
    told(all(&path, &forced(CorpusFormat::Parquet)))
}

/// A converted corpus as it is, and with checksums that fit.
pub fn corpus(folder: &Folder, bytes: &[u8]) -> Read {
    let options = forced(CorpusFormat::Lehr);
    let as_it_is = told(all(&folder.file("a.lehr", bytes), &options));
    let _ = all(&folder.file("b.lehr", &repair::corpus(bytes)), &options);
    as_it_is
}

/// The file of words that goes with a corpus, and a list of stop words.
pub fn words(folder: &Folder, bytes: &[u8]) -> Read {
    let path = folder.file("vocab.txt", bytes);
    let numbers = folder.file("b.txt", b"2\n3\n3\n1 1 2\n2 3 1\n1 3 1\n");
    let text = folder.file("t.txt", b"the bank rates\nrates fell\n");
    let stop_words = Some(StopWords::File(path.clone()));
    let _ = all(&text, &DocsOptions { stop_words, ..forced(CorpusFormat::Text) });
    let _ = all(&text, &DocsOptions { vocab: Some(path.clone()), ..forced(CorpusFormat::Text) });
    told(all(&numbers, &DocsOptions { vocab: Some(path), ..forced(CorpusFormat::Uci) }))
}
