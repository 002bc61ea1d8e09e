//! What every kind of data can do: for the loop (`Dataset`), and for runs that are stored (`FromFile`).

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Advice;
use crate::read::Chosen;
use crate::{Error, Result};

/// A collection of items.
pub trait Dataset: Sync {
    /// What messages call the items.
    const ITEMS: &'static str = "items";

    /// N, the number of items.
    fn n_items(&self) -> usize;
    /// Each item's own weight; all 1 if absent. A weight of 2 counts as the item twice.
    fn item_weights(&self) -> Option<&[f64]> {
        None
    }
    /// What is wrong with items that were read in place and found damaged.
    fn fault(&self) -> Option<Error> {
        None
    }
    /// Where the items of each row of a phase start, and the end of the last row's: for models whose
    /// rows are blocks of their own. Each phase has its own order, in which a row's items are
    /// neighbours.
    fn groups(&self, _phase: usize) -> &[usize] {
        &[]
    }
    /// Where the items of each part start, and the end of the last, if the data are in parts that may be in
    /// different places: then no unit of work has items of two of them.
    fn parts(&self) -> &[usize] {
        &[]
    }
    /// The largest |S| that a block can have.
    fn largest_block(&self) -> usize {
        self.n_items()
    }
    /// This many items have just been read and are not needed for now: data that live in a file may
    /// let go of memory.
    fn release(&self, _n_items: usize) {}
}

/// Data that come from files: a run that is stored can read them again, split them and tell whether
/// they are still the same.
pub trait FromFile: Dataset + Send + Sized {
    /// How to read a file.
    type Options: Serialize + DeserializeOwned + Clone + Default + Send + Sync;

    /// Reads a file into items.
    fn read(path: &Path, options: &Self::Options) -> Result<Self>;

    /// Makes relative paths in the options absolute: a run may be resumed from another folder.
    fn anchor(_options: &mut Self::Options) {}

    /// Puts into the options what was found with them in this file, so that it is read in the same way again.
    fn record(&self, _options: &mut Self::Options) {}

    /// Some of the items, for a hold-out split.
    fn subset(&self, items: &[u32]) -> Self;

    /// What identifies the data.
    fn fingerprint(&self) -> String;

    /// The columns' names, if the data have any.
    fn column_names(&self) -> &[String] {
        &[]
    }

    /// What a person would count in them: items first, then what they are made of and what was left out.
    fn counts(&self) -> Vec<Count>;

    /// What is missing in them.
    fn gaps(&self) -> Gaps {
        Gaps::default()
    }

    /// Which columns of a table they are, if not all of them.
    fn chosen(&self) -> Option<Chosen> {
        None
    }

    /// What someone who reads them should know.
    fn notes(&self) -> Vec<Advice> {
        Vec::new()
    }

    /// What someone who is about to fit a first model to them should know as well.
    fn notes_of_fit(&self) -> Vec<Advice> {
        Vec::new()
    }
}

/// How many there are of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub n: u64,
    /// What one of them is called.
    pub one: &'static str,
    /// What several are called.
    pub many: &'static str,
}

impl Count {
    /// `n` of something, with the words for one and for several of them.
    pub fn of(n: usize, one: &'static str, many: &'static str) -> Self {
        Count { n: n as u64, one, many }
    }

    /// What programs call it: `rows_left_out`.
    pub fn key(&self) -> String {
        self.many.replace(' ', "_")
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.n, if self.n == 1 { self.one } else { self.many })
    }
}

/// What is missing in data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gaps {
    /// How many values are missing.
    pub values: usize,
    /// How many rows of the file were left out because a value is missing.
    pub rows_left_out: usize,
}

impl Gaps {
    /// Whether nothing is missing.
    pub fn is_none(&self) -> bool {
        *self == Gaps::default()
    }
}

/// Makes a relative path absolute, as long as the current folder is known.
pub(crate) fn make_absolute(path: &mut PathBuf) {
    if let Ok(absolute) = std::path::absolute(&*path) {
        *path = absolute;
    }
}
