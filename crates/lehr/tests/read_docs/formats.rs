//! Every format, from what its real producers write.

use super::*;

#[test]
fn every_format_gives_the_same_corpus() {
    let mut found = vec![
        ("uci", read_file("a.txt", UCI)),
        ("uci gz", read_file("a.gz", gzip(UCI))),
        ("uci crlf", read_file("a.txt", UCI.replace('\n', "\r\n"))),
        ("ldac", read_file("a.dat", LDAC)),
        ("ldac gz", read_file("a", gzip(LDAC))),
        ("matrix gz", read_file("a", gzip(fs::read(fixture("real.mtx")).unwrap()))),
    ];
    for name in [
        "real.mtx",
        "zero_based.svm",
        "queries.svm",
        "csr.npz",
        "csr_stored.npz",
        "csc.npz",
        "array_int64_f4.npz",
    ] {
        found.push((name, read::docs(&fixture(name), &DocsOptions::default()).unwrap()));
    }
    let options = DocsOptions { one_based: true, ..forced(CorpusFormat::Svmlight) };
    found.push(("one", read::docs(&fixture("one_based.svm"), &options).unwrap()));
    let options = DocsOptions { transpose: true, ..Default::default() };
    found.push(("transpose", read::docs(&fixture("transposed.mtx"), &options).unwrap()));
    #[cfg(feature = "parquet")]
    found.push((
        "parquet",
        read::docs(&fixture("numbers.parquet"), &DocsOptions::default()).unwrap(),
    ));
    let folder = Folder::new();
    let path = folder.path("corpus.lehr");
    corpus().save(&path).unwrap();
    found.push(("lehr", read::docs(&path, &DocsOptions::default()).unwrap()));
    let expected = corpus();
    for (name, docs) in found {
        assert_eq!(rows(&docs), rows(&expected), "{name}");
        assert_eq!(docs.fingerprint(), expected.fingerprint(), "{name}");
        assert_eq!(docs.n_words(), 5, "{name}");
        assert_eq!(docs.doc_frequencies(), [2, 2, 1, 0, 2], "{name}");
        assert_eq!(docs.word_counts(), [9.0, 1.5, 1.0, 0.0, 4.0], "{name}");
        assert_eq!(docs.tokens(), 15.5, "{name}");
    }
}

#[test]
fn every_dtype_of_a_sparse_matrix_is_read() {
    for name in ["int8", "uint16", "int32"] {
        let docs = read::docs(&fixture(&format!("{name}.npz")), &DocsOptions::default()).unwrap();
        assert_eq!(rows(&docs), [vec![(0, 1.0), (2, 3.0)], vec![(1, 2.0)]], "{name}");
    }
    let docs = read::docs(&fixture("bool.npz"), &DocsOptions::default()).unwrap();
    assert_eq!(rows(&docs), [vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0)]]);
    let docs = read::docs(&fixture("integer.mtx"), &DocsOptions::default()).unwrap();
    assert_eq!(rows(&docs), [vec![(0, 1.0), (2, 3.0)], vec![(1, 2.0)]]);
    let docs = read::docs(&fixture("pattern.mtx"), &DocsOptions::default()).unwrap();
    assert_eq!(docs.tokens(), 7.0);
}

#[cfg(feature = "parquet")]
#[test]
fn texts_in_parquet_become_the_vocabulary() {
    let docs = read::docs(&fixture("texts.parquet"), &DocsOptions::default()).unwrap();
    assert_eq!(names(&docs), ["apple", "plum", "pear", "nut"]);
    assert_eq!(docs.word_counts(), [9.0, 1.0, 1.5, 4.0]);
    assert_eq!(docs.n_items(), 3);
    let folder = Folder::new();
    let vocab = folder.file("v.txt", "nut\nfig\napple\n");
    let options = DocsOptions { vocab: Some(vocab), ..Default::default() };
    let docs = read::docs(&fixture("texts.parquet"), &options).unwrap();
    assert_eq!(docs.word_counts(), [4.0, 0.0, 9.0]);
    let text = read::docs(&fixture("gap.parquet"), &DocsOptions::default()).unwrap_err();
    assert!(text.to_string().contains("row 4, column c: the value is missing (null)"), "{text}");
}

