//! Files in, documents out: every format, every refusal, and the converted corpus.

#[path = "common/files.rs"]
mod files;

use std::fs;
use std::path::{Path, PathBuf};

use lehr::data::{Docs, Vocabulary};
use lehr::read::{self, CorpusFormat, DocsOptions, StopWords};
use proptest::prelude::*;

use files::{Folder, gzip};

fn read_as(name: &str, bytes: impl AsRef<[u8]>, options: &DocsOptions) -> Docs {
    let folder = Folder::new();
    read::docs(&folder.file(name, bytes), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Docs {
    read_as(name, bytes, &DocsOptions::default())
}

fn fault_of(name: &str, bytes: impl AsRef<[u8]>, options: &DocsOptions) -> String {
    let folder = Folder::new();
    folder.fault(read::docs(&folder.file(name, bytes), options))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    fault_of(name, bytes, &DocsOptions::default())
}

fn forced(format: CorpusFormat) -> DocsOptions {
    DocsOptions { format: Some(format), ..Default::default() }
}

fn rows(docs: &Docs) -> Vec<Vec<(u32, f32)>> {
    (0..docs.n_items()).map(|n| docs.doc(n).iter().map(|e| (e.word, e.count)).collect()).collect()
}

fn names(docs: &Docs) -> Vec<&str> {
    docs.vocabulary().names().unwrap().iter().map(String::as_str).collect()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/docs").join(name)
}

/// The corpus of `fixtures/docs/make.py`.
fn corpus() -> Docs {
    let rows = vec![
        vec![(0, 2.0), (2, 1.0)],
        vec![],
        vec![(1, 0.5), (4, 3.0)],
        vec![(0, 7.0), (1, 1.0), (4, 1.0)],
    ];
    Docs::from_rows(rows, 5).unwrap()
}

const UCI: &str = "4\n5\n7\n1 1 2\n1 3 1\n3 2 0.5\n3 5 3\n4 1 7\n4 2 1\n4 5 1\n";
const LDAC: &str = "2 0:2 2:1\n0\n2 1:0.5 4:3\n3 0:7 1:1 4:1\n";

mod formats {
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
            let docs =
                read::docs(&fixture(&format!("{name}.npz")), &DocsOptions::default()).unwrap();
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
        assert!(
            text.to_string().contains("row 4, column c: the value is missing (null)"),
            "{text}"
        );
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
            "vocab.y.txt: names 2 words, but docword.y.txt has 5; it was taken because it lies beside it: rename it, or name another with vocab"
        );
    }

    #[test]
    fn ldac_and_svmlight_are_told_apart_and_can_be_forced() {
        assert_eq!(read_file("a", "2 0:1 1:1\n1 5:1\n").n_words(), 6);
        // A label that is not the number of pairs on one line makes it SVMlight on all.
        assert_eq!(rows(&read_file("a", "2 0:1 1:1\n1 5:1 6:1\n"))[1], [(5, 1.0), (6, 1.0)]);
        let docs = read_as(
            "a",
            "1 3:2\n",
            &DocsOptions { one_based: true, ..forced(CorpusFormat::Svmlight) },
        );
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
        assert!(text.starts_with("format = bow: give one of uci, ldac,"), "{text}");
    }
}

mod texts {
    use super::*;

    #[test]
    fn words_are_split_chosen_and_sorted() {
        let docs = read_file("a.txt", "The cat's Hat, the HAT!\n\nÉtude; an x2y étude\n");
        assert_eq!(names(&docs), ["cat", "hat", "étude"]);
        assert_eq!(rows(&docs), [vec![(0, 1.0), (1, 2.0)], vec![], vec![(2, 2.0)]]);
        let options = DocsOptions {
            stop_words: Some(StopWords::None),
            min_length: Some(1),
            ..Default::default()
        };
        let docs = read_as("a.txt", "The cat's hat", &options);
        assert_eq!(names(&docs), ["cat", "hat", "s", "the"]);
        let folder = Folder::new();
        let stop = folder.file("stop.txt", "Cat\nhat's\n");
        let options = DocsOptions { stop_words: Some(StopWords::File(stop)), ..Default::default() };
        assert_eq!(names(&read_as("a.txt", "the cat hat dog", &options)), ["dog", "the"]);
    }

