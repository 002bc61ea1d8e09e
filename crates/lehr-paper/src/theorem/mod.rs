//! Theorem 1: how fast the distribution of the SVI+ gradient becomes Gaussian, measured on fixed items.
//!
//! ```text
//! data.rs      fixed items, looked at in a few directions
//! settings.rs  what is run on them: sizes, methods
//! gradient.rs  a batch and its noise, many times, counted by tally.rs
//! predict.rs   what theory gives
//! measures.rs  distances of all runs together, exponents with their errors
//! figures.rs   distance, skewness and kurtosis against tau, distance against |S|
//! claims.rs    what the measured gradients say about the theorem
//! ```

mod data;
mod settings;
mod gradient;
mod tally;
mod predict;
pub(super) mod measures;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use anyhow::Context;

use lehr_plot::caption::{counted, rounded};

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};
use data::{N_DIRECTIONS, N_ITEMS, Population, SHAPE, SHARES};
use gradient::{Draw, Method};
use settings::{EFFECTIVE, FEWER, NOISY_SIZES, OF_FEWER, PLAIN_SIZES, SIZES, TAU};

/// The experiment.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Theorem::new(options)?))
}

struct Theorem {
    populations: [Population; 2],
    starts: u32,
    count: u64,
    seed: u64,
}

impl Theorem {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let seed = options.seed;
        let populations = [Population::made(seed)?, Population::of_a_mixture(seed)?];
        let count = if options.quick { 40_000 } else { 250_000 };
        Ok(Theorem { populations, starts: options.runs(10, 4), count, seed })
    }
}

impl Experiment for Theorem {
    fn name(&self) -> &'static str {
        "theorem"
    }

    fn title(&self) -> String {
        "Theorem 1: how fast the gradient becomes Gaussian".into()
    }

    fn about(&self) -> Vec<String> {
        let [made, mixture] = &self.populations;
        let skewness = |population: &Population| {
            population.shapes.map(|shape| rounded(shape.skewness, 3)).join(", ")
        };
        let taus = SIZES.map(|size| rounded(size as f64 / EFFECTIVE as f64, 3)).join(", ");
        vec![
            format!(
                "**Items.** Two fixed populations of {N_ITEMS} vectors lambda_n. *{}*: d = {}, random linear \
                 combinations of independent gamma variables of shape {SHAPE}. *{}*: d = {}, the expected \
                 statistics E_q[t] of {N_ITEMS} points in the plane under a Gaussian mixture of {} components \
                 that lehr has fitted to them (the points were made from clusters with shares {}).",
                made.name,
                made.n_dims,
                mixture.name,
                mixture.n_dims,
                SHARES.len(),
                SHARES.map(|share| share.to_string()).join(", "),
            ),
            format!(
                "**What is measured.** Gradients are projected on {N_DIRECTIONS} random directions, \
                 orthonormal where the items' covariance is the identity; there the items have skewness {} \
                 and {}. The distance is the largest difference between the distribution function of a \
                 projection and that of the theorem's Gaussian N(mu, Sigma / M), over all directions and 41 \
                 points within 3 standard deviations. A half-space is an event, so this is at most the total \
                 variation distance that the theorem bounds. The skewness is that of the gradient per \
                 skewness of the items (least squares over the directions).",
                skewness(made),
                skewness(mixture),
            ),
            format!(
                "**Gradients.** {} of every start ({} for gamma and subsample), batches drawn with \
                 replacement as in the theorem. A start is a group of gradients with random numbers of its \
                 own; the same start has the same batches in every method. Distances are those of all \
                 starts together, and the errors of fitted exponents come from leaving out one start after \
                 the other. tau = {taus} at M = {EFFECTIVE}; |S| = {} at tau = 1; |S| = {} at tau = {TAU}.",
                self.count,
                self.fewer(),
                PLAIN_SIZES.map(|size| size.to_string()).join(", "),
                NOISY_SIZES.map(|size| size.to_string()).join(", "),
            ),
            "**Methods.** `exact covariance`: the theorem's own noise xi ~ N(0, (|S|-M)/(M|S|) Sigma). \
             `Algorithm 1`: noise on the batch's own items, what the paper proposes to run, with the factor \
             |S|/(|S|-1) that the batch's covariance lacks; `as printed` is without it. `lagged`: the same \
             noise on the items of another batch. Controls: `gamma` (Dirichlet weights), `subsample` (M of \
             the |S| items), `SVI` (a batch of M), and Gaussian numbers, whose measured distance is the floor \
             below which nothing can be seen. All weights come from `lehr::step::anneal::weights`."
                .into(),
        ]
    }

    fn starts(&self) -> String {
        format!("{}.", counted(u64::from(self.starts), "start"))
    }

    fn jobs(&self) -> Vec<Job> {
        self.plan().into_iter().map(|(job, ..)| job).collect()
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let (_, population, draw) =
            self.plan().into_iter().find(|(other, ..)| other == job).with_context(|| {
                format!("theorem has no run \"{}, {}\"", job.setting, job.method)
            })?;
        let Some(tally) = draw.tally(population, stop) else { return Ok(None) };
        let mut record = Record::of(job);
        let moments = tally.moments();
        let mean = |f: fn(&tally::Moments) -> f64| {
            moments.iter().map(f).sum::<f64>() / moments.len() as f64
        };
        let items = || population.shapes.iter().map(|shape| shape.skewness);
        let along: f64 = moments.iter().zip(items()).map(|(found, g)| found.skewness * g).sum();
        let below = tally.below();
        let distance = tally::distance(&below, draw.count as f64);
        record.note("distance", distance);
        if FEWER.contains(&draw.method) {
            record.note(OF_FEWER, distance);
        } else if draw.method == Method::Svi {
            // The fewer the gradients, the larger a distance seems: these are for the methods above.
            let fewer = Draw { count: self.fewer(), ..draw };
            let Some(tally) = fewer.tally(population, stop) else { return Ok(None) };
            record.note(OF_FEWER, tally::distance(&tally.below(), fewer.count as f64));
        }
        record.note("skewness", along / items().map(|g| g * g).sum::<f64>());
        record.note("kurtosis", mean(|m| m.kurtosis));
        record.note("variance", mean(|m| m.variance));
        record.note("mean", mean(|m| m.mean));
        record.note("gradients", draw.count as f64);
        record.lists.insert("below".into(), below);
        Ok(Some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(&self.populations, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(&self.populations, records)
    }
}
