//! Fits whose local steps run elsewhere: every message becomes bytes and back, workers own their parts of the
//! data, tasks are done in a random order, and the fit has the bits of the threads.

mod common;

use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;

use common::{Recorder, bits, clusters, made_ratings, rng, small_corpus};
use lehr::data::FromFile;
use lehr::data::{Ratings, Side};
use lehr::engine::{
    Engine, Gather, Reply, RowBatch, RowReply, RowTask, Shards, Sizes, Sums, Task, Warm, Work,
};
use lehr::fit::{Fitted, State, fit_on};
use lehr::math::rng::Rng;
use lehr::model::{Ask, Dataset, Local, Model, RowSet, SharedModel, Stats};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams, Pmf, PmfParams, Stored};
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

/// Workers that have their own items of a model whose rows share a batch. The driver's side knows how many
/// items there are, and that they were dealt out in blocks.
struct Workers<'a, M: Stored + SharedModel> {
    model: &'a M,
    sizes: Sizes,
    block: usize,
    workers: Vec<(M::Data, M::Scratch)>,
    rng: Rng,
    traffic: Cell<usize>,
    /// Tasks until a worker is lost.
    lost_after: Option<usize>,
}

impl<'a, M: Stored + SharedModel> Workers<'a, M> {
    fn new(model: &'a M, data: &M::Data, n_workers: usize, block: usize) -> Self {
        let n_items = data.n_items();
        let own = |worker: usize| -> Vec<u32> {
            (0..n_items as u32).filter(|&n| n as usize / block % n_workers == worker).collect()
        };
        let worker = |worker: usize| (data.subset(&own(worker)), model.scratch());
        Workers {
            model,
            sizes: Sizes { n_items, groups: Vec::new() },
            block,
            workers: (0..n_workers).map(worker).collect(),
            rng: rng(9),
            traffic: Cell::new(0),
            lost_after: None,
        }
    }

    /// Who has an item, and its number there.
    fn owner(&self, item: u32) -> (usize, u32) {
        let (block, n_workers) = (item as usize / self.block, self.workers.len());
        let place = block / n_workers * self.block + item as usize % self.block;
        (block % n_workers, place as u32)
    }

    /// The rows that a worker's items touch.
    fn rows_of(&self, worker: usize, items: &[u32]) -> RowSet {
        let items: Vec<u32> = sent(&items.to_vec(), &self.traffic);
        let mut rows = RowSet::all(self.model.layout().n_rows);
        self.model.support(&self.workers[worker].0, &items, &mut rows);
        sent(&rows, &self.traffic)
    }

    /// A shard's items in runs that one worker has.
    fn pieces(&self, items: &[u32]) -> Vec<(usize, std::ops::Range<usize>)> {
        let mut pieces: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for (i, &item) in items.iter().enumerate() {
            let (worker, _) = self.owner(item);
            match pieces.last_mut() {
                Some((last, range)) if *last == worker => range.end = i + 1,
                _ => pieces.push((worker, i..i + 1)),
            }
        }
        pieces
    }
}

/// What has come back for a piece of a shard.
type Returned<M> = (RowSet, Reply<<M as SharedModel>::Local>);

