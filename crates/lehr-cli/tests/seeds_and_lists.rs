//! Seed words, topics by numbers, matches of two runs, and lists of items: the commands, and what they refuse.

mod common;

use common::Place;
use lehr::read::PointsOptions;
use serde_json::Value;

const FIT: &str = "fit lda docs.txt -k 3 --stop-words none --seed 2 --quiet";

/// Documents about money, sport and weather, and a file of seed words.
fn place() -> Place {
    let place = Place::new();
    let themes = ["bank rates loan money", "goal team league coach", "rain wind storm cloud"];
    let lines: Vec<String> = (0..60)
        .map(|n| {
            // Every other one has a word of another theme; words of more than half of them would be left out.
            let other = if n % 2 == 0 { (n / 3) % 3 } else { n % 3 };
            let word = themes[other].split(' ').next().unwrap();
            format!("{} {} {word}", themes[n % 3], themes[n % 3])
        })
        .collect();
    place.write("docs.txt", lines.join("\n"));
    place.write("seeds.txt", "weather: rain storm\nsport: goal coach:2 nosuchword\n");
    place
}

fn words(topics: &Value, k: u64) -> Vec<String> {
    let topic = topics["topics"].as_array().unwrap().iter().find(|t| t["topic"] == k).unwrap();
    let words = topic["words"].as_array().unwrap();
    words.iter().map(|w| w["word"].as_str().unwrap().to_string()).collect()
}

