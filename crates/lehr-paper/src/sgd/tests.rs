//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

use std::collections::HashSet;

use super::*;
use crate::Point;
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
