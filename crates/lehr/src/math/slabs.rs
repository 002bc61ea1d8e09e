//! A table kept in slabs of a few columns each: the rows of one slab are so narrow that many of them
//! stay in a cache while others are summed.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::math::kernels::{SLAB_WIDTHS, zeros};

/// A cache line, which makes every row of a slab start at one.
#[derive(Debug, Clone, Copy, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// The widths of slabs that hold `n` columns, with little room left over.
///
/// ```
/// use lehr::math::slabs::widths_for;
/// assert_eq!(widths_for(77), [32, 32, 16]);
/// assert_eq!(widths_for(11), [16]);
/// ```
pub fn widths_for(n: usize) -> Vec<usize> {
    let [small, large] = SLAB_WIDTHS;
    let mut widths = Vec::new();
    let mut left = n;
    while left > 0 {
        let width = if left > small { large } else { small };
        widths.push(width);
        left = left.saturating_sub(width);
    }
    widths
}

/// A table whose columns are kept in slabs.
///
/// ```
/// use lehr::math::slabs::Slabs;
/// let mut slabs = Slabs::<f32>::new(3, &[32, 16]);
/// slabs.slab_mut(1)[2 * 16] = 5.0; // the second slab's first column of the last row
/// assert_eq!(slabs.get(2, slabs.place(32)), 5.0);
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Slabs<R> {
    n_rows: usize,
    widths: Vec<usize>,
    /// The first column of each slab, and the number of columns.
    firsts: Vec<usize>,
    lines: Vec<Line>,
    numbers: PhantomData<R>,
}

impl<R> Default for Slabs<R> {
    fn default() -> Self {
        let (widths, lines) = (Vec::new(), Vec::new());
        Slabs { n_rows: 0, widths, firsts: vec![0], lines, numbers: PhantomData }
    }
}

/// Where a column is: which slab, and where in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnPlace {
    slab: usize,
    within: usize,
}

impl<R: Pod> Slabs<R> {
    /// Zeros.
    pub fn new(n_rows: usize, widths: &[usize]) -> Self {
        const { assert!((16 * size_of::<R>()).is_multiple_of(64), "rows are whole lines") };
        let mut firsts = vec![0];
        firsts.extend(widths.iter().scan(0, |first, width| {
            *first += width;
            Some(*first)
        }));
        let n_lines = n_rows * firsts[widths.len()] * size_of::<R>() / 64;
        let lines = zeros(n_lines);
        Slabs { n_rows, widths: widths.to_vec(), firsts, lines, numbers: PhantomData }
    }

    /// A table of some of the rows, in the order of `rows`.
    pub fn pick(&self, rows: &[usize]) -> Self {
        let mut picked = Slabs::new(rows.len(), &self.widths);
        for (slab, &width) in self.widths.iter().enumerate() {
            let (from, to) = (self.slab(slab), picked.slab_mut(slab));
            for (to, &row) in to.chunks_exact_mut(width).zip(rows) {
                to.copy_from_slice(&from[row * width..][..width]);
            }
        }
        picked
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns each slab has.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// The columns of a slab.
    pub fn columns(&self, slab: usize) -> Range<usize> {
        self.firsts[slab]..self.firsts[slab + 1]
    }

    fn range(&self, slab: usize) -> Range<usize> {
        self.n_rows * self.firsts[slab]..self.n_rows * self.firsts[slab + 1]
    }

    /// The rows of one slab, one after the other.
    pub fn slab(&self, slab: usize) -> &[R] {
        &bytemuck::cast_slice(&self.lines)[self.range(slab)]
    }

    /// The rows of one slab, to write.
    pub fn slab_mut(&mut self, slab: usize) -> &mut [R] {
        let range = self.range(slab);
        &mut bytemuck::cast_slice_mut(&mut self.lines)[range]
    }

    /// Where a column is.
    pub fn place(&self, column: usize) -> ColumnPlace {
        let slab = self.firsts.partition_point(|&first| first <= column) - 1;
        ColumnPlace { slab, within: column - self.firsts[slab] }
    }

    /// One number.
    pub fn get(&self, row: usize, place: ColumnPlace) -> R {
        self.slab(place.slab)[row * self.widths[place.slab] + place.within]
    }

    /// The sum of a column, in f64.
    pub fn sum_of_column(&self, column: usize) -> f64
    where
        R: Into<f64>,
    {
        let ColumnPlace { slab, within } = self.place(column);
        self.slab(slab).iter().skip(within).step_by(self.widths[slab]).map(|&x| x.into()).sum()
    }

    /// A row as a whole.
    pub fn gather(&self, row: usize, out: &mut [R]) {
        for (slab, &width) in self.widths.iter().enumerate() {
            let from = &self.slab(slab)[row * width..(row + 1) * width];
            out[self.columns(slab)].copy_from_slice(from);
        }
    }

    /// Cuts all slabs at the given stretches of rows, which rise and do not overlap: for each stretch its
    /// rows in every slab.
    pub fn stretches_mut(&mut self, stretches: &[Range<usize>]) -> Vec<Vec<&mut [R]>> {
        let n_slabs = self.widths.len();
        let mut out: Vec<_> = stretches.iter().map(|_| Vec::with_capacity(n_slabs)).collect();
        let mut values: &mut [R] = bytemuck::cast_slice_mut(&mut self.lines);
        for &width in &self.widths {
            let (mut slab, rest) = values.split_at_mut(self.n_rows * width);
            values = rest;
            let mut done = 0;
            for (stretch, parts) in stretches.iter().zip(&mut out) {
                let (_, rest) = slab.split_at_mut((stretch.start - done) * width);
                let (part, rest) = rest.split_at_mut(stretch.len() * width);
                parts.push(part);
                slab = rest;
                done = stretch.end;
            }
        }
        out
    }
}
