//! Gathers entries in whatever order a file has them and makes a corpus of them.

use std::path::Path;

use super::spill::{Room, Spill};
use super::vocab::Names;
use crate::data::{Docs, Entry, Vocabulary};
use crate::error::{advice, setting};
use crate::{Error, Result};

/// More documents or words than this, and more than entries, are taken for a wrong number: no
/// corpus is mostly empty, and each costs memory.
const CREDIBLE: u64 = 1 << 20;

/// The entries so far.
#[derive(Default)]
pub(super) struct Builder {
    entries: Vec<Entry>,
    /// For each run of entries of one document: the document, and where the run starts.
    runs: Vec<(u32, u64)>,
    /// One more than the highest word.
    n_words: u64,
    /// Whether each document is a line of the file, so that its number cannot be wrong.
    docs_are_lines: bool,
    /// Where entries go when they become too many.
    spill: Option<Spill>,
}

impl Builder {
    pub(super) fn with_capacity(n_entries: usize) -> Self {
        let mut builder = Builder::default();
        // If memory is short the vector is left to grow as it goes.
        let _ = builder.entries.try_reserve_exact(n_entries);
        builder
    }

    pub(super) fn of_lines() -> Self {
        Builder { docs_are_lines: true, ..Builder::default() }
    }

    /// Leaves the memory to others: more entries than that go to a file, with which the corpus is then made.
    pub(super) fn spilling(mut self, room: Option<&Room>) -> Self {
        self.spill = room.cloned().map(Spill::new);
        if let Some(spill) = &self.spill {
            self.entries.shrink_to(spill.most());
        }
        self
    }

    /// Adds an entry; counts of 0 are left out, the same word of a document is added up later.
    #[inline]
    pub(super) fn push(&mut self, doc: u32, word: u32, count: f32) {
        self.n_words = self.n_words.max(u64::from(word) + 1);
        if count == 0.0 {
            return;
        }
        if self.runs.last().is_none_or(|&(last, _)| last != doc) {
            self.make_room();
            self.runs.push((doc, self.entries.len() as u64));
        }
        self.entries.push(Entry { word, count });
    }

    /// Adds the entries of another builder behind its own.
    pub(super) fn append(&mut self, mut other: Builder) {
        self.n_words = self.n_words.max(other.n_words);
        // A document may reach over both.
        let same = self.runs.last().zip(other.runs.first()).is_some_and(|(a, b)| a.0 == b.0);
        if !same && !other.runs.is_empty() {
            self.make_room();
        }
        let shift = self.entries.len() as u64;
        let runs = other.runs.iter().skip(usize::from(same));
        self.runs.extend(runs.map(|&(doc, start)| (doc, start + shift)));
        self.entries.append(&mut other.entries);
    }

    /// Before a new document: if the entries are too many, they go to the file.
    #[inline]
    fn make_room(&mut self) {
        if self.spill.as_ref().is_some_and(|spill| spill.is_due(self.entries.len())) {
            self.spill_all();
        }
    }

    /// Puts all documents here into the file, if they come behind those that are there. If not, documents are in no order,
    /// and stay here.
    #[cold]
    fn spill_all(&mut self) {
        let Some(spill) = &mut self.spill else { return };
        let docs = || self.runs.iter().map(|&(doc, _)| doc);
        let rising = spill.last().into_iter().chain(docs()).is_sorted_by(|a, b| a < b);
        if !rising {
            spill.give_up();
            return;
        }
        let ends = self.runs.iter().skip(1).map(|&(_, start)| start);
        let ends = ends.chain([self.entries.len() as u64]);
        let mut offsets: Vec<u64> = [0].into_iter().chain(ends).collect();
        tidy(&mut offsets, &mut self.entries);
        spill.add(docs(), &offsets, &self.entries);
        self.runs.clear();
        self.entries.clear();
    }

    /// Whether all entries are in the file; if not, all are here.
    fn is_spilled(&mut self) -> Result<bool> {
        if self.spill.as_ref().is_some_and(|spill| !spill.is_empty()) && !self.runs.is_empty() {
            self.spill_all();
        }
        match self.spill.take() {
            Some(spill) if !spill.is_empty() && self.runs.is_empty() => {
                self.spill = Some(spill);
                return Ok(true);
            }
            Some(spill) if !spill.is_empty() => {
                let (mut runs, mut entries) = spill.back()?;
                let shift = entries.len() as u64;
                runs.extend(self.runs.iter().map(|&(doc, start)| (doc, start + shift)));
                entries.append(&mut self.entries);
                (self.runs, self.entries) = (runs, entries);
            }
            _ => {}
        }
        Ok(false)
    }

