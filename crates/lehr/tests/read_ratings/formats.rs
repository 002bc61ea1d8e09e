//! The same ratings in every text format.

use lehr::read::Header;

use super::*;

/// Sorted by user, then by item, in the order in which they appear.
fn small() -> Vec<Triple> {
    expected(&[("7", "30", 4.0), ("7", "10", 3.5), ("2", "10", 5.0), ("-5", "30", 1.0)])
}

const FORMATS: [(&str, &str); 12] = [
    ("r.dat", "7::30::4::978300760\n2::10::5::978300761\n7::10::3.5::0\n-5::30::1::1\n"),
    ("u.data", "7\t30\t4\t881250949\n2\t10\t5\t0\n7\t10\t3.5\t0\n-5\t30\t1\t0\n"),
    ("r.csv", "7,30,4\n2,10,5\n7,10,3.5\n-5,30,1\n"),
    ("r.csv", "userId,movieId,rating,timestamp\n7,30,4,0\n2,10,5.0,0\n7,10,3.5,0\n-5,30,1e0,0\n"),
    ("r.csv", "Rating,User ID,x,Item-Id\n4,7,,30\n5,2,a,10\n3.5,7,b,10\n1,-5,,30\n"),
    (
        "r.csv",
        "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"7\";\"30\";\"4\"\n2;10;5\n7;10;3.5\n-5;30;1\n",
    ),
    ("r.csv", "7;30;4\n2;10;5\n7;10;3.5\n-5;30;1\n"),
    ("r.tsv", "customer\tproduct_id\tstars\n7\t30\t4\n2\t10\t5\n7\t10\t3.5\n-5\t30\t1\n"),
    ("r.txt", "7 30 4\n2 10  5\n 7 10 3.5\n-5\t30 1\n"),
    ("r.dat", "user::item::rating\n7::30::4\n2::10::5\n7::10::3.5\n-5::30::1"),
    ("r", "\n  \n7,30,4\n\n2,10,5\n   \n7,10,3.5\n-5,30,1\n\n\n"),
    ("r.csv", "7, 30, 4\n2, 10, 5\n7 ,10 , 3.5 \n -5,30,1"),
];

#[test]
fn every_format_says_the_same() {
    let print = read_file(FORMATS[0].0, FORMATS[0].1).fingerprint();
    for (name, text) in FORMATS {
        let windows = text.replace('\n', "\r\n");
        let with_mark = format!("\u{feff}{text}");
        for text in [text, &windows, &with_mark] {
            for (name, bytes) in [(name.into(), text.into()), (format!("{name}.gz"), gzip(text))] {
                let ratings = read_file(&name, bytes);
                assert_eq!(triples(&ratings), small(), "{text}");
                assert_eq!(ratings.fingerprint(), print, "{text}");
                assert_eq!(ratings.ids(Side::User).integers(), Some(&[7, 2, -5][..]));
            }
        }
    }
}

#[test]
fn ids_may_hold_anything_in_quotes() {
    let text = "user,item,rating\n\"a, b\",\"say \"\"hi\"\"\",1\nÜmit Öz,\"two\nlines\",2\n\"a, b\",\"日本\",3\n#tag,5\" pipe,4\n";
    let ratings = read_file("r.csv", text);
    assert_eq!(users(&ratings), ["a, b", "Ümit Öz", "#tag"]);
    assert_eq!(items(&ratings), ["say \"hi\"", "two\nlines", "日本", "5\" pipe"]);
    assert_eq!(ratings.side(Side::User).row(0), (&[0, 2][..], &[1.0, 3.0][..]));
    assert_eq!(users(&read_file("r.csv", "\"a\nb\",1,2\nc,1,3\n")), ["a\nb", "c"]);
    // A quote is a sign like any other between colons.
    assert_eq!(items(&read_file("r.dat", "1::\"a::3\n1::b\"::4\n")), ["\"a", "b\""]);
}

