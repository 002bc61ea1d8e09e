//! The kernels of online LDA against plain f64 twins, in every instruction set this machine has.

use lehr_kernels::rng::Rng;
use lehr_kernels::special::{digamma, ln_gamma};
use lehr_kernels::{
    Decay, DocumentScratch, Isa, RowFormat, RowsMut, Share, Solve, ThetaList, Thetas, TopicRows,
    gather_word, gather_word_of_lists, inverse_totals, pad_topics, solve_document,
    solve_document_exact,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

mod common;

use common::{longer, rng, sizes};

/// Fills every row of a chunk, row `r` of the table from `lambda_of(r)`.
fn fill<'a>(
    chunk: &mut RowsMut<'_>,
    isa: Isa,
    lambda_of: impl Fn(usize) -> &'a [f64],
    inverse: &[f32],
) {
    let range = chunk.range();
    range.enumerate().for_each(|(i, row)| {
        chunk.fill_row(isa, i, lambda_of(row), Decay::NONE, inverse);
    });
}

/// A number between 0 and 1.
fn unit(rng: &mut Rng) -> f64 {
    let x = 0.5 * rng.normal();
    x - x.floor()
}

/// Rows of words in f32 and f64, at the same scale.
struct Words {
    isa: Isa,
    n_topics: usize,
    rows: TopicRows,
    exact: Vec<f64>,
}

impl Words {
    /// Each word has a large lambda in few topics; every seventh was never seen.
    fn new(isa: Isa, n_words: usize, n_topics: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut lambda = vec![0.01; n_words * n_topics];
        for (w, row) in lambda.chunks_exact_mut(n_topics).enumerate() {
            if w % 7 == 6 {
                row.iter_mut().for_each(|x| *x += 0.02 * unit(&mut rng));
                continue;
            }
            row.iter_mut().for_each(|x| *x += 0.5 * unit(&mut rng));
            for _ in 0..1 + n_topics / 10 {
                let k = (unit(&mut rng) * n_topics as f64) as usize;
                row[k] += 50.0 * unit(&mut rng);
            }
        }
        Self::from_lambda(isa, n_topics, &lambda)
    }

    fn from_lambda(isa: Isa, n_topics: usize, lambda: &[f64]) -> Self {
        Self::stored(isa, RowFormat::Whole, n_topics, lambda)
    }

    fn stored(isa: Isa, format: RowFormat, n_topics: usize, lambda: &[f64]) -> Self {
        let n_words = lambda.len() / n_topics;
        let totals: Vec<f64> = (0..n_topics)
            .map(|k| 100.0 + lambda.iter().skip(k).step_by(n_topics).sum::<f64>())
            .collect();
        let mut inverse = vec![f32::NAN; pad_topics(n_topics)];
        inverse_totals(&totals, &mut inverse);
        let mut rows = TopicRows::default();
        rows.resize(n_words + 5, n_topics + 40, RowFormat::Whole);
        rows.resize(n_words, n_topics, format);
        for mut chunk in rows.chunks_mut(3) {
            fill(&mut chunk, isa, |w| &lambda[w * n_topics..][..n_topics], &inverse);
        }
        let exact = (0..lambda.len())
            .map(|i| {
                let scale = f64::from(rows.ln_scale()[i / n_topics]);
                (digamma(lambda[i]) - digamma(totals[i % n_topics]) - scale).exp()
            })
            .collect();
        Words { isa, n_topics, rows, exact }
    }
}

/// What a document comes to.
#[derive(Debug)]
struct Solved {
    gamma: Vec<f64>,
    theta: Vec<f64>,
    coef: Vec<f64>,
    iterations: u32,
}

impl Words {
    fn fast(&self, slots: &[u32], counts: &[f32], alpha: f32, settings: &Solve) -> Solved {
        self.fast_from(slots, counts, alpha, settings, None, &mut DocumentScratch::default())
    }

