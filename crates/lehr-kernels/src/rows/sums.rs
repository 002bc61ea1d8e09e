//! Sums of table rows over the ratings of many blocks, one slab of columns at a time.

use crate::lanes::Lanes;
use crate::lanes32::{Lanes32, Narrow};
use crate::{dispatch, prefetch};
use std::ops::Range;

/// The numbers of columns that a slab can have. A table is stored slab after slab, so that the rows of
/// one slab stay in the second-level cache while all ratings of a shard pass over them; wider slabs need
/// fewer passes, but those of larger tables then come from further away.
pub const SLAB_WIDTHS: [usize; 2] = [16, 32];

/// The most columns of a slab whose last [`MIXED`] columns have coefficients: as many sums as fit into
/// AVX2's registers, together with their factors.
pub const WIDEST_MIXED: usize = 96;

/// How many columns these are.
pub const MIXED: usize = 16;

/// Ratings that are summed in registers before the sum goes to f64: the error then stays that of
/// this many additions in f32, however many ratings a block has.
const STRETCH: usize = 64;

/// How many ratings ahead rows are asked for: about the time that the third-level cache takes.
const AHEAD: usize = 16;

/// How many blocks ahead the places of their sums are asked for: those of a slab are far apart, and to wait for each of
/// them took a tenth of the time.
const BLOCKS_AHEAD: usize = 4;

/// Slabs of at most this many bytes mostly stay in the second-level cache. Rows that are there are not asked for ahead:
/// that would cost as many loads as they are.
const NEAR: usize = 1 << 20;

/// Sums that are kept side by side at most: consecutive ratings go to different ones, since
/// additions to one sum wait for each other.
const MOST_SETS: usize = 2;

/// Vectors of the widest slab with the fewest lanes that there are.
const MOST_VECTORS: usize = WIDEST_MIXED / 4;

/// The same of columns that have coefficients.
const MOST_RATED: usize = SLAB_WIDTHS[1] / 4;

/// What the ratings' rows are multiplied by before they are added up.
#[derive(Debug, Clone, Copy)]
pub struct Factors<'a, R> {
    /// The weights of the ratings; none: all are 1.
    pub weights: &'a [R],
    /// The first column that has coefficients: none of the slab, all, or in a mixed slab the last [`MIXED`].
    pub split: usize,
    /// Weights times ratings, for the columns from `split` on.
    pub coefficients: &'a [R],
    /// Where in a block's part of `out` the sums times the coefficients begin. If that is `split`, they are the only
    /// sums of these columns; if it is behind the slab's columns, those have sums times the weights as well.
    pub rated: usize,
}

dispatch! {
    /// `out[b * stride + c] = sum_n w_n slab[others[n] * width + c]` for each block b and column c <
    /// width, n going over `starts[b] .. starts[b + 1]`, w_n being the weight of rating n; and for c from `split` on
    /// `out[b * stride + rated + c - split]` the same with its coefficient. `others`, `weights` and `coefficients`
    /// begin with rating `starts[0]`.
    ///
    /// Equivalent to the sum in f64, but for rounding: 64 ratings of a block at a time are summed
    /// in f32, the even and the odd ones apart unless the slab is wide, and the sums of the two are added up in `out`.
    /// Column c is summed alike in every instruction set.
    ///
    /// # Panics
    /// If the slab has another width than [`SLAB_WIDTHS`] (mixed ones: than a multiple of 16 up to
    /// [`WIDEST_MIXED`]) or another split than there is, sums would lie over each other, the starts descend, a length
    /// does not fit or a row of `others` is not in the slab.
    sum_slab_f32 => sum_f32_body(
        width: usize, slab: &[f32], starts: &[usize], others: &[u32], factors: Factors<'_, f32>,
        out: &mut [f64], stride: usize,
    )
}

dispatch! {
    /// [`sum_slab_f32`] for a table of f64, summed in f64 in the order of the ratings.
    ///
    /// Equivalent to `out[b * stride + c] = sum_n w_n slab[others[n] * width + c]`.
    sum_slab_f64 => sum_f64_body(
        width: usize, slab: &[f64], starts: &[usize], others: &[u32], factors: Factors<'_, f64>,
        out: &mut [f64], stride: usize,
    )
}

