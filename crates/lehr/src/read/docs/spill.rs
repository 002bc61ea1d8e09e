//! Documents that wait in a file while the others are read, so that a corpus may be larger than the memory.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::data::{self, Docs, Entry, Vocabulary, write_each};
use crate::{Error, Result};

/// Where a corpus goes whose entries become too many: a converted one that is written there.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// The file.
    pub path: PathBuf,
    /// The entries that may be in memory, about.
    pub most: usize,
}

/// Whole documents in a file, their words rising, in the order of their numbers.
pub(super) struct Spill {
    room: Room,
    /// A file without a name.
    file: Option<BufWriter<File>>,
    /// The documents that have words, and how many each has.
    docs: Vec<(u32, u32)>,
    n_entries: u64,
    fault: Option<io::Error>,
}

/// Documents, and where the entries of each begin.
type Begins = Vec<(u32, u64)>;

impl Spill {
    pub(super) fn new(room: Room) -> Self {
        Spill { room, file: None, docs: Vec::new(), n_entries: 0, fault: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.file.is_none()
    }

    pub(super) fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// Whether this many entries are too many.
    pub(super) fn is_due(&self, n_entries: usize) -> bool {
        n_entries >= self.room.most
    }

    /// From now on nothing is too many.
    pub(super) fn give_up(&mut self) {
        self.room.most = usize::MAX;
    }

    pub(super) fn most(&self) -> usize {
        self.room.most
    }

    /// The last document here.
    pub(super) fn last(&self) -> Option<u32> {
        self.docs.last().map(|&(doc, _)| doc)
    }

    /// Adds documents behind the others: their numbers, and the entries of all of them with where each begins and the end.
    /// After a fault nothing is added; [`finish`](Spill::finish) tells of it.
    pub(super) fn add(&mut self, docs: impl Iterator<Item = u32>, offsets: &[u64], all: &[Entry]) {
        if self.fault.is_some() {
            return;
        }
        let sizes = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u32);
        self.docs.extend(docs.zip(sizes));
        self.n_entries += all.len() as u64;
        self.fault = self.write(all).err();
    }

    fn write(&mut self, entries: &[Entry]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let folder = self.room.path.parent().unwrap_or(Path::new("."));
                let file = tempfile::tempfile_in(folder)?;
                self.file.insert(BufWriter::with_capacity(1 << 20, file))
            }
        };
        file.write_all(bytemuck::cast_slice(entries))
    }

    /// All documents back in memory: each with where it begins, and their entries.
    pub(super) fn back(mut self) -> Result<(Begins, Vec<Entry>)> {
        let mut entries = Vec::with_capacity(self.n_entries as usize);
        let mut runs = Vec::with_capacity(self.docs.len());
        let path = self.room.path.clone();
        let read = self.each(|doc, own| {
            runs.push((doc, entries.len() as u64));
            entries.extend_from_slice(own);
            Ok(())
        });
        read.map_err(|error| Error::io(&path, "cannot keep documents in its folder", error))?;
        Ok((runs, entries))
    }

    /// Hands out the documents that have words, one after the other.
    fn each(&mut self, mut see: impl FnMut(u32, &[Entry]) -> io::Result<()>) -> io::Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let Some(file) = self.file.take() else { return Ok(()) };
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut own = Vec::new();
        for &(doc, n) in &self.docs {
            own.resize(n as usize, Entry { word: 0, count: 0.0 });
            file.read_exact(bytemuck::cast_slice_mut(&mut own))?;
            see(doc, &own)?;
        }
        Ok(())
    }

    /// The corpus, in its file; documents that are not here are empty.
    pub(super) fn finish(mut self, n_docs: u64, vocabulary: &Vocabulary) -> Result<Docs> {
        let path = self.room.path.clone();
        write_each(&path, vocabulary, |push| {
            let mut next = 0;
            self.each(|doc, entries| {
                (next..u64::from(doc)).try_for_each(|_| push(&[]))?;
                next = u64::from(doc) + 1;
                push(entries)
            })?;
            (next..n_docs).try_for_each(|_| push(&[]))
        })?;
        let file = File::open(&path).map_err(|error| Error::io(&path, "cannot read", error))?;
        data::open(&path, &file)
    }
}
