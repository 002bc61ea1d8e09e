//! Counter-based standard normal numbers, many at a time: Philox 4x32-10 and Box-Muller.

use super::dispatch;
use super::lanes::Lanes;
use crate::math::rng::{Address, philox};

/// Philox blocks that are worked on together; with four numbers each, 32 normals.
const BLOCKS: usize = 8;

dispatch! {
    /// `out[i]` = standard normal number `first + i` of `address`; `first` must be a multiple of 32.
    /// A number depends on the address and its index alone, so any part can be drawn anywhere.
    ///
    /// Equivalent to Box-Muller on the 32-bit words of the Philox blocks: with
    /// `r = sqrt(-2 ln((x0 + 1) / 2^32))`, words 0 and 1 give `r cos` and `r sin` of
    /// `2 pi x1 / 2^32`, words 2 and 3 likewise. Within 32 numbers, index = word * 8 + block.
    fill_normal => fill_normal_body(address: &Address, first: usize, out: &mut [f64])
}

#[inline(always)]
fn fill_normal_body<L: Lanes>(address: &Address, first: usize, out: &mut [f64]) {
    assert!(first.is_multiple_of(4 * BLOCKS), "a whole number of blocks comes before");
    let mut index = (first / 4) as u64;
    for chunk in out.chunks_mut(4 * BLOCKS) {
        let words = philox_blocks(address, index);
        index += BLOCKS as u64;
        let mut normals = [[0.0; BLOCKS]; 4];
        for pair in 0..2 {
            for b in 0..BLOCKS {
                let (cos, sin) = box_muller::<L>(words[2 * pair][b], words[2 * pair + 1][b]);
                normals[2 * pair][b] = cos;
                normals[2 * pair + 1][b] = sin;
            }
        }
        for (part, normals) in chunk.chunks_mut(BLOCKS).zip(&normals) {
            part.copy_from_slice(&normals[..part.len()]);
        }
    }
}

/// The words of `BLOCKS` neighbouring Philox blocks, word by word.
#[inline(always)]
fn philox_blocks(address: &Address, first: u64) -> [[u32; BLOCKS]; 4] {
    let mut words = [[0; BLOCKS]; 4];
    for b in 0..BLOCKS {
        let counter = address.counter(first + b as u64);
        for (word, c) in words.iter_mut().zip(counter) {
            word[b] = c;
        }
    }
    let [mut k0, mut k1] = address.key();
    for _ in 0..philox::ROUNDS {
        for b in 0..BLOCKS {
            let next =
                philox::round([words[0][b], words[1][b], words[2][b], words[3][b]], [k0, k1]);
            for (word, c) in words.iter_mut().zip(next) {
                word[b] = c;
            }
        }
        k0 = k0.wrapping_add(philox::WEYL[0]);
        k1 = k1.wrapping_add(philox::WEYL[1]);
    }
    words
}

