//! A worker's side: opens shards as tasks ask for them, and does the tasks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::model::Packed;
use super::users_worker::UserWorker;
use super::wire::{CommonOwned, GroupReply, PartReply, PartTask, Piece, decode, encode};
use crate::model::{Dataset, Local, RowSet, Shard, SharedModel};
use crate::models::{Lda, Mixture, Pmf, Shipped, Stored};
use crate::shards::{ShardFolder, Sharded};
use crate::step::shared::run_shard;
use crate::{Error, Result};

/// Does tasks, whatever the model.
pub trait Works: Send {
    /// Does tasks that share what is `common`; the replies in their order. To be called on a thread of a pool, whose
    /// threads share the work.
    fn run(&mut self, common: &[u8], tasks: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>>;
}

/// A worker for a model that [`pack`](super::pack) made a message of, and for the shards of a folder. A shard is opened
/// when the first task asks for it.
pub fn worker(model: &[u8], folder: &Path) -> Result<Box<dyn Works>> {
    let packed = Packed::of(model)?;
    let folder = ShardFolder::open(folder)?;
    let name = packed.name.as_str();
    if Lda::NAMES.contains(&name) {
        return Ok(Box::new(Worker::<Lda>::new(&packed, folder)?));
    }
    if Mixture::NAMES.contains(&name) {
        return Ok(Box::new(Worker::<Mixture>::new(&packed, folder)?));
    }
    if Pmf::NAMES.contains(&name) {
        return Ok(Box::new(UserWorker::new(&packed, folder)?));
    }
    Err(Error::data(format!("workers cannot fit a {name} yet; fit it on one machine")))
}

/// A worker that knows its model.
struct Worker<M: SharedModel + Stored<Data: Sharded>> {
    model: M,
    folder: ShardFolder,
    parts: BTreeMap<usize, M::Data>,
    /// One for each thread.
    scratches: Vec<Mutex<M::Scratch>>,
}

impl<M: SharedModel + Stored<Data: Sharded>> Worker<M> {
    fn new(packed: &Packed, folder: ShardFolder) -> Result<Self> {
        folder.check_kind(<M::Data as Sharded>::KIND)?;
        let (model, parts, scratches) = (packed.unpack::<M>()?, BTreeMap::new(), Vec::new());
        Ok(Worker { model, folder, parts, scratches })
    }

    /// Makes sure that a shard is open.
    fn open(&mut self, part: usize) -> Result<()> {
        if let Entry::Vacant(place) = self.parts.entry(part) {
            if part >= self.folder.n_shards() {
                let message = format!("has no shard {part}; the driver has another folder");
                return Err(Error::parse(self.folder.path(), message));
            }
            place.insert(<M::Data as Sharded>::open_one(&self.folder, part)?);
        }
        Ok(())
    }

    /// One piece of a batch: its part of the bound, and what it leaves behind.
    fn piece(&self, common: &CommonOwned<M::Expect>, part: usize, piece: Piece) -> (f64, M::Local) {
        let Piece { place, counted, items, mut weights, warm } = piece;
        let (data, items) = (&self.parts[&part], items.into_list());
        if let Some(noise) = &common.noise {
            weights.resize(items.len(), 0.0);
            noise.fill(place as usize, &mut weights);
        } else if weights.is_empty() {
            weights.resize(items.len(), 1.0);
        }
        let CommonOwned { rows, expect, ask, .. } = common;
        let mut local = M::Local::new(&self.model.layout());
        let mut bounds = vec![0.0; items.len()];
        let shard = Shard { data, items: &items, weights: &[], rows, warm: &warm };
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut scratch = self.scratches[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let (model, weights) = (&self.model, &mut weights[..]);
        run_shard(model, expect, shard, weights, *ask, &mut scratch, &mut local, &mut bounds);
        (bounds[..counted as usize].iter().sum(), local)
    }

    /// The pieces of a group, on all threads.
    fn group(
        &self,
        common: &CommonOwned<M::Expect>,
        part: usize,
        pieces: Vec<Piece>,
    ) -> GroupReply<M::Local> {
        let done = pieces.into_par_iter().with_max_len(1);
        let done: Vec<(f64, M::Local)> = done.map(|p| self.piece(common, part, p)).collect();
        let (bounds, locals): (Vec<f64>, Vec<M::Local>) = done.into_iter().unzip();
        let bounds = if common.ask.bound { bounds } else { Vec::new() };
        if !M::Local::ADDS {
            return GroupReply { bounds, locals };
        }
        let mut sum = M::Local::new(&self.model.layout());
        sum.clear();
        if common.ask.stats {
            locals.iter().for_each(|local| sum.add(local));
        }
        GroupReply { bounds, locals: vec![sum] }
    }

    /// The rows that items of a shard touch.
    fn rows(&self, part: usize, items: &[u32]) -> RowSet {
        let mut rows = RowSet::all(self.model.layout().n_rows);
        self.model.support(&self.parts[&part], items, &mut rows);
        rows
    }
}

impl<M: SharedModel + Stored<Data: Sharded>> Works for Worker<M>
where
    M::Data: Send,
{
    fn run(&mut self, common: &[u8], tasks: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>> {
        for &(part, _) in tasks {
            self.open(part)?;
        }
        let n_threads = rayon::current_num_threads();
        let model = &self.model;
        self.scratches
            .resize_with(n_threads.max(self.scratches.len()), || Mutex::new(model.scratch()));
        let common: Option<CommonOwned<M::Expect>> = match common {
            [] => None,
            common => Some(decode(common)?),
        };
        let this = &*self;
        let done = tasks.par_iter().with_max_len(1).map(|&(part, task)| {
            let PartTask { groups, next } = decode(task)?;
            let groups = match &common {
                Some(common) => {
                    groups.into_par_iter().map(|g| this.group(common, part, g)).collect()
                }
                None => Vec::new(),
            };
            let rows = next.map(|items| this.rows(part, &items.into_list()));
            let fault = this.parts[&part].fault();
            fault.map_or(Ok(encode(&PartReply { groups, rows })), Err)
        });
        done.collect()
    }
}
