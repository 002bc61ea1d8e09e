//! The raw runs as tables: one row a run, and one row a point of a curve.

use std::collections::BTreeSet;
use std::path::Path;

use lehr::write::{Column, table};

use crate::records::{Record, Records};

/// Writes `runs.csv` and, if there are curves, `curves.parquet`.
pub fn write(folder: &Path, records: &Records) -> anyhow::Result<()> {
    let all: Vec<&Record> = records.iter().collect();
    let names: BTreeSet<&String> = all.iter().flat_map(|r| r.end.keys()).collect();
    let keys = Keys::of(all.iter().copied());
    let ends: Vec<(&String, Vec<f64>)> = names
        .into_iter()
        .map(|name| (name, all.iter().map(|r| value(r.end.get(name))).collect()))
        .collect();
    // Lists have different lengths, so they are strings.
    let list_names: BTreeSet<&String> = all.iter().flat_map(|r| r.lists.keys()).collect();
    let lists: Vec<(&String, Vec<String>)> = list_names
        .into_iter()
        .map(|name| (name, all.iter().map(|r| list(r.lists.get(name))).collect()))
        .collect();
    let mut columns = keys.columns();
    columns.extend(ends.iter().map(|(name, values)| Column::f64(name.as_str(), values)));
    columns.extend(lists.iter().map(|(name, values)| Column::text(name.as_str(), values)));
    table(&folder.join("runs.csv"), &columns)?;

    let points: Vec<_> = all.iter().flat_map(|r| r.curve.iter().map(move |p| (*r, p))).collect();
    if points.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<&String> = points.iter().flat_map(|(_, p)| p.values.keys()).collect();
    let keys = Keys::of(points.iter().map(|(r, _)| *r));
    let steps: Vec<i64> = points.iter().map(|(_, p)| p.step as i64).collect();
    let items: Vec<i64> = points.iter().map(|(_, p)| p.items as i64).collect();
    let values: Vec<(&String, Vec<f64>)> = names
        .into_iter()
        .map(|name| (name, points.iter().map(|(_, p)| value(p.values.get(name))).collect()))
        .collect();
    let mut columns = keys.columns();
    columns.push(Column::i64("step", &steps));
    columns.push(Column::i64("items", &items));
    columns.extend(values.iter().map(|(name, values)| Column::f64(name.as_str(), values)));
    table(&folder.join("curves.parquet"), &columns)?;
    Ok(())
}

fn value(found: Option<&f64>) -> f64 {
    found.copied().unwrap_or(f64::NAN)
}

fn list(found: Option<&Vec<f64>>) -> String {
    let numbers: Vec<String> = found.into_iter().flatten().map(f64::to_string).collect();
    numbers.join(" ")
}

/// The columns that say which run it is.
struct Keys {
    settings: Vec<String>,
    methods: Vec<String>,
    starts: Vec<i64>,
}

impl Keys {
    fn of<'a>(records: impl Iterator<Item = &'a Record> + Clone) -> Self {
        Keys {
            settings: records.clone().map(|r| r.setting.clone()).collect(),
            methods: records.clone().map(|r| r.method.clone()).collect(),
            starts: records.map(|r| i64::from(r.start)).collect(),
        }
    }

    fn columns(&self) -> Vec<Column<'_>> {
        vec![
            Column::text("setting", &self.settings),
            Column::text("method", &self.methods),
            Column::i64("start", &self.starts),
        ]
    }
}
