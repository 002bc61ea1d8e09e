//! Where things stand in the tables of probabilistic matrix factorisation.
//!
//! One side's variable is x = (o, b): d factors and, if there are biases, b. The other side's sums need
//! its moments, laid out in columns: E[o o'] (packed), then, with biases, E[o], E[b o], E[b], E[b^2];
//! and after a gap, because they are summed times the rating, E[o] and E[b].

use std::ops::Range;

use crate::math::kernels::{MIXED, WIDEST_MIXED};
use crate::math::slabs::widths_for;

/// The number of latent dimensions, whether there are biases, and what follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub d: usize,
    pub biases: bool,
    /// The first column that is summed times the rating; those before are summed as they are.
    mean: usize,
    /// The number of columns.
    tail: usize,
}

impl Columns {
    pub fn new(d: usize, biases: bool) -> Self {
        let unplaced = Columns { d, biases, mean: 0, tail: 0 };
        let mean = widths_for(unplaced.moments()).iter().sum();
        Columns { mean, tail: unplaced.slabs().iter().sum(), ..unplaced }
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
        let means = widths_for(self.free());
        // A few dimensions take one pass over the ratings instead of several.
        let all: usize = widths.iter().chain(&means).sum();
        if means == [MIXED] && all <= WIDEST_MIXED {
            return vec![all];
        }
        widths.extend(means);
        widths
    }

    /// How many columns of a slab are summed as they are; the others are summed times the rating.
    pub fn split(&self, first: usize, width: usize) -> usize {
        self.mean.clamp(first, first + width) - first
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
