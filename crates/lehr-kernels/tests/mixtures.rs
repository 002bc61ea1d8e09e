//! Every kernel against a plain scalar twin, in every instruction set this machine has.
//!
//! Bounds are those of the error analysis: a sum of n terms may be off by n units of rounding times
//! the sum of the terms' absolute values. Sizes are gone through one by one; proptest mixes them.

use lehr_kernels::rng::{Address, Purpose, Rng};
use lehr_kernels::{
    GaussianBlock, Isa, Second, TILE, accumulate, accumulate_scatter, accumulate_sparse,
    fill_normal, is_sparse, log_densities, pad_features, pad_to_lanes, softmax, whitened,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

mod common;

use common::{in_every_set, rng, sizes};

const EPS: f64 = f64::EPSILON;
const MOST: usize = 67;

fn config() -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/proptest-regressions/mixtures.txt");
    ProptestConfig { cases: 200, failure_persistence: Some(Box::new(seeds)), ..Default::default() }
}

fn normals(rng: &mut Rng, n: usize, scale: f64) -> Vec<f64> {
    (0..n).map(|_| scale * rng.normal()).collect()
}

/// What a test is run with.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    items: usize,
    components: usize,
    dims: usize,
    second: Second,
}

const EVERY_SECOND: [Second; 4] =
    [Second::Nothing, Second::Norm, Second::Squares, Second::Triangle];

/// Every length on its own, the others small; every kind of second moments.
fn every_size() -> impl Iterator<Item = Sizes> {
    let by_items = sizes(1..=TILE).map(|items| (items, 3, 2));
    let by_components = sizes(1..=MOST).map(|components| (5, components, 2));
    let by_dims = sizes(1..=20).map(|dims| (9, 3, dims));
    by_items.chain(by_components).chain(by_dims).flat_map(|(items, components, dims)| {
        EVERY_SECOND.map(|second| Sizes { items, components, dims, second })
    })
}

prop_compose! {
    fn any_size()(items in 1..=TILE, components in 1..=MOST, dims in 1..=20usize,
        second in prop::sample::select(EVERY_SECOND.to_vec())) -> Sizes {
        Sizes { items, components, dims, second }
    }
}

fn check_log_densities(sizes: Sizes, scale: f64, seed: u64) {
    let Sizes { items, components, dims, second } = sizes;
    let diagonal = second != Second::Triangle;
    let mut rng = rng(seed);
    let packed = if diagonal { dims } else { dims * (dims + 1) / 2 };
    let tile = normals(&mut rng, dims * TILE, scale);
    let mut block = GaussianBlock::new(components, dims, diagonal);
    let parts: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..components)
        .map(|k| {
            let part = (
                10.0 * rng.normal(),
                normals(&mut rng, packed, 1.0),
                normals(&mut rng, dims, scale),
            );
            block.set(k, part.0, &part.1, &part.2);
            assert_eq!(block.get(k), part);
            part
        })
        .collect();
    let results = in_every_set(|isa| {
        let mut out = vec![f64::NAN; components * TILE];
        log_densities(isa, &block, items, &tile, &mut out);
        // What stands behind the items is no result.
        out.chunks(TILE).flat_map(|row| row[..items].to_vec()).collect()
    });
    for (k, (offset, whitening, shift)) in parts.iter().enumerate() {
        for n in 0..items {
            let (mut squares, mut error) = (0.0, 0.0);
            for (i, shift) in shift.iter().enumerate() {
                let columns = if diagonal { i..i + 1 } else { 0..i + 1 };
                let first = if diagonal { 0 } else { i * (i + 1) / 2 };
                let (mut y, mut size) = (-shift, shift.abs());
                for j in columns {
                    let term = whitening[first + j] * tile[j * TILE + n];
                    y += term;
                    size += term.abs();
                }
                let off = 2.0 * (dims + 2) as f64 * EPS * size;
                squares += y * y;
                error += y.abs() * off + off * off;
            }
            let expected = offset - 0.5 * squares;
            error += 2.0 * (dims + 2) as f64 * EPS * (squares + offset.abs());
            for (isa, out) in &results {
                let got = out[k * items + n];
                assert!(
                    (got - expected).abs() <= error,
                    "{isa:?} {sizes:?} k={k} n={n}: {got} for {expected} +- {error}"
                );
            }
        }
    }
}

