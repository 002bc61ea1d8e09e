//! The paper's last remark, that SVI+ may help any stochastic gradient descent: a small network on
//! handwritten digits, trained with and without the noise.

mod digits;
mod drawing;
mod network;
mod train;
mod verdicts;

use anyhow::Context;

use super::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};
use crate::text::counted;
use digits::{Digit, N_CLASSES, N_DIGITS, N_PIXELS, N_TEST, N_VALIDATION, Split};
use network::N_HIDDEN;
use train::{BATCH, EFFECTIVE, Method, Training};

/// Learning rates that every method tries.
const RATES: [f64; 6] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

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

/// The name of a setting.
fn setting(rate: f64) -> String {
    format!("learning rate {rate}")
}

impl Sgd {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let steps = if options.quick { 300 } else { 2000 };
        let starts = options.runs(20, 4);
        Ok(Sgd { digits: digits::read()?, starts, steps, seed: options.seed })
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
                 start splits them anew: {N_TEST} for the test, {N_VALIDATION} for the choice of the learning rate, {} \
                 for training.",
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
                 compared, and the same rate for all methods is shown beside it. A start has the same network \
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
        drawing::figures(self.steps, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        verdicts::claims(self.steps, records)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::reproduce::Point;
    use train::{MEASURES, at};

    pub fn quick(runs: u32) -> Sgd {
        let options = Options { quick: true, runs: Some(runs), data: None, seed: 2 };
        Sgd::new(&options).unwrap()
    }

    /// Records whose losses are those of `loss`(method, rate, equal examples), but for a little that
    /// differs from start to start; accuracy is what the loss leaves of 1.
    pub fn made_up(sgd: &Sgd, loss: &dyn Fn(Method, f64, bool) -> f64) -> Records {
        let mut records = Vec::new();
        for job in sgd.jobs() {
            let method = Method::named(&job.method).unwrap();
            let rate = RATES.into_iter().find(|&rate| setting(rate) == job.setting).unwrap();
            let mut record = Record::of(&job);
            for (budget, examples) in [("steps", false), ("examples", true)] {
                let loss = loss(method, rate, examples) * (1.0 + 1e-3 * f64::from(job.start));
                for measure in MEASURES {
                    let accuracy = measure == "test_accuracy";
                    record.note(&at(measure, budget), if accuracy { 1.0 - loss } else { loss });
                }
                let values = MEASURES.map(|measure| (measure.to_string(), loss)).into();
                let step = sgd.steps * if examples { (BATCH / method.batch()) as u64 } else { 1 };
                record.curve.push(Point { step, items: step * method.batch() as u64, values });
            }
            records.push(record);
        }
        Records::new(records)
    }

    #[test]
    fn every_method_tries_every_rate_from_every_start() {
        let jobs = quick(3).jobs();
        assert_eq!(jobs.len(), 6 * 5 * 3);
        let keys: HashSet<_> = jobs.iter().map(|j| (&j.setting, &j.method, j.start)).collect();
        assert_eq!(keys.len(), jobs.len());
    }

    #[test]
    fn a_run_fills_its_record_and_can_be_stopped() {
        let sgd = Sgd { steps: 3, ..quick(1) };
        let job = &sgd.jobs()[0];
        let record = sgd.run(job, &|| false).unwrap().unwrap();
        assert_eq!(record.end.len(), 2 * MEASURES.len());
        assert_eq!(sgd.run(job, &|| true).unwrap(), None);
        let other = Job { setting: "learning rate 7".into(), ..job.clone() };
        assert!(sgd.run(&other, &|| false).is_err());
    }
}
