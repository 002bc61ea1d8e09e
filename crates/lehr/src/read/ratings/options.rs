//! What a user may say about a file of ratings.

use serde::{Deserialize, Serialize};

use super::super::Header;
use crate::data::Duplicates;

/// Which columns of a file are the ratings, and how its first line is meant.
///
/// A column is given by its name or by its number, counted from 1; where both fit, the name wins.
/// What is not given is found by the usual names (`user_id`, `movieId`, `rating` and the like) or,
/// in a file without names, in the first three columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatingsOptions {
    /// The column that says who rates.
    pub user: Option<String>,
    /// The column that says what is rated.
    pub item: Option<String>,
    /// The column with the ratings.
    pub rating: Option<String>,
    /// What becomes of a pair that is rated more than once.
    pub duplicates: Duplicates,
    /// Whether the first line of a text file holds names. It is taken for names if it has usual
    /// ones or ones that were asked for, or if a word stands where its rating should be.
    pub header: Header,
}
