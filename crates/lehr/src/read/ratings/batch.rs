//! Some ratings of a file whose ids have no numbers yet: threads make these, in any order.

use crate::error::{Advice, advice, setting};

use super::super::csv::is_decimal_comma;
use super::super::digits::number_of;
use super::super::records::ragged;
use super::super::source::shown;
use super::layout::{Layout, ROLES};
use crate::data::{Ids, WEIGHTS, integer, is_weight};

/// Ratings as they stand in a part of a file.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub users: Keys,
    pub items: Keys,
    pub values: Vec<f32>,
    /// How much each counts, if they have weights.
    pub weights: Vec<f32>,
    /// The line of the first rating, and of every other one that is not on the line behind the
    /// rating before it. Lines count from 0 at the start of the part.
    pub lines: Vec<(usize, u64)>,
    next_line: u64,
}

/// What is wrong with a line, counted like `Batch::lines`.
#[derive(Debug)]
pub(super) struct Fault {
    pub line: u64,
    /// Which of the cells, if it is one.
    pub role: Option<usize>,
    pub message: Advice,
}

impl Batch {
    pub(super) fn with_capacity(n: usize) -> Self {
        let keys = || Keys::Integers(Vec::with_capacity(n));
        let (users, items) = (keys(), keys());
        Batch { users, items, values: Vec::with_capacity(n), ..Batch::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds the rating that stands in `line` in these of `n_cells` cells.
    pub(super) fn push(
        &mut self,
        layout: &Layout,
        line: u64,
        n_cells: usize,
        cells: [&[u8]; 4],
    ) -> Result<(), Fault> {
        let [user, item, rating, weight] = cells.map(<[u8]>::trim_ascii);
        let weight = match layout.has_weights() {
            true => value(weight).filter(|&weight| is_weight(weight)).map(Some),
            false => Some(None),
        };
        match (value(rating), weight) {
            (Some(value), Some(weight))
                if n_cells == layout.n_columns
                    && self.users.push(user)
                    && self.items.push(item) =>
            {
                self.push_value(line, value);
                self.weights.extend(weight);
                Ok(())
            }
            _ => Err(fault(layout, line, n_cells, cells.map(<[u8]>::trim_ascii))),
        }
    }

    /// Adds the rating of two integers, if all others before it were integers.
    #[inline]
    pub(super) fn push_plain(&mut self, line: u64, ids: [i64; 2], value: f32) -> bool {
        let (Keys::Integers(users), Keys::Integers(items)) = (&mut self.users, &mut self.items)
        else {
            return false;
        };
        let [user, item] = ids;
        users.push(user);
        items.push(item);
        self.push_value(line, value);
        true
    }

    #[inline]
    fn push_value(&mut self, line: u64, value: f32) {
        if line != self.next_line || self.values.is_empty() {
            self.lines.push((self.values.len(), line));
        }
        self.next_line = line + 1;
        self.values.push(value);
    }
}

/// The ids of one side, in the order of the file: integers until the first other text.
#[derive(Debug)]
pub(super) enum Keys {
    Integers(Vec<i64>),
    Texts { text: String, ends: Vec<usize> },
}

impl Default for Keys {
    fn default() -> Self {
        Keys::Integers(Vec::new())
    }
}

impl Keys {
    /// Adds an id; false if it is empty or not UTF-8.
    fn push(&mut self, id: &[u8]) -> bool {
        if let Keys::Integers(all) = self {
            if let Some(number) = integer(id) {
                all.push(number);
                return true;
            }
            *self = texts(all);
        }
        match std::str::from_utf8(id) {
            Ok(id) if !id.is_empty() => {
                self.push_text(id);
                true
            }
            _ => false,
        }
    }

    fn push_text(&mut self, id: &str) {
        if let Keys::Texts { text, ends } = self {
            text.push_str(id);
            ends.push(text.len());
        }
    }

    /// Numbers these ids, new ones as they come.
    pub(super) fn number(&self, ids: &mut Ids, numbers: &mut Vec<u32>) {
        match self {
            Keys::Integers(all) => {
                // Files are often sorted by one of the sides.
                let mut last = None;
                numbers.extend(all.iter().map(|&id| match last {
                    Some((same, number)) if same == id => number,
                    _ => {
                        let number = ids.insert_integer(id);
                        last = Some((id, number));
                        number
                    }
                }));
            }
            Keys::Texts { text, ends } => {
                let mut start = 0;
                numbers.extend(ends.iter().map(|&end| {
                    let id = &text[start..end];
                    start = end;
                    ids.insert(id)
                }));
            }
        }
    }
}

/// Integers as strings.
#[cold]
fn texts(all: &[i64]) -> Keys {
    let mut keys = Keys::Texts { text: String::new(), ends: Vec::with_capacity(2 * all.len()) };
    all.iter().for_each(|number| keys.push_text(&number.to_string()));
    keys
}

/// The rating in a cell without blanks around it, if it is a finite number.
fn value(text: &[u8]) -> Option<f32> {
    let value = number_of(text)? as f32;
    value.is_finite().then_some(value)
}

#[cold]
fn fault(layout: &Layout, line: u64, n_cells: usize, cells: [&[u8]; 4]) -> Fault {
    let at = |role: Option<usize>, message: Advice| Fault { line, role, message };
    // A line of a wrong length is reported first: it explains the cell that does not fit.
    if n_cells != layout.n_columns {
        let mut message = ragged(n_cells, layout.n_columns, layout.first_line, layout.separator);
        if n_cells > layout.n_columns && layout.separator != "::" {
            message.push_str("; put a field that holds them in double quotes");
        }
        return at(None, message.into());
    }
    for (role, id) in cells[..2].iter().enumerate() {
        if let Some(message) = id_fault(id, role) {
            return at(Some(role), message.into());
        }
    }
    if layout.has_weights() && value(cells[2]).is_some() {
        let message = format!("found {}; {WEIGHTS}", shown(cells[3]));
        return at(Some(3), message.into());
    }
    at(Some(2), rating_fault(cells[2]))
}

/// What is wrong with an id, if anything.
pub(super) fn id_fault(id: &[u8], role: usize) -> Option<String> {
    let role = ROLES[role];
    if id.is_empty() {
        return Some(format!(
            "the {role} is empty; every rating needs one: fill it in or leave the line out"
        ));
    }
    std::str::from_utf8(id).is_err().then(|| {
        format!("the {role} {} is not UTF-8; save the file as UTF-8 and try again", shown(id))
    })
}

fn rating_fault(text: &[u8]) -> Advice {
    const FINITE: &str = "every rating must be a finite number: fill it in or leave the line out";
    let found = shown(text);
    match number_of(text) {
        _ if text.is_empty() => format!("the rating is empty; {FINITE}").into(),
        Some(value) => value_fault(value).into(),
        None if is_decimal_comma(text) => format!(
            "found {found}, which is not a number; write numbers with a decimal point, not a comma"
        )
        .into(),
        None if !super::super::csv::is_word(text) => {
            format!("found {found}, a missing value; {FINITE}").into()
        }
        None => advice![
            format!("found {found}, which is not a number; fix it, or say which column holds the "),
            "ratings with ",
            setting("rating"),
        ],
    }
}

/// What is wrong with a number that cannot be kept.
pub(super) fn value_fault(value: f64) -> String {
    if value.is_finite() {
        return format!("found {value:e}, which is too large; ratings go up to 3.4e38");
    }
    format!(
        "found {value}, which is not finite; every rating must be a finite number: fill it in or leave the line out"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_finite_numbers() {
        for (text, expected) in [("-1.5", -1.5), ("1e3", 1000.0), (".5", 0.5), ("+2", 2.0)] {
            assert_eq!(value(text.as_bytes()), Some(expected));
        }
        assert!(
            ["inf", "1e39", "-1e39", "nan", "x", ""].iter().all(|t| value(t.as_bytes()).is_none())
        );
    }
}
