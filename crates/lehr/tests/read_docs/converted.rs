//! The converted corpus: the way back, and damaged files.

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
                    assert!(!(8..88).contains(&at) && at < 4152, "byte {at} is covered by a sum");
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
        fault("c.lehr", "words").contains("is not in the format lehr although its name says so")
    );
}
