//! Reads NumPy arrays: in place where the file's layout allows it, copied otherwise.

use std::io::{self, Read};
use std::path::Path;

use super::npy_header::Layout;
use super::select::{ColumnRef, Selection};
use super::source::Source;
use super::{Missing, PointsOptions, finish, missing};
use crate::data::{Mapped, Points, first_infinite, first_not_finite, map, weight_fault};
use crate::{Error, Result};

/// A multiple of every dtype's width.
const BLOCK: usize = 1 << 16;

pub(super) fn read(mut source: Source<'_>, options: &PointsOptions) -> Result<Points> {
    let path = source.path;
    let layout = Layout::read(&mut source)?;
    // Before anything is made for as many columns as the header claims.
    if let Some(most) = source.most_bytes() {
        let found = most.saturating_sub(layout.start);
        if found < layout.n_bytes {
            let found = match source.file {
                Some(_) => only(found),
                None => format!("a gzipped file of {} bytes cannot hold as many", source.size),
            };
            return Err(cut_off(path, &layout, &found));
        }
    }
    let selection = Selection::new(path, options, layout.n_columns, Vec::new())?;
    if let Some(points) = read_in_place(&source, &layout, &selection, options.missing)? {
        return finish(path, points, Vec::new(), &selection, options.missing);
    }

    let (values, weights) = (Vec::new(), Vec::new());
    let missing = options.missing;
    let mut table = NpyTable { path, selection: &selection, missing, values, weights };
    match &source.file {
        _ if !layout.fortran => table.copy(&mut source, &layout)?,
        Some((file, _)) => {
            let mapped = map(file).map_err(|error| Error::io(path, "cannot map", error))?;
            table.transpose(&layout, mapped.get(layout.start as usize..).unwrap_or_default())?;
        }
        None => {
            let mut bytes = Vec::new();
            let read = source.reader.by_ref().take(layout.n_bytes).read_to_end(&mut bytes);
            read.map_err(|error| source.cannot_read(error))?;
            table.transpose(&layout, &bytes)?;
        }
    }
    let NpyTable { values, weights, .. } = table;
    let points = Points::from_checked(values, selection.kept.len());
    finish(path, points, weights, &selection, missing)
}

/// The file's own bytes as data, if they can be used as they are.
fn read_in_place(
    source: &Source<'_>,
    layout: &Layout,
    selection: &Selection,
    missing: Missing,
) -> Result<Option<Points>> {
    let (Some((file, _)), Some(precision)) = (&source.file, layout.dtype.in_place) else {
        return Ok(None);
    };
    // With a single column both orders are the same.
    if (layout.fortran && layout.n_columns > 1) || !selection.is_everything() {
        return Ok(None);
    }
    let map = map(file).map_err(|error| Error::io(source.path, "cannot map", error))?;
    let n_values = layout.n_items * layout.n_columns;
    let Some(mapped) = Mapped::new(map, layout.start as usize, n_values, precision) else {
        return Ok(None);
    };
    let fault = match missing.allows_gaps() {
        true => first_infinite(mapped.rows(), layout.n_columns),
        false => first_not_finite(mapped.rows(), layout.n_columns),
    };
    if let Some((row, column, value)) = fault {
        return Err(not_finite(source.path, row, column, value));
    }
    Ok(Some(Points::from_mapped(mapped, layout.n_columns)))
}