#[test]
fn seed_words_make_their_topics_and_a_run_goes_on_without_the_file() {
    let place = place();
    let loud = FIT.replace(" --quiet", "");
    let ended = place.run(&format!("{loud} --seed-words seeds.txt --steps 20 --tol 0 -o long"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("1 of 5 seed words is not in the vocabulary"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("nosuchword"), "{}", ended.stderr);
    let told = place.json("topics long --json --top 4");
    assert!(words(&told, 0).contains(&"rain".to_string()), "{told}");
    assert!(words(&told, 1).contains(&"coach".to_string()), "{told}");
    assert!(place.ok("topics long").contains("weather"));
    assert!(place.ok("show long").contains("seed words for 2 topics"));
    // Stopped half-way and resumed, the file gone.
    place.run(&format!("{FIT} --seed-words seeds.txt --steps 10 --tol 0 -o short"));
    std::fs::remove_file(place.path("seeds.txt")).unwrap();
    place.ok("resume short --steps 10 --quiet");
    let found = place.json("compare long short --json");
    assert_eq!(place.json("topics short --json --top 4")["topics"], told["topics"]);
    assert!(found["mean"].as_f64().unwrap() > 0.999_999, "{found}");
}

#[test]
fn seeds_that_cannot_be_get_one_line() {
    let place = place();
    for (seeds, parts) in [
        ("nothing here", &["bad.txt", "line 1", "has no colon"][..]),
        ("a: nosuchword other", &["bad.txt", "none of 2 seed words"]),
        ("a: rain\nb: rain", &["bad.txt", "'a' and 'b'", "same seed words"]),
        ("a: rain\nb: goal\nc: bank\nd: coach", &["has 4 topics", "-k 3"]),
        ("a: rain:-1", &["found strength -1"]),
        ("", &["bad.txt", "has no topics"]),
    ] {
        place.write("bad.txt", seeds);
        place.fails(&format!("{FIT} --seed-words bad.txt -o run"), parts);
    }
    place.fails(&format!("{FIT} --seed-words none.txt -o run"), &["none.txt"]);
    place.fails(&format!("{FIT} --seed-strength 2 -o run"), &["--seed-strength", "--seed-words"]);
}

#[test]
fn priors_of_topics_and_words_are_taken_and_shown() {
    let place = place();
    place.write("eta.txt", "# common\nbank 30\nNIX 2\n");
    let loud = FIT.replace(" --quiet", "");
    let ended = place.run(&format!(
        "{loud} --alpha 2,0.1,0.1 --learn-alpha no --word-eta eta.txt --steps 20 --tol 0 -o run"
    ));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 2 words with an eta"), "{}", ended.stderr);
    let shown = place.ok("show run");
    assert!(shown.contains("alpha 0.1 to 2") && shown.contains("to 30 by word"), "{shown}");
    let told = place.json("topics run --json");
    for k in 0..3 {
        assert!(words(&told, k).contains(&"bank".to_string()), "{told}");
    }
    place.write(
        "run.toml",
        "[model]\nalpha = [2, 0.1, 0.1]\nlearn_alpha = \"no\"\nword_eta = \"eta.txt\"\n",
    );
    place.ok(&format!("{FIT} --config run.toml --steps 20 --tol 0 -o same"));
    assert_eq!(place.json("topics same --json")["topics"], told["topics"]);
    place.fails(&format!("{FIT} --alpha 2,0.1 -o x"), &["--alpha 2,0.1", "-k 3"]);
    place.misused(&format!("{FIT} --alpha 2,b -o x"), &["no prior of topics", "0.5,0.1,0.1"]);
    place.fails(&format!("{FIT} --word-eta none.txt -o x"), &["none.txt"]);
    place.fails(
        &format!("{FIT} --word-eta eta.txt --learn-eta yes -o x"),
        &["--learn-eta", "--word-eta"],
    );
    for (text, what) in [
        ("bank", "line 1"),
        ("nix 1", "none of 1 words"),
        ("bank -1", "found -1"),
        ("bank 1\nBank 2", "eta 1 and 2"),
        ("", "has no words"),
    ] {
        place.write("bad.txt", text);
        place.fails(&format!("{FIT} --word-eta bad.txt -o x"), &["bad.txt", what]);
    }
}

#[test]
fn ratings_have_weights() {
    let place = Place::new();
    place.ratings("ratings.dat", 60);
    let text = std::fs::read_to_string(place.path("ratings.dat")).unwrap();
    let weigh = |of: &dyn Fn(usize) -> String| -> String {
        let lines = text.lines().enumerate();
        let line = |(n, line): (usize, &str)| {
            let cells: Vec<&str> = line.split("::").collect();
            format!("{},{},{},{}\n", cells[0], cells[1], cells[2], of(n))
        };
        format!("user,item,rating,sure\n{}", lines.map(line).collect::<String>())
    };
    place.write("weighted.csv", weigh(&|n| format!("{}", 0.5 + (n % 4) as f64)));
    place.write("ones.csv", weigh(&|_| "1".into()));
    let fit = |file: &str, more: &str, run: &str| {
        place.ok(&format!("fit pmf {file} -d 3 --steps 15 --tol 0 --quiet {more} -o {run}"));
    };
    fit("ratings.dat", "", "plain");
    fit("ones.csv", "--weight sure", "ones");
    fit("weighted.csv", "--weight sure", "run");
    let rmse =
        |run: &str| place.json(&format!("eval {run} ratings.dat --json"))["rmse"].as_f64().unwrap();
    assert!((rmse("plain") - rmse("ones")).abs() < 1e-5);
    assert!((rmse("plain") - rmse("run")).abs() > 1e-4);
    // Everything else works, with new ratings that have no weights, too.
    place.ok("recommend run --user 42 --explain 2");
    place.write("today.csv", "user,item,rating\nnew,3,5\nnew,4,1\n");
    place.ok("transform run today.csv -o factors.csv");
    place.ok("recommend run --user new --ratings today.csv");
    place.run("fit pmf weighted.csv -d 3 --weight sure --steps 8 --tol 0 --quiet -o half");
    place.ok("resume half --steps 7 --quiet");
    for (line, parts) in [
        ("1,9,4,0", &["line 2", "sure", "found \"0\"", "positive"][..]),
        ("1,9,4,-2", &["found \"-2\""]),
        ("1,9,4,", &["sure", "positive"]),
        ("1,9,4,much", &["found \"much\""]),
    ] {
        place.write("bad.csv", format!("user,item,rating,sure\n{line}\n"));
        place.fails("fit pmf bad.csv -d 1 --weight sure -o x", parts);
    }
    place.fails("fit pmf ratings.dat -d 1 --weight sure -o x", &["--weight", "sure"]);
    let both = "fit pmf weighted.csv -d 1 --weight sure --implicit -o x";
    place.fails(both, &["implicit feedback", "weights"]);
    let mean = "fit pmf weighted.csv -d 1 --weight sure --duplicates mean -o x";
    place.fails(mean, &["--duplicates mean", "not averaged"]);
    place.fails("fit pmf weighted.csv -d 1 --weight rating -o x", &["own column"]);
}

#[test]
fn topics_by_numbers_are_printed_and_written() {
    let place = place();
    place.ok(&format!("{FIT} -o run"));
    let told = place.json("topics run --json --diagnostics --documents docs.txt --top-documents 2");
    assert!(told["diversity"].as_f64().unwrap() > 0.3);
    for topic in told["topics"].as_array().unwrap() {
        assert!(topic["more"]["effective_words"].as_f64().unwrap() > 1.0, "{topic}");
        assert!(topic["more"]["c_v"].is_number() && topic["more"]["umass"].is_number());
        assert_eq!(topic["documents"]["top"].as_array().unwrap().len(), 2);
    }
    let text = place.ok("topics run --diagnostics --documents docs.txt");
    for part in ["diversity", "effective words", "exclusivity", "main topic of", "document "] {
        assert!(text.contains(part), "{text}");
    }
    place.ok("topics run --diagnostics --documents docs.txt -o topics.csv");
    place.ok("topics run --diagnostics --documents docs.txt -o topics.parquet");
    let drop = vec!["name".into(), "words".into(), "documents".into()];
    let options = PointsOptions { drop, ..PointsOptions::default() };
    let [a, b] = ["topics.csv", "topics.parquet"]
        .map(|name| lehr::read::points(&place.path(name), &options).unwrap());
    assert_eq!((a.n_items(), a.names()), (3, b.names()));
    for n in 0..3 {
        let (mut one, mut other) = (vec![0.0; a.n_dims()], vec![0.0; a.n_dims()]);
        a.copy_row(n, &mut one);
        b.copy_row(n, &mut other);
        assert_eq!(one, other);
    }
    place.ok("topics run --diagnostics --documents docs.txt -o topics.json");
    let rows: Value =
        serde_json::from_slice(&std::fs::read(place.path("topics.json")).unwrap()).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 3);
    for row in rows.as_array().unwrap() {
        let topic = &told["topics"]
            .as_array()
            .unwrap()
            .iter()
            .find(|t| t["topic"] == row["topic"])
            .unwrap();
        assert_eq!((&row["npmi"], &row["c_v"]), (&topic["coherence"], &topic["more"]["c_v"]));
        assert_eq!(row["words"].as_str().unwrap().split(' ').count(), 10);
    }
    place.fails("topics run -o topics.npy", &["topics.npy", "no room for words"]);
    place.fails("topics run -o topics.csv", &["exists already"]);
    place.fails("topics run --documents none.txt", &["none.txt"]);
    place.write("other.txt", "entirely unknown vocabulary");
    place.fails("topics run --documents other.txt", &["other.txt", "vocabulary"]);
}

#[test]
fn topics_get_names_and_keep_them() {
    let place = place();
    place.ok(&format!("{FIT} --seed-words seeds.txt --steps 10 --tol 0 -o run"));
    let lambda = place.lambda("run");
    let names = || -> Vec<Value> {
        let told = place.json("topics run --json --no-coherence");
        let mut topics = told["topics"].as_array().unwrap().clone();
        topics.sort_by_key(|topic| topic["topic"].as_u64());
        topics.iter().map(|topic| topic["name"].clone()).collect()
    };
    assert_eq!(names(), ["weather".into(), "sport".into(), Value::Null]);
    let told = place.ok("topics run --name 2=money --name 0= --no-coherence");
    assert!(told.contains("money") && !told.contains("weather"), "{told}");
    assert_eq!(names(), [Value::Null, "sport".into(), "money".into()]);
    // What the page saves, after more steps; the fit is as it was.
    assert_eq!(place.lambda("run").bytes, lambda.bytes);
    place.ok("resume run --steps 2 --quiet");
    place.write(
        "topic-names.csv",
        "topic,name,share,words\n0,\"rain, and more\",0.5,a b\n2,,0.1,c\n",
    );
    place.ok("topics run --names topic-names.csv --no-coherence");
    let all = ["rain, and more", "sport", "money"].map(Value::from);
    assert_eq!(names(), all);
    place.ok("partial run docs.txt --quiet");
    assert_eq!(names(), all);
    assert!(place.ok("compare run run").contains("money: "));
    place.ok("report run -o page.html");
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("Topic 2: money"));
    place.fails("topics run --name 3=x", &["no topic 3", "from 0 to 2"]);
    place.fails("topics run --name 0=money", &["topics 0 and 2", "'money'"]);
    place.misused("topics run --name money", &["3=sport"]);
    place.misused("topics run --name a=money", &["number of a topic"]);
    place.write("names.csv", "topic,name\nfirst,money\n");
    place.fails("topics run --names names.csv", &["names.csv", "\"first\""]);
    assert_eq!(names(), all);
}

