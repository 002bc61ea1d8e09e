//! Writing results: tables in the formats that are read, and any file without leaving half of one.

mod atomic;
mod blocks;
mod csv;
mod fault;
mod json;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod room;
mod stream;
mod table;

use std::path::Path;

use crate::settings::choices;
use crate::{Error, Result};

pub use atomic::{append, atomically, check_target, whole};
pub(crate) use atomic::{is_unfinished, whole_keeping};
pub use blocks::{rows_of_blocks, table_in_blocks, table_in_parts};
pub(crate) use npy::header as npy_header;
pub use stream::{STDOUT, is_stdout, is_stream};
pub use table::{Column, Values};

use table::OutTable;

const ALLOWED: &str = ".csv, .tsv, .csv.gz, .tsv.gz, .json, .jsonl, .npy or .parquet";

/// Writes a table in the format that the file's name asks for: .csv, .tsv, .csv.gz, .tsv.gz, .json,
/// .jsonl, .npy or .parquet. An existing file is replaced in one step once the new one is complete.
///
/// Text holds every float in the shortest form that reads back as the same float. A .npy file is
/// an f64 matrix in C order without names, so integers beyond 2^53 lose digits there. In JSON, a list of objects or an
/// object a line, what is no number is null.
///
/// ```
/// use lehr::write::{self, Column};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("result.csv");
/// let labels = [1, 0];
/// let responsibilities = [0.25, 0.75, 1.0, 0.0]; // one row per item, one column per component
/// write::table(
///     &path,
///     &[Column::i64("label", &labels), Column::matrix("resp", &responsibilities, 2)],
/// )?;
/// assert_eq!(
///     std::fs::read_to_string(&path)?,
///     "label,resp_0,resp_1\n1,0.25,0.75\n0,1,0\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table(path: &Path, columns: &[Column<'_>]) -> Result<()> {
    table_as(TableFormat::of(path)?, path, columns)
}

/// The same in a format that the file's name does not have to say.
pub fn table_as(format: TableFormat, path: &Path, columns: &[Column<'_>]) -> Result<()> {
    let n_rows = OutTable::new(columns)?.n_rows;
    table_in_blocks(format, path, n_rows, n_rows, |_, add| add(columns))
}

choices! {
    /// A format of tables.
    pub enum TableFormat {
        /// Text with commas.
        Csv = "csv",
        /// Text with tabs.
        Tsv = "tsv",
        /// Text with commas, gzipped.
        CsvGz = "csv.gz",
        /// Text with tabs, gzipped.
        TsvGz = "tsv.gz",
        /// A JSON list with an object for each row.
        Json = "json",
        /// An object for each row, one a line.
        Jsonl = "jsonl",
        /// A NumPy matrix, which holds no text.
        Npy = "npy",
        /// Parquet.
        Parquet = "parquet",
    }
}

impl TableFormat {
    /// The format that a file's name asks for, to know it before long work. Standard output, pipes and devices
    /// whose names say nothing get CSV.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends_in = |format: &&TableFormat| name.ends_with(&std::format!(".{format}"));
        match TableFormat::ALL.iter().find(ends_in) {
            Some(format) => Ok(*format),
            None if is_stream(path) => Ok(TableFormat::Csv),
            None => Err(Error::run(
                path,
                std::format!(
                    "the file's name does not say in which format to write; let it end in {ALLOWED}"
                ),
            )),
        }
    }

    /// Whether people can read it.
    pub fn is_text(self) -> bool {
        use TableFormat::{Csv, Json, Jsonl, Tsv};
        matches!(self, Csv | Tsv | Json | Jsonl)
    }
}
