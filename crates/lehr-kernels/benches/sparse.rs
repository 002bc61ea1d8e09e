//! How many items per second are added to weighted moments where most responsibilities are 0.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::{Second, TILE, accumulate_sparse, is_sparse, pad_features, pad_to_lanes};

mod common;

use common::{Rate, in_every_set, normals, once, per_second, rng};

/// Dimensions, components, and how many of these an item may belong to.
const SIZES: [(usize, usize, usize); 4] = [(4, 64, 2), (16, 32, 1), (16, 32, 3), (64, 32, 2)];

/// Responsibilities of a tile, `active` of each item above 0.
fn responsibilities(components: usize, active: usize) -> Vec<f64> {
    let mut rng = rng(1);
    let mut resp = vec![0.0; TILE * pad_to_lanes(components)];
    for row in resp.chunks_exact_mut(pad_to_lanes(components)) {
        let first = rng.below(components as u64) as usize;
        (0..active).for_each(|i| row[(first + 5 * i) % components] = rng.uniform());
    }
    resp
}

fn bench_accumulate_sparse(criterion: &mut Criterion<Rate>) {
    for (dims, components, active) in SIZES {
        let tile = normals(&mut rng(2), dims * TILE);
        let resp = responsibilities(components, active);
        let width = pad_features(1 + dims + dims * (dims + 1) / 2);
        let (mut features, mut sums) = (vec![0.0; width], vec![0.0; components * width]);
        let case = format!("d={dims},K={components},active={active}");
        in_every_set(criterion, "accumulate_sparse", &case, TILE, |isa| {
            accumulate_sparse(
                isa,
                TILE,
                components,
                dims,
                Second::Triangle,
                &tile,
                &resp,
                &mut features,
                &mut sums,
            );
        });
    }
}

fn bench_is_sparse(criterion: &mut Criterion<Rate>) {
    let resp = responsibilities(32, 2);
    once(criterion, "is_sparse", "K=32", TILE, || is_sparse(TILE, 32, &resp));
}

criterion_group! {
    name = items;
    config = per_second!("items");
    targets = bench_accumulate_sparse, bench_is_sparse
}
criterion_main!(items);
