//! Counter-based random numbers: any draw is a pure function of (seed, purpose, restart, step, index).

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// The Philox 4x32-10 permutation of Salmon et al. (2011), in pieces so that kernels can interleave.
pub(crate) mod philox {
    pub const ROUNDS: usize = 10;
    pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

    /// The next round's key.
    pub fn next_key(k: [u32; 2]) -> [u32; 2] {
        [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])]
    }

    fn round(c: [u32; 4], k: [u32; 2]) -> [u32; 4] {
        let a = u64::from(c[0]) * u64::from(MULTIPLIERS[0]);
        let b = u64::from(c[2]) * u64::from(MULTIPLIERS[1]);
        [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32]
    }

    pub fn block(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
        for _ in 0..ROUNDS {
            c = round(c, k);
            k = next_key(k);
        }
        c
    }
}

/// What random numbers are for; different purposes never share a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// The start of a fit.
    Init,
    /// Which items form a batch.
    Sample,
    /// The annealing noise.
    Noise,
    /// Which items are held out.
    Holdout,
    /// Made-up data.
    Data,
    /// Which items the bound is estimated from.
    Bound,
    /// Draws from a fitted model, to choose by.
    Thompson,
    /// What a search tries.
    Search,
}

/// Where a stream of random numbers lives. Two addresses that differ anywhere are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    key: [u32; 2],
    stream: [u32; 2],
    /// What the indices count from.
    first: u64,
}

impl Address {
    /// The stream of `purpose` for one restart and step.
    ///
    /// Seed and restart share the 64-bit key, so a restart is as good as a new seed. The counter
    /// has 40 bits for the index, 8 for the purpose and 48 for the step.
    pub fn new(seed: u64, purpose: Purpose, restart: u32, step: u64) -> Self {
        // One Philox block spreads (seed, restart) over the key.
        let [a, b, ..] =
            philox::block([seed as u32, (seed >> 32) as u32, restart, 0x1e47], [0x6c65_6872, 0]);
        assert!(step < 1 << 48, "a run has fewer than 2^48 steps");
        let stream = [step as u32, ((step >> 32) as u32) << 16 | (purpose as u32) << 8];
        Address { key: [a, b], stream, first: 0 }
    }

    /// The same stream, its indices counted from here.
    pub fn from(self, first: usize) -> Self {
        Address { first: self.first + first as u64, ..self }
    }

    #[inline(always)]
    pub(crate) fn key(&self) -> [u32; 2] {
        self.key
    }

    #[inline(always)]
    pub(crate) fn counter(&self, index: u64) -> [u32; 4] {
        let index = self.first + index;
        debug_assert!(index < 1 << 40);
        [index as u32, self.stream[0], self.stream[1] | (index >> 32) as u32 & 0xff, 0]
    }

    /// Four random words.
    pub fn block(&self, index: u64) -> [u32; 4] {
        philox::block(self.counter(index), self.key)
    }

    /// A sequence of draws that begins at this address and depends on `item` as well, for draws
    /// that need an unknown number of words each.
    pub fn rng(&self, item: u64) -> Rng {
        Rng { address: *self, item, index: 0, words: [0; 4], left: 0, spare: None }
    }
}

/// Draws one after the other from an [`Address`].
///
/// ```
/// use lehr_kernels::rng::{Address, Purpose};
/// let mut rng = Address::new(1, Purpose::Init, 0, 0).rng(0);
/// assert!(rng.below(10) < 10);
/// ```
#[derive(Debug, Clone)]
pub struct Rng {
    address: Address,
    item: u64,
    index: u32,
    words: [u32; 4],
    left: usize,
    spare: Option<f64>,
}

impl Rng {
    /// A random word.
    pub fn word(&mut self) -> u32 {
        if self.left == 0 {
            let mut counter = self.address.counter(self.item);
            // The last word of the counter is 0 for `Address::block`: the two never meet.
            self.index += 1;
            counter[3] = self.index;
            self.words = philox::block(counter, self.address.key);
            self.left = 4;
        }
        self.left -= 1;
        self.words[3 - self.left]
    }

    /// Uniform in (0, 1), with 53 random bits; never 0.
    pub fn uniform(&mut self) -> f64 {
        let bits = u64::from(self.word()) << 32 | u64::from(self.word());
        ((bits >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    }

    /// Uniform in 0..n, without bias (Lemire's rejection).
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a choice among nothing");
        loop {
            let bits = u64::from(self.word()) << 32 | u64::from(self.word());
            let wide = u128::from(bits) * u128::from(n);
            if (wide as u64) >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (2.0 * std::f64::consts::PI * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Gamma with the given shape and scale 1 (Marsaglia and Tsang 2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // In logarithms, since u^(1/shape) underflows for tiny shapes long before it is 0.
            let power = self.uniform().ln() / shape;
            return (power + self.gamma(shape + 1.0).ln()).exp();
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v <= 0.0 {
                continue;
            }
            let u = self.uniform();
            // What passes the first test would pass the second, which takes two logarithms.
            if u < 1.0 - 0.0331 * x.powi(4) || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the Random123 library.
    #[test]
    fn philox_known_answers() {
        let cases = [
            ([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
            ([!0; 4], [!0; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
            (
                [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
                [0xa4093822, 0x299f31d0],
                [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox::block(counter, key), expected);
        }
    }

    #[test]
    fn addresses_differ_in_every_part() {
        let base = Address::new(1, Purpose::Noise, 0, 5).block(0);
        for other in [
            Address::new(2, Purpose::Noise, 0, 5).block(0),
            Address::new(1, Purpose::Sample, 0, 5).block(0),
            Address::new(1, Purpose::Noise, 1, 5).block(0),
            Address::new(1, Purpose::Noise, 0, 5 + (1 << 32)).block(0),
            Address::new(1, Purpose::Noise, 0, 5).block(1 << 32),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn moments_of_the_draws() {
        let n = 200_000;
        let mut rng = Address::new(3, Purpose::Init, 0, 0).rng(0);
        let mean_of = |draw: &mut dyn FnMut() -> f64| {
            let xs: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = xs.iter().sum::<f64>() / n as f64;
            let variance = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (mean, variance)
        };
        let close = |(mean, variance): (f64, f64), m: f64, v: f64| {
            let tolerance = 6.0 * (v / n as f64).sqrt();
            assert!((mean - m).abs() < tolerance, "mean {mean} for {m}");
            assert!((variance / v - 1.0).abs() < 0.1, "variance {variance} for {v}");
        };
        close(mean_of(&mut || rng.uniform()), 0.5, 1.0 / 12.0);
        close(mean_of(&mut || rng.normal()), 0.0, 1.0);
        close(mean_of(&mut || rng.below(6) as f64), 2.5, 35.0 / 12.0);
        for shape in [0.05, 0.7, 1.0, 4.5, 100.0] {
            close(mean_of(&mut || rng.gamma(shape)), shape, shape);
        }
    }
}