/// `G x - c` against the scalar twin, and the log densities made of it against those made at once.
fn check_whitened(items: usize, dims: usize, scale: f64, seed: u64) {
    let mut rng = rng(seed);
    let tile = normals(&mut rng, dims * TILE, scale);
    let whitening = normals(&mut rng, dims * (dims + 1) / 2, 1.0);
    let shift = normals(&mut rng, dims, scale);
    let mut block = GaussianBlock::new(1, dims, false);
    block.set(0, 0.0, &whitening, &shift);
    let results = in_every_set(|isa| {
        let mut out = vec![f64::NAN; dims * TILE];
        whitened(isa, &block, items, &tile, &mut out);
        out.chunks(TILE).flat_map(|row| row[..items].to_vec()).collect()
    });
    for (isa, out) in &results {
        for (i, n) in (0..dims).flat_map(|i| (0..items).map(move |n| (i, n))) {
            let terms = (0..=i).map(|j| whitening[i * (i + 1) / 2 + j] * tile[j * TILE + n]);
            let size: f64 = shift[i].abs() + terms.clone().map(f64::abs).sum::<f64>();
            let (got, expected) = (out[i * items + n], terms.sum::<f64>() - shift[i]);
            let error = 2.0 * (dims + 2) as f64 * EPS * size;
            assert!(
                (got - expected).abs() <= error,
                "{isa:?} dims={dims} i={i} n={n}: {got} {expected}"
            );
        }
    }
}

/// Second moments over all components against the scalar twin.
fn check_scatter(items: usize, dims: usize, scale: f64, seed: u64) {
    let mut rng = rng(seed);
    let tile = normals(&mut rng, dims * TILE, scale);
    let weights = normals(&mut rng, TILE, 1.0);
    let before = normals(&mut rng, dims * (dims + 1) / 2, 1.0);
    let results = in_every_set(|isa| {
        let mut sums = before.clone();
        accumulate_scatter(isa, items, dims, &tile, &weights, &mut sums);
        sums
    });
    for (isa, sums) in &results {
        for (i, j) in (0..dims).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            let at = i * (i + 1) / 2 + j;
            let term = |n: usize| weights[n] * tile[i * TILE + n] * tile[j * TILE + n];
            let expected = before[at] + (0..items).map(term).sum::<f64>();
            let size = before[at].abs() + (0..items).map(|n| term(n).abs()).sum::<f64>();
            let error = 2.0 * (items + 4) as f64 * EPS * size;
            let found = sums[at];
            assert!((found - expected).abs() <= error, "{isa:?} ({i}, {j}): {found} {expected}");
        }
    }
}

/// Responsibilities and log sums of the scalar twin.
fn softmax_of(logits: &[f64], weight: f64) -> (Vec<f64>, f64) {
    let top = logits.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let powers: Vec<f64> = logits.iter().map(|l| (l - top).max(-600.0).exp()).collect();
    let powers: Vec<f64> = powers.iter().map(|&p| if p >= 1e-20 { p } else { 0.0 }).collect();
    let sum: f64 = powers.iter().sum();
    (powers.iter().map(|p| weight * p / sum).collect(), top + sum.ln())
}

/// Runs `softmax` on `items[n][k]`; gives `[n][k]` responsibilities, then the log sums.
fn run_softmax(isa: Isa, items: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let components = items[0].len();
    let padded = pad_to_lanes(components);
    let mut logits = vec![0.0; padded * TILE];
    for (n, item) in items.iter().enumerate() {
        item.iter().enumerate().for_each(|(k, &l)| logits[k * TILE + n] = l);
    }
    let (mut resp, mut log_sums) = (vec![0.0; padded * TILE], vec![0.0; TILE]);
    softmax(isa, items.len(), components, &mut logits, weights, &mut resp, &mut log_sums);
    assert!(logits[components * TILE..].iter().all(|&x| x == 0.0), "padding rows stay 0");
    let mut out = Vec::new();
    for row in resp.chunks(padded).take(items.len()) {
        assert!(row[components..].iter().all(|&x| x == 0.0), "padding columns stay 0");
        out.extend_from_slice(&row[..components]);
    }
    out.extend_from_slice(&log_sums[..items.len()]);
    out
}

