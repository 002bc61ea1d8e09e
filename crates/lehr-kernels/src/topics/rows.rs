//! The table of rows: for each word of a batch the expected probability under every topic.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::pad_topics;
use crate::Isa;
use crate::digamma::{four_reciprocals, shifted_exp_digamma32};
use crate::dispatch;
use crate::lanes32::{Lanes32, Narrow};
use crate::special::digamma;

/// Entries below this are 0, so that no product with a [`theta`](super::solve_document) is denormal.
pub(super) const SMALLEST_ENTRY: f32 = 1e-20;

/// Rows whose largest lambda is below this are scaled up: exp(digamma(0.2)) is 0.005.
const RESCALE_BELOW: f64 = 0.2;

/// A cache line, which makes the table aligned to one.
#[derive(Debug, Clone, Copy, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// One row per word: `b[k] = exp(digamma(lambda[k]) - digamma(total[k]) - ln_scale)`, f32, padded with
/// zeros to whole vectors.
///
/// ```
/// use lehr_kernels::{Isa, TopicRows, inverse_totals};
/// let mut rows = TopicRows::default();
/// rows.resize(1, 2);
/// let mut inverse = vec![0.0; rows.stride()];
/// inverse_totals(&[100.0, 200.0], &mut inverse);
/// rows.chunks_mut(1).for_each(|mut chunk| chunk.fill_row(Isa::detect(), 0, &[5.0, 2.0], &inverse));
/// assert!((rows.row(0)[0] - 4.5092 / 99.5).abs() < 1e-5);
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TopicRows {
    n_topics: usize,
    lines: Vec<Line>,
    sums: Vec<f32>,
    ln_scale: Vec<f32>,
}

impl TopicRows {
    /// Makes room for `n_rows` rows of `n_topics`, keeping the memory. Rows must then be filled.
    pub fn resize(&mut self, n_rows: usize, n_topics: usize) {
        self.n_topics = n_topics;
        let lines = n_rows.checked_mul(pad_topics(n_topics) / 16);
        self.lines.resize(lines.expect("a table that can be counted"), Line([0.0; 16]));
        self.sums.resize(n_rows, 0.0);
        self.ln_scale.resize(n_rows, 0.0);
    }

    /// A table of some of the rows, in the order of `rows`.
    pub fn pick(&self, rows: &[usize]) -> Self {
        let width = self.stride() / 16;
        TopicRows {
            n_topics: self.n_topics,
            lines: rows
                .iter()
                .flat_map(|&row| &self.lines[row * width..][..width])
                .copied()
                .collect(),
            sums: rows.iter().map(|&row| self.sums[row]).collect(),
            ln_scale: rows.iter().map(|&row| self.ln_scale[row]).collect(),
        }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.sums.len()
    }

    /// How many topics.
    pub fn n_topics(&self) -> usize {
        self.n_topics
    }

    /// The numbers from one row to the next: [`pad_topics`] of the topics.
    pub fn stride(&self) -> usize {
        pad_topics(self.n_topics)
    }

    /// All rows.
    pub fn values(&self) -> &[f32] {
        bytemuck::cast_slice(&self.lines)
    }

    /// A row, with its padding.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values()[row * self.stride()..(row + 1) * self.stride()]
    }

    /// The sum of each row.
    pub fn sums(&self) -> &[f32] {
        &self.sums
    }

    /// What each row's logarithms were lowered by: 0, or negative for words that no topic has seen.
    pub fn ln_scale(&self) -> &[f32] {
        &self.ln_scale
    }

    /// The rows to write, `n_rows` at a time, one after the other.
    pub fn chunks_mut(&mut self, n_rows: usize) -> impl Iterator<Item = RowsMut<'_>> {
        let (n_topics, width) = (self.n_topics, (self.stride() / 16).max(1));
        let lines = self.lines.chunks_mut(n_rows * width);
        lines
            .zip(self.sums.chunks_mut(n_rows))
            .zip(self.ln_scale.chunks_mut(n_rows))
            .enumerate()
            .map(move |(chunk, ((lines, sums), ln_scale))| RowsMut {
                first: chunk * n_rows,
                n_topics,
                lines,
                sums,
                ln_scale,
            })
    }

    /// The rows to write, `n_rows` at a time, on rayon's threads.
    pub fn par_chunks_mut(
        &mut self,
        n_rows: usize,
    ) -> impl IndexedParallelIterator<Item = RowsMut<'_>> {
        let (n_topics, width) = (self.n_topics, (self.stride() / 16).max(1));
        let sums = self.sums.par_chunks_mut(n_rows).zip(self.ln_scale.par_chunks_mut(n_rows));
        self.lines.par_chunks_mut(n_rows * width).zip(sums).enumerate().map(
            move |(chunk, (lines, (sums, ln_scale)))| RowsMut {
                first: chunk * n_rows,
                n_topics,
                lines,
                sums,
                ln_scale,
            },
        )
    }
}