    fn fast_from(
        &self,
        slots: &[u32],
        counts: &[f32],
        alpha: f32,
        settings: &Solve,
        warm: Option<&[f32]>,
        scratch: &mut DocumentScratch,
    ) -> Solved {
        let (n, stride) = (self.n_topics, self.rows.stride());
        let mut alphas = vec![0.0; stride];
        alphas[..n].fill(alpha);
        let (mut gamma, mut theta) = (vec![f32::NAN; stride], vec![f32::NAN; stride]);
        let mut coef = vec![f32::NAN; slots.len()];
        let end = solve_document(
            self.isa, &self.rows, slots, counts, &alphas, settings, warm, scratch, &mut gamma,
            &mut theta, &mut coef,
        );
        assert!(gamma[n..].iter().chain(&theta[n..]).all(|&x| x == 0.0), "padding stays 0");
        let iterations = end.iterations;
        let scale = f64::from(end.ln_scale).exp();
        assert!((end.ln_scale < 0.0) == gamma.iter().all(|&g| g < 1.0), "{end:?}");
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (gamma, theta, coef) = (wide(&gamma[..n]), wide(&theta[..n]), wide(&coef));
        let all_finite = gamma.iter().chain(&theta).chain(&coef).all(|x| x.is_finite());
        assert!(all_finite, "{:?} {gamma:?} {theta:?} {coef:?}", self.isa);
        // As the twin has them.
        let theta = theta.iter().map(|x| x * scale).collect();
        let coef = coef.iter().map(|x| x / scale).collect();
        Solved { gamma, theta, coef, iterations }
    }

    fn exact(&self, slots: &[u32], counts: &[f32], alpha: f32, tol: f64, most: u32) -> Solved {
        let counts: Vec<f64> = counts.iter().map(|&x| f64::from(x)).collect();
        let alpha = vec![f64::from(alpha); self.n_topics];
        let (mut gamma, mut theta) = (alpha.clone(), alpha.clone());
        let mut coef = vec![f64::NAN; slots.len()];
        let iterations = solve_document_exact(
            &self.exact,
            slots,
            &counts,
            &alpha,
            tol,
            most,
            None,
            &mut vec![0.0; self.n_topics],
            &mut gamma,
            &mut theta,
            &mut coef,
        );
        Solved { gamma, theta, coef, iterations }
    }

    /// The document's part of the bound, divided by its words.
    fn bound(&self, slots: &[u32], counts: &[f32], alpha: f32, gamma: &[f64]) -> f64 {
        let (a, total) = (f64::from(alpha), gamma.iter().sum::<f64>());
        let logs: Vec<f64> = gamma.iter().map(|&g| digamma(g) - digamma(total)).collect();
        let mut bound = ln_gamma(a * gamma.len() as f64) - ln_gamma(total);
        for (&g, log) in gamma.iter().zip(&logs) {
            bound += (a - g) * log + ln_gamma(g) - ln_gamma(a);
        }
        let mut words = 0.0;
        for (&slot, &count) in slots.iter().zip(counts) {
            let row = &self.exact[slot as usize * self.n_topics..][..self.n_topics];
            let z: f64 = row.iter().zip(&logs).map(|(b, log)| b * log.exp()).sum();
            bound += f64::from(count) * z.ln();
            words += f64::from(count);
        }
        bound / words
    }
}

/// Words and their counts.
type Document = (Vec<u32>, Vec<f32>);

/// Any words.
fn document(rng: &mut Rng, length: usize, n_words: usize) -> Document {
    (0..length)
        .map(|_| {
            let count = 1.0 + (3.0 * unit(rng).powi(3)).floor();
            ((unit(rng) * n_words as f64) as u32, count as f32)
        })
        .unzip()
}

/// Sizes of the synthetic data: words, words that a topic owns, words of a document, topics. Few under Miri,
/// which takes a thousand times as long.
const WORDS: usize = if cfg!(miri) { 21 } else { 90 };
const OWNED: usize = if cfg!(miri) { 3 } else { 40 };
const LENGTH: usize = if cfg!(miri) { 12 } else { 150 };
const MANY_TOPICS: usize = if cfg!(miri) { 9 } else { 100 };

