//! Reads a file in blocks of whole lines, which are parsed on all threads while the next ones are read.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use memchr::memrchr;

use super::source::Source;
use crate::{Error, Result};

/// Enough for many lines, little enough to stay in a cache until it is parsed.
const BLOCK: usize = 1 << 18;
/// More blocks at a time than this only take memory.
const MOST_BLOCKS: usize = 16;
/// A longer line is taken for something else than a row of data.
pub(super) const LONGEST: usize = 64 << 20;

pub(super) struct Blocks<'a> {
    source: Source<'a>,
    /// The line that was started in the block before.
    rest: Vec<u8>,
    begun: bool,
    ended: bool,
    /// What has kept it from being read to its end. What comes before that is reported first.
    fault: Option<io::Error>,
    /// Whether the line that was started is too long.
    too_long: bool,
}

impl<'a> Blocks<'a> {
    /// The blocks of a file from its first byte on.
    pub(super) fn new(source: Source<'a>) -> Self {
        let (rest, fault) = (Vec::new(), None);
        Blocks { source, rest, begun: false, ended: false, fault, too_long: false }
    }

    /// The blocks of what is left of a file behind one of its lines.
    pub(super) fn behind(source: Source<'a>) -> Self {
        Blocks { begun: true, ..Blocks::new(source) }
    }

    /// Puts the next lines into `block`; false at the end of the file, or where it cannot be read on. Only the last line
    /// of a file may lack its end.
    pub(super) fn read(&mut self, block: &mut Vec<u8>) -> bool {
        block.clear();
        if self.is_cut_off() {
            return false;
        }
        std::mem::swap(block, &mut self.rest);
        while !self.ended {
            let start = block.len();
            if start > LONGEST {
                (self.ended, self.too_long) = (true, true);
            } else {
                self.fill(block, start + BLOCK);
            }
            if !self.begun && block.starts_with(b"\xef\xbb\xbf") {
                block.drain(..3);
            }
            self.begun = true;
            let cut_off = self.is_cut_off();
            let from = start.min(block.len());
            let end = match memrchr(b'\n', &block[from..]) {
                Some(end) if !self.ended || cut_off => from + end + 1,
                None if cut_off => 0,
                _ => continue,
            };
            self.rest.extend_from_slice(&block[end..]);
            block.truncate(end);
            break;
        }
        !block.is_empty()
    }

    /// Whether the file goes on behind what can be read of it: the line that was started is no whole one.
    fn is_cut_off(&self) -> bool {
        self.too_long || self.fault.is_some()
    }

    /// Reads on until the block has this length.
    fn fill(&mut self, block: &mut Vec<u8>, length: usize) {
        while block.len() < length {
            match self.source.reader.fill_buf() {
                Ok([]) => {
                    self.ended = true;
                    return;
                }
                Ok(bytes) => {
                    let n = bytes.len().min(length - block.len());
                    block.extend_from_slice(&bytes[..n]);
                    self.source.reader.consume(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    (self.ended, self.fault) = (true, Some(error));
                    return;
                }
            }
        }
    }

    /// Has the blocks parsed, `first` and then all others, and `take` see what became of each, in the order of the
    /// file. Blocks are read, parsed and taken at the same time, on all threads. Ends behind the last whole line that
    /// can be read, or before the first block for which `take` says false: that block and what was read behind it are
    /// handed back, to be read in another way.
    pub(super) fn parse<P: Send>(
        &mut self,
        first: Vec<u8>,
        parse: impl Fn(&[u8]) -> P + Sync,
        mut take: impl FnMut(P) -> Result<bool> + Send,
    ) -> Result<Vec<u8>> {
        let n_blocks = (2 * rayon::current_num_threads()).clamp(2, MOST_BLOCKS);
        let mut current = vec![first];
        self.more(&mut current, 2, &mut Vec::new());
        if current.len() == 1 {
            // Threads are not worth their while.
            let block = current.remove(0);
            return Ok(if take(parse(&block))? { Vec::new() } else { block });
        }
        let (mut done, mut spare) = (Vec::new(), Vec::new());
        while !(current.is_empty() && done.is_empty()) {
            let mut parsed: Vec<Option<P>> = current.iter().map(|_| None).collect();
            let mut next = Vec::with_capacity(n_blocks);
            let mut left = Ok(None);
            rayon::in_place_scope(|scope| {
                let (parse, take, done, left) = (&parse, &mut take, &mut done, &mut left);
                scope.spawn(move |_| *left = take_all(done, take));
                for (block, place) in current.iter().zip(&mut parsed) {
                    scope.spawn(move |_| *place = Some(parse(block)));
                }
                self.more(&mut next, n_blocks, &mut spare);
            });
            if let Some(at) = left? {
                let blocks = done.into_iter().skip(at).map(|(block, _)| block);
                return Ok(blocks.chain(current).chain(next).flatten().collect());
            }
            spare.extend(done.into_iter().map(|(block, _)| block));
            done = current.into_iter().zip(parsed).collect();
            current = next;
        }
        Ok(Vec::new())
    }

    /// Reads on until there are this many blocks.
    fn more(&mut self, blocks: &mut Vec<Vec<u8>>, n_blocks: usize, spare: &mut Vec<Vec<u8>>) {
        while blocks.len() < n_blocks {
            let mut block = spare.pop().unwrap_or_default();
            if !self.read(&mut block) {
                return;
            }
            blocks.push(block);
        }
    }

    /// Whether all could be read, or the error. `row` is what stands in a line.
    pub(super) fn check_end(&mut self, row: &str) -> Result<()> {
        if self.too_long {
            return Err(Error::parse(
                self.source.path,
                format!("a line is longer than 64 MiB; give a file with one {row} per line"),
            ));
        }
        self.fault.take().map_or(Ok(()), |error| Err(self.source.cannot_read(error)))
    }

    /// What is left of the file, from `block` on, as a file.
    pub(super) fn into_source(mut self, block: Vec<u8>) -> Source<'a> {
        let read = Cursor::new(block).chain(Cursor::new(self.rest)).chain(Faulty(self.fault));
        let whole: Box<dyn Read> = Box::new(read.chain(self.source.reader));
        self.source.reader = BufReader::with_capacity(1 << 17, whole);
        self.source
    }
}

/// Takes what became of blocks; the place of the first one that is left.
fn take_all<P>(
    done: &mut [(Vec<u8>, Option<P>)],
    take: &mut impl FnMut(P) -> Result<bool>,
) -> Result<Option<usize>> {
    for (at, (_, parsed)) in done.iter_mut().enumerate() {
        if let Some(parsed) = parsed.take()
            && !take(parsed)?
        {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Says once more what is wrong.
struct Faulty(Option<io::Error>);

impl Read for Faulty {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
