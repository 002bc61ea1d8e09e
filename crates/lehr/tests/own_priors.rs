//! Alpha of each topic and eta of each word: the bound from first principles, what they do, and what is refused.

mod common;

use common::topics_by_hand::by_hand;
use common::{bits, block_topics, documents};
use lehr::data::Docs;
use lehr::fit::bound;
use lehr::models::lda::{Alpha, LearnAlpha, SeedTopic, SeedWord, SeedWords, WordEta};
use lehr::models::{Lda, LdaParams, Stored};
use lehr::step::engine::Threads;
use lehr::store::{Begin, Items, Run};
use lehr::{FitConfig, Result};

fn tiny() -> Docs {
    let rows = vec![
        vec![(0, 2.0), (1, 1.0), (4, 1.0)],
        vec![(1, 1.0), (2, 3.0)],
        vec![(3, 2.0), (4, 2.0), (0, 1.0)],
        vec![(5, 1.0)],
    ];
    let names = (0..6).map(|w| format!("w{w}")).collect();
    Docs::from_rows(rows, 6).unwrap().with_vocabulary(names).unwrap()
}

fn words(pairs: &[(&str, f64)]) -> Option<WordEta> {
    Some(WordEta::Words(pairs.iter().map(|&(word, x)| (word.into(), x)).collect()))
}

/// The bound after a few steps, in the precise mode and by hand, with these priors of every topic.
fn check_bound(params: LdaParams, priors: &[Vec<f64>], batch: Option<usize>) {
    let docs = tiny();
    let params = LdaParams { exact: true, local_tol: 1e-12, local_iterations: 50_000, ..params };
    let lda = Lda::new(params, &docs).unwrap();
    let config = FitConfig { steps: Some(7), batch, tol: 0.0, ..FitConfig::default() };
    let state = lehr::fit(&lda, &docs).config(config).threads(1).run().unwrap().state;
    let components = lda.components(&state.lambda);
    let q: Vec<Vec<f64>> = components.chunks_exact(6).map(<[f64]>::to_vec).collect();
    let found = bound(&lda, &state.lambda, &mut Threads::new(&lda, &docs)).unwrap();
    let expected = by_hand(&docs, &lda.params().start_alpha(), priors, &q);
    assert!((found - expected).abs() < 1e-7 * expected.abs(), "{found} by hand {expected}");
    let above = |(q, p): (&Vec<f64>, &Vec<f64>)| q.iter().zip(p).all(|(q, p)| *q >= 0.999 * p);
    assert!(batch.is_some() || q.iter().zip(priors).all(above), "{q:?}");
}

#[test]
fn the_bound_is_that_of_the_given_priors() {
    let eta = vec![0.3, 0.05, 2.0, 0.05, 0.7, 0.01];
    let alpha = Some(Alpha::Each(vec![0.5, 0.1, 2.0]));
    let by_word = Some(WordEta::Each(eta.clone()));
    for batch in [None, Some(2)] {
        let params = LdaParams { alpha: alpha.clone(), ..LdaParams::fixed(3) };
        check_bound(params.clone(), &vec![vec![0.01; 6]; 3], batch);
        let params = LdaParams { word_eta: by_word.clone(), ..params };
        check_bound(params.clone(), &vec![eta.clone(); 3], batch);
        // Some words only, of which one is below what others have, and seed words on top.
        let word_eta = words(&[("w1", 0.004), ("W2", 1.5)]);
        let word = SeedWord { word: "w2".into(), strength: Some(0.25) };
        let topic = SeedTopic { name: "a".into(), words: vec![word] };
        let seed_words = Some(SeedWords::Topics(vec![topic]));
        let mut priors = vec![vec![0.01, 0.004, 1.5, 0.01, 0.01, 0.01]; 3];
        priors[0][2] += 0.25 * 3.0;
        let params = LdaParams { word_eta, seed_words, ..params };
        check_bound(params, &priors, batch);
    }
}

#[test]
fn equal_priors_are_those_of_one_number() {
    let docs = documents(&block_topics(3, 6), &[0.1; 3], 200, 25, 4);
    let fit = |params: LdaParams| {
        let config =
            FitConfig { steps: Some(20), batch: Some(50), tol: 0.0, ..FitConfig::default() };
        let lda = Lda::new(params, &docs).unwrap();
        let state = lehr::fit(&lda, &docs).config(config).threads(2).run().unwrap().state;
        (lda.components(&state.lambda), lda.alpha(&state.lambda).to_vec())
    };
    let base = LdaParams { alpha: Some(0.2.into()), eta: Some(0.05), ..LdaParams::fixed(3) };
    let each = LdaParams {
        alpha: Some(Alpha::Each(vec![0.2; 3])),
        word_eta: Some(WordEta::Each(vec![0.05; 18])),
        ..base.clone()
    };
    assert_eq!(bits(&fit(each).0), bits(&fit(base.clone()).0));
    // What is learned starts where it is put.
    let start = LdaParams {
        alpha: Some(Alpha::Each(vec![3.0, 0.1, 0.1])),
        learn_alpha: Some(LearnAlpha::Asymmetric),
        ..base
    };
    let lda = Lda::new(start, &docs).unwrap();
    let state = lehr::fit::State::start(&lda, &docs, 0, 0).unwrap();
    assert_eq!(lda.alpha(&state.lambda), [3.0, 0.1, 0.1]);
}

