//! Where things stand in the tables of probabilistic matrix factorisation.
//!
//! One side's variable is x = (o, b): d factors and, if there are biases, b. The other side's sums need
//! its moments, laid out in columns: E[o o'] (packed), then, with biases, E[o], E[b o], E[b], E[b^2];
//! and in slabs of their own, because they are summed times the rating, E[o] and E[b].

use std::ops::Range;

use crate::math::slabs::widths_for;

/// The number of latent dimensions, whether there are biases, and what follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub d: usize,
    pub biases: bool,
    /// How many slabs are summed as they are; the others are summed times the rating.
    pub moment_slabs: usize,
    /// The first column of those.
    mean: usize,
    /// The number of columns.
    tail: usize,
}

impl Columns {
    pub fn new(d: usize, biases: bool) -> Self {
        let unplaced = Columns { d, biases, moment_slabs: 0, mean: 0, tail: 0 };
        let moment_slabs = widths_for(unplaced.moments()).len();
        let widths = unplaced.slabs();
        Columns {
            moment_slabs,
            mean: widths[..moment_slabs].iter().sum(),
            tail: widths.iter().sum(),
            ..unplaced
        }
    }

    /// Numbers in a packed d x d matrix.
    pub fn packed(&self) -> usize {
        self.d * (self.d + 1) / 2
    }

    /// Free coordinates of a variable: factors, and the bias.
    pub fn free(&self) -> usize {
        self.d + usize::from(self.biases)
    }

    /// Where h begins in a row of lambda, after the packed precision matrix.
    pub fn linear(&self) -> usize {
        self.free() * (self.free() + 1) / 2
    }

    /// Numbers in a row of lambda.
    pub fn width(&self) -> usize {
        self.linear() + self.free()
    }

    fn moments(&self) -> usize {
        self.packed() + if self.biases { 2 * self.d + 2 } else { 0 }
    }

    /// The widths of all slabs.
    pub fn slabs(&self) -> Vec<usize> {
        let mut widths = widths_for(self.moments());
        widths.extend(widths_for(self.free()));
        widths
    }

    /// The columns of E[o], where they are not multiplied by the rating; only with biases.
    pub fn plain_mean(&self) -> Range<usize> {
        self.packed()..self.packed() + self.d
    }

    /// The columns of E[b o].
    pub fn cross(&self) -> Range<usize> {
        self.packed() + self.d..self.packed() + 2 * self.d
    }

    /// The column of E[b]; that of E[b^2] is next.
    pub fn bias(&self) -> usize {
        self.packed() + 2 * self.d
    }

    /// The columns of E[o] and E[b] that are multiplied by the rating.
    pub fn mean(&self) -> Range<usize> {
        self.mean..self.mean + self.free()
    }

    /// In the statistics, after all columns: the sums of the weights, of the ratings, and of their
    /// squares.
    pub fn tail(&self) -> usize {
        self.tail
    }

    /// Numbers in a row of statistics.
    pub fn raw_width(&self) -> usize {
        self.tail() + 3
    }
}
