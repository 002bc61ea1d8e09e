//! The paper's last remark, that SVI+ may help any stochastic gradient descent: a small network on
//! handwritten digits, trained with and without the noise.
//!
//! ```text
//! data.rs      the bundled images, and how they are split
//! settings.rs  what is run on them: batches, methods, learning rates
//! network.rs   the network and its gradient, trained by train.rs
//! figures.rs   losses and accuracy against steps and examples, final accuracies
//! claims.rs    which learning rate a method takes, and whether it does better than others
//! ```

mod data;
mod settings;
mod network;
mod train;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use anyhow::Context;

use lehr_plot::caption::counted;

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};
use data::{Digit, N_CLASSES, N_DIGITS, N_PIXELS, N_TEST, N_VALIDATION, Split};
use network::N_HIDDEN;
use settings::{BATCH, EFFECTIVE, Method, RATES, setting};
use train::Training;

/// The experiment.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Sgd::new(options)?))
}

struct Sgd {
    digits: Vec<Digit>,
    starts: u32,
    steps: u64,
    seed: u64,
}

impl Sgd {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let steps = if options.quick { 300 } else { 2000 };
        let starts = options.runs(20, 4);
        Ok(Sgd { digits: data::read()?, starts, steps, seed: options.seed })
    }
}

impl Experiment for Sgd {
    fn name(&self) -> &'static str {
        "sgd"
    }

    fn title(&self) -> String {
        "Beyond variational inference: a neural network".into()
    }

    fn about(&self) -> Vec<String> {
        let rates = RATES.map(|rate| rate.to_string()).join(", ");
        let (steps, long) = (self.steps, self.steps * (BATCH / EFFECTIVE) as u64);
        let examples = self.steps * BATCH as u64;
        vec![
            format!(
                "**Data.** {N_DIGITS} images of handwritten digits, 8 x 8 pixels (the test set of UCI's \"Optical \
                 Recognition of Handwritten Digits\", E. Alpaydin and C. Kaynak, CC BY 4.0; bundled). Every \
                 start splits them differently: {N_TEST} for the test, {N_VALIDATION} for the choice of the learning \
                 rate, {} for training.",
                N_DIGITS - N_TEST - N_VALIDATION,
            ),
            format!(
                "**Network.** {N_PIXELS}-{N_HIDDEN}-{N_CLASSES} with tanh units, softmax and cross-entropy; normal \
                 weights of variance 1/inputs at the start; no momentum, no decay, constant learning rate; \
                 images drawn with replacement."
            ),
            format!(
                "**Methods.** `SGD, batch {EFFECTIVE}` (M) and `SGD, batch {BATCH}` (|S|); `SGD+`: batches of {BATCH} whose \
                 per-example gradients are multiplied by the weights of Algorithm 1 for M = {EFFECTIVE} \
                 (`lehr::step::anneal::weights`, with the factor |S|/(|S|-1)); `SGD+ gamma`: the same with \
                 Dirichlet weights, as a control; `SGD+ cooled`: Gaussian, M from {EFFECTIVE} to {BATCH} over the first half \
                 of the steps and no noise afterwards."
            ),
            format!(
                "**Budgets.** Equal steps: {steps} of each method. Equal examples: {examples}, which are {steps} steps \
                 of {BATCH} images or {long} of {EFFECTIVE}."
            ),
            format!(
                "**Learning rate.** Every method tries {rates}. For each budget a method takes the one with the \
                 least mean loss on the validation images at the end; training and test losses are then \
                 compared, and so are all methods at the same rate. A start has the same network \
                 and split for every method, and the same images where batches are equally large. The list of \
                 rates was changed once, after a first run had been seen."
            ),
        ]
    }

    fn starts(&self) -> String {
        format!("{}.", counted(u64::from(self.starts), "start"))
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for rate in RATES {
            for method in Method::ALL {
                for start in 0..self.starts {
                    let method = method.name().into();
                    jobs.push(Job { setting: setting(rate), method, start, cost: 1.0 });
                }
            }
        }
        jobs
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let unknown = || format!("sgd has no run \"{}, {}\"", job.setting, job.method);
        let rate = RATES.into_iter().find(|&rate| setting(rate) == job.setting);
        let rate = rate.with_context(unknown)?;
        let method = Method::named(&job.method).with_context(unknown)?;
        let training =
            Training { method, rate, steps: self.steps, seed: self.seed, start: job.start };
        let split = Split::new(&self.digits, self.seed, job.start);
        let mut record = Record::of(job);
        Ok(training.run(&split, stop, &mut record).then_some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(self.steps, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(self.steps, records)
    }
}
