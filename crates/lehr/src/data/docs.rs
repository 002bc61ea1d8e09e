//! Documents as bags of words: which words each has, and how often.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::Xxh3;

use super::Vocabulary;
use crate::{Error, Result};

/// A word of a document and how often it occurs there.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The word, by its place in the vocabulary.
    pub word: u32,
    /// How often; fractions are fine, 0 and below are not.
    pub count: f32,
}

/// A corpus, or some documents of one. Copies are cheap: they share the words.
///
/// ```
/// use lehr::data::Docs;
///
/// let docs = Docs::from_rows(vec![vec![(0, 2.0), (3, 1.0)], vec![], vec![(1, 0.5)]], 4)?;
/// assert_eq!((docs.n_items(), docs.n_words(), docs.tokens()), (3, 4, 3.5));
/// assert_eq!(docs.doc(0)[1].word, 3);
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Docs {
    corpus: Arc<Corpus>,
    /// Which documents of the corpus; all if absent.
    items: Option<Arc<[u32]>>,
}

#[derive(Debug)]
struct Corpus {
    /// Where each document's entries begin, and the end of the last.
    offsets: Vec<u64>,
    /// Rising words within each document.
    entries: Vec<Entry>,
    vocabulary: Vocabulary,
    /// How often each word occurs in all documents.
    word_counts: Vec<f64>,
}

impl Docs {
    /// A corpus from each document's (word, count) pairs, in any order; a word that a document has
    /// twice is added up, counts of 0 are left out.
    pub fn from_rows(
        rows: impl IntoIterator<Item = Vec<(u32, f64)>>,
        n_words: usize,
    ) -> Result<Self> {
        let mut offsets = vec![0];
        let mut entries = Vec::new();
        for (n, mut row) in rows.into_iter().enumerate() {
            row.sort_by_key(|&(word, _)| word);
            let begin = entries.len();
            for (word, count) in row {
                if !(count >= 0.0 && count.is_finite()) {
                    return Err(Error::data(format!(
                        "document {} has word {word} {count} times; a count is 0 or more",
                        n + 1
                    )));
                }
                if count == 0.0 {
                    continue;
                }
                match entries[begin..].last_mut() {
                    Some(Entry { word: last, count: sum }) if *last == word => *sum += count as f32,
                    _ => entries.push(Entry { word, count: count as f32 }),
                }
            }
            offsets.push(entries.len() as u64);
        }
        Self::new(offsets, entries, Vocabulary::unnamed(n_words))
    }

    /// A corpus from its parts: document n has `entries[offsets[n]..offsets[n + 1]]`, whose words
    /// rise and whose counts are positive.
    pub fn new(offsets: Vec<u64>, entries: Vec<Entry>, vocabulary: Vocabulary) -> Result<Self> {
        let whole = offsets.first() == Some(&0) && offsets.last() == Some(&(entries.len() as u64));
        if !whole || !offsets.is_sorted() {
            return Err(Error::data("the documents' offsets do not rise from 0 to the last entry"));
        }
        let mut word_counts = vec![0.0; vocabulary.n_words()];
        for (n, ends) in offsets.windows(2).enumerate() {
            let doc = &entries[ends[0] as usize..ends[1] as usize];
            if !doc.is_sorted_by(|a, b| a.word < b.word) {
                let message = format!("the words of document {} do not rise", n + 1);
                return Err(Error::data(message));
            }
            for &Entry { word, count } in doc {
                if !(count > 0.0 && count.is_finite()) {
                    return Err(Error::data(format!("document {} has a count of {count}", n + 1)));
                }
                let Some(sum) = word_counts.get_mut(word as usize) else {
                    return Err(Error::data(format!(
                        "document {} has word {word}, and the vocabulary has only {}",
                        n + 1,
                        vocabulary.n_words()
                    )));
                };
                *sum += f64::from(count);
            }
        }
        let corpus = Corpus { offsets, entries, vocabulary, word_counts };
        Ok(Docs { corpus: Arc::new(corpus), items: None })
    }

    /// How many documents.
    pub fn n_items(&self) -> usize {
        self.items.as_ref().map_or(self.corpus.offsets.len() - 1, |items| items.len())
    }

    /// V, the size of the vocabulary.
    pub fn n_words(&self) -> usize {
        self.corpus.vocabulary.n_words()
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.corpus.vocabulary
    }

    /// Document `n`: rising words, positive counts.
    pub fn doc(&self, n: usize) -> &[Entry] {
        let n = self.items.as_ref().map_or(n, |items| items[n] as usize);
        let Corpus { offsets, entries, .. } = &*self.corpus;
        &entries[offsets[n] as usize..offsets[n + 1] as usize]
    }

    /// How often each word occurs in all of these documents.
    pub fn word_counts(&self) -> Vec<f64> {
        let Some(items) = &self.items else { return self.corpus.word_counts.clone() };
        let all = self.corpus.offsets.len() - 1;
        // What is cheaper: to add these documents up, or to take the others off the total.
        if 2 * items.len() <= all {
            let mut sums = vec![0.0; self.n_words()];
            (0..items.len()).for_each(|n| add_counts(self.doc(n), 1.0, &mut sums));
            return sums;
        }
        let mut chosen = vec![false; all];
        items.iter().for_each(|&n| chosen[n as usize] = true);
        let whole = Docs { corpus: Arc::clone(&self.corpus), items: None };
        let mut sums = self.corpus.word_counts.clone();
        for n in (0..all).filter(|&n| !chosen[n]) {
            add_counts(whole.doc(n), -1.0, &mut sums);
        }
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
        sums
    }

    /// The number of words of all documents, each as often as it occurs.
    pub fn tokens(&self) -> f64 {
        self.word_counts().iter().sum()
    }

    /// Some of the documents, in the order of `items`.
    pub fn subset(&self, items: &[u32]) -> Self {
        let items = match &self.items {
            None => items.into(),
            Some(own) => items.iter().map(|&n| own[n as usize]).collect(),
        };
        Docs { corpus: Arc::clone(&self.corpus), items: Some(items) }
    }

    /// What identifies the corpus: a hash of all words and counts.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(&(self.n_words() as u64).to_le_bytes());
        for n in 0..self.n_items() {
            let doc = self.doc(n);
            hash.update(&(doc.len() as u64).to_le_bytes());
            hash.update(bytemuck::cast_slice(doc));
        }
        format!("{:032x}", hash.digest128())
    }
}

fn add_counts(doc: &[Entry], factor: f64, sums: &mut [f64]) {
    doc.iter().for_each(|e| sums[e.word as usize] += factor * f64::from(e.count));
}
