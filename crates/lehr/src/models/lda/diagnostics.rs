//! What is worth knowing of each topic before it is trusted: how wide, how much its own, which documents it is from.

use rayon::prelude::*;
use serde::Serialize;

use super::readout::{Best, best};
use super::{Lda, split_hyper};
use crate::compare::in_common;
use crate::data::Docs;
use crate::lambda::Lambda;

/// Topics that have more than this in common say the same twice.
pub const SAME: f64 = 0.8;

/// Documents whose topics are found at once.
const BLOCK: usize = 4096;

/// Documents that one worker gathers from at a time; part of the definition of the sums.
const CHUNK: usize = 512;

/// A topic by numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicDiagnostics {
    /// Its number, from 0.
    pub topic: usize,
    /// -sum_w p(w|k) ln p(w|k).
    pub entropy: f64,
    /// exp(entropy): this many words, all alike, would be as wide.
    pub effective_words: f64,
    /// The mean over its most probable words of p(w|k) / sum_j p(w|j): 1 if no other topic has them.
    pub exclusivity: f64,
    /// The topic that has most in common with it; none if it is alone.
    pub nearest: Option<usize>,
    /// sum_w min(p(w|k), p(w|j)) of that topic: 1 if both are the same.
    pub overlap: f64,
}

/// All topics by numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Of each topic.
    pub topics: Vec<TopicDiagnostics>,
    /// The share of different words among the most probable words of all topics.
    pub diversity: f64,
    /// Pairs of topics that overlap by more than [`SAME`].
    pub duplicates: Vec<(usize, usize)>,
}

/// The documents of a topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicDocuments {
    /// Its number, from 0.
    pub topic: usize,
    /// The documents that have most of it: number from 0, and share.
    pub top: Vec<(usize, f64)>,
    /// Its mean share of a document.
    pub mean_share: f64,
    /// exp of the entropy of its shares over documents: this many documents, all alike, would be as many.
    pub effective_documents: f64,
    /// Documents of which it is the largest topic.
    pub main: usize,
}

impl Lda {
    /// Looks at all topics by their first `n_words` words.
    pub fn diagnose(&self, lambda: &Lambda, n_words: usize) -> Diagnostics {
        let totals = self.topic_totals(lambda);
        let k = totals.len();
        // By topic, so that two of them are read side by side.
        let mut shares = self.components(lambda);
        let width = lambda.n_rows();
        shares.par_chunks_exact_mut(width).zip(&totals).for_each(|(share, total)| {
            share.iter_mut().for_each(|x| *x /= total);
        });
        let shares: Vec<&[f64]> = shares.chunks_exact(width).collect();
        let top: Vec<Vec<(usize, f64)>> =
            shares.par_iter().map(|p| best(p.len(), n_words, |w| p[w])).collect();
        let sum_of = |w: usize| shares.iter().map(|p| p[w]).sum::<f64>();
        let overlap = |a: usize, b: usize| in_common(shares[a], shares[b]);
        let entropies: Vec<f64> =
            shares.par_iter().map(|p| p.iter().map(|p| -p * p.ln()).sum()).collect();
        // Row a has the overlaps with all topics after a.
        let overlaps: Vec<Vec<f64>> =
            (0..k).into_par_iter().map(|a| (a + 1..k).map(|b| overlap(a, b)).collect()).collect();
        let of = |a: usize, b: usize| overlaps[a.min(b)][a.max(b) - a.min(b) - 1];
        let topics = (0..k).map(|topic| {
            let entropy = entropies[topic];
            let own = |&(w, p): &(usize, f64)| p / sum_of(w);
            let others = (0..k).filter(|&other| other != topic);
            let nearest =
                others.max_by(|&a, &b| of(topic, a).total_cmp(&of(topic, b)).then(b.cmp(&a)));
            TopicDiagnostics {
                topic,
                entropy,
                effective_words: entropy.exp(),
                exclusivity: top[topic].iter().map(own).sum::<f64>() / top[topic].len() as f64,
                nearest,
                overlap: nearest.map_or(0.0, |other| of(topic, other)),
            }
        });
        let mut words: Vec<usize> = top.iter().flatten().map(|&(w, _)| w).collect();
        let n_listed = words.len();
        words.sort_unstable();
        words.dedup();
        let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
        Diagnostics {
            topics: topics.collect(),
            diversity: words.len() as f64 / n_listed.max(1) as f64,
            duplicates: pairs.filter(|&(a, b)| of(a, b) > SAME).collect(),
        }
    }

    /// The documents of each topic, the `n` with most of it first; equals in their order.
    pub fn topic_documents(&self, lambda: &Lambda, docs: &Docs, n: usize) -> Vec<TopicDocuments> {
        let k = split_hyper(&lambda.hyper).1.len();
        let mut topics = vec![Gathered::default(); k];
        let mut theta = Vec::new();
        let mut reader = self.topic_reader(lambda, docs);
        for first in (0..docs.n_items()).step_by(BLOCK) {
            let items = first..(first + BLOCK).min(docs.n_items());
            theta.resize(items.len() * k, 0.0);
            reader.fill(items, true, &mut theta);
            let chunks = theta.par_chunks(CHUNK * k).enumerate();
            let parts: Vec<Vec<Gathered>> =
                chunks.map(|(at, theta)| gathered(first + at * CHUNK, theta, k, n)).collect();
            for part in parts {
                topics.iter_mut().zip(part).for_each(|(topic, part)| topic.append(part, n));
            }
        }
        let n_docs = docs.n_items().max(1) as f64;
        let told = topics.into_iter().enumerate().map(|(topic, found)| TopicDocuments {
            topic,
            mean_share: found.sum / n_docs,
            effective_documents: found.effective(),
            main: found.main,
            top: found.top.into_sorted(n),
        });
        told.collect()
    }
}

/// What is gathered of one topic, document by document.
#[derive(Clone, Default)]
struct Gathered {
    top: Best,
    sum: f64,
    /// sum x ln x of the shares.
    logs: f64,
    main: usize,
}

impl Gathered {
    #[inline]
    fn add(&mut self, document: usize, share: f64, n: usize) {
        self.sum += share;
        if share > 0.0 {
            self.logs += share * share.ln();
        }
        self.top.add(document, share, n);
    }

    /// Adds what was gathered of later documents.
    fn append(&mut self, later: Gathered, n: usize) {
        self.sum += later.sum;
        self.logs += later.logs;
        self.main += later.main;
        let mut found = later.top.into_sorted(n);
        found.sort_unstable_by_key(|&(document, _)| document);
        found.into_iter().for_each(|(document, share)| self.top.add(document, share, n));
    }

    /// With p = x / sum: exp(-sum p ln p) = exp(ln sum - sum x ln x / sum).
    fn effective(&self) -> f64 {
        if self.sum > 0.0 { (self.sum.ln() - self.logs / self.sum).exp() } else { 0.0 }
    }
}

/// What there is to gather of every topic in a row of K shares for each document from `first` on.
fn gathered(first: usize, theta: &[f64], k: usize, n: usize) -> Vec<Gathered> {
    let mut topics = vec![Gathered::default(); k];
    for (document, shares) in (first..).zip(theta.chunks_exact(k)) {
        topics[largest(shares)].main += 1;
        topics.iter_mut().zip(shares).for_each(|(topic, &share)| topic.add(document, share, n));
    }
    topics
}

/// Which number is the largest; the first of several.
fn largest(numbers: &[f64]) -> usize {
    let larger = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, larger)
}
