//! Random bytes: an error at most, never a panic.

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
