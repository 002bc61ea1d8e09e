//! Which columns of a new table are those of a fitted model: by name where both have names, else by position.

use serde::{Deserialize, Serialize};

use super::PointsOptions;
use super::select::Columns;
use crate::error::{advice, setting};
use crate::store::DataSource;
use crate::{Error, Result};

/// The columns of a table, and which of them are the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// How many columns the table has.
    pub of: usize,
    /// The names of all; empty if it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The places of those that are the data, counted from 0.
    pub columns: Vec<usize>,
    /// The place of the one that has the weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<usize>,
}

impl Chosen {
    /// What to call the column at a place, counted from 0: its name if no other has it, else its number.
    pub(crate) fn called(&self, at: usize) -> String {
        let alone = |name: &&String| self.names.iter().filter(|other| other == name).count() == 1;
        match self.names.get(at).filter(|name| !name.is_empty()).filter(alone) {
            Some(name) => name.clone(),
            None => (at + 1).to_string(),
        }
    }
}

/// What is known of the columns that a model was fitted to, by which those of a new table are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedColumns {
    /// How many columns the model has.
    pub n_dims: usize,
    /// Their names; empty if they have none.
    pub names: Vec<String>,
    /// Where they were in their table, if that had others as well.
    pub chosen: Option<Chosen>,
    /// The options of the fit, which are not those of who reads a new table.
    pub columns: Vec<String>,
    /// See `columns`.
    pub drop: Vec<String>,
    /// See `columns`.
    pub weight_column: Option<String>,
    /// Columns of the new table that are used for something else.
    pub aside: Vec<String>,
}

impl FittedColumns {
    /// Those of a run whose model has `n_dims` columns.
    pub fn of(data: &DataSource<PointsOptions>, n_dims: usize) -> Self {
        let PointsOptions { columns, drop, weight_column, .. } = data.options.clone();
        let (names, chosen) = (data.columns.clone(), data.chosen.clone());
        FittedColumns { n_dims, names, chosen, columns, drop, weight_column, aside: Vec::new() }
    }

    /// Which columns of `file` to read, and those of it that are unknown. What is asked for in
    /// `wanted`, and was not in the fit, is done as it is asked for.
    pub(super) fn resolve(
        &self,
        wanted: &PointsOptions,
        file: &Columns<'_>,
    ) -> Result<(PointsOptions, Vec<String>)> {
        let is_new = |wanted: &[String], fitted: &[String]| !wanted.is_empty() && wanted != fitted;
        let drop = match is_new(&wanted.drop, &self.drop) {
            true => wanted.drop.clone(),
            false => Vec::new(),
        };
        let own_weight =
            wanted.weight_column.clone().filter(|_| wanted.weight_column != self.weight_column);
        let weight_column = own_weight.clone().or_else(|| {
            let fitted = self.weight_column.clone();
            fitted.filter(|name| file.names.contains(name) && !self.names.contains(name))
        });
        let base = PointsOptions {
            columns: Vec::new(),
            drop,
            weight_column,
            model: None,
            ..wanted.clone()
        };
        if is_new(&wanted.columns, &self.columns) {
            return Ok((PointsOptions { columns: wanted.columns.clone(), ..base }, Vec::new()));
        }
        if self.has_names() && !file.names.is_empty() {
            return self.by_name(base, file);
        }
        let n_free =
            file.n_columns.saturating_sub(base.drop.len() + usize::from(own_weight.is_some()));
        if !base.drop.is_empty() || own_weight.is_some() {
            if n_free == self.n_dims {
                return Ok((base, Vec::new()));
            }
            return Err(self.wrong_number(file, n_free));
        }
        match &self.chosen {
            Some(chosen) if chosen.of == file.n_columns => {
                let number = |at: &usize| (at + 1).to_string();
                let columns = chosen.columns.iter().map(number).collect();
                let weight_column = chosen.weight.as_ref().map(number);
                Ok((PointsOptions { columns, weight_column, ..base }, Vec::new()))
            }
            _ if file.n_columns == self.n_dims => {
                Ok((PointsOptions { weight_column: None, ..base }, Vec::new()))
            }
            // A run that does not know its table, of an older lehr: as it read its own.
            None if !(self.columns.is_empty()
                && self.drop.is_empty()
                && self.weight_column.is_none()) =>
            {
                Ok((PointsOptions { model: None, ..wanted.clone() }, Vec::new()))
            }
            _ => Err(self.wrong_number(file, n_free)),
        }
    }

    /// Whether each column has its own name.
    fn has_names(&self) -> bool {
        let mut names = self.names.clone();
        names.sort();
        names.dedup();
        !names.is_empty() && names.len() == self.names.len()
    }

    fn by_name(
        &self,
        base: PointsOptions,
        file: &Columns<'_>,
    ) -> Result<(PointsOptions, Vec<String>)> {
        for unwanted in &base.drop {
            file.find("drop", unwanted)?;
        }
        let is_there = |name: &String| {
            (0..file.n_columns).any(|at| file.label(at) == *name) && !base.drop.contains(name)
        };
        let absent: Vec<&str> =
            self.names.iter().filter(|name| !is_there(name)).map(String::as_str).collect();
        if !absent.is_empty() {
            let (columns, are) =
                if absent.len() == 1 { ("column", "is") } else { ("columns", "are") };
            return Err(Error::parse(
                file.path,
                advice![
                    format!(
                        "{columns} {} of the model {are} not there; {}; add what is absent, or say which \
                         columns to use instead with ",
                        absent.join(", "),
                        file.listed()
                    ),
                    setting("columns"),
                ],
            ));
        }
        let known = |name: &String| {
            let chosen = self.chosen.as_ref().is_some_and(|chosen| chosen.names.contains(name));
            chosen
                || [&self.names, &self.drop, &self.aside, &base.drop]
                    .iter()
                    .any(|l| l.contains(name))
                || [&self.weight_column, &base.weight_column]
                    .iter()
                    .any(|w| w.as_ref() == Some(name))
        };
        let labels = (0..file.n_columns).map(|at| file.label(at));
        let unheard = labels.filter(|name| !known(name)).collect();
        Ok((PointsOptions { columns: self.names.clone(), drop: Vec::new(), ..base }, unheard))
    }

