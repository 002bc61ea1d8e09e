//! What a worker of an engine is sent and what it sends back: values that serialise, row by row.
//!
//! A worker has a part of the items and the model's settings, and nothing else. It is sent the expectations of
//! the rows of lambda that its items touch ([`Model::pick`]), and sends back what belongs to those rows.

use serde::{Deserialize, Serialize};

use crate::model::{
    Ask, Dataset, Local, Model, PerRow, RowSet, RowShard, Shard, SharedModel, Stats,
};
use crate::step::shared::run_shard;

/// Neighbouring items of a shard, for the worker that has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task<Expect> {
    /// The items, by the numbers that the worker knows them by.
    pub items: Vec<u32>,
    /// The annealing weight of each.
    pub weights: Vec<f64>,
    /// The local state of each, if items keep any.
    pub warm: Vec<f32>,
    /// The rows of lambda that they touch.
    pub rows: RowSet,
    /// The expectations of those rows.
    pub expect: Expect,
    /// What to produce.
    pub ask: Ask,
}

/// What has become of a [`Task`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reply<L> {
    /// Each item's part of the bound, if it was asked for.
    pub bounds: Vec<f64>,
    /// What the local steps leave behind, in the slots of the task's rows.
    pub local: L,
}

impl<Expect> Task<Expect> {
    /// Does the task, where `data` are the worker's own items.
    pub fn run<M: SharedModel<Expect = Expect>>(
        &self,
        model: &M,
        data: &M::Data,
        scratch: &mut M::Scratch,
    ) -> Reply<M::Local> {
        let Task { items, weights, warm, rows, expect, ask } = self;
        let mut local = M::Local::new(&model.layout());
        let mut bounds = vec![0.0; items.len()];
        let shard = Shard { data, items, weights: &[], rows, warm };
        let weights = &mut weights.clone();
        run_shard(model, expect, shard, weights, *ask, scratch, &mut local, &mut bounds);
        Reply { bounds, local }
    }
}

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
