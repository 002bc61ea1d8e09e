//! Items and users that are like others, for people and for programs.

use anyhow::bail;
use serde::Serialize;

use lehr::data::{Ids, Side};
use lehr::models::pmf::{Pmf, Similar};
use lehr::write::{Column, TableFormat};

use super::LONGEST_ID;
use super::lists::Names;
use super::recommend::read_titles;
use crate::args::SimilarArgs;
use crate::models::OpenRun;
use crate::output::{TableFile, say};
use crate::text::{self, aligned, counted, cut, in_line};

#[derive(Serialize)]
struct Lists {
    model: &'static str,
    side: &'static str,
    lists: Vec<List>,
}

#[derive(Serialize)]
struct List {
    #[serde(skip)]
    number: u32,
    /// Whose list it is.
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    similar: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    #[serde(skip)]
    number: u32,
    rank: usize,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    similarity: f64,
    sd: f64,
}

/// Refuses flags that cannot work, before anything is read.
pub fn check(args: &SimilarArgs) -> anyhow::Result<()> {
    if args.top == 0 {
        bail!("--top 0: must be at least 1");
    }
    Ok(())
}

/// Prints or writes who or what is like those that are asked for.
pub fn show(run: &OpenRun<Pmf>, args: &SimilarArgs) -> anyhow::Result<()> {
    let (side, name, asked) = match args.user.is_empty() {
        true => (Side::Item, "item", &args.item),
        false => (Side::User, "user", &args.user),
    };
    let output = args.output.as_deref().map(|path| TableFile::new(path, None, args.force));
    let output = output.transpose()?;
    if let Some(output) = output.as_ref().filter(|output| output.format == TableFormat::Npy) {
        bail!(
            "{}: is an array, which has no room for ids; write .csv, .jsonl or .parquet",
            output.path.display()
        );
    }
    let titles = args.titles.as_deref().map(|path| read_titles(&run.model, &run.config, path));
    let titles = titles.transpose()?;
    let title = |id: &str| titles.as_ref().and_then(|titles| titles.get(id).cloned());
    let (model, lambda) = (&run.model, &run.saved.model_state().lambda);
    let mut lists = Vec::new();
    for id in asked {
        let id = id.trim();
        let Some(number) = model.ids(side).find(id) else {
            bail!(
                "--{name} {}: the run does not know this {name}; it has {} like {}",
                in_line(id),
                counted(model.ids(side).len() as u64, name),
                cut(&in_line(&model.ids(side).get(0).to_string()), LONGEST_ID)
            );
        };
        let found = model.similar(lambda, side, number, args.top);
        let listed = found.iter().zip(1..).map(|(found, rank)| {
            let id = model.ids(side).get(found.number as usize).to_string();
            let Similar { number, similarity, sd } = *found;
            Listed { number, rank, title: title(&id), id, similarity, sd }
        });
        let similar = listed.collect();
        lists.push(List { number, id: id.to_string(), title: title(id), similar });
    }
    if let Some(output) = &output {
        return write(output, (name, model.ids(side)), &lists, titles.is_some());
    }
    if args.json {
        return text::print_json(&Lists { model: "pmf", side: name, lists });
    }
    let blocks: Vec<String> = lists.iter().map(|list| block(list, name)).collect();
    text::print(&blocks.join("\n"))
}

fn block(list: &List, name: &str) -> String {
    let own = list.title.as_ref().map_or(String::new(), |title| format!(", {}", in_line(title)));
    let mut header = vec!["rank", name];
    let has_titles = list.similar.iter().any(|listed| listed.title.is_some());
    if has_titles {
        header.push("title");
    }
    let left = 1..header.len();
    header.extend(["similarity", "sd"]);
    let row = |listed: &Listed| {
        let mut row = vec![listed.rank.to_string(), cut(&in_line(&listed.id), LONGEST_ID)];
        if has_titles {
            let title = listed.title.as_ref().unwrap_or(&listed.id);
            row.push(cut(&in_line(title), LONGEST_ID));
        }
        row.extend([listed.similarity, listed.sd].map(|x| format!("{x:.3}")));
        row
    };
    let rows: Vec<Vec<String>> = list.similar.iter().map(row).collect();
    format!("{name} {}{own}\n", in_line(&list.id)) + &aligned(&header, &rows, left)
}

fn write(
    output: &TableFile<'_>,
    (name, ids): (&str, &Ids),
    lists: &[List],
    titled: bool,
) -> anyhow::Result<()> {
    let rows = || lists.iter().flat_map(|list| list.similar.iter().map(move |row| (list, row)));
    let own = Names::of(ids, rows().map(|(list, _)| list.number));
    let ranks: Vec<i64> = rows().map(|(_, row)| row.rank as i64).collect();
    let other = Names::of(ids, rows().map(|(_, row)| row.number));
    let titles: Vec<String> =
        rows().map(|(_, row)| row.title.clone().unwrap_or_default()).collect();
    let similarity: Vec<f64> = rows().map(|(_, row)| row.similarity).collect();
    let sd: Vec<f64> = rows().map(|(_, row)| row.sd).collect();
    let mut columns = vec![own.column(name), Column::i64("rank", &ranks), other.column("similar")];
    if titled {
        columns.push(Column::text("title", &titles));
    }
    columns.extend([Column::f64("similarity", &similarity), Column::f64("sd", &sd)]);
    output.write(&columns)?;
    let n = counted(ranks.len() as u64, "row");
    say(output.path, &format!("{}: {n}\n", output.path.display()))
}
