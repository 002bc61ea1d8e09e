//! Writes a table as Parquet, one column of one row group in memory at a time.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::blocks::Blocks;
use super::table::{OutTable, Values};

const ROWS_PER_GROUP: usize = 1 << 17;

/// Row groups that go to a file.
pub(super) struct Groups<'f> {
    file: Option<&'f mut File>,
    /// Once the columns are known.
    writer: Option<SerializedFileWriter<&'f mut File>>,
    buffer: Vec<f64>,
}

impl<'f> Groups<'f> {
    pub(super) fn new(file: &'f mut File) -> Self {
        Groups { file: Some(file), writer: None, buffer: Vec::new() }
    }

    fn write(&mut self, table: &OutTable<'_>) -> Result<(), ParquetError> {
        if let Some(file) = self.file.take() {
            self.writer = Some(begun(file, table)?);
        }
        let Some(writer) = &mut self.writer else {
            return Err(ParquetError::General("the file could not be started".into()));
        };
        for first in (0..table.n_rows).step_by(ROWS_PER_GROUP) {
            let rows = first..(first + ROWS_PER_GROUP).min(table.n_rows);
            write_group(writer, table, rows, &mut self.buffer)?;
        }
        Ok(())
    }
}

impl Blocks for Groups<'_> {
    fn add(&mut self, block: &OutTable<'_>) -> io::Result<()> {
        self.write(block).map_err(plain)
    }

    fn end(self: Box<Self>) -> io::Result<()> {
        match self.writer {
            Some(writer) => writer.close().map(drop).map_err(plain),
            None => Ok(()),
        }
    }
}

/// What went wrong with the file, if that was it.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

/// A file with these columns, and no rows yet.
fn begun<'f>(
    file: &'f mut File,
    table: &OutTable<'_>,
) -> Result<SerializedFileWriter<&'f mut File>, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false);
    let mut fields = Vec::new();
    let mut names = table.names.iter();
    for column in table.columns {
        let (physical, width) = match column.values {
            Values::I64(_) => (Physical::INT64, 1),
            Values::F64(_) => (Physical::DOUBLE, 1),
            Values::Text(_) => (Physical::BYTE_ARRAY, 1),
            Values::Matrix { width, .. } => (Physical::DOUBLE, width),
        };
        for name in names.by_ref().take(width) {
            if physical != Physical::DOUBLE {
                // Labels repeat, floats hardly ever do.
                let path = ColumnPath::new(vec![name.clone()]);
                properties = properties.set_column_dictionary_enabled(path, true);
            }
            let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
            let field = Type::primitive_type_builder(name, physical).with_logical_type(text);
            fields.push(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?));
        }
    }
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

fn write_group(
    writer: &mut SerializedFileWriter<&mut File>,
    table: &OutTable<'_>,
    rows: Range<usize>,
    buffer: &mut Vec<f64>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in table.columns {
        match column.values {
            Values::F64(values) => write_floats(&mut group, &values[rows.clone()])?,
            Values::I64(values) => {
                let mut chunk = next_column(&mut group)?;
                chunk.typed::<Int64Type>().write_batch(&values[rows.clone()], None, None)?;
                chunk.close()?;
            }
            Values::Text(values) => {
                let texts: Vec<ByteArray> =
                    values[rows.clone()].iter().map(|text| text.as_str().into()).collect();
                let mut chunk = next_column(&mut group)?;
                chunk.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                chunk.close()?;
            }
            Values::Matrix { values, width } => {
                let block = &values[rows.start * width..rows.end * width];
                for k in 0..width {
                    buffer.clear();
                    buffer.extend(block.iter().skip(k).step_by(width));
                    write_floats(&mut group, buffer)?;
                }
            }
        }
    }
    group.close()?;
    Ok(())
}

type Group<'a, 'f> = SerializedRowGroupWriter<'a, &'f mut File>;

fn write_floats(group: &mut Group<'_, '_>, values: &[f64]) -> Result<(), ParquetError> {
    let mut chunk = next_column(group)?;
    chunk.typed::<DoubleType>().write_batch(values, None, None)?;
    chunk.close()
}

fn next_column<'g>(
    group: &'g mut Group<'_, '_>,
) -> Result<parquet::file::writer::SerializedColumnWriter<'g>, ParquetError> {
    let ended = || ParquetError::General("the row group has too few columns".into());
    group.next_column()?.ok_or_else(ended)
}