fn check_softmax(n_items: usize, components: usize, scale: f64, seed: u64) {
    let mut rng = rng(seed);
    let items: Vec<_> = (0..n_items).map(|_| normals(&mut rng, components, scale)).collect();
    let weights = normals(&mut rng, n_items, 3.0);
    let results = in_every_set(|isa| run_softmax(isa, &items, &weights));
    let tolerance = (components + 10) as f64 * EPS;
    for (n, item) in items.iter().enumerate() {
        let (expected, log_sum) = softmax_of(item, weights[n]);
        for (isa, out) in &results {
            for (k, &e) in expected.iter().enumerate() {
                let got = out[n * components + k];
                assert!(
                    // At the very edge of what is negligible, rounding decides.
                    (got - e).abs() <= tolerance * e.abs() + 1.001e-20 * weights[n].abs(),
                    "{isa:?} {components} n={n} k={k}: {got} for {e}"
                );
            }
            let got = out[n_items * components + n];
            assert!(
                (got - log_sum).abs() <= tolerance + 2.0 * EPS * log_sum.abs(),
                "{isa:?} {components} n={n}: log sum {got} for {log_sum}"
            );
        }
    }
}

/// The dense and the sparse sums against the scalar twin; `share` of the responsibilities are not 0.
fn check_accumulate(sizes: Sizes, scale: f64, share: f64, seed: u64) {
    let Sizes { items, components, dims, second } = sizes;
    let mut rng = rng(seed);
    let padded = pad_to_lanes(components);
    let tile = normals(&mut rng, dims * TILE, scale);
    let mut resp = normals(&mut rng, TILE * padded, 1.0);
    for row in resp.chunks_mut(padded) {
        row[..components].iter_mut().filter(|_| rng.uniform() > share).for_each(|r| *r = 0.0);
        row[components..].fill(0.0);
    }
    let features = |n: usize| {
        let x = |i: usize| tile[i * TILE + n];
        let mut all = vec![1.0];
        all.extend((0..dims).map(x));
        match second {
            Second::Nothing => {}
            Second::Norm => all.push((0..dims).map(|i| x(i) * x(i)).sum()),
            Second::Squares => all.extend((0..dims).map(|i| x(i) * x(i))),
            Second::Triangle => {
                all.extend(
                    (0..dims).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| x(i) * x(j)),
                );
            }
        }
        all
    };
    let n_features = features(0).len();
    assert_eq!(n_features, second.features(dims));
    let before = normals(&mut rng, n_features * padded, 1.0);
    let results = in_every_set(|isa| {
        let mut sums = before.clone();
        accumulate(isa, items, components, dims, second, &tile, &resp, &mut sums);
        sums
    });
    let width = pad_features(n_features);
    let sparse = in_every_set(|isa| {
        let mut by_component = vec![0.0; components * width];
        for (k, row) in by_component.chunks_mut(width).enumerate() {
            (0..n_features).for_each(|f| row[f] = before[f * padded + k]);
        }
        let mut room = vec![0.0; width];
        accumulate_sparse(
            isa,
            items,
            components,
            dims,
            second,
            &tile,
            &resp,
            &mut room,
            &mut by_component,
        );
        // Where the dense sums have their place.
        let mut sums = before.clone();
        for (k, row) in by_component.chunks(width).enumerate() {
            (0..n_features).for_each(|f| sums[f * padded + k] = row[f]);
        }
        sums
    });
    for ((isa, dense), (_, sparse)) in results.iter().zip(&sparse) {
        assert_eq!(dense, sparse, "{isa:?} {sizes:?}: adding 0 or passing over it is the same");
    }
    let all: Vec<_> = (0..items).map(features).collect();
    for f in 0..n_features {
        for k in 0..padded {
            let at = f * padded + k;
            let (mut sum, mut size) = (before[at], before[at].abs());
            for (n, features) in all.iter().enumerate() {
                let term = features[f] * resp[n * padded + k];
                sum += term;
                size += term.abs();
            }
            let tolerance = 2.0 * (items + 2) as f64 * EPS * size;
            for (isa, out) in &results {
                let got = out[at];
                assert!(
                    (got - sum).abs() <= tolerance,
                    "{isa:?} {sizes:?} f={f} k={k}: {got} for {sum} +- {tolerance}"
                );
            }
        }
    }
}

