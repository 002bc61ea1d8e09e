//! Reads a file in blocks of whole lines.

use std::io::{BufReader, Cursor, Read};

use super::super::source::Source;
use crate::{Error, Result};

/// Enough for many lines, little enough to stay in a cache until it is parsed.
const BLOCK: usize = 1 << 19;
/// A longer line is taken for something else than a rating.
const LONGEST: usize = 64 << 20;

pub(super) struct Blocks<'a> {
    pub source: Source<'a>,
    /// The line that was begun in the block before.
    rest: Vec<u8>,
    begun: bool,
    ended: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        Blocks { source, rest: Vec::new(), begun: false, ended: false }
    }

    /// Puts the next lines into `block`; false at the end of the file. Only the last line of a file
    /// may lack its end.
    pub(super) fn read(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        block.clear();
        block.append(&mut self.rest);
        while !self.ended {
            if block.len() > LONGEST {
                return Err(Error::parse(
                    self.source.path,
                    "a line is longer than 64 MiB; give a file with one rating per line",
                ));
            }
            let start = block.len();
            let read = self.source.reader.by_ref().take(BLOCK as u64).read_to_end(block);
            self.ended = read.map_err(|error| self.source.cannot_read(error))? < BLOCK;
            if !self.begun && block.starts_with(b"\xef\xbb\xbf") {
                block.drain(..3);
            }
            self.begun = true;
            let end = block[start.min(block.len())..].iter().rposition(|&byte| byte == b'\n');
            if let (Some(end), false) = (end, self.ended) {
                self.rest.extend_from_slice(&block[start + end + 1..]);
                block.truncate(start + end + 1);
                break;
            }
        }
        Ok(!block.is_empty())
    }

    /// What is left of the file, from `block` on, as a file.
    pub(super) fn into_source(mut self, block: Vec<u8>) -> Source<'a> {
        let read = Cursor::new(block).chain(Cursor::new(self.rest));
        let whole: Box<dyn Read> = Box::new(read.chain(self.source.reader));
        self.source.reader = BufReader::with_capacity(1 << 17, whole);
        self.source
    }
}
