//! Tests of the experiment: its density, its distances, and its claims from synthetic records.

use super::*;

fn quick() -> Dimension {
    Dimension::new(&Options { quick: true, runs: Some(4), data: None, seed: 2 })
}

#[test]
fn the_measured_distance_is_that_of_the_density() {
    let dimension = Dimension { count: 60_000, ..quick() };
    for (at, tau) in TAUS.into_iter().enumerate() {
        let job =
            Job { setting: setting(tau, 1), method: settings::METHOD.into(), start: 0, cost: 1.0 };
        let record = dimension.run(&job, &|| false).unwrap().unwrap();
        let (found, exact) = (record.end["distance"], dimension.coordinates[at].distance());
        // Two shares of 60,000 draws.
        assert!((found - exact).abs() < 0.015, "tau = {tau}: {found} for {exact}");
    }
    // 1 / (tau^2 sqrt M) of a skewness of 2, to the first order: E|H3| g / 12 with E|H3| = 1.51.
    let first = |tau: f64| 2.0 / (tau * tau * 4.0) * 1.51 / 12.0;
    for (at, tau) in [(1, 2.0), (2, 4.0)] {
        let exact = dimension.coordinates[at].distance();
        assert!((exact / first(tau) - 1.0).abs() < 0.15, "tau = {tau}: {exact}");
    }
}

#[test]
fn exponents_above_a_quarter_contradict_the_theorem_and_smaller_ones_do_not() {
    let dimension = quick();
    let verdicts = |exponent: f64| {
        let record = |job: &Job| {
            let (_, d) = place(&job.setting).unwrap();
            let mut record = Record::of(job);
            let wobble = 1.0 + 1e-4 * f64::from(job.start);
            record.note("distance", 1e-3 * (d as f64).powf(exponent) * wobble);
            record.note("cubes", (d as f64).powf(1.5) * wobble);
            record
        };
        let records = Records::new(dimension.jobs().iter().map(record).collect());
        assert_eq!(dimension.figures(&records)[0].figure.panels[0].series.len(), 12);
        let claims = dimension.claims(&records);
        claims.iter().map(|claim| claim.verdict().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(0.5), ["does not hold", "does not hold"]);
    assert_eq!(verdicts(0.1)[0], "holds");
    assert_eq!(verdicts(0.25)[0], "holds");
}
