//! The table of rows: for each word of a batch the expected probability under every topic.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::format::{Format, Pairs, SMALLEST_ENTRY, TOGETHER, Whole};
use super::pad_topics;
use super::solve::{SMALLEST_THETA, SMALLEST_Z};
use crate::Isa;
use crate::aligned::Aligned;
use crate::blend::decayed;
use crate::digamma::{Side, four_reciprocals, shifted_exp_digamma32};
use crate::dispatch;
use crate::lanes32::{Lanes32, Narrow};
use crate::special::digamma;

/// exp(digamma(lambda)) below this is 0: 1e-20 is the smallest entry, and totals are above 1e-5.
const SMALLEST_BEFORE: f32 = 1e-25;

/// Rows whose largest lambda is below this are scaled up: exp(digamma(0.2)) is 0.005.
const RESCALE_BELOW: f32 = 0.2;

/// What has become of a stored lambda: `eta + p (lambda - eta)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// What is left of the distance to the prior.
    pub p: f64,
    /// The prior, the same for all topics.
    pub eta: f64,
}

impl Decay {
    /// Nothing: lambda is as it was stored.
    pub const NONE: Decay = Decay { p: 1.0, eta: 0.0 };
}

/// How precisely rows are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RowFormat {
    /// f32.
    #[default]
    Whole,
    /// 16 bits, of which 8 are precision (bfloat16), in pairs: half of the memory, for training.
    Pairs,
}

/// One row per word: `b[k] = exp(digamma(lambda[k]) - digamma(total[k]) - ln_scale)`, padded with
/// zeros to whole vectors.
///
/// ```
/// use lehr_kernels::{Decay, Isa, RowFormat, TopicRows, inverse_totals};
/// let mut rows = TopicRows::default();
/// rows.resize(1, 2, RowFormat::Whole);
/// let mut inverse = vec![0.0; rows.stride()];
/// inverse_totals(&[100.0, 200.0], &mut inverse);
/// rows.chunks_mut(1).for_each(|mut chunk| {
///     chunk.fill_row(Isa::detect(), 0, &[5.0, 2.0], Decay::NONE, &inverse)
/// });
/// assert!((rows.entry(0, 0) - 4.5092 / 99.5).abs() < 1e-5);
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TopicRows {
    n_topics: usize,
    format: RowFormat,
    values: Aligned,
    inverse_sums: Vec<f32>,
    ln_scale: Vec<f32>,
}

impl TopicRows {
    /// Makes room for `n_rows` rows of `n_topics`, keeping the memory. Rows must then be filled.
    pub fn resize(&mut self, n_rows: usize, n_topics: usize, format: RowFormat) {
        self.n_topics = n_topics;
        self.format = format;
        let words = n_rows.checked_mul(self.row_words()).expect("a table that can be counted");
        self.values.resize(words);
        self.inverse_sums.resize(n_rows, 0.0);
        self.ln_scale.resize(n_rows, 0.0);
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.inverse_sums.len()
    }

    /// How many topics.
    pub fn n_topics(&self) -> usize {
        self.n_topics
    }

    /// How rows are stored.
    pub fn format(&self) -> RowFormat {
        self.format
    }

    /// The topics of a row with its padding: [`pad_topics`].
    pub fn stride(&self) -> usize {
        pad_topics(self.n_topics)
    }

    /// The 32-bit words of a row.
    pub fn row_words(&self) -> usize {
        self.format.words(self.n_topics)
    }

