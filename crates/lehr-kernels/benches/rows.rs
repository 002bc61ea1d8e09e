//! How many ratings per second are centred and summed, and how many rows of a factorisation are solved.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::{
    Factors, Isa, MIXED, SLAB_WIDTHS, WIDEST_MIXED, centre_f32, centre_f64, congruence,
    is_positive_definite, posterior, sum_slab_f32, sum_slab_f64,
};

mod common;

use common::{Rate, in_every_set, normals, per_second, precision, rng};

/// Blocks of ratings, each the ratings of one user.
const BLOCKS: usize = 200;
/// Ratings of a user.
const LENGTH: usize = 100;
const RATINGS: usize = BLOCKS * LENGTH;
/// Items that can be rated: the rows of a table.
const ITEMS: usize = 4096;
/// Rows that are solved in a call.
const ROWS: usize = 64;
/// Dimensions of a factorisation.
const DIMS: [usize; 2] = [10, 50];

fn starts() -> Vec<usize> {
    (0..=BLOCKS).map(|block| block * LENGTH).collect()
}

/// A slab's name, width and split, and whether ratings have weights: all that kernels are compiled for, but
/// slabs of coefficients alone, which are like weights, and mixed ones with weights.
fn slabs() -> impl Iterator<Item = (String, usize, usize, bool)> {
    let plain = SLAB_WIDTHS.map(|width| (format!("columns={width}"), width, width, false));
    let weighted =
        SLAB_WIDTHS.map(|width| (format!("columns={width},weights"), width, width, true));
    let mixed = (2 * MIXED..=WIDEST_MIXED)
        .step_by(MIXED)
        .map(|width| (format!("columns={width},mixed"), width, width - MIXED, false));
    plain.into_iter().chain(weighted).chain(mixed)
}