/// The numbers read so far.
struct NpyTable<'a> {
    path: &'a Path,
    selection: &'a Selection,
    missing: Missing,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl NpyTable<'_> {
    /// Copies an array in C order block by block.
    fn copy(&mut self, source: &mut Source<'_>, layout: &Layout) -> Result<()> {
        // Only a plain file's length has confirmed the size that the header claims.
        if source.file.is_some() {
            let n_values = layout.n_items * self.selection.kept.len();
            // If memory is short the vector is left to grow as it goes.
            let _ = self.values.try_reserve_exact(n_values);
        }
        let places = &self.selection.places;
        let mut line = vec![0.0; self.selection.kept.len()];
        let mut block = vec![0; BLOCK];
        let (mut n, mut at, mut done) = (0, 0, 0u64);
        while done < layout.n_bytes {
            let wanted = (layout.n_bytes - done).min(BLOCK as u64) as usize;
            let found = fill(&mut source.reader, &mut block[..wanted]);
            let found = found.map_err(|error| source.cannot_read(error))?;
            done += found as u64;
            if found < wanted {
                return Err(cut_off(self.path, layout, &only(done)));
            }
            for bytes in block[..wanted].chunks_exact(layout.dtype.width) {
                match places[at] {
                    ColumnRef::Skip => {}
                    ColumnRef::Value(d) => line[d] = self.number(layout, bytes, n, at)?,
                    ColumnRef::Weight => {
                        let weight = self.weight(layout, bytes, n, at)?;
                        self.weights.push(weight);
                    }
                }
                at += 1;
                if at == places.len() {
                    self.values.extend_from_slice(&line);
                    (n, at) = (n + 1, 0);
                }
            }
        }
        self.values.shrink_to_fit();
        Ok(())
    }

    /// Copies an array in Fortran order, column after column, into rows.
    fn transpose(&mut self, layout: &Layout, bytes: &[u8]) -> Result<()> {
        let (n_items, width) = (layout.n_items, layout.dtype.width);
        if (bytes.len() as u64) < layout.n_bytes {
            return Err(cut_off(self.path, layout, &only(bytes.len() as u64)));
        }
        let n_dims = self.selection.kept.len();
        let mut values = vec![0.0; n_items * n_dims];
        if self.selection.has_weights() {
            self.weights = vec![0.0; n_items];
        }
        // Row block by row block, so that the rows being written stay in the cache.
        const ROWS: usize = 256;
        for first in (0..n_items).step_by(ROWS) {
            let rows = first..(first + ROWS).min(n_items);
            for (at, &place) in self.selection.places.iter().enumerate() {
                let column = &bytes[at * n_items * width..][..n_items * width];
                let cell = |n: usize| &column[n * width..][..width];
                match place {
                    ColumnRef::Skip => {}
                    ColumnRef::Value(d) => {
                        for n in rows.clone() {
                            values[n * n_dims + d] = self.number(layout, cell(n), n, at)?;
                        }
                    }
                    ColumnRef::Weight => {
                        for n in rows.clone() {
                            self.weights[n] = self.weight(layout, cell(n), n, at)?;
                        }
                    }
                }
            }
        }
        self.values = values;
        Ok(())
    }

    fn number(&self, layout: &Layout, bytes: &[u8], n: usize, at: usize) -> Result<f64> {
        let value = (layout.dtype.decode)(bytes);
        match value.is_finite() || (value.is_nan() && self.missing.allows_gaps()) {
            true => Ok(value),
            false => Err(not_finite(self.path, n + 1, at + 1, value)),
        }
    }

    fn weight(&self, layout: &Layout, bytes: &[u8], n: usize, at: usize) -> Result<f64> {
        let value = (layout.dtype.decode)(bytes);
        match weight_fault(value) {
            None => Ok(value),
            Some(fault) => {
                Err(Error::parse(self.path, format!("row {}, column {}: {fault}", n + 1, at + 1)))
            }
        }
    }
}

/// Reads until the block is full or the data end.
fn fill(reader: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < block.len() {
        match reader.read(&mut block[found..]) {
            Ok(0) => break,
            Ok(n) => found += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn not_finite(path: &Path, row: usize, column: usize, value: f64) -> Error {
    Error::parse(path, missing::not_finite(value).behind(format!("row {row}, column {column}: ")))
}

/// `found` says in words what is there instead.
fn cut_off(path: &Path, layout: &Layout, found: &str) -> Error {
    Error::parse(
        path,
        format!(
            "the header promises {} numbers of type {} in {} bytes, but {found}; the file is cut off or still being written: save it again",
            layout.shape, layout.dtype.name, layout.n_bytes
        ),
    )
}

fn only(found: u64) -> String {
    format!("only {found} bytes follow it")
}
