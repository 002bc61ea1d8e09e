//! Gives ids their numbers, batch by batch, and knows the line of every rating.

use std::path::Path;
use std::sync::Arc;

use super::super::csv::name;
use super::RatingsOptions;
use super::batch::Batch;
use crate::data::{Duplicates, Ids, Ratings};
use crate::{Error, Result};

#[derive(Debug, Default)]
pub(super) struct Builder {
    pub users: Ids,
    pub items: Ids,
    pub user: Vec<u32>,
    pub item: Vec<u32>,
    pub value: Vec<f32>,
    /// How much each counts, if they have weights.
    pub weight: Vec<f32>,
    /// Whether a column of weights that is asked for may be absent.
    pub may_lack_weights: bool,
    /// The line of every rating that is not on the line behind the rating before it.
    lines: Vec<(usize, u64)>,
}

impl Builder {
    pub(super) fn new(users: Ids, items: Ids) -> Self {
        Builder { users, items, ..Builder::default() }
    }

    /// The options, without a column of weights that may be absent and is.
    pub(super) fn options_for(&self, options: &RatingsOptions, names: &[String]) -> RatingsOptions {
        let is_number = |wanted: &str| {
            wanted.trim().parse().is_ok_and(|number: usize| (1..=names.len()).contains(&number))
        };
        let lacks = |wanted: &String| {
            self.may_lack_weights && !names.contains(wanted) && !is_number(wanted)
        };
        let weight = options.weight.clone().filter(|wanted| !lacks(wanted));
        RatingsOptions { weight, ..options.clone() }
    }

    /// The same of a file of text with this first line.
    pub(super) fn for_cells(&self, options: &RatingsOptions, cells: &[Vec<u8>]) -> RatingsOptions {
        let names: Vec<String> = cells.iter().map(|cell| name(cell)).collect();
        self.options_for(options, &names)
    }

    /// Adds batches in the order of the file, each with the number of its line 0. Users and items
    /// are numbered at the same time, each side in the order of the file.
    pub(super) fn add(&mut self, path: &Path, batches: &[(Batch, u64)]) -> Result<()> {
        let Builder { users, items, user, item, value, weight, lines, .. } = self;
        for (batch, first) in batches {
            for &(at, line) in &batch.lines {
                let (at, line) = (value.len() + at, first + line);
                let expected = lines.last().map(|&(start, line)| line + (at - start) as u64);
                if expected != Some(line) {
                    lines.push((at, line));
                }
            }
            value.extend_from_slice(&batch.values);
            weight.extend_from_slice(&batch.weights);
        }
        check_size(path, value.len())?;
        rayon::join(
            || batches.iter().for_each(|(batch, _)| batch.users.number(users, user)),
            || batches.iter().for_each(|(batch, _)| batch.items.number(items, item)),
        );
        Ok(())
    }

    /// The ratings; a rating without a line is located by its row.
    pub(super) fn finish(self, path: &Path, duplicates: Duplicates) -> Result<Ratings> {
        let Builder { users, items, user, item, value, weight, lines, .. } = self;
        let (users, items) = (Arc::new(users), Arc::new(items));
        let order = (!weight.is_empty()).then(|| (user.clone(), item.clone()));
        let built =
            Ratings::build(Arc::clone(&users), Arc::clone(&items), user, item, value, duplicates);
        let weigh = |ratings: Ratings| match order {
            Some((user, item)) => ratings.weigh(user, item, weight),
            None => ratings,
        };
        built.map(weigh).map_err(|refused| {
            let place = |index: usize| match lines.partition_point(|&(start, _)| start <= index) {
                0 => format!("row {}", index + 1),
                after => {
                    let (start, line) = lines[after - 1];
                    format!("line {}", line + (index - start) as u64)
                }
            };
            Error::parse(path, refused.message((&users, &items), place))
        })
    }
}

/// Refuses more ratings than can be numbered.
pub(super) fn check_size(path: &Path, n_ratings: usize) -> Result<()> {
    if n_ratings < u32::MAX as usize {
        return Ok(());
    }
    let most = u32::MAX - 1;
    Err(Error::parse(path, format!("has more than {most} ratings, the most that can be read")))
}
