//! Sums over ratings and single normals against plain scalar twins, in every instruction set this
//! machine has.
//!
//! Bounds follow from the number of roundings; sizes are gone through one by one.

use lehr_kernels::rng::{Address, Purpose};
use lehr_kernels::{
    Factors, Isa, MIXED, NORMAL_BLOCK_F32, SLAB_WIDTHS, WIDEST_MIXED, centre_f32, centre_f64,
    fill_normal, fill_normal_f32, sum_slab_f32, sum_slab_f64,
};

mod common;

use common::*;

const EPS: f64 = f64::EPSILON;
const EPS_F32: f64 = f32::EPSILON as f64;

/// Ratings of some blocks over a slab of rows.
struct Ratings {
    /// Columns of the slab.
    width: usize,
    slab: Vec<f64>,
    starts: Vec<usize>,
    others: Vec<u32>,
    weights: Vec<f64>,
    coefficients: Vec<f64>,
}

/// Blocks of the given lengths. All numbers are exact in f32.
fn ratings(width: usize, n_rows: usize, lengths: &[usize], first: usize, seed: u64) -> Ratings {
    let mut rng = rng(seed);
    let single = |x: f64| f64::from(x as f32);
    let slab = (0..n_rows * width).map(|_| single(1.0 + rng.normal())).collect();
    let mut starts = vec![first];
    starts.extend(lengths.iter().scan(first, |at, length| {
        *at += length;
        Some(*at)
    }));
    let n: usize = lengths.iter().sum();
    let others = (0..n).map(|_| rng.below(n_rows as u64) as u32).collect();
    let mut singles = || (0..n).map(|_| single(rng.normal())).collect();
    let (weights, coefficients) = (singles(), singles());
    Ratings { width, slab, starts, others, weights, coefficients }
}

fn narrow(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

/// Which of the sums.
#[derive(Debug, Clone, Copy)]
struct Kind {
    weighted: bool,
    single: bool,
    split: Split,
    /// Whether columns with coefficients are summed times the weights as well.
    both: bool,
}

/// Which columns are multiplied by coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Split {
    None,
    Mixed,
    All,
}

impl Kind {
    /// The split of a slab of this width, if there is one.
    fn split(self, width: usize) -> Option<usize> {
        match self.split {
            Split::Mixed => (width > MIXED).then_some(width - MIXED),
            _ if !SLAB_WIDTHS.contains(&width) => None,
            Split::None => Some(width),
            Split::All => Some(0),
        }
    }

    /// How many sums a block has in a slab of this width.
    fn n_sums(self, width: usize) -> usize {
        let split = self.split(width).unwrap_or(width);
        width + if self.both { width - split } else { 0 }
    }

    /// Where the sums times the coefficients begin.
    fn rated(self, width: usize, split: usize) -> usize {
        if self.both { width } else { split }
    }
}

fn kinds() -> Vec<Kind> {
    let both = [false, true];
    let kinds = both.into_iter().flat_map(|weighted| both.map(|single| (weighted, single)));
    let with_split = |(weighted, single)| {
        [(Split::None, false), (Split::Mixed, false), (Split::All, false)]
            .into_iter()
            .chain([(Split::Mixed, true), (Split::All, true)])
            .map(move |(split, both)| Kind { weighted, single, split, both })
    };
    kinds.flat_map(with_split).collect()
}

fn sum(isa: Isa, kind: Kind, r: &Ratings, out: &mut [f64], stride: usize) {
    let split = kind.split(r.width).unwrap_or(r.width);
    let rated = kind.rated(r.width, split);
    let weights = if kind.weighted { &r.weights[..] } else { &[] };
    if kind.single {
        let (slab, weights, coefficients) =
            (narrow(&r.slab), narrow(weights), narrow(&r.coefficients));
        let factors = Factors { weights: &weights, split, coefficients: &coefficients, rated };
        sum_slab_f32(isa, r.width, &slab, &r.starts, &r.others, factors, out, stride);
    } else {
        let factors = Factors { weights, split, coefficients: &r.coefficients, rated };
        sum_slab_f64(isa, r.width, &r.slab, &r.starts, &r.others, factors, out, stride);
    }
}

