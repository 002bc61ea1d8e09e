//! What the runs of a sweep say together: a row for each size, and which to take.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::store::path_text;

/// The runs of one size and shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// K, or d.
    pub size: usize,
    /// The shape, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The run of all items.
    #[serde(serialize_with = "path_text::serialize")]
    pub run: PathBuf,
    /// How many numbers such a model has to learn.
    pub parameters: f64,
    /// How many of its parts are in use, where some may not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use: Option<usize>,
    /// The best bound of all starts.
    pub bound: f64,
    /// The standard deviation of the starts' bounds.
    pub bound_sd: Option<f64>,
    /// The bound of each start.
    pub bounds: Vec<f64>,
    /// The mean score of items that were held out.
    pub heldout: Option<f64>,
    /// Its standard error, from the spread over the folds.
    pub heldout_se: Option<f64>,
    /// The score of each fold.
    pub heldouts: Vec<f64>,
    /// What else the model has to tell, e.g. the RMSE of what was held out: the mean over the folds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// Seconds of all runs.
    pub seconds: f64,
    /// Whether it cannot be distinguished from the best.
    pub alike: bool,
}

/// What rows are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The score of items that were held out, with the standard error over the folds.
    Heldout,
    /// The bound, with its spread over the starts.
    Bound,
}

/// Which of several to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The best by its mean.
    pub best: usize,
    /// Those that cannot be distinguished from it: less than one standard error below it, itself among them.
    pub alike: Vec<usize>,
    /// The simplest of these.
    pub recommended: usize,
}

/// The one-standard-error rule. `scores` has a list for each candidate, the same folds or starts in the same order;
/// `parameters` says which one is simpler, and a difference of up to `least` is none.
///
/// The error is that of the difference to the best, fold by fold: what makes a fold hard makes it hard for all. With the
/// error of the best one's own score, which is larger, planted clusters are counted wrong more often (docs/guide/sweeps.md).
/// Candidates with a score that is no number are out.
pub fn choose(scores: &[Vec<f64>], parameters: &[f64], least: f64) -> Option<Choice> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let known = |at: &usize| !scores[*at].is_empty() && scores[*at].iter().all(|s| s.is_finite());
    let candidates = || (0..scores.len()).filter(known);
    let best = candidates().max_by(|&a, &b| {
        // Of equals the simpler one.
        mean(&scores[a]).total_cmp(&mean(&scores[b])).then(parameters[b].total_cmp(&parameters[a]))
    })?;
    let is_alike = |&at: &usize| {
        let behind: Vec<f64> =
            scores[best].iter().zip(&scores[at]).map(|(best, own)| best - own).collect();
        mean(&behind) <= standard_error(&behind).unwrap_or(0.0).max(least)
    };
    let alike: Vec<usize> = candidates().filter(is_alike).collect();
    let simpler = |a: &&usize, b: &&usize| parameters[**a].total_cmp(&parameters[**b]);
    let recommended = *alike.iter().min_by(simpler)?;
    Some(Choice { best, alike, recommended })
}

/// The same by bounds: those that are less than the spread over the starts below the best.
fn choose_by_bound(rows: &[Row]) -> Option<Choice> {
    let best = (0..rows.len())
        .filter(|&at| rows[at].bound.is_finite())
        .max_by(|&a, &b| rows[a].bound.total_cmp(&rows[b].bound))?;
    let spread = |at: usize| rows[at].bound_sd.unwrap_or(0.0);
    let is_alike = |&at: &usize| rows[best].bound - rows[at].bound <= spread(best).max(spread(at));
    let alike: Vec<usize> = (0..rows.len()).filter(is_alike).collect();
    let simpler = |a: &&usize, b: &&usize| rows[**a].parameters.total_cmp(&rows[**b].parameters);
    let recommended = *alike.iter().min_by(simpler)?;
    Some(Choice { best, alike, recommended })
}

