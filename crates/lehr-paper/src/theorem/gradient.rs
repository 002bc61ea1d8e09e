//! Draws gradients: a batch of items, and the noise of each method.

use lehr::math::rng::{Address, Purpose};
use lehr::step::anneal::{Law, weights};

use super::data::{INDEX_BITS, N_DIRECTIONS, Population, Projected};
use super::tally::Tally;
use crate::Stop;

/// How a gradient with the variance of a batch of M is made from |S| items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Gaussian noise with the items' exact covariance: what the theorem is about.
    Exact,
    /// The batch's own items carry the noise, with the factor |S|/(|S|-1).
    Algorithm1,
    /// The same as the paper has it, without the factor.
    Printed,
    /// The items of another batch carry the noise.
    Lagged,
    /// Dirichlet weights.
    Gamma,
    /// M of the |S| items.
    Subsample,
    /// A batch of M and no noise.
    Svi,
    /// Gaussian numbers: what a measured distance is when there is none.
    Gaussian,
}

impl Method {
    /// Those whose |S| differs from M.
    pub const NOISY: [Method; 6] = [
        Method::Exact,
        Method::Algorithm1,
        Method::Printed,
        Method::Lagged,
        Method::Gamma,
        Method::Subsample,
    ];

    /// Its name in jobs, figures and claims.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact covariance",
            Method::Algorithm1 => "Algorithm 1",
            Method::Printed => "Algorithm 1 as printed",
            Method::Lagged => "lagged",
            Method::Gamma => "gamma",
            Method::Subsample => "subsample",
            Method::Svi => "SVI",
            Method::Gaussian => "Gaussian numbers",
        }
    }

    fn law(self) -> Option<Law> {
        match self {
            Method::Algorithm1 | Method::Printed => Some(Law::Gaussian),
            Method::Lagged => Some(Law::Lagged),
            Method::Gamma => Some(Law::Gamma),
            Method::Subsample => Some(Law::Subsample),
            Method::Exact | Method::Svi | Method::Gaussian => None,
        }
    }
}

/// The previous batch of a gradient has the number of the gradient plus this.
const PREVIOUS: u64 = 1 << 40;

/// Gradients between two looks at whether to stop.
const BETWEEN: u64 = 1024;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// How.
    pub method: Method,
    /// |S|.
    pub size: usize,
    /// M.
    pub effective: usize,
    /// How many gradients.
    pub count: u64,
    /// The experiment's seed.
    pub seed: u64,
    /// Which group of gradients; the same group has the same batches in every method.
    pub start: u32,
}

impl Draw {
    /// Draws and counts them, in units in which the theorem's Gaussian is the standard one. `None` if
    /// `stop` said so.
    pub fn tally(&self, population: &Population, stop: Stop<'_>) -> Option<Tally> {
        let mut tally = Tally::new();
        let mut noise = vec![0.0; self.size];
        for number in 0..self.count {
            if number % BETWEEN == 0 && stop() {
                return None;
            }
            tally.add(&self.gradient(number, population, &mut noise));
        }
        Some(tally)
    }

    /// One gradient. `noise` has room for the weights of a batch.
    fn gradient(&self, number: u64, population: &Population, noise: &mut [f64]) -> Projected {
        let at = |purpose, number| Address::new(self.seed, purpose, self.start, number);
        let (size, effective) = (self.size as f64, self.effective as f64);
        let mut sum = [0.0; N_DIRECTIONS];
        if let Some(law) = self.method.law() {
            let corrected = self.method != Method::Printed;
            weights(law, effective, corrected, at(Purpose::Noise, number), noise);
        }
        match self.method {
            Method::Exact | Method::Gaussian => {
                // In these directions the items' covariance is the identity.
                let alone = self.method == Method::Gaussian;
                let variance = if alone { 1.0 } else { 1.0 - effective / size };
                if !alone {
                    add(&mut sum, population, at(Purpose::Sample, number), self.size, |_| 1.0);
                }
                let mut rng = at(Purpose::Noise, number).rng(0);
                let deviation = variance.sqrt() * size / effective.sqrt();
                sum.iter_mut().for_each(|x| *x += deviation * rng.normal());
            }
            Method::Lagged => {
                add(&mut sum, population, at(Purpose::Sample, number), self.size, |_| 1.0);
                let previous = at(Purpose::Sample, number + PREVIOUS);
                add(&mut sum, population, previous, self.size, |i| noise[i] - 1.0);
            }
            Method::Svi => {
                add(&mut sum, population, at(Purpose::Sample, number), self.size, |_| 1.0);
            }
            _ => add(&mut sum, population, at(Purpose::Sample, number), self.size, |i| noise[i]),
        }
        sum.map(|x| x * effective.sqrt() / size)
    }
}

/// Adds `size` items, drawn with replacement, times their weights.
fn add(
    sum: &mut Projected,
    population: &Population,
    address: Address,
    size: usize,
    weight: impl Fn(usize) -> f64,
) {
    const PER_WORD: usize = (u32::BITS / INDEX_BITS) as usize;
    let items = &population.items[..1 << INDEX_BITS];
    let mut i = 0;
    for block in 0.. {
        for word in address.block(block) {
            for part in 0..PER_WORD {
                if i == size {
                    return;
                }
                let index = word >> (part as u32 * INDEX_BITS) & ((1 << INDEX_BITS) - 1);
                let w = weight(i);
                sum.iter_mut().zip(&items[index as usize]).for_each(|(s, x)| *s += w * x);
                i += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theorem::predict;

    /// Every method's measured moments are those that theory gives it.
    #[test]
    fn measured_cumulants_are_the_predicted_ones() {
        let population = Population::made(3).unwrap();
        let count = 60_000;
        for method in Method::NOISY.into_iter().chain([Method::Svi, Method::Gaussian]) {
            let size = if method == Method::Svi { 8 } else { 24 };
            let draw = Draw { method, size, effective: 8, count, seed: 5, start: 1 };
            let found = draw.tally(&population, &|| false).unwrap().moments();
            for (found, &items) in found.iter().zip(&population.shapes) {
                let predicted = predict::gradient(method, items, size, 8);
                let name = method.name();
                // As printed, the variance lacks (tau - 1) / (tau |S|).
                let lacks = if method == Method::Printed { 2.0 / 72.0 } else { 0.0 };
                assert!(found.mean.abs() < 0.02, "{name}: mean {}", found.mean);
                let off = found.variance - (1.0 - lacks);
                assert!(off.abs() < 0.035, "{name}: variance {}", found.variance);
                let off = (found.skewness - predicted.skewness).abs();
                assert!(off < 0.15, "{name}: {} for {predicted:?}", found.skewness);
                // As printed, less noise: only nearly the same shape.
                let off = (found.kurtosis - predicted.kurtosis).abs();
                let allowed = 0.2 + 0.2 * predicted.kurtosis;
                assert!(off < allowed, "{name}: {} for {predicted:?}", found.kurtosis);
            }
        }
    }

    #[test]
    fn the_same_draw_is_the_same_and_another_start_another() {
        let population = Population::made(3).unwrap();
        let below = |start| {
            let method = Method::Algorithm1;
            let draw = Draw { method, size: 24, effective: 8, count: 500, seed: 5, start };
            draw.tally(&population, &|| false).unwrap().below()
        };
        assert_eq!(below(0), below(0));
        assert_ne!(below(0), below(1));
        let draw = Draw { method: Method::Svi, size: 8, effective: 8, count: 9, seed: 5, start: 0 };
        assert!(draw.tally(&population, &|| true).is_none());
    }
}
