//! Turns the columns a user asked for, by name or number, into places in a file.

use std::path::Path;

use super::{Chosen, PointsOptions};
use crate::error::{advice, setting};
use crate::{Error, Result};

/// What becomes of one column of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnRef {
    Skip,
    /// It becomes this column of the data.
    Value(usize),
    Weight,
}

/// What becomes of every column of the file.
#[derive(Debug)]
pub(super) struct Selection {
    /// One per column of the file.
    pub places: Vec<ColumnRef>,
    /// For each column of the data, its place in the file.
    pub kept: Vec<usize>,
    /// All the file's names; empty if it has none.
    pub all_names: Vec<String>,
    /// The columns that the model was not fitted to and that were not mentioned, if they are chosen for a model.
    pub unheard: Vec<String>,
}

impl Selection {
    /// The choice of `options` among `n_columns` columns with these names, if the file has any.
    pub(super) fn new(
        path: &Path,
        options: &PointsOptions,
        n_columns: usize,
        all_names: Vec<String>,
    ) -> Result<Self> {
        let file = Columns { path, names: &all_names, n_columns };
        let (options, unheard) = match &options.model {
            Some(model) => model.resolve(options, &file)?,
            None => (options.clone(), Vec::new()),
        };
        let mut kept = Vec::new();
        let mut chosen = vec![options.columns.is_empty(); n_columns];
        for wanted in &options.columns {
            let at = file.find("columns", wanted)?;
            if chosen[at] {
                return Err(Error::parse(
                    path,
                    advice![
                        setting("columns"),
                        format!(" names column {} twice; name it once", file.label(at)),
                    ],
                ));
            }
            chosen[at] = true;
            kept.push(at);
        }
        if options.columns.is_empty() {
            kept.extend(0..n_columns);
        }
        for unwanted in &options.drop {
            chosen[file.find("drop", unwanted)?] = false;
        }
        let weight = match &options.weight_column {
            Some(name) => Some(file.find("weight_column", name)?),
            None => None,
        };
        kept.retain(|&at| chosen[at] && Some(at) != weight);
        if kept.is_empty() {
            return Err(Error::parse(
                path,
                format!("no column is left as data; {}; leave more of them in", file.listed()),
            ));
        }

        let mut places = vec![ColumnRef::Skip; n_columns];
        for (d, &at) in kept.iter().enumerate() {
            places[at] = ColumnRef::Value(d);
        }
        if let Some(at) = weight {
            places[at] = ColumnRef::Weight;
        }
        Ok(Selection { places, kept, all_names, unheard })
    }

    /// What was chosen of how many columns, unless it is all of them in their order.
    pub(super) fn chosen(&self) -> Option<Chosen> {
        (!self.is_everything()).then(|| Chosen {
            of: self.places.len(),
            names: self.all_names.clone(),
            columns: self.kept.clone(),
            weight: self.places.iter().position(|&place| place == ColumnRef::Weight),
        })
    }

    pub(super) fn has_weights(&self) -> bool {
        self.places.contains(&ColumnRef::Weight)
    }

    /// Whether the data are the file's columns, all of them, in the file's order.
    pub(super) fn is_everything(&self) -> bool {
        self.places.iter().enumerate().all(|(at, &place)| place == ColumnRef::Value(at))
    }

    /// How messages call the file's column `at`, counted from 0.
    pub(super) fn label(&self, at: usize) -> String {
        label(&self.all_names, at)
    }

    /// What to give to `drop` to leave out these columns of the file: names, or numbers where a name has a
    /// comma or is not the only one.
    pub(super) fn to_drop(&self, places: &[usize]) -> String {
        let is_plain = |name: &String| {
            let same = self.all_names.iter().filter(|other| *other == name).count();
            same == 1 && !name.is_empty() && !name.contains(',')
        };
        let called = |&at: &usize| match self.all_names.get(at).filter(|name| is_plain(name)) {
            Some(name) => name.clone(),
            None => (at + 1).to_string(),
        };
        places.iter().map(called).collect::<Vec<_>>().join(",")
    }

    /// The names of the data's columns; empty if the file has none.
    pub(super) fn names(&self) -> Vec<String> {
        if self.all_names.is_empty() {
            return Vec::new();
        }
        self.kept.iter().map(|&at| self.label(at)).collect()
    }
}

