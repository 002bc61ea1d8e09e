//! Iterations over whole rows: every topic of every word of a document.

use std::marker::PhantomData;

use super::format::{Format, TOGETHER};
use super::solve::SMALLEST_Z;
use crate::lanes32::{BLOCK, Lanes32};

/// How much of a row is asked for ahead of its use: rows lie scattered over the table, and the CPU follows a longer one
/// by itself.
const AHEAD_WORDS: usize = 512;

/// The words of a document.
pub(super) struct Words<'a, F> {
    /// The table of rows.
    pub values: &'a [f32],
    /// The topics in a row, with its padding.
    pub stride: usize,
    /// The same without: vectors behind the last topic are left out.
    pub n_topics: usize,
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

/// The first iteration from equal shares: `out[k] = sum_w counts[w] * inverse_sums[slots[w]] * b[w][k]`. `shares` has
/// room for a number per word, padded to whole blocks.
#[inline(always)]
pub(super) fn first_pass<L: Lanes32, F: Format>(
    words: Words<'_, F>,
    slots: &[u32],
    inverse_sums: &[f32],
    shares: &mut [f32],
    out: &mut [f32],
) {
    assert!(out.len() == words.stride && slots.len() == words.n_words);
    let row_words = words.stride / TOGETHER * F::WORDS;
    let shares = &mut shares[..words.n_words.next_multiple_of(WORDS)];
    shares[words.n_words..].fill(0.0);
    for ((share, count), &slot) in shares.iter_mut().zip(words.counts).zip(slots) {
        *share = count * inverse_sums[slot as usize];
    }
    out.fill(0.0);
    for (block, shares) in shares.chunks_exact(WORDS).enumerate() {
        let first = block * WORDS;
        let ahead = words.starts.get(first + WORDS..first + 2 * WORDS);
        for &start in ahead.unwrap_or_default() {
            let row = words.values.as_ptr().wrapping_add(start);
            for line in (0..row_words.min(AHEAD_WORDS)).step_by(16) {
                L::prefetch(row.wrapping_add(line));
            }
        }
        add_rows::<L, F>(&words.block(first), shares, words.n_topics, out);
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
        let counts = &words.counts[first..first + WORDS];
        let shares = shares::<L, F>(&rows, counts, words.n_topics, theta);
        add_rows::<L, F>(&rows, &shares, words.n_topics, out);
    }
}

/// `coef[w] = counts[w] / z[w]`.
#[inline(always)]
pub(super) fn coefs<L: Lanes32, F: Format>(words: Words<'_, F>, theta: &[f32], coef: &mut [f32]) {
    assert!(theta.len() == words.stride);
    for (block, coef) in coef.chunks_mut(WORDS).enumerate() {
        let first = block * WORDS;
        let rows = words.block(first);
        let counts = &words.counts[first..first + WORDS];
        let shares = shares::<L, F>(&rows, counts, words.n_topics, theta);
        coef.copy_from_slice(&shares[..coef.len()]);
    }
}

/// Calls a function of rows with the number of their groups as a constant, and whether the last one has topics in its
/// lower half, if vectors are the widest and the groups few enough for a vector per 16 topics to stay in registers; else
/// another one.
macro_rules! by_groups {
    ($lanes:ident, $n_topics:expr, $function:ident, $other:ident, $args:tt) => {
        by_groups!(@ $lanes, $n_topics, $function, $other, $args, 1 2 3 4 5 6 7 8)
    };
    (@ $lanes:ident, $n_topics:expr, $function:ident, $other:ident, $args:tt, $($n:literal)*) => {
        match ($n_topics.div_ceil(TOGETHER), $n_topics.wrapping_sub(1) % TOGETHER >= 16) {
            $(
                ($n, true) if $lanes::N == 16 => $function::<$lanes, F, $n, true> $args,
                ($n, false) if $lanes::N == 16 => $function::<$lanes, F, $n, false> $args,
            )*
            _ => $other::<$lanes, F> $args,
        }
    };
}

