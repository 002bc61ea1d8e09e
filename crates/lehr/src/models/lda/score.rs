//! How well topics explain documents they were not fitted to: three numbers that can disagree, and a
//! baseline that knows no topics.

use rayon::prelude::*;
use serde::Serialize;

use super::{Expect, Lda, Scratch, bound, split_hyper};
use crate::data::{Docs, Entry};
use crate::lambda::Lambda;
use crate::math::stop;
use crate::model::RowSet;

/// Documents that one worker scores at a time; part of the definition of the sums.
const CHUNK: usize = 32;

/// Scores of documents, in nats per word; higher is better. A perplexity is exp(-score).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DocScores {
    /// How many documents.
    pub documents: usize,
    /// Their words, each as often as it occurs.
    pub tokens: f64,
    /// The documents' parts of the bound: how well the topics explain them when gamma may look at
    /// every word. The paper's number; it leaves out what the topics themselves cost.
    pub local: f64,
    /// The bound of a corpus of the training corpus' size that looks like these documents, topics
    /// included.
    pub full: f64,
    /// Every other word of a document is given, the rest is predicted from them: the probability
    /// of words that gamma has not seen. No bound in it.
    pub completion: f64,
    /// The same words predicted from their frequency in the training documents alone.
    pub unigram: f64,
    /// How many words were predicted.
    pub predicted: f64,
}

/// A number as results hold it.
pub trait Rounded: Send {
    /// The nearest to `x`.
    fn rounded(x: f64) -> Self;
}

impl Rounded for f64 {
    fn rounded(x: f64) -> Self {
        x
    }
}

impl Rounded for f32 {
    fn rounded(x: f64) -> Self {
        x as f32
    }
}

#[derive(Default, Clone, Copy)]
struct Sums {
    local: f64,
    tokens: f64,
    completion: f64,
    unigram: f64,
    predicted: f64,
}

impl Lda {
    /// Scores documents, `population` being the number that the model was fitted to. Local steps go
    /// on until gamma changes by less than 1e-5 on average.
    pub fn score_docs(&self, lambda: &Lambda, docs: &Docs, population: usize) -> DocScores {
        let mut sums = Sums::default();
        let totals = self.topic_totals(lambda);
        let mut reader = self.topic_reader(lambda, docs);
        reader.for_waves(0..docs.n_items(), |items, rows, expect| {
            let parts: Vec<Sums> = items
                .par_chunks(CHUNK)
                .map_init(
                    || (Scratch::default(), vec![0.0; self.params.topics]),
                    |(scratch, row), items| {
                        let mut sums = Sums::default();
                        for &n in items {
                            stop::check();
                            let doc = docs.doc(n as usize);
                            self.add_scores(
                                (lambda, &totals),
                                rows,
                                expect,
                                doc,
                                scratch,
                                row,
                                &mut sums,
                            );
                        }
                        sums
                    },
                )
                .collect();
            for part in parts {
                sums.local += part.local;
                sums.tokens += part.tokens;
                sums.completion += part.completion;
                sums.unigram += part.unigram;
                sums.predicted += part.predicted;
            }
        });
        let share = population as f64 / docs.n_items().max(1) as f64;
        let global = bound::of_topics(self, lambda);
        DocScores {
            documents: docs.n_items(),
            tokens: sums.tokens,
            local: sums.local / sums.tokens,
            full: (share * sums.local + global) / (share * sums.tokens),
            completion: sums.completion / sums.predicted,
            unigram: sums.unigram / sums.predicted,
            predicted: sums.predicted,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_scores(
        &self,
        (lambda, totals): (&Lambda, &[f64]),
        rows: &RowSet,
        expect: &Expect,
        doc: &[Entry],
        scratch: &mut Scratch,
        row: &mut [f64],
        sums: &mut Sums,
    ) {
        let slot = |entry: &Entry| rows.slot(entry.word as usize);
        scratch.load(doc.iter().map(|e| (slot(e), e.count)));
        self.solve_one(expect, true, &[], scratch);
        sums.local += self.bound_of_one(expect, scratch);
        sums.tokens += doc.iter().map(|e| f64::from(e.count)).sum::<f64>();

        let (given, hidden) = halves(doc);
        scratch.load(
            doc.iter().zip(&given).filter(|(_, n)| **n > 0.0).map(|(e, n)| (slot(e), *n as f32)),
        );
        self.solve_one(expect, true, &[], scratch);
        let gamma = self.gamma_of_one(expect, scratch);
        let total: f64 = gamma.iter().sum();
        let (eta, ..) = split_hyper(&lambda.hyper);
        let prior = vec![eta; row.len()];
        let (tokens, n_words) = (self.tokens(), self.word_counts.len() as f64);
        for (entry, &n) in doc.iter().zip(&hidden).filter(|(_, n)| **n > 0.0) {
            self.read_word(lambda, entry.word as usize, &prior, row);
            let expected = row.iter().zip(totals).zip(gamma);
            let p: f64 = expected.map(|((x, all), gamma)| gamma / total * x / all).sum();
            let count = self.word_counts[entry.word as usize];
            let unigram = (count + eta) / (tokens + n_words * eta);
            sums.completion += n * p.ln();
            sums.unigram += n * unigram.ln();
            sums.predicted += n;
        }
    }
}

/// Cuts a document's words, in order of the vocabulary, into every other one: the first, third, ...
/// and the second, fourth, ... A fraction of a word is cut in half.
fn halves(doc: &[Entry]) -> (Vec<f64>, Vec<f64>) {
    let mut first_is_given = true;
    doc.iter()
        .map(|entry| {
            let count = f64::from(entry.count);
            if count.fract() != 0.0 {
                return (0.5 * count, 0.5 * count);
            }
            let half = (0.5 * count).floor();
            if count == 2.0 * half {
                return (half, half);
            }
            let given = if first_is_given { half + 1.0 } else { half };
            first_is_given = !first_is_given;
            (given, count - given)
        })
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_cut_into_every_other_word() {
        let doc = |counts: &[f32]| -> Vec<Entry> {
            counts.iter().enumerate().map(|(w, &count)| Entry { word: w as u32, count }).collect()
        };
        assert_eq!(halves(&doc(&[1.0, 1.0, 3.0])), (vec![1.0, 0.0, 2.0], vec![0.0, 1.0, 1.0]));
        assert_eq!(halves(&doc(&[2.0, 1.0, 1.0])), (vec![1.0, 1.0, 0.0], vec![1.0, 0.0, 1.0]));
        assert_eq!(halves(&doc(&[0.5, 1.0])), (vec![0.25, 1.0], vec![0.25, 0.0]));
    }
}
