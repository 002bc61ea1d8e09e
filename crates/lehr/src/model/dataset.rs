//! Collections of items, as the loop sees them.

use crate::Error;
use crate::data::Side;

/// A collection of items.
pub trait Dataset: Sync {
    /// What messages call the items.
    const ITEMS: &'static str = "items";

    /// N, the number of items.
    fn n_items(&self) -> usize;
    /// Each item's own weight; all 1 if absent. A weight of 2 counts as the item twice.
    fn item_weights(&self) -> Option<&[f64]> {
        None
    }
    /// What is wrong with items that were read in place and found damaged.
    fn fault(&self) -> Option<Error> {
        None
    }
    /// Where the items of each row of a phase begin, and the end of the last row's: for models whose
    /// rows are blocks of their own. Each phase has an order of its own, in which a row's items are
    /// neighbours.
    fn groups(&self, _phase: usize) -> &[usize] {
        &[]
    }
    /// The largest |S| that a block can have.
    fn largest_block(&self) -> usize {
        self.n_items()
    }
    /// So many items have just been read and are not needed for now: data that live in a file may
    /// let go of memory.
    fn release(&self, _n_items: usize) {}
}

impl Dataset for crate::data::Points {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn item_weights(&self) -> Option<&[f64]> {
        self.weights()
    }
}

impl Dataset for crate::data::Docs {
    fn n_items(&self) -> usize {
        self.n_items()
    }

    fn fault(&self) -> Option<Error> {
        self.fault()
    }

    fn release(&self, n_items: usize) {
        self.release_after(n_items);
    }
}

impl Dataset for crate::data::Ratings {
    const ITEMS: &'static str = "ratings";

    fn n_items(&self) -> usize {
        self.n_ratings()
    }

    fn groups(&self, phase: usize) -> &[usize] {
        let side = if phase == 0 { Side::User } else { Side::Item };
        self.side(side).starts()
    }

    fn largest_block(&self) -> usize {
        let largest = |phase| self.groups(phase).windows(2).map(|pair| pair[1] - pair[0]).max();
        largest(0).max(largest(1)).unwrap_or(0)
    }
}
