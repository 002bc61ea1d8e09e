//! What is worth knowing of each topic before it is trusted: how wide, how much its own, which documents it is from.

use rayon::prelude::*;
use serde::Serialize;

use super::readout::best;
use super::{Lda, split_hyper};
use crate::data::Docs;
use crate::lambda::Lambda;

/// Topics that have more than this in common say the same twice.
pub const SAME: f64 = 0.8;

/// Documents whose topics are found at once.
const BLOCK: usize = 4096;

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
        let table = self.full(lambda);
        let totals = self.topic_totals(lambda);
        let k = totals.len();
        // By topic, so that two of them are read side by side.
        let shares: Vec<Vec<f64>> = (0..k)
            .into_par_iter()
            .map(|k| table.rows().map(|row| row[k] / totals[k]).collect())
            .collect();
        let sums: Vec<f64> =
            table.rows().map(|row| row.iter().zip(&totals).map(|(x, all)| x / all).sum()).collect();
        let top: Vec<Vec<(usize, f64)>> =
            shares.par_iter().map(|p| best(p.len(), n_words, |w| p[w])).collect();
        let overlap = |a: usize, b: usize| -> f64 {
            shares[a].iter().zip(&shares[b]).map(|(a, b)| a.min(*b)).sum()
        };
        // Row a has the overlaps with all topics after a.
        let overlaps: Vec<Vec<f64>> =
            (0..k).into_par_iter().map(|a| (a + 1..k).map(|b| overlap(a, b)).collect()).collect();
        let of = |a: usize, b: usize| overlaps[a.min(b)][a.max(b) - a.min(b) - 1];
        let topics = (0..k).map(|topic| {
            let entropy: f64 = shares[topic].iter().map(|p| -p * p.ln()).sum();
            let own = |&(w, p): &(usize, f64)| p / sums[w];
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
        for first in (0..docs.n_items()).step_by(BLOCK) {
            let items = first..(first + BLOCK).min(docs.n_items());
            theta.resize(items.len() * k, 0.0);
            self.fill_topics(lambda, docs, items.clone(), true, &mut theta);
            let main: Vec<usize> = theta.par_chunks_exact(k).map(largest).collect();
            topics.par_iter_mut().enumerate().for_each(|(topic, gathered)| {
                for (i, document) in items.clone().enumerate() {
                    gathered.add(document, theta[i * k + topic], n);
                    gathered.main += usize::from(main[i] == topic);
                }
            });
        }
        let n_docs = docs.n_items().max(1) as f64;
        let told = topics.into_iter().enumerate().map(|(topic, found)| TopicDocuments {
            topic,
            mean_share: found.sum / n_docs,
            effective_documents: found.effective(),
            main: found.main,
            top: found.best(n),
        });
        told.collect()
    }
}

/// What is gathered of one topic, document by document.
#[derive(Clone, Default)]
struct Gathered {
    /// At most twice as many as are wanted.
    top: Vec<(usize, f64)>,
    /// What a document needs to be among them.
    least: f64,
    sum: f64,
    /// sum x ln x of the shares.
    logs: f64,
    main: usize,
}

impl Gathered {
    fn add(&mut self, document: usize, share: f64, n: usize) {
        self.sum += share;
        if share > 0.0 {
            self.logs += share * share.ln();
        }
        if n > 0 && (self.top.len() < n || share > self.least) {
            self.top.push((document, share));
            if self.top.len() >= 2 * n {
                self.cut(n);
            }
        }
    }

    fn cut(&mut self, n: usize) {
        self.top.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.top.truncate(n);
        if self.top.len() == n {
            self.least = self.top.last().map_or(0.0, |&(_, share)| share);
        }
    }

    /// With p = x / sum: exp(-sum p ln p) = exp(ln sum - sum x ln x / sum).
    fn effective(&self) -> f64 {
        if self.sum > 0.0 { (self.sum.ln() - self.logs / self.sum).exp() } else { 0.0 }
    }

    fn best(mut self, n: usize) -> Vec<(usize, f64)> {
        self.cut(n);
        self.top
    }
}

/// Which number is the largest; the first of several.
fn largest(numbers: &[f64]) -> usize {
    let larger = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, larger)
}