    #[test]
    fn rare_and_common_words_are_left_out_of_large_corpora() {
        let mut text = String::new();
        for n in 0..600 {
            let word = |i: usize| char::from(b'a' + (i % 26) as u8);
            let rare = if n < 4 { "seldomly" } else { "" };
            text += &format!("common {rare} q{}q{} word{}\n", word(n), word(n / 26), word(n));
            text += &format!("pair{}{}\n", word(n), word(n));
        }
        let docs = read_file("a.txt", &text);
        assert!(!names(&docs).contains(&"seldomly"));
        assert!(names(&docs).contains(&"common"), "exactly half is not more than half");
        let with = |options: DocsOptions| names(&read_as("a.txt", &text, &options)).len();
        assert_eq!(with(DocsOptions { max_words: Some(7), ..Default::default() }), 7);
        let fewer = with(DocsOptions { max_docs: Some(0.4), ..Default::default() });
        assert_eq!(fewer, names(&docs).len() - 1);
        assert_eq!(
            fault_of(
                "a.txt",
                "one fish\ntwo fish\n",
                &DocsOptions { min_docs: Some(3), ..Default::default() }
            ),
            "a.txt: no words are left of 1 in 2 documents, with min_docs = 3 and max_docs = 1, after stop_words and min_length; lower min_docs or raise max_docs, or set format if this is not text with one document a line"
        );
    }

