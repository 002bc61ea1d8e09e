//! Means, covariances and moments from natural parameters, and whether a precision is positive definite.

use super::transfer::{clear, load_lanes, store_lanes};
use super::triangle::{cholesky, gram, invert, padded};
use super::{MOST_DIMS, aligned, packed};
use crate::dispatch;
use crate::lanes::Lanes;

dispatch! {
    /// For each row r, with the precision Lambda (packed) and h one after the other at
    /// `lambda[r * stride..]`: `mean = Lambda^-1 h`, `covariance = Lambda^-1` (packed) and
    /// `ln_det = ln |Lambda|`, each row behind the other. There are `valid.len()` rows.
    ///
    /// `valid[r]` says whether Lambda is positive definite (with pivots that are normal numbers)
    /// and the results finite; where it is false they are unspecified. A row's results depend on
    /// that row alone, and are the same in all instruction sets that fuse.
    ///
    /// Equivalent to `Symmetric::cholesky`, `ln_det`, `invert_lower`, `gram` and `times` of each
    /// row.
    ///
    /// # Panics
    /// If a length does not fit.
    posterior => posterior_body(
        n_dims: usize, lambda: &[f64], stride: usize, mean: &mut [f64], covariance: &mut [f64],
        ln_det: &mut [f64], valid: &mut [bool], scratch: &mut Vec<f64>,
    )
}

dispatch! {
    /// As [`posterior`], but at `out[r * out_stride..]` the second moments `covariance + mean mean'` (packed), and at
    /// `mean_at` behind that the mean. Numbers between these stay as they are.
    ///
    /// Equivalent to [`posterior`] and the sums, each rounded once where the hardware can.
    ///
    /// # Panics
    /// If a length does not fit or the mean would lie over the second moments.
    moments => moments_body(
        n_dims: usize, lambda: &[f64], stride: usize, out: &mut [f64], out_stride: usize,
        mean_at: usize, ln_det: &mut [f64], valid: &mut [bool], scratch: &mut Vec<f64>,
    )
}

dispatch! {
    /// `valid[r]` = whether `Lambda - diag(shift)` is finite and positive definite (with pivots
    /// that are normal numbers), for the packed Lambda at `lambda[r * stride..]`.
    ///
    /// Equivalent to `Symmetric::cholesky` of each row's shifted precision.
    ///
    /// # Panics
    /// If a length does not fit.
    is_positive_definite => is_positive_definite_body(
        n_dims: usize, lambda: &[f64], stride: usize, shift: &[f64], valid: &mut [bool],
        scratch: &mut Vec<f64>,
    )
}

