//! `lehr compare`: which topics, clusters or dimensions of two runs are the same.

use lehr::compare::{Comparable, Comparison};
use lehr::models::Shipped;
use lehr::store::{Run, RunDirectory};

use super::End;
use crate::args::CompareArgs;
use crate::look;
use crate::models::with_model;
use crate::text::{self, aligned, counted, cut, in_line};

/// Matches the parts of two runs.
pub fn run(args: CompareArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.first)?;
    with_model!(&directory, M => compare::<M>(&args))?;
    Ok(End::Done)
}

fn compare<M: Comparable + Shipped>(args: &CompareArgs) -> anyhow::Result<()> {
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
    text::print(&shown(args, &found, [M::labels(&first), M::labels(&second)]))
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
