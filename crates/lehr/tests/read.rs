//! Files in, points out: every format, every refusal with its exact words, and the way back.

#[path = "common/files.rs"]
mod files;

use std::fs;
use std::path::{Path, PathBuf};

use lehr::data::{Points, Rows};
use lehr::read::{self, Header, PointsOptions};
use lehr::write::{self, Column};
use proptest::prelude::*;

use files::{Folder, gzip};

fn fault_of(name: &str, bytes: impl AsRef<[u8]>, options: &PointsOptions) -> String {
    let folder = Folder::new();
    folder.fault(read::points(&folder.file(name, bytes), options))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    fault_of(name, bytes, &PointsOptions::default())
}

fn read_as(name: &str, bytes: impl AsRef<[u8]>, options: &PointsOptions) -> Points {
    let folder = Folder::new();
    read::points(&folder.file(name, bytes), options).unwrap()
}

fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Points {
    read_as(name, bytes, &PointsOptions::default())
}

fn numbers(points: &Points) -> Vec<f64> {
    match points.rows() {
        Rows::F64(values) => values.to_vec(),
        Rows::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
    }
}

/// A .npy file of format version `major` with any header and body.
fn npy(major: u8, header: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([major, 0]);
    let prefix = if major == 1 { 10 } else { 12 };
    let width = (prefix + header.len() + 1).next_multiple_of(64) - prefix - 1;
    let text = format!("{header:<width$}\n");
    match major {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.bytes());
    bytes.extend(body);
    bytes
}

fn describe(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
}

fn f64_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn options(columns: &[&str], drop: &[&str], weight: Option<&str>) -> PointsOptions {
    let owned = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
    PointsOptions {
        columns: owned(columns),
        drop: owned(drop),
        weight_column: weight.map(Into::into),
        header: Header::Auto,
    }
}

mod text {
    use super::*;

    #[test]
    fn a_table_is_read_whatever_separates_it() {
        for (name, text) in [
            ("a.csv", "x,y\n1,2\n3,4\n"),
            ("a.csv", "x;y\r\n1;2\r\n3;4\r\n"),
            ("a.tsv", "x\ty\n1\t2\n3\t4"),
            ("a.txt", "  x   y\n  1   2\n  3   4  \n"),
            ("a.dat", "\"x\" \"y\"\n1 2\n3 4\n"),
            ("a", "\u{feff}x,y\n\n# comment, with words\n1, 2\n   \n\"3\",\"4\"\n\n"),
        ] {
            let points = read_file(name, text);
            assert_eq!(numbers(&points), [1.0, 2.0, 3.0, 4.0], "{text:?}");
            assert_eq!(points.names(), ["x", "y"], "{text:?}");
            assert_eq!((points.n_items(), points.n_dims()), (2, 2));
        }
    }

    #[test]
    fn names_are_told_from_numbers() {
        let points = read_file("a.csv", "1,2\n3,4\n");
        assert_eq!((points.n_items(), points.names().len()), (2, 0));
        let text = "1,2\n3,4\n";
        let points =
            read_as("a.csv", text, &PointsOptions { header: Header::Yes, ..Default::default() });
        assert_eq!(
            (numbers(&points), points.names()),
            (vec![3.0, 4.0], &["1".into(), "2".into()][..])
        );
        let none = PointsOptions { header: Header::No, ..Default::default() };
        assert_eq!(
            fault_of("a.csv", "x,y\n1,2\n", &none),
            "a.csv, line 1, column 1: found \"x\", which is not a number; mend the cell, or leave the column out with drop"
        );
    }

    #[test]
    fn columns_are_chosen_by_name_and_by_number() {
        let text = "id,x,y,w\na,1,2,3\n\"b\nc\",4,5,6\n";
        let chosen = |columns: &[&str], drop: &[&str], weight| {
            let points = read_as("a.csv", text, &options(columns, drop, weight));
            (numbers(&points), points.names().join(","), points.weights().map(<[f64]>::to_vec))
        };
        let all = (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "x,y,w".to_string(), None);
        assert_eq!(chosen(&[], &["id"], None), all);
        assert_eq!(chosen(&[], &["1"], None), all);
        assert_eq!(chosen(&["y", "2"], &[], None), (vec![2.0, 1.0, 5.0, 4.0], "y,x".into(), None));
        assert_eq!(
            chosen(&[], &["id"], Some("w")),
            (vec![1.0, 2.0, 4.0, 5.0], "x,y".into(), Some(vec![3.0, 6.0]))
        );
        assert_eq!(
            chosen(&["x"], &[], Some("4")),
            (vec![1.0, 4.0], "x".into(), Some(vec![3.0, 6.0]))
        );
    }