/// Plain iterations, as many as the twin does, end where the twin ends.
fn check_plain(isa: Isa, n_topics: usize, length: usize, iterations: u32, seed: u64) {
    let words = Words::new(isa, WORDS, n_topics, seed);
    let (slots, counts) = document(&mut rng(seed + 1), length, WORDS);
    let alpha = if seed.is_multiple_of(2) { 0.02 } else { 0.4 };
    let got = words.fast(&slots, &counts, alpha, &Solve::plain(0.0, iterations));
    let expected = words.exact(&slots, &counts, alpha, 0.0, iterations);
    assert_eq!(got.iterations, expected.iterations);
    let total: f64 = expected.gamma.iter().sum();
    for k in 0..n_topics {
        let (g, e) = (got.gamma[k], expected.gamma[k]);
        assert!((g - e).abs() < 2e-5 * total, "{isa:?} K={n_topics} W={length} {k}: {g} {e}");
        let (g, e) = (got.theta[k], expected.theta[k]);
        assert!((g - e).abs() < 1e-4 * total, "{isa:?} K={n_topics} W={length} {k}: {g} {e}");
    }
    for (g, e) in got.coef.iter().zip(&expected.coef) {
        assert!((g / e - 1.0).abs() < 1e-3, "{isa:?} K={n_topics} W={length}: coef {g} {e}");
    }
}

#[test]
fn plain_iterations_are_the_twins_at_every_size() {
    for isa in Isa::available() {
        for n_topics in sizes(1..=200) {
            check_plain(isa, n_topics, 21, 4, n_topics as u64);
        }
        for length in sizes(0..=67).chain(longer([128, 300])) {
            check_plain(isa, 20, length, 4, length as u64);
            longer([50]).for_each(|n_topics| check_plain(isa, n_topics, length, 4, length as u64));
        }
    }
}

// Miri has the sizes above; these take it hours.
#[cfg(not(miri))]
proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/proptest-regressions/topics.txt",
        ))),
        ..Default::default()
    })]

    #[test]
    fn plain_iterations_are_the_twins(n_topics in 1..=200usize, length in 0..300usize,
        iterations in 0..6u32, seed in 0..1000u64) {
        for isa in Isa::available() {
            check_plain(isa, n_topics, length, iterations, seed);
        }
    }
}

#[test]
fn rows_are_the_twins_at_every_size() {
    for isa in Isa::available() {
        for n_topics in sizes(1..=200) {
            let words = Words::new(isa, 15, n_topics, n_topics as u64);
            assert!(words.rows.values().as_ptr().addr().is_multiple_of(64));
            for w in 0..15 {
                let row = words.rows.row(w);
                let exact = &words.exact[w * n_topics..][..n_topics];
                for (k, (&b, &e)) in row.iter().zip(exact).enumerate() {
                    let (b, ok) = (f64::from(b), (f64::from(b) / e - 1.0).abs() < 3e-5);
                    assert!(ok || (b == 0.0 && e < 1.01e-20), "{isa:?} {n_topics} {w} {k} {b} {e}");
                }
                assert!(row[n_topics..].iter().all(|&b| b == 0.0), "padding is 0");
                let sum: f64 = exact.iter().sum();
                assert!((f64::from(words.rows.inverse_sums()[w]) * sum - 1.0).abs() < 3e-5);
                assert_eq!(words.rows.ln_scale()[w] < 0.0, w % 7 == 6);
            }
        }
    }
}

/// A word that all topics have forgotten still has a row that tells them apart.
#[test]
fn tiny_rows_are_scaled_up() {
    for isa in Isa::available() {
        let words = Words::from_lambda(isa, 3, &[0.01, 0.01, 0.0101, 1e-9, 1e-9, 1e-9]);
        assert!((words.rows.ln_scale()[0] + 100.0).abs() < 2.5);
        let row = words.rows.row(0);
        // digamma(0.0101) - digamma(0.01) is 0.99, and all totals are the same to 1e-6.
        assert!((row[2] / row[0] - 0.99f32.exp()).abs() < 0.02, "{row:?}");
        let inverse = words.rows.inverse_sums()[1];
        assert!(inverse > 0.0 && inverse.is_finite());
        let got = words.fast(&[0, 1, 0], &[1.0, 2.0, 1.0], 0.01, &Solve::default());
        assert!((got.gamma.iter().sum::<f64>() - 4.03).abs() < 1e-3, "{got:?}");
    }
}

