//! Counter-based standard normal numbers, many at a time: Philox 4x32-10 and Box-Muller.

use super::dispatch;
use super::lanes::Lanes;
use crate::rng::{Address, philox};

/// Philox blocks whose numbers stand together: word 0 of each, then word 1 of each, and so on.
const BLOCKS: usize = 8;

/// Vectors of blocks that are worked on together, so that their rounds overlap in the pipeline.
const STREAMS: usize = 2;

/// Vectors of pairs of words that become normals together. Their polynomials run side by side: one
/// alone would wait for each of its multiply-adds.
const PAIRS: usize = 2 * STREAMS;

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
    let stretch = 4 * STREAMS * L::N;
    let keys = round_keys::<L>(address);
    let mut index = (first / 4) as u64;
    let mut stretches = out.chunks_exact_mut(stretch);
    for chunk in &mut stretches {
        // SAFETY: the chunk has room for the whole stretch.
        unsafe { fill_stretch::<L>(address, &keys, index, chunk.as_mut_ptr()) };
        index += (stretch / 4) as u64;
    }
    let rest = stretches.into_remainder();
    if !rest.is_empty() {
        let mut buffer = [0.0; 4 * STREAMS * 8];
        assert!(buffer.len() >= stretch);
        // SAFETY: the buffer has room for the whole stretch.
        unsafe { fill_stretch::<L>(address, &keys, index, buffer.as_mut_ptr()) };
        rest.copy_from_slice(&buffer[..rest.len()]);
    }
}

/// The numbers of `STREAMS * L::N` blocks from block `index` on.
///
/// # Safety
/// `out` must be writable for four numbers per block.
#[inline(always)]
unsafe fn fill_stretch<L: Lanes>(
    address: &Address,
    keys: &[[L; 2]; philox::ROUNDS],
    index: u64,
    out: *mut f64,
) {
    const { assert!(BLOCKS.is_multiple_of(L::N) && (STREAMS * L::N).is_multiple_of(BLOCKS)) };
    let words = philox_blocks::<L>(address, keys, index);
    let (mut radius_words, mut angle_words) = ([L::splat(0.0); PAIRS], [L::splat(0.0); PAIRS]);
    for (stream, words) in words.iter().enumerate() {
        for pair in 0..2 {
            radius_words[2 * stream + pair] = words[2 * pair];
            angle_words[2 * stream + pair] = words[2 * pair + 1];
        }
    }
    let radii = radii(radius_words);
    let (cosines, sines) = circle(angle_words);
    for i in 0..PAIRS {
        let (block, word) = (i / 2 * L::N, i % 2 * 2);
        let at = block / BLOCKS * (4 * BLOCKS) + word * BLOCKS + block % BLOCKS;
        // SAFETY: the blocks fill whole groups, and each of a group's 4 * BLOCKS numbers is written
        // once: those of `word` and `word + 1` of blocks `block .. block + L::N`.
        unsafe {
            radii[i].mul(cosines[i]).store(out.add(at));
            radii[i].mul(sines[i]).store(out.add(at + BLOCKS));
        }
    }
}

/// The two keys of every round.
///
/// Here and below arrays are filled by loops: a closure has no target features, so lane operations
/// in one are not inlined unless the closure is.
#[inline(always)]
fn round_keys<L: Lanes>(address: &Address) -> [[L; 2]; philox::ROUNDS] {
    let mut keys = [[L::splat(0.0); 2]; philox::ROUNDS];
    let mut key = address.key();
    for [first, second] in &mut keys {
        *first = L::splat_bits(u64::from(key[0]));
        *second = L::splat_bits(u64::from(key[1]));
        key = philox::next_key(key);
    }
    keys
}

/// The words of neighbouring Philox blocks, in the lower halves of the lanes; the upper halves hold
/// leftovers that no operation reads.
#[inline(always)]
fn philox_blocks<L: Lanes>(
    address: &Address,
    keys: &[[L; 2]; philox::ROUNDS],
    first: u64,
) -> [[L; 4]; STREAMS] {
    let first_multiplier = L::splat_bits(u64::from(philox::MULTIPLIERS[0]));
    let second_multiplier = L::splat_bits(u64::from(philox::MULTIPLIERS[1]));
    let [_, step_low, step_high, last] = address.counter(0);
    let mut streams = [[L::splat_bits(u64::from(last)); 4]; STREAMS];
    for (stream, c) in streams.iter_mut().enumerate() {
        // As `Address::counter`: the index's upper bits share a word with the step's.
        c[0] = L::count_from(first + (stream * L::N) as u64);
        c[1] = L::splat_bits(u64::from(step_low));
        c[2] = L::splat_bits(u64::from(step_high)).or(c[0].shift_right(32));
    }
    for key in keys {
        for c in &mut streams {
            let a = c[0].mul_low_halves(first_multiplier);
            let b = c[2].mul_low_halves(second_multiplier);
            *c = [
                b.shift_right(32).xor(c[1]).xor(key[0]),
                b,
                a.shift_right(32).xor(c[3]).xor(key[1]),
                a,
            ];
        }
    }
    streams
}

