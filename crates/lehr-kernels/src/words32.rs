//! The f32 lanes as 32-bit words, for random numbers, and how words get there from the f64 lanes.

use super::lanes;
use super::lanes32::{self, Lanes32, Narrow};

/// f32 lanes that can be treated as words. Every operation works lane by lane.
pub(super) trait Words32: Lanes32 {
    /// The same 32 bits in every lane.
    fn splat_bits(x: u32) -> Self;
    /// `self & other`.
    fn and(self, other: Self) -> Self;
    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;
    /// `self + other` as words, wrapping.
    fn add_words(self, other: Self) -> Self;
    /// `self << BITS`.
    fn shift_left<const BITS: i32>(self) -> Self;
    /// `self >> BITS`, filling with zeros.
    fn shift_right<const BITS: i32>(self) -> Self;
    /// The words, as signed integers, rounded to floats.
    fn to_float(self) -> Self;
    /// `negative` where the top bit of `self` is set, `positive` elsewhere.
    fn by_sign(self, negative: Self, positive: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
}

/// f64 lanes whose words can be stored as 32-bit ones.
pub(super) trait Packing: Narrow<Single: Words32> {
    /// The lower halves of the words of two vectors: pairs of `first` and of `second` in turn.
    ///
    /// # Safety
    /// `to` must be writable for `2 * N` words, and the CPU must have the lanes' instructions.
    unsafe fn store_lower_halves(first: Self, second: Self, to: *mut u32);
}

impl<const FUSED: bool> Packing for lanes::Portable<FUSED> {
    #[inline(always)]
    unsafe fn store_lower_halves(first: Self, second: Self, to: *mut u32) {
        let ([a, b, e, f], [c, d, g, h]) = (first.0, second.0);
        let words = [a, b, c, d, e, f, g, h].map(|x| x.to_bits() as u32);
        // SAFETY: the caller vouches for eight writable words.
        unsafe { to.cast::<[u32; 8]>().write(words) }
    }
}

impl<const FUSED: bool> lanes32::Portable<FUSED> {
    #[inline(always)]
    fn map_bits(self, f: impl Fn(u32) -> u32) -> Self {
        lanes32::Portable(self.0.map(|x| f32::from_bits(f(x.to_bits()))))
    }

    #[inline(always)]
    fn zip_bits(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let mut out = self.0;
        for (o, b) in out.iter_mut().zip(other.0) {
            *o = f32::from_bits(f(o.to_bits(), b.to_bits()));
        }
        lanes32::Portable(out)
    }
}

impl<const FUSED: bool> Words32 for lanes32::Portable<FUSED> {
    #[inline(always)]
    fn splat_bits(x: u32) -> Self {
        Self::splat(f32::from_bits(x))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| a & b)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn add_words(self, other: Self) -> Self {
        self.zip_bits(other, u32::wrapping_add)
    }
    #[inline(always)]
    fn shift_left<const BITS: i32>(self) -> Self {
        self.map_bits(|a| a << BITS)
    }
    #[inline(always)]
    fn shift_right<const BITS: i32>(self) -> Self {
        self.map_bits(|a| a >> BITS)
    }
    #[inline(always)]
    fn to_float(self) -> Self {
        self.map_bits(|a| (a as i32 as f32).to_bits())
    }
    #[inline(always)]
    fn by_sign(self, negative: Self, positive: Self) -> Self {
        let mask = self.map_bits(|a| 0u32.wrapping_sub(a >> 31));
        let kept = positive.zip_bits(mask, |a, m| a & !m);
        negative.and(mask).zip_bits(kept, |a, b| a | b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        lanes32::Portable(self.0.map(f32::sqrt))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Packing, Words32};
    use crate::{lanes, lanes32};
    use lanes32::{Avx2, Avx512};
    use std::arch::x86_64::*;

    // SAFETY (for every block below): these types are named only inside functions that the
    // dispatcher enters after it has detected the instruction set; pointers are vouched for by the
    // callers of the methods that take them.
    macro_rules! lane {
        ($e:expr) => {
            // SAFETY: see the comment above the macro.
            unsafe { $e }
        };
    }

    /// Methods that are one instruction on integers: `bits` and `floats` rename a register's
    /// contents.
    macro_rules! wordwise {
        ($type:ident, $bits:ident, $floats:ident: $($name:ident = $instruction:ident),*) => {$(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                $type(lane!($floats($instruction($bits(self.0), $bits(other.0)))))
            }
        )*};
    }

