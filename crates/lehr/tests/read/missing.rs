//! Missing values in every format: refused, dropped with their rows, or kept.

use super::*;

fn with(missing: Missing) -> PointsOptions {
    PointsOptions { missing, ..Default::default() }
}

/// Numbers as text, so that NaN can be compared.
fn shown(points: &Points) -> String {
    numbers(points).iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

const TEXT: &str = "x,y,note\n1,2,a\nNA,3,b\n4,,c\n?,-,d\n5,6,\n";

fn array() -> Vec<u8> {
    let values = [1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0];
    npy(1, &describe("'<f8'", false, "(3, 2)"), &f64_bytes(&values))
}

#[test]
fn every_mark_in_text_is_a_gap_if_gaps_may_be() {
    let options = PointsOptions { drop: vec!["note".into()], ..with(Missing::Model) };
    let points = read_as("a.csv", TEXT, &options);
    assert_eq!(shown(&points), "1 2 NaN 3 4 NaN NaN NaN 5 6");
    assert_eq!((points.n_missing(), points.left_out()), (4, &[][..]));
    for mark in ["", " ", "na", "N/A", "nan", "NaN", "-nan", "NULL", "None", "nil", "?", "-"] {
        let points = read_as("a.csv", format!("1,2\n{mark},3\n4,5\n"), &with(Missing::Model));
        assert_eq!(shown(&points), "1 2 NaN 3 4 5", "{mark:?}");
    }
}

#[test]
fn rows_with_gaps_are_dropped_with_their_weights() {
    let options =
        PointsOptions { drop: vec!["note".into()], weight_column: None, ..with(Missing::DropRows) };
    let points = read_as("a.csv", TEXT, &options);
    assert_eq!(shown(&points), "1 2 5 6");
    assert_eq!((points.n_missing(), points.left_out()), (0, &[1, 2, 3][..]));
    let weighed = PointsOptions { weight_column: Some("w".into()), ..with(Missing::DropRows) };
    let points = read_as("a.csv", "x,w\n1,10\n,20\n3,30\n", &weighed);
    assert_eq!((shown(&points).as_str(), points.weights()), ("1 3", Some(&[10.0, 30.0][..])));
    // A gap in a column that is not used costs no row.
    let points = read_as(
        "a.csv",
        "x,y\n1,\n2,\n",
        &PointsOptions { drop: vec!["y".into()], ..with(Missing::DropRows) },
    );
    assert_eq!((points.n_items(), points.left_out()), (2, &[][..]));
}

#[test]
fn an_array_with_gaps_stays_mapped_and_is_copied_without_them() {
    let kept = read_as("a.npy", array(), &with(Missing::Model));
    assert_eq!((kept.is_mapped(), shown(&kept).as_str()), (true, "1 2 NaN 3 4 5"));
    let copied = read_as("a.npy.gz", gzip(array()), &with(Missing::Model));
    assert_eq!(kept.fingerprint(), copied.fingerprint());
    let text = read_as("a.csv", "1,2\n,3\n4,5\n", &with(Missing::Model));
    assert_eq!(kept.fingerprint(), text.fingerprint());
    let dropped = read_as("a.npy", array(), &with(Missing::DropRows));
    assert_eq!((shown(&dropped).as_str(), dropped.left_out()), ("1 2 4 5", &[1][..]));
    let infinite = npy(1, &describe("'<f8'", false, "(1, 2)"), &f64_bytes(&[1.0, f64::INFINITY]));
    for options in [with(Missing::Model), with(Missing::DropRows)] {
        let fault = fault_of("a.npy", &infinite, &options);
        assert!(fault.starts_with("a.npy: row 1, column 2: found inf;"), "{fault}");
    }
}

#[test]
fn what_no_way_of_reading_can_mend_is_refused() {
    let both = [Missing::Model, Missing::DropRows];
    for missing in both {
        assert_eq!(
            fault_of("a.csv", "x,y,z\n1,,\n2,,\n", &with(missing)),
            "a.csv: columns y, z are missing in every row; leave it out (`drop = y,z`)"
        );
        assert_eq!(
            fault_of("a.csv", "x\nNA\n", &with(missing)),
            "a.csv: column x is missing in every row; leave it out (`drop = x`)"
        );
        let weighed = PointsOptions { weight_column: Some("w".into()), ..with(missing) };
        assert_eq!(
            fault_of("a.csv", "x,w\n1,1\n2,NA\n", &weighed),
            "a.csv, line 3, column w: the weight is missing (found \"NA\"); every row needs one: fill it in, or give 0 to a row that does not count"
        );
        assert!(fault_of("a.csv", "1,2\n3,inf\n", &with(missing)).contains("not finite"));
        assert!(fault_of("a.csv", "1,2\n3,n.a.\n", &with(missing)).contains("not a number"));
        assert!(fault_of("a.csv", "1,2\n3,\n,\n4\n", &with(missing)).contains("found 1 field"));
    }
    assert_eq!(
        fault_of("a.csv", "x,y\n1,\n,2\n,3\n", &with(Missing::DropRows)),
        "a.csv: every row misses a value, column x in 2 of 3, so none is left; leave out the columns with most gaps (`drop = x`), or work with the values that are there (`missing = model`)"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn null_and_nan_are_gaps_in_parquet() {
    let folder = Folder::new();
    let path = columnar::with_gaps(&folder);
    let points = read::points(&path, &with(Missing::Model)).unwrap();
    assert_eq!(shown(&points), "1 2.5 2 NaN 3 NaN 4 4.5");
    let points = read::points(&path, &with(Missing::DropRows)).unwrap();
    assert_eq!((shown(&points).as_str(), points.left_out()), ("1 2.5 4 4.5", &[1, 2][..]));
    let weighed = PointsOptions { weight_column: Some("y".into()), ..with(Missing::Model) };
    let fault = folder.fault(read::points(&path, &weighed));
    assert_eq!(
        fault,
        "a.parquet: row 2, column y: the weight is missing (null); every row needs one: fill it in, or give 0 to a row that does not count"
    );
}
