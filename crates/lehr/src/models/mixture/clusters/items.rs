//! The items that clusters are looked for in: in deviations from their mean, in tiles as the kernels read them.

use super::super::kmeans;
use super::super::shape::Shape;
use super::super::sums::TileSums;
use super::parts::Parts;
use crate::math::kernels::{GaussianBlock, Isa, TILE, log_densities, pad_to_lanes, softmax};
use crate::math::rng::Rng;
use crate::math::stop;

/// Items and their weights.
pub struct Items {
    /// Row after row.
    z: Vec<f64>,
    /// `[tile][column][TILE]`.
    tiles: Vec<f64>,
    weights: Vec<f64>,
    /// What all of them weigh.
    pub total: f64,
    n_dims: usize,
    isa: Isa,
}

impl Items {
    pub fn new(z: Vec<f64>, weights: Vec<f64>, n_dims: usize) -> Self {
        let n_tiles = weights.len().div_ceil(TILE);
        let mut tiles = vec![0.0; n_tiles * n_dims * TILE];
        for (n, row) in z.chunks_exact(n_dims).enumerate() {
            let tile = &mut tiles[n / TILE * n_dims * TILE..][..n_dims * TILE];
            row.iter().enumerate().for_each(|(j, x)| tile[j * TILE + n % TILE] = *x);
        }
        let total = weights.iter().sum();
        Items { z, tiles, weights, total, n_dims, isa: Isa::detect() }
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    fn tiles(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.tiles.chunks_exact(self.n_dims * TILE).zip(self.weights.chunks(TILE))
    }

    /// Clusters by k-means from k-means++, numbered without gaps.
    pub fn kmeans(&self, k: usize, sweeps: usize, rng: &mut Rng) -> Vec<u32> {
        let labels = kmeans::clusters(&self.z, &self.weights, k, sweeps, rng);
        without_gaps(labels.into_iter().map(|label| label as u32).collect(), k)
    }

    /// The cluster of each item that gives it the highest density, numbered without gaps.
    pub fn likeliest(&self, block: &GaussianBlock) -> Vec<u32> {
        let k = block.n_components();
        let mut logits = vec![0.0; pad_to_lanes(k) * TILE];
        let mut labels = Vec::with_capacity(self.len());
        for (tile, weights) in self.tiles() {
            log_densities(self.isa, block, weights.len(), tile, &mut logits);
            labels.extend((0..weights.len()).map(|n| {
                let better = |best: usize, k: usize| {
                    if logits[k * TILE + n] > logits[best * TILE + n] { k } else { best }
                };
                (1..k).fold(0, better) as u32
            }));
        }
        without_gaps(labels, k)
    }

    /// The clusters that items make which are shared out by their densities, and the sum of the items' parts of the
    /// bound.
    pub fn share(&self, block: &GaussianBlock, shape: Shape) -> (Parts, f64) {
        let k = block.n_components();
        let mut logits = vec![0.0; pad_to_lanes(k) * TILE];
        let mut log_sums = [0.0; TILE];
        let mut bound = 0.0;
        let parts = self.moments(k, shape, |tile, weights, _, resp| {
            log_densities(self.isa, block, weights.len(), tile, &mut logits);
            softmax(self.isa, weights.len(), k, &mut logits, weights, resp, &mut log_sums);
            bound += weights.iter().zip(&log_sums).map(|(w, l)| w * l).sum::<f64>();
        });
        (parts, bound)
    }

    /// The clusters of labels.
    pub fn of_labels(&self, labels: &[u32], k: usize, shape: Shape) -> Parts {
        let padded = pad_to_lanes(k);
        self.moments(k, shape, |_, weights, first, resp| {
            resp.fill(0.0);
            for (n, weight) in weights.iter().enumerate() {
                resp[n * padded + labels[first + n] as usize] = *weight;
            }
        })
    }

    /// Sums over all tiles, whose responsibilities `share` writes: it gets the tile, its weights, the number of its
    /// first item, and where to write.
    fn moments(
        &self,
        k: usize,
        shape: Shape,
        mut share: impl FnMut(&[f64], &[f64], usize, &mut [f64]),
    ) -> Parts {
        let (d, second) = (self.n_dims, shape.second());
        let mut sums = TileSums::new(k, d, second);
        let mut resp = vec![0.0; pad_to_lanes(k) * TILE];
        for (i, (tile, weights)) in self.tiles().enumerate() {
            stop::check();
            share(tile, weights, i * TILE, &mut resp);
            sums.add(self.isa, weights.len(), tile, &resp);
        }
        let mut parts = Parts::default();
        for c in 0..k {
            let mut own = vec![0.0; sums.n_features()];
            sums.add_to(c, &mut own);
            let count = own[0];
            let mean: Vec<f64> =
                own[1..=d].iter().map(|s| if count > 0.0 { s / count } else { 0.0 }).collect();
            let mut scatter = vec![0.0; shape.scatter().len()];
            shape.add_second(&own[d + 1..], &mut scatter);
            shape.add_outer(-count, &mean, &mean, &mut scatter);
            parts.counts.push(count);
            parts.means.push(mean);
            parts.scatters.push(scatter);
        }
        parts
    }
}

/// The same labels, numbered without gaps, in their order.
fn without_gaps(labels: Vec<u32>, k: usize) -> Vec<u32> {
    let mut used = vec![false; k];
    labels.iter().for_each(|&label| used[label as usize] = true);
    let mut next = 0;
    let names: Vec<u32> = used
        .iter()
        .map(|&used| {
            next += u32::from(used);
            next.saturating_sub(1)
        })
        .collect();
    labels.into_iter().map(|label| names[label as usize]).collect()
}
