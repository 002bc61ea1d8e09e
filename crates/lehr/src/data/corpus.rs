//! Where the entries of a corpus are kept: in memory, checked once, or in converted files, checked
//! when they are handed out for the first time.

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Entry;
use super::mapped::MappedDocs;
use crate::error::{advice, index};
use crate::math::kernels::prefetch;
use crate::{Error, Result};

/// How many bytes of a converted file a walk over all documents leaves in memory.
const WALKED: usize = 64 << 20;

/// All documents of a file.
#[derive(Debug)]
pub(crate) struct Corpus {
    storage: Storage,
    sums: Sums,
}

/// What each word comes to in all documents.
#[derive(Debug)]
pub(crate) struct Sums {
    /// How often it occurs.
    pub counts: Vec<f64>,
    /// In how many documents.
    pub frequencies: Vec<u32>,
}

enum Storage {
    Memory {
        /// Where each document's entries start, and the end of the last.
        offsets: Vec<u64>,
        /// Rising words within each document.
        entries: Vec<Entry>,
    },
    Files {
        files: Vec<(PathBuf, MappedDocs)>,
        /// Where the documents of each file start, and the end of the last.
        starts: Vec<usize>,
        fingerprint: u128,
        /// The file of the first damaged document that was asked for, and what is wrong with it.
        fault: OnceLock<(usize, String)>,
        /// Whether offsets were found that lead nowhere.
        lost: AtomicBool,
        /// A bit per document: whether its entries were found to be good.
        good: Vec<AtomicU64>,
    },
}

impl Corpus {
    pub(super) fn in_memory(
        offsets: Vec<u64>,
        entries: Vec<Entry>,
        n_words: usize,
    ) -> Result<Self> {
        let whole = offsets.first() == Some(&0) && offsets.last() == Some(&(entries.len() as u64));
        if !whole || !offsets.is_sorted() {
            return Err(Error::data("the documents' offsets do not rise from 0 to the last entry"));
        }
        check_sizes(offsets.len() as u64 - 1, n_words as u64).map_err(Error::data)?;
        let mut sums = Sums::new(n_words);
        for (n, ends) in offsets.windows(2).enumerate() {
            let doc = &entries[ends[0] as usize..ends[1] as usize];
            if let Some(fault) = doc_fault(doc, n_words) {
                return Err(Error::data(advice!["document ", index(n), format!(" {fault}")]));
            }
            sums.add(doc);
        }
        Ok(Corpus { storage: Storage::Memory { offsets, entries }, sums })
    }

    pub(super) fn in_file(path: PathBuf, docs: MappedDocs, fingerprint: u128, sums: Sums) -> Self {
        Self::in_files(vec![(path, docs)], fingerprint, sums)
    }

