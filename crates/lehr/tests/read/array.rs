//! Points from .npy files.

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
        assert!(matches!(points.block_of(0).0, Rows::F64(values) if values == VALUES));
    }
    let single: Vec<u8> = VALUES.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
    let points = read_file("a.npy", npy(1, &describe("'<f4'", false, "(3, 2)"), &single));
    assert!(points.is_mapped());
    assert!(matches!(points.block_of(0).0, Rows::F32([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
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
        "a.npy: `columns` asks for column \"3\", which is not there; the columns have no names, only the numbers 1 to 2; give a name or a number from 1 to 2"
    );
}

#[test]
fn a_number_that_is_not_finite_is_found_in_every_layout() {
    let mut values = VALUES;
    values[3] = f64::NAN;
    let single: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
    let body = f64_bytes(&values);
    let expected = "a.npy: row 2, column 2: found NaN, a missing value; fill it in, work with the values that are there (`missing = model`), or leave such rows out (`missing = drop-rows`)";
    assert_eq!(fault("a.npy", npy(1, &describe("'<f8'", false, "(3, 2)"), &body)), expected);
    assert_eq!(fault("a.npy", npy(1, &describe("'<f4'", false, "(3, 2)"), &single)), expected);
    assert_eq!(fault("a.npy", gzip(npy(1, &describe("'<f8'", false, "(3, 2)"), &body))), expected);
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
    assert_eq!(fault("a.npy.gz", gzip(&whole[..whole.len() - 8])), format!("a.npy.gz: {short}"));
    assert_eq!(
        fault("a.npy", &whole[..20]),
        "a.npy: ends inside its header; the file is cut off or still being written: save it again"
    );
    assert_eq!(
        fault("a.npy", npy(1, &describe("'<f8'", false, "(1000000000000, 4)"), &[0; 64])),
        "a.npy: the header promises 1000000000000 x 4 numbers of type <f8 in 32000000000000 bytes, but only 64 bytes follow it; the file is cut off or still being written: save it again"
    );
    let fortran = |shape: &str| gzip(npy(1, &describe("'<f8'", true, shape), &[0; 64]));
    assert!(fault("a.npy.gz", fortran("(100, 4)")).contains("but only 64 bytes follow it"));
    let many = fault("a.npy.gz", fortran("(1000000000000, 4)"));
    assert!(many.contains("bytes, but a gzipped file of ") && many.contains("cannot hold as many"));
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
    assert_eq!(of("'<U3'", "(3, 2)"), format!("a.npy: holds an array of type \"<U3\"; {needed}"));
    assert_eq!(of("[('x', '<f8')]", "(3,)"), format!("a.npy: holds an array of records; {needed}"));
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
