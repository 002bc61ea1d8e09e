//! Precisions, their posteriors and changes of coordinates against plain scalar twins, in every
//! instruction set this machine has.
//!
//! Bounds follow from the number of roundings; sizes are gone through one by one.

use lehr_kernels::packed::Symmetric;
use lehr_kernels::{Isa, congruence, is_positive_definite, moments, narrow, posterior};

mod common;

use common::*;

const EPS: f64 = f64::EPSILON;
/// An odd order, not of a lane's width; lower under Miri.
const SMALL: usize = if cfg!(miri) { 5 } else { 11 };

/// Rows of natural parameters, `gap` numbers apart: A A' / n + I, then h.
fn natural(n: usize, count: usize, gap: usize, seed: u64) -> (Vec<f64>, usize) {
    let shape = Symmetric::full(n);
    let stride = shape.len() + n + gap;
    let mut rng = rng(seed);
    let mut rows = vec![f64::NAN; count * stride];
    for row in rows.chunks_exact_mut(stride) {
        let lambda = &mut row[..shape.len()];
        lambda.fill(0.0);
        (0..n).for_each(|i| lambda[shape.diagonal_index(i)] = 1.0);
        for _ in 0..n {
            let x = normals(&mut rng, n);
            shape.add_outer(1.0 / n as f64, &x, &x, lambda);
        }
        row[shape.len()..][..n].copy_from_slice(&normals(&mut rng, n));
    }
    (rows, stride)
}

/// What `posterior` says of some rows.
#[derive(Clone)]
struct Posterior {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    ln_det: Vec<f64>,
    valid: Vec<bool>,
}

fn posterior_of(isa: Isa, n: usize, rows: &[f64], stride: usize, count: usize) -> Posterior {
    let mut p = Posterior {
        mean: vec![f64::NAN; count * n],
        covariance: vec![f64::NAN; count * Symmetric::full(n).len()],
        ln_det: vec![f64::NAN; count],
        valid: vec![false; count],
    };
    // A scratch that has been used and is too short.
    let mut scratch = vec![f64::NAN; 17];
    posterior(
        isa,
        n,
        rows,
        stride,
        &mut p.mean,
        &mut p.covariance,
        &mut p.ln_det,
        &mut p.valid,
        &mut scratch,
    );
    p
}

fn check_posterior(n: usize, count: usize, gap: usize) {
    let shape = Symmetric::full(n);
    let size = shape.len();
    let (rows, stride) = natural(n, count, gap, (100 * n + count) as u64);
    // The last row need not have its gap.
    let rows = &rows[..rows.len().saturating_sub(gap)];
    let results = in_every_set(|isa| {
        let p = posterior_of(isa, n, rows, stride, count);
        assert!(p.valid.iter().all(|&valid| valid), "{isa:?} {n} {count}");
        [p.mean, p.covariance, p.ln_det].concat()
    });
    for r in 0..count {
        let row = &rows[r * stride..][..size + n];
        let mut factor = row[..size].to_vec();
        assert!(shape.cholesky(&mut factor));
        let ln_det = shape.ln_det(&factor);
        shape.invert_lower(&mut factor);
        let mut inverse = vec![0.0; size];
        shape.gram(&factor, &mut inverse);
        let mut mean = vec![0.0; n];
        shape.times(&inverse, &row[size..], &mut mean);
        // The condition is below 10, and eigenvalues are above 1.
        let error = 100.0 * (n + 10) as f64 * EPS;
        let norm = row[size..].iter().map(|h| h * h).sum::<f64>().sqrt();
        for (isa, out) in &results {
            let (means, rest) = out.split_at(count * n);
            let (covariances, ln_dets) = rest.split_at(count * size);
            for (x, y) in means[r * n..].iter().zip(&mean) {
                assert!((x - y).abs() < error * (1.0 + norm), "{isa:?} {n} mean {x} for {y}");
            }
            for (x, y) in covariances[r * size..].iter().zip(&inverse) {
                assert!((x - y).abs() < error, "{isa:?} {n} covariance {x} for {y}");
            }
            let x = ln_dets[r];
            assert!((x - ln_det).abs() < error * n as f64, "{isa:?} {n} ln det {x} for {ln_det}");
        }
    }
}

