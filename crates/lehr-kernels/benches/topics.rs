//! How many entries (distinct words of a document) per second the kernels of online LDA work off.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::rng::Rng;
use lehr_kernels::{
    Decay, DocumentScratch, Isa, RowFormat, Share, Solve, Thetas, TopicRows, gather_word,
    inverse_totals, pad_topics, solve_document, solve_document_exact,
};

mod common;

use common::{Rate, in_every_set, once, per_second, rng};

/// Words of the vocabulary.
const WORDS: usize = 4000;
/// Documents that are solved in a call.
const DOCUMENTS: usize = 32;
/// Entries of a document.
const LENGTH: usize = 100;
const ENTRIES: usize = DOCUMENTS * LENGTH;
const TOPICS: [usize; 4] = [10, 50, 100, 200];
/// The prior of a document's topics; small enough for topics to be dropped.
const ALPHA: f32 = 0.02;

/// Topics that own every K-th word each, and documents of a few of them.
struct Corpus {
    n_topics: usize,
    /// `[WORDS][n_topics]`.
    lambda: Vec<f64>,
    totals: Vec<f64>,
    slots: Vec<u32>,
    counts: Vec<f32>,
}

impl Corpus {
    fn new(n_topics: usize) -> Self {
        let mut rng = rng(n_topics as u64);
        let lambda: Vec<f64> = (0..WORDS * n_topics)
            .map(|at| {
                let owned = at / n_topics % n_topics == at % n_topics;
                0.01 + rng.uniform() * if owned { 100.0 } else { 0.5 }
            })
            .collect();
        let totals = (0..n_topics).map(|k| lambda.iter().skip(k).step_by(n_topics).sum()).collect();
        let mut slots = Vec::with_capacity(ENTRIES);
        for _ in 0..DOCUMENTS {
            let few: Vec<usize> = (0..4).map(|_| below(&mut rng, n_topics)).collect();
            slots.extend((0..LENGTH).map(|i| {
                // Every eighth word is any word.
                let topic = if i % 8 == 7 { below(&mut rng, n_topics) } else { few[i % 4] };
                (below(&mut rng, WORDS / n_topics) * n_topics + topic) as u32
            }));
        }
        let counts = (0..ENTRIES).map(|_| (1 + rng.below(3)) as f32).collect();
        Corpus { n_topics, lambda, totals, slots, counts }
    }

    fn inverse_totals(&self) -> Vec<f32> {
        let mut inverse = vec![0.0; pad_topics(self.n_topics)];
        inverse_totals(&self.totals, &mut inverse);
        inverse
    }

    fn rows(&self) -> TopicRows {
        let mut rows = TopicRows::default();
        rows.resize(WORDS, self.n_topics, RowFormat::Pairs);
        self.fill(&mut rows, Isa::detect(), &self.inverse_totals());
        rows
    }

    fn fill(&self, rows: &mut TopicRows, isa: Isa, inverse: &[f32]) {
        for mut chunk in rows.chunks_mut(WORDS) {
            for (row, lambda) in self.lambda.chunks_exact(self.n_topics).enumerate() {
                chunk.fill_row(isa, row, lambda, Decay::NONE, inverse);
            }
        }
    }

    /// The words of every document and their counts.
    fn documents(&self) -> impl Iterator<Item = (&[u32], &[f32])> {
        self.slots.chunks_exact(LENGTH).zip(self.counts.chunks_exact(LENGTH))
    }
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u64) as usize
}

fn bench_solve_document(criterion: &mut Criterion<Rate>) {
    for n_topics in TOPICS {
        let corpus = Corpus::new(n_topics);
        let rows = corpus.rows();
        let stride = rows.stride();
        let mut alpha = vec![0.0; stride];
        alpha[..n_topics].fill(ALPHA);
        let (mut gamma, mut theta) = (vec![0.0; stride], vec![0.0; stride]);
        let (mut coef, mut scratch) = (vec![0.0; LENGTH], DocumentScratch::default());
        let usual = Solve::default();
        let plain = Solve::plain(usual.tol, usual.max_iterations);
        for (settings, suffix) in [(usual, ""), (plain, ",plain")] {
            let case = format!("K={n_topics}{suffix}");
            in_every_set(criterion, "solve_document", &case, ENTRIES, |isa| {
                for (slots, counts) in corpus.documents() {
                    solve_document(
                        isa,
                        &rows,
                        slots,
                        counts,
                        &alpha,
                        &settings,
                        None,
                        &mut scratch,
                        &mut gamma,
                        &mut theta,
                        &mut coef,
                    );
                }
            });
        }
    }
}

