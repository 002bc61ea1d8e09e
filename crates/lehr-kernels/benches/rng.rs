//! How many random numbers per second are drawn one by one.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::rng::{Address, Purpose, Rng};

mod common;

use common::{Rate, once, per_second, rng};

const N: usize = 1024;

fn bench_address(criterion: &mut Criterion<Rate>) {
    let address = Address::new(1, Purpose::Data, 0, 0);
    let blocks = (N / 4) as u64;
    once(criterion, "block", "words", N, || {
        (0..blocks).fold([0; 4], |sum: [u32; 4], index| {
            let block = address.block(index);
            std::array::from_fn(|i| sum[i] ^ block[i])
        })
    });
    // The first number of a stream: what it costs to have one for each item.
    once(criterion, "rng", "a stream each", N, || {
        (0..N as u64).fold(0, |sum, item| sum ^ address.rng(item).word())
    });
}

/// The sum of `N` draws.
fn sum(criterion: &mut Criterion<Rate>, name: &str, case: &str, draw: impl Fn(&mut Rng) -> f64) {
    let mut rng = rng(1);
    once(criterion, name, case, N, || (0..N).map(|_| draw(&mut rng)).sum::<f64>());
}

fn bench_draws(criterion: &mut Criterion<Rate>) {
    sum(criterion, "word", "draws", |rng| f64::from(rng.word()));
    sum(criterion, "uniform", "draws", Rng::uniform);
    sum(criterion, "below", "1000", |rng| rng.below(1000) as f64);
    sum(criterion, "normal", "draws", Rng::normal);
    sum(criterion, "gamma", "shape=0.1", |rng| rng.gamma(0.1));
    sum(criterion, "gamma", "shape=5", |rng| rng.gamma(5.0));
}

criterion_group! {
    name = numbers;
    config = per_second!("numbers");
    targets = bench_address, bench_draws
}
criterion_main!(numbers);
