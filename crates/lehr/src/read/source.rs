//! Opens a file and, if it is gzipped, unpacks it on the way; recognises the formats of tables.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::docs::Room;
use super::pipe::{Opened, Pipe};
use crate::math::stop;
use crate::{Error, Result};

/// What is asked for where something else was found.
pub(super) struct Needed {
    /// The files that are read.
    pub files: &'static str,
    /// The least that such a file holds.
    pub least: &'static str,
    /// The most bytes that it can have, unpacked, if it is no data but a list that goes with them.
    pub most: Option<u64>,
}

/// A table of numbers is asked for.
pub(super) const TABLE: Needed = Needed {
    files: ".csv, .tsv, .txt (these and .npy may end in .gz), .npy or .parquet",
    least: "a file with at least one row of numbers",
    most: None,
};
const BUFFER: usize = 1 << 17;
/// What a packed file may unpack to: this much for each of its bytes, and this much in any case. Text and
/// numbers that are data stay far below; a file made to fill the memory does not.
const UNPACKED_FACTOR: u64 = 200;
const UNPACKED_ALWAYS: u64 = 16 << 20;
/// The most that deflate can make of a byte.
const DEFLATED: u64 = 1032;
/// How much of a file is looked at to recognise its format.
const HEAD: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Npy,
    Parquet,
}

/// An open file from its first byte on.
pub(super) struct Source<'a> {
    pub path: &'a Path,
    /// The first bytes, unpacked, by which a format is recognised.
    pub head: Vec<u8>,
    /// The file's name in lower case, without .gz.
    pub name: String,
    /// The bytes, unpacked.
    pub reader: BufReader<Box<dyn Read>>,
    /// The file itself if its bytes can be used in place: a regular file that is not gzipped.
    pub file: Option<(File, u64)>,
    /// The pipe that it comes from, if it does.
    pipe: Option<Pipe>,
    /// How much the file takes on disk, packed or not; 0 for a pipe. What a header promises can
    /// be checked against it.
    pub size: u64,
    gzipped: bool,
    /// Where documents go that memory has no room for.
    pub room: Option<Room>,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Path, needed: &Needed) -> Result<Self> {
        let (mut plain, file, pipe): (Box<dyn Read>, _, _) =
            match Opened::new(path).map_err(|error| cannot_open(path, error))? {
                Opened::Folder => {
                    let message = format!("is a folder; give one file: {}", needed.files);
                    return Err(Error::parse(path, message));
                }
                Opened::File(file, length) => {
                    let kept = file.try_clone().map_err(|error| cannot_open(path, error))?;
                    (Box::new(file), Some((kept, length)), None)
                }
                Opened::Pipe(pipe) => (Box::new(pipe.clone()), None, Some(pipe)),
            };
        let lower = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, named_gz) = match lower.strip_suffix(".gz") {
            Some(name) => (name.to_string(), true),
            None => (lower, false),
        };

        let head = head(&mut plain).map_err(|error| Error::io(path, "cannot read", error))?;
        let gzipped = head.starts_with(&[0x1f, 0x8b]);
        if head.is_empty() {
            return Err(empty(path, needed));
        }
        if named_gz && !gzipped {
            return Err(Error::parse(
                path,
                "is not gzipped although its name ends in .gz; take .gz off the name if it is already unpacked",
            ));
        }

        let size = file.as_ref().map_or(0, |(_, length)| *length);
        let plain = Cursor::new(head.clone()).chain(Heeding(plain));
        let mut source = Source {
            path,
            head: Vec::new(),
            name,
            reader: BufReader::new(Box::new(io::empty())),
            file: file.filter(|_| !gzipped),
            pipe,
            size,
            gzipped,
            room: None,
        };
        source.head = if gzipped {
            let unpacked = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, plain));
            let most = if source.size == 0 { u64::MAX } else { most_unpacked(source.size) };
            let mut unpacked = Unpacked { inner: unpacked, left: most };
            let head = self::head(&mut unpacked).map_err(|error| source.cannot_read(error))?;
            if head.is_empty() {
                return Err(empty(path, needed));
            }
            let whole = Cursor::new(head.clone()).chain(unpacked);
            source.reader = BufReader::with_capacity(BUFFER, Box::new(whole));
            head
        } else {
            source.reader = BufReader::with_capacity(BUFFER, Box::new(plain));
            head
        };
        if let Some(most) = needed.most {
            source.limit(most);
        }
        Ok(source)
    }

    /// Lets no more than this be read.
    fn limit(&mut self, most: u64) {
        let whole = std::mem::replace(&mut self.reader, BufReader::new(Box::new(io::empty())));
        let limited = Limited { inner: whole, left: most, most };
        self.reader = BufReader::with_capacity(BUFFER, Box::new(limited));
    }

    /// A part of a file as a source of its own, e.g. a member of an archive.
    pub(super) fn part(path: &'a Path, name: String, reader: Box<dyn Read>) -> Self {
        let reader = BufReader::with_capacity(BUFFER, reader);
        Source {
            path,
            head: Vec::new(),
            name,
            reader,
            file: None,
            pipe: None,
            size: 0,
            gzipped: false,
            room: None,
        }
    }

    /// The most bytes that it can hold, unpacked; `None` for a pipe. What a header promises is
    /// checked against it.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        match &self.file {
            Some((_, length)) => Some(*length),
            None if self.gzipped && self.size > 0 => Some(self.size.saturating_mul(DEFLATED)),
            None => None,
        }
    }

    /// Refuses what cannot be text. Lines that end in carriage returns alone, as old spreadsheets write them, get the
    /// ends that all others have.
    pub(super) fn check_text(&mut self, needed: &Needed) -> Result<()> {
        if self.head.starts_with(&[0xff, 0xfe]) || self.head.starts_with(&[0xfe, 0xff]) {
            return Err(Error::parse(
                self.path,
                "is text in UTF-16; save it as UTF-8 and try again",
            ));
        }
        if self.head.contains(&0) {
            return Err(Error::parse(
                self.path,
                format!("is neither text nor a known binary format; give one of {}", needed.files),
            ));
        }
        if ends_in_returns(&self.head) {
            let whole = std::mem::replace(&mut self.reader, BufReader::new(Box::new(io::empty())));
            self.reader =
                BufReader::with_capacity(BUFFER, Box::new(Returns { inner: whole, behind: false }));
        }
        Ok(())
    }

    /// A failing read in words: a gzipped file that is cut off or damaged shows up here.
    pub(super) fn cannot_read(&self, error: io::Error) -> Error {
        cannot_read(self.path, self.gzipped, error)
    }
}

