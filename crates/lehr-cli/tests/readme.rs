//! The commands of the README and of the pages in docs/, run as they stand, in order, in a folder with synthetic data.

use std::path::{Path, PathBuf};
use std::process::Command;

use lehr::math::rng::{Address, Purpose};
use lehr::write::{self, Column};

const README: &str = include_str!("../../../README.md");
const RUNS: &str = include_str!("../../../docs/reference/runs.md");
const REPRODUCE: &str = include_str!("../../../docs/paper/reproduce.md");
const RECOMMEND: &str = include_str!("../../../docs/guide/recommendations.md");
const REPORT: &str = include_str!("../../../docs/guide/report.md");
const CORPORA: &str = include_str!("../../../docs/reference/corpora.md");

/// The command of docs/paper/reproduce.md; tests/reproduce.rs runs it.
const ELSEWHERE: &str = "lehr reproduce all --quick -o out";

/// Three clusters in two columns, and a label that the configuration drops.
fn make_points(path: &Path, n_items: usize, item: u64, label: bool) {
    let mut rng = Address::new(11, Purpose::Data, 0, 0).rng(item);
    let labels: Vec<i64> = (0..n_items).map(|_| rng.below(3) as i64).collect();
    let mut column = |centres: [f64; 3]| -> Vec<f64> {
        labels.iter().map(|&l| centres[l as usize] + rng.normal()).collect()
    };
    let (x, y) = (column([0.0, 9.0, -9.0]), column([5.0, 0.0, -5.0]));
    let mut columns = vec![Column::f64("x", &x), Column::f64("y", &y)];
    if label {
        columns.push(Column::i64("label", &labels));
    }
    write::table(path, &columns).unwrap();
}

/// Documents of 40 words about one of three things.
fn make_articles(path: &Path, n_docs: usize, item: u64) {
    const THINGS: [&str; 3] = [
        "glass furnace oven kiln melt silica anneal window bottle lens",
        "river boat sail harbour anchor tide captain fish net wave",
        "guitar drum chord melody rhythm singer concert stage song violin",
    ];
    let mut rng = Address::new(12, Purpose::Data, 0, 0).rng(item);
    let mut lines = String::new();
    for _ in 0..n_docs {
        let words: Vec<&str> = THINGS[rng.below(3) as usize].split(' ').collect();
        let text: Vec<&str> = (0..40).map(|_| words[rng.below(10) as usize]).collect();
        lines += &format!("{{\"text\": \"{}\"}}\n", text.join(" "));
    }
    std::fs::write(path, lines).unwrap();
}

/// Users who like even or odd films, ratings of the next day by some of them and by a newcomer, and
/// titles.
fn make_ratings(folder: &Path) {
    let mut rng = Address::new(13, Purpose::Data, 0, 0).rng(0);
    let mut rating = |user: usize, film: usize| {
        let likes = if user % 2 == film % 2 { 1.0 } else { -1.0 };
        format!("{:.2}", 3.0 + likes + 0.3 * rng.normal())
    };
    let (mut past, mut test) = (String::new(), String::from("user,item,rating\n"));
    for (user, film) in (0..60).flat_map(|user| (0..30).map(move |film| (user, film))) {
        match (7 * user + 5 * film) % 11 {
            0..4 => past += &format!("{user}::{film}::{}::0\n", rating(user, film)),
            4 if film < 10 => test += &format!("{user},{film},{}\n", rating(user, film)),
            _ => {}
        }
    }
    let newcomer: String =
        (0..12).map(|film| format!("newcomer,{film},{}\n", rating(0, film))).collect();
    let titles: String = (0..30).map(|film| format!("{film}::Film {film}::Drama\n")).collect();
    let weights = past.lines().zip([1, 2, 3].iter().cycle());
    let weighted: String = weights
        .map(|(line, weight)| {
            let line = line.strip_suffix("::0").expect("a time of 0").replace("::", ",");
            format!("{line},{weight}\n")
        })
        .collect();
    std::fs::write(folder.join("weighted.csv"), format!("user,item,rating,weight\n{weighted}"))
        .unwrap();
    std::fs::write(folder.join("ratings.dat"), past).unwrap();
    std::fs::write(folder.join("test.csv"), test).unwrap();
    std::fs::write(folder.join("today.csv"), format!("user,item,rating\n{newcomer}")).unwrap();
    std::fs::write(folder.join("movies.dat"), titles).unwrap();
    // A count, then ten columns of ratings, half of which are none.
    let jokes = |user: usize| -> String {
        let cell = |n: usize| if (user + n).is_multiple_of(2) { ",99" } else { ",3.5" };
        format!("5{}\n", (0..10).map(cell).collect::<String>())
    };
    std::fs::write(folder.join("jokes.csv"), (0..20).map(jokes).collect::<String>()).unwrap();
}

