//! Reading ratings: text in any of the usual forms, or Parquet.

mod batch;
mod builder;
mod layout;
mod lines;
mod matrix;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod text;

use std::path::Path;

use super::open_shards;
use super::source::{Format, Needed, Source, recognise};
use crate::data::{Ids, Ratings};
use crate::error::{advice, setting};
use crate::shards::ShardFolder;
use crate::{Error, Result};

pub use layout::usual_columns;
pub use options::{RATINGS, RatingsOptions};

pub(super) use layout::{ITEM_NAMES, usual};

use builder::Builder;

const NEEDED: Needed = Needed {
    files: "a text file with one rating per line (.dat, .csv, .tsv, .txt, u.data; these may be gzipped) or .parquet",
    least: "a file with at least one rating",
    most: None,
};

/// Reads ratings: a user, an item and a number in every line or row, other columns being ignored.
///
/// | format | content |
/// |---|---|
/// | MovieLens `.dat` | `user::item::rating::timestamp` |
/// | `u.data`, `.tsv`, `.csv`, `.txt` | separated by tabs, semicolons, commas, bars or blanks, whichever of these, in this order, the first line has; with or without names; fields may be in double quotes |
/// | `.parquet` | ids are integers or text, ratings any numbers |
///
/// The column `weight`, if there is one, says how much each rating counts.
///
/// Text is UTF-8 and may be gzipped; the format is recognised by content. Ids may be any integers or
/// texts; blanks around them are no part of them. They are numbered in the order in which they first
/// appear. Blank lines are skipped. A rating must be finite.
///
/// A matrix with a row for each user and a column for each item is read with the option `matrix`, from text,
/// `.npy` or `.parquet`; a file that looks like one is refused without it. Empty cells, NA and NaN mean
/// that there is no rating, and so do the numbers of `missing`. The names of the first line are those of the items;
/// without names they are numbered by their columns, from 1. The first line holds names if one of its cells but the
/// first is a word, if the first is called user or the like, or if the first is empty and no other is. Users are
/// named by the column `user`, by one called user, user_id or the like, or by the first if it is called id or index,
/// has no name, or starts with a word; without such a column they are numbered by their rows, from 1. Users and
/// items without any rating are left out. In Parquet the column of users has to be named with `user`.
///
/// ```
/// use lehr::data::{Id, Side};
/// use lehr::read::{self, RatingsOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("ratings.csv");
/// std::fs::write(&path, "movieId,userId,rating\n\"Up, up\",7,4.5\nBrazil,7,5\nBrazil,3,2\n")?;
///
/// let ratings = read::ratings(&path, &RatingsOptions::default())?;
/// assert_eq!(ratings.n_ratings(), 3);
/// assert_eq!(ratings.ids(Side::User).integers(), Some(&[7, 3][..]));
/// assert_eq!(ratings.ids(Side::Item).get(0), Id::Text("Up, up"));
/// assert_eq!(ratings.side(Side::User).row(0), (&[0, 1][..], &[4.5, 5.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ratings(path: &Path, options: &RatingsOptions) -> Result<Ratings> {
    if ShardFolder::is(path) {
        return open_shards(path, *options != RatingsOptions::default());
    }
    read(path, options, Builder::default())
}

/// Reads ratings for a model that was fitted to other ones: ids that it knows get the numbers that
/// they have there, unknown ones the numbers behind them.
///
/// ```
/// use lehr::data::{Ids, Side};
/// use lehr::read::{self, RatingsOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.dat");
/// std::fs::write(&path, "9::30::4::0\n5::20::3::0\n")?;
/// let (users, items): (Ids, Ids) = ([5, 6].into_iter().collect(), [10, 20].into_iter().collect());
///
/// let ratings = read::ratings_for(&path, &RatingsOptions::default(), &users, &items)?;
/// assert_eq!(ratings.ids(Side::User).integers(), Some(&[5, 6, 9][..]));
/// assert!(ratings.triples().eq([(0, 1, 3.0), (2, 2, 4.0)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ratings_for(
    path: &Path,
    options: &RatingsOptions,
    users: &Ids,
    items: &Ids,
) -> Result<Ratings> {
    let mut builder = Builder::new(users.clone(), items.clone());
    builder.may_lack_weights = true;
    read(path, options, builder)
}

fn read(path: &Path, options: &RatingsOptions, mut builder: Builder) -> Result<Ratings> {
    let mut source = Source::open(path, &NEEDED)?;
    let format = recognise(&mut source, &NEEDED)?;
    options.check()?;
    match format {
        _ if options.matrix => matrix::read(source, format, options, &mut builder)?,
        Format::Text => text::read(source, options, &mut builder)?,
        Format::Parquet => read_parquet(source, options, &mut builder)?,
        Format::Npy => {
            return Err(Error::parse(
                path,
                advice![
                    "is a NumPy array, which does not say who rates what; if its rows are users and its columns items, give ",
                    setting("matrix").to(true),
                    format!(", otherwise {}", NEEDED.files),
                ],
            ));
        }
    }
    if builder.value.is_empty() {
        return Err(Error::parse(path, format!("has no ratings; give {}", NEEDED.least)));
    }
    builder.finish(path, options.duplicates)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: Source<'_>, options: &RatingsOptions, builder: &mut Builder) -> Result<()> {
    parquet::read(source, options, builder)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(source: Source<'_>, _: &RatingsOptions, _: &mut Builder) -> Result<()> {
    Err(Error::parse(
        source.path,
        "this build of lehr leaves Parquet out; build it with the feature parquet, or convert the file to .csv",
    ))
}
