//! `lehr compare`: which topics, clusters or dimensions of two runs are the same.

use lehr::compare::{Comparable, Comparison};
use lehr::models::Shipped;
use lehr::store::{Run, RunDirectory};
use lehr::write::{Column, TableFormat};

use super::End;
use crate::args::CompareArgs;
use crate::look;
use crate::models::with_model;
use crate::output::{TableFile, say};
use crate::text::{self, aligned, counted, cut, in_line};

/// Matches the parts of two runs.
pub fn run(args: CompareArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.first)?;
    with_model!(&directory, M => compare::<M>(&args))?;
    Ok(End::Done)
}

fn compare<M: Comparable + Shipped>(args: &CompareArgs) -> anyhow::Result<()> {
    let output = args.output.as_deref().map(|path| TableFile::new(path, None, args.force));
    let output = output.transpose()?;
    if let Some(output) = output.as_ref().filter(|output| output.format == TableFormat::Npy) {
        anyhow::bail!(
            "{}: is an array, which has no room for words; write .csv, .json or .parquet",
            output.path.display()
        );
    }
    let other = RunDirectory::open(&args.second)?.model_name()?;
    if !M::NAMES.contains(&other.as_str()) {
        anyhow::bail!(
            "{} is a run of {}, and {} one of {other}; runs of the same model are compared",
            args.first.display(),
            M::NAMES.join(" or "),
            args.second.display()
        );
    }
    let (first, second) = (Run::<M>::load(&args.first)?, Run::<M>::load(&args.second)?);
    let found = M::compare(&first, &second)?;
    if args.json {
        return text::print_json(&found);
    }
    let labels = [M::labels(&first), M::labels(&second)];
    match output {
        Some(output) => write(&output, &found, &labels),
        None => text::print(&shown(args, &found, labels)),
    }
}

/// A row for each pair, then for each part that has none.
fn write(
    output: &TableFile<'_>,
    found: &Comparison,
    labels: &[Vec<String>; 2],
) -> anyhow::Result<()> {
    let pairs =
        found.pairs.iter().map(|pair| (Some(pair.first), Some(pair.second), pair.similarity));
    let left = found.only_first.iter().map(|&part| (Some(part), None, f64::NAN));
    let right = found.only_second.iter().map(|&part| (None, Some(part), f64::NAN));
    let rows: Vec<(Option<usize>, Option<usize>, f64)> = pairs.chain(left).chain(right).collect();
    let number = |part: Option<usize>| part.map_or(f64::NAN, |part| part as f64);
    let label = |which: usize, part: Option<usize>| -> String {
        part.and_then(|part| labels[which].get(part)).cloned().unwrap_or_default()
    };
    let first: Vec<f64> = rows.iter().map(|row| number(row.0)).collect();
    let second: Vec<f64> = rows.iter().map(|row| number(row.1)).collect();
    let similarity: Vec<f64> = rows.iter().map(|row| row.2).collect();
    let first_is: Vec<String> = rows.iter().map(|row| label(0, row.0)).collect();
    let second_is: Vec<String> = rows.iter().map(|row| label(1, row.1)).collect();
    let mut columns = vec![
        Column::f64("first", &first),
        Column::f64("second", &second),
        Column::f64("similarity", &similarity),
    ];
    if labels.iter().any(|labels| !labels.is_empty()) {
        columns
            .extend([Column::text("first_is", &first_is), Column::text("second_is", &second_is)]);
    }
    output.write(&columns)?;
    let said = counted(found.pairs.len() as u64, "pair");
    say(output.path, &format!("{}: {said}\n", output.path.display()))
}

fn shown(args: &CompareArgs, found: &Comparison, labels: [Vec<String>; 2]) -> String {
    let Comparison { parts, by, n_common, pairs, mean, .. } = found;
    let mut out = format!(
        "{} and {}: {} {parts} matched by {n_common} {by}, {mean:.3} in common on average\n",
        args.first.display(),
        args.second.display(),
        pairs.len()
    );
    let room = look::width().saturating_sub(32) / 2;
    let label = |which: usize, part: usize| {
        labels[which].get(part).map_or(String::new(), |label| cut(&in_line(label), room))
    };
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|pair| {
            vec![
                pair.first.to_string(),
                pair.second.to_string(),
                format!("{:.3}", pair.similarity),
                label(0, pair.first),
                label(1, pair.second),
            ]
        })
        .collect();
    out += &aligned(&["first", "second", "in common", "", ""], &rows, 3..5);
    for (path, left) in [(&args.first, &found.only_first), (&args.second, &found.only_second)] {
        if !left.is_empty() {
            let numbers: Vec<String> = left.iter().map(ToString::to_string).collect();
            let n = counted(left.len() as u64, parts.trim_end_matches('s'));
            out += &format!("{n} of {} without a match: {}\n", path.display(), numbers.join(", "));
        }
    }
    out
}