/// `counts / z` of a block of words.
#[inline(always)]
fn shares<L: Lanes32, F: Format>(
    rows: &[*const f32; WORDS],
    counts: &[f32],
    n_topics: usize,
    theta: &[f32],
) -> [f32; WORDS] {
    assert!(counts.len() == WORDS && theta.len() == n_topics.next_multiple_of(TOGETHER));
    // SAFETY: rows and theta have the same length, which is that many groups.
    let mut shares = unsafe { by_groups!(L, n_topics, dots_of, dots, (rows, n_topics, theta)) };
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

/// `z` of a block of words, eight words and some topics at a time.
///
/// # Safety
/// Rows must be as long as theta, which is whole groups of this many topics.
#[inline(always)]
unsafe fn dots<L: Lanes32, F: Format>(
    rows: &[*const f32; WORDS],
    n_topics: usize,
    theta: &[f32],
) -> [f32; WORDS] {
    let mut z = [0.0; WORDS];
    for (rows, z) in rows.chunks_exact(BLOCK).zip(z.chunks_exact_mut(BLOCK)) {
        let mut dots = [L::splat(0.0); BLOCK];
        for group in 0..theta.len() / TOGETHER {
            for h in (0..16).step_by(L::N) {
                let first = group * TOGETHER + h;
                if first >= n_topics {
                    break;
                }
                // SAFETY: the caller vouches for the group; N divides 16.
                unsafe {
                    let at = theta.as_ptr().add(first);
                    let (t, u) = (L::load(at), L::load(at.add(16)));
                    if first + 16 < n_topics {
                        for i in 0..BLOCK {
                            let (x, y) = F::load::<L>(rows[i], group, h);
                            dots[i] = y.mul_add(u, x.mul_add(t, dots[i]));
                        }
                    } else {
                        for i in 0..BLOCK {
                            let (x, _) = F::load::<L>(rows[i], group, h);
                            dots[i] = x.mul_add(t, dots[i]);
                        }
                    }
                }
            }
        }
        z.copy_from_slice(&L::sums(dots));
    }
    z
}

/// The same, word by word, with theta in registers.
///
/// # Safety
/// Rows and theta must be `G` groups long, and vectors have 16 lanes.
#[inline(always)]
unsafe fn dots_of<L: Lanes32, F: Format, const G: usize, const LOWER: bool>(
    rows: &[*const f32; WORDS],
    _n_topics: usize,
    theta: &[f32],
) -> [f32; WORDS] {
    let mut thetas = [[L::splat(0.0); 2]; G];
    for (group, theta_of) in thetas.iter_mut().enumerate() {
        let at = theta.as_ptr().wrapping_add(group * TOGETHER);
        // SAFETY: the caller vouches for the group.
        *theta_of = unsafe { [L::load(at), L::load(at.wrapping_add(16))] };
    }
    let mut dots = [L::splat(0.0); WORDS];
    for (dot, &row) in dots.iter_mut().zip(rows) {
        let (mut upper, mut lower) = (L::splat(0.0), L::splat(0.0));
        for (group, [t, u]) in thetas.into_iter().enumerate() {
            // SAFETY: the caller vouches for the group.
            let (x, y) = unsafe { F::load::<L>(row, group, 0) };
            upper = x.mul_add(t, upper);
            if LOWER || group + 1 < G {
                lower = y.mul_add(u, lower);
            }
        }
        *dot = upper.add(lower);
    }
    L::sums_of_block(dots)
}

/// `out[k] += sum_w shares[w] * rows[w][k]` of a block of words.
#[inline(always)]
fn add_rows<L: Lanes32, F: Format>(
    rows: &[*const f32; WORDS],
    shares: &[f32],
    n_topics: usize,
    out: &mut [f32],
) {
    assert!(shares.len() == WORDS && out.len() == n_topics.next_multiple_of(TOGETHER));
    // SAFETY: rows and `out` have the same length, which is that many groups.
    unsafe {
        by_groups!(L, n_topics, add_rows_of, add_rows_by_eight, (rows, shares, n_topics, out))
    }
}

/// Eight words and some topics at a time.
///
/// # Safety
/// Rows must be as long as `out`, which is whole groups of this many topics.
#[inline(always)]
unsafe fn add_rows_by_eight<L: Lanes32, F: Format>(
    rows: &[*const f32; WORDS],
    shares: &[f32],
    n_topics: usize,
    out: &mut [f32],
) {
    for (rows, shares) in rows.chunks_exact(BLOCK).zip(shares.chunks_exact(BLOCK)) {
        let mut weights = [L::splat(0.0); BLOCK];
        for i in 0..BLOCK {
            weights[i] = L::splat(shares[i]);
        }
        for group in 0..out.len() / TOGETHER {
            for h in (0..16).step_by(L::N) {
                let first = group * TOGETHER + h;
                if first >= n_topics {
                    break;
                }
                // SAFETY: the caller vouches for the group; N divides 16.
                unsafe {
                    let to = out.as_mut_ptr().add(first);
                    let (mut a, mut b) = (L::load(to), L::load(to.add(16)));
                    if first + 16 < n_topics {
                        for i in 0..BLOCK {
                            let (x, y) = F::load::<L>(rows[i], group, h);
                            a = x.mul_add(weights[i], a);
                            b = y.mul_add(weights[i], b);
                        }
                        b.store(to.add(16));
                    } else {
                        for i in 0..BLOCK {
                            let (x, _) = F::load::<L>(rows[i], group, h);
                            a = x.mul_add(weights[i], a);
                        }
                    }
                    a.store(to);
                }
            }
        }
    }
}

/// The same, word by word, with the sums of all topics in registers.
///
/// # Safety
/// Rows and `out` must be `G` groups long, and vectors have 16 lanes.
#[inline(always)]
unsafe fn add_rows_of<L: Lanes32, F: Format, const G: usize, const LOWER: bool>(
    rows: &[*const f32; WORDS],
    shares: &[f32],
    _n_topics: usize,
    out: &mut [f32],
) {
    let place = |group: usize| group * TOGETHER;
    let mut sums = [[L::splat(0.0); 2]; G];
    for (group, sums) in sums.iter_mut().enumerate() {
        let at = out.as_ptr().wrapping_add(place(group));
        // SAFETY: the caller vouches for the group.
        *sums = unsafe { [L::load(at), L::load(at.wrapping_add(16))] };
    }
    for (&row, &share) in rows.iter().zip(shares) {
        let share = L::splat(share);
        for (group, [upper, lower]) in sums.iter_mut().enumerate() {
            // SAFETY: the caller vouches for the group.
            let (x, y) = unsafe { F::load::<L>(row, group, 0) };
            *upper = x.mul_add(share, *upper);
            if LOWER || group + 1 < G {
                *lower = y.mul_add(share, *lower);
            }
        }
    }
    for (group, [upper, lower]) in sums.into_iter().enumerate() {
        let to = out.as_mut_ptr().wrapping_add(place(group));
        // SAFETY: the caller vouches for the group.
        unsafe {
            upper.store(to);
            lower.store(to.wrapping_add(16));
        }
    }
}
