//! Which columns of a file are the user, the item and the rating.

use std::path::Path;

use super::super::Header;
use super::super::csv::{is_word, name};
use super::super::select::{Columns, label};
use super::RatingsOptions;
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

pub(super) const ROLES: [&str; 4] = ["user", "item", "rating", "weight"];

/// The place of a column that is not there.
pub(super) const NONE: usize = usize::MAX;

pub(super) const USER_NAMES: &[&str] =
    &["userid", "user", "customerid", "customer", "uid", "reviewerid", "reviewer", "username"];
/// The usual names of a column that says which item.
pub(in super::super) const ITEM_NAMES: &[&str] = &[
    "itemid",
    "item",
    "movieid",
    "movie",
    "productid",
    "product",
    "trackid",
    "track",
    "songid",
    "song",
    "artistid",
    "artist",
    "bookid",
    "book",
    "isbn",
    "asin",
    "iid",
];
const RATING_NAMES: &[&str] =
    &["rating", "ratings", "score", "stars", "bookrating", "overall", "value"];
/// The usual names of each role's column.
const USUAL: [&[&str]; 3] = [USER_NAMES, ITEM_NAMES, RATING_NAMES];

/// A file without names that has as many columns is hardly one of a user, an item and a rating a line.
const WIDE: usize = 7;

/// The columns' places, and what the file's columns are called.
#[derive(Debug)]
pub(super) struct Layout {
    /// In the order of `ROLES`; `NONE` without weights.
    pub places: [usize; 4],
    pub n_columns: usize,
    /// Empty if the file has none.
    pub names: Vec<String>,
    /// The line that this was learnt from.
    pub first_line: u64,
    /// How the columns are separated, in words.
    pub separator: &'static str,
}

impl Layout {
    /// The layout of a text file by its first record.
    pub(super) fn of_text(
        path: &Path,
        options: &RatingsOptions,
        cells: &[Vec<u8>],
        first_line: u64,
        separator: &'static str,
    ) -> Result<Self> {
        if cells.len() < 3 {
            return Err(Error::parse_at(
                path,
                first_line,
                None,
                format!(
                    "found {} separated by {separator}; a line holds at least a user, an item and a rating, separated by ::, tabs, semicolons, commas, bars or blanks",
                    if cells.len() == 1 { "1 field" } else { "2 fields" }
                ),
            ));
        }
        let names: Vec<String> = cells.iter().map(|cell| name(cell)).collect();
        let has_names = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => looks_like_names(options, &names),
        };
        let names = if has_names { names } else { Vec::new() };
        if !has_names && cells.len() >= WIDE && asked(options).iter().all(Option::is_none) {
            return Err(wide(path, cells.len(), first_line));
        }
        let places = places(path, options, &names, cells.len(), Some(first_line))?;
        Ok(Layout { places, n_columns: cells.len(), names, first_line, separator })
    }

    /// How messages call the column with this role.
    pub(super) fn label(&self, role: usize) -> String {
        label(&self.names, self.places[role])
    }

    /// Whether ratings have weights.
    pub(super) fn has_weights(&self) -> bool {
        self.places[3] != NONE
    }

    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }
}

fn asked(options: &RatingsOptions) -> [Option<&str>; 4] {
    [&options.user, &options.item, &options.rating, &options.weight].map(Option::as_deref)
}

/// Finds the columns: as asked for, else by usual names, else, if there are no names, the first three. There are no
/// weights unless they are asked for.
pub(super) fn places(
    path: &Path,
    options: &RatingsOptions,
    names: &[String],
    n_columns: usize,
    line: Option<u64>,
) -> Result<[usize; 4]> {
    let file = Columns { path, names, n_columns };
    let mut places = [NONE; 4];
    for (role, wanted) in asked(options).into_iter().enumerate() {
        places[role] = match wanted {
            Some(wanted) => file.find(ROLES[role], wanted)?,
            None if role == 3 => NONE,
            None if names.is_empty() => role,
            None => usual(names, USUAL[role]).ok_or_else(|| unknown(&file, role, line))?,
        };
    }
    for (a, b) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
        if places[a] == places[b] {
            return Err(Error::parse(
                path,
                advice![
                    setting(ROLES[a]),
                    " and ",
                    setting(ROLES[b]),
                    format!(" are both column {}", label(names, places[a])),
                    "; give each its own column",
                ],
            ));
        }
    }
    Ok(places)
}