/// The standard deviation of some numbers, if there are two at least.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// The standard error of their mean.
pub(super) fn standard_error(values: &[f64]) -> Option<f64> {
    deviation(values).map(|sd| sd / (values.len() as f64).sqrt())
}

/// A row for each size and shape whose runs have ended, and which of them to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// The rows, sizes rising within each shape.
    pub rows: Vec<Row>,
    /// What they are compared by.
    pub by: By,
    /// Which to take; none if there is nothing to choose from.
    #[serde(flatten)]
    pub choice: Option<Choice>,
    /// Whether the recommended size is the largest that was tried, so that larger ones may be better.
    pub at_the_end: bool,
}

impl Table {
    /// Compares the rows, whose scores are means over `scored` items.
    pub(super) fn new(mut rows: Vec<Row>, scored: f64) -> Self {
        let folds: Vec<Vec<f64>> = rows.iter().map(|row| row.heldouts.clone()).collect();
        let by = if folds.iter().any(|fold| !fold.is_empty()) { By::Heldout } else { By::Bound };
        let parameters: Vec<f64> = rows.iter().map(|row| row.parameters).collect();
        let choice = match by {
            // Less than one nat over all of them is nothing to choose by.
            By::Heldout => choose(&folds, &parameters, 1.0 / scored),
            By::Bound => choose_by_bound(&rows),
        };
        for &at in choice.iter().flat_map(|choice| &choice.alike) {
            rows[at].alike = true;
        }
        let largest = rows.iter().map(|row| row.size).max();
        let recommended = choice.as_ref().map(|choice| rows[choice.recommended].size);
        let several = rows.iter().any(|row| Some(row.size) != largest);
        let at_the_end = several && recommended.is_some() && recommended == largest;
        Table { rows, by, choice, at_the_end }
    }

    /// The row to take.
    pub fn recommended(&self) -> Option<&Row> {
        self.choice.as_ref().map(|choice| &self.rows[choice.recommended])
    }

    /// The row with the best score.
    pub fn best(&self) -> Option<&Row> {
        self.choice.as_ref().map(|choice| &self.rows[choice.best])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_within_one_standard_error_is_recommended() {
        // The folds differ by much more than the candidates do; pairs of them do not.
        let scores = [
            vec![-5.0, -3.0, -4.0],
            vec![-4.02, -2.0, -3.01],
            vec![-4.0, -2.01, -3.0],
            vec![-4.2, -2.3, -3.1],
        ];
        let choice = choose(&scores, &[1.0, 2.0, 3.0, 4.0], 0.0).unwrap();
        assert_eq!(choice, Choice { best: 2, alike: vec![1, 2], recommended: 1 });
        // Their parameters say what is simple, not their order.
        let choice = choose(&scores, &[1.0, 3.0, 2.0, 4.0], 0.0).unwrap();
        assert_eq!(choice, Choice { best: 2, alike: vec![1, 2], recommended: 2 });
    }

    #[test]
    fn what_is_no_number_is_never_chosen() {
        let scores = [vec![f64::NAN, 1.0], vec![0.0, 0.0], vec![]];
        assert_eq!(choose(&scores, &[1.0, 2.0, 3.0], 0.0).unwrap().alike, [1]);
        assert_eq!(choose(&[vec![f64::NAN]], &[1.0], 0.0), None);
        assert_eq!(choose(&[], &[], 0.0), None);
    }

    #[test]
    fn one_fold_knows_no_error() {
        let choice = choose(&[vec![-1.0], vec![-1.1]], &[2.0, 1.0], 0.0).unwrap();
        assert_eq!(choice, Choice { best: 0, alike: vec![0], recommended: 0 });
    }

    #[test]
    fn a_difference_that_is_sure_and_tiny_is_none() {
        let scores = [vec![-1.001, -2.001, -3.001], vec![-1.0, -2.0, -3.0]];
        assert_eq!(choose(&scores, &[1.0, 2.0], 1e-4).unwrap().recommended, 1);
        assert_eq!(choose(&scores, &[1.0, 2.0], 1e-2).unwrap().recommended, 0);
    }
}
