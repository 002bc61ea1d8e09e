//! The driver's side of a matrix factorisation whose users stay with their workers, or with this process: an engine that
//! sends the items' moments and adds the items' sums in the order of the shards.
//!
//! A step is a round: the users of each shard are updated and the items' sums over them made where the shard is. Where the
//! bound is asked for, a round before it brings the users' part. Users come here when they are to be saved. What has changed
//! them since is kept, so that another worker can make them again if their worker is lost.

use std::ops::Range;

use rayon::prelude::*;

use super::engine::{Hands, MOST_BYTES, Take, Task};
use super::model::Packed;
use super::users_wire::{Change, Sums as Sent, Sweep, Then, UserCommon, UserReply, UserTask};
use super::users_worker::UserWorker;
use super::wire::{decode, encode};
use super::worker::Works;
use crate::data::Ratings;
use crate::engine::{Advance, Engine, Holder, Sizes, Sums, Warm, Work};
use crate::lambda::Lambda;
use crate::model::{Model, RowSet, Stats};
use crate::models::Pmf;
use crate::models::pmf::{Apart, Expect, ItemMoments};
use crate::shards::ShardFolder;
use crate::step::anneal::RowNoise;
use crate::step::sample::RowBatch;
use crate::step::update::Guarded;
use crate::{Error, Result};

/// An engine for ratings in shards.
pub(crate) struct Users<'a> {
    hands: Box<dyn Hands + 'a>,
    sizes: Sizes,
    /// The first user of each shard, and the end of the last.
    users: Vec<usize>,
    n_items: usize,
    /// Numbers in a row of lambda, and in one of statistics.
    widths: [usize; 2],
    /// Which fit this is; a fit has versions of its own.
    run: u64,
    /// The users as they were at version `since`, and what has changed them since.
    fetched: Vec<f64>,
    since: u64,
    changes: Vec<Change>,
    /// Bytes of the changes.
    kept: usize,
    /// How many of the changes workers have made; none if they were not sent the users yet.
    made: Option<usize>,
    /// Whether the items of the next update were sent already, for the bound.
    looked: bool,
    /// How many turns were seen.
    turns: u64,
    /// The items' sums of the pass that follows, and their noise.
    items: Option<(Option<RowNoise>, Vec<f64>)>,
}

/// A worker in this process.
struct Here(UserWorker);

