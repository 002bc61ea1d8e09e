//! Packed triangles in lanes, one matrix per lane: Cholesky factors, inverses, products.
//!
//! Entry e of all matrices is the vector at `e * L::N`. All is done in blocks of `EDGE` x `EDGE`,
//! so that most of the operands stay in registers; a triangle is padded to whole blocks. Rows from
//! `n` on are zeros or a right-hand side, and their pivots are taken as 1.

// Indices are those of the algebra; iterators would hide which entry meets which.
#![allow(clippy::needless_range_loop)]

use super::packed;
use super::transfer::clear;
use crate::lanes::Lanes;

/// Rows and columns of a block. Nine sums of products keep the multiply-adds busy, and they fit
/// into AVX2's registers together with their factors.
pub(super) const EDGE: usize = 3;

/// The height of a last block row that a right-hand side joins.
const TALL: usize = EDGE + 1;

/// A block of `H` rows.
type Block<L, const H: usize> = [[L; EDGE]; H];

/// The order of the triangle that holds `n` rows.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(EDGE)
}

/// The rows of a triangle: `n` of the matrix, then perhaps a right-hand side.
#[derive(Clone, Copy)]
struct Rows {
    n: usize,
    rows: usize,
}

impl Rows {
    /// Whether the right-hand side makes the last block row a tall one: if it had its own, that
    /// would be mostly padding.
    #[inline(always)]
    fn joins(self) -> bool {
        self.rows == self.n + 1 && self.n > 0 && self.n.is_multiple_of(EDGE)
    }

    /// Where the block rows end.
    #[inline(always)]
    fn end(self) -> usize {
        if self.joins() { self.n } else { self.rows }
    }

    /// Whether the block row from `i` on is a tall one.
    #[inline(always)]
    fn is_tall(self, i: usize) -> bool {
        self.joins() && i + EDGE == self.n
    }
}

/// What a factorisation tells besides the factor, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Pivots<L> {
    /// Zero as long as all went well, NaN afterwards.
    pub flaw: L,
    /// The product of the pivots' mantissas, each in [1, 2).
    pub mantissa: L,
    /// The sum of their biased exponents, as a word.
    pub exponent: L,
}

/// `w <- C` with `C C' = w`, the reciprocals of C's diagonal in its place; rows from `n` up to
/// `rows` become `x C'^-1`. A lane whose pivots are not all normal positive numbers gets a NaN as
/// `flaw`.
///
/// # Safety
/// `w` must hold the padded triangle of `rows` rows.
#[inline(always)]
pub(super) unsafe fn cholesky<L: Lanes>(w: *mut f64, n: usize, rows: usize) -> Pivots<L> {
    let zero = L::splat(0.0);
    let mut pivots = Pivots { flaw: zero, mantissa: L::splat(1.0), exponent: L::splat_bits(0) };
    // By columns: sums that follow each other then have the same length, which suits the prediction
    // of branches.
    let shape = Rows { n, rows };
    for j in (0..shape.end()).step_by(EDGE) {
        // SAFETY: all blocks are in the padded triangle, and those to the left are done.
        unsafe {
            if shape.is_tall(j) {
                factor_block::<L, TALL>(w, n, j, &mut pivots);
            } else {
                factor_block::<L, EDGE>(w, n, j, &mut pivots);
            }
            for i in (j + EDGE..shape.end()).step_by(EDGE) {
                if shape.is_tall(i) {
                    solve_block::<L, TALL>(w, i, j);
                } else {
                    solve_block::<L, EDGE>(w, i, j);
                }
            }
        }
    }
    pivots
}

/// Block (i, j) of the factor, j < i.
///
/// # Safety
/// Both block rows must be in the triangle.
#[inline(always)]
unsafe fn solve_block<L: Lanes, const H: usize>(w: *mut f64, i: usize, j: usize) {
    // SAFETY: the caller vouches for the rows; row k has k + 1 entries.
    unsafe {
        let (these, those) = (rows_of::<L, H>(w, i), rows_of::<L, EDGE>(w, j));
        let sums = row_products::<L, H>(&these, &those, j);
        for a in 0..H {
            let mut x = [L::splat(0.0); EDGE];
            for b in 0..EDGE {
                let mut sum = sums[a][b];
                for t in 0..b {
                    sum = x[t].mul_add(at::<L>(those[b], j + t), sum);
                }
                let rest = at::<L>(these[a], j + b).sub(sum);
                x[b] = rest.mul(at::<L>(those[b], j + b));
                x[b].store(these[a].add((j + b) * L::N));
            }
        }
    }
}