fn check_fill_normal(address: Address, group: usize, length: usize) {
    let results = in_every_set(|isa| {
        // One more than asked for: it must not be written.
        let mut out = vec![f64::MAX; length + 1];
        fill_normal(isa, &address, 32 * group, &mut out[..length]);
        assert!(out.pop() == Some(f64::MAX));
        out
    });
    for i in 0..length {
        let (word, block) = (i % 32 / 8, i % 8);
        let words = address.block(((group + i / 32) * 8 + block) as u64);
        let pair = 2 * (word / 2);
        let radius = (-2.0 * ((f64::from(words[pair]) + 1.0) / 2f64.powi(32)).ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * f64::from(words[pair + 1]) / 2f64.powi(32);
        let expected = radius * if word % 2 == 0 { angle.cos() } else { angle.sin() };
        for (isa, out) in &results {
            let got = out[i];
            assert!(
                (got - expected).abs() <= 2e-13 * radius + 1e-15,
                "{isa:?} group {group}, {i} of {length}: {got} for {expected}"
            );
        }
    }
}

#[test]
fn log_densities_of_every_size() {
    every_size().zip(0..).for_each(|(sizes, seed)| check_log_densities(sizes, 2.0, seed));
}

#[test]
fn whitened_of_every_size() {
    sizes(1..=TILE).for_each(|items| check_whitened(items, 3, 2.0, items as u64));
    sizes(1..=20).for_each(|dims| check_whitened(9, dims, 2.0, dims as u64));
}

#[test]
fn scatter_of_every_size() {
    sizes(0..=TILE).for_each(|items| check_scatter(items, 3, 2.0, items as u64));
    sizes(1..=20).for_each(|dims| check_scatter(9, dims, 2.0, dims as u64));
}

#[test]
fn softmax_of_every_size() {
    sizes(1..=TILE).for_each(|items| check_softmax(items, 3, 5.0, items as u64));
    sizes(1..=MOST).for_each(|components| check_softmax(6, components, 5.0, components as u64));
}

#[test]
fn accumulate_of_every_size() {
    let nothing = Sizes { items: 0, components: 9, dims: 3, second: Second::Triangle };
    check_accumulate(nothing, 1.0, 1.0, 0);
    every_size().zip(0..).for_each(|(sizes, seed)| check_accumulate(sizes, 2.0, 0.1, seed));
}

#[test]
fn a_tile_is_judged_by_its_first_items() {
    let padded = pad_to_lanes(9);
    let mut resp = vec![0.0; TILE * padded];
    assert!(is_sparse(TILE, 9, &resp));
    // 8 of 72 are fewer than an eighth, 9 are not.
    (0..8).for_each(|i| resp[i * padded + i] = 0.5);
    assert!(is_sparse(TILE, 9, &resp));
    resp[7 * padded + 8] = 0.5;
    assert!(!is_sparse(TILE, 9, &resp));
    assert!(!is_sparse(0, 9, &resp), "nothing to do is done the simple way");
}

#[test]
fn fill_normal_of_every_length() {
    let address = Address::new(7, Purpose::Data, 0, 3);
    sizes(0..=MOST).for_each(|length| check_fill_normal(address, 2, length));
    // Across the block index 2^32, where the index spills into the counter's next word.
    let last = (1 << 32) / 8 - 1;
    sizes(0..=MOST).for_each(|length| check_fill_normal(address, last, length));
    check_fill_normal(address, 0, if cfg!(miri) { 200 } else { 200_000 });
}

// Miri has the sizes above; these take it hours.
#[cfg(not(miri))]
proptest! {
    #![proptest_config(config())]

    #[test]
    fn log_densities_agrees(sizes in any_size(), scale in 1e-3..1e3, seed: u64) {
        check_log_densities(sizes, scale, seed);
    }

    #[test]
    fn softmax_agrees(items in 1..=TILE, components in 1..=MOST, scale in 0.01..2e3, seed: u64) {
        check_softmax(items, components, scale, seed);
    }

    #[test]
    fn accumulate_agrees(
        sizes in any_size(), scale in 1e-3..1e3, share in 0.0..1.0, seed: u64,
    ) {
        check_accumulate(sizes, scale, share, seed);
    }

    #[test]
    fn fill_normal_agrees(
        seed: u64, restart: u32, step in 0..1u64 << 48, group in 0..1usize << 37,
        length in 0..=200usize,
    ) {
        check_fill_normal(Address::new(seed, Purpose::Data, restart, step), group, length);
    }

    /// Whatever finite logits come in, no NaN goes out.
    #[test]
    fn softmax_takes_any_finite_logits(
        items in prop::collection::vec(prop::collection::vec(
            prop_oneof![
                Just(0.0), Just(-0.0), Just(1e308), Just(-1e308), Just(f64::MAX), Just(f64::MIN),
                Just(f64::MIN_POSITIVE), -1e3..1e3,
                any::<f64>().prop_filter("finite", |x| x.is_finite()),
            ], 5), 1..=9),
    ) {
        let weights = vec![1.0; items.len()];
        for isa in Isa::available() {
            let out = run_softmax(isa, &items, &weights);
            let (resp, log_sums) = out.split_at(5 * items.len());
            for row in resp.chunks(5) {
                prop_assert!(row.iter().all(|&r| (0.0..=1.0).contains(&r)), "{:?} {:?}", isa, row);
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 20.0 * EPS);
            }
            prop_assert!(log_sums.iter().all(|s| s.is_finite()));
        }
    }
}

