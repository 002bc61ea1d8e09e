//! Documents in tables and in JSON: which column or field, what is missing, ids.

use super::*;
use lehr::data::FromFile;
use lehr::read::Header;
use lehr::write::{self, Column};

fn field(name: &str) -> DocsOptions {
    DocsOptions { field: Some(name.into()), ..Default::default() }
}

fn with_ids() -> DocsOptions {
    DocsOptions { ids: true, ..Default::default() }
}

fn notes(docs: &Docs) -> Vec<String> {
    docs.notes().iter().map(ToString::to_string).collect()
}

/// Two documents, in every form.
fn is_small(docs: &Docs) {
    assert_eq!(names(docs), ["cat", "dog", "fish"]);
    assert_eq!(rows(docs), [vec![(0, 2.0), (1, 1.0)], vec![(2, 1.0)]]);
}

#[test]
fn a_table_has_a_column_of_documents() {
    let quoted = "id,date,text\n7,2020-01-01,\"cat, dog\n\"\"cat\"\"\"\n8,2020-01-02,fish\n";
    is_small(&read_file("a.csv", quoted));
    is_small(&read_file("a.CSV.gz", gzip(quoted)));
    is_small(&read_file("a.csv", format!("\u{feff}{}", quoted.replace('\n', "\r\n"))));
    is_small(&read_file("a.csv", "text;n\ncat dog cat;1\nfish;2\n"));
    is_small(&read_file("a.tsv", "Text\ncat, dog; cat\nfish\n"));
    is_small(&read_file("a.tsv", "n\ttext\n1\tcat dog, cat\n2\tfish\n"));
    is_small(&read_as("a.csv", "title,body\nx y,cat dog cat\nz,fish\n", &field("body")));
    is_small(&read_as("a.csv", "title,body\nx y,cat dog cat\nz,fish\n", &field("2")));
    is_small(&read_as("data", quoted, &forced(CorpusFormat::Csv)));
    // A sign at the start of a line is no comment, and blanks are no separators.
    is_small(&read_file("a.csv", "some text\n#cat dog cat\nfish\n"));
    let none = DocsOptions { header: Header::No, ..Default::default() };
    is_small(&read_as("a.csv", "1,cat dog cat\n2,fish\n", &none));
}

#[test]
fn the_only_column_of_text_needs_no_name() {
    is_small(&read_file("a.csv", "id,when,body\na1,2020-01-01,cat dog cat\na2,12:30,fish\n"));
    assert_eq!(
        fault("a.csv", "title,body,n\none,a cat and a dog,1\n"),
        "a.csv, line 1: has the columns title, body, n, none of them called text; name the one with the documents, e.g. `field = body`, or give `header = no` if this line is not one of names"
    );
    assert_eq!(
        fault("iris.csv", "a,b\n1,2\n3,4\n"),
        "iris.csv, line 1: has the columns a, b, none of them called text, and none of them holds text; documents are texts, or counts of words: save a matrix of counts with scipy.sparse.save_npz, and name a column with `field` if it holds texts after all"
    );
    assert_eq!(
        fault_of("a.csv", "title,body\na,b\n", &field("text")),
        "a.csv: `field` asks for column \"text\", which is not there; the columns are title, body; give a name or a number from 1 to 2"
    );
    // What was looked at to find it is read as well, and so is what follows.
    let text: String =
        (0..300).map(|n| format!("{n},{}\n", ["cat", "dog", "fish"][n % 3])).collect();
    assert_eq!(read_file("a.csv", format!("n,body\n{text}")).n_items(), 300);
}

#[test]
fn a_row_that_does_not_fit_is_named() {
    for (row, expected) in [
        (
            "1,cat,dog",
            "a.csv, line 3: found 3 fields, expected 2 as in line 1; the fields are separated by commas",
        ),
        ("1,\"cat", "a.csv, line 3: a quote opened in this line is never closed"),
    ] {
        let text = fault("a.csv", format!("n,text\n1,cat\n{row}\n"));
        assert!(text.starts_with(expected), "{text}");
    }
    assert_eq!(
        fault("a.csv", b"n,text\n1,cat\n2,caf\xe9\n"),
        "a.csv, line 3, column text: is not UTF-8 (byte 0xe9); convert the file, e.g. with iconv -f latin1 -t utf-8"
    );
    assert_eq!(
        fault("a.csv", "id,text\n"),
        "a.csv: has no documents; give a file with at least one"
    );
    let long = format!("text\n\"{}\"\n", "cat\n".repeat(17 << 20));
    assert!(fault("a.csv", long).starts_with("a.csv, line 2: a quote opened in this line"));
}