    fn in_files(files: Vec<(PathBuf, MappedDocs)>, fingerprint: u128, sums: Sums) -> Self {
        let mut starts = vec![0];
        files.iter().for_each(|(_, docs)| starts.push(starts[starts.len() - 1] + docs.n_docs()));
        let (fault, lost) = (OnceLock::new(), AtomicBool::new(false));
        let good = (0..starts[starts.len() - 1].div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Corpus { storage: Storage::Files { files, starts, fingerprint, fault, lost, good }, sums }
    }

    /// One corpus of several that are each in a file and have the same words.
    pub(super) fn joined(parts: Vec<Corpus>, fingerprint: u128, n_words: usize) -> Self {
        let mut sums = Sums::new(n_words);
        let mut files = Vec::with_capacity(parts.len());
        for part in parts {
            sums.counts.iter_mut().zip(&part.sums.counts).for_each(|(sum, n)| *sum += n);
            sums.frequencies.iter_mut().zip(&part.sums.frequencies).for_each(|(sum, n)| *sum += n);
            if let Storage::Files { files: own, .. } = part.storage {
                files.extend(own);
            }
        }
        Self::in_files(files, fingerprint, sums)
    }

    /// Where the documents of each file start, and the end of the last; empty if they are in memory.
    pub(super) fn starts(&self) -> &[usize] {
        match &self.storage {
            Storage::Memory { .. } => &[],
            Storage::Files { starts, .. } => starts,
        }
    }

    pub(super) fn n_docs(&self) -> usize {
        match &self.storage {
            Storage::Memory { offsets, .. } => offsets.len() - 1,
            Storage::Files { starts, .. } => starts[starts.len() - 1],
        }
    }

    /// How many words document `n` has that differ. Its entries are not read for it.
    pub(super) fn doc_length(&self, n: usize) -> usize {
        match &self.storage {
            Storage::Memory { offsets, .. } => (offsets[n + 1] - offsets[n]) as usize,
            Storage::Files { files, starts, .. } => {
                let (file, n) = place(starts, n);
                let offsets = files[file].1.offsets();
                offsets[n + 1].saturating_sub(offsets[n]) as usize
            }
        }
    }

    pub(super) fn doc(&self, n: usize) -> &[Entry] {
        match &self.storage {
            Storage::Memory { offsets, entries } => {
                &entries[offsets[n] as usize..offsets[n + 1] as usize]
            }
            Storage::Files { files, starts, fault, lost, good, .. } => {
                // Offsets that go back could hand out the same entries for every document.
                if lost.load(Ordering::Relaxed) {
                    return &[];
                }
                // What indexes tables by word must be able to rely on the entries. They are looked at once: a step
                // asks for each document twice, and a fit for many epochs.
                let (known, bit) = (&good[n / 64], 1 << (n % 64));
                let (file, n) = place(starts, n);
                let found = files[file].1.doc(n).ok_or_else(|| {
                    lost.store(true, Ordering::Relaxed);
                    "lies outside the entries".to_string()
                });
                let checked = found.and_then(|doc| {
                    if known.load(Ordering::Relaxed) & bit != 0 {
                        return Ok(doc);
                    }
                    if let Some(text) = doc_fault(doc, self.sums.counts.len()) {
                        return Err(text);
                    }
                    known.fetch_or(bit, Ordering::Relaxed);
                    Ok(doc)
                });
                checked.unwrap_or_else(|text| {
                    let _ = fault.set((file, format!("document {} {text}", n + 1)));
                    &[]
                })
            }
        }
    }

    /// Asks for the entries of a document, which need not be valid.
    pub(super) fn prefetch(&self, n: usize) {
        match &self.storage {
            Storage::Memory { offsets, entries } => {
                prefetch(&entries[offsets[n] as usize..offsets[n + 1] as usize]);
            }
            Storage::Files { files, starts, .. } => {
                let (file, n) = place(starts, n);
                prefetch(files[file].1.doc(n).unwrap_or_default());
            }
        }
    }

    pub(super) fn fault(&self) -> Option<Error> {
        match &self.storage {
            Storage::Files { files, fault, .. } => {
                let (file, text) = fault.get()?;
                let message = format!("is damaged: {text}; convert the corpus again");
                Some(Error::parse(&files[*file].0, message))
            }
            Storage::Memory { .. } => None,
        }
    }

    pub(super) fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The fingerprint of all documents, if it is known without reading them.
    pub(super) fn fingerprint(&self) -> Option<u128> {
        match &self.storage {
            Storage::Files { fingerprint, .. } => Some(*fingerprint),
            Storage::Memory { .. } => None,
        }
    }

    pub(super) fn mapped_bytes(&self) -> u64 {
        match &self.storage {
            Storage::Files { files, .. } => files.iter().map(|(_, docs)| docs.entry_bytes()).sum(),
            Storage::Memory { .. } => 0,
        }
    }

    pub(super) fn release(&self) {
        if let Storage::Files { files, .. } = &self.storage {
            files.iter().for_each(|(_, docs)| docs.release());
        }
    }

    /// Hands out the documents `items` with their numbers, and gives memory back on the way.
    pub(super) fn walk(
        &self,
        items: impl Iterator<Item = usize>,
        mut see: impl FnMut(usize, &[Entry]),
    ) {
        let mut seen = 0;
        for n in items {
            let doc = self.doc(n);
            see(n, doc);
            seen += size_of_val(doc);
            if seen > WALKED {
                self.release();
                seen = 0;
            }
        }
    }
}

impl Sums {
    pub(super) fn new(n_words: usize) -> Self {
        Sums { counts: vec![0.0; n_words], frequencies: vec![0; n_words] }
    }

    /// Adds a document whose words are below V.
    pub(super) fn add(&mut self, doc: &[Entry]) {
        for &Entry { word, count } in doc {
            self.counts[word as usize] += f64::from(count);
            self.frequencies[word as usize] += 1;
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Memory { entries, .. } => write!(f, "Memory({} entries)", entries.len()),
            Storage::Files { files, .. } => write!(f, "Files({files:?})"),
        }
    }
}

/// The file that a document is in, and its number there.
#[inline]
fn place(starts: &[usize], n: usize) -> (usize, usize) {
    if starts.len() == 2 {
        return (0, n);
    }
    let file = starts.partition_point(|&first| first <= n) - 1;
    (file, n - starts[file])
}

/// Documents and words are numbered in 32 bits.
pub(super) fn check_sizes(n_docs: u64, n_words: u64) -> std::result::Result<(), String> {
    let most = u64::from(u32::MAX);
    if n_docs > most || n_words > most {
        return Err(format!(
            "{n_docs} documents and {n_words} words; there may be at most {most} of each"
        ));
    }
    Ok(())
}

/// What is wrong with the entries of a document, if anything.
fn doc_fault(doc: &[Entry], n_words: usize) -> Option<String> {
    let good = |entry: &Entry| entry.count > 0.0 && entry.count < f32::INFINITY;
    // Without an early exit the compiler makes vector code of it.
    let rising = doc.windows(2).fold(true, |rising, pair| rising & (pair[0].word < pair[1].word));
    let counted = doc.iter().fold(true, |all, entry| all & good(entry));
    let known = doc.last().is_none_or(|last| (last.word as usize) < n_words);
    if rising & counted & known {
        return None;
    }
    if !rising {
        return Some("has words that do not rise".into());
    }
    if let Some(Entry { count, .. }) = doc.iter().find(|entry| !good(entry)) {
        return Some(format!("has a count of {count}; counts are above 0 and finite"));
    }
    let word = doc.last().map_or(0, |last| last.word);
    Some(format!("has word {word}, and the vocabulary has only {n_words} (from 0)"))
}
