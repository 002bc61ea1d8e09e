//! Lanes of aarch64: f64, f32 and 32-bit words, each vector a pair of NEON registers.
//!
//! A pair has as many lanes as a register of AVX2, and there are sixteen pairs, so what fits into the registers there
//! fits here. Sums over lanes are made in AVX2's order: all kernels give its bits, those of topics too.

use std::arch::aarch64::*;

use super::lanes::Lanes;
use super::lanes32::{BLOCK, GUESS, Lanes32, Narrow};
use super::words32::{Packing, Words32};

/// Four f64 lanes.
#[derive(Clone, Copy)]
pub(super) struct Neon(float64x2_t, float64x2_t);

/// Eight f32 lanes.
#[derive(Clone, Copy)]
pub(super) struct Neon32(float32x4_t, float32x4_t);

impl Narrow for Neon {
    type Single = Neon32;
}

// SAFETY (for every block below): every aarch64 CPU that std runs on has the instructions; pointers are vouched for
// by the callers of the methods that take them.
macro_rules! lane {
    ($e:expr) => {
        // SAFETY: see the comment above the macro.
        unsafe { $e }
    };
}

/// Methods that are one instruction on two registers, for both of a pair.
macro_rules! lanewise {
    ($($name:ident = $instruction:ident),*) => {$(
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            self.zip(other, |a, b| lane!($instruction(a, b)))
        }
    )*};
}

/// Likewise for instructions on integers: `bits` and `floats` rename a register's contents.
macro_rules! wordwise {
    ($bits:ident, $floats:ident: $($name:ident = $instruction:ident),*) => {$(
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            self.zip(other, |a, b| lane!($floats($instruction($bits(a), $bits(b)))))
        }
    )*};
}

/// What is done to both registers of a pair.
macro_rules! pairs {
    ($type:ident, $register:ident) => {
        impl $type {
            #[inline(always)]
            fn map(self, f: impl Fn($register) -> $register) -> Self {
                $type(f(self.0), f(self.1))
            }

            #[inline(always)]
            fn zip(self, b: Self, f: impl Fn($register, $register) -> $register) -> Self {
                $type(f(self.0, b.0), f(self.1, b.1))
            }
        }
    };
}

pairs!(Neon, float64x2_t);
pairs!(Neon32, float32x4_t);

impl Neon {
    /// The words shifted to the left by `bits`, to the right if they are negative.
    #[inline(always)]
    fn shift(self, bits: i64) -> Self {
        let words = |a| lane!(vshlq_u64(vreinterpretq_u64_f64(a), vdupq_n_s64(bits)));
        self.map(|a| lane!(vreinterpretq_f64_u64(words(a))))
    }
}

impl Lanes for Neon {
    const N: usize = 4;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        let x = lane!(vdupq_n_f64(x));
        Neon(x, x)
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        Neon(lane!(vld1q_f64(from)), lane!(vld1q_f64(from.add(2))))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        lane!(vst1q_f64(to, self.0));
        lane!(vst1q_f64(to.add(2), self.1))
    }
    lanewise!(add = vaddq_f64, sub = vsubq_f64, mul = vmulq_f64, div = vdivq_f64);
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Neon(lane!(vfmaq_f64(b.0, self.0, a.0)), lane!(vfmaq_f64(b.1, self.1, a.1)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(|a| lane!(vsqrtq_f64(a)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // Not the instruction `fmax`, which treats zeros and NaN in another way.
        self.zip(other, |a, b| lane!(vbslq_f64(vcgtq_f64(a, b), a, b)))
    }
    #[inline(always)]
    fn zero_below(self, floor: Self) -> Self {
        self.zip(floor, |a, f| lane!(vbslq_f64(vcgeq_f64(a, f), a, vdupq_n_f64(0.0))))
    }
    #[inline(always)]
    fn splat_bits(x: u64) -> Self {
        let x = lane!(vreinterpretq_f64_u64(vdupq_n_u64(x)));
        Neon(x, x)
    }
    #[inline(always)]
    fn count_from(index: u64) -> Self {
        // SAFETY: four numbers are there.
        let count = unsafe { Self::load([0, 1, 2, 3].map(f64::from_bits).as_ptr()) };
        Self::splat_bits(index).add_words(count)
    }
    wordwise!(vreinterpretq_u64_f64, vreinterpretq_f64_u64: and = vandq_u64, or = vorrq_u64,
        xor = veorq_u64, add_words = vaddq_u64);
    #[inline(always)]
    fn mul_low_halves(self, other: Self) -> Self {
        let low = |a| lane!(vmovn_u64(vreinterpretq_u64_f64(a)));
        self.zip(other, |a, b| lane!(vreinterpretq_f64_u64(vmull_u32(low(a), low(b)))))
    }
    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        self.shift(i64::from(bits))
    }
    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        self.shift(-i64::from(bits))
    }
    #[inline(always)]
    fn by_sign(self, negative: Self, positive: Self) -> Self {
        let set = |a| lane!(vcltzq_s64(vreinterpretq_s64_f64(a)));
        Neon(
            lane!(vbslq_f64(set(self.0), negative.0, positive.0)),
            lane!(vbslq_f64(set(self.1), negative.1, positive.1)),
        )
    }
    #[inline(always)]
    fn scale_by_power(self, magic: Self) -> Self {
        let power = |m| lane!(vshlq_n_u64::<52>(vreinterpretq_u64_f64(m)));
        self.add_words(magic.map(|m| lane!(vreinterpretq_f64_u64(power(m)))))
    }
    #[inline(always)]
    unsafe fn transpose(
        from: *const f64,
        from_stride: usize,
        scale: Self,
        to: *mut f64,
        to_stride: usize,
    ) {
        let row = |i| scale.mul(lane!(Self::load(from.add(i * from_stride))));
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
        lane!({
            Neon(vzip1q_f64(a.0, b.0), vzip1q_f64(c.0, d.0)).store(to);
            Neon(vzip2q_f64(a.0, b.0), vzip2q_f64(c.0, d.0)).store(to.add(to_stride));
            Neon(vzip1q_f64(a.1, b.1), vzip1q_f64(c.1, d.1)).store(to.add(2 * to_stride));
            Neon(vzip2q_f64(a.1, b.1), vzip2q_f64(c.1, d.1)).store(to.add(3 * to_stride));
        })
    }
}

