//! What the library says about settings, as the person at the command line reads it: with flags, word by word.

mod common;

use common::Place;
use lehr::write::{Column, table};

/// Writes `content` to the file `name`, runs a command on it that must fail, and compares all that is said.
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
        "a.csv, line 3, column a: found \"x\", which is not a number; mend the cell, or leave the column out with --drop",
    );
    // Markdown in a cell is no setting.
    says(
        "a,b\n1,2\n`drop`,3\n",
        "",
        "a.csv, line 3, column a: found \"`drop`\", which is not a number; mend the cell, or leave the column out with --drop",
    );
    let constant = |shown: &str, flag: &str| {
        format!(
            "a.csv: column {shown} is constant (always 1), so it says nothing about clusters and has no finite \
             density; leave it out ({flag})"
        )
    };
    says("site,b\n1,2\n1,3\n", "", &constant("'site'", "--drop site"));
    says("my site,b\n1,2\n1,3\n", "", &constant("'my site'", "--drop 'my site'"));
    says("'x',b\n1,2\n1,3\n", "", &constant("''x''", "--drop ''\\''x'\\'''"));
    says("a`b,b\n1,2\n1,3\n", "", &constant("'a`b'", "--drop 'a`b'"));
    says("1,2\n1,3\n", "", &constant("1", "--drop 1"));
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
         --n-init 1; or evaluate it every so many steps",
    );
    says(
        "a,b\n1,2\n2,3\n3,5\n",
        "--batch 2 --step-size 0.5,1",
        "--step-size 0.5,1: a step of 1 would forget all other batches; with --batch use power:10:0.75 or a \
         constant below 1",
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
        "a.ldac, line 2, column 1: promises 1 pairs, and 2 follow; mend the number or the line, or give --format svmlight if it is a label",
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
        "{\"body\": \"x\"}\n",
        "",
        "a.jsonl, line 1, column text: there is no such field, only: body; name the one with the text with --field",
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
        "a.csv, line 3, column rating: found \"good\", which is not a number; mend it, or say which column holds the ratings with --rating",
    );
    says(
        "who,item,rating\na,x,1\n",
        "",
        "a.csv, line 1: the line is taken for the columns' names: the columns are who, item, rating and none of them is known to be the user; say which is what with --user, --item and --rating",
    );
    says(
        "user,item,rating\na,x,1\n",
        "--user item",
        "a.csv: --user and --item are both column item; give each a column of its own",
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
        "the bound became NaN at step 0; the data are too extreme for this model and these settings: look for outliers, rescale the columns, or try --exact where the model has that",
    );
}
