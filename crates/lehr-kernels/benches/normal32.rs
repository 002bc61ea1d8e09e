//! How many standard normal numbers per second are drawn in single precision.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::fill_normal_f32;
use lehr_kernels::rng::{Address, Purpose};

mod common;

use common::{Rate, in_every_set, per_second};

fn bench_fill_normal_f32(criterion: &mut Criterion<Rate>) {
    let address = Address::new(1, Purpose::Noise, 0, 0);
    for n in [64, 4096] {
        let mut out = vec![0.0f32; n];
        in_every_set(criterion, "fill_normal_f32", &format!("n={n}"), n, |isa| {
            fill_normal_f32(isa, &address, 0, &mut out);
        });
    }
}

criterion_group! {
    name = numbers;
    config = per_second!("numbers");
    targets = bench_fill_normal_f32
}
criterion_main!(numbers);
