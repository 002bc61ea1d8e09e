//! Columns of a Parquet file whose values are integers, floats or strings.

use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::schema::types::ColumnDescriptor;

use super::parquet::{damaged, is_integer, is_unsigned};
use crate::math::stop;
use crate::{Error, Result};

/// How many rows of one column are decoded at a time.
const BATCH: usize = 1 << 14;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integers,
    Floats,
    Texts,
}

impl Kind {
    /// `None` for what is none of these, e.g. dates.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
        match column.physical_type() {
            _ if column.max_rep_level() > 0 => None,
            Physical::INT32 | Physical::INT64 if is_integer(column) => Some(Kind::Integers),
            Physical::FLOAT | Physical::DOUBLE => Some(Kind::Floats),
            Physical::BYTE_ARRAY => Some(Kind::Texts),
            _ => None,
        }
    }
}

/// Some rows of one column.
pub(super) enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Values::Integers(values) => values.len(),
            Values::Floats(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }
}

/// Where rows of a column stand, for those who have to fix it.
pub(super) struct CellPlace<'a> {
    pub path: &'a Path,
    pub column: &'a str,
    /// The rows before it.
    pub first: usize,
}

impl CellPlace<'_> {
    pub(super) fn fault(&self, i: usize, text: &str) -> Error {
        let row = self.first + i + 1;
        Error::parse(self.path, format!("row {row}, column {}: {text}", self.column))
    }
}

/// All rows of one column of a row group.
pub(super) fn values(
    mut column: ColumnReader,
    described: &ColumnDescriptor,
    place: &CellPlace<'_>,
) -> Result<Values> {
    next_values(&mut column, described, place, usize::MAX)
}

/// The next `most` rows of one column of a row group; fewer only at its end.
pub(super) fn next_values(
    column: &mut ColumnReader,
    described: &ColumnDescriptor,
    place: &CellPlace<'_>,
    most: usize,
) -> Result<Values> {
    let unsigned = is_unsigned(described);
    let rows = Rows { full: described.max_def_level(), place, most };
    Ok(match column {
        ColumnReader::Int32ColumnReader(c) => {
            let wide = |v: i32| if unsigned { i64::from(v.cast_unsigned()) } else { v.into() };
            Values::Integers(rows.typed(c, wide)?)
        }
        ColumnReader::Int64ColumnReader(c) => {
            let wide = |v: i64| if unsigned && v < 0 { i64::MAX } else { v };
            Values::Integers(rows.typed(c, wide)?)
        }
        ColumnReader::FloatColumnReader(c) => Values::Floats(rows.typed(c, f64::from)?),
        ColumnReader::DoubleColumnReader(c) => Values::Floats(rows.typed(c, |v| v)?),
        ColumnReader::ByteArrayColumnReader(c) => Values::Texts(rows.typed(c, |v| v)?),
        _ => unreachable!("Kind::of refuses every other type"),
    })
}

/// The next `most` strings of a column of a row group, `None` where a value is missing; fewer only at its end.
pub(super) fn next_texts(
    column: &mut ColumnReader,
    described: &ColumnDescriptor,
    path: &Path,
    most: usize,
) -> Result<Vec<Option<ByteArray>>> {
    let ColumnReader::ByteArrayColumnReader(column) = column else { return Ok(Vec::new()) };
    let full = described.max_def_level();
    let (mut levels, mut batch, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    while texts.len() < most {
        levels.clear();
        let wanted = BATCH.min(most - texts.len());
        let read = column.read_records(wanted, Some(&mut levels), None, &mut batch);
        let (read, n_present, _) = read.map_err(|error| damaged(path, error))?;
        if read == 0 {
            break;
        }
        let mut present = batch.drain(..);
        match n_present == read {
            true => texts.extend(present.map(Some)),
            false => texts.extend(
                levels.iter().map(|&level| if level < full { None } else { present.next() }),
            ),
        }
    }
    Ok(texts)
}

/// Which rows are wanted.
struct Rows<'a> {
    /// The level of a value that is there.
    full: i16,
    place: &'a CellPlace<'a>,
    most: usize,
}

impl Rows<'_> {
    fn typed<T: DataType, V>(
        &self,
        column: &mut ColumnReaderImpl<T>,
        wide: impl Fn(T::T) -> V,
    ) -> Result<Vec<V>> {
        let (mut levels, mut batch, mut values) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            stop::check();
            levels.clear();
            let wanted = BATCH.min(self.most - values.len());
            let read = column.read_records(wanted, Some(&mut levels), None, &mut batch);
            let (read, n_present, _) = read.map_err(|error| damaged(self.place.path, error))?;
            if n_present < read {
                let gap = levels.iter().position(|&level| level < self.full).unwrap_or(0);
                return Err(self.place.fault(
                    values.len() + gap,
                    "the value is missing (null); fill it in or leave the row out",
                ));
            }
            values.extend(batch.drain(..).map(&wide));
            if read == 0 || values.len() >= self.most {
                return Ok(values);
            }
        }
    }
}