    /// One more than the highest word so far, even if it was left out for its count.
    pub(super) fn n_words(&self) -> u64 {
        self.n_words
    }

    /// The corpus, with names for its words if there are any.
    pub(super) fn finish(
        mut self,
        path: &Path,
        n_docs: u64,
        n_words: u64,
        names: Option<Names>,
    ) -> Result<Docs> {
        if n_docs == 0 {
            return Err(Error::parse(path, "has no documents; give a file with at least one"));
        }
        let is_spilled = self.is_spilled()?;
        let n_entries = match &self.spill {
            Some(spill) => spill.n_entries(),
            None => self.entries.len() as u64,
        };
        let most = CREDIBLE.max(n_entries);
        if let Some(names) = &names {
            names.check(path, n_words)?;
        } else if n_words > most {
            return Err(Error::parse(
                path,
                advice![
                    format!("has words numbered up to {n_words}, and only {n_entries} entries"),
                    "; number the words without gaps, or give a vocabulary file with ",
                    setting("vocab"),
                ],
            ));
        }
        if n_docs > most && !self.docs_are_lines {
            return Err(Error::parse(
                path,
                format!(
                    "has documents numbered up to {n_docs}, and only {n_entries} entries; number the documents without gaps"
                ),
            ));
        }
        let vocabulary = match names {
            None => Vocabulary::unnamed(n_words as usize),
            Some(names) => names.into_vocabulary()?,
        };
        if let Some(spill) = self.spill.take().filter(|_| is_spilled) {
            return spill.finish(n_docs, &vocabulary);
        }
        let mut offsets = self.order_documents(n_docs as usize);
        tidy(&mut offsets, &mut self.entries);
        self.entries.shrink_to_fit();
        let docs = Docs::new(offsets, self.entries, vocabulary);
        docs.map_err(|error| Error::parse(path, error.to_string()))
    }

    /// Brings the runs into the order of their documents; returns the documents' offsets.
    fn order_documents(&mut self, n_docs: usize) -> Vec<u64> {
        let ends = self.runs.iter().skip(1).map(|&(_, start)| start);
        let ends = ends.chain([self.entries.len() as u64]);
        let mut offsets = vec![0u64; n_docs + 1];
        for (&(doc, start), end) in self.runs.iter().zip(ends.clone()) {
            offsets[doc as usize + 1] += end - start;
        }
        for n in 0..n_docs {
            offsets[n + 1] += offsets[n];
        }
        if !self.runs.is_sorted_by_key(|&(doc, _)| doc) {
            let mut next = offsets.clone();
            let mut sorted = vec![Entry { word: 0, count: 0.0 }; self.entries.len()];
            for (&(doc, start), end) in self.runs.iter().zip(ends) {
                let (run, to) =
                    (&self.entries[start as usize..end as usize], &mut next[doc as usize]);
                sorted[*to as usize..][..run.len()].copy_from_slice(run);
                *to += run.len() as u64;
            }
            self.entries = sorted;
        }
        self.runs = Vec::new();
        offsets
    }
}

/// Lets the words of each document rise and adds up those it has twice.
fn tidy(offsets: &mut [u64], entries: &mut Vec<Entry>) {
    let (mut begin, mut kept) = (0, 0);
    for end in &mut offsets[1..] {
        let doc = begin..*end as usize;
        if !entries[doc.clone()].is_sorted_by(|a, b| a.word < b.word) {
            entries[doc.clone()].sort_by_key(|entry| entry.word);
        }
        let first = kept;
        for at in doc.clone() {
            let entry = entries[at];
            if kept > first && entries[kept - 1].word == entry.word {
                entries[kept - 1].count += entry.count;
            } else {
                entries[kept] = entry;
                kept += 1;
            }
        }
        (begin, *end) = (doc.end, kept as u64);
    }
    entries.truncate(kept);
}