impl Hands for Here {
    fn model(&mut self, _model: Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> Result<()> {
        let tasks: Vec<(usize, &[u8])> =
            tasks.iter().map(|(part, task)| (*part, &task[..])).collect();
        let replies = self.0.run(&common, &tasks)?;
        take(&replies.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

impl<'a> Users<'a> {
    /// An engine whose tasks these hands have done.
    pub fn new(model: &Pmf, sizes: Sizes, hands: Box<dyn Hands + 'a>) -> Result<Self> {
        let (Some(groups), false) = (sizes.groups.first(), sizes.parts.is_empty()) else {
            return Err(Error::data(
                "workers need data in shards; make a folder of shards of them",
            ));
        };
        // Every user has ratings.
        let users = sizes.parts.iter().map(|&part| groups.partition_point(|&start| start < part));
        let (users, layout): (Vec<usize>, _) = (users.collect(), model.layout());
        Ok(Users {
            hands,
            users,
            n_items: layout.phases[1].rows.len(),
            widths: [layout.width, layout.raw_width],
            run: 0,
            fetched: Vec::new(),
            since: 0,
            changes: Vec::new(),
            kept: 0,
            made: None,
            looked: false,
            turns: 0,
            items: None,
            sizes,
        })
    }

    /// An engine in this process.
    pub fn here(model: &Pmf, data: &Ratings, folder: &ShardFolder) -> Result<Users<'static>> {
        let worker = UserWorker::new(&Packed::settings_of(model), folder.clone())?;
        Users::new(model, Sizes::of(data, 2), Box::new(Here(worker)))
    }

    /// What happens since the last look at the expectations: factors may have to be turned.
    fn follow(&mut self, expect: &Expect) {
        let Some(Apart { turns, turn, .. }) = &expect.apart else { return };
        if *turns > self.turns {
            self.turns = *turns;
            self.kept += size_of_val(&turn[..]);
            self.changes.push(Change::Turn(turn.clone()));
        }
    }

    /// One round: all shards make the changes that they have not made, and then something; what they tell comes in order.
    fn round(
        &mut self,
        then: &Then,
        mut take: impl FnMut(usize, UserReply) -> Result<()>,
    ) -> Result<()> {
        let n_shards = self.users.len() - 1;
        let reply = match then {
            Then::Look { .. } => 0,
            Then::Items { items, .. } => {
                items.as_ref().map_or(self.n_items, Vec::len) * self.widths[1] * 8
            }
            Then::Fetch => self.fetched.len() * 8 / n_shards,
        };
        let most = (MOST_BYTES / reply.max(1)).max(1);
        for first in (0..n_shards).step_by(most) {
            let parts = first..(first + most).min(n_shards);
            let mut replies: Vec<Option<UserReply>> = match self.made {
                None => parts.clone().map(|_| None).collect(),
                Some(made) => {
                    let common = self.common(made, self.looked, then);
                    let tasks = parts.clone().map(|part| (part, encode(&UserTask { users: None })));
                    let known = |reply: UserReply| match reply {
                        UserReply::Behind => None,
                        reply => Some(reply),
                    };
                    let replies = self.replies(common, tasks.collect())?;
                    replies.into_iter().map(known).collect()
                }
            };
            replies.resize_with(parts.len(), || None);
            let behind: Vec<usize> =
                parts.clone().zip(&replies).filter(|(_, r)| r.is_none()).map(|(p, _)| p).collect();
            if !behind.is_empty() {
                let common = self.common(0, false, then);
                let tasks = behind.iter().map(|&part| {
                    let users = Some(self.fetched[self.numbers(part)].to_vec());
                    (part, encode(&UserTask { users }))
                });
                let found = self.replies(common, tasks.collect())?;
                for (&part, reply) in behind.iter().zip(found) {
                    replies[part - parts.start] = Some(reply);
                }
            }
            for (part, reply) in parts.zip(replies) {
                let reply = reply.unwrap_or(UserReply::Behind);
                take(part, reply)?;
            }
        }
        self.made = Some(self.changes.len());
        Ok(())
    }

    /// The replies to tasks.
    fn replies(&mut self, common: Vec<u8>, tasks: Vec<Task>) -> Result<Vec<UserReply>> {
        let mut read = Vec::new();
        self.hands.round(common, tasks, &mut |replies| {
            read = replies.par_iter().map(|reply| decode(reply)).collect::<Result<_>>()?;
            Ok(())
        })?;
        Ok(read)
    }

    /// Where the numbers of a shard's users are among those of all.
    fn numbers(&self, part: usize) -> Range<usize> {
        self.users[part] * self.widths[0]..self.users[part + 1] * self.widths[0]
    }

    /// What all tasks share, with the changes from number `from` on; those that were `looked` at leave out the items.
    fn common(&self, from: usize, looked: bool, then: &Then) -> Vec<u8> {
        let mut light = Vec::new();
        let changes = match self.changes[from..].split_last() {
            Some((Change::Sweep(sweep), before)) if looked => {
                light.extend_from_slice(before);
                light.push(Change::Sweep(Sweep { items: None, ..sweep.clone() }));
                &light[..]
            }
            _ => &self.changes[from..],
        };
        let first = self.since + from as u64;
        encode(&UserCommon { run: self.run, first, changes, then })
    }

    fn incomplete(part: usize) -> Error {
        Error::data(format!("shard {part}: a reply is not complete"))
    }

    /// The items' sums over all users, in the order of the shards.
    fn item_sums(
        &mut self,
        noise: Option<RowNoise>,
        items: Option<Vec<u32>>,
    ) -> Result<(Vec<f64>, Apart, Guarded, Option<usize>)> {
        let n = items.as_ref().map_or(self.n_items, Vec::len) * self.widths[1];
        let mut all = vec![0.0; n];
        let (mut apart, mut guarded) = (Apart::default(), Guarded::default());
        let mut first_broken: Option<usize> = None;
        let firsts = self.users.clone();
        self.round(&Then::Items { noise, items }, |part, reply| {
            let UserReply::Items { sums, second, squares, guarded: done, broken } = reply else {
                return Err(Self::incomplete(part));
            };
            let is_whole = match sums {
                Sent::Single(sums) => add(&mut all, &sums),
                Sent::Double(sums) => add(&mut all, &sums),
            };
            apart.second.resize(second.len(), 0.0);
            if !(is_whole && add(&mut apart.second, &second)) {
                return Err(Self::incomplete(part));
            }
            apart.squares += squares;
            guarded.hits += done[0];
            guarded.noisy += done[1];
            let broken = broken.map(|user| firsts[part] + user as usize);
            first_broken = first_broken.or(broken);
            Ok(())
        })?;
        Ok((all, apart, guarded, first_broken))
    }
}

/// Adds numbers to sums; false if there are not as many.
fn add<T: Copy + Into<f64> + Sync>(sums: &mut [f64], numbers: &[T]) -> bool {
    const TOGETHER: usize = 1 << 14;
    let chunks = sums.par_chunks_mut(TOGETHER).zip(numbers.par_chunks(TOGETHER));
    chunks.for_each(|(sums, numbers)| {
        sums.iter_mut().zip(numbers).for_each(|(sum, &x)| *sum += x.into());
    });
    sums.len() == numbers.len()
}

impl Engine<Pmf> for Users<'_> {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn support(&mut self, _model: &Pmf, _items: &[u32], rows: &mut RowSet) -> Result<()> {
        rows.insert_all();
        Ok(())
    }

    fn sum(&mut self, work: Work<'_, Pmf>, _warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        let Work { model, expect, batch, ask, .. } = work;
        self.follow(expect);
        let width = model.learner().map_or(0, |learner| learner.width());
        let sums = |bound: f64| Sums { bound, hyper: vec![0.0; width], ..Sums::default() };
        if batch.phase == 0 {
            is_full(batch)?;
            if !ask.bound {
                return Ok(sums(0.0));
            }
            let items = ItemMoments::of(expect);
            let hyper = expect.apart.as_ref().map_or(Vec::new(), |users| users.hyper.clone());
            let mut bound = 0.0;
            self.looked = false;
            self.round(&Then::Look { hyper, items }, |part, reply| {
                let UserReply::Bound(own) = reply else { return Err(Self::incomplete(part)) };
                bound += own;
                Ok(())
            })?;
            self.looked = true;
            return Ok(sums(bound));
        }
        let is_whole = batch.items.is_empty();
        let known = self.items.take().filter(|known| is_whole && known.0 == batch.noise);
        let values = match known {
            Some((_, values)) => values,
            None => {
                let first = model.layout().phases[1].rows.start;
                let rows = (0..batch.rows.len()).map(|slot| (batch.rows.row(slot) - first) as u32);
                let items = (!is_whole).then(|| rows.collect());
                self.item_sums(batch.noise, items)?.0
            }
        };
        stats.fit_to_rows();
        stats.values_mut().copy_from_slice(&values);
        Ok(sums(0.0))
    }

    fn holder(&mut self) -> Option<&mut dyn Holder<Pmf>> {
        Some(self)
    }
}

/// Refuses batches of some of the ratings.
fn is_full(batch: &RowBatch) -> Result<()> {
    if batch.items.is_empty() {
        return Ok(());
    }
    let allowed = "is not for ratings in shards, whose steps use all of them; leave it out, or fit the file they were made of";
    Err(Error::config("batch", "a number", allowed))
}

impl Holder<Pmf> for Users<'_> {
    fn begin(&mut self, model: &Pmf, lambda: &Lambda, expect: &mut Expect) -> Result<()> {
        let n_users = self.users[self.users.len() - 1];
        self.run += 1;
        self.fetched = lambda.table().values()[..n_users * self.widths[0]].to_vec();
        (self.since, self.kept, self.made, self.looked, self.turns) = (0, 0, None, false, 0);
        (self.changes, self.items) = (Vec::new(), None);
        expect.apart = Some(Apart { hyper: lambda.hyper.clone(), ..Apart::default() });
        let mut items = RowSet::all(lambda.n_rows());
        let rows = model.layout().phases[1].rows.clone();
        items.collect(|touch| touch(&rows.map(|row| row as u32).collect::<Vec<u32>>()));
        model.refresh(lambda, &items, expect);
        Ok(())
    }