#[test]
fn matches_are_written_and_read_back() {
    let place = place();
    place.ok(&format!("{FIT} --steps 10 --tol 0 -o one"));
    place.ok("fit lda docs.txt -k 4 --stop-words none --seed 5 --steps 10 --tol 0 --quiet -o two");
    let told = place.json("compare one two --json");
    let pairs = told["pairs"].as_array().unwrap();
    let expected: Vec<[f64; 3]> = pairs
        .iter()
        .map(|pair| ["first", "second", "similarity"].map(|name| pair[name].as_f64().unwrap()))
        .collect();
    for name in ["matches.csv", "matches.parquet"] {
        place.ok(&format!("compare one two -o {name}"));
        let drop = vec!["first_is".into(), "second_is".into()];
        let missing = lehr::read::Missing::Model;
        let options = PointsOptions { drop, missing, ..PointsOptions::default() };
        let points = lehr::read::points(&place.path(name), &options).unwrap();
        assert_eq!((points.n_items(), points.names().len()), (4, 3));
        let mut row = [0.0; 3];
        for (n, expected) in expected.iter().enumerate() {
            points.copy_row(n, &mut row);
            assert_eq!(row, *expected, "{name}");
        }
        points.copy_row(3, &mut row);
        assert_eq!(row[1], told["only_second"][0].as_f64().unwrap());
        assert!(row[0].is_nan() && row[2].is_nan(), "{row:?}");
    }
    place.ok("compare one two -o matches.json");
    let rows = place.read_json("matches.json");
    assert_eq!((&rows[0]["first"], &rows[3]["first"]), (&pairs[0]["first"], &Value::Null));
    assert!(rows[0]["first_is"].as_str().unwrap().split(' ').count() == 8);
    place.fails("compare one two -o matches.csv", &["exists already"]);
    place.fails("compare one two -o matches.npy", &["no room for words"]);
}

