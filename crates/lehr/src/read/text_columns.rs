//! Columns of a table as the strings that they are, to be copied next to a model's output.

use std::path::Path;

use super::records::{Records, ragged};
use super::select::{Columns, label};
use super::source::{Format, Source, TABLE, empty, recognise};
use super::{Header, csv};
use crate::{Error, Result};

/// A column of a table, cell by cell as it is written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// Its name, or its number if the table has no names.
    pub name: String,
    /// Its cells.
    pub cells: Vec<String>,
}

/// Some columns of a .csv, .tsv, .txt or .parquet file, by the `(setting, column)` that ask for them: a name, or a
/// number counted from 1. Refused: a column that is not there, and formats without text.
///
/// ```
/// use lehr::read::{Header, text_columns};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,height\nann,1.70\nbob,1.8\n")?;
/// let columns = text_columns(&path, Header::Auto, &[("keep", "height"), ("id", "name")])?;
/// assert_eq!(columns[0].cells, ["1.70", "1.8"]);
/// assert_eq!(columns[1].name, "name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn text_columns(
    path: &Path,
    header: Header,
    wanted: &[(&str, &str)],
) -> Result<Vec<TextColumn>> {
    let mut source = Source::open(path, &TABLE)?;
    match recognise(&mut source, &TABLE)? {
        Format::Text => of_text(source, header, wanted),
        Format::Npy => Err(Error::parse(
            path,
            "an array has numbers alone, and no column to copy; give a table: .csv, .tsv or .parquet",
        )),
        Format::Parquet => of_parquet(source, wanted),
    }
}

/// The places of the columns that are asked for, and columns with their names to fill.
fn find(file: &Columns<'_>, wanted: &[(&str, &str)]) -> Result<(Vec<usize>, Vec<TextColumn>)> {
    let find = |&(setting, name): &(&str, &str)| file.find(setting, name);
    let places = wanted.iter().map(find).collect::<Result<Vec<_>>>()?;
    let named = |&at: &usize| TextColumn { name: label(file.names, at), cells: Vec::new() };
    let columns = places.iter().map(named).collect();
    Ok((places, columns))
}

fn of_text(source: Source<'_>, header: Header, wanted: &[(&str, &str)]) -> Result<Vec<TextColumn>> {
    let path = source.path;
    let mut records = Records::new(source);
    if !records.read_record()? {
        return Err(empty(path, &TABLE));
    }
    let first = records.cells()?;
    let (n_columns, first_line) = (first.len(), records.line);
    let names = csv::names_in(&first, header);
    let has_names = names.is_some();
    let names = names.unwrap_or_default();
    let (places, mut columns) = find(&Columns { path, names: &names, n_columns }, wanted)?;
    if has_names && !records.read_record()? {
        return Ok(columns);
    }
    drop(first);
    loop {
        let n_cells = records.see_cells(|at, cell| {
            let same = columns.iter_mut().zip(&places).filter(|&(_, &place)| place == at);
            same.for_each(|(column, _)| {
                column.cells.push(String::from_utf8_lossy(cell).into_owned());
            });
        })?;
        if n_cells != n_columns {
            let message = ragged(n_cells, n_columns, first_line, records.separator.name());
            return Err(Error::parse_at(path, records.line, None, message));
        }
        if !records.read_record()? {
            return Ok(columns);
        }
    }
}

#[cfg(feature = "parquet")]
fn of_parquet(source: Source<'_>, wanted: &[(&str, &str)]) -> Result<Vec<TextColumn>> {
    use parquet::file::reader::FileReader;

    use super::parquet::{damaged, guarded, type_name};
    use super::parquet_file::Opened;
    use super::parquet_values::{CellPlace, Kind, Values, values};

    let path = source.path;
    guarded(path, || {
        let mut opened = Opened::new(&source)?;
        let described = opened.reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let names: Vec<String> = described.iter().map(|column| column.path().string()).collect();
        let n_columns = names.len();
        let (places, mut columns) = find(&Columns { path, names: &names, n_columns }, wanted)?;
        for &at in &places {
            if Kind::of(&described[at]).is_none() {
                let (column, holds) = (label(&names, at), type_name(&described[at]));
                let said = format!(
                    "column {column} cannot be copied: it holds {holds}; write it as text or numbers first"
                );
                return Err(Error::parse(path, said));
            }
        }
        for g in 0..opened.reader.num_row_groups() {
            opened.check_group(g, &places)?;
            let group = opened.reader.get_row_group(g).map_err(|error| damaged(path, error))?;
            for (column, &at) in columns.iter_mut().zip(&places) {
                let place = CellPlace { path, column: &names[at], first: column.cells.len() };
                let reader = group.get_column_reader(at).map_err(|error| damaged(path, error))?;
                match values(reader, &described[at], &place)? {
                    Values::Integers(all) => column.cells.extend(all.iter().map(i64::to_string)),
                    Values::Floats(all) => column.cells.extend(all.iter().map(f64::to_string)),
                    Values::Texts(all) => column.cells.extend(
                        all.iter().map(|text| String::from_utf8_lossy(text.data()).into_owned()),
                    ),
                }
            }
        }
        Ok(columns)
    })
}

#[cfg(not(feature = "parquet"))]
fn of_parquet(source: Source<'_>, _: &[(&str, &str)]) -> Result<Vec<TextColumn>> {
    Err(Error::parse(
        source.path,
        "this build of lehr leaves Parquet out; convert the file to .csv",
    ))
}