/// Some neighbouring rows of [`TopicRows`], to write.
#[derive(Debug)]
pub struct RowsMut<'a> {
    first: usize,
    n_topics: usize,
    lines: &'a mut [Line],
    sums: &'a mut [f32],
    ln_scale: &'a mut [f32],
}

impl RowsMut<'_> {
    /// The rows of the table that these are.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.sums.len()
    }

    /// Fills row `i` of these from a word's `lambda` (one per topic, all above 0) and the
    /// [`inverse_totals`]. Relative error about 1e-6 + 2e-7 / lambda; entries below 1e-20 become 0.
    ///
    /// If all of lambda is below 0.2 the row is scaled so that its entries are as large as if the
    /// largest lambda were about 1; `ln_scale` tells by how much.
    pub fn fill_row(&mut self, isa: Isa, i: usize, lambda: &[f64], inverse_totals: &[f32]) {
        let width = pad_topics(self.n_topics) / 16;
        assert_eq!(lambda.len(), self.n_topics, "one lambda per topic");
        let row = bytemuck::cast_slice_mut(&mut self.lines[i * width..(i + 1) * width]);
        let ln_scale = &mut self.ln_scale[i];
        fill_row(isa, lambda, inverse_totals, row, &mut self.sums[i], ln_scale);
    }
}

/// `out[k] = exp(-digamma(totals[k]))`, and 0 in the padding.
pub fn inverse_totals(totals: &[f64], out: &mut [f32]) {
    assert_eq!(out.len(), pad_topics(totals.len()), "padded to whole vectors");
    let (values, padding) = out.split_at_mut(totals.len());
    for (out, &total) in values.iter_mut().zip(totals) {
        *out = (-digamma(total)).exp().min(1e18) as f32;
    }
    padding.fill(0.0);
}

dispatch! {
    /// `row[k] = exp(digamma(lambda[k]) - ln_scale) * inverse[k]`, and their sum.
    fill_row => fill_row_body(lambda: &[f64], inverse: &[f32], row: &mut [f32], sum: &mut f32,
        ln_scale: &mut f32)
}

#[inline(always)]
fn fill_row_body<L: Narrow>(
    lambda: &[f64],
    inverse: &[f32],
    row: &mut [f32],
    sum: &mut f32,
    ln_scale: &mut f32,
) {
    let stride = pad_topics(lambda.len());
    assert!(inverse.len() == stride && row.len() == stride, "padded to whole vectors");
    let mut shift = 0.0;
    // Most rows have a large entry near the front; only the others are read to the end.
    if lambda.iter().all(|&x| x < RESCALE_BELOW) {
        let largest = lambda.iter().fold(1e-6, |a: f64, &b| a.max(b));
        shift = four_reciprocals(largest) as f32;
    }
    let n = L::Single::N;
    let shifts = L::Single::splat(shift);
    let floor = L::Single::splat(SMALLEST_ENTRY);
    let mut sums = L::Single::splat(0.0);
    let whole = lambda.len() / n * n;
    // SAFETY: `k + n <= stride`, the length of the row and the inverse totals; lambda is read below
    // `whole <= lambda.len()`, and what is left of it comes from a buffer that reaches as far as the stride.
    unsafe {
        for k in (0..whole).step_by(n) {
            let x = L::Single::load_wide(lambda.as_ptr().add(k));
            let b = shifted_exp_digamma32(x, shifts);
            let b = b.mul(L::Single::load(inverse.as_ptr().add(k))).zero_below(floor);
            sums = sums.add(b);
            b.store(row.as_mut_ptr().add(k));
        }
        // Behind the topics lambda and the inverse totals are 0, and so are the products.
        let mut rest = [0.0; 32];
        rest[..lambda.len() - whole].copy_from_slice(&lambda[whole..]);
        for k in (whole..stride).step_by(n) {
            let x = L::Single::load_wide(rest.as_ptr().add(k - whole));
            let b = shifted_exp_digamma32(x, shifts);
            let b = b.mul(L::Single::load(inverse.as_ptr().add(k))).zero_below(floor);
            sums = sums.add(b);
            b.store(row.as_mut_ptr().add(k));
        }
    }
    *sum = sums.sum();
    *ln_scale = -shift;
}