/// The commands of a document.
fn commands(document: &str) -> Vec<&str> {
    let lines = document.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.filter(|line| line.starts_with("lehr ")).collect()
}

fn run(folder: &Path, line: &str) -> String {
    let line = line.split('#').next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = Command::new(env!("CARGO_BIN_EXE_lehr"))
        .args(&words)
        .current_dir(folder)
        .output()
        .expect("lehr starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_command_of_the_readme_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 600, 0, false);
    make_points(&folder.path().join("heldout.csv"), 100, 1, false);
    make_articles(&folder.path().join("articles.jsonl"), 400, 0);
    make_articles(&folder.path().join("new.jsonl"), 60, 1);
    make_ratings(folder.path());
    let commands = commands(README);
    assert!(commands.len() >= 12, "the README lost its commands: {commands:?}");
    for command in commands {
        let output = run(folder.path(), command);
        assert!(!output.is_empty(), "{command} said nothing");
    }
    let labels = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    assert_eq!(labels.lines().count(), 601);
}

#[test]
fn every_command_about_runs_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 600, 0, false);
    make_points(&folder.path().join("more.csv"), 300, 1, false);
    make_points(&folder.path().join("heldout.csv"), 100, 2, false);
    let commands = commands(RUNS);
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in commands {
        assert!(!run(folder.path(), command).is_empty(), "{command} said nothing");
    }
}

#[test]
fn the_command_of_the_experiments_is_the_one_that_is_tested() {
    assert_eq!(commands(REPRODUCE).len(), 1);
    assert!(REPRODUCE.contains(ELSEWHERE) && README.contains(ELSEWHERE));
    assert!(include_str!("reproduce.rs").contains(&ELSEWHERE[5..]));
}

#[test]
fn every_command_about_corpora_works() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    make_articles(&place("articles.jsonl"), 60, 0);
    let lines = std::fs::read_to_string(place("articles.jsonl")).unwrap();
    let texts: Vec<&str> = lines.lines().map(|line| &line[9..line.len() - 1]).collect();
    let rows: String = texts.iter().map(|text| format!("5,{text}\n")).collect();
    std::fs::write(place("reviews.csv"), format!("stars,review\n{rows}")).unwrap();
    let posts: Vec<String> = (1..)
        .zip(&texts)
        .map(|(n, text)| format!("{{\"id\": {n}, \"content\": {{\"body\": {text}}}}}"))
        .collect();
    for name in ["posts.json", "new.json"] {
        std::fs::write(place(name), format!("[{}]", posts.join(",\n"))).unwrap();
    }
    let commands = commands(CORPORA);
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        assert!(!run(folder.path(), command).is_empty(), "{command} said nothing");
    }
    let topics = std::fs::read_to_string(place("topics.csv")).unwrap();
    assert!(topics.starts_with("id,main_topic,topic_0,"), "{topics}");
    assert_eq!(topics.lines().count(), 61);
}

/// The pages whose commands run in one folder, in this order, and how many each has at least. A page may use what
/// the ones before it have left.
const GUIDE: &[(&str, usize)] = &[
    ("index.md", 3),
    ("guide/install.md", 2),
    ("guide/clusters.md", 4),
    ("guide/topics.md", 6),
    ("guide/steering_topics.md", 9),
    ("guide/implicit_feedback.md", 5),
    ("guide/search.md", 6),
    ("guide/sweeps.md", 1),
    ("guide/coming_from.md", 3),
];

