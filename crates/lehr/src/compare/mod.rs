//! Whether two runs say the same: the topics, clusters or latent dimensions of one matched to those of the other.

mod assign;
mod clusters;
mod factors;
mod topics;

use rayon::prelude::*;
use serde::Serialize;

use crate::Result;
use crate::models::Stored;
use crate::store::Run;

pub use assign::assign;

/// The parts of two models, matched one to one so that they have as much in common as can be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What the parts are: topics, components or dimensions.
    pub parts: &'static str,
    /// What is the same in both, by which parts are compared: words, columns or items.
    pub by: &'static str,
    /// How many of these.
    pub n_common: usize,
    /// The pairs, those with most in common first.
    pub pairs: Vec<Matched>,
    /// Parts of the first model that have none.
    pub only_first: Vec<usize>,
    /// Parts of the second model that have none.
    pub only_second: Vec<usize>,
    /// The mean similarity of the pairs.
    pub mean: f64,
}

/// A part of each model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Matched {
    /// Its number in the first model, from 0.
    pub first: usize,
    /// Its number in the second model, from 0.
    pub second: usize,
    /// What they have in common: 1 if they are the same, 0 if nothing. Of topics sum_w min(p(w), q(w)), of clusters the
    /// Bhattacharyya coefficient of the two normal distributions, of dimensions the cosine between the items' factors,
    /// whose sign means nothing.
    pub similarity: f64,
}

/// A model whose runs can be compared.
pub trait Comparable: Stored {
    /// Matches the parts of two runs.
    fn compare(first: &Run<Self>, second: &Run<Self>) -> Result<Comparison>;

    /// What to call each part besides its number, for people; nothing by default.
    fn labels(_run: &Run<Self>) -> Vec<String> {
        Vec::new()
    }
}

/// sum_i min(a_i, b_i) of two distributions: 1 if they are the same, 0 if nothing is in common. In several sums side by
/// side, which vectors can add.
pub(crate) fn in_common(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (a_rest, b_rest) = (a.chunks_exact(LANES).remainder(), b.chunks_exact(LANES).remainder());
    let least = |a: f64, b: f64| if a < b { a } else { b };
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (&a, &b))| *sum += least(a, b));
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| least(a, b)).sum();
    sums.iter().sum::<f64>() + rest
}

/// What two models have to be matched by.
struct Parts<'a> {
    parts: &'static str,
    by: &'static str,
    n_common: usize,
    /// The numbers of the parts that take part.
    numbers: [&'a [usize]; 2],
}

/// Matches parts by their similarities, which are for places among the numbers.
fn matched(of: &Parts<'_>, similarity: impl Fn(usize, usize) -> f64 + Sync) -> Comparison {
    let [first, second] = of.numbers;
    let table: Vec<Vec<f64>> = (0..first.len())
        .into_par_iter()
        .map(|i| (0..second.len()).map(|j| similarity(i, j).clamp(0.0, 1.0)).collect())
        .collect();
    let found = assign(first.len(), second.len(), |i, j| table[i][j]);
    let pairs = found.iter().enumerate().filter_map(|(i, &j)| {
        let j = j?;
        Some(Matched { first: first[i], second: second[j], similarity: table[i][j] })
    });
    let mut pairs: Vec<Matched> = pairs.collect();
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.first.cmp(&b.first)));
    let left = |all: &[usize], taken: Vec<usize>| -> Vec<usize> {
        all.iter().copied().filter(|part| !taken.contains(part)).collect()
    };
    let mean = pairs.iter().map(|pair| pair.similarity).sum::<f64>() / pairs.len().max(1) as f64;
    Comparison {
        parts: of.parts,
        by: of.by,
        n_common: of.n_common,
        only_first: left(first, pairs.iter().map(|pair| pair.first).collect()),
        only_second: left(second, pairs.iter().map(|pair| pair.second).collect()),
        pairs,
        mean,
    }
}
