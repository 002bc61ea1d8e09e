//! The sums over a row's ratings, and what they mean for its natural parameters.

use super::columns::Columns;
use super::expect::{Expect, Real, Sides};
use super::hyper::Hyper;
use super::{Pmf, error, side_of_phase};
use crate::data::Ratings;
use crate::math::slabs::Slabs;
use crate::model::{Ask, RowShard};

/// The buffers of one worker.
#[derive(Debug, Default)]
pub struct Scratch {
    others: Vec<u32>,
    values: Vec<f32>,
    single: Buffers<f32>,
    double: Buffers<f64>,
}

#[derive(Debug, Default)]
struct Buffers<R> {
    weights: Vec<R>,
    /// Weight times rating.
    coefficients: Vec<R>,
    /// A row of moments.
    own: Vec<R>,
}

/// Sums for every row of the shard; its part of the bound, too, if all weights are 1.
pub(super) fn row_step(
    pmf: &Pmf,
    expect: &Expect,
    shard: RowShard<'_, Ratings>,
    ask: Ask,
    scratch: &mut Scratch,
    stats: &mut [f64],
    bounds: &mut [f64],
) {
    let grouped = shard.data.side(side_of_phase(shard.phase));
    let (begin, end) = (shard.starts[0], shard.starts[shard.rows.len()]);
    let Scratch { others, values, single, double } = scratch;
    let (others, values) = match shard.items {
        None => (&grouped.others()[begin..end], &grouped.values()[begin..end]),
        Some(items) => {
            others.clear();
            values.clear();
            others.extend(items.iter().map(|&n| grouped.others()[n as usize]));
            values.extend(items.iter().map(|&n| grouped.values()[n as usize]));
            (&others[..], &values[..])
        }
    };
    let work = Work { pmf, expect, shard: &shard, others, values, ask };
    match &expect.sides {
        Sides::Single(tables) => work.run(tables, single, stats, bounds),
        Sides::Double(tables) => work.run(tables, double, stats, bounds),
    }
}

struct Work<'a> {
    pmf: &'a Pmf,
    expect: &'a Expect,
    shard: &'a RowShard<'a, Ratings>,
    others: &'a [u32],
    values: &'a [f32],
    ask: Ask,
}

impl Work<'_> {
    fn run<R: Real>(
        &self,
        tables: &[Slabs<R>; 2],
        buffers: &mut Buffers<R>,
        stats: &mut [f64],
        bounds: &mut [f64],
    ) {
        let Work { pmf, expect, shard, others, values, ask } = *self;
        let columns = pmf.columns;
        let width = columns.raw_width();
        let side = side_of_phase(shard.phase);
        let Buffers { weights, coefficients, own } = buffers;
        self.tails(columns, stats);

        let centred = |y: f32| R::of(f64::from(y) - pmf.mean);
        coefficients.clear();
        match shard.weights {
            None => coefficients.extend(values.iter().map(|&y| centred(y))),
            Some(given) => {
                weights.clear();
                weights.extend(given.iter().map(|&w| R::of(f64::from(w))));
                let weighted =
                    |(&y, &w): (&f32, &f32)| R::of(f64::from(w) * (f64::from(y) - pmf.mean));
                coefficients.extend(values.iter().zip(given).map(weighted));
            }
        }
        let (isa, table) = (pmf.isa, &tables[side.other() as usize]);
        let starts = shard.starts;
        for (slab, &w) in table.widths().iter().enumerate() {
            let (values, out) = (table.slab(slab), &mut stats[table.columns(slab).start..]);
            let factors = match shard.weights {
                _ if slab >= columns.moment_slabs => Some(&*coefficients),
                Some(_) => Some(&*weights),
                None => None,
            };
            match factors {
                None => R::sum(isa, w, values, starts, others, out, width),
                Some(x) => R::weighted_sum(isa, w, values, starts, others, x, out, width),
            }
        }

        if ask.bound {
            let first_row = pmf.first_row(side);
            own.resize(columns.tail(), R::of(0.0));
            let ln_scale = -0.5 * (2.0 * std::f64::consts::PI * expect.noise).ln();
            for (i, (raw, bound)) in stats.chunks_exact(width).zip(bounds).enumerate() {
                tables[side as usize].gather(shard.rows[i] as usize - first_row, own);
                let squares = error::squares(columns, own, raw);
                *bound = shard.range(i).len() as f64 * ln_scale - squares / (2.0 * expect.noise);
            }
        }
    }

    /// The sums of weights, ratings and their squares.
    fn tails(&self, columns: Columns, stats: &mut [f64]) {
        let mean = self.pmf.mean;
        for (i, raw) in stats.chunks_exact_mut(columns.raw_width()).enumerate() {
            let range = self.shard.range(i);
            let values = &self.values[range.clone()];
            let tail = match self.shard.weights {
                None => {
                    let [_, sum, square] = tail(values, |_| 1.0, mean);
                    [range.len() as f64, sum, square]
                }
                Some(weights) => {
                    let weights = &weights[range];
                    tail(values, |n| f64::from(weights[n]), mean)
                }
            };
            raw[columns.tail()..].copy_from_slice(&tail);
        }
    }
}

/// The sums of w, w y and w y^2, y being a rating without the mean. Eight of each, then their sums:
/// additions need not wait for each other.
#[inline]
fn tail(values: &[f32], weight: impl Fn(usize) -> f64, mean: f64) -> [f64; 3] {
    const N: usize = 8;
    let mut sums = [[0.0; N]; 3];
    let mut add = |lane: usize, n: usize, value: f32| {
        let (w, y) = (weight(n), f64::from(value) - mean);
        sums[0][lane] += w;
        sums[1][lane] += w * y;
        sums[2][lane] += w * y * y;
    };
    let eights = values.chunks_exact(N);
    let rest = values.len() - eights.remainder().len();
    for (lane, &value) in eights.remainder().iter().enumerate() {
        add(lane, rest + lane, value);
    }
    for (chunk, eight) in eights.enumerate() {
        for (lane, &value) in eight.iter().enumerate() {
            add(lane, chunk * N + lane, value);
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// The natural-parameter increment that a row's sums stand for.
pub(super) fn to_natural(pmf: &Pmf, hyper: &[f64], raw: &[f64], increment: &mut [f64]) {
    let columns = pmf.columns;
    let Columns { d, biases, .. } = columns;
    let by_noise = 1.0 / Hyper::new(hyper, columns).noise();
    let (precision, h) = increment.split_at_mut(columns.linear());
    // With biases the next columns of the statistics are the next row of the precision matrix.
    let known = columns.packed() + if biases { d } else { 0 };
    precision[..known].iter_mut().zip(raw).for_each(|(p, s)| *p = by_noise * s);
    let by_rating = &raw[columns.mean()];
    h[..d].iter_mut().zip(by_rating).for_each(|(h, s)| *h = by_noise * s);
    if biases {
        let [count, sum, _] = *raw[columns.tail()..].first_chunk().expect("three numbers");
        precision[known] = by_noise * count;
        h[..d].iter_mut().zip(&raw[columns.cross()]).for_each(|(h, s)| *h -= by_noise * s);
        h[d] = by_noise * (sum - raw[columns.bias()]);
    }
}
