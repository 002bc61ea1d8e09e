//! Files that commands write: by which names, whether they may replace others, and where words about them go.

use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use lehr::read::STDIN;
use lehr::write::{self, Column, STDOUT, TableFormat};

use crate::text;

/// What allows to replace a file.
#[derive(Debug, Clone, Copy, Args)]
pub struct Force {
    /// Replace the file if it is there.
    #[arg(long)]
    pub force: bool,
}

/// Parses the name of data, of which `-` is standard input.
pub fn data_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| named(path, STDIN))
}

/// Parses the name of a file to write, of which `-` is standard output.
pub fn file_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| named(path, STDOUT))
}

/// Parses the name of a folder to make, which no stream can be.
pub fn folder_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path == Path::new("-") {
        true => Err("this makes a folder, and no output that could go elsewhere; name it"),
        false => Ok(path),
    })
}

fn named(path: PathBuf, stream: &str) -> PathBuf {
    if path == Path::new("-") { stream.into() } else { path }
}

/// Whether a file may be written, before long work: not over a file, unless that is asked for, and not where none can
/// be.
pub fn check(path: &Path, Force { force }: Force) -> anyhow::Result<()> {
    write::check_target(path)?;
    if path.exists() && !write::is_stream(path) && !force {
        bail!("{}: exists already; give another name, or replace it with --force", path.display());
    }
    Ok(())
}

/// Refuses to show a person what cannot be read.
pub fn check_readable(path: &Path, format: &str) -> anyhow::Result<()> {
    if write::is_stdout(path) && std::io::stdout().is_terminal() {
        bail!(
            "{}: is a terminal, which cannot show {format}; send it to a program or a file, with | or >",
            path.display()
        );
    }
    Ok(())
}

/// Says what became of a file: on stdout, unless that is the file.
pub fn say(path: &Path, said: &str) -> anyhow::Result<()> {
    if !write::is_stdout(path) {
        return text::print(said);
    }
    // If stdout is closed, the file is still there.
    let _ = std::io::stderr().write_all(said.as_bytes());
    Ok(())
}

/// A table to write.
pub struct TableFile<'a> {
    /// Where to.
    pub path: &'a Path,
    /// As what.
    pub format: TableFormat,
}

impl<'a> TableFile<'a> {
    /// The file in the format that is asked for, or that its name has. Everything is checked.
    pub fn new(path: &'a Path, format: Option<TableFormat>, force: Force) -> anyhow::Result<Self> {
        check(path, force)?;
        let format = format.map_or_else(|| TableFormat::of(path), Ok)?;
        if !format.is_text() {
            check_readable(path, format.name())?;
        }
        Ok(TableFile { path, format })
    }

    /// Writes it.
    pub fn write(&self, columns: &[Column<'_>]) -> lehr::Result<()> {
        write::table_as(self.format, self.path, columns)
    }

    /// Writes `n_rows` rows of which each has about `width` numbers, block by block as `make` hands them on.
    pub fn write_blocks(
        &self,
        n_rows: usize,
        width: usize,
        make: impl FnMut(
            Range<usize>,
            &mut dyn FnMut(&[Column<'_>]) -> lehr::Result<()>,
        ) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let rows = write::rows_of_blocks(width);
        lehr::memory::room_for("a block of the table", rows.min(n_rows).saturating_mul(width))?;
        write::table_in_blocks(self.format, self.path, n_rows, rows, make)
    }
}