#[test]
fn posteriors_agree_with_scalar_algebra() {
    for n in sizes(1..=67) {
        check_posterior(n, 5, n % 3);
    }
    for count in sizes(0..=19) {
        check_posterior(4, count, 0);
        check_posterior(SMALL, count, 5);
    }
    if !cfg!(miri) {
        check_posterior(130, 9, 1);
    }
}

#[test]
fn determinants_do_not_overflow() {
    for isa in Isa::available() {
        for scale in [1e-200, 1e-9, 1.0, 1e9, 1e200] {
            let n = if cfg!(miri) { 7 } else { 40 };
            let shape = Symmetric::full(n);
            let mut row = vec![0.0; shape.len() + n];
            (0..n).for_each(|i| row[shape.diagonal_index(i)] = scale * (i + 1) as f64);
            let p = posterior_of(isa, n, &row, 0, 1);
            let expected: f64 = (0..n).map(|i| (scale * (i + 1) as f64).ln()).sum();
            assert!(p.valid[0]);
            assert!((p.ln_det[0] - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{isa:?}");
        }
    }
}

/// Rows that are no precisions, of order 5 and with h: each a way to spoil a good one.
fn spoilt() -> Vec<(&'static str, Vec<f64>)> {
    let shape = Symmetric::full(5);
    let (good, _) = natural(5, 1, 0, 6);
    let with = |change: &dyn Fn(&mut [f64])| {
        let mut row = good.clone();
        change(&mut row);
        row
    };
    let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
    let mut rows = vec![
        ("zero", vec![0.0; shape.len() + 5]),
        ("minus", with(&|row| row.iter_mut().for_each(|x| *x = -*x))),
    ];
    for i in 0..5 {
        for x in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::MAX, 1e-310] {
            rows.push(("diagonal", with(&move |row| row[at(i, i)] = x)));
        }
        for j in 0..i {
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200, -1e3] {
                rows.push(("below the diagonal", with(&move |row| row[at(i, j)] = x)));
            }
        }
    }
    rows
}

#[test]
fn what_is_no_precision_is_refused_and_does_not_touch_its_neighbours() {
    let n = 5;
    let (good, stride) = natural(n, 4, 0, 6);
    for isa in Isa::available() {
        let expected = posterior_of(isa, n, &good, stride, 4);
        for (what, bad) in spoilt().into_iter().take(times(1000)) {
            for place in 0..5 {
                let mut rows = good.clone();
                rows.splice(place * stride..place * stride, bad.iter().copied());
                let p = posterior_of(isa, n, &rows, stride, 5);
                let kept = |r: &usize| *r != place;
                for (from, r) in (0..5).filter(kept).enumerate() {
                    let size = Symmetric::full(n).len();
                    assert!(p.valid[r], "{isa:?} {what} {place} {r}");
                    assert_eq!(bits(&p.mean[r * n..][..n]), bits(&expected.mean[from * n..][..n]));
                    assert_eq!(
                        bits(&p.covariance[r * size..][..size]),
                        bits(&expected.covariance[from * size..][..size])
                    );
                    assert_eq!(p.ln_det[r].to_bits(), expected.ln_det[from].to_bits());
                }
                assert!(!p.valid[place], "{isa:?} {what} {place}: {bad:?}");
                let mut valid = [false; 5];
                is_positive_definite(isa, n, &rows, stride, &[0.0; 5], &mut valid, &mut Vec::new());
                assert!((0..5).all(|r| valid[r] == (r != place)), "{isa:?} {what} {place}");
            }
        }
    }
}

#[test]
fn a_linear_term_that_is_not_finite_gives_no_posterior() {
    for isa in Isa::available() {
        for bad in [f64::NAN, f64::INFINITY] {
            for n in sizes(1..=7) {
                let (mut rows, stride) = natural(n, 1, 0, 6);
                *rows.last_mut().unwrap() = bad;
                assert!(!posterior_of(isa, n, &rows, stride, 1).valid[0], "{isa:?} {n} {bad}");
                let mut valid = [false];
                let shift = vec![0.0; n];
                is_positive_definite(isa, n, &rows, stride, &shift, &mut valid, &mut Vec::new());
                assert!(valid[0], "the precision itself is fine");
            }
        }
    }
}

