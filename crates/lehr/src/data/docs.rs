//! Documents as bags of words: which words each has, and how often.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::Xxh3;

use super::corpus::{Corpus, Sums};
use super::corpus_file;
use super::dataset::make_absolute;
use super::{Count, Dataset, FromFile, Vocabulary};
use crate::error::{self, Advice, advice};
use crate::read::{self, DocsOptions, StopWords};
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

/// A corpus, or some documents of one, in memory or left in a converted file (see
/// [`save`](Docs::save)). Copies are cheap: they share the words.
///
/// ```
/// use lehr::data::Docs;
///
/// let docs = Docs::from_rows(vec![vec![(0, 2.0), (3, 1.0)], vec![], vec![(1, 0.5)]], 4)?;
/// assert_eq!((docs.n_items(), docs.n_words(), docs.tokens()), (3, 4, 3.5));
/// assert_eq!(docs.doc(0)[1].word, 3);
/// assert_eq!(docs.doc_frequencies(), [1, 1, 0, 1]);
/// # Ok::<(), lehr::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Docs {
    corpus: Arc<Corpus>,
    vocabulary: Vocabulary,
    /// Which documents of the corpus; all if absent.
    items: Option<Arc<[u32]>>,
    /// What each document of the corpus is called, if they have names.
    ids: Option<Arc<[String]>>,
    /// How the text of each document of the corpus starts, if it was kept.
    texts: Option<Arc<[String]>>,
    /// What someone who reads them should know.
    notes: Vec<Advice>,
    /// Whether they are the shards of a folder, and not one corpus.
    in_parts: bool,
    /// Whether they have words that a reader of one file alone could not choose from.
    unchosen: bool,
    /// Documents read from a converted file since its memory was last let go.
    read: Arc<AtomicUsize>,
}

/// Converted files up to this size may stay in memory.
const SMALL: u64 = 128 << 20;

