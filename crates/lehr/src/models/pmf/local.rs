//! The sums over a row's ratings, and what they mean for its natural parameters.

use super::columns::Columns;
use super::expect::{Centring, Expect, Real, Sides, SlabSum};
use super::hyper::Hyper;
use super::implicit::{Uses, add_all};
use super::{Pmf, error, side_of_phase};
use crate::data::Ratings;
use crate::math::kernels::Factors;
use crate::math::slabs::Slabs;
use crate::math::stop;
use crate::model::{Ask, RowShard};

/// The buffers of one worker.
#[derive(Debug, Default)]
pub struct Scratch {
    others: Vec<u32>,
    /// Where the others stand in expectations of some rows.
    places: Vec<u32>,
    values: Vec<f32>,
    /// Weights of ratings, times noise.
    weights: Vec<f32>,
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
    let Scratch { others, places, values, weights, single, double } = scratch;
    let noise = shard.weights.unwrap_or_default();
    let weights = match grouped.weights() {
        [] => noise,
        all => {
            weights.clear();
            match shard.items {
                None => weights.extend_from_slice(&all[begin..end]),
                Some(items) => weights.extend(items.iter().map(|&n| all[n as usize])),
            }
            // None, if all noise is 1.
            weights.iter_mut().zip(noise).for_each(|(weight, noise)| *weight *= noise);
            &weights[..]
        }
    };
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
    let others = match expect.is_whole() {
        true => others,
        false => {
            let side = side_of_phase(shard.phase).other();
            places.clear();
            places.extend(others.iter().map(|&n| expect.place(pmf, side, n) as u32));
            &places[..]
        }
    };
    let weighted = !grouped.weights().is_empty();
    let work = Work { pmf, expect, shard: &shard, others, values, given: weights, weighted, ask };
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
    /// Weights of the ratings, times noise; empty if all are 1.
    given: &'a [f32],
    /// Whether the ratings have weights of their own.
    weighted: bool,
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
        let Work { pmf, expect, shard, others, values, given: noise, weighted, ask } = *self;
        let columns = pmf.columns;
        let width = columns.raw_width();
        let side = side_of_phase(shard.phase);
        let Buffers { weights, coefficients, own } = buffers;
        let (isa, table) = (pmf.isa, &tables[side.other() as usize]);
        let starts = shard.starts;
        let n_others = pmf.n_rows_of(side.other());
        let uses = pmf.confidence().map(|confidence| {
            let grouped = shard.data.side(side).starts();
            let first_row = pmf.first_row(side) as u32;
            let share = |(i, &row): (usize, &u32)| {
                if shard.items.is_none() || shard.range(i).is_empty() {
                    return 1.0;
                }
                let row = (row - first_row) as usize;
                let size = grouped[row + 1] - grouped[row];
                (shard.range(i).len() as f64 / size as f64).min(1.0)
            };
            let shares = shard.rows.iter().enumerate().map(share).collect();
            Uses { confidence, starts, values, noise, n_others, shares }
        });
        let weights = match &uses {
            Some(uses) => {
                uses.weigh(weights, coefficients, &mut stats[columns.totals()..], width);
                &weights[..]
            }
            None => {
                coefficients.resize(values.len(), R::of(0.0));
                let ratings =
                    Centring { starts, values, weights: noise, mean: pmf.mean, stride: width };
                R::centre(isa, ratings, coefficients, &mut stats[columns.totals()..]);
                R::weights(noise, weights)
            }
        };
        for (slab, &w) in table.widths().iter().enumerate() {
            stop::check();
            let first = table.columns(slab).start;
            let split = columns.split(first, w);
            let rated = if split < w { columns.by_rating(first + split) - first } else { w };
            let factors = Factors { weights, split, coefficients, rated };
            let values = table.slab(slab);
            let sum = SlabSum { width: w, slab: values, starts, others, factors, stride: width };
            R::sum(isa, sum, &mut stats[first..]);
        }

        if let Some(uses) = &uses {
            let all = &expect.all[side.other() as usize];
            let rows = stats.chunks_exact_mut(width).zip(&uses.shares);
            rows.for_each(|(raw, &share)| add_all(columns, all, share, raw));
        }
        if ask.bound {
            let first_row = pmf.first_row(side);
            own.resize(columns.tail(), R::of(0.0));
            let ln_scale = -0.5 * (2.0 * std::f64::consts::PI * expect.noise).ln();
            for (i, (raw, bound)) in stats.chunks_exact(width).zip(bounds).enumerate() {
                let number = shard.rows[i] - first_row as u32;
                tables[side as usize].gather(expect.place(pmf, side, number), own);
                let squares = error::squares(columns, own, raw);
                let ln_scales = match &uses {
                    None if weighted => {
                        let own = starts[i] - starts[0]..starts[i + 1] - starts[0];
                        let ln = |&weight: &f32| f64::from(weight).ln();
                        let ln_weights: f64 = noise[own].iter().map(ln).sum();
                        shard.range(i).len() as f64 * ln_scale + 0.5 * ln_weights
                    }
                    None => shard.range(i).len() as f64 * ln_scale,
                    Some(uses) => n_others as f64 * ln_scale + 0.5 * uses.ln_weights(i),
                };
                *bound = ln_scales - squares / (2.0 * expect.noise);
            }
        }
    }
}

/// The natural-parameter increment that a row's sums stand for.
pub(super) fn to_natural(pmf: &Pmf, hyper: &[f64], raw: &[f64], increment: &mut [f64]) {
    let columns = pmf.columns;
    let Columns { d, biases, .. } = columns;
    let by_noise = 1.0 / Hyper::new(hyper, columns).noise();
    let (precision, h) = increment.split_at_mut(columns.linear());
    let (of_factors, of_bias) = precision.split_at_mut(columns.packed());
    of_factors.iter_mut().zip(raw).for_each(|(p, s)| *p = by_noise * s);
    let by_rating = &raw[columns.by_rating(columns.mean().start)..];
    h[..d].iter_mut().zip(by_rating).for_each(|(h, s)| *h = by_noise * s);
    if biases {
        let [count, sum, _] = *raw[columns.totals()..].first_chunk().expect("three numbers");
        of_bias.iter_mut().zip(&raw[columns.mean()]).for_each(|(p, s)| *p = by_noise * s);
        of_bias[d] = by_noise * count;
        h[..d].iter_mut().zip(&raw[columns.cross()]).for_each(|(h, s)| *h -= by_noise * s);
        h[d] = by_noise * (sum - raw[columns.bias()]);
    }
}