    #[test]
    fn json_lines_are_read_by_field() {
        let text = "{\"id\": 1, \"text\": \"cat dog\"}\n\n{\"text\": \"\"}\n";
        let docs = read_file("a.jsonl", text);
        assert_eq!((docs.n_items(), names(&docs)), (2, vec!["cat", "dog"]));
        let options = DocsOptions { field: Some("body".into()), ..Default::default() };
        assert_eq!(names(&read_as("a", "{ \"body\": \"caf\\u00e9\"}\n", &options)), ["café"]);
        for (line, expected) in [
            (
                "{\"text\": 3}",
                "a.jsonl, line 2, column text: found a number; the document must be a text",
            ),
            (
                "{\"body\": \"x\"}",
                "a.jsonl, line 2, column text: there is no such field, only: body; name the one with the text with field",
            ),
            ("[1]", "a.jsonl, line 2: is not a JSON object ("),
            ("{\"text\": \"x", "a.jsonl, line 2: is not a JSON object ("),
        ] {
            let text = fault("a.jsonl", format!("{{\"text\": \"ok\"}}\n{line}\n"));
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn a_vocabulary_file_fixes_the_words() {
        let folder = Folder::new();
        let vocab = folder.file("v.txt", "the\ncat\nof\n");
        let options = DocsOptions { vocab: Some(vocab), ..Default::default() };
        let docs = read_as("a.txt", "The cat of the house\n", &options);
        assert_eq!(rows(&docs), [[(0, 2.0), (1, 1.0), (2, 1.0)]]);
        let both = DocsOptions { min_docs: Some(2), ..options };
        let text = fault_of("a.txt", "cat", &both);
        assert!(text.starts_with("min_docs = 2: chooses words, but vocab = "), "{text}");
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_by_line() {
        assert_eq!(
            fault("a.txt", b"fine\ncaf\xe9\n"),
            "a.txt, line 2: is not UTF-8 (byte 0xe9); convert the file, e.g. with iconv -f latin1 -t utf-8"
        );
    }
}

mod new_documents {
    use super::*;

    fn vocabulary(names: &[&str]) -> Vocabulary {
        Vocabulary::named(names.iter().map(|&name| name.into()).collect()).unwrap()
    }

    #[test]
    fn words_are_matched_by_name_and_the_others_counted() {
        let folder = Folder::new();
        let path = folder.file("docword.x.txt", UCI);
        folder.file("vocab.x.txt", "a\nb\nc\nd\ne\n");
        let model = vocabulary(&["e", "z", "a"]);
        let (docs, unknown) = read::docs_with(&path, &DocsOptions::default(), &model).unwrap();
        assert_eq!(rows(&docs), [vec![(2, 2.0)], vec![], vec![(0, 3.0)], vec![(0, 1.0), (2, 7.0)]]);
        assert_eq!((unknown.words, unknown.tokens), (2, 2.5));
        assert_eq!(docs.vocabulary(), &model);
    }

    #[test]
    fn words_without_names_are_matched_by_number() {
        let folder = Folder::new();
        let path = folder.file("a.ldac", LDAC);
        let (docs, unknown) =
            read::docs_with(&path, &DocsOptions::default(), &vocabulary(&["p", "q"])).unwrap();
        assert_eq!(docs.word_counts(), [9.0, 1.5]);
        assert_eq!((unknown.words, unknown.tokens), (2, 5.0));
        let wider = Vocabulary::unnamed(9);
        let (docs, unknown) = read::docs_with(&path, &DocsOptions::default(), &wider).unwrap();
        assert_eq!((docs.n_words(), unknown.words), (9, 0));
    }

    #[test]
    fn text_keeps_the_words_of_the_model_only() {
        let folder = Folder::new();
        let path = folder.file("a.txt", "the cat of cat house\n");
        let options = DocsOptions { min_docs: Some(50), ..Default::default() };
        let (docs, unknown) =
            read::docs_with(&path, &options, &vocabulary(&["of", "cat"])).unwrap();
        assert_eq!(docs.word_counts(), [1.0, 2.0]);
        assert_eq!((unknown.words, unknown.tokens), (1, 1.0));
        let text = read::docs_with(&path, &options, &Vocabulary::unnamed(2)).unwrap_err();
        assert!(text.to_string().contains("the model's vocabulary has numbers only"), "{text}");
    }

    #[test]
    fn a_converted_corpus_of_the_same_words_stays_in_its_file() {
        let folder = Folder::new();
        let path = folder.path("c.lehr");
        corpus().save(&path).unwrap();
        let model = vocabulary(&["a", "b", "c", "d", "e"]);
        let (docs, unknown) = read::docs_with(&path, &DocsOptions::default(), &model).unwrap();
        assert_eq!((docs.mapped_bytes(), unknown.words), (56, 0));
        assert_eq!(docs.vocabulary(), &model);
    }
}

mod refusals {
    use super::*;

    #[test]
    fn nothing_and_half_a_file_are_refused() {
        assert_eq!(fault("a.txt", ""), "a.txt: is empty; give a file with at least one document");
        assert_eq!(
            fault("a.gz", gzip("")),
            "a.gz: is empty; give a file with at least one document"
        );
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
                "docword.txt, line 5, column document: found 3, which is beyond the 2 documents that the header promises (D, line 1); mend the line or the header",
            ),
            (
                "4\n2\n2\n1 1 2\n1 3 1\n",
                "docword.txt, line 5, column word: found 3, which is beyond the 2 words that the header promises (W, line 2); mend the line or the header",
            ),
            (
                "4\n5\n1\n1 1 2\n1 3 1\n",
                "docword.txt, line 5: the line is one more than the 1 entries that the header promises (NNZ, line 3); mend the header",
            ),
            (
                "4\n5\n9\n1 1 2\n1 3 1\n",
                "docword.txt: only 2 entries follow, not the 9 entries that the header promises (NNZ, line 3); the file is cut off, or the header is wrong",
            ),
            (
                "1000000000000000000\n5\n1\n1 1 2\n",
                "docword.txt, line 1: D = 1000000000000000000 documents; there may be at most 4294967295: mend the header",
            ),
            (
                "4\n1000000000000000000\n1\n1 1 2\n",
                "docword.txt, line 2: W = 1000000000000000000 words; there may be at most 4294967295: mend the header",
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
                "docword.txt: has words numbered up to 4000000000, and only 1 entries; number the words without gaps, or give a vocabulary file with vocab",
            ),
            ("0\n5\n0\n", "docword.txt: has no documents; give a file with at least one"),
        ] {
            assert_eq!(fault("docword.txt", text), expected);
        }
        let text = fault("docword.x.txt", "1e18\n5\n7\n1 1 2\n");
        assert!(
            text.starts_with(
                "docword.x.txt, line 1: found \"1e18\"; a UCI bag of words begins with D, W and NNZ"
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
            ("x 0:1", "a.dat, line 2, column 1: found \"x\"; a line of LDA-C begins with"),
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
            "a.svm, line 2, column 2: found word 0 although one_based is set; leave one_based out if words are numbered from 0"
        );
        let folder = Folder::new();
        let options =
            DocsOptions { vocab: Some(folder.file("v.txt", "a\nb\n")), ..Default::default() };
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
            let options =
                DocsOptions { vocab: Some(folder.file("v.txt", text)), ..Default::default() };
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
        let text = |name: &str| {
            read::docs(&fixture(name), &DocsOptions::default()).unwrap_err().to_string()
        };
        assert!(
            text("array.mtx").contains(
                "array.mtx, line 1: is a dense array; write the matrix in coordinate form"
            )
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
                .contains("line 1: found \"1 2 3 words\"; a Matrix Market file begins with")
        );
    }

    #[test]
    fn archives_that_are_no_csr_matrix_are_refused() {
        let text =
            read::docs(&fixture("coo.npz"), &DocsOptions::default()).unwrap_err().to_string();
        assert!(text.contains("coo.npz: holds a sparse matrix in the format \"coo\"; CSR and CSC are read: save it again with scipy.sparse.save_npz(file, x.tocsr())"), "{text}");
        assert!(
            fault("a.npz", "hello").contains("is not in the format npz although its name says so")
        );
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
                "field = x: has a meaning for the format jsonl only",
            ),
            (
                DocsOptions { min_docs: Some(2), ..Default::default() },
                "a.txt",
                "min_docs = 2: has a meaning for the format text and jsonl only",
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
                "a.txt: is not in the format npz although format says so",
            ),
            (
                forced(CorpusFormat::Lehr),
                "a.txt",
                "a.txt: is not in the format lehr although format says so",
            ),
        ] {
            let text = fault_of(name, UCI, &options);
            assert!(text.starts_with(expected), "{text}");
        }
        let text =
            read::docs(&fixture("csr.npz"), &forced(CorpusFormat::Text)).unwrap_err().to_string();
        assert!(
            text.contains("is in the format npz, and format asks for text; leave format out"),
            "{text}"
        );
    }
}

