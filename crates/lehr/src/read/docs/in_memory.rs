//! Documents that a program has already: texts, or lists of words.

use std::path::Path;

use super::gather::{Body, Gather};
use super::vocab::Names;
use super::{CorpusFormat, DocsOptions, words};
use crate::data::{Docs, Vocabulary};
use crate::{Error, Result};

/// What messages are about where there is no file.
const WHAT: &str = "the documents";

/// A document as a program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// A text, which is split into words.
    Text(String),
    /// Its words, which are taken as they are.
    Words(Vec<String>),
    /// There is none: it stays, without words.
    Missing,
}

/// Documents of a program, read as those in a file of JSON are: see [`docs`](super::docs). For a `model`, words get the
/// numbers that they have in its vocabulary, as in [`docs_with`](super::docs_with).
///
/// ```
/// use lehr::read::{self, Document, DocsOptions};
///
/// let words = |text: &str| Document::Words(text.split(' ').map(str::to_string).collect());
/// let given = vec![words("new_york bank"), words("bank bank"), Document::Text("The bank!".into())];
/// let docs = read::docs_of(given, &DocsOptions::default(), None)?;
/// assert_eq!(docs.vocabulary().names().unwrap(), ["bank", "new_york"]);
/// assert_eq!(docs.word_counts(), [4.0, 1.0]);
/// # Ok::<(), lehr::Error>(())
/// ```
pub fn docs_of(
    documents: impl IntoIterator<Item = Document>,
    options: &DocsOptions,
    model: Option<&Vocabulary>,
) -> Result<Docs> {
    let path = Path::new(WHAT);
    options.check(path, CorpusFormat::Json, true)?;
    let names = Names::find(path, CorpusFormat::Json, options)?;
    let mut gather = Gather::new(path, options, names, model, None)?;
    gather.held_by("their place");
    for document in documents {
        let body = match document {
            Document::Text(text) => Body::Text(text.into()),
            Document::Words(words) => Body::Tokens(words),
            Document::Missing => Body::Missing,
        };
        gather.add(&body, None).map_err(|wrong| Error::parse(path, wrong))?;
    }
    let docs = gather.finish()?;
    match model {
        Some(vocabulary) => Ok(words::matched(docs, vocabulary)?.0),
        None => Ok(docs),
    }
}
