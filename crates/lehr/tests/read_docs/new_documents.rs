//! Documents for a model that is fitted already.

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
    let (docs, unknown) = read::docs_with(&path, &options, &vocabulary(&["of", "cat"])).unwrap();
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