#[test]
fn runs_of_two_models_are_not_compared() {
    let place = place();
    place.ok(&format!("{FIT} -o run"));
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 --steps 3 --quiet -o other");
    assert!(place.ok("compare run run").contains("3 topics matched by 12 words"));
    assert!(place.ok("compare other other").contains("components matched by"));
    place.fails("compare run other", &["run", "other", "same model"]);
    place.fails("compare run nowhere", &["nowhere"]);
    place.fails("eval other points.csv --top 5", &["--top is for ratings"]);
}

#[test]
fn lists_are_scored() {
    let place = Place::new();
    place.ratings("ratings.dat", 120);
    place.ratings("later.dat", 130);
    place.ok("fit pmf ratings.dat -d 3 --steps 15 --tol 0 --holdout 0.2 --quiet -o run");
    let told = place.json("eval run later.dat --top 5,10 --relevant 3 --json");
    let lists = told["ranking"].as_array().unwrap();
    assert_eq!((lists.len(), &lists[0]["k"]), (2, &Value::from(5)));
    assert!(lists[1]["model"]["recall"].as_f64() >= lists[0]["model"]["recall"].as_f64());
    assert!(told["rmse"].is_number());
    let text = place.ok("eval run later.dat --top 5");
    for part in ["RMSE", "NDCG", "most popular", "coverage", "unknown users"] {
        assert!(text.contains(part), "{text}");
    }
    let fit = "fit pmf ratings.dat -d 3 --steps 15 --tol 0 --implicit --quiet";
    place.ok(&format!("{fit} --confidence 2 --holdout 0.2 -o uses"));
    assert!(place.ok("show uses").contains("NDCG@10"));
    assert!(place.ok("show uses").contains("implicit feedback"));
    let told = place.json("eval uses later.dat --json");
    assert_eq!(told["ranking"].as_array().unwrap().len(), 2);
    assert!(told.get("rmse").is_none());
    place.fails("eval run later.dat --top 0", &["--top 0", "at least 1"]);
    place.fails("eval run later.dat --relevant 4", &["--relevant 4", "--top"]);
    place.fails(
        "eval run later.dat --top 5 --relevant 99",
        &["later.dat", "anything to find", "--relevant"],
    );
    place.fails("fit pmf ratings.dat -d 2 --confidence 2 -o x", &["--confidence", "--implicit"]);
    place.write("zero.csv", "user,item,times\na,x,1\nb,y,0\n");
    let zero = "fit pmf zero.csv -d 1 --implicit --rating times --quiet -o x";
    place.fails(zero, &["user b, item y", "found 0", "positive"]);
}

