//! Finds and unpacks the members of a zip archive, as far as NumPy writes them: stored or deflated.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::super::source::{Source, most_unpacked};
use crate::{Error, Result};

/// The longest tail that holds the end record, whose comment has at most 65,535 bytes, and the
/// records of large archives before it.
const TAIL: u64 = 65_535 + 22 + 20 + 56;
/// A sparse matrix has half a dozen members; their directory is far shorter than this.
const LONGEST_DIRECTORY: u64 = 1 << 20;

pub(super) struct Archive<'a> {
    path: &'a Path,
    file: File,
    length: u64,
    members: Vec<Member>,
}

struct Member {
    name: String,
    method: u16,
    encrypted: bool,
    crc: u32,
    packed: u64,
    unpacked: u64,
    start: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(path: &'a Path, file: File, length: u64) -> Result<Self> {
        let mut archive = Archive { path, file, length, members: Vec::new() };
        let tail_start = length.saturating_sub(TAIL);
        let tail = archive.bytes(tail_start, length - tail_start)?;
        let (start, size) =
            directory(&tail, tail_start).ok_or_else(|| archive.damaged("it has no directory"))?;
        if size > LONGEST_DIRECTORY {
            return Err(archive.damaged("its directory is too long"));
        }
        let directory = archive.bytes(start, size)?;
        archive.members =
            members(&directory).ok_or_else(|| archive.damaged("its directory does not end"))?;
        Ok(archive)
    }

    /// A member of this name as a source; `None` if there is none.
    pub(super) fn member(&self, name: &str) -> Result<Option<Source<'a>>> {
        let Some(member) = self.members.iter().find(|member| member.name == name) else {
            return Ok(None);
        };
        if member.encrypted || !matches!(member.method, 0 | 8) {
            return Err(Error::parse(
                self.path,
                format!(
                    "packs {name} in a way that is not read; save it with scipy.sparse.save_npz"
                ),
            ));
        }
        if member.unpacked > most_unpacked(self.length) {
            return Err(Error::parse(
                self.path,
                format!(
                    "{name} claims to unpack to {} bytes, far more than an archive of {} bytes holds; save it again, or with scipy.sparse.save_npz(file, x, compressed=False)",
                    member.unpacked, self.length
                ),
            ));
        }
        let header = self.bytes(member.start, 30)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(self.damaged("a member is not where the directory says"));
        }
        let skipped = u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        let cannot = |error| Error::io(self.path, "cannot read", error);
        let mut file = self.file.try_clone().map_err(cannot)?;
        file.seek(SeekFrom::Start(member.start + 30 + skipped)).map_err(cannot)?;
        let packed = file.take(member.packed);
        let unpacked: Box<dyn Read> = if member.method == 8 {
            Box::new(DeflateDecoder::new(packed))
        } else {
            Box::new(packed)
        };
        let checked = Checked {
            inner: unpacked.take(member.unpacked),
            crc: Crc::new(),
            expected: member.crc,
        };
        Ok(Some(Source::part(self.path, name.to_string(), Box::new(checked))))
    }

    pub(super) fn damaged(&self, found: &str) -> Error {
        Error::parse(
            self.path,
            format!(
                "the archive is damaged or cut off: {found}; save it again with scipy.sparse.save_npz"
            ),
        )
    }

    fn bytes(&self, start: u64, size: u64) -> Result<Vec<u8>> {
        if start.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(self.damaged("a part lies outside the file"));
        }
        let mut bytes = vec![0; size as usize];
        let read = (&self.file)
            .seek(SeekFrom::Start(start))
            .and_then(|_| (&self.file).read_exact(&mut bytes));
        read.map_err(|error| Error::io(self.path, "cannot read", error))?;
        Ok(bytes)
    }
}

/// Start and size of the directory, from the end of the file.
fn directory(tail: &[u8], tail_start: u64) -> Option<(u64, u64)> {
    let at = tail.windows(22).rposition(|window| window.starts_with(b"PK\x05\x06"))?;
    let end = &tail[at..];
    let (size, start) = (u32_at(end, 12), u32_at(end, 16));
    if size != u32::MAX && start != u32::MAX && u16_at(end, 10) != u16::MAX {
        return Some((start.into(), size.into()));
    }
    // A large archive: another record says where a third one lies, with numbers of 64 bits.
    let locator = tail.get(at.checked_sub(20)?..at)?;
    let large = usize::try_from(u64_at(locator, 8).checked_sub(tail_start)?).ok()?;
    let large = tail.get(large..)?.get(..56)?;
    let known = locator.starts_with(b"PK\x06\x07") && large.starts_with(b"PK\x06\x06");
    known.then(|| (u64_at(large, 48), u64_at(large, 40)))
}

/// The members in a directory; `None` if it is damaged.
fn members(mut directory: &[u8]) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    while !directory.is_empty() {
        let (fixed, rest) = directory.split_at_checked(46)?;
        if !fixed.starts_with(b"PK\x01\x02") {
            return None;
        }
        let (name, rest) = rest.split_at_checked(u16_at(fixed, 28).into())?;
        let (mut extra, rest) = rest.split_at_checked(u16_at(fixed, 30).into())?;
        directory = rest.get(usize::from(u16_at(fixed, 32))..)?;
        let mut sizes = [u32_at(fixed, 24), u32_at(fixed, 20), u32_at(fixed, 42)].map(u64::from);
        while let Some((head, rest)) = extra.split_at_checked(4) {
            let (mut field, rest) = rest.split_at_checked(u16_at(head, 2).into())?;
            // Field 1 has those of the sizes that do not fit into 32 bits.
            if u16_at(head, 0) == 1 {
                for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
                    let (large, rest) = field.split_at_checked(8)?;
                    (*size, field) = (u64_at(large, 0), rest);
                }
            }
            extra = rest;
        }
        let [unpacked, packed, start] = sizes;
        members.push(Member {
            name: String::from_utf8_lossy(name).into_owned(),
            method: u16_at(fixed, 10),
            encrypted: u16_at(fixed, 8) & 1 != 0,
            crc: u32_at(fixed, 16),
            packed,
            unpacked,
            start,
        });
    }
    Some(members)
}

/// A member that knows at its end whether it is whole.
struct Checked<R> {
    inner: io::Take<R>,
    crc: Crc,
    expected: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.crc.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"));
        }
        Ok(read)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
