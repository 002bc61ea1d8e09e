//! Weighted moments of tiles, summed densely or sparsely, whichever is faster for a tile.

use crate::math::kernels::{
    Isa, Second, accumulate, accumulate_sparse, is_sparse, pad_features, pad_to_lanes,
};

/// The moments of a shard, component by component.
#[derive(Debug)]
pub(super) struct TileSums {
    n_components: usize,
    n_dims: usize,
    second: Second,
    /// Moments, components in lanes.
    dense: Vec<f64>,
    /// Moments of tiles with few responsibilities, component by component.
    sparse: Vec<f64>,
    /// One item's features.
    features: Vec<f64>,
    /// Which of the two are in use.
    used: Used,
}

#[derive(Debug, Default)]
struct Used {
    dense: bool,
    sparse: bool,
}

impl TileSums {
    pub fn new(n_components: usize, n_dims: usize, second: Second) -> Self {
        let mut sums = TileSums {
            n_components: 0,
            n_dims: 0,
            second,
            dense: Vec::new(),
            sparse: Vec::new(),
            features: Vec::new(),
            used: Used::default(),
        };
        sums.measure(n_components, n_dims, second);
        sums
    }

    /// Makes room for these sizes. Sums of other sizes must have been cleared.
    pub fn measure(&mut self, n_components: usize, n_dims: usize, second: Second) {
        let sizes = (n_components, n_dims, second);
        if sizes == (self.n_components, self.n_dims, self.second) {
            return;
        }
        assert!(!self.used.dense && !self.used.sparse, "sums of other sizes are in use");
        (self.n_components, self.n_dims, self.second) = sizes;
        let (features, width) = (self.n_features(), pad_features(self.n_features()));
        let grow = |numbers: &mut Vec<f64>, n: usize| numbers.resize(n.max(numbers.len()), 0.0);
        grow(&mut self.dense, features * pad_to_lanes(n_components));
        grow(&mut self.sparse, n_components * width);
        grow(&mut self.features, width);
    }

    /// Moments per component.
    pub fn n_features(&self) -> usize {
        self.second.features(self.n_dims)
    }

    /// Adds the moments of a tile.
    pub fn add(&mut self, isa: Isa, n_items: usize, tile: &[f64], resp: &[f64]) {
        let (k, d, second) = (self.n_components, self.n_dims, self.second);
        let TileSums { dense, sparse, features, used, .. } = self;
        if is_sparse(n_items, k, resp) {
            used.sparse = true;
            accumulate_sparse(isa, n_items, k, d, second, tile, resp, features, sparse);
        } else {
            used.dense = true;
            accumulate(isa, n_items, k, d, second, tile, resp, dense);
        }
    }

    /// Adds the sums of component `k` to `out`.
    pub fn add_to(&self, k: usize, out: &mut [f64]) {
        let padded = pad_to_lanes(self.n_components);
        let width = pad_features(self.n_features());
        if self.used.dense {
            for (out, sums) in out.iter_mut().zip(self.dense.chunks_exact(padded)) {
                *out += sums[k];
            }
        }
        if self.used.sparse {
            for (out, sum) in out.iter_mut().zip(&self.sparse[k * width..]) {
                *out += sum;
            }
        }
    }

    /// Clears what is in use.
    pub fn clear(&mut self) {
        let features = self.n_features();
        if std::mem::take(&mut self.used.dense) {
            self.dense[..features * pad_to_lanes(self.n_components)].fill(0.0);
        }
        if std::mem::take(&mut self.used.sparse) {
            self.sparse[..self.n_components * pad_features(features)].fill(0.0);
        }
    }
}
