//! The converted corpus: writes and opens the file whose layout [`Docs::save`] describes.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::corpus::{Corpus, Sums, check_sizes};
use super::docs::Fingerprint;
use super::mapped::MappedDocs;
use super::{Docs, Entry, Vocabulary, map};
use crate::write::atomically;
use crate::{Error, Result};

/// The first bytes of a converted corpus.
pub(crate) const MAGIC: &[u8; 8] = b"LEHRDOCS";
const VERSION: u32 = 1;
/// The bytes of the header that are used; its last 8 are the checksum of the others.
const HEADER: usize = 88;
/// Where the entries start: on their own page, so that they can be released without the rest.
const ENTRIES: u64 = 4096;
/// With more documents than this the offsets are not read when a file is opened: they are 80 MB
/// here, about as much as a slow disk reads in a second.
const OFFSETS_CHECKED: u64 = 10_000_000;
const BUFFER: usize = 1 << 20;

pub(super) fn write(path: &Path, docs: &Docs) -> Result<()> {
    if cfg!(target_endian = "big") {
        return Err(Error::run(
            path,
            "a converted corpus is written on little-endian machines only",
        ));
    }
    write_each(path, docs.vocabulary(), |push| {
        let mut written = Ok(());
        docs.walk(|doc| {
            if written.is_ok() {
                written = push(doc);
            }
        });
        written?;
        docs.fault().map_or(Ok(()), |fault| Err(io::Error::other(fault.to_string())))
    })
}

/// Writes a converted corpus of the documents that `each` hands out, one after the other.
pub(crate) fn write_each(
    path: &Path,
    vocabulary: &Vocabulary,
    each: impl FnOnce(&mut dyn FnMut(&[Entry]) -> io::Result<()>) -> io::Result<()>,
) -> Result<()> {
    atomically(path, |file| {
        let mut writer = Writer::new(file, vocabulary.n_words())?;
        each(&mut |doc| writer.push(doc))?;
        writer.finish(vocabulary)
    })
}

/// A converted corpus in the making: takes documents one after the other.
struct Writer<'f> {
    file: BufWriter<&'f mut File>,
    offsets: Vec<u64>,
    sums: Sums,
    print: Fingerprint,
    n_entries: u64,
}

impl<'f> Writer<'f> {
    fn new(file: &'f mut File, n_words: usize) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(BUFFER, file);
        file.write_all(&[0; ENTRIES as usize])?;
        let sums = Sums::new(n_words);
        Ok(Writer { file, offsets: vec![0], sums, print: Fingerprint::default(), n_entries: 0 })
    }

    fn push(&mut self, doc: &[Entry]) -> io::Result<()> {
        self.file.write_all(bytemuck::cast_slice(doc))?;
        self.sums.add(doc);
        self.print.add(doc);
        self.n_entries += doc.len() as u64;
        self.offsets.push(self.n_entries);
        Ok(())
    }

    fn finish(mut self, vocabulary: &Vocabulary) -> io::Result<()> {
        let offsets: &[u8] = bytemuck::cast_slice(&self.offsets);
        self.file.write_all(offsets)?;
        let mut words = Xxh3::new();
        let mut write = |file: &mut BufWriter<_>, bytes: &[u8]| {
            words.update(bytes);
            file.write_all(bytes)
        };
        write(&mut self.file, bytemuck::cast_slice(&self.sums.counts))?;
        write(&mut self.file, bytemuck::cast_slice(&self.sums.frequencies))?;
        let mut names_bytes = 0u64;
        for name in vocabulary.names().unwrap_or_default() {
            let length =
                u32::try_from(name.len()).map_err(|_| io::Error::other("a name of 4 GB"))?;
            write(&mut self.file, &length.to_le_bytes())?;
            write(&mut self.file, name.as_bytes())?;
            names_bytes += 4 + u64::from(length);
        }
        let header = Header {
            has_names: vocabulary.names().is_some(),
            n_docs: self.offsets.len() as u64 - 1,
            n_words: vocabulary.n_words() as u64,
            n_entries: self.n_entries,
            names_bytes,
            fingerprint: self.print.finish(vocabulary.n_words()),
            words_sum: words.digest(),
            offsets_sum: xxh3_64(offsets),
        };
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header.to_bytes())?;
        self.file.flush()
    }
}

