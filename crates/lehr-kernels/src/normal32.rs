//! Counter-based standard normal numbers in single precision: Philox 4x32-10 and Box-Muller.

use super::dispatch;
use super::lanes32::Lanes32;
use super::words32::{Packing, Words32};
use crate::rng::{Address, philox};

/// How many numbers are made together; any first index must be a multiple of it.
pub const NORMAL_BLOCK_F32: usize = 64;

/// Philox blocks whose numbers stand together: word 0 of each, then word 1 of each, and so on.
const BLOCKS: usize = NORMAL_BLOCK_F32 / 4;

/// The last word of the counter. It is 0 for `fill_normal` and counts from 1 for `Rng`, so none of
/// their words is used here.
const LAST: u32 = u32::MAX;

/// Vectors of Philox blocks with the fewest lanes that there are.
const MOST_STREAMS: usize = BLOCKS / 4;

/// Vectors of pairs of words with the fewest lanes that there are.
const MOST_PAIRS: usize = 2 * BLOCKS / 4;

dispatch! {
    /// `out[i]` = standard normal number `first + i` of `address`, in single precision; `first`
    /// must be a multiple of [`NORMAL_BLOCK_F32`]. A number depends on the address and its index
    /// alone, and shares no random word with those of `fill_normal`.
    ///
    /// Equivalent to Box-Muller on the 32-bit words of the Philox blocks whose counter ends in
    /// `u32::MAX`: with `r = sqrt(-2 ln((x0 + 1) / 2^32))`, where x0 + 1 is rounded to f32, words 0
    /// and 1 give `r cos` and `r sin` of `2 pi x1 / 2^32`, words 2 and 3 likewise. Within 64
    /// numbers, index = word * 16 + block. The error is below 1e-6; the largest number is 6.67.
    ///
    /// # Panics
    /// If `first` is not a multiple of [`NORMAL_BLOCK_F32`].
    fill_normal_f32 => fill_normal_body(address: &Address, first: usize, out: &mut [f32])
}

#[inline(always)]
fn fill_normal_body<L: Packing>(address: &Address, first: usize, out: &mut [f32]) {
    assert!(first.is_multiple_of(NORMAL_BLOCK_F32), "a whole number of blocks comes before");
    let mut index = (first / 4) as u64;
    let mut words = Words([0; NORMAL_BLOCK_F32]);
    let mut groups = out.chunks_exact_mut(NORMAL_BLOCK_F32);
    for group in &mut groups {
        philox_words::<L>(address, index, &mut words);
        // SAFETY: a group has room for all numbers.
        unsafe { box_muller::<L::Single>(&words, group.as_mut_ptr()) };
        index += BLOCKS as u64;
    }
    let rest = groups.into_remainder();
    if !rest.is_empty() {
        let mut buffer = [0.0; NORMAL_BLOCK_F32];
        philox_words::<L>(address, index, &mut words);
        // SAFETY: the buffer has room for all numbers.
        unsafe { box_muller::<L::Single>(&words, buffer.as_mut_ptr()) };
        rest.copy_from_slice(&buffer[..rest.len()]);
    }
}

/// The words of `BLOCKS` Philox blocks; index = word * BLOCKS + block.
#[repr(align(64))]
struct Words([u32; NORMAL_BLOCK_F32]);

/// The words of the blocks from `first` on.
#[inline(always)]
fn philox_words<L: Packing>(address: &Address, first: u64, to: &mut Words) {
    const { assert!(BLOCKS.is_multiple_of(2 * L::N) && BLOCKS / L::N <= MOST_STREAMS) };
    let streams = BLOCKS / L::N;
    let [_, step_low, step_high, _] = address.counter(0);
    let mut c = [[L::splat_bits(u64::from(LAST)); 4]; MOST_STREAMS];
    // Pairs of blocks go to one vector and the next in turn, as `store_lower_halves` puts them
    // together.
    let count = L::count_from(0);
    let spread = count.add_words(count.and(L::splat_bits(!1)));
    for (stream, c) in c.iter_mut().enumerate().take(streams) {
        let from = first + (stream / 2 * 2 * L::N + stream % 2 * 2) as u64;
        // As `Address::counter`: the index's upper bits share a word with the step's.
        c[0] = L::splat_bits(from).add_words(spread);
        c[1] = L::splat_bits(u64::from(step_low));
        c[2] = L::splat_bits(u64::from(step_high)).or(c[0].shift_right(32));
    }
    let first_multiplier = L::splat_bits(u64::from(philox::MULTIPLIERS[0]));
    let second_multiplier = L::splat_bits(u64::from(philox::MULTIPLIERS[1]));
    let mut key = address.key();
    for _ in 0..philox::ROUNDS {
        let keys = [L::splat_bits(u64::from(key[0])), L::splat_bits(u64::from(key[1]))];
        for c in c.iter_mut().take(streams) {
            let a = c[0].mul_low_halves(first_multiplier);
            let b = c[2].mul_low_halves(second_multiplier);
            *c = [
                b.shift_right(32).xor(c[1]).xor(keys[0]),
                b,
                a.shift_right(32).xor(c[3]).xor(keys[1]),
                a,
            ];
        }
        key = philox::next_key(key);
    }
    for (pair, c) in c.chunks_exact(2).enumerate().take(streams / 2) {
        for (word, (&first, &second)) in c[0].iter().zip(&c[1]).enumerate() {
            // SAFETY: the blocks of a pair of vectors are within those of the word.
            unsafe {
                let to = to.0.as_mut_ptr().add(word * BLOCKS + pair * 2 * L::N);
                L::store_lower_halves(first, second, to);
            }
        }
    }
}