/// Block (i, i) of the factor.
///
/// # Safety
/// The block row must be in the triangle.
#[inline(always)]
unsafe fn factor_block<L: Lanes, const H: usize>(
    w: *mut f64,
    n: usize,
    i: usize,
    pivots: &mut Pivots<L>,
) {
    // SAFETY: the caller vouches for the rows; row k has k + 1 entries.
    unsafe {
        let these = rows_of::<L, H>(w, i);
        let mut c = row_products::<L, H>(&these, &rows_of::<L, EDGE>(w, i), i);
        for b in 0..EDGE {
            for a in b..H {
                let mut sum = c[a][b];
                for t in 0..b {
                    sum = c[a][t].mul_add(c[b][t], sum);
                }
                c[a][b] = at::<L>(these[a], i + b).sub(sum);
            }
            let inverse = if i + b < n { pivots.take(c[b][b]) } else { L::splat(1.0) };
            inverse.store(these[b].add((i + b) * L::N));
            for a in b + 1..H {
                c[a][b] = c[a][b].mul(inverse);
                c[a][b].store(these[a].add((i + b) * L::N));
            }
        }
        for (a, row) in these.iter().enumerate().skip(EDGE) {
            L::splat(1.0).store(row.add((i + a) * L::N));
        }
    }
}

impl<L: Lanes> Pivots<L> {
    /// Notes a pivot and returns the reciprocal of its root.
    #[inline(always)]
    fn take(&mut self, pivot: L) -> L {
        // What is too small, negative or NaN becomes 0, its reciprocal infinite; and 0 times
        // anything that is not finite is NaN.
        let pivot = pivot.zero_below(L::splat(f64::MIN_POSITIVE));
        let inverse = L::splat(1.0).div(pivot.sqrt());
        self.check(pivot);
        self.check(inverse);
        let fraction = pivot.and(L::splat_bits(0x000f_ffff_ffff_ffff));
        self.mantissa = self.mantissa.mul(fraction.or(L::splat(1.0)));
        self.exponent = self.exponent.add_words(pivot.shift_right(52));
        inverse
    }

    /// Notes whether a number is finite.
    #[inline(always)]
    pub(super) fn check(&mut self, x: L) {
        self.flaw = x.mul_add(L::splat(0.0), self.flaw);
    }
}

/// `w <- C^-1`, where the diagonal of `w` holds reciprocals already.
///
/// # Safety
/// `w` must hold the padded triangle of `rows` rows.
#[inline(always)]
pub(super) unsafe fn invert<L: Lanes>(w: *mut f64, n: usize, rows: usize) {
    let shape = Rows { n, rows };
    for i in (0..shape.end()).step_by(EDGE) {
        // SAFETY: all blocks are in the padded triangle. A block of C is read until its own place
        // is written, the ones on the diagonal not at all once they are inverted.
        unsafe {
            if shape.is_tall(i) {
                invert_row::<L, TALL>(w, i);
            } else {
                invert_row::<L, EDGE>(w, i);
            }
        }
    }
}

/// The blocks of one row of the inverse.
///
/// # Safety
/// The block row must be in the triangle.
#[inline(always)]
unsafe fn invert_row<L: Lanes, const H: usize>(w: *mut f64, i: usize) {
    // SAFETY: the caller vouches for the rows.
    unsafe {
        invert_block::<L, H>(w, i);
        for j in (0..i).step_by(EDGE) {
            eliminate_block::<L, H>(w, i, j);
        }
    }
}