impl<M: Stored + SharedModel> Engine<M> for Workers<'_, M>
where
    M::Data: Send,
{
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn support(&mut self, _model: &M, items: &[u32], rows: &mut RowSet) -> Result<()> {
        let mut found = Vec::new();
        for worker in 0..self.workers.len() {
            let own = items.iter().map(|&n| self.owner(n)).filter(|(w, _)| *w == worker);
            let own: Vec<u32> = own.map(|(_, n)| n).collect();
            found.push(self.rows_of(worker, &own));
        }
        if found.iter().any(RowSet::is_all) {
            rows.insert_all();
            return Ok(());
        }
        rows.collect_counted(|touch| {
            for rows in &found {
                (0..rows.len()).for_each(|s| touch(rows.row(s) as u32, rows.count(s).unwrap()));
            }
        });
        Ok(())
    }

    fn sum(&mut self, work: Work<'_, M>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        let Work { model, expect, batch, ask, .. } = work;
        let shards = Shards::new(model, batch.items.len());
        let mut gather = Gather::new(model, batch, ask, stats);
        for wave in shards.waves() {
            // Who does what: pieces of shards, wherever their items are.
            let mut tasks = Vec::new();
            for (shard, range) in shards.places(&wave).enumerate() {
                for (piece, (worker, part)) in
                    self.pieces(&batch.items[range.clone()]).into_iter().enumerate()
                {
                    let part = range.start + part.start..range.start + part.end;
                    tasks.push((shard, piece, worker, part));
                }
            }
            shuffle(&mut tasks, &mut self.rng);
            let mut returned: Vec<Vec<Option<Returned<M>>>> =
                wave.clone().map(|_| Vec::new()).collect();
            for (shard, piece, worker, part) in tasks {
                if let Some(left) = &mut self.lost_after {
                    *left = left.checked_sub(1).ok_or_else(|| Error::data("worker 2 is gone"))?;
                }
                let items = &batch.items[part.clone()];
                let own: Vec<u32> = items.iter().map(|&n| self.owner(n).1).collect();
                let rows = self.rows_of(worker, &own);
                let mut state = Vec::new();
                warm.fetch(items, &mut state);
                let task = Task {
                    items: own,
                    weights: batch.weights[part].to_vec(),
                    warm: state,
                    expect: model.pick(expect, &stats.rows, &rows),
                    rows,
                    ask,
                };
                let task = sent(&task, &self.traffic);
                let (data, scratch) = &mut self.workers[worker];
                let reply = sent(&task.run(model, data, scratch), &self.traffic);
                let pieces = &mut returned[shard];
                pieces.resize_with(pieces.len().max(piece + 1), || None);
                pieces[piece] = Some((task.rows, reply));
            }
            let (mut bounds, mut locals) = (Vec::new(), Vec::new());
            for pieces in returned {
                let (mut of_shard, mut whole): (Vec<f64>, Option<M::Local>) = (Vec::new(), None);
                for (rows, Reply { bounds, mut local }) in pieces.into_iter().flatten() {
                    of_shard.extend(bounds);
                    local.renumber(&rows, &stats.rows);
                    let Some(whole) = &mut whole else {
                        whole = Some(local);
                        continue;
                    };
                    if !whole.append(local) {
                        return Err(Error::data(format!(
                            "the items of a shard of a {} must be in one place",
                            model.name()
                        )));
                    }
                }
                bounds.push(of_shard);
                locals.extend(whole);
            }
            let bounds = bounds.iter().map(|bounds| &bounds[..]);
            gather.wave(expect, shards.places(&wave), bounds, &locals, warm, stats);
        }
        Ok(gather.sums)
    }
}

/// Fits on threads and on workers from the same start; what the workers' engine has sent.
fn same_bits<M: Stored + SharedModel>(
    what: &str,
    model: &M,
    data: &M::Data,
    block: usize,
    config: &FitConfig,
) -> usize
where
    M::Data: Send,
{
    let mut here = Recorder::default();
    let start = State::start(model, data, config.seed, 0).unwrap();
    let fit = lehr::fit(model, data).config(config.clone()).from(start.clone());
    let expected = fit.threads(2).watch(&mut here).run().unwrap();
    let mut traffic = 0;
    for n_workers in [1, 3, 4] {
        let mut engine = Workers::new(model, data, n_workers, block);
        let mut there = Recorder::default();
        let fit = fit_on(model, &mut engine).config(config.clone()).from(start.clone());
        let found = fit.threads(1).watch(&mut there).run().unwrap();
        let what = format!("{what}, {n_workers} workers");
        assert_eq!(
            bits(found.state.lambda.table().values()),
            bits(expected.state.lambda.table().values()),
            "{what}"
        );
        assert_eq!(found.state.lambda.hyper, expected.state.lambda.hyper, "{what}");
        let bounds = |seen: &Recorder| bits(&seen.0.iter().map(|o| o.bound).collect::<Vec<_>>());
        assert_eq!(bounds(&there), bounds(&here), "{what}");
        traffic = engine.traffic.get();
    }
    traffic
}

fn toml_of(text: &str) -> FitConfig {
    toml::from_str(&text.replace("; ", "\n")).unwrap()
}

