//! Reading data: the format is recognised by content, then by the file's name.

mod blocks;
mod csv;
mod digits;
mod docs;
mod fitted;
mod missing;
mod npy;
mod npy_header;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_headers;
#[cfg(feature = "parquet")]
mod parquet_values;
mod pipe;
mod ratings;
mod records;
mod seed_words;
mod word_numbers;
mod select;
mod source;
mod text_columns;
#[cfg(feature = "parquet")]
mod thrift;
mod titles;
mod topic_table;
mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::Points;
use crate::settings::{Kind, Setting, choices};
use crate::shards::{ShardFolder, Sharded};
use crate::{Error, Result};

use select::Selection;
use source::{Format, Source, TABLE, recognise};

pub use docs::{
    CorpusFormat, DOCS, DocsOptions, Document, Language, StopWords, Tokens, Unknown, docs, docs_of,
    docs_with,
};
pub(crate) use docs::{Room, docs_with_all_words, kept_words};
pub use fitted::{Chosen, FittedColumns};
pub use missing::Missing;
pub use pipe::{STDIN, keep_pipes};
pub(crate) use pipe::{behind, is_pipe};
pub use ratings::{RATINGS, RatingsOptions, ratings, ratings_for, usual_columns};
pub use seed_words::seed_words;
pub use text_columns::{TextColumn, text_columns};
pub use titles::titles;
pub use topic_table::topic_table;
pub use word_numbers::word_numbers;

/// Which columns of a file are the data, and how its first line is meant.
///
/// A column is given by its name or by its number, counted from 1; where both fit, the name wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointsOptions {
    /// The columns to read, in this order; empty means all.
    pub columns: Vec<String>,
    /// The columns to leave out, e.g. a row's name.
    pub drop: Vec<String>,
    /// The column that says how often each row counts; it is taken out of the data.
    pub weight_column: Option<String>,
    /// Whether the first line of a text file holds names.
    pub header: Header,
    /// What becomes of rows with missing values.
    pub missing: Missing,
    /// The columns of the model that the rows are for, if it was fitted to others before: they are found by
    /// name, or by position where there are no names, and all others are left aside. No setting: a run records
    /// the columns that were found.
    #[serde(skip)]
    pub model: Option<FittedColumns>,
}

/// The settings of points: the fields of [`PointsOptions`].
pub const POINTS: &[Setting] = &[
    Setting {
        name: "columns",
        kind: Kind::Texts,
        value_name: "COLUMNS",
        help: "The columns to use, by name or number from 1, comma-separated",
        group: "Points",
        ..Setting::BLANK
    },
    Setting {
        name: "drop",
        kind: Kind::Texts,
        value_name: "COLUMNS",
        help: "The columns to leave out, e.g. a label",
        group: "Points",
        ..Setting::BLANK
    },
    Setting {
        name: "weight_column",
        kind: Kind::Text,
        value_name: "COLUMN",
        help: "The column that says how often each row counts",
        group: "Points",
        ..Setting::BLANK
    },
    Setting { group: "Points", ..HEADER },
    Setting { group: "Points", ..missing::MISSING },
];

const HEADER: Setting = Setting {
    name: "header",
    kind: Kind::Choice(Header::NAMES),
    help: "Whether the first line of a text file holds names",
    ..Setting::BLANK
};

choices! {
    /// Whether the first line of a text file holds the columns' names.
    #[derive(Default)]
    pub enum Header {
        /// It does if any of its cells is a word. Empty cells and marks such as NA do not count as
        /// words, so that a first row with a gap is reported and not mistaken for names.
        #[default]
        Auto = "auto",
        /// It does.
        Yes = "yes",
        /// It does not.
        No = "no",
    }
}

/// Reads rows of numbers from a .csv, .tsv, .txt, .npy or .parquet file; text and .npy may be
/// gzipped.
///
/// Text is split at tabs, semicolons, commas, bars (`|`) or blanks, whichever of these, in this order, the
/// first line has; blank lines and lines that start with # are skipped.
///
/// A .npy file of f64 or f32 in C order of which all columns are used is not copied but
/// memory-mapped: leave such a file alone while its [`Points`] are in use, since shortening it
/// would stop the process.
///
/// ```
/// use lehr::read::{self, PointsOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,height,age\nann,1.7,44\nbob,1.8,39\n")?;
///
/// let options = PointsOptions { drop: vec!["name".into()], ..Default::default() };
/// let points = read::points(&path, &options)?;
/// assert_eq!((points.n_items(), points.n_dims()), (2, 2));
/// assert_eq!(points.names(), ["height", "age"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points(path: &Path, options: &PointsOptions) -> Result<Points> {
    if ShardFolder::is(path) {
        let asked = PointsOptions { model: None, ..options.clone() };
        return open_shards(path, asked != PointsOptions::default());
    }
    let mut source = Source::open(path, &TABLE)?;
    match recognise(&mut source, &TABLE)? {
        Format::Text => csv::read(source, options),
        Format::Npy => npy::read(source, options),
        Format::Parquet => read_parquet(source, options),
    }
}

/// Opens a folder of shards, each of which must be as it was written. What they hold was settled when they were made.
fn open_shards<D: Sharded>(path: &Path, asked: bool) -> Result<D> {
    if asked {
        let message = "is a folder of shards, of which all is used as it is; leave out how to read it, or make the \
                       shards in another way";
        return Err(Error::parse(path, message));
    }
    let folder = ShardFolder::open(path)?;
    folder.check_kind(D::KIND)?;
    (0..folder.n_shards()).try_for_each(|shard| folder.check(shard))?;
    D::open_all(&folder)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: Source<'_>, options: &PointsOptions) -> Result<Points> {
    parquet::read(source, options)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(source: Source<'_>, _: &PointsOptions) -> Result<Points> {
    Err(Error::parse(
        source.path,
        "this build of lehr leaves Parquet out; build it with the feature parquet, or convert the file to .npy or .csv",
    ))
}

/// Joins values and, if the selection has them, weights and names that a reader has already checked; leaves
/// out rows with gaps if that was asked for.
fn finish(
    path: &Path,
    points: Points,
    weights: Vec<f64>,
    selection: &Selection,
    missing: Missing,
) -> Result<Points> {
    let named = |error: Error| Error::parse(path, error.to_string());
    let weights = selection.has_weights().then_some(weights);
    let (points, weights) = missing::settle(path, points, weights, selection, missing)?;
    let points = match weights {
        Some(weights) => points.with_weights(weights).map_err(named)?,
        None => points,
    };
    let points = points.of_table(selection.chosen(), selection.unheard.clone());
    let names = selection.names();
    if names.is_empty() { Ok(points) } else { points.with_names(names).map_err(named) }
}
