//! What the other side's sums read: the moments of every user and every item under q, in slabs.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Pmf;
use super::columns::Columns;
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::kernels::{
    Isa, SLAB_WIDTHS, posterior, sum_slab_f32, sum_slab_f64, weighted_sum_slab_f32,
    weighted_sum_slab_f64,
};
use crate::math::slabs::Slabs;
use crate::model::{Model, RowSet};

/// Rows that one worker refreshes at a time.
const CHUNK: usize = 128;

/// Rows whose solutions are held at once.
const SOLVED: usize = 16;

/// The moments of every user and item, and sigma^2.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Expect {
    pub(super) sides: Sides,
    /// ln |precision| of every row.
    pub(super) ln_det: Vec<f64>,
    pub(super) noise: f64,
}

/// Users' and items' moments, in the precision of the sums.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Sides {
    Single([Slabs<f32>; 2]),
    Double([Slabs<f64>; 2]),
}

impl Default for Sides {
    fn default() -> Self {
        Sides::Single(Default::default())
    }
}

/// The precision of the tables: f32, or f64 in the exact mode.
pub(super) trait Real: bytemuck::Pod + Send + Sync + Into<f64> {
    fn of(x: f64) -> Self;

    /// `out = ` the plain sums of a slab.
    fn sum(
        isa: Isa,
        width: usize,
        slab: &[Self],
        starts: &[usize],
        others: &[u32],
        out: &mut [f64],
        stride: usize,
    );

    /// `out = ` the weighted sums of a slab.
    #[allow(clippy::too_many_arguments)]
    fn weighted_sum(
        isa: Isa,
        width: usize,
        slab: &[Self],
        starts: &[usize],
        others: &[u32],
        weights: &[Self],
        out: &mut [f64],
        stride: usize,
    );
}

macro_rules! real {
    ($type:ty, $sum:ident, $weighted:ident) => {
        impl Real for $type {
            fn of(x: f64) -> Self {
                x as $type
            }

            fn sum(
                isa: Isa,
                width: usize,
                slab: &[Self],
                starts: &[usize],
                others: &[u32],
                out: &mut [f64],
                stride: usize,
            ) {
                $sum(isa, width, slab, starts, others, out, stride);
            }

            fn weighted_sum(
                isa: Isa,
                width: usize,
                slab: &[Self],
                starts: &[usize],
                others: &[u32],
                weights: &[Self],
                out: &mut [f64],
                stride: usize,
            ) {
                $weighted(isa, width, slab, starts, others, weights, out, stride);
            }
        }
    };
}
real!(f32, sum_slab_f32, weighted_sum_slab_f32);
real!(f64, sum_slab_f64, weighted_sum_slab_f64);

/// Runs `$work` with `$tables` bound to the two sides' slabs, whatever their precision.
macro_rules! with_tables {
    ($sides:expr, $tables:ident => $work:expr) => {
        match $sides {
            $crate::models::pmf::expect::Sides::Single($tables) => $work,
            $crate::models::pmf::expect::Sides::Double($tables) => $work,
        }
    };
}
pub(super) use with_tables;

/// Recomputes the moments of some rows.
pub(super) fn refresh(pmf: &Pmf, lambda: &Lambda, rows: &RowSet, expect: &mut Expect) {
    expect.noise = pmf.noise_variance(lambda);
    let n_rows = pmf.layout().n_rows;
    if expect.ln_det.len() != n_rows {
        expect.ln_det = vec![0.0; n_rows];
        let widths = pmf.columns.slabs();
        let sizes = [Side::User, Side::Item].map(|side| pmf.n_rows_of(side));
        expect.sides = match pmf.params.exact {
            false => Sides::Single(sizes.map(|n_rows| Slabs::new(n_rows, &widths))),
            true => Sides::Double(sizes.map(|n_rows| Slabs::new(n_rows, &widths))),
        };
    }
    let Expect { sides, ln_det, .. } = expect;
    let (of_users, of_items) = ln_det.split_at_mut(pmf.n_rows_of(Side::User));
    // Slots rise with rows, so the users among them come first.
    let users = rows.slots_below(pmf.first_row(Side::Item));
    with_tables!(sides, tables => {
        let [user_slabs, item_slabs] = tables;
        refresh_side(pmf, Side::User, lambda, rows, 0..users, user_slabs, of_users);
        refresh_side(pmf, Side::Item, lambda, rows, users..rows.len(), item_slabs, of_items);
    });
}

fn refresh_side<R: Real>(
    pmf: &Pmf,
    side: Side,
    lambda: &Lambda,
    rows: &RowSet,
    slots: std::ops::Range<usize>,
    slabs: &mut Slabs<R>,
    ln_det: &mut [f64],
) {
    let first_row = pmf.first_row(side);
    let chunks: Vec<_> =
        slots.clone().step_by(CHUNK).map(|a| a..(a + CHUNK).min(slots.end)).collect();
    // Each chunk of slots has a stretch of every slab to itself.
    let stretches: Vec<_> = chunks
        .iter()
        .map(|c| rows.row(c.start) - first_row..rows.row(c.end - 1) + 1 - first_row)
        .collect();
    let mut left = ln_det;
    let mut done = 0;
    let mut dets = Vec::with_capacity(chunks.len());
    for stretch in &stretches {
        let (_, rest) = left.split_at_mut(stretch.start - done);
        let (part, rest) = rest.split_at_mut(stretch.len());
        dets.push(part);
        left = rest;
        done = stretch.end;
    }
    let widths = slabs.widths().to_vec();
    let tasks: Vec<_> =
        chunks.into_iter().zip(&stretches).zip(slabs.stretches_mut(&stretches)).zip(dets).collect();
    let (n, width, linear) = (pmf.columns.free(), pmf.columns.width(), pmf.columns.linear());
    tasks.into_par_iter().with_max_len(1).for_each_init(
        || Solver::new(n, width, linear),
        |solver, (((slots, stretch), mut parts), dets)| {
            for begin in slots.clone().step_by(SOLVED) {
                let group = begin..(begin + SOLVED).min(slots.end);
                solver.solve(pmf, lambda, rows, group.clone());
                for (i, slot) in group.enumerate() {
                    let at = rows.row(slot) - first_row - stretch.start;
                    dets[at] = solver.ln_det[i];
                    solver.write(pmf.columns, i, at, &widths, &mut parts);
                }
            }
        },
    );
}