#[test]
fn statistics_are_the_twins_at_every_size() {
    for isa in Isa::available() {
        let sizes = sizes(1..=200)
            .map(|k| (k, 5))
            .chain(sizes(0..=67).chain(longer([128, 300])).map(|n| (37, n)));
        for (n_topics, n_docs) in sizes {
            let mut rng = rng((n_topics * 1000 + n_docs) as u64);
            let stride = pad_topics(n_topics);
            let thetas: Vec<f32> = (0..20 * stride).map(|_| unit(&mut rng) as f32).collect();
            let row: Vec<f32> = (0..stride).map(|_| unit(&mut rng) as f32).collect();
            let docs: Vec<u32> = (0..n_docs).map(|_| (20.0 * unit(&mut rng)) as u32).collect();
            let coefs: Vec<f32> = (0..n_docs).map(|_| rng.normal() as f32).collect();
            let mut out = vec![1.0; n_topics];
            let found: Vec<Share> =
                docs.iter().zip(&coefs).map(|(&doc, &coef)| Share { doc, coef }).collect();
            let stored = Thetas::new(RowFormat::Whole, n_topics, thetas.chunks_exact(stride));
            let mut set = vec![f64::NAN; n_topics];
            gather_word(isa, &found, &stored, &row, true, &mut set);
            gather_word(isa, &found, &stored, &row, false, &mut out);
            let all: Vec<u32> = (0..n_topics as u32).collect();
            let list = |values| ThetaList { topics: &all, values };
            let lists: Vec<_> = thetas.chunks_exact(stride).map(|t| list(&t[..n_topics])).collect();
            let mut listed = vec![f64::NAN; n_topics];
            gather_word_of_lists(&found, &lists, RowFormat::Whole, &row, true, &mut listed);
            for (k, (&set, &listed)) in set.iter().zip(&listed).enumerate() {
                assert!(
                    (set - listed).abs() < 1e-4,
                    "{isa:?} {n_topics} {n_docs} {k}: {set} {listed}"
                );
            }
            for (&set, &added) in set.iter().zip(&out) {
                assert!((set - (added - 1.0)).abs() < 1e-12 * (1.0 + added.abs()) * 300.0);
            }
            for k in 0..n_topics {
                let (mut sum, mut size) = (0.0, 0.0);
                for (&d, &c) in docs.iter().zip(&coefs) {
                    let term = f64::from(c) * f64::from(thetas[d as usize * stride + k]);
                    sum += term * f64::from(row[k]);
                    size += term.abs() * f64::from(row[k]);
                }
                let error = (out[k] - 1.0 - sum).abs();
                assert!(error <= 4e-6 * size + 1e-15, "{isa:?} {n_topics} {n_docs} {k}: {error}");
            }
        }
    }
}

/// Each topic owns a stretch of the vocabulary.
fn made_lambda(rng: &mut Rng, n_topics: usize) -> Vec<f64> {
    (0..OWNED * n_topics * n_topics)
        .map(|i| {
            let own = i / n_topics / OWNED == i % n_topics;
            0.01 + if own { 20.0 } else { 1.0 } * unit(rng).powi(4)
        })
        .collect()
}

/// The rows of the synthetic corpus in pairs.
#[cfg(not(miri))]
fn made_pairs(isa: Isa, n_topics: usize) -> Words {
    Words::stored(isa, RowFormat::Pairs, n_topics, &made_lambda(&mut rng(9), n_topics))
}

/// Lambda of a synthetic corpus, and documents of two or three topics.
fn made_corpus(isa: Isa, n_topics: usize) -> (Words, Vec<Document>) {
    let mut rng = rng(9);
    let words = Words::from_lambda(isa, n_topics, &made_lambda(&mut rng, n_topics));
    let documents = (0..if cfg!(miri) { 1 } else { 100 })
        .map(|_| {
            let topics: Vec<usize> = (0..2 + (2.0 * unit(&mut rng)) as usize)
                .map(|_| (unit(&mut rng) * n_topics as f64) as usize)
                .collect();
            (0..LENGTH)
                .map(|i| {
                    let word = topics[i % topics.len()] * OWNED;
                    let word = word + (OWNED as f64 * unit(&mut rng)) as usize;
                    (word as u32, 1.0 + (2.0 * unit(&mut rng)).floor() as f32)
                })
                .unzip()
        })
        .collect();
    (words, documents)
}

