//! Tests of the experiment as a whole: its jobs, and figures and claims from made-up records.

use std::collections::HashSet;

use super::*;
use crate::claims::Verdict;

fn fig() -> Fig4 {
    Fig4::new(&Options { quick: true, runs: Some(4), data: None, seed: 1 }).unwrap()
}

/// Records of all jobs with so many clusters of the same size.
fn made_up(fig: &Fig4, clusters: impl Fn(&str, u32) -> usize) -> Records {
    let record = |job: &Job| {
        let mut record = Record::of(job);
        let n = clusters(&job.method, job.start);
        let shares: Vec<f64> =
            (0..TRUNCATION).map(|k| if k < n { 1.0 / n as f64 } else { 0.0 }).collect();
        for moment in ["before", "after"] {
            record.note(&format!("clusters_{moment}"), n as f64);
            record.note(&format!("bound_{moment}"), -(n as f64 - 4.0).abs());
            record.note(&format!("first_two_{moment}"), shares[..2].iter().sum());
            record.lists.insert(format!("shares_{moment}"), shares.clone());
        }
        record
    };
    Records::new(fig.jobs().iter().map(record).collect())
}

#[test]
fn svi_and_svi_plus_have_as_many_runs_and_share_their_starts() {
    let fig = fig();
    let jobs = fig.jobs();
    let keys: HashSet<_> =
        jobs.iter().map(|j| (j.setting.clone(), j.method.clone(), j.start)).collect();
    assert_eq!(keys.len(), jobs.len());
    let count = |begin: &str| jobs.iter().filter(|j| j.method.starts_with(begin)).count();
    assert_eq!((count("batch"), count("SVI |"), count("SVI+")), (2 * 12, 2 * 60, 2 * 60));
    for (batch, share) in BATCHES.iter().flat_map(|&b| SHARES.map(|s| (b, s))) {
        let plus = fig.starts_of(Method::SviPlus { batch, share });
        let svi = fig.starts_of(Method::Svi { batch });
        assert!(plus.clone().all(|start| svi.contains(&start)) && plus.len() == 4);
    }
    assert_eq!(Method::SviPlus { batch: 30, share: 0.2 }.name(), "SVI+ |S|=30 M=6");
}

#[test]
fn one_job_gives_the_same_bits_twice_and_shares_sum_to_one() {
    let fig = fig();
    let jobs = fig.jobs();
    let job = jobs.iter().find(|job| job.method.starts_with("SVI+ |S|=50")).unwrap();
    let run = || fig.run(job, &|| false).unwrap().unwrap();
    let record = run();
    assert_eq!(record, run());
    for moment in ["before", "after"] {
        let shares = &record.lists[&format!("shares_{moment}")];
        assert!(shares.len() == TRUNCATION && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(shares.is_sorted_by(|a, b| a >= b));
        let count = shares.iter().filter(|&&s| s >= LEAST).count() as f64;
        assert_eq!(record.end[&format!("clusters_{moment}")], count);
    }
    assert!(record.end["bound_after"] >= record.end["bound_before"]);
}

#[test]
fn the_papers_numbers_confirm_the_paper_and_their_reverse_does_not() {
    let fig = Fig4::new(&Options { quick: true, runs: Some(10), data: None, seed: 1 }).unwrap();
    // One start of each kind is off, so that there is a standard error.
    let as_paper = |method: &str, start: u32| match method {
        "batch VI" => 5 + usize::from(start == 1),
        m if m.starts_with("SVI+") => 4,
        _ => 3 - usize::from(start % 4 == 1),
    };
    for claim in claims::all(&fig, &made_up(&fig, as_paper)) {
        assert_eq!(claim.verdict(), Verdict::Holds, "{}", claim.words);
    }
    let reverse = |method: &str, start: u32| match method {
        "batch VI" => 4 - usize::from(start % 4 == 1),
        m if m.starts_with("SVI+") => 2,
        _ => 4 + usize::from(start % 4 == 1),
    };
    for claim in claims::all(&fig, &made_up(&fig, reverse)) {
        assert!(matches!(claim.verdict(), Verdict::DoesNotHold { .. }), "{}", claim.words);
    }
    let remark = &claims::all(&fig, &made_up(&fig, as_paper))[1].remark;
    let batch =
        "narrow prior, batch VI after it: 5 to 6 clusters, 5.03 on average, 4 in 0 of 30 runs";
    assert!(remark.contains(batch), "{remark}");
}

#[test]
fn figures_have_the_papers_panels() {
    let fig = fig();
    let pictures = fig.figures(&made_up(&fig, |_, start| 3 + start as usize % 3));
    let series: Vec<Vec<usize>> = pictures
        .iter()
        .map(|p| p.figure.panels.iter().map(|panel| panel.series.len()).collect())
        .collect();
    assert_eq!(series, [vec![2; 6], vec![3; 4], vec![4; 4]]);
    let suffixes: HashSet<&str> = pictures.iter().map(|p| p.suffix.as_str()).collect();
    assert_eq!(suffixes.len(), 3);
    assert!(pictures[0].figure.to_svg().contains("batch VI, narrow prior, 12 runs"));
}

#[test]
fn the_broad_prior_is_as_wide_as_the_data() {
    let points = Points::new(vec![0.0, 0.0, 2.0, 4.0, 4.0, 2.0], 2).unwrap();
    assert_eq!(data::covariance(&points), [4.0, 2.0, 2.0, 4.0]);
}
