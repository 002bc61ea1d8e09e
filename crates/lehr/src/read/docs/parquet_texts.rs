//! Reads Parquet tables with a row per document: a column of texts, and perhaps one of ids.

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;

use super::super::parquet::{damaged, type_name};
use super::super::parquet_file::Opened;
use super::super::parquet_values::{CellPlace, Kind, Values, next_texts, next_values};
use super::fields::{FIELD, ID, listed};
use super::gather::{Body, Gather};
use super::parquet::{Columns, unclear};
use super::text::decoded;
use crate::error::{advice, setting};
use crate::{Error, Result};

/// How many rows are taken at a time.
const ROWS: usize = 1 << 12;

/// Adds the texts of all rows.
pub(super) fn read(opened: &mut Opened, table: &Columns, gather: &mut Gather<'_>) -> Result<()> {
    let (path, options) = (gather.path(), gather.options());
    let text = match &options.field {
        Some(wanted) => find(table, gather, "field", wanted)?,
        None => only_text(table, gather)?,
    };
    let id = match &options.id {
        Some(wanted) => Some(find(table, gather, "id", wanted)?),
        None if options.ids => table.labels.iter().position(|name| name.eq_ignore_ascii_case(ID)),
        None => None,
    };
    for (at, allowed) in [(Some(text), &[Kind::Texts][..]), (id, &[Kind::Texts, Kind::Integers])] {
        let Some(at) = at else { continue };
        if !Kind::of(&table.described[at]).is_some_and(|kind| allowed.contains(&kind)) {
            let (held, needed) = (type_name(&table.described[at]), ["text", "text or integers"]);
            let message = format!(
                "column {} does not hold {} but {held}; write it as text",
                table.labels[at],
                needed[allowed.len() - 1]
            );
            return Err(Error::parse(path, message));
        }
    }
    gather.held_by(format!("column {}", table.labels[text]));
    let places: Vec<usize> = [Some(text), id].into_iter().flatten().collect();
    let mut n_rows = 0;
    for g in 0..opened.reader.num_row_groups() {
        opened.check_group(g, &places)?;
        let group = opened.reader.get_row_group(g).map_err(|error| damaged(path, error))?;
        let mut texts = group.get_column_reader(text).map_err(|error| damaged(path, error))?;
        let mut ids = match id {
            Some(at) => Some(group.get_column_reader(at).map_err(|error| damaged(path, error))?),
            None => None,
        };
        loop {
            let rows = next_texts(&mut texts, &table.described[text], path, ROWS)?;
            let names = match (&mut ids, id) {
                (Some(ids), Some(at)) => {
                    let column = &table.labels[at];
                    let place = CellPlace { path, column, first: n_rows };
                    let read = next_values(ids, &table.described[at], &place, ROWS)?;
                    if read.len() != rows.len() {
                        return Err(damaged(
                            path,
                            ParquetError::General("columns differ in their numbers of rows".into()),
                        ));
                    }
                    Some(read)
                }
                _ => None,
            };
            if rows.is_empty() {
                break;
            }
            for (i, row) in rows.iter().enumerate() {
                let place = CellPlace { path, column: &table.labels[text], first: n_rows };
                let body = match row {
                    None => Body::Missing,
                    Some(row) => {
                        let found = decoded(row.data());
                        Body::Text(found.map_err(|found| place.fault(i, &found))?.into())
                    }
                };
                let name = names.as_ref().map(|names| match names {
                    Values::Integers(all) => all[i].to_string(),
                    Values::Floats(all) => all[i].to_string(),
                    Values::Texts(all) => String::from_utf8_lossy(all[i].data()).into_owned(),
                });
                gather.add(&body, name).map_err(|found| place.fault(i, &found))?;
            }
            n_rows += rows.len();
        }
    }
    Ok(())
}

fn find(table: &Columns, gather: &Gather<'_>, name: &str, wanted: &str) -> Result<usize> {
    table.labels.iter().position(|label| label == wanted).ok_or_else(|| {
        let columns = listed(&table.labels);
        Error::parse(
            gather.path(),
            advice![
                setting(name),
                format!(
                    " asks for column {wanted:?}, which is not there; the columns are {columns}"
                ),
            ],
        )
    })
}

/// The column called text, or the only one that holds texts.
fn only_text(table: &Columns, gather: &Gather<'_>) -> Result<usize> {
    let called = table.labels.iter().position(|name| name.eq_ignore_ascii_case(FIELD));
    if let Some(at) = called {
        return Ok(at);
    }
    let is_text = |at: &usize| {
        Kind::of(&table.described[*at]) == Some(Kind::Texts) && table.labels[*at] != ID
    };
    let texts: Vec<usize> = (0..table.labels.len()).filter(is_text).collect();
    if let [only] = texts[..] {
        return Ok(only);
    }
    Err(unclear(gather.path(), table))
}
