//! Reads ratings from Parquet tables, a stretch of rows of their columns at a time.

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;

use super::RatingsOptions;
use super::batch::{id_fault, value_fault};
use super::builder::{Builder, check_size};
use super::layout::{self, NONE, ROLES};
use crate::data::{Ids, WEIGHTS, is_weight};
use crate::error::{advice, setting};
use crate::{Error, Result};

use super::super::parquet::{damaged, guarded, is_unsigned, type_name};
use super::super::parquet_file::Opened;
use super::super::parquet_values::{CellPlace, Kind, Values, next_values};
use super::super::source::Source;

/// How many rows are taken at a time.
const ROWS: usize = 1 << 16;

pub(super) fn read(
    source: Source<'_>,
    options: &RatingsOptions,
    builder: &mut Builder,
) -> Result<()> {
    guarded(source.path, || read_rows(&source, options, builder))
}

fn read_rows(source: &Source<'_>, options: &RatingsOptions, builder: &mut Builder) -> Result<()> {
    let path = source.path;
    let damaged = |error| damaged(path, error);
    let mut opened = Opened::new(source)?;
    let columns = opened.reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    let options = &builder.options_for(options, &names);
    let all = layout::places(path, options, &names, names.len(), None)?;
    let places = if all[3] == NONE { &all[..3] } else { &all[..] };
    for (role, &at) in places.iter().enumerate() {
        let (fits, allowed) = match Kind::of(&columns[at]) {
            kind if role >= 2 => (matches!(kind, Some(Kind::Integers | Kind::Floats)), "numbers"),
            kind => (matches!(kind, Some(Kind::Integers | Kind::Texts)), "integers or text"),
        };
        if !fits {
            let held = match Kind::of(&columns[at]) {
                Some(Kind::Floats) => "floats",
                _ => type_name(&columns[at]),
            };
            return Err(Error::parse(
                path,
                advice![
                    format!("column {} does not hold {allowed} but {held}", names[at]),
                    "; convert it, or say which column holds the ",
                    ["users", "items", "ratings", "weights"][role],
                    " with ",
                    setting(ROLES[role]),
                ],
            ));
        }
    }

    for g in 0..opened.reader.num_row_groups() {
        opened.check_group(g, places)?;
        let group = opened.reader.get_row_group(g).map_err(damaged)?;
        let mut open = Vec::with_capacity(4);
        for &at in places {
            open.push(group.get_column_reader(at).map_err(damaged)?);
        }
        loop {
            let first = builder.value.len();
            let place = |role: usize| CellPlace { path, column: &names[places[role]], first };
            let mut read = Vec::with_capacity(4);
            for (role, column) in open.iter_mut().enumerate() {
                read.push(next_values(column, &columns[places[role]], &place(role), ROWS)?);
            }
            if read.iter().any(|values| values.len() != read[0].len()) {
                return Err(damaged(ParquetError::General(
                    "columns differ in their numbers of rows".into(),
                )));
            }
            if read[0].len() == 0 {
                break;
            }
            check_size(path, first + read[0].len())?;
            for role in 0..2 {
                let (ids, numbers) = match role {
                    0 => (&mut builder.users, &mut builder.user),
                    _ => (&mut builder.items, &mut builder.item),
                };
                let unsigned = is_unsigned(&columns[places[role]]);
                number(&read[role], role, unsigned, ids, numbers)
                    .map_err(|(i, fault)| place(role).fault(i, &fault))?;
            }
            keep(&read[2], &mut builder.value).map_err(|(i, fault)| place(2).fault(i, &fault))?;
            if let Some(weights) = read.get(3) {
                let kept = keep(weights, &mut builder.weight);
                let wrong = builder.weight[first..].iter().position(|&x| !is_weight(x));
                let fault = match (kept, wrong) {
                    (_, Some(i)) => {
                        Err((i, format!("is {}; {WEIGHTS}", builder.weight[first + i])))
                    }
                    (kept, None) => kept,
                };
                fault.map_err(|(i, fault)| place(3).fault(i, &fault))?;
            }
        }
    }
    Ok(())
}

/// Numbers ids, or says which is wrong and how.
fn number(
    values: &Values,
    role: usize,
    unsigned: bool,
    ids: &mut Ids,
    numbers: &mut Vec<u32>,
) -> Result<(), (usize, String)> {
    match values {
        Values::Integers(values) => {
            for (i, &id) in values.iter().enumerate() {
                // Unsigned integers beyond these all arrive as the largest one.
                if unsigned && id == i64::MAX {
                    return Err((
                        i,
                        format!("the {} is 2^63 - 1 or more; store ids as text", ROLES[role]),
                    ));
                }
                numbers.push(ids.insert_integer(id));
            }
        }
        Values::Texts(values) => {
            for (i, id) in values.iter().enumerate() {
                match std::str::from_utf8(id.data()) {
                    Ok(text) if !text.is_empty() => numbers.push(ids.insert(text)),
                    _ => return Err((i, id_fault(id.data(), role).unwrap_or_default())),
                }
            }
        }
        Values::Floats(_) => return Err((0, "is a float".into())),
    }
    Ok(())
}

fn keep(values: &Values, kept: &mut Vec<f32>) -> Result<(), (usize, String)> {
    let mut keep = |i: usize, value: f64| {
        if !(value as f32).is_finite() {
            return Err((i, value_fault(value)));
        }
        kept.push(value as f32);
        Ok(())
    };
    match values {
        Values::Integers(values) => {
            values.iter().enumerate().try_for_each(|(i, &value)| keep(i, value as f64))
        }
        Values::Floats(values) => {
            values.iter().enumerate().try_for_each(|(i, &value)| keep(i, value))
        }
        Values::Texts(_) => Err((0, "is text".into())),
    }
}
