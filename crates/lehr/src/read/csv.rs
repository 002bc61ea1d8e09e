//! Reads rows of numbers from text with separators, one record in memory at a time.

use std::path::Path;

use super::missing::{self, is_mark};
use super::records::{Records, Separator, blank_split, ragged};
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

    let mut table = CsvTable {
        path,
        selection: &selection,
        separator: records.separator,
        first_line,
        missing: options.missing,
        values: Vec::new(),
        weights: Vec::new(),
    };
    loop {
        let pushed = if records.split_quoted()? {
            table.push(records.line, records.quoted.iter())
        } else {
            let (line, text) = (records.line, &records.text);
            match records.separator {
                Separator::Byte(byte) => table.push(line, text.split(|&b| b == byte)),
                Separator::Blanks => table.push(line, blank_split(text)),
            }
        };
        if let Err(error) = pushed {
            return Err(words::listed(&mut records, &selection, path).unwrap_or(error));
        }
        if !records.read_record()? {
            break;
        }
    }
    let CsvTable { mut values, weights, .. } = table;
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

/// The numbers read so far and what is needed to place the next.
struct CsvTable<'a> {
    path: &'a Path,
    selection: &'a Selection,
    separator: Separator,
    first_line: u64,
    missing: Missing,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl CsvTable<'_> {
    fn push<'c>(&mut self, line: u64, cells: impl Iterator<Item = &'c [u8]> + Clone) -> Result<()> {
        let start = self.values.len();
        self.values.resize(start + self.selection.kept.len(), 0.0);
        let places = &self.selection.places;
        let mut n_cells = 0;
        for cell in cells.clone() {
            let fits = match places.get(n_cells) {
                Some(&ColumnRef::Value(d)) => match number(cell) {
                    Some(value) => {
                        self.values[start + d] = value;
                        true
                    }
                    None if self.missing.allows_gaps() && is_gap(cell) => {
                        self.values[start + d] = f64::NAN;
                        true
                    }
                    None => false,
                },
                Some(ColumnRef::Weight) => match number(cell) {
                    Some(value) if weight_fault(value).is_none() => {
                        self.weights.push(value);
                        true
                    }
                    _ => false,
                },
                Some(ColumnRef::Skip) | None => true,
            };
            // A row of a wrong length is told first: it explains the cell that does not fit.
            if !fits {
                let found = cells.clone().count();
                return Err(match found == places.len() {
                    true => self.bad_cell(line, n_cells, cell),
                    false => self.ragged(line, found),
                });
            }
            n_cells += 1;
        }
        if n_cells == places.len() { Ok(()) } else { Err(self.ragged(line, n_cells)) }
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
                format!("found {found}, which is not a number; mend the cell, or leave the column out with "),
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

/// The finite number in a cell.
fn number(cell: &[u8]) -> Option<f64> {
    number_of(cell.trim_ascii()).filter(|value| value.is_finite())
}

/// The number in a cell without blanks around it, finite or not.
pub(super) fn number_of(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
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
