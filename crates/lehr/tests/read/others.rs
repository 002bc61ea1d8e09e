//! Files that NumPy and PyArrow have written; see `make.py` in their folder.

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
        assert!(fault.to_string().contains("row 2, column gap: the value is missing"), "{name}");
    }
}
