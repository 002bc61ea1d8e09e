//! Iterations over whole rows: every topic of every word of a document.

use std::marker::PhantomData;

use super::format::{Format, TOGETHER};
use super::solve::SMALLEST_Z;
use crate::lanes32::{BLOCK, Lanes32};

/// Blocks of words whose rows are asked for ahead of their use: rows lie scattered over the table.
const AHEAD: usize = 2;

/// How much of a row is asked for: the CPU follows a longer one by itself.
const AHEAD_WORDS: usize = 512;

/// The words of a document.
pub(super) struct Words<'a, F> {
    /// The table of rows.
    pub values: &'a [f32],
    /// The topics in a row, with its padding.
    pub stride: usize,
    /// How many words.
    pub n_words: usize,
    /// Where each word's row begins in the table, the last word's again behind it, up to a whole block.
    pub starts: &'a [usize],
    /// How often each word occurs, 0 behind the last up to a whole block.
    pub counts: &'a [f32],
    /// How rows store their numbers.
    pub format: PhantomData<F>,
}

impl<F> Clone for Words<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Words<'_, F> {}

impl<F: Format> Words<'_, F> {
    /// The rows of words `first .. first + B`.
    #[inline(always)]
    pub fn block<const B: usize>(&self, first: usize) -> [*const f32; B] {
        let starts = &self.starts[first..first + B];
        let mut rows = [self.values.as_ptr(); B];
        for i in 0..B {
            rows[i] = rows[i].wrapping_add(starts[i]);
        }
        rows
    }
}

/// Fills [`Words::starts`] from the rows of the words, which must be inside the table.
pub(super) fn set_starts<F: Format>(
    stride: usize,
    rows: impl Iterator<Item = usize>,
    starts: &mut Vec<usize>,
) {
    let row_words = stride / TOGETHER * F::WORDS;
    starts.clear();
    starts.extend(rows.map(|row| row * row_words));
    let last = starts.last().copied().unwrap_or(0);
    starts.resize(starts.len().next_multiple_of(WORDS), last);
}

/// Words whose shares are computed together: a vector of the widest instruction set.
const WORDS: usize = 16;

/// The first iteration from equal shares: `out[k] = sum_w counts[w] * inverse_sums[slots[w]] * b[w][k]`.
#[inline(always)]
pub(super) fn first_pass<L: Lanes32, F: Format>(
    words: Words<'_, F>,
    slots: &[u32],
    inverse_sums: &[f32],
    out: &mut [f32],
) {
    assert!(out.len() == words.stride && words.counts.len() >= words.n_words);
    out.fill(0.0);
    let (n_words, row_words) = (words.n_words, words.stride / TOGETHER * F::WORDS);
    for first in (0..n_words).step_by(BLOCK) {
        for ahead in AHEAD * BLOCK..(AHEAD + 1) * BLOCK {
            if let Some(&start) = words.starts.get(first + ahead) {
                let row = words.values.as_ptr().wrapping_add(start);
                for line in (0..row_words.min(AHEAD_WORDS)).step_by(16) {
                    L::prefetch(row.wrapping_add(line));
                }
            }
        }
        let mut shares = [0.0; BLOCK];
        for (i, share) in shares.iter_mut().enumerate() {
            if first + i < n_words {
                let w = first + i;
                *share = words.counts[w] * inverse_sums[slots[w] as usize];
            }
        }
        add_block::<L, F>(&words.block::<BLOCK>(first), &shares, out);
    }
}

/// One iteration: `z[w] = sum_k theta[k] * b[w][k]`, then `out[k] = sum_w counts[w] / z[w] * b[w][k]`.
#[inline(always)]
pub(super) fn pass<L: Lanes32, F: Format>(words: Words<'_, F>, theta: &[f32], out: &mut [f32]) {
    assert!(out.len() == words.stride && theta.len() == words.stride);
    assert!(words.counts.len() >= words.n_words.next_multiple_of(WORDS));
    out.fill(0.0);
    for first in (0..words.n_words).step_by(WORDS) {
        let rows = words.block(first);
        let shares = shares::<L, F>(&rows, &words.counts[first..first + WORDS], theta);
        for (rows, shares) in rows.chunks_exact(BLOCK).zip(shares.chunks_exact(BLOCK)) {
            add_block::<L, F>(rows, shares, out);
        }
    }
}

/// `coef[w] = counts[w] / z[w]`.
#[inline(always)]
pub(super) fn coefs<L: Lanes32, F: Format>(words: Words<'_, F>, theta: &[f32], coef: &mut [f32]) {
    assert!(theta.len() == words.stride);
    for (block, coef) in coef.chunks_mut(WORDS).enumerate() {
        let first = block * WORDS;
        let rows = words.block(first);
        let shares = shares::<L, F>(&rows, &words.counts[first..first + WORDS], theta);
        coef.copy_from_slice(&shares[..coef.len()]);
    }
}

/// `counts / z` of a block of words.
#[inline(always)]
fn shares<L: Lanes32, F: Format>(
    rows: &[*const f32; WORDS],
    counts: &[f32],
    theta: &[f32],
) -> [f32; WORDS] {
    assert!(counts.len() == WORDS && theta.len().is_multiple_of(TOGETHER));
    let mut shares = [0.0; WORDS];
    for (rows, shares) in rows.chunks_exact(BLOCK).zip(shares.chunks_exact_mut(BLOCK)) {
        let mut dots = [L::splat(0.0); BLOCK];
        for group in 0..theta.len() / TOGETHER {
            for h in (0..16).step_by(L::N) {
                // SAFETY: rows and theta have the same length, whole groups; N divides 16.
                unsafe {
                    let at = theta.as_ptr().add(group * TOGETHER + h);
                    let (t, u) = (L::load(at), L::load(at.add(16)));
                    for i in 0..BLOCK {
                        let (x, y) = F::load::<L>(rows[i], group, h);
                        dots[i] = y.mul_add(u, x.mul_add(t, dots[i]));
                    }
                }
            }
        }
        shares.copy_from_slice(&L::sums(dots));
    }
    for v in (0..WORDS).step_by(L::N) {
        // SAFETY: both have 16 numbers, and N divides 16.
        unsafe {
            let z = L::load(shares.as_ptr().add(v)).max(L::splat(SMALLEST_Z));
            let share = z.reciprocal().mul(L::load(counts.as_ptr().add(v)));
            share.store(shares.as_mut_ptr().add(v));
        }
    }
    shares
}

/// `out[k] += sum_i shares[i] * rows[i][k]`.
#[inline(always)]
fn add_block<L: Lanes32, F: Format>(rows: &[*const f32], shares: &[f32], out: &mut [f32]) {
    assert!(rows.len() == BLOCK && shares.len() == BLOCK);
    let mut weights = [L::splat(0.0); BLOCK];
    for i in 0..BLOCK {
        weights[i] = L::splat(shares[i]);
    }
    for group in 0..out.len() / TOGETHER {
        for h in (0..16).step_by(L::N) {
            // SAFETY: rows are as long as `out`, whole groups; N divides 16.
            unsafe {
                let to = out.as_mut_ptr().add(group * TOGETHER + h);
                let (mut a, mut b) = (L::load(to), L::load(to.add(16)));
                for i in 0..BLOCK {
                    let (x, y) = F::load::<L>(rows[i], group, h);
                    a = x.mul_add(weights[i], a);
                    b = y.mul_add(weights[i], b);
                }
                a.store(to);
                b.store(to.add(16));
            }
        }
    }
}