    /// All rows, as they are stored.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// A row, as it is stored.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values()[row * self.row_words()..(row + 1) * self.row_words()]
    }

    /// An entry of a row.
    pub fn entry(&self, row: usize, topic: usize) -> f32 {
        self.format.entry(self.row(row), topic)
    }

    /// 1 over the sum of each row.
    pub fn inverse_sums(&self) -> &[f32] {
        &self.inverse_sums
    }

    /// What each row's logarithms were lowered by: 0, or negative for words that no topic has seen.
    pub fn ln_scale(&self) -> &[f32] {
        &self.ln_scale
    }

    /// The rows to write, `n_rows` at a time, one after the other.
    pub fn chunks_mut(&mut self, n_rows: usize) -> impl Iterator<Item = RowsMut<'_>> {
        let (n_topics, format, width) = (self.n_topics, self.format, self.row_words().max(1));
        let values = self.values.chunks_mut(n_rows * width);
        values
            .zip(self.inverse_sums.chunks_mut(n_rows))
            .zip(self.ln_scale.chunks_mut(n_rows))
            .enumerate()
            .map(move |(chunk, ((values, inverse_sums), ln_scale))| RowsMut {
                first: chunk * n_rows,
                n_topics,
                format,
                values,
                inverse_sums,
                ln_scale,
            })
    }

    /// The rows to write, `n_rows` at a time, on rayon's threads.
    pub fn par_chunks_mut(
        &mut self,
        n_rows: usize,
    ) -> impl IndexedParallelIterator<Item = RowsMut<'_>> {
        let (n_topics, format, width) = (self.n_topics, self.format, self.row_words().max(1));
        let sums =
            self.inverse_sums.par_chunks_mut(n_rows).zip(self.ln_scale.par_chunks_mut(n_rows));
        self.values.par_chunks_mut(n_rows * width).zip(sums).enumerate().map(
            move |(chunk, (values, (inverse_sums, ln_scale)))| RowsMut {
                first: chunk * n_rows,
                n_topics,
                format,
                values,
                inverse_sums,
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
    format: RowFormat,
    values: &'a mut [f32],
    inverse_sums: &'a mut [f32],
    ln_scale: &'a mut [f32],
}

impl RowsMut<'_> {
    /// The rows of the table that these are.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.inverse_sums.len()
    }

    /// Fills row `i` of these from a word's `lambda` (one per topic, all above 0), which has decayed since, and the
    /// [`inverse_totals`]. Relative error about 1e-6 + 2e-7 / lambda, in pairs 4e-3 more; entries below 1e-20
    /// become 0, or 1e-20 in pairs.
    ///
    /// If all of lambda is below 0.2 the row is scaled so that its entries are as large as if the
    /// largest lambda were about 1; `ln_scale` tells by how much.
    pub fn fill_row(
        &mut self,
        isa: Isa,
        i: usize,
        lambda: &[f64],
        decay: Decay,
        inverse_totals: &[f32],
    ) {
        let width = self.format.words(self.n_topics);
        assert_eq!(lambda.len(), self.n_topics, "one lambda per topic");
        let row = &mut self.values[i * width..(i + 1) * width];
        let (inverse_sum, ln_scale) = (&mut self.inverse_sums[i], &mut self.ln_scale[i]);
        fill_row(isa, self.format, lambda, decay, inverse_totals, row, inverse_sum, ln_scale);
    }
}

impl RowFormat {
    /// The 32-bit words of a row.
    pub fn words(self, n_topics: usize) -> usize {
        match self {
            RowFormat::Whole => pad_topics(n_topics),
            RowFormat::Pairs => pad_topics(n_topics) / 2,
        }
    }

    /// An entry of a row.
    pub fn entry(self, row: &[f32], topic: usize) -> f32 {
        match self {
            RowFormat::Whole => row[topic],
            RowFormat::Pairs => {
                let word = row[topic / TOGETHER * 16 + topic % 16].to_bits();
                f32::from_bits(word << (topic & 16))
            }
        }
    }

    /// Stores a padded row of numbers from 0 up. In pairs, half of the topics are at least 1e-16.
    pub fn store(self, isa: Isa, from: &[f32], to: &mut [f32]) {
        match self {
            RowFormat::Whole => to.copy_from_slice(from),
            RowFormat::Pairs => store_pairs(isa, from, to),
        }
    }
}

dispatch! {
    /// Rounds a padded row to pairs.
    store_pairs => store_pairs_body(from: &[f32], to: &mut [f32])
}