    #[test]
    fn gzipped_text_is_unpacked_whatever_its_name() {
        for name in ["a.csv.gz", "a.csv", "a"] {
            assert_eq!(numbers(&read_file(name, gzip("1,2\n3,4\n"))), [1.0, 2.0, 3.0, 4.0]);
        }
        let two_members = [gzip("1,2\n"), gzip("3,4\n")].concat();
        assert_eq!(read_file("a.csv.gz", two_members).n_items(), 2);
    }

    #[test]
    fn a_bad_cell_is_named_by_line_and_column() {
        for (text, expected) in [
            (
                "x,y\n1,\n",
                "a.csv, line 2, column y: the cell is empty; every cell must be a finite number: fill it in or leave the row out",
            ),
            (
                "x,y\r\n\r\n# note\r\n1,2\r\nNA,2\r\n",
                "a.csv, line 5, column x: found \"NA\", a missing value; every cell must be a finite number: fill it in or leave the row out",
            ),
            (
                "1,2\n3,abc\n",
                "a.csv, line 2, column 2: found \"abc\", which is not a number; mend the cell, or leave the column out with drop",
            ),
            (
                "1,2\n3,nan\n",
                "a.csv, line 2, column 2: found \"nan\", which is not finite; every cell must be a finite number: fill it in or leave the row out",
            ),
            (
                "1,2\n3,1e999\n",
                "a.csv, line 2, column 2: found \"1e999\", which is not finite; every cell must be a finite number: fill it in or leave the row out",
            ),
            (
                "x;y\n1,5;2\n",
                "a.csv, line 2, column x: found \"1,5\", which is not a number; write numbers with a decimal point, not a comma",
            ),
            (
                "NA,1\n2,3\n",
                "a.csv, line 1, column 1: found \"NA\", a missing value; every cell must be a finite number: fill it in or leave the row out",
            ),
            (
                "x,y\n\"1\n\n\",2\nz,3\n",
                "a.csv, line 5, column x: found \"z\", which is not a number; mend the cell, or leave the column out with drop",
            ),
        ] {
            assert_eq!(fault("a.csv", text), expected);
        }
    }

    #[test]
    fn a_ragged_row_is_counted() {
        assert_eq!(
            fault("a.csv", "x,y\n1,2\n\n3\n"),
            "a.csv, line 4: found 1 field, expected 2 as in line 1; the fields are separated by commas"
        );
        assert_eq!(
            fault("a.tsv", "# note\n1\t2\n1\t2\tx\n"),
            "a.tsv, line 3: found 3 fields, expected 2 as in line 2; the fields are separated by tabs"
        );
        assert_eq!(
            fault("a.txt", "1 2\n1 x 3\n"),
            "a.txt, line 2: found 3 fields, expected 2 as in line 1; the fields are separated by blanks"
        );
    }

    #[test]
    fn a_file_without_rows_is_refused() {
        let empty = "a.csv: is empty; give a file with at least one row of numbers";
        for text in ["", "\n\n", "# only a comment\n", "\u{feff}"] {
            assert_eq!(fault("a.csv", text), empty, "{text:?}");
        }
        assert_eq!(
            fault("a.csv", "x,y\n\n"),
            "a.csv: has a line of names but no rows; give at least one row of numbers"
        );
        assert_eq!(fault("a.csv.gz", gzip("")), empty.replace("a.csv", "a.csv.gz"));
    }

