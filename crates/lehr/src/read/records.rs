//! Splits text into records and cells, one record in memory at a time, knowing every line's number.
//!
//! The `csv` crate is not used: it reports a line too few after CRLF, blank lines and comments,
//! and has no separator "any blanks".

use std::io::{BufRead, Read};
use std::path::Path;

use super::source::Source;
use crate::{Error, Result};

/// A record longer than this is taken for something else than a table.
const LONGEST_RECORD: usize = 64 << 20;

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Byte(u8),
    /// Any number of blanks and tabs.
    Blanks,
}

impl Separator {
    /// The separator of a table with this first line: the first of tab, semicolon, comma, bar and
    /// blank that it has outside quotes. A comma comes late since it may be a decimal comma.
    pub(super) fn of(line: &[u8]) -> Self {
        let mut quoted = false;
        let mut seen = [false; 5];
        for &byte in line.trim_ascii_end() {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'\t' => seen[0] = true,
                b';' => seen[1] = true,
                b',' => seen[2] = true,
                b'|' => seen[3] = true,
                b' ' => seen[4] = true,
                _ => {}
            }
        }
        match seen {
            [true, ..] => Separator::Byte(b'\t'),
            [_, true, ..] => Separator::Byte(b';'),
            [_, _, true, ..] => Separator::Byte(b','),
            [.., true, _] => Separator::Byte(b'|'),
            [.., true] => Separator::Blanks,
            _ => Separator::Byte(b','),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Separator::Byte(b'\t') => "tabs",
            Separator::Byte(b';') => "semicolons",
            Separator::Byte(b'|') => "bars",
            Separator::Byte(_) => "commas",
            Separator::Blanks => "blanks",
        }
    }

    fn is(self, byte: u8) -> bool {
        match self {
            Separator::Byte(own) => byte == own,
            Separator::Blanks => byte.is_ascii_whitespace(),
        }
    }
}

/// Whether a line has two `::` outside quotes and no tab.
pub(super) fn has_colons(line: &[u8]) -> bool {
    let (mut quoted, mut found, mut at) = (false, 0, 0);
    while at < line.len() {
        match line[at] {
            b'\t' if !quoted => return false,
            b'"' if quoted || at == 0 || matches!(line[at - 1], b',' | b';' | b' ') => {
                quoted = !quoted;
            }
            b':' if !quoted && line.get(at + 1) == Some(&b':') => {
                found += 1;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    found >= 2
}

/// What is wrong with a record that has `found` cells and not as many as the first one.
pub(super) fn ragged(found: usize, expected: usize, first_line: u64, separator: &str) -> String {
    format!(
        "found {found} {}, expected {expected} as in line {first_line}; the fields are separated by {separator}",
        if found == 1 { "field" } else { "fields" },
    )
}

/// Whether a line is left out of a table that may have comments.
pub(super) fn is_skipped(line: &[u8]) -> bool {
    is_blank(line) || is_comment(line)
}

/// Whether a line, with or without its carriage return, has nothing but blanks.
pub(super) fn is_blank(line: &[u8]) -> bool {
    has_blanks_only(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Tabs alone are a row of empty cells.
fn has_blanks_only(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b' ')
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#')
}

/// The cells of a record without quotes that is separated by blanks.
pub(super) fn blank_split(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty())
}

/// A file, record by record.
pub(super) struct Records<'a> {
    source: Source<'a>,
    /// The number of the current record's first line, from 1.
    pub line: u64,
    /// The number of the line that is read next.
    next: u64,
    /// The current record, or of a record over several lines the last one.
    pub text: Vec<u8>,
    /// The current record's cells if it has quotes.
    pub quoted: Quoted,
    /// Set by the first record.
    pub separator: Separator,
    /// Whether lines that start with # are skipped.
    comments: bool,
    /// Whether the current record has quotes, once that is known.
    is_quoted: Option<bool>,
}

impl<'a> Records<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        let separator = Separator::Blanks;
        let (text, quoted) = (Vec::new(), Quoted::default());
        let is_quoted = None;
        Records { source, line: 0, next: 1, text, quoted, separator, comments: true, is_quoted }
    }

    /// The same from line `next` on, which is a file's first one that says something; # is a sign
    /// like any other.
    pub(super) fn starting(source: Source<'a>, next: u64) -> Self {
        Records { next, comments: false, ..Records::new(source) }
    }

    /// Reads on in line `next` of a file whose separator is known; `source` holds what is left of it.
    pub(super) fn resumed(source: Source<'a>, separator: Separator, next: u64) -> Self {
        Records { separator, line: next, ..Records::starting(source, next) }
    }

    /// The same with lines that start with # left out.
    pub(super) fn with_comments(self) -> Self {
        Records { comments: true, ..self }
    }

    /// The number of the line behind the current record.
    pub(super) fn next_line(&self) -> u64 {
        self.next
    }

    /// What is left behind the current record, as a file.
    pub(super) fn into_source(self) -> Source<'a> {
        self.source
    }

    /// Reads on to the next line that is neither blank nor a comment; false at the end.
    pub(super) fn read_record(&mut self) -> Result<bool> {
        loop {
            let first = self.line == 0;
            if !self.read_line()? {
                return Ok(false);
            }
            if !(has_blanks_only(&self.text) || self.comments && is_comment(&self.text)) {
                self.line = self.next - 1;
                self.is_quoted = None;
                if first {
                    self.separator = Separator::of(&self.text);
                }
                return Ok(true);
            }
        }
    }

    /// Splits the current record if it has quotes, and says whether it had; a quoted cell may
    /// reach over several lines.
    pub(super) fn split_quoted(&mut self) -> Result<bool> {
        // Of a record over several lines, only the last is left once it is split.
        if let Some(known) = self.is_quoted {
            return Ok(known);
        }
        if !self.text.contains(&b'"') {
            self.is_quoted = Some(false);
            return Ok(false);
        }
        self.quoted.clear();
        self.quoted.feed(&self.text, self.separator);
        while self.quoted.is_open() {
            if self.quoted.text.len() > LONGEST_RECORD || !self.read_line()? {
                return Err(Error::parse_at(
                    self.path(),
                    self.line,
                    None,
                    "a quote opened in this line is never closed; close it or take it out",
                ));
            }
            self.quoted.text.push(b'\n');
            self.quoted.feed(&self.text, self.separator);
        }
        self.quoted.finish(self.separator);
        self.is_quoted = Some(true);
        Ok(true)
    }

    /// Shows the current record's cells, counted from 0, where they are; how many they are.
    pub(super) fn see_cells(&mut self, mut see: impl FnMut(usize, &[u8])) -> Result<usize> {
        let mut n_cells = 0;
        let see = |cell: &[u8]| {
            see(n_cells, cell);
            n_cells += 1;
        };
        if self.split_quoted()? {
            self.quoted.iter().for_each(see);
        } else {
            match self.separator {
                Separator::Byte(byte) => self.text.split(|&b| b == byte).for_each(see),
                Separator::Blanks => blank_split(&self.text).for_each(see),
            }
        }
        Ok(n_cells)
    }

    /// The current record's cells, copied.
    pub(super) fn cells(&mut self) -> Result<Vec<Vec<u8>>> {
        if self.split_quoted()? {
            return Ok(self.quoted.iter().map(<[u8]>::to_vec).collect());
        }
        Ok(match self.separator {
            Separator::Byte(byte) => self.text.split(|&b| b == byte).map(<[u8]>::to_vec).collect(),
            Separator::Blanks => blank_split(&self.text).map(<[u8]>::to_vec).collect(),
        })
    }

    fn path(&self) -> &'a Path {
        self.source.path
    }

    fn read_line(&mut self) -> Result<bool> {
        self.text.clear();
        let reader = &mut self.source.reader;
        let read = reader.take(LONGEST_RECORD as u64 + 1).read_until(b'\n', &mut self.text);
        if read.map_err(|error| self.source.cannot_read(error))? == 0 {
            return Ok(false);
        }
        if self.text.len() > LONGEST_RECORD {
            return Err(Error::parse_at(
                self.path(),
                self.next,
                None,
                "the line is longer than 64 MiB; give a table with one row per line",
            ));
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        }
        if self.text.last() == Some(&b'\r') {
            self.text.pop();
        }
        if self.next == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
            self.text.drain(..3);
        }
        self.next += 1;
        Ok(true)
    }
}

