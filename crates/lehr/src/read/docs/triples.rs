//! Lines of document, word and count below a header with their numbers: UCI and Matrix Market.

use memchr::memchr;

use super::builder::Builder;
use super::lines::Lines;
use super::numbers::count;
use super::vocab::Names;
use crate::data::Docs;
use crate::{Error, Result};

use super::super::blocks::{Blocks, LONGEST};
use super::super::digits::{Last, is_number, leading, short_pair, whole};
use super::super::records::blank_split;
use super::super::source::shown;

/// What the header says.
pub(super) struct Header {
    pub docs: Size,
    pub words: Size,
    pub entries: Size,
    /// Whether the word comes first in a line.
    pub word_first: bool,
    /// Whether lines have no count: every entry counts once.
    pub pattern: bool,
}

/// A number of the header.
pub(super) struct Size {
    pub size: u64,
    /// Its name there, e.g. "W".
    pub name: &'static str,
    /// The line that it stands in.
    pub line: u64,
}

impl Size {
    /// Checks a number of documents or words.
    pub(super) fn check(&self, lines: &Lines<'_>, what: &str) -> Result<()> {
        if self.size <= u64::from(u32::MAX) {
            return Ok(());
        }
        let Size { size, name, line } = self;
        let message =
            format!("{name} = {size} {what}; there may be at most {}: fix the header", u32::MAX);
        Err(Error::parse_at(lines.path(), *line, None, message))
    }

    /// Whether it is at least so large, and the number not 0.
    fn has(&self, number: u64) -> bool {
        // One comparison for both: 0 wraps around.
        number.wrapping_sub(1) < self.size
    }

    /// In words, with the place where it can be fixed.
    fn shown(&self, what: &str) -> String {
        format!(
            "the {} {what} that the header promises ({}, line {})",
            self.size, self.name, self.line
        )
    }
}

/// Reads the lines behind the header.
pub(super) fn read(lines: Lines<'_>, header: &Header, names: Option<Names>) -> Result<Docs> {
    let path = lines.path();
    header.docs.check(&lines, "documents")?;
    header.words.check(&lines, "words")?;
    if let Some(names) = &names {
        names.check(path, header.words.size)?;
    }
    let n_entries = lines.credible(header.entries.size, 8);
    let n_entries = n_entries.min(lines.room().map_or(usize::MAX, |room| room.most));
    let mut builder = Builder::with_capacity(n_entries).spilling(lines.room());
    let mut n_entries = 0;
    let mut lines = read_blocks(lines, header, &mut builder, &mut n_entries)?;
    let mut last = Last::none();
    while let Some(line) = lines.read()? {
        let entry = match fast(line, header, &mut last) {
            Some((entry, length)) if length == line.len() => entry,
            _ if line.trim_ascii().is_empty() => continue,
            _ => slow(line, header).map_err(|(column, text)| lines.fault(column, text))?,
        };
        let (doc, word, count) = entry;
        if !header.docs.has(doc) {
            return Err(beyond(&lines, "document", doc, &header.docs));
        }
        if !header.words.has(word) {
            return Err(beyond(&lines, "word", word, &header.words));
        }
        n_entries += 1;
        if n_entries > header.entries.size {
            let promised = header.entries.shown("entries");
            let text = format!("the line is one more than {promised}; fix the header");
            return Err(lines.fault("", text));
        }
        builder.push((doc - 1) as u32, (word - 1) as u32, count);
    }
    if n_entries < header.entries.size {
        return Err(Error::parse(
            path,
            format!(
                "only {n_entries} entries follow, not {}; the file is cut off, or the header is wrong",
                header.entries.shown("entries")
            ),
        ));
    }
    builder.finish(path, header.docs.size, header.words.size, names)
}

/// Reads blocks of lines on all threads, up to the first one that has something wrong; what is left.
fn read_blocks<'a>(
    lines: Lines<'a>,
    header: &Header,
    builder: &mut Builder,
    n_entries: &mut u64,
) -> Result<Lines<'a>> {
    let mut number = lines.number;
    let mut blocks = Blocks::behind(lines.into_source());
    let mut first = Vec::new();
    blocks.read(&mut first);
    let take = |part: Option<Part>| match part {
        Some(part) if *n_entries + part.n_entries <= header.entries.size => {
            *n_entries += part.n_entries;
            number += part.n_lines;
            builder.append(part.builder);
            Ok(true)
        }
        _ => Ok(false),
    };
    let left = blocks.parse(first, |block| parse(block, header), take)?;
    Ok(Lines::behind(blocks.into_source(left), number))
}

