//! What is not documents is refused with words that help.

use super::*;

#[test]
fn nothing_and_half_a_file_are_refused() {
    assert_eq!(fault("a.txt", ""), "a.txt: is empty; give a file with at least one document");
    assert_eq!(fault("a.gz", gzip("")), "a.gz: is empty; give a file with at least one document");
    let packed = gzip(UCI.repeat(50));
    let text = fault("a.txt.gz", &packed[..packed.len() / 2]);
    assert!(text.contains("the gzipped data end too early"), "{text}");
    let folder = Folder::new();
    assert!(
        folder
            .fault(read::docs(&folder.path(""), &DocsOptions::default()))
            .contains("is a folder; give one file: a UCI docword file")
    );
    assert!(
        folder
            .fault(read::docs(&folder.path("no.txt"), &DocsOptions::default()))
            .contains("there is no such file")
    );
    assert!(fault("a.txt", b"\xff\xfea\0b\0").contains("is text in UTF-16"));
    assert!(fault("a.bin", b"abc\0def").contains("is neither text nor a known binary format"));
}

#[test]
fn a_uci_header_that_lies_is_named() {
    for (text, expected) in [
        (
            "2\n5\n7\n1 1 2\n3 2 1\n",
            "docword.txt, line 5, column document: found 3, which is beyond the 2 documents that the header promises (D, line 1); fix the line or the header",
        ),
        (
            "4\n2\n2\n1 1 2\n1 3 1\n",
            "docword.txt, line 5, column word: found 3, which is beyond the 2 words that the header promises (W, line 2); fix the line or the header",
        ),
        (
            "4\n5\n1\n1 1 2\n1 3 1\n",
            "docword.txt, line 5: the line is one more than the 1 entries that the header promises (NNZ, line 3); fix the header",
        ),
        (
            "4\n5\n9\n1 1 2\n1 3 1\n",
            "docword.txt: only 2 entries follow, not the 9 entries that the header promises (NNZ, line 3); the file is cut off, or the header is wrong",
        ),
        (
            "1000000000000000000\n5\n1\n1 1 2\n",
            "docword.txt, line 1: D = 1000000000000000000 documents; there may be at most 4294967295: fix the header",
        ),
        (
            "4\n1000000000000000000\n1\n1 1 2\n",
            "docword.txt, line 2: W = 1000000000000000000 words; there may be at most 4294967295: fix the header",
        ),
        (
            "4\n5\n1000000000000000000\n1 1 2\n",
            "docword.txt: only 1 entries follow, not the 1000000000000000000 entries that the header promises (NNZ, line 3); the file is cut off, or the header is wrong",
        ),
        (
            "4000000000\n5\n1\n1 1 2\n",
            "docword.txt: has documents numbered up to 4000000000, and only 1 entries; number the documents without gaps",
        ),
        (
            "4\n4000000000\n1\n1 1 2\n",
            "docword.txt: has words numbered up to 4000000000, and only 1 entries; number the words without gaps, or give a vocabulary file with `vocab`",
        ),
        ("0\n5\n0\n", "docword.txt: has no documents; give a file with at least one"),
    ] {
        assert_eq!(fault("docword.txt", text), expected);
    }
    let text = fault("docword.x.txt", "1e18\n5\n7\n1 1 2\n");
    assert!(
        text.starts_with(
            "docword.x.txt, line 1: found \"1e18\"; a UCI bag of words starts with D, W and NNZ"
        ),
        "{text}"
    );
    let text = fault_of("a.txt", "4\n5\n", &forced(CorpusFormat::Uci));
    assert!(text.starts_with("a.txt: ends inside its header;"), "{text}");
}

