//! Plain text and JSON lines: the tokeniser and its options.

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
        "a.txt: no words are left of 1 in 2 documents, with `min_docs = 3` and `max_docs = 1`, after `stop_words` and `min_length`; lower `min_docs` or raise `max_docs`, or give `format` if this is not text with one document a line"
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
        ("{\"text\": 3}", "a.jsonl, line 2, column text: found a number; a document is a text"),
        ("[1]", "a.jsonl, line 2: found a list with a number in place 1;"),
        ("{\"text\": \"x", "a.jsonl, line 2: is not JSON ("),
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
    assert!(text.starts_with("min_docs = 2: chooses words, but `vocab = "), "{text}");
}

#[test]
fn text_that_is_not_utf8_is_refused_by_line() {
    assert_eq!(
        fault("a.txt", b"fine\ncaf\xe9\n"),
        "a.txt, line 2: is not UTF-8 (byte 0xe9); convert the file, e.g. with iconv -f latin1 -t utf-8"
    );
}

#[test]
fn words_side_by_side_count_too() {
    let bare = DocsOptions { stop_words: Some(StopWords::None), ..Default::default() };
    let options = DocsOptions { ngrams: Some(2), ..Default::default() };
    let docs = read_as("a.txt", "stock of the exchange\nstock exchange rates", &options);
    // Stop words are left out before; documents are apart.
    let expected = ["exchange", "exchange_rates", "rates", "stock", "stock_exchange"];
    assert_eq!(names(&docs), expected);
    assert_eq!(rows(&docs)[0], [(0, 1.0), (3, 1.0), (4, 1.0)]);
    // Of a fixed vocabulary, those that it names; their parts need not be in it.
    let folder = Folder::new();
    let vocab = Some(folder.file("vocab.txt", "new_york\nrates\n"));
    let options = DocsOptions { vocab, ngrams: Some(3), ..Default::default() };
    let docs = read_as("a.txt", "rates new york rates", &options);
    assert_eq!(
        (names(&docs), rows(&docs)),
        (vec!["new_york", "rates"], vec![vec![(0, 1.0), (1, 2.0)]])
    );
    // Lists of words, which are taken as they are.
    let docs = read_as(
        "a.jsonl",
        "[\"a\", \"B\"]\n[\"B\", \"c\"]\n",
        &DocsOptions { ngrams: Some(2), ..Default::default() },
    );
    assert_eq!(names(&docs), ["B", "B_c", "a", "a_B", "c"]);
    for n in [0, 6] {
        let options = DocsOptions { ngrams: Some(n), ..bare.clone() };
        let fault = fault_of("a.txt", "one fish\n", &options);
        assert!(fault.contains("ngrams") && fault.contains("from 1"), "{fault}");
    }
}

#[test]
fn blanks_and_digits_and_other_languages() {
    let given = DocsOptions { tokens: Some(Tokens::Whitespace), ..Default::default() };
    assert_eq!(
        names(&read_as("a.txt", "the New_York C++ the", &given)),
        ["C++", "New_York", "the"]
    );
    let english = DocsOptions { stop_words: Some(StopWords::English), ..given.clone() };
    assert_eq!(names(&read_as("a.txt", "the New_York C++ the", &english)), ["C++", "New_York"]);
    let digits = DocsOptions { digits: true, ..Default::default() };
    assert_eq!(names(&read_as("a.txt", "covid19 in 2020", &digits)), ["2020", "covid19"]);
    for (language, text, left) in [
        ("german", "der Hund und die Katze wären außerdem müde", "hund katze müde wären"),
        ("french", "la maison où nous étions avec la plage", "maison plage"),
        ("spanish", "el perro también está aquí", "perro"),
        ("italian", "il cane è così nella casa", "cane casa"),
        ("portuguese", "o cão não está na praia", "cão praia"),
        ("dutch", "de hond is ook niet alleen thuis", "hond thuis"),
    ] {
        let stop_words = Some(StopWords::from(language.to_string()));
        assert_eq!(stop_words.as_ref().map(ToString::to_string).as_deref(), Some(language));
        let options = DocsOptions { stop_words, ..Default::default() };
        let docs = read_as("a.txt", text, &options);
        let left: Vec<&str> = left.split(' ').collect();
        assert_eq!(names(&docs), left, "{language}");
    }
    let both = DocsOptions { digits: true, ..given };
    assert!(fault_of("a.txt", "one\n", &both).contains("digits"));
    let fault = fault_of("docword.a.txt", "1\n1\n1\n1 1 1\n", &digits);
    assert!(fault.contains("digits") && fault.contains("uci"), "{fault}");
}

#[test]
fn documents_of_a_program_are_those_of_a_file() {
    let text =
        "[\"The cats of New York.\", [\"C++\", \"cats\", \"new_york\"], null, [], \"cats, cats\"]";
    let given = || {
        let words = |words: &[&str]| Document::Words(words.iter().map(|w| w.to_string()).collect());
        vec![
            Document::Text("The cats of New York.".into()),
            words(&["C++", "cats", "new_york"]),
            Document::Missing,
            words(&[]),
            Document::Text("cats, cats".into()),
        ]
    };
    let folder = Folder::new();
    let vocab = folder.file("vocab.txt", "york\ncats\n");
    for options in [
        DocsOptions::default(),
        DocsOptions { ngrams: Some(2), min_length: Some(2), ..Default::default() },
        DocsOptions { vocab: Some(vocab), ..Default::default() },
    ] {
        let (file, own) =
            (read_as("a.json", text, &options), read::docs_of(given(), &options, None));
        let own = own.unwrap();
        assert_eq!((names(&own), rows(&own)), (names(&file), rows(&file)));
        assert_eq!(own.notes().len(), 1, "one is missing");
    }
    let vocabulary = Vocabulary::named(vec!["york".into(), "dogs".into(), "cats".into()]).unwrap();
    let own = read::docs_of(given(), &DocsOptions::default(), Some(&vocabulary)).unwrap();
    assert_eq!(rows(&own)[0], [(0, 1.0), (2, 1.0)]);
    let refused = |given: Vec<Document>, options: DocsOptions| {
        read::docs_of(given, &options, None).unwrap_err().to_string()
    };
    assert!(refused(vec![], DocsOptions::default()).starts_with("the documents: has no documents"));
    let common = DocsOptions { min_docs: Some(9), ..Default::default() };
    assert!(refused(given(), common).starts_with("the documents: no words are left"));
    let field = DocsOptions { max_words: Some(0), ..Default::default() };
    assert!(refused(given(), field).contains("no word would be left"));
}
