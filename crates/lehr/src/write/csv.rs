//! Writes a table as text with separators, gzipped if asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::table::{Cell, OutTable};

const BUFFER: usize = 1 << 17;

pub(super) fn write(
    file: &mut File,
    table: &OutTable<'_>,
    separator: u8,
    gzipped: bool,
) -> io::Result<()> {
    if !gzipped {
        return write_rows(BufWriter::with_capacity(BUFFER, file), table, separator)?.flush();
    }
    let packed = GzEncoder::new(BufWriter::with_capacity(BUFFER, file), Compression::default());
    let rows = write_rows(BufWriter::with_capacity(BUFFER, packed), table, separator)?;
    rows.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?.flush()
}

fn write_rows<W: Write>(mut out: W, table: &OutTable<'_>, separator: u8) -> io::Result<W> {
    for (at, name) in table.names.iter().enumerate() {
        if at > 0 {
            out.write_all(&[separator])?;
        }
        out.write_all(quoted(name, separator).as_bytes())?;
    }
    out.write_all(b"\n")?;
    for n in 0..table.n_rows {
        for (at, cell) in table.row(n).enumerate() {
            if at > 0 {
                out.write_all(&[separator])?;
            }
            match cell {
                Cell::I64(value) => write!(out, "{value}")?,
                Cell::F64(value) => write_float(&mut out, value)?,
                Cell::Text(value) => out.write_all(quoted(value, separator).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(out)
}

/// Both forms are the shortest that read back as the same float; the plain one would spell out
/// hundreds of zeros for very large and very small numbers.
fn write_float(out: &mut impl Write, value: f64) -> io::Result<()> {
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
        let out = write_rows(Vec::new(), &OutTable::new(&columns).unwrap(), b',').unwrap();
        let expected = "id,n\na,1\n\"b, \"\"c\"\"\",2\n,3\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