/// Opens a converted corpus without reading its entries.
pub(crate) fn open(path: &Path, file: &File) -> Result<Docs> {
    let damaged = |text: String| Error::parse(path, format!("{text}; convert the corpus again"));
    if cfg!(target_endian = "big") {
        return Err(Error::parse(
            path,
            "a converted corpus is read on little-endian machines only; give the original file",
        ));
    }
    let map = map(file).map_err(|error| Error::io(path, "cannot map", error))?;
    let header = Header::from_bytes(&map).map_err(damaged)?;
    let sections = header.sections().ok_or_else(|| damaged("its header is damaged".into()))?;
    if map.len() as u64 != sections.end {
        return Err(damaged(format!(
            "has {} bytes instead of the {} that its header promises: it is cut off or damaged",
            map.len(),
            sections.end
        )));
    }
    // Every section now lies inside the map, so that its bounds fit into usize.
    let range = |section: &Range<u64>| section.start as usize..section.end as usize;
    let words = &map[range(&(sections.counts.start..sections.end))];
    if xxh3_64(words) != header.words_sum {
        return Err(damaged("the section of its words is damaged".into()));
    }
    let counts = map[range(&sections.counts)]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    let frequencies = map[range(&sections.frequencies)]
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")));
    let sums = Sums { counts: counts.collect(), frequencies: frequencies.collect() };
    if let Some(count) = sums.counts.iter().find(|count| !(count.is_finite() && **count >= 0.0)) {
        return Err(damaged(format!("a word of it occurs {count} times")));
    }
    let vocabulary = if header.has_names {
        let names = names(&map[range(&sections.names)], sums.counts.len());
        let names = names.ok_or_else(|| damaged("the names of its words are damaged".into()))?;
        Vocabulary::named(names).map_err(|error| damaged(error.to_string()))?
    } else {
        Vocabulary::unnamed(sums.counts.len())
    };
    let docs = MappedDocs::new(map, range(&sections.entries), range(&sections.offsets))
        .ok_or_else(|| damaged("its sections are damaged".into()))?;
    let offsets = docs.offsets();
    let ends = (offsets.first(), offsets.last());
    let whole = ends == (Some(&0), Some(&header.n_entries));
    // Beyond this size each document's offsets are looked at only when it is handed out.
    let small = header.n_docs <= OFFSETS_CHECKED;
    let sound =
        || offsets.is_sorted() && xxh3_64(bytemuck::cast_slice(offsets)) == header.offsets_sum;
    if !whole || (small && !sound()) {
        return Err(damaged("the offsets of its documents are damaged".into()));
    }
    let corpus = Corpus::in_file(path.to_path_buf(), docs, header.fingerprint, sums);
    Ok(Docs::mapped(corpus, vocabulary))
}

/// What the first bytes say.
struct Header {
    has_names: bool,
    n_docs: u64,
    n_words: u64,
    n_entries: u64,
    names_bytes: u64,
    fingerprint: u128,
    words_sum: u64,
    offsets_sum: u64,
}

/// Where everything lies, in the order of the file.
struct Sections {
    entries: Range<u64>,
    offsets: Range<u64>,
    counts: Range<u64>,
    frequencies: Range<u64>,
    names: Range<u64>,
    end: u64,
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(MAGIC);
        put(&VERSION.to_le_bytes());
        put(&u32::from(self.has_names).to_le_bytes());
        put(&self.n_docs.to_le_bytes());
        put(&self.n_words.to_le_bytes());
        put(&self.n_entries.to_le_bytes());
        put(&self.names_bytes.to_le_bytes());
        put(&self.fingerprint.to_le_bytes());
        put(&self.words_sum.to_le_bytes());
        put(&self.offsets_sum.to_le_bytes());
        let sum = xxh3_64(&bytes[..HEADER - 8]);
        bytes[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, String> {
        let Some(bytes) = bytes.get(..HEADER) else {
            return Err("ends inside its header: it is cut off".into());
        };
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        // The version first: another one may lay out everything behind it differently.
        let version = u32_at(8);
        if version != VERSION {
            return Err(format!(
                "is a converted corpus of version {version}, and this build of lehr reads version {VERSION}"
            ));
        }
        if xxh3_64(&bytes[..HEADER - 8]) != u64_at(HEADER - 8) || u32_at(12) > 1 {
            return Err("its header is damaged".into());
        }
        let header = Header {
            has_names: u32_at(12) == 1,
            n_docs: u64_at(16),
            n_words: u64_at(24),
            n_entries: u64_at(32),
            names_bytes: u64_at(40),
            fingerprint: u128::from_le_bytes(bytes[48..64].try_into().expect("16 bytes")),
            words_sum: u64_at(64),
            offsets_sum: u64_at(72),
        };
        check_sizes(header.n_docs, header.n_words)?;
        if header.n_docs == 0 {
            return Err("has no documents".into());
        }
        Ok(header)
    }

    /// `None` if the sizes are too large to exist.
    fn sections(&self) -> Option<Sections> {
        let mut end = ENTRIES;
        let mut section = |n: u64, width: u64| {
            let start = end;
            end = start.checked_add(n.checked_mul(width)?)?;
            Some(start..end)
        };
        let entries = section(self.n_entries, 8)?;
        let offsets = section(self.n_docs + 1, 8)?;
        let counts = section(self.n_words, 8)?;
        let frequencies = section(self.n_words, 4)?;
        let names = section(self.names_bytes, 1)?;
        Some(Sections { entries, offsets, counts, frequencies, names, end })
    }
}

/// The `n_words` names that fill `bytes`; `None` if they do not.
fn names(mut bytes: &[u8], n_words: usize) -> Option<Vec<String>> {
    let mut names = Vec::with_capacity(n_words);
    for _ in 0..n_words {
        let (length, rest) = bytes.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        names.push(std::str::from_utf8(name).ok()?.to_string());
        bytes = rest;
    }
    bytes.is_empty().then_some(names)
}
