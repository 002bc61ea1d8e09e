//! Points from CSV and TSV.

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
    assert_eq!((numbers(&points), points.names()), (vec![3.0, 4.0], &["1".into(), "2".into()][..]));
    let none = PointsOptions { header: Header::No, ..Default::default() };
    assert_eq!(
        fault_of("a.csv", "x,y\n1,2\n", &none),
        "a.csv, line 1, column 1: found \"x\", which is not a number; fix the cell, or leave the column out with `drop`"
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
    assert_eq!(chosen(&["x"], &[], Some("4")), (vec![1.0, 4.0], "x".into(), Some(vec![3.0, 6.0])));
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
            "a.csv, line 2, column y: the cell is empty; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)",
        ),
        (
            "x,y\r\n\r\n# note\r\n1,2\r\nNA,2\r\n",
            "a.csv, line 5, column x: found \"NA\", a missing value; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)",
        ),
        (
            "1,2\n3,abc\n",
            "a.csv, line 2, column 2: found \"abc\", which is not a number; fix the cell, or leave the column out with `drop`",
        ),
        (
            "1,2\n3,nan\n",
            "a.csv, line 2, column 2: found \"nan\", a missing value; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)",
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
            "a.csv, line 1, column 1: found \"NA\", a missing value; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)",
        ),
        (
            "x,y\n\"1\n\n\",2\nz,3\n",
            "a.csv, line 5, column x: found \"z\", which is not a number; fix the cell, or leave the column out with `drop`",
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
        "a.csv: `drop` asks for column \"z\", which is not there; the columns are x, y; give a name or a number from 1 to 2"
    );
    assert_eq!(
        fault_of("a.csv", "1,2\n", &options(&[], &[], Some("w"))),
        "a.csv: `weight_column` asks for column \"w\", which is not there; the columns have no names, only the numbers 1 to 2; give a name or a number from 1 to 2"
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
