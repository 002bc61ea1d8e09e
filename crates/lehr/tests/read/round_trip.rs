//! What is written is read back as it was.

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
    let weighted = Points::new(vec![1.5, 0.25], 1).unwrap().with_weights(vec![2.0, 8.0]).unwrap();
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
                "{}: the file's name does not say in which format to write; let it end in .csv, .tsv, .csv.gz, .tsv.gz, .json, .jsonl, .npy or .parquet",
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
