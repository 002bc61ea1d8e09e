//! Gathers documents of words, one at a time, and chooses the words to keep.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::builder::Builder;
use super::ngrams::Ngrams;
use super::tokens::Splitter;
use super::vocab::Names;
use super::{DocsOptions, Room, stop_words, words};
use crate::data::{Docs, Vocabulary};
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

const MIN_DOCS: usize = 5;
const MAX_DOCS: f64 = 0.5;
const MAX_WORDS: usize = 100_000;
const MIN_LENGTH: usize = 3;
/// Below this many documents, being in half of them says little about a word.
const FEW_DOCS: usize = 20;

/// Letters of a text that are kept if texts are wanted: a paragraph.
const KEPT: usize = 1000;

/// A document before its words are known.
#[derive(Debug)]
pub(super) enum Body<'t> {
    /// To be split into words.
    Text(Cow<'t, str>),
    /// It is split already; the words are taken as they are.
    Tokens(Vec<String>),
    /// There is none where it should be.
    Missing,
}

/// The documents so far.
pub(super) struct Gather<'a> {
    path: &'a Path,
    options: &'a DocsOptions,
    names: Option<Names>,
    model: Option<&'a Vocabulary>,
    filter: Filter,
    bags: Bags,
    ngrams: Ngrams,
    /// One for each document, or none at all.
    ids: Vec<String>,
    /// How each starts, if that is wanted.
    texts: Vec<String>,
    /// How many documents were missing, and what was to hold them.
    gaps: u64,
    holder: String,
}

impl<'a> Gather<'a> {
    /// For documents with the words that the options choose; with those of `names` if there are any; or, for a
    /// `model`, with all words.
    pub(super) fn new(
        path: &'a Path,
        options: &'a DocsOptions,
        names: Option<Names>,
        model: Option<&'a Vocabulary>,
        room: Option<&Room>,
    ) -> Result<Self> {
        if model.is_some_and(|model| model.names().is_none()) {
            return Err(Error::parse(
                path,
                "is text, but the model's vocabulary has numbers only; fit the model to a corpus with a vocabulary file, or give documents as numbers",
            ));
        }
        // What is outside of a model's vocabulary is to be counted, not left out here.
        let names = names.filter(|_| model.is_none());
        let filter = Filter::new(options, names.as_ref(), model)?;
        // Words that are known have their numbers from the start, so that none changes afterwards.
        let known = names.as_ref().map_or(&[][..], Names::words);
        let numbers = known.iter().cloned().zip(0..).collect();
        let builder = Builder::of_lines().spilling(room);
        let bags = Bags { numbers, builder, ..Bags::default() };
        let (ids, texts, gaps, holder) = (Vec::new(), Vec::new(), 0, String::new());
        let ngrams = Ngrams::default();
        Ok(Gather { path, options, names, model, filter, bags, ngrams, ids, texts, gaps, holder })
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// How the documents are to be read.
    pub(super) fn options(&self) -> &'a DocsOptions {
        self.options
    }

    /// Calls what holds the documents, for a note on those that are missing: a column or a field.
    pub(super) fn held_by(&mut self, holder: impl Into<String>) {
        self.holder = holder.into();
    }

    /// Adds a document, and its id if the documents have some.
    pub(super) fn add(&mut self, body: &Body<'_>, id: Option<String>) -> Result<(), String> {
        match body {
            Body::Text(text) => {
                let mut word = std::mem::take(&mut self.bags.word);
                let splitter = self.filter.splitter;
                splitter.each(text, &mut word, |word| self.see(word, splitter.is_given()));
                self.bags.word = word;
            }
            Body::Tokens(tokens) => tokens.iter().for_each(|token| self.see(token, true)),
            Body::Missing => self.gaps += 1,
        }
        if self.options.texts {
            self.texts.push(beginning(body));
        }
        if let Some(id) = id {
            // Those before it had none.
            self.ids.resize(self.bags.n_docs as usize, String::new());
            self.ids.push(id);
        }
        self.ngrams.clear();
        self.bags.end()
    }

