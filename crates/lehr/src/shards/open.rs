//! Shards as data: one of them, or all of a folder as the parts of one.

use std::fs::{self, File};
use std::sync::Arc;

use super::make_ratings::{ITEMS, TOTALS, USERS};
use super::{Kind, ShardFolder};
use crate::data::{self, Docs, FromFile, Grouped, Ids, Points, Ratings, Vocabulary};
use crate::read::{self, PointsOptions};
use crate::store::tensors::Tensors;
use crate::{Error, Result};

/// Data that can be in shards.
pub trait Sharded: FromFile {
    /// What the rows are.
    const KIND: Kind;

    /// One shard, which must be as it was written: all of it is read once.
    fn open_one(folder: &ShardFolder, shard: usize) -> Result<Self>;

    /// All shards as parts of one, each left in its file. Their lengths are checked, and their content is not.
    fn open_all(folder: &ShardFolder) -> Result<Self>;
}

impl Sharded for Docs {
    const KIND: Kind = Kind::Documents;

    fn open_one(folder: &ShardFolder, shard: usize) -> Result<Self> {
        folder.check(shard)?;
        mapped(folder, shard)
    }

    fn open_all(folder: &ShardFolder) -> Result<Self> {
        folder.check_kind(Self::KIND)?;
        let parts = (0..folder.n_shards()).map(|shard| {
            folder.check_length(shard)?;
            mapped(folder, shard)
        });
        let parts: Vec<Docs> = parts.collect::<Result<_>>()?;
        let vocabulary = match folder.vocabulary()? {
            Some(names) => Vocabulary::unnamed(folder.manifest().columns).with_names(names)?,
            None => Vocabulary::unnamed(folder.manifest().columns),
        };
        Docs::joined(parts, vocabulary, folder.fingerprint()).ok_or_else(|| no_file(folder))
    }
}

/// The documents of one shard.
fn mapped(folder: &ShardFolder, shard: usize) -> Result<Docs> {
    let path = folder.file(shard);
    let file = File::open(&path).map_err(|error| Error::io(&path, "cannot read", error))?;
    let docs = data::open(&path, &file)?;
    let manifest = folder.manifest();
    let found = (docs.n_items() as u64, docs.n_words());
    if found != (manifest.shards[shard].rows, manifest.columns) {
        let message = format!(
            "has {} documents and {} words, and the manifest has {} and {}; make the shards again",
            found.0, found.1, manifest.shards[shard].rows, manifest.columns
        );
        return Err(Error::parse(&path, message));
    }
    Ok(docs)
}

impl Sharded for Points {
    const KIND: Kind = Kind::Points;

    fn open_one(folder: &ShardFolder, shard: usize) -> Result<Self> {
        folder.check(shard)?;
        rows(folder, shard)
    }

    fn open_all(folder: &ShardFolder) -> Result<Self> {
        folder.check_kind(Self::KIND)?;
        let parts = (0..folder.n_shards()).map(|shard| {
            folder.check_length(shard)?;
            rows(folder, shard)
        });
        let parts: Vec<Points> = parts.collect::<Result<_>>()?;
        let fingerprint = format!("{:032x}", folder.fingerprint());
        let points = Points::in_parts(parts, fingerprint).ok_or_else(|| no_file(folder))?;
        let names = folder.manifest().names.clone();
        if names.is_empty() { Ok(points) } else { points.with_names(names) }
    }
}

/// The rows of one shard.
fn rows(folder: &ShardFolder, shard: usize) -> Result<Points> {
    let path = folder.file(shard);
    let points = read::points(&path, &PointsOptions::default())?;
    let manifest = folder.manifest();
    let found = (points.n_items() as u64, points.n_dims());
    if found != (manifest.shards[shard].rows, manifest.columns) {
        let message = format!(
            "has {} rows of {} numbers, and the manifest has {} of {}; make the shards again",
            found.0, found.1, manifest.shards[shard].rows, manifest.columns
        );
        return Err(Error::parse(&path, message));
    }
    Ok(points)
}

