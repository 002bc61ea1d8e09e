//! Shards of documents, of one corpus or of many files, of which one is in memory at a time.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Kind, Making, Names, ShardFolder};
use crate::data::{Docs, Entry, Vocabulary, write_each};
use crate::read::{self, DocsOptions, docs_with_all_words, kept_words};
use crate::{Error, Result};

/// Makes a folder of shards of the documents in these files, in their order, each in any format that
/// [`read::docs`] reads and all with the same options. The words of all files are one vocabulary: by name, or by number
/// where they have no names. Of texts, words are chosen by what all files together have of them.
///
/// Several files are read one after the other, and what they hold waits on disk, in the new folder: the memory needed
/// is that of the largest of them and of the words.
pub fn make_docs(
    files: &[PathBuf],
    options: &DocsOptions,
    n_shards: usize,
    folder: &Path,
) -> Result<ShardFolder> {
    let mut making = Making::begin(folder)?;
    let corpora = match files {
        [] => return Err(Error::data("there are no files to make shards of")),
        [file] => Corpora::of_one(read::docs(file, options)?),
        files => Corpora::of_many(files, options, folder)?,
    };
    let vocabulary = Vocabulary::unnamed(corpora.n_words);
    for rows in Making::split(corpora.n_docs(), n_shards)? {
        let file = making.next("lehr");
        let (n_docs, mut tokens) = (rows.len(), 0.0);
        write_each(&file, &vocabulary, |push| {
            corpora.each(rows, |doc| {
                tokens += doc.iter().map(|entry| f64::from(entry.count)).sum::<f64>();
                push(doc)
            })
        })?;
        making.add(&file, n_docs, tokens)?;
    }
    let (n_words, names) = (corpora.n_words, corpora.names);
    for waiting in corpora.waiting {
        fs::remove_file(&waiting).map_err(|error| Error::io(&waiting, "cannot remove", error))?;
    }
    making.finish(Kind::Documents, n_words, names.map_or(Names::None, Names::Words))
}

/// The documents of all files, with the numbers that their words have in all of them.
struct Corpora {
    /// Each with the new number of each of its words, if it keeps one; without numbers, all stay as they are.
    parts: Vec<(Docs, Option<Vec<Option<u32>>>)>,
    n_words: usize,
    names: Option<Vec<String>>,
    /// Files that are of no more use when the shards are there.
    waiting: Vec<PathBuf>,
}

impl Corpora {
    fn of_one(docs: Docs) -> Self {
        let n_words = docs.n_words();
        let names = docs.vocabulary().names().map(<[String]>::to_vec);
        Corpora { parts: vec![(docs, None)], n_words, names, waiting: Vec::new() }
    }

    fn of_many(files: &[PathBuf], options: &DocsOptions, folder: &Path) -> Result<Self> {
        let mut known = Known::default();
        let (mut parts, mut waiting) = (Vec::new(), Vec::new());
        for (i, file) in files.iter().enumerate() {
            let mut docs = docs_with_all_words(file, options)?;
            known.add(file, &docs)?;
            if docs.mapped_bytes() == 0 {
                // Out of memory, and into a file that is mapped.
                let path = folder.join(format!("waiting-{i:05}.lehr"));
                docs.save(&path)?;
                waiting.push(path.clone());
                docs = read::docs(&path, &DocsOptions::default())?;
            }
            parts.push(docs);
        }
        let n_docs = parts.iter().map(Docs::n_items).sum();
        let (names, numbers) = known.chosen(&files[0], n_docs, options)?;
        let part = |docs: Docs| {
            let words = docs.vocabulary().names();
            let number = |word: &String| numbers.get(word).copied().flatten();
            let numbers = words.map(|words| words.iter().map(number).collect());
            (docs, numbers)
        };
        let n_words = names.as_ref().map_or(known.n_words, Vec::len);
        Ok(Corpora { parts: parts.into_iter().map(part).collect(), n_words, names, waiting })
    }

    fn n_docs(&self) -> usize {
        self.parts.iter().map(|(docs, _)| docs.n_items()).sum()
    }

    /// Hands out some of the documents, in order, and keeps little of them in memory.
    fn each(
        &self,
        rows: std::ops::Range<usize>,
        mut see: impl FnMut(&[Entry]) -> io::Result<()>,
    ) -> io::Result<()> {
        const BETWEEN: usize = 4096;
        let (mut first, mut renumbered) = (0, Vec::new());
        for (docs, numbers) in &self.parts {
            let last = first + docs.n_items();
            for n in rows.start.max(first)..rows.end.min(last) {
                let doc = docs.doc(n - first);
                match numbers {
                    None => see(doc)?,
                    Some(numbers) => {
                        renumbered.clear();
                        renumbered.extend(doc.iter().filter_map(|&Entry { word, count }| {
                            numbers[word as usize].map(|word| Entry { word, count })
                        }));
                        renumbered.sort_unstable_by_key(|entry: &Entry| entry.word);
                        see(&renumbered)?;
                    }
                }
                if n % BETWEEN == 0 {
                    docs.release();
                }
            }
            if let Some(fault) = docs.fault() {
                return Err(io::Error::other(fault.to_string()));
            }
            first = last;
        }
        Ok(())
    }
}

/// The words of the files so far.
#[derive(Default)]
struct Known {
    /// The most words that a file has.
    n_words: usize,
    numbers: HashMap<String, usize>,
    counts: Vec<f64>,
    frequencies: Vec<u32>,
    /// Whether the words of the files have names, and whether there may be too many of them.
    named: Option<bool>,
    unchosen: bool,
}

impl Known {
    fn add(&mut self, file: &Path, docs: &Docs) -> Result<()> {
        let names = docs.vocabulary().names();
        if *self.named.get_or_insert(names.is_some()) != names.is_some() {
            return Err(Error::parse(
                file,
                "some of the files name their words, and some do not; give all of them the same vocabulary file",
            ));
        }
        self.n_words = self.n_words.max(docs.n_words());
        self.unchosen |= docs.has_all_words();
        let sums = docs.word_counts().into_iter().zip(docs.doc_frequencies());
        for (name, (count, frequency)) in names.unwrap_or_default().iter().zip(sums) {
            let next = self.numbers.len();
            let at = *self.numbers.entry(name.clone()).or_insert(next);
            self.counts.resize(self.numbers.len(), 0.0);
            self.frequencies.resize(self.numbers.len(), 0);
            self.counts[at] += count;
            self.frequencies[at] += frequency;
        }
        Ok(())
    }

    /// The names of the words that stay, and the new number of each that there was.
    #[allow(clippy::type_complexity)]
    fn chosen(
        &self,
        path: &Path,
        n_docs: usize,
        options: &DocsOptions,
    ) -> Result<(Option<Vec<String>>, HashMap<String, Option<u32>>)> {
        if self.named != Some(true) {
            return Ok((None, HashMap::new()));
        }
        let mut names = vec![String::new(); self.numbers.len()];
        self.numbers.iter().for_each(|(name, &at)| names[at].clone_from(name));
        let kept: Vec<usize> = match self.unchosen {
            true => kept_words(path, n_docs, &names, &self.counts, &self.frequencies, options)?,
            false => (0..names.len()).collect(),
        };
        let mut numbers: HashMap<String, Option<u32>> =
            names.iter().map(|name| (name.clone(), None)).collect();
        for (&at, number) in kept.iter().zip(0..) {
            numbers.insert(names[at].clone(), Some(number));
        }
        Ok((Some(kept.into_iter().map(|at| names[at].clone()).collect()), numbers))
    }
}
