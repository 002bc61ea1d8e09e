//! Reads documents from a table in text: a column of them, and perhaps one of ids.

use std::collections::VecDeque;

use super::super::csv::{is_word, name};
use super::super::records::{Records, Separator, ragged};
use super::super::select::Columns;
use super::super::source::{Source, empty};
use super::super::{Header, words};
use super::NEEDED;
use super::fields::{FIELD, ID, listed};
use super::gather::{Body, Gather};
use super::text::decoded;
use crate::error::{advice, setting};
use crate::{Error, Result};

/// How many rows, and bytes of them, are looked at to find the only column of text.
const SAMPLE: usize = 100;
const SAMPLE_BYTES: usize = 1 << 20;

/// A record that was read ahead: its line and its cells.
type Row = (u64, Vec<Vec<u8>>);

/// Reads a table whose first line holds names, unless the options say otherwise.
pub(super) fn read(source: Source<'_>, gather: &mut Gather<'_>) -> Result<()> {
    let (path, options) = (source.path, gather.options());
    let tabs = source.name.ends_with(".tsv") || source.name.ends_with(".tab");
    let mut records = Records::starting(source, 1);
    if !records.read_record()? {
        return Err(empty(path, &NEEDED));
    }
    // Blanks stand between words, and never between columns of texts.
    match records.separator {
        _ if tabs => records.separator = Separator::Byte(b'\t'),
        Separator::Blanks => records.separator = Separator::Byte(b','),
        Separator::Byte(_) => {}
    }
    let first = records.cells()?;
    let (n_columns, first_line) = (first.len(), records.line);
    let has_names = options.header != Header::No;
    let names: Vec<String> = match has_names {
        true => first.iter().map(|cell| name(cell)).collect(),
        false => Vec::new(),
    };
    let mut ahead: VecDeque<Row> = VecDeque::new();
    if !has_names {
        ahead.push_back((first_line, first));
    }
    let file = Columns { path, names: &names, n_columns };
    let id = match &options.id {
        Some(wanted) => Some(file.find("id", wanted)?),
        None if options.ids => called(&names, ID),
        None => None,
    };
    let text = match &options.field {
        Some(wanted) => file.find("field", wanted)?,
        None => match called(&names, FIELD) {
            Some(at) => at,
            None if n_columns == 1 => 0,
            None => {
                read_ahead(&mut records, &mut ahead)?;
                let id = id.or_else(|| called(&names, ID));
                only_text(&file, &ahead, id, first_line)?
            }
        },
    };
    gather.held_by(format!("column {}", file.label(text)));

    let ragged = |line: u64, found: usize, separator: Separator| {
        let message = ragged(found, n_columns, first_line, separator.name());
        Error::parse_at(path, line, None, message)
    };
    let mut add = |line: u64, document: &[u8], own_id: &[u8]| {
        let fault =
            |at: usize, found: String| Error::parse_at(path, line, Some(file.label(at)), found);
        let document = decoded(document).map_err(|found| fault(text, found))?;
        let body = match document.trim_ascii().is_empty() {
            true => Body::Missing,
            false => Body::Text(document.into()),
        };
        let own_id = match id {
            Some(at) => Some(decoded(own_id).map_err(|found| fault(at, found))?.trim().to_string()),
            None => None,
        };
        gather.add(&body, own_id).map_err(|found| fault(text, found))
    };
    for (line, cells) in ahead {
        if cells.len() != n_columns {
            return Err(ragged(line, cells.len(), records.separator));
        }
        add(line, &cells[text], id.map_or(b"", |at| &cells[at]))?;
    }
    let (mut document, mut own_id) = (Vec::new(), Vec::new());
    while records.read_record()? {
        document.clear();
        own_id.clear();
        let n_cells = records.see_cells(|at, cell| {
            if at == text {
                document.extend_from_slice(cell);
            }
            if Some(at) == id {
                own_id.extend_from_slice(cell);
            }
        })?;
        if n_cells != n_columns {
            return Err(ragged(records.line, n_cells, records.separator));
        }
        add(records.line, &document, &own_id)?;
    }
    Ok(())
}

/// The column of this name, in any case.
fn called(names: &[String], wanted: &str) -> Option<usize> {
    let exact = names.iter().position(|name| name == wanted);
    exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
}

fn read_ahead(records: &mut Records<'_>, ahead: &mut VecDeque<Row>) -> Result<()> {
    let mut bytes = 0;
    while ahead.len() < SAMPLE && bytes < SAMPLE_BYTES && records.read_record()? {
        let cells = records.cells()?;
        bytes += cells.iter().map(Vec::len).sum::<usize>();
        ahead.push_back((records.line, cells));
    }
    Ok(())
}

/// The only column that holds text in the rows that were read ahead.
fn only_text(
    file: &Columns<'_>,
    ahead: &VecDeque<Row>,
    id: Option<usize>,
    first_line: u64,
) -> Result<usize> {
    // How much text each column holds; dates, and yes or no, are none.
    let mut lengths = vec![0; file.n_columns];
    for (_, cells) in ahead {
        for (length, cell) in lengths.iter_mut().zip(cells) {
            let cell = cell.trim_ascii();
            if is_word(cell) && words::kind(cell).is_none() {
                *length += cell.len();
            }
        }
    }
    let texts: Vec<usize> =
        (0..file.n_columns).filter(|&at| lengths[at] > 0 && Some(at) != id).collect();
    if let [only] = texts[..] {
        return Ok(only);
    }
    let names: Vec<String> = (0..file.n_columns).map(|at| file.label(at)).collect();
    let found = match file.names.is_empty() {
        true => format!("has {} columns without names", file.n_columns),
        false => format!("has the columns {}, none of them called text", listed(&names)),
    };
    let message = match texts.iter().max_by_key(|&&at| lengths[at]) {
        Some(&longest) => advice![
            found,
            "; name the one with the documents, e.g. ",
            setting("field").to(&names[longest]),
            ", or give ",
            setting("header").to("no"),
            " if this line is not one of names",
        ],
        None => advice![
            found,
            ", and none of them holds text; documents are texts, or counts of words: save a matrix of counts with scipy.sparse.save_npz, and name a column with ",
            setting("field"),
            " if it holds texts after all",
        ],
    };
    Err(Error::parse_at(file.path, first_line, None, message))
}
