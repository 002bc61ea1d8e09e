//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

use std::collections::HashSet;

use super::*;
use crate::claims::Verdict;

fn fig(runs: u32) -> Fig4 {
    Fig4::new(&Options { quick: true, runs: Some(runs), data: None, seed: 1 }).unwrap()
}

/// Records of all jobs with this many clusters of the same size.
fn made_up(fig: &Fig4, clusters: impl Fn(&str, u32) -> usize) -> Records {
    let record = |job: &Job| {
        let mut record = Record::of(job);
        let n = clusters(&job.method, job.start);
        let shares: Vec<f64> =
            (0..figures::DRAWN).map(|k| if k < n { 1.0 / n as f64 } else { 0.0 }).collect();
        for moment in ["before", "after"] {
            record.note(&format!("clusters_{moment}"), n as f64);
            record.note(&format!("bound_{moment}"), -(n as f64 - 4.0).abs());
            record.note(&format!("first_two_{moment}"), shares[..2].iter().sum());
        }
        record.note("passes", 100.0);
        record.lists.insert("shares".into(), shares);
        record
    };
    Records::new(fig.jobs().iter().map(record).collect())
}

#[test]
fn every_method_has_the_same_starts_and_every_batch_size_its_part() {
    let fig = fig(5);
    let jobs = fig.jobs();
    let keys: HashSet<_> =
        jobs.iter().map(|j| (j.setting.clone(), j.method.clone(), j.start)).collect();
    assert_eq!(keys.len(), jobs.len());
    let count = |begin: &str, end: &str| {
        jobs.iter().filter(|j| j.method.starts_with(begin) && j.method.ends_with(end)).count()
    };
    // 12 settings, 4 step sizes, 3 shares; the exact covariance in 2 settings.
    assert_eq!((count("batch", ""), count("search", "")), (12 * 5, 12 * 5));
    assert_eq!((count("SVI,", ""), count("SVI+", "exact covariance")), (12 * 4 * 5, 2 * 4 * 5));
    assert_eq!(count("SVI+", ""), 12 * 4 * 3 * 5 + 2 * 4 * 5);
    let sizes: HashSet<usize> = fig.all_starts().map(Fig4::batch_of).collect();
    assert_eq!(sizes, BATCHES.into_iter().collect());
    let (config, _) = fig.first(Method::SviPlus { rho: 2, share: 1 }, 3);
    let text = |x: &dyn std::fmt::Display| x.to_string();
    assert_eq!((config.batch, text(&config.effective)), (Some(40), "16".into()));
    assert_eq!(text(&config.step_size.unwrap()), "0.1");
}

#[test]
fn one_job_gives_the_same_bits_twice_and_counts_its_clusters() {
    let fig = fig(5);
    let jobs = fig.jobs();
    let of = |end: &str| {
        let is = |job: &&Job| job.method.starts_with("SVI+") && job.method.ends_with(end);
        jobs.iter().find(is).unwrap()
    };
    for job in [of("rho = 0.1"), of("exact covariance")] {
        let run = || fig.run(job, &|| false).unwrap().unwrap();
        let record = run();
        assert_eq!(record, run());
        let shares = &record.lists["shares"];
        assert!(shares.len() == figures::DRAWN && shares.is_sorted_by(|a, b| a >= b));
        assert!(record.end["bound_after"] >= record.end["bound_before"]);
        assert!(record.curve.is_empty() && record.end["passes"] > 20.0);
    }
}

#[test]
fn the_papers_numbers_confirm_the_paper_and_their_reverse_does_not() {
    let fig = fig(10);
    // One start of each kind is off, so that there is a standard error.
    let as_paper = |method: &str, start: u32| match method {
        "batch VI" | "search" => 5 + usize::from(start == 1),
        m if m.starts_with("SVI+") => 4,
        _ => 3 - usize::from(start % 4 == 1),
    };
    let made = made_up(&fig, as_paper);
    let paper = claims::all(&fig, &made);
    for claim in paper.iter().filter(|claim| !claim.words.contains("exact covariance")) {
        assert_eq!(claim.verdict(), Verdict::Holds, "{}", claim.words);
    }
    assert_eq!(paper.last().unwrap().verdict().to_string(), "nothing is shown", "all are equal");
    let reverse = |method: &str, start: u32| match method {
        "batch VI" | "search" => 4 - usize::from(start % 4 == 1),
        m if m.starts_with("SVI+") => 2,
        _ => 4 + usize::from(start % 4 == 1),
    };
    for claim in claims::all(&fig, &made_up(&fig, reverse)) {
        assert_eq!(claim.count(&[crate::claims::Finding::Holds]), 0, "{}", claim.words);
    }
    let remark = &paper[1].remark;
    let batch = "touching, sticks, narrow prior: batch VI 0 of 10 (mean count 5.1); search";
    assert!(remark.contains(batch), "{remark}");
    let depends =
        "narrow prior: ✓ 24, · 0, ✗ 0; broad prior: ✓ 24, · 0, ✗ 0. rho = (10+t)^-0.75: ✓ 12";
    assert!(paper[3].remark.contains(depends), "{}", paper[3].remark);
}

#[test]
fn figures_have_a_panel_for_every_condition() {
    let fig = fig(5);
    let pictures = fig.figures(&made_up(&fig, |_, start| 3 + start as usize % 3));
    let series: Vec<Vec<usize>> = pictures
        .iter()
        .map(|p| p.figure.panels.iter().map(|panel| panel.series.len()).collect())
        .collect();
    assert_eq!(series, [vec![4; 16], vec![3; 16], vec![3; 12]]);
    let suffixes: HashSet<&str> = pictures.iter().map(|p| p.suffix.as_str()).collect();
    assert_eq!(suffixes.len(), 3);
    assert!(pictures[2].figure.to_svg().contains("five columns, sparse Dirichlet, broad prior"));
}

#[test]
fn the_broad_prior_is_as_wide_as_the_data() {
    let points = Points::new(vec![0.0, 0.0, 2.0, 4.0, 4.0, 2.0], 2).unwrap();
    assert_eq!(data::covariance(&points), [4.0, 2.0, 2.0, 4.0]);
}
