//! A vector of f64 lanes: portable, AVX2 + FMA, AVX-512; NEON is in `neon.rs`. Every operation works lane by lane, so the
//! bits of a result do not depend on how many lanes there are.

/// The lanes of the widest vector.
const MOST: usize = 8;

/// What the kernels need of a vector register.
///
/// Loads and stores take raw pointers because a bounds check per load would cost more than the
/// arithmetic; each kernel asserts the lengths of its slices once, before its loops.
pub(super) trait Lanes: Copy {
    /// How many numbers one value holds.
    const N: usize;
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// `N` numbers from memory.
    ///
    /// # Safety
    /// `from` must be readable for `N` numbers, and the CPU must have the lanes' instructions.
    unsafe fn load(from: *const f64) -> Self;
    /// `N` numbers to memory.
    ///
    /// # Safety
    /// `to` must be writable for `N` numbers, and the CPU must have the lanes' instructions.
    unsafe fn store(self, to: *mut f64);
    /// The first `n` numbers from memory, at most `N`, and 0 in the lanes behind them.
    ///
    /// # Safety
    /// `from` must be readable for `n` numbers, and the CPU must have the lanes' instructions.
    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> Self {
        let mut lanes = [0.0; MOST];
        for (i, lane) in lanes[..Self::N].iter_mut().enumerate().take(n) {
            // SAFETY: the caller vouches for `n` numbers.
            *lane = unsafe { *from.add(i) };
        }
        // SAFETY: the buffer has room for any vector.
        unsafe { Self::load(lanes.as_ptr()) }
    }
    /// The first `n` lanes to memory, at most `N`.
    ///
    /// # Safety
    /// `to` must be writable for `n` numbers, and the CPU must have the lanes' instructions.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f64, n: usize) {
        let mut lanes = [0.0; MOST];
        // SAFETY: the buffer has room for any vector.
        unsafe { self.store(lanes.as_mut_ptr()) };
        for (i, &lane) in lanes[..Self::N].iter().enumerate().take(n) {
            // SAFETY: the caller vouches for `n` numbers.
            unsafe { *to.add(i) = lane };
        }
    }
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self * a + b`, rounded once where the hardware can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The larger of the two; `other` if they compare equal.
    fn max(self, other: Self) -> Self;
    /// Each lane as it is from `floor` up, 0 below.
    fn zero_below(self, floor: Self) -> Self;
    /// The same 64 bits in every lane. The methods below treat lanes as 64-bit words.
    fn splat_bits(x: u64) -> Self;
    /// `index + 0`, `index + 1`, ... as words.
    fn count_from(index: u64) -> Self;
    /// `self & other`.
    fn and(self, other: Self) -> Self;
    /// `self | other`.
    fn or(self, other: Self) -> Self;
    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;
    /// `self + other` as words, wrapping.
    fn add_words(self, other: Self) -> Self;
    /// The product of the lower halves of the words; the upper halves do not matter.
    fn mul_low_halves(self, other: Self) -> Self;
    /// `self << bits`.
    fn shift_left(self, bits: u32) -> Self;
    /// `self >> bits`, filling with zeros.
    fn shift_right(self, bits: u32) -> Self;
    /// `negative` where the top bit of `self` is set, `positive` elsewhere.
    fn by_sign(self, negative: Self, positive: Self) -> Self;
    /// `self * 2^k`, where `k` is held in the low bits of `magic` = k + 1.5 * 2^52. `self` must be
    /// normal and so must the result.
    fn scale_by_power(self, magic: Self) -> Self;
    /// Writes the transpose of the `N` x `N` block at `from` to `to`, each row times `scale`.
    ///
    /// # Safety
    /// Rows of `N` numbers must be readable at `from + i * from_stride` and writable at
    /// `to + i * to_stride`, and the CPU must have the lanes' instructions.
    unsafe fn transpose(
        from: *const f64,
        from_stride: usize,
        scale: Self,
        to: *mut f64,
        to_stride: usize,
    );
}

/// Four lanes in plain Rust; `FUSED` says whether a fused multiply-add is an instruction here.
#[derive(Clone, Copy)]
pub(super) struct Portable<const FUSED: bool>(pub(super) [f64; 4]);

impl<const FUSED: bool> Portable<FUSED> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self.0;
        for (o, &b) in out.iter_mut().zip(&other.0) {
            *o = f(*o, b);
        }
        Portable(out)
    }

    #[inline(always)]
    fn zip_bits(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        self.zip(other, |a, b| f64::from_bits(f(a.to_bits(), b.to_bits())))
    }
}

impl<const FUSED: bool> Lanes for Portable<FUSED> {
    const N: usize = 4;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Portable([x; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for four readable numbers; f64 arrays have f64's alignment.
        Portable(unsafe { from.cast::<[f64; 4]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for four writable numbers.
        unsafe { to.cast::<[f64; 4]>().write(self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        let mut out = self.0;
        for ((x, a), b) in out.iter_mut().zip(a.0).zip(b.0) {
            *x = if FUSED { x.mul_add(a, b) } else { *x * a + b };
        }
        Portable(out)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Portable(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn zero_below(self, floor: Self) -> Self {
        self.zip(floor, |a, f| if a >= f { a } else { 0.0 })
    }
    #[inline(always)]
    fn splat_bits(x: u64) -> Self {
        Self::splat(f64::from_bits(x))
    }
    #[inline(always)]
    fn count_from(index: u64) -> Self {
        Portable([0, 1, 2, 3].map(|i| f64::from_bits(index + i)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn add_words(self, other: Self) -> Self {
        self.zip_bits(other, u64::wrapping_add)
    }
    #[inline(always)]
    fn mul_low_halves(self, other: Self) -> Self {
        self.zip_bits(other, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))
    }
    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        self.zip_bits(self, |a, _| a << bits)
    }
    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        self.zip_bits(self, |a, _| a >> bits)
    }
    #[inline(always)]
    fn by_sign(self, negative: Self, positive: Self) -> Self {
        let mask = self.zip_bits(self, |a, _| 0u64.wrapping_sub(a >> 63));
        negative.and(mask).or(positive.zip_bits(mask, |a, m| a & !m))
    }
    #[inline(always)]
    fn scale_by_power(self, magic: Self) -> Self {
        self.zip_bits(magic, |a, m| a.wrapping_add(m << 52))
    }
    #[inline(always)]
    unsafe fn transpose(
        from: *const f64,
        from_stride: usize,
        scale: Self,
        to: *mut f64,
        to_stride: usize,
    ) {
        for i in 0..4 {
            for j in 0..4 {
                // SAFETY: both offsets are inside the 4 x 4 blocks the caller vouches for.
                unsafe { *to.add(j * to_stride + i) = *from.add(i * from_stride + j) * scale.0[j] };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    /// Four lanes in a 256-bit register.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(pub(in super::super) __m256d);

    /// Eight lanes in a 512-bit register.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(pub(in super::super) __m512d);

    // SAFETY (for every block below): these types are named only inside functions that the
    // dispatcher enters after it has detected the instruction set; pointers are vouched for by the
    // callers of `load`, `store` and `transpose`.
    macro_rules! lane {
        ($e:expr) => {
            // SAFETY: see the comment above the macro.
            unsafe { $e }
        };
    }

    /// Methods that are one instruction on two registers.
    macro_rules! lanewise {
        ($type:ident: $($name:ident = $instruction:ident),*) => {$(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                $type(lane!($instruction(self.0, other.0)))
            }
        )*};
    }

    /// Likewise for instructions on integers: `bits` and `floats` rename a register's contents.
    macro_rules! wordwise {
        ($type:ident, $bits:ident, $floats:ident: $($name:ident = $instruction:ident),*) => {$(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                $type(lane!($floats($instruction($bits(self.0), $bits(other.0)))))
            }
        )*};
    }

    impl Lanes for Avx2 {
        const N: usize = 4;
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx2(lane!(_mm256_set1_pd(x)))
        }
        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            Avx2(lane!(_mm256_loadu_pd(from)))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            lane!(_mm256_storeu_pd(to, self.0))
        }
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            Avx2(lane!(_mm256_fmadd_pd(self.0, a.0, b.0)))
        }
        #[inline(always)]
        fn zero_below(self, floor: Self) -> Self {
            let kept = lane!(_mm256_cmp_pd::<_CMP_GE_OQ>(self.0, floor.0));
            Avx2(lane!(_mm256_and_pd(self.0, kept)))
        }
        lanewise!(Avx2: add = _mm256_add_pd, sub = _mm256_sub_pd, mul = _mm256_mul_pd,
            div = _mm256_div_pd, max = _mm256_max_pd);
        wordwise!(Avx2, _mm256_castpd_si256, _mm256_castsi256_pd: and = _mm256_and_si256,
            or = _mm256_or_si256, xor = _mm256_xor_si256, add_words = _mm256_add_epi64,
            mul_low_halves = _mm256_mul_epu32);
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx2(lane!(_mm256_sqrt_pd(self.0)))
        }
        #[inline(always)]
        fn splat_bits(x: u64) -> Self {
            Avx2(lane!(_mm256_castsi256_pd(_mm256_set1_epi64x(x as i64))))
        }
        #[inline(always)]
        fn count_from(index: u64) -> Self {
            let count = Avx2(lane!(_mm256_castsi256_pd(_mm256_set_epi64x(3, 2, 1, 0))));
            Self::splat_bits(index).add_words(count)
        }
        #[inline(always)]
        fn shift_left(self, bits: u32) -> Self {
            // With a constant count the compiler emits the immediate form.
            let count = lane!(_mm256_set1_epi64x(i64::from(bits)));
            let words = lane!(_mm256_sllv_epi64(_mm256_castpd_si256(self.0), count));
            Avx2(lane!(_mm256_castsi256_pd(words)))
        }
        #[inline(always)]
        fn shift_right(self, bits: u32) -> Self {
            // With a constant count the compiler emits the immediate form.
            let count = lane!(_mm256_set1_epi64x(i64::from(bits)));
            let words = lane!(_mm256_srlv_epi64(_mm256_castpd_si256(self.0), count));
            Avx2(lane!(_mm256_castsi256_pd(words)))
        }
        #[inline(always)]
        fn by_sign(self, negative: Self, positive: Self) -> Self {
            Avx2(lane!(_mm256_blendv_pd(positive.0, negative.0, self.0)))
        }
        #[inline(always)]
        fn scale_by_power(self, magic: Self) -> Self {
            let power = lane!(_mm256_slli_epi64::<52>(_mm256_castpd_si256(magic.0)));
            Avx2(lane!(_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(self.0), power))))
        }
        #[inline(always)]
        unsafe fn transpose(
            from: *const f64,
            from_stride: usize,
            scale: Self,
            to: *mut f64,
            to_stride: usize,
        ) {
            lane!({
                let a = _mm256_mul_pd(scale.0, _mm256_loadu_pd(from));
                let b = _mm256_mul_pd(scale.0, _mm256_loadu_pd(from.add(from_stride)));
                let c = _mm256_mul_pd(scale.0, _mm256_loadu_pd(from.add(2 * from_stride)));
                let d = _mm256_mul_pd(scale.0, _mm256_loadu_pd(from.add(3 * from_stride)));
                let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
                _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(ab_even, cd_even));
                _mm256_storeu_pd(to.add(to_stride), _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd));
                _mm256_storeu_pd(
                    to.add(2 * to_stride),
                    _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
                );
                _mm256_storeu_pd(
                    to.add(3 * to_stride),
                    _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
                );
            })
        }
    }

    impl Lanes for Avx512 {
        const N: usize = 8;
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx512(lane!(_mm512_set1_pd(x)))
        }
        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            Avx512(lane!(_mm512_loadu_pd(from)))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            lane!(_mm512_storeu_pd(to, self.0))
        }
        #[inline(always)]
        unsafe fn load_first(from: *const f64, n: usize) -> Self {
            Avx512(lane!(_mm512_maskz_loadu_pd(((1_u32 << n) - 1) as u8, from)))
        }
        #[inline(always)]
        unsafe fn store_first(self, to: *mut f64, n: usize) {
            lane!(_mm512_mask_storeu_pd(to, ((1_u32 << n) - 1) as u8, self.0))
        }
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            Avx512(lane!(_mm512_fmadd_pd(self.0, a.0, b.0)))
        }
        #[inline(always)]
        fn zero_below(self, floor: Self) -> Self {
            let kept = lane!(_mm512_cmp_pd_mask::<_CMP_GE_OQ>(self.0, floor.0));
            Avx512(lane!(_mm512_maskz_mov_pd(kept, self.0)))
        }
        lanewise!(Avx512: add = _mm512_add_pd, sub = _mm512_sub_pd, mul = _mm512_mul_pd,
            div = _mm512_div_pd, max = _mm512_max_pd);
        wordwise!(Avx512, _mm512_castpd_si512, _mm512_castsi512_pd: and = _mm512_and_si512,
            or = _mm512_or_si512, xor = _mm512_xor_si512, add_words = _mm512_add_epi64,
            mul_low_halves = _mm512_mul_epu32);
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx512(lane!(_mm512_sqrt_pd(self.0)))
        }
        #[inline(always)]
        fn splat_bits(x: u64) -> Self {
            Avx512(lane!(_mm512_castsi512_pd(_mm512_set1_epi64(x as i64))))
        }
        #[inline(always)]
        fn count_from(index: u64) -> Self {
            let count =
                Avx512(lane!(_mm512_castsi512_pd(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0))));
            Self::splat_bits(index).add_words(count)
        }
        #[inline(always)]
        fn shift_left(self, bits: u32) -> Self {
            // With a constant count the compiler emits the immediate form.
            let count = lane!(_mm512_set1_epi64(i64::from(bits)));
            let words = lane!(_mm512_sllv_epi64(_mm512_castpd_si512(self.0), count));
            Avx512(lane!(_mm512_castsi512_pd(words)))
        }
        #[inline(always)]
        fn shift_right(self, bits: u32) -> Self {
            // With a constant count the compiler emits the immediate form.
            let count = lane!(_mm512_set1_epi64(i64::from(bits)));
            let words = lane!(_mm512_srlv_epi64(_mm512_castpd_si512(self.0), count));
            Avx512(lane!(_mm512_castsi512_pd(words)))
        }
        #[inline(always)]
        fn by_sign(self, negative: Self, positive: Self) -> Self {
            let words = lane!(_mm512_castpd_si512(self.0));
            let mask = lane!(_mm512_cmplt_epi64_mask(words, _mm512_setzero_si512()));
            Avx512(lane!(_mm512_mask_blend_pd(mask, positive.0, negative.0)))
        }
        #[inline(always)]
        fn scale_by_power(self, magic: Self) -> Self {
            let power = lane!(_mm512_slli_epi64::<52>(_mm512_castpd_si512(magic.0)));
            Avx512(lane!(_mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(self.0), power))))
        }
        #[inline(always)]
        unsafe fn transpose(
            from: *const f64,
            from_stride: usize,
            scale: Self,
            to: *mut f64,
            to_stride: usize,
        ) {
            let lower = Avx2(lane!(_mm512_castpd512_pd256(scale.0)));
            let upper = Avx2(lane!(_mm512_extractf64x4_pd::<1>(scale.0)));
            for i in [0, 4] {
                for (j, scale) in [(0, lower), (4, upper)] {
                    lane!(Avx2::transpose(
                        from.add(i * from_stride + j),
                        from_stride,
                        scale,
                        to.add(j * to_stride + i),
                        to_stride
                    ))
                }
            }
        }
    }
}