/// The normals of the words, in their places.
///
/// # Safety
/// `out` must be writable for `NORMAL_BLOCK_F32` numbers.
#[inline(always)]
unsafe fn box_muller<S: Words32>(words: &Words, out: *mut f32) {
    const { assert!(BLOCKS.is_multiple_of(S::N) && 2 * BLOCKS / S::N <= MOST_PAIRS) };
    let pairs = 2 * BLOCKS / S::N;
    let zeros = [S::splat(0.0); MOST_PAIRS];
    let (mut radius_words, mut angle_words) = (zeros, zeros);
    for i in 0..pairs {
        let at = place::<S>(i);
        // SAFETY: within the words.
        unsafe {
            radius_words[i] = S::load(words.0.as_ptr().add(at).cast());
            angle_words[i] = S::load(words.0.as_ptr().add(at + BLOCKS).cast());
        }
    }
    let radii = radii(pairs, radius_words);
    let (cosines, sines) = circle(pairs, angle_words);
    for i in 0..pairs {
        // SAFETY: the places of the words are those of the numbers.
        unsafe {
            radii[i].mul(cosines[i]).store(out.add(place::<S>(i)));
            radii[i].mul(sines[i]).store(out.add(place::<S>(i) + BLOCKS));
        }
    }
}

/// Where the first word of vector `i` of the pairs is.
#[inline(always)]
fn place<S: Lanes32>(i: usize) -> usize {
    let at = i * S::N;
    at / BLOCKS * (2 * BLOCKS) + at % BLOCKS
}

#[inline(always)]
fn polynomials<S: Words32, const D: usize>(
    pairs: usize,
    x: [S; MOST_PAIRS],
    coefficients: [f32; D],
) -> [S; MOST_PAIRS] {
    let mut p = [S::splat(coefficients[0]); MOST_PAIRS];
    for &c in &coefficients[1..] {
        let c = S::splat(c);
        for i in 0..pairs {
            p[i] = p[i].mul_add(x[i], c);
        }
    }
    p
}

/// `sqrt(-2 ln((x + 1) / 2^32))` of the words x.
#[inline(always)]
fn radii<S: Words32>(pairs: usize, words: [S; MOST_PAIRS]) -> [S; MOST_PAIRS] {
    let zeros = [S::splat(0.0); MOST_PAIRS];
    let (mut t, mut exponents) = (zeros, zeros);
    for i in 0..pairs {
        // Conversions are signed, so the halves go apart; their sum is x + 1 rounded once.
        let upper = words[i].shift_right::<16>().to_float();
        let lower = words[i].and(S::splat_bits(0xffff)).add_words(S::splat_bits(1)).to_float();
        let u = upper.mul_add(S::splat(65536.0), lower);
        // Mantissas in [sqrt(1/2), sqrt(2)): the offset carries into the exponent above sqrt(2).
        const HALF_ROOT: u32 = 0x3f35_04f3;
        let shifted = u.add_words(S::splat_bits(HALF_ROOT.wrapping_neg()));
        exponents[i] = S::splat(32.0).sub(shifted.shift_right::<23>().to_float());
        let m = shifted.and(S::splat_bits(0x007f_ffff)).add_words(S::splat_bits(HALF_ROOT));
        t[i] = m.sub(S::splat(1.0));
    }
    // -2 ln(1 + t) / t = -2 + t - 2 t^2 P(t), with P fitted to a relative error of 3e-8.
    let series = polynomials(
        pairs,
        t,
        [
            -2. * 8.700_435e-2,
            -2. * -1.426_748_7e-1,
            -2. * 1.491_476_8e-1,
            -2. * -1.657_758_5e-1,
            -2. * 1.996_306_4e-1,
            -2. * -2.500_133_7e-1,
            -2. * 3.333_391e-1,
            1.,
            -2.,
        ],
    );
    let mut radii = zeros;
    for i in 0..pairs {
        let ln_2 = S::splat(2.0 * std::f32::consts::LN_2);
        let minus_2_ln = exponents[i].mul_add(ln_2, t[i].mul(series[i]));
        radii[i] = minus_2_ln.max(S::splat(0.0)).sqrt();
    }
    radii
}

