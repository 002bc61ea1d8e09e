//! Where things stand in the tables of probabilistic matrix factorisation.
//!
//! One side's variable is x = (o, b): d factors and, if there are biases, b. The other side's sums need
//! its moments, laid out in columns: E[x x'] (packed: E[o o'], with biases E[b o] and E[b^2]), then E[x].
//! The columns from E[o] on are summed times the rating, too; statistics have these sums behind all columns.

use std::ops::Range;

use crate::math::kernels::{MIXED, WIDEST_MIXED};
use crate::math::slabs::widths_for;

/// The number of latent dimensions, whether there are biases, and what follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub d: usize,
    pub biases: bool,
    /// The first column of E[x].
    mean: usize,
    /// The first column that is summed times the rating: that of E[x], or one before it in the same vector.
    rated: usize,
    /// The number of columns.
    tail: usize,
}

impl Columns {
    pub fn new(d: usize, biases: bool) -> Self {
        let free = d + usize::from(biases);
        let second = free * (free + 1) / 2;
        let tail = (second + free).next_multiple_of(MIXED);
        // At the start of a vector, if the columns then need no vector more: fewer are summed twice.
        let aligned = second.next_multiple_of(MIXED);
        let mean = if aligned + free <= tail { aligned } else { second };
        Columns { d, biases, mean, rated: mean / MIXED * MIXED, tail }
    }

    /// Numbers in a packed d x d matrix.
    pub fn packed(&self) -> usize {
        self.d * (self.d + 1) / 2
    }

    /// Free coordinates of a variable: factors, and the bias.
    pub fn free(&self) -> usize {
        self.d + usize::from(self.biases)
    }

    /// Where h starts in a row of lambda, after the packed precision matrix.
    pub fn linear(&self) -> usize {
        self.free() * (self.free() + 1) / 2
    }

    /// Numbers in a row of lambda.
    pub fn width(&self) -> usize {
        self.linear() + self.free()
    }

    /// The widths of all slabs.
    pub fn slabs(&self) -> Vec<usize> {
        // A few dimensions take one pass over the ratings instead of several.
        if self.tail - self.rated == MIXED && self.tail <= WIDEST_MIXED {
            return vec![self.tail];
        }
        let mut widths = widths_for(self.rated);
        widths.extend(widths_for(self.tail - self.rated));
        widths
    }

    /// The first column of a slab that is summed times the rating.
    pub fn split(&self, first: usize, width: usize) -> usize {
        self.rated.clamp(first, first + width) - first
    }

    /// Where the statistics have the sums of a column times the rating.
    pub fn by_rating(&self, column: usize) -> usize {
        column - self.rated + if self.sums_both() { self.tail } else { self.rated }
    }

    /// Whether what is summed times the rating is also summed as it is.
    fn sums_both(&self) -> bool {
        self.biases || self.rated < self.mean
    }

    /// The columns of E[b o].
    pub fn cross(&self) -> Range<usize> {
        self.packed()..self.packed() + self.d
    }

    /// The columns of E[o].
    pub fn mean(&self) -> Range<usize> {
        self.mean..self.mean + self.d
    }

    /// The column of E[b].
    pub fn bias(&self) -> usize {
        self.mean + self.d
    }

    /// The column of E[b^2].
    pub fn bias_square(&self) -> usize {
        self.packed() + self.d
    }

    /// The number of columns.
    pub fn tail(&self) -> usize {
        self.tail
    }

    /// How many columns are summed as they are.
    pub fn summed(&self) -> usize {
        if self.sums_both() { self.tail } else { self.rated }
    }

    /// In the statistics, after all sums of columns: the sums of the weights, of the ratings, and of their
    /// squares.
    pub fn totals(&self) -> usize {
        self.tail + if self.sums_both() { self.tail - self.rated } else { 0 }
    }

    /// Numbers in a row of statistics.
    pub fn raw_width(&self) -> usize {
        self.totals() + 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_slabs_and_do_not_lie_over_each_other() {
        for d in 1..70 {
            for biases in [false, true] {
                let c = Columns::new(d, biases);
                assert_eq!(c.slabs().iter().sum::<usize>(), c.tail(), "{c:?}");
                assert!(c.tail() < c.linear() + c.free() + MIXED, "{c:?}");
                assert!(c.linear() <= c.mean().start, "{c:?}");
                assert!(c.mean().start + c.free() <= c.tail(), "{c:?}");
                let last = c.by_rating(c.mean().end - 1 + usize::from(biases));
                assert!(last < c.totals() && c.raw_width() == c.totals() + 3, "{c:?}");
                let mut first = 0;
                for width in c.slabs() {
                    let split = c.split(first, width);
                    assert!(split == 0 || split == width || split + MIXED == width, "{c:?}");
                    first += width;
                }
            }
        }
    }
}
