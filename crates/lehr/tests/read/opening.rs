//! Files that cannot be opened, or are not what their names say.

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
