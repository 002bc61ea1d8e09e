//! What is refused, and in which words.

use lehr::read::Header;

use super::*;

/// Each bad line both where lines are split fast and where a quote before it makes them records.
#[track_caller]
fn refused(line: &str, expected: &str) {
    for first in ["1,2,3\n", "\"1\",2,3\n"] {
        let found = fault("r.csv", format!("{first}{line}\n4,5,1\n"));
        assert_eq!(found, format!("r.csv, line 2{expected}"), "{line} behind {first}");
    }
}

const FINITE: &str = "every rating must be a finite number: fill it in or leave the line out";

#[test]
fn a_bad_field_is_named_with_its_line_and_column() {
    refused("5,6", ": found 2 fields, expected 3 as in line 1; the fields are separated by commas");
    refused("5", ": found 1 field, expected 3 as in line 1; the fields are separated by commas");
    refused(
        "5,Up, up,3",
        ": found 4 fields, expected 3 as in line 1; the fields are separated by commas; put a field that holds them in double quotes",
    );
    refused(
        "5,6,good",
        ", column 3: found \"good\", which is not a number; fix it, or say which column holds the ratings with `rating`",
    );
    refused("5,6,", &format!(", column 3: the rating is empty; {FINITE}"));
    refused("5,6,NA", &format!(", column 3: found \"NA\", a missing value; {FINITE}"));
    refused("5,6,nan", &format!(", column 3: found NaN, which is not finite; {FINITE}"));
    refused("5,6,-inf", &format!(", column 3: found -inf, which is not finite; {FINITE}"));
    refused("5,6,1e39", ", column 3: found 1e39, which is too large; ratings go up to 3.4e38");
    refused("5,6,1e999", &format!(", column 3: found inf, which is not finite; {FINITE}"));
    refused(
        ",6,3",
        ", column 1: the user is empty; every rating needs one: fill it in or leave the line out",
    );
    refused(
        "5, ,3",
        ", column 2: the item is empty; every rating needs one: fill it in or leave the line out",
    );
    let utf8 = "is not UTF-8; save the file as UTF-8 and try again";
    for first in ["1,2,3\n", "\"1\",2,3\n"] {
        let text = [first.as_bytes(), b"5,Mis\xe9rables,3\n"].concat();
        let found = fault("r.csv", text);
        assert_eq!(
            found,
            format!("r.csv, line 2, column 2: the item \"Mis\u{fffd}rables\" {utf8}")
        );
    }
    assert_eq!(
        fault("r.csv", "a;b;1\na;c;3,5\n"),
        "r.csv, line 2, column 3: found \"3,5\", which is not a number; write numbers with a decimal point, not a comma"
    );
    assert_eq!(
        fault("r.dat", "user::item::rating\n\n1::2::3\n\n1::2\n"),
        "r.dat, line 5: found 2 fields, expected 3 as in line 1; the fields are separated by ::"
    );
    assert_eq!(
        fault("r.csv", "user,item,stars\n1,2,\"3\n4,5,1\n"),
        "r.csv, line 2: a quote opened in this line is never closed; close it or take it out"
    );
}

#[test]
fn files_without_ratings_are_refused() {
    let least = "give a file with at least one rating";
    assert_eq!(fault("r.csv", ""), format!("r.csv: is empty; {least}"));
    assert_eq!(fault("r.csv.gz", gzip("")), format!("r.csv.gz: is empty; {least}"));
    assert_eq!(fault("r.csv", "\n \n\r\n"), format!("r.csv: is empty; {least}"));
    assert_eq!(fault("r.csv", "\u{feff}"), format!("r.csv: is empty; {least}"));
    for text in ["user,item,rating\n", "\"user\",item,rating", "user::item::rating\n\n"] {
        assert_eq!(fault("r.csv", text), format!("r.csv: has no ratings; {least}"));
    }
    let files = "a text file with one rating per line (.dat, .csv, .tsv, .txt, u.data; these may be gzipped) or .parquet";
    let folder = Folder::new();
    let options = RatingsOptions::default();
    let found = folder.fault(read::ratings(&folder.path(""), &options));
    assert!(found.ends_with(&format!("is a folder; give one file: {files}")), "{found}");
    assert_eq!(
        folder.fault(read::ratings(&folder.path("no.csv"), &options)),
        "no.csv: there is no such file; check the name and the folder"
    );
    assert_eq!(
        fault("r.csv", b"\x01\x00\x02\xff\x00"),
        format!("r.csv: is neither text nor a known binary format; give one of {files}")
    );
    assert_eq!(
        fault("r.npy", b"\x93NUMPY\x01\x00"),
        format!(
            "r.npy: is a NumPy array, which does not say who rates what; if its rows are users and its columns items, give `matrix = true`, otherwise {files}"
        )
    );
    assert_eq!(
        fault("r.csv", b"\xff\xfe1\x00"),
        "r.csv: is text in UTF-16; save it as UTF-8 and try again"
    );
    let found = fault("r.csv", b"\x9c\x8d\x11\xff\xe0\n\x91");
    assert!(found.starts_with("r.csv, line 1: found 1 field separated by commas; a line holds"));
}