/// Cosine and sine of `2 pi y / 2^32` for the words y.
#[inline(always)]
fn circle<S: Words32>(pairs: usize, words: [S; MOST_PAIRS]) -> ([S; MOST_PAIRS], [S; MOST_PAIRS]) {
    // The angle in quarter turns (bits 30 and 31) plus a rest `a` within an eighth of a turn.
    let zeros = [S::splat(0.0); MOST_PAIRS];
    let (mut turned, mut a, mut z) = (zeros, zeros, zeros);
    for i in 0..pairs {
        turned[i] = words[i].add_words(S::splat_bits(1 << 29));
        let rest = turned[i].and(S::splat_bits(0x3fff_ffff));
        let rest = rest.add_words(S::splat_bits((1u32 << 29).wrapping_neg())).to_float();
        a[i] = rest.mul(S::splat((2.0 * std::f64::consts::PI / 4_294_967_296.0) as f32));
        z[i] = a[i].mul(a[i]);
    }
    // Fitted up to an eighth of a turn: errors 4e-9 and 7e-8.
    let sin_by_a = polynomials(pairs, z, [-1.951_73e-4, 8.332_178e-3, -1.666_665_5e-1, 1.]);
    let cos = polynomials(pairs, z, [-1.365_245e-3, 4.166_127_9e-2, -0.5, 1.]);
    let (mut cosines, mut sines) = (zeros, zeros);
    for i in 0..pairs {
        // Odd quarters swap sine and cosine; signs flip as in the unit circle.
        let (odd, lower_half) = (turned[i].shift_left::<1>(), turned[i]);
        let sin = a[i].mul(sin_by_a[i]);
        let sign = S::splat(-0.0);
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

    /// The two numbers of a pair of words by the textbook formula, in f64.
    fn pair(x0: u32, x1: u32) -> (f64, f64) {
        let u = f64::from((u64::from(x0) + 1) as f32) / 2f64.powi(32);
        let angle = 2.0 * std::f64::consts::PI * f64::from(x1) / 2f64.powi(32);
        let radius = (-2.0 * u.ln()).sqrt();
        (radius * angle.cos(), radius * angle.sin())
    }

    /// The scalar twin.
    fn normal(address: &Address, index: usize) -> f64 {
        let (group, within) = (index / NORMAL_BLOCK_F32, index % NORMAL_BLOCK_F32);
        let (word, block) = (within / BLOCKS, within % BLOCKS);
        let mut counter = address.counter((group * BLOCKS + block) as u64);
        counter[3] = LAST;
        let words = philox::block(counter, address.key());
        let (cos, sin) = pair(words[word / 2 * 2], words[word / 2 * 2 + 1]);
        if word % 2 == 0 { cos } else { sin }
    }

    #[test]
    fn agrees_with_the_textbook_in_every_instruction_set() {
        let address = Address::new(7, Purpose::Noise, 0, 3);
        // The last begins where the index needs more than 32 bits.
        for first in [0, NORMAL_BLOCK_F32, (1 << 34) - NORMAL_BLOCK_F32] {
            for isa in Isa::available() {
                let mut out = vec![f32::NAN; 5001];
                fill_normal_f32(isa, &address, first, &mut out);
                for (i, &x) in out.iter().enumerate() {
                    let expected = normal(&address, first + i);
                    assert!((f64::from(x) - expected).abs() < 1e-6, "{isa:?} {i}: {x} {expected}");
                }
            }
        }
    }

    dispatch! {
        /// The normals of given words.
        normals_of => normals_of_body(words: &Words, out: &mut [f32; NORMAL_BLOCK_F32])
    }

    #[inline(always)]
    fn normals_of_body<L: Packing>(words: &Words, out: &mut [f32; NORMAL_BLOCK_F32]) {
        // SAFETY: the array has room for all numbers.
        unsafe { box_muller::<L::Single>(words, out.as_mut_ptr()) }
    }

    #[test]
    fn extreme_words_give_finite_numbers_that_are_right() {
        let edges: Vec<u32> = (0..32)
            .flat_map(|b| [(1u32 << b).wrapping_sub(1), 1 << b, !(1 << b), 0xb504_f334 >> b])
            .chain([u32::MAX, u32::MAX - 1, u32::MAX - 127, u32::MAX - 128, u32::MAX - 129])
            .collect();
        for isa in Isa::available() {
            for &x0 in &edges {
                for x1 in edges.chunks(2 * BLOCKS) {
                    let mut words = Words([0; NORMAL_BLOCK_F32]);
                    for i in 0..2 * BLOCKS {
                        let at = i / BLOCKS * 2 * BLOCKS + i % BLOCKS;
                        words.0[at] = x0;
                        words.0[at + BLOCKS] = x1[i % x1.len()];
                    }
                    let mut out = [f32::NAN; NORMAL_BLOCK_F32];
                    normals_of(isa, &words, &mut out);
                    for i in 0..2 * BLOCKS {
                        let at = i / BLOCKS * 2 * BLOCKS + i % BLOCKS;
                        let (cos, sin) = pair(x0, words.0[at + BLOCKS]);
                        for (x, y) in [(out[at], cos), (out[at + BLOCKS], sin)] {
                            assert!((f64::from(x) - y).abs() < 1e-6, "{isa:?} {x0} {x} for {y}");
                        }
                    }
                }
            }
        }
    }
}
