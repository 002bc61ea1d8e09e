//! Ratings: every command on small planted sets, and what is refused.

mod common;

use std::fs;

use serde_json::{Value, json};

use common::{ITEMS, Place, planted, ratings, tensors};

const USERS: usize = 200;
const FIT: &str = "fit pmf ratings.dat -d 4 --tol 0 --steps 30 --seed 3";

fn place() -> Place {
    let place = Place::new();
    place.ratings("ratings.dat", USERS);
    place
}

/// A place with a fitted run.
fn fitted() -> Place {
    let place = place();
    place.ok(&format!("{FIT} --quiet -o run"));
    place
}

/// The program with arguments that may hold blanks.
fn ok_with(place: &Place, line: &str, more: &[&str]) -> String {
    let output = place.command(line).args(more).output().unwrap();
    let (_, error) = common::without_read(output.stderr);
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "lehr {line} {more:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The items of the first user, best first.
fn items(lists: &Value) -> Vec<String> {
    let items = lists["users"][0]["items"].as_array().unwrap();
    items.iter().map(|item| item["item"].as_str().unwrap().to_string()).collect()
}

fn even(items: &[String]) -> usize {
    items.iter().filter(|item| item.parse::<usize>().unwrap() % 2 == 0).count()
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn ratings_are_fitted_shown_and_scored() {
    let place = place();
    let text = place.ok(&format!("{FIT} --holdout 0.1 -o runs/a"));
    assert!(text.starts_with("runs/a: bound -"), "{text}");
    has(&text, &["held out: RMSE 0.", ", MAE 0.", "inside the 50, 80 and 95 % intervals: "]);
    has(&text, &["sigma^2 0.", "in use\n", "look at it with: lehr show runs/a\n"]);
    let result = place.read_json("runs/a/result.json");
    let rmse = number(&result["measures"]["rmse"]);
    // The noise has a standard deviation of 0.6 / sqrt(6) = 0.245.
    assert!(rmse > 0.2 && rmse < 0.32, "{rmse}");

    let text = place.ok("show runs/a");
    has(
        &text,
        &[
            "runs/a: pmf with 4 dimensions, prior variance 1.0",
            ", learned for each dimension, biases",
            ", 200 users, 40 items)",
            " of them held out",
            "batch VI",
            "held out  RMSE 0.",
            "noise     sigma^2 0.",
            "(learned)",
            "dims      ",
            " of 4 in use",
            "prior variances of the items' latent dimensions\n",
            "█",
            "most loved items\n",
            "bound against steps",
            "held-out RMSE against steps",
        ],
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let one = place.ok("show runs/a --top 1");
    let loved = |text: &str| {
        let list = text.split("most loved items\n").nth(1).unwrap();
        list.lines().skip(1).take_while(|line| !line.is_empty()).count()
    };
    assert_eq!((loved(&text), loved(&one)), (10, 1), "{one}");
    let shown = place.json("show runs/a --json");
    assert_eq!(
        (&shown["users"], &shown["items"], &shown["dims"]),
        (&200.into(), &40.into(), &4.into())
    );
    assert_eq!(shown["item_variances"].as_array().unwrap().len(), 4);
    assert_eq!(number(&shown["measures"]["rmse"]), rmse);
    // Items with low numbers are liked best.
    let loved = shown["loved"].as_array().unwrap();
    let low = |item: &&Value| item["item"].as_str().unwrap().parse::<usize>().unwrap() < 15;
    assert!(loved.iter().filter(low).count() >= 9, "{shown}");
    assert!(loved.iter().all(|item| number(&item["ratings"]) > 50.0), "{shown}");

    // Without biases nothing is loved.
    place.ok(&format!("{FIT} --no-biases -o plain"));
    assert!(!place.ok("show plain").contains("loved"));
    assert!(place.json("show plain --json").get("loved").is_none());
}

#[test]
fn new_ratings_are_scored_with_their_intervals() {
    let place = fitted();
    // What the users did not rate, without noise; a user and an item that are new.
    let rated: Vec<(usize, usize)> = ratings(USERS).map(|(user, item, _)| (user, item)).collect();
    let all = (0..20).flat_map(|user| (0..ITEMS).map(move |item| (user, item)));
    let left: Vec<(usize, usize)> = all.filter(|pair| !rated.contains(pair)).collect();
    let line = |&(user, item): &(usize, usize)| format!("{user},{item},{}\n", planted(user, item));
    let known = left.iter().map(line).collect::<String>();
    place.write("test.csv", format!("user,item,rating\n{known}"));
    let scores = place.json("eval run test.csv --json");
    assert_eq!(number(&scores["ratings"]), left.len() as f64);
    assert!(number(&scores["rmse"]) < 0.15, "{scores}");
    assert!(number(&scores["mae"]) < number(&scores["rmse"]), "{scores}");
    assert!(number(&scores["constant_rmse"]) > 0.9, "{scores}");
    let coverage: Vec<f64> =
        ["coverage_50", "coverage_80", "coverage_95"].map(|name| number(&scores[name])).into();
    assert!(coverage.is_sorted() && coverage[2] > 0.95, "{scores}");
    assert!(number(&scores["log_density"]) > -0.5, "{scores}");
    let fifths = scores["by_uncertainty"].as_array().unwrap();
    assert_eq!(fifths.len(), 5);
    let sum: f64 = fifths.iter().map(|part| number(&part["ratings"])).sum();
    assert_eq!(sum, left.len() as f64);
    assert!(fifths.is_sorted_by_key(|part| number(&part["predicted_rmse"])), "{scores}");
    let nobody = (&json!(0), &json!(0), &json!(0));
    let unknown = |scores: &'_ Value| {
        ["unknown_users", "unknown_items", "fitted_pairs"].map(|n| scores[n].clone())
    };
    assert_eq!(unknown(&scores), [nobody.0, nobody.1, nobody.2].map(Clone::clone));
    let text = place.ok("eval run test.csv");
    has(
        &text,
        &["test.csv: ", " ratings\n", "RMSE  ", "the best constant: ", "MAE  ", "log density  "],
    );
    has(&text, &["inside the 50, 80 and 95 % intervals: "]);
    assert!(!text.contains("prior") && !text.contains("fitted to"), "{text}");

    place.write(
        "odd.csv",
        format!("user,item,rating\nnobody,1,3\nno one,0,3\n3,nothing,3\nx,y,1\n{known}"),
    );
    let scores = place.json("eval run odd.csv --json");
    assert_eq!(unknown(&scores), [3, 2, 0].map(Value::from));
    let text = place.ok("eval run odd.csv");
    has(&text, &["3 ratings by unknown users are answered from the prior\n"]);
    has(&text, &["2 ratings of unknown items are answered from the prior\n"]);

    // Scores on training data are marked as such.
    let scores = place.json("eval run ratings.dat --json");
    assert_eq!(scores["fitted_pairs"], scores["ratings"]);
    has(&place.ok("eval run ratings.dat"), &["ratings of pairs that the model was fitted to"]);
}

#[test]
fn items_are_recommended() {
    let place = fitted();
    let seen: Vec<usize> =
        ratings(USERS).filter(|&(user, ..)| user == 42).map(|(_, item, _)| item).collect();
    let lists = place.json("recommend run --user 42 --top 5 --json");
    assert_eq!((&lists["model"], &lists["by"]), (&"pmf".into(), &"mean".into()));
    let user = &lists["users"][0];
    assert_eq!((&user["user"], &user["known"]), (&"42".into(), &true.into()));
    assert_eq!(number(&user["rated"]), seen.len() as f64);
    // The best of those that user 42, an even one, has not rated.
    let mut best: Vec<usize> = (0..ITEMS).filter(|item| !seen.contains(item)).collect();
    best.sort_by(|&a, &b| planted(42, b).total_cmp(&planted(42, a)));
    let found = items(&lists);
    assert_eq!((found.len(), even(&found)), (5, 5));
    assert!(found.iter().all(|item| best[..8].contains(&item.parse().unwrap())), "{found:?}");
    for (item, rank) in user["items"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(item["rank"], rank);
        let expected = planted(42, item["item"].as_str().unwrap().parse().unwrap());
        assert!((number(&item["rating"]) - expected).abs() < 0.3, "{item}");
        assert!(number(&item["sd"]) > 0.0 && number(&item["rating_sd"]) > number(&item["sd"]));
        assert_eq!(item["score"], item["rating"]);
        assert!(item.get("title").is_none());
    }
    let scores: Vec<f64> =
        user["items"].as_array().unwrap().iter().map(|item| number(&item["score"])).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    let text = place.ok("recommend run --user 42 --top 5");
    has(&text, &["user 42, who has rated ", "; the highest expected rating first\nrank  item"]);
    has(&text, &["  rating     sd\n", "\nsd: how unsure the model is"]);
    assert_eq!(text.lines().count(), 2 + 5 + 2, "{text}");
    assert!(!text.contains("score") && !text.contains("title"), "{text}");

    // Seen items are shown on demand; the list ends where the items do.
    let all = items(&place.json("recommend run --user 42 --top 1000 --include-seen --json"));
    assert_eq!(all.len(), ITEMS);
    let rest = items(&place.json("recommend run --user 42 --top 1000 --json"));
    assert_eq!(rest.len(), ITEMS - seen.len());
    assert!(rest.iter().all(|item| !seen.contains(&item.parse().unwrap())));

    // Several users at once.
    let lists = place.json("recommend run --user 42 --user 43 --top 5 --json");
    assert_eq!(items(&lists), found);
    let other = json!({ "users": [lists["users"][1]] });
    assert_eq!((&lists["users"][1]["user"], even(&items(&other))), (&"43".into(), 0));
    let text = place.ok("recommend run --user 42 --user 43");
    assert_eq!((text.matches("rank  item").count(), text.matches("sd: how").count()), (2, 1));
}

#[test]
fn exploring_has_a_score_of_its_own() {
    let place = fitted();
    let ucb = |beta: &str| place.json(&format!("recommend run --user 7 --by ucb {beta} --json"));
    for (flag, beta) in [("", 1.0), ("--beta 2.5", 2.5), ("--beta -1", -1.0)] {
        let lists = ucb(flag);
        assert_eq!((number(&lists["beta"]), lists.get("seed")), (beta, None));
        for item in lists["users"][0]["items"].as_array().unwrap() {
            let upper = number(&item["rating"]) + beta * number(&item["sd"]);
            assert!((number(&item["score"]) - upper).abs() < 1e-9, "{item}");
        }
    }
    let text = place.ok("recommend run --user 7 --by ucb");
    has(&text, &["the highest upper end first\n", "     sd  score\n"]);
    let draw =
        |seed: &str| place.ok(&format!("recommend run --user 7 --by thompson {seed} --json"));
    assert_eq!(draw("--seed 1"), draw("--seed 1"));
    assert_eq!(draw(""), draw("--seed 0"));
    let scores = |text: String| -> Vec<f64> {
        let lists: Value = serde_json::from_str(&text).unwrap();
        let items = lists["users"][0]["items"].as_array().unwrap().clone();
        items.iter().map(|item| number(&item["score"])).collect()
    };
    assert_ne!(scores(draw("--seed 1")), scores(draw("--seed 2")));
    has(&place.ok("recommend run --user 7 --by thompson"), &["the best of one random draw first"]);
}

#[test]
fn titles_of_other_items_are_refused() {
    let place = Place::new();
    place.ratings("r.dat", 30);
    place.ok("fit pmf r.dat -d 2 --steps 3 -o run");
    place.points("points.csv", 20);
    place.fails(
        "recommend run --user 1 --titles points.csv",
        &["points.csv: has titles of 21 ids", "none of them is one of the run's 40 items"],
    );
    place.write("few.csv", "id,title\n1,One\n900,Other\n");
    let ended = place.run("recommend run --user 1 --titles few.csv");
    assert_eq!(ended.code, 0);
    let warning = "warning: few.csv has titles of 1 of the run's 40 items; is it the right file?\n";
    assert_eq!(ended.stderr, warning);
}

#[test]
fn titles_stand_beside_ids() {
    let place = fitted();
    // Item 0 and others have none.
    let line = |item: usize| format!("{item}::Les \"Misérables\", part {item} (1995)::Drama\n");
    place.write("movies.dat", (1..20).map(line).collect::<String>());
    let all = "recommend run --user 42 --top 40 --include-seen --titles movies.dat";
    let text = place.ok(all);
    has(&text, &["rank  item  title   ", " 2     Les \"Misérables\", part 2 (1995) "]);
    has(&text, &[" 0     0  ", " 33    33  "]);
    let lists = place.json(&format!("{all} --json"));
    let listed = lists["users"][0]["items"].as_array().unwrap();
    assert_eq!(listed.iter().filter(|item| item.get("title").is_some()).count(), 19);
    place.fails(&format!("{all}.gone"), &["movies.dat.gone"]);
}

#[test]
fn users_that_nobody_knows_get_what_all_like() {
    let place = fitted();
    let ended = place.run("recommend run --user stranger --user 4 --top 6 --json");
    assert_eq!(ended.code, 0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    has(
        &ended.stderr,
        &["user stranger is not in the model; this is what users like on the whole"],
    );
    let lists: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&lists["users"][0]["known"], &lists["users"][1]["known"]),
        (&false.into(), &true.into())
    );
    // Neither even nor odd ones but those with low numbers.
    let found = items(&lists);
    assert!(found.iter().all(|item| item.parse::<usize>().unwrap() < 14), "{found:?}");
    let ended = place.run("recommend run --user stranger");
    has(&ended.stdout, &["user stranger, who is not in the model; the highest"]);

    place.ok(&format!("{FIT} --no-biases -o plain"));
    let ended = place.run("recommend plain --user stranger");
    assert_eq!(ended.code, 0);
    has(&ended.stderr, &["without biases it expects the same of every item"]);
}

#[test]
fn ids_may_be_any_text() {
    let place = Place::new();
    let (user, item) = (
        |u: usize| {
            ["Zoë K., 2nd", "日本 太郎", "o'neil \"x\""][u % 3].to_string() + &format!(" {u}")
        },
        |i: usize| format!("Amélie, le «film» {i}"),
    );
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = "who,what,stars\n".to_string();
    for (u, i, rating) in ratings(90) {
        text += &format!("{},{},{rating}\n", quoted(user(u)), quoted(item(i)));
    }
    place.write("r.csv", &text);
    let fit = "fit pmf r.csv -d 2 --tol 0 --steps 15 --user who --item what --rating stars -o run";
    place.ok(fit);
    for u in [0, 1, 2] {
        let id = user(u);
        let out = ok_with(&place, "recommend run --json --top 4 --user", &[&id]);
        let lists: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (&lists["users"][0]["user"], &lists["users"][0]["known"]),
            (&id.as_str().into(), &true.into())
        );
        let found = items(&lists);
        let parity = |name: &String| name.rsplit(' ').next().unwrap().parse::<usize>().unwrap() % 2;
        assert!(
            found
                .iter()
                .all(|name| name.starts_with("Amélie, le «film» ") && parity(name) == u % 2)
        );
        let text = ok_with(&place, "recommend run --user", &[&id]);
        has(&text, &[&format!("user {id}, who has rated"), "Amélie, le «film» "]);
    }
    // The run's columns are those of new files, too, unless flags say otherwise.
    place.write(
        "new.csv",
        format!("stars,what,who\n5,{},{}\n", quoted(item(0)), quoted("né, 1".into())),
    );
    assert_eq!(place.json("eval run new.csv --json")["unknown_users"], 1);
    place.ok("transform run new.csv -o new-factors.csv");
    let table = fs::read_to_string(place.path("new-factors.csv")).unwrap();
    assert!(table.lines().nth(1).unwrap().starts_with("user,\"né, 1\","), "{table}");
    place.write("other.csv", format!("a,b,c\n5,{},x\n", quoted(item(0))));
    place.fails("eval run other.csv", &["other.csv: --user asks for column \"who\"", "not there"]);
    place.ok("eval run other.csv --user c --item 2 --rating a");
    place.write("bare.csv", format!("x,{},5\n", quoted(item(0))));
    place.ok("eval run bare.csv --user 1 --item 2 --rating 3 --header no");
}

