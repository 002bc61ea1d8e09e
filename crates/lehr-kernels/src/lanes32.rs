//! A vector of f32 lanes: portable, AVX2 + FMA, AVX-512 (NEON: `neon.rs`), and which one goes with which f64 lanes.
//!
//! Unlike the f64 lanes these also hold parts of one sum (a row of topics), so results of different
//! instruction sets agree to rounding only (NEON and AVX2 in all bits); within one set they are always the same bits.

use super::lanes::{self, Lanes};

/// How many rows are summed side by side: enough chains of multiply-adds to fill the pipeline.
pub(super) const BLOCK: usize = 8;

/// The f32 lanes of the same instruction set.
pub(super) trait Narrow: Lanes {
    /// Their type.
    type Single: Lanes32;
}

impl<const FUSED: bool> Narrow for lanes::Portable<FUSED> {
    type Single = Portable<FUSED>;
}

#[cfg(target_arch = "x86_64")]
impl Narrow for lanes::Avx2 {
    type Single = Avx2;
}

#[cfg(target_arch = "x86_64")]
impl Narrow for lanes::Avx512 {
    type Single = Avx512;
}

/// What the kernels need of a vector register; `N` divides 16.
pub(super) trait Lanes32: Copy {
    /// How many numbers one value holds.
    const N: usize;
    /// The same number in every lane.
    fn splat(x: f32) -> Self;
    /// `N` numbers from memory.
    ///
    /// # Safety
    /// `from` must be readable for `N` numbers, and the CPU must have the lanes' instructions.
    unsafe fn load(from: *const f32) -> Self;
    /// `N` numbers to memory.
    ///
    /// # Safety
    /// `to` must be writable for `N` numbers, and the CPU must have the lanes' instructions.
    unsafe fn store(self, to: *mut f32);
    /// `N` doubles from memory, rounded.
    ///
    /// # Safety
    /// As `load`.
    unsafe fn load_wide(from: *const f64) -> Self;
    /// `to += self` in double precision.
    ///
    /// # Safety
    /// `to` must be readable and writable for `N` doubles, and the CPU must have the instructions.
    unsafe fn add_to_wide(self, to: *mut f64);
    /// `to = self`, in f64.
    ///
    /// # Safety
    /// `to` must be writable for `N` doubles, and the CPU must have the instructions.
    unsafe fn store_wide(self, to: *mut f64);
    /// Asks for the cache line of `at`, which may be any address.
    fn prefetch(at: *const f32);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self * a + b`, rounded once where the hardware can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The larger of the two; `other` if they compare equal.
    fn max(self, other: Self) -> Self;
    /// The smaller of the two; `other` if they compare equal.
    fn min(self, other: Self) -> Self;
    /// Without the sign.
    fn abs(self) -> Self;
    /// Each lane as it is from `floor` up, 0 below.
    fn zero_below(self, floor: Self) -> Self;
    /// `self * 2^k`, where `k` is held in the low bits of `magic` = k + 1.5 * 2^23. `self` must be
    /// normal and so must the result.
    fn scale_by_power(self, magic: Self) -> Self;
    /// The sum of all lanes, always in the same order.
    fn sum(self) -> f32;
    /// The sums of the lanes of eight vectors.
    fn sums(of: [Self; BLOCK]) -> [f32; BLOCK];
}

/// Four lanes in plain Rust; `FUSED` says whether a fused multiply-add is an instruction here.
#[derive(Clone, Copy)]
pub(super) struct Portable<const FUSED: bool>(pub(super) [f32; 4]);

impl<const FUSED: bool> Portable<FUSED> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self.0;
        for (o, &b) in out.iter_mut().zip(&other.0) {
            *o = f(*o, b);
        }
        Portable(out)
    }
}

impl<const FUSED: bool> Lanes32 for Portable<FUSED> {
    const N: usize = 4;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Portable([x; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for four readable numbers; f32 arrays have f32's alignment.
        Portable(unsafe { from.cast::<[f32; 4]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for four writable numbers.
        unsafe { to.cast::<[f32; 4]>().write(self.0) }
    }
    #[inline(always)]
    unsafe fn load_wide(from: *const f64) -> Self {
        // SAFETY: the caller vouches for four readable numbers.
        Portable(unsafe { from.cast::<[f64; 4]>().read() }.map(|x| x as f32))
    }
    #[inline(always)]
    unsafe fn add_to_wide(self, to: *mut f64) {
        for (i, x) in self.0.into_iter().enumerate() {
            // SAFETY: the caller vouches for four numbers.
            unsafe { *to.add(i) += f64::from(x) };
        }
    }
    #[inline(always)]
    unsafe fn store_wide(self, to: *mut f64) {
        // SAFETY: the caller vouches for four numbers.
        unsafe { to.cast::<[f64; 4]>().write(self.0.map(f64::from)) }
    }
    #[inline(always)]
    fn prefetch(_: *const f32) {}
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
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
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
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Portable(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn zero_below(self, floor: Self) -> Self {
        self.zip(floor, |a, f| if a >= f { a } else { 0.0 })
    }
    #[inline(always)]
    fn scale_by_power(self, magic: Self) -> Self {
        self.zip(magic, |a, m| f32::from_bits(a.to_bits().wrapping_add(m.to_bits() << 23)))
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
    #[inline(always)]
    fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
        of.map(Self::sum)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Lanes32};
    use std::arch::x86_64::*;

    /// Eight lanes in a 256-bit register.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(pub(in super::super) __m256);

    /// Sixteen lanes in a 512-bit register.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(pub(in super::super) __m512);

    // SAFETY (for every block below): these types are named only inside functions that the
    // dispatcher enters after it has detected the instruction set; pointers are vouched for by the
    // callers of the methods that take them, and a prefetch never faults.
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

    impl Lanes32 for Avx2 {
        const N: usize = 8;
        #[inline(always)]
        fn splat(x: f32) -> Self {
            Avx2(lane!(_mm256_set1_ps(x)))
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            Avx2(lane!(_mm256_loadu_ps(from)))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            lane!(_mm256_storeu_ps(to, self.0))
        }
        #[inline(always)]
        unsafe fn load_wide(from: *const f64) -> Self {
            let low = lane!(_mm256_cvtpd_ps(_mm256_loadu_pd(from)));
            let high = lane!(_mm256_cvtpd_ps(_mm256_loadu_pd(from.add(4))));
            Avx2(lane!(_mm256_set_m128(high, low)))
        }
        #[inline(always)]
        unsafe fn add_to_wide(self, to: *mut f64) {
            let low = lane!(_mm256_cvtps_pd(_mm256_castps256_ps128(self.0)));
            let high = lane!(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)));
            lane!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), low)));
            let to = lane!(to.add(4));
            lane!(_mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), high)))
        }
        #[inline(always)]
        unsafe fn store_wide(self, to: *mut f64) {
            let low = lane!(_mm256_cvtps_pd(_mm256_castps256_ps128(self.0)));
            let high = lane!(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)));
            lane!(_mm256_storeu_pd(to, low));
            lane!(_mm256_storeu_pd(to.add(4), high))
        }
        #[inline(always)]
        fn prefetch(at: *const f32) {
            lane!(_mm_prefetch::<_MM_HINT_T0>(at.cast()))
        }
        lanewise!(Avx2: add = _mm256_add_ps, sub = _mm256_sub_ps, mul = _mm256_mul_ps,
            div = _mm256_div_ps, max = _mm256_max_ps, min = _mm256_min_ps);
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            Avx2(lane!(_mm256_fmadd_ps(self.0, a.0, b.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Avx2(lane!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)))
        }
        #[inline(always)]
        fn zero_below(self, floor: Self) -> Self {
            let kept = lane!(_mm256_cmp_ps::<_CMP_GE_OQ>(self.0, floor.0));
            Avx2(lane!(_mm256_and_ps(self.0, kept)))
        }
        #[inline(always)]
        fn scale_by_power(self, magic: Self) -> Self {
            let power = lane!(_mm256_slli_epi32::<23>(_mm256_castps_si256(magic.0)));
            Avx2(lane!(_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(self.0), power))))
        }
        #[inline(always)]
        fn sum(self) -> f32 {
            lane!({
                let half =
                    _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
                let quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
                _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)))
            })
        }
        #[inline(always)]
        fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
            let [a, b, c, d, e, f, g, h] = of;
            let mut out = [0.0; BLOCK];
            lane!({
                let abcd = _mm256_hadd_ps(_mm256_hadd_ps(a.0, b.0), _mm256_hadd_ps(c.0, d.0));
                let efgh = _mm256_hadd_ps(_mm256_hadd_ps(e.0, f.0), _mm256_hadd_ps(g.0, h.0));
                let low = _mm256_permute2f128_ps::<0x20>(abcd, efgh);
                let high = _mm256_permute2f128_ps::<0x31>(abcd, efgh);
                _mm256_storeu_ps(out.as_mut_ptr(), _mm256_add_ps(low, high));
            });
            out
        }
    }

    impl Avx512 {
        /// The sum of the two halves.
        #[inline(always)]
        fn fold(self) -> Avx2 {
            let high = lane!(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0)));
            Avx2(lane!(_mm256_add_ps(_mm512_castps512_ps256(self.0), _mm256_castpd_ps(high))))
        }
    }

    impl Lanes32 for Avx512 {
        const N: usize = 16;
        #[inline(always)]
        fn splat(x: f32) -> Self {
            Avx512(lane!(_mm512_set1_ps(x)))
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            Avx512(lane!(_mm512_loadu_ps(from)))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            lane!(_mm512_storeu_ps(to, self.0))
        }
        #[inline(always)]
        unsafe fn load_wide(from: *const f64) -> Self {
            let low = lane!(_mm512_cvtpd_ps(_mm512_loadu_pd(from)));
            let high = lane!(_mm512_cvtpd_ps(_mm512_loadu_pd(from.add(8))));
            let low = lane!(_mm512_castpd256_pd512(_mm256_castps_pd(low)));
            let both = lane!(_mm512_insertf64x4::<1>(low, _mm256_castps_pd(high)));
            Avx512(lane!(_mm512_castpd_ps(both)))
        }
        #[inline(always)]
        unsafe fn add_to_wide(self, to: *mut f64) {
            let high = lane!(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0)));
            let low = lane!(_mm512_cvtps_pd(_mm512_castps512_ps256(self.0)));
            let high = lane!(_mm512_cvtps_pd(_mm256_castpd_ps(high)));
            lane!(_mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), low)));
            let to = lane!(to.add(8));
            lane!(_mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), high)))
        }
        #[inline(always)]
        unsafe fn store_wide(self, to: *mut f64) {
            let high = lane!(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0)));
            let low = lane!(_mm512_cvtps_pd(_mm512_castps512_ps256(self.0)));
            let high = lane!(_mm512_cvtps_pd(_mm256_castpd_ps(high)));
            lane!(_mm512_storeu_pd(to, low));
            lane!(_mm512_storeu_pd(to.add(8), high))
        }
        #[inline(always)]
        fn prefetch(at: *const f32) {
            lane!(_mm_prefetch::<_MM_HINT_T0>(at.cast()))
        }
        lanewise!(Avx512: add = _mm512_add_ps, sub = _mm512_sub_ps, mul = _mm512_mul_ps,
            div = _mm512_div_ps, max = _mm512_max_ps, min = _mm512_min_ps);
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            Avx512(lane!(_mm512_fmadd_ps(self.0, a.0, b.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Avx512(lane!(_mm512_abs_ps(self.0)))
        }
        #[inline(always)]
        fn zero_below(self, floor: Self) -> Self {
            let kept = lane!(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, floor.0));
            Avx512(lane!(_mm512_maskz_mov_ps(kept, self.0)))
        }
        #[inline(always)]
        fn scale_by_power(self, magic: Self) -> Self {
            let power = lane!(_mm512_slli_epi32::<23>(_mm512_castps_si512(magic.0)));
            Avx512(lane!(_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(self.0), power))))
        }
        #[inline(always)]
        fn sum(self) -> f32 {
            self.fold().sum()
        }
        #[inline(always)]
        fn sums(of: [Self; BLOCK]) -> [f32; BLOCK] {
            let mut folded = [Avx2::splat(0.0); BLOCK];
            for (to, from) in folded.iter_mut().zip(of) {
                *to = from.fold();
            }
            Avx2::sums(folded)
        }
    }
}
