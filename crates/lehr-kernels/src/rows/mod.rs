//! Rows of a factorisation: sums of table rows over ratings, and each row's Gaussian in natural
//! parameters.
//!
//! A row's natural parameters are its packed precision Lambda followed by the linear term h.
//! Together they are the first `n (n + 3) / 2` numbers of the packed triangle of a matrix of order
//! n + 1, so h is simply one more row of that triangle for the factorisations below.

mod centre;
mod sums;
mod transfer;
mod triangle;
mod posterior;
mod congruence;
mod narrow;

pub use centre::{centre_f32, centre_f64};
pub use congruence::congruence;
pub use narrow::narrow;
pub use posterior::{is_positive_definite, moments, posterior};
pub use sums::{Factors, MIXED, SLAB_WIDTHS, WIDEST_MIXED, sum_slab_f32, sum_slab_f64};

/// More dimensions than any factorisation has; sizes up to it cannot overflow.
const MOST_DIMS: usize = 1 << 16;

/// Where row `i` of a packed triangle begins; also how many numbers one of `i` rows has.
#[inline(always)]
pub(crate) const fn packed(i: usize) -> usize {
    i * (i + 1) / 2
}

/// The part of `scratch` from its first cache line on, with room for `len` numbers. Vectors that
/// cross cache lines would cost two loads each.
fn aligned(scratch: &mut Vec<f64>, len: usize) -> &mut [f64] {
    const LINE: usize = 64;
    if scratch.len() < len + LINE / 8 {
        scratch.resize(len + LINE / 8, 0.0);
    }
    // `align_offset` may refuse; then nothing is aligned, and all is as right.
    let offset = scratch.as_ptr().align_offset(LINE).min(LINE / 8);
    &mut scratch[offset..offset + len]
}
