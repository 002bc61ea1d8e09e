//! What data are opened as: a file, or a pipe, whose bytes can be kept so that it can be read a second time.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::math::stop;
use crate::platform;

/// Standard input as a path.
pub const STDIN: &str = "/dev/stdin";

/// The pipes that were opened; none if they are not kept.
static KEPT: Mutex<Option<HashMap<PathBuf, Pipe>>> = Mutex::new(None);

/// From now on what this process reads from a pipe is kept in a temporary file, so that it can be read again by the same
/// name, and by formats that are not read from front to back. For programs that are given each pipe once.
pub fn keep_pipes() {
    locked(&KEPT).get_or_insert_default();
}

/// Data that were opened.
pub(super) enum Opened {
    /// A regular file, and its length.
    File(File, u64),
    Pipe(Pipe),
    Folder,
}

impl Opened {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let again = locked(&KEPT).as_ref().and_then(|kept| kept.get(path)).cloned();
        if let Some(pipe) = again {
            return Ok(Opened::Pipe(Pipe { at: 0, ..pipe }));
        }
        let mut file = match path == Path::new(STDIN) {
            true => platform::stdin()?,
            false => platform::open(path)?,
        };
        match platform::metadata(&file)? {
            Some(found) if found.is_dir() => return Ok(Opened::Folder),
            Some(found) if found.is_file() => {
                if path == Path::new(STDIN) {
                    file.rewind()?; // it may have been read before
                }
                return Ok(Opened::File(file, found.len()));
            }
            _ => {}
        }
        let mut kept = locked(&KEPT);
        let copy = kept.as_ref().and_then(|_| tempfile::tempfile().ok());
        let inner = Inner { input: file, copy, length: 0, ended: false };
        let pipe = Pipe { inner: Arc::new(Mutex::new(inner)), at: 0 };
        if let Some(kept) = kept.as_mut() {
            kept.insert(path.to_path_buf(), pipe.clone());
        }
        Ok(Opened::Pipe(pipe))
    }
}

/// Whether a path leads to something that can be read only once.
pub(crate) fn is_pipe(path: &Path) -> bool {
    let found = match path == Path::new(STDIN) {
        true => platform::stdin().and_then(|file| platform::metadata(&file)),
        false => fs::metadata(path).map(Some),
    };
    found.is_ok_and(|found| found.is_none_or(|found| !(found.is_file() || found.is_dir())))
}

/// The file that standard input is, if it is one; else the path as it is.
pub(crate) fn behind(path: &Path) -> PathBuf {
    let is_descriptor = path == Path::new(STDIN) || path.starts_with("/dev/fd");
    let real = fs::canonicalize(path).ok().filter(|real| is_descriptor && real.is_file());
    real.unwrap_or_else(|| match is_descriptor {
        true => path.to_path_buf(),
        false => std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),
    })
}

/// Waits until there is something to read, or nothing more will come, and heeds stops meanwhile.
fn wait_for(input: &File) -> io::Result<()> {
    loop {
        stop::check();
        if platform::wait_for(input)? {
            return Ok(());
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pipe from its first byte on.
#[derive(Clone)]
pub(super) struct Pipe {
    inner: Arc<Mutex<Inner>>,
    /// How much of it this reader has read.
    at: u64,
}

struct Inner {
    input: File,
    /// What came through it; none if that is not kept.
    copy: Option<File>,
    length: u64,
    ended: bool,
}

impl Inner {
    /// Reads on, and keeps what comes.
    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let read = loop {
            wait_for(&self.input)?;
            match self.input.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {} // another process has read it
                other => break other?,
            }
        };
        self.ended = read == 0 && !buffer.is_empty();
        if let Some(copy) = &mut self.copy {
            let kept = copy.seek(SeekFrom::Start(self.length));
            if kept.and_then(|_| copy.write_all(&buffer[..read])).is_err() {
                self.copy = None; // without room for it, it is read once
            }
        }
        self.length += read as u64;
        Ok(read)
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut inner = locked(&self.inner);
        let read = if self.at == inner.length {
            inner.read_on(buffer)?
        } else {
            let left = inner.length - self.at;
            let Some(copy) = &mut inner.copy else {
                return Err(io::Error::other(
                    "it is a pipe, which cannot be read a second time; save it to a file first",
                ));
            };
            copy.seek(SeekFrom::Start(self.at))?;
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            copy.read(&mut buffer[..most])?
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Pipe {
    /// All of it as a file and its length, if it is kept.
    pub(super) fn whole(&self) -> io::Result<Option<(File, u64)>> {
        let mut inner = locked(&self.inner);
        let mut buffer = vec![0; 1 << 16];
        while inner.copy.is_some() && inner.read_on(&mut buffer)? > 0 {}
        let length = inner.length;
        let Some(copy) = &mut inner.copy else { return Ok(None) };
        copy.rewind()?;
        Ok(Some((copy.try_clone()?, length)))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    fn pipe(copy: Option<File>) -> (Pipe, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        let input = File::from(OwnedFd::from(reader));
        let inner = Inner { input, copy, length: 0, ended: false };
        (Pipe { inner: Arc::new(Mutex::new(inner)), at: 0 }, writer)
    }

    #[test]
    fn what_is_kept_is_read_again_and_as_a_file() {
        let (mut first, mut writer) = pipe(Some(tempfile::tempfile().unwrap()));
        let mut second = first.clone();
        writer.write_all(b"hello").unwrap();
        let mut head = [0; 3];
        first.read_exact(&mut head).unwrap();
        writer.write_all(b" you").unwrap();
        drop(writer);
        let mut text = String::new();
        second.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello you");
        let (mut file, length) = first.whole().unwrap().unwrap();
        let mut whole = String::new();
        file.read_to_string(&mut whole).unwrap();
        assert_eq!((whole.as_str(), length), ("hello you", 9));
        let mut rest = String::new();
        first.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "lo you");
    }

    #[test]
    fn what_is_not_kept_is_read_once() {
        let (mut first, mut writer) = pipe(None);
        let mut second = first.clone();
        writer.write_all(b"hello").unwrap();
        drop(writer);
        let mut text = String::new();
        first.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        assert!(first.whole().unwrap().is_none());
        let fault = second.read_to_string(&mut text).unwrap_err().to_string();
        assert!(fault.contains("cannot be read a second time"), "{fault}");
    }
}
