//! Counts gradients: their moments, and how many lie below each point of a grid.

use super::data::{N_DIRECTIONS, Projected};

/// Where distribution functions are compared, in standard deviations.
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    lowest: f64,
    step: f64,
    len: usize,
}

/// Fine enough to miss less than a hundredth of a smooth difference's height.
pub const GRID: Grid = Grid { lowest: -3.0, step: 0.15, len: 41 };

impl Grid {
    /// Its points, in order.
    pub fn points(self) -> impl Iterator<Item = f64> {
        (0..self.len).map(move |i| self.lowest + self.step * i as f64)
    }

    /// The first point that is not below `x`; one past the last if all are.
    fn place(self, x: f64) -> usize {
        // Numbers below the grid become 0 in the cast.
        (((x - self.lowest) / self.step).ceil() as usize).min(self.len)
    }
}

/// Gradients so far, in units in which the theorem's Gaussian is the standard one.
pub struct Tally {
    n: u64,
    powers: [[f64; 4]; N_DIRECTIONS],
    counts: Vec<[u64; N_DIRECTIONS]>,
}

/// What a tally says about one direction.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    pub mean: f64,
    pub variance: f64,
    pub skewness: f64,
    pub kurtosis: f64,
}

impl Tally {
    /// Nothing yet.
    pub fn new() -> Self {
        Tally {
            n: 0,
            powers: [[0.0; 4]; N_DIRECTIONS],
            counts: vec![[0; N_DIRECTIONS]; GRID.len + 1],
        }
    }

    /// Counts one gradient.
    pub fn add(&mut self, gradient: &Projected) {
        self.n += 1;
        for (j, &x) in gradient.iter().enumerate() {
            let square = x * x;
            let powers = [x, square, square * x, square * square];
            self.powers[j].iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            self.counts[GRID.place(x)][j] += 1;
        }
    }

    /// The moments in every direction.
    pub fn moments(&self) -> [Moments; N_DIRECTIONS] {
        self.powers.map(|sums| {
            let [mean, second, third, fourth] = sums.map(|sum| sum / self.n as f64);
            let variance = second - mean * mean;
            let central3 = third - 3.0 * mean * second + 2.0 * mean.powi(3);
            let central4 =
                fourth - 4.0 * mean * third + 6.0 * mean * mean * second - 3.0 * mean.powi(4);
            let skewness = central3 / variance.powf(1.5);
            Moments { mean, variance, skewness, kurtosis: central4 / (variance * variance) - 3.0 }
        })
    }

    /// How many are not above each point of the grid, direction after direction.
    pub fn below(&self) -> Vec<f64> {
        let below = |j: usize| {
            let mut sum = 0;
            self.counts[..GRID.len].iter().map(move |count| {
                sum += count[j];
                sum as f64
            })
        };
        (0..N_DIRECTIONS).flat_map(below).collect()
    }
}

/// The largest difference from the normal distribution function, over the grid and all directions, of
/// `n` gradients that were counted by [`Tally::below`].
///
/// Every half-space is an event, so this is at most the total variation distance of the theorem.
pub fn distance(below: &[f64], n: f64) -> f64 {
    below
        .chunks_exact(GRID.len)
        .flat_map(|below| below.iter().zip(GRID.points()))
        .map(|(below, x)| (below / n - normal_below(x)).abs())
        .fold(0.0, f64::max)
}

/// The standard normal distribution function, by the series of its error function.
fn normal_below(x: f64) -> f64 {
    // Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/(3 5) + ...): all terms of one sign, quick on our grid.
    let (mut term, mut sum) = (x, x);
    let mut odd = 1.0;
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Distribution functions that are `height` above the normal one at 0, for tests.
#[cfg(test)]
pub fn shifted(height: f64) -> impl Iterator<Item = f64> {
    let one = move || GRID.points().map(move |x| normal_below(x) + height * (-x * x).exp());
    (0..N_DIRECTIONS).flat_map(move |_| one())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_function() {
        assert_eq!(normal_below(0.0), 0.5);
        assert!((normal_below(1.0) - 0.841_344_746_068_542_9).abs() < 1e-14);
        assert!((normal_below(-3.0) - 0.001_349_898_031_630_094_6).abs() < 1e-14);
    }

    #[test]
    fn moments_and_distance_of_known_numbers() {
        let mut tally = Tally::new();
        for x in [-1.0, 0.0, 0.0, 5.0] {
            tally.add(&[x; N_DIRECTIONS]);
        }
        let found = tally.moments()[2];
        assert!((found.mean - 1.0).abs() < 1e-12 && (found.variance - 5.5).abs() < 1e-12);
        // (-8 - 1 - 1 + 64) / 4 and (16 + 1 + 1 + 256) / 4 about the mean.
        assert!((found.skewness - 13.5 / 5.5_f64.powf(1.5)).abs() < 1e-12);
        assert!((found.kurtosis - (68.5 / 30.25 - 3.0)).abs() < 1e-12);
        // One of four is below -1, three are at most 0, and all but one below the grid's end.
        let below = tally.below();
        let at = |x: f64| below[GRID.place(x)];
        assert_eq!((at(-1.2), at(-0.3), at(0.1), at(3.0)), (0.0, 1.0, 3.0, 3.0));
        assert!((distance(&below, 4.0) - 0.25).abs() < 0.02, "3/4 at 0, or 1/4 missing at the end");
    }
}
