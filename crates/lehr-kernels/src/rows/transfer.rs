//! Between rows in memory and matrices in lanes, one row per lane: entry e of all of them is the
//! vector at `e * L::N`.

use crate::lanes::Lanes;

/// Entries `0 .. len` of the matrices at `from`, `stride` apart, one matrix per lane. The last of
/// `count` is repeated in the lanes that are left.
///
/// # Safety
/// `len` numbers must be readable at `from + i * stride` for i < `count`, which must be positive,
/// and `to` writable for `len * L::N`.
#[inline(always)]
pub(super) unsafe fn load_lanes<L: Lanes>(
    from: *const f64,
    stride: usize,
    count: usize,
    len: usize,
    to: *mut f64,
) {
    let mut e = 0;
    // SAFETY: all offsets are below those that the caller vouches for.
    unsafe {
        if count >= L::N {
            while e + L::N <= len {
                L::transpose(from.add(e), stride, L::splat(1.0), to.add(e * L::N), L::N);
                e += L::N;
            }
        }
        for e in e..len {
            for lane in 0..L::N {
                *to.add(e * L::N + lane) = *from.add(lane.min(count - 1) * stride + e);
            }
        }
    }
}

/// The reverse of `load_lanes`, each number times `scale`.
///
/// # Safety
/// As `load_lanes`, with reading and writing exchanged.
#[inline(always)]
pub(super) unsafe fn store_lanes<L: Lanes>(
    from: *const f64,
    scale: f64,
    count: usize,
    len: usize,
    to: *mut f64,
    stride: usize,
) {
    let mut e = 0;
    // SAFETY: all offsets are below those that the caller vouches for.
    unsafe {
        if count >= L::N {
            while e + L::N <= len {
                L::transpose(from.add(e * L::N), L::N, L::splat(scale), to.add(e), stride);
                e += L::N;
            }
        }
        for e in e..len {
            for lane in 0..count.min(L::N) {
                *to.add(lane * stride + e) = scale * *from.add(e * L::N + lane);
            }
        }
    }
}

/// Sets some entries to 0.
///
/// # Safety
/// `w` must be writable for entries up to `to`.
#[inline(always)]
pub(super) unsafe fn clear<L: Lanes>(w: *mut f64, from: usize, to: usize) {
    for e in from..to {
        // SAFETY: below `to`.
        unsafe { L::splat(0.0).store(w.add(e * L::N)) };
    }
}