#[test]
fn order_and_repetition_do_not_matter() {
    let docs = read_file("a.txt", "3\n4\n6\n3 2 1\n1 4 1\n3 1 2\n1 2 0\n1 4 0.5\n3 2 2\n");
    assert_eq!(rows(&docs), [vec![(3, 1.5)], vec![], vec![(0, 2.0), (1, 3.0)]]);
    assert_eq!((docs.n_items(), docs.n_words()), (3, 4));
}

#[test]
fn names_come_from_a_file_asked_for_or_beside() {
    let folder = Folder::new();
    folder.file("vocab.x.txt", "a\nb\nc\nd\ne\n\n");
    for (name, bytes) in
        [("docword.x.txt", UCI.as_bytes().to_vec()), ("docword.x.txt.gz", gzip(UCI))]
    {
        let docs = read::docs(&folder.file(name, bytes), &DocsOptions::default()).unwrap();
        assert_eq!(names(&docs), ["a", "b", "c", "d", "e"]);
    }
    let options = DocsOptions { vocab: Some(folder.path("vocab.x.txt")), ..Default::default() };
    for name in ["csr.npz", "real.mtx", "zero_based.svm"] {
        assert_eq!(names(&read::docs(&fixture(name), &options).unwrap()).len(), 5, "{name}");
    }
    let converted = folder.path("c.lehr");
    corpus().save(&converted).unwrap();
    assert_eq!(names(&read::docs(&converted, &options).unwrap())[4], "e");
    folder.file("vocab.y.txt", "a\nb\n");
    let text =
        folder.fault(read::docs(&folder.file("docword.y.txt", UCI), &DocsOptions::default()));
    assert_eq!(
        text,
        "vocab.y.txt: names 2 words, but docword.y.txt has 5; it was taken because it is next to it: rename it, or name another with `vocab`"
    );
}

#[test]
fn ldac_and_svmlight_are_told_apart_and_can_be_forced() {
    assert_eq!(read_file("a", "2 0:1 1:1\n1 5:1\n").n_words(), 6);
    // A label that is not the number of pairs on one line makes it SVMlight on all.
    assert_eq!(rows(&read_file("a", "2 0:1 1:1\n1 5:1 6:1\n"))[1], [(5, 1.0), (6, 1.0)]);
    let docs =
        read_as("a", "1 3:2\n", &DocsOptions { one_based: true, ..forced(CorpusFormat::Svmlight) });
    assert_eq!(rows(&docs), [[(2, 2.0)]]);
    assert!(
        fault_of("a", "5 3:2\n", &forced(CorpusFormat::Ldac))
            .contains("line 1, column 1: promises 5 pairs, and 1 follow")
    );
}

#[test]
fn options_are_read_from_a_configuration() {
    let options: DocsOptions = toml::from_str(
        "format = \"matrix-market\"\nvocab = \"v.txt\"\ntranspose = true\nstop_words = \"none\"\nmax_docs = 0.7",
    )
    .unwrap();
    assert_eq!(options.format, Some(CorpusFormat::MatrixMarket));
    assert_eq!(options.stop_words, Some(StopWords::None));
    assert!(toml::from_str::<DocsOptions>("min_doc = 1").is_err());
    for name in
        ["uci", "ldac", "svmlight", "matrix-market", "npz", "parquet", "text", "jsonl", "lehr"]
    {
        let format: CorpusFormat = name.parse().unwrap();
        assert_eq!(serde_json::to_value(format).unwrap(), name);
    }
    let text = "bow".parse::<CorpusFormat>().unwrap_err().to_string();
    assert!(text.starts_with("must be uci, ldac,"), "{text}");
}
