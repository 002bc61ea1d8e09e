//! Theorem 1: how fast the distribution of the SVI+ gradient becomes Gaussian, measured on fixed items.
//!
//! ```text
//! fixed items in a few directions     population.rs
//! a batch and its noise, many times   gradient.rs, counted by tally.rs
//! what theory gives                   predict.rs
//! pooled distances and exponents      findings.rs -> claims in verdicts.rs, figures in drawing.rs
//! ```

mod drawing;
mod findings;
mod gradient;
mod population;
mod predict;
mod tally;
mod verdicts;

use anyhow::Context;

use super::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};
use crate::text::{counted, rounded};
use gradient::{Draw, Method};
use population::{N_DIRECTIONS, N_ITEMS, Population, SHAPE, SHARES};

/// M where tau varies.
const EFFECTIVE: usize = 16;
/// |S| at this M: tau = 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16.
const SIZES: [usize; 10] = [16, 20, 24, 32, 48, 64, 96, 128, 192, 256];
/// |S| where it varies at tau = 1.
const PLAIN_SIZES: [usize; 6] = [8, 16, 32, 64, 128, 256];
/// tau where |S| varies and there is noise.
const TAU: usize = 4;
/// |S| there.
const NOISY_SIZES: [usize; 5] = [16, 32, 64, 128, 256];
/// The methods that are compared there.
const BY_SIZE: [Method; 3] = [Method::Exact, Method::Algorithm1, Method::Lagged];
/// The methods that are compared for every tau.
const BY_TAU: [Method; 5] =
    [Method::Exact, Method::Algorithm1, Method::Lagged, Method::Gamma, Method::Subsample];
/// These are slow, and so far from a Gaussian that fewer gradients show it.
const FEWER: [Method; 2] = [Method::Gamma, Method::Subsample];
/// The distance of as many gradients as these have.
const OF_FEWER: &str = "distance_of_fewer";

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

/// The name of a setting.
fn setting(population: &Population, size: usize, effective: usize) -> String {
    format!("{}, |S| = {size}, M = {effective}", population.name)
}

impl Theorem {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let seed = options.seed;
        let populations = [Population::made(seed)?, Population::of_a_mixture(seed)?];
        let count = if options.quick { 40_000 } else { 250_000 };
        Ok(Theorem { populations, starts: options.runs(10, 4), count, seed })
    }

    /// Gradients of a start in the methods that have fewer.
    fn fewer(&self) -> u64 {
        self.count / 8
    }

    /// Every job with what it draws and from which population.
    fn plan(&self) -> Vec<(Job, &Population, Draw)> {
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
        drawing::figures(&self.populations, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        verdicts::claims(&self.populations, records)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A quick experiment of few gradients.
    pub fn quick(runs: u32) -> Theorem {
        let options = Options { quick: true, runs: Some(runs), data: None, seed: 2 };
        Theorem { count: 800, ..Theorem::new(&options).unwrap() }
    }

    /// Records whose distance and skewness are those of `rate`(method, |S|, M), but for a little that
    /// differs from start to start; Gaussian numbers have next to none.
    pub fn made_up(theorem: &Theorem, rate: &dyn Fn(Method, usize, usize) -> f64) -> Records {
        let record = |(job, _, draw): (Job, &Population, Draw)| {
            let exact = match draw.method {
                Method::Gaussian => 1e-5,
                method => rate(method, draw.size, draw.effective),
            };
            let height = exact * (1.0 + 1e-4 * f64::from(job.start));
            let mut record = Record::of(&job);
            let count = 1e6;
            let below = tally::shifted(height).map(|share| count * share);
            let below: Vec<f64> = below.collect();
            record.note("distance", height);
            record.note(OF_FEWER, height);
            record.note("skewness", height);
            record.note("variance", 1.0 + 1e-5 * f64::from(job.start));
            record.note("mean", 0.0);
            record.note("gradients", count);
            record.lists.insert("below".into(), below);
            record
        };
        Records::new(theorem.plan().into_iter().map(record).collect())
    }

    #[test]
    fn every_method_has_a_job_for_every_setting_and_start() {
        let theorem = quick(3);
        let jobs = theorem.jobs();
        // Per population: six plain sizes, the floor, nine taus of five methods, one as printed, and four
        // further sizes of three methods.
        assert_eq!(jobs.len(), 2 * 3 * (6 + 1 + 9 * 5 + 1 + 4 * 3));
        let keys: HashSet<_> = jobs.iter().map(|j| (&j.setting, &j.method, j.start)).collect();
        assert_eq!(keys.len(), jobs.len());
    }

    #[test]
    fn a_job_gives_the_same_record_again() {
        let theorem = quick(1);
        let job = &theorem.jobs()[8];
        let run = || theorem.run(job, &|| false).unwrap().unwrap();
        assert_eq!(run(), run());
        assert_eq!(theorem.run(job, &|| true).unwrap(), None);
    }
}