#[inline(always)]
fn store_pairs_body<L: Narrow>(from: &[f32], to: &mut [f32]) {
    assert!(from.len().is_multiple_of(TOGETHER) && to.len() == from.len() / 2, "whole groups");
    let floor = L::Single::splat(SMALLEST_UPPER);
    for group in 0..from.len() / TOGETHER {
        for h in (0..16).step_by(L::Single::N) {
            // SAFETY: groups are inside both rows, as asserted; N divides 16.
            unsafe {
                let at = from.as_ptr().add(group * TOGETHER + h);
                let (upper, lower) = (L::Single::load(at), L::Single::load(at.add(16)));
                Pairs::store(to.as_mut_ptr(), group, h, upper.max(floor), lower);
            }
        }
    }
}

/// Numbers in upper halves are at least this: what stands below a 0 would be read as a denormal number. Larger than that
/// number need be, since it is multiplied with entries of rows.
const SMALLEST_UPPER: f32 = SMALLEST_THETA;

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
    /// `row[k] = exp(digamma(lambda[k]) - ln_scale) * inverse[k]`, and 1 over their sum.
    fill_row => fill_row_body(format: RowFormat, lambda: &[f64], decay: Decay, inverse: &[f32],
        row: &mut [f32], inverse_sum: &mut f32, ln_scale: &mut f32)
}

#[inline(always)]
fn fill_row_body<L: Narrow>(
    format: RowFormat,
    lambda: &[f64],
    decay: Decay,
    inverse: &[f32],
    row: &mut [f32],
    inverse_sum: &mut f32,
    ln_scale: &mut f32,
) {
    (*inverse_sum, *ln_scale) = match format {
        RowFormat::Whole => fill::<L, Whole>(lambda, decay, inverse, row),
        RowFormat::Pairs => fill::<L, Pairs>(lambda, decay, inverse, row),
    };
}

/// Fills a row; returns 1 over its sum, and `ln_scale`.
#[inline(always)]
fn fill<L: Narrow, F: Format>(
    lambda: &[f64],
    decay: Decay,
    inverse: &[f32],
    row: &mut [f32],
) -> (f32, f32) {
    let stride = pad_topics(lambda.len());
    assert!(inverse.len() == stride && row.len() == stride / TOGETHER * F::WORDS, "whole groups");
    let (mut sum, largest) = fill_shifted::<L, F>(lambda, decay, inverse, 0.0, row);
    let mut shift = 0.0;
    if largest.at_least(L::Single::splat(RESCALE_BELOW)) == 0 {
        let mut lanes = [0.0f32; 16];
        // SAFETY: there is room for any vector.
        unsafe { largest.store(lanes.as_mut_ptr()) };
        let largest = lanes.into_iter().fold(0.0, |a, b| if b > a { b } else { a });
        shift = four_reciprocals(f64::from(largest.max(1e-6))) as f32;
        (sum, _) = fill_shifted::<L, F>(lambda, decay, inverse, shift, row);
    }
    (1.0 / sum.max(SMALLEST_Z), -shift)
}

/// Fills a row with its logarithms raised by `shift`; returns its sum, and the largest lambda as it is now, lane by lane.
#[inline(always)]
fn fill_shifted<L: Narrow, F: Format>(
    lambda: &[f64],
    decay: Decay,
    inverse: &[f32],
    shift: f32,
    row: &mut [f32],
) -> (f32, L::Single) {
    let n_topics = lambda.len();
    // Inverse totals, and so all entries, are 0 behind the last topic.
    let mut floors = [SMALLEST_ENTRY; TOGETHER];
    floors[n_topics.wrapping_sub(1) % TOGETHER + 1..].fill(0.0);
    let entries = Entries { lambda, decay, inverse, shift, floors: &floors };
    let (mut sums, mut largest) = (L::Single::splat(0.0), L::Single::splat(0.0));
    let n_groups = pad_topics(n_topics) / TOGETHER;
    for group in 0..n_groups {
        for h in (0..16).step_by(L::Single::N) {
            let (upper, lower) = entries.pair::<L, F>(group, h, &mut largest);
            // SAFETY: the group is inside the row, whose length the caller has asserted.
            unsafe { F::store(row.as_mut_ptr(), group, h, upper, lower) };
            sums = sums.add(upper.add(lower));
        }
    }
    (sums.sum(), largest)
}

