//! Writes a table as JSON: an object for each row, one a line, in a list or without one.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::blocks::Blocks;
use super::csv::write_float;
use super::table::{Cell, OutTable};

const BUFFER: usize = 1 << 17;

/// Objects that go to a file.
pub(super) struct Objects<'f> {
    out: BufWriter<&'f mut File>,
    in_list: bool,
    begun: bool,
}

impl<'f> Objects<'f> {
    pub(super) fn new(file: &'f mut File, in_list: bool) -> Self {
        Objects { out: BufWriter::with_capacity(BUFFER, file), in_list, begun: false }
    }
}

impl Blocks for Objects<'_> {
    fn add(&mut self, block: &OutTable<'_>) -> io::Result<()> {
        let names: Vec<String> =
            block.names.iter().map(|name| quoted(name)).collect::<io::Result<_>>()?;
        for n in 0..block.n_rows {
            let first = !std::mem::replace(&mut self.begun, true);
            match (self.in_list, first) {
                (true, true) => self.out.write_all(b"[\n")?,
                (true, false) => self.out.write_all(b",\n")?,
                (false, _) => {}
            }
            for (at, (cell, name)) in block.row(n).zip(&names).enumerate() {
                write!(self.out, "{}{name}:", if at == 0 { '{' } else { ',' })?;
                match cell {
                    Cell::I64(value) => write!(self.out, "{value}")?,
                    Cell::F64(value) if value.is_finite() => write_float(&mut self.out, value)?,
                    Cell::F64(_) => self.out.write_all(b"null")?,
                    Cell::Text(text) => self.out.write_all(quoted(text)?.as_bytes())?,
                }
            }
            self.out.write_all(if self.in_list { b"}" } else { b"}\n" })?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        match (self.in_list, self.begun) {
            (true, true) => self.out.write_all(b"\n]\n")?,
            (true, false) => self.out.write_all(b"[]\n")?,
            (false, _) => {}
        }
        self.out.flush()
    }
}

/// A text as JSON has it.
fn quoted(text: &str) -> io::Result<String> {
    Ok(serde_json::to_string(text)?)
}
