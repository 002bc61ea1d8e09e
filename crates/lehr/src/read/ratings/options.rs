//! What a user may say about a file of ratings.

use serde::{Deserialize, Serialize};

use super::super::{HEADER, Header};
use crate::data::Duplicates;
use crate::settings::{Kind, Setting};

const GROUP: &str = "Ratings";

/// The settings of ratings: the fields of [`RatingsOptions`].
pub const RATINGS: &[Setting] = &[
    Setting {
        name: "user",
        kind: Kind::Text,
        value_name: "COLUMN",
        help: "The column that says who rates, by name or number from 1",
        default: "by its name, or the first",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "item",
        kind: Kind::Text,
        value_name: "COLUMN",
        help: "The column that says what is rated",
        default: "by its name, or the second",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "rating",
        kind: Kind::Text,
        value_name: "COLUMN",
        help: "The column with the ratings",
        default: "by its name, or the third",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "duplicates",
        kind: Kind::Choice(Duplicates::NAMES),
        help: "What becomes of several ratings of one item by one user",
        default: "refuse",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting { group: GROUP, ..HEADER },
];

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
