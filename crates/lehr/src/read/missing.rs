//! Missing values: what stands for one in text, and what becomes of rows that have one.

use std::path::Path;

use super::select::Selection;
use crate::data::Points;
use crate::error::{Advice, Part, advice, setting};
use crate::settings::{Kind, Setting, choices};
use crate::{Error, Result};

choices! {
    /// What becomes of rows with missing values: empty cells, NA, NaN, null and the like.
    #[derive(Default)]
    pub enum Missing {
        /// They are an error, which says where.
        #[default]
        Refuse = "refuse",
        /// They are left out, if the value is missing in a column that is used.
        DropRows = "drop-rows",
        /// They stay, with NaN for what is missing; the model works with the values that are there.
        Model = "model",
    }
}

pub(super) const MISSING: Setting = Setting {
    name: "missing",
    kind: Kind::Choice(Missing::NAMES),
    help: "Missing values (empty, NA, NaN, null, ?): refuse them, drop their rows, or model what is there",
    default: "refuse",
    ..Setting::BLANK
};

/// Marks of a missing value in text, which do not make a first row a row of names.
const MARKS: [&str; 9] = ["", "na", "n/a", "nan", "null", "none", "nil", "?", "-"];

/// Whether a cell without blanks around it stands for a missing value.
pub(super) fn is_mark(text: &[u8]) -> bool {
    text.len() <= 4 && MARKS.iter().any(|mark| text.eq_ignore_ascii_case(mark.as_bytes()))
}

impl Missing {
    /// Whether NaN may stand for a value that is missing.
    pub(super) fn allows_gaps(self) -> bool {
        self != Missing::Refuse
    }
}

/// What to say of a value that was found missing where none may be.
pub(super) fn refused(found: impl Into<Part>) -> Advice {
    advice![
        found.into(),
        "; fill it in, work with the values that are there (",
        setting("missing").to(Missing::Model),
        "), or leave such rows out (",
        setting("missing").to(Missing::DropRows),
        ")",
    ]
}

/// What to say of a number that is not finite.
pub(super) fn not_finite(value: f64) -> Advice {
    if value.is_nan() {
        return refused("found NaN, a missing value");
    }
    format!("found {value}; every number must be finite: fill it in or leave the row out").into()
}

/// Leaves out rows with gaps if that was asked for. A column without any number is refused.
pub(super) fn settle(
    path: &Path,
    points: Points,
    weights: Option<Vec<f64>>,
    selection: &Selection,
    missing: Missing,
) -> Result<(Points, Option<Vec<f64>>)> {
    if !points.has_missing() {
        return Ok((points, weights));
    }
    let n_items = points.n_items();
    let mut gaps = vec![0; points.n_dims()];
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let mut row = vec![0.0; points.n_dims()];
    for n in 0..n_items {
        points.copy_row(n, &mut row);
        gaps.iter_mut().zip(&row).for_each(|(gaps, x)| *gaps += usize::from(x.is_nan()));
        match row.iter().any(|x| x.is_nan()) {
            true => left_out.push(n),
            false => kept.push(n as u32),
        }
    }
    let label = |d: usize| selection.label(selection.kept[d]);
    let empty: Vec<_> = (0..gaps.len()).filter(|&d| gaps[d] == n_items).map(label).collect();
    if !empty.is_empty() {
        let (columns, are) = if empty.len() == 1 { ("column", "is") } else { ("columns", "are") };
        let said = format!("{columns} {} {are} missing in every row; ", empty.join(", "));
        return Err(Error::parse(
            path,
            advice![said, "leave it out (", setting("drop").to(empty.join(",")), ")"],
        ));
    }
    if missing != Missing::DropRows {
        return Ok((points, weights));
    }
    if kept.is_empty() {
        let most = (0..gaps.len()).max_by_key(|&d| gaps[d]).unwrap_or(0);
        return Err(Error::parse(
            path,
            advice![
                format!(
                    "every row misses a value, column {} in {} of {n_items}, so none is left; leave out \
                     the columns with most gaps (",
                    label(most),
                    gaps[most],
                ),
                setting("drop").to(label(most)),
                "), or work with the values that are there (",
                setting("missing").to(Missing::Model),
                ")",
            ],
        ));
    }
    let weights = weights.map(|all| kept.iter().map(|&n| all[n as usize]).collect());
    Ok((points.subset(&kept).without(left_out), weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_missing_values_are_known_in_any_case() {
        let marks = ["", "NA", "na", "N/A", "nan", "NaN", "NULL", "None", "nil", "?", "-"];
        assert!(marks.iter().all(|mark| is_mark(mark.as_bytes())));
        let others = ["0", "-1", "x", "nana", "--", "nothing", "inf", " ", "missing"];
        assert!(!others.iter().any(|other| is_mark(other.as_bytes())));
    }
}
