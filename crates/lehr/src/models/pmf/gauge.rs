//! The gauge step: u -> A u, v -> A^-T v leaves every prediction as it is and moves the prior's part of
//! the bound to its maximum over A, in closed form; with it, the variances of the latent dimensions.
//!
//! Let Su = sum_i E[u u'] and Sv = sum_j E[v v']. The bound changes by
//! `-1/2 tr(A Su A')/c_u - 1/2 tr(A^-T Sv A^-1 C_v^-1) + (n_u - n_v) ln|A|`.
//! * If the items' variances are learned along, C_v = diag(A^-T Sv A^-1) / n_v, the maximum has
//!   A Su A' = n_u c_u I and A^-T Sv A^-1 diagonal: with Su / (n_u c_u) = G G' and
//!   G' Sv G / n_v = V' diag(c) V, it is A = V G^-1 and C_v = diag(c).
//! * If not, C_v = c_u I: with Su / c_u = G G', G' Sv G / c_u = V' diag(q) V and
//!   x = (delta + sqrt(delta^2 + 4 q)) / 2, delta = n_u - n_v, it is A = diag(sqrt(x)) V G^-1.

use rayon::prelude::*;

use super::Pmf;
use super::expect::{Expect, Real, with_tables};
use super::hyper::floored;
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::eigen::symmetric_eigen;
use crate::math::kernels::congruence;
use crate::math::packed::Symmetric;
use crate::math::slabs::Slabs;
use crate::model::{Model, RowSet};

/// Rows that one worker sums or moves at a time; part of the definition of the sums.
const CHUNK: usize = 256;

/// To move all rows takes a good part of a sweep's time. The first sweeps all gain much by it; later
/// ones gain as much by every N dimensions together.
const FIRST: u64 = 5;
const EVERY: u64 = 8;

/// The sweeps, or epochs of batches, without it before those, where variances are learned. Turned to the axes of
/// factors that mean nothing yet, dimensions that a few sweeps more would have filled are pruned.
const SETTLING: u64 = 5;

/// Nats per rating for which it is not done at all.
const WORTHWHILE: f64 = 1e-8;

/// A matrix A as what it does to precisions: user rows become T' Lambda T with T = A^-1, item rows
/// with T = A'.
struct Gauge {
    for_users: Vec<f64>,
    for_items: Vec<f64>,
    /// What the bound gains.
    gain: f64,
    /// The items' variances, where they are learned.
    variances: Vec<f64>,
}

/// When a gauge step may be due.
#[derive(Debug, Clone, Copy)]
pub(super) enum Time {
    /// After this sweep, of 1, 2, ...
    Sweep(u64),
    /// After this epoch of batches, of 1, 2, ... Epochs are many steps: all are like first sweeps.
    Epoch(u64),
}

impl Time {
    fn is_due(self, ard: bool) -> bool {
        let before = if ard { SETTLING } else { 0 };
        match self {
            Time::Sweep(t) => t > before && (t <= before + FIRST || t.is_multiple_of(EVERY)),
            Time::Epoch(t) => t > before,
        }
    }
}

/// Takes the gauge step if it is on, due and worth its while, and learns the variances of the latent dimensions if
/// that is on.
pub(super) fn rotate(pmf: &Pmf, time: Time, lambda: &mut Lambda, expect: &mut Expect) {
    let due = time.is_due(pmf.params.ard);
    if !(pmf.params.ard || due) {
        return;
    }
    let gauge = if pmf.params.gauge && due {
        let of_users = match &expect.apart {
            Some(users) => users.second.clone(),
            None => second_moments(pmf, Side::User, expect),
        };
        Gauge::best(pmf, &[of_users, second_moments(pmf, Side::Item, expect)])
    } else {
        None
    };
    let worth = WORTHWHILE * pmf.seen.others().len() as f64;
    match gauge.filter(|gauge| gauge.gain > worth) {
        Some(gauge) => {
            let width = pmf.columns.width();
            let (users, items) =
                lambda.table_mut().values_mut().split_at_mut(pmf.first_row(Side::Item) * width);
            match &mut expect.apart {
                None => turn(pmf, &gauge.for_users, users),
                Some(users) => {
                    users.turns += 1;
                    users.turn.clone_from(&gauge.for_users);
                }
            }
            turn(pmf, &gauge.for_items, items);
            if pmf.params.ard {
                set_variances(pmf, lambda, &gauge.variances);
            }
            pmf.refresh(lambda, &RowSet::all(lambda.n_rows()), expect);
        }
        None if pmf.params.ard => {
            let n_items = pmf.n_rows_of(Side::Item) as f64;
            let squares = with_tables!(&expect.sides, tables => squares(pmf, &tables[1]));
            let variances: Vec<f64> = squares.iter().map(|sum| sum / n_items).collect();
            set_variances(pmf, lambda, &variances);
        }
        None => {}
    }
}

/// The sum over a side's rows of E[o_k^2], for each k.
fn squares<R: Real>(pmf: &Pmf, table: &Slabs<R>) -> Vec<f64> {
    let shape = Symmetric::full(pmf.columns.d);
    let ks = 0..pmf.columns.d;
    ks.into_par_iter().map(|k| table.sum_of_column(shape.diagonal_index(k))).collect()
}

fn set_variances(pmf: &Pmf, lambda: &mut Lambda, variances: &[f64]) {
    let first = 1 + pmf.columns.free();
    for (out, &variance) in lambda.hyper[first..].iter_mut().zip(variances) {
        *out = floored(variance, pmf.prior_variance);
    }
}

/// The sum over a side's rows of E[o o'], packed.
pub(super) fn second_moments(pmf: &Pmf, side: Side, expect: &Expect) -> Vec<f64> {
    with_tables!(&expect.sides, tables => second_moments_of(pmf, &tables[side as usize]))
}

