//! The driver's side: an engine that hands the work of a pass on, shard by shard of the folder.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::wire::{Common, GroupReply, Items, PartReply, PartTask, Piece, decode, encode};
use crate::engine::{Batch, Engine, Gather, Shards, Sizes, Sums, Warm, Work};
use crate::model::{Local, RowSet, SharedModel, Stats};
use crate::{Error, Result};

/// A task: the shard of the folder that it is about, and the message for who has it.
pub type Task = (usize, Vec<u8>);

/// What becomes of the replies of a round. They are read where they lie: there may be hundreds of megabytes of them.
pub type Take<'a> = &'a mut (dyn FnMut(&[&[u8]]) -> Result<()> + Send);

/// Has tasks done, wherever that is.
pub trait Hands: Send {
    /// What workers need before anything else, as [`pack`](super::pack) made it.
    fn model(&mut self, model: Vec<u8>) -> Result<()>;

    /// Has each task done by a worker that can open its shard, and needs what is `common` to all of them as well, and lends
    /// the replies to `take`, once, in the order of the tasks. A task that is lost can be given to another process.
    fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> Result<()>;
}

impl<H: Hands + ?Sized> Hands for &mut H {
    fn model(&mut self, model: Vec<u8>) -> Result<()> {
        (**self).model(model)
    }

    fn round(&mut self, common: Vec<u8>, tasks: Vec<Task>, take: Take<'_>) -> Result<()> {
        (**self).round(common, tasks, take)
    }
}

/// Local steps on workers that open the shards of a folder.
pub struct Remote<'a> {
    sizes: Sizes,
    hands: &'a mut dyn Hands,
    /// Whether items touch a few rows of lambda only.
    is_sparse: bool,
    /// The items of the next step, if they are known.
    ahead: Option<Vec<u32>>,
    /// Items, and the rows that they touch; the latest come last.
    known: Vec<(Vec<u32>, RowSet)>,
}

/// How many batches are remembered with their rows: that of the next step, all items, those of the bound.
const REMEMBERED: usize = 3;

/// The bytes of replies that a driver has in memory at a time, about.
pub(super) const MOST_BYTES: usize = 256 << 20;

impl<'a> Remote<'a> {
    /// An engine for the items of a folder, which have these sizes.
    pub fn new<M: SharedModel>(model: &M, sizes: Sizes, hands: &'a mut dyn Hands) -> Result<Self> {
        if sizes.parts.is_empty() {
            return Err(Error::data(
                "workers need data in shards; make a folder of shards of them",
            ));
        }
        let is_sparse = model.layout().lazy;
        Ok(Remote { sizes, hands, is_sparse, ahead: None, known: Vec::new() })
    }

    /// Items by the shard that they are in, by their numbers there.
    fn by_part(&self, items: &[u32]) -> BTreeMap<usize, Vec<u32>> {
        let mut by_part: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for &item in items {
            let (part, item) = self.sizes.place(item);
            by_part.entry(part).or_default().push(item);
        }
        by_part
    }

    /// Remembers which rows items touch.
    fn remember(&mut self, items: Vec<u32>, rows: RowSet) {
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push((items, rows));
    }

    /// One round of tasks, by shard.
    fn round<L: Send + serde::de::DeserializeOwned>(
        &mut self,
        common: Vec<u8>,
        tasks: BTreeMap<usize, PartTask>,
    ) -> Result<BTreeMap<usize, PartReply<L>>> {
        let parts: Vec<usize> = tasks.keys().copied().collect();
        let tasks = tasks.par_iter().map(|(&part, task)| (part, encode(task))).collect();
        let mut decoded = BTreeMap::new();
        self.hands.round(common, tasks, &mut |replies| {
            if replies.len() != parts.len() {
                let message = format!("{} replies to {} tasks", replies.len(), parts.len());
                return Err(Error::data(message));
            }
            let read =
                parts.par_iter().zip(replies).map(|(&part, reply)| Ok((part, decode(reply)?)));
            decoded = read.collect::<Result<_>>()?;
            Ok(())
        })?;
        Ok(decoded)
    }
}

/// The rows that any of some sets has, each counted as often as all of them do.
fn united(n_rows: usize, sets: &[RowSet]) -> RowSet {
    let mut all = RowSet::all(n_rows);
    if sets.iter().any(RowSet::is_all) {
        return all;
    }
    all.collect_counted(|touch| {
        for rows in sets {
            (0..rows.len()).for_each(|s| touch(rows.row(s) as u32, rows.count(s).unwrap_or(0)));
        }
    });
    all
}

