//! What the library says about settings, as the person at the command line reads it: with flags, word by word.

mod common;

use common::Place;
use lehr::write::{Column, table};

/// Writes `content` to the file `name`, runs a command on it that must fail, and compares all that it prints.
fn says(place: &Place, name: &str, content: &str, line: &str, expected: &str) {
    place.write(name, content);
    let ended = place.run(line);
    assert_eq!(ended.stderr, format!("error: {expected}\n"), "lehr {line}");
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "lehr {line}");
}

#[test]
fn of_points() {
    let place = Place::new();
    let says = |content: &str, flags: &str, expected: &str| {
        says(&place, "a.csv", content, &format!("fit gmm a.csv -k 1 {flags} -o run"), expected);
    };
    says(
        "a,b\n1,2\nx,3\n",
        "",
        "a.csv, line 3, column a: found \"x\", which is not a number; fix the cell, or leave the column out with --drop",
    );
    // Markdown in a cell is no setting.
    says(
        "a,b\n1,2\n`drop`,3\n",
        "",
        "a.csv, line 3, column a: found \"`drop`\", which is not a number; fix the cell, or leave the column out with --drop",
    );
    let there = "which is not there; the columns are a, b; give a name or a number from 1 to 2";
    for flag in ["--columns", "--drop", "--weight-column"] {
        says(
            "a,b\n1,2\n2,3\n",
            &format!("{flag} z"),
            &format!("a.csv: {flag} asks for column \"z\", {there}"),
        );
    }
    says("a,b\n1,2\n2,3\n", "--columns a,1", "a.csv: --columns names column a twice; name it once");
    says(
        "a,b\n1,2\n2,3\n3,5\n",
        "--eval-every 0",
        "--eval-every 0: without a bound there is nothing to stop by, and no best start: --tol must be 0 and \
         --n-init 1; or evaluate it every N steps",
    );
    says(
        "a,b\n1,2\n2,3\n3,5\n",
        "--batch 2 --step-size 0.5,1",
        "--step-size 0.5,1: a step of 1 would forget all other batches; with --batch use power:10:0.75 or a \
         constant below 1",
    );
    says(
        "id,day,x,ok\nann,2020-01-31,1,true\nbob,2020-02-01,2,false\n",
        "",
        "a.csv: columns id (line 2: \"ann\"), day (line 2: \"2020-01-31\", a date or time), ok (line 2: \"true\", \
         yes or no) are not numbers, which text, dates and yes or no never are; leave them out (--drop id,day,ok), \
         or write them as numbers",
    );
    // A word far below counts as well, and a name with a comma has to be a number.
    says(
        "\"a,b\",my x,y\n1,2,3\nx,5,6\n7,y,9\n",
        "",
        "a.csv: columns a,b (line 3: \"x\"), my x (line 4: \"y\") are not numbers, which text, dates and yes or no \
         never are; leave them out (--drop '1,my x'), or write them as numbers",
    );
    let names = ["x".to_string(), "y".into()];
    table(&place.path("a.parquet"), &[Column::f64("n", &[1.0, 2.0]), Column::text("t", &names)])
        .unwrap();
    place.fails(
        "fit gmm a.parquet -k 1",
        &["numbers but text or bytes; leave it out with --drop, or choose others with --columns\n"],
    );
}

