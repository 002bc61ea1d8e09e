//! Shards as data: one of them, or all of a folder as the parts of one.

use std::fs::File;

use super::{Kind, ShardFolder};
use crate::data::{self, Docs, FromFile, Points, Vocabulary};
use crate::read::{self, PointsOptions};
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

fn no_file(folder: &ShardFolder) -> Error {
    Error::parse(folder.path(), "has shards that cannot be mapped; make them again on this machine")
}