/// What looks like a row for each user.
fn wide(path: &Path, n_columns: usize, line: u64) -> Error {
    Error::parse_at(
        path,
        line,
        None,
        advice![
            format!(
                "has {n_columns} columns without names, which looks like a row for each user and a column for each item; read it so with "
            ),
            setting("matrix").to(true),
            " (and ",
            setting("missing").to(99),
            " if 99 means \"not rated\"), or say which columns hold the user, the item and the rating with ",
            setting(ROLES[0]),
            ", ",
            setting(ROLES[1]),
            " and ",
            setting(ROLES[2]),
        ],
    )
}

fn unknown(file: &Columns<'_>, role: usize, line: Option<u64>) -> Error {
    let taken = line.map_or("", |_| "the line is taken for the columns' names: ");
    let mut parts = vec![
        format!("{taken}{} and none of them is known to be the {}", file.listed(), ROLES[role])
            .into(),
        "; say which is what with ".into(),
        setting(ROLES[0]),
        ", ".into(),
        setting(ROLES[1]),
        " and ".into(),
        setting(ROLES[2]),
    ];
    if file.n_columns > 3 {
        parts.push(", or, if each column is an item, give ".into());
        parts.push(setting("matrix").to(true));
    }
    let message: Advice = parts.into_iter().collect();
    match line {
        // A first rating that is no number looks like this too.
        Some(line) => Error::parse_at(file.path, line, None, message),
        None => Error::parse(file.path, message),
    }
}

/// Which of these columns are the user, the item and the rating by their usual names (`user_id`, `movieId`, `stars`
/// and the like).
///
/// ```
/// let names = ["movieId", "stars", "when"].map(String::from);
/// assert_eq!(lehr::read::usual_columns(&names), [None, Some(0), Some(1)]);
/// ```
pub fn usual_columns(columns: &[String]) -> [Option<usize>; 3] {
    USUAL.map(|names| usual(columns, names))
}

/// The column that has one of these names, compared without signs and in lower case; earlier names
/// win.
pub(in super::super) fn usual(columns: &[String], names: &[&str]) -> Option<usize> {
    let columns: Vec<String> = columns.iter().map(|column| plain(column)).collect();
    names.iter().find_map(|name| columns.iter().position(|column| column == name))
}

fn plain(name: &str) -> String {
    let signs = |c: &char| !matches!(c, '_' | '-' | ' ');
    name.chars().filter(signs).flat_map(char::to_lowercase).collect()
}

fn looks_like_names(options: &RatingsOptions, cells: &[String]) -> bool {
    let asked = asked(options);
    if asked
        .into_iter()
        .flatten()
        .any(|wanted| wanted.parse::<usize>().is_err() && cells.iter().any(|cell| cell == wanted))
    {
        return true;
    }
    if usual_columns(cells).iter().all(Option::is_some) {
        return true;
    }
    let rating = match asked[2] {
        Some(wanted) => {
            wanted.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1))
        }
        None => Some(2),
    };
    rating.and_then(|at| cells.get(at)).is_some_and(|cell| is_word(cell.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(names: &[&str], options: &RatingsOptions) -> Result<[usize; 4]> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        places(Path::new("a.csv"), options, &names, names.len(), None)
    }

    #[test]
    fn usual_names_are_found_whatever_their_signs() {
        let options = RatingsOptions::default();
        for names in [
            ["userId", "movieId", "rating", "timestamp"],
            ["user_id", "item-id", "SCORE", "x"],
            ["Customer ID", "isbn", "Stars", "user_x"],
            ["user id", "track", "value", "t"],
        ] {
            assert_eq!(find(&names, &options).unwrap(), [0, 1, 2, NONE], "{names:?}");
        }
        assert_eq!(
            find(&["rating", "item", "item_id", "user"], &options).unwrap(),
            [3, 2, 0, NONE]
        );
    }

    #[test]
    fn what_is_asked_for_comes_before_usual_names() {
        let options = RatingsOptions { item: Some("title".into()), ..Default::default() };
        assert_eq!(find(&["user", "item", "title", "rating"], &options).unwrap(), [0, 2, 3, NONE]);
        let options = RatingsOptions { item: Some("1".into()), ..Default::default() };
        assert_eq!(
            find(&["user", "x", "rating"], &options).unwrap_err().to_string(),
            "a.csv: `user` and `item` are both column user; give each its own column"
        );
    }
}