#[test]
fn a_json_list_holds_documents_of_any_kind() {
    is_small(&read_file("a.json", r#"[{"id": 7, "text": "cat dog cat"}, {"text": "fish"}]"#));
    is_small(&read_file("a.json.gz", gzip(r#"["cat dog cat", "fish"]"#)));
    is_small(&read_file("a.json", r#"[["cat", "dog", "cat"], ["fish"]]"#));
    is_small(&read_file(
        "a.json",
        "\n [\n {\"id\": 1,\n \"body\": \"cat dog cat\"}\n,\n[\"fish\"]]\n",
    ));
    // By content, whatever the name.
    is_small(&read_file("data", "\u{feff}[{\"text\": \"cat dog cat\"}, \"fish\"]"));
    let nested = r#"[{"a": {"b": "cat dog cat", "c": "x"}}, {"a": {"b": "fish"}}]"#;
    is_small(&read_as("a.json", nested, &field("a.b")));
    is_small(&read_file("a.json", "{\"text\": \"cat dog cat\"}\n{\"text\": \"fish\"}\n"));
    is_small(&read_file("a.jsonl", "\"cat dog cat\"\n[\"fish\"]\n"));
    is_small(&read_as(
        "a.jsonl",
        "{\"a\": {\"b\": \"cat dog cat\"}}\n{\"a\": {\"b\": \"fish\"}}\n",
        &field("a.b"),
    ));
}

#[test]
fn tokens_are_taken_as_they_are() {
    let text = r#"[["The", "new york", "x", "C++", ""], ["the", "x"]]"#;
    let docs = read_file("a.json", text);
    assert_eq!(names(&docs), ["C++", "The", "new york", "the", "x"]);
    let options = DocsOptions {
        stop_words: Some(StopWords::English),
        min_length: Some(2),
        ..Default::default()
    };
    assert_eq!(names(&read_as("a.json", text, &options)), ["C++", "The", "new york"]);
    let folder = Folder::new();
    let vocab = folder.file("v.txt", "x\nnew york\n");
    let options = DocsOptions { vocab: Some(vocab), ..Default::default() };
    assert_eq!(
        rows(&read_as("a.json", text, &options)),
        [vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0)]]
    );
}

#[test]
fn what_is_missing_is_empty_counted_and_told() {
    let json = r#"[{"text": "cat dog cat"}, {"text": null}, {"id": 3}, {"text": "fish"}, {"text": ""}, null]"#;
    let docs = read_file("a.json", json);
    assert_eq!(
        rows(&docs),
        [vec![(0, 2.0), (1, 1.0)], vec![], vec![], vec![(2, 1.0)], vec![], vec![]]
    );
    let note = "a.json: 3 of 6 documents have no text in the field text; they are empty, and change nothing";
    assert!(notes(&docs)[0].ends_with(note), "{:?}", notes(&docs));
    let docs = read_file("a.csv", "id,text\n1,cat\n2,\n3,\" \"\n4,fish\n");
    assert_eq!(docs.n_items(), 4);
    let note =
        "a.csv: 2 of 4 documents have no text in column text; they are empty, and change nothing";
    assert!(notes(&docs)[0].ends_with(note), "{:?}", notes(&docs));
    assert_eq!(notes(&docs.subset(&[0])).len(), 1);
    assert!(notes(&read_file("a.csv", "text\ncat\n")).is_empty());
}

#[test]
fn json_that_is_no_list_of_documents_is_refused() {
    for (text, expected) in [
        (
            "[\"cat\",\n{\"text\": 3}]",
            "a.json, line 2, column text: document 2: found a number; a document is a text, a list of its words as strings, or null if there is none",
        ),
        (
            "[[\"cat\", 3]]",
            "a.json, line 1: document 1: found a list with a number in place 2; a document is a text, or a list of its words as strings",
        ),
        (
            "[{\"title\": \"x\", \"meta\": {\"lang\": \"en\", \"n\": 1}}]",
            "a.json, line 1: document 1: there is no field text, only meta.lang, meta.n, title; name the one with the documents, e.g. `field = meta.lang`",
        ),
        (
            "[{\"n\": 1}]",
            "a.json, line 1: document 1: there is no field text, only n; name the one with the documents, e.g. `field`",
        ),
        (
            "{\n\"docs\": [\"cat\"]}",
            "a.json, line 2: holds one JSON object, whose first field is \"docs\", and not a list of documents; give the list alone, or one object a line in a file named .jsonl",
        ),
        (
            "[\"cat\", \"dog\"",
            "a.json, line 1: is not a JSON list of documents: EOF while parsing a list",
        ),
        (
            "[\"cat\",, 1]",
            "a.json, line 1: is not a JSON list of documents: expected value at line 1 column 8, in document 2",
        ),
        ("[\"cat\"] x", "a.json, line 1: is not a JSON list of documents: trailing characters"),
        (
            "7",
            "a.json, line 1: is not a JSON list of documents: invalid type: integer `7`, expected a list of documents",
        ),
        ("the cat sat\n", "a.json, line 1: is not a JSON list of documents: expected "),
        ("[]", "a.json: has no documents; give a file with at least one"),
    ] {
        let found = fault("a.json", text);
        assert!(found.starts_with(expected), "{found}");
    }
    let found = fault_of("a.json", r#"[{"body": "cat"}, {"title": "x"}]"#, &field("bodi"));
    assert_eq!(
        found,
        "a.json: no document has the field of `field = bodi`; those of the first are body"
    );
    let deep = format!("[{}1{}]", "[".repeat(200), "]".repeat(200));
    assert!(fault("a.json", deep).contains("recursion limit exceeded"));
    let long = format!("[\"cat\", \"{}\"]", "cat ".repeat(17 << 20));
    assert_eq!(
        fault("a.json", long),
        "a.json: document 2 is longer than 64 MiB; give a list of documents"
    );
}

#[test]
fn a_list_longer_than_a_document_may_be_is_read() {
    let one = format!("\"cat{} dog\",", " ".repeat(9 << 20));
    let docs = read_file("a.json", format!("[{}\"fish\"]", one.repeat(9)));
    assert_eq!((docs.n_items(), docs.tokens()), (10, 19.0));
}

#[test]
fn ids_are_kept_if_they_are_wanted() {
    let csv = "ID,text\n a1 ,cat dog cat\n\"x,\ny\",fish\n";
    assert_eq!(read_file("a.csv", csv).ids(), None);
    let docs = read_as("a.csv", csv, &with_ids());
    assert_eq!(docs.ids().unwrap(), ["a1", "x,\ny"]);
    assert_eq!(docs.subset(&[1]).ids().unwrap(), ["x,\ny"]);
    let json =
        r#"["cat dog cat", {"id": 7, "text": "fish"}, {"id": "b", "text": ""}, {"text": null}]"#;
    assert_eq!(read_as("a.json", json, &with_ids()).ids().unwrap(), ["", "7", "b", ""]);
    let named = |name: &str| DocsOptions { id: Some(name.into()), ..Default::default() };
    let lines = "{\"k\": {\"n\": 1.5}, \"text\": \"cat\"}\n{\"text\": \"dog\"}\n";
    assert_eq!(read_as("a.jsonl", lines, &named("k.n")).ids().unwrap(), ["1.5", ""]);
    assert_eq!(
        fault_of("a.jsonl", lines, &named("key")),
        "a.jsonl: no document has the field of `id = key`; those of the first are k.n, text"
    );
    assert_eq!(
        fault_of("a.jsonl", lines, &named("k")),
        "a.jsonl, line 1, column k: found an object; an id is a text or a number"
    );
    let text = fault_of("a.txt", "cat\n", &named("k"));
    assert!(
        text.starts_with(
            "id = k: has a meaning for the format csv, json, jsonl and parquet with texts only"
        ),
        "{text}"
    );
    // They stay with documents whose words are those of a model.
    let folder = Folder::new();
    let model = Vocabulary::named(vec!["fish".into(), "bird".into()]).unwrap();
    let (docs, _) = read::docs_with(&folder.file("a.csv", csv), &with_ids(), &model).unwrap();
    assert_eq!(docs.ids().unwrap(), ["a1", "x,\ny"]);
    assert_eq!(rows(&docs), [vec![], vec![(0, 1.0)]]);
}

#[test]
fn parquet_may_hold_texts() {
    let folder = Folder::new();
    let texts = ["cat dog cat".to_string(), "fish".to_string()];
    let ids = ["a1".to_string(), "a2".to_string()];
    let path = folder.path("a.parquet");
    let read = |columns: &[Column<'_>], options: &DocsOptions| {
        write::table(&path, columns)?;
        read::docs(&path, options)
    };
    let (n, text) = (Column::i64("n", &[1, 2]), Column::text("text", &texts));
    let docs = read(&[n.clone(), Column::text("id", &ids), text.clone()], &with_ids()).unwrap();
    is_small(&docs);
    assert_eq!(docs.ids().unwrap(), ids);
    is_small(&read(&[Column::text("body", &texts)], &DocsOptions::default()).unwrap());
    let both = [n.clone(), Column::text("title", &ids), Column::text("body", &texts)];
    is_small(&read(&both, &field("body")).unwrap());
    assert_eq!(
        folder.fault(read(&both, &DocsOptions::default())),
        "a.parquet: has the columns n, title, body; name the one with texts with `field`, or call three of them document, term and count"
    );
    assert_eq!(
        folder.fault(read(&both, &field("text"))),
        "a.parquet: `field` asks for column \"text\", which is not there; the columns are n, title, body"
    );
    assert!(folder.fault(read(&both, &field("n"))).contains("column n does not hold text but "));
    // Counts are counts as before, and their documents' names are ids.
    let counts = [Column::text("doc", &ids), Column::text("term", &ids), Column::i64("n", &[1, 2])];
    let docs = read(&counts, &with_ids()).unwrap();
    assert_eq!((docs.word_counts(), docs.ids().unwrap()), (vec![1.0, 2.0], ids.to_vec()));
    let few = DocsOptions { max_words: Some(2), ..Default::default() };
    let text = folder.fault(read(&counts, &few));
    assert!(text.starts_with("max_words = 2: has a meaning for the format text, csv,"), "{text}");
}