/// Of larger ones, this many documents: one that is read keeps up to 256 kB around it in memory.
const MOST_READ: usize = 250;

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
                    return Err(bad_count(n, word, count));
                }
                let count = count as f32;
                if count == 0.0 {
                    continue;
                }
                match entries[begin..].last_mut() {
                    Some(Entry { word: last, count: sum }) if *last == word => *sum += count,
                    _ => entries.push(Entry { word, count }),
                }
            }
            offsets.push(entries.len() as u64);
        }
        Self::new(offsets, entries, Vocabulary::unnamed(n_words))
    }

    /// A corpus from a sparse matrix by rows: document n has the words `indices[starts[n]..starts[n + 1]]`
    /// as often as `counts` says. Words may come in any order; one that comes twice is added up.
    ///
    /// ```
    /// use lehr::data::Docs;
    ///
    /// let docs = Docs::from_csr(&[0, 3, 3], &[2i32, 0, 2], &[1.0f32, 4.0, 2.0], 3)?;
    /// assert_eq!((docs.n_items(), docs.doc(0)[1].count), (2, 3.0));
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn from_csr<I: Copy + Into<i64>, C: Copy + Into<f64>>(
        starts: &[i64],
        indices: &[I],
        counts: &[C],
        n_words: usize,
    ) -> Result<Self> {
        let ends = starts.first() == Some(&0) && starts.is_sorted();
        let whole = starts.last().is_some_and(|&end| end as usize == indices.len());
        if !ends || !whole || counts.len() != indices.len() {
            return Err(Error::data(format!(
                "the rows' starts do not rise from 0 to the {} indices, which have {} values",
                indices.len(),
                counts.len()
            )));
        }
        let mut offsets = Vec::with_capacity(starts.len());
        offsets.push(0);
        let mut entries: Vec<Entry> = Vec::with_capacity(indices.len());
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (n, ends) in starts.windows(2).enumerate() {
            let range = ends[0] as usize..ends[1] as usize;
            row.clear();
            for (&index, &count) in indices[range.clone()].iter().zip(&counts[range]) {
                let word = u32::try_from(index.into()).ok().filter(|&w| (w as usize) < n_words);
                let Some(word) = word else {
                    return Err(Error::data(advice![
                        "document ",
                        error::index(n),
                        format!(
                            " has word {}, and words are numbered from 0 to {}",
                            index.into(),
                            n_words as i64 - 1
                        ),
                    ]));
                };
                row.push((word, count.into()));
            }
            if !row.is_sorted_by_key(|&(word, _)| word) {
                row.sort_by_key(|&(word, _)| word);
            }
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                let (word, count) = (same[0].0, same.iter().map(|&(_, count)| count).sum::<f64>());
                if !(count >= 0.0 && count.is_finite()) {
                    return Err(bad_count(n, word, count));
                }
                if count as f32 > 0.0 {
                    entries.push(Entry { word, count: count as f32 });
                }
            }
            offsets.push(entries.len() as u64);
        }
        Self::new(offsets, entries, Vocabulary::unnamed(n_words))
    }

    /// A corpus from its parts: document n has `entries[offsets[n]..offsets[n + 1]]`, whose words
    /// rise and whose counts are positive.
    pub fn new(offsets: Vec<u64>, entries: Vec<Entry>, vocabulary: Vocabulary) -> Result<Self> {
        let corpus = Corpus::in_memory(offsets, entries, vocabulary.n_words())?;
        Ok(Self::of(corpus, vocabulary))
    }

    fn of(corpus: Corpus, vocabulary: Vocabulary) -> Self {
        Docs {
            corpus: Arc::new(corpus),
            vocabulary,
            items: None,
            ids: None,
            texts: None,
            notes: Vec::new(),
            in_parts: false,
            unchosen: false,
            read: Arc::default(),
        }
    }

    /// The documents of several converted files of the same words, one after the other, as parts of one corpus.
    pub(crate) fn joined(
        parts: Vec<Docs>,
        vocabulary: Vocabulary,
        fingerprint: u128,
    ) -> Option<Self> {
        let corpora = parts.into_iter().map(|docs| Arc::into_inner(docs.corpus));
        let corpora: Vec<Corpus> = corpora.collect::<Option<_>>()?;
        let corpus = Corpus::joined(corpora, fingerprint, vocabulary.n_words());
        Some(Docs { in_parts: true, ..Self::of(corpus, vocabulary) })
    }

    /// The same documents, which have all their words: some may have to be left out.
    pub(crate) fn with_all_words(self) -> Self {
        Docs { unchosen: true, ..self }
    }

    /// Whether words may have to be left out.
    pub(crate) fn has_all_words(&self) -> bool {
        self.unchosen
    }

    /// A corpus left in the converted file that it was opened from.
    pub(crate) fn mapped(corpus: Corpus, vocabulary: Vocabulary) -> Self {
        Self::of(corpus, vocabulary)
    }

    /// How many documents.
    pub fn n_items(&self) -> usize {
        self.items.as_ref().map_or(self.corpus.n_docs(), |items| items.len())
    }

    /// V, the size of the vocabulary.
    pub fn n_words(&self) -> usize {
        self.vocabulary.n_words()
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The same documents with names for the words, one for each.
    pub fn with_vocabulary(mut self, names: Vec<String>) -> Result<Self> {
        self.vocabulary = self.vocabulary.with_names(names)?;
        Ok(self)
    }

    /// The same documents with a name for each, e.g. its number in a database.
    ///
    /// ```
    /// use lehr::data::Docs;
    ///
    /// let docs = Docs::from_rows(vec![vec![(0, 2.0)], vec![(1, 1.0)]], 2)?;
    /// let docs = docs.with_ids(vec!["a7".into(), "b3".into()])?;
    /// assert_eq!(docs.subset(&[1]).ids().unwrap(), ["b3"]);
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self> {
        if self.items.is_some() || ids.len() != self.n_items() {
            return Err(Error::data(format!(
                "{} ids for {} documents; give one for each document of a whole corpus",
                ids.len(),
                self.n_items()
            )));
        }
        self.ids = Some(ids.into());
        Ok(self)
    }

    /// What the documents are called, if they have names.
    pub fn ids(&self) -> Option<Vec<String>> {
        let ids = self.ids.as_ref()?;
        Some(match &self.items {
            None => ids.to_vec(),
            Some(items) => items.iter().map(|&n| ids[n as usize].clone()).collect(),
        })
    }

    /// The same documents with how the text of each starts.
    pub fn with_texts(mut self, texts: Vec<String>) -> Result<Self> {
        if self.items.is_some() || texts.len() != self.n_items() {
            return Err(Error::data(format!(
                "{} texts for {} documents; give one for each document of a whole corpus",
                texts.len(),
                self.n_items()
            )));
        }
        self.texts = Some(texts.into());
        Ok(self)
    }

    /// How the text of document `n` starts, if that was kept
    /// ([`DocsOptions::texts`](crate::read::DocsOptions::texts)).
    pub fn text(&self, n: usize) -> Option<&str> {
        let n = self.items.as_ref().map_or(n, |items| items[n] as usize);
        self.texts.as_ref()?.get(n).map(String::as_str)
    }

    /// The same documents, with one more thing that their reader should know.
    pub(crate) fn with_note(mut self, note: Advice) -> Self {
        self.notes.push(note);
        self
    }

    /// With the ids and notes of `docs`, of which these are all with other words.
    pub(crate) fn told_as(mut self, docs: &Docs) -> Self {
        self.ids = docs.ids().map(Into::into);
        self.texts.clone_from(&docs.texts);
        self.notes.clone_from(&docs.notes);
        self
    }

    /// Document `n`: rising words, positive counts.
    ///
    /// A document that is damaged in a converted file is empty here, and [`fault`](Docs::fault)
    /// then says so.
    ///
    /// # Panics
    ///
    /// If `n` is not below [`n_items`](Docs::n_items).
    pub fn doc(&self, n: usize) -> &[Entry] {
        self.corpus.doc(self.items.as_ref().map_or(n, |items| items[n] as usize))
    }

    /// Says that a document will be read soon: those of a batch lie far apart.
    pub(crate) fn prefetch(&self, n: usize) {
        self.corpus.prefetch(self.items.as_ref().map_or(n, |items| items[n] as usize));
    }

    /// What was found wrong with the documents handed out so far. Only a converted file can be
    /// found wrong that late, since opening it does not read the documents: look here after a pass
    /// over them.
    pub fn fault(&self) -> Option<Error> {
        self.corpus.fault()
    }

    /// The size of the entries that are left in a converted file; 0 if all are in memory.
    pub fn mapped_bytes(&self) -> u64 {
        self.corpus.mapped_bytes()
    }

    /// Tells the system that the part of a converted file read so far is not needed soon, so that
    /// a corpus larger than the memory can be walked over. Documents stay usable: they are read
    /// again. Does nothing for a corpus in memory.
    pub fn release(&self) {
        self.corpus.release();
    }

    /// This many documents have just been read: lets go of their memory if they come from a large file
    /// and have become many.
    pub(crate) fn release_after(&self, n_docs: usize) {
        if self.mapped_bytes() <= SMALL {
            return;
        }
        if self.read.fetch_add(n_docs, Ordering::Relaxed) + n_docs > MOST_READ {
            self.read.store(0, Ordering::Relaxed);
            self.release();
        }
    }

    /// How often each word occurs in all of these documents.
    pub fn word_counts(&self) -> Vec<f64> {
        let Some(items) = &self.items else { return self.corpus.sums().counts.clone() };
        self.sums(items, &self.corpus.sums().counts, |entry| f64::from(entry.count))
    }

    /// In how many of these documents each word occurs.
    pub fn doc_frequencies(&self) -> Vec<u32> {
        let Sums { frequencies, .. } = self.corpus.sums();
        let Some(items) = &self.items else { return frequencies.clone() };
        let whole: Vec<f64> = frequencies.iter().map(|&n| f64::from(n)).collect();
        self.sums(items, &whole, |_| 1.0).into_iter().map(|n| n as u32).collect()
    }

    /// For each word the sum of `of` over its entries in these documents; `whole` is that of the
    /// whole corpus.
    fn sums(&self, items: &[u32], whole: &[f64], of: impl Fn(&Entry) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_words()];
        let mut add = |doc: &[Entry], factor: f64| {
            doc.iter().for_each(|entry| sums[entry.word as usize] += factor * of(entry));
        };
        // What is cheaper: to add these documents up, or to take the others off the total.
        if 2 * items.len() <= self.corpus.n_docs() {
            self.corpus.walk(items.iter().map(|&n| n as usize), |_, doc| add(doc, 1.0));
            return sums;
        }
        let mut surplus = vec![-1.0; self.corpus.n_docs()];
        items.iter().for_each(|&n| surplus[n as usize] += 1.0);
        let others = (0..surplus.len()).filter(|&n| surplus[n] != 0.0);
        self.corpus.walk(others, |n, doc| add(doc, surplus[n]));
        sums.iter_mut().zip(whole).for_each(|(sum, &all)| *sum = (*sum + all).max(0.0));
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
        Docs {
            corpus: Arc::clone(&self.corpus),
            vocabulary: self.vocabulary.clone(),
            items: Some(items),
            ids: self.ids.clone(),
            texts: self.texts.clone(),
            notes: self.notes.clone(),
            in_parts: false,
            unchosen: self.unchosen,
            read: Arc::clone(&self.read),
        }
    }

    /// What identifies the corpus: a hash of all words and counts, whichever format they were read
    /// from. The words' names are no part of it.
    pub fn fingerprint(&self) -> String {
        if let (None, Some(stored)) = (&self.items, self.corpus.fingerprint()) {
            return format!("{stored:032x}");
        }
        let mut print = Fingerprint::default();
        self.walk(|doc| print.add(doc));
        format!("{:032x}", print.finish(self.n_words()))
    }

    /// Writes these documents as a converted corpus, which [`read::docs`](crate::read::docs) opens
    /// without reading it: the documents stay in the file and are mapped into memory as they are
    /// needed. An existing file is replaced in one step once the new one is complete.
    ///
    /// # The format
    ///
    /// All numbers are little-endian. D documents, V words, E entries:
    ///
    /// | byte | type | content |
    /// |---|---|---|
    /// | 0 | 8 bytes | `LEHRDOCS` |
    /// | 8 | u32 | version, 1 |
    /// | 12 | u32 | 1 if the words have names, else 0 |
    /// | 16 | u64 | D, at most 2^32 - 1 |
    /// | 24 | u64 | V, at most 2^32 - 1 |
    /// | 32 | u64 | E |
    /// | 40 | u64 | bytes of the names, 0 without names |
    /// | 48 | u128 | the [fingerprint](Docs::fingerprint) |
    /// | 64 | u64 | XXH3 of the words' counts, frequencies and names |
    /// | 72 | u64 | XXH3 of the offsets |
    /// | 80 | u64 | XXH3 of the bytes 0 to 79 |
    /// | 88 | | zeros up to byte 4096 |
    /// | 4096 | E x (u32, f32) | the entries: word and count, document after document |
    /// | 4096 + 8 E | (D + 1) x u64 | the offsets: the first entry of each document, and E |
    /// | + 8 (D + 1) | V x f64 | how often each word occurs |
    /// | + 8 V | V x u32 | in how many documents each word occurs |
    /// | + 4 V | names | for each word: u32 bytes, then the name in UTF-8 |
    ///
    /// Within a document words rise and counts are positive. Nothing follows the names. The header
    /// comes first in the file but is known last, so that documents can be written as they come.
    ///
    /// ```
    /// use lehr::data::Docs;
    /// use lehr::read::{self, DocsOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("corpus.lehr");
    /// let docs = Docs::from_rows(vec![vec![(0, 2.0)], vec![(1, 1.0)]], 2)?;
    /// docs.save(&path)?;
    /// let mapped = read::docs(&path, &DocsOptions::default())?;
    /// assert_eq!(mapped.fingerprint(), docs.fingerprint());
    /// assert_eq!(mapped.mapped_bytes(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: &Path) -> Result<()> {
        corpus_file::write(path, self)
    }

    /// Hands out every document in turn, keeping little of a converted file in memory.
    pub(super) fn walk(&self, mut see: impl FnMut(&[Entry])) {
        match &self.items {
            None => self.corpus.walk(0..self.corpus.n_docs(), |_, doc| see(doc)),
            Some(items) => {
                self.corpus.walk(items.iter().map(|&n| n as usize), |_, doc| see(doc));
            }
        }
    }
}