#[test]
fn a_bad_count_or_number_is_named_by_line() {
    for (line, expected) in [
        ("1 1 -2", "column count: found -2, which is negative; a count is 0 or more"),
        ("1 1 nan", "column count: found NaN, which is not finite; a count is 0 or more"),
        ("1 1 inf", "column count: found inf, which is not finite"),
        ("1 1 1e300", "column count: found 1e300, which is too large"),
        ("1 1 x", "column count: found \"x\", which is not a number"),
        ("0 1 1", "column document: found 0; documents are numbered from 1"),
        ("1 0 1", "column word: found 0; words are numbered from 1"),
        ("1 -1 1", "column word: found \"-1\"; words are numbered from 1"),
        ("1 99999999999999999999 1", "column word: found \"99999999999999999999\"; words"),
    ] {
        let text = fault("a.txt", format!("4\n5\n2\n1 1 1\n{line}\n"));
        assert!(text.starts_with(&format!("a.txt, line 5, {expected}")), "{text}");
    }
    let text = fault("a.txt", "4\n5\n2\n1 1 1\n1 2\n");
    assert_eq!(text, "a.txt, line 5: has 2 fields, and `document word count` are 3: \"1 2\"");
}

#[test]
fn pairs_are_checked_one_by_one() {
    let ldac = forced(CorpusFormat::Ldac);
    for (line, expected) in [
        ("3 0:1 1:1", "a.dat, line 2, column 1: promises 3 pairs, and 2 follow;"),
        ("1 0:-1", "a.dat, line 2, column 2: found -1, which is negative;"),
        ("1 0:nan", "a.dat, line 2, column 2: found NaN, which is not finite;"),
        ("1 x:1", "a.dat, line 2, column 2: found \"x:1\"; a pair is word:count"),
        ("1 5", "a.dat, line 2, column 2: found \"5\"; a pair is word:count"),
        ("x 0:1", "a.dat, line 2, column 1: found \"x\"; a line of LDA-C starts with"),
        (
            "1 4294967295:1",
            "a.dat, line 2, column 2: found word 4294967295, numbered from 0, and numbers go up to 4294967294",
        ),
    ] {
        let text = fault_of("a.dat", format!("1 0:1\n{line}\n"), &ldac);
        assert!(text.starts_with(expected), "{text}");
    }
    let text = fault_of("a.dat", "1 4294967294:1\n", &ldac);
    assert!(text.contains("has words numbered up to 4294967295, and only 1 entries"), "{text}");
    let one = DocsOptions { one_based: true, ..forced(CorpusFormat::Svmlight) };
    assert_eq!(
        fault_of("a.svm", "1 1:1\n1 0:1\n", &one),
        "a.svm, line 2, column 2: found word 0 although `one_based` is set; leave it out if words are numbered from 0"
    );
    let folder = Folder::new();
    let options = DocsOptions { vocab: Some(folder.file("v.txt", "a\nb\n")), ..Default::default() };
    let text = folder.fault(read::docs(&folder.file("a.dat", LDAC), &options));
    assert_eq!(
        text,
        "a.dat, line 1, column 3: found word 2, numbered from 0, and v.txt names only 2 words"
    );
}

#[test]
fn vocabulary_files_name_each_word_once() {
    let folder = Folder::new();
    let corpus = folder.file("a.dat", LDAC);
    let with = |text: &str| {
        let options = DocsOptions { vocab: Some(folder.file("v.txt", text)), ..Default::default() };
        folder.fault(read::docs(&corpus, &options))
    };
    assert_eq!(
        with("a\nb\nc\nb\ne\n"),
        "v.txt, line 4: \"b\" is on line 2 already; a word may stand there once: take one of the two out, or tell them apart"
    );
    assert_eq!(
        with("a\n\nc\nd\ne\n"),
        "v.txt, line 2: the line is empty; line i names word i, so give every line a word"
    );
    assert_eq!(with("\n"), "v.txt: has no words; give a file with one word a line");
    assert!(with("").starts_with("v.txt: is empty;"));
}

