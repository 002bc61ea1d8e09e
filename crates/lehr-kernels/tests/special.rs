//! Digamma and log-gamma against 50-digit reference values, from 1e-100 to 1e10. The table and the
//! script that makes it stand in `fixtures/special`.

use lehr_kernels::special::{digamma, ln_gamma, ln_multigamma, multidigamma};
use lehr_kernels::{Isa, digamma_f64, exp_digamma_f32, exp_digamma_f64, ln_gamma_f64};

mod common;

use common::sizes;

const VALUES: &str = include_str!("fixtures/special/values.txt");

/// Error over `1 + |value|`, largest over all lines of one function, and where.
fn worst(function: &str, mut of: impl FnMut(f64, Option<usize>) -> f64) -> (f64, String) {
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

/// A kernel against the values of its function, of which it has those from 1e-70 to `largest`: the error, the same
/// numbers at every place of a vector, and the same bits in every instruction set.
fn in_lanes(
    function: &str,
    kernel: impl Fn(Isa, &[f64], &mut [f64]),
    scalar: impl Fn(f64) -> f64,
    largest: f64,
    most: f64,
) {
    let mut bits: Vec<Vec<u64>> = Vec::new();
    for isa in Isa::available() {
        let mut all = Vec::new();
        let (error, at) = worst(function, |x, _| {
            if !(1e-70..=largest).contains(&x) {
                return scalar(x);
            }
            // Whole vectors, and what is left of one.
            let mut out = [f64::NAN; 9];
            kernel(isa, &[x; 9], &mut out);
            assert!(out.iter().all(|y| y.to_bits() == out[0].to_bits()), "{isa} {x}: {out:?}");
            all.push(out[0].to_bits());
            out[0]
        });
        assert!(error < most, "{function} {isa}: {error:e} at {at}");
        assert!(all.len() > 50, "{function}: {} values", all.len());
        bits.push(all);
    }
    // Portable lanes without a fused multiply-add round twice.
    assert!(bits[1..].windows(2).all(|pair| pair[0] == pair[1]), "{function}");
}

#[test]
fn digamma_in_lanes_is_as_good_as_it_says() {
    in_lanes("digamma", digamma_f64, digamma, 1e70, 4e-15);
}

#[test]
fn ln_gamma_in_lanes_is_as_good_as_it_says() {
    in_lanes("ln_gamma", ln_gamma_f64, ln_gamma, 1e30, 8e-15);
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

/// Arguments and values of exp_digamma.
fn exp_digammas() -> (Vec<f64>, Vec<f64>) {
    let parse = |line: &str| {
        let mut words = line.split(' ').skip(1).map(|word| word.parse::<f64>().unwrap());
        (words.next().unwrap(), words.next().unwrap())
    };
    VALUES.lines().filter(|line| line.starts_with("exp_digamma ")).map(parse).unzip()
}

#[test]
fn exp_digamma_f64_is_as_good_as_it_says() {
    let (x, expected) = exp_digammas();
    assert!(x.len() > 400);
    for isa in Isa::available() {
        let mut out = vec![f64::NAN; x.len()];
        exp_digamma_f64(isa, &x, &mut out);
        let mut worst = 0.0f64;
        for ((x, out), expected) in x.iter().zip(out).zip(&expected) {
            if *expected < 1e-306 {
                assert!(out <= 1.1e-306, "{isa:?} {x}: {out}");
                continue;
            }
            worst = worst.max((out / expected - 1.0).abs() / (8.0 + 2.0 / x));
        }
        println!("{isa:?}: {worst:e}");
        assert!(worst < 4e-16, "{isa:?} {worst:e}");
    }
}

#[test]
fn exp_digamma_f32_is_as_good_as_it_says() {
    let (x, expected) = exp_digammas();
    let singles: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    assert!(singles.iter().zip(&x).all(|(&single, &x)| f64::from(single) == x));
    for isa in Isa::available() {
        let mut out = vec![f32::NAN; x.len()];
        exp_digamma_f32(isa, &singles, &mut out);
        let mut worst = 0.0f64;
        for ((x, out), expected) in x.iter().zip(out).zip(&expected) {
            if *expected < 1e-37 {
                assert!(out <= 1.1e-37, "{isa:?} {x}: {out}");
                continue;
            }
            worst = worst.max((f64::from(out) / expected - 1.0).abs() / (2.0 + 1.0 / x));
        }
        println!("{isa:?}: {worst:e}");
        assert!(worst < 3e-7, "{isa:?} {worst:e}");
    }
}

/// Every length, and the ends of the range: no NaN, nothing written beyond.
#[test]
fn exp_digamma_takes_any_slice() {
    for isa in Isa::available() {
        for n in sizes(0..=39) {
            let x: Vec<f32> = (0..n).map(|i| 0.5 + i as f32).collect();
            let mut out = vec![0.0; n];
            exp_digamma_f32(isa, &x, &mut out);
            let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            let mut wide_out = vec![0.0; n];
            exp_digamma_f64(isa, &wide, &mut wide_out);
            for i in 0..n {
                let expected = digamma(wide[i]).exp();
                assert!((wide_out[i] / expected - 1.0).abs() < 1e-13);
                assert!((f64::from(out[i]) / expected - 1.0).abs() < 2e-6);
            }
        }
        let mut out = [f32::NAN; 4];
        exp_digamma_f32(isa, &[0.0, f32::MIN_POSITIVE, 1e30, f32::MAX], &mut out);
        assert_eq!((out[0], out[1]), (0.0, 0.0));
        assert!((out[2] / 1e30 - 1.0).abs() < 1e-6 && out[3] > 3.4e38, "{out:?}");
        let mut out = [f64::NAN; 3];
        exp_digamma_f64(isa, &[0.0, 1e-300, 1e100], &mut out);
        assert_eq!((out[0], out[1]), (0.0, 0.0));
        assert!((out[2] / 1e100 - 1.0).abs() < 1e-14, "{out:?}");
    }
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
