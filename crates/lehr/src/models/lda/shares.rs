//! The expected topics of documents, block after block.

use std::ops::Range;

use rayon::prelude::*;

use super::{Expect, Lda, Rounded, Scratch};
use crate::data::Docs;
use crate::lambda::Lambda;
use crate::math::stop;
use crate::model::{Dataset, Model, RowSet};

/// Documents whose words' expectations are held at once.
const WAVE: usize = 4096;

/// Reads the topics of documents. What blocks of them have in common is computed once.
pub struct TopicReader<'a> {
    lda: &'a Lda,
    lambda: &'a Lambda,
    docs: &'a Docs,
    rows: RowSet,
    expect: Expect,
    /// Whether the expectations are those of all words. Of several waves each has most of them, and all take less
    /// memory than lambda.
    whole: bool,
}

impl Lda {
    /// A reader of these documents' topics.
    pub fn topic_reader<'a>(&'a self, lambda: &'a Lambda, docs: &'a Docs) -> TopicReader<'a> {
        let rows = RowSet::all(lambda.n_rows());
        let mut expect = Expect::default();
        let whole = docs.n_items() > WAVE;
        if whole {
            self.refresh(lambda, &rows, &mut expect);
        }
        TopicReader { lda: self, lambda, docs, rows, expect, whole }
    }

    /// Each document's expected topics, one row of K shares each.
    pub fn transform(&self, lambda: &Lambda, docs: &Docs) -> Vec<f64> {
        let mut out = vec![0.0; docs.n_items() * self.params.topics];
        self.topic_reader(lambda, docs).fill(0..docs.n_items(), true, &mut out);
        out
    }

    /// gamma of each document, one row of K numbers each: the parameters of q(theta).
    pub fn gamma(&self, lambda: &Lambda, docs: &Docs) -> Vec<f64> {
        let mut out = vec![0.0; docs.n_items() * self.params.topics];
        self.topic_reader(lambda, docs).fill(0..docs.n_items(), false, &mut out);
        out
    }
}

impl TopicReader<'_> {
    /// The expected topics of some documents, K numbers each: their `shares`, or gamma; as f64 or rounded to f32.
    pub fn fill<T: Rounded>(&mut self, items: Range<usize>, shares: bool, out: &mut [T]) {
        let (lda, docs, k, begin) = (self.lda, self.docs, self.lda.params.topics, items.start);
        self.for_waves(items, |items, rows, expect| {
            let first = (items[0] as usize - begin) * k;
            out[first..first + items.len() * k].par_chunks_mut(k).zip(items).for_each_init(
                Scratch::default,
                |scratch, (out, &n)| {
                    stop::check();
                    let doc = docs.doc(n as usize).iter();
                    scratch.load(doc.map(|e| (rows.slot(e.word as usize), e.count)));
                    lda.solve_one(expect, true, &[], scratch);
                    let gamma = lda.gamma_of_one(expect, scratch);
                    let total: f64 = if shares { gamma.iter().sum() } else { 1.0 };
                    out.iter_mut().zip(gamma).for_each(|(out, g)| *out = T::rounded(g / total));
                },
            );
        });
    }

    /// Runs `work` on some documents, a wave at a time, with the expectations of their words.
    pub(super) fn for_waves(
        &mut self,
        items: Range<usize>,
        mut work: impl FnMut(&[u32], &RowSet, &Expect),
    ) {
        for first in items.clone().step_by(WAVE) {
            let items: Vec<u32> =
                (first..items.end.min(first + WAVE)).map(|item| item as u32).collect();
            if !self.whole {
                self.lda.support(self.docs, &items, &mut self.rows);
                self.lda.refresh(self.lambda, &self.rows, &mut self.expect);
            }
            work(&items, &self.rows, &self.expect);
            Dataset::release(self.docs, items.len());
        }
    }
}
