//! The lists of many users as a table, part by part.

use std::collections::HashMap;
use std::io::Write;

use anyhow::bail;

use lehr::data::{Ids, Side};
use lehr::lambda::Lambda;
use lehr::models::pmf::{By, ListOptions, Pmf, Recommendation};
use lehr::write::{Column, TableFormat, table_in_parts};

use crate::args::RecommendArgs;
use crate::output::{TableFile, say};
use crate::text::{counted, in_line};

/// Users whose lists are in memory at a time.
const TOGETHER: usize = 8192;

/// Unknown users who are named.
const NAMED: usize = 5;

/// What lists are made of and how.
pub(super) struct Asked<'a> {
    pub model: &'a Pmf,
    pub lambda: &'a Lambda,
    /// Whom for; all, if there are none.
    pub users: Option<Vec<String>>,
    pub by: By,
    pub allowed: Option<Vec<u32>>,
    pub scale: Option<(f64, f64)>,
    pub titles: Option<HashMap<String, String>>,
    pub args: &'a RecommendArgs,
}

/// Ids of rows: integers, where all are.
pub(super) enum Names {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Names {
    pub(super) fn of(ids: &Ids, numbers: impl Iterator<Item = u32>) -> Self {
        match ids.integers() {
            Some(all) => Names::Integers(numbers.map(|n| all[n as usize]).collect()),
            None => Names::Texts(numbers.map(|n| ids.get(n as usize).to_string()).collect()),
        }
    }

    pub(super) fn column(&self, name: &str) -> Column<'_> {
        match self {
            Names::Integers(all) => Column::i64(name, all),
            Names::Texts(all) => Column::text(name, all),
        }
    }
}

impl Asked<'_> {
    /// Writes them.
    pub fn write(&self, output: &TableFile<'_>) -> anyhow::Result<()> {
        if output.format == TableFormat::Npy {
            bail!(
                "{}: is an array, which has no room for ids; write .csv, .jsonl or .parquet",
                output.path.display()
            );
        }
        let ids = self.model.ids(Side::User);
        let users: Vec<Option<u32>> = match &self.users {
            Some(names) => names.iter().map(|name| self.model.find_user(name)).collect(),
            None => (0..ids.len() as u32).map(Some).collect(),
        };
        let is_known = users.iter().all(Option::is_some);
        let lists = self.model.lists(
            self.lambda,
            ListOptions {
                top: self.args.top,
                by: self.by,
                include_seen: self.args.include_seen,
                allowed: self.allowed.clone(),
                uncertainty: !self.args.no_sd,
            },
        );
        let explainer = self.args.explain.map(|n| (self.model.predictor(self.lambda), n));
        let (mut n_rows, mut n_short) = (0, 0);
        table_in_parts::<anyhow::Error>(
            output.format,
            output.path,
            users.len().div_ceil(TOGETHER),
            |part, add| {
                let first = part * TOGETHER;
                let users = &users[first..users.len().min(first + TOGETHER)];
                let lists = lists.of(users);
                n_short += lists.iter().filter(|list| list.len() < self.args.top).count();
                let rows =
                    || lists.iter().enumerate().flat_map(|(u, l)| l.iter().map(move |r| (u, r)));
                n_rows += rows().count();
                let user = match &self.users {
                    Some(names) if !is_known => {
                        Names::Texts(rows().map(|(u, _)| names[first + u].clone()).collect())
                    }
                    _ => Names::of(ids, rows().filter_map(|(u, _)| users[u])),
                };
                let items = self.model.ids(Side::Item);
                let item = Names::of(items, rows().map(|(_, r)| r.item));
                let ranks: Vec<i64> = lists.iter().flat_map(|list| 1..=list.len() as i64).collect();
                let numbers = |of: &dyn Fn(&Recommendation) -> f64| -> Vec<f64> {
                    rows().map(|(_, r)| of(r)).collect()
                };
                let ratings = numbers(&|r| self.clipped(r.prediction.mean));
                let deviations = numbers(&|r| r.prediction.sd());
                let scores = numbers(&|r| r.score);
                let titles: Option<Vec<String>> = self.titles.as_ref().map(|titles| {
                    let title =
                        |r: &Recommendation| titles.get(&items.get(r.item as usize).to_string());
                    rows().map(|(_, r)| title(r).cloned().unwrap_or_default()).collect()
                });
                let because: Option<Vec<String>> = explainer.as_ref().map(|(predictor, n)| {
                    let told = users.iter().zip(&lists).flat_map(|(user, list)| {
                        let listed: Vec<u32> = list.iter().map(|r| r.item).collect();
                        match user {
                            Some(user) => predictor.explain(*user, &listed, *n),
                            None => vec![Vec::new(); listed.len()],
                        }
                    });
                    let in_words = |moved: Vec<lehr::models::pmf::Moved>| -> String {
                        let each = moved
                            .iter()
                            .map(|m| format!("{}:{:+.3}", items.get(m.item as usize), m.by));
                        each.collect::<Vec<_>>().join(" ")
                    };
                    told.map(in_words).collect()
                });
                let mut columns =
                    vec![user.column("user"), Column::i64("rank", &ranks), item.column("item")];
                columns.extend(titles.as_ref().map(|titles| Column::text("title", titles)));
                columns.push(Column::f64("rating", &ratings));
                if !self.args.no_sd {
                    columns.push(Column::f64("sd", &deviations));
                }
                if self.by != By::Mean {
                    columns.push(Column::f64("score", &scores));
                }
                columns.extend(because.as_ref().map(|texts| Column::text("because", texts)));
                Ok(add(&columns)?)
            },
        )?;
        self.tell_unknown(&users);
        if n_short > 0 {
            let n = counted(n_short as u64, "user");
            let fewer = format!("{n} had fewer than {} items left", self.args.top);
            let _ = writeln!(std::io::stderr(), "{fewer}");
        }
        let (rows, people) = (counted(n_rows as u64, "row"), counted(users.len() as u64, "user"));
        say(output.path, &format!("{}: {rows}, lists for {people}\n", output.path.display()))
    }

    fn clipped(&self, rating: f64) -> f64 {
        self.scale.map_or(rating, |(low, high)| rating.clamp(low, high))
    }

    fn tell_unknown(&self, users: &[Option<u32>]) {
        let Some(names) = &self.users else { return };
        let unknown: Vec<&String> = names
            .iter()
            .zip(users)
            .filter(|(_, user)| user.is_none())
            .map(|(name, _)| name)
            .collect();
        if unknown.is_empty() {
            return;
        }
        let some: Vec<String> = unknown.iter().take(NAMED).map(|name| in_line(name)).collect();
        let more = if unknown.len() > NAMED { ", ..." } else { "" };
        let (are, get) = if unknown.len() == 1 { ("is", "gets") } else { ("are", "get") };
        let _ = writeln!(
            std::io::stderr(),
            "{} {are} not in the model and {get} what users like on the whole: {}{more}",
            counted(unknown.len() as u64, "user"),
            some.join(", ")
        );
    }
}
