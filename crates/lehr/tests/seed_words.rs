//! Seed words as a prior: the bound from first principles, topics that stay, the same bits, and seeds that cannot be.

mod common;

use std::path::PathBuf;

use common::topics_by_hand::by_hand;
use common::{bits, dirichlet, documents, rng};
use lehr::data::Docs;
use lehr::fit::{State, bound};
use lehr::model::Model;
use lehr::models::lda::{SeedTopic, SeedWord, SeedWords};
use lehr::models::{Lda, LdaParams, Stored};
use lehr::step::engine::Threads;
use lehr::store::{Begin, Items, Run};
use lehr::{FitConfig, Result};

fn topic(name: &str, words: &[(&str, Option<f64>)]) -> SeedTopic {
    let word = |&(word, strength): &(&str, Option<f64>)| SeedWord { word: word.into(), strength };
    SeedTopic { name: name.into(), words: words.iter().map(word).collect() }
}

fn seeded(topics: usize, seeds: Vec<SeedTopic>) -> LdaParams {
    LdaParams { seed_words: Some(SeedWords::Topics(seeds)), ..LdaParams::fixed(topics) }
}

/// Documents of words that are called w0, w1, ...
fn named(docs: &Docs) -> Docs {
    let names = (0..docs.n_words()).map(|w| format!("w{w}")).collect();
    docs.clone().with_vocabulary(names).unwrap()
}

fn tiny() -> Docs {
    let rows = vec![
        vec![(0, 2.0), (1, 1.0), (4, 1.0)],
        vec![(1, 1.0), (2, 3.0)],
        vec![(3, 2.0), (4, 2.0), (0, 1.0)],
        vec![(5, 1.0)],
    ];
    named(&Docs::from_rows(rows, 6).unwrap())
}

#[test]
fn the_bound_is_that_of_the_seeded_prior() {
    let docs = tiny();
    // w1 is a seed of both topics; w0 and w4 have strengths of their own.
    let seeds = vec![
        topic("a", &[("w0", Some(3.0)), ("w1", None)]),
        topic("b", &[("w1", None), ("w4", Some(0.5))]),
    ];
    let params =
        LdaParams { exact: true, local_tol: 1e-12, local_iterations: 50_000, ..seeded(3, seeds) };
    let lda = Lda::new(params, &docs).unwrap();
    let counts = lda.word_counts().to_vec();
    let mut priors = vec![vec![lda.params().start_eta(); 6]; 3];
    priors[0][0] += 3.0 * counts[0];
    priors[0][1] += counts[1];
    priors[1][1] += counts[1];
    priors[1][4] += 0.5 * counts[4];
    let state = lehr::fit(&lda, &docs)
        .config(FitConfig { steps: Some(7), tol: 0.0, ..FitConfig::default() })
        .threads(1)
        .run()
        .unwrap()
        .state;
    let components = lda.components(&state.lambda);
    let q: Vec<Vec<f64>> = components.chunks_exact(6).map(<[f64]>::to_vec).collect();
    let (found, expected) = (
        bound(&lda, &state.lambda, &mut Threads::new(&lda, &docs)).unwrap(),
        by_hand(&docs, &lda.params().start_alpha(), &priors, &q),
    );
    assert!((found - expected).abs() < 1e-7 * expected.abs(), "{found} by hand {expected}");
    // The prior alone: nothing is learned from no documents.
    assert!(q.iter().zip(&priors).all(|(q, p)| q.iter().zip(p).all(|(q, p)| q >= p)), "{q:?}");
}