/// Block (i, i) of the inverse.
///
/// # Safety
/// The block row must be in the triangle.
#[inline(always)]
unsafe fn invert_block<L: Lanes, const H: usize>(w: *mut f64, i: usize) {
    let zero = L::splat(0.0);
    let mut own = [[zero; H]; H];
    // SAFETY: the caller vouches for the rows; row k has k + 1 entries.
    unsafe {
        let these = rows_of::<L, H>(w, i);
        for a in 0..H {
            own[a][a] = at::<L>(these[a], i + a);
            for b in 0..a {
                let mut sum = zero;
                for t in b..a {
                    sum = at::<L>(these[a], i + t).mul_add(own[t][b], sum);
                }
                own[a][b] = zero.sub(own[a][a].mul(sum));
            }
        }
        for a in 0..H {
            for b in 0..a {
                own[a][b].store(these[a].add((i + b) * L::N));
            }
        }
    }
}

/// Block (i, j) of the inverse, j < i.
///
/// # Safety
/// Both block rows must be in the triangle.
#[inline(always)]
unsafe fn eliminate_block<L: Lanes, const H: usize>(w: *mut f64, i: usize, j: usize) {
    // SAFETY: the caller vouches for the rows; row k has k + 1 entries.
    unsafe {
        let these = rows_of::<L, H>(w, i);
        let sums = triangle_product::<L, H>(w, &these, j, i);
        for a in 0..H {
            for b in 0..EDGE {
                let mut x = at::<L>(these[a], i).mul(sums[0][b]);
                for t in 1..=a {
                    x = at::<L>(these[a], i + t).mul_add(sums[t][b], x);
                }
                L::splat(0.0).sub(x).store(these[a].add((j + b) * L::N));
            }
        }
    }
}

/// `w <- M' M` for the lower triangle M of the first `n` rows. The padding behind them is cleared.
///
/// # Safety
/// `w` must hold the padded triangle of `n` rows.
#[inline(always)]
pub(super) unsafe fn gram<L: Lanes>(w: *mut f64, n: usize) {
    // SAFETY: the padded triangle has these rows.
    unsafe { clear::<L>(w, packed(n), packed(padded(n))) };
    for i in (0..n).step_by(EDGE) {
        for j in (0..=i).step_by(EDGE) {
            // SAFETY: all rows are in the triangle. Those above i are results already and not read;
            // block (i, j) is not read once it is written, and (i, i) comes last.
            unsafe { gram_block::<L>(w, i, j, n) };
        }
    }
}

/// Block (i, j) of the product, j <= i.
///
/// # Safety
/// Rows below `n` must be in the triangle.
#[inline(always)]
unsafe fn gram_block<L: Lanes>(w: *mut f64, i: usize, j: usize, n: usize) {
    // SAFETY: the caller vouches for the rows; entries right of the diagonal are not written.
    unsafe {
        let sums = column_products::<L>(w, i, j, n);
        for a in 0..EDGE.min(n - i) {
            let row = w.add(packed(i + a) * L::N);
            for b in 0..EDGE {
                if j + b <= i + a {
                    sums[a][b].store(row.add((j + b) * L::N));
                }
            }
        }
    }
}

/// Where the rows of a block begin.
///
/// # Safety
/// Rows `i .. i + H` must be in the triangle.
#[inline(always)]
unsafe fn rows_of<L: Lanes, const H: usize>(w: *mut f64, i: usize) -> [*mut f64; H] {
    let mut rows = [w; H];
    for (a, row) in rows.iter_mut().enumerate() {
        // SAFETY: the caller vouches for the row.
        *row = unsafe { w.add(packed(i + a) * L::N) };
    }
    rows
}

/// # Safety
/// Entry `e` of the row must be readable.
#[inline(always)]
unsafe fn at<L: Lanes>(row: *mut f64, e: usize) -> L {
    // SAFETY: the caller vouches for the entry.
    unsafe { L::load(row.add(e * L::N)) }
}