    /// Counts a word, and the n-grams that it ends, if they are to count.
    fn see(&mut self, word: &str, is_given: bool) {
        let Gather { filter, bags, ngrams, .. } = self;
        let keeps = if is_given { filter.keeps_token(word) } else { filter.keeps(word) };
        if keeps {
            bags.count(word);
        }
        if filter.longest > 1 && filter.joins(word, is_given) {
            ngrams.add(word, filter.longest, |ngram| {
                if filter.keeps_ngram(ngram) {
                    bags.count(ngram);
                }
            });
        }
    }

    pub(super) fn finish(self) -> Result<Docs> {
        let Gather { path, options, names, model, bags, mut ids, texts, gaps, holder, .. } = self;
        let Bags { numbers, builder, n_docs, .. } = bags;
        let docs = match names {
            Some(names) => builder.finish(path, n_docs, names.len(), Some(names))?,
            None => {
                let mut found = vec![String::new(); numbers.len()];
                numbers.into_iter().for_each(|(word, number)| found[number as usize] = word);
                let all = builder.finish(path, n_docs, found.len() as u64, None)?;
                let all = all.with_vocabulary(found)?;
                if model.is_some() { all.with_all_words() } else { choose(path, all, options)? }
            }
        };
        let docs = match ids.is_empty() {
            true => docs,
            false => {
                ids.resize(docs.n_items(), String::new());
                docs.with_ids(ids)?
            }
        };
        let docs = if options.texts { docs.with_texts(texts)? } else { docs };
        Ok(if gaps == 0 { docs } else { docs.with_note(gaps_note(path, gaps, n_docs, &holder)) })
    }
}

/// How a document starts.
fn beginning(body: &Body<'_>) -> String {
    let text = match body {
        Body::Text(text) => Cow::Borrowed(&**text),
        Body::Tokens(tokens) => Cow::Owned(tokens.join(" ")),
        Body::Missing => return String::new(),
    };
    text.chars().take(KEPT).collect()
}

/// What to say of documents that were missing.
fn gaps_note(path: &Path, gaps: u64, n_docs: u64, holder: &str) -> Advice {
    let (have, so) = match gaps {
        1 => ("has", "it is empty, and changes nothing"),
        _ => ("have", "they are empty, and change nothing"),
    };
    advice![format!(
        "{}: {gaps} of {n_docs} documents {have} no text in {holder}; {so}",
        path.display()
    )]
}

/// The documents with the words that are neither too rare nor too common.
fn choose(path: &Path, docs: Docs, options: &DocsOptions) -> Result<Docs> {
    let (counts, frequencies) = (docs.word_counts(), docs.doc_frequencies());
    let names = docs.vocabulary().names().unwrap_or_default();
    let kept = kept_words(path, docs.n_items(), names, &counts, &frequencies, options)?;
    let mut numbers = vec![None; names.len()];
    kept.iter().zip(0..).for_each(|(&v, number)| numbers[v] = Some(number));
    let vocabulary = Vocabulary::named(kept.iter().map(|&v| names[v].clone()).collect())?;
    words::renumbered(&docs, &numbers, vocabulary)
}

/// The words, by their places in `names`, that are neither too rare nor too common, in the order of their names.
/// Messages are about `path`.
pub(crate) fn kept_words(
    path: &Path,
    n_docs: usize,
    names: &[String],
    counts: &[f64],
    frequencies: &[u32],
    options: &DocsOptions,
) -> Result<Vec<usize>> {
    let min_docs = match options.min_docs {
        Some(min_docs) => min_docs as usize,
        None => (n_docs / 100).clamp(1, MIN_DOCS),
    };
    let max_docs = options.max_docs.unwrap_or(if n_docs < FEW_DOCS { 1.0 } else { MAX_DOCS });
    let most = max_docs * n_docs as f64;
    let mut kept: Vec<usize> = (0..names.len())
        .filter(|&v| frequencies[v] as usize >= min_docs && f64::from(frequencies[v]) <= most)
        .collect();
    if kept.is_empty() {
        return Err(Error::parse(
            path,
            advice![
                format!("no words are left of {} in {n_docs} documents, with ", names.len()),
                setting("min_docs").to(min_docs),
                " and ",
                setting("max_docs").to(max_docs),
                ", after ",
                setting("stop_words"),
                " and ",
                setting("min_length"),
                "; lower ",
                setting("min_docs"),
                " or raise ",
                setting("max_docs"),
                ", or give ",
                setting("format"),
                " if this is not text with one document a line",
            ],
        ));
    }
    kept.sort_unstable_by(|&a, &b| {
        counts[b].total_cmp(&counts[a]).then_with(|| names[a].cmp(&names[b]))
    });
    kept.truncate(options.max_words.unwrap_or(MAX_WORDS));
    kept.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]));
    Ok(kept)
}