fn check_sums(r: &Ratings, stride: usize, seed: u64) {
    let n_blocks = r.starts.len() - 1;
    for kind in kinds() {
        let Some(split) = kind.split(r.width) else { continue };
        let n_sums = kind.n_sums(r.width);
        let stride = stride + n_sums - r.width;
        let before = normals(&mut rng(seed), n_blocks * stride + n_sums);
        let results = in_every_set(|isa| {
            let mut out = before.clone();
            sum(isa, kind, r, &mut out, stride);
            out
        });
        let mut expected = before.clone();
        let mut sizes: Vec<f64> = before.iter().map(|x| x.abs()).collect();
        let mut longest = 0;
        for b in 0..n_blocks {
            longest = longest.max(r.starts[b + 1] - r.starts[b]);
            // What was there is gone, but only in the block's columns.
            expected[b * stride..b * stride + n_sums].fill(0.0);
            sizes[b * stride..b * stride + n_sums].fill(0.0);
            for n in r.starts[b] - r.starts[0]..r.starts[b + 1] - r.starts[0] {
                let weight = if kind.weighted { r.weights[n] } else { 1.0 };
                for c in 0..r.width {
                    let mut add = |at: usize, factor: f64| {
                        let term = factor * r.slab[r.others[n] as usize * r.width + c];
                        expected[b * stride + at] += term;
                        sizes[b * stride + at] += term.abs();
                    };
                    if c < split || kind.both {
                        add(c, weight);
                    }
                    if c >= split {
                        add(kind.rated(r.width, split) + c - split, r.coefficients[n]);
                    }
                }
            }
        }
        // However long the block: at most 65 additions of at most 64 ratings in f32, the rest in
        // f64.
        let mut error = EPS * (longest + 2) as f64;
        if kind.single {
            error += EPS_F32 / 2.0 * (longest.min(65) + 1) as f64;
        }
        for (isa, out) in &results {
            for (i, x) in out.iter().enumerate() {
                let off = (x - expected[i]).abs();
                assert!(off <= error * sizes[i], "{isa:?} {kind:?} {i}: {x} for {}", expected[i]);
            }
        }
    }
}

#[test]
fn sums_over_ratings_agree_with_plain_loops() {
    let (most, widest) = if cfg!(miri) { (11, 5 * 16) } else { (67, WIDEST_MIXED) };
    for w in sizes(1..=widest / 16).map(|lines| 16 * lines) {
        for length in sizes(0..=most) {
            check_sums(&ratings(w, 9, &[length], 5, length as u64), w, 1);
            check_sums(&ratings(w, 40, &[length, 0, 3, most - length], 0, length as u64), w + 7, 2);
        }
        check_sums(&ratings(w, 1, &[0, 0, 0], 3, 0), w, 3);
        if !cfg!(miri) {
            check_sums(&ratings(w, 300, &[128, 129, 1000, 64, 1, 63, 65], 0, 4), 3 * w, 4);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "200,000 ratings")]
fn long_sums_keep_the_digits_of_short_ones() {
    // 200,000 times 0.1: in f32 alone the sum would be off in the third digit.
    let others = vec![0; 200_000];
    for (isa, w) in Isa::available().into_iter().flat_map(|isa| SLAB_WIDTHS.map(|w| (isa, w))) {
        let (slab, mut out) = (vec![0.1f32; w], vec![0.0; w]);
        let plain = Factors { weights: &[], split: w, coefficients: &[], rated: w };
        sum_slab_f32(isa, w, &slab, &[0, others.len()], &others, plain, &mut out, w);
        let expected = 200_000.0 * f64::from(0.1f32);
        assert!(out.iter().all(|x| (x / expected - 1.0).abs() < 1e-6), "{isa:?} {}", out[0]);
    }
}

#[test]
fn a_block_is_summed_alike_wherever_it_stands() {
    const SLAB: usize = 32;
    let r = ratings(SLAB, 50, if cfg!(miri) { &[7, 3, 9] } else { &[70, 33, 140] }, 0, 8);
    for isa in Isa::available() {
        for kind in kinds() {
            let n_sums = kind.n_sums(SLAB);
            let mut together = vec![0.0; 3 * n_sums];
            sum(isa, kind, &r, &mut together, n_sums);
            for b in 0..3 {
                let range = r.starts[b]..r.starts[b + 1];
                let alone = Ratings {
                    width: SLAB,
                    slab: r.slab.clone(),
                    starts: r.starts[b..b + 2].to_vec(),
                    others: r.others[range.clone()].to_vec(),
                    weights: r.weights[range.clone()].to_vec(),
                    coefficients: r.coefficients[range].to_vec(),
                };
                let mut out = vec![0.0; n_sums];
                sum(isa, kind, &alone, &mut out, n_sums);
                let same = bits(&out) == bits(&together[b * n_sums..][..n_sums]);
                assert!(same, "{isa:?} {kind:?}");
            }
        }
    }
}

#[test]
fn sums_refuse_what_does_not_fit() {
    let panics = |r: &Ratings, length: usize, stride: usize| {
        Isa::available().into_iter().all(|isa| {
            kinds().into_iter().all(|kind| {
                std::panic::catch_unwind(|| sum(isa, kind, r, &mut vec![0.0; length], stride))
                    .is_err()
            })
        })
    };
    const SLAB: usize = 32;
    let good = || ratings(SLAB, 9, &[5, 6], 2, 0);
    assert!(!panics(&good(), 2 * SLAB, SLAB));
    assert!(panics(&good(), 2 * SLAB - 1, SLAB));
    assert!(panics(&good(), 2 * SLAB, SLAB + 1));
    assert!(panics(&good(), 2 * SLAB, usize::MAX));
    let mut bad = good();
    bad.others[10] = 9;
    assert!(panics(&bad, 2 * SLAB, SLAB));
    bad.others[10] = u32::MAX;
    assert!(panics(&bad, 2 * SLAB, SLAB));
    let mut bad = good();
    bad.starts[1] = 14;
    assert!(panics(&bad, 2 * SLAB, SLAB));
    let mut bad = good();
    bad.others.pop();
    assert!(panics(&bad, 2 * SLAB, SLAB));
    let mut bad = good();
    bad.width = 24;
    assert!(panics(&bad, 2 * SLAB, SLAB));
    let mut short_of_weights = good();
    short_of_weights.weights.pop();
    let mut short_of_coefficients = good();
    short_of_coefficients.coefficients.pop();
    let isa = Isa::detect();
    let panics = |bad: &Ratings, kind| {
        std::panic::catch_unwind(|| sum(isa, kind, bad, &mut [0.0; 3 * SLAB], SLAB)).is_err()
    };
    for kind in kinds() {
        assert_eq!(
            panics(&short_of_weights, kind),
            kind.weighted && (kind.split != Split::All || kind.both),
            "{kind:?}"
        );
        assert_eq!(panics(&short_of_coefficients, kind), kind.split != Split::None, "{kind:?}");
    }
    // Splits that no table has.
    let r = good();
    for split in [8, 24, 33] {
        let (weights, coefficients) = (&r.weights[..], &r.coefficients[..]);
        let factors = Factors { weights, split, coefficients, rated: split };
        let panics = std::panic::catch_unwind(|| {
            let mut out = [0.0; 2 * SLAB];
            sum_slab_f64(isa, SLAB, &r.slab, &r.starts, &r.others, factors, &mut out, SLAB);
        });
        assert!(panics.is_err(), "{split}");
    }
}

fn normals_f32(isa: Isa, address: &Address, first: usize, n: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; n];
    fill_normal_f32(isa, address, first, &mut out);
    out
}

