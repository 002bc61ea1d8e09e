//! Reads sparse matrices that `scipy.sparse.save_npz` has written.

use std::io::Read;
use std::path::Path;

use super::builder::Builder;
use super::numbers::checked;
use super::plain_file;
use super::vocab::Names;
use super::zip::Archive;
use crate::data::Docs;
use crate::{Error, Result};

use super::super::npy_header::{Dtype, Header};
use super::super::source::{Source, shown};

/// A multiple of every dtype's width.
const BLOCK: usize = 1 << 16;
const ADVICE: &str = "save it again with scipy.sparse.save_npz(file, x.tocsr())";

pub(super) fn read(source: Source<'_>, names: Option<Names>) -> Result<Docs> {
    let path = source.path;
    let (file, length) = plain_file(&source, "an archive")?;
    let archive = Archive::open(path, file, length)?;
    let matrix = Matrix { path, archive };
    let by_rows = match &matrix.format()?[..] {
        "csr" => true,
        "csc" => false,
        other => {
            return Err(Error::parse(
                path,
                format!(
                    "holds a sparse matrix in the format {}; CSR and CSC are read: {ADVICE}",
                    shown(other.as_bytes())
                ),
            ));
        }
    };
    let mut shape = Vec::new();
    matrix.array("shape", Holds::Positions, |_, size| {
        shape.push(position(size)?);
        Ok(())
    })?;
    let [n_docs, n_words] = shape[..] else {
        return Err(matrix.fault(format!("its shape has {} numbers instead of 2", shape.len())));
    };
    let most = u64::from(u32::MAX);
    if n_docs > most || n_words > most {
        return Err(matrix.fault(format!(
            "it has {n_docs} rows and {n_words} columns; at most {most} of each are possible"
        )));
    }
    let (n_lines, n_places) = if by_rows { (n_docs, n_words) } else { (n_words, n_docs) };

    let mut ends = Vec::new();
    matrix.array("indptr", Holds::Positions, |_, end| {
        let end = position(end)?;
        if ends.last().is_some_and(|&last| last > end) {
            return Err(format!("{end} comes after a larger number; they must rise"));
        }
        ends.push(end);
        Ok(())
    })?;
    let mut places: Vec<u32> = Vec::new();
    matrix.array("indices", Holds::Positions, |_, place| {
        let place = position(place)?;
        if place >= n_places {
            return Err(format!(
                "found {place}, and the shape allows up to {}",
                n_places.saturating_sub(1)
            ));
        }
        places.push(place as u32);
        Ok(())
    })?;
    let whole = ends.first() == Some(&0) && ends.last() == Some(&(places.len() as u64));
    if !whole || ends.len() as u64 != n_lines + 1 {
        return Err(matrix.fault(format!(
            "its indptr has {} numbers up to {}, where {} numbers up to {} belong to the shape and the indices",
            ends.len(),
            ends.last().unwrap_or(&0),
            n_lines + 1,
            places.len()
        )));
    }
    let mut builder = Builder::with_capacity(places.len());
    let (mut line, mut n_values) = (0, 0);
    matrix.array("data", Holds::Counts, |at, value| {
        let count = checked(value)?;
        let &place = places.get(at).ok_or("there are more values than indices")?;
        while ends[line + 1] <= at as u64 {
            line += 1;
        }
        let (doc, word) = if by_rows { (line as u32, place) } else { (place, line as u32) };
        builder.push(doc, word, count);
        n_values += 1;
        Ok(())
    })?;
    if n_values != places.len() {
        return Err(matrix.fault(format!("it has {n_values} values for {} indices", places.len())));
    }
    builder.finish(path, n_docs, n_words, names)
}

/// What the numbers of an array are.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Positions,
    Counts,
}

struct Matrix<'a> {
    path: &'a Path,
    archive: Archive<'a>,
}

impl<'a> Matrix<'a> {
    fn member(&self, name: &str) -> Result<Source<'a>> {
        self.archive.member(&format!("{name}.npy"))?.ok_or_else(|| {
            Error::parse(
                self.path,
                format!("is an archive without {name}.npy, so it is no sparse matrix in CSR form; {ADVICE}"),
            )
        })
    }

    /// The format's name: an array of no dimensions of bytes or of UTF-32.
    fn format(&self) -> Result<String> {
        let mut source = self.member("format")?;
        Header::read(&mut source)?;
        let mut bytes = Vec::new();
        let read = source.reader.by_ref().take(64).read_to_end(&mut bytes);
        read.map_err(|error| self.fault(format!("format.npy cannot be unpacked ({error})")))?;
        bytes.retain(|&byte| byte != 0);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Hands out the numbers of a one-dimensional member; what `see` finds wrong is named by place.
    fn array(
        &self,
        name: &str,
        holds: Holds,
        mut see: impl FnMut(usize, f64) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let mut source = self.member(name)?;
        let header = Header::read(&mut source)?;
        let dtype = Dtype::parse(self.path, &header.descr)?;
        // Narrower numbers, of which scipy writes none, would make more entries of a file.
        if holds == Holds::Positions && dtype.width < 4 {
            return Err(self.fault(format!("{name}.npy has numbers of type {}", dtype.name)));
        }
        let [length] = header.shape[..] else {
            return Err(self
                .fault(format!("{name}.npy has {} dimensions instead of 1", header.shape.len())));
        };
        let mut block = Vec::with_capacity(BLOCK);
        let mut at = 0;
        loop {
            block.clear();
            let read = source.reader.by_ref().take(BLOCK as u64).read_to_end(&mut block);
            read.map_err(|error| self.fault(format!("{name}.npy cannot be unpacked ({error})")))?;
            if block.is_empty() {
                break;
            }
            for bytes in block.chunks_exact(dtype.width) {
                let seen = see(at, (dtype.decode)(bytes));
                seen.map_err(|text| {
                    self.fault(format!("number {} of its {name}: {text}", at + 1))
                })?;
                at += 1;
            }
        }
        if at as u64 != length {
            return Err(self.fault(format!("{name}.npy promises {length} numbers and has {at}")));
        }
        Ok(())
    }

    fn fault(&self, text: String) -> Error {
        Error::parse(self.path, format!("is not a sound sparse matrix: {text}; {ADVICE}"))
    }
}

/// A number that counts or numbers something.
fn position(number: f64) -> std::result::Result<u64, String> {
    if number >= 0.0 && number <= 2f64.powi(53) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(format!("found {number}, which is not a whole number from 0 up"))
    }
}
