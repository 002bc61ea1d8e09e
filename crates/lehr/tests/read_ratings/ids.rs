//! Tables of ids, and their files.

use lehr::data::Id;

use super::*;

#[test]
fn leading_zeros_and_signs_make_another_id() {
    let ratings = read_file("r.csv", "7,1,1\n007,1,2\n+7,1,3\n7.0,1,4\n-0,1,5\n0,1,6\n");
    assert_eq!(users(&ratings), ["7", "007", "+7", "7.0", "-0", "0"]);
    assert_eq!(ratings.ids(Side::User).get(0), Id::Text("7"));
    assert_eq!(ratings.ids(Side::Item).get(0), Id::Integer(1));
    assert_eq!(ratings.ids(Side::User).find("07"), None);
}

/// Integers first, strings later, whichever part of a file they stand in.
#[test]
fn integers_and_texts_mix() {
    let mut text = String::new();
    let name = |n: u32| if n == 150_000 { "x".to_string() } else { (n % 1000).to_string() };
    (0..200_000).for_each(|n| text.push_str(&format!("{n}\t{}\t3\n", name(n))));
    let ratings = read_file("u.data", text);
    let all = ratings.ids(Side::Item);
    assert_eq!((all.len(), all.find("x"), all.find("999")), (1001, Some(1000), Some(999)));
    assert_eq!(ratings.ids(Side::User).integers().unwrap().len(), 200_000);
    assert_eq!(ratings.side(Side::Item).row(0).0.len(), 199);
}

#[test]
fn ids_survive_their_file() {
    let folder = Folder::new();
    let path = folder.path("ids.jsonl");
    let integers: Ids = [5, -3, i64::MAX, i64::MIN, 0].into_iter().collect();
    let texts: Ids = ["7", "007", "", "a b", "c,d", "\"", "line\nbreak", "日本", "\\", "\u{1}"]
        .into_iter()
        .collect();
    for ids in [integers, texts, Ids::default()] {
        ids.save(&path).unwrap();
        let back = Ids::load(&path).unwrap();
        assert_eq!(back, ids);
        assert!(ids.iter().zip(0..).all(|(id, n)| back.find(&id.to_string()) == Some(n)));
    }
}

#[test]
fn a_damaged_file_of_ids_is_refused() {
    let folder = Folder::new();
    let fault = |bytes: &[u8]| folder.fault(Ids::load(&folder.file("ids.jsonl", bytes)));
    let neither = "is neither an integer nor a text in double quotes; one id stands on each line";
    for text in ["1.0", "007", "-0", "null", "[1]", "\"a", "a", "1 2", "", "\"a\" \"b\"", "{}"] {
        let found = fault(format!("1\n{text}\n2\n").as_bytes());
        assert_eq!(found, format!("ids.jsonl, line 2: {neither}"), "{text}");
    }
    assert_eq!(fault(b"\"\xff\"\n"), format!("ids.jsonl, line 1: {neither}"));
    assert_eq!(fault(b"3\n4\n3\n"), "ids.jsonl, line 3: the id 3 is on line 1 already");
    assert_eq!(fault(b"\"x\"\n7\n\"7\"\n"), "ids.jsonl, line 3: the id 7 is on line 2 already");
    let found = folder.fault(Ids::load(&folder.path("none.jsonl")));
    assert!(found.starts_with("none.jsonl: cannot open"), "{found}");
    assert!(Ids::load(&folder.path("")).is_err());
}