#[inline(always)]
fn polynomials<L: Lanes, const D: usize>(x: [L; PAIRS], coefficients: [f64; D]) -> [L; PAIRS] {
    let mut p = [L::splat(coefficients[0]); PAIRS];
    for &c in &coefficients[1..] {
        let c = L::splat(c);
        for i in 0..PAIRS {
            p[i] = p[i].mul_add(x[i], c);
        }
    }
    p
}

/// 2^52: a word below it, put into the mantissa, makes 2^52 + the word.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// `word - minus` as a float, for a word below 2^32 and a whole number.
#[inline(always)]
fn float<L: Lanes>(word: L, minus: f64) -> L {
    word.or(L::splat(TWO_52)).sub(L::splat(TWO_52 + minus))
}

/// `sqrt(-2 ln((x + 1) / 2^32))` for the lower halves x of the words. Good to 1e-13, like `circle`;
/// that is far below the 2^-32 grain of the words.
#[inline(always)]
fn radii<L: Lanes>(words: [L; PAIRS]) -> [L; PAIRS] {
    // The exponent is taken off; the rest is 2 atanh(s) with s = (m - 1) / (m + 1).
    let zeros = [L::splat(0.0); PAIRS];
    let (mut s, mut z, mut exponents) = (zeros, zeros, zeros);
    for i in 0..PAIRS {
        let u = float(words[i].and(L::splat_bits(0xffff_ffff)), -1.0);
        // Mantissas in [sqrt(1/2), sqrt(2)): the offset carries into the exponent above sqrt(2).
        const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
        let shifted = u.add_words(L::splat_bits(HALF_ROOT.wrapping_neg()));
        exponents[i] = float(shifted.shift_right(52), 32.0);
        let mantissa = shifted.and(L::splat_bits(0x000f_ffff_ffff_ffff));
        let m = mantissa.add_words(L::splat_bits(HALF_ROOT));
        s[i] = m.sub(L::splat(1.0)).div(m.add(L::splat(1.0)));
        z[i] = s[i].mul(s[i]);
    }
    let series = polynomials(
        z,
        [-4. / 15., -4. / 13., -4. / 11., -4. / 9., -4. / 7., -4. / 5., -4. / 3., -4.],
    );
    let mut radii = zeros;
    for i in 0..PAIRS {
        let ln_2 = L::splat(-2.0 * std::f64::consts::LN_2);
        let minus_2_ln = exponents[i].mul_add(ln_2, s[i].mul(series[i]));
        radii[i] = minus_2_ln.max(L::splat(0.0)).sqrt();
    }
    radii
}

/// Cosine and sine of `2 pi y / 2^32` for the lower halves y of the words.
#[inline(always)]
fn circle<L: Lanes>(words: [L; PAIRS]) -> ([L; PAIRS], [L; PAIRS]) {
    // The angle in quarter turns (bits 30 and 31) plus a rest `a` within an eighth of a turn.
    let zeros = [L::splat(0.0); PAIRS];
    let (mut turned, mut a, mut z) = (zeros, zeros, zeros);
    for i in 0..PAIRS {
        turned[i] = words[i].add_words(L::splat_bits(1 << 29));
        let rest = float(turned[i].and(L::splat_bits(0x3fff_ffff)), 536_870_912.0);
        a[i] = rest.mul(L::splat(2.0 * std::f64::consts::PI / 4_294_967_296.0));
        z[i] = a[i].mul(a[i]);
    }
    let sin_by_a = polynomials(
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
    let cos = polynomials(
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
    let (mut cosines, mut sines) = (zeros, zeros);
    for i in 0..PAIRS {
        // Odd quarters swap sine and cosine; signs flip as in the unit circle.
        let (odd, lower_half) = (turned[i].shift_left(33), turned[i].shift_left(32));
        let sin = a[i].mul(sin_by_a[i]);
        let sign = L::splat(-0.0);
        cosines[i] = odd.by_sign(sin, cos[i]).xor(odd.xor(lower_half).and(sign));
        sines[i] = odd.by_sign(cos[i], sin).xor(lower_half.and(sign));
    }
    (cosines, sines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;
    use crate::rng::Purpose;

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
        let fused: Vec<_> = Isa::available().into_iter().filter(|isa| isa.fuses()).collect();
        for pair in fused.windows(2) {
            assert_eq!(draw(pair[0]), draw(pair[1]));
        }
    }
}
