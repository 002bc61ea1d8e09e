//! What the other side's sums read: the moments of every user and every item under q, in slabs.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Pmf;
use super::columns::Columns;
use super::implicit;
use crate::data::Side;
use crate::lambda::Lambda;
use crate::math::kernels::{
    Factors, Isa, centre_f32, centre_f64, moments, narrow, posterior, sum_slab_f32, sum_slab_f64,
};
use crate::math::slabs::Slabs;
use crate::math::stop;
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
    /// The first row whose precision turned out not to be positive definite, if one has.
    pub(crate) broken: Option<usize>,
    /// With implicit feedback the sums of all moments of each side.
    pub(super) all: [Vec<f64>; 2],
    /// The rows that it holds, if not all: users first, each side's slots from 0.
    held: Option<RowSet>,
    /// What is known of the users' moments, if those are elsewhere: the tables then have none.
    pub(crate) apart: Option<Apart>,
}

/// What is known here of users that are elsewhere.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Apart {
    /// The hyperparameters as they are.
    pub hyper: Vec<f64>,
    /// The sum of E[u u'], packed.
    pub second: Vec<f64>,
    /// The sum of E[a^2], a being their biases.
    pub squares: f64,
    /// How often their factors were to be turned, and by what the last time: precisions become T' Lambda T.
    pub turns: u64,
    pub turn: Vec<f64>,
}

impl Expect {
    /// The same for some of the rows that it holds, in their slots.
    pub(super) fn pick(&self, pmf: &Pmf, held: &RowSet, wanted: &RowSet) -> Self {
        let first_item = pmf.first_row(Side::Item);
        let (users_held, users) = (held.slots_below(first_item), wanted.slots_below(first_item));
        let slot = |slot: usize| held.slot(wanted.row(slot));
        let of_users: Vec<usize> = (0..users).map(slot).collect();
        let of_items: Vec<usize> = (users..wanted.len()).map(|s| slot(s) - users_held).collect();
        let picked = [&of_users[..], &of_items[..]];
        Expect {
            sides: match &self.sides {
                Sides::Single([u, v]) => Sides::Single([u.pick(picked[0]), v.pick(picked[1])]),
                Sides::Double([u, v]) => Sides::Double([u.pick(picked[0]), v.pick(picked[1])]),
            },
            ln_det: (0..wanted.len()).map(|s| self.ln_det[slot(s)]).collect(),
            noise: self.noise,
            broken: None,
            all: self.all.clone(),
            held: Some(wanted.clone()),
            apart: None,
        }
    }

    /// The place of a row among those of its side.
    #[inline]
    pub(super) fn place(&self, pmf: &Pmf, side: Side, number: u32) -> usize {
        match &self.held {
            None => number as usize,
            Some(held) => {
                let first = held.slots_below(pmf.first_row(side));
                held.slot(pmf.first_row(side) + number as usize) - first
            }
        }
    }

    /// Whether it holds all rows.
    pub(super) fn is_whole(&self) -> bool {
        self.held.is_none()
    }
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

/// The items' moments as they travel, slab by slab.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ItemMoments {
    Single(Vec<Vec<f32>>),
    Double(Vec<Vec<f64>>),
}

/// The items' moments as they are computed with.
#[derive(Debug)]
pub(crate) enum ItemTable {
    Single(Slabs<f32>),
    Double(Slabs<f64>),
}

