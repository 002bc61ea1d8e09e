//! A table that is made and written block by block, so that it never is in memory as a whole.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::table::{Column, OutTable};
use super::{TableFormat, atomically, csv, npy};
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
        let mut first = 0;
        // A table without rows has its columns still.
        while first < n_rows || first == 0 {
            let block = first..n_rows.min(first.saturating_add(rows.max(1)));
            let made = make(block.clone(), &mut |columns| sheet.add(columns, block.len()));
            if let Some(wrong) = sheet.wrong.take() {
                return Err(wrong);
            }
            if let Err(error) = made {
                fault = Some(error);
                return Err(io::Error::other("a block could not be made"));
            }
            first = block.end.max(1);
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
    fn add(&mut self, columns: &[Column<'_>], n_rows: usize) -> Result<()> {
        let block = OutTable::new(columns)?;
        let names = self.names.get_or_insert_with(|| block.names.clone());
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