impl Sharded for Ratings {
    const KIND: Kind = Kind::Ratings;

    fn open_one(folder: &ShardFolder, shard: usize) -> Result<Self> {
        folder.check(shard)?;
        let RatingsShard { by_user, .. } = ratings_shard(folder, shard)?;
        let ids = |n: usize| -> Arc<Ids> { Arc::new((0..n as i64).collect()) };
        let (users, items) = (ids(by_user.n_rows()), ids(folder.manifest().columns));
        Ok(Ratings::of_users(users, items, by_user))
    }

    /// All of them in memory: which items each user has rated belongs to a model.
    fn open_all(folder: &ShardFolder) -> Result<Self> {
        folder.check_kind(Self::KIND)?;
        let (mut starts, mut others, mut values) = (vec![0], Vec::new(), Vec::new());
        for shard in 0..folder.n_shards() {
            folder.check_length(shard)?;
            let by_user = ratings_shard(folder, shard)?.by_user;
            let before = others.len();
            starts.extend(by_user.starts()[1..].iter().map(|end| before + end));
            others.extend_from_slice(by_user.others());
            values.extend_from_slice(by_user.values());
        }
        let ids = |name: &str| -> Result<Arc<Ids>> {
            let (path, bytes) = folder.sidecar(name)?;
            Ok(Arc::new(Ids::from_bytes(&bytes, &path)?))
        };
        let (users, items) = (ids(USERS)?, ids(ITEMS)?);
        let n_users = starts.len() - 1;
        let by_user = Grouped::new(starts, others, values, items.len());
        let Some(by_user) = by_user.filter(|_| users.len() == n_users) else {
            let message = "has shards that do not fit together; make them again";
            return Err(Error::parse(folder.path(), message));
        };
        Ok(Ratings::of_users(users, items, by_user).in_shards(folder))
    }
}

/// A shard of ratings.
pub(crate) struct RatingsShard {
    pub by_user: Grouped,
    /// How many ratings each item has in the shards before this one.
    pub before: Vec<u32>,
}

/// The ratings of one shard, whose file is as it was written.
pub(crate) fn ratings_shard(folder: &ShardFolder, shard: usize) -> Result<RatingsShard> {
    let path = folder.file(shard);
    let bytes = fs::read(&path).map_err(|error| Error::io(&path, "cannot read", error))?;
    let tensors = Tensors::open(&bytes, &path)?;
    let starts = tensors.list::<i64>("starts")?;
    let starts = starts.into_iter().map(|start| usize::try_from(start).unwrap_or(usize::MAX));
    let numbers = |name: &str| -> Result<Vec<u32>> {
        Ok(tensors.list::<i32>(name)?.into_iter().map(i32::cast_unsigned).collect())
    };
    let (items, before, values) = (numbers("items")?, numbers("before")?, tensors.list("ratings")?);
    let n_items = folder.manifest().columns;
    let by_user = Grouped::new(starts.collect(), items, values, n_items)
        .filter(|by_user| by_user.others().len() as u64 == folder.manifest().shards[shard].rows)
        .filter(|_| before.len() == n_items)
        .ok_or_else(|| tensors.damaged("its numbers do not fit together"))?;
    Ok(RatingsShard { by_user, before })
}

/// How many ratings each item has in all shards.
pub(crate) fn rating_totals(folder: &ShardFolder) -> Result<Vec<u32>> {
    let (path, bytes) = folder.sidecar(TOTALS)?;
    let tensors = Tensors::open(&bytes, &path)?;
    let totals = tensors.list::<i32>("totals")?;
    if totals.len() != folder.manifest().columns {
        return Err(tensors.damaged("it is of other items"));
    }
    Ok(totals.into_iter().map(i32::cast_unsigned).collect())
}

fn no_file(folder: &ShardFolder) -> Error {
    Error::parse(folder.path(), "has shards that cannot be mapped; make them again on this machine")
}