/// `sum_k x[a][k] y[b][k]` over k < `len`, a multiple of `EDGE`.
///
/// # Safety
/// The rows must be readable so far.
#[inline(always)]
unsafe fn row_products<L: Lanes, const H: usize>(
    x: &[*mut f64; H],
    y: &[*mut f64; EDGE],
    len: usize,
) -> Block<L, H> {
    let mut sums = [[L::splat(0.0); EDGE]; H];
    for k in (0..len).step_by(EDGE) {
        for k in k..k + EDGE {
            let (mut left, mut right) = ([L::splat(0.0); H], [L::splat(0.0); EDGE]);
            // SAFETY: the caller vouches for the rows.
            unsafe {
                for a in 0..H {
                    left[a] = at::<L>(x[a], k);
                }
                for b in 0..EDGE {
                    right[b] = at::<L>(y[b], k);
                }
            }
            multiply_into(&mut sums, &left, &right);
        }
    }
    sums
}

/// `sums[a][b] += left[a] * right[b]`.
#[inline(always)]
fn multiply_into<L: Lanes, const H: usize>(
    sums: &mut Block<L, H>,
    left: &[L; H],
    right: &[L; EDGE],
) {
    for a in 0..H {
        for b in 0..EDGE {
            sums[a][b] = left[a].mul_add(right[b], sums[a][b]);
        }
    }
}

/// `sum_k x[a][k] w[k][j + b]` over j <= k < `end`, for a lower triangle `w`.
///
/// # Safety
/// Rows below `end` must be in the triangle, and `x` readable so far.
#[inline(always)]
unsafe fn triangle_product<L: Lanes, const H: usize>(
    w: *mut f64,
    x: &[*mut f64; H],
    j: usize,
    end: usize,
) -> Block<L, H> {
    let zero = L::splat(0.0);
    let mut sums = [[zero; EDGE]; H];
    // SAFETY: the caller vouches for all rows; row k has k + 1 entries.
    unsafe {
        for t in 0..EDGE {
            let row = w.add(packed(j + t) * L::N);
            for (a, sums) in sums.iter_mut().enumerate() {
                let left = at::<L>(x[a], j + t);
                for (b, sum) in sums.iter_mut().enumerate().take(t + 1) {
                    *sum = left.mul_add(at::<L>(row, j + b), *sum);
                }
            }
        }
        let mut row = w.add((packed(j + EDGE) + j) * L::N);
        for k in (j + EDGE..end).step_by(EDGE) {
            for k in k..k + EDGE {
                let (mut left, mut right) = ([zero; H], [zero; EDGE]);
                for a in 0..H {
                    left[a] = at::<L>(x[a], k);
                }
                for b in 0..EDGE {
                    right[b] = at::<L>(row, b);
                }
                multiply_into(&mut sums, &left, &right);
                row = row.add((k + 1) * L::N);
            }
        }
    }
    sums
}

/// `sum_k w[k][i + a] w[k][j + b]` over i <= k < `n` and up to the end of the last block, for a
/// lower triangle `w` and j <= i.
///
/// # Safety
/// The padded triangle of `n` rows must be readable.
#[inline(always)]
unsafe fn column_products<L: Lanes>(w: *mut f64, i: usize, j: usize, n: usize) -> Block<L, EDGE> {
    let zero = L::splat(0.0);
    let mut sums = [[zero; EDGE]; EDGE];
    // SAFETY: the caller vouches for all rows; row k has k + 1 entries.
    unsafe {
        for t in 0..EDGE {
            let row = w.add(packed(i + t) * L::N);
            for (a, sums) in sums.iter_mut().enumerate().take(t + 1) {
                let left = at::<L>(row, i + a);
                // On the diagonal the block is a triangle itself.
                let width = if i == j { t + 1 } else { EDGE };
                for (b, sum) in sums.iter_mut().enumerate().take(width) {
                    *sum = left.mul_add(at::<L>(row, j + b), *sum);
                }
            }
        }
        let mut row = w.add(packed(i + EDGE) * L::N);
        for k in (i + EDGE..n).step_by(EDGE) {
            for k in k..k + EDGE {
                let (mut left, mut right) = ([zero; EDGE], [zero; EDGE]);
                for a in 0..EDGE {
                    left[a] = at::<L>(row, i + a);
                    right[a] = at::<L>(row, j + a);
                }
                multiply_into(&mut sums, &left, &right);
                row = row.add((k + 1) * L::N);
            }
        }
    }
    sums
}