/// The cells of a record with quotes; it can be fed line by line.
#[derive(Debug, Default)]
pub(super) struct Quoted {
    /// All cells, without their quotes, one after the other.
    text: Vec<u8>,
    ends: Vec<usize>,
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Before the first byte of a cell.
    #[default]
    Start,
    Bare,
    Inside,
    /// Behind a quote inside quotes: it closes the cell, or another one makes it a quote.
    Behind,
}

impl Quoted {
    /// The cells.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.state = State::Start;
    }

    fn is_open(&self) -> bool {
        self.state == State::Inside
    }

    fn feed(&mut self, text: &[u8], separator: Separator) {
        for &byte in text {
            match (self.state, byte) {
                (State::Start, b'"') => self.state = State::Inside,
                (State::Inside, b'"') => self.state = State::Behind,
                (State::Inside, _) => self.text.push(byte),
                (State::Behind, b'"') => {
                    self.text.push(b'"');
                    self.state = State::Inside;
                }
                (State::Start, _) if separator.is(byte) => {
                    if separator != Separator::Blanks {
                        self.ends.push(self.text.len());
                    }
                }
                (_, _) if separator.is(byte) => {
                    self.ends.push(self.text.len());
                    self.state = State::Start;
                }
                // A quote may follow the blank behind a comma.
                (State::Start, b' ') => {}
                _ => {
                    self.text.push(byte);
                    self.state = State::Bare;
                }
            }
        }
    }

    /// Ends the last cell; behind blanks at the end of the line there is none.
    fn finish(&mut self, separator: Separator) {
        if self.state != State::Start || separator != Separator::Blanks {
            self.ends.push(self.text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(lines: &[&str], separator: Separator) -> Vec<String> {
        let mut quoted = Quoted::default();
        for line in lines {
            quoted.feed(line.as_bytes(), separator);
        }
        quoted.finish(separator);
        quoted.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    #[test]
    fn the_separator_is_the_one_outside_quotes() {
        for (line, separator) in [
            ("1\t2", Separator::Byte(b'\t')),
            ("1,5;2,5", Separator::Byte(b';')),
            ("a b,c", Separator::Byte(b',')),
            ("\"a;b\",c", Separator::Byte(b',')),
            ("a b|c", Separator::Byte(b'|')),
            ("a|b,c", Separator::Byte(b',')),
            ("  1  2", Separator::Blanks),
            ("1", Separator::Byte(b',')),
        ] {
            assert_eq!(Separator::of(line.as_bytes()), separator, "{line}");
        }
    }

    #[test]
    fn quotes_are_taken_off() {
        let comma = Separator::Byte(b',');
        assert_eq!(
            split(&["\"a,b\", \"c\"\"d\",5\" pipe,"], comma),
            ["a,b", "c\"d", "5\" pipe", ""]
        );
        assert_eq!(split(&["\"\",x"], comma), ["", "x"]);
        assert_eq!(split(&["\"a", "b\",c"], comma), ["ab", "c"]);
        assert_eq!(split(&[" \"a b\"  2 "], Separator::Blanks), ["a b", "2"]);
    }
}
