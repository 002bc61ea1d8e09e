//! A coordinate of the gradient: the mean of |S| exponential numbers and Gaussian noise, in units in which its variance
//! is 1; its density, and draws.

use std::f64::consts::PI;

use lehr::math::rng::{Address, Purpose, Rng};
use lehr::math::special::ln_gamma;

use crate::Stop;

/// The density is tabulated from minus this to this.
const REACH: f64 = 9.0;
/// Between its places.
const STEP: f64 = 1.0 / 256.0;
/// Gradients between two looks at whether to stop.
const BETWEEN: u64 = 1024;

/// One coordinate of a gradient.
pub struct Coordinate {
    /// |S|.
    size: f64,
    /// What the mean of the items and the noise are multiplied by.
    parts: [f64; 2],
    /// ln of the ratio of the density to the standard normal one, at equal distances.
    ratios: Vec<f64>,
}

impl Coordinate {
    /// That of a batch of `size` with an effective size.
    pub fn new(size: usize, effective: usize) -> Self {
        let (size, tau) = (size as f64, size as f64 / effective as f64);
        let parts = [(1.0 / tau).sqrt(), (1.0 - 1.0 / tau).sqrt()];
        let n = (2.0 * REACH / STEP).round() as usize;
        let at = |i: usize| -REACH + i as f64 * STEP;
        // Of the standardised sum of the items, which is a gamma variable.
        let of_items = |x: f64| {
            let sum = size + size.sqrt() * x;
            if sum <= 0.0 {
                return 0.0;
            }
            ((size - 1.0) * sum.ln() - sum - ln_gamma(size)).exp() * size.sqrt()
        };
        let table: Vec<(f64, f64)> = (0..=n).map(at).map(|x| (x, of_items(x))).collect();
        let ratio = |y: f64| {
            let density = match parts[1] {
                0.0 => of_items(y),
                noise => {
                    let near =
                        |&(x, f): &(f64, f64)| f * normal((y - parts[0] * x) / noise) / noise;
                    STEP * table.iter().map(near).sum::<f64>()
                }
            };
            // Where there is nothing the ratio is as small as any.
            (density / normal(y)).max(1e-300).ln()
        };
        Coordinate { size, parts, ratios: (0..=n).map(at).map(ratio).collect() }
    }

    /// ln of the ratio at a place.
    fn ratio(&self, y: f64) -> f64 {
        let at = ((y + REACH) / STEP).clamp(0.0, (self.ratios.len() - 1) as f64 - 1e-9);
        let (i, rest) = (at as usize, at.fract());
        self.ratios[i] * (1.0 - rest) + self.ratios[i + 1] * rest
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        let items = (rng.gamma(self.size) - self.size) / self.size.sqrt();
        self.parts[0] * items + self.parts[1] * rng.normal()
    }

    /// The distance in one dimension, by quadrature.
    #[cfg(test)]
    pub fn distance(&self) -> f64 {
        let at = |(i, r): (usize, &f64)| (r.exp() - 1.0).abs() * normal(-REACH + i as f64 * STEP);
        0.5 * STEP * self.ratios.iter().enumerate().map(at).sum::<f64>()
    }
}

fn normal(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Which gradients to draw.
pub struct Draws {
    /// Coordinates.
    pub d: usize,
    /// How many.
    pub count: u64,
    /// The experiment's seed.
    pub seed: u64,
    /// Which group of gradients.
    pub start: u32,
    /// Keeps settings apart.
    pub part: usize,
}

/// What gradients show.
pub struct Found {
    /// The total variation distance.
    pub distance: f64,
    /// The mean cube of an item's length, which the theorem's proof absorbs in its constant.
    pub cubes: f64,
}

impl Draws {
    /// Draws and counts; `None` if `stop` said so.
    pub fn of(&self, coordinate: &Coordinate, stop: Stop<'_>) -> Option<Found> {
        let Draws { d, count, .. } = *self;
        let stream = (self.part * 1000 + d) as u64;
        let mut rng = Address::new(self.seed, Purpose::Data, self.start, stream).rng(0);
        let (mut above, mut cubes) = (0_i64, 0.0);
        for number in 0..count {
            if number % BETWEEN == 0 && stop() {
                return None;
            }
            let gradient: f64 = (0..d).map(|_| coordinate.ratio(coordinate.draw(&mut rng))).sum();
            let gaussian: f64 = (0..d).map(|_| coordinate.ratio(rng.normal())).sum();
            above += i64::from(gradient > 0.0) - i64::from(gaussian > 0.0);
            let length: f64 = (0..d).map(|_| (rng.gamma(1.0) - 1.0).powi(2)).sum();
            cubes += length.powf(1.5);
        }
        Some(Found { distance: above as f64 / count as f64, cubes: cubes / count as f64 })
    }
}
