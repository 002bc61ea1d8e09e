//! Topics of documents: every command on small synthetic corpora, and what is refused.

mod common;

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use common::{Place, WORDS, corpus, tensors, words};
use lehr::write::{self, Column};

const DOCS: usize = 120;

fn place() -> Place {
    let place = Place::new();
    place.docs("a", DOCS);
    place
}

impl Place {
    /// The synthetic corpus in LDA-C's form.
    fn ldac(&self, name: &str, n_docs: usize) {
        let line = |doc: &Vec<(usize, usize)>| {
            let pairs: Vec<String> = doc.iter().map(|(w, n)| format!("{w}:{n}")).collect();
            format!("{} {}\n", doc.len(), pairs.join(" "))
        };
        self.write(name, corpus(n_docs).iter().map(line).collect::<String>());
    }

    /// The topics of a run by number, each with its theme.
    fn themes(&self, run: &str) -> Vec<(Option<u64>, Option<usize>)> {
        let topics = self.json(&format!("topics {run} --json --no-coherence"));
        let list = topics["topics"].as_array().unwrap();
        let mut all: Vec<_> = list.iter().map(|t| (t["topic"].as_u64(), theme(t))).collect();
        all.sort();
        all
    }

    /// The synthetic corpus as JSON lines.
    fn jsonl(&self, name: &str, n_docs: usize) {
        let names = words();
        let line = |doc: &Vec<(usize, usize)>| {
            let text = doc.iter().fold(String::new(), |mut text, (w, n)| {
                let _ = write!(text, "{}", format!("{} ", names[*w]).repeat(*n));
                text
            });
            format!("{}\n", serde_json::json!({ "text": text }))
        };
        self.write(name, corpus(n_docs).iter().map(line).collect::<String>());
    }

    /// Fits to a bad corpus and expects a refusal that leaves nothing behind.
    fn refuses(&self, name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
        self.write(name, content);
        self.fails(&format!("fit lda {name} -k 2 -o run"), parts);
        assert!(!self.path("run").exists());
    }
}

/// Where each word of the corpus has its theme: the ten words of a topic, if it is one theme.
fn theme(topic: &Value) -> Option<usize> {
    let names = words();
    let listed = topic["words"].as_array().unwrap();
    let place = |word: &Value| names.iter().position(|n| n == word["word"].as_str().unwrap());
    let themes: Vec<usize> = listed.iter().map(|word| place(word).unwrap() / 10).collect();
    themes.iter().all(|t| *t == themes[0]).then(|| themes[0])
}

const FIT: &str = "--batch 40 --steps 60 --tol 0 --seed 3";

