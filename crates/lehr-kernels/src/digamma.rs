//! exp(digamma(x)) without logarithm or branches, in f32 and f64 lanes; digamma(x) and ln Gamma(x) in f64 lanes.
//!
//! digamma(x) = digamma(x + n) - S with S = 1/x + ... + 1/(x+n-1), and exp(digamma(z + 1/2)) has the
//! series z + 1/(24z) - 37/(5760z^3) + ...; so only exp(-S) is left, and no number cancels.

use super::dispatch;
use super::lanes::Lanes;
use super::lanes32::{Lanes32, Narrow};
use super::special::{HALF_LN_2PI, STIRLING};

dispatch! {
    /// `out[i] = exp(digamma(x[i]))` for x >= 0. Relative error below `3e-7 * (2 + 1/x)` from 1e-8 to
    /// 1e8; results below about 1e-37 (x below 0.0117) are 0.
    ///
    /// Equivalent to `out[i] = digamma(x[i]).exp()`.
    exp_digamma_f32 => exp_digamma_f32_body(x: &[f32], out: &mut [f32])
}

#[inline(always)]
fn exp_digamma_f32_body<L: Narrow>(x: &[f32], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "one result per argument");
    let n = L::Single::N;
    for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
        // SAFETY: a chunk of fewer numbers goes through a buffer that has room for 16 >= n.
        unsafe {
            if x.len() == n {
                exp_digamma32(L::Single::load(x.as_ptr())).store(out.as_mut_ptr());
            } else {
                let mut buffer = [1.0; 16];
                buffer[..x.len()].copy_from_slice(x);
                exp_digamma32(L::Single::load(buffer.as_ptr())).store(buffer.as_mut_ptr());
                out.copy_from_slice(&buffer[..x.len()]);
            }
        }
    }
}

dispatch! {
    /// `out[i] = exp(digamma(x[i]))` for x >= 0. Relative error below `4e-16 * (8 + 2/x)` from 1e-8 to
    /// 1e8; results below about 1e-306 (x below 0.0015) are 0.
    ///
    /// Equivalent to `out[i] = digamma(x[i]).exp()`.
    exp_digamma_f64 => exp_digamma_f64_body(x: &[f64], out: &mut [f64])
}

#[inline(always)]
fn exp_digamma_f64_body<L: Lanes>(x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "one result per argument");
    for (x, out) in x.chunks(L::N).zip(out.chunks_mut(L::N)) {
        // SAFETY: a chunk of fewer numbers goes through a buffer that has room for 8 >= N.
        unsafe {
            if x.len() == L::N {
                exp_digamma64(L::load(x.as_ptr())).store(out.as_mut_ptr());
            } else {
                let mut buffer = [1.0; 8];
                buffer[..x.len()].copy_from_slice(x);
                exp_digamma64(L::load(buffer.as_ptr())).store(buffer.as_mut_ptr());
                out.copy_from_slice(&buffer[..x.len()]);
            }
        }
    }
}

dispatch! {
    /// `out[i] = digamma(x[i])` for x from 1e-70 to 1e70. Error below 4e-15 (1 + |result|).
    digamma_f64 => digamma_f64_body(x: &[f64], out: &mut [f64])
}

#[inline(always)]
fn digamma_f64_body<L: Lanes>(x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "one result per argument");
    for (x, out) in x.chunks(L::N).zip(out.chunks_mut(L::N)) {
        // SAFETY: both have as many numbers, at most N.
        unsafe {
            if x.len() == L::N {
                digamma64(L::load(x.as_ptr())).store(out.as_mut_ptr());
            } else {
                let x = L::load_first(x.as_ptr(), x.len());
                digamma64(x.max(L::splat(1e-70))).store_first(out.as_mut_ptr(), out.len());
            }
        }
    }
}

dispatch! {
    /// `out[i] = ln_gamma(x[i])` for x from 1e-70 to 1e30. Error below 8e-15 (1 + |result|).
    ln_gamma_f64 => ln_gamma_f64_body(x: &[f64], out: &mut [f64])
}

#[inline(always)]
fn ln_gamma_f64_body<L: Lanes>(x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "one result per argument");
    for (x, out) in x.chunks(L::N).zip(out.chunks_mut(L::N)) {
        // SAFETY: both have as many numbers, at most N.
        unsafe {
            if x.len() == L::N {
                ln_gamma64(L::load(x.as_ptr())).store(out.as_mut_ptr());
            } else {
                let x = L::load_first(x.as_ptr(), x.len());
                ln_gamma64(x.max(L::splat(1e-70))).store_first(out.as_mut_ptr(), out.len());
            }
        }
    }
}

/// Arguments of the sum S are kept in this range: above it S is 0 to rounding, below it exp(-S) is 0.
const SMALLEST: f32 = 1e-6;
const LARGEST: f32 = 1e9;

