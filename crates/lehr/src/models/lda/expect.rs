//! What a document's local step reads: the rows of its words, and alpha.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Lda, split_hyper};
use crate::lambda::Lambda;
use crate::math::kernels::{Decay, RowFormat, TopicRows, inverse_totals, pad_topics};
use crate::math::special::digamma;
use crate::math::stop;
use crate::model::{Model, RowSet};

/// Rows that one worker fills at a time.
const CHUNK: usize = 64;

/// How many rows ahead lambda is asked for, since it seldom is in a cache.
const AHEAD: usize = 8;

/// The expectations of the words of a batch: exp(E[ln beta_kw]) by word, and alpha.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Expect {
    /// A row per slot.
    pub(super) rows: TopicRows,
    /// The same in f64 for the exact mode, K numbers per slot, each row up to a factor.
    pub(super) exact: Vec<f64>,
    /// ln of that factor.
    pub(super) exact_ln_scale: Vec<f64>,
    /// Alpha.
    pub(super) alpha: Vec<f64>,
    /// Alpha as the kernels want it, padded with 0.
    pub(super) alpha32: Vec<f32>,
    /// digamma(alpha), which most topics of a document have.
    pub(super) digamma_alpha: Vec<f64>,
}

impl Expect {
    /// exp(E[ln beta_kw]) of the word in a slot, for every topic k.
    pub fn word(&self, slot: usize) -> Vec<f64> {
        let n_topics = self.alpha.len();
        if self.exact.is_empty() {
            let scale = f64::from(self.rows.ln_scale()[slot]).exp();
            let entry = |topic| scale * f64::from(self.rows.entry(slot, topic));
            return (0..n_topics).map(entry).collect();
        }
        let scale = self.exact_ln_scale[slot].exp();
        self.exact[slot * n_topics..][..n_topics].iter().map(|b| scale * b).collect()
    }
}

/// Fills `expect` for the given rows of lambda.
pub(super) fn refresh(
    lda: &Lda,
    lambda: &Lambda,
    rows: &RowSet,
    format: RowFormat,
    expect: &mut Expect,
) {
    let (eta, alpha, _) = split_hyper(&lambda.hyper);
    let n_topics = lda.params.topics;
    expect.alpha = alpha.to_vec();
    expect.alpha32 = alpha.iter().map(|&a| a as f32).collect();
    expect.alpha32.resize(pad_topics(n_topics), 0.0);
    expect.digamma_alpha = alpha.iter().map(|&alpha| digamma(alpha)).collect();
    if lda.params.exact {
        return refresh_exact(lda, lambda, rows, &vec![eta; n_topics], expect);
    }
    let mut inverse = vec![0.0; pad_topics(n_topics)];
    inverse_totals(&lda.topic_totals(lambda), &mut inverse);
    expect.rows.resize(rows.len(), n_topics, format);
    expect.rows.par_chunks_mut(CHUNK).for_each(|mut chunk| {
        stop::check();
        // Rows of the next chunk too, which the same thread most often takes.
        let last = rows.len() - 1;
        for slot in chunk.range().take(AHEAD) {
            lambda.prefetch(rows.row(slot));
        }
        for (i, slot) in chunk.range().enumerate() {
            lambda.prefetch(rows.row((slot + AHEAD).min(last)));
            if lda.adds_to(rows.row(slot)) {
                let (prior, mut row) = (vec![eta; n_topics], vec![0.0; n_topics]);
                lda.read_word(lambda, rows.row(slot), &prior, &mut row);
                chunk.fill_row(lda.isa, i, &row, Decay { p: 1.0, eta }, &inverse);
                continue;
            }
            let (stored, p) = lambda.stored(rows.row(slot));
            chunk.fill_row(lda.isa, i, stored, Decay { p, eta }, &inverse);
        }
    });
}

fn refresh_exact(lda: &Lda, lambda: &Lambda, rows: &RowSet, prior: &[f64], expect: &mut Expect) {
    let n_topics = lda.layout().width;
    let totals = lda.topic_totals(lambda);
    let totals: Vec<f64> = totals.iter().map(|&total| digamma(total)).collect();
    expect.exact.resize(rows.len() * n_topics, 0.0);
    expect.exact_ln_scale.resize(rows.len(), 0.0);
    let out = expect.exact.par_chunks_mut(n_topics).zip(&mut expect.exact_ln_scale);
    out.enumerate().for_each(|(slot, (row, ln_scale))| {
        stop::check();
        lda.read_word(lambda, rows.row(slot), prior, row);
        row.iter_mut().zip(&totals).for_each(|(x, total)| *x = digamma(*x) - total);
        // Up to a factor, so that words which no topic has seen do not vanish altogether.
        *ln_scale = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().for_each(|x| *x = (*x - *ln_scale).exp());
    });
}