    impl Words32 for Avx2 {
        wordwise!(Avx2, _mm256_castps_si256, _mm256_castsi256_ps: and = _mm256_and_si256,
            xor = _mm256_xor_si256, add_words = _mm256_add_epi32);
        #[inline(always)]
        fn splat_bits(x: u32) -> Self {
            Avx2(lane!(_mm256_castsi256_ps(_mm256_set1_epi32(x as i32))))
        }
        #[inline(always)]
        fn shift_left<const BITS: i32>(self) -> Self {
            let words = lane!(_mm256_slli_epi32::<BITS>(_mm256_castps_si256(self.0)));
            Avx2(lane!(_mm256_castsi256_ps(words)))
        }
        #[inline(always)]
        fn shift_right<const BITS: i32>(self) -> Self {
            let words = lane!(_mm256_srli_epi32::<BITS>(_mm256_castps_si256(self.0)));
            Avx2(lane!(_mm256_castsi256_ps(words)))
        }
        #[inline(always)]
        fn to_float(self) -> Self {
            Avx2(lane!(_mm256_cvtepi32_ps(_mm256_castps_si256(self.0))))
        }
        #[inline(always)]
        fn by_sign(self, negative: Self, positive: Self) -> Self {
            Avx2(lane!(_mm256_blendv_ps(positive.0, negative.0, self.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx2(lane!(_mm256_sqrt_ps(self.0)))
        }
    }

    impl Packing for lanes::Avx2 {
        #[inline(always)]
        unsafe fn store_lower_halves(first: Self, second: Self, to: *mut u32) {
            lane!({
                let (a, b) = (_mm256_castpd_ps(first.0), _mm256_castpd_ps(second.0));
                _mm256_storeu_ps(to.cast(), _mm256_shuffle_ps::<0x88>(a, b))
            })
        }
    }

    impl Words32 for Avx512 {
        wordwise!(Avx512, _mm512_castps_si512, _mm512_castsi512_ps: and = _mm512_and_si512,
            xor = _mm512_xor_si512, add_words = _mm512_add_epi32);
        #[inline(always)]
        fn splat_bits(x: u32) -> Self {
            Avx512(lane!(_mm512_castsi512_ps(_mm512_set1_epi32(x as i32))))
        }
        #[inline(always)]
        fn shift_left<const BITS: i32>(self) -> Self {
            // The count is unsigned here; a variable one, since a const cannot be converted.
            let count = lane!(_mm512_set1_epi32(BITS));
            let words = lane!(_mm512_sllv_epi32(_mm512_castps_si512(self.0), count));
            Avx512(lane!(_mm512_castsi512_ps(words)))
        }
        #[inline(always)]
        fn shift_right<const BITS: i32>(self) -> Self {
            let count = lane!(_mm512_set1_epi32(BITS));
            let words = lane!(_mm512_srlv_epi32(_mm512_castps_si512(self.0), count));
            Avx512(lane!(_mm512_castsi512_ps(words)))
        }
        #[inline(always)]
        fn to_float(self) -> Self {
            Avx512(lane!(_mm512_cvtepi32_ps(_mm512_castps_si512(self.0))))
        }
        #[inline(always)]
        fn by_sign(self, negative: Self, positive: Self) -> Self {
            let words = lane!(_mm512_castps_si512(self.0));
            let mask = lane!(_mm512_cmplt_epi32_mask(words, _mm512_setzero_si512()));
            Avx512(lane!(_mm512_mask_blend_ps(mask, positive.0, negative.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx512(lane!(_mm512_sqrt_ps(self.0)))
        }
    }

    impl Packing for lanes::Avx512 {
        #[inline(always)]
        unsafe fn store_lower_halves(first: Self, second: Self, to: *mut u32) {
            lane!({
                let (a, b) = (_mm512_castpd_ps(first.0), _mm512_castpd_ps(second.0));
                _mm512_storeu_ps(to.cast(), _mm512_shuffle_ps::<0x88>(a, b))
            })
        }
    }
}
