//! Reads text, one document a line or a JSON object, and chooses the words to keep.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::builder::Builder;
use super::lines::Lines;
use super::vocab::Names;
use super::{CorpusFormat, DocsOptions, stop_words, tokens, words};
use crate::data::{Docs, Vocabulary};
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

const MIN_DOCS: usize = 5;
const MAX_DOCS: f64 = 0.5;
const MAX_WORDS: usize = 100_000;
const MIN_LENGTH: usize = 3;
/// Below this many documents, being in half of them says little about a word.
const FEW_DOCS: usize = 20;

/// Reads a text with the words that the options choose; with those of `names` if there are any; or,
/// for a `model`, with all words.
pub(super) fn read(
    mut lines: Lines<'_>,
    format: CorpusFormat,
    options: &DocsOptions,
    names: Option<Names>,
    model: Option<&Vocabulary>,
) -> Result<Docs> {
    let path = lines.path();
    if model.is_some_and(|model| model.names().is_none()) {
        return Err(Error::parse(
            path,
            "is text, but the model's vocabulary has numbers only; fit the model to a corpus with a vocabulary file, or give documents as numbers",
        ));
    }
    // What is outside of a model's vocabulary is to be counted, not left out here.
    let names = names.filter(|_| model.is_none());
    let filter = Filter::new(options, names.as_ref(), model)?;
    let mut bags = Bags { builder: Builder::of_lines(), ..Bags::default() };
    let field = options.field.as_deref().unwrap_or("text");
    while let Some(line) = lines.read()? {
        let document = match format {
            CorpusFormat::Jsonl if line.trim_ascii().is_empty() => continue,
            CorpusFormat::Jsonl => json_field(line, field),
            _ => plain(line),
        };
        match document {
            Ok(text) => bags.add(&text, &filter).map_err(|text| lines.fault("", text))?,
            Err((column, text)) => return Err(lines.fault(&column, text)),
        }
    }
    let Bags { numbers, builder, n_docs, .. } = bags;
    let mut found = vec![String::new(); numbers.len()];
    numbers.into_iter().for_each(|(word, number)| found[number as usize] = word);
    let all = builder.finish(path, n_docs, found.len() as u64, None)?.with_vocabulary(found)?;
    match names {
        Some(names) => Ok(words::matched(all, &names.into_vocabulary()?)?.0),
        None if model.is_some() => Ok(all),
        None => choose(&lines, all, options),
    }
}

/// The documents with the words that are neither too rare nor too common.
fn choose(lines: &Lines<'_>, docs: Docs, options: &DocsOptions) -> Result<Docs> {
    let n_docs = docs.n_items();
    let min_docs = match options.min_docs {
        Some(min_docs) => min_docs as usize,
        None => (n_docs / 100).clamp(1, MIN_DOCS),
    };
    let max_docs = options.max_docs.unwrap_or(if n_docs < FEW_DOCS { 1.0 } else { MAX_DOCS });
    let most = max_docs * n_docs as f64;
    let (counts, frequencies) = (docs.word_counts(), docs.doc_frequencies());
    let names = docs.vocabulary().names().unwrap_or_default();
    let mut kept: Vec<usize> = (0..names.len())
        .filter(|&v| frequencies[v] as usize >= min_docs && f64::from(frequencies[v]) <= most)
        .collect();
    if kept.is_empty() {
        return Err(Error::parse(
            lines.path(),
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
    let mut numbers = vec![None; names.len()];
    kept.iter().zip(0..).for_each(|(&v, number)| numbers[v] = Some(number));
    let vocabulary = Vocabulary::named(kept.iter().map(|&v| names[v].clone()).collect())?;
    words::renumbered(&docs, &numbers, vocabulary)
}

/// Which words count.
struct Filter<'a> {
    /// These do in any case.
    always: HashSet<&'a str>,
    stop_words: HashSet<String>,
    min_length: usize,
}

impl<'a> Filter<'a> {
    fn new(
        options: &DocsOptions,
        names: Option<&'a Names>,
        model: Option<&'a Vocabulary>,
    ) -> Result<Self> {
        let always = match (names, model.and_then(Vocabulary::names)) {
            (Some(names), _) => names.words(),
            (None, Some(names)) => names,
            (None, None) => &[],
        };
        let fixed = names.is_some();
        Ok(Filter {
            always: always.iter().map(String::as_str).collect(),
            stop_words: if fixed { HashSet::new() } else { stop_words::read(&options.stop_words)? },
            min_length: if fixed { usize::MAX } else { options.min_length.unwrap_or(MIN_LENGTH) },
        })
    }

    fn keeps(&self, word: &str) -> bool {
        // A word has at least as many bytes as letters.
        let long = word.len() >= self.min_length && word.chars().count() >= self.min_length;
        (long && !self.stop_words.contains(word)) || self.always.contains(word)
    }
}

/// The documents so far, with words numbered as they appear.
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
    fn add(&mut self, text: &str, filter: &Filter<'_>) -> std::result::Result<(), String> {
        let Bags { numbers, word, bag, .. } = self;
        tokens::each(text, word, |word| {
            if !filter.keeps(word) {
                return;
            }
            let number = match numbers.get(word) {
                Some(&number) => number,
                None => {
                    let number = numbers.len() as u32;
                    numbers.insert(word.to_string(), number);
                    number
                }
            };
            *bag.entry(number).or_default() += 1;
        });
        let doc = u32::try_from(self.n_docs).ok().filter(|_| numbers.len() < u32::MAX as usize);
        let Some(doc) = doc else {
            return Err(format!("there may be at most {} documents and words", u32::MAX));
        };
        for (word, count) in bag.drain() {
            self.builder.push(doc, word, count as f32);
        }
        self.n_docs += 1;
        Ok(())
    }
}

/// A document, or the field that is at fault and what is wrong with it.
type Document<'l> = std::result::Result<std::borrow::Cow<'l, str>, (String, Advice)>;

fn plain(line: &[u8]) -> Document<'_> {
    match std::str::from_utf8(line) {
        Ok(text) => Ok(text.into()),
        Err(error) => {
            let byte = line[error.valid_up_to()];
            Err((
                String::new(),
                format!(
                    "is not UTF-8 (byte 0x{byte:02x}); convert the file, e.g. with iconv -f latin1 -t utf-8"
                )
                .into(),
            ))
        }
    }
}

fn json_field<'l>(line: &[u8], field: &str) -> Document<'l> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
        let message = format!("is not a JSON object ({error}); give one object a line");
        (String::new(), message.into())
    })?;
    let kind = match object.get(field) {
        Some(Value::String(text)) => return Ok(text.clone().into()),
        None => {
            let fields: Vec<&str> = object.keys().map(String::as_str).take(10).collect();
            let fields = fields.join(", ");
            return Err((
                field.to_string(),
                advice![
                    format!(
                        "there is no such field, only: {fields}; name the one with the text with "
                    ),
                    setting("field"),
                ],
            ));
        }
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "true or false",
        Some(Value::Number(_)) => "a number",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    };
    Err((
        field.to_string(),
        format!("found {kind}; the document must be a text: \"\" if it is empty").into(),
    ))
}
