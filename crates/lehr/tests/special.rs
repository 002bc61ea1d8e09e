//! Digamma and log-gamma against 50-digit reference values, from 1e-100 to 1e10. The table and the
//! script that makes it stand in `fixtures/special`.

use lehr::math::special::{digamma, ln_gamma, ln_multigamma, multidigamma};

const VALUES: &str = include_str!("fixtures/special/values.txt");

/// Error over `1 + |value|`, largest over all lines of one function, and where.
fn worst(function: &str, of: impl Fn(f64, Option<usize>) -> f64) -> (f64, String) {
    let mut worst = (0.0, String::new());
    let mut lines = 0;
    for line in VALUES.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != function {
            continue;
        }
        lines += 1;
        let x = words[1].parse().unwrap();
        let dims = (words.len() == 4).then(|| words[2].parse().unwrap());
        let expected: f64 = words[words.len() - 1].parse().unwrap();
        let got = of(x, dims);
        let error = (got - expected).abs() / (1.0 + expected.abs());
        assert!(error.is_finite(), "{line}: {got}");
        if error > worst.0 {
            worst = (error, format!("{line}, got {got}"));
        }
    }
    assert!(lines > 50, "{lines} lines for {function}");
    println!("{function}: {:e} at {}", worst.0, worst.1);
    worst
}

#[test]
fn digamma_is_as_good_as_it_says() {
    let (error, at) = worst("digamma", |x, _| digamma(x));
    assert!(error < 3e-15, "{error:e} at {at}");
}

#[test]
fn ln_gamma_is_as_good_as_it_says() {
    let (error, at) = worst("ln_gamma", |x, _| ln_gamma(x));
    assert!(error < 8e-15, "{error:e} at {at}");
}

#[test]
fn ln_multigamma_is_as_good_as_it_says() {
    let (error, at) = worst("ln_multigamma", |x, d| ln_multigamma(x, d.unwrap()));
    assert!(error < 8e-15, "{error:e} at {at}");
}

/// multidigamma is the sum it says it is; psi(x) - psi(x - 1) = 1 / (x - 1) checks it independently.
#[test]
fn multidigamma_steps_like_a_sum_of_digammas() {
    for d in [1, 2, 3, 8] {
        for above in [0.1, 0.5, 3.0, 1e3] {
            let x = 0.5 * (d - 1) as f64 + above;
            let step = multidigamma(x + 1.0, d) - multidigamma(x, d);
            let expected: f64 = (0..d).map(|i| 1.0 / (x - 0.5 * i as f64)).sum();
            assert!((step - expected).abs() < 1e-13 * (d as f64 + expected), "{d} {x}: {step}");
        }
    }
}

/// Near its roots only the absolute error can be small; elsewhere the relative one is as well.
#[test]
fn known_values() {
    assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 2e-15);
    assert!(digamma(1.461_632_144_968_362_3).abs() < 2e-15);
    assert!(ln_gamma(1.0).abs() < 5e-15 && ln_gamma(2.0).abs() < 5e-15);
    assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 5e-15);
}