/// What the entries of a row are made of; inverse totals are padded to whole groups.
struct Entries<'a> {
    lambda: &'a [f64],
    decay: Decay,
    inverse: &'a [f32],
    /// What is added to logarithms.
    shift: f32,
    /// What entries of the last group are at least.
    floors: &'a [f32; TOGETHER],
}

impl Entries<'_> {
    /// Topics `h ..` and `16 + h ..` of a group. `largest` follows the largest lambda.
    #[inline(always)]
    fn pair<L: Narrow, F: Format>(
        &self,
        group: usize,
        h: usize,
        largest: &mut L::Single,
    ) -> (L::Single, L::Single) {
        let Entries { lambda, decay, inverse, shift, floors } = *self;
        let first = group * TOGETHER + h;
        if first + 16 >= lambda.len() {
            return (self.last::<L, F>(first, largest), L::Single::splat(0.0));
        }
        let now = [current::<L>(lambda, first, decay), current::<L>(lambda, first + 16, decay)];
        *largest = largest.max(now[0]).max(now[1]);
        // Denormal products would take a hundred times as long.
        let least = L::Single::splat(SMALLEST_BEFORE);
        let Side([x, y]) = shifted_exp_digamma32(Side(now), Side([L::Single::splat(shift); 2]));
        assert!(first + 16 + L::Single::N <= inverse.len());
        // SAFETY: inverse totals reach that far, as asserted.
        let (x, y) = unsafe {
            let at = inverse.as_ptr().add(first);
            let (total, next) = (L::Single::load(at), L::Single::load(at.add(16)));
            (x.zero_below(least).mul(total), y.zero_below(least).mul(next))
        };
        let (mut floor, mut next) =
            (L::Single::splat(SMALLEST_ENTRY), L::Single::splat(SMALLEST_ENTRY));
        if (group + 1) * TOGETHER > lambda.len() {
            // SAFETY: `h + N` is at most 16, and there are 32.
            (floor, next) = unsafe {
                let at = floors.as_ptr().add(h);
                (L::Single::load(at), L::Single::load(at.add(16)))
            };
        }
        (F::without_smallest(x, floor), F::without_smallest(y, next))
    }

    /// Topics `first ..`, behind which there are none in the group.
    #[inline(always)]
    fn last<L: Narrow, F: Format>(&self, first: usize, largest: &mut L::Single) -> L::Single {
        let Entries { lambda, decay, inverse, shift, floors } = *self;
        let now = current::<L>(lambda, first, decay);
        *largest = largest.max(now);
        let x = shifted_exp_digamma32(now, L::Single::splat(shift));
        assert!(first + L::Single::N <= inverse.len());
        // SAFETY: inverse totals reach that far, as asserted; of the floors there are 32.
        let (total, floor) = unsafe {
            let floor = floors.as_ptr().add(first % TOGETHER);
            (L::Single::load(inverse.as_ptr().add(first)), L::Single::load(floor))
        };
        let x = x.zero_below(L::Single::splat(SMALLEST_BEFORE)).mul(total);
        F::without_smallest(x, floor)
    }
}

/// A vector of lambda from topic `first` on as it is now, rounded; 0 behind the last topic.
#[inline(always)]
fn current<L: Narrow>(lambda: &[f64], first: usize, Decay { p, eta }: Decay) -> L::Single {
    let (eta, p) = (L::splat(eta), L::splat(p));
    let mut now = [0.0; 16];
    // SAFETY: what is read is inside the row, and 16 numbers are enough for any vector. N of f32 is a multiple of N of f64.
    unsafe {
        if first + L::Single::N <= lambda.len() {
            for k in (0..L::Single::N).step_by(L::N) {
                let x = L::load(lambda.as_ptr().add(first + k));
                decayed(x, eta, p).store(now.as_mut_ptr().add(k));
            }
            return L::Single::load_wide(now.as_ptr());
        }
        let mut rest = [0.0; 16];
        for k in (0..lambda.len().saturating_sub(first)).step_by(L::N) {
            let n = (lambda.len() - first - k).min(L::N);
            let x = L::load_first(lambda.as_ptr().add(first + k), n);
            decayed(x, eta, p).store(rest.as_mut_ptr().add(k));
        }
        L::Single::load_wide(rest.as_ptr())
    }
}
