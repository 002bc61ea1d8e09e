//! All columns of a text table that are not numeric, told at once instead of one a try.

use std::path::Path;

use super::csv::{is_decimal_comma, is_word};
use super::records::Records;
use super::select::{ColumnRef, Selection};
use super::source::shown;
use crate::Error;
use crate::error::{advice, setting};

/// How many rows are looked at; a column that has no word in this many is one of numbers.
const MOST_ROWS: usize = 10_000;
/// More columns than this are no table with a name for each column.
const MOST_COLUMNS: usize = 10_000;
/// How many columns a message shows; all of them are in what to leave out.
const MOST_SHOWN: usize = 12;

/// From the current record on, which has a cell that is no number: every column of the data with such a cell, if
/// there are several.
#[cold]
pub(super) fn listed(
    records: &mut Records<'_>,
    selection: &Selection,
    path: &Path,
) -> Option<Error> {
    if selection.places.len() > MOST_COLUMNS {
        return None;
    }
    // For each column of the file the line and text of its first word.
    let mut found: Vec<Option<(u64, Vec<u8>)>> = vec![None; selection.places.len()];
    for _ in 0..MOST_ROWS {
        // What else is wrong with the file is reported once its words are dealt with.
        let line = records.line;
        let seen = records.see_cells(|at, cell| {
            let is_value = matches!(selection.places.get(at), Some(ColumnRef::Value(_)));
            let cell = cell.trim_ascii();
            if is_value && found[at].is_none() && is_word(cell) && !is_decimal_comma(cell) {
                found[at] = Some((line, cell.to_vec()));
            }
        });
        if !seen.is_ok_and(|n_cells| n_cells == found.len()) {
            break;
        }
        if !records.read_record().unwrap_or(false) {
            break;
        }
    }
    let places: Vec<usize> = (0..found.len()).filter(|&at| found[at].is_some()).collect();
    // Of all columns none would be left: the line may hold names, and the cell says more.
    if places.len() < 2 || places.len() == selection.kept.len() {
        return None;
    }
    let mut shown: Vec<String> = places
        .iter()
        .take(MOST_SHOWN)
        .filter_map(|&at| {
            let (line, cell) = found[at].as_ref()?;
            let kind = kind(cell).map_or(String::new(), |kind| format!(", {kind}"));
            Some(format!("{} (line {line}: {}{kind})", selection.label(at), shown(cell)))
        })
        .collect();
    if places.len() > MOST_SHOWN {
        shown.push(format!("and {} more", places.len() - MOST_SHOWN));
    }
    Some(Error::parse(
        path,
        advice![
            format!(
                "columns {} are not numbers, which text, dates and yes or no never are; leave them out (",
                shown.join(", ")
            ),
            setting("drop").to(selection.to_drop(&places)),
            "), or write them as numbers",
        ],
    ))
}

/// What a cell is, if it is not just any text.
pub(super) fn kind(cell: &[u8]) -> Option<&'static str> {
    let lower = String::from_utf8_lossy(cell).to_ascii_lowercase();
    let digits = cell.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_date = |c: char| c.is_ascii_digit() || "-/:. tz+".contains(c);
    match lower.as_str() {
        "true" | "false" | "yes" | "no" => Some("yes or no"),
        text if digits >= 4 && text.chars().all(is_date) && text.contains(['-', '/', ':']) => {
            Some("a date or time")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_answers_are_told_from_other_text() {
        for date in ["2020-01-31", "31/01/2020", "2020-01-31T10:00:00Z", "12:30"] {
            assert_eq!(kind(date.as_bytes()), Some("a date or time"), "{date}");
        }
        assert_eq!(kind(b"True"), Some("yes or no"));
        for other in ["setosa", "a-b", "7-up", "12 kg", "tea"] {
            assert_eq!(kind(other.as_bytes()), None, "{other}");
        }
    }
}
