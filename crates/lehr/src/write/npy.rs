//! Writes a table as a NumPy f64 matrix in C order.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::blocks::Blocks;
use super::table::{Cell, OutTable};

/// Numbers that go to a file.
pub(super) struct Array<'f> {
    out: BufWriter<&'f mut File>,
    /// Of all blocks together.
    n_rows: usize,
    begun: bool,
}

impl<'f> Array<'f> {
    pub(super) fn new(file: &'f mut File, n_rows: usize) -> Self {
        Array { out: BufWriter::with_capacity(1 << 17, file), n_rows, begun: false }
    }
}

impl Blocks for Array<'_> {
    fn add(&mut self, block: &OutTable<'_>) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.out.write_all(&header(self.n_rows, block.names.len(), false))?;
        }
        for n in 0..block.n_rows {
            for cell in block.row(n) {
                let value = match cell {
                    Cell::F64(value) => value,
                    Cell::I64(value) => value as f64,
                    Cell::Text(_) => {
                        return Err(io::Error::other(
                            "a NumPy matrix holds no text; let the name end in .csv or .parquet",
                        ));
                    }
                };
                self.out.write_all(&value.to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// Format version 1, padded so that the numbers start on a multiple of 64 bytes, as NumPy does. The numbers are f32 if
/// they are of `single` precision, else f64.
pub(crate) fn header(n_rows: usize, n_columns: usize, single: bool) -> Vec<u8> {
    let dtype = if single { "<f4" } else { "<f8" };
    let mut text = format!(
        "{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}"
    );
    let before = b"\x93NUMPY\x01\x00".len() + 2;
    let total = (before + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', total - before - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_what_numpy_writes() {
        let header = header(3, 4, false);
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
        let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        expected.extend(format!("{text:<117}\n").bytes());
        assert_eq!(header, expected);
    }
}
