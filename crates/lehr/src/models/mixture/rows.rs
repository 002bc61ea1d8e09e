//! Where the parameters of each component lie in lambda, and its sums in the raw statistics.
//!
//! ```text
//! a component        a [, b], precision of the mean (beta, or R packed), linear (beta m, or R m)
//! its precision      nu, scatter (A, or W^-1)
//! ```
//! A row of lambda is a component and its precision. Tied components share the precision, so all of them are one row:
//! K components, then the precision. Then noise is kept or rejected for all of them at once, since a shared precision
//! is valid or not for all of them at once.

use super::Mixture;
use crate::math::table::Table;
use crate::model::Stats;

/// The parameters of one component.
pub(super) struct Row<'a> {
    pub weights: &'a [f64],
    /// beta, or R packed.
    pub precision: &'a [f64],
    /// beta m, or R m.
    pub linear: &'a [f64],
    pub nu: f64,
    /// A, or W^-1.
    pub scatter: &'a [f64],
}

/// The raw sums of one component.
pub(super) struct Sums<'a> {
    pub count: f64,
    pub first: &'a [f64],
    /// Of tied components, those of all of them.
    pub second: &'a [f64],
}

/// Columns of lambda, of the first component where a row has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub precision: usize,
    pub linear: usize,
    /// Where a component ends.
    pub component: usize,
    pub nu: usize,
    pub scatter: usize,
    pub end: usize,
}

impl Mixture {
    /// Components in a row of lambda.
    pub(super) fn per_row(&self) -> usize {
        if self.shape.is_tied() { self.params.components } else { 1 }
    }

    pub(super) fn columns(&self) -> Columns {
        let precision = if self.sticks() { 2 } else { 1 };
        let linear = precision + if self.joint() { 1 } else { self.shape.of_means().len() };
        let component = linear + self.n_dims();
        let nu = component * self.per_row();
        let end = nu + 1 + self.shape.scatter().len();
        Columns { precision, linear, component, nu, scatter: nu + 1, end }
    }

    /// Component number `i` of a row of lambda.
    pub(super) fn part<'a>(&self, row: &'a [f64], i: usize) -> Row<'a> {
        let columns = self.columns();
        let own = &row[i * columns.component..(i + 1) * columns.component];
        Row {
            weights: &own[..columns.precision],
            precision: &own[columns.precision..columns.linear],
            linear: &own[columns.linear..],
            nu: row[columns.nu],
            scatter: &row[columns.scatter..columns.end],
        }
    }

    /// All components of a row of lambda.
    pub(super) fn parts<'a>(&self, row: &'a [f64]) -> Vec<Row<'a>> {
        (0..self.per_row()).map(|i| self.part(row, i)).collect()
    }

    /// All components.
    pub(super) fn rows<'a>(&self, lambda: &'a Table) -> impl Iterator<Item = Row<'a>> {
        lambda.rows().flat_map(|row| self.parts(row))
    }

    /// Numbers per row of the raw statistics.
    pub(super) fn raw_width(&self) -> usize {
        self.per_row() * (1 + self.n_dims()) + self.shape.scatter().len()
    }

    /// The row of component `k`, where its own sums start in it, and where the second moments do.
    pub(super) fn place(&self, k: usize) -> (usize, usize, usize) {
        let own = 1 + self.n_dims();
        if self.shape.is_tied() { (0, k * own, self.params.components * own) } else { (k, 0, own) }
    }

    /// The raw sums of component `k`.
    pub(super) fn sums<'a>(&self, raw: &'a Stats, k: usize) -> Sums<'a> {
        let (row, own, second) = self.place(k);
        let row = raw.row(row);
        Sums { count: row[own], first: &row[own + 1..][..self.n_dims()], second: &row[second..] }
    }
}
