//! The words of topics: how probable, how relevant at any weight, and what scripts need to rank them again.

use lehr::models::lda::Lda;
use lehr::store::Run;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

/// Words of a topic in the tables, at this weight of plain probability; and in those that scripts make.
const SHOWN: usize = 10;
const WEIGHT: f64 = 0.6;
const RANKED: usize = 30;
/// Weights at which the words that scripts rank are the best of the whole vocabulary.
const WEIGHTS: usize = 11;

/// The probabilities of all words.
pub struct Words {
    /// How many topics.
    pub k: usize,
    n_words: usize,
    /// p(w | k), topic by topic.
    probable: Vec<f64>,
    /// p(w) in the training documents.
    corpus: Vec<f64>,
    names: Vec<String>,
}

/// A row of the table of a topic's words.
#[derive(Debug, Clone, Serialize)]
pub struct WordRow {
    /// The word.
    pub word: String,
    /// Its probability in the topic, in percent.
    probability: String,
    /// Its probability in the corpus, in percent.
    corpus: String,
    /// The widths of the two bars, in percent of the table's longest.
    bar: String,
    bar_of_corpus: String,
    /// The two probabilities.
    #[serde(skip)]
    pub p: f64,
    #[serde(skip)]
    pub q: f64,
}

impl Words {
    /// Of a run.
    pub fn of(run: &Run<Lda>) -> Self {
        let n_words = run.config.frozen.words;
        let mut probable = run.model.components(run.lambda());
        let k = probable.len() / n_words.max(1);
        for row in probable.chunks_exact_mut(n_words.max(1)) {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x /= total);
        }
        let names = (0..n_words).map(|w| run.model.vocabulary().show(w)).collect();
        Words { k, n_words, probable, corpus: run.model.frequencies(), names }
    }

    /// p(w | k) of all words.
    pub fn topic(&self, k: usize) -> &[f64] {
        &self.probable[k * self.n_words..][..self.n_words]
    }

    /// The roots of these, whose dot products say how similar topics are.
    pub fn root(&self, k: usize) -> Vec<f32> {
        self.topic(k).iter().map(|p| p.sqrt() as f32).collect()
    }

    /// A word's name.
    pub fn name(&self, word: usize) -> &str {
        &self.names[word]
    }

    /// The word of a name.
    pub fn numbers(&self) -> std::collections::HashMap<&str, usize> {
        self.names.iter().enumerate().map(|(w, name)| (name.as_str(), w)).collect()
    }

    fn relevance(&self, k: usize, w: usize, weight: f64) -> f64 {
        self.topic(k)[w].ln() - (1.0 - weight) * self.corpus[w].ln()
    }

    fn best(&self, k: usize, weight: f64, top: usize) -> Vec<usize> {
        let score: Vec<f64> = (0..self.n_words).map(|w| self.relevance(k, w, weight)).collect();
        let order = |a: &usize, b: &usize| score[*b].total_cmp(&score[*a]).then(a.cmp(b));
        let mut words: Vec<usize> = (0..self.n_words).collect();
        let top = top.min(self.n_words);
        if top < self.n_words && top > 0 {
            words.select_nth_unstable_by(top - 1, order);
        }
        words.truncate(top);
        words.sort_by(order);
        words
    }

    /// For each topic the words that are among the most relevant at some weight, in the order of their numbers.
    pub fn relevant(&self) -> Vec<Vec<usize>> {
        let of_topic = |k: usize| {
            let weight = |at: usize| at as f64 / (WEIGHTS - 1) as f64;
            let mut words: Vec<usize> =
                (0..WEIGHTS).flat_map(|at| self.best(k, weight(at), RANKED)).collect();
            words.sort_unstable();
            words.dedup();
            words
        };
        (0..self.k).into_par_iter().map(of_topic).collect()
    }

    /// The table of a topic's words, of those that are `relevant` at some weight.
    pub fn rows(&self, k: usize, relevant: &[usize]) -> Vec<WordRow> {
        let mut words = relevant.to_vec();
        words.sort_by(|&a, &b| {
            self.relevance(k, b, WEIGHT).total_cmp(&self.relevance(k, a, WEIGHT)).then(a.cmp(&b))
        });
        words.truncate(SHOWN);
        let p = self.topic(k);
        let longest = words.iter().fold(1e-300_f64, |most, &w| most.max(p[w]).max(self.corpus[w]));
        let percent = |x: f64| lehr_plot::caption::rounded(100.0 * x, 3);
        let width = |x: f64| format!("{:.0}", (100.0 * x / longest).ceil());
        let row = |&w: &usize| WordRow {
            word: self.names[w].clone(),
            probability: percent(p[w]),
            corpus: percent(self.corpus[w]),
            bar: width(p[w]),
            bar_of_corpus: width(self.corpus[w]),
            p: p[w],
            q: self.corpus[w],
        };
        words.iter().map(row).collect()
    }

    /// How much of these words, each with its probability in a topic, is that topic's: the mean of p(w | k) over its sum over all topics.
    pub fn exclusivity(&self, words: &[(usize, f64)]) -> f64 {
        let own =
            |&(w, p): &(usize, f64)| p / (0..self.k).map(|other| self.topic(other)[w]).sum::<f64>();
        words.iter().map(own).sum::<f64>() / words.len().max(1) as f64
    }

    /// What scripts rank words by: -10,000 ln p, rounded, which keeps four digits of p, for words that some topic has among its most relevant.
    pub fn data(&self, relevant: &[Vec<usize>]) -> Value {
        let mut listed: Vec<usize> = relevant.concat();
        listed.sort_unstable();
        listed.dedup();
        let mut place = vec![0; self.n_words];
        listed.iter().enumerate().for_each(|(at, &w)| place[w] = at);
        let nats = |p: f64| (-10_000.0 * p.ln()).round() as i64;
        let names: Vec<&str> = listed.iter().map(|&w| self.name(w)).collect();
        let corpus: Vec<i64> = listed.iter().map(|&w| nats(self.corpus[w])).collect();
        let topics: Vec<Value> = relevant
            .iter()
            .enumerate()
            .map(|(k, words)| {
                let own: Vec<usize> = words.iter().map(|&w| place[w]).collect();
                let p: Vec<i64> = words.iter().map(|&w| nats(self.topic(k)[w])).collect();
                json!([own, p])
            })
            .collect();
        json!({ "names": names, "corpus": corpus, "topics": topics, "shown": RANKED, "vocabulary": self.n_words })
    }
}
