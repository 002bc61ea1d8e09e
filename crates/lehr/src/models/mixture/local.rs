//! The local step of a mixture: responsibilities and weighted moments, tile by tile.

use super::Mixture;
use crate::data::Points;
use crate::math::kernels::{
    GaussianBlock, TILE, accumulate, accumulate_sparse, is_sparse, log_densities, pad_features,
    pad_to_lanes, softmax,
};
use crate::math::stop;
use crate::model::{Ask, Shard, Stats};

/// The tiles in which a local step works.
#[derive(Debug)]
pub struct Scratch {
    pub(super) tile: Vec<f64>,
    pub(super) logits: Vec<f64>,
    pub(super) resp: Vec<f64>,
    pub(super) log_sums: Vec<f64>,
    /// Moments, components in lanes.
    sums: Vec<f64>,
    /// Moments of tiles with few responsibilities, component by component.
    sparse_sums: Vec<f64>,
    /// One item's features.
    features: Vec<f64>,
    /// Which of the two sums are in use.
    used: Used,
}

#[derive(Debug, Default)]
struct Used {
    dense: bool,
    sparse: bool,
}

impl Scratch {
    pub(super) fn new(mixture: &Mixture) -> Self {
        let padded = pad_to_lanes(mixture.params.components);
        let raw_width = 1 + mixture.n_dims() + mixture.shape.len();
        Scratch {
            tile: vec![0.0; mixture.n_dims() * TILE],
            logits: vec![0.0; padded * TILE],
            resp: vec![0.0; padded * TILE],
            log_sums: vec![0.0; TILE],
            sums: vec![0.0; raw_width * padded],
            sparse_sums: vec![0.0; mixture.params.components * pad_features(raw_width)],
            features: vec![0.0; pad_features(raw_width)],
            used: Used::default(),
        }
    }
}

impl Mixture {
    /// [`Model::local_step`](crate::model::Model::local_step) of a mixture.
    pub(super) fn step(
        &self,
        expect: &GaussianBlock,
        shard: Shard<'_, Points>,
        ask: Ask,
        scratch: &mut Scratch,
        stats: &mut Stats,
        bounds: &mut [f64],
    ) {
        self.for_tiles(expect, &shard, scratch, |scratch, range| {
            let weights = &shard.weights[range.clone()];
            let Scratch { logits, resp, log_sums, .. } = scratch;
            softmax(self.isa, range.len(), self.params.components, logits, weights, resp, log_sums);
            bounds[range.clone()].copy_from_slice(&log_sums[..range.len()]);
            if ask.stats {
                self.add_moments(range.len(), scratch);
            }
        });
        if ask.stats {
            self.flush_moments(scratch, stats);
        }
    }

    /// Runs `each` on every tile of the shard, after its log densities are in `logits`.
    pub(super) fn for_tiles(
        &self,
        block: &GaussianBlock,
        shard: &Shard<'_, Points>,
        scratch: &mut Scratch,
        mut each: impl FnMut(&mut Scratch, std::ops::Range<usize>),
    ) {
        for first in (0..shard.items.len()).step_by(TILE) {
            stop::check();
            let range = first..(first + TILE).min(shard.items.len());
            let items = &shard.items[range.clone()];
            self.units.load(shard.data, items, &mut scratch.tile);
            log_densities(self.isa, block, items.len(), &scratch.tile, &mut scratch.logits);
            each(scratch, range);
        }
    }

    /// Adds the tile's weighted moments (responsibilities in `scratch.resp`) to one of the sums.
    pub(super) fn add_moments(&self, n_items: usize, scratch: &mut Scratch) {
        let (k, d, diagonal) = (self.params.components, self.n_dims(), self.shape.is_diagonal());
        let Scratch { tile, resp, sums, sparse_sums, features, used, .. } = scratch;
        if is_sparse(n_items, k, resp) {
            used.sparse = true;
            accumulate_sparse(self.isa, n_items, k, d, diagonal, tile, resp, features, sparse_sums);
        } else {
            used.dense = true;
            accumulate(self.isa, n_items, k, d, diagonal, tile, resp, sums);
        }
    }

    /// Moves the sums to the rows of `stats` and clears them.
    pub(super) fn flush_moments(&self, scratch: &mut Scratch, stats: &mut Stats) {
        let padded = pad_to_lanes(self.params.components);
        let width = pad_features(stats.width());
        for k in 0..self.params.components {
            let out = stats.row_mut(k);
            if scratch.used.dense {
                for (s, sums) in out.iter_mut().zip(scratch.sums.chunks_exact(padded)) {
                    *s += sums[k];
                }
            }
            if scratch.used.sparse {
                for (s, sum) in out.iter_mut().zip(&scratch.sparse_sums[k * width..]) {
                    *s += sum;
                }
            }
        }
        if std::mem::take(&mut scratch.used.dense) {
            scratch.sums.fill(0.0);
        }
        if std::mem::take(&mut scratch.used.sparse) {
            scratch.sparse_sums.fill(0.0);
        }
    }
}