/// Means and covariances of a few rows.
pub(super) struct Solver {
    n: usize,
    width: usize,
    linear: usize,
    natural: Vec<f64>,
    pub mean: Vec<f64>,
    pub covariance: Vec<f64>,
    pub ln_det: Vec<f64>,
    scratch: Vec<f64>,
}

impl Solver {
    pub fn new(n: usize, width: usize, linear: usize) -> Self {
        Solver {
            n,
            width,
            linear,
            natural: Vec::with_capacity(SOLVED * width),
            mean: vec![0.0; SOLVED * n],
            covariance: vec![0.0; SOLVED * linear],
            ln_det: vec![0.0; SOLVED],
            scratch: Vec::new(),
        }
    }

    /// Solves for the rows in at most [`SOLVED`] slots.
    pub fn solve(
        &mut self,
        pmf: &Pmf,
        lambda: &Lambda,
        rows: &RowSet,
        slots: std::ops::Range<usize>,
    ) {
        let Some(last) = slots.clone().last() else { return };
        let (table, first) = (lambda.table(), rows.row(slots.start));
        if rows.row(last) - first == last - slots.start {
            // Neighbours, as they are.
            let values = &table.values()[first * self.width..(first + slots.len()) * self.width];
            return self.solve_rows(pmf.isa, values);
        }
        let mut natural = std::mem::take(&mut self.natural);
        natural.clear();
        slots.for_each(|slot| natural.extend_from_slice(table.row(rows.row(slot))));
        self.solve_rows(pmf.isa, &natural);
        self.natural = natural;
    }

    /// Solves for at most [`SOLVED`] rows of natural parameters.
    fn solve_rows(&mut self, isa: Isa, natural: &[f64]) {
        let r = natural.len() / self.width;
        posterior(
            isa,
            self.n,
            natural,
            self.width,
            &mut self.mean[..r * self.n],
            &mut self.covariance[..r * self.linear],
            &mut self.ln_det[..r],
            &mut [true; SOLVED][..r],
            &mut self.scratch,
        );
    }

    /// Solves for one row of natural parameters: its mean and covariance.
    pub fn solve_one(&mut self, isa: Isa, natural: &[f64]) -> (&[f64], &[f64]) {
        self.solve_rows(isa, natural);
        (&self.mean[..self.n], &self.covariance[..self.linear])
    }

    /// Writes the moments of solution `i` to row `at` of a stretch of every slab.
    fn write<R: Real>(
        &self,
        columns: Columns,
        i: usize,
        at: usize,
        widths: &[usize],
        parts: &mut [&mut [R]],
    ) {
        let Columns { d, biases, .. } = columns;
        let mean = &self.mean[i * self.n..][..self.n];
        let covariance = &self.covariance[i * self.linear..][..self.linear];
        let mut row = Row { parts, widths, at, slab: 0, filled: 0, line: [R::of(0.0); WIDEST] };
        for k in 0..d {
            let first = k * (k + 1) / 2;
            let factor = mean[k];
            for (c, m) in covariance[first..=first + k].iter().zip(mean) {
                row.push(c + factor * m);
            }
        }
        if biases {
            let b = mean[d];
            mean[..d].iter().for_each(|&m| row.push(m));
            let with_bias = &covariance[columns.packed()..];
            with_bias[..d].iter().zip(mean).for_each(|(c, m)| row.push(c + b * m));
            row.push(b);
            row.push(with_bias[d] + b * b);
        }
        row.flush();
        mean.iter().for_each(|&m| row.push(m));
        row.flush();
    }
}

/// The columns of the widest slab.
const WIDEST: usize = SLAB_WIDTHS[SLAB_WIDTHS.len() - 1];

/// Writes a row of the slabs from left to right, a slab's columns at a time.
struct Row<'a, 'b, R> {
    parts: &'a mut [&'b mut [R]],
    widths: &'a [usize],
    at: usize,
    slab: usize,
    filled: usize,
    line: [R; WIDEST],
}

impl<R: Real> Row<'_, '_, R> {
    #[inline(always)]
    fn push(&mut self, x: f64) {
        self.line[self.filled] = R::of(x);
        self.filled += 1;
        if self.filled == self.widths[self.slab] {
            self.store();
        }
    }

    /// Goes on with the next slab, if this one is begun.
    fn flush(&mut self) {
        if self.filled > 0 {
            self.store();
        }
    }

    #[inline(always)]
    fn store(&mut self) {
        let width = self.widths[self.slab];
        self.parts[self.slab][self.at * width..][..width].copy_from_slice(&self.line[..width]);
        self.slab += 1;
        self.filled = 0;
    }
}
