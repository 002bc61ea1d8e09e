//! Files of some megabytes that take the most memory for each of their bytes: the limits' factors hold.

use super::*;

const BYTES: usize = 2 << 20;

/// Lines, or whatever `part` makes of 0, 1, 2, ..., until there are enough.
fn many(part: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < BYTES {
        text.push_str(&part(n));
        n += 1;
    }
    text.into_bytes()
}

/// A word of letters that no other number has.
fn word(mut n: usize) -> String {
    let mut word = String::new();
    for _ in 0..4 {
        word.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
    }
    word
}

#[test]
fn large_files_take_a_multiple_of_their_size() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new();
    let nested =
        [b"{\"text\": \"bank\", \"x\": [".to_vec(), many(|_| "[],".into()), b"0]}\n".to_vec()];
    let keys = [b"{\"text\": \"bank\"".to_vec(), many(|n| format!(",\"{n}\":1")), b"}\n".to_vec()];
    for (target, bytes) in [
        ("text", many(|n| format!("{}{}", word(n), if n % 16 == 0 { '\n' } else { ' ' }))),
        ("text", many(|_| "a\n".into())),
        ("jsonl", nested.concat()),
        ("jsonl", keys.concat()),
        ("json", [b"[", &nested.concat()[..], b"]"].concat()),
        ("json", [b"[", &keys.concat()[..], b"]"].concat()),
        ("json", [b"[", &many(|_| "\"a\",".into())[..], b"0]"].concat()),
        ("csv_docs", [&b"text\n"[..], &many(|_| "a\n".into())].concat()),
        ("csv_docs", many(|n| format!("{},", word(n)))),
        ("csv_docs", [&b"id,text\n"[..], &many(|n| format!("{n},a\n"))].concat()),
        ("matrix", many(|_| "1\n".into())),
        ("matrix", many(|_| "1,".into())),
        ("matrix", many(|n| format!("{},", word(n)))),
        ("matrix", many(|n| format!("a{n},1\n"))),
        ("ldac", many(|n| format!("1 {}:1\n", n % 1000))),
        ("svmlight", many(|_| "1\n".into())),
        ("csv", many(|_| "1\n".into())),
        ("csv", many(|_| "1,".into())),
        ("ratings", many(|n| format!("{n},{n},1\n"))),
        ("ratings", many(|n| format!("a{n},b{n},1\n"))),
        ("titles", many(|n| format!("{n},a\n"))),
        ("words", many(|n| format!("{n}\n"))),
        ("ids", many(|n| format!("{n}\n"))),
        ("vocabulary", many(|n| format!("1\t{n}\n"))),
    ] {
        let (target, length) = (targets::find(target).unwrap(), bytes.len());
        let (read, peak) = tried(target, &folder, &bytes).unwrap();
        let factor = peak as f64 / length as f64;
        println!("{}: {factor:.1} bytes for each; {read:?}", target.name);
        assert!(peak <= target.limit.factor() * length, "{}: {factor:.1}", target.name);
    }
}
