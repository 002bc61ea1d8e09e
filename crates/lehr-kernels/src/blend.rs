//! Line 6 of the algorithm for one row of lambda: decay, step and replacement, entry by entry, one by one or at once.
//!
//! Every entry is its own result, so that all instruction sets with a fused multiply-add give the same bits.

use crate::dispatch;
use crate::lanes::Lanes;

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
    let n = row.len() - whole;
    if n == 0 {
        return;
    }
    // SAFETY: there are `n` numbers from `whole` on in both.
    unsafe {
        let to = row.as_mut_ptr().add(whole);
        let eta = L::load_first(eta.as_ptr().add(whole), n);
        decayed(L::load_first(to, n), eta, left).store_first(to, n);
    }
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
    let n = x.len() - whole;
    if n > 0 {
        // SAFETY: there are `n` numbers from `whole` on in both.
        unsafe {
            let to = x.as_mut_ptr().add(whole);
            let old = L::load_first(old.as_ptr().add(whole), n);
            let y = L::load_first(to, n).mul_add(factor, old);
            y.store_first(to, n);
            odd = odd.add(y.sub(y));
        }
    }
    *is_finite = all_zero(odd);
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
    let n = new.len() - whole;
    if n == 0 {
        return;
    }
    // SAFETY: there are `n` numbers from `whole` on in all three.
    unsafe {
        let (x, to) = (L::load_first(new.as_ptr().add(whole), n), old.as_mut_ptr().add(whole));
        let sum = gain.as_mut_ptr().add(whole);
        L::load_first(sum, n).add(x.sub(L::load_first(to, n))).store_first(sum, n);
        x.store_first(to, n);
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
    let rest = n - whole;
    // y - y is 0 if y is finite, and else is not a number.
    let mut odd = L::splat(0.0);
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside.
        let x = unsafe { L::load(x.as_ptr().add(k)) };
        odd = odd.add(x.sub(x));
    }
    // SAFETY: there are `rest` numbers from `whole` on.
    let last = unsafe { L::load_first(x.as_ptr().add(whole), rest) };
    *done = all_zero(odd.add(last.sub(last)));
    if !*done {
        return;
    }
    let (p, factor) = (L::splat(p), L::splat(factor));
    for k in (0..whole).step_by(L::N) {
        // SAFETY: a whole vector from k on is inside all four.
        unsafe {
            let (to, sum) = (row.as_mut_ptr().add(k), gain.as_mut_ptr().add(k));
            let (x, eta) = (L::load(x.as_ptr().add(k)), L::load(eta.as_ptr().add(k)));
            let (new, sums) = advanced(L::load(to), eta, p, x, factor, L::load(sum));
            new.store(to);
            sums.store(sum);
        }
    }
    if rest == 0 {
        return;
    }
    // SAFETY: there are `rest` numbers from `whole` on in all four.
    unsafe {
        let (to, sum) = (row.as_mut_ptr().add(whole), gain.as_mut_ptr().add(whole));
        let (old, sums) = (L::load_first(to, rest), L::load_first(sum, rest));
        let eta = L::load_first(eta.as_ptr().add(whole), rest);
        let (new, sums) = advanced(old, eta, p, last, factor, sums);
        new.store_first(to, rest);
        sums.store_first(sum, rest);
    }
}

/// One vector of [`advance_row`]: the row and what it has gained so far.
#[inline(always)]
fn advanced<L: Lanes>(old: L, eta: L, p: L, x: L, factor: L, gain: L) -> (L, L) {
    let old = decayed(old, eta, p);
    let new = x.mul_add(factor, old);
    (new, gain.add(new.sub(old)))
}

/// Whether all lanes are 0.
#[inline(always)]
fn all_zero<L: Lanes>(x: L) -> bool {
    let mut lanes = [0.0; 8];
    // SAFETY: there is room for any vector.
    unsafe { x.store(lanes.as_mut_ptr()) };
    lanes.iter().fold(true, |zero, &lane| zero & (lane == 0.0))
}