fn second_moments_of<R: Real>(pmf: &Pmf, table: &Slabs<R>) -> Vec<f64> {
    let packed = pmf.columns.packed();
    let chunks = table.n_rows().div_ceil(CHUNK);
    let parts: Vec<Vec<f64>> = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(table.n_rows());
            let mut sums = vec![0.0; pmf.columns.tail()];
            for (slab, &width) in table.widths().iter().enumerate() {
                let columns = table.columns(slab);
                if columns.start >= packed {
                    break;
                }
                let sums = &mut sums[columns];
                for row in
                    table.slab(slab)[rows.start * width..rows.end * width].chunks_exact(width)
                {
                    sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += x.into());
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; packed];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    }
    total
}

impl Gauge {
    /// The best A, or none if the moments are so extreme that it cannot be found.
    fn best(pmf: &Pmf, [su, sv]: &[Vec<f64>; 2]) -> Option<Gauge> {
        let d = pmf.columns.d;
        let shape = Symmetric::full(d);
        let (n_users, n_items) =
            (pmf.n_rows_of(Side::User) as f64, pmf.n_rows_of(Side::Item) as f64);
        let (ard, c) = (pmf.params.ard, pmf.prior_variance);
        let (user_scale, item_scale) = if ard { (n_users * c, n_items) } else { (c, c) };
        let mut g: Vec<f64> = su.iter().map(|s| s / user_scale).collect();
        if !shape.cholesky(&mut g) {
            return None;
        }
        let ln_det_g = 0.5 * shape.ln_det(&g);
        let mut g_inverse = g.clone();
        shape.invert_lower(&mut g_inverse);
        let (g, g_inverse) = (lower_dense(d, &g), lower_dense(d, &g_inverse));
        let mut dense_sv = vec![0.0; d * d];
        shape.to_dense(sv, &mut dense_sv);
        // G' Sv G, made symmetric to the last bit.
        let mut m = multiply(d, &transpose(d, &g), &multiply(d, &dense_sv, &g));
        for i in 0..d {
            for j in 0..=i {
                let mean = 0.5 * (m[i * d + j] + m[j * d + i]) / item_scale;
                (m[i * d + j], m[j * d + i]) = (mean, mean);
            }
        }
        let (q, v) = symmetric_eigen(d, &mut m);
        if q.iter().any(|&q| !(q.is_finite() && q > 0.0)) {
            return None;
        }
        // A = diag(sqrt x) V G^-1 and A^-1 = G V' diag(1 / sqrt x); x = 1 where variances are learned.
        let delta = n_users - n_items;
        let x: Vec<f64> = match ard {
            true => vec![1.0; d],
            // For negative delta the same root without cancellation.
            false => q
                .iter()
                .map(|&q| {
                    let root = (delta * delta + 4.0 * q).sqrt();
                    if delta >= 0.0 { 0.5 * (delta + root) } else { 2.0 * q / (root - delta) }
                })
                .collect(),
        };
        let mut a = multiply(d, &v, &g_inverse);
        let mut a_inverse = multiply(d, &g, &transpose(d, &v));
        for i in 0..d {
            for j in 0..d {
                a[i * d + j] *= x[i].sqrt();
                a_inverse[i * d + j] /= x[j].sqrt();
            }
        }
        let diagonal =
            |s: &[f64]| -> Vec<f64> { (0..d).map(|k| s[shape.diagonal_index(k)]).collect() };
        let trace_u = diagonal(su).iter().sum::<f64>() / c;
        let gain = if ard {
            // Of a dimension with mean square s, once its variance is learned, above its floor.
            let cost = |s: f64| {
                let learned = floored(s, c);
                learned.ln() + s / learned
            };
            let old: f64 = diagonal(sv).iter().map(|s| cost(s / n_items)).sum();
            let new: f64 = q.iter().map(|&q| cost(q)).sum();
            0.5 * (trace_u - n_users * d as f64) + 0.5 * n_items * (old - new) - delta * ln_det_g
        } else {
            let trace_v = diagonal(sv).iter().sum::<f64>() / c;
            let new: f64 = x.iter().zip(&q).map(|(x, q)| x + q / x).sum();
            let ln_det: f64 = 0.5 * x.iter().map(|x| x.ln()).sum::<f64>() - ln_det_g;
            0.5 * (trace_u + trace_v - new) + delta * ln_det
        };
        let finite = a.iter().chain(&a_inverse).all(|x| x.is_finite()) && gain.is_finite();
        finite.then(|| Gauge {
            for_users: a_inverse,
            for_items: transpose(d, &a),
            gain,
            variances: q,
        })
    }
}

/// Turns the natural parameters of some rows by a dense d x d matrix T: precisions become T' Lambda T.
pub(super) fn turn(pmf: &Pmf, by: &[f64], rows: &mut [f64]) {
    let (n, d, width) = (pmf.columns.free(), pmf.columns.d, pmf.columns.width());
    rows.par_chunks_mut(CHUNK * width).for_each_init(Vec::new, |scratch, rows| {
        congruence(pmf.isa, n, d, by, rows, width, scratch);
    });
}

fn lower_dense(d: usize, packed: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        out[i * d..=i * d + i].copy_from_slice(&packed[i * (i + 1) / 2..][..=i]);
    }
    out
}

fn transpose(d: usize, a: &[f64]) -> Vec<f64> {
    (0..d * d).map(|at| a[at % d * d + at / d]).collect()
}

fn multiply(d: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for (row, out) in a.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
        for (factor, b) in row.iter().zip(b.chunks_exact(d)) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out += factor * b);
        }
    }
    out
}
