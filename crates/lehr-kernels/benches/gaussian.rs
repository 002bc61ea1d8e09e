//! How many items per second the kernels of Gaussian mixtures work off, a tile of 64 at a time.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::{
    GaussianBlock, Second, TILE, accumulate, accumulate_scatter, log_densities, pad_to_lanes,
    softmax, whitened,
};

mod common;

use common::{Rate, in_every_set, normals, per_second, rng};

/// Dimensions, components and second moments: the settings of benchsuite/mixture.py, and one per other kind.
const SIZES: [(usize, usize, Second); 6] = [
    (4, 64, Second::Triangle),
    (16, 32, Second::Triangle),
    (64, 32, Second::Triangle),
    (16, 32, Second::Squares),
    (16, 32, Second::Norm),
    (16, 32, Second::Nothing),
];

fn name(dims: usize, components: usize, second: Second) -> String {
    format!("d={dims},K={components},{second:?}")
}

fn bench_log_densities(criterion: &mut Criterion<Rate>) {
    let diagonal = |second| second == Second::Squares;
    for (dims, components, second) in
        SIZES.into_iter().filter(|&(.., s)| s == Second::Triangle || diagonal(s))
    {
        let mut rng = rng(1);
        let mut block = GaussianBlock::new(components, dims, diagonal(second));
        for k in 0..components {
            let whitening = normals(&mut rng, second.count(dims));
            block.set(k, rng.normal(), &whitening, &normals(&mut rng, dims));
        }
        let tile = normals(&mut rng, dims * TILE);
        let mut out = vec![0.0; components * TILE];
        let case = name(dims, components, second);
        in_every_set(criterion, "log_densities", &case, TILE, |isa| {
            log_densities(isa, &block, TILE, &tile, &mut out);
        });
    }
}

fn bench_whitened(criterion: &mut Criterion<Rate>) {
    for dims in [4, 16, 64] {
        let mut rng = rng(4);
        let mut block = GaussianBlock::new(1, dims, false);
        block.set(0, 0.0, &normals(&mut rng, dims * (dims + 1) / 2), &normals(&mut rng, dims));
        let tile = normals(&mut rng, dims * TILE);
        let mut out = vec![0.0; dims * TILE];
        in_every_set(criterion, "whitened", &format!("d={dims}"), TILE, |isa| {
            whitened(isa, &block, TILE, &tile, &mut out);
        });
    }
}

fn bench_accumulate_scatter(criterion: &mut Criterion<Rate>) {
    for dims in [4, 16, 64] {
        let mut rng = rng(5);
        let (tile, weights) = (normals(&mut rng, dims * TILE), normals(&mut rng, TILE));
        let mut sums = vec![0.0; dims * (dims + 1) / 2];
        in_every_set(criterion, "accumulate_scatter", &format!("d={dims}"), TILE, |isa| {
            accumulate_scatter(isa, TILE, dims, &tile, &weights, &mut sums);
        });
    }
}

fn bench_softmax(criterion: &mut Criterion<Rate>) {
    for components in [8, 32, 64] {
        let padded = pad_to_lanes(components);
        let mut logits = normals(&mut rng(2), padded * TILE);
        let mut resp = vec![0.0; padded * TILE];
        let mut log_sums = [0.0; TILE];
        // What the kernel leaves of the logits are logits for the next time; no branch looks at them.
        in_every_set(criterion, "softmax", &format!("K={components}"), TILE, |isa| {
            softmax(isa, TILE, components, &mut logits, &[1.0; TILE], &mut resp, &mut log_sums);
        });
    }
}

fn bench_accumulate(criterion: &mut Criterion<Rate>) {
    for (dims, components, second) in SIZES {
        let mut rng = rng(3);
        let padded = pad_to_lanes(components);
        let tile = normals(&mut rng, dims * TILE);
        let resp: Vec<f64> = (0..TILE * padded).map(|_| rng.uniform()).collect();
        let mut sums = vec![0.0; second.features(dims) * padded];
        let case = name(dims, components, second);
        in_every_set(criterion, "accumulate", &case, TILE, |isa| {
            accumulate(isa, TILE, components, dims, second, &tile, &resp, &mut sums);
        });
    }
}

criterion_group! {
    name = items;
    config = per_second!("items");
    targets = bench_log_densities, bench_whitened, bench_accumulate_scatter, bench_softmax, bench_accumulate
}
criterion_main!(items);
