//! Opens a Parquet file and looks through its own accounts before the library believes them: it would
//! recurse as deep as a schema claims to be, and allocate whatever a page says that it unpacks to.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::parquet::damaged;
use super::parquet_headers::{FILE as FILE_FIELDS, PAGE as PAGE_FIELDS};
use super::source::{Source, most_unpacked, plain_file};
use super::thrift::{Seen, walk};
use crate::{Error, Result};

/// What may be unpacked for each byte of the file, besides [`ALWAYS`]. Real tables stay far below: of
/// two columns that are read, one may be the same number in every row, but hardly both.
const FACTOR: u64 = 1024;
const ALWAYS: u64 = 16 << 20;
/// What a page costs besides its content.
const PAGE: u64 = 1024;
/// Columns within columns; tables of numbers have none, lists of structures a few.
const DEEPEST_SCHEMA: usize = 64;
/// Encodings of text of which the library believes a length that cannot be looked at beforehand.
const UNCHECKED: [(i64, &str); 2] = [(6, "DELTA_LENGTH_BYTE_ARRAY"), (7, "DELTA_BYTE_ARRAY")];

/// An open file.
pub(super) struct Opened<'a> {
    path: &'a Path,
    pub reader: SerializedFileReader<File>,
    file: File,
    length: u64,
    /// How many bytes may still be unpacked.
    left: u64,
}

