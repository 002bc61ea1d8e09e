//! Lambda: the natural parameters of everything global, row by row, with rows that decay lazily.
//!
//! In a model with very many rows (the words of a vocabulary) a step changes only those that its
//! batch touches, by more than the decay towards the prior that all rows share:
//! `x <- (1 - rho) x + rho eta`. Untouched rows are left as they are and brought up to date when
//! they are read: with P the product of (1 - rho) since a row was last written, it stands for
//! `eta + P (x - eta)`. So a step's cost does not grow with the number of rows.

use rayon::prelude::*;

use crate::math::kernels::{Isa, decay_row, prefetch};
use crate::math::table::Table;

/// Rows that one worker brings up to date at a time; part of the definition of the totals.
const CHUNK: usize = 1024;

/// The natural parameters, and point estimates of hyperparameters if the model learns any.
///
/// ```
/// use lehr::lambda::Lambda;
/// use lehr::math::table::Table;
///
/// let table = Table::from_values(2, 1, vec![4.0, 8.0]).unwrap();
/// let mut lambda = Lambda::new(table, true, Vec::new());
/// lambda.decay(0.5); // a step that touches no row
/// let mut row = [0.0];
/// lambda.read(1, &[2.0], &mut row);
/// assert_eq!(row, [5.0]); // half-way from 8 to its prior, 2
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lambda {
    stored: Table,
    lazy: Option<Lazy>,
    /// Hyperparameters that are learned by point estimates; what they are is the model's affair.
    pub hyper: Vec<f64>,
}

/// What makes stored rows current.
#[derive(Debug, Clone, PartialEq)]
pub struct Lazy {
    /// ln P up to each row's last writing, P being the product of all (1 - rho) so far.
    pub since: Vec<f64>,
    /// ln P now.
    pub now: f64,
    /// The sum of each column over all rows as they are now.
    pub totals: Vec<f64>,
}

impl Lambda {
    /// Natural parameters that are all current. `lazy`: whether rows may fall behind.
    pub fn new(table: Table, lazy: bool, hyper: Vec<f64>) -> Self {
        let lazy = lazy.then(|| Lazy {
            since: vec![0.0; table.n_rows()],
            now: 0.0,
            totals: column_sums(&table),
        });
        Lambda { stored: table, lazy, hyper }
    }

    /// Natural parameters as [`Lambda::parts`] gave them; `None` if they do not fit together.
    pub fn from_parts(stored: Table, lazy: Option<Lazy>, hyper: Vec<f64>) -> Option<Self> {
        let fits = lazy.as_ref().is_none_or(|lazy| {
            lazy.since.len() == stored.n_rows()
                && lazy.totals.len() == stored.width()
                && lazy.now <= 0.0
                && lazy.since.iter().all(|&since| since >= lazy.now && since <= 0.0)
        });
        fits.then_some(Lambda { stored, lazy, hyper })
    }

    /// The rows as they are stored, and what makes them current.
    pub fn parts(&self) -> (&Table, Option<&Lazy>) {
        (&self.stored, self.lazy.as_ref())
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.stored.n_rows()
    }

    /// How many numbers in a row.
    pub fn width(&self) -> usize {
        self.stored.width()
    }

    /// Whether every row is current as it is stored.
    pub fn is_current(&self) -> bool {
        self.lazy.as_ref().is_none_or(|lazy| lazy.now == 0.0)
    }

    /// All rows. Models without lazy rows can always use this; others only when all rows are current, as those of a
    /// finished fit are.
    pub fn table(&self) -> &Table {
        assert!(self.is_current(), "a lazy lambda is read row by row, or brought up to date first");
        &self.stored
    }

    /// All rows, to write. Not for lazy rows, whose totals would not follow.
    pub fn table_mut(&mut self) -> &mut Table {
        assert!(self.lazy.is_none(), "lazy rows are written by the update alone");
        &mut self.stored
    }

    /// The sum of each column; only kept for lazy rows.
    pub fn totals(&self) -> &[f64] {
        &self.lazy.as_ref().expect("a model with lazy rows has totals").totals
    }

    /// Whether all numbers are finite, as they are unless the data are too extreme. Of lazy rows the totals tell.
    pub fn is_finite(&self) -> bool {
        match &self.lazy {
            Some(lazy) => lazy.totals.iter().all(|x| x.is_finite()),
            None => self.stored.rows().flatten().all(|x| x.is_finite()),
        }
    }

