//! Writing results: tables in the formats that are read, and any file without leaving half of one.

mod atomic;
mod csv;
mod fault;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod room;
mod table;

use std::path::Path;

use crate::{Error, Result};

pub use atomic::{append, atomically, whole};
pub(crate) use atomic::{is_unfinished, whole_keeping};
pub use table::{Column, Values};

use table::OutTable;

const ALLOWED: &str = ".csv, .tsv, .csv.gz, .tsv.gz, .npy or .parquet";

/// Writes a table in the format that the file's name asks for: .csv, .tsv, .csv.gz, .tsv.gz, .npy
/// or .parquet. An existing file is replaced in one step once the new one is complete.
///
/// Text holds every float in the shortest form that reads back as the same float. A .npy file is
/// an f64 matrix in C order without names, so integers beyond 2^53 lose digits there.
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
    let table = OutTable::new(columns)?;
    match format(path)? {
        Format::Text(delimiter, gzipped) => {
            atomically(path, |file| csv::write(file, &table, delimiter, gzipped))
        }
        Format::Npy => atomically(path, |file| npy::write(file, &table)),
        Format::Parquet => write_parquet(path, &table),
    }
}

/// Whether [`table`] can tell from the file's name in which format to write, to know it before long
/// work.
pub fn check_name(path: &Path) -> Result<()> {
    format(path).map(|_| ())
}

enum Format {
    Text(u8, bool),
    Npy,
    Parquet,
}

fn format(path: &Path) -> Result<Format> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (plain, gzipped) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (name.as_str(), false),
    };
    let extension = Path::new(plain).extension().unwrap_or_default().to_string_lossy();
    match (&*extension, gzipped) {
        ("csv", _) => Ok(Format::Text(b',', gzipped)),
        ("tsv", _) => Ok(Format::Text(b'\t', gzipped)),
        ("npy", false) => Ok(Format::Npy),
        ("parquet", false) => Ok(Format::Parquet),
        _ => Err(Error::run(
            path,
            std::format!(
                "the file's name does not say in which format to write; let it end in {ALLOWED}"
            ),
        )),
    }
}

#[cfg(feature = "parquet")]
fn write_parquet(path: &Path, table: &OutTable<'_>) -> Result<()> {
    atomically(path, |file| parquet::write(file, table))
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(path: &Path, _: &OutTable<'_>) -> Result<()> {
    Err(Error::run(
        path,
        "this build of lehr leaves Parquet out; build it with the feature parquet, or write .npy or .csv",
    ))
}