/// [`sum_slab_f32`] or [`sum_slab_f64`].
type Sum<R> = fn(Isa, usize, &[R], &[usize], &[u32], Factors<'_, R>, &mut [f64], usize);

/// Measures the sums of a table in one precision.
fn bench_sums<R: Copy>(
    criterion: &mut Criterion<Rate>,
    name: &str,
    round: fn(f64) -> R,
    kernel: Sum<R>,
) {
    let mut rng = rng(1);
    let mut numbers =
        |n: usize| -> Vec<R> { normals(&mut rng, n).into_iter().map(round).collect() };
    let (all_weights, coefficients) = (numbers(RATINGS), numbers(RATINGS));
    // From a cache line on, as tables are.
    let table = numbers(ITEMS * WIDEST_MIXED + 64);
    let table = &table[table.as_ptr().align_offset(64)..];
    let others: Vec<u32> = (0..RATINGS).map(|_| rng.below(ITEMS as u64) as u32).collect();
    let (starts, mut out) = (starts(), vec![0.0; BLOCKS * WIDEST_MIXED]);
    for (case, width, split, is_weighted) in slabs() {
        let weights = if is_weighted { &all_weights[..] } else { &[] };
        let factors = Factors { weights, split, coefficients: &coefficients, rated: split };
        let slab = &table[..ITEMS * width];
        in_every_set(criterion, name, &case, RATINGS, |isa| {
            kernel(isa, width, slab, &starts, &others, factors, &mut out, width);
        });
    }
}

fn bench_sum_slab_f32(criterion: &mut Criterion<Rate>) {
    bench_sums(criterion, "sum_slab_f32", |x| x as f32, sum_slab_f32);
}

fn bench_sum_slab_f64(criterion: &mut Criterion<Rate>) {
    bench_sums(criterion, "sum_slab_f64", |x| x, sum_slab_f64);
}

/// [`centre_f32`] or [`centre_f64`].
type Centre<R> = fn(Isa, &[usize], &[f32], &[f32], f64, &mut [R], &mut [f64], usize);

/// Measures centring to one precision.
fn bench_centres<R: Copy + Default>(
    criterion: &mut Criterion<Rate>,
    name: &str,
    kernel: Centre<R>,
) {
    let mut rng = rng(2);
    let values: Vec<f32> = (0..RATINGS).map(|_| 1.0 + rng.below(5) as f32).collect();
    let weights: Vec<f32> = (0..RATINGS).map(|_| rng.uniform() as f32).collect();
    let (starts, mut out, mut sums) = (starts(), vec![R::default(); RATINGS], [0.0; 3 * BLOCKS]);
    for (case, weights) in [("plain", &[][..]), ("weights", &weights[..])] {
        in_every_set(criterion, name, case, RATINGS, |isa| {
            kernel(isa, &starts, &values, weights, 3.5, &mut out, &mut sums, 3);
        });
    }
}

fn bench_centre_f32(criterion: &mut Criterion<Rate>) {
    bench_centres(criterion, "centre_f32", centre_f32);
}

fn bench_centre_f64(criterion: &mut Criterion<Rate>) {
    bench_centres(criterion, "centre_f64", centre_f64);
}

/// Natural parameters, one row behind the other, and how long one is.
fn natural_parameters(n_dims: usize) -> (Vec<f64>, usize) {
    let mut rng = rng(3);
    let rows = (0..ROWS).flat_map(|_| {
        let mut row = precision(&mut rng, n_dims);
        row.extend(normals(&mut rng, n_dims));
        row
    });
    (rows.collect(), n_dims * (n_dims + 3) / 2)
}

fn bench_posterior(criterion: &mut Criterion<Rate>) {
    for n in DIMS {
        let (lambda, stride) = natural_parameters(n);
        let (mut mean, mut covariance) = (vec![0.0; ROWS * n], vec![0.0; ROWS * (stride - n)]);
        let (mut ln_det, mut valid, mut scratch) = ([0.0; ROWS], [true; ROWS], Vec::new());
        in_every_set(criterion, "posterior", &format!("d={n}"), ROWS, |isa| {
            posterior(
                isa,
                n,
                &lambda,
                stride,
                &mut mean,
                &mut covariance,
                &mut ln_det,
                &mut valid,
                &mut scratch,
            );
        });
        assert!(valid.iter().all(|&valid| valid), "precisions are positive definite");
    }
}

fn bench_is_positive_definite(criterion: &mut Criterion<Rate>) {
    for n in DIMS {
        let (lambda, stride) = natural_parameters(n);
        let (shift, mut valid, mut scratch) = (vec![0.5; n], [true; ROWS], Vec::new());
        in_every_set(criterion, "is_positive_definite", &format!("d={n}"), ROWS, |isa| {
            is_positive_definite(isa, n, &lambda, stride, &shift, &mut valid, &mut scratch);
        });
        assert!(valid.iter().all(|&valid| valid), "precisions are positive definite");
    }
}

fn bench_congruence(criterion: &mut Criterion<Rate>) {
    for n in DIMS {
        let (mut rows, stride) = natural_parameters(n);
        // A reflection: rows keep their size however often they are changed.
        let v = normals(&mut rng(4), n);
        let length: f64 = v.iter().map(|x| x * x).sum();
        let entry = |i: usize, j: usize| f64::from(i == j) - 2.0 * v[i] * v[j] / length;
        let b: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let mut scratch = Vec::new();
        in_every_set(criterion, "congruence", &format!("d={n}"), ROWS, |isa| {
            congruence(isa, n, n, &b, &mut rows, stride, &mut scratch);
        });
    }
}

criterion_group! {
    name = ratings;
    config = per_second!("ratings");
    targets = bench_sum_slab_f32, bench_sum_slab_f64, bench_centre_f32, bench_centre_f64
}
criterion_group! {
    name = rows;
    config = per_second!("rows");
    targets = bench_posterior, bench_is_positive_definite, bench_congruence
}
criterion_main!(ratings, rows);
