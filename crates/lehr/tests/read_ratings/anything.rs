//! Random files: nothing panics, and threads change nothing.

use proptest::prelude::*;

use super::*;

fn with_threads<T: Send>(n: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(run)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut text = String::from("user,item,rating\n");
    let mut state = 1u64;
    for _ in 0..300_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (user, item) = (state >> 50, (state >> 33) % 1000);
        let sign = if item == 7 { "x" } else { "" };
        text.push_str(&format!("{user},{sign}{item},{}\n", (state >> 20) % 11));
    }
    let folder = Folder::new();
    let path = folder.file("r.csv", text);
    let read = || read::ratings(&path, &mean()).unwrap();
    let one = with_threads(1, read);
    assert!(one.n_averaged() > 100);
    for n in [2, 3] {
        let many = with_threads(n, read);
        assert_eq!(many.fingerprint(), one.fingerprint());
        assert_eq!(many.side(Side::Item), one.side(Side::Item));
        assert_eq!(many.mean().to_bits(), one.mean().to_bits());
        assert_eq!(many.variance().to_bits(), one.variance().to_bits());
    }
    // So does the message.
    let path = folder.file("r.csv", "1,2,3\n".repeat(200_000) + "1,2,x\n5\n");
    let fault = || folder.fault(read::ratings(&path, &mean()));
    let one = with_threads(1, fault);
    assert!(one.starts_with("r.csv, line 200001, column 3: found \"x\""), "{one}");
    assert_eq!(with_threads(2, fault), one);
}

fn try_all(name: &str, bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    for options in [mean(), columns("2", "1", "3"), columns("user", "", "")] {
        let _ = read::ratings(&path, &options);
    }
    let _ = read::titles(&path);
    let _ = Ids::load(&path);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        try_all("r.csv", &bytes);
        try_all("r.parquet", &[b"PAR1", &bytes[..], b"PAR1"].concat());
    }

    #[test]
    fn no_rating_like_text_is_a_panic(text in "([0-9ax]{0,3}[,;:\t \"|.\n\r-]{0,2}){0,40}") {
        try_all("r", text.as_bytes());
    }

    /// Any ids come back from a file in which all of them are quoted.
    #[test]
    fn ratings_survive_a_file(
        all in proptest::collection::vec(("[a-c0-9é,;:\" \n]{1,4}", 0i64..30, -50i32..50), 1..40)
    ) {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut expected = std::collections::BTreeMap::new();
        let mut text = String::new();
        for (user, item, value) in &all {
            let user = user.trim();
            if user.is_empty() || expected.contains_key(&(user.to_string(), item.to_string())) {
                continue;
            }
            let value = *value as f32 / 10.0;
            expected.insert((user.to_string(), item.to_string()), value);
            text.push_str(&format!("{},{item},{value}\n", quoted(user)));
        }
        prop_assume!(!expected.is_empty());
        let ratings = read_file("r.csv", text);
        let found: std::collections::BTreeMap<_, _> =
            triples(&ratings).into_iter().map(|(user, item, value)| ((user, item), value)).collect();
        prop_assert_eq!(found, expected);
    }
}