#[test]
fn a_quote_far_into_the_file_changes_nothing_before_or_behind_it() {
    let mut text = String::from("user,item,rating\n");
    let line = |n: u32| format!("{},{},{}\n", n / 100, n % 100, n % 5);
    (0..120_000).for_each(|n| text.push_str(&line(n)));
    let plain = read_file("r.csv", &text);
    text.push_str("\"1,5\",0,2\n");
    (120_000..200_000).for_each(|n| text.push_str(&line(n)));
    let mixed = read_file("r.csv", &text);
    assert_eq!((plain.n_ratings(), mixed.n_ratings()), (120_000, 200_001));
    assert_eq!(plain.ids(Side::User).integers().map(<[_]>::len), Some(1200));
    let seen = users(&mixed);
    assert_eq!((seen.len(), seen[1200].as_str(), seen[1201].as_str()), (2001, "1,5", "1200"));
    // Lines are counted on: 1 of names, 200001 ratings, then this one.
    text.push_str("5,5,x\n");
    let found = fault("r.csv", &text);
    assert!(found.starts_with("r.csv, line 200003, column rating: found \"x\""), "{found}");
}

#[test]
fn columns_are_chosen_by_name_or_number() {
    let text = "who,what,when,mark\nann,x,9,2\nbob,y,8,3\n";
    let all = expected(&[("ann", "x", 2.0), ("bob", "y", 3.0)]);
    for options in [columns("who", "what", "mark"), columns("1", "2", "4")] {
        assert_eq!(triples(&read_as("r.csv", text, &options)), all);
    }
    let bare = "9,ann,x,2\n8,bob,y,3\n";
    assert_eq!(triples(&read_as("r.csv", bare, &columns("2", "3", "4"))), all);
    let options = RatingsOptions { header: Header::Yes, ..columns("2", "3", "4") };
    assert_eq!(triples(&read_as("r.csv", "9,ann,x,7\n8,bob,y,3\n", &options)), all[1..]);
    // Numbers as names: only the user can know.
    let options = RatingsOptions { header: Header::No, ..columns("", "", "") };
    assert_eq!(
        triples(&read_as("r.csv", "user,item,1\n", &options)),
        expected(&[("user", "item", 1.0)])
    );
}

#[test]
fn texts_without_names_are_no_header() {
    let ratings = read_file("r.csv", "ann,Brazil,5\nbob,Brazil,4\n");
    assert_eq!(users(&ratings), ["ann", "bob"]);
}

#[test]
fn repeated_pairs_are_averaged_if_asked_for() {
    let ratings = read_as("r.csv", "1,2,5\n1,3,1\n1,2,4\n1,2,0\n", &mean());
    assert_eq!(triples(&ratings), expected(&[("1", "2", 3.0), ("1", "3", 1.0)]));
    assert_eq!((ratings.n_averaged(), ratings.n_ratings()), (1, 2));
}

#[test]
fn known_ids_keep_their_numbers() {
    let (known_users, known_items): (Ids, Ids) =
        (["5", "6"].into_iter().collect(), ["a", "b"].into_iter().collect());
    let folder = Folder::new();
    let path = folder.file("r.csv", "x,b,1\n6,c,2\n5,a,3\n");
    let options = RatingsOptions::default();
    let ratings = read::ratings_for(&path, &options, &known_users, &known_items).unwrap();
    assert_eq!(
        (users(&ratings), items(&ratings)),
        (vec!["5".into(), "6".into(), "x".into()], vec!["a".into(), "b".into(), "c".into()],)
    );
    assert!(ratings.triples().eq([(0, 0, 3.0), (1, 2, 2.0), (2, 1, 1.0)]));
}

#[test]
fn the_options_are_as_a_configuration_file_has_them() {
    let options: RatingsOptions =
        toml::from_str("user = \"who\"\nduplicates = \"mean\"\nheader = \"no\"").unwrap();
    assert_eq!(options.user.as_deref(), Some("who"));
    assert_eq!((options.duplicates, options.header), (Duplicates::Mean, Header::No));
    assert!(toml::from_str::<RatingsOptions>("usr = \"who\"").is_err());
}