/// A run of ratings by 120 users of items that are numbers, and the lists of everybody.
fn rated() -> Place {
    let place = Place::new();
    place.ratings("ratings.dat", 120);
    place.ok("fit pmf ratings.dat -d 3 --steps 15 --tol 0 --quiet -o run");
    place
}

fn rows(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lists_for_all_users_are_those_of_each() {
    let place = rated();
    let said = place.ok("recommend run --all --top 4 -o lists.jsonl");
    assert!(said.starts_with("lists.jsonl: ") && said.contains("lists for 120 users"), "{said}");
    let all = rows(&place, "lists.jsonl");
    for user in ["7", "42"] {
        let of_user: Vec<&Value> =
            all.iter().filter(|row| row["user"].as_u64() == user.parse().ok()).collect();
        let alone = place.json(&format!("recommend run --user {user} --top 4 --json"));
        let items = alone["users"][0]["items"].as_array().unwrap();
        assert_eq!(of_user.len(), items.len());
        for (row, item) in of_user.iter().zip(items) {
            assert_eq!(row["item"].to_string(), item["item"].as_str().unwrap());
            for name in ["rank", "rating", "sd"] {
                assert_eq!(row[name].as_f64(), item[name].as_f64(), "{name} of {row}");
            }
        }
    }
    // The same numbers in every format.
    let numbers = |name: &str| -> Vec<[f64; 4]> {
        let points = lehr::read::points(&place.path(name), &PointsOptions::default()).unwrap();
        assert_eq!(points.names(), ["user", "rank", "item", "rating"]);
        let mut row = [0.0; 4];
        let mut all = Vec::new();
        for n in 0..points.n_items() {
            points.copy_row(n, &mut row);
            all.push(row);
        }
        all
    };
    place.ok("recommend run --all --top 4 --no-sd -o lists.csv");
    place.ok("recommend run --all --top 4 --no-sd -o lists.parquet");
    let of_json =
        |row: &Value| ["user", "rank", "item", "rating"].map(|name| row[name].as_f64().unwrap());
    let expected: Vec<[f64; 4]> = all.iter().map(of_json).collect();
    assert_eq!(numbers("lists.csv"), expected);
    assert_eq!(numbers("lists.parquet"), expected);
    // One draw for each user, the same as alone.
    place.ok("recommend run --all --top 3 --by thompson --seed 5 -o drawn.jsonl");
    let alone = place.json("recommend run --user 9 --top 3 --by thompson --seed 5 --json");
    let drawn = rows(&place, "drawn.jsonl");
    let first = drawn.iter().find(|row| row["user"] == 9).unwrap();
    assert_eq!(first["score"], alone["users"][0]["items"][0]["score"]);
    place.fails("recommend run --all -o lists.csv", &["exists already"]);
    place.fails("recommend run --all -o lists.npy", &["no room for ids"]);
    place.misused("recommend run --all", &["--output"]);
}

#[test]
fn lists_have_what_they_may_and_say_why() {
    let place = rated();
    place.write("few.txt", "3\n5\n\n8\nnosuchitem\n");
    place.write("sold.txt", "5\n");
    let line = "recommend run --user 42 --include-seen --items few.txt --exclude sold.txt --json";
    let ended = place.run(line);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("few.txt: 1 item is not in the run"), "{}", ended.stderr);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    let mut items: Vec<&str> = told["users"][0]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["item"].as_str().unwrap())
        .collect();
    items.sort_unstable();
    assert_eq!(items, ["3", "8"]);
    // Users of a file, some of them unknown.
    place.write("users.txt", "7\nnobody\n42\n");
    let ended = place.run("recommend run --users users.txt --top 2 -o some.jsonl");
    assert!(ended.stderr.contains("1 user is not in the model"), "{}", ended.stderr);
    assert!(ended.stderr.contains("nobody"), "{}", ended.stderr);
    let some = rows(&place, "some.jsonl");
    let users: Vec<&str> = some.iter().map(|row| row["user"].as_str().unwrap()).collect();
    assert_eq!(users, ["7", "7", "nobody", "nobody", "42", "42"]);
    // Ratings stay within a scale, and each has its reasons.
    let told = place.json("recommend run --user 42 --top 3 --clip 2:2.5 --explain 2 --json");
    for item in told["users"][0]["items"].as_array().unwrap() {
        let rating = item["rating"].as_f64().unwrap();
        assert!((2.0..=2.5).contains(&rating), "{item}");
        let because = item["because"].as_array().unwrap();
        assert_eq!(because.len(), 2);
        let by = |n: usize| because[n]["by"].as_f64().unwrap().abs();
        assert!(by(0) >= by(1) && by(0) > 0.0, "{item}");
    }
    assert!(
        place.ok("recommend run --user 42 --explain 2").contains("without one of the user's own")
    );
    place.ok("recommend run --user 42 --explain 2 --clip -o why.jsonl");
    assert_eq!(rows(&place, "why.jsonl")[0]["because"].as_str().unwrap().split(' ').count(), 2);
    place.write("none.txt", "\n\n");
    place.write("strange.txt", "x\ny\n");
    let recommend = "recommend run --user 42";
    place.fails(&format!("{recommend} --items none.txt"), &["none.txt", "has no ids"]);
    place.fails(
        &format!("{recommend} --items strange.txt"),
        &["strange.txt", "none of its 2 items"],
    );
    place.fails(&format!("{recommend} --items sold.txt --exclude sold.txt"), &["no item is left"]);
    place.fails(&format!("{recommend} --items gone.txt"), &["gone.txt"]);
    place.fails(&format!("{recommend} --clip 5:1"), &["--clip 5:1", "1:5"]);
    place.fails(
        &format!("{recommend} --explain 2 --ratings ratings.dat"),
        &["--explain", "--ratings"],
    );
}