    fn advance(&mut self, advance: Advance<'_, Pmf>, expect: &mut Expect) -> Result<Guarded> {
        let Advance { hyper, batch, next, rho, guard, .. } = advance;
        is_full(batch)?;
        self.follow(expect);
        if self.kept > MOST_BYTES.max(size_of_val(&self.fetched[..])) {
            self.bring()?;
        }
        let items = ItemMoments::of(expect);
        self.kept += items.bytes();
        let (hyper, noise) = (hyper.to_vec(), batch.noise);
        self.changes.push(Change::Sweep(Sweep { hyper, noise, rho, guard, items: Some(items) }));
        let done = self.item_sums(next.noise, None);
        self.looked = false;
        let (sums, found, guarded, broken) = done?;
        self.items = Some((next.noise, sums));
        if let Some(apart) = &mut expect.apart {
            (apart.second, apart.squares) = (found.second, found.squares);
        }
        expect.broken = expect.broken.or(broken);
        Ok(guarded)
    }

    fn fetch(&mut self, expect: &Expect, lambda: &mut Lambda) -> Result<()> {
        self.follow(expect);
        if !self.changes.is_empty() {
            self.bring()?;
        }
        lambda.table_mut().values_mut()[..self.fetched.len()].copy_from_slice(&self.fetched);
        Ok(())
    }

    fn mark(&self) -> u64 {
        self.since + self.changes.len() as u64
    }

    fn back(&mut self, mark: u64, expect: &Expect) {
        self.changes.truncate(mark.saturating_sub(self.since) as usize);
        self.made = self.made.map(|made| made.min(self.changes.len()));
        (self.looked, self.items) = (false, None);
        // Of a step that was not made.
        self.turns = expect.apart.as_ref().map_or(0, |apart| apart.turns);
    }
}

impl Users<'_> {
    /// Brings all users here.
    fn bring(&mut self) -> Result<()> {
        let mut fetched = vec![0.0; self.fetched.len()];
        let numbers: Vec<Range<usize>> =
            (0..self.users.len() - 1).map(|part| self.numbers(part)).collect();
        self.looked = false;
        self.round(&Then::Fetch, |part, reply| {
            let UserReply::Users(rows) = reply else { return Err(Self::incomplete(part)) };
            let place = &mut fetched[numbers[part].clone()];
            if rows.len() != place.len() {
                return Err(Self::incomplete(part));
            }
            place.copy_from_slice(&rows);
            Ok(())
        })?;
        self.fetched = fetched;
        self.since += self.changes.len() as u64;
        self.changes.clear();
        (self.kept, self.made) = (0, Some(0));
        Ok(())
    }
}
