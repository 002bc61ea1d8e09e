//! Titles by id.

use super::*;

fn titles(name: &str, bytes: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let folder = Folder::new();
    let found = read::titles(&folder.file(name, bytes)).unwrap_or_else(|error| panic!("{error}"));
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort();
    found
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|&(id, title)| (id.into(), title.into())).collect()
}

#[test]
fn every_format_says_the_same() {
    let expected = pairs(&[("1", "Up, up"), ("2", "Zoé: a life")]);
    for (name, bytes) in [
        ("movies.dat", &b"1::Up, up::Drama|Animation\n2::Zo\xe9: a life::Comedy\n"[..]),
        ("two.dat", "1::Up, up\n2::Zoé: a life\n".as_bytes()),
        ("u.item", b"1|Up, up|01-Jan-1995||http://x|0\n2|Zo\xe9: a life|||\n"),
        ("movie_titles.txt", b"1,2003,Up, up\r\n2,NULL,Zo\xe9: a life\r\n"),
        (
            "m.csv",
            "movieId,title,genres\n1,\"Up, up\",a|b|c\n2,Zoé: a life,\n1,again,\n".as_bytes(),
        ),
        ("m.csv", "Name;ID\nUp, up;1\nZoé: a life;2\n".as_bytes()),
        ("m.tsv", "1\tUp, up\n2\tZoé: a life\textra\n".as_bytes()),
        ("m.csv", "1,\"Up, up\"\n\n2,Zoé: a life\n3,\n".as_bytes()),
        ("m.csv", "\u{feff}isbn,book_title\n1,\"Up, up\"\n2,Zoé: a life\n".as_bytes()),
    ] {
        assert_eq!(titles(name, bytes), expected, "{}", String::from_utf8_lossy(bytes));
        assert_eq!(titles(&format!("{name}.gz"), gzip(bytes)), expected);
    }
}

#[test]
fn a_title_keeps_its_quotes_and_pipes() {
    assert_eq!(
        titles("m.csv", "007,\"say \"\"hi\"\"\",A|B|C\nx y,b,\n"),
        pairs(&[("007", "say \"hi\""), ("x y", "b")])
    );
    assert_eq!(titles("m.csv", "\"a\nb\",c\n"), pairs(&[("a\nb", "c")]));
    assert_eq!(
        titles("t.txt", "1,1999,\"Quoted\" film, the\n"),
        pairs(&[("1", "\"Quoted\" film, the")])
    );
}

#[test]
fn what_has_no_titles_is_refused() {
    let folder = Folder::new();
    let fault = |bytes: &[u8]| folder.fault(read::titles(&folder.file("m.csv", bytes)));
    let least = "give a file with an id and a title per line";
    assert_eq!(fault(b""), format!("m.csv: is empty; {least}"));
    assert_eq!(fault(b"\n\n"), format!("m.csv: has no titles; {least}"));
    assert_eq!(fault(b"id,title\n"), format!("m.csv: has no titles; {least}"));
    assert_eq!(fault(b"1::a::b\n2\n"), "m.csv, line 2: has no title; a line holds id::title");
    assert_eq!(
        fault(b"1,1999,a\n2,x\n"),
        "m.csv, line 2: has no title; a line holds id,year,title"
    );
    assert_eq!(
        fault(b"justone\n"),
        "m.csv, line 1: has no title; a line holds an id and a title, separated by tabs, semicolons or commas"
    );
    assert_eq!(
        fault(b"1,a\n,b\n"),
        "m.csv, line 2: the id is empty; fill it in or leave the line out"
    );
    assert_eq!(
        fault(b"title,year\na,2\n"),
        "m.csv, line 1: the columns are title, year and none of them is known to hold ids; call it id, or put it first"
    );
    assert!(
        fault(b"PAR1").contains("is not text; give a text file with an id and a title per line")
    );
    assert!(fault(b"\x00\x01").contains("is neither text nor a known binary format"));
    assert!(folder.fault(read::titles(&folder.path(""))).contains("is a folder"));
}
