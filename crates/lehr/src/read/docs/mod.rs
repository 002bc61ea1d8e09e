//! Reading documents: one file per format, all ending in the same corpus.

mod builder;
mod fields;
mod gather;
mod in_memory;
mod json;
mod lines;
mod matrix_market;
mod ngrams;
mod npz;
mod numbers;
mod options;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_texts;
mod recognise;
#[cfg(feature = "segmenter")]
mod segments;
mod spill;
mod stop_words;
mod table;
mod text;
mod tokens;
mod triples;
mod uci;
mod vocab;
mod words;
mod zip;

use std::path::Path;

use super::open_shards;
use super::source::{Needed, Source, plain_file};
use crate::data::{self, Docs, Vocabulary};
use crate::error::{advice, setting};
use crate::shards::ShardFolder;
use crate::{Error, Result};

pub use in_memory::{Document, docs_of};
pub use options::{CorpusFormat, DOCS, DocsOptions, Language, StopWords, Tokens};
pub use words::Unknown;

use gather::Gather;
pub(crate) use gather::kept_words;
use lines::Lines;
pub(crate) use spill::Room;
use vocab::Names;

const NEEDED: Needed = Needed {
    files: "a UCI docword file, LDA-C, SVMlight, Matrix Market, text, .csv, .tsv, .json or .jsonl (these may be gzipped), .npz, .parquet or a converted corpus",
    least: "a file with at least one document",
    most: None,
};

/// Reads a corpus. The format is recognised by content, then by the file's name, unless `options`
/// say which it is; text formats may be gzipped.
///
/// | format | content |
/// |---|---|
/// | `uci` | UCI bag of words: lines with D, W and NNZ, then `document word count`, numbered from 1, in any order. Next to `docword.x.txt` or `docword.x.txt.gz` a file `vocab.x.txt` is used without being asked for |
/// | `ldac` | LDA-C: `n word:count ...`, words numbered from 0 |
/// | `svmlight` | SVMlight: `label word:count ... # comment`, words numbered from 0 unless `one_based`; labels are ignored |
/// | `matrix-market` | coordinates, one row a document, one column a word, unless `transpose` |
/// | `npz` | CSR or CSC, from `scipy.sparse.save_npz` |
/// | `parquet` | columns named document, doc or doc_id; term, word or word_id; count, n or value; or the first three. Integers are numbers from 0; texts are numbered as they appear and, as terms, become the vocabulary |
/// | `parquet`, with texts | a column called text, or `field`, in tables without the three above |
/// | `text` | one document a line, blank lines too |
/// | `csv` | a table in text with names in its first line, separated by commas, semicolons or tabs; the column `field` holds the documents. Cells in double quotes may hold line breaks; an empty cell is a document without words |
/// | `json` | a list of documents: objects with the document in `field`, texts, or lists of words |
/// | `jsonl` | the same, one JSON value a line |
/// | `lehr` | a converted corpus of [`Docs::save`], which is not read but memory-mapped: leave it alone while its documents are in use, since shortening it would stop the process |
///
/// LDA-C and SVMlight look alike: it is LDA-C if the first number of each of the first 100 lines is
/// the number of pairs behind it. A word that a document has twice is added up, a count of 0 is left
/// out, and a document without words stays, as an empty one. Files named .csv, .tsv or .json are never
/// taken for lines of text. A list of words is taken as it is: the words are not split, changed or held
/// against a stop list or a length, unless `stop_words` or `min_length` are given. A field that is null or not
/// there is a document without words; they are counted, and a note says how many. Of a table or of JSON, one
/// document is in memory at a time, with what was made of those before.
///
/// # Words of a text
///
/// A word is an unbroken run of letters in any script ([`char::is_alphabetic`]), in lower case, with
/// its accents. Everything else ends a word: blanks, digits, hyphens, apostrophes; the stop list
/// holds what is left of English contractions, e.g. "don" of "don't". Words are not stemmed.
/// Scripts without blanks between words have to be split into words beforehand. Then words are left
/// out by their length, the stop list, and the share of documents that have them; [`DocsOptions`]
/// says how. The vocabulary is in alphabetical order (that of Unicode).
///
/// ```
/// use lehr::read::{self, DocsOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("news.txt");
/// std::fs::write(&path, "The bank raised its rates.\nRates fell; the bank's shares fell.\n")?;
///
/// let docs = read::docs(&path, &DocsOptions::default())?;
/// assert_eq!(docs.vocabulary().names().unwrap(), ["bank", "fell", "raised", "rates", "shares"]);
/// assert_eq!(docs.word_counts(), [2.0, 2.0, 1.0, 2.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn docs(path: &Path, options: &DocsOptions) -> Result<Docs> {
    read(path, options, None, None)
}

