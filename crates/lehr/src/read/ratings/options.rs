//! What a user may say about a file of ratings.

use serde::{Deserialize, Deserializer, Serialize};

use super::super::{HEADER, Header};
use crate::Error;
use crate::data::Duplicates;
use crate::error::{advice, setting};
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
        name: "weight",
        kind: Kind::Text,
        value_name: "COLUMN",
        help: "The column that says how much each rating counts: one of weight 2 counts like two that agree",
        default: "each counts once",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "matrix",
        kind: Kind::Toggle(false),
        help: "The file is a matrix: a row for each user, a column for each item, named in the first line",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "missing",
        kind: Kind::Texts,
        value_name: "NUMBERS",
        help: "matrix: numbers that mean \"not rated\", comma-separated, e.g. 99; empty cells, NA and NaN always do",
        group: GROUP,
        ..Setting::BLANK
    },
    Setting {
        name: "drop",
        kind: Kind::Texts,
        value_name: "COLUMNS",
        help: "matrix: the columns that are no items, by name or number from 1, comma-separated",
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
    /// The column that says how much each rating counts; none without it. Of ratings for a model that is there, it may
    /// be absent: each counts once then.
    pub weight: Option<String>,
    /// Whether the file is a matrix: a row for each user, a column for each item.
    pub matrix: bool,
    /// Of a matrix: numbers that stand for no rating, as 99 does in some files. Empty cells,
    /// NA, NaN and the like always do. In a configuration a number or a list of them.
    #[serde(deserialize_with = "one_or_many")]
    pub missing: Vec<String>,
    /// Of a matrix: the columns that are no items.
    pub drop: Vec<String>,
    /// What becomes of a pair that is rated more than once.
    pub duplicates: Duplicates,
    /// Whether the first line of a text file holds names. It is taken for names if it has usual
    /// ones or ones that were asked for, or if a word stands where its rating should be.
    pub header: Header,
}

impl RatingsOptions {
    /// What does not go together with weights, if it is asked for.
    fn against_weights(&self) -> Option<(&'static str, &'static str)> {
        match self.duplicates {
            _ if self.matrix => Some(("matrix", "true")),
            Duplicates::Mean => Some(("duplicates", "mean")),
            Duplicates::Refuse => None,
        }
    }

    /// Refuses what has a meaning for a matrix alone if there is none, and what does not go together with weights.
    pub(super) fn check(&self) -> crate::Result<()> {
        if let (Some(weight), Some((field, value))) = (&self.weight, self.against_weights()) {
            let what = format!("ratings with weights (column {weight}) ");
            let allowed = match field {
                "matrix" => {
                    "are read from a file with a rating in each line; leave out one of both"
                }
                _ => "are not averaged; keep one rating of each pair",
            };
            return Err(Error::config(field, value, format!("{what}{allowed}")));
        }
        let idle = [("missing", &self.missing), ("drop", &self.drop)];
        match idle.into_iter().find(|(_, values)| !self.matrix && !values.is_empty()) {
            Some((field, values)) => Err(Error::config(
                field,
                values.join(","),
                advice![
                    "has a meaning for a matrix only; leave it out, or give ",
                    setting("matrix").to(true)
                ],
            )),
            None => Ok(()),
        }
    }
}

/// A number or a list of them, as they are written.
fn one_or_many<'de, D: Deserializer<'de>>(values: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number or a list of numbers")]
    enum Given {
        Whole(i64),
        Number(f64),
        Text(String),
        Many(Vec<Given>),
    }
    fn texts(given: Given) -> Vec<String> {
        match given {
            Given::Whole(number) => vec![number.to_string()],
            Given::Number(number) => vec![number.to_string()],
            Given::Text(text) => vec![text],
            Given::Many(all) => all.into_iter().flat_map(texts).collect(),
        }
    }
    Given::deserialize(values).map(texts)
}