    #[test]
    fn an_unknown_column_is_answered_with_the_known_ones() {
        assert_eq!(
            fault_of("a.csv", "x,y\n1,2\n", &options(&[], &["z"], None)),
            "a.csv: drop asks for column \"z\", which is not there; the columns are x, y; give a name or a number from 1 to 2"
        );
        assert_eq!(
            fault_of("a.csv", "1,2\n", &options(&[], &[], Some("w"))),
            "a.csv: weight_column asks for column \"w\", which is not there; the columns have no names, only the numbers 1 to 2; give a name or a number from 1 to 2"
        );
    }

    #[test]
    fn weights_must_be_able_to_count() {
        let weighted = options(&[], &[], Some("w"));
        assert_eq!(
            fault_of("a.csv", "x,w\n1,1\n2,-0.5\n", &weighted),
            "a.csv, line 3, column w: the weight is -0.5; a weight must be finite and not negative"
        );
        assert_eq!(
            fault_of("a.csv", "x,w\n1,0\n2,0\n", &weighted),
            "a.csv: all weights are 0; at least one row must count"
        );
        assert!(fault_of("a.csv", "x,w\n1,inf\n", &weighted).contains("which is not finite"));
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        assert_eq!(
            fault("a.csv", b"\xff\xfe1\x00,\x00"),
            "a.csv: is text in UTF-16; save it as UTF-8 and try again"
        );
        assert_eq!(
            fault("a.xlsx", b"PK\x03\x04\x00\x00"),
            "a.xlsx: is neither text nor a known binary format; give one of .csv, .tsv, .txt (these and .npy may end in .gz), .npy or .parquet"
        );
        assert_eq!(
            fault("a.csv", "x,y\n\"1,2\n3,4\n"),
            "a.csv, line 2: a quote opened in this line is never closed; close it or take it out"
        );
    }
}

mod opening {
    use super::*;

    #[test]
    fn what_is_not_a_file_is_refused() {
        let folder = Folder::new();
        let none = PointsOptions::default();
        assert_eq!(
            folder.fault(read::points(&folder.path("a.csv"), &none)),
            "a.csv: there is no such file; check the name and the folder"
        );
        assert_eq!(
            folder.fault(read::points(&folder.path("x/a.csv"), &none)),
            "x/a.csv: there is no folder x; check the path"
        );
        fs::create_dir(folder.path("a.csv")).unwrap();
        assert_eq!(
            folder.fault(read::points(&folder.path("a.csv"), &none)),
            "a.csv: is a folder; give one file: .csv, .tsv, .txt (these and .npy may end in .gz), .npy or .parquet"
        );
    }

    #[test]
    fn a_damaged_gzip_is_refused() {
        let text: String = (0..2000).map(|n| format!("{n},{}\n", n * n)).collect();
        let whole = gzip(&text);
        let early = "a.csv.gz: the gzipped data end too early: the file is cut off or still being written; copy it again";
        for keep in [5, whole.len() / 2, whole.len() - 1] {
            assert_eq!(fault("a.csv.gz", &whole[..keep]), early, "{keep} bytes");
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let text = fault("a.csv.gz", flipped);
        // The words in brackets are the library's.
        assert!(text.starts_with("a.csv.gz: the gzipped data are damaged ("), "{text}");
        assert!(text.ends_with("); copy it again"), "{text}");
        assert_eq!(
            fault("a.csv.gz", "1,2\n"),
            "a.csv.gz: is not gzipped although its name ends in .gz; take .gz off the name if it is already unpacked"
        );
    }

    #[test]
    fn a_name_that_lies_is_told() {
        assert_eq!(
            fault("a.npy", "1,2\n3,4\n"),
            "a.npy: is not a NumPy file although it is named .npy: it starts with \"1,2\\n3,4\\n\", not with \"\\x93NUMPY\"; if it is text, name it .csv or .txt"
        );
        assert_eq!(
            fault("a.parquet", "x,y\n1,2\n3,4,5,6\n"),
            "a.parquet: is not a Parquet file although it is named .parquet: it starts with \"x,y\\n1,2\\n3,4,\", not with \"PAR1\"; if it is text, name it .csv or .txt"
        );
        let array = npy(1, &describe("'<f8'", false, "(1, 2)"), &f64_bytes(&[1.0, 2.0]));
        assert_eq!(numbers(&read_file("a.csv", array)), [1.0, 2.0]);
    }
}

mod array {
    use super::*;