/// Reads documents for a model that was fitted to other ones: words get the numbers that they have
/// in `vocabulary`. They are matched by name if both sides have names, else by number. Words outside
/// the vocabulary are left out and counted.
///
/// Of a text, all words of the vocabulary are kept; `stop_words` and `min_length` say which others
/// count as unknown, and `min_docs`, `max_docs` and `max_words` are not used.
///
/// ```
/// use lehr::data::Vocabulary;
/// use lehr::read::{self, DocsOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("news.txt");
/// std::fs::write(&path, "Rates fell, and rates rose.\n")?;
/// let vocabulary = Vocabulary::named(vec!["bank".into(), "rates".into()])?;
/// let (docs, unknown) = read::docs_with(&path, &DocsOptions::default(), &vocabulary)?;
/// assert_eq!(docs.word_counts(), [0.0, 2.0]);
/// assert_eq!((unknown.words, unknown.tokens), (2, 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn docs_with(
    path: &Path,
    options: &DocsOptions,
    vocabulary: &Vocabulary,
) -> Result<(Docs, Unknown)> {
    let docs = read(path, options, Some(vocabulary), None)?;
    words::matched(docs, vocabulary)
}

/// Reads one file of a corpus that may have others: of a text, all words that may count, for [`kept_words`] to choose from.
/// A corpus that is too large for the `room` is written to its file.
pub(crate) fn docs_with_all_words(path: &Path, options: &DocsOptions, room: &Room) -> Result<Docs> {
    let nothing = Vocabulary::named(Vec::new())?;
    read(path, options, options.vocab.is_none().then_some(&nothing), Some(room))
}

/// Reads a corpus; of a text for a model's vocabulary, all words.
fn read(
    path: &Path,
    options: &DocsOptions,
    model: Option<&Vocabulary>,
    room: Option<&Room>,
) -> Result<Docs> {
    if ShardFolder::is(path) {
        let asked = DocsOptions { ids: false, ..options.clone() };
        return open_shards(path, asked != DocsOptions::default());
    }
    let mut source = Source::open(path, &NEEDED)?;
    source.room = room.cloned();
    let binary = recognise::binary(&source, options.format)?;
    let (format, input) = match binary {
        Some(format) => (format, Err(source)),
        None => {
            source.check_text(&NEEDED)?;
            let name = source.name.clone();
            let mut lines = Lines::new(source);
            let format = match options.format {
                Some(format) => format,
                None => recognise::text(&name, lines.peek()?),
            };
            (format, Ok(lines))
        }
    };
    if format != CorpusFormat::Parquet {
        options.check(path, format, format.is_text())?;
    }
    let names = Names::find(path, format, options)?;
    match (format, input) {
        (CorpusFormat::Uci, Ok(lines)) => uci::read(lines, names),
        (CorpusFormat::Ldac, Ok(lines)) => pairs::read_ldac(lines, names),
        (CorpusFormat::Svmlight, Ok(lines)) => pairs::read_svmlight(lines, options, names),
        (CorpusFormat::MatrixMarket, Ok(lines)) => matrix_market::read(lines, options, names),
        (_, Ok(lines)) if format.is_text() => {
            let mut gather = Gather::new(path, options, names, model, room)?;
            match format {
                CorpusFormat::Csv => table::read(lines.into_source(), &mut gather)?,
                CorpusFormat::Json => json::read(lines.into_source(), &mut gather)?,
                _ => text::read(lines, format, &mut gather)?,
            }
            gather.finish()
        }
        (CorpusFormat::Npz, Err(source)) => npz::read(source, names),
        (CorpusFormat::Parquet, Err(source)) => read_parquet(source, options, names, model),
        (_, Err(source)) => open_converted(source, names),
        (_, Ok(_)) => {
            let found = format!("is text and not {format}; leave ");
            Err(Error::parse(path, advice![found, setting("format"), " out"]))
        }
    }
}

fn open_converted(source: Source<'_>, names: Option<Names>) -> Result<Docs> {
    let (file, _) = plain_file(&source, "a converted corpus")?;
    let docs = data::open(source.path, &file)?;
    match names {
        None => Ok(docs),
        Some(names) => {
            names.check(source.path, docs.n_words() as u64)?;
            docs.with_vocabulary(names.into_words())
        }
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(
    source: Source<'_>,
    options: &DocsOptions,
    names: Option<Names>,
    model: Option<&Vocabulary>,
) -> Result<Docs> {
    parquet::read(source, options, names, model)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(
    source: Source<'_>,
    _: &DocsOptions,
    _: Option<Names>,
    _: Option<&Vocabulary>,
) -> Result<Docs> {
    Err(Error::parse(
        source.path,
        "this build of lehr leaves Parquet out; build it with the feature parquet, or save the matrix with scipy.sparse.save_npz",
    ))
}