#[test]
fn a_row_has_the_same_posterior_in_any_lane() {
    for (n, count) in
        [(3, 11), (1, 9), (11, 17), (51, 9)].into_iter().take(if cfg!(miri) { 1 } else { 4 })
    {
        let (rows, stride) = natural(n, count, 2, 3);
        for isa in Isa::available() {
            let together = posterior_of(isa, n, &rows, stride, count);
            let size = Symmetric::full(n).len();
            for r in 0..count {
                let alone = posterior_of(isa, n, &rows[r * stride..], stride, 1);
                assert_eq!(bits(&alone.mean), bits(&together.mean[r * n..][..n]));
                assert_eq!(bits(&alone.covariance), bits(&together.covariance[r * size..][..size]));
                assert_eq!(alone.ln_det[0].to_bits(), together.ln_det[r].to_bits());
            }
        }
    }
}

#[test]
fn moments_are_means_and_covariances_with_their_squares() {
    for (n, count, gap) in [(1, 3, 0), (SMALL, 9, 2), (6, 8, 5)] {
        let size = Symmetric::full(n).len();
        let (rows, stride) = natural(n, count, 1, 5);
        let (mean_at, out_stride) = (size + gap, size + gap + n + 3);
        for isa in Isa::available() {
            let p = posterior_of(isa, n, &rows, stride, count);
            let mut out = vec![f64::NAN; count * out_stride];
            let (mut ln_det, mut valid) = (vec![f64::NAN; count], vec![false; count]);
            let (ln_dets, scratch) = (&mut ln_det[..], &mut vec![f64::NAN; 9]);
            moments(
                isa, n, &rows, stride, &mut out, out_stride, mean_at, ln_dets, &mut valid, scratch,
            );
            assert_eq!((bits(&ln_det), &valid), (bits(&p.ln_det), &p.valid));
            for (r, out) in out.chunks_exact(out_stride).enumerate() {
                let mean = &p.mean[r * n..][..n];
                assert_eq!(bits(&out[mean_at..][..n]), bits(mean), "{isa:?} {n}");
                let rest = out[size..mean_at].iter().chain(&out[mean_at + n..]);
                assert!(rest.into_iter().all(|x| x.is_nan()), "nothing else is written");
                for i in 0..n {
                    for j in 0..=i {
                        let at = i * (i + 1) / 2 + j;
                        let expected = p.covariance[r * size + at] + mean[i] * mean[j];
                        let scale = p.covariance[r * size + at].abs() + (mean[i] * mean[j]).abs();
                        let off = (out[at] - expected).abs();
                        assert!(off <= 2.0 * EPS * scale, "{isa:?} {n} ({i}, {j})");
                    }
                }
            }
        }
    }
    let overlapping = std::panic::catch_unwind(|| {
        let (rows, stride) = natural(2, 1, 0, 5);
        let (mut out, mut scratch) = ([0.0; 9], Vec::new());
        let isa = Isa::detect();
        moments(isa, 2, &rows, stride, &mut out, 9, 2, &mut [0.0], &mut [true], &mut scratch);
    });
    assert!(overlapping.is_err());
}

#[test]
fn numbers_are_rounded_to_the_nearest() {
    for n in sizes(0..=67) {
        let from = normals(&mut rng(n as u64), n);
        for isa in Isa::available() {
            let mut to = vec![f32::NAN; n];
            narrow(isa, &from, &mut to);
            assert!(to.iter().zip(&from).all(|(to, &from)| *to == from as f32), "{isa:?} {n}");
        }
    }
}

#[test]
fn positive_definite_up_to_the_smallest_eigenvalue() {
    // I + x x' has the eigenvalue 1 but for x's direction, so it is the shift 1 that decides.
    for n in sizes(2..=67) {
        let shape = Symmetric::full(n);
        let stride = shape.len() + n;
        let mut rng = rng(n as u64);
        let count = 1 + n % 10;
        let mut rows = vec![0.0; count * stride];
        for row in rows.chunks_exact_mut(stride) {
            let x = normals(&mut rng, n);
            shape.add_outer(1.0, &x, &x, &mut row[..shape.len()]);
            (0..n).for_each(|i| row[shape.diagonal_index(i)] += 1.0);
        }
        for isa in Isa::available() {
            for (shift, expected) in [(0.0, true), (0.999, true), (1.001, false), (-5.0, true)] {
                let mut valid = vec![!expected; count];
                let shift = vec![shift; n];
                is_positive_definite(isa, n, &rows, stride, &shift, &mut valid, &mut Vec::new());
                assert!(valid.iter().all(|&v| v == expected), "{isa:?} {n} {}", shift[0]);
            }
            // One dimension alone: Lambda_ii itself bounds its shift.
            for i in 0..n {
                let mut shift = vec![0.0; n];
                shift[i] = rows[shape.diagonal_index(i)] * 1.001;
                let mut valid = vec![true; 1];
                is_positive_definite(isa, n, &rows, stride, &shift, &mut valid, &mut Vec::new());
                assert!(!valid[0], "{isa:?} {n} {i}");
            }
        }
    }
}

