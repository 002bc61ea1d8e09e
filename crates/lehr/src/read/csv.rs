//! Reads rows of numbers from text with separators: lines on all threads; from the first quote on, or where something is
//! wrong, record by record.

use std::path::Path;

use memchr::{memchr, memchr2};

use super::blocks::{Blocks, LONGEST};
use super::digits::{decimal, number_of};
use super::missing::{self, is_mark};
use super::records::{Records, Separator, blank_split, is_skipped, ragged};
use super::select::{ColumnRef, Selection};
use super::source::{Source, TABLE, empty, shown};
use super::{Header, Missing, PointsOptions, finish, words};
use crate::data::{Points, weight_fault};
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

pub(super) fn read(source: Source<'_>, options: &PointsOptions) -> Result<Points> {
    let path = source.path;
    let mut records = Records::new(source);
    if !records.read_record()? {
        return Err(empty(path, &TABLE));
    }
    let first = records.cells()?;
    let first_line = records.line;
    let names = names_in(&first, options.header);
    let has_names = names.is_some();
    let selection = Selection::new(path, options, first.len(), names.unwrap_or_default())?;
    if has_names && !records.read_record()? {
        return Err(Error::parse(
            path,
            "has a line of names but no rows; give at least one row of numbers",
        ));
    }

    let (separator, missing) = (records.separator, options.missing);
    let table = CsvTable { path, selection: &selection, separator, first_line, missing };
    let mut numbers = Numbers::default();
    table.push_record(&mut records, &mut numbers)?;
    // All lines without quotes, unless there is something wrong with one; then the rest.
    let mut records = table.push_blocks(records, &mut numbers)?;
    while records.read_record()? {
        table.push_record(&mut records, &mut numbers)?;
    }
    let Numbers { mut values, weights } = numbers;
    values.shrink_to_fit();
    let points = Points::from_checked(values, selection.kept.len());
    finish(path, points, weights, &selection, options.missing)
}

/// The names in a table's first record, if it has names.
pub(super) fn names_in(first: &[Vec<u8>], header: Header) -> Option<Vec<String>> {
    let has_names = match header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => first.iter().any(|cell| is_word(cell)),
    };
    has_names.then(|| first.iter().map(|cell| name(cell)).collect())
}

/// The numbers of some rows.
#[derive(Default)]
struct Numbers {
    values: Vec<f64>,
    weights: Vec<f64>,
}

/// Where each number of a row goes, and the errors of those that do not fit.
struct CsvTable<'a> {
    path: &'a Path,
    selection: &'a Selection,
    separator: Separator,
    first_line: u64,
    missing: Missing,
}

