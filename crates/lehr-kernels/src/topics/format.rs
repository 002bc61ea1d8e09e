//! How a row stores its numbers: one in 32 bits, or two of 16 bits, which halves what a document reads.

use crate::lanes32::{Lanes32, half};

/// Topics that are loaded together: two vectors of the widest instruction set.
pub(super) const TOGETHER: usize = 32;

/// The smallest entry of a row, so that no product with a [`theta`](super::solve_document) is denormal.
pub(super) const SMALLEST_ENTRY: f32 = 1e-20;

/// How the numbers of a row are stored. Rows are whole groups of [`TOGETHER`] topics.
pub(super) trait Format {
    /// The 32-bit words of a group.
    const WORDS: usize;

    /// Topics `h ..` and `16 + h ..` of a group, `h + N` being at most 16.
    ///
    /// # Safety
    /// The group must be inside the row, and the CPU must have the lanes' instructions.
    unsafe fn load<L: Lanes32>(row: *const f32, group: usize, h: usize) -> (L, L);

    /// The reverse of `load`.
    ///
    /// # Safety
    /// As `load`.
    unsafe fn store<L: Lanes32>(row: *mut f32, group: usize, h: usize, x: L, y: L);

    /// Entries of a row without those that are below `floor`.
    fn without_smallest<L: Lanes32>(x: L, floor: L) -> L;

    /// One topic, as `load` reads it.
    ///
    /// # Safety
    /// The topic must be inside the row.
    unsafe fn one(row: *const f32, topic: usize) -> f32;
}

/// One number in 32 bits.
pub(super) struct Whole;

/// Two numbers in 32 bits: 8 bits of precision, as training needs.
pub(super) struct Pairs;

impl Format for Whole {
    const WORDS: usize = 32;

    #[inline(always)]
    unsafe fn load<L: Lanes32>(row: *const f32, group: usize, h: usize) -> (L, L) {
        // SAFETY: the caller vouches for the group.
        unsafe {
            let at = row.add(group * TOGETHER + h);
            (L::load(at), L::load(at.add(16)))
        }
    }

    #[inline(always)]
    unsafe fn store<L: Lanes32>(row: *mut f32, group: usize, h: usize, x: L, y: L) {
        // SAFETY: the caller vouches for the group.
        unsafe {
            let at = row.add(group * TOGETHER + h);
            x.store(at);
            y.store(at.add(16));
        }
    }

    #[inline(always)]
    fn without_smallest<L: Lanes32>(x: L, floor: L) -> L {
        x.zero_below(floor)
    }

    #[inline(always)]
    unsafe fn one(row: *const f32, topic: usize) -> f32 {
        // SAFETY: the caller vouches for the topic.
        unsafe { *row.add(topic) }
    }
}

impl Format for Pairs {
    const WORDS: usize = 16;

    #[inline(always)]
    unsafe fn load<L: Lanes32>(row: *const f32, group: usize, h: usize) -> (L, L) {
        // SAFETY: the caller vouches for the group.
        unsafe { L::load_pairs(row.add(group * 16 + h)) }
    }

    #[inline(always)]
    unsafe fn store<L: Lanes32>(row: *mut f32, group: usize, h: usize, x: L, y: L) {
        // SAFETY: the caller vouches for the group.
        unsafe { L::store_pairs(x, y, row.add(group * 16 + h)) }
    }

    /// Not 0: what stands below a 0 in the same word would be read as a denormal number.
    #[inline(always)]
    fn without_smallest<L: Lanes32>(x: L, floor: L) -> L {
        x.max(floor)
    }

    #[inline(always)]
    unsafe fn one(row: *const f32, topic: usize) -> f32 {
        // SAFETY: the caller vouches for the topic.
        unsafe { half(row, topic) }
    }
}