impl Neon32 {
    /// The same numbers in f64: the lower four lanes, and the upper four.
    #[inline(always)]
    fn widened(self) -> [Neon; 2] {
        [self.0, self.1]
            .map(|a| Neon(lane!(vcvt_f64_f32(vget_low_f32(a))), lane!(vcvt_high_f64_f32(a))))
    }
}

impl Lanes32 for Neon32 {
    const N: usize = 8;
    const VECTORS: usize = 8;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        let x = lane!(vdupq_n_f32(x));
        Neon32(x, x)
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Neon32(lane!(vld1q_f32(from)), lane!(vld1q_f32(from.add(4))))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        lane!(vst1q_f32(to, self.0));
        lane!(vst1q_f32(to.add(4), self.1))
    }
    #[inline(always)]
    unsafe fn load_wide(from: *const f64) -> Self {
        let rounded = |a: Neon| lane!(vcvt_high_f32_f64(vcvt_f32_f64(a.0), a.1));
        Neon32(rounded(lane!(Neon::load(from))), rounded(lane!(Neon::load(from.add(4)))))
    }
    #[inline(always)]
    unsafe fn add_to_wide(self, to: *mut f64) {
        let [low, high] = self.widened();
        lane!(Neon::load(to).add(low).store(to));
        let to = lane!(to.add(4));
        lane!(Neon::load(to).add(high).store(to))
    }
    #[inline(always)]
    unsafe fn store_wide(self, to: *mut f64) {
        let [low, high] = self.widened();
        lane!(low.store(to));
        lane!(high.store(to.add(4)))
    }
    #[inline(always)]
    unsafe fn load_pairs(from: *const f32) -> (Self, Self) {
        // SAFETY: the caller vouches for eight numbers.
        let upper = unsafe { Self::load(from) };
        let lower = |a| lane!(vreinterpretq_f32_u32(vshlq_n_u32::<16>(vreinterpretq_u32_f32(a))));
        (upper, upper.map(lower))
    }
    #[inline(always)]
    unsafe fn store_pairs(upper: Self, lower: Self, to: *mut f32) {
        let pairs = upper.zip(lower, |upper, lower| {
            lane!({
                let half = vdupq_n_u32(0x8000);
                let lower = vshrq_n_u32::<16>(vaddq_u32(vreinterpretq_u32_f32(lower), half));
                let upper = vaddq_u32(vsubq_u32(vreinterpretq_u32_f32(upper), lower), half);
                let upper = vandq_u32(upper, vdupq_n_u32(0xffff_0000));
                vreinterpretq_f32_u32(vorrq_u32(upper, lower))
            })
        });
        // SAFETY: the caller vouches for eight numbers.
        unsafe { pairs.store(to) }
    }
    #[inline(always)]
    fn guess_reciprocal(self) -> Self {
        self.map(|a| {
            let guess = lane!(vsubq_u32(vdupq_n_u32(GUESS), vreinterpretq_u32_f32(a)));
            lane!(vreinterpretq_f32_u32(guess))
        })
    }
    #[inline(always)]
    fn at_least(self, floor: Self) -> u32 {
        let mut out = [0.0; 16];
        // SAFETY: there is room for eight numbers of each.
        unsafe {
            self.store(out.as_mut_ptr());
            floor.store(out.as_mut_ptr().add(8));
        }
        (0..8).fold(0, |bits, i| bits | u32::from(out[i] >= out[8 + i]) << i)
    }
    #[inline(always)]
    fn prefetch(_: *const f32) {
        // std does not offer the instruction yet.
    }
    lanewise!(add = vaddq_f32, sub = vsubq_f32, mul = vmulq_f32);
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Neon32(lane!(vfmaq_f32(b.0, self.0, a.0)), lane!(vfmaq_f32(b.1, self.1, a.1)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // Not the instruction `fmax`, which treats zeros and NaN in another way.
        self.zip(other, |a, b| lane!(vbslq_f32(vcgtq_f32(a, b), a, b)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| lane!(vbslq_f32(vcltq_f32(a, b), a, b)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(|a| lane!(vabsq_f32(a)))
    }
    #[inline(always)]
    fn zero_below(self, floor: Self) -> Self {
        self.zip(floor, |a, f| lane!(vbslq_f32(vcgeq_f32(a, f), a, vdupq_n_f32(0.0))))
    }
    #[inline(always)]
    fn scale_by_power(self, magic: Self) -> Self {
        self.add_words(magic.shift_left::<23>())
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        lane!({
            let half = vaddq_f32(self.0, self.1);
            vpadds_f32(vadd_f32(vget_low_f32(half), vget_high_f32(half)))
        })
    }
    #[inline(always)]
    fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
        let neighbours = |a: Self, b: Self| a.zip(b, |a, b| lane!(vpaddq_f32(a, b)));
        let four = |[a, b, c, d]: [Self; 4]| {
            let halves = neighbours(neighbours(a, b), neighbours(c, d));
            lane!(vaddq_f32(halves.0, halves.1))
        };
        let [a, b, c, d, e, f, g, h] = of;
        let mut out = [0.0; BLOCK];
        // SAFETY: there is room for eight numbers.
        unsafe { Neon32(four([a, b, c, d]), four([e, f, g, h])).store(out.as_mut_ptr()) };
        out
    }
}

impl Words32 for Neon32 {
    wordwise!(vreinterpretq_u32_f32, vreinterpretq_f32_u32: and = vandq_u32, xor = veorq_u32,
        add_words = vaddq_u32);
    #[inline(always)]
    fn splat_bits(x: u32) -> Self {
        Self::splat(f32::from_bits(x))
    }
    #[inline(always)]
    fn shift_left<const BITS: i32>(self) -> Self {
        let words = |a| lane!(vshlq_n_u32::<BITS>(vreinterpretq_u32_f32(a)));
        self.map(|a| lane!(vreinterpretq_f32_u32(words(a))))
    }
    #[inline(always)]
    fn shift_right<const BITS: i32>(self) -> Self {
        let words = |a| lane!(vshrq_n_u32::<BITS>(vreinterpretq_u32_f32(a)));
        self.map(|a| lane!(vreinterpretq_f32_u32(words(a))))
    }
    #[inline(always)]
    fn to_float(self) -> Self {
        self.map(|a| lane!(vcvtq_f32_s32(vreinterpretq_s32_f32(a))))
    }
    #[inline(always)]
    fn by_sign(self, negative: Self, positive: Self) -> Self {
        let set = |a| lane!(vcltzq_s32(vreinterpretq_s32_f32(a)));
        Neon32(
            lane!(vbslq_f32(set(self.0), negative.0, positive.0)),
            lane!(vbslq_f32(set(self.1), negative.1, positive.1)),
        )
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(|a| lane!(vsqrtq_f32(a)))
    }
}

impl Packing for Neon {
    #[inline(always)]
    unsafe fn store_lower_halves(first: Self, second: Self, to: *mut u32) {
        let low = |a| lane!(vmovn_u64(vreinterpretq_u64_f64(a)));
        lane!(vst1q_u32(to, vcombine_u32(low(first.0), low(second.0))));
        lane!(vst1q_u32(to.add(4), vcombine_u32(low(first.1), low(second.1))))
    }
}