impl ItemMoments {
    /// The moments of all items.
    pub fn of(expect: &Expect) -> Self {
        fn slabs<R: Real>(table: &Slabs<R>) -> Vec<Vec<R>> {
            (0..table.widths().len()).map(|slab| table.slab(slab).to_vec()).collect()
        }
        match &expect.sides {
            Sides::Single(tables) => ItemMoments::Single(slabs(&tables[1])),
            Sides::Double(tables) => ItemMoments::Double(slabs(&tables[1])),
        }
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> usize {
        match self {
            ItemMoments::Single(slabs) => slabs.iter().map(|slab| size_of_val(&slab[..])).sum(),
            ItemMoments::Double(slabs) => slabs.iter().map(|slab| size_of_val(&slab[..])).sum(),
        }
    }

    /// As a table of this many items in `d` dimensions; `None` if they are not of these.
    pub fn table(&self, dims: usize, biases: bool, n_items: usize) -> Option<ItemTable> {
        fn table<R: Real>(widths: &[usize], n_items: usize, slabs: &[Vec<R>]) -> Option<Slabs<R>> {
            let mut table = Slabs::new(n_items, widths);
            let fits = slabs.len() == widths.len()
                && slabs.iter().zip(widths).all(|(slab, width)| slab.len() == width * n_items);
            let mut each = slabs.iter().enumerate();
            fits.then(|| {
                each.by_ref().for_each(|(s, slab)| table.slab_mut(s).copy_from_slice(slab))
            })
            .map(|()| table)
        }
        let widths = Columns::new(dims, biases).slabs();
        match self {
            ItemMoments::Single(slabs) => table(&widths, n_items, slabs).map(ItemTable::Single),
            ItemMoments::Double(slabs) => table(&widths, n_items, slabs).map(ItemTable::Double),
        }
    }
}

impl Expect {
    /// Puts a table of items in the place of the one that is there, which comes out.
    pub(super) fn exchange_items(&mut self, pmf: &Pmf, noise: f64, items: &mut ItemTable) {
        self.noise = noise;
        match (&mut self.sides, items) {
            (Sides::Single(tables), ItemTable::Single(items)) => {
                std::mem::swap(&mut tables[1], items);
            }
            (Sides::Double(tables), ItemTable::Double(items)) => {
                std::mem::swap(&mut tables[1], items);
            }
            // Both follow from the same settings.
            _ => unreachable!("the items' moments have the precision of the model"),
        }
        implicit::refresh_sums(pmf, Side::Item, self);
    }
}

/// The sums of one slab over the ratings of some rows.
pub(super) struct SlabSum<'a, R> {
    pub width: usize,
    pub slab: &'a [R],
    pub starts: &'a [usize],
    pub others: &'a [u32],
    pub factors: Factors<'a, R>,
    /// Numbers from one row's sums to the next one's.
    pub stride: usize,
}

/// Ratings to centre.
pub(super) struct Centring<'a> {
    pub starts: &'a [usize],
    pub values: &'a [f32],
    /// All 1, if there are none.
    pub weights: &'a [f32],
    pub mean: f64,
    /// Numbers from one row's sums to the next one's.
    pub stride: usize,
}

/// The precision of the tables: f32, or f64 in the exact mode.
pub(super) trait Real: bytemuck::Pod + Send + Sync + Into<f64> {
    fn of(x: f64) -> Self;

    /// A row in this precision; one that is rounded lives in `room`.
    fn rounded<'a>(isa: Isa, row: &'a [f64], room: &'a mut [Self]) -> &'a [Self];

    /// Weights in this precision; those that are converted live in `room`.
    fn weights<'a>(given: &'a [f32], room: &'a mut Vec<Self>) -> &'a [Self];

    /// `out = ` the sums of a slab.
    fn sum(isa: Isa, sum: SlabSum<'_, Self>, out: &mut [f64]);

    /// Weights times centred ratings, and the sums of them.
    fn centre(isa: Isa, ratings: Centring<'_>, out: &mut [Self], sums: &mut [f64]);
}

macro_rules! real {
    ($type:ty, $rounded:expr, $weights:expr, $sum:ident, $centre:ident) => {
        impl Real for $type {
            fn of(x: f64) -> Self {
                x as $type
            }

            fn rounded<'a>(isa: Isa, row: &'a [f64], room: &'a mut [Self]) -> &'a [Self] {
                let rounded: fn(Isa, &'a [f64], &'a mut [Self]) -> &'a [Self] = $rounded;
                rounded(isa, row, room)
            }

            fn weights<'a>(given: &'a [f32], room: &'a mut Vec<Self>) -> &'a [Self] {
                let weights: fn(&'a [f32], &'a mut Vec<Self>) -> &'a [Self] = $weights;
                weights(given, room)
            }

            fn sum(isa: Isa, sum: SlabSum<'_, Self>, out: &mut [f64]) {
                let SlabSum { width, slab, starts, others, factors, stride } = sum;
                $sum(isa, width, slab, starts, others, factors, out, stride);
            }

            fn centre(isa: Isa, ratings: Centring<'_>, out: &mut [Self], sums: &mut [f64]) {
                let Centring { starts, values, weights, mean, stride } = ratings;
                $centre(isa, starts, values, weights, mean, out, sums, stride);
            }
        }
    };
}
real!(f32, round, |given, _| given, sum_slab_f32, centre_f32);
real!(f64, |_, row, _| row, widen, sum_slab_f64, centre_f64);

fn round<'a>(isa: Isa, row: &[f64], room: &'a mut [f32]) -> &'a [f32] {
    narrow(isa, row, room);
    room
}

