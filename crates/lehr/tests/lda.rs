//! LDA against first principles: its bound, its shortcuts, its guards, its scores, and data at the edge.

mod common;

use common::{
    Recorder, bits, block_topics, deviation, dirichlet, documents, rng, small_corpus, start,
};
use lehr::FitConfig;
use lehr::data::Docs;
use lehr::fit::Observation;
use lehr::fit::{Fitted, State, bound};
use lehr::math::rng::{Address, Purpose};
use lehr::math::table::Table;
use lehr::model::{Ask, Local, Model, RowSet, Shard, SharedModel, Stats};
use lehr::models::lda::LearnAlpha;
use lehr::models::{Lda, LdaParams};
use lehr::step::anneal::{Law, weights};
use lehr::step::engine::{Engine, Threads, Work};
use lehr::step::guard::Guard;
use lehr::step::sample::{Batch, Sampling};
use lehr::step::schedule::Effective;
use lehr::step::warm::Warm;

fn lda(params: LdaParams, docs: &Docs) -> Lda {
    Lda::new(params, docs).unwrap()
}

/// A fit, and what was observed.
fn fitted(
    model: &Lda,
    docs: &Docs,
    heldout: Option<&Docs>,
    config: &FitConfig,
) -> (Fitted, Vec<Observation>) {
    let mut recorder = Recorder::default();
    let fit = lehr::fit(model, docs).heldout(heldout).config(config.clone()).threads(2);
    let fitted = fit.watch(&mut recorder).run().unwrap();
    (fitted, recorder.0)
}

/// Statistics of a batch at lambda, and the documents' parts of the bound.
fn pass(model: &Lda, docs: &Docs, lambda: &Table, batch: &Batch, ask: Ask) -> (Stats, f64) {
    let mut stats = Stats::empty(docs.n_words(), lambda.width());
    model.support(docs, &batch.items, &mut stats.rows);
    let mut expect = Default::default();
    model.refresh(&State::at(model, lambda.clone()).lambda, &stats.rows, &mut expect);
    let off = &mut Warm::off();
    let work = Work { model, expect: &expect, batch, ask, defers: false };
    let bound = Threads::new(model, docs).sum(work, off, &mut stats).unwrap().bound;
    (stats, bound)
}

/// Gamma of every document after a local step, and each one's part of the bound.
fn local(
    model: &Lda,
    docs: &Docs,
    lambda: &Table,
    precise: bool,
    warm: &[f32],
) -> (Vec<f32>, Vec<f64>) {
    let rows = RowSet::all(docs.n_words());
    let mut expect = Default::default();
    model.refresh(&State::at(model, lambda.clone()).lambda, &rows, &mut expect);
    let items: Vec<u32> = (0..docs.n_items() as u32).collect();
    let (weights, mut bounds) = (vec![1.0; items.len()], vec![0.0; items.len()]);
    let mut out = <Lda as SharedModel>::Local::new(&model.layout());
    // A state of zeros is none, and says that gamma is to be kept.
    let none = vec![0.0; items.len() * model.warm_width()];
    let warm = if warm.is_empty() { &none } else { warm };
    let shard = Shard { data: docs, items: &items, weights: &weights, rows: &rows, warm };
    let ask = Ask { precise, ..Ask::TRAIN };
    model.local_step(&expect, shard, ask, &mut model.scratch(), &mut out, &mut bounds);
    (out.warm().to_vec(), bounds)
}

