//! Topics by numbers: coherence against gensim's, diagnostics and documents against plain sums, matches of two runs.

mod common;

use common::{block_topics, clusters, documents};
use lehr::FitConfig;
use lehr::compare::Comparable;
use lehr::data::{Docs, Duplicates, Ids, Points, Ratings};
use lehr::models::lda::Coherence;
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams};
use lehr::store::{Begin, Items, Run};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    words: Vec<String>,
    documents: Vec<Vec<(u32, f64)>>,
    topics: Vec<Vec<usize>>,
    u_mass: Vec<f64>,
    c_v: Vec<f64>,
    c_npmi: Vec<f64>,
}

#[test]
fn coherences_are_gensims() {
    let text = include_str!("fixtures/coherence/coherence.json");
    let fixture: Fixture = serde_json::from_str(text).unwrap();
    let docs = Docs::from_rows(fixture.documents.clone(), fixture.words.len()).unwrap();
    let found = Coherence::new(&docs, fixture.topics.iter().flatten().copied());
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    for (i, topic) in fixture.topics.iter().enumerate() {
        let (umass, c_v) = (found.umass(topic).unwrap(), found.c_v(topic).unwrap());
        assert!(near(umass, fixture.u_mass[i]), "topic {i}: UMass {umass}, {}", fixture.u_mass[i]);
        assert!(near(c_v, fixture.c_v[i]), "topic {i}: C_V {c_v}, {}", fixture.c_v[i]);
        // Words that never meet are -1 here, and a little more by gensim's epsilon.
        let has = |doc: &Vec<(u32, f64)>, w: usize| doc.iter().any(|&(x, _)| x as usize == w);
        let meet = |a: usize, b: usize| fixture.documents.iter().any(|d| has(d, a) && has(d, b));
        if topic.iter().all(|&a| topic.iter().all(|&b| meet(a, b))) {
            let npmi = found.npmi(topic).unwrap();
            assert!(near(npmi, fixture.c_npmi[i]), "topic {i}: {npmi}, {}", fixture.c_npmi[i]);
        }
    }
    assert_eq!((found.c_v(&[1]), found.umass(&[])), (None, None));
}

fn config(steps: u64, seed: u64) -> FitConfig {
    FitConfig { steps: Some(steps), tol: 0.0, seed, ..FitConfig::default() }
}

fn topics(docs: &Docs, k: usize, seed: u64) -> Run<Lda> {
    let items = Items::in_memory(docs);
    Run::fit(items, LdaParams::fixed(k), &config(40, seed), Begin::Random, &mut ()).unwrap()
}

#[test]
fn diagnostics_and_documents_are_plain_sums() {
    let docs = documents(&block_topics(3, 6), &[0.1; 3], 5000, 25, 4);
    let run = topics(&docs, 4, 1);
    let (k, v) = (4, 18);
    let components = run.model.components(run.lambda());
    let p: Vec<Vec<f64>> = components
        .chunks_exact(v)
        .map(|row| row.iter().map(|x| x / row.iter().sum::<f64>()).collect())
        .collect();
    let found = run.model.diagnose(run.lambda(), 5);
    let overlap = |a: usize, b: usize| (0..v).map(|w| p[a][w].min(p[b][w])).sum::<f64>();
    let mut listed = Vec::new();
    for (a, of) in found.topics.iter().enumerate() {
        let entropy: f64 = -p[a].iter().map(|p| p * p.ln()).sum::<f64>();
        assert!(
            (of.entropy - entropy).abs() < 1e-9 && (of.effective_words.ln() - entropy).abs() < 1e-9
        );
        let nearest = (0..k).filter(|&b| b != a).map(|b| overlap(a, b)).fold(0.0, f64::max);
        assert!((of.overlap - nearest).abs() < 1e-9, "{of:?}");
        assert!((overlap(a, of.nearest.unwrap()) - nearest).abs() < 1e-9);
        let mut words: Vec<usize> = (0..v).collect();
        words.sort_by(|&x, &y| p[a][y].total_cmp(&p[a][x]));
        let own = |&w: &usize| p[a][w] / (0..k).map(|b| p[b][w]).sum::<f64>();
        let exclusivity = words[..5].iter().map(own).sum::<f64>() / 5.0;
        assert!((of.exclusivity - exclusivity).abs() < 1e-9, "{of:?}");
        listed.extend_from_slice(&words[..5]);
    }
    listed.sort_unstable();
    listed.dedup();
    assert!((found.diversity - listed.len() as f64 / 20.0).abs() < 1e-12);

    let theta = run.model.transform(run.lambda(), &docs);
    let told = run.model.topic_documents(run.lambda(), &docs, 7);
    for of in &told {
        let shares: Vec<f64> = theta.chunks_exact(k).map(|theta| theta[of.topic]).collect();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
        let expected: Vec<(usize, f64)> = order[..7].iter().map(|&n| (n, shares[n])).collect();
        assert_eq!(of.top, expected);
        let sum: f64 = shares.iter().sum();
        let entropy: f64 = -shares.iter().map(|x| x / sum * (x / sum).ln()).sum::<f64>();
        assert!((of.effective_documents / entropy.exp() - 1.0).abs() < 1e-9);
        assert!((of.mean_share - sum / shares.len() as f64).abs() < 1e-12);
    }
    assert_eq!(told.iter().map(|of| of.main).sum::<usize>(), docs.n_items());
}

