//! Tables that are written block by block are the same files as those that are written at once.

use std::fs;
use std::ops::Range;

use lehr::data::{FromFile, Points};
use lehr::write::{Column, TableFormat, rows_of_blocks, table_as, table_in_blocks, table_in_parts};
use lehr::{Error, Result};

type Add<'a> = &'a mut dyn FnMut(&[Column<'_>]) -> Result<()>;

/// Two columns of numbers and one of labels, some of their rows.
struct Made {
    numbers: Vec<f64>,
    labels: Vec<i64>,
}

impl Made {
    fn new() -> Self {
        let (numbers, labels) =
            (0..14).map(|n| (1.0 / (1.0 + f64::from(n)), i64::from(n % 3))).unzip();
        Made { numbers, labels }
    }

    fn columns(&self, rows: Range<usize>) -> [Column<'_>; 2] {
        let matrix = Column::matrix("m", &self.numbers[2 * rows.start..2 * rows.end], 2);
        [Column::i64("label", &self.labels[rows]), matrix]
    }
}

#[test]
fn blocks_of_any_size_make_the_file_of_the_whole_table() {
    let (folder, made) = (tempfile::tempdir().unwrap(), Made::new());
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let of_blocks = TableFormat::Parquet;
    for &format in TableFormat::ALL.iter().filter(|&&format| format != of_blocks) {
        for (n, size) in [0, 1, 3, 7, 100, usize::MAX].into_iter().flat_map(|s| [(0, s), (7, s)]) {
            table_as(format, &whole, &made.columns(0..n)).unwrap();
            let make = |rows: Range<usize>, add: Add<'_>| {
                assert!(rows.len() <= size.max(1));
                add(&made.columns(rows))
            };
            table_in_blocks::<Error>(format, &parts, n, size, make).unwrap();
            let same = fs::read(&whole).unwrap() == fs::read(&parts).unwrap();
            assert!(same, "{format}, {n} rows by {size}");
        }
    }
}

#[test]
fn a_parquet_file_of_many_blocks_has_all_rows_in_order() {
    let (folder, made) = (tempfile::tempdir().unwrap(), Made::new());
    let path = folder.path().join("parts.parquet");
    let make = |rows: Range<usize>, add: Add<'_>| add(&made.columns(rows));
    table_in_blocks::<Error>(TableFormat::Parquet, &path, 7, 3, make).unwrap();
    let points = Points::read(&path, &Default::default()).unwrap();
    assert_eq!(points.names(), ["label", "m_0", "m_1"]);
    let mut row = [0.0; 3];
    for n in 0..7 {
        points.copy_row(n, &mut row);
        assert_eq!(row, [made.labels[n] as f64, made.numbers[2 * n], made.numbers[2 * n + 1]]);
    }
    assert_eq!(points.n_items(), 7);
}

#[test]
fn a_block_that_fails_or_does_not_fit_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, "before").unwrap();
    let failed = |make: &mut dyn FnMut(Range<usize>, Add<'_>) -> Result<()>| {
        let error = table_in_blocks(TableFormat::Csv, &path, 6, 2, make).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        error.to_string()
    };
    let text = failed(&mut |rows, add| match rows.start {
        4 => Err(Error::data("the fifth row is wrong")),
        _ => add(&[Column::i64("x", &[1, 2])]),
    });
    assert_eq!(text, "the fifth row is wrong");
    let text = failed(&mut |_, add| add(&[Column::i64("x", &[1])]));
    assert!(text.contains("needs 2 rows"), "{text}");
    let text = failed(&mut |rows, add| {
        let name = if rows.start == 2 { "y" } else { "x" };
        add(&[Column::i64(name, &[1, 2])])
    });
    assert!(text.contains("does not go on"), "{text}");
}

#[test]
fn blocks_are_long_and_small() {
    for width in [0, 1, 16, 65, 1000, 1 << 30] {
        let rows = rows_of_blocks(width);
        assert!((4096..=1 << 17).contains(&rows) && rows.is_multiple_of(4096));
        assert!(rows == 4096 || rows * width * 8 <= 16 << 20, "{rows} rows of {width}");
    }
}

#[test]
fn parts_of_any_length_make_one_table_and_json_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> =
        ["a", "quote \" and \\", "line\nbreak", "\u{e9}", ""].map(String::from).into();
    let numbers = [0.1, 1e300, -0.0, f64::NAN, 5.0];
    let whole = [-3_i64, i64::MAX, 0, 1, 2];
    for format in [TableFormat::Json, TableFormat::Jsonl, TableFormat::Csv] {
        let path = folder.path().join(format!("t.{format}"));
        // Parts of 2, 0 and 3 rows.
        let ends = [0, 2, 2, 5];
        table_in_parts::<Error>(format, &path, 3, |part, add| {
            let rows = ends[part]..ends[part + 1];
            add(&[
                Column::text("name \"x\"", &texts[rows.clone()]),
                Column::f64("y", &numbers[rows.clone()]),
                Column::i64("n", &whole[rows]),
            ])
        })
        .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let rows: Vec<serde_json::Value> = match format {
            TableFormat::Json => serde_json::from_str(&text).unwrap(),
            TableFormat::Jsonl => {
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            }
            _ => {
                assert!(text.starts_with("\"name \"\"x\"\"\",y,n\na,0.1,-3\n"), "{text}");
                continue;
            }
        };
        assert_eq!(rows.len(), 5);
        for (n, row) in rows.iter().enumerate() {
            assert_eq!(row["name \"x\""], texts[n].as_str());
            assert_eq!(row["n"].as_i64(), Some(whole[n]));
            let number = row["y"].as_f64();
            assert_eq!(number, Some(numbers[n]).filter(|x| x.is_finite()), "{format}");
        }
        let empty =
            table_in_parts::<Error>(format, &path, 0, |_, add| add(&[Column::i64("n", &[])]));
        empty.unwrap();
        if format == TableFormat::Json {
            assert_eq!(fs::read_to_string(&path).unwrap(), "[]\n");
        }
    }
    let path = folder.path().join("t.npy");
    let error = table_in_parts::<Error>(TableFormat::Npy, &path, 1, |_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("needs to know its rows"), "{error}");
    assert!(!path.exists());
}