#[test]
fn matrix_market_of_another_kind_is_refused() {
    let text =
        |name: &str| read::docs(&fixture(name), &DocsOptions::default()).unwrap_err().to_string();
    assert!(
        text("array.mtx")
            .contains("array.mtx, line 1: is a dense array; write the matrix in coordinate form")
    );
    assert!(
        text("symmetric.mtx")
            .contains("line 1: is a symmetric matrix; documents and words are a general one")
    );
    let head = "%%MatrixMarket matrix coordinate";
    assert!(
        fault("a.mtx", format!("{head} complex general\n1 1 1\n"))
            .contains("holds complex numbers; counts are real")
    );
    assert!(
        fault("a.mtx", format!("{head} real general\n% x\n"))
            .contains("ends before the line with its numbers")
    );
    assert!(
        fault("a.mtx", format!("{head} real general\n1 x 1\n"))
            .contains("line 2: found \"1 x 1\"; the first line behind the comments")
    );
    assert!(
        fault("a.mtx", format!("{head} real general\n2 2 1\n3 1 1\n"))
            .contains("line 3, column document: found 3, which is beyond the 2 documents that the header promises (rows, line 2)")
    );
    assert!(
        fault("a.mtx", "1 2 3 words\n")
            .contains("line 1: found \"1 2 3 words\"; a Matrix Market file starts with")
    );
}

#[test]
fn archives_that_are_no_csr_matrix_are_refused() {
    let text = read::docs(&fixture("coo.npz"), &DocsOptions::default()).unwrap_err().to_string();
    assert!(text.contains("coo.npz: holds a sparse matrix in the format \"coo\"; CSR and CSC are read: save it again with scipy.sparse.save_npz(file, x.tocsr())"), "{text}");
    assert!(fault("a.npz", "hello").contains("is not in the format npz although its name says so"));
    assert!(
        fault("a.npz.gz", gzip(fs::read(fixture("csr.npz")).unwrap()))
            .contains("is an archive that is gzipped or comes from a pipe")
    );
    assert!(fault("a.npy", b"\x93NUMPY\x01\0").contains("is a dense NumPy array"));
    let empty = b"PK\x03\x04PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert!(fault("a.npz", empty).contains("is an archive without format.npy"));
}

#[test]
fn options_without_a_meaning_are_refused() {
    for (options, name, expected) in [
        (
            DocsOptions { transpose: true, ..Default::default() },
            "a.txt",
            "transpose = true: has a meaning for the format matrix-market only, and a.txt is read as uci; leave it out",
        ),
        (
            DocsOptions { one_based: true, ..Default::default() },
            "a.txt",
            "one_based = true: has a meaning for the format svmlight only",
        ),
        (
            DocsOptions { field: Some("x".into()), ..Default::default() },
            "a.txt",
            "field = x: has a meaning for the format csv, json, jsonl and parquet with texts only",
        ),
        (
            DocsOptions { min_docs: Some(2), ..Default::default() },
            "a.txt",
            "min_docs = 2: has a meaning for the format text, csv, json, jsonl and parquet with texts only",
        ),
        (
            DocsOptions { stop_words: Some(StopWords::English), ..Default::default() },
            "a.txt",
            "stop_words = english: has a meaning",
        ),
        (
            DocsOptions { max_docs: Some(2.0), ..forced(CorpusFormat::Text) },
            "a.txt",
            "max_docs = 2: a share of the documents",
        ),
        (
            DocsOptions { max_words: Some(0), ..forced(CorpusFormat::Text) },
            "a.txt",
            "max_words = 0: no word would be left",
        ),
        (
            forced(CorpusFormat::Npz),
            "a.txt",
            "a.txt: is not in the format npz although `format` says so",
        ),
        (
            forced(CorpusFormat::Lehr),
            "a.txt",
            "a.txt: is not in the format lehr although `format` says so",
        ),
    ] {
        let text = fault_of(name, UCI, &options);
        assert!(text.starts_with(expected), "{text}");
    }
    let text =
        read::docs(&fixture("csr.npz"), &forced(CorpusFormat::Text)).unwrap_err().to_string();
    assert!(
        text.contains("is in the format npz, and `format` asks for text; leave it out"),
        "{text}"
    );
}
