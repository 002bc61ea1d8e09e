//! Where a fit of LDA starts: random topics, or given ones.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

use super::{Lda, LdaParams};
use crate::data::Vocabulary;
use crate::error::{Verb, action, advice, setting};
use crate::math::rng::Address;
use crate::math::stop;
use crate::math::table::Table;
use crate::models::Shipped;
use crate::store::{Loaded, RunDirectory};
use crate::{Error, Result, read};

/// Topics to start with, by word: a row of K numbers for every word of the vocabulary.
#[derive(Debug, Clone)]
pub(super) struct Seeds {
    table: Table,
    /// Whether the numbers are lambda as it is, or each topic's shares of words.
    are_lambda: bool,
}

/// Lambda is eta plus what the topic has, which is random around this if nothing is given.
const SHAPE: f64 = 100.0;

/// Fills lambda: Gamma(100, 1/100) numbers, as is usual for online LDA, or the seeds.
pub(super) fn fill(lda: &Lda, address: Address, lambda: &mut Table) {
    let width = lambda.width();
    let share = lda.tokens() / width as f64;
    let eta = lda.base_eta();
    lambda.values_mut().par_chunks_mut(width).enumerate().for_each(|(w, row)| {
        stop::check();
        let mut rng = address.rng(w as u64);
        match &lda.seeds {
            None => row.iter_mut().for_each(|x| *x = rng.gamma(SHAPE) / SHAPE),
            Some(Seeds { table, are_lambda: true }) => {
                row.iter_mut().zip(table.row(w)).for_each(|(x, &seed)| *x = seed.max(eta));
                lda.take_seeds(w, row);
            }
            Some(Seeds { table, are_lambda: false }) => {
                // Words that no topic has differ by a little noise alone.
                for (x, &seed) in row.iter_mut().zip(table.row(w)) {
                    *x = eta * (1.0 + 0.1 * rng.gamma(SHAPE) / SHAPE) + share * seed;
                }
            }
        }
    });
}

impl Seeds {
    /// Reads topics from a run directory or from a table of K rows, one column a word.
    pub(super) fn read(path: &Path, params: &LdaParams, words: &Vocabulary) -> Result<Self> {
        let (topics, names, are_lambda) = if path.is_dir() {
            let directory = RunDirectory::open(path)?;
            let name = directory.model_name()?;
            if !Lda::NAMES.contains(&name.as_str()) {
                let what = "topics come from a run of lda or from a table with a row per topic";
                return Err(Error::run(path, format!("is a run of {name}; {what}")));
            }
            let Loaded { model: lda, saved, warning, .. } = directory.load::<Lda>()?;
            if let Some(warning) = warning {
                // Topics of an older step would be other topics.
                let what = format!("{warning}; fix that run first with ");
                return Err(Error::run(path, advice![what, action(Verb::Resume).with(path)]));
            }
            let state = saved.model_state();
            (
                transposed(&lda.full(&state.lambda)),
                lda.vocabulary.names().map(<[String]>::to_vec),
                true,
            )
        } else {
            let (table, names) = read::topic_table(path)?;
            (table, names, false)
        };
        let wrong = |what: String| Error::parse(path, what);
        if topics.n_rows() != params.topics {
            let message = advice![
                format!("has {} topics, and ", topics.n_rows()),
                setting("topics").to(params.topics),
                " asks for another number; make them equal",
            ];
            return Err(Error::parse(path, message));
        }
        let place = places(&names, topics.width(), words).map_err(wrong)?;
        let sums: Vec<f64> = topics.rows().map(|row| row.iter().sum()).collect();
        if let Some(k) = sums.iter().position(|&sum| sum.is_nan() || sum <= 0.0) {
            return Err(wrong(format!("topic {} is empty; every topic needs a word", k + 1)));
        }
        let mut table = Table::new(words.n_words(), params.topics);
        for (w, place) in place.into_iter().enumerate() {
            let Some(place) = place else { continue };
            for (k, x) in table.row_mut(w).iter_mut().enumerate() {
                let seed = topics.row(k)[place];
                *x = if are_lambda { seed } else { seed / sums[k] };
            }
        }
        Ok(Seeds { table, are_lambda })
    }
}

/// For every word of the vocabulary its column among the seeds, if it has one.
fn places(
    names: &Option<Vec<String>>,
    width: usize,
    words: &Vocabulary,
) -> Result<Vec<Option<usize>>, String> {
    if let (Some(names), Some(words)) = (names, words.names()) {
        let by_name: HashMap<&str, usize> =
            names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let found: Vec<_> = words.iter().map(|word| by_name.get(word.as_str()).copied()).collect();
        if found.iter().any(Option::is_some) {
            return Ok(found);
        }
    }
    if width == words.n_words() {
        return Ok((0..width).map(Some).collect());
    }
    Err(format!(
        "its topics have {width} words, of which none is known by name, and the vocabulary has {}; \
         name its columns by the words",
        words.n_words()
    ))
}

fn transposed(table: &Table) -> Table {
    let mut out = Table::new(table.width(), table.n_rows());
    for (w, row) in table.rows().enumerate() {
        row.iter().enumerate().for_each(|(k, &x)| out.row_mut(k)[w] = x);
    }
    out
}
