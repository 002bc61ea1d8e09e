//! Reads Parquet files column by column into rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

use super::parquet_file::Opened;
use super::select::{ColumnRef, Selection};
use super::source::Source;
use super::{Missing, PointsOptions, finish, missing};
use crate::data::{Points, weight_fault};
use crate::error::{Advice, advice, setting};
use crate::math::stop;
use crate::{Error, Result};

/// How many rows of one column are decoded at a time.
const BATCH: usize = 1 << 14;

pub(super) fn read(source: Source<'_>, options: &PointsOptions) -> Result<Points> {
    guarded(source.path, || read_columns(source, options))
}

/// Runs a reader. The library panics on some damaged pages, e.g. if their dictionary is missing;
/// nothing of ours outlives such a panic, so it becomes an ordinary error.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
        Err(damaged(path, ParquetError::General(text.into())))
    })
}

fn read_columns(source: Source<'_>, options: &PointsOptions) -> Result<Points> {
    let path = source.path;
    let damaged = |error| damaged(path, error);
    let mut opened = Opened::new(&source)?;
    let columns = opened.reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let names = columns.iter().map(|column| column.path().string()).collect();
    let selection = Selection::new(path, options, columns.len(), names)?;
    check_types(path, &selection, &columns)?;

    let (values, weights) = (Vec::new(), Vec::new());
    let missing = options.missing;
    let mut table = ParquetTable { path, selection: &selection, missing, values, weights };
    let chosen: Vec<usize> =
        (0..columns.len()).filter(|&at| selection.places[at] != ColumnRef::Skip).collect();
    let n_dims = selection.kept.len();
    let mut n_items = 0;
    for g in 0..opened.reader.num_row_groups() {
        let n_values = opened.check_group(g, &chosen)?;
        // If memory cannot be had, the vector grows as rows come.
        let _ = table.values.try_reserve_exact(n_values);
        let group = opened.reader.get_row_group(g).map_err(damaged)?;
        let mut n_rows = None;
        for (at, described) in columns.iter().enumerate() {
            if selection.places[at] == ColumnRef::Skip {
                continue;
            }
            let column = group.get_column_reader(at).map_err(damaged)?;
            let unsigned = is_unsigned(described);
            let read =
                table.read_chunk(column, unsigned, described.max_def_level(), at, n_items)?;
            if *n_rows.get_or_insert(read) != read {
                return Err(damaged(ParquetError::General(format!(
                    "column {} has {read} rows where others have {}",
                    selection.label(at),
                    n_rows.unwrap_or(0)
                ))));
            }
        }
        n_items += n_rows.unwrap_or(0);
    }
    if n_items == 0 {
        return Err(Error::parse(
            path,
            "has no rows; give a file with at least one row of numbers",
        ));
    }
    let ParquetTable { mut values, weights, .. } = table;
    values.shrink_to_fit();
    let points = Points::from_checked(values, n_dims);
    finish(path, points, weights, &selection, missing)
}

