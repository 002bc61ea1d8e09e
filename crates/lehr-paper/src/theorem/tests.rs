//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

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
