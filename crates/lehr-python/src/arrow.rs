//! Columns of data frames that export an Arrow stream (the PyCapsule protocol of polars, pyarrow and others).

#![allow(unsafe_code, reason = "a stream of Arrow's C interface comes as a pointer")]

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::data::Names;
use crate::errors::{data_error, raised};

/// The stream of a data frame.
fn stream(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream of Arrow's C interface, which `from_raw` takes over,
    // leaving an empty one behind, as the protocol asks.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    RecordBatchStreamReader::try_new(stream).map_err(|error| data_error(error.to_string()))
}

fn batches(reader: RecordBatchStreamReader) -> PyResult<Vec<RecordBatch>> {
    reader.map(|batch| batch.map_err(|error| data_error(error.to_string()))).collect()
}

/// All columns as rows of numbers, and their names; with `missing`, NaN where a cell is empty.
pub fn matrix(frame: &Bound<'_, PyAny>, missing: bool) -> PyResult<(Vec<f64>, Vec<String>)> {
    let reader = stream(frame)?;
    let names: Vec<String> =
        reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let batches = batches(reader)?;
    let n_rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let width = names.len();
    let n = n_rows.saturating_mul(width);
    raised(lehr::memory::room_for(&format!("a table of {n_rows} rows x {width} columns"), n))?;
    let mut values = vec![0.0; n];
    let mut first = 0;
    for batch in &batches {
        for (j, (column, name)) in batch.columns().iter().zip(&names).enumerate() {
            let mut see = |i: usize, x: f64| values[(first + i) * width + j] = x;
            numbers(column, name, missing, &mut see)?;
            (0..column.len()).filter(|&i| column.is_null(i)).for_each(|i| see(i, f64::NAN));
        }
        first += batch.num_rows();
    }
    Ok((values, names))
}

/// The columns of ratings.
pub fn ratings(
    frame: &Bound<'_, PyAny>,
    (user, item, rating): &(String, String, String),
    weight: Option<&String>,
) -> PyResult<Columns> {
    let batches = batches(stream(frame)?)?;
    let columns = |name: &String| -> PyResult<Vec<&dyn Array>> {
        let column = |batch: &RecordBatch| batch.schema().index_of(name).ok();
        batches
            .iter()
            .map(|batch| {
                let at =
                    column(batch).ok_or_else(|| data_error(format!("has no column {name}")))?;
                Ok(batch.column(at).as_ref())
            })
            .collect()
    };
    let all = |name: &String| -> PyResult<Vec<f32>> {
        let mut values = Vec::new();
        for column in columns(name)? {
            numbers(column, name, false, |_, x| values.push(x as f32))?;
        }
        Ok(values)
    };
    let ids = (names(&columns(user)?, user)?, names(&columns(item)?, item)?);
    Ok(Columns { ids, values: all(rating)?, weights: weight.map(all).transpose()? })
}

/// What they hold.
pub struct Columns {
    /// Users and items.
    pub ids: (Names, Names),
    /// The ratings.
    pub values: Vec<f32>,
    /// How much each counts, if there is such a column.
    pub weights: Option<Vec<f32>>,
}

/// Hands out the numbers of a column, any number for an empty cell if there may be some.
fn numbers(
    column: &dyn Array,
    name: &str,
    missing: bool,
    mut see: impl FnMut(usize, f64),
) -> PyResult<()> {
    if column.null_count() > 0 && !missing {
        return Err(data_error(format!(
            "column {name} has empty cells; fill them in or leave the rows out"
        )));
    }
    macro_rules! each {
        ($kind:ty) => {
            column.as_primitive::<$kind>().values().iter().enumerate().for_each(|(i, &x)| {
                see(i, x as f64);
            })
        };
    }
    match column.data_type() {
        DataType::Float64 => each!(Float64Type),
        DataType::Float32 => each!(Float32Type),
        DataType::Int8 => each!(Int8Type),
        DataType::Int16 => each!(Int16Type),
        DataType::Int32 => each!(Int32Type),
        DataType::Int64 => each!(Int64Type),
        DataType::UInt8 => each!(UInt8Type),
        DataType::UInt16 => each!(UInt16Type),
        DataType::UInt32 => each!(UInt32Type),
        DataType::UInt64 => each!(UInt64Type),
        DataType::Boolean => {
            let values = column.as_boolean().values();
            values.iter().enumerate().for_each(|(i, x)| see(i, f64::from(u8::from(x))));
        }
        other => {
            return Err(data_error(format!("column {name} is {other}; numbers are needed")));
        }
    }
    Ok(())
}

/// The names in a column that may come in parts.
fn names(parts: &[&dyn Array], name: &str) -> PyResult<Names> {
    let mut texts: Vec<String> = Vec::new();
    let mut integers: Vec<i64> = Vec::new();
    for part in parts {
        if part.null_count() > 0 {
            return Err(data_error(format!("column {name} has empty cells; leave the rows out")));
        }
        macro_rules! add {
            ($kind:ty) => {
                integers.extend(part.as_primitive::<$kind>().values().iter().map(|&x| i64::from(x)))
            };
        }
        match part.data_type() {
            DataType::Utf8 => {
                texts.extend(part.as_string::<i32>().iter().flatten().map(String::from))
            }
            DataType::LargeUtf8 => {
                texts.extend(part.as_string::<i64>().iter().flatten().map(String::from));
            }
            DataType::Utf8View => {
                texts.extend(part.as_string_view().iter().flatten().map(String::from));
            }
            DataType::Int8 => add!(Int8Type),
            DataType::Int16 => add!(Int16Type),
            DataType::Int32 => add!(Int32Type),
            DataType::Int64 => add!(Int64Type),
            DataType::UInt8 => add!(UInt8Type),
            DataType::UInt16 => add!(UInt16Type),
            DataType::UInt32 => add!(UInt32Type),
            // Categories: numbers of names.
            DataType::Dictionary(_, _) => {
                let coded = part.as_any_dictionary();
                let keys = coded.normalized_keys();
                match names(&[coded.values().as_ref()], name)? {
                    Names::Texts(all) => texts.extend(keys.iter().map(|&key| all[key].clone())),
                    Names::Integers(all) => integers.extend(keys.iter().map(|&key| all[key])),
                }
            }
            other => {
                return Err(data_error(format!(
                    "column {name} is {other}; ids are integers or strings"
                )));
            }
        }
    }
    Ok(if texts.is_empty() { Names::Integers(integers) } else { Names::Texts(texts) })
}
