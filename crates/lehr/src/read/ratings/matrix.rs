//! Reads a wide matrix of ratings: a row for each user, a column for each item, most cells empty.

use std::collections::HashMap;
use std::path::Path;

use super::super::csv::{is_decimal_comma, is_word, name};
use super::super::digits::number_of;
use super::super::missing::is_mark;
use super::super::records::{Records, ragged};
use super::super::select::Columns;
use super::super::source::{Format, Source, empty, shown};
use super::super::{Header, Missing, PointsOptions, points, text_columns};
use super::batch::value_fault;
use super::builder::{Builder, check_size};
use super::layout::{USER_NAMES, usual};
use super::{NEEDED, RatingsOptions};
use crate::data::Duplicates;
use crate::error::{Advice, advice, setting};
use crate::{Error, Result};

/// Other names of a first column that says who rates: what programs write over row names.
const FIRST_NAMES: &[&str] = &["", "id", "index", "unnamed:0", "row", "name"];

/// Reads the matrix, whatever it is kept in.
pub(super) fn read(
    source: Source<'_>,
    format: Format,
    options: &RatingsOptions,
    builder: &mut Builder,
) -> Result<()> {
    for (field, value) in [("item", &options.item), ("rating", &options.rating)] {
        if let Some(value) = value {
            let wrong = advice![
                "has no meaning for a matrix, whose columns are the items; leave it out, or ",
                setting("matrix"),
            ];
            return Err(Error::config(field, value, wrong));
        }
    }
    let marks = marks(&options.missing)?;
    match format {
        Format::Text => read_text(source, options, &marks, builder),
        Format::Npy | Format::Parquet => {
            read_numbers(source.path, format == Format::Parquet, options, &marks, builder)
        }
    }
}

/// The numbers that stand for no rating.
fn marks(missing: &[String]) -> Result<Vec<f64>> {
    let mark = |text: &String| {
        let found = number_of(text.trim().as_bytes());
        found.ok_or_else(|| {
            let allowed = "is not a number; give the numbers that mean \"not rated\", e.g. 99 (empty cells always do)";
            Error::config("missing", text, allowed)
        })
    };
    missing.iter().map(mark).collect()
}

fn read_text(
    source: Source<'_>,
    options: &RatingsOptions,
    marks: &[f64],
    builder: &mut Builder,
) -> Result<()> {
    let path = source.path;
    let mut records = Records::starting(source, 1);
    if !records.read_record()? {
        return Err(empty(path, &NEEDED));
    }
    let mut all = Vec::new();
    let n_columns = records.see_cells(|_, cell| all.push(name(cell)))?;
    let first_line = records.line;
    let has_names = match options.header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => looks_like_names(&all),
    };
    let names = if has_names { all } else { Vec::new() };
    if has_names && !records.read_record()? {
        return Ok(());
    }
    let file = Columns { path, names: &names, n_columns };
    let user = match &options.user {
        Some(wanted) => Some(file.find("user", wanted)?),
        None => match usual(&names, USER_NAMES) {
            Some(at) => Some(at),
            None if usual(&names[..names.len().min(1)], FIRST_NAMES).is_some() => Some(0),
            // Names of users are seen in the first row of them.
            None => {
                let mut named = false;
                records.see_cells(|at, cell| named |= at == 0 && is_word(cell))?;
                named.then_some(0)
            }
        },
    };
    let mut table = Wide::new(&file, user, options, marks)?;
    loop {
        let mut fault = None;
        let n_cells = records.see_cells(|at, cell| {
            if at < n_columns && fault.is_none() {
                fault = table.take(at, cell.trim_ascii()).err().map(|found| (at, found));
            }
        })?;
        // A row of a wrong length is reported first: it explains the cell that does not fit.
        if n_cells != n_columns {
            let message = ragged(n_cells, n_columns, first_line, records.separator.name());
            return Err(Error::parse_at(path, records.line, None, message));
        }
        if let Some((at, found)) = fault {
            return Err(Error::parse_at(path, records.line, Some(file.label(at)), found));
        }
        table.end_row(records.line, "line", builder)?;
        if !records.read_record()? {
            return Ok(());
        }
    }
}

