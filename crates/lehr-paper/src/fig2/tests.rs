//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

use super::*;
use crate::Point;

fn quick(runs: u32) -> Fig2 {
    Fig2::new(&Options { quick: true, runs: Some(runs), data: None, seed: 1 }).unwrap()
}

/// Records with the same score for all three numbers, which rises by 1 over the run.
fn made_up(experiment: &Fig2, height: impl Fn(&str, u32) -> f64) -> Records {
    let (steps, every) = (experiment.settings.steps, experiment.settings.eval_every);
    let record = |job: Job| {
        let mut record = Record::of(&job);
        let batch = experiment.settings.config(&job, 1).unwrap().batch.unwrap() as u64;
        let end = height(&job.method, job.start);
        let values = |score: f64| KEPT.map(|name| (name.to_string(), score)).into();
        let points = (0..=steps).step_by(every as usize).map(|step| {
            let score = end - (1.0 - step as f64 / steps as f64);
            Point { step, items: batch * step, values: values(score) }
        });
        record.curve = points.collect();
        record.end = values(end);
        record
    };
    Records::new(experiment.jobs().into_iter().map(record).collect())
}

#[test]
fn every_job_is_a_run_of_its_own_with_shared_randomness() {
    let experiment = quick(3);
    let jobs = experiment.jobs();
    let keys: std::collections::BTreeSet<_> =
        jobs.iter().map(|job| (&job.setting, &job.method, job.start)).collect();
    assert_eq!(keys.len(), jobs.len());
    // Nine methods under the first step size, five under two others.
    assert_eq!(jobs.len(), 3 * (9 + 2 * 5));
    let seed = |job: &Job| experiment.settings.config(job, 1).unwrap().seed;
    let seeds: std::collections::BTreeSet<_> =
        jobs.iter().map(|job| (job.start, seed(job))).collect();
    assert_eq!(seeds.len(), 3);
}

#[test]
fn the_same_job_gives_the_same_bits() {
    let experiment = quick(1);
    let jobs = experiment.jobs();
    let job = jobs.iter().find(|job| job.method.starts_with("SVI+")).unwrap();
    let run = || experiment.run(job, &|| false).unwrap().unwrap();
    let record = run();
    assert_eq!(record, run());
    assert!(["local", "full", "completion", "unigram"].iter().all(|x| record.end.contains_key(*x)));
    assert!(record.curve.iter().all(|point| !point.values.contains_key("bound")));
}

#[test]
fn each_figure_has_its_panels_and_series() {
    let experiment = quick(2);
    let pictures = experiment.figures(&made_up(&experiment, |_, start| f64::from(start)));
    let shape: Vec<(&str, Vec<usize>)> = pictures
        .iter()
        .map(|p| (&*p.suffix, p.figure.panels.iter().map(|p| p.series.len()).collect()))
        .collect();
    let expected = [
        ("", vec![5]),
        ("scores", vec![5; 3]),
        ("documents", vec![5; 3]),
        ("schedules", vec![5; 6]),
        ("guards", vec![4; 6]),
    ];
    assert_eq!(shape, expected);
}

#[test]
fn claims_hold_if_the_paper_is_right_and_do_not_if_all_is_the_other_way_round() {
    let experiment = quick(3);
    let [small, _, large] = experiment.settings.sizes;
    let paper = |method: &str, start: u32| {
        let height = match method {
            _ if method.starts_with("SVI+") => 9.0,
            _ if method.ends_with(&format!("= {large}")) => 1.0,
            _ if method.ends_with(&format!("= {small}")) => 2.0,
            _ => 3.0,
        };
        height + 0.1 * f64::from(start)
    };
    let verdicts = |sign: f64| -> Vec<String> {
        let records = made_up(&experiment, |method, start| sign * paper(method, start));
        experiment.claims(&records).iter().map(|claim| claim.verdict().to_string()).collect()
    };
    assert!(verdicts(1.0).iter().all(|verdict| verdict == "holds"), "{:?}", verdicts(1.0));
    let opposite = "the opposite is shown";
    assert!(verdicts(-1.0).iter().all(|verdict| verdict == opposite), "{:?}", verdicts(-1.0));
}