    fn wrong_number(&self, file: &Columns<'_>, found: usize) -> Error {
        let named = match self.names.as_slice() {
            [] => String::new(),
            names => format!(" ({})", names.join(", ")),
        };
        let or = match &self.chosen {
            Some(chosen) if chosen.of != self.n_dims => format!(" of a table of {}", chosen.of),
            _ => String::new(),
        };
        Error::parse(
            file.path,
            advice![
                format!(
                    "the data have {found} columns, and the model was fitted to {}{named}{or}; without names \
                     they are taken by position: choose the right ones with ",
                    self.n_dims
                ),
                setting("columns"),
                " or ",
                setting("drop"),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    /// Fitted to a and b of a table a, label, b, w with weights w.
    fn fitted() -> FittedColumns {
        let names = texts(&["a", "label", "b", "w"]);
        FittedColumns {
            n_dims: 2,
            names: texts(&["a", "b"]),
            chosen: Some(Chosen { of: 4, names, columns: vec![0, 2], weight: Some(3) }),
            columns: Vec::new(),
            drop: texts(&["label"]),
            weight_column: Some("w".into()),
            aside: Vec::new(),
        }
    }

    fn as_in_the_fit() -> PointsOptions {
        let fitted = fitted();
        PointsOptions {
            drop: fitted.drop,
            weight_column: fitted.weight_column,
            ..Default::default()
        }
    }

    fn read(
        fitted: &FittedColumns,
        wanted: &PointsOptions,
        names: &[&str],
        n_columns: usize,
    ) -> Result<(PointsOptions, Vec<String>)> {
        let names = texts(names);
        fitted.resolve(wanted, &Columns { path: Path::new("n.csv"), names: &names, n_columns })
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_others_do_not_matter() {
        let of = |names: &[&str]| read(&fitted(), &as_in_the_fit(), names, names.len()).unwrap();
        let (options, unheard) = of(&["b", "a"]);
        assert_eq!((options.columns, options.weight_column), (texts(&["a", "b"]), None));
        assert!(unheard.is_empty() && options.drop.is_empty());
        let (options, unheard) = of(&["w", "b", "id", "label", "a"]);
        assert_eq!(
            (options.columns, options.weight_column),
            (texts(&["a", "b"]), Some("w".into()))
        );
        assert_eq!(unheard, ["id"]);
        let aside = FittedColumns { aside: texts(&["id"]), ..fitted() };
        assert!(read(&aside, &as_in_the_fit(), &["id", "a", "b"], 3).unwrap().1.is_empty());
        let fault = read(&fitted(), &as_in_the_fit(), &["a", "c"], 2).unwrap_err().to_string();
        assert_eq!(
            fault,
            "n.csv: column b of the model is not there; the columns are a, c; add what is absent, or say \
             which columns to use instead with `columns`"
        );
    }

    #[test]
    fn without_names_the_number_of_columns_decides() {
        let of = |n| read(&fitted(), &as_in_the_fit(), &[], n);
        let (options, _) = of(2).unwrap();
        assert_eq!(
            (options.columns.len(), options.drop.len(), options.weight_column),
            (0, 0, None)
        );
        let (options, _) = of(4).unwrap();
        assert_eq!(
            (options.columns, options.weight_column),
            (texts(&["1", "3"]), Some("4".into()))
        );
        assert_eq!(
            of(3).unwrap_err().to_string(),
            "n.csv: the data have 3 columns, and the model was fitted to 2 (a, b) of a table of 4; without \
             names they are taken by position: choose the right ones with `columns` or `drop`"
        );
        let nameless = FittedColumns { names: Vec::new(), ..fitted() };
        assert!(read(&nameless, &as_in_the_fit(), &["x", "y"], 2).unwrap().0.columns.is_empty());
    }

    #[test]
    fn what_is_asked_for_is_done() {
        let names = ["a", "b", "c", "v"];
        let columns = PointsOptions { columns: texts(&["b", "c"]), ..as_in_the_fit() };
        let (options, _) = read(&fitted(), &columns, &names, 4).unwrap();
        assert_eq!((options.columns, options.drop.len()), (texts(&["b", "c"]), 0));
        let weighed = PointsOptions { weight_column: Some("v".into()), ..as_in_the_fit() };
        let (options, unheard) = read(&fitted(), &weighed, &names, 4).unwrap();
        assert_eq!((options.weight_column, unheard), (Some("v".into()), texts(&["c"])));
        let without = PointsOptions { drop: texts(&["a"]), ..as_in_the_fit() };
        assert!(
            read(&fitted(), &without, &names, 4).unwrap_err().to_string().contains("column a of")
        );
        let dropped = PointsOptions { drop: texts(&["1"]), ..as_in_the_fit() };
        assert_eq!(read(&fitted(), &dropped, &[], 3).unwrap().0.drop, ["1"]);
        assert!(read(&fitted(), &dropped, &[], 4).is_err());
    }
}