/// Pages that have tests of their own here.
const OTHERS: &[&str] = &[
    "guide/recommendations.md",
    "guide/report.md",
    "reference/corpora.md",
    "reference/runs.md",
    "paper/reproduce.md",
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn every_command_of_the_guide_works() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    make_points(&place("points.csv"), 300, 0, false);
    make_points(&place("heldout.csv"), 100, 1, false);
    make_points(&place("iris.csv"), 60, 2, false);
    make_articles(&place("articles.jsonl"), 200, 0);
    make_articles(&place("new.jsonl"), 60, 1);
    make_articles(&place("news.jsonl"), 200, 2);
    for (table, lines) in [("news.jsonl", "news.txt"), ("new.jsonl", "new.txt")] {
        let text = std::fs::read_to_string(place(table)).unwrap();
        let texts: Vec<&str> = text.lines().map(|line| &line[10..line.len() - 2]).collect();
        std::fs::write(place(lines), texts.join("\n")).unwrap();
    }
    std::fs::write(place("seeds.txt"), "things: glass furnace\nwater: river boat:3\n").unwrap();
    std::fs::write(place("eta.txt"), "glass 20\nriver 0.01\n").unwrap();
    make_ratings(folder.path());
    let past = std::fs::read_to_string(place("ratings.dat")).unwrap().replace("::0\n", "\n");
    std::fs::write(place("views.csv"), format!("user,item,rating\n{}", past.replace("::", ",")))
        .unwrap();
    std::fs::rename(place("test.csv"), place("later.csv")).unwrap();
    for (page, least) in GUIDE {
        let text = std::fs::read_to_string(docs().join(page)).unwrap();
        let commands = commands(&text);
        assert!(commands.len() >= *least, "{page} lost its commands: {commands:?}");
        let _ = std::fs::remove_dir_all(place("runs/points"));
        for command in commands {
            assert!(!run(folder.path(), command).is_empty(), "{page}: {command} said nothing");
        }
    }
}

#[test]
fn no_page_with_commands_is_forgotten() {
    let tested = |name: &str| GUIDE.iter().any(|(page, _)| *page == name) || OTHERS.contains(&name);
    for part in ["", "guide", "reference", "method", "paper"] {
        for file in std::fs::read_dir(docs().join(part)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|end| end == "md") {
                let name = path.strip_prefix(docs()).unwrap().to_str().unwrap().to_string();
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(
                    commands(&text).is_empty() || tested(&name),
                    "{name} has commands that no test runs"
                );
            }
        }
    }
}

#[test]
fn every_command_about_recommendations_works() {
    let folder = tempfile::tempdir().unwrap();
    make_ratings(folder.path());
    for (name, ids) in [("customers", "7\n42\n"), ("in-stock", "3\n5\n8\n"), ("adult", "8\n")] {
        std::fs::write(folder.path().join(format!("{name}.txt")), ids).unwrap();
    }
    let commands = commands(RECOMMEND);
    assert_eq!(commands.len(), 15, "{commands:?}");
    for command in commands {
        let output = run(folder.path(), command);
        assert!(!output.is_empty(), "{command} said nothing");
        if command.contains("newcomer") {
            // Films that are even and not among those rated.
            let film = |line: &str| line.split_whitespace().nth(1)?.parse::<usize>().ok();
            let films: Vec<usize> = output.lines().skip(2).filter_map(film).take(8).collect();
            assert_eq!(films.len(), 8, "{output}");
            assert!(films.iter().all(|film| film % 2 == 0 && *film >= 12), "{output}");
        }
    }
}

#[test]
fn every_command_about_pages_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 300, 0, false);
    make_articles(&folder.path().join("articles.jsonl"), 200, 0);
    make_ratings(folder.path());
    let commands = commands(REPORT);
    assert_eq!(commands.len(), 16, "{commands:?}");
    for command in commands {
        assert!(!run(folder.path(), command).is_empty(), "{command} said nothing");
    }
    let page = std::fs::read_to_string(folder.path().join("films.html")).unwrap();
    assert!(page.contains("Film 1") && page.contains("User 42, who has rated"));
}

#[test]
fn the_configuration_file_of_the_page_about_runs_works() {
    let folder = tempfile::tempdir().unwrap();
    make_points(&folder.path().join("points.csv"), 600, 0, true);
    let begin = RUNS.find("```toml\n").expect("a TOML example") + "```toml\n".len();
    let length = RUNS[begin..].find("```").expect("its end");
    std::fs::write(folder.path().join("run.toml"), &RUNS[begin..begin + length]).unwrap();
    run(folder.path(), "lehr fit gmm points.csv --config run.toml -o run");
    let config = std::fs::read_to_string(folder.path().join("run/config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["fit"]["effective"], "geometric:10:150");
    assert_eq!(config["fit"]["batch"], 200);
    assert_eq!(config["params"]["covariance"], "diagonal");
    assert_eq!(config["data"]["columns"], serde_json::json!(["x", "y"]));
}