impl<M: SharedModel> Engine<M> for Remote<'_> {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn support(&mut self, model: &M, items: &[u32], rows: &mut RowSet) -> Result<()> {
        if !self.is_sparse {
            rows.insert_all();
            return Ok(());
        }
        if let Some(at) = self.known.iter().position(|(known, _)| known == items) {
            let known = self.known.remove(at);
            rows.clone_from(&known.1);
            self.known.push(known);
            return Ok(());
        }
        let tasks = self.by_part(items).into_iter().map(|(part, items)| {
            (part, PartTask { groups: Vec::new(), next: Some(Items::new(items)) })
        });
        let replies = self.round::<M::Local>(Vec::new(), tasks.collect())?;
        let sets: Vec<RowSet> = replies.into_values().filter_map(|reply| reply.rows).collect();
        *rows = united(model.layout().n_rows, &sets);
        self.remember(items.to_vec(), rows.clone());
        Ok(())
    }

    fn looks_ahead(&self) -> bool {
        self.is_sparse
    }

    fn ahead(&mut self, items: Vec<u32>) {
        self.ahead = Some(items);
    }

    fn sum(&mut self, work: Work<'_, M>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        let Work { model, expect, batch, ask, .. } = work;
        let shards = Shards::new(model, &batch.items, &self.sizes.parts);
        let mut gather = Gather::new(model, batch, ask, stats);
        let common = Common { rows: &stats.rows, expect, ask, noise: batch.noise };
        let mut common = encode(&common);
        let mut next = self.ahead.take();
        let mut rounds = rounds(model, &shards).into_iter().peekable();
        while let Some(waves) = rounds.next() {
            let mut tasks: BTreeMap<usize, PartTask> = BTreeMap::new();
            for (part, items) in next.iter().flat_map(|items| self.by_part(items)) {
                tasks.insert(part, PartTask { groups: Vec::new(), next: Some(Items::new(items)) });
            }
            for wave in &waves {
                for group in groups(&shards, wave) {
                    let task = tasks
                        .entry(shards.part(group.start))
                        .or_insert_with(|| PartTask { groups: Vec::new(), next: None });
                    let pieces = group.map(|shard| self.piece(batch, shards.range(shard), warm));
                    task.groups.push(pieces.collect());
                }
            }
            let is_last = rounds.peek().is_none();
            let own = if is_last { std::mem::take(&mut common) } else { common.clone() };
            let replies = self.round::<M::Local>(own, tasks)?;
            let mut sets = Vec::new();
            let mut left = BTreeMap::new();
            for (part, PartReply { groups, rows }) in replies {
                sets.extend(rows);
                left.insert(part, groups.into_iter());
            }
            if let Some(items) = next.take() {
                self.remember(items, united(model.layout().n_rows, &sets));
            }
            for wave in &waves {
                let (mut bounds, mut locals) = (Vec::new(), Vec::new());
                for group in groups(&shards, wave) {
                    let part = shards.part(group.start);
                    let reply = left.get_mut(&part).and_then(Iterator::next);
                    let expected = if M::Local::ADDS { 1 } else { group.len() };
                    let reply = reply.filter(|reply| reply.locals.len() == expected);
                    let Some(GroupReply { bounds: own, locals: left }) = reply else {
                        return Err(Error::data(format!("shard {part}: a reply is not complete")));
                    };
                    bounds.extend(own);
                    locals.extend(left);
                }
                let bounds = bounds.into_iter();
                gather.wave(expect, shards.places(wave), bounds, &locals, warm, stats);
            }
        }
        Ok(gather.sums)
    }
}

impl Remote<'_> {
    /// Some neighbouring items of a batch, which are all in one shard of the folder.
    fn piece(&self, batch: &Batch, places: Range<usize>, warm: &Warm) -> Piece {
        let items = &batch.items[places.clone()];
        let mut state = Vec::new();
        warm.fetch(items, &mut state);
        let are_sent = batch.noisy && batch.noise.is_none();
        Piece {
            place: places.start as u64,
            counted: batch.counted(&places) as u32,
            items: Items::new(items.iter().map(|&item| self.sizes.place(item).1).collect()),
            weights: if are_sent { batch.weights[places].to_vec() } else { Vec::new() },
            warm: state,
        }
    }
}

/// The groups of neighbouring shards of a wave that are of one shard of the folder.
fn groups(shards: &Shards, wave: &Range<usize>) -> Vec<Range<usize>> {
    let groups = shards.groups(wave, true).unwrap_or_default();
    groups.into_iter().map(|group| wave.start + group.start..wave.start + group.end).collect()
}

/// The waves of each round: as many as leave no more behind than a driver has room for, and at least one.
fn rounds<M: SharedModel>(model: &M, shards: &Shards) -> Vec<Vec<Range<usize>>> {
    /// A document's words, about.
    const WORDS: usize = 1024;
    let layout = model.layout();
    let bytes = |wave: &Range<usize>| match M::Local::ADDS {
        true => groups(shards, wave).len() * layout.n_rows * layout.raw_width * 8,
        false => {
            shards.places(wave).map(|places| places.len()).sum::<usize>()
                * (layout.raw_width * 4 + WORDS)
        }
    };
    let (mut rounds, mut size) = (Vec::<Vec<Range<usize>>>::new(), 0);
    for wave in shards.waves() {
        let own = bytes(&wave);
        match rounds.last_mut().filter(|_| size + own <= MOST_BYTES) {
            Some(round) => round.push(wave),
            None => {
                rounds.push(vec![wave]);
                size = 0;
            }
        }
        size += own;
    }
    rounds
}