#[test]
fn what_is_alike_is_found() {
    let place = rated();
    let told = place.json("similar run --item 6 --top 5 --json");
    let similar = told["lists"][0]["similar"].as_array().unwrap();
    // Users like even or odd items.
    let even =
        similar.iter().filter(|row| row["id"].as_str().unwrap().parse::<u32>().unwrap() % 2 == 0);
    assert_eq!((similar.len(), even.count()), (5, 5), "{told}");
    assert!(similar.iter().all(|row| row["sd"].as_f64().unwrap() > 0.0));
    assert!(place.ok("similar run --user 7 --user 8 --top 3").contains("similarity"));
    place.ok("similar run --item 6 --item 7 --top 5 -o alike.csv");
    let text = std::fs::read_to_string(place.path("alike.csv")).unwrap();
    assert_eq!(
        (text.lines().count(), text.lines().next()),
        (11, Some("item,rank,similar,similarity,sd"))
    );
    // The same numbers in every format.
    place.ok("similar run --item 6 --item 7 --top 5 -o alike.parquet");
    place.ok("similar run --item 6 --item 7 --top 5 -o alike.jsonl");
    let points = lehr::read::points(&place.path("alike.parquet"), &PointsOptions::default());
    let (points, mut row) = (points.unwrap(), [0.0; 5]);
    let names = ["item", "rank", "similar", "similarity", "sd"];
    assert_eq!((points.n_items(), points.names()), (10, &names.map(String::from)[..]));
    for (n, line) in rows(&place, "alike.jsonl").iter().enumerate() {
        points.copy_row(n, &mut row);
        assert_eq!(row, names.map(|name| line[name].as_f64().unwrap()));
    }
    place.fails("similar run --item nosuchitem", &["--item nosuchitem", "does not know"]);
    place.fails("similar run --item 6 --top 0", &["--top 0"]);
    place.misused("similar run", &["--item"]);
}
