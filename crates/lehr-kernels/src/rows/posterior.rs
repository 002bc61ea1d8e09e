//! Means and covariances from natural parameters, and whether a precision is positive definite.

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
    check_rows(lambda, stride, size + n, count);
    assert_eq!(Some(mean.len()), count.checked_mul(n), "a mean for each row");
    assert_eq!(Some(covariance.len()), count.checked_mul(size), "a covariance for each row");
    assert_eq!(ln_det.len(), count, "a determinant for each row");
    let w = aligned(scratch, packed(padded(n + 1)) * L::N).as_mut_ptr();
    for first in (0..count).step_by(L::N) {
        let here = L::N.min(count - first);
        // SAFETY: `w` has room for the padded triangle of n + 1 rows; the lengths of all rows were
        // checked above, and `here` of them are left.
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
            let mean = mean.as_mut_ptr().add(first * n);
            store_lanes::<L>(w.add(size * L::N), -1.0, here, n, mean, n);
            gram::<L>(w, n);
            for i in 0..n {
                pivots.check(L::load(w.add((packed(i) + i) * L::N)));
            }
            let covariance = covariance.as_mut_ptr().add(first * size);
            store_lanes::<L>(w, 1.0, here, size, covariance, size);
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
