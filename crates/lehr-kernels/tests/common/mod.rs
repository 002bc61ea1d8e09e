//! What the tests of kernels share.

#![allow(dead_code, reason = "every file of tests has its own part")]

use std::ops::RangeInclusive;

use lehr_kernels::Isa;
use lehr_kernels::rng::{Address, Purpose, Rng};

/// All of these sizes; under Miri, which takes a thousand times as long, those around the ends of vectors.
pub fn sizes(all: RangeInclusive<usize>) -> impl Iterator<Item = usize> {
    all.filter(|size| !cfg!(miri) || [0, 1, 5, 9].contains(size))
}

/// Sizes that are tried besides; under Miri, none.
pub fn longer<const N: usize>(more: [usize; N]) -> impl Iterator<Item = usize> {
    more.into_iter().filter(|_| !cfg!(miri))
}

/// As many repetitions; under Miri, a few.
pub fn times(n: usize) -> usize {
    if cfg!(miri) { n.min(2) } else { n }
}

pub fn rng(seed: u64) -> Rng {
    Address::new(seed, Purpose::Data, 0, 0).rng(0)
}

pub fn normals(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

pub fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Runs `kernel` in every instruction set; those that fuse must give the same bits.
pub fn in_every_set(kernel: impl Fn(Isa) -> Vec<f64>) -> Vec<(Isa, Vec<f64>)> {
    let results: Vec<_> = Isa::available().into_iter().map(|isa| (isa, kernel(isa))).collect();
    let fused: Vec<_> = results.iter().filter(|(isa, _)| isa.fuses()).collect();
    assert!(fused.windows(2).all(|pair| bits(&pair[0].1) == bits(&pair[1].1)), "sets differ");
    results
}