/// Dropping topics changes no optimum. The other shortcuts may end in another of several, better or
/// worse by chance, but not worse on the whole.
#[test]
#[cfg_attr(miri, ignore = "three thousand documents")]
fn shortcuts_keep_the_bound() {
    let settings = Solve { tol: 1e-5, max_iterations: 1000, ..Solve::default() };
    let dropping = Solve { relax: 1.0, extrapolate_below: 0.0, ..settings };
    let batches = Solve { tol: 1e-5, max_iterations: 1000, ..Solve::of_batches() };
    for isa in Isa::available() {
        for n_topics in [7, 20, 60, 100, 300] {
            let (words, documents) = made_corpus(isa, n_topics);
            for alpha in [1.0 / n_topics as f32, 0.02, 0.1, 0.6] {
                let (mut lost, mut fewer) = ([0.0; 3], 0);
                for (slots, counts) in &documents {
                    let exact = words.exact(slots, counts, alpha, 1e-5, 1000);
                    let bound = |gamma: &[f64]| words.bound(slots, counts, alpha, gamma);
                    for (lost, settings) in lost.iter_mut().zip([dropping, settings, batches]) {
                        let got = words.fast(slots, counts, alpha, &settings);
                        *lost += (bound(&exact.gamma) - bound(&got.gamma)) / documents.len() as f64;
                        fewer += i64::from(exact.iterations) - i64::from(got.iterations);
                    }
                }
                println!("{isa:?} K={n_topics} alpha={alpha}: {lost:?} {fewer}");
                assert!(lost[0].abs() < 1e-4, "{isa:?} K={n_topics} alpha={alpha}: {lost:?}");
                assert!(lost[1] < 5e-4, "{isa:?} K={n_topics} alpha={alpha}: {lost:?}");
                assert!(lost[2] < 1e-3, "{isa:?} K={n_topics} alpha={alpha}: {lost:?}");
                assert!(fewer > 0, "shortcuts take no more iterations");
            }
        }
    }
}

/// A dropped topic has exactly alpha; the words' mass is all there.
#[test]
#[cfg_attr(miri, ignore = "needs a hundred topics")]
fn dropped_topics_end_at_alpha() {
    for isa in Isa::available() {
        let (words, documents) = made_corpus(isa, 100);
        for (slots, counts) in &documents {
            let got = words.fast(slots, counts, 0.01, &Solve::default());
            let dropped = got.gamma.iter().filter(|&&g| g == f64::from(0.01f32)).count();
            assert!(dropped > 50, "{dropped}");
            let mass: f64 = counts.iter().map(|&n| f64::from(n)).sum();
            assert!((got.gamma.iter().sum::<f64>() / (mass + 1.0) - 1.0).abs() < 1e-3);
            for (g, t) in got.gamma.iter().zip(&got.theta) {
                let expected = digamma(*g).exp();
                assert!((t - expected).abs() <= 1e-5 * expected + 1e-16, "{g} {t}");
            }
        }
    }
}

