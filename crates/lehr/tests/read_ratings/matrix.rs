//! Wide matrices: a row for each user, a column for each item.

use lehr::read::Header;
use lehr::write::{self, Column};

use super::*;

fn matrix(missing: &[&str]) -> RatingsOptions {
    let missing = missing.iter().map(ToString::to_string).collect();
    RatingsOptions { matrix: true, missing, ..Default::default() }
}

/// What of a matrix was read.
fn wide(bytes: &str, options: &RatingsOptions) -> Vec<Triple> {
    let read = triples(&read_as("w.csv", bytes, options));
    assert_eq!(triples(&read_as("w.csv.gz", gzip(bytes), options)), read);
    read
}

#[test]
fn cells_are_ratings_and_names_are_items() {
    let all = expected(&[("ann", "Up", 5.0), ("ann", "Brazil", 3.5), ("bob", "Alien, 1979", -2.0)]);
    let table = "user,Up,\"Alien, 1979\",Brazil\nann,5,,3.5\nbob,NA,-2,?\ncleo,,,\n";
    let ratings = read_as("w.csv", table, &matrix(&[]));
    assert_eq!(triples(&ratings), all);
    assert_eq!(
        (users(&ratings), items(&ratings)),
        (
            vec!["ann".into(), "bob".into()],
            vec!["Up".into(), "Brazil".into(), "Alien, 1979".into()]
        )
    );
    // Without names, with marks, and with a column that is none of these.
    let marked = "3,5,99,-1\n1,99,0,4\n";
    let drop = RatingsOptions { drop: vec!["1".into()], ..matrix(&["99", "-1"]) };
    let all = expected(&[("1", "2", 5.0), ("2", "3", 0.0), ("2", "4", 4.0)]);
    assert_eq!(wide(marked, &drop), all);
    assert_eq!(wide("5 99 -1\n", &matrix(&["99"])), expected(&[("1", "1", 5.0), ("1", "3", -1.0)]));
}

#[test]
fn users_are_a_column_that_says_so_or_the_rows() {
    let one = |user: &str| expected(&[(user, "10", 5.0), (user, "20", 3.0)]);
    assert_eq!(wide("userId,10,20\n7,5,3\n", &matrix(&[])), one("7"));
    assert_eq!(wide(",10,20\n7,5,3\n", &matrix(&[])), one("7"));
    assert_eq!(wide("10,user,20\n5,7,3\n", &matrix(&[])), one("7"));
    let named = RatingsOptions { user: Some("who".into()), header: Header::Yes, ..matrix(&[]) };
    assert_eq!(wide("10,20,who\n5,3,7\n", &named), one("7"));
    let first = RatingsOptions { user: Some("1".into()), ..matrix(&[]) };
    assert_eq!(wide("7,5,3\n", &first), expected(&[("7", "2", 5.0), ("7", "3", 3.0)]));
    assert_eq!(wide("ann,5,3\n", &matrix(&[])), expected(&[("ann", "2", 5.0), ("ann", "3", 3.0)]));
    assert_eq!(wide("a,b\n5,3\n", &matrix(&[])), expected(&[("1", "a", 5.0), ("1", "b", 3.0)]));
    // A gap in the first row does not make it names.
    assert_eq!(wide(",5,\n1,2,3\n", &matrix(&[]))[0], ("1".into(), "2".into(), 5.0));
}

#[test]
fn what_is_no_matrix_is_refused() {
    for (table, expected) in [
        (
            "user,a,b\nann,5\n",
            "w.csv, line 2: found 2 fields, expected 3 as in line 1; the fields are separated by commas",
        ),
        (
            "user,a,b\nann,5,good\n",
            "w.csv, line 2, column b: found \"good\", which is not a number; a cell is a rating or empty: fix it, leave the column out with `drop`, or name it with `user` if it says who rates",
        ),
        (
            "user;a;b\nann;5;3,5\n",
            "w.csv, line 2, column b: found \"3,5\", which is not a number; write numbers with a decimal point, not a comma",
        ),
        (
            "user,a\nann,inf\n",
            "w.csv, line 2, column a: found inf, which is not finite; every rating must be a finite number: fill it in or leave the line out",
        ),
        (
            "user,a\n,3\n",
            "w.csv, line 2, column user: found \"\"; every row needs a user: fill it in, as UTF-8",
        ),
        (
            "user,a,a\nann,5,3\n",
            "w.csv: columns 2 and 3 are both called \"a\"; rename one, or leave it out with `drop = 3`",
        ),
        (
            "user,a\nann,5\n\nann,3\n",
            "w.csv: user ann has line 2 and line 4; give each user one row, or average the ratings with `duplicates = mean`",
        ),
        (
            "user\nann\n",
            "w.csv: no column is left as an item; the columns are user; leave more of them in",
        ),
        ("user,a\n", "w.csv: has no ratings; give a file with at least one rating"),
        ("user,a\nann,\n", "w.csv: has no ratings; give a file with at least one rating"),
    ] {
        assert_eq!(fault_of("w.csv", table, &matrix(&[])), expected);
    }
    let twice = RatingsOptions { duplicates: Duplicates::Mean, ..matrix(&[]) };
    assert_eq!(wide("user,a\nann,5\nann,3\n", &twice), expected(&[("ann", "a", 4.0)]));
    assert_eq!(
        fault_of("w.csv", "1,2\n", &matrix(&["x"])),
        "missing = x: is not a number; give the numbers that mean \"not rated\", e.g. 99 (empty cells always do)"
    );
    let item = RatingsOptions { item: Some("a".into()), ..matrix(&[]) };
    assert!(fault_of("w.csv", "1,2\n", &item).starts_with("item = a: has no meaning for a matrix"));
    let idle = RatingsOptions { missing: vec!["99".into()], ..Default::default() };
    assert_eq!(
        fault_of("w.csv", "1,2,3\n", &idle),
        "missing = 99: has a meaning for a matrix only; leave it out, or give `matrix = true`"
    );
}