#[test]
fn constant_columns_and_ids_are_noted() {
    let place = Place::new();
    let notes = |head: &str, row: &dyn Fn(usize) -> String, flags: &str| {
        let rows: String = (0..12).map(row).collect();
        place.write("a.csv", format!("{head}{rows}"));
        let _ = std::fs::remove_dir_all(place.path("run"));
        let ended = place.run(&format!("fit gmm a.csv -k 1 --steps 3 {flags} -o run"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stderr
    };
    let constant = |shown: &str, flag: &str| {
        format!(
            "note: column {shown} is constant (always 1) and adds nothing; leave it out ({flag})\n"
        )
    };
    let site = |n: usize| format!("1,{}\n", (n * n) % 7);
    assert_eq!(notes("site,b\n", &site, ""), constant("'site'", "--drop site"));
    assert_eq!(notes("my site,b\n", &site, ""), constant("'my site'", "--drop 'my site'"));
    assert_eq!(notes("'x',b\n", &site, ""), constant("''x''", "--drop ''\\''x'\\'''"));
    assert_eq!(notes("a`b,b\n", &site, ""), constant("'a`b'", "--drop 'a`b'"));
    assert_eq!(notes("", &site, ""), constant("1", "--drop 1"));
    assert_eq!(notes("site,b\n", &site, "--drop site"), "");
    assert_eq!(notes("site,b\n", &site, "--quiet"), "");
    let id = "note: column id looks like a row's number or id (whole numbers, no two alike) and counts as data; \
              if it is one, leave it out (--drop id)\n";
    assert_eq!(notes("id,b\n", &|n| format!("{},{}\n", 977 - n * 13, (n * n) % 7), ""), id);
    assert_eq!(notes("id,b\n", &|n| format!("{},{}\n", n + 1, (n * n) % 7), "--drop id"), "");
}

#[test]
fn of_documents() {
    let place = Place::new();
    let says = |name: &str, content: &str, flags: &str, expected: &str| {
        let line = format!("fit lda {name} -k 2 {flags} -o run");
        says(&place, name, content, &line, expected);
    };
    says(
        "a.ldac",
        "2 0:1 1:1\n1 0:1 1:1\n",
        "--format ldac",
        "a.ldac, line 2, column 1: promises 1 pairs, and 2 follow; fix the number or the line, or give --format svmlight if it is a label",
    );
    says(
        "a.svm",
        "1 0:1\n",
        "--one-based --format svmlight",
        "a.svm, line 1, column 2: found word 0 although --one-based is set; leave it out if words are numbered from 0",
    );
    says(
        "a.svm",
        "1 4000000000:1\n",
        "",
        "a.svm: has words numbered up to 4000000001, and only 1 entries; number the words without gaps, or give a vocabulary file with --vocab",
    );
    says(
        "a.txt",
        "words\n",
        "--format npz",
        "a.txt: is not in the format npz although --format says so; leave it out, or give the right one",
    );
    says(
        "a.txt",
        "apple pear plum\n",
        "--min-docs 7",
        "a.txt: no words are left of 3 in 1 documents, with --min-docs 7 and --max-docs 1, after --stop-words and --min-length; lower --min-docs or raise --max-docs, or give --format if this is not text with one document a line",
    );
    says(
        "a.txt",
        "apple pear plum\n",
        "--one-based",
        "--one-based: has a meaning for the format svmlight only, and a.txt is read as text; leave it out, or give --format if that is wrong",
    );
    says(
        "a.txt",
        "apple pear plum\n",
        "--min-docs 7 --vocab v.txt",
        "--min-docs 7: chooses words, but --vocab v.txt fixes them already; leave out one of the two",
    );
    says(
        "a.jsonl",
        "{\"body\": \"x y\", \"title\": \"z\"}\n",
        "",
        "a.jsonl, line 1: there is no field text, only body, title; name the one with the documents, e.g. --field body",
    );
    place.write("topics.csv", "apple,pear\n1,2\n");
    says(
        "a.txt",
        "apple pear apple\n",
        "--min-docs 1 --max-docs 1 --seed-topics topics.csv",
        &format!(
            "{}: has 1 topics, and -k 2 asks for another number; make them equal",
            place.path("topics.csv").display()
        ),
    );
}

#[test]
fn of_ratings() {
    let place = Place::new();
    let says = |content: &str, flags: &str, expected: &str| {
        says(&place, "a.csv", content, &format!("fit pmf a.csv -d 1 {flags} -o run"), expected);
    };
    says(
        "user,item,rating\na,x,1\nb,x,good\n",
        "",
        "a.csv, line 3, column rating: found \"good\", which is not a number; fix it, or say which column holds the ratings with --rating",
    );
    says(
        "who,item,rating\na,x,1\n",
        "",
        "a.csv, line 1: the line is taken for the columns' names: the columns are who, item, rating and none of them is known to be the user; say which is what with --user, --item and --rating",
    );
    says(
        "user,item,rating\na,x,1\n",
        "--user item",
        "a.csv: --user and --item are both column item; give each its own column",
    );
    says(
        "user,item,rating\na,x,1\na,x,2\n",
        "",
        "a.csv: user a rated item x twice: 1 (line 2) and 2 (line 3); take one out, or average them with --duplicates mean",
    );
    // Last: it leaves a run behind.
    says(
        "user,item,rating\na,x,1e30\nb,y,-1e30\na,y,3e30\nb,x,1e30\n",
        "",
        "the bound became NaN at step 0; the data or the settings are too extreme for this model: look for outliers, rescale the columns, bring settings nearer to their defaults, or try --exact",
    );
}
