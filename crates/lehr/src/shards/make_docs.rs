//! Shards of documents, of one file or of many, of which a part is in memory at a time.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Kind, Making, Names, ShardFolder};
use crate::data::{Docs, Entry, Vocabulary, write_each};
use crate::read::{self, DocsOptions, Room, docs_with_all_words, kept_words};
use crate::{Error, Result};

/// Makes a folder of shards of the documents in these files, in their order, each in any format that
/// [`read::docs`] reads and all with the same options. The words of all files are one vocabulary: by name, or by number
/// where they have no names. Of texts, words are chosen by what all files together have of them.
///
/// Files are read one after the other, and what they hold waits on disk, in the new folder: the memory needed is 256 MB of
/// entries, 16 bytes for each document, and the words. Only a file whose documents come in no order, or in scipy's
/// compressed form, is in memory as a whole.
pub fn make_docs(
    files: &[PathBuf],
    options: &DocsOptions,
    n_shards: usize,
    folder: &Path,
) -> Result<ShardFolder> {
    /// 256 MB of them.
    const MOST: usize = (256 << 20) / size_of::<Entry>();
    made(files, options, n_shards, folder, MOST)
}

/// [`make_docs`] with about this many entries in memory at most.
fn made(
    files: &[PathBuf],
    options: &DocsOptions,
    n_shards: usize,
    folder: &Path,
    most: usize,
) -> Result<ShardFolder> {
    let mut making = Making::begin(folder)?;
    if files.is_empty() {
        return Err(Error::data("there are no files to make shards of"));
    }
    let corpora = Corpora::of(files, options, folder, most)?;
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
    fn of(files: &[PathBuf], options: &DocsOptions, folder: &Path, most: usize) -> Result<Self> {
        let mut known = Known::default();
        let (mut parts, mut waiting) = (Vec::new(), Vec::new());
        for (i, file) in files.iter().enumerate() {
            let path = folder.join(format!("waiting-{i:05}.lehr"));
            let mut docs = docs_with_all_words(file, options, &Room { path: path.clone(), most })?;
            known.add(file, &docs)?;
            if docs.mapped_bytes() == 0 && files.len() > 1 {
                // Out of memory, and into a file that is mapped.
                docs.save(&path)?;
                docs = read::docs(&path, &DocsOptions::default())?;
            }
            if path.exists() {
                waiting.push(path);
            }
            parts.push(docs);
        }
        let n_docs = parts.iter().map(Docs::n_items).sum();
        let (names, numbers) = known.chosen(&files[0], n_docs, options)?;
        let part = |docs: Docs| {
            let words = docs.vocabulary().names();
            let number = |word: &String| numbers.get(word).copied().flatten();
            let numbers = words.map(|words| words.iter().map(number).collect::<Vec<_>>());
            // Most often all stay as they are.
            let changes = |numbers: &Vec<Option<u32>>| {
                numbers.iter().zip(0..).any(|(&new, v)| new != Some(v))
            };
            (docs, numbers.filter(changes))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of each file of a folder of shards that is made with so much room.
    fn shards(files: &[PathBuf], options: &DocsOptions, most: usize) -> Vec<(String, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        made(files, options, 3, folder.path(), most).unwrap();
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let found = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> = found.map(|p| (name(p.clone()), fs::read(p).unwrap())).collect();
        found.sort();
        found
    }

    #[test]
    fn shards_of_one_large_file_are_those_of_a_file_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape"];
        let text = |n: usize| (0..n % 5).map(|i| words[(n * 3 + i * i) % 7]).collect::<Vec<_>>();
        let texts: String = (0..60).map(|n| text(n).join(" ") + "\n").collect();
        let json: String =
            (0..60).map(|n| format!("{{\"text\": {:?}}}\n", text(n).join(" "))).collect();
        let pairs = |n: usize| (0..n % 4).map(move |w| (w * 5 + n % 3, 1 + n % 2));
        let ldac = |n: usize| pairs(n).map(|(w, c)| format!(" {w}:{c}")).collect::<String>();
        let ldac: String = (0..60).map(|n| format!("{}{}\n", n % 4, ldac(n))).collect();
        let uci = |docs: &[usize]| {
            let lines = docs.iter().flat_map(|&n| pairs(n).map(move |(w, c)| (n + 1, w + 1, c)));
            let lines: Vec<_> = lines.map(|(n, w, c)| format!("{n} {w} {c}\n")).collect();
            format!("60\n20\n{}\n{}", lines.len(), lines.concat())
        };
        let (rising, falling): (Vec<usize>, Vec<usize>) =
            ((0..60).collect(), (0..60).rev().collect());
        // A document comes twice, with others in between.
        let twice: Vec<usize> = [7].into_iter().chain(0..60).collect();
        fs::write(folder.path().join("names"), words.join("\n")).unwrap();
        let plain = DocsOptions::default();
        let all = DocsOptions { min_docs: Some(1), max_docs: Some(1.0), ..plain.clone() };
        let named = DocsOptions { vocab: Some(folder.path().join("names")), ..plain.clone() };
        let cases = [
            ("a.txt", &texts, &all),
            ("b.txt", &texts, &named),
            ("a.jsonl", &json, &plain),
            ("a.ldac", &ldac, &plain),
            ("a.uci", &uci(&rising), &plain),
            ("b.uci", &uci(&falling), &plain),
            ("c.uci", &uci(&twice), &plain),
        ];
        for (name, content, options) in cases {
            let file = folder.path().join(name);
            fs::write(&file, content).unwrap();
            let whole = shards(std::slice::from_ref(&file), options, usize::MAX);
            assert!(whole.len() > 3 && !whole[0].1.is_empty());
            for most in [1, 7, 50] {
                assert_eq!(
                    shards(std::slice::from_ref(&file), options, most),
                    whole,
                    "{name} {most}"
                );
            }
            let both = shards(&[file.clone(), file.clone()], options, usize::MAX);
            assert_eq!(shards(&[file.clone(), file], options, 7), both, "{name} twice");
        }
    }
}