impl<'a> Opened<'a> {
    pub(super) fn new(source: &Source<'a>) -> Result<Self> {
        let path = source.path;
        let (file, length) = plain_file(source, "Parquet")?;
        check_footer(&file, length).map_err(|found| unsound(path, found))?;
        let own = file.try_clone().map_err(|error| Error::io(path, "cannot open", error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(path, error))?;
        let left = ALWAYS + FACTOR * length;
        Ok(Opened { path, reader, file: own, length, left })
    }

    /// Refuses a row group of which a chosen column lies outside the file, or has pages that unpack
    /// to more than is credible. To be called before it is read; how many values it has.
    pub(super) fn check_group(&mut self, group: usize, chosen: &[usize]) -> Result<usize> {
        let group = self.reader.metadata().row_group(group).clone();
        let mut n_values = 0;
        for &at in chosen {
            n_values += self.check(group.column(at))?;
        }
        Ok(n_values as usize)
    }

    fn check(&mut self, chunk: &ColumnChunkMetaData) -> Result<u64> {
        let name = || chunk.column_path().string();
        let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        let inside = |&(start, size): &(u64, u64)| {
            start.checked_add(size).is_some_and(|end| end <= self.length)
        };
        let Some((start, size)) = range.filter(inside) else {
            return Err(unsound(self.path, format!("column {} lies outside the file", name())));
        };
        let width = if chunk.column_type() == Physical::BYTE_ARRAY { 32 } else { 8 };
        let fault = |found: String| unsound(self.path, format!("column {}: {found}", name()));
        let (mut at, end, mut n_values) = (start, start + size, 0);
        while at < end {
            let page = Page::read(&self.file, at, end - at).map_err(fault)?;
            at += page.header + page.packed;
            let unchecked = UNCHECKED.iter().find(|(code, _)| *code == page.encoding);
            if let (Some((_, encoding)), 32) = (unchecked, width) {
                return Err(Error::parse(
                    self.path,
                    format!(
                        "column {}: its text is encoded as {encoding}, which is not read; write it with dictionaries or plainly",
                        name()
                    ),
                ));
            }
            self.left = self.left_after(&page, width).map_err(fault)?;
            n_values += page.values;
        }
        Ok(n_values)
    }

    /// How many bytes may be unpacked after this page.
    fn left_after(&self, page: &Page, width: u64) -> Result<u64, String> {
        if page.unpacked > most_unpacked(self.length) || page.words > page.unpacked {
            return Err(format!(
                "a page claims {} bytes, and the file has {}",
                page.unpacked.max(page.words),
                self.length
            ));
        }
        let cost = (page.values + page.words) * width + page.unpacked + PAGE;
        self.left.checked_sub(cost).ok_or_else(|| {
            format!("it unpacks to more than {FACTOR} times the {} bytes of the file", self.length)
        })
    }
}

/// What a page says of itself.
struct Page {
    /// The bytes of its header.
    header: u64,
    /// The bytes behind it, as they are and unpacked.
    packed: u64,
    unpacked: u64,
    /// How many rows it has.
    values: u64,
    /// How many values its dictionary has.
    words: u64,
    encoding: i64,
}

impl Page {
    /// The page at byte `at`, of a column that ends in `left` bytes.
    fn read(file: &File, at: u64, left: u64) -> Result<Self, String> {
        let mut from = Counted { inner: at_byte(file, at)?.take(left), read: 0 };
        let (mut sizes, mut values, mut words, mut encoding) = ([None; 2], 0, 0, 0);
        walk(&mut from, PAGE_FIELDS, &mut |path, seen| {
            if let Seen::Integer(number) = seen {
                match path {
                    [2] => sizes[0] = Some(number),
                    [3] => sizes[1] = Some(number),
                    [5 | 8, 1] => values = number,
                    [7, 1] => words = number,
                    [5, 2] | [8, 4] => encoding = number,
                    _ => {}
                }
            }
            Ok(())
        })?;
        let wrong = || "a page's header is damaged".to_string();
        let whole = |number: i64| u32::try_from(number).map(u64::from).map_err(|_| wrong());
        let [Some(unpacked), Some(packed)] = sizes else { return Err(wrong()) };
        let (unpacked, packed, header) = (whole(unpacked)?, whole(packed)?, from.read);
        if header + packed > left {
            return Err("a page is longer than its column".into());
        }
        let (values, words) = (whole(values)?, whole(words)?);
        Ok(Page { header, packed, unpacked, values, words, encoding })
    }
}

/// Refuses a schema that is deeper, or has larger groups, than its elements can make.
fn check_footer(file: &File, length: u64) -> Result<(), String> {
    // What has no footer at all is reported by the library.
    let Some(end) = length.checked_sub(8) else { return Ok(()) };
    let mut size = [0; 4];
    at_byte(file, end)?.read_exact(&mut size).map_err(|error| error.to_string())?;
    let Some(start) = end.checked_sub(u32::from_le_bytes(size).into()) else { return Ok(()) };
    let (mut n_elements, mut children) = (0, 0);
    // How many elements are still to come in each open group.
    let mut open: Vec<u64> = Vec::new();
    walk(&mut at_byte(file, start)?.take(end - start), FILE_FIELDS, &mut |path, seen| {
        match (path, seen) {
            ([2], Seen::List(length)) => n_elements = length,
            ([2, 5], Seen::Integer(number)) => {
                children = u64::try_from(number).unwrap_or(u64::MAX);
                if children > n_elements {
                    return Err("a group of its schema has more columns than there are".into());
                }
            }
            ([2], Seen::Element) => {
                if let Some(group) = open.last_mut() {
                    *group -= 1;
                }
                open.push(std::mem::take(&mut children));
                while open.last() == Some(&0) {
                    open.pop();
                }
                if open.len() > DEEPEST_SCHEMA {
                    return Err("its schema is nested too deeply".into());
                }
            }
            _ => {}
        }
        Ok(())
    })
}

fn at_byte(file: &File, at: u64) -> Result<BufReader<File>, String> {
    let mut file = file.try_clone().map_err(|error| error.to_string())?;
    file.seek(SeekFrom::Start(at)).map_err(|error| error.to_string())?;
    Ok(BufReader::with_capacity(512, file))
}

/// A reader that counts.
struct Counted<R> {
    inner: R,
    read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

fn unsound(path: &Path, found: String) -> Error {
    damaged(path, ParquetError::General(found))
}
