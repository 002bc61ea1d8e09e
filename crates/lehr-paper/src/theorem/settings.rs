//! What is measured of theorem 1: sizes, methods, and every run that follows from them.

use super::Theorem;
use super::data::Population;
use super::gradient::{Draw, Method};
use crate::Job;

/// M where tau varies.
pub const EFFECTIVE: usize = 16;
/// |S| at this M: tau = 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16.
pub const SIZES: [usize; 10] = [16, 20, 24, 32, 48, 64, 96, 128, 192, 256];
/// |S| where it varies at tau = 1.
pub const PLAIN_SIZES: [usize; 6] = [8, 16, 32, 64, 128, 256];
/// tau where |S| varies and there is noise.
pub const TAU: usize = 4;
/// |S| there.
pub const NOISY_SIZES: [usize; 5] = [16, 32, 64, 128, 256];
/// The methods that are compared there.
pub const BY_SIZE: [Method; 3] = [Method::Exact, Method::Algorithm1, Method::Lagged];
/// The methods that are compared for every tau.
pub const BY_TAU: [Method; 5] =
    [Method::Exact, Method::Algorithm1, Method::Lagged, Method::Gamma, Method::Subsample];
/// These are slow, and so far from a Gaussian that fewer gradients show it.
pub const FEWER: [Method; 2] = [Method::Gamma, Method::Subsample];
/// The distance of as many gradients as these have.
pub const OF_FEWER: &str = "distance_of_fewer";

/// The name of a setting.
pub fn setting(population: &Population, size: usize, effective: usize) -> String {
    format!("{}, |S| = {size}, M = {effective}", population.name)
}

impl Theorem {
    /// Gradients of a start in the methods that have fewer.
    pub fn fewer(&self) -> u64 {
        self.count / 8
    }

    /// Every job with what it draws and from which population.
    pub fn plan(&self) -> Vec<(Job, &Population, Draw)> {
        let mut settings = Vec::new();
        for &size in &PLAIN_SIZES {
            settings.push((Method::Svi, size, size));
        }
        settings.push((Method::Gaussian, EFFECTIVE, EFFECTIVE));
        for &size in &SIZES[1..] {
            settings.extend(BY_TAU.map(|method| (method, size, EFFECTIVE)));
        }
        settings.push((Method::Printed, TAU * EFFECTIVE, EFFECTIVE));
        for &size in NOISY_SIZES.iter().filter(|&&size| size != TAU * EFFECTIVE) {
            settings.extend(BY_SIZE.map(|method| (method, size, size / TAU)));
        }
        let mut plan = Vec::new();
        for population in &self.populations {
            for &(method, size, effective) in &settings {
                let count = if FEWER.contains(&method) { self.fewer() } else { self.count };
                // A gradient costs something itself, and the weights of these laws cost more.
                let each = if FEWER.contains(&method) { 20.0 } else { 1.0 };
                let batches = if method == Method::Lagged { 2.0 } else { 1.0 };
                let cost = count as f64 * each * (30.0 + batches * size as f64);
                for start in 0..self.starts {
                    let (setting, method_name) =
                        (setting(population, size, effective), method.name());
                    let job = Job { setting, method: method_name.into(), start, cost };
                    let draw = Draw { method, size, effective, count, seed: self.seed, start };
                    plan.push((job, population, draw));
                }
            }
        }
        plan
    }
}