#[test]
#[cfg_attr(miri, ignore = "four million normals")]
fn single_normals_have_the_moments_and_tails_of_the_normal_distribution() {
    let n = 1 << 22;
    let address = Address::new(11, Purpose::Noise, 1, 77);
    for isa in Isa::available() {
        let mut xs = normals_f32(isa, &address, 0, n);
        assert!(xs.iter().all(|x| x.abs() < 6.7), "finite, and no longer than the words allow");
        let moment = |k: i32| xs.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / n as f64;
        // Five standard errors each: the variances of x^k are 1, 2, 15, 96.
        for (k, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
        {
            let error = 5.0 * (variance / n as f64).sqrt();
            assert!((moment(k) - expected).abs() < error, "{isa:?} {k}: {}", moment(k));
        }
        // Neighbours, and the two numbers of a pair, are uncorrelated; so are their squares.
        for lag in [1, 8, 16, 32, 64] {
            for squares in [false, true] {
                let f = |x: f32| {
                    let x = f64::from(x);
                    if squares { (x * x - 1.0) / 2f64.sqrt() } else { x }
                };
                let sum: f64 = xs.iter().zip(&xs[lag..]).map(|(&x, &y)| f(x) * f(y)).sum();
                let correlation = sum / n as f64;
                assert!(correlation.abs() < 5.0 / (n as f64).sqrt(), "{isa:?} {lag} {correlation}");
            }
        }
        // P(|x| > 3, 4, 5) = 2.6998e-3, 6.3342e-5, 5.7330e-7.
        for (edge, p) in [(3.0, 2.699_796e-3), (4.0, 6.334_248e-5), (5.0, 5.733_031e-7)] {
            let count = xs.iter().filter(|x| x.abs() > edge).count() as f64;
            let expected = p * n as f64;
            assert!(
                (count - expected).abs() < 5.0 * expected.sqrt() + 3.0,
                "{isa:?} {edge} {count}"
            );
        }
        // Kolmogorov: sqrt(n) times the distance is above 1.95 once in a thousand.
        xs.sort_by(f32::total_cmp);
        let distance = xs
            .iter()
            .enumerate()
            .step_by(64)
            .map(|(i, &x)| ((i as f64 + 0.5) / n as f64 - cumulative(f64::from(x))).abs())
            .fold(0.0, f64::max);
        assert!(distance * (n as f64).sqrt() < 1.95, "{isa:?} {distance}");
    }
}

/// The normal distribution function, by its series (Marsaglia 2004).
fn cumulative(x: f64) -> f64 {
    let (mut sum, mut term, mut i) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        i += 2.0;
        term *= x * x / i;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn a_single_normal_depends_on_address_and_index_alone() {
    let address = Address::new(1, Purpose::Noise, 2, 9 + (1 << 40));
    let all = normals_f32(Isa::detect(), &address, 0, 1000);
    for isa in Isa::available() {
        for first in [0, NORMAL_BLOCK_F32, 5 * NORMAL_BLOCK_F32] {
            for n in sizes(0..=67).chain(longer([128, 200, 500])) {
                let part = normals_f32(isa, &address, first, n);
                let same = |x: &f32, y: &f32| {
                    if isa.fuses() { x.to_bits() == y.to_bits() } else { (x - y).abs() < 2e-6 }
                };
                assert!(part.iter().zip(&all[first..]).all(|(x, y)| same(x, y)), "{isa:?} {n}");
            }
        }
        let step = normals_f32(isa, &Address::new(1, Purpose::Noise, 2, 10 + (1 << 40)), 0, 100);
        assert!(step.iter().zip(&all).all(|(x, y)| x != y));
        let mut doubles = vec![0.0; 1000];
        fill_normal(isa, &address, 0, &mut doubles);
        let singles: Vec<f64> = all.iter().map(|&x| f64::from(x)).collect();
        assert!(doubles.iter().all(|x| singles.iter().all(|y| (x - y).abs() > 1e-9)));
    }
}

/// Ratings without their mean, and their sums, for every length of a block up to four eights and with
/// weights or without.
#[test]
fn centred_ratings_and_their_sums() {
    let mut rng = rng(91);
    let lengths: Vec<usize> = (0..34).collect();
    let starts: Vec<usize> = std::iter::once(5)
        .chain(lengths.iter().scan(5, |at, n| {
            *at += n;
            Some(*at)
        }))
        .collect();
    let n: usize = lengths.iter().sum();
    let values: Vec<f32> = (0..n).map(|_| (1 + rng.below(5)) as f32).collect();
    let weights: Vec<f32> = (0..n).map(|_| rng.normal() as f32).collect();
    let (mean, stride) = (3.58, 4);
    for weights in [&[][..], &weights[..]] {
        let results = in_every_set(|isa| {
            let (mut single, mut out) = (vec![f32::NAN; n], vec![f64::NAN; n]);
            let mut sums = vec![0.5; lengths.len() * stride];
            let mut others = sums.clone();
            centre_f32(isa, &starts, &values, weights, mean, &mut single, &mut others, stride);
            centre_f64(isa, &starts, &values, weights, mean, &mut out, &mut sums, stride);
            assert_eq!(bits(&sums), bits(&others));
            assert!(single.iter().zip(&out).all(|(single, &out)| *single == out as f32));
            out.extend(sums);
            out
        });
        assert!(results.iter().all(|(_, found)| bits(found) == bits(&results[0].1)));
        let (out, sums) = results[0].1.split_at(n);
        for (b, sums) in sums.chunks_exact(stride).enumerate() {
            let range = starts[b] - 5..starts[b + 1] - 5;
            let mut expected = [0.0; 3];
            for n in range {
                let w = weights.get(n).map_or(1.0, |&w| f64::from(w));
                let y = f64::from(values[n]) - mean;
                assert_eq!(out[n], w * y);
                expected[0] += w;
                expected[1] += w * y;
                expected[2] += w * y * y;
            }
            for (found, expected) in sums.iter().zip(expected) {
                // As many roundings as terms, none of which is larger than 30.
                let allowed = 30.0 * EPS * (b * b) as f64;
                assert!((found - expected).abs() <= allowed, "{found} {expected}");
            }
            assert_eq!(sums[3], 0.5, "what lies between the sums is left alone");
        }
    }
}
