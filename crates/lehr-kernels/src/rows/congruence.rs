//! A change of coordinates for many rows of natural parameters.

use super::{MOST_DIMS, aligned, packed};
use crate::dispatch;
use crate::lanes::Lanes;

/// Rows of a tile of a product.
const HEIGHT: usize = 5;

/// Vectors across a tile. `HEIGHT` times as many sums keep the multiply-adds busy and leave
/// registers for the factors.
const VECTORS: usize = 2;

dispatch! {
    /// In place, for each of the rows `stride` apart: `Lambda <- T' Lambda T` and `h <- T' h`,
    /// where T is B (dense, `n_free` x `n_free`, row by row) in the first coordinates and the
    /// identity in the others. A row is the packed precision followed by h, and all of `rows` are
    /// changed.
    ///
    /// Equivalent to `Lambda[i][j] <- sum_kl T[k][i] Lambda[k][l] T[l][j]`, the sum over l first
    /// and both in ascending order.
    ///
    /// # Panics
    /// If a length does not fit.
    congruence => congruence_body(
        n_dims: usize, n_free: usize, b: &[f64], rows: &mut [f64], stride: usize,
        scratch: &mut Vec<f64>,
    )
}

#[inline(always)]
fn congruence_body<L: Lanes>(
    n_dims: usize,
    n_free: usize,
    b: &[f64],
    rows: &mut [f64],
    stride: usize,
    scratch: &mut Vec<f64>,
) {
    let (n, f) = (n_dims, n_free);
    assert!(n <= MOST_DIMS, "at most {MOST_DIMS} dimensions");
    assert!(f <= n, "no more coordinates turn than there are");
    assert_eq!(b.len(), f * f, "a square matrix");
    if rows.is_empty() || f == 0 {
        return;
    }
    let len = packed(n) + n;
    assert!(stride >= len && rows.len().is_multiple_of(stride), "whole rows");
    let width = f.next_multiple_of(VECTORS * L::N);
    let (square, all) = (f * width, (n + 1) * width);
    // B, the first f columns of the symmetric matrix [Lambda h; h' .], and its product with B.
    let (dense_b, rest) = aligned(scratch, square + 2 * all).split_at_mut(square);
    let (a, x) = rest.split_at_mut(all);
    for (to, from) in dense_b.chunks_exact_mut(width).zip(b.chunks_exact(f)) {
        to[..f].copy_from_slice(from);
        to[f..].fill(0.0);
    }
    for row in rows.chunks_exact_mut(stride) {
        for i in 0..=n {
            let from = &row[packed(i)..][..f.min(i + 1)];
            a[i * width..][..from.len()].copy_from_slice(from);
        }
        for i in 0..f {
            for j in 0..i {
                a[j * width + i] = a[i * width + j];
            }
        }
        // X = A B, then the lower triangle of B' X over A, which is not needed any more.
        multiply::<L>(n + 1, f, width, (&*a, width, 1), dense_b, x, false);
        multiply::<L>(f, f, width, (&*dense_b, 1, width), x, a, true);
        for i in 0..=n {
            let from = if i < f { &a[i * width..][..=i] } else { &x[i * width..][..f] };
            row[packed(i)..][..from.len()].copy_from_slice(from);
        }
    }
}

/// `to[i][j] = sum_k left[i][k] right[k][j]` over k < `depth` for i < `height` and all j < `width`,
/// the length of a row of `right` and `to`; `left` comes with the distances of its rows and
/// columns. With `lower` only j <= i matters.
#[inline(always)]
fn multiply<L: Lanes>(
    height: usize,
    depth: usize,
    width: usize,
    (left, down, across): (&[f64], usize, usize),
    right: &[f64],
    to: &mut [f64],
    lower: bool,
) {
    let tile = VECTORS * L::N;
    assert!(width.is_multiple_of(tile) && height > 0 && depth > 0);
    assert!((height - 1) * down + (depth - 1) * across < left.len());
    assert!(depth * width <= right.len() && height * width <= to.len());
    let mut i = 0;
    while i < height {
        let whole = i + HEIGHT <= height;
        let step = if whole { HEIGHT } else { 1 };
        let columns = if lower { width.min((i + step).next_multiple_of(tile)) } else { width };
        for j in (0..columns).step_by(tile) {
            // SAFETY: rows up to i + step and columns up to j + tile are within the lengths that
            // were checked above.
            unsafe {
                let left = left.as_ptr().add(i * down);
                let right = right.as_ptr().add(j);
                let to = to.as_mut_ptr().add(i * width + j);
                if whole {
                    multiply_tile::<L, HEIGHT>(depth, width, (left, down, across), right, to);
                } else {
                    multiply_tile::<L, 1>(depth, width, (left, down, across), right, to);
                }
            }
        }
        i += step;
    }
}

/// One tile of a product, as `multiply`.
///
/// # Safety
/// `H` rows and `depth` columns of `left` and as many rows of `right` must be readable, `H` rows of
/// `to` writable, the rows of the latter two for a whole tile.
#[inline(always)]
unsafe fn multiply_tile<L: Lanes, const H: usize>(
    depth: usize,
    width: usize,
    (left, down, across): (*const f64, usize, usize),
    right: *const f64,
    to: *mut f64,
) {
    let mut sums = [[L::splat(0.0); VECTORS]; H];
    for k in 0..depth {
        // SAFETY: the caller vouches for all rows and columns.
        unsafe {
            let mut y = [L::splat(0.0); VECTORS];
            for (v, y) in y.iter_mut().enumerate() {
                *y = L::load(right.add(k * width + v * L::N));
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = L::splat(*left.add(i * down + k * across));
                for (sum, y) in sums.iter_mut().zip(y) {
                    *sum = x.mul_add(y, *sum);
                }
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        for (v, sum) in sums.iter().enumerate() {
            // SAFETY: as above.
            unsafe { sum.store(to.add(i * width + v * L::N)) };
        }
    }
}