mod converted {
    use super::*;

    fn converted(docs: &Docs) -> Vec<u8> {
        let folder = Folder::new();
        docs.save(&folder.path("c.lehr")).unwrap();
        fs::read(folder.path("c.lehr")).unwrap()
    }

    fn named() -> Docs {
        corpus().with_vocabulary(["a", "b", "c", "d", "ë"].map(String::from).to_vec()).unwrap()
    }

    #[test]
    fn everything_comes_back() {
        let folder = Folder::new();
        let path = folder.path("c.lehr");
        named().save(&path).unwrap();
        let docs = read::docs(&path, &DocsOptions::default()).unwrap();
        assert_eq!(names(&docs), ["a", "b", "c", "d", "ë"]);
        assert_eq!((docs.mapped_bytes(), corpus().mapped_bytes()), (56, 0));
        let part = docs.subset(&[3, 0, 0]);
        assert_eq!(part.fingerprint(), named().subset(&[3, 0, 0]).fingerprint());
        assert_eq!(part.word_counts(), [11.0, 1.0, 2.0, 0.0, 1.0]);
        assert_eq!(part.doc_frequencies(), [3, 1, 2, 0, 1]);
        docs.release();
        assert_eq!(rows(&docs), rows(&corpus()));
        // Onto itself, and a part of it.
        part.save(&path).unwrap();
        assert_eq!(rows(&docs), rows(&corpus()), "the old file stays as long as it is in use");
        let again = read::docs(&path, &DocsOptions::default()).unwrap();
        assert_eq!((again.fingerprint(), again.tokens()), (part.fingerprint(), part.tokens()));
        assert!(again.fault().is_none());
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused() {
        let whole = converted(&named());
        for length in
            [1, 7, 8, 20, 87, 88, 4095, 4096, 4100, 4152, 4192, 4200, 4232, 4252, whole.len() - 1]
        {
            let text = fault("c.lehr", &whole[..length]);
            assert!(text.starts_with("c.lehr: "), "{text}");
        }
        assert_eq!(
            fault("c.lehr", &whole[..87]),
            "c.lehr: ends inside its header: it is cut off; convert the corpus again"
        );
        assert_eq!(
            fault("c.lehr", &whole[..whole.len() - 1]),
            format!(
                "c.lehr: has {} bytes instead of the {} that its header promises: it is cut off or damaged; convert the corpus again",
                whole.len() - 1,
                whole.len()
            )
        );
        assert!(fault("c.lehr", [&whole[..], b"x"].concat()).contains("cut off or damaged"));
    }

    #[test]
    fn every_flipped_byte_is_found_or_harmless() {
        let whole = converted(&named());
        let folder = Folder::new();
        let (mut refused, mut late) = (0, 0);
        for at in (8..100).chain(4096..whole.len()) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                let path = folder.file("c.lehr", bytes);
                match read::docs(&path, &DocsOptions::default()) {
                    Err(_) => refused += 1,
                    Ok(docs) => {
                        assert!(
                            !(8..88).contains(&at) && at < 4152,
                            "byte {at} is covered by a sum"
                        );
                        for n in 0..docs.n_items() {
                            docs.doc(n).iter().for_each(|entry| assert!(entry.word < 5));
                        }
                        late += usize::from(docs.fault().is_some());
                    }
                }
            }
        }
        assert!(refused > 400 && late > 50, "{refused} {late}");
    }

    #[test]
    fn a_damaged_document_is_empty_and_reported() {
        let mut bytes = converted(&named());
        bytes[4096] = 200;
        let folder = Folder::new();
        let path = folder.file("c.lehr", &bytes);
        let docs = read::docs(&path, &DocsOptions::default()).unwrap();
        assert!(docs.fault().is_none());
        assert_eq!((docs.doc(0).len(), docs.doc(2).len()), (0, 2));
        assert_eq!(
            docs.fault().unwrap().to_string(),
            format!(
                "{}: is damaged: document 1 has words that do not rise; convert the corpus again",
                path.display()
            )
        );
        let text = docs.save(&folder.path("d.lehr")).unwrap_err().to_string();
        assert!(text.contains("document 1 has words that do not rise"), "{text}");
        assert!(!folder.path("d.lehr").exists());
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = converted(&corpus());
        bytes[8] = 2;
        assert_eq!(
            fault("c.lehr", bytes),
            "c.lehr: is a converted corpus of version 2, and this build of lehr reads version 1; convert the corpus again"
        );
        let text = fault("c.lehr.gz", gzip(converted(&corpus())));
        assert!(text.contains("is a converted corpus that is gzipped"), "{text}");
        assert!(
            fault("c.lehr", "words")
                .contains("is not in the format lehr although its name says so")
        );
    }
}

