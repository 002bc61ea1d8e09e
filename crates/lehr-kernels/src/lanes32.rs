//! A vector of f32 lanes: portable, AVX2 + FMA, AVX-512 (NEON: `neon.rs`), and which one goes with which f64 lanes.
//!
//! Unlike the f64 lanes these also hold parts of one sum (a row of topics), so results of different
//! instruction sets agree to rounding only (NEON and AVX2 in all bits); within one set they are always the same bits.

use super::lanes::{self, Lanes};

/// Less the bits of x, this is about 1/x.
pub(super) const GUESS: u32 = 0x7ef3_11c7;

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

/// The most topics that [`Lanes32::pick`] copies.
pub(super) const MOST_PICKED: usize = 32;

/// Which topics are copied out of rows of pairs.
///
/// A row holds 32 topics in 16 words of 32 bits: topic i in the upper half of word i, topic 16 + i in the lower.
#[derive(Debug, Clone, Default)]
pub(super) struct Picks {
    topics: Vec<u32>,
    /// For every half of the result the place among 64 halves that it comes from.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    from: [u16; MOST_PICKED],
    /// Which 64 halves of a row have some of the topics, and for which halves of the result.
    blocks: Vec<(u32, u32)>,
    /// Halves in a row.
    n_halves: u32,
}

impl Picks {
    /// These topics, rising, of rows of `stride` topics; at most [`MOST_PICKED`].
    pub fn set(&mut self, topics: &[u32], stride: usize) {
        assert!(topics.len() <= MOST_PICKED, "no more than there is room for");
        assert!(topics.iter().all(|&topic| (topic as usize) < stride), "topics are in the row");
        self.n_halves = stride as u32;
        self.topics.clear();
        self.topics.extend_from_slice(topics);
        self.blocks.clear();
        for (j, &topic) in topics.iter().enumerate() {
            let (from, to) = (half_of(topic), half_of(j as u32));
            self.from[to as usize] = (from % 64) as u16;
            match self.blocks.last_mut().filter(|(block, _)| *block == from / 64) {
                Some((_, halves)) => *halves |= 1 << to,
                None => self.blocks.push((from / 64, 1 << to)),
            }
        }
    }

    /// The topics.
    pub fn topics(&self) -> &[u32] {
        &self.topics
    }

    /// Whether a row has all 64 halves of a block, not only 32.
    #[cfg(target_arch = "x86_64")]
    fn is_whole(&self, block: u32) -> bool {
        (block + 1) * 64 <= self.n_halves
    }
}

/// Where a topic stands in a row of pairs, counting halves from the lower half of the first word.
fn half_of(topic: u32) -> u32 {
    topic / 32 * 32 + if topic % 32 < 16 { topic % 32 * 2 + 1 } else { topic % 32 * 2 - 32 }
}

/// A topic of a row of pairs, as [`Lanes32::load_pairs`] reads it.
///
/// # Safety
/// The topic must be inside the row.
#[inline(always)]
pub(super) unsafe fn half(row: *const f32, topic: usize) -> f32 {
    // SAFETY: the caller vouches for the topic.
    let word = unsafe { row.add(topic / 32 * 16 + topic % 16).cast::<u32>().read() };
    f32::from_bits(word << (topic & 16))
}