fn widen<'a>(given: &[f32], room: &'a mut Vec<f64>) -> &'a [f64] {
    room.clear();
    room.extend(given.iter().map(|&w| f64::from(w)));
    room
}

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
        let mut sizes = [Side::User, Side::Item].map(|side| pmf.n_rows_of(side));
        if expect.apart.is_some() {
            sizes[0] = 0;
        }
        expect.sides = match pmf.params.exact {
            false => Sides::Single(sizes.map(|n_rows| Slabs::new(n_rows, &widths))),
            true => Sides::Double(sizes.map(|n_rows| Slabs::new(n_rows, &widths))),
        };
    }
    let found = AtomicUsize::new(usize::MAX);
    let Expect { sides, ln_det, apart, .. } = expect;
    let (of_users, of_items) = ln_det.split_at_mut(pmf.n_rows_of(Side::User));
    // Slots rise with rows, so the users among them come first.
    let users = rows.slots_below(pmf.first_row(Side::Item));
    let here = if apart.is_some() { 0 } else { users };
    with_tables!(sides, tables => {
        let [user_slabs, item_slabs] = tables;
        refresh_side(pmf, Side::User, lambda, rows, 0..here, user_slabs, of_users, &found);
        let items = users..rows.len();
        refresh_side(pmf, Side::Item, lambda, rows, items, item_slabs, of_items, &found);
    });
    for (side, changed) in [(Side::User, here > 0), (Side::Item, users < rows.len())] {
        if changed || expect.all[side as usize].is_empty() {
            implicit::refresh_sums(pmf, side, expect);
        }
    }
    let found = found.into_inner();
    expect.broken = expect.broken.or((found != usize::MAX).then_some(found));
}

#[allow(clippy::too_many_arguments)]
fn refresh_side<R: Real>(
    pmf: &Pmf,
    side: Side,
    lambda: &Lambda,
    rows: &RowSet,
    slots: std::ops::Range<usize>,
    slabs: &mut Slabs<R>,
    ln_det: &mut [f64],
    broken: &AtomicUsize,
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
    tasks.into_par_iter().with_max_len(1).for_each_init(
        || Moments::<R>::new(pmf.columns),
        |moments, (((slots, stretch), mut parts), dets)| {
            for begin in slots.clone().step_by(SOLVED) {
                stop::check();
                let group = begin..(begin + SOLVED).min(slots.end);
                moments.solve(pmf.isa, lambda, rows, group.clone());
                for (i, slot) in group.enumerate() {
                    let at = rows.row(slot) - first_row - stretch.start;
                    dets[at] = moments.ln_det[i];
                    if !moments.valid[i] {
                        broken.fetch_min(rows.row(slot), Ordering::Relaxed);
                    }
                    let mut left = moments.row(pmf.isa, i);
                    for (part, &width) in parts.iter_mut().zip(&widths) {
                        let (columns, rest) = left.split_at(width);
                        part[at * width..][..width].copy_from_slice(columns);
                        left = rest;
                    }
                }
            }
        },
    );
}

/// The rows in some slots, one after the other: as they are stored if they are neighbours, else copied into `room`.
fn gathered<'a>(
    room: &'a mut Vec<f64>,
    lambda: &'a Lambda,
    rows: &RowSet,
    slots: std::ops::Range<usize>,
) -> &'a [f64] {
    let Some(last) = slots.clone().last() else { return &[] };
    let (table, first) = (lambda.table(), rows.row(slots.start));
    if rows.row(last) - first == last - slots.start {
        return &table.values()[first * table.width()..(first + slots.len()) * table.width()];
    }
    room.clear();
    slots.for_each(|slot| room.extend_from_slice(table.row(rows.row(slot))));
    room
}