    /// A row as it is now, `eta` being its prior.
    #[inline]
    pub fn read(&self, row: usize, eta: &[f64], out: &mut [f64]) {
        out.copy_from_slice(self.stored.row(row));
        if let Some(lazy) = &self.lazy {
            catch_up(lazy.since[row], lazy.now, eta, out);
        }
    }

    /// A row as it is stored, and what is left of its distance to its prior.
    #[inline]
    pub(crate) fn stored(&self, row: usize) -> (&[f64], f64) {
        let left = self.lazy.as_ref().map_or(1.0, |lazy| left(lazy.since[row], lazy.now));
        (self.stored.row(row), left)
    }

    /// Says that a row will be read soon: rows that a batch touches lie far apart.
    #[inline]
    pub fn prefetch(&self, row: usize) {
        prefetch(self.stored.row(row));
    }

    /// A copy in which every row is current; `prior` writes a row's eta.
    pub fn current(&self, prior: impl Fn(usize, &mut [f64]) + Sync) -> Table {
        let mut table = self.stored.clone();
        if let Some(lazy) = self.lazy.as_ref().filter(|_| !self.is_current()) {
            bring_up_to_date(&mut table, lazy, prior);
        }
        table
    }

    /// Brings every row up to date for good and sums the columns again. Costs a pass over all rows.
    pub fn catch_up(&mut self, prior: impl Fn(usize, &mut [f64]) + Sync) {
        let Some(lazy) = &mut self.lazy else { return };
        if lazy.now != 0.0 {
            bring_up_to_date(&mut self.stored, lazy, prior);
        }
        lazy.since.fill(0.0);
        lazy.now = 0.0;
        lazy.totals = column_sums(&self.stored);
    }

    /// Every number of every row becomes another one; all rows must be current.
    pub(crate) fn map(&mut self, new: impl Fn(f64) -> f64 + Sync) {
        assert!(self.is_current(), "lazy rows are brought up to date first");
        self.stored.values_mut().par_chunks_mut(CHUNK).for_each(|part| {
            part.iter_mut().for_each(|x| *x = new(*x));
        });
        if let Some(lazy) = &mut self.lazy {
            lazy.totals = column_sums(&self.stored);
        }
    }

    /// All rows decay by one step of size `rho` < 1: those that are written next, too.
    pub fn decay(&mut self, rho: f64) {
        if let Some(lazy) = &mut self.lazy {
            lazy.now += (-rho).ln_1p();
        }
    }

    /// All lazy rows return to their priors: a step of size 1 that touches none of them.
    pub(crate) fn forget(&mut self, prior: impl Fn(usize, &mut [f64]) + Sync) {
        let width = self.width();
        if let Some(lazy) = &mut self.lazy {
            let rows = self.stored.values_mut().par_chunks_exact_mut(width);
            rows.enumerate().for_each(|(r, row)| prior(r, row));
            lazy.since.fill(0.0);
            lazy.now = 0.0;
            lazy.totals = column_sums(&self.stored);
        }
    }

    /// The stored rows and the notes on them, for an update in place.
    pub(crate) fn rows_to_write(&mut self) -> (&mut Table, Option<&mut Lazy>) {
        (&mut self.stored, self.lazy.as_mut())
    }
}

/// P of a row that was stored at `since`.
#[inline]
pub(crate) fn left(since: f64, now: f64) -> f64 {
    if since == now { 1.0 } else { (now - since).exp() }
}

/// `x <- eta + P (x - eta)`.
#[inline]
pub(crate) fn catch_up(since: f64, now: f64, eta: &[f64], x: &mut [f64]) {
    if since != now {
        decay_row(Isa::detect(), x, eta, left(since, now));
    }
}

fn bring_up_to_date(table: &mut Table, lazy: &Lazy, prior: impl Fn(usize, &mut [f64]) + Sync) {
    let width = table.width();
    table.values_mut().par_chunks_mut(CHUNK * width).enumerate().for_each(|(c, rows)| {
        let mut eta = vec![0.0; width];
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            prior(c * CHUNK + i, &mut eta);
            catch_up(lazy.since[c * CHUNK + i], lazy.now, &eta, row);
        }
    });
}

/// Sums per chunk, added in order of the chunks: the same bits for any number of threads.
fn column_sums(table: &Table) -> Vec<f64> {
    let width = table.width();
    let parts: Vec<Vec<f64>> = table
        .values()
        .par_chunks(CHUNK * width.max(1))
        .map(|rows| {
            let mut sums = vec![0.0; width];
            for row in rows.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            sums
        })
        .collect();
    let mut totals = vec![0.0; width];
    for part in parts {
        totals.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
    }
    totals
}