/// `a * b + c`, rounded once where that is an instruction.
#[inline(always)]
fn fma<L: Lanes>(a: f64, b: f64, c: f64) -> f64 {
    if L::FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn polynomial<L: Lanes, const D: usize>(x: f64, coefficients: [f64; D]) -> f64 {
    let mut p = coefficients[0];
    for &c in &coefficients[1..] {
        p = fma::<L>(p, x, c);
    }
    p
}

/// An unsigned 32-bit number as f64, by way of the mantissa: it vectorises everywhere.
#[inline(always)]
fn exact(x: u32) -> f64 {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    f64::from_bits(TWO_52.to_bits() | u64::from(x)) - TWO_52
}

/// Two independent normals from two words. The approximations are good to 1e-13, far below the
/// 2^-32 grain of the words.
#[inline(always)]
fn box_muller<L: Lanes>(x: u32, y: u32) -> (f64, f64) {
    // -2 ln((x + 1) / 2^32): the exponent is taken off, the rest is 2 atanh((m - 1) / (m + 1)).
    let u = exact(x) + 1.0;
    let bits = u.to_bits();
    // Mantissas in [sqrt(1/2), sqrt(2)): the offset carries into the exponent above sqrt(2).
    const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    let shifted = bits.wrapping_sub(HALF_ROOT);
    let exponent = (shifted >> 52) as u32;
    let m = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff).wrapping_add(HALF_ROOT));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = polynomial::<L, 8>(
        z,
        [2. / 15., 2. / 13., 2. / 11., 2. / 9., 2. / 7., 2. / 5., 2. / 3., 2.0],
    );
    let ln = fma::<L>(exact(exponent) - 32.0, std::f64::consts::LN_2, s * series);
    let radius = (-2.0 * ln).max(0.0).sqrt();

    // The angle in quarter turns plus a rest within an eighth of a turn.
    let turned = y.wrapping_add(1 << 29);
    let quarter = turned >> 30;
    let rest = exact(turned & 0x3fff_ffff) - 536_870_912.0;
    let a = rest * (2.0 * std::f64::consts::PI / 4_294_967_296.0);
    let z = a * a;
    let sin = a * polynomial::<L, 7>(
        z,
        [
            1. / 6_227_020_800.,
            -1. / 39_916_800.,
            1. / 362_880.,
            -1. / 5_040.,
            1. / 120.,
            -1. / 6.,
            1.,
        ],
    );
    let cos = polynomial::<L, 8>(
        z,
        [
            -1. / 87_178_291_200.,
            1. / 479_001_600.,
            -1. / 3_628_800.,
            1. / 40_320.,
            -1. / 720.,
            1. / 24.,
            -1. / 2.,
            1.,
        ],
    );
    // Odd quarters swap sine and cosine; signs flip as in the unit circle.
    let swap = 0u64.wrapping_sub(u64::from(quarter & 1));
    let (sin_bits, cos_bits) = (sin.to_bits(), cos.to_bits());
    let cos_sign = u64::from((quarter.wrapping_add(1) >> 1) & 1) << 63;
    let sin_sign = u64::from(quarter >> 1) << 63;
    let cos = f64::from_bits(((cos_bits & !swap) | (sin_bits & swap)) ^ cos_sign);
    let sin = f64::from_bits(((sin_bits & !swap) | (cos_bits & swap)) ^ sin_sign);
    (radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::kernels::Isa;
    use crate::math::rng::Purpose;

    /// The scalar twin: the textbook formula with the standard library's functions.
    fn normal(address: &Address, index: usize) -> f64 {
        let (group, within) = (index / 32, index % 32);
        let (word, block) = (within / 8, within % 8);
        let words = address.block((group * 8 + block) as u64);
        let pair = 2 * (word / 2);
        let radius = (-2.0 * ((f64::from(words[pair]) + 1.0) / 2f64.powi(32)).ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * f64::from(words[pair + 1]) / 2f64.powi(32);
        radius * if word % 2 == 0 { angle.cos() } else { angle.sin() }
    }

    #[test]
    fn agrees_with_the_textbook_in_every_instruction_set() {
        let address = Address::new(7, Purpose::Noise, 0, 3);
        for isa in Isa::available() {
            for length in [0, 1, 7, 8, 9, 31, 32, 33, 64, 67, 5000] {
                let mut out = vec![f64::NAN; length];
                fill_normal(isa, &address, 64, &mut out);
                for (i, &x) in out.iter().enumerate() {
                    let expected = normal(&address, 64 + i);
                    assert!((x - expected).abs() < 1e-12, "{isa:?} {length} {i}: {x} {expected}");
                }
            }
        }
    }

    #[test]
    fn fused_instruction_sets_give_the_same_bits() {
        let address = Address::new(1, Purpose::Noise, 2, 9);
        let draw = |isa| {
            let mut out = vec![0.0; 1000];
            fill_normal(isa, &address, 0, &mut out);
            out.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let fused: Vec<_> =
            Isa::available().into_iter().filter(|&isa| isa != Isa::Portable).collect();
        for pair in fused.windows(2) {
            assert_eq!(draw(pair[0]), draw(pair[1]));
        }
    }
}