#[test]
fn topics_are_found_shown_and_scored() {
    let place = place();
    let text = place
        .ok(&format!("fit lda docword.a.txt -k 3 {FIT} --effective 20 --holdout 20 -o runs/a"));
    assert!(text.starts_with("runs/a: bound -"), "{text}");
    assert!(text.contains("held out: completion -") && text.contains("perplexity"), "{text}");
    assert!(text.contains("bound local -") && text.contains(", full -"), "{text}");
    assert!(text.ends_with("look at it with: lehr show runs/a\n"), "{text}");

    let topics = place.json("topics runs/a --top 10 --json");
    let list = topics["topics"].as_array().unwrap();
    let mut themes: Vec<_> = list.iter().map(|topic| theme(topic).expect("one theme")).collect();
    themes.sort_unstable();
    assert_eq!(themes, [0, 1, 2]);
    let shares: Vec<f64> = list.iter().map(|t| t["share"].as_f64().unwrap()).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.is_sorted_by(|a, b| a >= b));
    assert!(list.iter().all(|t| t["coherence"].as_f64().unwrap() > 0.1), "{topics}");
    assert!(list.iter().all(|t| t["relevant"].as_array().unwrap().len() == 10));
    assert_eq!((&topics["documents"], &topics["coherence_words"]), (&100.into(), &10.into()));

    let text = place.ok("topics runs/a --top 4 --relevance 0.3 --sort coherence");
    assert!(text.starts_with("runs/a: 3 topics of 30 words in 100 documents\n"), "{text}");
    assert!(text.contains("npmi") && text.contains("relevance (0.3)"), "{text}");
    assert_eq!(text.lines().count(), 3 + 3 * 4, "{text}");
    let text = place.ok("topics runs/a --no-coherence --relevance 1");
    assert!(!text.contains("npmi") && text.lines().count() == 1 + 3 * 3, "{text}");

    let text = place.ok("show runs/a");
    for part in [
        "runs/a: lda with 3 topics, alpha 0.0",
        " (learned), eta 0.",
        "120 documents, 20 of them held out, 30 words",
        "SVI+, |S| = 40, M = 20",
        "held out  completion -",
        "topics, the largest first",
        "lehr topics runs/a shows all",
        "bound against steps",
        "held-out completion against steps",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(place.ok("show runs/a --top 1").contains("the largest 1 topic\n"));
    let shown = place.json("show runs/a --json");
    assert_eq!(shown["topics"].as_array().unwrap().len(), 3);
    assert!(shown["measures"]["mass"].as_f64().unwrap() > 0.5);

    let text = place.ok("eval runs/a docword.a.txt");
    assert!(text.starts_with("docword.a.txt: 120 documents, "), "{text}");
    for part in ["completion  ", "unigram  ", "local  ", "full  ", "nats better than"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let scores = place.json("eval runs/a docword.a.txt --json");
    let (completion, unigram) = (&scores["completion"], &scores["unigram"]);
    assert!(completion.as_f64() > unigram.as_f64(), "{scores}");
    assert!(scores["local"].as_f64() > scores["full"].as_f64(), "{scores}");
    let perplexity = scores["perplexity"]["completion"].as_f64().unwrap();
    assert!((perplexity.ln() + completion.as_f64().unwrap()).abs() < 1e-9);
    assert_eq!((&scores["documents"], &scores["unknown_words"]), (&120.into(), &0.into()));
}

#[test]
fn the_result_line_tells_what_the_fit_cost() {
    let place = place();
    let result = place.json(&format!("fit lda docword.a.txt -k 3 {FIT} --json -o a"));
    let iterations = result["iterations"].as_f64().unwrap();
    let all = result["local_iterations"].as_f64().unwrap();
    assert_eq!(iterations, all / (40.0 * 60.0));
    assert!((1.0..=100.0).contains(&iterations), "{result}");
    assert!(result["seconds_before_first_step"].as_f64().unwrap() > 0.0);
    assert!(result.get("bound_sample").is_none(), "all 120 documents are fewer than 1000");
    let more = place.json("resume a --steps 10 --json");
    let all = more["local_iterations"].as_f64().unwrap();
    assert_eq!(more["iterations"].as_f64().unwrap(), all / (40.0 * 10.0));
    let line = "fit lda docword.a.txt -k 3 --batch 40 --steps 5 --bound-sample 50 -o b";
    assert!(place.ok(line).contains("(estimated from 50 documents)"));
    assert!(place.ok("show b").contains("(estimated from 50 documents)"));
    // Without --batch it is batch VI, whose bound is that of all documents.
    let text = place.ok("fit lda docword.a.txt -k 3 --steps 5 --tol 0 -o c");
    assert!(!text.contains("estimated"), "{text}");
    assert!(place.ok("show c").contains("batch VI"));
}

#[test]
fn every_format_gives_the_same_bits() {
    let place = place();
    place.ldac("a.ldac", DOCS);
    place.jsonl("a.jsonl", DOCS);
    let names = words().join("\n");
    place.write("names.txt", &names);
    place.ok("convert docword.a.txt -o a.lehr");
    for (run, data) in [
        ("uci", "docword.a.txt"),
        ("ldac", "a.ldac --vocab names.txt"),
        ("jsonl", "a.jsonl --max-docs 1"),
        ("text", "a.jsonl --vocab names.txt"),
        ("lehr", "a.lehr"),
    ] {
        place.ok(&format!("fit lda {data} -k 3 {FIT} --effective 10 -o {run}"));
        assert_eq!(place.lambda(run), place.lambda("uci"), "{run}");
        let print = |run: &str| {
            place.read_json(&format!("{run}/config.json"))["data"]["fingerprint"].clone()
        };
        assert_eq!(print(run), print("uci"), "{run}");
    }
    // Documents of any format for a model of any other.
    let scores = place.json("eval jsonl docword.a.txt --json");
    for (run, data) in [("uci", "a.jsonl"), ("jsonl", "a.lehr"), ("text", "a.ldac")] {
        assert_eq!(place.json(&format!("eval {run} {data} --json")), scores, "{run} {data}");
    }
}

#[test]
fn settings_of_the_run_that_new_documents_have_no_use_for_are_left_out() {
    let place = place();
    place.jsonl("a.jsonl", DOCS);
    let data = "a.jsonl --field text --stop-words none --min-length 2 --min-docs 2 --max-docs 1";
    place.ok(&format!("fit lda {data} -k 3 {FIT} -o a"));
    let config = place.read_json("a/config.json");
    assert_eq!(config["data"]["options"]["min_docs"], 2);
    let scores = place.json("eval a docword.a.txt --json");
    assert_eq!(place.json("eval a a.jsonl --json"), scores);
    place.fails(
        "eval a docword.a.txt --field text",
        &["--field text: has a meaning for the format csv, json, jsonl and parquet with texts only"],
    );
    place.ok("partial a docword.a.txt -o b");
}

#[test]
fn thetas_are_written_in_every_format() {
    let place = place();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    let text = place.ok("transform a docword.a.txt -o theta.csv");
    assert_eq!(text, "theta.csv: 120 documents in 3 topics\n");
    let text = String::from_utf8(place.read("theta.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("main_topic,topic_0,topic_1,topic_2"));
    let (mains, rows): (Vec<usize>, Vec<Vec<f64>>) = text
        .lines()
        .skip(1)
        .map(|line| {
            let (main, shares) = line.split_once(',').unwrap();
            let shares: Vec<f64> = shares.split(',').map(|x| x.parse().unwrap()).collect();
            (main.parse::<usize>().unwrap(), shares)
        })
        .unzip();
    for (main, row) in mains.iter().zip(&rows) {
        assert!(row.iter().all(|share| *share <= row[*main]), "{main} {row:?}");
    }
    assert_eq!(rows.len(), DOCS);
    assert!(rows.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    // The column of a topic is that of its number.
    let topics = place.json("topics a --top 10 --json");
    for topic in topics["topics"].as_array().unwrap() {
        let (k, theme) = (topic["topic"].as_u64().unwrap() as usize, theme(topic).unwrap());
        let of_theme = |doc: &Vec<(usize, usize)>| -> usize {
            doc.iter().filter(|(w, _)| w / 10 == theme).map(|(_, n)| n).sum()
        };
        for (doc, row) in corpus(DOCS).iter().zip(&rows) {
            let all: usize = doc.iter().map(|(_, n)| n).sum();
            assert_eq!(row[k] > 0.5, 2 * of_theme(doc) > all, "{row:?} {doc:?}");
        }
    }
    place.ok("transform a docword.a.txt -o theta.parquet");
    place.ok("transform a docword.a.txt -o theta.npy");
    let npy = place.read("theta.npy");
    assert!(String::from_utf8_lossy(&npy[..128]).contains("(120, 3)"));
    let last = f64::from_le_bytes(npy[npy.len() - 8..].try_into().unwrap());
    assert_eq!(last, rows[DOCS - 1][2]);
    place.fails("transform a docword.a.txt -o theta.xyz", &["theta.xyz", "let it end in .csv"]);
    place.fails("transform a docword.a.txt -o docword.a.txt", &["this is the data"]);
}

#[test]
fn words_that_the_model_does_not_know_are_counted() {
    let place = place();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    place.write("new.txt", "pzaz pzbz unheard unheard\nqzaz qzbz qzcz novelty\n");
    let what = "2 words (3 tokens, 38 %) are not in the model's vocabulary and were left out\n";
    assert!(place.ok("eval a new.txt").contains(what));
    assert!(place.ok("transform a new.txt -o x.csv").ends_with(what));
    let scores = place.json("eval a new.txt --json");
    assert_eq!((&scores["unknown_words"], &scores["unknown_tokens"]), (&2.into(), &3.0.into()));
    assert_eq!(scores["tokens"], 5.0);
    let result = place.json("partial a new.txt --batch 2 --json -o b");
    assert_eq!((&result["unknown_words"], &result["unknown_tokens"]), (&2.into(), &3.0.into()));

    place.write("new.txt", "unheard things\nnovelty prevails\n");
    let parts = ["new.txt: none of its", "is in the model's vocabulary"];
    place.fails("eval a new.txt", &parts);
    place.fails("transform a new.txt -o y.csv", &parts);
    place.write("new.txt", "pzaz\nunheard\n");
    let text = place.ok("eval a new.txt");
    assert!(text.contains("no document has two words"), "{text}");
    let text = place.ok("transform a new.txt -o y.csv");
    assert!(text.contains("; 1 is without known words: its shares are the prior's"), "{text}");
}

#[test]
fn a_run_goes_on_with_new_documents() {
    let place = place();
    place.docs("b", 200);
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    let before = place.snapshot("a");
    let result = place.json("partial a docword.b.txt --json -o b");
    // One pass over the new documents, in the run's own batches.
    assert_eq!((&result["steps"], &result["complete"]), (&65.into(), &true.into()));
    assert_eq!(place.snapshot("a"), before);
    let config = place.read_json("b/config.json");
    assert_eq!(config["parent"], place.path("a").to_str().unwrap());
    assert_eq!((&config["population"], &config["fit"]["batch"]), (&320.into(), &40.into()));
    assert!(place.ok("show b").contains("went on   from"));
    assert_eq!(place.json("topics b --json")["documents"], 320);
    assert_eq!(place.themes("a"), place.themes("b"));
    place.json("resume b --steps 5 --json");
    let result = place.json("partial a docword.b.txt --steps 7 --batch 100 --seed 9 --json -o c");
    assert_eq!(result["steps"], 67);
    assert_eq!(place.read_json("c/config.json")["fit"]["seed"], 9);

    place.fails("partial a docword.b.txt -o b", &["b: already holds a run"]);
    place.fails("partial a docword.b.txt --batch 0 -o zero", &["batch 0", "at least 1"]);
    place.fails("partial a docword.b.txt --step-size 1 -o one", &["would forget"]);
    // Fewer documents than a batch of the run are one batch.
    place.docs("c", 30);
    place.ok("partial a docword.c.txt --holdout 5 -o few");
    assert_eq!(place.read_json("few/config.json")["fit"]["batch"], 25);
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} --effective 35 -o noisy"));
    place.fails("partial noisy docword.c.txt -o d", &["the noise of noisy", "--effective off"]);
    place.ok("partial noisy docword.c.txt --effective off -o quiet");
    place.fails("partial a docword.c.txt --batch 40 -o d", &["--batch 40: there are only 30"]);
    place.fails("partial a docword.c.txt --batch 9 --n-init 3 -o d", &["--n-init"]);
    place.write("run.toml", "[model]\ntopics = 4\n");
    place.fails("partial a docword.b.txt --config run.toml -o d", &["run.toml: [model]"]);
    assert!(!place.path("d").exists());
}

#[test]
fn mixtures_go_on_with_new_points_too() {
    let place = Place::new();
    place.points("a.csv", 200);
    place.points("b.csv", 300);
    place.ok("fit gmm a.csv -k 3 --batch 50 --steps 30 --tol 0 -o a");
    assert_eq!(place.json("partial a b.csv --json -o b")["steps"], 36);
    place.write("narrow.csv", "a,b\n1,2\n3,4\n5,7\n");
    place.fails(
        "partial a narrow.csv --batch 2 -o c",
        &["narrow.csv: ", "column c of the model is not there"],
    );
}

#[test]
fn seeded_topics_keep_their_numbers() {
    let place = place();
    place.docs("b", 90);
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    place.ok("fit lda docword.b.txt -k 3 --steps 20 --seed 77 --seed-topics a -o b");
    assert_eq!(place.themes("a"), place.themes("b"));
    // A table: the first topic has the last ten words, and so on.
    let names = words();
    let column =
        |w: usize| -> Vec<f64> { (0..3).map(|k| f64::from(u8::from(2 - w / 10 == k))).collect() };
    let values: Vec<Vec<f64>> = (0..WORDS).map(column).collect();
    let columns: Vec<Column<'_>> =
        names.iter().zip(&values).map(|(n, v)| Column::f64(n, v)).collect();
    write::table(&place.path("seeds.csv"), &columns).unwrap();
    place.ok("fit lda docword.b.txt -k 3 --steps 20 --seed-topics seeds.csv -o c");
    let expected: Vec<_> = (0..3).map(|k| (Some(k), Some(2 - k as usize))).collect();
    assert_eq!(place.themes("c"), expected);
    // The path is absolute: the run may be resumed from another folder.
    let shown = place.ok("show c");
    assert!(shown.contains("topics from ") && shown.contains("seeds.csv"), "{shown}");

    place.fails(
        "fit lda docword.b.txt -k 4 --seed-topics a -o d",
        &["a: has 3 topics", "-k 4 asks for another number"],
    );
    place.fails("fit lda docword.b.txt -k 3 --seed-topics no.csv -o d", &["no.csv"]);
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 3 -o mixture");
    let parts = ["mixture: is a run of gmm; topics come from a run of lda"];
    place.fails("fit lda docword.b.txt -k 3 --seed-topics mixture -o d", &parts);
}

#[test]
fn a_configuration_file_works_for_documents() {
    let place = place();
    place.jsonl("a.jsonl", DOCS);
    let text = fs::read_to_string(place.path("a.jsonl")).unwrap().replace("\"text\"", "\"body\"");
    place.write("a.jsonl", text);
    place.write(
        "run.toml",
        "[fit]\nbatch = 30\nsteps = 9\ntol = 0.0\n[model]\ntopics = 4\neta = 0.05\nlearn_alpha = \
         'symmetric'\n[data]\nfield = 'body'\nstop_words = 'none'\n",
    );
    place.ok("fit lda a.jsonl --config run.toml --eta 0.1 -o a");
    let config = place.read_json("a/config.json");
    assert_eq!(config["params"]["topics"], 4);
    assert_eq!(config["params"]["eta"], 0.1);
    assert_eq!(config["params"]["learn_alpha"], "symmetric");
    assert_eq!(config["data"]["options"]["field"], "body");
    assert_eq!((&config["fit"]["batch"], &config["fit"]["steps"]), (&30.into(), &9.into()));
    assert!(place.ok("show a").contains("(learned)"));
    for (text, parts) in [
        ("[data]\nfeild = 'x'\n", &["run.toml, line 2", "`feild`", "`field`"][..]),
        ("[data]\ncolumns = ['a']\n", &["run.toml, line 2", "`columns`"]),
        ("[data]\nformat = 'word'\n", &["run.toml, line 2", "\"word\"", "jsonl"]),
        ("[model]\ncomponents = 3\n", &["run.toml, line 2", "`components`", "`topics`"]),
        ("[model]\nlearn_alpha = 'yes'\n", &["run.toml, line 2", "\"yes\"", "asymmetric"]),
    ] {
        place.write("run.toml", text);
        place.fails("fit lda docword.a.txt -k 2 --config run.toml -o b", parts);
    }
}

#[test]
fn learned_priors_are_shown() {
    let place = place();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} --learn-alpha --learn-eta --exact -o a"));
    let text = place.ok("show a");
    assert!(text.contains("(learned), eta ") && text.contains("exact local steps"), "{text}");
    assert!(place.ok("topics a").contains("  alpha "));
    assert_eq!(place.read_json("a/config.json")["params"]["learn_alpha"], "asymmetric");
    assert_eq!(tensors(&place.path("a"))["alpha"].shape, [3]);
}

#[test]
fn each_part_of_the_defaults_can_be_switched_off() {
    let place = place();
    let fit = format!("fit lda docword.a.txt -k 3 {FIT}");
    let recorded = |flags: &str, run: &str| {
        place.ok(&format!("{fit} {flags} -o {run}"));
        let config = place.read_json(&format!("{run}/config.json"));
        let params = ["eta", "learn_alpha", "learn_eta"].map(|name| config["params"][name].clone());
        (params.map(|value| value.to_string()).join(" "), config["fit"]["temper"].clone())
    };
    assert_eq!(recorded("", "a"), ("0.05 \"asymmetric\" true".into(), "2".into()));
    let parts = "--eta 0.01 --learn-alpha no --learn-eta no --temper off";
    assert_eq!(recorded(parts, "b"), ("0.01 \"no\" false".into(), "off".into()));
    assert_eq!(recorded("--priors fixed", "c"), ("0.01 \"no\" false".into(), Value::Null));
    assert!(place.ok("show c").contains("lda with 3 topics, alpha 0.3333, eta 0.01\n"));
    let bound = |run: &str| place.read_json(&format!("{run}/result.json"))["bound"].clone();
    assert_eq!(bound("b"), bound("c"));
    assert_ne!(bound("a"), bound("c"));
    // More steps and more documents do not start again.
    place.ok("resume a --steps 5");
    place.ok("partial a docword.a.txt -o d");
    assert_eq!(place.read_json("d/config.json")["fit"]["temper"], "off");
}

#[test]
fn a_corpus_is_converted() {
    let place = place();
    place.write("texts.txt", "rates fell again\n\nrates rose and banks fell\n");
    let text = place.ok("convert texts.txt -o texts.lehr");
    assert!(text.starts_with("texts.lehr: 3 documents, one of them without words\n"), "{text}");
    assert!(text.contains("words     ") && text.contains("lehr fit lda texts.lehr"), "{text}");
    place.ldac("a.ldac", DOCS);
    let made = place.json("convert a.ldac -o a.lehr --json");
    assert_eq!((&made["documents"], &made["words"]), (&120.into(), &30.into()));
    assert_eq!((&made["empty_documents"], &made["named_words"]), (&0.into(), &false.into()));
    assert_eq!(made["bytes"], place.read("a.lehr").len());
    place.fails("convert docword.a.txt -o a.lehr", &["a.lehr: exists already", "--force"]);
    place.ok("convert docword.a.txt -o a.lehr --force");
    place.fails("convert a.lehr -o a.lehr --force", &["a.lehr: this is the corpus itself"]);
    place.fails("convert docword.a.txt -o a.bin", &["a.bin: ", "ends in .lehr", "a.lehr"]);
    place.fails("convert no.txt -o b.lehr", &["no.txt"]);
    place.fails("convert docword.a.txt -o no/b.lehr", &["no/b.lehr"]);
    let whole = place.read("a.lehr");
    place.refuses("cut.lehr", &whole[..whole.len() - 9], &["cut.lehr"]);
}

#[test]
fn a_run_under_way_can_be_used() {
    let place = place();
    let fit = "fit lda docword.a.txt -k 3 --batch 20 --steps 10000000 --tol 0 --time 0.05";
    let text = place.ok(&format!("{fit} -o a"));
    assert!(text.contains("saved; continue with: lehr resume a"), "{text}");
    assert!(place.ok("show a").contains("not done  "));
    assert_eq!(place.json("topics a --json")["topics"].as_array().unwrap().len(), 3);
    assert!(place.json("eval a docword.a.txt --json")["completion"].as_f64().unwrap() < 0.0);
    place.ok("transform a docword.a.txt -o theta.csv");
    place.ok("partial a docword.a.txt -o b");
    place.ok("fit lda docword.a.txt -k 3 --steps 3 --seed-topics a -o c");
}

#[test]
fn words_may_have_any_name() {
    let place = place();
    let mut names = words();
    names[3] = "\u{e9}t\u{e9} \\n two".to_string();
    names[7] = "a\tb".to_string();
    place.write("odd.txt", names.join("\n"));
    place.ok(&format!("fit lda docword.a.txt --vocab odd.txt -k 3 {FIT} -o a"));
    let topics = place.json("topics a --top 30 --json");
    let listed = topics["topics"][0]["words"].as_array().unwrap();
    for name in [&names[3], &names[7]] {
        assert!(listed.iter().any(|word| word["word"] == name.as_str()), "{name:?}");
    }
    // Words without names have numbers, from 1 as in the file.
    fs::remove_file(place.path("vocab.a.txt")).unwrap();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o b"));
    assert!(place.ok("topics b").contains("word 1"));
    place.write("new.txt", "pzaz pzbz\n");
    place.fails("eval b new.txt", &["new.txt: is text", "numbers only"]);
}

#[test]
fn coherence_is_left_out_when_the_documents_are_not_there() {
    let place = place();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    place.docs("a", DOCS + 1);
    let text = place.ok("topics a");
    assert!(
        text.contains("no coherence: ") && text.contains("has changed since the fit"),
        "{text}"
    );
    fs::remove_file(place.path("docword.a.txt")).unwrap();
    let text = place.ok("topics a");
    assert!(text.contains("docword.a.txt, are gone") && !text.contains("npmi"), "{text}");
    let topics = place.json("topics a --json");
    assert!(topics["no_coherence"].as_str().unwrap().contains("are gone"));
    place.fails("topics a --sort coherence", &["--sort coherence: there is none", "are gone"]);
}

#[test]
fn numbers_that_cannot_be_are_refused_with_what_can() {
    let place = place();
    let fit = "fit lda docword.a.txt -o run";
    place.fails(fit, &["how many topics? Give -k K"]);
    place.fails(&format!("{fit} -k 0"), &["-k 0: must be between 1 and"]);
    place.fails(&format!("{fit} -k 18446744073709551615"), &["-k ", "must be between 1 and"]);
    for (flags, parts) in [
        ("--alpha 0", ["--alpha 0", "between 1e-6 and 1e6"]),
        ("--eta -1", ["--eta -1", "between 1e-6 and 1e6"]),
        ("--eta nan", ["--eta NaN", "between 1e-6 and 1e6"]),
        ("--local-tol 0", ["--local-tol 0", "positive"]),
        ("--local-iterations 0", ["--local-iterations 0", "at least 1"]),
        ("--batch 121", ["--batch 121", "only 120"]),
        ("--holdout 120", ["--holdout 120", "only 120"]),
        ("--transpose", ["--transpose: has a meaning", "docword.a.txt is read as uci"]),
        ("--one-based", ["--one-based: has a meaning", "svmlight only"]),
        ("--min-docs 3", ["--min-docs 3: has a meaning", "and parquet with texts only"]),
        ("--format jsonl", ["docword.a.txt", "line 1"]),
        ("--vocab no.txt", ["no.txt", "there is no such file"]),
    ] {
        place.fails(&format!("{fit} -k 2 {flags}"), &parts);
    }
    for (flags, parts) in [
        ("--learn-alpha yes", ["'yes'", "asymmetric"]),
        ("--learn-eta maybe", ["'maybe'", "no"]),
        ("--priors volume", ["'volume'", "fixed"]),
        ("--temper hot", ["'hot'", "2:20"]),
        ("--format word", ["word", "jsonl"]),
        ("--min-docs x", ["whole number", "'x'"]),
        ("--guard kick", ["kick", "shrink"]),
        ("--columns a", ["--columns", "unexpected"]),
    ] {
        place.misused(&format!("{fit} -k 2 {flags}"), &parts);
    }
    assert!(!place.path("run").exists());
    place.ok(
        "fit lda docword.a.txt -k 2 --batch 40 --effective 20 --steps 3 --guard reject-below-prior \
              --learn-eta no -o r",
    );
    place.points("points.csv", 60);
    place.fails(
        "fit gmm points.csv -k 2 --batch 40 --effective 20 --guard clamp -o run",
        &["--guard clamp", "reject"],
    );
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    place.fails("topics a --relevance 2", &["--relevance 2: must be between 0 and 1"]);
    place.fails("topics a --top 0", &["--top 0: must be at least 1"]);
    place.fails("topics a --coherence 1", &["--coherence 1: must be at least 2"]);
    place.misused("topics a --sort name", &["'name'", "coherence"]);
}

#[test]
fn corpora_that_are_not_what_they_say_are_refused_with_the_place() {
    let place = Place::new();
    place.refuses(
        "docword.x.txt",
        "2\n3\n4\n1 1 1\n1 2 1\n2 4 1\n2 1 1\n",
        &["docword.x.txt, line 6", "found 4", "beyond"],
    );
    place.refuses(
        "docword.x.txt",
        "2\n3\n4\n1 1 1\n1 2 1\n2 0 1\n2 1 1\n",
        &["line 6", "found 0", "from 1"],
    );
    place.refuses("docword.x.txt", "2\n3\n9\n1 1 1\n1 2 1\n2 2 1\n", &["docword.x.txt", "9"]);
    place.refuses(
        "docword.x.txt",
        "2\n3\n2\n1 1 1\n1 2 1\n2 2 1\n",
        &["docword.x.txt, line 6", "header"],
    );
    place.refuses(
        "docword.x.txt",
        "2\n3\n3\n1 1 1\n1 2 -4\n2 2 1\n",
        &["docword.x.txt, line 5", "-4", "0 or more"],
    );
    place.refuses(
        "docword.x.txt",
        "2\n3\n3\n1 1 1\n1 2 x\n2 2 1\n",
        &["line 5", "\"x\"", "not a number"],
    );
    place.refuses("docword.x.txt", "", &["docword.x.txt: is empty"]);
    place.refuses("docword.x.txt", "2\n3\n0\n", &["docword.x.txt", "empty"]);
    place.refuses("empty.txt", "\n\n\n", &["empty.txt"]);
    place.refuses("a.ldac", "2 0:1 1:1\n2 0:1 1:-2\n", &["a.ldac, line 2", "-2"]);
    place.refuses("a.jsonl", "{\"text\": \"a b\"}\n{\"text\": 3}\n", &["a.jsonl, line 2", "text"]);
    place.refuses(
        "a.jsonl",
        "{\"x\": \"a\", \"y\": \"b\"}\n",
        &["a.jsonl, line 1", "no field text"],
    );
    place.write("short.txt", "one\ntwo\n");
    place.write("a.ldac", "2 0:1 1:1\n2 0:1 2:1\n");
    place.fails(
        "fit lda a.ldac --vocab short.txt -k 2 -o run",
        &["a.ldac, line 2", "short.txt names only 2 words"],
    );
    place.write("docword.x.txt", "2\n3\n3\n1 1 1\n1 2 4\n2 2 1\n");
    place.fails(
        "fit lda docword.x.txt --vocab short.txt -k 2 -o run",
        &["short.txt: names 2 words, but docword.x.txt has 3"],
    );
    place.write("vocab.x.txt", "one\ntwo\n");
    place.fails(
        "fit lda docword.x.txt -k 2 -o run",
        &["vocab.x.txt: names 2 words", "with --vocab"],
    );
    place.fails("fit lda no.txt -k 2 -o run", &["no.txt", "there is no such file"]);
    // Cut in the middle of the packed stream.
    place.docs("a", 60);
    let status = std::process::Command::new("gzip").arg(place.path("docword.a.txt")).status();
    if status.is_ok_and(|status| status.success()) {
        let packed = place.read("docword.a.txt.gz");
        place.refuses("docword.cut.txt.gz", &packed[..packed.len() / 2], &["docword.cut.txt.gz"]);
    }
}

#[test]
fn commands_for_other_models_and_other_flags_are_refused() {
    let place = place();
    place.points("points.csv", 60);
    place.ok("fit gmm points.csv -k 2 -o mixture");
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o topics"));
    place.fails(
        "topics mixture",
        &["mixture: this is a run of gmm", "'lehr topics' is for lda", "lehr show mixture"],
    );
    place.fails("topics no", &["no: there is no such directory"]);
    for command in ["eval", "partial"] {
        place.fails(
            &format!("{command} mixture points.csv --vocab x"),
            &["--vocab is for documents", "gmm"],
        );
        place.fails(
            &format!("{command} topics docword.a.txt --drop x"),
            &["--drop is for points", "lda"],
        );
    }
    place
        .fails("transform topics docword.a.txt --columns x -o x.csv", &["--columns is for points"]);
    place.fails("fit lda docword.a.txt -k 2 -o topics", &["topics: already holds a run"]);
    place.fails("eval topics no.txt", &["no.txt"]);
    place.write("bad.txt", "2\n30\n2\n1 1 1\n2 1 -1\n");
    place.fails("eval topics bad.txt --format uci", &["bad.txt, line 5", "-1"]);
}

#[test]
fn a_damaged_vocabulary_is_told_by_its_name() {
    let place = place();
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o a"));
    let text = String::from_utf8(place.read("a/vocabulary.tsv")).unwrap();
    // As in format 1: no checksum that notices it first.
    let mut config = place.read_json("a/config.json");
    config["format"] = 1.into();
    config.as_object_mut().unwrap().remove("files").unwrap();
    place.write("a/config.json", config.to_string());
    let commands = [
        "topics a",
        "show a",
        "eval a docword.a.txt",
        "resume a --steps 5",
        "partial a docword.a.txt -o b",
    ];
    let fails = |text: &str, parts: &[&str]| {
        place.write("a/vocabulary.tsv", text);
        for command in commands {
            let ended = place.run(command);
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command}");
            assert!(!ended.stderr.contains("config.json"), "{}", ended.stderr);
            place.check(command, &ended.stderr, parts);
        }
    };
    fails(&text.replacen('\t', " ", 1), &["vocabulary.tsv, line 1", "a count, a tab and a word"]);
    let cut: Vec<&str> = text.lines().take(29).collect();
    fails(&cut.join("\n"), &["vocabulary.tsv: has 29 words, and the run has 30"]);
    fails(&text.replace("\tpzbz", "\tpzaz"), &["vocabulary.tsv: ", "\"pzaz\"", "already"]);
    fs::remove_file(place.path("a/vocabulary.tsv")).unwrap();
    place.fails("topics a", &["vocabulary.tsv: cannot read"]);
}

impl Place {
    /// The synthetic corpus as a table with ids that need quotes, and more rows at its end.
    fn table(&self, name: &str, n_docs: usize, more: &str) {
        let names = words();
        let mut table = "id,day,text\n".to_string();
        for (n, doc) in corpus(n_docs).iter().enumerate() {
            let text: String =
                doc.iter().map(|(w, n)| format!("{}\n", names[*w]).repeat(*n)).collect();
            table += &format!("\"a,{n}\",2020-01-01,\"{text}\"\n");
        }
        self.write(name, table + more);
    }
}

#[test]
fn tables_and_json_are_documents_and_not_lines() {
    let place = place();
    place.table("a.csv", DOCS, "");
    place.jsonl("a.jsonl", DOCS);
    let lines = String::from_utf8(place.read("a.jsonl")).unwrap();
    let list = lines.trim_end().replace('\n', ",");
    place.write("a.json", format!("[{list}]"));
    for name in ["a.csv", "a.json"] {
        place.ok(&format!("fit lda {name} -k 3 {FIT} --max-docs 1 -o {name}.run"));
        assert!(place.ok(&format!("show {name}.run")).contains("120 documents, 30 words"));
    }
    let vocabulary = |run: &str| place.read(&format!("{run}/vocabulary.tsv"));
    assert_eq!(vocabulary("a.csv.run"), vocabulary("a.json.run"));
    // What is missing is reported.
    place.table("gaps.csv", DOCS, "last,2020-01-01,\n");
    place.write("gaps.json", format!("[{list},null]"));
    for (name, holder) in [("gaps.csv", "column text"), ("gaps.json", "the field text")] {
        let note = format!(
            "note: {name}: 1 of 121 documents has no text in {holder}; it is empty, and changes nothing\n"
        );
        for command in [
            "fit lda NAME -k 3 --steps 2 -o NAME.run",
            "convert NAME -o NAME.lehr",
            "transform a.csv.run NAME -o x.csv --force",
        ] {
            let ended = place.run(&command.replace("NAME", name));
            assert_eq!((ended.code, ended.stderr), (0, note.clone()), "{command}");
        }
    }

    // Ids come first, then what was found.
    place.ok("transform a.csv.run a.csv -o theta.csv");
    let text = String::from_utf8(place.read("theta.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("id,main_topic,topic_0,topic_1,topic_2"));
    assert!(text.contains("\n\"a,7\","), "{text}");
    place.ok("transform a.csv.run a.csv -o theta.csv --force --id day");
    let text = String::from_utf8(place.read("theta.csv")).unwrap();
    assert!(text.starts_with("id,main_topic,topic_0,topic_1,topic_2\n2020-01-01,"), "{text}");
    place.ok("transform a.csv.run a.csv -o theta.npy");
    place.fails("transform a.csv.run a.csv -o y.npy --id id", &["--id: y.npy is an array"]);
    place.fails("transform a.csv.run a.csv -o y.csv --keep day", &["--keep is for points"]);
    place.fails("transform a.csv.run a.csv -o y.csv --id no", &["--id asks for column \"no\""]);
    // Other documents of the run have no ids, and none are missed.
    place.ok("fit lda a.csv --id id -k 3 --steps 2 -o named");
    place.ok("transform named docword.a.txt -o theta.csv --force");
    let text = String::from_utf8(place.read("theta.csv")).unwrap();
    assert!(text.starts_with("main_topic,topic_0,"), "{text}");
    place.ok("partial named a.json -o more");
    assert!(place.ok("eval named a.csv --field text").contains("120 documents"));

    place.ok("convert a.csv --max-docs 1 -o a.lehr");
    let scores = place.json("eval a.csv.run a.lehr --json");
    assert_eq!(place.json("eval a.csv.run a.json --json"), scores);
}

#[test]
fn tables_without_documents_are_refused() {
    let place = place();
    place.points("points.csv", 30);
    place.ok(&format!("fit lda docword.a.txt -k 3 {FIT} -o topics"));
    let parts = ["points.csv, line 1: ", "none of them holds text", "scipy.sparse.save_npz"];
    for command in
        ["fit lda points.csv -k 2", "eval topics points.csv", "partial topics points.csv"]
    {
        place.fails(command, &parts);
    }
    place.refuses(
        "two.csv",
        "title,body\none,a long document\n",
        &[
            "two.csv, line 1: has the columns title, body, none of them called text",
            "e.g. --field body, or give --header no",
        ],
    );
    place.fails(
        "fit lda two.csv -k 2 --field text -o run",
        &["two.csv: --field asks for column \"text\""],
    );
    place.refuses(
        "a.json",
        "{\n\"docs\": []}",
        &["a.json, line 2: holds one JSON object, whose first field is \"docs\""],
    );
}
