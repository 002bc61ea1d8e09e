//! A worker that has users of a matrix factorisation, and keeps them from round to round.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::model::Packed;
use super::users_wire::{Change, Sums, Sweep, Then, UserCommonOwned, UserReply, UserTask};
use super::wire::{decode, encode};
use super::worker::Works;
use crate::data::Ratings;
use crate::models::PmfParams;
use crate::models::pmf::{Frozen, ItemMoments, ItemTable, Places, Rule, UserShard, numbered};
use crate::shards::{Kind, RatingsShard, ShardFolder, rating_totals, ratings_shard};
use crate::{Error, Result};

/// A worker for the shards of a folder of ratings.
pub(super) struct UserWorker {
    params: PmfParams,
    frozen: Frozen,
    folder: ShardFolder,
    /// Where each item's ratings start, in the order of items, and the end of the last one's.
    starts: Vec<usize>,
    shards: BTreeMap<usize, Standing>,
    /// The items of the last look, and at which version of which run that was.
    looked: Option<((u64, u64), ItemTable)>,
}

/// The users of a shard, and where they stand.
struct Standing {
    users: UserShard,
    /// The run, and how many changes they have had in it; none yet in any.
    at: Option<(u64, u64)>,
}

impl UserWorker {
    pub fn new(packed: &Packed, folder: ShardFolder) -> Result<Self> {
        folder.check_kind(Kind::Ratings)?;
        let (params, frozen): (PmfParams, Frozen) = packed.settings()?;
        let mut starts = vec![0];
        for total in rating_totals(&folder)? {
            starts.push(starts[starts.len() - 1] + total as usize);
        }
        let shards = BTreeMap::new();
        Ok(UserWorker { params, frozen, folder, starts, shards, looked: None })
    }

    fn open(&mut self, part: usize) -> Result<()> {
        let Entry::Vacant(place) = self.shards.entry(part) else { return Ok(()) };
        if part >= self.folder.n_shards() {
            let message = format!("has no shard {part}; the driver has another folder");
            return Err(Error::parse(self.folder.path(), message));
        }
        self.folder.check(part)?;
        let RatingsShard { by_user, before } = ratings_shard(&self.folder, part)?;
        let ids = |n| Arc::new(numbered(n));
        let (users, items) = (ids(by_user.n_rows()), ids(self.folder.manifest().columns));
        let data = Ratings::of_users(users, items, by_user);
        let rows = self.folder.manifest().shards[..part].iter().map(|shard| shard.rows as usize);
        let places = Places { first: rows.sum(), before };
        let users = UserShard::new(&self.params, &self.frozen, data, places);
        place.insert(Standing { users, at: None });
        Ok(())
    }

    fn table(&self, items: &ItemMoments) -> Result<ItemTable> {
        let PmfParams { dims, biases, .. } = self.params;
        let table = items.table(dims, biases, self.folder.manifest().columns);
        table.ok_or_else(|| Error::data("the items that were sent are not those of these shards"))
    }
}

impl Works for UserWorker {
    fn run(&mut self, common: &[u8], tasks: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>> {
        for &(part, _) in tasks {
            self.open(part)?;
        }
        let UserCommonOwned { run, first, changes, then } = decode(common)?;
        // The items' moments of each update, once for all shards.
        let mut tables = Vec::new();
        for change in &changes {
            let items = match change {
                Change::Sweep(Sweep { items: Some(items), .. }) => Some(self.table(items)?),
                _ => None,
            };
            tables.push(items);
        }
        let last = first + changes.len() as u64;
        if let Then::Look { items, .. } = &then {
            self.looked = Some(((run, last), self.table(items)?));
        }
        let UserWorker { params, shards, looked, starts, .. } = self;
        let mut replies = Vec::with_capacity(tasks.len());
        for &(part, task) in tasks {
            let task: UserTask = decode(task)?;
            let Some(standing) = shards.get_mut(&part) else { continue };
            let reply = (|| {
                let Standing { users, at } = standing;
                if let Some(rows) = &task.users {
                    if rows.len() != users.size() {
                        return Err(Error::data("the users that were sent are not of this shard"));
                    }
                    users.begin(rows);
                    *at = Some((run, first));
                }
                let Some(mut version) = at
                    .filter(|at| at.0 == run)
                    .map(|at| at.1)
                    .filter(|v| (first..=last).contains(v))
                else {
                    return Ok(UserReply::Behind);
                };
                while version < last {
                    let change = (version - first) as usize;
                    match &changes[change] {
                        Change::Turn(by) => users.turn(by),
                        Change::Sweep(sweep) => {
                            let known = looked.as_mut().filter(|known| known.0 == (run, version));
                            let known = known.map(|(_, table)| table);
                            let Some(items) = tables[change].as_mut().or(known) else {
                                return Ok(UserReply::Behind);
                            };
                            let Sweep { hyper, noise, rho, guard, .. } = sweep;
                            let rule = Rule { noise: *noise, rho: *rho, guard: *guard };
                            // Half an update is none.
                            *at = None;
                            users.sweep(rule, hyper, items)?;
                        }
                    }
                    version += 1;
                    *at = Some((run, version));
                }
                Ok(match &then {
                    Then::Look { hyper, .. } => {
                        let Some((_, items)) = looked else { return Ok(UserReply::Behind) };
                        UserReply::Bound(users.look(hyper, items))
                    }
                    Then::Items { noise, items } => {
                        let stats = users.item_sums(*noise, starts, items.as_deref());
                        let (told, broken) = users.told();
                        let sums = match params.exact {
                            true => Sums::Double(stats.values().to_vec()),
                            false => {
                                Sums::Single(stats.values().iter().map(|&x| x as f32).collect())
                            }
                        };
                        UserReply::Items {
                            sums,
                            second: told.second,
                            squares: told.squares,
                            guarded: [users.guarded.hits, users.guarded.noisy],
                            broken: broken.map(|row| row as u64),
                        }
                    }
                    Then::Fetch => UserReply::Users(users.rows().to_vec()),
                })
            })()?;
            replies.push(encode(&reply));
        }
        Ok(replies)
    }
}
