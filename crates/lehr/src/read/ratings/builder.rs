//! Gives ids their numbers, batch by batch, and knows the line of every rating.

use std::path::Path;
use std::sync::Arc;

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
    /// The line of every rating that is not on the line behind the rating before it.
    lines: Vec<(usize, u64)>,
}

impl Builder {
    pub(super) fn new(users: Ids, items: Ids) -> Self {
        Builder { users, items, ..Builder::default() }
    }

    /// Adds batches in the order of the file, each with the number of its line 0. Users and items
    /// are numbered at the same time, each side in the order of the file.
    pub(super) fn add(&mut self, path: &Path, batches: &[(Batch, u64)]) -> Result<()> {
        let Builder { users, items, user, item, value, lines } = self;
        for (batch, first) in batches {
            for &(at, line) in &batch.lines {
                let (at, line) = (value.len() + at, first + line);
                let expected = lines.last().map(|&(start, line)| line + (at - start) as u64);
                if expected != Some(line) {
                    lines.push((at, line));
                }
            }
            value.extend_from_slice(&batch.values);
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
        let Builder { users, items, user, item, value, lines } = self;
        let (users, items) = (Arc::new(users), Arc::new(items));
        let built =
            Ratings::build(Arc::clone(&users), Arc::clone(&items), user, item, value, duplicates);
        built.map_err(|refused| {
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
