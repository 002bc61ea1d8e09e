//! Numbers and documents read in place from a memory-mapped file; the crate's only `unsafe` for mapping.

#![allow(
    unsafe_code,
    reason = "a file that is mapped can be changed by others, which no type can rule out"
)]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;

use bytemuck::try_cast_slice;
use memmap2::Mmap;

use super::{Entry, Rows};

/// The precision in which a mapped file stores its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    F64,
    F32,
}

/// A run of numbers inside a mapped file, little-endian like the machine that reads them.
pub(crate) struct Mapped {
    map: Mmap,
    start: usize,
    end: usize,
    precision: Precision,
}

/// Maps a whole file for reading.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and private to us, and every bit pattern is a valid u8, f32,
    // f64 or `Entry`, so no content can break a type. Another process that rewrites the file changes
    // the numbers we see, and one that shortens it makes the system stop us with SIGBUS; neither can
    // be ruled out, so `read::points` and `read::docs` tell their callers to leave a file alone
    // while it is in use.
    unsafe { Mmap::map(file) }
}

impl Mapped {
    /// The `n_values` numbers from byte `start` on; `None` if they lie outside the file or are
    /// not aligned, in which case they have to be copied instead.
    pub(crate) fn new(
        map: Mmap,
        start: usize,
        n_values: usize,
        precision: Precision,
    ) -> Option<Self> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let width = match precision {
            Precision::F64 => size_of::<f64>(),
            Precision::F32 => size_of::<f32>(),
        };
        let end = n_values.checked_mul(width)?.checked_add(start)?;
        let bytes = map.get(start..end)?;
        let aligned = match precision {
            Precision::F64 => try_cast_slice::<u8, f64>(bytes).is_ok(),
            Precision::F32 => try_cast_slice::<u8, f32>(bytes).is_ok(),
        };
        aligned.then_some(Mapped { map, start, end, precision })
    }

    /// The numbers, in place.
    pub(crate) fn rows(&self) -> Rows<'_> {
        const ALIGNED: &str = "range and alignment were checked in Mapped::new";
        let bytes = &self.map[self.start..self.end];
        match self.precision {
            Precision::F64 => Rows::F64(try_cast_slice(bytes).expect(ALIGNED)),
            Precision::F32 => Rows::F32(try_cast_slice(bytes).expect(ALIGNED)),
        }
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapped({:?}, bytes {}..{})", self.precision, self.start, self.end)
    }
}

/// The offsets and entries of a converted corpus inside a mapped file.
pub(crate) struct MappedDocs {
    map: Mmap,
    entries: Range<usize>,
    offsets: Range<usize>,
}

impl MappedDocs {
    /// `None` if the ranges lie outside the file or are not aligned, or there is no offset.
    pub(crate) fn new(map: Mmap, entries: Range<usize>, offsets: Range<usize>) -> Option<Self> {
        try_cast_slice::<u8, Entry>(map.get(entries.clone())?).ok()?;
        let ends: &[u64] = try_cast_slice(map.get(offsets.clone())?).ok()?;
        (!ends.is_empty()).then_some(MappedDocs { map, entries, offsets })
    }

    /// The first entry of each document, and the end of the last.
    pub(crate) fn offsets(&self) -> &[u64] {
        try_cast_slice(&self.map[self.offsets.clone()]).expect("checked in MappedDocs::new")
    }

    pub(crate) fn n_docs(&self) -> usize {
        self.offsets().len() - 1
    }

    /// The entries of document `n`; `None` if its offsets do not lead to entries.
    pub(crate) fn doc(&self, n: usize) -> Option<&[Entry]> {
        let offsets = self.offsets();
        let (begin, end) =
            (usize::try_from(offsets[n]).ok()?, usize::try_from(offsets[n + 1]).ok()?);
        let bytes = &self.map[self.entries.clone()];
        let entries: &[Entry] = try_cast_slice(bytes).expect("checked in MappedDocs::new");
        entries.get(begin..end)
    }

    pub(crate) fn entry_bytes(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Lets the system take back the memory of the entries' pages.
    pub(crate) fn release(&self) {
        #[cfg(unix)]
        if !self.entries.is_empty() {
            // SAFETY: of a file mapped read-only the pages are dropped and, when they are next
            // looked at, read again from the file: no content changes. The range is inside the map.
            let advised = unsafe {
                self.map.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    self.entries.start,
                    self.entries.len(),
                )
            };
            // Only advice: if it is refused, the system takes pages back when it needs them.
            let _ = advised;
        }
    }
}

impl fmt::Debug for MappedDocs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MappedDocs({} documents, bytes {:?})", self.n_docs(), self.entries)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn mapped(bytes: &[u8], start: usize, n: usize, precision: Precision) -> Option<Mapped> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Mapped::new(map(&file).unwrap(), start, n, precision)
    }

    #[test]
    fn numbers_are_seen_in_place() {
        let bytes: Vec<u8> = [7.0f64, 1.5, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let found = mapped(&bytes, 8, 2, Precision::F64).unwrap();
        assert!(matches!(found.rows(), Rows::F64([1.5, -2.0])));
    }

    #[test]
    fn a_range_outside_the_file_or_off_the_grid_is_refused() {
        assert!(mapped(&[0; 24], 8, 3, Precision::F64).is_none());
        assert!(mapped(&[0; 24], 4, 2, Precision::F64).is_none());
        assert!(mapped(&[0; 24], 4, 2, Precision::F32).is_some());
        assert!(mapped(&[0; 24], 8, usize::MAX, Precision::F32).is_none());
    }
}
