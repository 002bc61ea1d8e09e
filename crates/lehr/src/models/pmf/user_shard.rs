//! The users of one shard, which stay with their ratings: a factorisation of its own, of these users and all items, of
//! which the items' moments come from elsewhere and the items' sums go there.

use std::ops::Range;

use rayon::prelude::*;

use super::expect::{Apart, Expect, ItemTable};
use super::{Frozen, Pmf, PmfParams, bound, gauge, hyper};
use crate::Result;
use crate::data::{Ids, Ratings, Side};
use crate::lambda::Lambda;
use crate::math::stop;
use crate::math::table::Table;
use crate::model::{Ask, Dataset, Model, RowSet, RowShard, Stats};
use crate::step::anneal::RowNoise;
use crate::step::guard::Guard;
use crate::step::per_row::cut;
use crate::step::sample::RowBatch;
use crate::step::update::{Guarded, Raw, Step, Steps, Updater};

/// Where the ratings of a shard stand among all.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// How many ratings the shards before it have.
    pub first: usize,
    /// How many of them each item has.
    pub before: Vec<u32>,
}

/// How the users are updated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// The noise of the step, if any user has some.
    pub noise: Option<RowNoise>,
    /// rho of users without noise, and of noisy ones.
    pub rho: [f64; 2],
    pub guard: Guard,
}

/// The users of a shard.
pub(crate) struct UserShard {
    model: Pmf,
    data: Ratings,
    places: Places,
    lambda: Lambda,
    expect: Expect,
    /// What the last update did.
    pub guarded: Guarded,
    /// The users' sums without noise, if they were asked for since the last update.
    kept: Option<Stats>,
}

/// Draws the weights of some slots; false if they are all 1.
type Weigh<'a> = dyn Fn(Range<usize>, &mut Vec<f32>) -> bool + Sync + 'a;

impl UserShard {
    /// The users of these ratings, of a model that was made for all ratings.
    pub fn new(params: &PmfParams, frozen: &Frozen, data: Ratings, places: Places) -> Self {
        let ids = |side| data.ids(side).clone();
        let own = Frozen {
            users: ids(Side::User).len(),
            items: ids(Side::Item).len(),
            ratings: data.n_ratings(),
            ..frozen.clone()
        };
        let (users, items) = (ids(Side::User), ids(Side::Item));
        let model = Pmf::assemble(params.clone(), own, users, items, data.side(Side::User).clone());
        let layout = model.layout();
        let table = Table::new(layout.n_rows, layout.width);
        let lambda = Lambda::new(table, false, hyper::start(&model));
        let (expect, guarded, kept) = (Expect::default(), Guarded::default(), None);
        UserShard { model, data, places, lambda, expect, guarded, kept }
    }

    /// How many numbers the users' natural parameters are.
    pub fn size(&self) -> usize {
        self.model.first_row(Side::Item) * self.lambda.width()
    }

    /// Starts at these natural parameters.
    pub fn begin(&mut self, rows: &[f64]) {
        self.own_mut().copy_from_slice(rows);
        self.refresh();
    }

    /// The users' natural parameters.
    pub fn rows(&self) -> &[f64] {
        &self.lambda.table().values()[..self.size()]
    }

    fn own_mut(&mut self) -> &mut [f64] {
        let size = self.size();
        &mut self.lambda.table_mut().values_mut()[..size]
    }

    fn refresh(&mut self) {
        self.kept = None;
        let n_users = self.model.first_row(Side::Item) as u32;
        let mut users = RowSet::all(self.lambda.n_rows());
        users.collect(|touch| touch(&(0..n_users).collect::<Vec<u32>>()));
        self.model.refresh(&self.lambda, &users, &mut self.expect);
    }

    /// Turns the users' factors.
    pub fn turn(&mut self, by: &[f64]) {
        let size = self.size();
        gauge::turn(&self.model, by, &mut self.lambda.table_mut().values_mut()[..size]);
        self.refresh();
    }

    /// The users' part of the bound, given the items.
    pub fn look(&mut self, hyper: &[f64], items: &mut ItemTable) -> f64 {
        self.given(hyper, items, |shard| {
            let batch = shard.batch(0);
            let ask = Ask { bound: true, ..Ask::STATS };
            let (stats, of_ratings) = shard.sum(&batch, ask, &|_, _| false);
            shard.kept = Some(stats);
            of_ratings + bound::minus_kl_of_users(&shard.model, &shard.lambda, &shard.expect)
        })
    }

