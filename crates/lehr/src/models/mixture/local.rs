//! The local step of a mixture: responsibilities and weighted moments, tile by tile.

use std::sync::Arc;

use super::Mixture;
use super::expect::Densities;
use super::missing::{Pattern, Patterns, groups};
use super::sums::TileSums;
use crate::data::Points;
use crate::math::kernels::{
    Isa, Second, TILE, accumulate_scatter, log_densities, pad_to_lanes, softmax, whitened,
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
    weights: Vec<f64>,
    sums: TileSums,
    /// What only tied components need.
    tied: Option<Tied>,
    /// The places of a shard's items, in the order in which they are worked off.
    order: Vec<u32>,
    /// What is known of items with missing values.
    patterns: Patterns,
}

/// Where all components have the same precision, items are whitened once, and their second moments summed once.
#[derive(Debug)]
struct Tied {
    /// The tile, whitened.
    white: Vec<f64>,
    /// Second moments over all components.
    sums: Vec<f64>,
}

impl Tied {
    fn new(n_dims: usize) -> Self {
        let sums = vec![0.0; Second::Triangle.count(n_dims)];
        Tied { white: vec![0.0; n_dims * TILE], sums }
    }

    /// Adds the second moments of a tile, weighted by what each item's responsibilities sum to: then those of all
    /// components are those of each, added up.
    fn add(&mut self, isa: Isa, n_items: usize, k: usize, d: usize, tile: &[f64], resp: &[f64]) {
        let mut weights = [0.0; TILE];
        let rows = resp.chunks_exact(pad_to_lanes(k)).take(n_items);
        for (weight, row) in weights.iter_mut().zip(rows) {
            // In eight sums, which is what padding is for.
            let mut sums = [0.0; 8];
            for lanes in row.chunks_exact(8) {
                sums.iter_mut().zip(lanes).for_each(|(sum, r)| *sum += r);
            }
            *weight = sums.iter().sum();
        }
        accumulate_scatter(isa, n_items, d, tile, &weights, &mut self.sums);
    }
}

impl Scratch {
    pub(super) fn new(mixture: &Mixture) -> Self {
        let (k, d) = (mixture.params.components, mixture.n_dims());
        let padded = pad_to_lanes(k);
        Scratch {
            tile: vec![0.0; d * TILE],
            logits: vec![0.0; padded * TILE],
            resp: vec![0.0; padded * TILE],
            log_sums: vec![0.0; TILE],
            weights: vec![0.0; TILE],
            sums: TileSums::new(k, d, mixture.shape.second()),
            tied: mixture.shape.is_tied().then(|| Tied::new(d)),
            order: Vec::new(),
            patterns: Patterns::default(),
        }
    }
}

/// Items of a shard of which the same values are missing, or none.
struct Group {
    /// Where their places stand in `Scratch::order`.
    range: std::ops::Range<usize>,
    pattern: Option<Arc<Pattern>>,
}

impl Mixture {
    /// [`Model::local_step`](crate::model::Model::local_step) of a mixture.
    pub(super) fn step(
        &self,
        expect: &Densities,
        shard: Shard<'_, Points>,
        ask: Ask,
        scratch: &mut Scratch,
        stats: &mut Stats,
        bounds: &mut [f64],
    ) {
        self.for_tiles(expect, &shard, scratch, |scratch, tile| {
            let places = match tile {
                Tile::Items(places, _) => places,
                Tile::End(pattern) => {
                    if ask.stats {
                        self.flush_moments(pattern, scratch, stats);
                    }
                    return;
                }
            };
            let Scratch { logits, resp, log_sums, weights, .. } = scratch;
            for (weight, &place) in weights.iter_mut().zip(places) {
                *weight = shard.weights[place as usize];
            }
            softmax(
                self.isa,
                places.len(),
                self.params.components,
                logits,
                weights,
                resp,
                log_sums,
            );
            for (log_sum, &place) in log_sums.iter().zip(places) {
                bounds[place as usize] = *log_sum;
            }
            if ask.stats {
                let Tile::Items(_, pattern) = tile else { return };
                self.add_moments(places.len(), pattern, scratch);
            }
        });
    }

