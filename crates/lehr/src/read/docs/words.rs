//! Gives the words of documents other numbers, e.g. those of a model's vocabulary.

use crate::Result;
use crate::data::{Docs, Entry, Vocabulary};

/// What documents have outside a vocabulary.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unknown {
    /// How many different words.
    pub words: usize,
    /// How often they occur, all together.
    pub tokens: f64,
}

/// The documents with the numbers of `vocabulary`, and what it does not have. Words are matched by
/// name if both sides have names, else by number.
pub(super) fn matched(docs: Docs, vocabulary: &Vocabulary) -> Result<(Docs, Unknown)> {
    let numbers: Vec<Option<u32>> = match docs.vocabulary().names() {
        Some(names) if vocabulary.names().is_some() => {
            let known = vocabulary.numbers();
            names.iter().map(|name| known.get(name.as_str()).copied()).collect()
        }
        _ => (0..docs.n_words()).map(|v| (v < vocabulary.n_words()).then_some(v as u32)).collect(),
    };
    let mut unknown = Unknown::default();
    let outside = docs.word_counts().into_iter().zip(&numbers);
    for (count, _) in outside.filter(|&(count, number)| number.is_none() && count > 0.0) {
        unknown.words += 1;
        unknown.tokens += count;
    }
    let same = numbers.len() == vocabulary.n_words()
        && numbers.iter().zip(0..).all(|(&number, v)| number == Some(v));
    // Documents in a converted file can then stay there.
    let docs = match vocabulary.names() {
        Some(names) if same => docs.with_vocabulary(names.to_vec())?,
        None if same => docs,
        _ => renumbered(&docs, &numbers, vocabulary.clone())?,
    };
    Ok((docs, unknown))
}

/// The documents with `numbers[v]` in place of word v; words without a number are left out.
pub(super) fn renumbered(
    docs: &Docs,
    numbers: &[Option<u32>],
    vocabulary: Vocabulary,
) -> Result<Docs> {
    let mut offsets = Vec::with_capacity(docs.n_items() + 1);
    let mut entries: Vec<Entry> = Vec::new();
    offsets.push(0);
    for n in 0..docs.n_items() {
        let begin = entries.len();
        entries.extend(docs.doc(n).iter().filter_map(|&Entry { word, count }| {
            numbers[word as usize].map(|word| Entry { word, count })
        }));
        entries[begin..].sort_unstable_by_key(|entry| entry.word);
        offsets.push(entries.len() as u64);
    }
    match docs.fault() {
        Some(fault) => Err(fault),
        None => Ok(Docs::new(offsets, entries, vocabulary)?.told_as(docs)),
    }
}