#[test]
fn mixtures_have_the_bits_of_the_threads() {
    let points = clusters(2500, 3, 4, 2.0, 7);
    for (name, params) in common::every_mixture(5) {
        let mixture = Mixture::new(params, &points).unwrap();
        for config in [
            "steps = 6; tol = 0.0; seed = 3",
            "steps = 8; tol = 0.0; seed = 3; effective = 300",
            // Batches of the file's order: a shard's items stay neighbours.
            "steps = 8; tol = 0.0; seed = 3; batch = 512; sampling = \"in-order\"; effective = 60; \
             guard = \"reject\"; eval_every = 4",
        ] {
            // The last, short shard of one epoch is followed by the first items of the next.
            let whole = if config.contains("batch") { 2048 } else { 2500 };
            let items: Vec<u32> = (0..whole).collect();
            let data = &points.subset(&items);
            let traffic =
                same_bits(&format!("{name}: {config}"), &mixture, data, 512, &toml_of(config));
            assert!(traffic > 0);
        }
    }
    let weighted = points.subset(&(0..2500).collect::<Vec<u32>>());
    let weighted = weighted.with_weights((0..2500).map(|n| f64::from(n % 3)).collect()).unwrap();
    let mixture = Mixture::new(MixtureParams::gmm(4), &weighted).unwrap();
    same_bits("weights", &mixture, &weighted, 512, &toml_of("steps = 5; tol = 0.0"));
}

#[test]
fn topics_have_the_bits_of_the_threads_wherever_documents_are() {
    let docs = small_corpus(300, 7);
    let batches = "steps = 10; tol = 0.0; seed = 3; batch = 70; eval_every = 5";
    let mut cases = vec![
        (LdaParams::fixed(4), "steps = 4; tol = 0.0; seed = 3".to_string()),
        (LdaParams { exact: true, ..LdaParams::fixed(4) }, format!("{batches}; effective = 9")),
        (LdaParams::fixed(20), format!("{batches}; warm = true; warm_after = 1; effective = 9")),
    ];
    for sampling in ["epochs", "without-replacement", "with-replacement", "in-order"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; sampling = \"{sampling}\"")));
    }
    for law in ["gamma", "subsample", "lagged"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; effective = 9; law = \"{law}\"")));
    }
    for guard in ["shrink", "clamp", "reject", "clip", "halve", "reject-below-prior"] {
        cases.push((LdaParams::fixed(4), format!("{batches}; effective = 4; guard = \"{guard}\"")));
    }
    let learns = LdaParams {
        learn_alpha: Some(lehr::models::lda::LearnAlpha::Asymmetric),
        learn_eta: Some(true),
        ..LdaParams::fixed(4)
    };
    cases.push((learns, batches.to_string()));
    for (params, config) in cases {
        let lda = Lda::new(params, &docs).unwrap();
        same_bits(&config, &lda, &docs, 10, &toml_of(&config));
    }
}

#[test]
fn only_rows_that_items_touch_are_sent() {
    // 2000 words, of which a document has ten: whole tables would be a hundred times as large.
    let doc = |n: u32| (0..10).map(|w| ((n * 13 + w * 7) % 2000, 1.0)).collect();
    let docs = lehr::data::Docs::from_rows((0..40).map(doc), 2000).unwrap();
    let lda = Lda::new(LdaParams::fixed(4), &docs).unwrap();
    let config = toml_of("steps = 5; tol = 0.0; batch = 4; eval_every = 0");
    let mut engine = Workers::new(&lda, &docs, 2, 5);
    let start = State::start(&lda, &docs, 0, 0).unwrap();
    fit_on(&lda, &mut engine).config(config).from(start.clone()).threads(1).run().unwrap();
    let table = serde_json::to_vec(start.lambda.table()).unwrap().len();
    // Five steps of four documents, 40 rows each.
    assert!(engine.traffic.get() < 2 * table, "{} bytes, lambda has {table}", engine.traffic.get());
}

#[test]
fn a_lost_worker_is_an_error_and_so_is_a_shard_in_two_places() {
    let points = clusters(2000, 3, 4, 2.0, 7);
    let mixture = Mixture::new(MixtureParams::gmm(4), &points).unwrap();
    let start = State::start(&mixture, &points, 0, 0).unwrap();
    let run = |engine: &mut Workers<'_, Mixture>, config: &str| -> Result<Fitted> {
        fit_on(&mixture, engine).config(toml_of(config)).from(start.clone()).threads(1).run()
    };
    let mut engine = Workers::new(&mixture, &points, 3, 512);
    engine.lost_after = Some(9);
    let error = run(&mut engine, "steps = 9; tol = 0.0").unwrap_err();
    assert_eq!(error.to_string(), "worker 2 is gone");
    let mut engine = Workers::new(&mixture, &points, 3, 512);
    let error = run(&mut engine, "steps = 9; tol = 0.0; batch = 100").unwrap_err().to_string();
    assert_eq!(error, "the items of a shard of a gmm must be in one place");
    let mut engine = Workers::new(&mixture, &points, 3, 512);
    let error = fit_on(&mixture, &mut engine).run().unwrap_err().to_string();
    assert_eq!(error, "there are no items here to make a start from; give a state");
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