fn bench_solve_document_exact(criterion: &mut Criterion<Rate>) {
    for n_topics in [10, 100] {
        let corpus = Corpus::new(n_topics);
        let rows = corpus.rows();
        let values: Vec<f64> = (0..WORDS)
            .flat_map(|row| rows.row(row)[..n_topics].iter().map(|&x| f64::from(x)))
            .collect();
        let counts: Vec<f64> = corpus.counts.iter().map(|&x| f64::from(x)).collect();
        let alpha = vec![f64::from(ALPHA); n_topics];
        let (mut gamma, mut theta) = (alpha.clone(), alpha.clone());
        let (mut next, mut coef) = (alpha.clone(), vec![0.0; LENGTH]);
        once(criterion, "solve_document_exact", &format!("K={n_topics}"), ENTRIES, || {
            for (slots, counts) in corpus.slots.chunks(LENGTH).zip(counts.chunks(LENGTH)) {
                solve_document_exact(
                    &values, slots, counts, &alpha, 1e-3, 100, None, &mut next, &mut gamma,
                    &mut theta, &mut coef,
                );
            }
        });
    }
}

fn bench_gather_word(criterion: &mut Criterion<Rate>) {
    for n_topics in TOPICS {
        let (mut rng, stride) = (rng(1), pad_topics(n_topics));
        let (format, n_thetas) = (RowFormat::Pairs, 1000);
        let mut table = vec![0.0; n_thetas * stride / 2];
        for theta in table.chunks_exact_mut(stride / 2) {
            let numbers: Vec<f32> = (0..stride).map(|_| rng.uniform() as f32).collect();
            format.store(Isa::detect(), &numbers, theta);
        }
        let thetas = Thetas::new(format, n_topics, table.chunks_exact(stride / 2));
        let row = &table[..stride / 2];
        // A rare word and a frequent one.
        for n_docs in [10, 200] {
            let docs: Vec<Share> = (0..n_docs)
                .map(|i| Share { doc: (i * n_thetas / n_docs) as u32, coef: rng.uniform() as f32 })
                .collect();
            let mut out = vec![0.0; n_topics];
            let case = format!("K={n_topics},documents={n_docs}");
            in_every_set(criterion, "gather_word", &case, n_docs, |isa| {
                gather_word(isa, &docs, &thetas, row, false, &mut out);
            });
        }
    }
}

fn bench_fill_row(criterion: &mut Criterion<Rate>) {
    for n_topics in TOPICS {
        let corpus = Corpus::new(n_topics);
        let (mut rows, inverse) = (corpus.rows(), corpus.inverse_totals());
        in_every_set(criterion, "fill_row", &format!("K={n_topics}"), WORDS * n_topics, |isa| {
            corpus.fill(&mut rows, isa, &inverse);
        });
    }
}

fn bench_inverse_totals(criterion: &mut Criterion<Rate>) {
    let totals: Vec<f64> = (0..100).map(|k| 10.0 + 37.0 * f64::from(k)).collect();
    let mut out = vec![0.0; pad_topics(totals.len())];
    once(criterion, "inverse_totals", "K=100", totals.len(), || inverse_totals(&totals, &mut out));
}

criterion_group! {
    name = entries;
    config = per_second!("entries");
    targets = bench_solve_document, bench_solve_document_exact, bench_gather_word
}
criterion_group! {
    name = numbers;
    config = per_second!("numbers");
    targets = bench_fill_row, bench_inverse_totals
}
criterion_main!(entries, numbers);