impl Dataset for Docs {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn fault(&self) -> Option<Error> {
        self.fault()
    }

    fn parts(&self) -> &[usize] {
        if self.in_parts && self.items.is_none() { self.corpus.starts() } else { &[] }
    }

    fn release(&self, n_items: usize) {
        self.release_after(n_items);
    }
}

impl FromFile for Docs {
    type Options = DocsOptions;

    fn read(path: &Path, options: &DocsOptions) -> Result<Self> {
        read::docs(path, options)
    }

    fn anchor(options: &mut DocsOptions) {
        options.vocab.iter_mut().for_each(make_absolute);
        // A setting is a text, which not every folder's name is.
        if let Some(StopWords::File(path)) = &mut options.stop_words
            && std::path::absolute(&*path).is_ok_and(|absolute| absolute.to_str().is_some())
        {
            make_absolute(path);
        }
    }

    fn subset(&self, items: &[u32]) -> Self {
        self.subset(items)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint()
    }

    fn notes(&self) -> Vec<Advice> {
        self.notes.clone()
    }

    fn counts(&self) -> Vec<Count> {
        let mut counts = vec![
            Count::of(self.n_items(), "document", "documents"),
            Count::of(self.n_words(), "word", "words"),
            Count::of(self.tokens().round() as usize, "token", "tokens"),
        ];
        let length = |n: usize| {
            self.corpus.doc_length(self.items.as_ref().map_or(n, |items| items[n] as usize))
        };
        let empty = (0..self.n_items()).filter(|&n| length(n) == 0).count();
        if empty > 0 {
            counts.push(Count::of(empty, "empty document", "empty documents"));
        }
        counts
    }
}