/// How messages call column `at`, counted from 0, of a file with these names, if it has any.
pub(super) fn label(names: &[String], at: usize) -> String {
    match names.get(at) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => (at + 1).to_string(),
    }
}

/// A file's columns, among which a user chooses.
pub(super) struct Columns<'a> {
    pub path: &'a Path,
    /// Empty if the file has none.
    pub names: &'a [String],
    pub n_columns: usize,
}

impl Columns<'_> {
    pub(super) fn label(&self, at: usize) -> String {
        label(self.names, at)
    }

    /// The place of the column that a setting asks for.
    pub(super) fn find(&self, name: &str, wanted: &str) -> Result<usize> {
        let mut same = (0..self.names.len()).filter(|&at| self.names[at] == wanted);
        if let Some(at) = same.next() {
            let Some(again) = same.next() else { return Ok(at) };
            return Err(Error::parse(
                self.path,
                advice![
                    setting(name),
                    format!(
                        " asks for column {wanted:?}, but columns {} and {}",
                        at + 1,
                        again + 1
                    ),
                    " both have this name; give the number instead",
                ],
            ));
        }
        match wanted.trim().parse::<usize>() {
            Ok(number) if (1..=self.n_columns).contains(&number) => Ok(number - 1),
            _ => Err(Error::parse(
                self.path,
                advice![
                    setting(name),
                    format!(" asks for column {wanted:?}, which is not there; {}", self.listed()),
                    format!("; give a name or a number from 1 to {}", self.n_columns),
                ],
            )),
        }
    }

    pub(super) fn listed(&self) -> String {
        const SHOWN: usize = 20;
        if self.names.is_empty() {
            return format!("the columns have no names, only the numbers 1 to {}", self.n_columns);
        }
        let names: Vec<_> = (0..self.n_columns.min(SHOWN)).map(|at| self.label(at)).collect();
        let more = match self.n_columns.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("the columns are {}{more}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(options: PointsOptions, names: &[&str]) -> Result<Selection> {
        let names: Vec<_> = names.iter().map(|&name| name.into()).collect();
        Selection::new(Path::new("a.csv"), &options, names.len(), names)
    }

    fn columns(wanted: &[&str]) -> PointsOptions {
        let columns = wanted.iter().map(|&name| name.into()).collect();
        PointsOptions { columns, ..Default::default() }
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let found = select(columns(&["c", "1"]), &["a", "b", "c"]).unwrap();
        assert_eq!(found.kept, [2, 0]);
        assert_eq!(found.places, [ColumnRef::Value(1), ColumnRef::Skip, ColumnRef::Value(0)]);
        assert_eq!(found.names(), ["c", "a"]);
        assert!(!found.is_everything());
    }

    #[test]
    fn a_name_wins_over_a_number() {
        assert_eq!(select(columns(&["1"]), &["3", "2", "1"]).unwrap().kept, [2]);
    }

    #[test]
    fn the_weight_leaves_the_data_even_if_asked_for() {
        let options = PointsOptions { weight_column: Some("w".into()), ..columns(&["a", "w"]) };
        let found = select(options, &["a", "w"]).unwrap();
        assert_eq!(found.places, [ColumnRef::Value(0), ColumnRef::Weight]);
    }

    #[test]
    fn what_cannot_be_found_is_answered_with_what_there_is() {
        let fault = |wanted: &[&str], names: &[&str]| {
            select(columns(wanted), names).unwrap_err().to_string()
        };
        assert_eq!(
            fault(&["x"], &["a", "a"]),
            "a.csv: `columns` asks for column \"x\", which is not there; the columns are a, a; give a name or a number from 1 to 2"
        );
        assert_eq!(
            fault(&["a"], &["a", "a"]),
            "a.csv: `columns` asks for column \"a\", but columns 1 and 2 both have this name; give the number instead"
        );
        assert_eq!(
            fault(&["a", "1"], &["a"]),
            "a.csv: `columns` names column a twice; name it once"
        );
        let many: Vec<_> = (0..25).map(|n| format!("c{n}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(fault(&["0"], &many).contains("c18, c19 and 5 more; give"));
        let nothing = PointsOptions { drop: vec!["1".into()], ..columns(&["a"]) };
        assert_eq!(
            select(nothing, &["a", "b"]).unwrap_err().to_string(),
            "a.csv: no column is left as data; the columns are a, b; leave more of them in"
        );
    }
}
