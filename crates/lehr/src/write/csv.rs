//! Writes a table as text with separators, gzipped if asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::blocks::Blocks;
use super::table::{Cell, OutTable};

const BUFFER: usize = 1 << 17;

/// Text that goes to a file.
pub(super) struct Text<'f> {
    out: Out<'f>,
    separator: u8,
    begun: bool,
}

enum Out<'f> {
    Plain(BufWriter<&'f mut File>),
    Packed(Box<BufWriter<GzEncoder<BufWriter<&'f mut File>>>>),
}

impl<'f> Text<'f> {
    pub(super) fn new(file: &'f mut File, separator: u8, gzipped: bool) -> Self {
        let plain = BufWriter::with_capacity(BUFFER, file);
        let out = match gzipped {
            false => Out::Plain(plain),
            true => {
                let packed = GzEncoder::new(plain, Compression::default());
                Out::Packed(Box::new(BufWriter::with_capacity(BUFFER, packed)))
            }
        };
        Text { out, separator, begun: false }
    }
}

impl Blocks for Text<'_> {
    fn add(&mut self, block: &OutTable<'_>) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.begun, true);
        match &mut self.out {
            Out::Plain(out) => write_rows(out, block, self.separator, is_first),
            Out::Packed(out) => write_rows(out.as_mut(), block, self.separator, is_first),
        }
    }

    fn end(self: Box<Self>) -> io::Result<()> {
        match self.out {
            Out::Plain(mut out) => out.flush(),
            Out::Packed(out) => {
                out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?.flush()
            }
        }
    }
}

/// Writes the rows of a block, after the names of the columns if it is the first.
fn write_rows(
    out: &mut impl Write,
    table: &OutTable<'_>,
    separator: u8,
    is_first: bool,
) -> io::Result<()> {
    if is_first {
        for (at, name) in table.names.iter().enumerate() {
            if at > 0 {
                out.write_all(&[separator])?;
            }
            out.write_all(quoted(name, separator).as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    for n in 0..table.n_rows {
        for (at, cell) in table.row(n).enumerate() {
            if at > 0 {
                out.write_all(&[separator])?;
            }
            match cell {
                Cell::I64(value) => write!(out, "{value}")?,
                Cell::F64(value) => write_float(out, value)?,
                Cell::Text(value) => out.write_all(quoted(value, separator).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Both forms are the shortest that read back as the same float; the plain one would spell out
/// hundreds of zeros for very large and very small numbers.
pub(super) fn write_float(out: &mut impl Write, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) || !value.is_finite() {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

fn quoted(name: &str, separator: u8) -> String {
    let special = |c: char| c == char::from(separator) || "\"\n\r#".contains(c);
    if name.contains(special) || name.trim() != name {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    #[test]
    fn floats_are_short() {
        let text = |value| {
            let mut out = Vec::new();
            write_float(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (-12345.5, "-12345.5"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b", b','), "a b");
        assert_eq!(quoted("a,b", b','), "\"a,b\"");
        assert_eq!(quoted("a,b", b'\t'), "a,b");
        assert_eq!(quoted("say \"a\"", b','), "\"say \"\"a\"\"\"");
    }

    #[test]
    fn texts_are_quoted_like_names() {
        let ids = ["a".to_string(), "b, \"c\"".to_string(), String::new()];
        let columns = [Column::text("id", &ids), Column::i64("n", &[1, 2, 3])];
        let mut out = Vec::new();
        write_rows(&mut out, &OutTable::new(&columns).unwrap(), b',', true).unwrap();
        let expected = "id,n\na,1\n\"b, \"\"c\"\"\",2\n,3\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