#[cold]
fn bad_count(doc: usize, word: u32, count: f64) -> Error {
    let found = format!(" has word {word} {count} times; a count is 0 or more");
    Error::data(advice!["document ", error::index(doc), found])
}

/// A [`Docs::fingerprint`] in the making.
#[derive(Default)]
pub(super) struct Fingerprint(Xxh3);

impl Fingerprint {
    pub(super) fn add(&mut self, doc: &[Entry]) {
        self.0.update(&(doc.len() as u64).to_le_bytes());
        self.0.update(bytemuck::cast_slice(doc));
    }

    /// The vocabulary comes last, since a reader of text knows it last.
    pub(super) fn finish(mut self, n_words: usize) -> u128 {
        self.0.update(&(n_words as u64).to_le_bytes());
        self.0.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_matrix_is_what_its_rows_are() {
        let rows = vec![vec![(1, 2.5), (4, 1.0)], vec![], vec![(0, 3.0), (2, 1.0)]];
        let expected = Docs::from_rows(rows, 5).unwrap().fingerprint();
        // Out of order, added up, and with a zero that is stored.
        let (starts, indices) = ([0, 4, 4, 6], [4i64, 1, 3, 1, 2, 0]);
        let made = Docs::from_csr(&starts, &indices, &[1.0, 2.0, 0.0, 0.5, 1.0, 3.0], 5).unwrap();
        assert_eq!(made.fingerprint(), expected);
    }

    #[test]
    fn a_sparse_matrix_that_is_none_is_refused() {
        let fault = |starts: &[i64], indices: &[i32], counts: &[f64]| {
            Docs::from_csr(starts, indices, counts, 3).unwrap_err().to_string()
        };
        assert!(fault(&[0, 2, 1], &[0, 1], &[1.0; 2]).starts_with("the rows' starts do not rise"));
        assert!(fault(&[1, 2], &[0, 1], &[1.0; 2]).starts_with("the rows' starts do not rise"));
        assert!(fault(&[], &[], &[]).starts_with("the rows' starts do not rise"));
        assert!(fault(&[0, 1], &[0], &[1.0; 2]).contains("which have 2 values"));
        let outside = "document 1 has word 3, and words are numbered from 0 to 2";
        assert_eq!(fault(&[0, 1], &[3], &[1.0]), outside);
        assert!(fault(&[0, 1], &[-1], &[1.0]).starts_with("document 1 has word -1"));
        let negative = "document 2 has word 1 -2 times; a count is 0 or more";
        assert_eq!(fault(&[0, 0, 1], &[1], &[-2.0]), negative);
        assert!(fault(&[0, 1], &[1], &[f64::NAN]).contains("NaN times"));
    }
}