/// What the kernels need of a vector register; `N` divides 16.
pub(super) trait Lanes32: Copy {
    /// How many numbers one value holds.
    const N: usize;
    /// How many vectors a loop over words keeps in registers, next to the four sums that it adds them to.
    const VECTORS: usize;
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
    /// `N` pairs of halves from memory: the numbers in the upper halves, with what stands below them as their last
    /// digits, and those in the lower halves.
    ///
    /// # Safety
    /// As `load`.
    unsafe fn load_pairs(from: *const f32) -> (Self, Self);
    /// `N` pairs of halves to memory, each number rounded to 8 bits.
    ///
    /// # Safety
    /// As `store`.
    unsafe fn store_pairs(upper: Self, lower: Self, to: *mut f32);
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
    /// `1 / self` to 4 bits, for numbers above 0: by the exponent alone, so that all CPUs agree.
    fn guess_reciprocal(self) -> Self;
    /// `1 / self` within two units of the last place, for normal numbers above 0 up to 1e37: several times as fast as
    /// a division.
    #[inline(always)]
    fn reciprocal(self) -> Self {
        let (minus, one, two) = (Self::splat(0.0).sub(self), Self::splat(1.0), Self::splat(2.0));
        let r = self.guess_reciprocal();
        let r = r.mul(minus.mul_add(r, two));
        let r = r.mul(minus.mul_add(r, two));
        minus.mul_add(r, one).mul_add(r, r)
    }
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
    /// A bit for each lane that is at least that of `floor`.
    fn at_least(self, floor: Self) -> u32;
    /// `self * 2^k`, where `k` is held in the low bits of `magic` = k + 1.5 * 2^23. `self` must be
    /// normal and so must the result.
    fn scale_by_power(self, magic: Self) -> Self;
    /// The sum of all lanes, always in the same order.
    fn sum(self) -> f32;
    /// The sums of the lanes of eight vectors.
    fn sums(of: [Self; BLOCK]) -> [f32; BLOCK];
    /// The same of twice as many.
    #[inline(always)]
    fn sums_of_block(of: [Self; 2 * BLOCK]) -> [f32; 2 * BLOCK] {
        let mut out = [0.0; 2 * BLOCK];
        for (of, out) in of.chunks_exact(BLOCK).zip(out.chunks_exact_mut(BLOCK)) {
            out.copy_from_slice(&Self::sums(std::array::from_fn(|i| of[i])));
        }
        out
    }
    /// Copies some topics of 16 rows of pairs to `to`, topic after topic: row r of topic j to `j * width + r`.
    ///
    /// # Safety
    /// Topics must be inside the rows, `to` writable for `(topics - 1) * width + 16` numbers, and the CPU must have
    /// the instructions.
    #[inline(always)]
    unsafe fn pick(rows: [*const f32; 16], picks: &Picks, to: *mut f32, width: usize) {
        for (r, row) in rows.into_iter().enumerate() {
            for (j, &topic) in picks.topics().iter().enumerate() {
                // SAFETY: the caller vouches for the topic and the place.
                unsafe { *to.add(j * width + r) = half(row, topic as usize) };
            }
        }
    }
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
    const VECTORS: usize = 8;
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
    unsafe fn load_pairs(from: *const f32) -> (Self, Self) {
        // SAFETY: the caller vouches for four readable numbers.
        let upper = unsafe { Self::load(from) };
        (upper, Portable(upper.0.map(|x| f32::from_bits(x.to_bits() << 16))))
    }
    #[inline(always)]
    unsafe fn store_pairs(upper: Self, lower: Self, to: *mut f32) {
        let pairs = upper.zip(lower, |upper, lower| {
            let lower = lower.to_bits().wrapping_add(0x8000) >> 16;
            let upper = upper.to_bits().wrapping_sub(lower).wrapping_add(0x8000) & 0xffff_0000;
            f32::from_bits(upper | lower)
        });
        // SAFETY: the caller vouches for four writable numbers.
        unsafe { pairs.store(to) }
    }
    #[inline(always)]
    fn guess_reciprocal(self) -> Self {
        Portable(self.0.map(|x| f32::from_bits(GUESS.wrapping_sub(x.to_bits()))))
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
    fn at_least(self, floor: Self) -> u32 {
        let bits = self.0.iter().zip(floor.0).enumerate();
        bits.fold(0, |bits, (i, (&x, floor))| bits | u32::from(x >= floor) << i)
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
    use super::{BLOCK, GUESS, Lanes32, Picks};
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
        const VECTORS: usize = 8;
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
        unsafe fn load_pairs(from: *const f32) -> (Self, Self) {
            let upper = lane!(_mm256_loadu_ps(from));
            let lower = lane!(_mm256_slli_epi32::<16>(_mm256_castps_si256(upper)));
            (Avx2(upper), Avx2(lane!(_mm256_castsi256_ps(lower))))
        }
        #[inline(always)]
        unsafe fn store_pairs(upper: Self, lower: Self, to: *mut f32) {
            lane!({
                let half = _mm256_set1_epi32(0x8000);
                let lower = _mm256_add_epi32(_mm256_castps_si256(lower.0), half);
                let lower = _mm256_srli_epi32::<16>(lower);
                let upper = _mm256_sub_epi32(_mm256_castps_si256(upper.0), lower);
                let upper = _mm256_add_epi32(upper, half);
                let upper = _mm256_and_si256(upper, _mm256_set1_epi32(-0x10000));
                _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_or_si256(upper, lower)))
            })
        }
        #[inline(always)]
        fn guess_reciprocal(self) -> Self {
            let guess = lane!(_mm256_set1_epi32(GUESS as i32));
            Avx2(lane!(_mm256_castsi256_ps(_mm256_sub_epi32(guess, _mm256_castps_si256(self.0)))))
        }
        #[inline(always)]
        fn prefetch(at: *const f32) {
            lane!(_mm_prefetch::<_MM_HINT_T0>(at.cast()))
        }
        lanewise!(Avx2: add = _mm256_add_ps, sub = _mm256_sub_ps, mul = _mm256_mul_ps,
            max = _mm256_max_ps, min = _mm256_min_ps);
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
        fn at_least(self, floor: Self) -> u32 {
            let kept = lane!(_mm256_cmp_ps::<_CMP_GE_OQ>(self.0, floor.0));
            lane!(_mm256_movemask_ps(kept)) as u32
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
        const VECTORS: usize = 16;
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
        unsafe fn load_pairs(from: *const f32) -> (Self, Self) {
            let upper = lane!(_mm512_loadu_ps(from));
            let lower = lane!(_mm512_slli_epi32::<16>(_mm512_castps_si512(upper)));
            (Avx512(upper), Avx512(lane!(_mm512_castsi512_ps(lower))))
        }
        #[inline(always)]
        unsafe fn store_pairs(upper: Self, lower: Self, to: *mut f32) {
            lane!({
                let half = _mm512_set1_epi32(0x8000);
                let lower = _mm512_add_epi32(_mm512_castps_si512(lower.0), half);
                let lower = _mm512_srli_epi32::<16>(lower);
                let upper = _mm512_sub_epi32(_mm512_castps_si512(upper.0), lower);
                let upper = _mm512_add_epi32(upper, half);
                let upper = _mm512_and_si512(upper, _mm512_set1_epi32(-0x10000));
                _mm512_storeu_ps(to, _mm512_castsi512_ps(_mm512_or_si512(upper, lower)))
            })
        }
        #[inline(always)]
        fn guess_reciprocal(self) -> Self {
            let guess = lane!(_mm512_set1_epi32(GUESS as i32));
            Avx512(lane!(_mm512_castsi512_ps(_mm512_sub_epi32(guess, _mm512_castps_si512(self.0)))))
        }
        #[inline(always)]
        fn prefetch(at: *const f32) {
            lane!(_mm_prefetch::<_MM_HINT_T0>(at.cast()))
        }
        lanewise!(Avx512: add = _mm512_add_ps, sub = _mm512_sub_ps, mul = _mm512_mul_ps,
            max = _mm512_max_ps, min = _mm512_min_ps);
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
        fn at_least(self, floor: Self) -> u32 {
            u32::from(lane!(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, floor.0)))
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
            let [a, b, c, d, e, f, g, h] = of;
            let mut out = [0.0; BLOCK];
            lane!({
                let ab = interleaved_sum(a.0, b.0);
                let cd = interleaved_sum(c.0, d.0);
                let ef = interleaved_sum(e.0, f.0);
                let gh = interleaved_sum(g.0, h.0);
                let abcd = paired_sum(ab, cd);
                let efgh = paired_sum(ef, gh);
                let low = _mm512_shuffle_f32x4::<0x88>(abcd, efgh);
                let high = _mm512_shuffle_f32x4::<0xdd>(abcd, efgh);
                let both = _mm512_add_ps(low, high);
                let swapped = _mm512_shuffle_f32x4::<0xb1>(both, both);
                let sums = _mm512_add_ps(both, swapped);
                let sums = _mm512_shuffle_f32x4::<0x08>(sums, sums);
                _mm256_storeu_ps(out.as_mut_ptr(), _mm512_castps512_ps256(sums));
            });
            out
        }
        #[inline(always)]
        fn sums_of_block(of: [Self; 2 * BLOCK]) -> [f32; 2 * BLOCK] {
            let mut out = [0.0; 2 * BLOCK];
            lane!(_mm512_storeu_ps(out.as_mut_ptr(), sixteen_sums(&of)));
            out
        }
        #[inline(always)]
        unsafe fn pick(rows: [*const f32; 16], picks: &Picks, to: *mut f32, width: usize) {
            lane!(pick(rows, picks, to, width))
        }
    }

    /// Neighbouring lanes of two vectors added: a and b in turns.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn interleaved_sum(a: __m512, b: __m512) -> __m512 {
        _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b))
    }

    /// The same of neighbouring pairs of lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn paired_sum(a: __m512, b: __m512) -> __m512 {
        let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
        let (low, high) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high))
    }

    /// The same of neighbouring quarters, or halves, of vectors: those of a, then those of b.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn folded_sum(a: __m512, b: __m512) -> __m512 {
        let (low, high) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
        _mm512_add_ps(low, high)
    }

    /// The sum of each of 16 vectors.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sixteen_sums(of: &[Avx512; 16]) -> __m512 {
        let mut fours = [_mm512_setzero_ps(); 4];
        for (i, four) in fours.iter_mut().enumerate() {
            let [a, b, c, d] = [of[4 * i].0, of[4 * i + 1].0, of[4 * i + 2].0, of[4 * i + 3].0];
            *four = paired_sum(interleaved_sum(a, b), interleaved_sum(c, d));
        }
        let [a, b, c, d] = fours;
        folded_sum(folded_sum(a, b), folded_sum(c, d))
    }

    /// [`Lanes32::pick`]: permutations pick up to 32 halves of each row, and a transposition of 16 by 16 pairs of
    /// halves puts rows into lanes.
    ///
    /// # Safety
    /// As [`Lanes32::pick`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn pick(rows: [*const f32; 16], picks: &Picks, to: *mut f32, width: usize) {
        // SAFETY: 32 places; the caller vouches for rows that hold the topics, and of the last block of a row only what
        // is there is read.
        let from = unsafe { _mm512_loadu_si512(picks.from.as_ptr().cast()) };
        let mut picked = [_mm512_setzero_si512(); 16];
        for &(block, halves) in &picks.blocks {
            let is_whole = picks.is_whole(block);
            for (row, picked) in rows.into_iter().zip(&mut picked) {
                let at = row.wrapping_add(block as usize * 32);
                // SAFETY: as above.
                let first = unsafe { _mm512_loadu_si512(at.cast()) };
                let found = if is_whole {
                    // SAFETY: as above.
                    let second = unsafe { _mm512_loadu_si512(at.add(16).cast()) };
                    _mm512_maskz_permutex2var_epi16(halves, first, from, second)
                } else {
                    _mm512_maskz_permutexvar_epi16(halves, from, first)
                };
                *picked = _mm512_or_si512(*picked, found);
            }
        }
        let columns = transposed(picked);
        let n = picks.topics().len();
        let (upper, middle) = (_mm512_set1_epi32(-0x10000), _mm512_set1_epi32(0x8000));
        for (j, column) in columns.into_iter().enumerate() {
            if j < n {
                // What stood below the number here has been left behind: half of a unit is its best guess.
                let value = _mm512_ternarylogic_epi32::<0xea>(column, upper, middle);
                // SAFETY: the caller vouches for the topic's place.
                unsafe { _mm512_storeu_si512(to.add(j * width).cast(), value) };
            }
            if j + 16 < n {
                let value = _mm512_slli_epi32::<16>(column);
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(to.add((j + 16) * width).cast(), value) };
            }
        }
    }

    /// Columns of 16 rows of 16 words.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn transposed(rows: [__m512i; 16]) -> [__m512i; 16] {
        let mut pairs = rows;
        for i in (0..16).step_by(2) {
            pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
            pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
        }
        let mut fours = pairs;
        for i in (0..16).step_by(4) {
            fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
            fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
            fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
            fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
        }
        let mut eights = fours;
        for i in 0..4 {
            eights[i] = _mm512_shuffle_i32x4::<0x88>(fours[i], fours[4 + i]);
            eights[4 + i] = _mm512_shuffle_i32x4::<0xdd>(fours[i], fours[4 + i]);
            eights[8 + i] = _mm512_shuffle_i32x4::<0x88>(fours[8 + i], fours[12 + i]);
            eights[12 + i] = _mm512_shuffle_i32x4::<0xdd>(fours[8 + i], fours[12 + i]);
        }
        let mut columns = eights;
        for i in 0..4 {
            columns[i] = _mm512_shuffle_i32x4::<0x88>(eights[i], eights[8 + i]);
            columns[8 + i] = _mm512_shuffle_i32x4::<0xdd>(eights[i], eights[8 + i]);
            columns[4 + i] = _mm512_shuffle_i32x4::<0x88>(eights[4 + i], eights[12 + i]);
            columns[12 + i] = _mm512_shuffle_i32x4::<0xdd>(eights[4 + i], eights[12 + i]);
        }
        columns
    }
}
