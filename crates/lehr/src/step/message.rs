//! What a worker of an engine is sent and what it sends back: values that serialise, row by row.
//!
//! A worker has a part of the items and the model's settings, and nothing else. It is sent the expectations of
//! the rows of lambda that its items touch ([`Model::pick`]), and sends back what belongs to those rows.

use serde::{Deserialize, Serialize};

use crate::model::{Ask, Dataset, Model, PerRow, RowShard, Stats};

/// Rows that have batches of their own, for a worker that has some or all of their items.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowTask<Expect> {
    /// The phase of the rows.
    pub phase: usize,
    /// The rows of lambda, rising.
    pub rows: Vec<u32>,
    /// The expectations that they need: their own, and those of the rows that share items with them.
    pub expect: Expect,
    /// What to produce.
    pub ask: Ask,
}

/// What has become of a [`RowTask`]: the sums of the rows over the worker's own items.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowReply {
    /// The statistics of the rows.
    pub stats: Stats,
    /// Each row's part of the bound, if it was asked for.
    pub bounds: Vec<f64>,
}

impl<Expect> RowTask<Expect> {
    /// Does the task without noise, where `data` are the worker's own items.
    pub fn run<M: Model<Pass = PerRow, Expect = Expect>>(
        &self,
        model: &M,
        data: &M::Data,
        scratch: &mut M::Scratch,
    ) -> RowReply {
        let RowTask { phase, rows, expect, ask } = self;
        let layout = model.layout();
        let groups = data.groups(*phase);
        let first = layout.phases[*phase].rows.start;
        let (mut items, mut starts) = (Vec::new(), vec![0]);
        for &row in rows {
            let group = row as usize - first;
            items.extend((groups[group]..groups[group + 1]).map(|n| n as u32));
            starts.push(items.len());
        }
        let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
        stats.rows.collect(|touch| touch(rows));
        stats.fit_to_rows();
        let mut bounds = vec![0.0; if ask.bound { rows.len() } else { 0 }];
        let (phase, starts, items) = (*phase, &starts[..], Some(&items[..]));
        let shard = RowShard { data, phase, rows, starts, items, weights: None };
        model.local_step(expect, shard, *ask, scratch, stats.values_mut(), &mut bounds);
        RowReply { stats, bounds }
    }
}
