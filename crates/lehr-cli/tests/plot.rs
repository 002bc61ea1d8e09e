//! `lehr plot`: what is drawn, in both formats, and what is printed where there is nothing to draw.

mod common;

use common::Place;

const MARKUP: &str = "<b>&\"x";

/// Draws a picture as SVG and as PNG, twice the same.
fn picture(place: &Place, line: &str) -> String {
    place.ok(&format!("plot {line} -o picture.svg --force"));
    let svg = String::from_utf8(place.read("picture.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{line}");
    assert!(!svg.contains("no data"), "{line}");
    place.ok(&format!("plot {line} -o picture.PNG --force"));
    assert!(place.read("picture.PNG").starts_with(b"\x89PNG"), "{line}");
    place.ok(&format!("plot {line} -o again.svg --force"));
    assert_eq!(place.read("again.svg"), place.read("picture.svg"), "{line}");
    svg
}

/// How many elements of a class there are.
fn count(svg: &str, class: &str) -> usize {
    svg.matches(&format!("class=\"{class}\"")).count()
}

#[test]
fn clusters_and_their_bound() {
    let place = Place::new();
    place.apart("points.csv", 90);
    place.ok("fit gmm points.csv -k 3 --n-init 3 --holdout 0.1 -q -o runs/a");
    let bound = picture(&place, "runs/a");
    // Every start is a line.
    assert!(bound.contains("a: Bound") && count(&bound, "line") == 3);
    assert!(bound.contains(">steps</text>"));
    assert!(picture(&place, "runs/a --against passes").contains("passes over the data"));
    assert!(picture(&place, "runs/a --what held-out").contains("Held-out log predictive density"));
    let alone = picture(&place, "runs/a --what clusters");
    let all = picture(&place, "runs/a --what clusters --data points.csv");
    assert_eq!((count(&alone, "ellipse"), alone.matches("<circle").count()), (3, 0));
    assert_eq!((count(&all, "ellipse"), all.matches("<circle").count()), (3, 90));
    assert!(picture(&place, "runs/a --what profile").contains("Profiles"));
    assert_eq!(picture(&place, "runs/a --what sizes").matches("<rect").count(), 3 + 2);
    // The charts of the page are the same, but for what they stand on.
    place.ok("report runs/a -o a.html");
    let page = String::from_utf8(place.read("a.html")).unwrap();
    let lines = |text: &str| -> Vec<String> {
        let paths = text.split("<path d=\"").skip(1);
        paths.map(|rest| rest.split('"').next().unwrap().to_string()).collect()
    };
    let drawn = lines(&bound);
    let shape = |path: &String| path.matches('L').count();
    assert!(drawn.iter().all(|path| lines(&page).iter().any(|other| shape(other) == shape(path))));
}

#[test]
fn few_topics_are_bars_and_many_a_list() {
    let place = Place::new();
    place.docs("a", 60);
    place.ok("fit lda docword.a.txt -k 3 --holdout 10 --steps 10 -q -o few");
    let few = picture(&place, "few --what topics");
    assert_eq!((count(&few, "panel"), count(&few, "rows")), (3, 6));
    assert!(few.contains("topic 0 (") && few.contains("topic 2 ("));
    assert_eq!(picture(&place, "few --what map").matches("<circle").count(), 3);
    assert!(picture(&place, "few --what held-out").contains("Held-out completion"));
    place.ok("fit lda docword.a.txt -k 80 --steps 2 -q -o many");
    let many = picture(&place, "many --what topics");
    assert_eq!(count(&many, "panel"), 2);
    for topic in 0..80 {
        assert!(many.contains(&format!("   {topic}</text>")), "topic {topic}");
    }
    // Rows of text have room for their letters.
    let height = many.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(height.parse::<f64>().unwrap() >= 40.0 * 17.0, "{height}");
}

#[test]
fn shares_by_group_and_words_of_markup() {
    let place = Place::new();
    let mut lines = String::new();
    for (n, doc) in common::corpus(40).into_iter().enumerate() {
        let names = common::words();
        let text: Vec<String> = doc.iter().flat_map(|&(w, c)| vec![names[w].clone(); c]).collect();
        let (month, text) = (1 + n % 3, text.join(" "));
        lines += &format!(
            "{{\"text\": \"{text}\", \"date\": \"2026-0{month}-11\", \"kind\": \"{}{}\"}}\n",
            MARKUP.replace('"', "'"),
            n % 2
        );
    }
    place.write("news.jsonl", lines);
    place.ok("fit lda news.jsonl -k 3 --steps 10 -q -o news");
    let months = picture(&place, "news --what groups --data news.jsonl --by date");
    assert!(months.contains("2026-02") && count(&months, "line") == 3);
    let kinds = picture(&place, "news --what groups --data news.jsonl --by kind");
    assert!(kinds.contains("&lt;b&gt;&amp;'x1") && count(&kinds, "bars") == 3);
    place.fails("plot news --what groups -o x.svg", &["--data FILE --by COLUMN"]);
}

#[test]
fn ratings_are_calibrated_if_there_are_some() {
    let place = Place::new();
    place.ratings("ratings.dat", 40);
    place.ok("fit pmf ratings.dat -d 2 --holdout 0.2 --steps 10 -q -o pmf");
    for (what, title) in [
        ("relevance", "Relevance of the dimensions"),
        ("calibration", "as it should be"),
        ("errors", "of the item"),
        ("biases", "Biases"),
        ("held-out", "Held-out log density"),
    ] {
        assert!(picture(&place, &format!("pmf --what {what}")).contains(title), "{what}");
    }
    std::fs::remove_file(place.path("ratings.dat")).unwrap();
    place.fails("plot pmf --what calibration -o x.svg", &["no ratings to test on", "--data FILE"]);
}

#[test]
fn several_runs_and_sweeps() {
    let place = Place::new();
    place.points("points.csv", 90);
    for k in 2..5 {
        // The same items are held out of all.
        place.ok(&format!("fit gmm points.csv -k {k} --holdout 0.1 -q -o k{k}"));
    }
    let bounds = picture(&place, "k2 k3 k4");
    assert!(count(&bounds, "line") >= 3 && bounds.contains(">k3</text>"));
    assert!(picture(&place, "k2 k3 k4 --what held-out").contains("Held-out score against size"));
    place.ok("sweep gmm points.csv -k 1..3 --folds 2 --n-init 1 -q -o sizes");
    assert!(picture(&place, "sizes --what held-out").contains("recommended"));
    assert_eq!(count(&picture(&place, "k2 sizes"), "panel"), 2);
    place.fails("plot sizes --what map -o x.svg", &["sweeps have bound and held-out"]);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let place = Place::new();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 -q -o gmm");
    place.fails("plot gmm -o x.pdf", &["x.pdf", ".png or .svg"]);
    place.fails("plot gmm -o x", &["--output-format"]);
    place.fails("plot gmm --what held-out -o x.svg", &["nothing was held out"]);
    place.fails(
        "plot gmm --what topics -o x.svg",
        &["a run of gmm has no topics", "clusters, sizes, profile"],
    );
    place.fails("plot nowhere -o x.svg", &["nowhere"]);
    place
        .fails("plot gmm --data points.csv --what clusters -o points.csv --force", &["points.csv"]);
    place.misused("plot gmm --what everything -o x.svg", &["everything", "calibration"]);
    place.write("there.svg", "mine");
    place.fails("plot gmm -o there.svg", &["exists already", "--force"]);
    let ended = place.run("plot gmm --output-format svg -o -");
    assert!(ended.code == 0 && ended.stdout.starts_with("<svg"), "{}", ended.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_for_the_picture_is_said() {
    let place = Place::new();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 -q -o gmm");
    place.fails("plot gmm -o /dev/full --output-format png --force", &["/dev/full"]);
}