#[test]
fn topic_tables_are_not_negative() {
    let folder = Folder::new();
    let text =
        read::topic_table(&folder.file("t.csv", "a,b\n1,2\n3,-1\n")).unwrap_err().to_string();
    assert!(
        text.ends_with("t.csv: topic 2, word b: found -1; a topic's weights are 0 or more"),
        "{text}"
    );
    let (table, words) = read::topic_table(&folder.file("t.csv", "1,2\n3,4\n")).unwrap();
    assert_eq!((table.n_rows(), table.width(), words), (2, 2, None));
}

#[test]
fn names_must_be_one_per_word() {
    let text = corpus().with_vocabulary(vec!["a".into()]).unwrap_err().to_string();
    assert_eq!(text, "1 names for 5 words; give one for each word");
}

mod anything {
    use super::*;

    const TEXTS: [CorpusFormat; 6] = [
        CorpusFormat::Uci,
        CorpusFormat::Ldac,
        CorpusFormat::Svmlight,
        CorpusFormat::MatrixMarket,
        CorpusFormat::Text,
        CorpusFormat::Jsonl,
    ];

    fn mutated(
        bytes: &[u8],
        changes: &[(prop::sample::Index, u8)],
        cut: prop::sample::Index,
    ) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let kept = bytes.len() - cut.index(bytes.len()) / 4;
        bytes.truncate(kept);
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let folder = Folder::new();
            let path = folder.file("a.txt", &bytes);
            let _ = read::docs(&path, &DocsOptions::default());
            for format in TEXTS {
                let _ = read::docs(&path, &forced(format));
            }
        }

        #[test]
        fn no_number_like_text_is_a_panic(text in "[-0-9.: \n\r#e%{}\"]{0,80}") {
            let folder = Folder::new();
            let path = folder.file("a.txt", &text);
            for format in TEXTS {
                let _ = read::docs(&path, &forced(format));
            }
            let _ = read::docs(&path, &DocsOptions { one_based: true, ..forced(CorpusFormat::Svmlight) });
        }

        #[test]
        fn no_damage_is_a_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let folder = Folder::new();
            let mut files = vec![("a.txt", UCI.as_bytes().to_vec()), ("a.dat", LDAC.as_bytes().to_vec()), ("a.gz", gzip(UCI))];
            for name in ["csr.npz", "csr_stored.npz", "csc.npz", "real.mtx", "zero_based.svm", "texts.parquet", "numbers.parquet"] {
                files.push((name, fs::read(fixture(name)).unwrap()));
            }
            corpus().save(&folder.path("c.lehr")).unwrap();
            files.push(("d.lehr", fs::read(folder.path("c.lehr")).unwrap()));
            for (name, bytes) in files {
                let path = folder.file(name, mutated(&bytes, &changes, cut));
                if let Ok(docs) = read::docs(&path, &DocsOptions::default()) {
                    for n in 0..docs.n_items() {
                        prop_assert!(docs.doc(n).iter().all(|entry| (entry.word as usize) < docs.n_words()));
                    }
                    let _ = read::docs_with(&path, &DocsOptions::default(), &Vocabulary::unnamed(3));
                }
            }
        }

        #[test]
        fn corpora_survive_every_way_through_a_file(
            rows in prop::collection::vec(prop::collection::vec((0..20u32, 1..1000u32), 0..12), 1..12),
        ) {
            let rows = rows.into_iter().map(|row| row.into_iter().map(|(v, n)| (v, f64::from(n) / 4.0)).collect());
            let docs = Docs::from_rows(rows.collect::<Vec<Vec<_>>>(), 20).unwrap();
            let folder = Folder::new();
            docs.save(&folder.path("c.lehr")).unwrap();
            let mut uci = String::new();
            let mut n_entries = 0;
            // Backwards, so that nothing is in order.
            for n in (0..docs.n_items()).rev() {
                for entry in docs.doc(n).iter().rev() {
                    uci += &format!("{} {} {}\n", n + 1, entry.word + 1, entry.count);
                    n_entries += 1;
                }
            }
            let uci = folder.file("u.txt", format!("{}\n20\n{n_entries}\n{uci}", docs.n_items()));
            for path in [folder.path("c.lehr"), uci] {
                let read = read::docs(&path, &DocsOptions::default()).unwrap();
                prop_assert_eq!(read.fingerprint(), docs.fingerprint());
                prop_assert_eq!(read.word_counts(), docs.word_counts());
                prop_assert_eq!(read.doc_frequencies(), docs.doc_frequencies());
            }
        }
    }
}
