//! Points from Parquet files.

use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// Two rows of every type that is read, and one that is not.
fn mixed(y: [f64; 2], present: [i16; 2]) -> Vec<u8> {
    let schema = "message schema {
        REQUIRED BYTE_ARRAY id (UTF8); REQUIRED FLOAT x; OPTIONAL DOUBLE y; REQUIRED INT32 i;
        REQUIRED INT64 j; REQUIRED BOOLEAN b; REQUIRED INT32 u (UINT_32); REQUIRED INT32 day (DATE);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut at = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        let y = &y[..present.iter().map(|&p| p as usize).sum()];
        match at {
            0 => column.typed::<ByteArrayType>().write_batch(
                &[ByteArray::from("a"), ByteArray::from("b")],
                None,
                None,
            ),
            1 => column.typed::<FloatType>().write_batch(&[0.5, 1.5], None, None),
            2 => column.typed::<DoubleType>().write_batch(y, Some(&present), None),
            3 => column.typed::<Int32Type>().write_batch(&[-3, 4], None, None),
            4 => column.typed::<Int64Type>().write_batch(&[-5, 6], None, None),
            5 => column.typed::<BoolType>().write_batch(&[true, false], None, None),
            6 => column.typed::<Int32Type>().write_batch(&[-1, 7], None, None),
            _ => column.typed::<Int32Type>().write_batch(&[19000, 19001], None, None),
        }
        .unwrap();
        column.close().unwrap();
        at += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn every_type_of_number_is_read() {
    let points = read_as("a.parquet", mixed([2.5, 3.5], [1, 1]), &options(&[], &["id", "8"], None));
    assert_eq!(points.names(), ["x", "y", "i", "j", "b", "u"]);
    let second = [1.5, 3.5, 4.0, 6.0, 0.0, 7.0];
    let first = [0.5, 2.5, -3.0, -5.0, 1.0, 4294967295.0];
    assert_eq!(numbers(&points), [first, second].concat());
    let points = read_as("a", mixed([2.5, 3.5], [1, 1]), &options(&["y", "x"], &[], Some("b")));
    assert_eq!(
        (numbers(&points), points.weights()),
        (vec![2.5, 0.5, 3.5, 1.5], Some(&[1.0, 0.0][..]))
    );
}

#[test]
fn what_is_not_a_number_is_named() {
    let of = |y, present, columns: &[&str], weight| {
        fault_of("a.parquet", mixed(y, present), &options(columns, &[], weight))
    };
    let y = [2.5, 3.5];
    assert_eq!(
        of(y, [1, 1], &[], None),
        "a.parquet: columns id (text or bytes), day (dates, times or decimals) do not hold numbers; leave them out (`drop = id,day`), or choose others with `columns`"
    );
    assert_eq!(
        of(y, [1, 1], &["x", "id"], None),
        "a.parquet: column id does not hold numbers but text or bytes; leave it out with `drop`, or choose others with `columns`"
    );
    assert_eq!(
        of(y, [1, 1], &["x", "day"], None),
        "a.parquet: column day does not hold numbers but dates, times or decimals; leave it out with `drop`, or choose others with `columns`"
    );
    assert_eq!(
        of(y, [1, 0], &["x", "y"], None),
        "a.parquet: row 2, column y: the value is missing (null); fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)"
    );
    assert_eq!(
        of([2.5, f64::NAN], [1, 1], &["x", "y"], None),
        "a.parquet: row 2, column y: found NaN, a missing value; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)"
    );
    assert_eq!(
        of(y, [1, 1], &["x"], Some("i")),
        "a.parquet: row 1, column i: the weight is -3; a weight must be finite and not negative"
    );
    assert_eq!(
        of(y, [1, 1], &["z"], None),
        "a.parquet: `columns` asks for column \"z\", which is not there; the columns are id, x, y, i, j, b, u, day; give a name or a number from 1 to 8"
    );
}

#[test]
fn a_damaged_file_is_refused_and_never_a_panic() {
    let whole = mixed([2.5, 3.5], [1, 1]);
    let text = fault("a.parquet", &whole[..whole.len() / 2]);
    // The words in brackets are the library's.
    assert!(text.starts_with("a.parquet: is damaged or cut off ("), "{text}");
    assert!(text.ends_with("); write it again or convert it to .npy"), "{text}");
    assert_eq!(
        fault("a.parquet.gz", gzip(&whole)),
        "a.parquet.gz: is Parquet that is gzipped or comes from a pipe; give it as a plain file"
    );
    let folder = Folder::new();
    for at in 4..whole.len() {
        for flip in [0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let path = folder.file("b.parquet", bytes);
            let _ = read::points(&path, &options(&[], &["id", "day"], None));
        }
    }
}

#[test]
fn a_file_without_rows_is_refused() {
    let folder = Folder::new();
    let path = folder.path("a.parquet");
    write::table(&path, &[Column::f64("x", &[])]).unwrap();
    assert_eq!(
        folder.fault(read::points(&path, &PointsOptions::default())),
        "a.parquet: has no rows; give a file with at least one row of numbers"
    );
}

/// A file with a null and a NaN in its second column.
pub fn with_gaps(folder: &Folder) -> PathBuf {
    let schema = "message schema { REQUIRED INT32 x; OPTIONAL DOUBLE y; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[1, 2, 3, 4], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let (values, present) = ([2.5, f64::NAN, 4.5], [1, 0, 1, 1]);
    column.typed::<DoubleType>().write_batch(&values, Some(&present), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    folder.file("a.parquet", bytes)
}