#[test]
fn odd_documents_are_solved() {
    const LONG: u32 = if cfg!(miri) { 20 } else { 40 };
    let most = if cfg!(miri) { 3 } else { 100 };
    for isa in Isa::available() {
        for n_topics in [1, 5].into_iter().chain(longer([33, 100])) {
            let words = Words::new(isa, WORDS, n_topics, 5);
            let many = document(&mut rng(8), if cfg!(miri) { 30 } else { 5000 }, WORDS);
            let cases: [(&str, Vec<u32>, Vec<f32>); 7] = [
                ("empty", vec![], vec![]),
                ("one word", vec![3], vec![1.0]),
                ("a word never seen", vec![6], vec![1.0]),
                ("tiny counts", (0..LONG).collect(), vec![1e-3; LONG as usize]),
                ("huge counts", (0..LONG).collect(), vec![1e6; LONG as usize]),
                (
                    "both",
                    (0..LONG).collect(),
                    (0..LONG).map(|i| [1e-3, 1e6][i as usize % 2]).collect(),
                ),
                ("long", many.0, many.1),
            ];
            for (name, slots, counts) in &cases {
                for alpha in [0.01, 0.3] {
                    let limited = Solve { max_iterations: most, ..Solve::default() };
                    for settings in [limited, Solve::plain(1e-3, most)] {
                        let got = words.fast(slots, counts, alpha, &settings);
                        let mass: f64 = counts.iter().map(|&n| f64::from(n)).sum();
                        let total = mass + f64::from(alpha) * n_topics as f64;
                        let sum: f64 = got.gamma.iter().sum();
                        assert!((sum / total - 1.0).abs() < 2e-2, "{isa:?} {name}: {sum} {total}");
                        assert!(got.gamma.iter().all(|&g| g >= f64::from(alpha)), "{name}");
                        assert_eq!(got.iterations == 0, slots.is_empty(), "{name}");
                    }
                }
            }
        }
    }
}

/// The bits are those of the arguments alone, whatever the scratch was used for before.
#[test]
fn scratch_leaves_no_trace() {
    for isa in Isa::available() {
        let (words, documents) = made_corpus(isa, MANY_TOPICS);
        let mut scratch = DocumentScratch::default();
        for settings in [Solve::default(), Solve::plain(1e-3, 30)] {
            for (i, (slots, counts)) in documents.iter().enumerate() {
                let (slots, counts) = (&slots[i % (LENGTH / 2)..], &counts[i % (LENGTH / 2)..]);
                let fresh = words.fast(slots, counts, 0.01, &settings);
                let used = words.fast_from(slots, counts, 0.01, &settings, None, &mut scratch);
                assert_eq!(format!("{fresh:?}"), format!("{used:?}"));
            }
        }
    }
}

