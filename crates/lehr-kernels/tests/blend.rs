//! The update of a row against plain twins, in every instruction set this machine has.

use lehr_kernels::{Isa, advance_row, decay_row, replace_row, step_row};

mod common;

use common::{rng, sizes};

#[test]
fn decayed_rows_are_the_twins_at_every_size() {
    for isa in Isa::available() {
        for n in sizes(0..=40) {
            let mut rng = rng(n as u64);
            let eta: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
            let row: Vec<f64> = (0..n).map(|_| 5.0 * rng.uniform()).collect();
            let mut got = row.clone();
            decay_row(isa, &mut got, &eta, 0.7);
            for k in 0..n {
                let expected = eta[k] + 0.7 * (row[k] - eta[k]);
                assert!((got[k] - expected).abs() < 1e-14, "{isa:?} {n} {k}");
            }
        }
    }
}

#[test]
fn steps_are_the_twins_at_every_size() {
    for isa in Isa::available() {
        for n in sizes(0..=40) {
            for clamps in [false, true] {
                let mut rng = rng(n as u64);
                let old: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
                let step: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                let (mut got, mut clamped, mut is_finite) = (step.clone(), 5, false);
                step_row(isa, &old, 0.3, clamps, &mut got, &mut clamped, &mut is_finite);
                let negative = step.iter().filter(|&&x| x < 0.0).count() as u64;
                assert_eq!(clamped, 5 + if clamps { negative } else { 0 });
                assert!(is_finite);
                for k in 0..n {
                    let step = if clamps { step[k].max(0.0) } else { step[k] };
                    assert!((got[k] - (old[k] + 0.3 * step)).abs() < 1e-14, "{isa:?} {n} {k}");
                }
                for odd in [f64::NAN, f64::INFINITY] {
                    for k in 0..n {
                        let mut got = step.clone();
                        got[k] = odd;
                        step_row(isa, &old, 0.3, false, &mut got, &mut clamped, &mut is_finite);
                        assert!(!is_finite, "{isa:?} {n} {k} {odd}");
                    }
                }
            }
        }
    }
}

#[test]
fn replaced_rows_say_what_they_gain() {
    for isa in Isa::available() {
        for n in sizes(0..=40) {
            let mut rng = rng(n as u64);
            let new: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let before: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let (mut old, mut gain) = (before.clone(), vec![1.0; n]);
            replace_row(isa, &mut old, &new, &mut gain);
            assert_eq!(old, new);
            for k in 0..n {
                assert!((gain[k] - (1.0 + (new[k] - before[k]))).abs() < 1e-14, "{isa:?} {n} {k}");
            }
        }
    }
}

#[test]
fn all_at_once_is_the_same_as_one_by_one() {
    for isa in Isa::available() {
        for n in [1, 7, 8, 16, 19, 100] {
            let of =
                |a: f64| (0..n).map(|k| (a * (k as f64 + 1.0)).sin().abs()).collect::<Vec<_>>();
            let (mut row, eta, x, mut gain) = (of(0.7), of(0.3), of(1.9), of(2.3));
            let (mut row2, mut gain2) = (row.clone(), gain.clone());
            let mut done = false;
            advance_row(isa, &mut row, &eta, 0.93, &x, 31.0, &mut gain, &mut done);
            assert!(done);
            decay_row(isa, &mut row2, &eta, 0.93);
            let (mut new, mut clamped, mut finite) = (x.clone(), 0, false);
            step_row(isa, &row2, 31.0, false, &mut new, &mut clamped, &mut finite);
            replace_row(isa, &mut row2, &new, &mut gain2);
            assert_eq!((&row, &gain), (&row2, &gain2), "{isa:?}, {n}");
            let mut bad = x.clone();
            bad[n - 1] = f64::INFINITY;
            advance_row(isa, &mut row, &eta, 0.93, &bad, 31.0, &mut gain, &mut done);
            assert!(!done && row == row2 && gain == gain2, "{isa:?}, {n}");
        }
    }
}
