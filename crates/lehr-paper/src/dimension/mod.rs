//! Theorem 1's factor d^(1/4): the total variation distance itself, measured where it can be computed.
//!
//! ```text
//! data.rs      items with independent coordinates: the density of a gradient, and draws of it
//! settings.rs  what is run: dimensions, tau
//! figures.rs   distance against d
//! claims.rs    exponents in d
//! ```

mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use anyhow::Context;

use lehr_plot::caption::counted;

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};
use data::{Coordinate, Draws};
use settings::{DIMS, EFFECTIVE, TAUS, place, setting};

/// The experiment.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Dimension::new(options)))
}

struct Dimension {
    /// One for each of [`TAUS`].
    coordinates: Vec<Coordinate>,
    starts: u32,
    count: u64,
    seed: u64,
}

impl Dimension {
    fn new(options: &Options) -> Self {
        let coordinates = TAUS.iter().map(|&tau| Coordinate::new(tau * EFFECTIVE, EFFECTIVE));
        let count = if options.quick { 5_000 } else { 100_000 };
        let (starts, seed) = (options.runs(10, 4), options.seed);
        Dimension { coordinates: coordinates.collect(), starts, count, seed }
    }
}

impl Experiment for Dimension {
    fn name(&self) -> &'static str {
        "dimension"
    }

    fn title(&self) -> String {
        "Theorem 1: what the dimension does".into()
    }

    fn about(&self) -> Vec<String> {
        vec![
            format!(
                "**Items.** Vectors lambda_n of d = {DIMS:?} independent exponential numbers, drawn for every \
                 gradient (N is infinite), M = {EFFECTIVE}, tau = {TAUS:?}, noise with the exact covariance: the \
                 theorem's own setting. The coordinates of a gradient are then independent, and its density is the \
                 product of d densities that a quadrature gives, so that the **total variation distance** can be \
                 measured, and not only a lower bound as in the part above."
            ),
            format!(
                "**What is measured.** With L the ratio of the gradient's density to that of the theorem's Gaussian, the \
                 distance is P(L > 1) for gradients less P(L > 1) for Gaussian numbers: {} of each for every start. The \
                 errors of exponents come from leaving out one start after the other; distances above {} are not \
                 fitted, because none can exceed 1.",
                self.count,
                claims::LARGEST
            ),
        ]
    }

    fn starts(&self) -> String {
        format!("{}.", counted(u64::from(self.starts), "start"))
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for tau in TAUS {
            for d in DIMS {
                jobs.extend((0..self.starts).map(|start| Job {
                    setting: setting(tau, d),
                    method: settings::METHOD.into(),
                    start,
                    cost: d as f64,
                }));
            }
        }
        jobs
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let (at, d) = place(&job.setting)
            .with_context(|| format!("dimension has no run \"{}, {}\"", job.setting, job.method))?;
        let draws = Draws { d, count: self.count, seed: self.seed, start: job.start, part: at };
        let Some(found) = draws.of(&self.coordinates[at], stop) else { return Ok(None) };
        let mut record = Record::of(job);
        record.note("distance", found.distance);
        record.note("cubes", found.cubes);
        Ok(Some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(records)
    }
}