/// Stirling's series far out, and the recurrence from there: nothing of the library's.
fn ln_gamma(x: f64) -> f64 {
    if x < 30.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

fn digamma(x: f64) -> f64 {
    if x < 30.0 {
        return digamma(x + 1.0) - 1.0 / x;
    }
    x.ln() - 0.5 / x - 1.0 / (12.0 * x * x) + 1.0 / (120.0 * x.powi(4)) - 1.0 / (252.0 * x.powi(6))
}

/// E_q[ln p(x) - ln q(x)] of x ~ Dirichlet(prior), q = Dirichlet(a), and E_q[ln x].
fn dirichlet_part(prior: &[f64], a: &[f64]) -> (f64, Vec<f64>) {
    let ln: Vec<f64> = a.iter().map(|&x| digamma(x) - digamma(a.iter().sum())).collect();
    let density = |a: &[f64]| {
        let normaliser = ln_gamma(a.iter().sum()) - a.iter().map(|&x| ln_gamma(x)).sum::<f64>();
        normaliser + a.iter().zip(&ln).map(|(a, ln)| (a - 1.0) * ln).sum::<f64>()
    };
    (density(prior) - density(a), ln)
}

/// The bound with q(z) written out: for every assignment of topics to all words of a document its
/// probability under q, times ln p(w, z | ...) - ln q(z). Gamma is iterated to its fixed point.
fn brute_force(docs: &[Vec<usize>], alpha: &[f64], eta: f64, lambda: &[Vec<f64>]) -> f64 {
    let (n_topics, n_words) = (alpha.len(), lambda[0].len());
    let topics: Vec<(f64, Vec<f64>)> =
        lambda.iter().map(|row| dirichlet_part(&vec![eta; n_words], row)).collect();
    let mut bound: f64 = topics.iter().map(|topic| topic.0).sum();
    for doc in docs {
        let mut gamma: Vec<f64> = vec![1.0; n_topics];
        let mut phi = Vec::new();
        for _ in 0..5000 {
            let (_, ln_theta) = dirichlet_part(alpha, &gamma);
            phi = doc
                .iter()
                .map(|&w| {
                    let joint: Vec<f64> =
                        (0..n_topics).map(|k| (ln_theta[k] + topics[k].1[w]).exp()).collect();
                    let sum: f64 = joint.iter().sum();
                    joint.iter().map(|x| x / sum).collect::<Vec<f64>>()
                })
                .collect();
            for k in 0..n_topics {
                gamma[k] = alpha[k] + phi.iter().map(|phi| phi[k]).sum::<f64>();
            }
        }
        let (part, ln_theta) = dirichlet_part(alpha, &gamma);
        bound += part;
        for z in 0..n_topics.pow(doc.len() as u32) {
            let topic = |i: usize| z / n_topics.pow(i as u32) % n_topics;
            let q: f64 = (0..doc.len()).map(|i| phi[i][topic(i)]).product();
            let ln_p: f64 = doc
                .iter()
                .enumerate()
                .map(|(i, &w)| ln_theta[topic(i)] + topics[topic(i)].1[w])
                .sum();
            bound += q * (ln_p - q.ln());
        }
    }
    bound
}

#[test]
fn the_bound_of_three_documents_from_first_principles() {
    let texts = [vec![0, 0, 1, 2], vec![2, 2, 2], vec![], vec![1]];
    let row = |doc: &Vec<usize>| doc.iter().map(|&w| (w as u32, 1.0)).collect();
    let docs = Docs::from_rows(texts.iter().map(row), 3).unwrap();
    let mut rng = rng(3);
    for alpha in [0.05, 0.3, 2.0] {
        for n_topics in [1, 2, 3] {
            for size in [0.5, 20.0] {
                let eta = 0.1 * size;
                let lambda: Vec<Vec<f64>> = (0..n_topics)
                    .map(|_| (0..3).map(|_| eta + size * rng.gamma(1.0)).collect())
                    .collect();
                let expected = brute_force(&texts, &vec![alpha; n_topics], eta, &lambda);
                for (exact, limit) in [(true, 1e-9), (false, 1e-5)] {
                    let params = LdaParams {
                        alpha: Some(alpha.into()),
                        eta: Some(eta),
                        exact,
                        ..LdaParams::fixed(n_topics)
                    };
                    // To the fixed point, which is unique enough here: all start with equal shares.
                    let params = LdaParams { local_tol: 1e-12, local_iterations: 5000, ..params };
                    let model = lda(params, &docs);
                    let values = (0..3 * n_topics).map(|i| lambda[i % n_topics][i / n_topics]);
                    let table = Table::from_values(3, n_topics, values.collect()).unwrap();
                    let state = State::at(&model, table);
                    let found =
                        bound(&model, &state.lambda, &mut Threads::new(&model, &docs)).unwrap();
                    let off = (found / expected - 1.0).abs();
                    println!("alpha {alpha}, K {n_topics}, {size}, exact {exact}: {off:.1e}");
                    assert!(off < limit, "{found} for {expected}: {off:e}");
                }
            }
        }
    }
}

#[test]
fn the_bound_of_warm_batch_steps_never_falls() {
    let many: Vec<Vec<f64>> = {
        let mut rng = rng(4);
        (0..50).map(|_| dirichlet(&mut rng, &[0.05; 150])).collect()
    };
    let mut fallen = [0.0f64; 2];
    for (title, docs, topics) in [
        ("small", small_corpus(60, 1), 4),
        ("blocks", documents(&block_topics(5, 20), &[0.2; 5], 80, 40, 2), 7),
        ("many topics", documents(&many, &[0.02; 50], 80, 60, 3), 50),
    ] {
        for alpha in [0.01, 0.05, 0.3, 2.0] {
            for (learn_alpha, learn_eta) in [
                (LearnAlpha::No, false),
                (LearnAlpha::Symmetric, false),
                (LearnAlpha::Asymmetric, false),
                (LearnAlpha::Asymmetric, true),
            ] {
                for (exact, limit) in [(true, 1e-10), (false, 1e-6)] {
                    let params = LdaParams {
                        alpha: Some(alpha.into()),
                        learn_alpha: Some(learn_alpha),
                        learn_eta: Some(learn_eta),
                        exact,
                        ..LdaParams::fixed(topics)
                    };
                    let config = FitConfig {
                        steps: Some(25),
                        tol: 0.0,
                        warm: true,
                        warm_after: Some(0),
                        ..FitConfig::default()
                    };
                    let (_, seen) = fitted(&lda(params, &docs), &docs, None, &config);
                    let what = format!(
                        "{title}, alpha {alpha}, {learn_alpha:?}, eta {learn_eta}, exact {exact}"
                    );
                    for pair in seen.windows(2) {
                        let change = (pair[1].bound - pair[0].bound) / pair[0].bound.abs();
                        let worst = &mut fallen[usize::from(exact)];
                        *worst = worst.max(-change);
                        assert!(change > -limit, "{what}: {change:e} in step {}", pair[1].step);
                    }
                    assert!(seen.last().unwrap().bound > seen[0].bound, "{what}");
                }
            }
        }
    }
    println!("largest fall: fast {:.1e}, exact {:.1e}", fallen[0], fallen[1]);
}

/// 500 documents of 100 words from 50 topics over 2000 words whose frequencies fall like Zipf's.
fn realistic() -> Docs {
    let mut rng = rng(5);
    let zipf: Vec<f64> = (0..2000).map(|w| 4.0 / (w as f64 + 3.0)).collect();
    let topics: Vec<Vec<f64>> = (0..50).map(|_| dirichlet(&mut rng, &zipf)).collect();
    documents(&topics, &[0.08; 50], 500, 100, 6)
}

#[test]
fn shortcuts_cost_little_of_the_bound() {
    let docs = realistic();
    let per_word = |bounds: &[f64]| bounds.iter().sum::<f64>() / docs.tokens();
    for alpha in [0.02, 0.05, 0.1] {
        let params = LdaParams { alpha: Some(alpha.into()), ..LdaParams::fixed(50) };
        let fast = lda(params.clone(), &docs);
        let exact = LdaParams { exact: true, ..params };
        let strict = LdaParams { local_tol: 1e-9, local_iterations: 5000, ..exact.clone() };
        let (exact, strict) = (lda(exact, &docs), lda(strict, &docs));
        for steps in [1, 40, 200] {
            let base = FitConfig { batch: Some(100), tol: 0.0, ..FitConfig::default() };
            let config = FitConfig { steps: Some(steps), ..base };
            let (found, _) = fitted(&fast, &docs, None, &config);
            let lambda = found.state.lambda.table();
            for (what, precise) in [("training", false), ("evaluation", true)] {
                let (gamma, bounds) = local(&fast, &docs, lambda, precise, &[]);
                // A document's bound has several tops. On its own, ours is where it should be; and it
                // is no lower than the one that plain iterations reach.
                let (_, top) = local(&strict, &docs, lambda, false, &gamma);
                let (_, plain) = local(&exact, &docs, lambda, precise, &[]);
                let cost = per_word(&top) - per_word(&bounds);
                let gain = per_word(&bounds) - per_word(&plain);
                let what = format!("{what}, alpha {alpha}, step {steps}");
                println!("{what}: {cost:.1e} below its top, {gain:+.1e} above plain iterations");
                // Training stops on the way to the top. After one step topics are hardly told apart, and documents
                // creep towards theirs.
                let far = match (precise, steps) {
                    (true, 1) => 5e-4,
                    (true, _) => 1e-5,
                    (false, 1) => 2e-2,
                    (false, _) => 1e-2,
                };
                assert!(cost < far && cost > -1e-6, "{what}: {cost:e} below its top");
                assert!(gain > -1e-4, "{what}: {gain:e} from plain iterations");
            }
            // Every word is counted, also those of topics that were dropped.
            let (raw, _) = pass(&fast, &docs, lambda, &Batch::all(docs.n_items()), Ask::TRAIN);
            let lost = 1.0 - raw.values().iter().sum::<f64>() / docs.tokens();
            assert!(lost.abs() < 1e-6, "alpha {alpha}, step {steps}: {lost:e} of all words lost");
        }
    }
}

/// The largest share of each topic's words that belong to one block, if every block has a topic.
fn blocks_found(model: &Lda, fit: &Fitted, per_topic: usize) -> Option<f64> {
    let topics = model.topics(&fit.state.lambda, per_topic, 1.0);
    let (mut seen, mut least) = (Vec::new(), 1.0f64);
    for topic in &topics {
        let mut shares = vec![0.0; topics.len()];
        topic.by_probability.iter().for_each(|&(w, p)| shares[w / per_topic] += p);
        let best = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
        seen.push(best);
        least = least.min(shares[best]);
    }
    seen.sort_unstable();
    seen.dedup();
    (seen.len() == topics.len()).then_some(least)
}

#[test]
fn planted_topics_are_found() {
    let docs = documents(&block_topics(5, 20), &[0.2; 5], 600, 50, 8);
    let new = documents(&block_topics(5, 20), &[0.2; 5], 100, 50, 9);
    let svi = FitConfig { batch: Some(100), steps: Some(120), tol: 0.0, ..FitConfig::default() };
    let noisy = FitConfig { effective: Effective::Constant(20.0), ..svi.clone() };
    for (what, config) in [
        ("batch VI", FitConfig { steps: Some(60), ..FitConfig::default() }),
        ("SVI", svi.clone()),
        ("SVI in order", FitConfig { sampling: Sampling::InOrder, ..svi.clone() }),
        ("clamp", FitConfig { guard: Some(Guard::Clamp), ..noisy.clone() }),
        ("shrink", FitConfig { guard: Some(Guard::Shrink), ..noisy.clone() }),
        ("gamma", FitConfig { law: Law::Gamma, ..noisy.clone() }),
    ] {
        for exact in [false, true] {
            let model = lda(LdaParams { exact, ..LdaParams::fixed(5) }, &docs);
            let config = FitConfig { n_init: 3, ..config.clone() };
            let (found, seen) = fitted(&model, &docs, Some(&new), &config);
            let purity = blocks_found(&model, &found, 20);
            assert!(purity.is_some_and(|p| p > 0.9), "{what}, exact {exact}: {purity:?}");
            let measures = &seen.last().unwrap().measures;
            assert!(measures["completion"] > measures["unigram"] + 0.5, "{what}: {measures:?}");
            assert_eq!(seen.last().unwrap().heldout, Some(measures["completion"]));
        }
    }
}

#[test]
fn guards_keep_lambda_positive_and_shrink_keeps_the_mass() {
    let docs = realistic();
    let model = lda(LdaParams::fixed(20), &docs);
    let mut excess = Vec::new();
    for guard in [Guard::Clamp, Guard::Shrink, Guard::Halve, Guard::Clip, Guard::Reject] {
        let config = FitConfig {
            batch: Some(200),
            effective: Effective::Constant(10.0),
            guard: Some(guard),
            noise_end: 1.0,
            steps: Some(40),
            tol: 0.0,
            ..FitConfig::default()
        };
        let (found, seen) = fitted(&model, &docs, None, &config);
        assert!(found.state.lambda.table().values().iter().all(|&x| x > 0.0), "{guard}");
        assert!(found.state.guard_hits > 0, "{guard}");
        let last = seen.last().unwrap();
        let mass = found.state.lambda.table().values().iter().sum::<f64>()
            / (docs.tokens() + 0.01 * (2000.0 * 20.0));
        assert!((last.measures["mass"] / mass - 1.0).abs() < 1e-9, "{guard}");
        let works_on_entries = matches!(guard, Guard::Clamp | Guard::Shrink);
        assert_eq!(last.measures.contains_key("clamped_share"), works_on_entries, "{guard}");
        println!("{guard}: mass {mass:.3}, {:?}", last.measures.get("clamped_share"));
        if works_on_entries {
            let share = last.measures["clamped_share"];
            assert!(share > 0.0 && share < 0.6, "{guard}: {share}");
            excess.push((mass - 1.0).abs());
        }
    }
    assert!(excess[1] < 0.5 * excess[0], "clamp and shrink: {excess:?}");
}

#[test]
fn moments_of_noisy_statistics() {
    let docs = small_corpus(100, 11);
    for exact in [false, true] {
        let model = lda(LdaParams { exact, ..LdaParams::fixed(3) }, &docs);
        let lambda = start(&model, &docs);
        let quiet_batch = Batch::all(docs.n_items());
        let (quiet, _) = pass(&model, &docs, &lambda, &quiet_batch, Ask::TRAIN);
        // What each document adds to the most frequent and to a rare word.
        let frequencies = docs.doc_frequencies();
        let word_by = |rank: usize| {
            let mut order: Vec<usize> = (0..24).filter(|&w| frequencies[w] > 0).collect();
            order.sort_by_key(|&w| std::cmp::Reverse(frequencies[w]));
            order[rank.min(order.len() - 1)]
        };
        let (m, size) = (20.0, 100.0);
        let v: f64 = (size / m - 1.0) * size / (size - 1.0);
        for (word, shrink) in
            [(word_by(0), 0.0), (word_by(23), 0.0), (word_by(23), v), (word_by(0), v)]
        {
            let terms: Vec<f64> = (0..docs.n_items() as u32)
                .map(|n| {
                    if !docs.doc(n as usize).iter().any(|e| e.word as usize == word) {
                        return 0.0;
                    }
                    pass(&model, &docs, &lambda, &Batch::of(vec![n], 100), Ask::TRAIN).0.row(word)
                        [0]
                })
                .collect();
            let n_w = f64::from(frequencies[word]);
            let factor = if shrink > 0.0 { (n_w / (4.0 * v)).min(1.0) } else { 1.0 };
            let squares: f64 = terms.iter().map(|x| x * x).sum();
            let centred = squares - terms.iter().sum::<f64>().powi(2) / size;
            let (draws, mut sum, mut second) = (1500, 0.0, 0.0);
            for t in 0..draws {
                let mut batch = Batch::all(docs.n_items());
                let address = Address::new(5, Purpose::Noise, 0, t);
                weights(Law::Gaussian, m, true, address, &mut batch.weights);
                let ask = Ask { shrink, ..Ask::TRAIN };
                let x =
                    pass(&model, &docs, &lambda, &batch, ask).0.row(word)[0] - quiet.row(word)[0];
                sum += x;
                second += x * x;
            }
            let n = draws as f64;
            let (mean, variance) = (sum / n, second / n);
            let what = format!("word {word}, in {n_w} documents, shrink {shrink}, exact {exact}");
            assert!(mean.abs() < 6.0 * (variance / n).sqrt(), "{what}: mean {mean:e}");
            let expected = factor * v * centred;
            let ratio = variance / expected;
            println!("{what}: variance {ratio:.3} of that expected, factor {factor:.3}");
            assert!((ratio - 1.0).abs() < 6.0 * (2.0 / n).sqrt(), "{what}: {ratio}");
        }
    }
}

/// One training pass and one evaluation are finite; gamma sums to alpha plus the words.
fn check_finite(what: &str, docs: &Docs, params: LdaParams) {
    let alpha: f64 = params.start_alpha().iter().sum();
    let (topics, exact) = (params.topics, params.exact);
    let model = lda(params, docs);
    let lambda = start(&model, docs);
    let (gamma, bounds) = local(&model, docs, &lambda, false, &[]);
    assert!(bounds.iter().all(|b| b.is_finite()), "{what}: {bounds:?}");
    for (n, gamma) in gamma.chunks_exact(topics).enumerate() {
        let words: f64 = docs.doc(n).iter().map(|e| f64::from(e.count)).sum();
        let sum: f64 = gamma.iter().map(|&gamma| f64::from(gamma)).sum();
        let off = (sum / (alpha + words) - 1.0).abs();
        assert!(off < if exact { 1e-6 } else { 2e-2 }, "{what}, document {n}: {off:e}");
        assert!(gamma.iter().all(|&gamma| gamma > 0.0), "{what}");
    }
    let (raw, _) = pass(&model, docs, &lambda, &Batch::all(docs.n_items()), Ask::TRAIN);
    let off = (raw.values().iter().sum::<f64>() / docs.tokens() - 1.0).abs();
    assert!(off < if exact { 1e-11 } else { 1e-5 }, "{what}: statistics off by {off:e}");
    let config = FitConfig { steps: Some(8), tol: 0.0, ..FitConfig::default() };
    let (found, seen) = fitted(&model, docs, None, &config);
    assert!(
        found.state.lambda.table().values().iter().all(|x| x.is_finite() && *x > 0.0),
        "{what}"
    );
    assert!(seen.iter().all(|o| o.bound.is_finite()), "{what}");
}

#[test]
fn data_at_the_edge() {
    let rows = |rows: Vec<Vec<(u32, f64)>>, n_words| Docs::from_rows(rows, n_words).unwrap();
    let long: Vec<(u32, f64)> = (0..5000).map(|w| (w, 1.0 + f64::from(w % 3))).collect();
    let cases = [
        ("one word in all", rows(vec![vec![(0, 1.0)]], 1), 2),
        ("one topic", small_corpus(20, 1), 1),
        ("more topics than words", small_corpus(20, 2), 40),
        ("all equal", rows(vec![vec![(0, 2.0), (3, 1.0)]; 30], 4), 3),
        ("fractions", rows(vec![vec![(0, 0.25), (1, 1e-3)], vec![(1, 0.5), (2, 3.75)]], 3), 3),
        ("large counts", rows(vec![vec![(0, 1e6), (1, 1.0)], vec![(1, 1e6), (2, 3.0)]], 3), 3),
        ("empty documents", rows(vec![vec![], vec![(1, 2.0)], vec![]], 2), 2),
        ("single words", rows((0..9).map(|w| vec![(w, 1.0)]).collect(), 9), 3),
        ("long document", rows(vec![long, vec![(4999, 1.0)]], 5000), 60),
    ];
    for (what, docs, topics) in cases {
        for exact in [true, false] {
            for alpha in [0.01, 1.0] {
                let params =
                    LdaParams { exact, alpha: Some(alpha.into()), ..LdaParams::fixed(topics) };
                check_finite(&format!("{what}, alpha {alpha}, exact {exact}"), &docs, params);
            }
        }
    }
}

#[test]
fn a_word_that_no_document_has_returns_to_its_prior() {
    let docs = Docs::from_rows([vec![(0, 3.0), (2, 1.0)], vec![(2, 2.0)]], 4).unwrap();
    let model = lda(LdaParams::fixed(2), &docs);
    let config = FitConfig { steps: Some(3), tol: 0.0, ..FitConfig::default() };
    let (found, _) = fitted(&model, &docs, None, &config);
    for word in [1, 3] {
        assert_eq!(found.state.lambda.table().row(word), [0.01; 2]);
    }
    let (found, _) =
        fitted(&model, &docs, None, &FitConfig { batch: Some(1), steps: Some(3000), ..config });
    for word in [1, 3] {
        let off = deviation(found.state.lambda.table().row(word), &[0.01; 2]);
        assert!(off < 1e-6, "{off:e}");
    }
}

#[test]
fn unused_words_change_nothing() {
    let docs = small_corpus(50, 3);
    let row = |n: usize| docs.doc(n).iter().map(|e| (e.word, f64::from(e.count))).collect();
    let padded = Docs::from_rows((0..50).map(row), 10_024).unwrap();
    for exact in [false, true] {
        let params = LdaParams { exact, ..LdaParams::fixed(4) };
        let (small, large) = (lda(params.clone(), &docs), lda(params, &padded));
        let short = start(&small, &docs);
        // The unused words have next to nothing, so that the totals stay as they are.
        let mut long = Table::new(10_024, 4);
        long.values_mut().fill(1e-300);
        long.values_mut()[..24 * 4].copy_from_slice(short.values());
        let found = local(&large, &padded, &long, false, &[]);
        assert_eq!(found, local(&small, &docs, &short, false, &[]), "exact {exact}");
        let batch = Batch::all(50);
        let (one, _) = pass(&small, &docs, &short, &batch, Ask::TRAIN);
        let (two, _) = pass(&large, &padded, &long, &batch, Ask::TRAIN);
        assert_eq!(bits(one.values()), bits(two.values()), "exact {exact}");
    }
}

#[test]
fn a_document_that_is_drawn_twice_counts_twice() {
    let docs = small_corpus(40, 6);
    for exact in [false, true] {
        let model = lda(LdaParams { exact, ..LdaParams::fixed(3) }, &docs);
        let lambda = start(&model, &docs);
        let stats =
            |items: Vec<u32>| pass(&model, &docs, &lambda, &Batch::of(items, 40), Ask::TRAIN);
        let (twice, bound) = stats(vec![8, 9, 8]);
        let (once, single) = stats(vec![8, 9]);
        let (other, rest) = stats(vec![9]);
        assert!((bound - 2.0 * single + rest).abs() < 1e-9);
        for slot in 0..twice.rows.len() {
            let row = twice.rows.row(slot);
            let in_nine = (0..other.rows.len()).any(|s| other.rows.row(s) == row);
            for k in 0..3 {
                let nine = if in_nine { other.row(row)[k] } else { 0.0 };
                let expected = 2.0 * once.row(row)[k] - nine;
                assert!((twice.row(row)[k] - expected).abs() < 1e-6 * expected.abs().max(1e-3));
            }
        }
        let config = FitConfig { sampling: Sampling::WithReplacement, ..FitConfig::default() };
        let config = FitConfig {
            batch: Some(30),
            steps: Some(20),
            warm: true,
            warm_after: Some(0),
            ..config
        };
        assert!(fitted(&model, &docs, None, &config).0.outcome.bound.is_finite());
    }
}

#[test]
fn warm_starts_take_fewer_iterations() {
    let docs = documents(&block_topics(5, 20), &[0.2; 5], 200, 50, 8);
    for exact in [false, true] {
        let model = lda(LdaParams { exact, ..LdaParams::fixed(8) }, &docs);
        for batch in [None, Some(50)] {
            let iterations = |warm, steps| {
                let config = FitConfig {
                    warm,
                    warm_after: Some(0),
                    batch,
                    steps: Some(steps),
                    tol: 0.0,
                    ..FitConfig::default()
                };
                fitted(&model, &docs, None, &config).0.local_iterations as f64
            };
            // The first four epochs, and four later ones.
            let epoch = batch.map_or(1, |size| 200 / size as u64);
            let (early, all) = (iterations(true, 4 * epoch), iterations(true, 40 * epoch));
            let (cold_early, cold) = (iterations(false, 4 * epoch), iterations(false, 40 * epoch));
            println!("exact {exact}, {batch:?}: warm {early} {all}, cold {cold_early} {cold}");
            assert!(all < 0.7 * cold, "exact {exact}, {batch:?}: {all} and {cold}");
            assert!((all - early) / 9.0 < early, "later epochs are faster");
        }
    }
}

#[test]
fn learned_priors_tell_what_was_planted() {
    let planted = [1.5, 0.6, 0.25, 0.1, 0.05];
    let docs = documents(&block_topics(5, 12), &planted, 800, 60, 13);
    let base = LdaParams { alpha: Some(0.3.into()), ..LdaParams::fixed(5) };
    let config = FitConfig { steps: Some(60), tol: 0.0, n_init: 3, ..FitConfig::default() };
    let plain = fitted(&lda(base.clone(), &docs), &docs, None, &config).0;
    for batch in [None, Some(200)] {
        let params = LdaParams { learn_alpha: Some(LearnAlpha::Asymmetric), ..base.clone() };
        let model = lda(params, &docs);
        let steps = Some(if batch.is_some() { 400 } else { 60 });
        let config = FitConfig { batch, steps, ..config.clone() };
        let found = fitted(&model, &docs, None, &config).0;
        let mut alpha = [0.0; 5];
        for topic in model.topics(&found.state.lambda, 1, 1.0) {
            alpha[topic.by_probability[0].0 / 12] = topic.alpha;
        }
        println!("{batch:?}: alpha {alpha:.3?}");
        assert!(alpha.windows(2).all(|pair| pair[0] > pair[1]), "{batch:?}: {alpha:?}");
        assert!(alpha.iter().zip(planted).all(|(a, p)| a / p < 2.0 && p / a < 2.0), "{alpha:?}");
    }
    for params in [
        LdaParams { learn_alpha: Some(LearnAlpha::Asymmetric), ..base.clone() },
        LdaParams { learn_alpha: Some(LearnAlpha::Symmetric), ..base.clone() },
        LdaParams { learn_eta: Some(true), ..base.clone() },
    ] {
        let found = fitted(&lda(params.clone(), &docs), &docs, None, &config).0;
        assert!(found.outcome.bound > plain.outcome.bound, "{params:?}");
    }
}

#[test]
fn held_out_scores_by_hand() {
    let train = Docs::from_rows([vec![(0, 4.0), (1, 2.0)], vec![(1, 1.0), (2, 3.0)]], 4).unwrap();
    // Words in order 0 0 1 2 2 2 and 1 3: given are 0 1 2 and 1, hidden 0 2 2 and 3.
    let new =
        Docs::from_rows([vec![(0, 2.0), (1, 1.0), (2, 3.0)], vec![(1, 1.0), (3, 1.0)], vec![]], 4);
    let new = new.unwrap();
    let (alpha, eta) = (0.4, 0.2);
    let lambda = [[3.0, 2.0, 0.5, 0.2], [0.3, 1.0, 4.0, 0.2]];
    let params =
        LdaParams { alpha: Some(alpha.into()), eta: Some(eta), exact: true, ..LdaParams::fixed(2) };
    let params = LdaParams { local_tol: 1e-12, local_iterations: 5000, ..params };
    let model = lda(params, &train);
    let table = Table::from_values(4, 2, (0..8).map(|i| lambda[i % 2][i / 2]).collect()).unwrap();
    let state = State::at(&model, table);
    let scores = model.score_docs(&state.lambda, &new, 2);

    let topics: Vec<(f64, Vec<f64>)> =
        lambda.iter().map(|row| dirichlet_part(&[eta; 4], row)).collect();
    // Gamma and the document's part of the bound, phi eliminated.
    let solve = |words: &[usize]| {
        let mut gamma = [1.0, 1.0];
        let joint = |gamma: &[f64], w: usize| {
            let ln_theta = dirichlet_part(&[alpha; 2], gamma).1;
            [0, 1].map(|k| (ln_theta[k] + topics[k].1[w]).exp())
        };
        for _ in 0..5000 {
            let mut next = [alpha; 2];
            for &w in words {
                let p = joint(&gamma, w);
                (0..2).for_each(|k| next[k] += p[k] / (p[0] + p[1]));
            }
            gamma = next;
        }
        let likelihood: f64 =
            words.iter().map(|&w| joint(&gamma, w).iter().sum::<f64>().ln()).sum();
        (gamma, likelihood + dirichlet_part(&[alpha; 2], &gamma).0)
    };
    let local = solve(&[0, 0, 1, 2, 2, 2]).1 + solve(&[1, 3]).1;
    let global: f64 = topics.iter().map(|topic| topic.0).sum();
    let share = 2.0 / 3.0;
    let counts = [4.0, 3.0, 3.0, 0.0];
    let (mut completion, mut unigram) = (0.0, 0.0);
    for (given, hidden) in [(vec![0, 1, 2], vec![0, 2, 2]), (vec![1], vec![3])] {
        let (gamma, _) = solve(&given);
        for w in hidden {
            let p = |k: usize| {
                gamma[k] / (gamma[0] + gamma[1]) * lambda[k][w] / lambda[k].iter().sum::<f64>()
            };
            completion += (p(0) + p(1)).ln();
            unigram += f64::ln((counts[w] + eta) / (10.0 + 4.0 * eta));
        }
    }
    let found = [scores.local, scores.full, scores.completion, scores.unigram];
    let expected =
        [local / 8.0, (share * local + global) / (share * 8.0), completion / 4.0, unigram / 4.0];
    assert!(deviation(&found, &expected) < 1e-9, "{found:?} for {expected:?}");
    assert_eq!((scores.documents, scores.tokens, scores.predicted), (3, 8.0, 4.0));
}

#[test]
fn scores_that_do_not_exist_leave_the_trace_readable() {
    let docs = small_corpus(30, 1);
    let model = lda(LdaParams::fixed(2), &docs);
    let config = FitConfig { steps: Some(2), ..FitConfig::default() };
    // Nothing to predict in a document of one word, nothing at all in an empty one.
    for new in [vec![vec![(0, 1.0)]], vec![vec![]]] {
        let new = Docs::from_rows(new, 24).unwrap();
        let (_, seen) = fitted(&model, &docs, Some(&new), &config);
        let text = serde_json::to_string(seen.last().unwrap()).unwrap();
        let read: Result<Observation, _> = serde_json::from_str(&text);
        assert!(read.is_ok(), "{text}: {read:?}");
    }
}

/// Gamma and statistics have every word, also if its topics have died in the document.
#[test]
fn no_word_is_lost_when_its_topics_have_died() {
    // Word 1 is of topic 1 alone, word 0 of ten other topics alone: too little for any of them.
    let docs = Docs::from_rows([vec![(0, 1.0), (1, 5.0)]], 2).unwrap();
    for n_topics in [11, 40] {
        let mut lambda = Table::new(2, n_topics);
        lambda.values_mut().fill(0.01);
        lambda.row_mut(1)[0] = 50.0;
        lambda.row_mut(0)[1..11].fill(50.0);
        // Before, the document was all of the first topic.
        let mut warm = vec![0.01f32; n_topics];
        warm[0] = 6.01;
        for exact in [true, false] {
            let params =
                LdaParams { alpha: Some(0.01.into()), exact, ..LdaParams::fixed(n_topics) };
            let model = lda(params, &docs);
            for warm in [&[][..], &warm] {
                let (gamma, _) = local(&model, &docs, &lambda, false, warm);
                let off = gamma.iter().sum::<f32>() - 0.01 * n_topics as f32 - 6.0;
                let what = format!("K {n_topics}, exact {exact}, warm {}", !warm.is_empty());
                assert!(off.abs() < 1e-2, "{what}: {gamma:?}");
            }
            let (raw, _) = pass(&model, &docs, &lambda, &Batch::all(1), Ask::TRAIN);
            let off = raw.values().iter().sum::<f64>() - 6.0;
            assert!(off.abs() < 1e-5, "K {n_topics}, exact {exact}: {off:e}");
        }
    }
}
