//! Ratings in Parquet files, written on the spot.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use lehr::write::{self, Column};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

enum Values<'a> {
    Texts(&'a [&'a [u8]]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

/// Writes a row group of the columns that `schema` names; levels tell which rows have a value.
fn write_parquet(path: &Path, schema: &str, columns: &[(Values<'_>, Option<&[i16]>)]) {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (values, levels) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        match values {
            Values::Texts(texts) => {
                let texts: Vec<_> =
                    texts.iter().map(|&text| ByteArray::from(text.to_vec())).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, *levels, None).map(|_| ())
            }
            Values::I32(all) => {
                column.typed::<Int32Type>().write_batch(all, *levels, None).map(|_| ())
            }
            Values::I64(all) => {
                column.typed::<Int64Type>().write_batch(all, *levels, None).map(|_| ())
            }
            Values::F32(all) => {
                column.typed::<FloatType>().write_batch(all, *levels, None).map(|_| ())
            }
            Values::F64(all) => {
                column.typed::<DoubleType>().write_batch(all, *levels, None).map(|_| ())
            }
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

const SCHEMA: &str = "REQUIRED BINARY user (UTF8); REQUIRED INT64 item_id; REQUIRED INT32 rating;";

fn fault_in(schema: &str, columns: &[(Values<'_>, Option<&[i16]>)]) -> String {
    let folder = Folder::new();
    let path = folder.path("r.parquet");
    write_parquet(&path, schema, columns);
    folder.fault(read::ratings(&path, &RatingsOptions::default()))
}

#[test]
fn integers_of_our_own_tables_are_read_over_row_groups() {
    let folder = Folder::new();
    let path = folder.path("r.parquet");
    let n = 300_000;
    let user: Vec<i64> = (0..n).map(|n| n * 31 % 5003).collect();
    let item: Vec<i64> = (0..n).map(|n| n - 7).collect();
    let value: Vec<f64> = (0..n).map(|n| (n % 9) as f64 / 2.0).collect();
    let columns =
        [Column::f64("score", &value), Column::i64("userId", &user), Column::i64("track", &item)];
    write::table(&path, &columns).unwrap();
    let csv = folder.path("r.csv");
    write::table(&csv, &columns).unwrap();
    let options = RatingsOptions::default();
    let read = |path| read::ratings(path, &options).unwrap();
    assert_eq!(read(&path).n_ratings(), 300_000);
    assert_eq!(read(&path).fingerprint(), read(&csv).fingerprint());
}

#[test]
fn texts_and_small_numbers_are_read() {
    let folder = Folder::new();
    let path = folder.path("r");
    let users = Values::Texts(&[b"a, b", "é".as_bytes(), b"7", b"007"]);
    let columns =
        [(users, None), (Values::I64(&[9, 8, 9, 9]), None), (Values::I32(&[1, 2, 3, -4]), None)];
    write_parquet(&path, SCHEMA, &columns);
    let ratings = read::ratings(&path, &RatingsOptions::default()).unwrap();
    assert_eq!(
        triples(&ratings),
        expected(&[("a, b", "9", 1.0), ("é", "8", 2.0), ("7", "9", 3.0), ("007", "9", -4.0)])
    );
    let schema = "REQUIRED INT32 u (UINT_32); OPTIONAL INT64 v; REQUIRED FLOAT w;";
    let full: &[i16] = &[1, 1];
    let columns = [
        (Values::I32(&[-1, 1]), None),
        (Values::I64(&[3, 4]), Some(full)),
        (Values::F32(&[0.1, 2.0]), None),
    ];
    write_parquet(&path, schema, &columns);
    let ratings = read::ratings(&path, &super::columns("u", "2", "w")).unwrap();
    assert_eq!(triples(&ratings), expected(&[("4294967295", "3", 0.1), ("1", "4", 2.0)]));
}

#[test]
fn bad_rows_and_columns_are_named() {
    let three = |users: Values<'static>, ratings: &'static [i32]| {
        [(users, None), (Values::I64(&[1, 1]), None), (Values::I32(ratings), None)]
    };
    assert_eq!(
        fault_in(SCHEMA, &three(Values::Texts(&[b"a", b""]), &[1, 2])),
        "r.parquet: row 2, column user: the user is empty; every rating needs one: fill it in or leave the line out"
    );
    assert_eq!(
        fault_in(SCHEMA, &three(Values::Texts(&[b"a", b"\xff"]), &[1, 2])),
        "r.parquet: row 2, column user: the user \"\u{fffd}\" is not UTF-8; save the file as UTF-8 and try again"
    );
    assert_eq!(
        fault_in(SCHEMA, &three(Values::Texts(&[b"a", b"a"]), &[1, 2])),
        "r.parquet: user a rated item 1 twice: 1 (row 1) and 2 (row 2); take one out, or average them with `duplicates = mean`"
    );
    assert_eq!(
        fault_in(
            SCHEMA,
            &[(Values::Texts(&[]), None), (Values::I64(&[]), None), (Values::I32(&[]), None)]
        ),
        "r.parquet: has no ratings; give a file with at least one rating"
    );
    let floats = "REQUIRED INT64 user; REQUIRED INT64 item; REQUIRED DOUBLE rating;";
    let with = |values: &'static [f64]| {
        fault_in(
            floats,
            &[(Values::I64(&[1]), None), (Values::I64(&[1]), None), (Values::F64(values), None)],
        )
    };
    assert!(
        with(&[f64::NAN])
            .starts_with("r.parquet: row 1, column rating: found NaN, which is not finite")
    );
    assert!(
        with(&[-1e39])
            .starts_with("r.parquet: row 1, column rating: found -1e39, which is too large")
    );
    let gaps: &[i16] = &[1, 0];
    assert_eq!(
        fault_in(
            "REQUIRED INT64 user; OPTIONAL INT64 item; REQUIRED INT32 rating;",
            &[
                (Values::I64(&[1, 2]), None),
                (Values::I64(&[1]), Some(gaps)),
                (Values::I32(&[1, 1]), None)
            ],
        ),
        "r.parquet: row 2, column item: the value is missing (null); fill it in or leave the row out"
    );
    assert_eq!(
        fault_in(
            "REQUIRED INT64 user (UINT_64); REQUIRED INT64 item; REQUIRED INT32 rating;",
            &[(Values::I64(&[-1]), None), (Values::I64(&[1]), None), (Values::I32(&[1]), None)],
        ),
        "r.parquet: row 1, column user: the user is 2^63 - 1 or more; store ids as text"
    );
    assert_eq!(
        fault_in(
            "REQUIRED DOUBLE user; REQUIRED INT64 item; REQUIRED INT32 rating;",
            &[(Values::F64(&[1.0]), None), (Values::I64(&[1]), None), (Values::I32(&[1]), None)],
        ),
        "r.parquet: column user does not hold integers or text but floats; convert it, or say which column holds the users with `user`"
    );
    assert_eq!(
        fault_in(
            "REQUIRED INT64 user; REQUIRED INT64 item; REQUIRED BINARY rating (UTF8);",
            &[(Values::I64(&[1]), None), (Values::I64(&[1]), None), (Values::Texts(&[b"5"]), None)],
        ),
        "r.parquet: column rating does not hold numbers but text or bytes; convert it, or say which column holds the ratings with `rating`"
    );
    assert_eq!(
        fault_in(
            "REQUIRED INT64 a; REQUIRED INT64 item; REQUIRED INT64 rating;",
            &[(Values::I64(&[1]), None), (Values::I64(&[1]), None), (Values::I64(&[1]), None)],
        ),
        "r.parquet: the columns are a, item, rating and none of them is known to be the user; say which is what with `user`, `item` and `rating`"
    );
}

#[test]
fn what_is_not_whole_is_refused() {
    let folder = Folder::new();
    let path = folder.path("whole.parquet");
    let columns =
        [(Values::Texts(&[b"a"]), None), (Values::I64(&[9]), None), (Values::I32(&[1]), None)];
    write_parquet(&path, SCHEMA, &columns);
    let bytes = std::fs::read(&path).unwrap();
    for length in 12..bytes.len() {
        let found = fault("r.parquet", &bytes[..length]);
        assert!(found.contains("is damaged or cut off"), "{found}");
    }
    for at in 4..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        let path = folder.file("r.parquet", &bytes);
        let _ = read::ratings(&path, &RatingsOptions::default());
    }
    assert!(fault("r.parquet.gz", gzip(&bytes)).contains("is Parquet that is gzipped"));
    assert!(
        fault("r.parquet", "1,2,3\n")
            .contains("is not a Parquet file although it is named .parquet")
    );
}
