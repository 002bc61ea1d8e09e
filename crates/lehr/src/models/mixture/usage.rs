//! How many components a fitted mixture uses: those that hold at least one item.

use super::Mixture;
use super::readout::sizes;
use crate::math::table::Table;

/// A component that holds fewer items than this in expectation is empty.
const ONE_ITEM: f64 = 1.0;

impl Mixture {
    /// The numbers of the components in use, rising: those that hold at least one item in expectation
    /// (`size >= 1`; an item of weight w counts as w items), and in any case the largest. The others are empty, and
    /// what they are is their prior.
    ///
    /// ```
    /// use lehr::data::Points;
    /// use lehr::models::{Mixture, MixtureParams};
    ///
    /// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2], 1)?;
    /// let mixture = Mixture::new(MixtureParams::gmm(3), &points)?;
    /// // Three items belong to component 0 and three to component 2.
    /// let mut shares = [[1.0, 0.0, 0.0]; 6];
    /// shares[3..].fill([0.0, 0.0, 1.0]);
    /// let lambda = mixture.lambda_from_responsibilities(&points, shares.as_flattened());
    /// assert_eq!(mixture.components_in_use(&lambda), [0, 2]);
    /// assert!((mixture.effective_clusters(&lambda) - 2.0).abs() < 1e-9);
    /// # Ok::<(), lehr::Error>(())
    /// ```
    pub fn components_in_use(&self, lambda: &Table) -> Vec<usize> {
        let sizes = sizes(self, lambda);
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        (0..sizes.len()).filter(|&k| sizes[k] >= largest.min(ONE_ITEM)).collect()
    }
}