#[test]
fn a_file_that_looks_like_a_matrix_is_not_read_as_triples() {
    let row = "74,4.08,-0.29,99,99,99,99,2.1\n";
    let expected = "w.csv, line 1: has 8 columns without names, which looks like a row for each user and a column for each item; read it so with `matrix = true` (and `missing = 99` if 99 means \"not rated\"), or say which columns hold the user, the item and the rating with `user`, `item` and `rating`";
    assert_eq!(fault("w.csv", row.repeat(3)), expected);
    assert_eq!(fault_of("w.csv", row.repeat(3), &mean()), expected);
    assert_eq!(fault("w.csv", format!("\"74\"{}", &row[2..])), expected);
    // Who says which columns they are gets them.
    let asked = columns("1", "4", "2");
    assert_eq!(triples(&read_as("w.csv", row, &asked)), super::expected(&[("74", "99", 4.08)]));
    let found = fault("w.csv", "user,Up,Brazil,Alien\nann,5,3,2\n");
    assert!(
        found.ends_with(
            "with `user`, `item` and `rating`, or, if each column is an item, give `matrix = true`"
        ),
        "{found}"
    );
}

#[test]
fn arrays_and_parquet_may_be_matrices() {
    let folder = Folder::new();
    let npy = folder.path("w.npy");
    write::table(&npy, &[Column::matrix("x", &[5.0, f64::NAN, 99.0, 2.0], 2)]).unwrap();
    let ratings = read::ratings(&npy, &matrix(&["99"])).unwrap();
    assert_eq!(triples(&ratings), expected(&[("1", "1", 5.0), ("2", "2", 2.0)]));
    // Columns keep their numbers when others are left out.
    let npy = folder.path("w.npy");
    write::table(&npy, &[Column::matrix("x", &[7.0, f64::NAN, 5.0, 8.0, f64::NAN, 2.0], 3)])
        .unwrap();
    let drop = RatingsOptions { drop: vec!["2".into()], user: Some("1".into()), ..matrix(&[]) };
    let ratings = read::ratings(&npy, &drop).unwrap();
    assert_eq!(triples(&ratings), expected(&[("7", "3", 5.0), ("8", "3", 2.0)]));
    let text = folder.fault(read::ratings(&npy, &RatingsOptions::default()));
    assert!(text.starts_with("w.npy: is a NumPy array, which does not say who rates what; if its rows are users and its columns items, give `matrix = true`"), "{text}");
    let path = folder.path("w.parquet");
    let names = ["ann".to_string(), "bob".to_string()];
    write::table(
        &path,
        &[Column::text("who", &names), Column::matrix("film", &[5.0, f64::NAN, 99.0, 2.0], 2)],
    )
    .unwrap();
    let options = RatingsOptions { user: Some("who".into()), ..matrix(&["99"]) };
    let all = expected(&[("ann", "film_0", 5.0), ("bob", "film_1", 2.0)]);
    assert_eq!(triples(&read::ratings(&path, &options).unwrap()), all);
}

#[test]
fn marks_come_as_numbers_or_texts() {
    for (json, expected) in [
        (r#"{"missing": 99}"#, &["99"][..]),
        (r#"{"missing": [99, "-1", 0.5]}"#, &["99", "-1", "0.5"]),
        (r#"{"missing": "99"}"#, &["99"]),
        ("{}", &[]),
    ] {
        let options: RatingsOptions = serde_json::from_str(json).unwrap();
        assert_eq!(options.missing, expected);
        let again = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<RatingsOptions>(&again).unwrap(), options);
    }
    let wrong = serde_json::from_str::<RatingsOptions>(r#"{"missing": true}"#).unwrap_err();
    assert!(wrong.to_string().contains("expected a number or a list of numbers"), "{wrong}");
}
