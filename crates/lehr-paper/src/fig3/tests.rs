//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

use std::collections::HashSet;

use super::*;
use crate::claims::{Finding, Verdict};
use crate::{Condition, Point};

fn options(runs: u32) -> Options {
    Options { quick: true, runs: Some(runs), data: None, seed: 1 }
}

/// Records of all jobs in which `after` is what `bound` says; `before` is 5 less, and every run of batch VI
/// takes 10 passes, any other 20.
fn made_up(fig: &Fig3, bound: impl Fn(&Job) -> f64) -> Records {
    let record = |job: &Job| {
        let mut record = Record::of(job);
        let after = bound(job);
        record.note("before", after - 5.0);
        record.note("after", after);
        record.note("passes", if job.method.starts_with("batch") { 10.0 } else { 20.0 });
        record.note("guard_share", 0.01);
        record.note("components", 7.0);
        record.lists.insert("ellipses".into(), vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        for step in 1..50 {
            let values = [("bound".to_string(), after - 100.0 / step as f64)].into();
            record.curve.push(Point { step, items: step * 250, values });
        }
        record
    };
    Records::new(fig.jobs().iter().map(record).collect())
}

/// Something that differs from start to start, the same for all methods.
fn wobble(job: &Job) -> f64 {
    f64::from(job.start % 4)
}

#[test]
fn every_method_has_every_start_and_batch_vi_further_ones() {
    let fig = Fig3::new(&options(5)).unwrap();
    let jobs = fig.jobs();
    let keys: HashSet<_> =
        jobs.iter().map(|j| (j.setting.clone(), j.method.clone(), j.start)).collect();
    assert_eq!(keys.len(), jobs.len());
    // Batch VI 3 x 5; SVI, SVI+ with two guards, both with larger steps, the exact covariance, three annealed.
    assert_eq!(jobs.len(), (15 + 5 * (1 + 2 + 2 + 1 + 3)) + (15 + 5 * (1 + 6 + 4 + 3 + 3)));
    let seeds: HashSet<u64> = (0..40).map(|start| fig.seed(start)).collect();
    assert_eq!(seeds.len(), 40);
}

#[test]
fn one_job_gives_the_same_bits_twice_and_a_quench_does_not_lower_the_bound() {
    let fig = Fig3::new(&options(1)).unwrap();
    let jobs = fig.jobs();
    let job = jobs.iter().find(|job| job.method == "SVI+ M=10").unwrap();
    let run = || fig.run(job, &|| false).unwrap().unwrap();
    let record = run();
    assert_eq!(record, run());
    assert!(record.end["after"] >= record.end["before"]);
    assert!(record.end["passes"] > fig.passes as f64);
    assert!(fig.run(job, &|| true).unwrap().is_none());
}

#[test]
fn claims_hold_where_the_numbers_say_so_and_nowhere_else() {
    let fig = Fig3::new(&options(8)).unwrap();
    // SVI+ above SVI above batch VI; smaller M lower.
    let records = made_up(&fig, |job| {
        let above = match job.method.as_str() {
            "SVI" => 1.0,
            "SVI+ M=50" | "SVI+ M=10" => 2.0,
            "SVI+ M=100" => 3.0,
            "SVI+ M=150" => 4.0,
            _ => 0.0,
        };
        100.0 + above + 0.01 * wobble(job) * (1.0 + above)
    });
    let claims = claims::all(&fig, &records);
    let holding = |claim: usize, of: &str| -> Vec<bool> {
        let those = claims[claim].conditions.iter().filter(|c| c.when.contains(of));
        those.map(|c| c.finding == Finding::Holds).collect()
    };
    for claim in [0, 1] {
        assert_eq!(holding(claim, "usual steps"), [true; 8]);
        assert_eq!(holding(claim, "larger steps"), [false; 8], "they tie");
    }
    let opposite = |c: &&Condition| c.finding == Finding::Opposite;
    assert_eq!(claims[2].conditions.iter().filter(opposite).count(), 4, "larger M is better here");
    assert_eq!(claims[3].verdict().to_string(), "nothing is shown", "the other guard ties");
    assert_eq!(holding(4, "usual steps"), [true; 4]);
    assert_eq!(holding(4, "larger steps"), [false; 4]);
    assert_eq!(claims[5].count(&[Finding::Holds]), 0);
}

#[test]
fn restarts_can_beat_what_one_run_cannot() {
    let fig = Fig3::new(&options(8)).unwrap();
    // Further starts are far better; one run of SVI+ is worth two runs.
    let records = made_up(&fig, |job| match job.method.as_str() {
        "batch VI" => 100.0 + wobble(job),
        "batch VI, further starts" => 110.0 + wobble(job),
        _ => 102.0 + 1.5 * wobble(job),
    });
    let set = &fig.sets[0];
    assert_eq!(claims::worth(&records, set, "SVI+ M=10"), 2.0);
    let one = claims::above_best_of(&fig, &records, set, "SVI+ M=10", 1);
    let two = claims::above_best_of(&fig, &records, set, "SVI+ M=10", 2);
    assert_eq!(one, [2.0, 2.5, 3.0, 3.5, 2.0, 2.5, 3.0, 3.5]);
    assert_eq!(two, one.iter().map(|x| x - 10.0).collect::<Vec<_>>());
    let claims = claims::all(&fig, &records);
    assert_eq!(claims[0].verdict(), Verdict::Holds);
    assert_eq!(claims[4].verdict().to_string(), "the opposite is shown");
    assert!(claims[4].conditions[0].when.ends_with("worth 2 runs"));
}

#[test]
fn figures_have_a_panel_for_each_data_set_and_a_series_for_each_method() {
    let fig = Fig3::new(&options(3)).unwrap();
    let pictures = fig.figures(&made_up(&fig, |job| 50.0 + wobble(job)));
    let suffixes: Vec<&str> = pictures.iter().map(|p| p.suffix.as_str()).collect();
    assert_eq!(suffixes, ["", "boxes", "map"]);
    let series = |p: &Picture| -> Vec<usize> {
        p.figure.panels.iter().map(|panel| panel.series.len()).collect()
    };
    assert_eq!(series(&pictures[0]), [3, 3, 5, 5], "usual and larger steps");
    assert_eq!(series(&pictures[1]), [2, 2]);
    assert_eq!(series(&pictures[2]), [2, 2], "dots and one ellipse");
    let svg = pictures[0].figure.to_svg();
    assert!(svg.contains("SVI+ M=150") && svg.contains("batch VI"));
}