/// The moments of a few rows, each in the order of the slabs' columns.
struct Moments<R> {
    columns: Columns,
    natural: Vec<f64>,
    rows: Vec<f64>,
    /// A row in the precision of the slabs.
    row: Vec<R>,
    ln_det: [f64; SOLVED],
    /// Whether a row could be solved for.
    valid: [bool; SOLVED],
    scratch: Vec<f64>,
}

impl<R: Real> Moments<R> {
    fn new(columns: Columns) -> Self {
        Moments {
            columns,
            natural: Vec::new(),
            // Columns that hold nothing stay 0.
            rows: vec![0.0; SOLVED * columns.tail()],
            row: vec![R::of(0.0); columns.tail()],
            ln_det: [0.0; SOLVED],
            valid: [true; SOLVED],
            scratch: Vec::new(),
        }
    }

    /// Solves for the rows in at most [`SOLVED`] slots.
    fn solve(&mut self, isa: Isa, lambda: &Lambda, rows: &RowSet, slots: std::ops::Range<usize>) {
        let (n, width, tail) = (self.columns.free(), self.columns.width(), self.columns.tail());
        let (r, mean) = (slots.len(), self.columns.mean().start);
        let natural = gathered(&mut self.natural, lambda, rows, slots);
        let (ln_det, valid) = (&mut self.ln_det[..r], &mut self.valid[..r]);
        let out = &mut self.rows[..r * tail];
        moments(isa, n, natural, width, out, tail, mean, ln_det, valid, &mut self.scratch);
    }

    /// The moments of solution `i`.
    fn row(&mut self, isa: Isa, i: usize) -> &[R] {
        let tail = self.columns.tail();
        R::rounded(isa, &self.rows[i * tail..(i + 1) * tail], &mut self.row)
    }
}

/// Means and covariances of a few rows.
pub(super) struct Solver {
    n: usize,
    width: usize,
    linear: usize,
    natural: Vec<f64>,
    pub mean: Vec<f64>,
    pub covariance: Vec<f64>,
    ln_det: [f64; SOLVED],
    valid: [bool; SOLVED],
    scratch: Vec<f64>,
}

impl Solver {
    pub fn new(columns: Columns) -> Self {
        let (n, linear) = (columns.free(), columns.linear());
        Solver {
            n,
            width: columns.width(),
            linear,
            natural: Vec::new(),
            mean: vec![0.0; SOLVED * n],
            covariance: vec![0.0; SOLVED * linear],
            ln_det: [0.0; SOLVED],
            valid: [true; SOLVED],
            scratch: Vec::new(),
        }
    }

    /// Solves for the rows in at most [`SOLVED`] slots.
    pub fn solve(
        &mut self,
        isa: Isa,
        lambda: &Lambda,
        rows: &RowSet,
        slots: std::ops::Range<usize>,
    ) {
        let mut room = std::mem::take(&mut self.natural);
        self.solve_rows(isa, gathered(&mut room, lambda, rows, slots));
        self.natural = room;
    }

    /// Solves for at most [`SOLVED`] rows that are anywhere.
    pub fn solve_some<'r>(&mut self, isa: Isa, rows: impl Iterator<Item = &'r [f64]>) {
        let mut room = std::mem::take(&mut self.natural);
        room.clear();
        rows.for_each(|row| room.extend_from_slice(row));
        self.solve_rows(isa, &room);
        self.natural = room;
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
            &mut self.valid[..r],
            &mut self.scratch,
        );
    }

    /// Solves for one row of natural parameters: its mean, if it is of any distribution.
    pub fn solve_valid(&mut self, isa: Isa, natural: &[f64]) -> Option<&[f64]> {
        self.solve_rows(isa, natural);
        self.valid[0].then_some(&self.mean[..self.n])
    }

    /// Solves for one row of natural parameters: its mean and covariance.
    pub fn solve_one(&mut self, isa: Isa, natural: &[f64]) -> (&[f64], &[f64]) {
        self.solve_rows(isa, natural);
        (&self.mean[..self.n], &self.covariance[..self.linear])
    }
}
