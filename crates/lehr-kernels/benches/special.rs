//! How many values per second the scalar special functions have.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::special::{digamma, ln_gamma, ln_multigamma, multidigamma, trigamma};

mod common;

use common::{Rate, once, per_second, rng};

const N: usize = 1024;

/// The sum of a function over `N` arguments from a hundredth to a hundred, all above `least`.
fn sum(criterion: &mut Criterion<Rate>, name: &str, case: &str, least: f64, f: fn(f64) -> f64) {
    let mut rng = rng(1);
    let x: Vec<f64> = (0..N).map(|_| least + 10f64.powf(4.0 * rng.uniform() - 2.0)).collect();
    let f = black_box(f);
    once(criterion, name, case, N, || x.iter().map(|&x| f(x)).sum::<f64>());
}

fn bench_special(criterion: &mut Criterion<Rate>) {
    let case = "from 0.01 to 100";
    sum(criterion, "ln_gamma", case, 0.0, ln_gamma);
    sum(criterion, "digamma", case, 0.0, digamma);
    sum(criterion, "trigamma", case, 0.0, trigamma);
    sum(criterion, "ln_multigamma", "d=16", 7.5, |x| ln_multigamma(x, 16));
    sum(criterion, "multidigamma", "d=16", 7.5, |x| multidigamma(x, 16));
}

criterion_group! {
    name = numbers;
    config = per_second!("numbers");
    targets = bench_special
}
criterion_main!(numbers);
