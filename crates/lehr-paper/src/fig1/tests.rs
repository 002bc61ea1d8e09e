//! Tests of the experiment as a whole: its jobs, and figures and claims from synthetic records.

use super::*;

fn quick(runs: Option<u32>) -> Fig1 {
    let options = Options { quick: true, runs, data: None, seed: 1 };
    let sets = vec![data::made(options.seed).unwrap()];
    let settings = settings::all(&sets, &options);
    Fig1 { sets, settings, seed: options.seed }
}

/// Records whose bounds rise by 50 over the run and end at the given height.
fn made_up(experiment: &Fig1, height: impl Fn(&str, u32) -> f64) -> Records {
    let record = |job: Job| {
        let setting = experiment.settings.iter().find(|s| s.name == job.setting).unwrap();
        let mut record = Record::of(&job);
        let end = height(&job.method, job.start);
        record.curve = (0..=setting.sweeps)
            .step_by(setting.eval_every as usize)
            .map(|step| {
                let bound = end - 50.0 * (1.0 - step as f64 / setting.sweeps as f64);
                let values = [("bound".to_string(), bound)].into();
                crate::Point { step, items: 0, values }
            })
            .collect();
        record.note("bound", end);
        record
    };
    Records::new(experiment.jobs().into_iter().map(record).collect())
}

/// Noise helps by 10, all else does nothing.
fn noise_helps(method: &str, start: u32) -> f64 {
    let gain = if method.starts_with("SVI+") { 10.0 } else { 0.0 };
    let own = if method == Method::SviPlus.name() { 1.0 } else { 0.0 };
    (gain + own) * (1.0 + 0.05 * f64::from(start % 3)) + 0.1 * f64::from(start)
}

#[test]
fn every_method_starts_from_the_same_starts() {
    let experiment = quick(Some(3));
    let jobs = experiment.jobs();
    let keys: std::collections::BTreeSet<_> =
        jobs.iter().map(|job| (&job.setting, &job.method, job.start)).collect();
    assert_eq!(keys.len(), jobs.len());
    // Two ranks: six methods, then three at two more scales of the start, four in two kinds of long runs.
    assert_eq!(jobs.len(), 3 * 2 * (6 + 2 * 3 + 2 * 4));
    assert!(jobs.iter().all(|job| job.cost > 0.0 && job.start < 3));
    let (setting, set) = (&experiment.settings[0], &experiment.sets[0]);
    let seed = |method, start| setting.config(method, set, 1, start).seed;
    assert_eq!(seed(Method::Batch, 2), seed(Method::SviPlus, 2));
    assert_ne!(seed(Method::Batch, 1), seed(Method::Batch, 2));
}

#[test]
fn the_same_job_gives_the_same_bits() {
    let experiment = quick(Some(1));
    let jobs = experiment.jobs();
    let job = jobs.iter().find(|job| job.method == Method::SviPlus.name()).unwrap();
    let run = || experiment.run(job, &|| false).unwrap().unwrap();
    let record = run();
    assert_eq!(record, run());
    assert_eq!(record.curve.len() as u64, experiment.settings[0].sweeps + 1);
    assert!(record.end["bound"] > record.curve[0].values["bound"]);
    assert!(experiment.run(job, &|| true).unwrap().is_none());
}

#[test]
fn each_figure_has_its_panels_and_series() {
    let experiment = quick(Some(2));
    let pictures = experiment.figures(&made_up(&experiment, noise_helps));
    let shape: Vec<(&str, Vec<usize>)> = pictures
        .iter()
        .map(|p| (&*p.suffix, p.figure.panels.iter().map(|p| p.series.len()).collect()))
        .collect();
    let expected = [
        ("made", vec![2, 2]),
        ("controls", vec![6, 6]),
        ("starts", vec![3; 6]),
        ("long", vec![4; 4]),
    ];
    assert_eq!(shape, expected);
}

#[test]
fn claims_hold_if_noise_helps_and_do_not_if_it_hurts() {
    let experiment = quick(Some(3));
    let verdicts = |sign: f64| -> Vec<String> {
        let records = made_up(&experiment, |method, start| sign * noise_helps(method, start));
        experiment.claims(&records).iter().map(|claim| claim.verdict().to_string()).collect()
    };
    assert!(verdicts(1.0).iter().all(|verdict| verdict == "holds"), "{:?}", verdicts(1.0));
    let opposite = "the opposite is shown";
    assert!(verdicts(-1.0).iter().all(|verdict| verdict == opposite), "{:?}", verdicts(-1.0));
}