impl CsvTable<'_> {
    /// Adds the current record.
    fn push_record(&self, records: &mut Records<'_>, numbers: &mut Numbers) -> Result<()> {
        let pushed = if records.split_quoted()? {
            self.push(records.line, records.quoted.iter(), numbers)
        } else {
            let (line, text) = (records.line, &records.text);
            match self.separator {
                Separator::Byte(byte) => self.push(line, text.split(|&b| b == byte), numbers),
                Separator::Blanks => self.push(line, blank_split(text), numbers),
            }
        };
        pushed.map_err(|fault| words::listed(records, self.selection, self.path).unwrap_or(fault))
    }

    fn push<'c>(
        &self,
        line: u64,
        cells: impl Iterator<Item = &'c [u8]> + Clone,
        numbers: &mut Numbers,
    ) -> Result<()> {
        match self.push_cells(cells.clone(), numbers) {
            Some(()) => Ok(()),
            None => Err(self.fault(line, cells)),
        }
    }

    /// Adds a row, unless there is something wrong with it.
    fn push_cells<'c>(
        &self,
        mut cells: impl Iterator<Item = &'c [u8]>,
        numbers: &mut Numbers,
    ) -> Option<()> {
        let mut row = numbers.new_row(self.selection);
        for &place in &self.selection.places {
            row.put(place, self.value(place, cells.next()?)?);
        }
        cells.next().is_none().then_some(())
    }

    /// The number of a cell, if it fits.
    fn value(&self, place: ColumnRef, cell: &[u8]) -> Option<f64> {
        match place {
            ColumnRef::Skip => Some(0.0),
            ColumnRef::Weight => number(cell).filter(|&value| weight_fault(value).is_none()),
            ColumnRef::Value(_) => {
                let gap = || (self.missing.allows_gaps() && is_gap(cell)).then_some(f64::NAN);
                number(cell).or_else(gap)
            }
        }
    }

    /// Adds the lines behind the current record, up to the first block with quotes or with something wrong; what is left
    /// of them.
    fn push_blocks<'s>(&self, records: Records<'s>, numbers: &mut Numbers) -> Result<Records<'s>> {
        let mut next = records.next_line();
        let mut blocks = Blocks::behind(records.into_source());
        let mut first = Vec::new();
        blocks.read(&mut first);
        let take = |parsed: Option<(Numbers, u64)>| {
            let Some((mut rows, n_lines)) = parsed else { return Ok(false) };
            numbers.values.append(&mut rows.values);
            numbers.weights.append(&mut rows.weights);
            next += n_lines;
            Ok(true)
        };
        let left = blocks.parse(first, |block| self.parse(block), take)?;
        Ok(Records::resumed(blocks.into_source(left), self.separator, next).with_comments())
    }

    /// The numbers of whole lines and how many lines they are, unless one of them has a quote or something wrong.
    fn parse(&self, block: &[u8]) -> Option<(Numbers, u64)> {
        if block.len() > LONGEST || memchr(b'"', block).is_some() {
            return None;
        }
        // A guess: what is short grows, and costs time.
        let values = Vec::with_capacity(block.len() / 8 + self.selection.kept.len());
        let (mut numbers, mut n_lines, mut at) = (Numbers { values, weights: Vec::new() }, 0, 0);
        while at < block.len() {
            n_lines += 1;
            let end = || memchr(b'\n', &block[at..]).map_or(block.len(), |end| at + end);
            if matches!(block[at], b'#' | b' ' | b'\r' | b'\n') && is_skipped(&block[at..end()]) {
                at = end() + 1;
                continue;
            }
            at = match self.separator {
                Separator::Byte(byte) => self.push_line(block, at, byte, &mut numbers)?,
                Separator::Blanks => {
                    self.push_cells(blank_split(&block[at..end()]), &mut numbers)?;
                    end() + 1
                }
            };
        }
        Some((numbers, n_lines))
    }

    /// Adds the line that starts at `at`, unless there is something wrong with it; where the next one starts.
    #[inline]
    fn push_line(
        &self,
        block: &[u8],
        mut at: usize,
        separator: u8,
        numbers: &mut Numbers,
    ) -> Option<usize> {
        let ends = |byte: Option<&u8>| byte.is_none_or(|&byte| byte == separator || byte == b'\n');
        let mut row = numbers.new_row(self.selection);
        let mut more = true;
        for &place in &self.selection.places {
            if !more {
                return None;
            }
            let rest = &block[at..];
            let plain = matches!(place, ColumnRef::Value(_)).then(|| decimal(rest)).flatten();
            let (value, length) = match plain.filter(|&(_, length)| ends(rest.get(length))) {
                Some(found) => found,
                None => {
                    let length = memchr2(separator, b'\n', rest).unwrap_or(rest.len());
                    (self.value(place, &rest[..length])?, length)
                }
            };
            row.put(place, value);
            more = rest.get(length) == Some(&separator);
            at += length + 1;
            // A separator at the very end has an empty cell behind it.
            at = at.min(block.len());
        }
        (!more).then_some(at)
    }

    /// What is wrong with a row.
    #[cold]
    fn fault<'c>(&self, line: u64, cells: impl Iterator<Item = &'c [u8]> + Clone) -> Error {
        // A row of a wrong length is reported first: it explains the cell that does not fit.
        let (found, places) = (cells.clone().count(), &self.selection.places);
        let mut bad = cells.zip(places).enumerate();
        match bad.find(|&(_, (cell, &place))| self.value(place, cell).is_none()) {
            Some((at, (cell, _))) if found == places.len() => self.bad_cell(line, at, cell),
            _ => self.ragged(line, found),
        }
    }

    #[cold]
    fn bad_cell(&self, line: u64, at: usize, cell: &[u8]) -> Error {
        let column = Some(self.selection.label(at));
        let text = cell.trim_ascii();
        let number = number_of(text);
        let weighs = self.selection.places[at] == ColumnRef::Weight;
        let found = shown(text);
        let message: Advice = match number {
            _ if weighs && is_gap(cell) => format!(
                "the weight is missing (found {found}); every row needs one: fill it in, or give 0 to a row \
                 that does not count"
            )
            .into(),
            Some(value) if weighs && value.is_finite() => {
                weight_fault(value).unwrap_or_default().into()
            }
            _ if text.is_empty() => missing::refused("the cell is empty"),
            _ if is_gap(cell) => missing::refused(format!("found {found}, a missing value")),
            Some(_) => format!(
                "found {found}, which is not finite; every cell must be a finite number: fill it in or \
                 leave the row out"
            )
            .into(),
            None if is_decimal_comma(text) => format!(
                "found {found}, which is not a number; write numbers with a decimal point, not a comma"
            )
            .into(),
            None => advice![
                format!("found {found}, which is not a number; fix the cell, or leave the column out with "),
                setting("drop"),
            ],
        };
        Error::parse_at(self.path, line, column, message)
    }

    #[cold]
    fn ragged(&self, line: u64, found: usize) -> Error {
        let (expected, separator) = (self.selection.places.len(), self.separator.name());
        let message = ragged(found, expected, self.first_line, separator);
        Error::parse_at(self.path, line, None, message)
    }
}