/// Whether the first line holds names: a word behind its first cell, the usual name of users in it, or nothing in
/// it and no gap behind it.
fn looks_like_names(cells: &[String]) -> bool {
    let Some((first, others)) = cells.split_first() else { return false };
    let has_word = |cell: &String| is_word(cell.as_bytes());
    let full = || others.iter().all(|cell| !is_mark(cell.as_bytes()));
    others.iter().any(has_word)
        || usual(std::slice::from_ref(first), USER_NAMES).is_some()
        || (first.is_empty() && !others.is_empty() && full())
}

/// Reads an array or a table of numbers, which the reader of points knows how to read.
fn read_numbers(
    path: &Path,
    has_names: bool,
    options: &RatingsOptions,
    marks: &[f64],
    builder: &mut Builder,
) -> Result<()> {
    let mut users = None;
    let mut drop = options.drop.clone();
    if has_names && let Some(user) = &options.user {
        let found = text_columns(path, Header::Auto, &[("user", user)])?;
        users = found.into_iter().next().map(|column| column.cells);
        drop.push(user.clone());
    }
    let read = PointsOptions { drop, missing: Missing::Model, ..PointsOptions::default() };
    let points = points(path, &read)?;
    let n_columns = points.n_dims();
    // The columns that are left out are gone already; the others keep their numbers.
    let dropped: Vec<usize> = options.drop.iter().filter_map(|at| at.trim().parse().ok()).collect();
    let numbers = (1..).filter(|at| !dropped.contains(at)).map(|at: usize| at.to_string());
    let names: Vec<String> = match has_names {
        true => points.names().to_vec(),
        false => numbers.take(n_columns).collect(),
    };
    let file = Columns { path, names: &names, n_columns };
    let rest = RatingsOptions { user: None, drop: Vec::new(), ..options.clone() };
    let user = match (has_names, &options.user) {
        (false, Some(wanted)) => Some(file.find("user", wanted)?),
        _ => None,
    };
    let mut table = Wide::new(&file, user, &rest, marks)?;
    table.has_users |= users.is_some();
    let mut row = vec![0.0; n_columns];
    for n in 0..points.n_items() {
        points.copy_row(n, &mut row);
        if let Some(users) = &users {
            table.user.clone_from(&users[n]);
        }
        for (at, &value) in row.iter().enumerate() {
            let taken = match Some(at) == user {
                true => table.take(at, value.to_string().as_bytes()),
                false => table.rate(at, value),
            };
            taken.map_err(|found| {
                let place = format!("row {}, column {}: ", n + 1, file.label(at));
                Error::parse(path, found.behind(place))
            })?;
        }
        table.end_row(n as u64 + 1, "row", builder)?;
    }
    Ok(())
}

/// What becomes of a column.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    User,
    Item,
    Skip,
}

/// A matrix, row by row.
struct Wide<'a> {
    file: &'a Columns<'a>,
    places: Vec<Place>,
    marks: &'a [f64],
    duplicates: Duplicates,
    has_users: bool,
    /// The row at hand: its user, and its ratings by column.
    user: String,
    row: Vec<(usize, f32)>,
    n_rows: u64,
    /// Where each user's row is, if users have names; 0 if there is none yet.
    lines: Vec<u64>,
    /// The number of each column's item, once it is rated.
    numbers: Vec<Option<u32>>,
}

