//! `lehr report`: pages of each model, hostile text, bytes, sizes, and what cannot be shown.

mod common;

use std::fs;

use common::{Place, fixtures};

/// Text that would do harm if it were taken for markup, without what ends a field of a table.
const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

/// Markup of the page itself, in which hostile text would have to hide.
fn tags(page: &str) -> Vec<&str> {
    // What is inside of scripts and styles is no markup.
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let end = rest.find('>').expect("every tag ends");
        let tag = &rest[..=end];
        found.push(tag);
        rest = &rest[end + 1..];
        for raw in ["script", "style"] {
            if tag.starts_with(&format!("<{raw}")) {
                rest = &rest[rest.find(&format!("</{raw}>")).expect("it ends")..];
            }
        }
    }
    found
}

/// What holds for every page.
fn check(page: &str) {
    let tags = tags(page);
    let count = |begin: &str| tags.iter().filter(|tag| tag.starts_with(begin)).count();
    // The data and the one script whose hash the policy names.
    assert_eq!((count("<script"), count("<style"), count("<img")), (2, 1, 0));
    for tag in &tags {
        // Values are in quotes, and have none in them.
        let names: String = tag.split('"').step_by(2).collect();
        for name in names.split([' ', '\n']).skip(1) {
            assert!(!["on", "src", "style"].iter().any(|bad| name.starts_with(bad)), "{tag}");
        }
        if let Some((_, link)) = tag.split_once("href=\"") {
            assert!(link.starts_with('#'), "{tag}");
        }
    }
    let names = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!names.contains("http:") && !names.contains("https:"), "an address");
    let policy = "Content-Security-Policy\" content=\"default-src &#x27;none&#x27;; script-src &#x27;sha256-";
    assert!(page.contains(policy) && !page.contains("unsafe"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
}

fn page(place: &Place, line: &str, name: &str) -> String {
    place.ok(line);
    let page = String::from_utf8(place.read(name)).unwrap();
    check(&page);
    page
}

#[test]
fn topics_have_words_documents_and_groups() {
    let place = Place::new();
    let mut lines = String::new();
    for (n, doc) in common::corpus(60).into_iter().enumerate() {
        let names = common::words();
        let text: Vec<String> = doc.iter().flat_map(|&(w, c)| vec![names[w].clone(); c]).collect();
        let month = 1 + n % 3;
        lines += &format!(
            "{{\"text\": \"{EVIL} {}\", \"id\": \"{EVIL}{n}\", \"date\": \"2026-0{month}-11\"}}\n",
            text.join(" ")
        );
    }
    place.write("news.jsonl", lines);
    place.ok("fit lda news.jsonl -k 3 --holdout 10 --steps 30 -q -o news");
    let alone = page(&place, "report news -o alone.html", "alone.html");
    assert!(alone.contains("The page has no documents") && !alone.contains("onerror=alert(2)&gt"));
    assert!(
        alone.contains("coherence 0.")
            || alone.contains("coherence 1.")
            || alone.contains("coherence -0.")
    );
    let whole = page(&place, "report news --data news.jsonl --by date -o whole.html", "whole.html");
    for part in ["2026-02", "the data of the fit (60 documents)", "<mark>", "Map of topics"] {
        assert!(whole.contains(part), "{part}");
    }
    // Its text is there, as text.
    assert!(whole.contains("&lt;&#x2f;") && whole.contains("onerror="));
    for topic in 0..3 {
        assert!(whole.contains(&format!("id=\"topic-{topic}\"")));
    }
    place.ok("report news --data news.jsonl --by date -o again.html");
    assert_eq!(place.read("again.html"), place.read("whole.html"));
}

#[test]
fn words_columns_titles_ids_and_file_names_are_text() {
    let place = Place::new();
    place.docs("a", 60);
    let words: String =
        (0..common::WORDS).map(|w| format!("{}{w}\n", EVIL.replace(' ', "_"))).collect();
    place.write("vocab.a.txt", words);
    place.ok("fit lda docword.a.txt -k 3 --steps 20 -q -o lda");
    let topics = page(&place, "report lda --data docword.a.txt -o lda.html", "lda.html");
    assert!(topics.contains("alert(1)"));
    // Columns, names of items and the file's own.
    let mut table = format!("{EVIL},b,c,name\n");
    for (n, row) in common::mixture(80).iter().enumerate() {
        table += &format!("{},{},{},{EVIL}{n}\n", row[0], row[1], row[2]);
    }
    let name = "<b>&\"'.csv";
    place.write(name, &table);
    place.ok(&format!("fit gmm {name} -k 3 --drop name -q -o <i>run"));
    let clusters =
        page(&place, &format!("report <i>run --data {name} --id name -o gmm.html"), "gmm.html");
    assert!(
        clusters.contains("onerror=alert(2)")
            && clusters.contains("&lt;b&gt;&amp;&quot;&#x27;.csv")
    );
    // Users, items and titles.
    let mut ratings = String::from("user,item,rating\n");
    let mut titles = String::from("id,title\n");
    for (user, item, rating) in common::ratings(30) {
        ratings += &format!("{EVIL}{user},{EVIL}{item},{rating}\n");
    }
    (0..common::ITEMS).for_each(|item| titles += &format!("{EVIL}{item},<u>{EVIL} {item}\n"));
    place.write("ratings.csv", ratings);
    place.write("titles.csv", titles);
    place.ok("fit pmf ratings.csv -d 2 --holdout 0.1 --steps 10 -q -o pmf");
    let films = page(&place, "report pmf --titles titles.csv -o pmf.html", "pmf.html");
    assert!(films.contains("&lt;u&gt;") && films.contains("By fifths"));
}

#[test]
fn clusters_and_ratings_say_what_they_were_given() {
    let place = Place::new();
    place.apart("points.csv", 150);
    place.ok("fit gmm points.csv -k 3 --n-init 2 -q -o gmm");
    let alone = page(&place, "report gmm -o a.html", "a.html");
    assert!(alone.contains("The page has no items") && alone.contains("evidence, nats"));
    let whole = page(&place, "report gmm --data points.csv -o b.html", "b.html");
    assert!(whole.contains("150 of 150 items are drawn") && whole.contains("bound, nats"));
    assert!(whole.contains("Least explained items"));
    place.apart("more.csv", 6000);
    let many = page(&place, "report gmm --data more.csv -o c.html", "c.html");
    assert!(many.contains("5000 of 6000 items are drawn, spread evenly"));
    assert!(many.contains("other data than those of the fit") && many.len() < 1_000_000);

    place.ratings("ratings.dat", 40);
    place.ok("fit pmf ratings.dat -d 2 --holdout 0.2 --steps 15 -q -o pmf");
    let films = page(&place, "report pmf --user 3 --user nobody -o d.html", "d.html");
    assert!(
        films.contains("User 3, who has rated")
            && films.contains("User nobody is not in the model")
    );
    assert!(films.contains("the ratings that the fit has held out"));
    // Changed or gone: the page is made without what needs them, and says so.
    place.ratings("ratings.dat", 39);
    let changed = page(&place, "report pmf -o e.html", "e.html");
    assert!(changed.contains("Not measured: ratings.dat has changed since the fit"));
    fs::remove_file(place.path("ratings.dat")).unwrap();
    let gone = page(&place, "report pmf -o f.html", "f.html");
    assert!(gone.contains("Not measured: the ratings of the fit, ratings.dat, are gone"));
}

/// FNV-1a, which is enough to see that two texts differ.
fn hash(text: &str) -> String {
    let step = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[test]
fn pages_of_kept_runs_have_the_bytes_that_they_had() {
    let files = [
        ("gmm", "points.csv"),
        ("dpgmm", "points.csv"),
        ("lda", "docword.txt"),
        ("pmf", "ratings.dat"),
    ];
    let mut found = String::new();
    for version in ["1", "2"] {
        let place = Place::new();
        for (model, file) in files {
            fs::copy(fixtures().join(file), place.path(file)).unwrap();
            for end in ["killed", "ended"] {
                let run = format!("{model}-{end}");
                place.kept_run(version, &run);
                let line = format!("report {run} --data {file} -o {run}.html");
                // The same on any number of threads; to the last digit only with the same instructions.
                let made = place
                    .command(&line)
                    .env("LEHR_ISA", "portable")
                    .env("RAYON_NUM_THREADS", if end == "ended" { "1" } else { "3" })
                    .output()
                    .unwrap();
                assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
                let page = String::from_utf8(place.read(&format!("{run}.html"))).unwrap();
                check(&page);
                assert_eq!(page.contains("The fit has not ended"), end == "killed", "{run}");
                let page = page.replace(env!("CARGO_PKG_VERSION"), "VERSION");
                found += &format!("{version} {run} {}\n", hash(&page));
            }
        }
    }
    // LEHR_PAGES=write keeps them as they are now, after a change of templates that was meant.
    let kept = fixtures().join("pages.txt");
    if std::env::var_os("LEHR_PAGES").is_some_and(|what| what == "write") {
        fs::write(&kept, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&kept).unwrap(), "LEHR_PAGES=write keeps new ones");
}

/// The data that the scripts of a page read.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_corpus_is_that_of_the_documents_whatever_the_prior_adds() {
    let place = Place::new();
    place.docs("a", 60);
    // The prior of 40 topics has several times the words of the documents.
    place.ok("fit lda docword.a.txt -k 40 --priors fixed --eta 2 --steps 5 -q -o lda");
    let page = page(&place, "report lda --data docword.a.txt -o lda.html", "lda.html");
    let mut counts = vec![0.0; common::WORDS];
    for (w, c) in common::corpus(60).into_iter().flatten() {
        counts[w] += c as f64;
    }
    let tokens: f64 = counts.iter().sum();
    let words = &data(&page)["model"]["words"];
    let names: Vec<&str> =
        words["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.len() > 5);
    for (at, name) in names.iter().enumerate() {
        let w = common::words().iter().position(|word| word == name).unwrap();
        let shown = (-words["corpus"][at].as_f64().unwrap() / 1e4).exp();
        assert!((shown * tokens / counts[w] - 1.0).abs() < 1e-3, "{name}: {shown} {}", counts[w]);
    }
    assert!(page.contains("topics hold fewer words than a document has on average"));
    assert!(page.contains("of each its 40 most frequent words"));
    place.ok("fit lda docword.a.txt -k 3 --local-iterations 1 --steps 3 -q -o hasty");
    let hasty = self::page(&place, "report hasty -o hasty.html", "hasty.html");
    assert!(hasty.contains("of at most 1 iterations on average"));
}

#[test]
fn a_map_of_many_topics_has_the_largest() {
    let place = Place::new();
    place.docs("a", 400);
    place.ok("fit lda docword.a.txt -k 120 --priors fixed --steps 3 -q -o lda");
    let page = page(&place, "report lda -o lda.html", "lda.html");
    let map = page.split_once("class=\"map\"").unwrap().1.split_once("</svg>").unwrap().0;
    let drawn = map.matches("<circle").count();
    assert!((3..=100).contains(&drawn), "{drawn}");
    assert!(page.contains(&format!("Of 120 topics the {drawn} largest are drawn")));
    // The largest ones, as the list has them.
    let numbers = |text: &str, begin: &str| -> Vec<String> {
        let each = text.split(begin).skip(1);
        each.map(|rest| rest.split('"').next().unwrap().to_string()).collect()
    };
    let list = numbers(&page, "<li data-topic=\"");
    assert_eq!(numbers(map, "data-topic=\""), list[..drawn]);
}

#[test]
fn what_is_lost_or_not_there_yet_is_said() {
    let place = Place::new();
    place.apart("points.csv", 150);
    place.ok("fit gmm points.csv -k 3 -q -o gmm");
    fs::remove_file(place.path("gmm/trace.jsonl")).unwrap();
    let lost = page(&place, "report gmm -o lost.html", "lost.html");
    assert!(
        lost.contains("no record of the fit&#x27;s steps") && !lost.contains("Convergence</h2>")
    );
    place.ok("sweep gmm points.csv -k 1..3 --folds 2 --n-init 1 -q -o sizes");
    let whole = page(&place, "report sizes -o whole.html", "whole.html");
    assert!(!whole.contains("have not ended"));
    assert!(whole.contains("lehr sweep gmm points.csv -k 1,2,3 --folds 2 --config sweep.toml"));
    assert!(whole.contains("Fitted to points.csv: 150 items"));
    fs::remove_dir_all(place.path("sizes/k2-fold1")).unwrap();
    let half = page(&place, "report sizes -o half.html", "half.html");
    assert!(half.contains("1 of the sweep&#x27;s 9 runs have not ended"));
    place.write("text.jsonl", "{\"text\": \"a few words of it\", \"id\": \"x\"}\n".repeat(9));
    place.ok("fit lda text.jsonl -k 2 --steps 2 -q -o lda");
    place.fails(
        "report lda --data text.jsonl --by month -o x.html",
        &["no document has the field of --by month"],
    );
}

#[test]
fn several_runs_and_sweeps_are_compared() {
    let place = Place::new();
    place.apart("points.csv", 150);
    for seed in 1..4 {
        place.ok(&format!("fit gmm points.csv -k 3 --seed {seed} -q -o runs-{seed}"));
    }
    let three = page(&place, "report runs-1 runs-2 runs-3 -o three.html", "three.html");
    assert!(
        three.contains("3 of 3 components of runs-1 came back in both other runs")
            && three.contains("0 of 3 came back in none")
    );
    place.ok("fit gmm points.csv -k 4 --seed 9 -q -o runs-4");
    let sizes = page(&place, "report runs-1 runs-4 -o sizes-2.html", "sizes-2.html");
    assert!(sizes.contains("Bound against size"));
    place.ok("sweep gmm points.csv -k 1..3 --folds 2 --n-init 1 -q -o sizes");
    let sweep = page(&place, "report sizes -o sweep.html", "sweep.html");
    assert!(sweep.contains("Take K = ") && sweep.contains("Held-out score against size"));
    let both = page(&place, "report runs-1 sizes runs-2 -o both.html", "both.html");
    assert!(both.contains("Held-out score against size") && both.contains("components of runs-1"));
    place.ratings("ratings.dat", 40);
    for seed in 1..3 {
        place.ok(&format!("fit pmf ratings.dat -d 2 --steps 10 --seed {seed} -q -o pmf-{seed}"));
    }
    let factors = page(&place, "report pmf-1 pmf-2 -o factors.html", "factors.html");
    assert!(factors.contains("dimensions of pmf-") && factors.contains("by their items"));
    place.docs("a", 40);
    place.ok("fit lda docword.a.txt -k 2 --steps 5 -q -o lda");
    place.fails(
        "report runs-1 lda -o x.html",
        &["lda", "a run of lda", "runs of one model compare"],
    );
    place.fails("report lda sizes -o x.html", &["sizes", "a run of gmm", "runs of one model"]);
    place.fails("report runs-1 runs-2 --data points.csv -o x.html", &["--data", "one run"]);
}

#[test]
fn a_hundred_topics_with_documents_stay_below_a_megabyte() {
    let place = Place::new();
    let mut lines = String::new();
    let letters = |n: usize| -> String {
        [n / 676 % 26, n / 26 % 26, n % 26].map(|x| char::from(b'a' + x as u8)).iter().collect()
    };
    for n in 0..600 {
        let word = |at: usize| format!("wo{}", letters((n % 100) * 31 + (at * at + n) % 53));
        let text: Vec<String> = (0..80).map(word).collect();
        lines += &format!("{}\n", text.join(" "));
    }
    place.write("texts.txt", lines);
    place.ok("fit lda texts.txt -k 100 --steps 4 -q -o lda");
    let page = page(&place, "report lda --data texts.txt -o lda.html", "lda.html");
    assert_eq!(page.matches("<blockquote").count(), 500);
    assert!(page.len() < 1_000_000, "{}", page.len());
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let place = Place::new();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 -q -o gmm");
    place.write("there.html", "mine");
    place.fails("report gmm -o there.html", &["there.html", "exists already", "--force"]);
    place.fails("report gmm -o none/x.html", &["none"]);
    place.fails("report nowhere -o x.html", &["nowhere"]);
    place.fails("report gmm --data nothing.csv -o x.html", &["nothing.csv"]);
    place.fails("report gmm --titles points.csv -o x.html", &["--titles", "ratings", "gmm"]);
    place.fails("report gmm --data points.csv --by a -o x.html", &["--by", "documents"]);
    place.fails("report gmm --data points.csv -o points.csv --force", &["this is the data"]);
    place.misused("report gmm --by a -o x.html", &["--data"]);
    place.misused("report gmm", &["--output"]);
    // Half a run, and a run of another version.
    fs::remove_file(place.path("gmm/checkpoint.safetensors")).unwrap();
    place.fails("report gmm -o x.html", &["gmm"]);
    let config = String::from_utf8(place.read("gmm/config.json")).unwrap();
    place.write("gmm/config.json", config.replace("\"format\": 2", "\"format\": 99"));
    place.fails("report gmm -o x.html", &["config.json", "version 99", "update lehr"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_for_the_file_is_said() {
    let place = Place::new();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 -q -o gmm");
    place.fails("report gmm -o /dev/full --force", &["/dev/full"]);
}
