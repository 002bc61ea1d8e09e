//! Large files are read in blocks on all threads: every rating once, every fault with its line.

use super::*;

const LINES: usize = 60_000;

fn lines(separator: &str) -> Vec<String> {
    let line = |i: usize| {
        [i / 40 + 1, 7 * (i % 40) + i / 40 % 7, i % 5 + 1, 978_300_760].map(|n| n.to_string())
    };
    (0..LINES).map(|i| line(i).join(separator)).collect()
}

#[test]
fn plain_lines_are_read_as_all_others_are() {
    let plain = read_file("a.dat", lines("::").join("\n"));
    assert_eq!(plain.n_ratings(), LINES);
    // Blanks around a cell, a quote, a carriage return: each is read in another way.
    let blanks: Vec<String> =
        lines("::").iter().map(|line| line.replacen("::", " :: ", 2)).collect();
    assert_eq!(read_file("a.dat", blanks.join("\n")).fingerprint(), plain.fingerprint());
    assert_eq!(read_file("a.dat", lines("::").join("\r\n")).fingerprint(), plain.fingerprint());
    let mut quoted = lines(",");
    quoted[LINES / 2] = format!("\"{}", quoted[LINES / 2].replacen(',', "\",", 1));
    assert_eq!(read_file("a.csv", quoted.join("\n")).fingerprint(), plain.fingerprint());
    // Other columns first: the ids are the same.
    let turned: Vec<String> =
        lines(",").iter().map(|line| line.rsplit(',').collect::<Vec<_>>().join(",")).collect();
    let turned = read_as("a.csv", turned.join("\n"), &columns("4", "3", "2"));
    assert_eq!(turned.fingerprint(), plain.fingerprint());
}

#[test]
fn ids_are_names_and_values_numbers_wherever_they_stand() {
    for (odd, user, item, value) in [
        ("007::01::2::0", "007", "01", 2.0),
        ("-5::-0::2.5::0", "-5", "-0", 2.5),
        (
            "9223372036854775807::9223372036854775808::1e1::0",
            "9223372036854775807",
            "9223372036854775808",
            10.0,
        ),
        ("a:b::c::.5::0", "a:b", "c", 0.5),
    ] {
        for at in [1, LINES / 2, LINES - 1] {
            let mut lines = lines("::");
            lines[at] = odd.into();
            let ratings = read_file("a.dat", lines.join("\n"));
            let found = (ratings.ids(Side::User).find(user), ratings.ids(Side::Item).find(item));
            let (Some(i), Some(j)) = found else { panic!("{odd}: {found:?}") };
            let rated = ratings.triples().find(|&(user, item, _)| (user, item) == (i, j));
            assert_eq!(rated.map(|(_, _, value)| value), Some(value), "{odd}");
        }
    }
}

#[test]
fn what_comes_first_in_a_file_is_told_first() {
    for at in [1, LINES / 2, LINES - 1] {
        let mut lines = lines("::");
        lines[at] = "1::2::x::0".into();
        if let Some(later) = lines.get_mut(at + 1) {
            *later = "later".into();
        }
        let found = fault("a.dat", lines.join("\n"));
        assert!(found.contains(&format!("{}", at + 1)) && found.contains("found \"x\""), "{found}");
        // Cut off behind it, in the same block.
        let packed = gzip(lines.join("\n").as_bytes());
        if at == LINES / 2 {
            let cut = fault("a.dat.gz", &packed[..packed.len() * 55 / 100]);
            assert_eq!(cut, found.replace("a.dat", "a.dat.gz"));
            let cut = fault("a.dat.gz", &packed[..packed.len() * 40 / 100]);
            assert!(cut.contains("the gzipped data end too early"), "{cut}");
        }
    }
}
