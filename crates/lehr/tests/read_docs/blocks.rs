//! Large bags of words are read in blocks on all threads: every entry once, every fault with its line.

use super::*;

const DOCS: u32 = 2_000;
const WORDS: u32 = 300;
const EACH: u32 = 50;

/// Lines of a UCI file of several blocks, header and all.
fn uci() -> Vec<String> {
    let header = [DOCS, WORDS, DOCS * EACH].map(|size| size.to_string());
    let entries = (1..=DOCS).flat_map(|doc| {
        (0..EACH).map(move |n| format!("{doc} {} {}", 1 + n * 6 + doc % 6, 1 + (doc + n) % 1009))
    });
    header.into_iter().chain(entries).collect()
}

fn expected() -> Vec<Vec<(u32, f32)>> {
    let row = |doc: u32| (0..EACH).map(move |n| (n * 6 + doc % 6, (1 + (doc + n) % 1009) as f32));
    (1..=DOCS).map(|doc| row(doc).collect()).collect()
}

#[test]
fn documents_reach_over_blocks() {
    assert!(uci().join("\n").len() > 3 << 18);
    for end in ["\n", "\r\n", "\n\n", " \n"] {
        let (header, entries) = (uci()[..3].join("\n"), uci()[3..].join(end));
        let text = format!("{header}\n{entries}");
        assert!(rows(&read_file("docword.txt", text)) == expected(), "{end:?}");
    }
    assert!(rows(&read_file("docword.txt.gz", gzip(uci().join("\n").as_bytes()))) == expected());
    // In any order: runs of documents, and the words of one, are brought into theirs.
    let mut lines = uci();
    lines[3..].reverse();
    assert!(rows(&read_file("docword.txt", lines.join("\n"))) == expected());
}

#[test]
fn a_fault_is_told_with_its_line_wherever_it_stands() {
    let n = uci().len();
    for at in [3, n / 2, n - 1] {
        for (odd, said) in [
            ("1 2", "has 2 fields"),
            ("1 2 x", "which is not a number"),
            ("0 1 1", "documents are numbered from 1"),
            ("1 301 1", "which is beyond the 300 words"),
            ("2001 1 1", "which is beyond the 2000 documents"),
            ("1 2 -1", "which is negative"),
            ("1 1 99999999999999999999999999999999999999999", "which is too large"),
        ] {
            let mut lines = uci();
            lines[at] = odd.into();
            if let Some(later) = lines.get_mut(at + 1) {
                *later = "later".into();
            }
            let found = fault("docword.txt", lines.join("\n"));
            assert!(
                found.contains(&format!("{}", at + 1)) && found.contains(said),
                "{at}: {found}"
            );
        }
    }
    let mut lines = uci();
    lines.extend(["1 1 1".into(), "x".into()]);
    let found = fault("docword.txt", lines.join("\n"));
    let place = format!("{}", n + 1);
    assert!(
        found.contains(&place) && found.contains("one more than the 100000 entries"),
        "{found}"
    );
    let found = fault("docword.txt", uci()[..n - 1].join("\n"));
    assert!(found.contains("only 99999 entries follow"), "{found}");
}
