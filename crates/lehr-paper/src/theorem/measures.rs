//! Runs taken together: distances of all gradients, mean skewness, and exponents with their errors.

use super::data::Population;
use super::gradient::Method;
use super::settings::{EFFECTIVE, setting};
use super::tally;
use crate::{Record, Records};

/// Distances are fitted where they are this many times the floor: there it adds less than a twentieth.
const ABOVE_FLOOR: f64 = 3.0;
/// A moment is fitted where it is this many standard errors from 0.
const CLEAR: f64 = 5.0;

/// What is measured of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The Kolmogorov distance from the theorem's Gaussian.
    Distance,
    /// The skewness per skewness of the items.
    Skewness,
    /// The excess kurtosis.
    Kurtosis,
}

/// One place of a line: its abscissa and the runs there.
#[derive(Debug, Clone)]
pub struct Spot {
    pub x: f64,
    pub setting: String,
    pub method: Method,
    /// |S|.
    pub size: usize,
    /// M.
    pub effective: usize,
}

impl Spot {
    /// A spot; `x` is its tau or its |S|.
    pub fn new(
        population: &Population,
        method: Method,
        size: usize,
        effective: usize,
        x: f64,
    ) -> Self {
        Spot { x, setting: setting(population, size, effective), method, size, effective }
    }
}

/// Spots along tau at fixed M; at tau = 1 every method is SVI.
pub fn along_tau(population: &Population, method: Method, sizes: &[usize]) -> Vec<Spot> {
    let spot = |&size: &usize| {
        let method = if size == EFFECTIVE { Method::Svi } else { method };
        Spot::new(population, method, size, EFFECTIVE, size as f64 / EFFECTIVE as f64)
    };
    sizes.iter().map(spot).collect()
}

/// Spots along |S| at fixed tau.
pub fn along_size(
    population: &Population,
    method: Method,
    sizes: &[usize],
    tau: usize,
) -> Vec<Spot> {
    sizes.iter().map(|&s| Spot::new(population, method, s, s / tau, s as f64)).collect()
}

impl Measure {
    /// What the runs of a spot say together, but for one start; none if there are no runs.
    pub fn of(self, records: &Records, spot: &Spot, without: Option<u32>) -> Option<f64> {
        let runs = records.of(&spot.setting, spot.method.name());
        let runs = runs.into_iter().filter(|run| Some(run.start) != without);
        let mean = |name: &str, runs: &mut dyn Iterator<Item = &Record>| {
            let all: Vec<f64> = runs.filter_map(|r| r.end.get(name).copied()).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        match self {
            Measure::Distance => pooled_distance(runs),
            Measure::Skewness => mean("skewness", &mut { runs }),
            Measure::Kurtosis => mean("kurtosis", &mut { runs }),
        }
    }

    /// The spots at which it can be distinguished from 0.
    pub fn visible(self, records: &Records, spots: &[Spot], floor: f64) -> Vec<Spot> {
        let is_visible = |spot: &&Spot| match self {
            Measure::Distance => {
                self.of(records, spot, None).is_some_and(|x| x > ABOVE_FLOOR * floor)
            }
            Measure::Skewness | Measure::Kurtosis => {
                let of = |without| self.of(records, spot, without);
                jackknife(&starts(records, spot), of).is_some_and(|(x, e)| x > CLEAR * e)
            }
        };
        spots.iter().filter(is_visible).cloned().collect()
    }

    /// The exponent of a power law through the visible spots, with its standard error and how many spots
    /// there were; none of fewer than three.
    pub fn exponent(
        self,
        records: &Records,
        spots: &[Spot],
        floor: f64,
    ) -> Option<(f64, f64, Vec<Spot>)> {
        let spots = self.visible(records, spots, floor);
        if spots.len() < 3 {
            return None;
        }
        let of = |without| {
            let point = |spot: &Spot| Some((spot.x.ln(), self.of(records, spot, without)?.ln()));
            slope(&spots.iter().map(point).collect::<Option<Vec<_>>>()?)
        };
        let (value, error) = jackknife(&starts(records, &spots[0]), of)?;
        Some((value, error, spots))
    }
}

/// The distance of all runs' gradients together.
fn pooled_distance<'a>(runs: impl Iterator<Item = &'a Record>) -> Option<f64> {
    let mut below: Vec<f64> = Vec::new();
    let mut n = 0.0;
    for run in runs {
        let counts = run.lists.get("below")?;
        below.resize(counts.len(), 0.0);
        below.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        n += run.end.get("gradients")?;
    }
    (n > 0.0).then(|| tally::distance(&below, n))
}

fn starts(records: &Records, spot: &Spot) -> Vec<u32> {
    records.of(&spot.setting, spot.method.name()).iter().map(|run| run.start).collect()
}

/// A value of all starts and its standard error, by leaving out one after the other.
pub fn jackknife(starts: &[u32], value: impl Fn(Option<u32>) -> Option<f64>) -> Option<(f64, f64)> {
    let all = value(None).filter(|x| x.is_finite())?;
    let n = starts.len() as f64;
    if starts.len() < 2 {
        return None;
    }
    let parts: Vec<f64> =
        starts.iter().map(|&start| value(Some(start))).collect::<Option<Vec<_>>>()?;
    let mean = parts.iter().sum::<f64>() / n;
    let squares: f64 = parts.iter().map(|x| (x - mean).powi(2)).sum();
    let error = ((n - 1.0) / n * squares).sqrt();
    error.is_finite().then_some((all, error))
}

/// The slope of a straight line through points, by least squares.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let squares: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let slope = both / squares;
    slope.is_finite().then_some(slope)
}

/// What Gaussian numbers measure as their distance from a Gaussian.
pub fn floor(population: &Population, records: &Records) -> Option<f64> {
    let spot = Spot::new(population, Method::Gaussian, EFFECTIVE, EFFECTIVE, 1.0);
    Measure::Distance.of(records, &spot, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent() {
        let points: Vec<(f64, f64)> =
            [1.0_f64, 2.0, 5.0].iter().map(|x| (x.ln(), (3.0 * x.powi(-2)).ln())).collect();
        assert!((slope(&points).unwrap() + 2.0).abs() < 1e-12);
        assert_eq!(slope(&points[..1]), None);
    }

    #[test]
    fn the_error_of_a_mean_is_the_usual_one() {
        let values = [1.0, 2.0, 6.0];
        let mean = |without: Option<u32>| {
            let kept: Vec<f64> =
                (0..3_u32).filter(|&i| Some(i) != without).map(|i| values[i as usize]).collect();
            Some(kept.iter().sum::<f64>() / kept.len() as f64)
        };
        let (value, error) = jackknife(&[0, 1, 2], mean).unwrap();
        // Variance 7 over 3.
        assert!((value - 3.0).abs() < 1e-12 && (error - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