/// Checks that `count` rows of `len` numbers, `stride` apart, are within `rows`.
#[inline(always)]
fn check_rows(rows: &[f64], stride: usize, len: usize, count: usize) {
    let Some(last) = count.checked_sub(1) else { return };
    let end = last.checked_mul(stride).and_then(|at| at.checked_add(len));
    assert!(end.is_some_and(|end| end <= rows.len()), "{count} rows of {len}, {stride} apart");
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn posterior_body<L: Lanes>(
    n_dims: usize,
    lambda: &[f64],
    stride: usize,
    mean: &mut [f64],
    covariance: &mut [f64],
    ln_det: &mut [f64],
    valid: &mut [bool],
    scratch: &mut Vec<f64>,
) {
    assert!(n_dims <= MOST_DIMS, "at most {MOST_DIMS} dimensions");
    let (n, count, size) = (n_dims, valid.len(), packed(n_dims));
    assert_eq!(Some(mean.len()), count.checked_mul(n), "a mean for each row");
    assert_eq!(Some(covariance.len()), count.checked_mul(size), "a covariance for each row");
    let to = Solved { mean: (mean.as_mut_ptr(), n), second: (covariance.as_mut_ptr(), size) };
    // SAFETY: there is room for every row's mean and covariance.
    unsafe { solve::<L, false>(n, lambda, stride, to, ln_det, valid, scratch) }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn moments_body<L: Lanes>(
    n_dims: usize,
    lambda: &[f64],
    stride: usize,
    out: &mut [f64],
    out_stride: usize,
    mean_at: usize,
    ln_det: &mut [f64],
    valid: &mut [bool],
    scratch: &mut Vec<f64>,
) {
    assert!(n_dims <= MOST_DIMS && mean_at <= isize::MAX as usize / 2, "sizes can be counted");
    assert!(packed(n_dims) <= mean_at, "the mean is behind the second moments");
    check_rows(out, out_stride, mean_at + n_dims, valid.len());
    assert!(valid.len() < 2 || mean_at + n_dims <= out_stride, "rows follow each other");
    let second = out.as_mut_ptr();
    // Not to be followed if there are no rows.
    let mean = second.wrapping_add(mean_at);
    let to = Solved { mean: (mean, out_stride), second: (second, out_stride) };
    // SAFETY: there is room for every row's mean and second moments.
    unsafe { solve::<L, true>(n_dims, lambda, stride, to, ln_det, valid, scratch) }
}

/// Where the solutions of rows go: the first row's, and how far apart they are.
struct Solved {
    mean: (*mut f64, usize),
    /// Covariances, or second moments.
    second: (*mut f64, usize),
}

/// Solves for `valid.len()` rows; covariances become second moments if these are wanted.
///
/// # Safety
/// Every row must have room for its results.
#[inline(always)]
unsafe fn solve<L: Lanes, const MOMENTS: bool>(
    n: usize,
    lambda: &[f64],
    stride: usize,
    to: Solved,
    ln_det: &mut [f64],
    valid: &mut [bool],
    scratch: &mut Vec<f64>,
) {
    let (count, size) = (valid.len(), packed(n));
    check_rows(lambda, stride, size + n, count);
    assert_eq!(ln_det.len(), count, "a determinant for each row");
    let triangle = packed(padded(n + 1)) * L::N;
    let w = aligned(scratch, triangle + n * L::N).as_mut_ptr();
    for first in (0..count).step_by(L::N) {
        let here = L::N.min(count - first);
        // SAFETY: `w` has room for the padded triangle of n + 1 rows and a mean; the lengths of all rows
        // were checked above, the caller vouches for those of the results, and `here` of them are left.
        let pivots = unsafe {
            load_lanes::<L>(lambda.as_ptr().add(first * stride), stride, here, size + n, w);
            clear::<L>(w, size + n, packed(padded(n + 1)));
            // h is one more row of the triangle: the factorisation makes it y = C^-1 h, the
            // inversion -y' C^-1, which is minus the mean.
            let mut pivots = cholesky::<L>(w, n, n + 1);
            invert::<L>(w, n, n + 1);
            for i in 0..n {
                pivots.check(L::load(w.add((size + i) * L::N)));
            }
            let (mean, apart) = to.mean;
            store_lanes::<L>(w.add(size * L::N), -1.0, here, n, mean.add(first * apart), apart);
            let minus_mean = w.add(triangle);
            if MOMENTS {
                minus_mean.copy_from_nonoverlapping(w.add(size * L::N), n * L::N);
            }
            gram::<L>(w, n);
            for i in 0..n {
                pivots.check(L::load(w.add((packed(i) + i) * L::N)));
            }
            if MOMENTS {
                add_squares::<L>(w, minus_mean, n);
            }
            let (second, apart) = to.second;
            store_lanes::<L>(w, 1.0, here, size, second.add(first * apart), apart);
            pivots
        };
        let (flaws, mantissas) = (in_lanes(pivots.flaw), in_lanes(pivots.mantissa));
        let exponents = in_lanes(pivots.exponent);
        for lane in 0..here {
            valid[first + lane] = flaws[lane] == 0.0;
            let exponent = exponents[lane].to_bits() as i64 - 1023 * n as i64;
            ln_det[first + lane] = mantissas[lane].ln() + exponent as f64 * std::f64::consts::LN_2;
        }
    }
}

/// `w += x x'` for the packed triangle of n rows.
///
/// # Safety
/// `w` must hold the triangle, and `x` n entries.
#[inline(always)]
unsafe fn add_squares<L: Lanes>(w: *mut f64, x: *const f64, n: usize) {
    let mut to = w;
    for i in 0..n {
        // SAFETY: the caller vouches for both; row i has i + 1 entries.
        unsafe {
            let own = L::load(x.add(i * L::N));
            for j in 0..=i {
                own.mul_add(L::load(x.add(j * L::N)), L::load(to)).store(to);
                to = to.add(L::N);
            }
        }
    }
}

#[inline(always)]
fn is_positive_definite_body<L: Lanes>(
    n_dims: usize,
    lambda: &[f64],
    stride: usize,
    shift: &[f64],
    valid: &mut [bool],
    scratch: &mut Vec<f64>,
) {
    assert!(n_dims <= MOST_DIMS, "at most {MOST_DIMS} dimensions");
    let (n, count, size) = (n_dims, valid.len(), packed(n_dims));
    check_rows(lambda, stride, size, count);
    assert_eq!(shift.len(), n, "a shift for each dimension");
    let w = aligned(scratch, packed(padded(n)) * L::N).as_mut_ptr();
    for first in (0..count).step_by(L::N) {
        let here = L::N.min(count - first);
        // SAFETY: `w` has room for the padded triangle of n rows; the lengths of all rows were
        // checked above, and `here` of them are left.
        let flaws = unsafe {
            load_lanes::<L>(lambda.as_ptr().add(first * stride), stride, here, size, w);
            clear::<L>(w, size, packed(padded(n)));
            for (i, &shift) in shift.iter().enumerate() {
                let entry = w.add((packed(i) + i) * L::N);
                L::load(entry).sub(L::splat(shift)).store(entry);
            }
            in_lanes(cholesky::<L>(w, n, n).flaw)
        };
        for (valid, flaw) in valid[first..first + here].iter_mut().zip(flaws) {
            *valid = flaw == 0.0;
        }
    }
}

/// The lanes as numbers; those that a narrower vector has not are 0.
#[inline(always)]
fn in_lanes<L: Lanes>(x: L) -> [f64; 8] {
    const { assert!(L::N <= 8) };
    let mut numbers = [0.0; 8];
    // SAFETY: no vector has more than eight lanes.
    unsafe { x.store(numbers.as_mut_ptr()) };
    numbers
}