#[test]
fn full_steps_raise_the_bound_and_learn_eta() {
    let docs = corpus(11);
    let seeds = vec![topic("rare", &[("w40", None), ("w41", None)])];
    let params = LdaParams { exact: true, ..seeded(5, seeds) };
    for params in [params.clone(), LdaParams { learn_eta: Some(true), ..params }] {
        let lda = Lda::new(params, &docs).unwrap();
        let mut recorder = common::Recorder::default();
        let config =
            FitConfig { steps: Some(25), tol: 0.0, eval_every: Some(1), ..FitConfig::default() };
        lehr::fit(&lda, &docs).config(config).threads(2).watch(&mut recorder).run().unwrap();
        let bounds: Vec<f64> = recorder.0.iter().map(|seen| seen.bound).collect();
        for pair in bounds.windows(2) {
            assert!(pair[1] - pair[0] > -1e-5 * pair[0].abs(), "{bounds:?}");
        }
    }
}

/// Four large topics of ten words each, and a theme of two words that one document in 25 has a little of.
fn corpus(seed: u64) -> Docs {
    let mut random = rng(seed);
    let topics: Vec<Vec<f64>> = (0..4)
        .map(|k| {
            let shares = dirichlet(&mut random, &[1.0; 10]);
            (0..42).map(|w| if w / 10 == k && w < 40 { shares[w % 10] } else { 0.0 }).collect()
        })
        .collect();
    let plain = documents(&topics, &[0.2; 4], 1000, 30, seed);
    let rows = (0..plain.n_items()).map(|n| {
        let mut row: Vec<(u32, f64)> =
            plain.doc(n).iter().map(|e| (e.word, f64::from(e.count))).collect();
        if n % 25 == 0 {
            row.extend([(40, 2.0), (41, 1.0)]);
        }
        row
    });
    named(&Docs::from_rows(rows, 42).unwrap())
}

/// The share of topic 0 that words 40 and 41 have.
fn share_of_theme(lda: &Lda, state: &State) -> f64 {
    let components = lda.components(&state.lambda);
    let first = &components[..42];
    (first[40] + first[41]) / first.iter().sum::<f64>()
}

fn svi(threads: usize, lda: &Lda, docs: &Docs) -> State {
    // Large first steps of small batches, most of which have nothing of the theme.
    let step_size = Some("power:1:0.5".parse().unwrap());
    let config = FitConfig {
        steps: Some(2000),
        batch: Some(10),
        tol: 0.0,
        step_size,
        ..FitConfig::default()
    };
    lehr::fit(lda, docs).config(config).threads(threads).run().unwrap().state
}