/// Whether the lines of a text that starts like this end in carriage returns and nothing else.
fn ends_in_returns(head: &[u8]) -> bool {
    let first = head.iter().position(|&byte| byte == b'\r');
    // The last byte of the head may have its line feed behind it.
    !head.contains(&b'\n') && first.is_some_and(|at| at + 1 < head.len() || head.len() < HEAD)
}

/// Makes line feeds of carriage returns.
struct Returns<R> {
    inner: R,
    /// Whether the last byte was one.
    behind: bool,
}

impl<R: Read> Read for Returns<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.inner.read(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                let byte = buffer[at];
                let is_second = self.behind && byte == b'\n';
                self.behind = byte == b'\r';
                if !is_second {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// How many bytes a packed file of this size may unpack to.
pub(super) fn most_unpacked(size: u64) -> u64 {
    size.saturating_mul(UNPACKED_FACTOR).saturating_add(UNPACKED_ALWAYS)
}

/// Reads, unless a stop is asked for.
struct Heeding<R>(R);

impl<R: Read> Read for Heeding<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        stop::check();
        self.0.read(buffer)
    }
}

/// Unpacks up to a limit.
struct Unpacked<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!(
                "it unpacks to more than {UNPACKED_FACTOR} times its size; unpack it first if you trust it"
            ))
        })?;
        Ok(read)
    }
}

/// Reads up to a limit.
struct Limited<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let most = self.most >> 20;
            io::Error::other(format!("it has more than {most} MiB, and is hardly what was meant"))
        })?;
        Ok(read)
    }
}

/// The format of a table. Content first, since a name may lie; then the name.
pub(super) fn recognise(source: &mut Source<'_>, needed: &Needed) -> Result<Format> {
    let Source { path, name, head, .. } = &*source;
    if head.starts_with(b"\x93NUMPY") {
        return Ok(Format::Npy);
    }
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    let misnamed = |extension: &str, format: &str, magic: &str| {
        Err(Error::parse(
            path,
            format!(
                "is not a {format} file although it is named {extension}: it starts with {}, not with {magic}; if it is text, name it .csv or .txt",
                shown(&head[..head.len().min(12)])
            ),
        ))
    };
    if name.ends_with(".npy") {
        return misnamed(".npy", "NumPy", "\"\\x93NUMPY\"");
    }
    if name.ends_with(".parquet") {
        return misnamed(".parquet", "Parquet", "\"PAR1\"");
    }
    source.check_text(needed)?;
    Ok(Format::Text)
}

/// The file itself and its length, for formats that are not read from front to back.
pub(super) fn plain_file(source: &Source<'_>, what: &str) -> Result<(File, u64)> {
    match &source.file {
        Some((file, length)) => {
            let file = file.try_clone();
            Ok((file.map_err(|error| Error::io(source.path, "cannot open", error))?, *length))
        }
        None => {
            let pipe = source.pipe.as_ref().filter(|_| !source.gzipped);
            let whole = pipe.map_or(Ok(None), Pipe::whole);
            let whole = whole.map_err(|error| source.cannot_read(error))?;
            whole.ok_or_else(|| {
                let why = format!(
                    "is {what} that is gzipped or comes from a pipe; give it as a plain file"
                );
                Error::parse(source.path, why)
            })
        }
    }
}

fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Bytes as a short quoted text with the unprintable ones escaped.
pub(super) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    let mut short: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

pub(super) fn empty(path: &Path, needed: &Needed) -> Error {
    Error::parse(path, format!("is empty; give {}", needed.least))
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    let missing = error.kind() == io::ErrorKind::NotFound;
    if !missing {
        return Error::io(path, "cannot open", error);
    }
    let hint = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && fs::metadata(folder).is_err() => {
            format!("there is no folder {}; check the path", folder.display())
        }
        _ => "there is no such file; check the name and the folder".to_string(),
    };
    Error::io(path, "", io::Error::new(io::ErrorKind::NotFound, hint))
}

fn cannot_read(path: &Path, gzipped: bool, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof if gzipped => Error::parse(
            path,
            "the gzipped data end too early: the file is cut off or still being written; copy it again",
        ),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if gzipped => {
            Error::parse(path, format!("the gzipped data are damaged ({error}); copy it again"))
        }
        _ => Error::io(path, "cannot read", error),
    }
}