#[test]
fn a_damaged_gzip_file_is_refused() {
    let mut text = String::new();
    (0..50_000).for_each(|n| text.push_str(&format!("{}::{}::3::0\n", n * 7919 % 50_021, n % 97)));
    let packed = gzip(&text);
    assert_eq!(read_file("r.dat.gz", &packed).n_ratings(), 50_000);
    let cut =
        "the gzipped data end too early: the file is cut off or still being written; copy it again";
    for length in [packed.len() / 2, packed.len() - 4] {
        assert_eq!(fault("r.dat.gz", &packed[..length]), format!("r.dat.gz: {cut}"));
    }
    let found = fault("r.dat.gz", &text);
    assert!(found.starts_with("r.dat.gz: is not gzipped although its name ends in .gz"), "{found}");
}

#[test]
fn columns_that_are_not_there_are_listed() {
    assert_eq!(
        fault("r.csv", "who,movie,rating\n1,2,3\n"),
        "r.csv, line 1: the line is taken for the columns' names: the columns are who, movie, rating and none of them is known to be the user; say which is what with `user`, `item` and `rating`"
    );
    assert_eq!(
        fault_of("r.csv", "who,movie,rating\n1,2,3\n", &columns("whom", "", "")),
        "r.csv: `user` asks for column \"whom\", which is not there; the columns are who, movie, rating; give a name or a number from 1 to 3"
    );
    assert_eq!(
        fault_of("r.csv", "1,2,3\n", &columns("", "", "4")),
        "r.csv: `rating` asks for column \"4\", which is not there; the columns have no names, only the numbers 1 to 3; give a name or a number from 1 to 3"
    );
    assert_eq!(
        fault_of("r.csv", "1,2,3\n", &columns("", "3", "")),
        "r.csv: `item` and `rating` are both column 3; give each its own column"
    );
    let header = RatingsOptions { header: Header::Yes, ..Default::default() };
    let found = fault_of("r.csv", "1,2,3\n", &header);
    assert!(found.contains("the columns are 1, 2, 3 and none of them is known to be the user"));
    assert_eq!(
        fault("r.csv", "\n1,2\n"),
        "r.csv, line 2: found 2 fields separated by commas; a line holds at least a user, an item and a rating, separated by ::, tabs, semicolons, commas, bars or blanks"
    );
}

#[test]
fn a_pair_that_is_rated_twice_is_named_with_both_lines() {
    let how = "take one out, or average them with `duplicates = mean`";
    for (text, lines) in [
        ("user,item,rating\nann,x,4\n\nbob,x,1\nann,x,3.5\n", (2, 5)),
        ("user,item,rating\n\nann,x,4\nbob,\"x\ny\",1\n\nann,x,3.5\n", (3, 7)),
        ("ann::x::4\nann::x::3.5\n", (1, 2)),
        ("b,y,1\n\"ann\",x,4\nb,x,2\nann,x,3.5\n", (2, 4)),
    ] {
        let expected = format!(
            "r.csv: user ann rated item x twice: 4 (line {}) and 3.5 (line {}); {how}",
            lines.0, lines.1
        );
        assert_eq!(fault("r.csv", text), expected);
    }
    // Across the parts of a file that are parsed apart, with blank lines among them.
    let mut text = String::new();
    (0..150_000).for_each(|n| {
        text.push_str(&format!("{n}::5::3::978300760\n"));
        text.push_str(if n % 50_000 == 7 { "\n" } else { "" });
    });
    text.push_str("100000::5::1::0\n");
    assert_eq!(
        fault("r.dat", text),
        format!(
            "r.dat: user 100000 rated item 5 twice: 3 (line 100003) and 1 (line 150004); {how}"
        )
    );
}