#[test]
fn seed_words_hold_their_topic_where_a_mere_start_washes_out() {
    let docs = corpus(3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("start.csv");
    let names: Vec<String> = (0..42).map(|w| format!("w{w}")).collect();
    let mut text = names.join(",") + "\n";
    for k in 0..4 {
        // Topic 0 starts as the theme; the others start alike.
        let row: Vec<&str> =
            (0..42).map(|w| if (w >= 40) == (k == 0) { "1" } else { "0" }).collect();
        text += &(row.join(",") + "\n");
    }
    std::fs::write(&path, text).unwrap();
    let seeds = vec![topic("theme", &[("w40", None), ("w41", None)])];
    let params = LdaParams::new(4);
    let start = LdaParams { seed_topics: Some(path), ..params.clone() };
    let prior = LdaParams { seed_words: Some(SeedWords::Topics(seeds)), ..params };
    let (start, prior) = (Lda::new(start, &docs).unwrap(), Lda::new(prior, &docs).unwrap());
    let begun = share_of_theme(&start, &State::start(&start, &docs, 0, 0).unwrap());
    let washed = share_of_theme(&start, &svi(2, &start, &docs));
    let held = share_of_theme(&prior, &svi(2, &prior, &docs));
    println!("share of the theme in its topic: start {begun:.3} to {washed:.3}, prior {held:.3}");
    assert!(begun > 0.9 && washed < 0.1 && held > 0.9, "{begun} {washed} {held}");
    assert_eq!((prior.topic_name(0), prior.topic_name(1)), (Some("theme"), None));
}

#[test]
fn bits_do_not_depend_on_threads_and_a_run_comes_back() -> Result<()> {
    let docs = corpus(5);
    let seeds =
        vec![topic("theme", &[("w40", None), ("w41", Some(2.0))]), topic("b", &[("w3", None)])];
    let params = LdaParams { seed_words: Some(SeedWords::Topics(seeds)), ..LdaParams::new(5) };
    let config = FitConfig { steps: Some(60), batch: Some(50), tol: 0.0, ..FitConfig::default() };
    let run = |threads: usize| {
        let config = FitConfig { threads, ..config.clone() };
        Run::<Lda>::fit(Items::in_memory(&docs), params.clone(), &config, Begin::Random, &mut ())
    };
    let (one, two) = (run(1)?, run(2)?);
    assert_eq!(bits(one.lambda().table().values()), bits(two.lambda().table().values()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    one.save(&path)?;
    let back = Run::<Lda>::load(&path)?;
    assert_eq!(back.model.components(back.lambda()), one.model.components(one.lambda()));
    assert_eq!(back.model.topic_names(), ["theme", "b"]);
    assert_eq!(
        back.model.transform(back.lambda(), &docs),
        one.model.transform(one.lambda(), &docs)
    );
    // More documents: the prior stays what it was.
    let more = back.update(Items::in_memory(&docs), &config, &mut ())?;
    let added = |run: &Run<Lda>| run.model.frozen().seed_prior.unwrap().added;
    assert_eq!(added(&more), added(&one));
    Ok(())
}

#[test]
fn names_are_given_once_topics_are_seen() -> Result<()> {
    let docs = corpus(5);
    let params = seeded(4, vec![topic("theme", &[("w40", None)])]);
    let config = FitConfig { steps: Some(5), tol: 0.0, ..FitConfig::default() };
    let run = Run::<Lda>::fit(Items::in_memory(&docs), params, &config, Begin::Random, &mut ())?;
    let named = run.model.with_topic_names([(2, " money ".into()), (3, "x".into())])?;
    let named = named.with_topic_names([(3, String::new())])?;
    assert_eq!(named.topic_names(), ["theme", "", "money", ""]);
    assert_eq!((named.topic_name(1), named.topic_name(2)), (None, Some("money")));
    assert_eq!((named.n_seeded(), run.model.topic_names().len()), (1, 1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    run.with(named, run.lambda().clone()).save(&path)?;
    assert_eq!(Run::<Lda>::load(&path)?.model.topic_names(), ["theme", "", "money", ""]);
    for (topic, name, what) in [(4, "x", "no topic 4"), (1, "theme", "topics 0 and 1")] {
        let said = run.model.with_topic_names([(topic, name.into())]).unwrap_err().to_string();
        assert!(said.contains(what), "{said}");
    }
    Ok(())
}

#[test]
fn shortcuts_agree_with_exact_steps() {
    let docs = corpus(7);
    let seeds = vec![topic("theme", &[("w40", None), ("w41", None)])];
    let fast = Lda::new(seeded(4, seeds.clone()), &docs).unwrap();
    let exact = Lda::new(LdaParams { exact: true, ..seeded(4, seeds) }, &docs).unwrap();
    let lambda = State::start(&fast, &docs, 1, 0).unwrap().lambda;
    let bound = |lda: &Lda| bound(lda, &lambda, &mut Threads::new(lda, &docs)).unwrap();
    let (a, b) = (bound(&fast), bound(&exact));
    assert!((a - b).abs() < 1e-4 * b.abs(), "{a} and exactly {b}");
    assert_eq!(fast.layout().n_rows, 42);
}

#[test]
fn topics_of_a_seeded_run_are_a_start_as_they_are() {
    let docs = corpus(9);
    let seeds = vec![topic("theme", &[("w40", None)])];
    let params = seeded(4, seeds);
    let config = FitConfig { steps: Some(20), tol: 0.0, ..FitConfig::default() };
    let run =
        Run::<Lda>::fit(Items::in_memory(&docs), params.clone(), &config, Begin::Random, &mut ());
    let run = run.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    run.save(&path).unwrap();
    for params in [params, LdaParams::fixed(4)] {
        let next =
            Lda::new(LdaParams { seed_topics: Some(path.clone()), ..params }, &docs).unwrap();
        let begun = State::start(&next, &docs, 0, 0).unwrap();
        let (found, expected) =
            (next.components(&begun.lambda), run.model.components(run.lambda()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-9 * expected, "{found} and {expected}");
        }
    }
}

fn refused(params: LdaParams) -> String {
    Lda::new(params, &tiny()).unwrap_err().to_string()
}

#[test]
fn seeds_that_cannot_be_are_refused_and_unknown_words_told() {
    let none = refused(seeded(2, vec![topic("a", &[("nothing", None), ("else", None)])]));
    assert!(none.contains("none of 2 seed words is in the vocabulary of 6 words"), "{none}");
    let lda =
        Lda::new(seeded(2, vec![topic("a", &[("W1", None), ("nix", None)])]), &tiny()).unwrap();
    let notes: Vec<String> = lda.notes(&[]).iter().map(|note| note.to_string()).collect();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("1 of 2 seed words") && notes[0].contains("nix"), "{notes:?}");

    for (seeds, what) in [
        (vec![], "has no topics"),
        (vec![topic("a", &[]), topic("b", &[])], "no topic has a word"),
        (
            vec![
                topic("a", &[("w1", None)]),
                topic("b", &[("w2", None)]),
                topic("c", &[("w3", None)]),
            ],
            "has 3 topics",
        ),
        (vec![topic("a", &[("w1", None)]), topic("a", &[("w2", None)])], "both called 'a'"),
        (
            vec![topic("a", &[("w1", None)]), topic("b", &[("w1", None), ("?", None)])],
            "the same seed words",
        ),
        (vec![topic("a", &[("w1", Some(1.0)), ("w1", Some(2.0))])], "with strength 1 and with 2"),
        (vec![topic("a", &[("w1", Some(0.0))])], "found strength 0"),
        (vec![topic("a", &[("w1", Some(f64::NAN))])], "found strength NaN"),
        (vec![topic(" ", &[("w1", None)])], "has no name"),
    ] {
        let said = refused(seeded(2, seeds));
        assert!(said.contains(what), "{said}");
    }
    let weak =
        LdaParams { seed_strength: Some(-1.0), ..seeded(2, vec![topic("a", &[("w1", None)])]) };
    assert!(refused(weak).contains("seed_strength"));
    let alone = LdaParams { seed_strength: Some(1.0), ..LdaParams::new(2) };
    assert!(refused(alone).contains("no seed words"));
}

#[test]
fn files_say_where_they_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &[u8]| {
        let path: PathBuf = folder.path().join("seeds");
        std::fs::write(&path, text).unwrap();
        lehr::read::seed_words(&path).map_err(|error| error.to_string())
    };
    let json = read(br#"{"z": ["a", "b"], "y": {"c": 2.5}}"#).unwrap();
    assert_eq!(json, [topic("z", &[("a", None), ("b", None)]), topic("y", &[("c", Some(2.5))])]);
    let lines = read("\u{feff}z: a,b\n\n# no\ny:c:2.5\r\n".as_bytes()).unwrap();
    assert_eq!(lines, json);
    for (text, what) in [
        (&b"sport goal team"[..], "line 1: has no colon"),
        (b"a: b\n: goal", "line 2: has no name"),
        (b"a:  , ,", "line 1: has no words"),
        (b"{\"a\": 3}", "must be an object of names and lists of words"),
        (b"{\"a\": [\"x\", 3]}", "expected a list of words"),
        (b"a: \xff", "is not UTF-8"),
    ] {
        let said = read(text).unwrap_err();
        assert!(said.contains(what), "{said}");
    }
    assert!(
        lehr::read::seed_words(&folder.path().join("none"))
            .unwrap_err()
            .to_string()
            .contains("none")
    );
}