/// The rows of a table of factors: side and id, then numbers by their columns' names.
fn rows(place: &Place, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = fs::read_to_string(place.path(name)).unwrap();
    let mut lines =
        text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<String>>());
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn new_users_and_items_are_folded_in() {
    let place = fitted();
    let mut text = String::new();
    // A new user of even tastes, a new item that even users like, a known user with a new rating,
    // and what cannot be used.
    for item in 0..30 {
        text += &format!("fresh::{item}::{}::0\n", planted(0, item));
    }
    for user in 0..60 {
        text += &format!("{user}::novelty::{}::0\n", planted(user, 6));
    }
    let rated: Vec<usize> =
        ratings(USERS).filter(|&(user, ..)| user == 5).map(|(_, item, _)| item).collect();
    let unrated = (0..ITEMS).find(|item| !rated.contains(item)).unwrap();
    text += &format!("5::{unrated}::4::0\n5::{}::4::0\nx::y::1::0\nx::z::1::0\n", rated[0]);
    place.write("new.dat", &text);
    let said = place.ok("transform run new.dat -o factors.csv");
    assert_eq!(
        said,
        "factors.csv: 1 new user, 1 known user, 1 new item folded in\n\
         left out: 2 ratings of which the model knows neither user nor item, 1 rating of pairs that \
         the model was fitted to already\n"
    );
    let (names, table) = rows(&place, "factors.csv");
    let expected = "side,id,bias,factor_0,factor_1,factor_2,factor_3,sd_0,sd_1,sd_2,sd_3,sd_bias";
    assert_eq!(names.join(","), expected);
    let ids: Vec<[&str; 2]> = table.iter().map(|row| [&*row[0], &*row[1]]).collect();
    assert_eq!(ids, [["user", "5"], ["user", "fresh"], ["item", "novelty"]]);
    let numbers = |row: usize, from: usize, n: usize| -> Vec<f64> {
        table[row][from..from + n].iter().map(|cell| cell.parse().unwrap()).collect()
    };
    assert!((0..3).all(|row| numbers(row, 7, 5).iter().all(|&sd| sd > 0.0)));
    // The new user's expected ratings, from the table and the checkpoint, are those of an even user.
    let arrays = tensors(&place.path("run"));
    let floats = |name: &str| -> Vec<f64> {
        let bytes = arrays[name].bytes.chunks_exact(8);
        bytes.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let (factors, biases) = (floats("item_factors"), floats("item_biases"));
    let items = String::from_utf8(place.read("run/items.jsonl")).unwrap();
    let items: Vec<usize> =
        items.lines().map(|line| line.trim_matches('"').parse().unwrap()).collect();
    let (own, bias) = (numbers(1, 3, 4), numbers(1, 2, 1)[0]);
    let mean = number(&place.read_json("run/config.json")["frozen"]["mean"]);
    for (at, &item) in items.iter().enumerate() {
        let dot: f64 = own.iter().zip(&factors[4 * at..]).map(|(u, v)| u * v).sum();
        let rating = mean + bias + biases[at] + dot;
        assert!((rating - planted(0, item)).abs() < 0.3, "item {item}: {rating}");
    }
    // Recommendations can be had directly.
    let ended = place.run("recommend run --user fresh --ratings new.dat --top 5 --json");
    has(
        &ended.stderr,
        &["left out of the new ratings: 2 ratings of which the model knows neither"],
    );
    let lists: Value = serde_json::from_str(&ended.stdout).unwrap();
    let user = &lists["users"][0];
    assert_eq!((&user["known"], &user["folded_in"]), (&false.into(), &true.into()));
    assert_eq!(number(&user["rated"]), 30.0);
    let found = self::items(&lists);
    assert!(even(&found) == 5 && found.iter().all(|item| item.parse::<usize>().unwrap() >= 30));
    let text = place.run("recommend run --user fresh --ratings new.dat").stdout;
    has(&text, &["user fresh, who has rated 30 items, those of new.dat included; the highest"]);
    // Who rated nothing that is known is still a stranger.
    let ended = place.run("recommend run --user x --ratings new.dat");
    assert_eq!(ended.code, 0);
    has(&ended.stderr, &["user x is not in the model"]);

    // The same numbers in Parquet, whose strings are strings.
    place.ok("transform run new.dat -o factors.parquet");
    let options =
        lehr::read::PointsOptions { drop: vec!["side".into(), "id".into()], ..Default::default() };
    let points = lehr::read::points(&place.path("factors.parquet"), &options).unwrap();
    assert_eq!((points.n_items(), points.names()), (3, &names[2..]));
    let bytes = place.read("factors.parquet");
    assert!(bytes.windows(7).any(|part| part == b"novelty"));
    // Without biases there is no column for them.
    place.ok(&format!("{FIT} --no-biases -o plain"));
    place.ok("transform plain new.dat -o plain.csv");
    assert_eq!(rows(&place, "plain.csv").0.len(), 2 + 8);

    place.fails("transform run new.dat -o factors.npy", &["new.dat: ", "end in .csv or .parquet"]);
    place.fails(
        "transform run ratings.dat -o same.csv",
        &["nothing to fold in", "fitted to already"],
    );
    place.fails("transform run new.dat -o new.dat", &["this is the data"]);
    place.fails("transform run new.dat -o ratings.dat", &["this is the data"]);
}

#[test]
fn settings_are_recorded_and_flags_win() {
    let place = place();
    let config = |run: &str| place.read_json(&format!("{run}/config.json"));
    place.ok("fit pmf ratings.dat --preset paper -d 3 --steps 12 --quiet -o paper");
    let paper = config("paper");
    assert_eq!(
        paper["params"],
        json!({"dims": 3, "prior_variance": 1.0, "noise_variance": 0.5, "learn_noise": false,
            "ard": false, "gauge": false, "centre": false, "biases": false, "init_sd": null,
            "init_var": null, "exact": false})
    );
    let fit =
        |config: &Value| ["effective", "step_size", "eval_every"].map(|f| config["fit"][f].clone());
    assert_eq!(fit(&paper), [json!("50t"), json!("0.85"), json!(5)]);
    // Algorithm 1 to the letter: its variance, and noise until M_t has reached the batch.
    let letter = |config: &Value| ["corrected", "noise_end"].map(|f| config["fit"][f].clone());
    assert_eq!(letter(&paper), [json!(false), json!(1.0)]);
    has(&place.ok("show paper"), &["annealed batch VI, M = 50t", "noise     sigma^2 0.5: ratings"]);

    let flags = "--noise-variance 2 --prior-variance 3 --effective off --step-size 1 --eval-every 2 \
                 --init-sd 0.3 --init-var 0.2 --exact";
    place.ok(&format!("fit pmf ratings.dat --preset paper -d 3 --steps 4 {flags} -o won"));
    place.ok("fit pmf ratings.dat --preset paper -d 3 --steps 4 --noise-end 0.5 -o over_end");
    let won = config("won");
    assert_eq!(fit(&won), [json!("off"), json!("1"), json!(2)]);
    assert_eq!(letter(&config("over_end"))[1], json!(0.5));
    let get = |name: &str| won["params"][name].clone();
    assert_eq!(
        ["noise_variance", "prior_variance", "init_sd", "init_var"].map(get),
        [2.0, 3.0, 0.3, 0.2].map(Value::from)
    );
    assert_eq!((get("exact"), get("ard")), (true.into(), false.into()));

    // The defaults are the library's, and noise has its own.
    place.ok("fit pmf ratings.dat -d 3 --steps 8 --effective 4t -o noisy");
    let noisy = config("noisy");
    assert_eq!(noisy["params"], json!(lehr::models::PmfParams::new(3)));
    assert_eq!(fit(&noisy), [json!("4t"), json!("0.85,1"), json!(5)]);
    place.ok("fit pmf ratings.dat -d 3 --steps 8 --effective 4t --batch 1000 -o svi");
    assert_eq!(fit(&config("svi")), [json!("4t"), Value::Null, Value::Null]);
    place.ok("fit pmf ratings.dat -d 3 --steps 8 -o quiet");
    assert_eq!(fit(&config("quiet")), [json!("off"), Value::Null, Value::Null]);
    place.ok("fit pmf ratings.dat -d 3 --steps 4 --no-learn-noise --no-ard --no-gauge --no-centre --no-biases -o none");
    let none = config("none");
    assert!(
        ["learn_noise", "ard", "gauge", "centre", "biases"]
            .iter()
            .all(|f| none["params"][f] == false)
    );

    // A file says the same as flags, and more: what the paper turns off can be turned on.
    place.write(
        "run.toml",
        "[fit]\nsteps = 6\nseed = 7\n[model]\npreset = \"paper\"\ndims = 5\nbiases = true\n\
         [data]\nduplicates = \"mean\"\n",
    );
    place.ok("fit pmf ratings.dat --config run.toml -o file");
    let file = config("file");
    assert_eq!(fit(&file), [json!("50t"), json!("0.85"), json!(5)]);
    let params = |name: &str| file["params"][name].clone();
    assert_eq!(
        [params("dims"), params("biases"), params("ard")],
        [json!(5), json!(true), json!(false)]
    );
    assert_eq!(file["data"]["options"]["duplicates"], "mean");
    place.ok("fit pmf ratings.dat --config run.toml -d 2 --no-biases -o over");
    let over = config("over");
    assert_eq!((&over["params"]["dims"], &over["params"]["biases"]), (&2.into(), &false.into()));
    place.write("off.toml", "[fit]\neffective = \"off\"\nsteps = 3\n");
    place.ok("fit pmf ratings.dat --config off.toml --preset paper -d 2 -o off");
    assert_eq!(fit(&config("off"))[0], "off");
}

#[test]
fn files_of_other_forms_are_read() {
    let place = place();
    place.ok("fit pmf ratings.dat -d 2 --tol 0 --steps 5 -o dat");
    let form = |begin: &str, sep: &str| {
        let line =
            |(user, item, rating): (usize, usize, f64)| format!("{user}{sep}{item}{sep}{rating}\n");
        begin.to_string() + &ratings(USERS).map(line).collect::<String>()
    };
    place.write("u.data", form("", "\t"));
    place.write("r.csv", form("userId,movieId,rating\n", ","));
    for name in ["u.data", "r.csv"] {
        place.ok(&format!("fit pmf {name} -d 2 --tol 0 --steps 5 -o {name}-run"));
        assert_eq!(place.lambda(&format!("{name}-run")), place.lambda("dat"), "{name}");
    }
    let triples: Vec<_> = ratings(USERS).collect();
    let users: Vec<i64> = triples.iter().map(|t| t.0 as i64).collect();
    let items: Vec<i64> = triples.iter().map(|t| t.1 as i64).collect();
    let stars: Vec<f64> = triples.iter().map(|t| t.2).collect();
    use lehr::write::Column;
    let columns =
        [Column::f64("stars", &stars), Column::i64("u", &users), Column::i64("i", &items)];
    lehr::write::table(&place.path("r.parquet"), &columns).unwrap();
    place.ok("fit pmf r.parquet -d 2 --tol 0 --steps 5 --user u --item i --rating 1 -o parquet");
    assert_eq!(place.lambda("parquet"), place.lambda("dat"));
    // Pairs that come twice are averaged on demand.
    place.write("twice.csv", "user,item,rating\na,x,1\nb,x,4\na,x,2\nb,y,3\n");
    place.ok("fit pmf twice.csv -d 1 --steps 3 --duplicates mean -o twice");
    assert_eq!(place.read_json("twice/config.json")["data"]["items"], 3);
}

#[test]
fn bad_ratings_are_refused_with_what_to_do() {
    let place = Place::new();
    let refuses = |content: &str, flags: &str, parts: &[&str]| {
        place.write("bad.csv", content);
        place.fails(&format!("fit pmf bad.csv -d 2 -o run {flags}"), parts);
        assert!(!place.path("run").exists());
    };
    let ok = "user,item,rating\na,x,1\nb,x,2\n";
    refuses("", "", &["bad.csv: is empty"]);
    refuses("user,item,rating\n", "", &["bad.csv", "at least one rating"]);
    refuses(
        &format!("{ok}a,x,3\n"),
        "",
        &["bad.csv", "user a rated item x twice", "line 2", "line 4", "--duplicates mean"],
    );
    refuses(&format!("{ok}a,y,nan\n"), "", &["bad.csv, line 4, column rating", "finite"]);
    refuses(&format!("{ok}a,y,inf\n"), "", &["bad.csv, line 4, column rating", "finite"]);
    refuses(&format!("{ok}a,y,good\n"), "", &["bad.csv, line 4, column rating", "good"]);
    refuses(&format!("{ok}a,y,\n"), "", &["bad.csv, line 4, column rating", "empty"]);
    refuses(&format!("{ok},y,3\n"), "", &["bad.csv, line 4, column user", "empty"]);
    refuses(&format!("{ok}a,y\n"), "", &["bad.csv, line 4", "found 2 fields, expected 3"]);
    refuses("who,what,stars\na,x,1\n", "", &["bad.csv, line 1", "--user, --item and --rating"]);
    refuses(ok, "--item film", &["bad.csv: --item asks for column \"film\"", "user, item, rating"]);
    refuses(ok, "--rating 4", &["bad.csv: --rating asks for column \"4\"", "1 to 3"]);
    refuses(ok, "--user item", &["--user and --item are both column item"]);
    refuses("1\n2\n", "", &["bad.csv, line 1", "a user, an item and a rating"]);
    place.fails("fit pmf gone.csv -d 2 -o run", &["gone.csv"]);
}

#[test]
fn bad_flags_are_refused_with_what_is_allowed() {
    let place = fitted();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 --quiet -o clusters");
    let fit = "fit pmf ratings.dat -o new";
    for (flags, parts) in [
        ("", ["how many latent dimensions?", "Give -d D"]),
        ("-d 0", ["-d 0: ", "between 1 and"]),
        ("-d 100000", ["-d 100000: ", "between 1 and"]),
        ("-d 2 --prior-variance 0", ["--prior-variance 0: ", "between 1e-9 and 1e9"]),
        ("-d 2 --noise-variance -1", ["--noise-variance -1: ", "between 1e-9 and 1e9"]),
        ("-d 2 --noise-variance nan", ["--noise-variance NaN: ", "between 1e-9 and 1e9"]),
        ("-d 2 --init-sd 1e-12", ["--init-sd 0.000000000001: ", "between 1e-9 and 1e9"]),
        ("-d 2 --init-var 0", ["--init-var 0: ", "between 1e-9 and 1e9"]),
        ("-d 2 --holdout 1000000", ["--holdout 1000000: ", "hold out fewer"]),
        ("-d 2 --effective 1000", ["--effective 1000: ", "must be at most"]),
        ("-d 2 --effective 5 --law lagged", ["--law lagged: ", "gaussian, gamma or subsample"]),
        ("-d 2 --effective 5 --law exact", ["--law exact: ", "gaussian, gamma or subsample"]),
        ("-d 2 --guard shrink", ["--guard shrink: ", "reject-below-prior"]),
        ("-d 2 --warm", ["--warm: ", "nothing to keep"]),
    ] {
        place.fails(&format!("{fit} {flags}"), &parts);
    }
    place.write("preset.toml", "[model]\npreset = \"mine\"\n");
    place.fails(
        &format!("{fit} -d 2 --config preset.toml"),
        &["preset.toml", "the only one is \"paper\""],
    );
    place.write("typo.toml", "[model]\ndim = 3\n");
    place.fails(
        &format!("{fit} -d 2 --config typo.toml"),
        &["typo.toml, line 2", "`dim`", "`dims`"],
    );
    for (line, parts) in [
        ("fit pmf ratings.dat -d x", ["--dims", "whole number"]),
        ("fit pmf ratings.dat -d 2 --preset thesis", ["--preset", "paper"]),
        ("fit pmf ratings.dat -d 2 --duplicates keep", ["--duplicates", "refuse, mean"]),
        ("recommend run", ["--user", "required"]),
        ("recommend run --user 1 --by luck", ["--by", "mean, ucb, thompson"]),
        ("recommend run --user 1 --top -3", ["--top", "whole number"]),
    ] {
        place.misused(line, &parts);
    }
    for (line, parts) in [
        ("recommend run --user 1 --top 0", ["--top 0: ", "at least 1"]),
        ("recommend run --user 1 --beta 2", ["--beta 2: ", "for --by ucb"]),
        ("recommend run --user 1 --by ucb --beta inf", ["--beta inf: ", "finite"]),
        ("recommend run --user 1 --seed 2", ["--seed 2: ", "for --by thompson"]),
        ("recommend run --user 1 --ratings gone.dat", ["gone.dat", ""]),
        ("recommend gone --user 1", ["gone: ", "no such directory"]),
        (
            "recommend clusters --user 1",
            ["clusters: this is a run of gmm", "'lehr recommend' is for pmf"],
        ),
        ("topics run", ["run: this is a run of pmf", "'lehr topics' is for lda"]),
        ("eval run ratings.dat --vocab x", ["--vocab is for documents", "model is pmf"]),
        (
            "eval run ratings.dat --drop x",
            ["--drop x: has a meaning for a matrix only", "--matrix"],
        ),
        ("eval run ratings.dat --columns x", ["--columns is for points", "model is pmf"]),
        (
            "eval clusters points.csv --duplicates mean",
            ["--duplicates is for ratings", "model is gmm"],
        ),
        ("eval run points.csv", ["points.csv", "--user, --item and --rating"]),
        (
            "partial run ratings.dat -o new",
            ["ratings.dat: a matrix factorisation is not continued", "lehr transform"],
        ),
    ] {
        place.fails(line, &parts);
    }
}

#[test]
fn damaged_runs_are_refused() {
    let place = fitted();
    for file in ["users.jsonl", "items.jsonl", "seen.safetensors"] {
        let good = place.read(&format!("run/{file}"));
        place.write(&format!("run/{file}"), &good[..good.len() / 2]);
        place.fails("recommend run --user 1", &[file]);
        place.fails("show run", &[file]);
        fs::remove_file(place.path(&format!("run/{file}"))).unwrap();
        place.fails("eval run ratings.dat", &[file]);
        place.write(&format!("run/{file}"), &good);
    }
    place.ok("recommend run --user 1");
}

#[test]
fn more_steps_go_on_from_where_the_run_stands() {
    let place = place();
    let fit = "fit pmf ratings.dat -d 3 --tol 0 --holdout 0.1";
    place.ok(&format!("{fit} --steps 12 -o once"));
    place.ok(&format!("{fit} --steps 6 -o twice"));
    let text = place.ok("resume twice --steps 6");
    has(&text, &["held out: RMSE "]);
    assert_eq!(place.lambda("twice"), place.lambda("once"));
    assert_eq!(place.trace("twice").last(), place.trace("once").last());
    assert!(place.ok("resume once").contains("this run is complete"));
}

#[test]
fn help_reads_well() {
    let place = Place::new();
    for (line, parts) in [
        (
            "fit pmf --help",
            &["--preset <NAME>", "--no-gauge", "Ratings:", "lehr fit pmf ratings.dat -d 10"][..],
        ),
        ("recommend --help", &["--include-seen", "--by <BY>", "[default: mean]", "Examples:"]),
        ("fit --help", &["pmf", "Probabilistic matrix factorisation"]),
        ("--help", &["recommend", "what users of a PMF run may like"]),
        ("eval --help", &["Ratings:", "--duplicates"]),
    ] {
        let text = place.ok(line);
        has(&text, parts);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    assert!(!place.ok("fit pmf --help").contains("--warm"));
}

#[test]
fn a_wide_matrix_is_refused_or_read_as_one() {
    let place = Place::new();
    // A count of ratings comes first, as in some files, and 99 stands for no rating.
    let mut rows = vec![[99.0; ITEMS]; USERS];
    ratings(USERS).for_each(|(user, item, value)| rows[user][item] = value);
    let row = |row: &[f64; ITEMS]| {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        format!("{},{}\n", row.iter().filter(|&&x| x != 99.0).count(), cells.join(","))
    };
    place.write("wide.csv", rows.iter().map(row).collect::<String>());
    let looks =
        "columns without names, which looks like a row for each user and a column for each item";
    for more in ["", "--duplicates mean"] {
        let parts = ["wide.csv, line 1: has ", looks, "read it so with --matrix (and --missing 99"];
        place.fails(&format!("fit pmf wide.csv -d 2 {more} -o run"), &parts);
    }
    let wide = "--matrix --missing 99,-1 --drop 1";
    place.ok(&format!("fit pmf wide.csv -d 4 --tol 0 --steps 30 --seed 3 {wide} -o run"));
    let shown = place.ok("show run");
    let n = ratings(USERS).count();
    has(&shown, &[&format!("{n} ratings, {USERS} users, {ITEMS} items")]);
    // The run remembers how to read its kind, and flags go on top.
    let scores = place.json("eval run wide.csv --json");
    assert!(number(&scores["rmse"]) < 1.0, "{scores}");
    assert_eq!(place.json(&format!("eval run wide.csv --json {wide}")), scores);
    place.fails("eval run wide.csv --missing model", &["--missing model: is not a number"]);
    place.points("points.csv", 30);
    place.ok("fit gmm points.csv -k 2 -o mixture");
    place.fails(
        "eval mixture points.csv --missing 99",
        &["--missing 99: give one of refuse, drop-rows, model"],
    );
    place.ok("eval mixture points.csv --missing model");
}
