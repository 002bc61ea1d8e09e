//! How many exponentials of digammas per second there are in either precision.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::{exp_digamma_f32, exp_digamma_f64};

mod common;

use common::{Rate, in_every_set, per_second, rng};

/// Numbers in a call: the first-level cache holds arguments and results.
const N: usize = 1024;

/// Arguments from a hundredth to a hundred.
fn arguments() -> Vec<f64> {
    let mut rng = rng(1);
    (0..N).map(|_| 10f64.powf(4.0 * rng.uniform() - 2.0)).collect()
}

fn bench_exp_digamma_f32(criterion: &mut Criterion<Rate>) {
    let x: Vec<f32> = arguments().iter().map(|&x| x as f32).collect();
    let mut out = vec![0.0; N];
    in_every_set(criterion, "exp_digamma_f32", &format!("n={N}"), N, |isa| {
        exp_digamma_f32(isa, &x, &mut out);
    });
}

fn bench_exp_digamma_f64(criterion: &mut Criterion<Rate>) {
    let x = arguments();
    let mut out = vec![0.0; N];
    in_every_set(criterion, "exp_digamma_f64", &format!("n={N}"), N, |isa| {
        exp_digamma_f64(isa, &x, &mut out);
    });
}

criterion_group! {
    name = numbers;
    config = per_second!("numbers");
    targets = bench_exp_digamma_f32, bench_exp_digamma_f64
}
criterion_main!(numbers);