impl Numbers {
    /// Makes room for a row.
    #[inline]
    fn new_row(&mut self, selection: &Selection) -> NewRow<'_> {
        let start = self.values.len();
        self.values.resize(start + selection.kept.len(), 0.0);
        NewRow { values: &mut self.values[start..], weights: &mut self.weights }
    }
}

struct NewRow<'n> {
    values: &'n mut [f64],
    weights: &'n mut Vec<f64>,
}

impl NewRow<'_> {
    #[inline]
    fn put(&mut self, place: ColumnRef, value: f64) {
        match place {
            ColumnRef::Value(d) => self.values[d] = value,
            ColumnRef::Weight => self.weights.push(value),
            ColumnRef::Skip => {}
        }
    }
}

/// The finite number in a cell.
fn number(cell: &[u8]) -> Option<f64> {
    number_of(cell.trim_ascii()).filter(|value| value.is_finite())
}

/// Whether a cell is neither a number nor a mark of a missing value.
pub(super) fn is_word(cell: &[u8]) -> bool {
    let text = cell.trim_ascii();
    number_of(text).is_none() && !is_mark(text)
}

/// Whether a cell stands for a missing value.
fn is_gap(cell: &[u8]) -> bool {
    let text = cell.trim_ascii();
    is_mark(text) || number_of(text).is_some_and(f64::is_nan)
}

/// A column's name.
pub(super) fn name(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_string()
}

pub(super) fn is_decimal_comma(text: &[u8]) -> bool {
    let point: Vec<u8> = text.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
    text.contains(&b',') && number_of(&point).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_the_first_row_does_not_make_it_names() {
        let words = ["a", "x1", "1,5", "-x"];
        let others = ["1", "-1e300", "nan", "inf", "", " ", "NA", "n/a", "null", "?"];
        assert!(words.iter().all(|cell| is_word(cell.as_bytes())));
        assert!(!others.iter().any(|cell| is_word(cell.as_bytes())));
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let good =
            [("1", 1.0), (" 2.5 ", 2.5), ("+3", 3.0), (".5", 0.5), ("1.", 1.0), ("1E-3", 1e-3)];
        for (cell, value) in good {
            assert_eq!(number(cell.as_bytes()), Some(value));
        }
        for cell in ["", "1e999", "nan", "0x10", "1_000", "1 000", "\u{fffd}"] {
            assert_eq!(number(cell.as_bytes()), None);
        }
    }
}