fn check_congruence(n: usize, f: usize, count: usize, gap: usize) {
    let shape = Symmetric::full(n);
    let (rows, stride) = natural(n, count, gap, (1000 * n + f) as u64);
    let b = normals(&mut rng(f as u64), f * f);
    let results = in_every_set(|isa| {
        let mut out = rows.clone();
        congruence(isa, n, f, &b, &mut out, stride, &mut vec![f64::NAN; 3]);
        // What stands between the rows is untouched; it is NaN, of which bits are compared.
        for (out, row) in out.chunks(stride).zip(rows.chunks(stride)) {
            assert_eq!(bits(&out[shape.len() + n..]), bits(&row[shape.len() + n..]));
        }
        out
    });
    let t = |i: usize, j: usize| match (i < f, j < f) {
        (true, true) => b[i * f + j],
        _ => f64::from(u8::from(i == j)),
    };
    for r in 0..count {
        let row = &rows[r * stride..][..shape.len() + n];
        let mut dense = vec![0.0; n * n];
        shape.to_dense(&row[..shape.len()], &mut dense);
        let entry =
            |k: usize, l: usize| if k < n { dense[k * n + l] } else { row[shape.len() + l] };
        // The rows of [Lambda; h'] times T, with the sum of absolute values for the error.
        let mut product = vec![(0.0, 0.0); (n + 1) * n];
        for k in 0..=n {
            for j in 0..n {
                for l in 0..n {
                    let term = entry(k, l) * t(l, j);
                    let (sum, size) = product[k * n + j];
                    product[k * n + j] = (sum + term, size + term.abs());
                }
            }
        }
        let check = |at: usize, expected: f64, size: f64| {
            for (isa, out) in &results {
                let x = out[r * stride + at];
                let error = 4.0 * (n + 2) as f64 * EPS * size;
                assert!((x - expected).abs() <= error, "{isa:?} {n} {f} {at}: {x} for {expected}");
            }
        };
        for i in 0..n {
            for j in 0..=i {
                let (mut sum, mut size) = (0.0, 0.0);
                for k in 0..n {
                    sum += t(k, i) * product[k * n + j].0;
                    size += t(k, i).abs() * product[k * n + j].1;
                }
                check(i * (i + 1) / 2 + j, sum, size);
            }
            let (sum, size) = product[n * n + i];
            check(shape.len() + i, sum, size);
        }
    }
}

#[test]
fn congruences_agree_with_plain_loops() {
    for n in sizes(1..=35) {
        for f in [0, n - 1, 1, n / 2, n].into_iter().take(times(5)) {
            check_congruence(n, f.min(n), 3, n % 3);
        }
    }
    check_congruence(SMALL, SMALL - 1, 9, 0);
    if !cfg!(miri) {
        check_congruence(51, 50, 2, 1);
        check_congruence(67, 66, 2, 0);
    }
}

#[test]
fn congruences_compose_with_posteriors() {
    // mean <- T^-1 mean, so B times the new mean is the old one.
    let (n, count) = (SMALL, 6);
    let (rows, stride) = natural(n, count, 0, 9);
    let f = n - 1;
    let mut b = normals(&mut rng(1), f * f);
    (0..f).for_each(|i| b[i * f + i] += 4.0);
    for isa in Isa::available() {
        let before = posterior_of(isa, n, &rows, stride, count);
        let mut turned = rows.clone();
        congruence(isa, n, f, &b, &mut turned, stride, &mut Vec::new());
        let after = posterior_of(isa, n, &turned, stride, count);
        for (old, new) in before.mean.chunks(n).zip(after.mean.chunks(n)) {
            for i in 0..n {
                let back: f64 =
                    if i < f { (0..f).map(|j| b[i * f + j] * new[j]).sum() } else { new[i] };
                assert!((back - old[i]).abs() < 1e-11, "{isa:?} {back} {}", old[i]);
            }
        }
    }
}