/// Which words count.
struct Filter {
    /// These do in any case.
    always: HashSet<String>,
    stop_words: HashSet<String>,
    min_length: usize,
    /// Whether only those of `always` do.
    fixed: bool,
    /// Whether tokens, which are the user's choice already, are compared with the list and the length as well.
    tokens_too: (bool, bool),
    splitter: Splitter,
    /// How many words side by side become one at most.
    longest: usize,
    /// Whether a model has its words already, which n-grams beyond them are no part of.
    has_model: bool,
}

impl Filter {
    fn new(
        options: &DocsOptions,
        names: Option<&Names>,
        model: Option<&Vocabulary>,
    ) -> Result<Self> {
        let always = match (names, model.and_then(Vocabulary::names)) {
            (Some(names), _) => names.words(),
            (None, Some(names)) => names,
            (None, None) => &[],
        };
        let fixed = names.is_some();
        let splitter = Splitter::new(options);
        Ok(Filter {
            always: always.iter().cloned().collect(),
            stop_words: if fixed {
                HashSet::new()
            } else {
                stop_words::read(&options.stop_words, splitter)?
            },
            min_length: options.min_length.unwrap_or(MIN_LENGTH),
            fixed,
            tokens_too: (options.stop_words.is_some(), options.min_length.is_some()),
            splitter,
            longest: options.ngrams.unwrap_or(1),
            has_model: model.is_some(),
        })
    }

    fn keeps(&self, word: &str) -> bool {
        (!self.fixed && self.is_long(word) && !self.stop_words.contains(word))
            || self.always.contains(word)
    }

    fn keeps_token(&self, token: &str) -> bool {
        let (list, length) = self.tokens_too;
        let stays = !(list && self.stop_words.contains(token)) && (!length || self.is_long(token));
        (!self.fixed && !token.is_empty() && stays) || self.always.contains(token)
    }

    /// Whether a word may be part of an n-gram.
    fn joins(&self, word: &str, is_given: bool) -> bool {
        let (list, length) = if is_given { self.tokens_too } else { (true, true) };
        !word.is_empty()
            && (!list || !self.stop_words.contains(word))
            && (!length || self.is_long(word))
    }

    fn keeps_ngram(&self, ngram: &str) -> bool {
        !(self.fixed || self.has_model) || self.always.contains(ngram)
    }

    fn is_long(&self, word: &str) -> bool {
        // A word has at least as many bytes as letters.
        word.len() >= self.min_length && word.chars().count() >= self.min_length
    }
}

/// Bags of words, with words numbered as they appear.
#[derive(Default)]
struct Bags {
    numbers: HashMap<String, u32>,
    builder: Builder,
    n_docs: u64,
    word: String,
    /// How often each word occurs in the document at hand.
    bag: HashMap<u32, u32>,
}

impl Bags {
    /// Adds a word of the document at hand.
    fn count(&mut self, word: &str) {
        let number = match self.numbers.get(word) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(word.to_string(), number);
                number
            }
        };
        *self.bag.entry(number).or_default() += 1;
    }

    /// Ends the document at hand.
    fn end(&mut self) -> Result<(), String> {
        let few_words = self.numbers.len() < u32::MAX as usize;
        let Some(doc) = u32::try_from(self.n_docs).ok().filter(|_| few_words) else {
            return Err(format!("there may be at most {} documents and words", u32::MAX));
        };
        for (word, count) in self.bag.drain() {
            self.builder.push(doc, word, count as f32);
        }
        self.n_docs += 1;
        Ok(())
    }
}
