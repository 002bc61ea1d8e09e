//! Reads the header of a NumPy array: its type, order and shape, checked before anything is allocated.

use std::io::{self, Read};
use std::path::Path;

use super::source::{Source, shown};
use crate::data::Precision;
use crate::{Error, Result};

const LONGEST_HEADER: u32 = 1 << 20;
/// More columns than this are taken for a damaged header.
const MOST_COLUMNS: u64 = 1 << 24;
const ALLOWED: &str = "a 2-D array of floats, integers or booleans is needed: save it with numpy.save(file, array.astype(float))";

/// How the numbers lie in the file.
#[derive(Debug)]
pub(super) struct Layout {
    /// The first byte behind the header.
    pub start: u64,
    pub dtype: Dtype,
    pub fortran: bool,
    pub n_items: usize,
    pub n_columns: usize,
    pub n_bytes: u64,
    /// The shape in words, e.g. "3 x 4".
    pub shape: String,
}

/// Makes a number of its bytes.
type Decode = fn(&[u8]) -> f64;

/// A type of number.
#[derive(Debug)]
pub(super) struct Dtype {
    /// As NumPy writes it, e.g. "<f8".
    pub name: String,
    /// In bytes.
    pub width: usize,
    pub decode: Decode,
    /// The type that the machine can use as it is.
    pub in_place: Option<Precision>,
}

/// What the header says, before it is known what it should say.
#[derive(Debug)]
pub(super) struct Header {
    /// The first byte behind it.
    pub start: u64,
    /// The type as Python spells it, e.g. "'<f8'".
    pub descr: String,
    pub fortran: bool,
    pub shape: Vec<u64>,
}

impl Header {
    /// Reads the header and stops at the first number.
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self> {
        let path = source.path;
        let mut fixed = [0; 8];
        read_exact(source, &mut fixed)?;
        let (major, prefix) = (fixed[6], if fixed[6] == 1 { 2 } else { 4 });
        if !(1..=3).contains(&major) {
            return Err(Error::parse(
                path,
                format!(
                    "has .npy format version {major}; versions 1 to 3 are read: save it with numpy.save"
                ),
            ));
        }
        let mut length = [0; 4];
        read_exact(source, &mut length[..prefix])?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(damaged(path, &format!("a header of {length} bytes")));
        }
        let mut text = vec![0; length as usize];
        read_exact(source, &mut text)?;
        let start = 8 + prefix as u64 + u64::from(length);
        Header::parse(path, &String::from_utf8_lossy(&text), start)
    }

    fn parse(path: &Path, header: &str, start: u64) -> Result<Self> {
        let missing =
            |key: &str| damaged(path, &format!("no {key} in {}", shown(header.as_bytes())));
        let descr = value_of(header, "descr").ok_or_else(|| missing("descr"))?.to_string();
        let fortran = match value_of(header, "fortran_order") {
            Some(text) if text.starts_with("True") => true,
            Some(text) if text.starts_with("False") => false,
            _ => return Err(missing("fortran_order")),
        };
        let shape = value_of(header, "shape").and_then(shape).ok_or_else(|| missing("shape"))?;
        Ok(Header { start, descr, fortran, shape })
    }
}

impl Layout {
    /// Reads the header and stops at the first number.
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self> {
        let header = Header::read(source)?;
        Layout::new(source.path, header)
    }

    fn new(path: &Path, header: Header) -> Result<Self> {
        let Header { start, descr, fortran, shape } = header;
        let dtype = Dtype::parse(path, &descr)?;
        let (n_items, n_columns) = match shape[..] {
            [n_items] => (n_items, 1),
            [n_items, n_columns] => (n_items, n_columns),
            _ => {
                return Err(Error::parse(
                    path,
                    format!(
                        "holds an array of {} dimensions; {ALLOWED}, with one row per item",
                        shape.len()
                    ),
                ));
            }
        };
        if n_items == 0 || n_columns == 0 {
            return Err(Error::parse(
                path,
                format!(
                    "holds an array of {n_items} rows and {n_columns} columns; at least one of each is needed"
                ),
            ));
        }
        let shape = format!("{n_items} x {n_columns}");
        let n_bytes =
            n_items.checked_mul(n_columns).and_then(|n| n.checked_mul(dtype.width as u64));
        match (n_bytes, usize::try_from(n_items)) {
            // The product must also be countable once it is held as f64.
            (Some(n_bytes), Ok(n_items))
                if n_columns <= MOST_COLUMNS && n_bytes < isize::MAX as u64 / 8 =>
            {
                let n_columns = n_columns as usize;
                Ok(Layout { start, dtype, fortran, n_items, n_columns, n_bytes, shape })
            }
            _ => Err(damaged(path, &format!("an array of {shape} numbers, too large to exist"))),
        }
    }
}

impl Dtype {
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self> {
        let Some(name) = unquoted(text) else {
            return Err(Error::parse(path, format!("holds an array of records; {ALLOWED}")));
        };
        let (decode, width) = match known(name) {
            Some(found) => found,
            None if name.ends_with('O') => {
                return Err(Error::parse(path, format!("holds Python objects; {ALLOWED}")));
            }
            None => {
                return Err(Error::parse(
                    path,
                    format!("holds an array of type {}; {ALLOWED}", shown(name.as_bytes())),
                ));
            }
        };
        let in_place = match name {
            "<f8" => Some(Precision::F64),
            "<f4" => Some(Precision::F32),
            _ => None,
        };
        Ok(Dtype { name: name.to_string(), width, decode, in_place })
    }
}