/// What the sums need of a vector of either precision.
trait Columns: Copy {
    type Number: Copy;
    /// How many columns one value holds.
    const N: usize;
    /// Sums kept side by side for a slab of this width: the widest has enough of them by itself.
    fn sets(width: usize) -> usize;
    fn splat(x: Self::Number) -> Self;
    fn zero() -> Self;
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn load(from: *const Self::Number) -> Self;
    fn add(self, other: Self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `to += self`.
    ///
    /// # Safety
    /// `to` must be readable and writable for `N` numbers.
    unsafe fn add_to(self, to: *mut f64);
    /// `to = self`.
    ///
    /// # Safety
    /// `to` must be writable for `N` numbers.
    unsafe fn store_to(self, to: *mut f64);
    /// `to = self` if it is the first, else `to += self`.
    ///
    /// # Safety
    /// As `add_to`.
    #[inline(always)]
    unsafe fn put(self, is_first: bool, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { if is_first { self.store_to(to) } else { self.add_to(to) } }
    }
    /// Asks for a row of the slab, which may be at any address.
    fn prefetch<const W: usize>(row: *const Self::Number);
}

/// Columns in single precision.
#[derive(Clone, Copy)]
struct Single<L>(L);

impl<L: Lanes32> Columns for Single<L> {
    type Number = f32;
    const N: usize = L::N;
    #[inline(always)]
    fn sets(width: usize) -> usize {
        if width < 64 { 2 } else { 1 }
    }
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Single(L::splat(x))
    }
    #[inline(always)]
    fn zero() -> Self {
        Single(L::splat(0.0))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for the pointer.
        Single(unsafe { L::load(from) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Single(self.0.add(other.0))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Single(self.0.mul_add(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn add_to(self, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { self.0.add_to_wide(to) }
    }
    #[inline(always)]
    unsafe fn store_to(self, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { self.0.store_wide(to) }
    }
    #[inline(always)]
    fn prefetch<const W: usize>(row: *const f32) {
        for line in 0..W / 16 {
            L::prefetch(row.wrapping_add(16 * line));
        }
    }
}

/// Columns in double precision: twice the registers, so a single sum.
#[derive(Clone, Copy)]
struct Double<L>(L);

impl<L: Lanes> Columns for Double<L> {
    type Number = f64;
    const N: usize = L::N;
    #[inline(always)]
    fn sets(_: usize) -> usize {
        1
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Double(L::splat(x))
    }
    #[inline(always)]
    fn zero() -> Self {
        Double(L::splat(0.0))
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for the pointer.
        Double(unsafe { L::load(from) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Double(self.0.add(other.0))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Double(self.0.mul_add(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn add_to(self, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { L::load(to).add(self.0).store(to) }
    }
    #[inline(always)]
    unsafe fn store_to(self, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { self.0.store(to) }
    }
    #[inline(always)]
    fn prefetch<const W: usize>(_: *const f64) {}
}

#[inline(always)]
fn sum_f32_body<L: Narrow>(
    width: usize,
    slab: &[f32],
    starts: &[usize],
    others: &[u32],
    factors: Factors<'_, f32>,
    out: &mut [f64],
    stride: usize,
) {
    sum_slab::<Single<L::Single>>(width, slab, starts, others, factors, out, stride);
}

#[inline(always)]
fn sum_f64_body<L: Lanes>(
    width: usize,
    slab: &[f64],
    starts: &[usize],
    others: &[u32],
    factors: Factors<'_, f64>,
    out: &mut [f64],
    stride: usize,
) {
    sum_slab::<Double<L>>(width, slab, starts, others, factors, out, stride);
}

/// Enters the loop compiled for the width and the split.
#[inline(always)]
fn sum_slab<C: Columns>(
    width: usize,
    slab: &[C::Number],
    starts: &[usize],
    others: &[u32],
    factors: Factors<'_, C::Number>,
    out: &mut [f64],
    stride: usize,
) {
    let both = factors.split < width && factors.rated != factors.split;
    macro_rules! enter {
        ($width:literal, $split:literal) => {
            match (both, factors.weights.is_empty() || ($split == 0 && !both)) {
                (false, true) => enter!(false, false, $width, $split),
                (false, false) => enter!(false, true, $width, $split),
                (true, true) => enter!(true, false, $width, $split),
                (true, false) => enter!(true, true, $width, $split),
            }
        };
        ($both:literal, $weighted:literal, $width:literal, $split:literal) => {
            sum_blocks::<C, $both, $weighted, $width, $split>(
                slab, starts, others, factors, out, stride,
            )
        };
    }
    match (width, factors.split) {
        (16, 0) => enter!(16, 0),
        (16, 16) => enter!(16, 16),
        (32, 0) => enter!(32, 0),
        (32, 16) => enter!(32, 16),
        (32, 32) => enter!(32, 32),
        (48, 32) => enter!(48, 32),
        (64, 48) => enter!(64, 48),
        (80, 64) => enter!(80, 64),
        (96, 80) => enter!(96, 80),
        (_, split) => panic!("no slab has {width} columns of which {split} come first"),
    }
}

/// All blocks; without weights the slice of them is not looked at.
#[inline(always)]
fn sum_blocks<
    C: Columns,
    const BOTH: bool,
    const WEIGHTED: bool,
    const W: usize,
    const SPLIT: usize,
>(
    slab: &[C::Number],
    starts: &[usize],
    others: &[u32],
    factors: Factors<'_, C::Number>,
    out: &mut [f64],
    stride: usize,
) {
    const { assert!(W.is_multiple_of(C::N) && W / C::N <= MOST_VECTORS) };
    const { assert!(STRETCH.is_multiple_of(MOST_SETS)) };
    const { assert!(SPLIT.is_multiple_of(C::N) && SPLIT <= W && W - SPLIT <= SLAB_WIDTHS[1]) };
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return };
    assert!(starts.is_sorted(), "blocks follow each other");
    assert_eq!(others.len(), last - first, "a row for each rating");
    let Factors { weights, coefficients, rated, .. } = factors;
    assert!(!WEIGHTED || weights.len() == others.len(), "a weight for each rating");
    assert!(SPLIT == W || coefficients.len() == others.len(), "a coefficient for each rating");
    assert!(!BOTH || rated >= W, "sums times the coefficients have their own place");
    let n_blocks = starts.len() - 1;
    if n_blocks == 0 {
        return;
    }
    let end = if BOTH { rated.checked_add(W - SPLIT) } else { Some(W) };
    let room = end.and_then(|end| out.len().checked_sub(end)).expect("room for a slab's columns");
    assert!((n_blocks - 1).checked_mul(stride).is_some_and(|at| at <= room), "room for each block");
    // Once for all ratings, since a check inside the loop would cost as much as its additions.
    let highest = others.iter().fold(0, |highest, &other| other.max(highest));
    let inside = others.is_empty() || (highest as usize) < slab.len() / W;
    assert!(inside, "row {highest} is in the slab");
    let ratings: Ratings<'_, C> =
        Ratings { slab: slab.as_ptr(), others, factors, far: size_of_val(slab) > NEAR };
    for (b, range) in starts.windows(2).enumerate() {
        let (mut n, end) = (range[0] - first, range[1] - first);
        if b + BLOCKS_AHEAD < n_blocks {
            prefetch(&out[(b + BLOCKS_AHEAD) * stride..][..W]);
        }
        // SAFETY: `b <= n_blocks - 1`, so the block's columns are within `out`.
        let to = unsafe { out.as_mut_ptr().add(b * stride) };
        // The first stretch sets what the others add to; a block without ratings has one of 0.
        let mut is_first = true;
        while n < end || is_first {
            let stop = end.min(n + STRETCH);
            // SAFETY: starts ascend up to the number of ratings; every row of `others` is in the
            // slab, and `to` has room for its columns.
            unsafe {
                let Sums { plain, rated: by_rating } =
                    ratings.sum::<BOTH, WEIGHTED, W, SPLIT>(n..stop);
                let n_plain = if BOTH { W } else { SPLIT } / C::N;
                for (v, sum) in plain.into_iter().enumerate().take(n_plain) {
                    sum.put(is_first, to.add(v * C::N));
                }
                let to = to.add(if BOTH { rated } else { SPLIT });
                for (v, sum) in by_rating.into_iter().enumerate().take((W - SPLIT) / C::N) {
                    sum.put(is_first, to.add(v * C::N));
                }
            }
            is_first = false;
            n = stop;
        }
    }
}

/// Sums in registers: of columns times weights, and of the last ones times coefficients.
#[derive(Clone, Copy)]
struct Sums<C> {
    plain: [C; MOST_VECTORS],
    rated: [C; MOST_RATED],
}

/// Ratings and the rows that they are of.
struct Ratings<'a, C: Columns> {
    slab: *const C::Number,
    others: &'a [u32],
    factors: Factors<'a, C::Number>,
    /// Whether rows are to be asked for ahead.
    far: bool,
}

impl<C: Columns> Ratings<'_, C> {
    /// The sums of the rows of a stretch of ratings.
    ///
    /// # Safety
    /// The stretch must be one of ratings, and row `o` of the slab readable for each o of `others`.
    #[inline(always)]
    unsafe fn sum<const BOTH: bool, const WEIGHTED: bool, const W: usize, const SPLIT: usize>(
        &self,
        stretch: Range<usize>,
    ) -> Sums<C> {
        let zero = Sums { plain: [C::zero(); MOST_VECTORS], rated: [C::zero(); MOST_RATED] };
        let mut sums = [zero; MOST_SETS];
        let mut n = stretch.start;
        while n + C::sets(W) <= stretch.end {
            for (set, sums) in sums.iter_mut().enumerate().take(C::sets(W)) {
                // SAFETY: `n + set` is within the stretch; rows are vouched for by the caller.
                unsafe { self.add_row::<BOTH, WEIGHTED, W, SPLIT>(n + set, sums) };
            }
            n += C::sets(W);
        }
        if n < stretch.end {
            // SAFETY: as above.
            unsafe { self.add_row::<BOTH, WEIGHTED, W, SPLIT>(n, &mut sums[0]) };
        }
        let [mut even, odd] = sums;
        if C::sets(W) == 2 {
            for (even, odd) in even.plain.iter_mut().zip(odd.plain).take(W / C::N) {
                *even = even.add(odd);
            }
            for (even, odd) in even.rated.iter_mut().zip(odd.rated).take((W - SPLIT) / C::N) {
                *even = even.add(odd);
            }
        }
        even
    }

    /// Adds the row of rating `n` to the sums.
    ///
    /// # Safety
    /// As `sum`, and `n` must be below the number of ratings.
    #[inline(always)]
    unsafe fn add_row<
        const BOTH: bool,
        const WEIGHTED: bool,
        const W: usize,
        const SPLIT: usize,
    >(
        &self,
        n: usize,
        sums: &mut Sums<C>,
    ) {
        let Ratings { slab, others, factors, far } = *self;
        // SAFETY: the caller vouches for `n` and for the row.
        unsafe {
            if far {
                let soon = *others.get_unchecked((n + AHEAD).min(others.len() - 1)) as usize;
                C::prefetch::<W>(slab.add(soon * W));
            }
            let row = slab.add(*others.get_unchecked(n) as usize * W);
            for v in 0..W / C::N {
                let columns = C::load(row.add(v * C::N));
                if BOTH || v * C::N < SPLIT {
                    let sum = &mut sums.plain[v];
                    *sum = match WEIGHTED {
                        true => columns.mul_add(C::splat(*factors.weights.get_unchecked(n)), *sum),
                        false => sum.add(columns),
                    };
                }
                if v * C::N >= SPLIT {
                    let sum = &mut sums.rated[v - SPLIT / C::N];
                    let coefficient = C::splat(*factors.coefficients.get_unchecked(n));
                    *sum = columns.mul_add(coefficient, *sum);
                }
            }
        }
    }
}
