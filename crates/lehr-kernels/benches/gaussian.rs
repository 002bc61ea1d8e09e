//! How many items per second the kernels of Gaussian mixtures work off, a tile of 64 at a time.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::{GaussianBlock, TILE, accumulate, log_densities, pad_to_lanes, softmax};

mod common;

use common::{Rate, in_every_set, normals, per_second, rng};

/// Dimensions, components and whether covariances are diagonal: the settings of benchsuite/mixture.py, and one
/// more.
const SIZES: [(usize, usize, bool); 4] =
    [(4, 64, false), (16, 32, false), (64, 32, false), (16, 32, true)];

fn name(dims: usize, components: usize, diagonal: bool) -> String {
    format!("d={dims},K={components}{}", if diagonal { ",diagonal" } else { "" })
}

fn second(dims: usize, diagonal: bool) -> usize {
    if diagonal { dims } else { dims * (dims + 1) / 2 }
}

fn bench_log_densities(criterion: &mut Criterion<Rate>) {
    for (dims, components, diagonal) in SIZES {
        let mut rng = rng(1);
        let mut block = GaussianBlock::new(components, dims, diagonal);
        for k in 0..components {
            let whitening = normals(&mut rng, second(dims, diagonal));
            block.set(k, rng.normal(), &whitening, &normals(&mut rng, dims));
        }
        let tile = normals(&mut rng, dims * TILE);
        let mut out = vec![0.0; components * TILE];
        let case = name(dims, components, diagonal);
        in_every_set(criterion, "log_densities", &case, TILE, |isa| {
            log_densities(isa, &block, TILE, &tile, &mut out);
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
    for (dims, components, diagonal) in SIZES {
        let mut rng = rng(3);
        let padded = pad_to_lanes(components);
        let tile = normals(&mut rng, dims * TILE);
        let resp: Vec<f64> = (0..TILE * padded).map(|_| rng.uniform()).collect();
        let mut sums = vec![0.0; (1 + dims + second(dims, diagonal)) * padded];
        let case = name(dims, components, diagonal);
        in_every_set(criterion, "accumulate", &case, TILE, |isa| {
            accumulate(isa, TILE, components, dims, diagonal, &tile, &resp, &mut sums);
        });
    }
}

criterion_group! {
    name = items;
    config = per_second!("items");
    targets = bench_log_densities, bench_softmax, bench_accumulate
}
criterion_main!(items);