#[test]
fn parts_of_two_runs_find_each_other() {
    let docs = documents(&block_topics(3, 6), &[0.1; 3], 300, 25, 6);
    let (one, two) = (topics(&docs, 3, 1), topics(&docs, 4, 2));
    let same = Lda::compare(&one, &one).unwrap();
    assert!(same.pairs.iter().all(|pair| pair.first == pair.second && pair.similarity > 0.999_999));
    let found = Lda::compare(&one, &two).unwrap();
    assert_eq!((found.pairs.len(), found.only_first.len(), found.only_second.len()), (3, 0, 1));
    assert!(found.mean > 0.6 && found.n_common == 18, "{found:?}");
    // By name, whatever the order of the words: the second corpus has them the other way round.
    let turned = Docs::from_rows(
        (0..docs.n_items()).map(|n| {
            docs.doc(n).iter().map(|e| (17 - e.word, f64::from(e.count))).collect::<Vec<_>>()
        }),
        18,
    );
    let names =
        |order: &dyn Fn(usize) -> usize| (0..18).map(|w| format!("w{}", order(w))).collect();
    let a = topics(&docs.clone().with_vocabulary(names(&|w| w)).unwrap(), 3, 1);
    let b = topics(&turned.unwrap().with_vocabulary(names(&|w| 17 - w)).unwrap(), 3, 3);
    assert!(Lda::compare(&a, &b).unwrap().mean > 0.8);
    let other: Vec<String> = (0..18).map(|w| format!("x{w}")).collect();
    let c = topics(&docs.with_vocabulary(other).unwrap(), 3, 1);
    assert!(Lda::compare(&a, &c).unwrap_err().to_string().contains("no word in common"));
}

#[test]
fn clusters_and_dimensions_find_each_other() {
    let points: Points = clusters(400, 2, 3, 12.0, 5);
    let fit = |seed: u64, diagonal: bool| {
        let mut params = MixtureParams::gmm(3);
        if diagonal {
            params.covariance = lehr::models::mixture::Covariance::Diagonal;
        }
        Run::<Mixture>::fit(
            Items::in_memory(&points),
            params,
            &config(50, seed),
            Begin::Random,
            &mut (),
        )
        .unwrap()
    };
    for (a, b) in [
        (fit(1, false), fit(2, false)),
        (fit(1, false), fit(1, true)),
        (fit(1, true), fit(2, true)),
    ] {
        let found = Mixture::compare(&a, &b).unwrap();
        assert!(found.pairs.len() == 3 && found.mean > 0.9, "{found:?}");
    }
    let wide: Points = clusters(100, 3, 2, 9.0, 5);
    let other = Run::<Mixture>::fit(
        Items::in_memory(&wide),
        MixtureParams::gmm(2),
        &config(5, 1),
        Begin::Random,
        &mut (),
    );
    let said = Mixture::compare(&fit(1, false), &other.unwrap()).unwrap_err().to_string();
    assert!(said.contains("2 columns") && said.contains("3 columns"), "{said}");

    let (users, items): (Ids, Ids) = ((0..60).collect(), (0..20).collect());
    let pairs =
        (0..60u32).flat_map(|i| (0..20u32).map(move |j| (i, j))).filter(|(i, j)| (i + j) % 5 > 0);
    let (user, item): (Vec<u32>, Vec<u32>) = pairs.unzip();
    let taste = |i: u32, j: u32| if i % 2 == j % 2 { 5.0 } else { 1.0 + (i % 3) as f32 };
    let value = user.iter().zip(&item).map(|(&i, &j)| taste(i, j)).collect();
    let ratings = Ratings::new(users, items, user, item, value, Duplicates::Refuse).unwrap();
    let fit = |seed: u64| {
        let items = Items::in_memory(&ratings);
        Run::<Pmf>::fit(items, PmfParams::new(3), &config(60, seed), Begin::Random, &mut ())
            .unwrap()
    };
    let found = Pmf::compare(&fit(1), &fit(2)).unwrap();
    assert!(found.pairs[0].similarity > 0.95 && found.n_common == 20, "{found:?}");
}
