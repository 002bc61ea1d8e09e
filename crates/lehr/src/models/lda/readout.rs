//! The topics for people: how large they are, their words, and how well those go together.

use rayon::prelude::*;

use super::{Lda, split_hyper};
use crate::lambda::Lambda;
use crate::math::special::digamma;
use crate::math::table::Table;

/// A topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// Its number, from 0.
    pub topic: usize,
    /// Its share of all words.
    pub share: f64,
    /// Its alpha.
    pub alpha: f64,
    /// Its most probable words: word and probability.
    pub by_probability: Vec<(usize, f64)>,
    /// Its most relevant words: those that are probable and more so than elsewhere.
    pub by_relevance: Vec<(usize, f64)>,
}

impl Lda {
    /// All topics, the largest first, with `top` words each. Relevance is
    /// `weight * ln p(w | k) + (1 - weight) * ln(p(w | k) / p(w))` (Sievert and Shirley, 2014), with p(w) of the
    /// [training documents](Lda::frequencies).
    pub fn topics(&self, lambda: &Lambda, top: usize, weight: f64) -> Vec<Topic> {
        let (eta, alpha, _) = split_hyper(&lambda.hyper);
        let parameters = self.components(lambda);
        let totals = self.topic_totals(lambda);
        let n_words = lambda.n_rows();
        // What the prior has of the words is not theirs.
        let excess = |k: usize| (lambda.totals()[k] - n_words as f64 * eta).max(0.0);
        let all: f64 = (0..totals.len()).map(excess).sum();
        let mut usual = self.frequencies();
        usual.iter_mut().for_each(|share| *share = (1.0 - weight) * share.ln());
        let mut topics: Vec<Topic> = (0..totals.len())
            .into_par_iter()
            .map(|k| {
                let own = &parameters[k * n_words..][..n_words];
                let p = |w: usize| own[w] / totals[k];
                let relevance = |w: usize| p(w).ln() - usual[w];
                Topic {
                    topic: k,
                    share: if all > 0.0 { excess(k) / all } else { 0.0 },
                    alpha: alpha[k],
                    by_probability: best(n_words, top, p),
                    by_relevance: best(n_words, top, relevance),
                }
            })
            .collect();
        topics.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.topic.cmp(&b.topic)));
        topics
    }

    /// The `n` most probable words of each topic, in the order of the topics' numbers.
    pub fn first_words(&self, lambda: &Lambda, n: usize) -> Vec<Vec<usize>> {
        let parameters = self.components(lambda);
        let first = |own: &[f64]| best(own.len(), n, |w| own[w]).iter().map(|&(w, _)| w).collect();
        parameters.par_chunks_exact(lambda.n_rows()).map(first).collect()
    }
}

impl Lda {
    /// The share that each word has of all words of the training documents. A word that they lack counts as the rarest
    /// of those that they have.
    ///
    /// The mean of the topics is no measure of it: what the prior adds to each of many topics can outweigh the documents.
    pub fn frequencies(&self) -> Vec<f64> {
        let there = || self.word_counts.iter().copied().filter(|&count| count > 0.0);
        let rarest = there().reduce(f64::min).unwrap_or(1.0);
        let tokens = there().sum::<f64>().max(rarest);
        self.word_counts.iter().map(|count| count.max(rarest) / tokens).collect()
    }

    /// The parameters of all topics, a row for each word: lambda, and what seed words add to it.
    pub(super) fn full(&self, lambda: &Lambda) -> Table {
        let (eta, ..) = split_hyper(&lambda.hyper);
        let mut table = lambda.current(|_, row| row.fill(eta));
        if self.word_prior.is_some() {
            for w in 0..table.n_rows() {
                let more = self.more_of(w);
                table.row_mut(w).iter_mut().for_each(|x| *x += more);
            }
        }
        let added = self.seed_prior.as_ref().map_or(&[][..], |seeds| &seeds.added);
        added.iter().for_each(|&(w, k, c)| table.row_mut(w as usize)[k as usize] += c);
        table
    }

    /// lambda topic by topic: K rows of V numbers, the parameters of the topics' Dirichlet distributions.
    pub fn components(&self, lambda: &Lambda) -> Vec<f64> {
        by_topic(self, lambda, |x, _| x)
    }

    /// exp(E[ln beta_kw]) topic by topic, K rows of V numbers.
    pub fn expected_topics(&self, lambda: &Lambda) -> Vec<f64> {
        let totals = self.topic_totals(lambda);
        let digamma_totals: Vec<f64> = totals.iter().map(|&x| digamma(x)).collect();
        by_topic(self, lambda, |x, k| (digamma(x) - digamma_totals[k]).exp())
    }
}

/// `of(lambda_kw, k)` as K rows of V numbers.
fn by_topic(lda: &Lda, lambda: &Lambda, of: impl Fn(f64, usize) -> f64 + Sync) -> Vec<f64> {
    let table = lda.full(lambda);
    let mut out = vec![0.0; table.n_rows() * table.width()];
    out.par_chunks_mut(table.n_rows()).enumerate().for_each(|(k, row)| {
        row.iter_mut().enumerate().for_each(|(w, x)| *x = of(table.row(w)[k], k));
    });
    out
}

/// The `top` words with the largest values.
pub(super) fn best(n_words: usize, top: usize, value: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
    let mut found = Best::default();
    (0..n_words).for_each(|w| found.add(w, value(w), top));
    found.into_sorted(top)
}

/// The things with the largest values, of many that come in order; of equal ones the first.
#[derive(Debug, Clone, Default)]
pub(super) struct Best {
    /// At most twice as many as are wanted.
    kept: Vec<(usize, f64)>,
    /// What one needs to exceed to be among them.
    least: Option<f64>,
}

impl Best {
    /// Adds a thing with a higher number than those before; `n` are wanted.
    #[inline]
    pub(super) fn add(&mut self, number: usize, value: f64, n: usize) {
        if n > 0 && self.least.is_none_or(|least| value > least) {
            self.kept.push((number, value));
            if self.kept.len() >= 2 * n {
                self.cut(n);
            }
        }
    }

    fn cut(&mut self, n: usize) {
        self.kept.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.kept.truncate(n);
        if self.kept.len() == n {
            self.least = self.kept.last().map(|&(_, value)| value);
        }
    }

    /// The largest first.
    pub(super) fn into_sorted(mut self, n: usize) -> Vec<(usize, f64)> {
        self.cut(n);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Docs;
    use crate::fit::State;
    use crate::models::LdaParams;

    #[test]
    fn topics_are_lambda_turned_round_and_their_expectations_those_of_a_dirichlet() {
        let docs = Docs::from_rows(vec![vec![(0, 2.0), (2, 1.0)], vec![(1, 1.0)]], 3).unwrap();
        let lda = Lda::new(LdaParams::new(2), &docs).unwrap();
        let lambda = State::start(&lda, &docs, 1, 0).unwrap().lambda;
        let (components, expected) = (lda.components(&lambda), lda.expected_topics(&lambda));
        for k in 0..2 {
            let total: f64 = components[3 * k..3 * k + 3].iter().sum();
            for w in 0..3 {
                let x = components[3 * k + w];
                assert_eq!(x, lambda.table().row(w)[k]);
                let found = expected[3 * k + w];
                assert!((found.ln() - digamma(x) + digamma(total)).abs() < 1e-12);
            }
        }
    }
}