/// What a block of lines holds.
struct Part {
    builder: Builder,
    n_entries: u64,
    n_lines: u64,
}

/// The entries of whole lines, unless one of them has something wrong.
fn parse(block: &[u8], header: &Header) -> Option<Part> {
    if block.len() > LONGEST {
        return None;
    }
    // A guess: what is short grows, and costs time.
    let builder = Builder::with_capacity(block.len() / 12);
    let mut part = Part { builder, n_entries: 0, n_lines: 0 };
    let (mut at, mut last) = (0, Last::none());
    while at < block.len() {
        part.n_lines += 1;
        let rest = &block[at..];
        let entry = match fast(rest, header, &mut last) {
            Some((entry, length)) if matches!(rest[length..], [] | [b'\n', ..]) => {
                at += length + 1;
                entry
            }
            Some((entry, length)) if rest[length..].starts_with(b"\r\n") => {
                at += length + 2;
                entry
            }
            _ => {
                let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
                at += line.len() + 1;
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if line.trim_ascii().is_empty() {
                    continue;
                }
                slow(line, header).ok()?
            }
        };
        let (doc, word, count) = entry;
        if !(header.docs.has(doc) && header.words.has(word)) {
            return None;
        }
        part.n_entries += 1;
        part.builder.push((doc - 1) as u32, (word - 1) as u32, count);
    }
    Some(part)
}

fn beyond(lines: &Lines<'_>, column: &str, number: u64, size: &Size) -> Error {
    let text = match number {
        0 => format!("found 0; {column}s are numbered from 1"),
        _ => {
            let promised = size.shown(&format!("{column}s"));
            format!("found {number}, which is beyond {promised}; fix the line or the header")
        }
    };
    lines.fault(column, text)
}

/// A document, a word and its count.
type Entry = (u64, u64, f32);

/// The three whole numbers with one blank between them that a text starts with, as nearly every line does, and their
/// length. `last` is for the first of them.
#[inline(always)]
fn fast(text: &[u8], header: &Header, last: &mut Last) -> Option<(Entry, usize)> {
    let number = |(number, length): (u64, usize), blank: bool, text: &[u8]| {
        let whole = is_number(length) && (!blank || text.get(length) == Some(&b' '));
        whole.then_some((number, length + usize::from(blank)))
    };
    if header.pattern {
        return None;
    }
    let (first, mut at) = number(last.leading(text), true, text)?;
    let rest = &text[at..];
    let ([second, count], length) = match short_pair(rest) {
        Some(found) => found,
        None => {
            let (second, at) = number(leading(rest), true, rest)?;
            let (count, length) = number(leading(&rest[at..]), false, rest)?;
            ([second, count], at + length)
        }
    };
    at += length;
    Some((in_order(first, second, count as f32, header), at))
}

/// The entry of a line with these numbers.
fn in_order(first: u64, second: u64, count: f32, header: &Header) -> Entry {
    if header.word_first { (second, first, count) } else { (first, second, count) }
}

/// Any line, or the column and what is wrong there.
fn slow(line: &[u8], header: &Header) -> Result<Entry, (&'static str, String)> {
    let mut fields = blank_split(line);
    let columns = if header.word_first { ["word", "document"] } else { ["document", "word"] };
    let n_fields = if header.pattern { 2 } else { 3 };
    let found = blank_split(line).count();
    if found != n_fields {
        let [first, second] = columns;
        let third = if header.pattern { "" } else { " count" };
        return Err((
            "",
            format!(
                "has {found} fields, and `{first} {second}{third}` are {n_fields}: {}",
                shown(line)
            ),
        ));
    }
    let mut number = |column: &'static str| {
        let field = fields.next().unwrap_or_default();
        whole(field).ok_or_else(|| {
            (column, format!("found {}; {column}s are numbered from 1", shown(field)))
        })
    };
    let (first, second) = (number(columns[0])?, number(columns[1])?);
    let count = match fields.next() {
        Some(field) => count(field).map_err(|text| ("count", text))?,
        None => 1.0,
    };
    Ok(in_order(first, second, count, header))
}
