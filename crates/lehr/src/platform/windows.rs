//! Windows: what the standard library alone can do there.

use std::ffi::OsString;
use std::fs::{File, FileType, Metadata, TryLockError};
use std::io::{self, Write};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};

/// `FILE_SHARE_READ`: as long as the file is open, others cannot open it for writing or delete it.
const SHARED_FOR_READING: u32 = 1;

/// `ERROR_SHARING_VIOLATION`.
const IN_USE: i32 = 32;

/// A folder cannot be locked here. Its note can: it is kept open for writing, and others may only read it, until this
/// process ends, however it ends.
pub(crate) fn lock(_folder: &Path, note: &Path) -> Result<File, TryLockError> {
    open_note(note, true)
}

fn open_note(note: &Path, create: bool) -> Result<File, TryLockError> {
    let mut options = File::options();
    options.write(true).create(create).truncate(create).share_mode(SHARED_FOR_READING);
    options.open(note).map_err(|error| match error.raw_os_error() {
        Some(IN_USE) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

/// Writes the note of the lock's holder.
pub(crate) fn write_note(mut lock: &File, _note: &Path, text: &str) -> io::Result<()> {
    lock.write_all(text.as_bytes())
}

/// Gives a lock back. The note cannot be deleted while it is open, nor when the next one has opened it.
pub(crate) fn unlock(lock: Option<File>, note: &Path) {
    drop(lock);
    let _ = std::fs::remove_file(note);
}

/// Whether the lock is held.
pub(crate) fn is_locked(_folder: &Path, note: &Path) -> bool {
    matches!(open_note(note, false), Err(TryLockError::WouldBlock))
}

pub(crate) fn started(_process: u32) -> Option<u64> {
    None
}

/// Not known: the lock decides. On a disk that has none there is no protection.
pub(crate) fn lives(_process: u32) -> bool {
    true
}

/// The name of this machine.
pub(crate) fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// The caller aborts, which tidies nothing up either.
pub(crate) fn kill() {}

pub(crate) fn free_on_disk(_folder: &Path) -> Option<u64> {
    None
}

pub(crate) fn largest_file() -> Option<u64> {
    None
}

pub(crate) fn address_space() -> Option<u64> {
    None
}

/// A path that is not Unicode: the bytes of its 16-bit units, low byte first.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().encode_wide().flat_map(u16::to_le_bytes).collect()
}

/// The same back again.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| u16::from(pair[0]) | u16::from(*pair.get(1).unwrap_or(&0)) << 8)
        .collect();
    OsString::from_wide(&units).into()
}

/// Standard input, which has no name here.
pub(crate) fn stdin() -> io::Result<File> {
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

/// What an open file is; none if it is a pipe or a terminal, which cannot say.
pub(crate) fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    Ok(file.metadata().ok())
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reading has to wait.
pub(crate) fn wait_for(_input: &File) -> io::Result<bool> {
    Ok(true)
}

pub(crate) fn not_to_be_written(_found: FileType) -> Option<&'static str> {
    None
}

pub(crate) fn ordinary<'a, 'b, 'c>(
    builder: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    builder
}

/// A folder cannot be opened to be written here; NTFS keeps its names in a journal.
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