/// How numbers of a type are decoded, and their width.
fn known(name: &str) -> Option<(Decode, usize)> {
    macro_rules! decoder {
        ($number:ty, $from:ident) => {
            Some((
                |bytes| <$number>::$from(bytes.try_into().expect("a number has its width")) as f64,
                size_of::<$number>(),
            ))
        };
    }
    match name {
        "<f8" => decoder!(f64, from_le_bytes),
        ">f8" => decoder!(f64, from_be_bytes),
        "<f4" => decoder!(f32, from_le_bytes),
        ">f4" => decoder!(f32, from_be_bytes),
        "<i8" => decoder!(i64, from_le_bytes),
        ">i8" => decoder!(i64, from_be_bytes),
        "<i4" => decoder!(i32, from_le_bytes),
        ">i4" => decoder!(i32, from_be_bytes),
        "<i2" => decoder!(i16, from_le_bytes),
        ">i2" => decoder!(i16, from_be_bytes),
        "|i1" | "<i1" | ">i1" => decoder!(i8, from_le_bytes),
        "<u8" => decoder!(u64, from_le_bytes),
        ">u8" => decoder!(u64, from_be_bytes),
        "<u4" => decoder!(u32, from_le_bytes),
        ">u4" => decoder!(u32, from_be_bytes),
        "<u2" => decoder!(u16, from_le_bytes),
        ">u2" => decoder!(u16, from_be_bytes),
        "|u1" | "<u1" | ">u1" => decoder!(u8, from_le_bytes),
        "|b1" | "<b1" | ">b1" => Some((|bytes| f64::from(u8::from(bytes[0] != 0)), 1)),
        _ => None,
    }
}

/// What stands behind `'key':` in a Python dictionary.
fn value_of<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, rest) = header
        .split_once(&format!("'{key}'"))
        .or_else(|| header.split_once(&format!("\"{key}\"")))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// What stands between the quotes that `text` starts with.
pub(super) fn unquoted(text: &str) -> Option<&str> {
    let (inside, _) = text.strip_prefix(['\'', '"'])?.split_once(['\'', '"'])?;
    Some(inside)
}

/// The numbers in a Python tuple, e.g. "(3, 4), }"; Python 2 wrote them as "3L".
fn shape(text: &str) -> Option<Vec<u64>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect()
}

fn read_exact(source: &mut Source<'_>, bytes: &mut [u8]) -> Result<()> {
    let path = source.path;
    source.reader.read_exact(bytes).map_err(|error| {
        // The end of a gzipped file is recognised by the words of `cannot_read`.
        if error.kind() == io::ErrorKind::UnexpectedEof && source.file.is_some() {
            Error::parse(
                path,
                "ends inside its header; the file is cut off or still being written: save it again",
            )
        } else {
            source.cannot_read(error)
        }
    })
}

fn damaged(path: &Path, found: &str) -> Error {
    Error::parse(
        path,
        format!("the .npy header is damaged: it has {found}; save it again with numpy.save"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str) -> std::result::Result<(String, bool, usize, usize, u64), String> {
        Header::parse(Path::new("a.npy"), header, 64)
            .and_then(|header| Layout::new(Path::new("a.npy"), header))
            .map(|l| (l.dtype.name, l.fortran, l.n_items, l.n_columns, l.n_bytes))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn headers_are_read_as_different_writers_spell_them() {
        let numpy = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(parse(numpy), Ok(("<f8".into(), false, 3, 4, 96)));
        let tight = "{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\"|b1\"}";
        assert_eq!(parse(tight), Ok(("|b1".into(), true, 3, 1, 3)));
    }

    #[test]
    fn a_size_that_overflows_is_refused() {
        let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4)}";
        assert_eq!(
            parse(huge).unwrap_err(),
            "a.npy: the .npy header is damaged: it has an array of 9223372036854775807 x 4 numbers, too large to exist; save it again with numpy.save"
        );
        let wide = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 99999999999)}";
        assert!(parse(wide).unwrap_err().contains("too large to exist"));
    }

    #[test]
    fn every_type_is_decoded_from_both_byte_orders() {
        let value = |name: &str, bytes: &[u8]| {
            let (decode, width) = known(name).unwrap();
            assert_eq!(width, bytes.len());
            decode(bytes)
        };
        assert_eq!(value(">f8", &(-2.5f64).to_be_bytes()), -2.5);
        assert_eq!(value("<f4", &2.5f32.to_le_bytes()), 2.5);
        assert_eq!(value(">f4", &2.5f32.to_be_bytes()), 2.5);
        assert_eq!(value("<i8", &(-7i64).to_le_bytes()), -7.0);
        assert_eq!(value(">i4", &(-7i32).to_be_bytes()), -7.0);
        assert_eq!(value("<i2", &(-7i16).to_le_bytes()), -7.0);
        assert_eq!(value("|i1", &[0xff]), -1.0);
        assert_eq!(value("|u1", &[0xff]), 255.0);
        assert_eq!(value(">u2", &[1, 0]), 256.0);
        assert_eq!(value("|b1", &[7]), 1.0);
    }

    #[test]
    fn what_is_not_a_header_is_no_panic() {
        for text in ["", "{", "'descr'", "'descr':", "'descr': '", "'descr': '<f8'", "\u{fffd}"] {
            assert!(parse(text).is_err());
        }
    }
}