/// The numbers read so far.
struct ParquetTable<'a> {
    path: &'a Path,
    selection: &'a Selection,
    missing: Missing,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl ParquetTable<'_> {
    /// Reads one column of one row group into the rows from `first` on; the number of its rows.
    fn read_chunk(
        &mut self,
        column: ColumnReader,
        unsigned: bool,
        full: i16,
        at: usize,
        first: usize,
    ) -> Result<usize> {
        match column {
            ColumnReader::DoubleColumnReader(c) => self.read_typed(c, |v| v, full, at, first),
            ColumnReader::FloatColumnReader(c) => self.read_typed(c, f64::from, full, at, first),
            ColumnReader::BoolColumnReader(c) => {
                self.read_typed(c, |v| f64::from(u8::from(v)), full, at, first)
            }
            ColumnReader::Int32ColumnReader(c) if unsigned => {
                self.read_typed(c, |v| f64::from(v.cast_unsigned()), full, at, first)
            }
            ColumnReader::Int32ColumnReader(c) => self.read_typed(c, f64::from, full, at, first),
            ColumnReader::Int64ColumnReader(c) if unsigned => {
                self.read_typed(c, |v| v.cast_unsigned() as f64, full, at, first)
            }
            ColumnReader::Int64ColumnReader(c) => self.read_typed(c, |v| v as f64, full, at, first),
            _ => unreachable!("check_type refuses every other type"),
        }
    }

    fn read_typed<T: DataType>(
        &mut self,
        mut column: ColumnReaderImpl<T>,
        wide: impl Fn(T::T) -> f64,
        full: i16,
        at: usize,
        first: usize,
    ) -> Result<usize> {
        let (mut levels, mut batch) = (Vec::new(), Vec::new());
        let mut n_rows = 0;
        loop {
            stop::check();
            levels.clear();
            batch.clear();
            let read = column.read_records(BATCH, Some(&mut levels), None, &mut batch);
            let (read, n_present, _) = read.map_err(|error| damaged(self.path, error))?;
            if read == 0 {
                return Ok(n_rows);
            }
            let mut values = batch.drain(..);
            for i in 0..read {
                // Without levels every value is there.
                let is_null = n_present < read && levels.get(i).is_none_or(|&level| level < full);
                let n = first + n_rows + i;
                match if is_null { None } else { values.next() } {
                    Some(value) => self.place(n, at, wide(value))?,
                    None => self.place_null(n, at)?,
                }
            }
            drop(values);
            n_rows += read;
        }
    }

    fn place_null(&mut self, n: usize, at: usize) -> Result<()> {
        match self.selection.places[at] {
            ColumnRef::Weight => {
                let said = "the weight is missing (null); every row needs one: fill it in, or give 0 to a \
                            row that does not count";
                Err(self.fault(n + 1, at, said))
            }
            _ if self.missing.allows_gaps() => self.place(n, at, f64::NAN),
            _ => Err(self.fault(n + 1, at, missing::refused("the value is missing (null)"))),
        }
    }

    fn place(&mut self, n: usize, at: usize, value: f64) -> Result<()> {
        let n_dims = self.selection.kept.len();
        match self.selection.places[at] {
            ColumnRef::Skip => {}
            ColumnRef::Weight => match weight_fault(value) {
                None => self.weights.push(value),
                Some(fault) => return Err(self.fault(n + 1, at, fault)),
            },
            ColumnRef::Value(d) => {
                if !(value.is_finite() || (value.is_nan() && self.missing.allows_gaps())) {
                    return Err(self.fault(n + 1, at, missing::not_finite(value)));
                }
                if self.values.len() < (n + 1) * n_dims {
                    self.values.resize((n + 1) * n_dims, 0.0);
                }
                self.values[n * n_dims + d] = value;
            }
        }
        Ok(())
    }

    fn fault(&self, row: usize, at: usize, said: impl Into<Advice>) -> Error {
        let column = self.selection.label(at);
        Error::parse(self.path, said.into().behind(format!("row {row}, column {column}: ")))
    }
}

/// Whether the chosen columns hold numbers; those that do not are reported all at once.
fn check_types(
    path: &Path,
    selection: &Selection,
    columns: &[Arc<ColumnDescriptor>],
) -> Result<()> {
    let is_number = |column: &ColumnDescriptor| match column.physical_type() {
        _ if column.max_rep_level() > 0 => false,
        Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE => true,
        Physical::INT32 | Physical::INT64 => is_integer(column),
        _ => false,
    };
    let chosen = (0..columns.len()).filter(|&at| selection.places[at] != ColumnRef::Skip);
    let others: Vec<usize> = chosen.filter(|&at| !is_number(&columns[at])).collect();
    let holds = |&at: &usize| (selection.label(at), type_name(&columns[at]));
    let message = match others.as_slice() {
        [] => return Ok(()),
        [at] => {
            let (label, holds) = holds(at);
            advice![
                format!("column {label} does not hold numbers but {holds}; leave it out with "),
                setting("drop"),
                ", or choose others with ",
                setting("columns"),
            ]
        }
        several => {
            let shown: Vec<_> =
                several.iter().map(holds).map(|(l, h)| format!("{l} ({h})")).collect();
            advice![
                format!("columns {} do not hold numbers; leave them out (", shown.join(", ")),
                setting("drop").to(selection.to_drop(several)),
                "), or choose others with ",
                setting("columns"),
            ]
        }
    };
    Err(Error::parse(path, message))
}

/// Whether the stored integer is the number itself and not a date, a time or a scaled decimal.
pub(super) fn is_integer(column: &ColumnDescriptor) -> bool {
    match column.logical_type_ref() {
        Some(LogicalType::Integer(_)) => true,
        Some(_) => false,
        None => !matches!(
            column.converted_type(),
            ConvertedType::DATE
                | ConvertedType::DECIMAL
                | ConvertedType::TIME_MILLIS
                | ConvertedType::TIME_MICROS
                | ConvertedType::TIMESTAMP_MILLIS
                | ConvertedType::TIMESTAMP_MICROS
        ),
    }
}

pub(super) fn is_unsigned(column: &ColumnDescriptor) -> bool {
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            column.converted_type(),
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        ),
    }
}

pub(super) fn type_name(column: &ColumnDescriptor) -> &'static str {
    match column.physical_type() {
        _ if column.max_rep_level() > 0 => "lists",
        Physical::INT32 | Physical::INT64 => "dates, times or decimals",
        Physical::INT96 => "times",
        Physical::FIXED_LEN_BYTE_ARRAY => "bytes",
        _ => "text or bytes",
    }
}

pub(super) fn damaged(path: &Path, error: ParquetError) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    Error::parse(
        path,
        format!("is damaged or cut off ({text}); write it again or convert it to .npy"),
    )
}