    const VALUES: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

    fn c_order() -> Vec<u8> {
        npy(1, &describe("'<f8'", false, "(3, 2)"), &f64_bytes(&VALUES))
    }

    #[test]
    fn floats_in_c_order_are_mapped_and_not_copied() {
        for major in [1, 2, 3] {
            let points = read_file(
                "a.npy",
                npy(major, &describe("'<f8'", false, "(3, 2)"), &f64_bytes(&VALUES)),
            );
            assert!(points.is_mapped());
            assert!(matches!(points.rows(), Rows::F64(values) if values == VALUES));
        }
        let single: Vec<u8> = VALUES.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        let points = read_file("a.npy", npy(1, &describe("'<f4'", false, "(3, 2)"), &single));
        assert!(points.is_mapped());
        assert!(matches!(points.rows(), Rows::F32([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
        let mut row = [0.0; 2];
        points.copy_row(2, &mut row);
        assert_eq!(row, [5.0, 6.0]);
        assert_eq!(numbers(&points.subset(&[1])), [3.0, 4.0]);
    }

    #[test]
    fn every_other_layout_is_copied() {
        let fortran = f64_bytes(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        let fortran = npy(1, &describe("'<f8'", true, "(3, 2)"), &fortran);
        let big: Vec<u8> = VALUES.iter().flat_map(|v| v.to_be_bytes()).collect();
        let int: Vec<u8> = VALUES.iter().flat_map(|&v| (v as i32).to_le_bytes()).collect();
        for bytes in [
            fortran.clone(),
            npy(1, &describe("'>f8'", false, "(3, 2)"), &big),
            npy(1, &describe("'<i4'", false, "(3, 2)"), &int),
            gzip(c_order()),
            gzip(fortran),
        ] {
            let points = read_file("a.npy", bytes);
            assert!(!points.is_mapped());
            assert_eq!((points.n_items(), numbers(&points)), (3, VALUES.to_vec()));
        }
        let flags = npy(1, &describe("'|b1'", false, "(3,)"), &[1, 0, 1]);
        let points = read_file("a.npy", flags);
        assert_eq!((points.n_dims(), numbers(&points)), (1, vec![1.0, 0.0, 1.0]));
    }

    #[test]
    fn an_array_whose_numbers_are_off_the_grid_is_copied() {
        let header = describe("'<f8'", false, "(3, 2)");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        assert_ne!(bytes.len() % 8, 0);
        bytes.extend(f64_bytes(&VALUES));
        let points = read_file("a.npy", bytes);
        assert_eq!((points.is_mapped(), numbers(&points)), (false, VALUES.to_vec()));
    }

    #[test]
    fn columns_are_chosen_by_number() {
        let fortran = f64_bytes(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        for bytes in [c_order(), npy(1, &describe("'<f8'", true, "(3, 2)"), &fortran)] {
            let points = read_as("a.npy", &bytes, &options(&["2", "1"], &[], None));
            assert_eq!(
                (points.is_mapped(), numbers(&points)),
                (false, vec![2.0, 1.0, 4.0, 3.0, 6.0, 5.0])
            );
            let points = read_as("a.npy", &bytes, &options(&[], &[], Some("1")));
            assert_eq!(numbers(&points), [2.0, 4.0, 6.0]);
            assert_eq!(points.weights(), Some(&[1.0, 3.0, 5.0][..]));
        }
        assert_eq!(
            fault_of("a.npy", c_order(), &options(&["3"], &[], None)),
            "a.npy: columns asks for column \"3\", which is not there; the columns have no names, only the numbers 1 to 2; give a name or a number from 1 to 2"
        );
    }

    #[test]
    fn a_number_that_is_not_finite_is_found_in_every_layout() {
        let mut values = VALUES;
        values[3] = f64::NAN;
        let single: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        let body = f64_bytes(&values);
        let expected = "a.npy: row 2, column 2: found NaN; every number must be finite: fill it in or leave the row out";
        assert_eq!(fault("a.npy", npy(1, &describe("'<f8'", false, "(3, 2)"), &body)), expected);
        assert_eq!(fault("a.npy", npy(1, &describe("'<f4'", false, "(3, 2)"), &single)), expected);
        assert_eq!(
            fault("a.npy", gzip(npy(1, &describe("'<f8'", false, "(3, 2)"), &body))),
            expected
        );
        let expected = expected.replace("row 2, column 2", "row 1, column 2");
        assert_eq!(fault("a.npy", npy(1, &describe("'<f8'", true, "(3, 2)"), &body)), expected);
        let negative = npy(1, &describe("'|i1'", false, "(2, 2)"), &[1, 1, 1, 255]);
        assert_eq!(numbers(&read_file("a.npy", &negative)), [1.0, 1.0, 1.0, -1.0]);
        assert_eq!(
            fault_of("a.npy", &negative, &options(&[], &[], Some("2"))),
            "a.npy: row 2, column 2: the weight is -1; a weight must be finite and not negative"
        );
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let whole = c_order();
        let short = "the header promises 3 x 2 numbers of type <f8 in 48 bytes, but only 40 bytes follow it; the file is cut off or still being written: save it again";
        assert_eq!(fault("a.npy", &whole[..whole.len() - 8]), format!("a.npy: {short}"));
        assert_eq!(
            fault("a.npy.gz", gzip(&whole[..whole.len() - 8])),
            format!("a.npy.gz: {short}")
        );
        assert_eq!(
            fault("a.npy", &whole[..20]),
            "a.npy: ends inside its header; the file is cut off or still being written: save it again"
        );
        assert_eq!(
            fault("a.npy", npy(1, &describe("'<f8'", false, "(1000000000000, 4)"), &[0; 64])),
            "a.npy: the header promises 1000000000000 x 4 numbers of type <f8 in 32000000000000 bytes, but only 64 bytes follow it; the file is cut off or still being written: save it again"
        );
        let fortran = npy(1, &describe("'<f8'", true, "(1000000000000, 4)"), &[0; 64]);
        assert!(fault("a.npy.gz", gzip(fortran)).contains("but only 64 bytes follow it"));
        let overflow = npy(1, &describe("'<f8'", false, "(18446744073709551615, 2)"), &[0; 64]);
        assert_eq!(
            fault("a.npy", overflow),
            "a.npy: the .npy header is damaged: it has an array of 18446744073709551615 x 2 numbers, too large to exist; save it again with numpy.save"
        );
    }

    #[test]
    fn an_array_of_another_kind_is_refused() {
        let needed = "a 2-D array of floats, integers or booleans is needed: save it with numpy.save(file, array.astype(float))";
        let of = |descr, shape| fault("a.npy", npy(1, &describe(descr, false, shape), &[0; 64]));
        assert_eq!(of("'|O'", "(3, 2)"), format!("a.npy: holds Python objects; {needed}"));
        assert_eq!(
            of("'<U3'", "(3, 2)"),
            format!("a.npy: holds an array of type \"<U3\"; {needed}")
        );
        assert_eq!(
            of("[('x', '<f8')]", "(3,)"),
            format!("a.npy: holds an array of records; {needed}")
        );
        assert_eq!(
            of("'<f8'", "(2, 2, 2)"),
            format!("a.npy: holds an array of 3 dimensions; {needed}, with one row per item")
        );
        assert_eq!(
            of("'<f8'", "()"),
            format!("a.npy: holds an array of 0 dimensions; {needed}, with one row per item")
        );
        assert_eq!(
            of("'<f8'", "(0, 2)"),
            "a.npy: holds an array of 0 rows and 2 columns; at least one of each is needed"
        );
        let mut version = c_order();
        version[6] = 9;
        assert_eq!(
            fault("a.npy", version),
            "a.npy: has .npy format version 9; versions 1 to 3 are read: save it with numpy.save"
        );
    }
}

#[cfg(feature = "parquet")]
mod columnar {
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
        let points =
            read_as("a.parquet", mixed([2.5, 3.5], [1, 1]), &options(&[], &["id", "8"], None));
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
            "a.parquet: column id does not hold numbers but text or bytes; leave it out with drop, or choose others with columns"
        );
        assert_eq!(
            of(y, [1, 1], &["x", "day"], None),
            "a.parquet: column day does not hold numbers but dates, times or decimals; leave it out with drop, or choose others with columns"
        );
        assert_eq!(
            of(y, [1, 0], &["x", "y"], None),
            "a.parquet: row 2, column y: the value is missing (null); every value must be a finite number: fill it in or leave the row out"
        );
        assert_eq!(
            of([2.5, f64::NAN], [1, 1], &["x", "y"], None),
            "a.parquet: row 2, column y: found NaN; every number must be finite: fill it in or leave the row out"
        );
        assert_eq!(
            of(y, [1, 1], &["x"], Some("i")),
            "a.parquet: row 1, column i: the weight is -3; a weight must be finite and not negative"
        );
        assert_eq!(
            of(y, [1, 1], &["z"], None),
            "a.parquet: columns asks for column \"z\", which is not there; the columns are id, x, y, i, j, b, u, day; give a name or a number from 1 to 8"
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
            "a.parquet.gz: is Parquet that is gzipped or comes from a pipe; give it as a plain .parquet file"
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
}

/// Files that NumPy and PyArrow have written; see `make.py` beside them.
mod others {
    use super::*;

    const ROWS: [f64; 6] = [1.5, -2.0, 0.25, 8.0, 3.0, 1e-300];

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/read").join(name)
    }

    #[test]
    fn arrays_of_numpy_are_read() {
        for (name, mapped) in
            [("c_order.npy", true), ("fortran_order.npy", false), ("big_endian.npy", false)]
        {
            let points = read::points(&fixture(name), &PointsOptions::default()).unwrap();
            assert_eq!((points.is_mapped(), numbers(&points)), (mapped, ROWS.to_vec()), "{name}");
        }
        let fault = read::points(&fixture("objects.npy"), &PointsOptions::default()).unwrap_err();
        assert!(fault.to_string().contains("objects.npy: holds Python objects; a 2-D array"));
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn tables_of_pyarrow_are_read_whatever_packs_them() {
        for name in ["zstd", "snappy", "gzip", "lz4", "none", "pages_v2"] {
            let path = fixture(&format!("{name}.parquet"));
            let points = read::points(&path, &options(&["x", "y"], &[], Some("count"))).unwrap();
            assert_eq!(numbers(&points), ROWS, "{name}");
            assert_eq!(points.weights(), Some(&[1.0, 2.0, 3.0][..]), "{name}");
            let fault = read::points(&path, &options(&["gap"], &[], None)).unwrap_err();
            assert!(
                fault.to_string().contains("row 2, column gap: the value is missing"),
                "{name}"
            );
        }
    }
}

mod round_trip {
    use super::*;

    #[cfg(feature = "parquet")]
    const NAMES: [&str; 6] = ["a.csv", "a.tsv", "a.csv.gz", "a.TSV.GZ", "a.npy", "a.parquet"];
    #[cfg(not(feature = "parquet"))]
    const NAMES: [&str; 5] = ["a.csv", "a.tsv", "a.csv.gz", "a.TSV.GZ", "a.npy"];

    /// All finite floats, with the subnormal and the extreme ones no rarer than the others.
    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_filter("finite", |v| v.is_finite()),
            prop::num::f64::SUBNORMAL,
            (-1.0..1.0f64).prop_map(|v| v * 1e300),
            (-1.0..1.0f64).prop_map(|v| v * 1e-300),
            prop::sample::select(vec![0.0, -0.0, 5e-324, f64::MAX, f64::MIN, f64::MIN_POSITIVE]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_is_written_is_read_back_bit_for_bit(
            values in prop::collection::vec(finite(), 1..40),
            width in 1..4usize,
        ) {
            let rows = values.len() / width;
            prop_assume!(rows > 0);
            let values = &values[..rows * width];
            let labels: Vec<i64> = (0..rows as i64).map(|n| n - 1).collect();
            let folder = Folder::new();
            let mut prints = Vec::new();
            for name in NAMES {
                let path = folder.path(name);
                write::table(&path, &[Column::matrix("m", values, width), Column::i64("label", &labels)]).unwrap();
                let points = read::points(&path, &PointsOptions::default()).unwrap();
                prop_assert_eq!((points.n_items(), points.n_dims()), (rows, width + 1));
                for (n, row) in numbers(&points).chunks(width + 1).enumerate() {
                    prop_assert_eq!(row[width], labels[n] as f64);
                    for k in 0..width {
                        prop_assert_eq!(row[k].to_bits(), values[n * width + k].to_bits(), "{}", name);
                    }
                }
                if !name.ends_with("npy") {
                    prop_assert_eq!(&points.names()[0], "m_0");
                }
                prints.push(points.fingerprint());
            }
            prop_assert!(prints.windows(2).all(|pair| pair[0] == pair[1]));
        }

        #[test]
        fn no_text_is_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let folder = Folder::new();
            let _ = read::points(&folder.file("a.csv", &bytes), &PointsOptions::default());
        }

        #[test]
        fn no_table_like_text_is_a_panic(text in "[-0-9.,;\t \"\n\r#eNAx]{0,80}") {
            let folder = Folder::new();
            let _ = read::points(&folder.file("a.csv", &text), &options(&[], &["1"], None));
        }

        #[test]
        fn no_array_header_is_a_panic(
            header in "(\\{'descr': '[<>|]?[a-z][0-9]{1,2}', 'fortran_order': (True|False), 'shape': \\([0-9]{0,20},? ?[0-9]{0,20}\\)\\}|.{0,60})",
            body in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let folder = Folder::new();
            let bytes = npy(1, &header, &body);
            let _ = read::points(&folder.file("a.npy", &bytes), &PointsOptions::default());
            let _ = read::points(&folder.file("a.npy.gz", gzip(&bytes)), &PointsOptions::default());
        }
    }

    #[test]
    fn a_fingerprint_does_not_depend_on_format_or_precision() {
        let values = [1.5, -2.0, 0.25, 8.0];
        let single: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        let memory = Points::new(values.to_vec(), 2).unwrap().fingerprint();
        assert_eq!(read_file("a.csv", "1.5,-2\n0.25,8e0\n").fingerprint(), memory);
        let array = npy(1, &describe("'<f4'", false, "(2, 2)"), &single);
        assert_eq!(read_file("a.npy", array).fingerprint(), memory);
        let weighted =
            Points::new(vec![1.5, 0.25], 1).unwrap().with_weights(vec![2.0, 8.0]).unwrap();
        let read = read_as("a.csv", "x,w\n1.5,2\n0.25,8\n", &options(&[], &[], Some("w")));
        assert_eq!(read.fingerprint(), weighted.fingerprint());
    }

    #[test]
    fn many_row_groups_and_columns_keep_their_places() {
        let n_rows = 300_000;
        let values: Vec<f64> = (0..3 * n_rows).map(f64::from).collect();
        let labels: Vec<i64> = (0..i64::from(n_rows)).collect();
        let folder = Folder::new();
        for name in NAMES {
            let path = folder.path(name);
            write::table(&path, &[Column::i64("label", &labels), Column::matrix("m", &values, 3)])
                .unwrap();
            let points = read::points(&path, &options(&[], &["1"], None)).unwrap();
            assert!(numbers(&points) == values, "{name}");
        }
    }

    #[test]
    fn an_unknown_ending_is_answered_with_the_known_ones() {
        let folder = Folder::new();
        for name in ["a.xlsx", "a", "a.npy.gz", "csv"] {
            let path = folder.path(name);
            assert_eq!(
                write::table(&path, &[Column::f64("x", &[1.0])]).unwrap_err().to_string(),
                format!(
                    "{}: the file's name does not say in which format to write; let it end in .csv, .tsv, .csv.gz, .tsv.gz, .npy or .parquet",
                    path.display()
                )
            );
            assert!(!path.exists());
        }
    }

    #[test]
    fn options_are_read_from_a_configuration() {
        let options: PointsOptions = toml::from_str("drop = [\"id\"]\nheader = \"no\"").unwrap();
        let expected =
            PointsOptions { drop: vec!["id".into()], header: Header::No, ..Default::default() };
        assert_eq!(options, expected);
        assert!(toml::from_str::<PointsOptions>("dorp = []").is_err());
    }
}