    /// Runs `each` on every tile of the shard, after its log densities are in `logits` and its items, or their
    /// observed columns, in `tile`; and after the last tile of items of which the same values are missing.
    pub(super) fn for_tiles(
        &self,
        densities: &Densities,
        shard: &Shard<'_, Points>,
        scratch: &mut Scratch,
        mut each: impl FnMut(&mut Scratch, Tile<'_>),
    ) {
        let groups = self.groups(densities, shard, scratch);
        let order = std::mem::take(&mut scratch.order);
        for Group { range, pattern } in groups {
            let pattern = pattern.as_deref();
            for places in order[range].chunks(TILE) {
                stop::check();
                self.load_tile(shard, places, pattern, scratch);
                self.log_densities(densities, places.len(), pattern, scratch);
                each(scratch, Tile::Items(places, pattern));
            }
            each(scratch, Tile::End(pattern));
        }
        scratch.order = order;
    }

    /// The groups of a shard's items; one, where nothing is missing.
    fn groups(
        &self,
        densities: &Densities,
        shard: &Shard<'_, Points>,
        scratch: &mut Scratch,
    ) -> impl Iterator<Item = Group> + use<> {
        let Scratch { order, patterns, .. } = scratch;
        order.clear();
        let (mut one, mut many) = (None, Vec::new());
        if shard.data.has_missing() {
            for (mask, places) in groups(shard.data, shard.items) {
                let range = order.len()..order.len() + places.len();
                order.extend(places);
                many.push(Group { range, pattern: Some(patterns.get(self, densities, &mask)) });
            }
        } else {
            order.extend(0..shard.items.len() as u32);
            one = Some(Group { range: 0..order.len(), pattern: None });
        }
        one.into_iter().chain(many)
    }

    /// Copies up to [`TILE`] items of a shard, transposed and in z, to `scratch.tile`.
    fn load_tile(
        &self,
        shard: &Shard<'_, Points>,
        places: &[u32],
        pattern: Option<&Pattern>,
        scratch: &mut Scratch,
    ) {
        let mut items = [0; TILE];
        for (item, &place) in items.iter_mut().zip(places) {
            *item = shard.items[place as usize];
        }
        self.units.load(shard.data, &items[..places.len()], &mut scratch.tile);
        // Observed columns move up; they are in rising order.
        for (to, &from) in pattern.iter().flat_map(|pattern| pattern.observed.iter().enumerate()) {
            scratch.tile.copy_within(from * TILE..(from + 1) * TILE, to * TILE);
        }
    }

    fn log_densities(
        &self,
        densities: &Densities,
        n_items: usize,
        pattern: Option<&Pattern>,
        scratch: &mut Scratch,
    ) {
        let Scratch { tile, tied, logits, .. } = scratch;
        if let Some(pattern) = pattern {
            return log_densities(self.isa, &pattern.block, n_items, tile, logits);
        }
        let tile = match (&densities.whitener, tied) {
            (Some(whitener), Some(Tied { white, .. })) => {
                whitened(self.isa, whitener, n_items, tile, white);
                white
            }
            _ => tile,
        };
        log_densities(self.isa, &densities.block, n_items, tile, logits);
    }

    /// Adds the tile's weighted moments (responsibilities in `scratch.resp`) to the sums.
    pub(super) fn add_moments(
        &self,
        n_items: usize,
        pattern: Option<&Pattern>,
        scratch: &mut Scratch,
    ) {
        let (k, d) = (self.params.components, self.n_dims());
        let Scratch { tile, resp, sums, tied, .. } = scratch;
        match pattern {
            Some(pattern) => sums.measure(k, pattern.observed.len(), Pattern::second(self)),
            None => sums.measure(k, d, self.shape.second()),
        }
        sums.add(self.isa, n_items, tile, resp);
        if let (Some(tied), None) = (tied, pattern) {
            tied.add(self.isa, n_items, k, d, tile, resp);
        }
    }

    /// Moves the sums to `stats` and clears them.
    pub(super) fn flush_moments(
        &self,
        pattern: Option<&Pattern>,
        scratch: &mut Scratch,
        stats: &mut Stats,
    ) {
        let Scratch { sums, tied, .. } = scratch;
        if let Some(pattern) = pattern {
            let mut own = vec![0.0; sums.n_features()];
            for k in 0..self.params.components {
                own.fill(0.0);
                sums.add_to(k, &mut own);
                if own.iter().any(|&x| x != 0.0) {
                    pattern.complete(self, k, &own, stats);
                }
            }
            return sums.clear();
        }
        for k in 0..self.params.components {
            let (row, own, _) = self.place(k);
            sums.add_to(k, &mut stats.row_mut(row)[own..own + sums.n_features()]);
        }
        sums.clear();
        if let Some(Tied { sums, .. }) = tied {
            let (row, _, second) = self.place(0);
            let out = &mut stats.row_mut(row)[second..];
            out.iter_mut().zip(&*sums).for_each(|(s, sum)| *s += sum);
            sums.fill(0.0);
        }
    }
}

/// What [`Mixture::for_tiles`] hands out.
#[derive(Clone, Copy)]
pub(super) enum Tile<'a> {
    /// The places of up to [`TILE`] items in the shard, and what they miss.
    Items(&'a [u32], Option<&'a Pattern>),
    /// There are no more items that miss this.
    End(Option<&'a Pattern>),
}