#[test]
fn equal_logits_share_equally() {
    for isa in Isa::available() {
        for components in sizes(1..=MOST) {
            for logit in [0.0, -1e308, f64::MAX, 1e-300] {
                let out = run_softmax(isa, &[vec![logit; components]], &[1.0]);
                let share = 1.0 / components as f64;
                assert!(out[..components].iter().all(|&r| r == share), "{isa:?} {out:?}");
            }
        }
    }
}

/// `exp` is reached through `softmax`: next to a logit of 0 and below -37.5 the sum is exactly 1 and
/// the responsibility is the exponential itself. The nearer ones are divided by their neighbour,
/// which costs up to 1.5 units more. Below 1e-20, that is -46.05, it is 0.
#[test]
#[cfg_attr(miri, ignore = "256,000 exponentials")]
fn exponentials_are_good_to_two_units_in_the_last_place() {
    for isa in Isa::available() {
        let (mut worst_far, mut worst_near) = (0, 0);
        for block in 0..4000 {
            // 64 items of two components; together they cover [-46, 0] evenly.
            let xs: Vec<f64> = (0..TILE)
                .map(|n| -46.0 * (block * TILE + n) as f64 / (4000 * TILE) as f64)
                .collect();
            let items: Vec<_> = xs.iter().map(|&x| vec![0.0, x]).collect();
            let out = run_softmax(isa, &items, &[1.0; TILE]);
            for (n, &x) in xs.iter().enumerate() {
                let e = out[2 * n + 1] / out[2 * n];
                let off = e.to_bits().abs_diff(x.exp().to_bits());
                let worst = if x < -37.5 { &mut worst_far } else { &mut worst_near };
                *worst = off.max(*worst);
            }
        }
        assert!(worst_far <= 2 && worst_near <= 4, "{isa:?}: {worst_far} and {worst_near}");
        let far = run_softmax(isa, &[vec![0.0, -46.1, -1e300]], &[1.0]);
        assert_eq!(far[..3], [1.0, 0.0, 0.0], "{isa:?}: negligible is exactly 0");
    }
}

/// Products of sizes that wrap around to something small are refused. Release builds have no other check.
#[test]
fn sizes_that_cannot_be_are_refused() {
    const WRAPS: usize = 1 << (usize::BITS - 6);
    let refused =
        |work: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
    let (tile, resp) = (vec![0.0; 4 * TILE], vec![0.0; 8 * TILE]);
    for isa in Isa::available() {
        for (components, dims) in [(1, WRAPS), (WRAPS, 1), (usize::MAX, 1), (1, usize::MAX)] {
            for second in [Second::Squares, Second::Triangle] {
                assert!(refused(&|| {
                    let mut sums = vec![0.0; 64];
                    accumulate(isa, 1, components, dims, second, &tile, &resp, &mut sums);
                }));
                assert!(refused(&|| {
                    let (mut room, mut sums) = (vec![0.0; 64], vec![0.0; 64]);
                    accumulate_sparse(
                        isa, 1, components, dims, second, &tile, &resp, &mut room, &mut sums,
                    );
                }));
            }
        }
        assert!(refused(&|| {
            let (mut logits, mut resp) = (resp.clone(), resp.clone());
            softmax(isa, 1, WRAPS, &mut logits, &[1.0], &mut resp, &mut [0.0; TILE]);
        }));
    }
}