/// What this arithmetic needs: one vector, or several side by side.
pub(super) trait Numbers: Copy {
    fn splat(x: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn reciprocal(self) -> Self;
    fn scale_by_power(self, magic: Self) -> Self;
    fn zero_below(self, floor: Self) -> Self;
}

/// Several vectors. A chain of operations takes many times as long as each of them, and the CPU looks only so far ahead
/// for others to do meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Side<L, const M: usize>(pub [L; M]);

/// Operations on a vector, and on each of several.
macro_rules! numbers {
    ($($name:ident($($arg:ident),*)),*) => {
        impl<L: Lanes32> Numbers for L {
            #[inline(always)]
            fn splat(x: f32) -> Self {
                Lanes32::splat(x)
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                Lanes32::reciprocal(self)
            }
            $(
                #[inline(always)]
                fn $name(self, $($arg: Self),*) -> Self {
                    Lanes32::$name(self, $($arg),*)
                }
            )*
        }

        impl<L: Lanes32, const M: usize> Numbers for Side<L, M> {
            #[inline(always)]
            fn splat(x: f32) -> Self {
                Side([L::splat(x); M])
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                let (one, two) = (Numbers::splat(1.0), Numbers::splat(2.0));
                let minus = Self::splat(0.0).sub(self);
                let r = Side(self.0.map(L::guess_reciprocal));
                let r = r.mul(minus.mul_add(r, two));
                let r = r.mul(minus.mul_add(r, two));
                minus.mul_add(r, one).mul_add(r, r)
            }
            $(
                #[inline(always)]
                fn $name(self, $($arg: Self),*) -> Self {
                    let mut out = self;
                    for i in 0..M {
                        out.0[i] = Lanes32::$name(self.0[i], $($arg.0[i]),*);
                    }
                    out
                }
            )*
        }
    };
}

numbers!(
    add(other),
    sub(other),
    mul(other),
    mul_add(a, b),
    max(other),
    min(other),
    scale_by_power(magic),
    zero_below(floor)
);

/// exp(digamma(x)), f32.
#[inline(always)]
pub(super) fn exp_digamma32<L: Numbers>(x: L) -> L {
    shifted_exp_digamma32(x, L::splat(0.0))
}

/// exp(digamma(x) + shift), where shift is at most 1/x + 1/(x+1) + 1/(x+2) + 1/(x+3).
#[inline(always)]
pub(super) fn shifted_exp_digamma32<L: Numbers>(x: L, shift: L) -> L {
    let (two, three) = (L::splat(2.0), L::splat(3.0));
    let s = x.max(L::splat(SMALLEST)).min(L::splat(LARGEST));
    let u = s.mul(s.add(three));
    let numerator = s.mul_add(two, three).mul(u.mul_add(two, two));
    let sum = numerator.mul(u.mul(u.add(two)).reciprocal());
    let z = x.add(L::splat(3.5));
    let r = z.min(L::splat(1e30)).reciprocal();
    let r2 = r.mul(r);
    let series = L::splat(10_313.0 / 2_903_040.0)
        .mul_add(r2, L::splat(-37.0 / 5760.0))
        .mul_add(r2, L::splat(1.0 / 24.0))
        .mul_add(r, z);
    exp32(shift.sub(sum)).mul(series)
}

/// The sum S of four terms that [`shifted_exp_digamma32`] takes off, for one number.
pub(super) fn four_reciprocals(x: f64) -> f64 {
    let u = x * (x + 3.0);
    (2.0 * x + 3.0) * (2.0 * u + 2.0) / (u * (u + 2.0))
}

/// exp(y) for y up to 80; 0 for y <= -87.
#[inline(always)]
fn exp32<L: Numbers>(y: L) -> L {
    // 1.5 * 2^23: adding it leaves the whole part in the low bits of the mantissa.
    let magic = L::splat(12_582_912.0);
    let y = y.max(L::splat(-87.0));
    let whole = y.mul_add(L::splat(std::f32::consts::LOG2_E), magic);
    let k = whole.sub(magic);
    // ln 2 in two parts, so that the rest is exact to rounding.
    let r = k.mul_add(L::splat(-0.693_145_75), y);
    let r = k.mul_add(L::splat(-1.428_606_8e-6), r);
    let r2 = r.mul(r);
    // Taylor in pairs, for a short chain; |r| <= 0.35.
    let low = r.add(L::splat(1.0));
    let middle = r.mul_add(L::splat(1.0 / 6.0), L::splat(0.5));
    let high = r.mul_add(L::splat(1.0 / 120.0), L::splat(1.0 / 24.0));
    let top = r.mul_add(L::splat(1.0 / 5040.0), L::splat(1.0 / 720.0));
    let p = top.mul_add(r2, high).mul_add(r2, middle).mul_add(r2, low);
    // exp(-87) = 1.65e-38 is the first that is not kept.
    p.scale_by_power(whole).zero_below(L::splat(1.66e-38))
}

/// exp(digamma(x)), f64: eight terms are taken off, four at a time.
#[inline(always)]
fn exp_digamma64<L: Lanes>(x: L) -> L {
    // Not above 1e30, where powers of x would overflow; S is 0 to rounding long before.
    let s = x.max(L::splat(1e-9));
    let s = L::splat(0.0).sub(L::splat(0.0).sub(s).max(L::splat(-1e30)));
    let sum = reciprocals64(s).add(reciprocals64(s.add(L::splat(4.0))));
    let (z, series) = series64(x);
    exp64(L::splat(0.0).sub(sum)).mul(series).mul(z)
}

/// digamma(x), f64, likewise.
#[inline(always)]
fn digamma64<L: Lanes>(x: L) -> L {
    let sum = reciprocals64(x).add(reciprocals64(x.add(L::splat(4.0))));
    let (z, series) = series64(x);
    ln64(series.mul(z)).sub(sum)
}

/// z = x + 7.5 and the factor that makes exp(digamma(x + 8)) of it.
#[inline(always)]
fn series64<L: Lanes>(x: L) -> (L, L) {
    const SERIES: [f64; 9] = [
        -0.439_604_436_860_081_27,
        0.082_381_852_238_787_76,
        -0.020_734_675_824_368_137,
        0.007_365_033_269_308_669,
        -0.003_953_557_448_973_030_5,
        0.003_552_482_914_462_081,
        -0.006_423_611_111_111_111,
        0.041_666_666_666_666_664,
        1.0,
    ];
    let z = x.add(L::splat(7.5));
    let r = L::splat(1.0).div(z);
    let r2 = r.mul(r);
    let mut series = L::splat(SERIES[0]);
    for c in &SERIES[1..] {
        series = series.mul_add(r2, L::splat(*c));
    }
    (z, series)
}

/// ln Gamma(x): Stirling's series at x + 8, and the logarithm of the factors that lie between.
#[inline(always)]
fn ln_gamma64<L: Lanes>(x: L) -> L {
    let mut product = x;
    for n in 1..8 {
        product = product.mul(x.add(L::splat(f64::from(n))));
    }
    let y = x.add(L::splat(8.0));
    let inverse = L::splat(1.0).div(y);
    let r = inverse.mul(inverse);
    let mut series = L::splat(STIRLING[0]);
    for c in &STIRLING[1..] {
        series = series.mul_add(r, L::splat(*c));
    }
    let leading = y.sub(L::splat(0.5)).mul(ln64(y).sub(L::splat(1.0)));
    let rest = series.mul_add(inverse, L::splat(HALF_LN_2PI - 0.5)).sub(ln64(product));
    leading.add(rest)
}

/// ln(x) for normal x > 0.
#[inline(always)]
fn ln64<L: Lanes>(x: L) -> L {
    /// The bits of the square root of a half: mantissas are taken from there to twice that.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    /// The bits of 1, and of 2^52, to which a whole number is added as a word.
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    let shifted = x.add_words(L::splat_bits(ONE - LEAST));
    let k = shifted.shift_right(52).or(L::splat_bits(WHOLE));
    let k = k.sub(L::splat((1u64 << 52) as f64 + 1023.0));
    let mantissa = shifted.and(L::splat_bits((1 << 52) - 1)).add_words(L::splat_bits(LEAST));
    // ln m = 2 atanh f.
    let one = L::splat(1.0);
    let f = mantissa.sub(one).div(mantissa.add(one));
    let f2 = f.mul(f);
    let mut series = L::splat(1.0 / 21.0);
    for n in (1..=19).rev().step_by(2) {
        series = series.mul_add(f2, L::splat(1.0 / f64::from(n)));
    }
    k.mul_add(L::splat(std::f64::consts::LN_2), f.add(f).mul(series))
}

/// 1/x + 1/(x+1) + 1/(x+2) + 1/(x+3).
#[inline(always)]
fn reciprocals64<L: Lanes>(x: L) -> L {
    let (two, three) = (L::splat(2.0), L::splat(3.0));
    let u = x.mul(x.add(three));
    x.mul_add(two, three).mul(u.mul_add(two, two)).div(u.mul(u.add(two)))
}

/// exp(y) for y <= 0; 0 for y <= -708.
#[inline(always)]
fn exp64<L: Lanes>(y: L) -> L {
    const TAYLOR: [f64; 14] = [
        1. / 6_227_020_800.,
        1. / 479_001_600.,
        1. / 39_916_800.,
        1. / 3_628_800.,
        1. / 362_880.,
        1. / 40_320.,
        1. / 5_040.,
        1. / 720.,
        1. / 120.,
        1. / 24.,
        1. / 6.,
        1. / 2.,
        1.,
        1.,
    ];
    // 1.5 * 2^52: adding it leaves the whole part in the low bits of the mantissa.
    let magic = L::splat(6_755_399_441_055_744.0);
    let y = y.max(L::splat(-708.0));
    let whole = y.mul_add(L::splat(std::f64::consts::LOG2_E), magic);
    let k = whole.sub(magic);
    // ln 2 in two parts, so that the rest is exact to rounding.
    let r = k.mul_add(L::splat(-6.931_471_803_691_238e-1), y);
    let r = k.mul_add(L::splat(-1.908_214_929_270_587_7e-10), r);
    let mut p = L::splat(TAYLOR[0]);
    for c in &TAYLOR[1..] {
        p = p.mul_add(r, L::splat(*c));
    }
    // exp(-708) = 3.3e-308 is the first that is not kept.
    p.scale_by_power(whole).zero_below(L::splat(3.31e-308))
}