/// A topic with a large alpha is in every document; a word with a large eta is in every topic.
#[test]
fn priors_do_what_they_say() {
    let docs = documents(&block_topics(3, 6), &[0.1; 3], 300, 25, 4);
    let params = LdaParams {
        alpha: Some(Alpha::Each(vec![5.0, 0.05, 0.05, 0.05])),
        word_eta: Some(WordEta::Words(vec![("2".into(), 400.0)])),
        ..LdaParams::fixed(4)
    };
    let lda = Lda::new(params, &docs).unwrap();
    let config = FitConfig { steps: Some(40), tol: 0.0, ..FitConfig::default() };
    let state = lehr::fit(&lda, &docs).config(config).threads(2).run().unwrap().state;
    let theta = lda.transform(&state.lambda, &docs);
    let mean = |k: usize| theta.chunks_exact(4).map(|row| row[k]).sum::<f64>() / 300.0;
    assert!(mean(0) > 0.15, "{}", mean(0));
    let least = theta.chunks_exact(4).map(|row| row[0]).fold(1.0, f64::min);
    assert!(least > 0.1, "{least}");
    for topic in lda.components(&state.lambda).chunks_exact(18) {
        assert!(topic[2] >= 400.0, "{topic:?}");
    }
}

#[test]
fn a_run_keeps_them() -> Result<()> {
    let docs = tiny();
    let params = LdaParams {
        alpha: Some(Alpha::Each(vec![0.5, 0.1])),
        word_eta: words(&[("w1", 2.0), ("nix", 1.0)]),
        ..LdaParams::new(2)
    };
    let config = FitConfig { steps: Some(10), tol: 0.0, ..FitConfig::default() };
    let run = |threads: usize| {
        let config = FitConfig { threads, ..config.clone() };
        Run::<Lda>::fit(Items::in_memory(&docs), params.clone(), &config, Begin::Random, &mut ())
    };
    let (one, two) = (run(1)?, run(2)?);
    assert_eq!(bits(one.lambda().table().values()), bits(two.lambda().table().values()));
    assert_eq!(one.model.params().learn_eta, Some(false));
    let notes: Vec<String> = one.model.notes(&[]).iter().map(ToString::to_string).collect();
    assert!(notes.len() == 1 && notes[0].contains("1 of 2 words with an eta"), "{notes:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    one.save(&path)?;
    let back = Run::<Lda>::load(&path)?;
    assert_eq!(back.model.components(back.lambda()), one.model.components(one.lambda()));
    let eta = [0.05_f64.min(0.03 * 14.0 / 12.0), 2.0];
    assert_eq!(back.model.word_eta().unwrap(), [eta[0], eta[1], eta[0], eta[0], eta[0], eta[0]]);
    let more = back.update(Items::in_memory(&docs), &config, &mut ())?;
    assert_eq!(more.model.word_eta(), one.model.word_eta());
    Ok(())
}

#[test]
fn priors_that_cannot_be_are_refused() {
    let refused = |params: LdaParams| Lda::new(params, &tiny()).unwrap_err().to_string();
    let with = |word_eta| LdaParams { word_eta, ..LdaParams::new(2) };
    let alpha = |text: &str| LdaParams { alpha: Some(text.parse().unwrap()), ..LdaParams::new(2) };
    for (params, what) in [
        (alpha("0.1,0.2,0.3"), "has 3 numbers"),
        (alpha("0.1,0"), "between 1e-6 and 1e6"),
        (alpha("1e9"), "between 1e-6 and 1e6"),
        (
            LdaParams { learn_alpha: Some(LearnAlpha::Symmetric), ..alpha("0.1,0.2") },
            "symmetric is one for all",
        ),
        (with(Some(WordEta::Each(vec![0.1; 5]))), "the vocabulary has 6 words"),
        (with(Some(WordEta::Each(vec![0.1, 0.1, -1.0, 0.1, 0.1, 0.1]))), "word 2"),
        (with(words(&[("nix", 1.0)])), "none of 1 words is in the vocabulary of 6 words"),
        (with(words(&[("w1", 1.0), ("w1", 2.0)])), "has eta 1 and 2"),
        (with(words(&[("w1", f64::NAN)])), "found NaN"),
        (with(words(&[])), "no words"),
        (
            LdaParams { learn_eta: Some(true), ..with(words(&[("w1", 1.0)])) },
            "cannot be learned where words have their own",
        ),
    ] {
        let said = refused(params);
        assert!(said.contains(what), "{said}");
    }
    for text in ["", "a", "0.1,,0.2", "0.1;0.2"] {
        assert!(text.parse::<Alpha>().is_err(), "{text}");
    }
}

#[test]
fn files_of_words_say_where_they_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &[u8]| {
        let path = folder.path().join("eta.txt");
        std::fs::write(&path, text).unwrap();
        lehr::read::word_numbers(&path).map_err(|error| error.to_string())
    };
    let expected = vec![("said".to_string(), 2.0), ("new york".to_string(), 0.5)];
    assert_eq!(read("\u{feff}# no\nsaid 2\r\n\nnew york: 0.5\n".as_bytes()).unwrap(), expected);
    assert_eq!(read(b"said\t2\nnew york, 0.5").unwrap(), expected);
    assert_eq!(read(br#"{"said": 2, "new york": 0.5}"#).unwrap(), expected);
    for (text, what) in [
        (&b"said"[..], "line 1: has no word with a number"),
        (b"said 2\nmuch x", "line 2"),
        (b" 2", "line 1"),
        (b"# nothing\n", "has no words"),
        (b"{\"a\": [1]}", "must be an object of words and numbers"),
        (b"a \xff", "is not UTF-8"),
    ] {
        let said = read(text).unwrap_err();
        assert!(said.contains(what), "{said}");
    }
}
