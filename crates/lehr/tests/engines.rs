//! Fits of ratings whose local steps run elsewhere: every message becomes bytes and back, workers own the ratings of
//! their users, and tasks are done in a random order. `remote.rs` has the models whose rows share a batch.

mod common;

use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;

use common::{Recorder, bits, made_ratings, rng};
use lehr::data::{Ratings, Side};
use lehr::engine::{Engine, RowBatch, RowReply, RowTask, Sizes, Sums, Warm, Work};
use lehr::fit::{State, fit_on};
use lehr::math::rng::Rng;
use lehr::model::{Ask, Dataset, Model, RowSet, Stats};
use lehr::models::{Pmf, PmfParams};
use lehr::{Error, FitConfig, Result};

/// What comes out of bytes that a value was made into.
fn sent<T: Serialize + DeserializeOwned>(value: &T, traffic: &Cell<usize>) -> T {
    let bytes = serde_json::to_vec(value).unwrap();
    traffic.set(traffic.get() + bytes.len());
    serde_json::from_slice(&bytes).unwrap()
}

fn shuffle<T>(tasks: &mut [T], rng: &mut Rng) {
    for i in (1..tasks.len()).rev() {
        tasks.swap(i, rng.below(i as u64 + 1) as usize);
    }
}

fn toml_of(text: &str) -> FitConfig {
    toml::from_str(&text.replace("; ", "\n")).unwrap()
}

/// Workers that have the ratings of their own users, shard by shard. Items' sums come back per shard and are
/// added in the order of the shards.
struct UserShards<'a> {
    model: &'a Pmf,
    sizes: Sizes,
    shards: Vec<Ratings>,
    n_workers: usize,
    rng: Rng,
    traffic: Cell<usize>,
}

const USER_SHARDS: usize = 5;

impl<'a> UserShards<'a> {
    fn new(model: &'a Pmf, ratings: &Ratings, n_workers: usize, seed: u64) -> Self {
        let starts = ratings.side(Side::User).starts();
        let n_users = starts.len() - 1;
        let shard = |s: usize| {
            let users = s * n_users / USER_SHARDS..(s + 1) * n_users / USER_SHARDS;
            let items: Vec<u32> =
                (starts[users.start]..starts[users.end]).map(|n| n as u32).collect();
            ratings.subset(&items)
        };
        UserShards {
            model,
            sizes: Sizes::of(ratings, 2),
            shards: (0..USER_SHARDS).map(shard).collect(),
            n_workers,
            rng: rng(seed),
            traffic: Cell::new(0),
        }
    }

    /// A shard's rows of a phase that have ratings there, and all rows that they need expectations of.
    fn rows(&self, shard: usize, phase: usize) -> (Vec<u32>, RowSet) {
        let (layout, data) = (self.model.layout(), &self.shards[shard]);
        let touched = |phase: usize| {
            let (first, groups) = (layout.phases[phase].rows.start, data.groups(phase));
            let rows = (0..groups.len() - 1).filter(|&g| groups[g + 1] > groups[g]);
            rows.map(|g| (first + g) as u32).collect::<Vec<u32>>()
        };
        let mut all = RowSet::all(layout.n_rows);
        all.collect(|touch| {
            touch(&touched(0));
            touch(&touched(1));
        });
        sent(&(touched(phase), all), &self.traffic)
    }
}

impl Engine<Pmf> for UserShards<'_> {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn support(&mut self, _model: &Pmf, _items: &[u32], rows: &mut RowSet) -> Result<()> {
        rows.insert_all();
        Ok(())
    }

    fn sum(&mut self, work: Work<'_, Pmf>, _warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        let Work { model, expect, batch, ask, .. } = work;
        if batch.noise.is_some() || !batch.items.is_empty() {
            return Err(Error::data("these workers know full batches without noise"));
        }
        let RowBatch { phase, .. } = *batch;
        let mut order: Vec<usize> = (0..USER_SHARDS).collect();
        shuffle(&mut order, &mut self.rng);
        let held = RowSet::all(model.layout().n_rows);
        let mut replies: Vec<Option<(Vec<u32>, RowReply)>> = vec![None; USER_SHARDS];
        for worker in 0..self.n_workers {
            for &shard in order.iter().filter(|&&shard| shard % self.n_workers == worker) {
                let (rows, needed) = self.rows(shard, phase);
                let ask = Ask { shrink: 0.0, ..ask };
                let expect = model.pick(expect, &held, &needed);
                let task = sent(&RowTask { phase, rows, expect, ask }, &self.traffic);
                let reply = task.run(model, &self.shards[shard], &mut model.scratch());
                replies[shard] = Some((task.rows, sent(&reply, &self.traffic)));
            }
        }
        stats.fit_to_rows();
        stats.clear();
        let mut bounds = vec![0.0; batch.rows.len()];
        for (rows, reply) in replies.into_iter().flatten() {
            for (i, &row) in rows.iter().enumerate() {
                let sums = stats.row_mut(row as usize);
                sums.iter_mut().zip(reply.stats.row(row as usize)).for_each(|(s, x)| *s += x);
                if ask.bound {
                    bounds[batch.rows.slot(row as usize)] += reply.bounds[i];
                }
            }
        }
        Ok(Sums { bound: bounds.iter().sum(), ..Sums::default() })
    }
}

#[test]
fn ratings_by_user_shards_have_the_same_bits_on_any_workers() {
    let made = made_ratings((60, 40, 2), 900, (1.0, 0.5, 0.5), 7);
    for params in [PmfParams::new(3), PmfParams { exact: true, ..PmfParams::new(12) }] {
        let pmf = Pmf::new(params, &made.ratings).unwrap();
        let config = toml_of("steps = 8; tol = 0.0; seed = 3");
        let start = State::start(&pmf, &made.ratings, 3, 0).unwrap();
        let plan = config.check_for(&pmf, &made.ratings).unwrap();
        let run = |n_workers: usize, seed: u64| {
            let mut engine = UserShards::new(&pmf, &made.ratings, n_workers, seed);
            let mut seen = Recorder::default();
            let fit = fit_on(&pmf, &mut engine).config(config.clone()).from(start.clone());
            let fitted = fit.threads(1).watch(&mut seen).run().unwrap();
            assert!(engine.traffic.get() > 0);
            let bounds: Vec<f64> = seen.0.iter().map(|o| o.bound).collect();
            (fitted.state.lambda.table().values().to_vec(), bounds)
        };
        let (lambda, bounds) = run(1, 1);
        for (n_workers, seed) in [(2, 2), (3, 3), (5, 4), (5, 5)] {
            let (found, seen) = run(n_workers, seed);
            assert_eq!((bits(&found), bits(&seen)), (bits(&lambda), bits(&bounds)));
        }
        // Threads sum an item's ratings in another order: equal but for rounding.
        let mut seen = Recorder::default();
        let fit = lehr::fit(&pmf, &made.ratings).plan(plan.clone()).from(start.clone());
        fit.threads(1).watch(&mut seen).run().unwrap();
        for (o, bound) in seen.0.iter().zip(&bounds) {
            assert!((o.bound - bound).abs() < 1e-4 * bound.abs(), "{} {bound}", o.bound);
        }
    }
}
