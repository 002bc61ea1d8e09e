//! Hands out a file line by line, without a copy and with every line's number.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use memchr::memchr;

use super::super::source::Source;
use super::Room;
use crate::error::Advice;
use crate::{Error, Result};

/// How much is read at a time, and how much of a file is looked at to recognise its format.
const BLOCK: usize = 1 << 20;
/// A longer line is taken for something else than a document.
const LONGEST: usize = 64 << 20;
/// What some programs put before text in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

pub(super) struct Lines<'a> {
    source: Source<'a>,
    buffer: Vec<u8>,
    /// The part of the buffer that is not yet handed out.
    start: usize,
    end: usize,
    /// The number of the line handed out last, from 1.
    pub number: u64,
    at_end: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        Lines { source, buffer: vec![0; BLOCK], start: 0, end: 0, number: 0, at_end: false }
    }

    /// Reads on behind line `number` of a file; `source` holds what is left of it.
    pub(super) fn behind(source: Source<'a>, number: u64) -> Self {
        Lines { number, ..Lines::new(source) }
    }

    pub(super) fn path(&self) -> &'a Path {
        self.source.path
    }

    /// Where documents go that memory has no room for.
    pub(super) fn room(&self) -> Option<&Room> {
        self.source.room.as_ref()
    }

    /// How many things of `bytes` bytes in memory a header may claim before it is checked without
    /// proof; the rest has to come.
    pub(super) fn credible(&self, claimed: u64, bytes: u64) -> usize {
        claimed.min(4 * self.source.size / bytes) as usize
    }

    /// The first block of the file, to recognise its format; nothing is handed out by this.
    pub(super) fn peek(&mut self) -> Result<&[u8]> {
        while !self.at_end && self.end < self.buffer.len() {
            self.fill()?;
        }
        let head = &self.buffer[..self.end];
        Ok(head.strip_prefix(BOM).unwrap_or(head))
    }

    /// The next line without its end; `None` at the end of the file.
    pub(super) fn read(&mut self) -> Result<Option<&[u8]>> {
        let mut searched = self.start;
        let length = loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                break searched + at - self.start;
            }
            searched = self.end;
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                break self.end - self.start;
            }
            if self.end - self.start > LONGEST {
                return Err(Error::parse_at(
                    self.path(),
                    self.number + 1,
                    None,
                    "the line is longer than 64 MiB; give one document a line",
                ));
            }
            if self.end == self.buffer.len() {
                self.buffer.copy_within(self.start..self.end, 0);
                (searched, self.end) = (searched - self.start, self.end - self.start);
                self.start = 0;
                if self.end > self.buffer.len() / 2 {
                    self.buffer.resize(2 * self.buffer.len(), 0);
                }
            }
            self.fill()?;
        };
        let line = &self.buffer[self.start..self.start + length];
        self.start = (self.start + length + 1).min(self.end);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.number += 1;
        let bom = if self.number == 1 { BOM } else { b"" };
        Ok(Some(line.strip_prefix(bom).unwrap_or(line)))
    }

    /// What is not yet handed out, as a file.
    pub(super) fn into_source(mut self) -> Source<'a> {
        let rest = self.buffer.drain(self.start..self.end).collect::<Vec<u8>>();
        let bom = if self.number == 0 && rest.starts_with(BOM) { BOM.len() } else { 0 };
        let mut rest = Cursor::new(rest);
        rest.set_position(bom as u64);
        let whole: Box<dyn Read> = Box::new(rest.chain(self.source.reader));
        self.source.reader = BufReader::with_capacity(BLOCK, whole);
        self.source
    }

    /// A fault of the line handed out last.
    pub(super) fn fault(&self, column: &str, text: impl Into<Advice>) -> Error {
        let column = (!column.is_empty()).then(|| column.to_string());
        Error::parse_at(self.path(), self.number, column, text)
    }

    fn fill(&mut self) -> Result<()> {
        match self.source.reader.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.at_end = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(self.source.cannot_read(error)),
        }
        Ok(())
    }
}
