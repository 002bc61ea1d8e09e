//! A table that is made and written block by block, so that it never is in memory as a whole.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::table::{Column, OutTable};
use super::{TableFormat, atomically, csv, json, npy};
use crate::{Error, Result};

/// Numbers in a block: 16 MB.
const NUMBERS: usize = 1 << 21;

/// The fewest and the most rows in a block: a format may keep notes on every block of every column, and nothing is gained
/// by longer ones.
const ROWS: (usize, usize) = (1 << 12, 1 << 17);

/// How many rows of this many numbers make a block that is worth writing, and no burden on memory.
pub fn rows_of_blocks(width: usize) -> usize {
    let (least, most) = ROWS;
    (NUMBERS / width.max(1)).clamp(least, most) / least * least
}

/// Writes a table of `n_rows` rows like [`table_as`](super::table_as), `rows` rows at a time. `make` is called for block
/// after block with the rows that it has, and hands its columns on; all blocks have the same columns. If it fails, `path`
/// is left as it was.
///
/// ```
/// use lehr::write::{Column, TableFormat, table_in_blocks};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("squares.csv");
/// table_in_blocks(TableFormat::Csv, &path, 5, 2, |rows, add| {
///     let squares: Vec<i64> = rows.map(|n| (n * n) as i64).collect();
///     add(&[Column::i64("square", &squares)])
/// })?;
/// assert_eq!(std::fs::read_to_string(&path)?, "square\n0\n1\n4\n9\n16\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table_in_blocks<E: From<Error>>(
    format: TableFormat,
    path: &Path,
    n_rows: usize,
    rows: usize,
    mut make: impl FnMut(Range<usize>, &mut dyn FnMut(&[Column<'_>]) -> Result<()>) -> Result<(), E>,
) -> Result<(), E> {
    let mut first: usize = 0;
    in_order(format, path, n_rows, |sheet| {
        let block = first..n_rows.min(first.saturating_add(rows.max(1)));
        let n_rows_of_block = block.len();
        first = block.end.max(1);
        make(block, &mut |columns| sheet.add(columns, Some(n_rows_of_block)))?;
        // A table without rows has its columns still.
        Ok(first < n_rows)
    })
}

/// Writes a table part after part, like [`table_in_blocks`], where it is not known before how many rows each has: `make` is
/// called for the parts from 0 to `n_parts`, of which there is one at least. Not for .npy, whose size comes first.
pub fn table_in_parts<E: From<Error>>(
    format: TableFormat,
    path: &Path,
    n_parts: usize,
    mut make: impl FnMut(usize, &mut dyn FnMut(&[Column<'_>]) -> Result<()>) -> Result<(), E>,
) -> Result<(), E> {
    if format == TableFormat::Npy {
        return Err(E::from(Error::run(
            path,
            "an array needs to know its rows before they are made; write .parquet or .csv",
        )));
    }
    let mut part = 0;
    in_order(format, path, 0, |sheet| {
        make(part, &mut |columns| sheet.add(columns, None))?;
        part += 1;
        Ok(part < n_parts)
    })
}

/// Writes what `next` adds, until it says that nothing follows.
fn in_order<E: From<Error>>(
    format: TableFormat,
    path: &Path,
    n_rows: usize,
    mut next: impl FnMut(&mut Sheet<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    if cfg!(not(feature = "parquet")) && format == TableFormat::Parquet {
        return Err(E::from(Error::run(
            path,
            "this build of lehr leaves Parquet out; build it with the feature parquet, or write .npy or .csv",
        )));
    }
    // What is wrong with a block is no fault of the file.
    let mut fault = None;
    let written = atomically(path, |file| {
        let mut sheet = Sheet { blocks: writer(format, file, n_rows), names: None, wrong: None };
        loop {
            let made = next(&mut sheet);
            if let Some(wrong) = sheet.wrong.take() {
                return Err(wrong);
            }
            match made {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    fault = Some(error);
                    return Err(io::Error::other("a block could not be made"));
                }
            }
        }
        sheet.blocks.end()
    });
    match fault {
        Some(fault) => Err(fault),
        None => Ok(written?),
    }
}

/// A format being written.
pub(super) trait Blocks {
    /// Writes the rows of a block.
    fn add(&mut self, block: &OutTable<'_>) -> io::Result<()>;

    /// There are no more.
    fn end(self: Box<Self>) -> io::Result<()>;
}

fn writer<'f>(format: TableFormat, file: &'f mut File, n_rows: usize) -> Box<dyn Blocks + 'f> {
    match format {
        TableFormat::Csv => Box::new(csv::Text::new(file, b',', false)),
        TableFormat::Tsv => Box::new(csv::Text::new(file, b'\t', false)),
        TableFormat::Json => Box::new(json::Objects::new(file, true)),
        TableFormat::Jsonl => Box::new(json::Objects::new(file, false)),
        TableFormat::CsvGz => Box::new(csv::Text::new(file, b',', true)),
        TableFormat::TsvGz => Box::new(csv::Text::new(file, b'\t', true)),
        #[cfg(not(feature = "parquet"))]
        TableFormat::Parquet => Box::new(npy::Array::new(file, n_rows)), // was refused before
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => Box::new(super::parquet::Groups::new(file)),
        TableFormat::Npy => Box::new(npy::Array::new(file, n_rows)),
    }
}

/// A table, as far as it is written.
struct Sheet<'f> {
    blocks: Box<dyn Blocks + 'f>,
    /// Those of the first block.
    names: Option<Vec<String>>,
    /// Why the file could not be written.
    wrong: Option<io::Error>,
}

impl Sheet<'_> {
    /// Adds rows; their number is given if it is known.
    fn add(&mut self, columns: &[Column<'_>], n_rows: Option<usize>) -> Result<()> {
        let block = OutTable::new(columns)?;
        let names = self.names.get_or_insert_with(|| block.names.clone());
        let n_rows = n_rows.unwrap_or(block.n_rows);
        if *names != block.names || block.n_rows != n_rows {
            return Err(Error::data(format!(
                "a block of {} rows and {} columns does not go on with a table of {}; it needs {n_rows} rows",
                block.n_rows,
                block.names.len(),
                names.len()
            )));
        }
        self.blocks.add(&block).map_err(|error| {
            let said = Error::data(error.to_string());
            self.wrong = Some(error);
            said
        })
    }
}
