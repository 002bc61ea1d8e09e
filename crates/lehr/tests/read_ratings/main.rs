//! Files in, ratings out: every format, every refusal with its words, ids and titles.

mod anything;
#[path = "../common/files.rs"]
mod files;
mod blocks;
mod formats;
mod ids;
mod matrix;
#[cfg(feature = "parquet")]
#[path = "parquet.rs"]
mod parquet_files;
mod refused;
mod titles;

use lehr::data::{Duplicates, Ids, Ratings, Side};
use lehr::read::{self, RatingsOptions};

use files::{Folder, gzip};

/// A rating with its ids as strings.
type Triple = (String, String, f32);

fn read_as(name: &str, bytes: impl AsRef<[u8]>, options: &RatingsOptions) -> Ratings {
    let folder = Folder::new();
    read::ratings(&folder.file(name, bytes), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Ratings {
    read_as(name, bytes, &RatingsOptions::default())
}

fn fault_of(name: &str, bytes: impl AsRef<[u8]>, options: &RatingsOptions) -> String {
    let folder = Folder::new();
    folder.fault(read::ratings(&folder.file(name, bytes), options))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    fault_of(name, bytes, &RatingsOptions::default())
}

fn columns(user: &str, item: &str, rating: &str) -> RatingsOptions {
    let asked = |name: &str| (!name.is_empty()).then(|| name.to_string());
    RatingsOptions {
        user: asked(user),
        item: asked(item),
        rating: asked(rating),
        ..Default::default()
    }
}

fn mean() -> RatingsOptions {
    RatingsOptions { duplicates: Duplicates::Mean, ..Default::default() }
}

fn names(ids: &Ids) -> Vec<String> {
    ids.iter().map(|id| id.to_string()).collect()
}

fn users(ratings: &Ratings) -> Vec<String> {
    names(ratings.ids(Side::User))
}

fn items(ratings: &Ratings) -> Vec<String> {
    names(ratings.ids(Side::Item))
}

fn triples(ratings: &Ratings) -> Vec<Triple> {
    let name = |side, at: u32| ratings.ids(side).get(at as usize).to_string();
    let all = ratings.triples();
    all.map(|(user, item, value)| (name(Side::User, user), name(Side::Item, item), value)).collect()
}

fn expected(all: &[(&str, &str, f32)]) -> Vec<Triple> {
    all.iter().map(|&(user, item, value)| (user.into(), item.into(), value)).collect()
}
