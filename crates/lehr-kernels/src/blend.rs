//! Line 6 of the algorithm for one row of lambda: decay, step and replacement, entry by entry, one by one or at once.
//!
//! Every entry is its own result, so that all instruction sets with a fused multiply-add give the same bits.

use crate::dispatch;
use crate::lanes::Lanes;

/// Room for the end of a row that does not fill a vector.
const ROOM: usize = 8;

/// `eta + p (x - eta)`.
#[inline(always)]
pub(crate) fn decayed<L: Lanes>(x: L, eta: L, p: L) -> L {
    x.sub(eta).mul_add(p, eta)
}

dispatch! {
    /// `x <- eta + p (x - eta)`: what is left of a row after some steps that did not touch it.
    decay_row => decay_row_body(row: &mut [f64], eta: &[f64], p: f64)
}

#[inline(always)]
fn decay_row_body<L: Lanes>(row: &mut [f64], eta: &[f64], p: f64) {
    assert_eq!(row.len(), eta.len(), "a prior per number");
    let left = L::splat(p);
    let whole = row.len() / L::N * L::N;
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside both.
        unsafe {
            let to = row.as_mut_ptr().add(k);
            decayed(L::load(to), L::load(eta.as_ptr().add(k)), left).store(to);
        }
    }
    let (mut x, eta) = (end(&row[whole..]), end(&eta[whole..]));
    // SAFETY: buffers have room for a vector.
    unsafe { decayed(L::load(x.as_ptr()), L::load(eta.as_ptr()), left).store(x.as_mut_ptr()) };
    let n = row.len() - whole;
    row[whole..].copy_from_slice(&x[..n]);
}

dispatch! {
    /// `x <- old + factor * x`; if `clamps`, negative x count as 0 and are counted in `clamped`. `is_finite` says whether
    /// all results are.
    step_row => step_row_body(old: &[f64], factor: f64, clamps: bool, x: &mut [f64],
        clamped: &mut u64, is_finite: &mut bool)
}

#[inline(always)]
fn step_row_body<L: Lanes>(
    old: &[f64],
    factor: f64,
    clamps: bool,
    x: &mut [f64],
    clamped: &mut u64,
    is_finite: &mut bool,
) {
    assert_eq!(old.len(), x.len(), "rows of one length");
    if clamps {
        for x in &mut *x {
            *clamped += u64::from(*x < 0.0);
            *x = x.max(0.0);
        }
    }
    let factor = L::splat(factor);
    // y - y is 0 if y is finite, and else is not a number.
    let mut odd = L::splat(0.0);
    let whole = x.len() / L::N * L::N;
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside both.
        unsafe {
            let to = x.as_mut_ptr().add(k);
            let y = L::load(to).mul_add(factor, L::load(old.as_ptr().add(k)));
            y.store(to);
            odd = odd.add(y.sub(y));
        }
    }
    let (mut y, old) = (end(&x[whole..]), end(&old[whole..]));
    let mut odds = [0.0; ROOM];
    // SAFETY: buffers have room for a vector.
    unsafe {
        let end = L::load(y.as_ptr()).mul_add(factor, L::load(old.as_ptr()));
        end.store(y.as_mut_ptr());
        odd.add(end.sub(end)).store(odds.as_mut_ptr());
    }
    let n = x.len() - whole;
    x[whole..].copy_from_slice(&y[..n]);
    *is_finite = odds.iter().all(|&odd| odd == 0.0);
}

dispatch! {
    /// `gain += new - old`, then `old <- new`.
    replace_row => replace_row_body(old: &mut [f64], new: &[f64], gain: &mut [f64])
}

#[inline(always)]
fn replace_row_body<L: Lanes>(old: &mut [f64], new: &[f64], gain: &mut [f64]) {
    assert!(old.len() == new.len() && gain.len() == new.len(), "rows of one length");
    let whole = new.len() / L::N * L::N;
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside all three.
        unsafe {
            let (x, to) = (L::load(new.as_ptr().add(k)), old.as_mut_ptr().add(k));
            let sum = gain.as_mut_ptr().add(k);
            L::load(sum).add(x.sub(L::load(to))).store(sum);
            x.store(to);
        }
    }
    for ((gain, old), &new) in gain[whole..].iter_mut().zip(&mut old[whole..]).zip(&new[whole..]) {
        *gain += new - *old;
        *old = new;
    }
}

dispatch! {
    /// All of it at once for a row that needs no test: [`decay_row`], then [`step_row`] with statistics `x`, then
    /// [`replace_row`], with the same bits. Nothing happens if some statistic is not finite; `done` tells.
    advance_row => advance_row_body(row: &mut [f64], eta: &[f64], p: f64, x: &[f64], factor: f64,
        gain: &mut [f64], done: &mut bool)
}

#[inline(always)]
fn advance_row_body<L: Lanes>(
    row: &mut [f64],
    eta: &[f64],
    p: f64,
    x: &[f64],
    factor: f64,
    gain: &mut [f64],
    done: &mut bool,
) {
    let n = row.len();
    assert!(eta.len() == n && x.len() == n && gain.len() == n, "rows of one length");
    let whole = n / L::N * L::N;
    // y - y is 0 if y is finite, and else is not a number.
    let mut odd = L::splat(0.0);
    let mut odds = [0.0; ROOM];
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside.
        let x = unsafe { L::load(x.as_ptr().add(k)) };
        odd = odd.add(x.sub(x));
    }
    let last = end(&x[whole..]);
    // SAFETY: buffers have room for a vector.
    unsafe {
        let last = L::load(last.as_ptr());
        odd.add(last.sub(last)).store(odds.as_mut_ptr());
    }
    *done = odds.iter().all(|&odd| odd == 0.0);
    if !*done {
        return;
    }
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside all four.
        unsafe {
            let at = (row.as_mut_ptr().add(k), eta.as_ptr().add(k), x.as_ptr().add(k));
            advance::<L>(at, p, factor, gain.as_mut_ptr().add(k));
        }
    }
    if whole < n {
        let (mut old, mut sum) = (end(&row[whole..]), end(&gain[whole..]));
        let eta = end(&eta[whole..]);
        // SAFETY: buffers have room for a vector.
        unsafe {
            let at = (old.as_mut_ptr(), eta.as_ptr(), last.as_ptr());
            advance::<L>(at, p, factor, sum.as_mut_ptr());
        }
        row[whole..].copy_from_slice(&old[..n - whole]);
        gain[whole..].copy_from_slice(&sum[..n - whole]);
    }
}

/// One vector of [`advance_row`]: the row, its prior and its statistics.
///
/// # Safety
/// There must be a vector at each place.
#[inline(always)]
unsafe fn advance<L: Lanes>(
    (row, eta, x): (*mut f64, *const f64, *const f64),
    p: f64,
    factor: f64,
    gain: *mut f64,
) {
    // SAFETY: the caller vouches for the places.
    unsafe {
        let old = decayed(L::load(row), L::load(eta), L::splat(p));
        let new = L::load(x).mul_add(L::splat(factor), old);
        L::load(gain).add(new.sub(old)).store(gain);
        new.store(row);
    }
}

/// The end of a row, and 0 behind it.
#[inline(always)]
fn end(of: &[f64]) -> [f64; ROOM] {
    let mut out = [0.0; ROOM];
    out[..of.len()].copy_from_slice(of);
    out
}