#[test]
fn a_warm_start_stays_where_it_is() {
    for isa in Isa::available() {
        let cases = [(MANY_TOPICS, 0.01), (20, 0.05), (60, 0.3)];
        for (n_topics, alpha) in cases.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
            let (words, documents) = made_corpus(isa, n_topics);
            for (slots, counts) in &documents {
                let settings = Solve { tol: 1e-5, max_iterations: 1000, ..Solve::default() };
                let cold = words.fast(slots, counts, alpha, &settings);
                let mut start = vec![0.0; pad_topics(n_topics)];
                start.iter_mut().zip(&cold.gamma).for_each(|(s, &g)| *s = g as f32);
                let scratch = &mut DocumentScratch::default();
                let settings = Solve { tol: 1e-3, ..settings };
                let warm = words.fast_from(slots, counts, alpha, &settings, Some(&start), scratch);
                assert!(warm.iterations <= 2, "{} after {}", warm.iterations, cold.iterations);
                for (w, c) in warm.gamma.iter().zip(&cold.gamma) {
                    assert!((w - c).abs() < 0.05, "{isa:?} {w} {c}");
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "the queues of rayon (crossbeam-epoch) do not keep to Stacked Borrows")]
fn rows_can_be_filled_in_parallel_and_stored() {
    use rayon::prelude::*;
    let (n_words, n_topics) = (50, 21);
    let lambda: Vec<f64> = (0..n_words * n_topics).map(|i| 0.1 + (i % 17) as f64).collect();
    let mut inverse = vec![0.0; pad_topics(n_topics)];
    inverse_totals(&vec![300.0; n_topics], &mut inverse);
    let (mut one, mut many) = (TopicRows::default(), TopicRows::default());
    one.resize(n_words, n_topics, RowFormat::Whole);
    many.resize(n_words, n_topics, RowFormat::Whole);
    let isa = Isa::detect();
    let lambda_of = |w: usize| &lambda[w * n_topics..][..n_topics];
    one.chunks_mut(n_words).for_each(|mut chunk| fill(&mut chunk, isa, lambda_of, &inverse));
    many.par_chunks_mut(4).for_each(|mut chunk| fill(&mut chunk, isa, lambda_of, &inverse));
    assert_eq!((one.values(), one.inverse_sums()), (many.values(), many.inverse_sums()));
    let stored = serde_json::to_string(&one).unwrap();
    let read: TopicRows = serde_json::from_str(&stored).unwrap();
    assert_eq!((read.values(), read.n_topics(), read.n_rows()), (one.values(), n_topics, n_words));
}

/// Pairs hold the same rows, sums of statistics and documents as whole numbers do, to 8 bits.
#[test]
fn pairs_are_whole_rows_to_eight_bits() {
    for isa in Isa::available() {
        for n_topics in sizes(1..=200) {
            let mut rng = rng(n_topics as u64);
            let lambda: Vec<f64> =
                (0..15 * n_topics).map(|_| 0.01 + 30.0 * unit(&mut rng).powi(6)).collect();
            let whole = Words::from_lambda(isa, n_topics, &lambda);
            let pairs = Words::stored(isa, RowFormat::Pairs, n_topics, &lambda);
            assert_eq!(2 * pairs.rows.row_words(), whole.rows.row_words());
            for w in 0..15 {
                for k in 0..n_topics {
                    let (a, b) = (whole.rows.entry(w, k), pairs.rows.entry(w, k));
                    let ok = (b / a - 1.0).abs() < 0.0041 || (a < 1.01e-20 && b < 1.01e-20);
                    assert!(ok && b > 0.0, "{isa:?} {n_topics} {w} {k}: {a} {b}");
                }
                for k in n_topics..pad_topics(n_topics) {
                    assert_eq!(pairs.rows.entry(w, k).to_bits() & 0xffff_0000, 0, "padding is 0");
                }
            }
            let stride = pad_topics(n_topics);
            let mut thetas = vec![0.0; 6 * stride];
            for theta in thetas.chunks_exact_mut(stride) {
                theta[..n_topics].iter_mut().for_each(|x| *x = unit(&mut rng) as f32 + 0.01);
            }
            let mut halves = vec![0.0; 3 * stride];
            for (from, to) in thetas.chunks_exact(stride).zip(halves.chunks_exact_mut(stride / 2)) {
                RowFormat::Pairs.store(isa, from, to);
            }
            let found: Vec<Share> =
                (0..6).map(|doc| Share { doc, coef: 0.5 + unit(&mut rng) as f32 }).collect();
            let (mut a, mut b) = (vec![0.0; n_topics], vec![0.0; n_topics]);
            let stored = Thetas::new(RowFormat::Whole, n_topics, thetas.chunks_exact(stride));
            gather_word(isa, &found, &stored, whole.rows.row(0), true, &mut a);
            let stored = Thetas::new(RowFormat::Pairs, n_topics, halves.chunks_exact(stride / 2));
            gather_word(isa, &found, &stored, pairs.rows.row(0), true, &mut b);
            for (k, (a, b)) in a.iter().zip(&b).enumerate() {
                let ok = (b / a - 1.0).abs() < 0.009 || (*a < 1e-18 && *b < 1e-18);
                assert!(ok, "{isa:?} {n_topics} {k}: {a} {b}");
            }
        }
    }
}

/// Documents end where they do with whole rows, as far as the bound can tell.
#[test]
#[cfg(not(miri))]
fn documents_of_pairs_reach_the_bound_of_whole_rows() {
    for isa in Isa::available() {
        for n_topics in [20, 100, 150, 300] {
            let (whole, documents) = made_corpus(isa, n_topics);
            let pairs = made_pairs(isa, n_topics);
            let (mut lost, mut worst) = (0.0, 0.0f64);
            for (slots, counts) in &documents {
                let bound = |words: &Words| {
                    let solved = words.fast(slots, counts, 0.01, &Solve::default());
                    whole.bound(slots, counts, 0.01, &solved.gamma)
                };
                let less = bound(&whole) - bound(&pairs);
                lost += less / documents.len() as f64;
                worst = worst.max(less);
            }
            assert!(lost < 1e-3 && worst < 0.05, "{isa:?} K={n_topics}: {lost} {worst}");
        }
    }
}