    /// Updates the users, given the items.
    pub fn sweep(&mut self, rule: Rule, hyper: &[f64], items: &mut ItemTable) -> Result<()> {
        let Rule { noise, rho, guard } = rule;
        let updated = self.given(hyper, items, |shard| {
            let mut batch = shard.batch(0);
            batch.noise = noise;
            let mut stats = match (noise, shard.kept.take()) {
                (None, Some(kept)) => kept,
                _ => shard.sum(&batch, Ask::STATS, &shard.users_noise(&batch)).0,
            };
            let step = |slot: usize| {
                let noisy = batch.is_noisy(slot);
                Step { rho: rho[usize::from(noisy)], scale: 1.0, noisy }
            };
            let steps: Vec<Step> = (0..batch.rows.len()).map(step).collect();
            let nothing = Lambda::new(Table::new(0, 1), false, Vec::new());
            let mut lambda = std::mem::replace(&mut shard.lambda, nothing);
            let here: &UserShard = shard;
            let noiseless = |_: &RowSet, slots: &[usize]| {
                Ok(here.sum(&batch.noiseless(slots), Ask::STATS, &|_, _| false).0)
            };
            let (raw, steps) = (Raw::from(&mut stats), Steps::Each(&steps));
            let mut updater = Updater::new(&here.model, guard);
            let done = updater.apply(&here.model, 0..1, steps, raw, noiseless, &mut lambda);
            shard.lambda = lambda;
            done
        });
        self.guarded = updated?;
        self.refresh();
        Ok(())
    }

    /// Does something with the items' moments in place.
    fn given<T>(
        &mut self,
        hyper: &[f64],
        items: &mut ItemTable,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.lambda.hyper = hyper.to_vec();
        self.expect.exchange_items(&self.model, hyper[0], items);
        let done = work(self);
        self.expect.exchange_items(&self.model, hyper[0], items);
        done
    }

    /// The sums of the items over these users' ratings: of all items, or of some without noise.
    pub fn item_sums(
        &self,
        noise: Option<RowNoise>,
        starts: &[usize],
        items: Option<&[u32]>,
    ) -> Stats {
        let mut batch = self.batch(1);
        batch.noise = noise;
        if let Some(items) = items {
            let slots: Vec<usize> = items.iter().map(|&item| item as usize).collect();
            return self.sum(&batch.noiseless(&slots), Ask::STATS, &|_, _| false).0;
        }
        let weigh = |slots: Range<usize>, weights: &mut Vec<f32>| {
            let Some(noise) = noise else { return false };
            // The noise of an item is centred over all of its ratings, of which some are here.
            let mut all = Vec::new();
            if !noise.weights(&starts[slots.start..=slots.end], &mut all) {
                return false;
            }
            weights.clear();
            for item in slots.clone() {
                let first = starts[item] - starts[slots.start] + self.places.before[item] as usize;
                weights.extend_from_slice(&all[first..first + batch.size(item)]);
            }
            true
        };
        self.sum(&batch, Ask::STATS, &weigh).0
    }

    /// What who has the items must know of the users, and the first that could not be solved for.
    pub fn told(&mut self) -> (Apart, Option<usize>) {
        let second = gauge::second_moments(&self.model, Side::User, &self.expect);
        let squares = hyper::bias_squares(&self.model, Side::User, &self.expect);
        let broken = self.expect.broken.take();
        (Apart { second, squares, ..Apart::default() }, broken)
    }

    fn batch(&self, phase: usize) -> RowBatch {
        RowBatch::all(&self.model.layout(), phase, self.data.groups(phase))
    }

    fn users_noise(&self, batch: &RowBatch) -> impl Fn(Range<usize>, &mut Vec<f32>) -> bool + Sync {
        let (noise, first) = (batch.noise, self.places.first);
        let starts = batch.starts.clone();
        move |slots: Range<usize>, weights: &mut Vec<f32>| {
            let among_all = starts[slots.start..=slots.end].iter().map(|start| first + start);
            noise.is_some_and(|noise| noise.weights(&among_all.collect::<Vec<usize>>(), weights))
        }
    }

    /// The sums of a batch and, if asked for, its rows' part of the bound.
    fn sum(&self, batch: &RowBatch, ask: Ask, weigh: &Weigh<'_>) -> (Stats, f64) {
        let layout = self.model.layout();
        let mut stats = Stats::empty(layout.n_rows, layout.raw_width);
        stats.rows.clone_from(&batch.rows);
        stats.fit_to_rows();
        let mut bounds = vec![0.0; if ask.bound { batch.rows.len() } else { 0 }];
        let tasks = cut(batch, ask, rayon::current_num_threads(), &mut stats, &mut bounds);
        let (model, data, expect, phase) = (&self.model, &self.data, &self.expect, batch.phase);
        tasks.into_par_iter().with_max_len(1).for_each_init(
            || (model.scratch(), Vec::new()),
            |(scratch, weights), (slots, stats, bounds)| {
                stop::check();
                let rows: Vec<u32> = slots.clone().map(|s| batch.rows.row(s) as u32).collect();
                let starts = &batch.starts[slots.start..=slots.end];
                let listed = starts[0]..starts[rows.len()];
                let items = (!batch.items.is_empty()).then(|| &batch.items[listed]);
                let noisy = weigh(slots, weights);
                let weights = noisy.then_some(&weights[..]);
                let shard = RowShard { data, phase, rows: &rows, starts, items, weights };
                model.local_step(expect, shard, ask, scratch, stats, bounds);
            },
        );
        let bound = bounds.iter().sum();
        (stats, bound)
    }
}

/// Names for users or items that need none here.
pub(crate) fn numbered(n: usize) -> Ids {
    (0..n as i64).collect()
}
