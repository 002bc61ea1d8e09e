//! Iterations over whole rows: every topic of every word of a document.

use super::solve::SMALLEST_Z;
use crate::lanes32::{BLOCK, Lanes32};

/// Blocks of words whose rows are asked for ahead of their use: rows lie scattered over the table.
const AHEAD: usize = 2;

/// The words of a document: pointers would be as fast, slots are half the size.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    /// The table of rows.
    pub values: &'a [f32],
    /// The numbers in a row.
    pub stride: usize,
    /// The row of each word; all are inside the table.
    pub slots: &'a [u32],
    /// How often each word occurs, 0 behind the last up to a whole block.
    pub counts: &'a [f32],
}

impl Words<'_> {
    /// The rows of words `first .. first + BLOCK`, the last word's again behind it.
    #[inline(always)]
    fn block(&self, first: usize) -> [*const f32; BLOCK] {
        let mut rows = [self.values.as_ptr(); BLOCK];
        let last = self.slots.len() - 1;
        for (i, row) in rows.iter_mut().enumerate() {
            let slot = self.slots[(first + i).min(last)] as usize;
            // SAFETY: `solve_document` has checked every slot against the table.
            *row = unsafe { self.values.as_ptr().add(slot * self.stride) };
        }
        rows
    }
}

/// The first iteration from equal shares: `out[k] = sum_w counts[w] / sums[slots[w]] * b[w][k]`.
#[inline(always)]
pub(super) fn first_pass<L: Lanes32>(words: Words<'_>, sums: &[f32], out: &mut [f32]) {
    assert!(out.len() == words.stride && words.counts.len() >= words.slots.len());
    out.fill(0.0);
    let n_words = words.slots.len();
    for first in (0..n_words).step_by(BLOCK) {
        for ahead in AHEAD * BLOCK..(AHEAD + 1) * BLOCK {
            if let Some(&slot) = words.slots.get(first + ahead) {
                let row = words.values.as_ptr().wrapping_add(slot as usize * words.stride);
                for line in (0..words.stride).step_by(16) {
                    L::prefetch(row.wrapping_add(line));
                }
            }
        }
        let mut shares = [0.0; BLOCK];
        for (i, share) in shares.iter_mut().enumerate() {
            if first + i < n_words {
                let w = first + i;
                *share = words.counts[w] / sums[words.slots[w] as usize].max(SMALLEST_Z);
            }
        }
        add_block::<L>(&words.block(first), &shares, out);
    }
}

/// One iteration: `z[w] = sum_k theta[k] * b[w][k]`, then `out[k] = sum_w counts[w] / z[w] * b[w][k]`.
#[inline(always)]
pub(super) fn pass<L: Lanes32>(words: Words<'_>, theta: &[f32], out: &mut [f32]) {
    assert!(out.len() == words.stride);
    out.fill(0.0);
    for first in (0..words.slots.len()).step_by(BLOCK) {
        let rows = words.block(first);
        let shares = shares::<L>(&rows, &words.counts[first..first + BLOCK], theta);
        add_block::<L>(&rows, &shares, out);
    }
}

/// `coef[w] = counts[w] / z[w]`.
#[inline(always)]
pub(super) fn coefs<L: Lanes32>(words: Words<'_>, theta: &[f32], coef: &mut [f32]) {
    for (block, coef) in coef.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let rows = words.block(first);
        let shares = shares::<L>(&rows, &words.counts[first..first + BLOCK], theta);
        coef.copy_from_slice(&shares[..coef.len()]);
    }
}

/// `counts / z` of a block of words.
#[inline(always)]
fn shares<L: Lanes32>(rows: &[*const f32; BLOCK], counts: &[f32], theta: &[f32]) -> [f32; BLOCK] {
    let mut dots = [L::splat(0.0); BLOCK];
    for k in (0..theta.len()).step_by(L::N) {
        // SAFETY: rows and theta have the same length, a multiple of 16 and so of N.
        unsafe {
            let t = L::load(theta.as_ptr().add(k));
            for i in 0..BLOCK {
                dots[i] = L::load(rows[i].add(k)).mul_add(t, dots[i]);
            }
        }
    }
    let mut shares = L::sums(dots);
    for (share, count) in shares.iter_mut().zip(counts) {
        *share = count / share.max(SMALLEST_Z);
    }
    shares
}

/// `out[k] += sum_i shares[i] * rows[i][k]`.
#[inline(always)]
fn add_block<L: Lanes32>(rows: &[*const f32; BLOCK], shares: &[f32; BLOCK], out: &mut [f32]) {
    let mut weights = [L::splat(0.0); BLOCK];
    for i in 0..BLOCK {
        weights[i] = L::splat(shares[i]);
    }
    for k in (0..out.len()).step_by(L::N) {
        // SAFETY: rows are as long as `out`, a multiple of 16 and so of N.
        unsafe {
            let to = out.as_mut_ptr().add(k);
            let mut sum = L::load(to);
            for i in 0..BLOCK {
                sum = L::load(rows[i].add(k)).mul_add(weights[i], sum);
            }
            sum.store(to);
        }
    }
}