impl<'a> Wide<'a> {
    fn new(
        file: &'a Columns<'a>,
        user: Option<usize>,
        options: &RatingsOptions,
        marks: &'a [f64],
    ) -> Result<Self> {
        let mut places = vec![Place::Item; file.n_columns];
        for unwanted in &options.drop {
            places[file.find("drop", unwanted)?] = Place::Skip;
        }
        if let Some(at) = user {
            places[at] = Place::User;
        }
        let is_item = |at: usize| places[at] == Place::Item;
        let mut seen = HashMap::new();
        for (at, name) in file.names.iter().enumerate().filter(|&(at, _)| is_item(at)) {
            if let Some(before) = seen.insert(name.as_str(), at) {
                let (a, b) = (before + 1, at + 1);
                return Err(Error::parse(
                    file.path,
                    advice![
                        format!(
                            "columns {a} and {b} are both called {name:?}; rename one, or leave it out with "
                        ),
                        setting("drop").to(b),
                    ],
                ));
            }
        }
        if !(0..file.n_columns).any(is_item) {
            return Err(Error::parse(
                file.path,
                format!("no column is left as an item; {}; leave more of them in", file.listed()),
            ));
        }
        Ok(Wide {
            file,
            numbers: vec![None; places.len()],
            places,
            marks,
            duplicates: options.duplicates,
            has_users: user.is_some(),
            user: String::new(),
            row: Vec::new(),
            n_rows: 0,
            lines: Vec::new(),
        })
    }

    /// Takes a cell of the row at hand.
    fn take(&mut self, at: usize, cell: &[u8]) -> Result<(), Advice> {
        match self.places[at] {
            Place::Skip => Ok(()),
            Place::User => {
                let user = std::str::from_utf8(cell).ok().filter(|user| !user.is_empty());
                let found = user.ok_or_else(|| {
                    let found = shown(cell);
                    format!("found {found}; every row needs a user: fill it in, as UTF-8")
                })?;
                found.clone_into(&mut self.user);
                Ok(())
            }
            Place::Item if is_mark(cell) => Ok(()),
            Place::Item => match number_of(cell) {
                Some(value) => self.rate(at, value),
                None if is_decimal_comma(cell) => Err(format!(
                    "found {}, which is not a number; write numbers with a decimal point, not a comma",
                    shown(cell)
                )
                .into()),
                None => Err(advice![
                    format!("found {}, which is not a number; a cell is a rating or empty: fix it, leave the column out with ", shown(cell)),
                    setting("drop"),
                    ", or name it with ",
                    setting("user"),
                    " if it says who rates",
                ]),
            },
        }
    }

    /// Takes a rating of the row at hand, if it is one.
    fn rate(&mut self, at: usize, value: f64) -> Result<(), Advice> {
        if self.places[at] != Place::Item || value.is_nan() || self.marks.contains(&value) {
            return Ok(());
        }
        if !(value as f32).is_finite() {
            return Err(value_fault(value).into());
        }
        self.row.push((at, value as f32));
        Ok(())
    }

    /// Ends the row at hand.
    fn end_row(&mut self, line: u64, what: &str, builder: &mut Builder) -> Result<()> {
        self.n_rows += 1;
        if self.user.is_empty() {
            self.user = self.n_rows.to_string();
        }
        let path = self.file.path;
        check_size(path, builder.value.len() + self.row.len())?;
        if !self.row.is_empty() {
            let user = builder.users.insert(&self.user);
            if let (Some(before), Duplicates::Refuse) = (self.before(user, line), self.duplicates) {
                return Err(Error::parse(
                    path,
                    advice![
                        format!(
                            "user {} has {what} {before} and {what} {line}; give each user one row, or average the ratings with ",
                            self.user
                        ),
                        setting("duplicates").to(Duplicates::Mean),
                    ],
                ));
            }
            for &(at, value) in &self.row {
                let name = || builder.items.insert(&self.file.label(at));
                let item = *self.numbers[at].get_or_insert_with(name);
                builder.user.push(user);
                builder.item.push(item);
                builder.value.push(value);
            }
        }
        self.row.clear();
        self.user.clear();
        Ok(())
    }

    /// The line of a row that this user has had already; this is another.
    fn before(&mut self, user: u32, line: u64) -> Option<u64> {
        if !self.has_users {
            return None;
        }
        let at = user as usize;
        self.lines.resize(self.lines.len().max(at + 1), 0);
        Some(std::mem::replace(&mut self.lines[at], line)).filter(|&before| before > 0)
    }
}
