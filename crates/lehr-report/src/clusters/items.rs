//! What the items say of a mixture: which are drawn, which it explains least, and which components might be one.

use lehr::Result;
use lehr::data::Points;
use lehr::lambda::Lambda;
use lehr::models::mixture::Mixture;
use lehr::step::engine::Threads;
use lehr::store::Run;
use lehr_plot::caption::rounded;
use serde::Serialize;

use super::plane::Plane;
use super::{Given, column_names};

/// Items that are drawn, and numbers of theirs that are kept, at most.
const DRAWN: usize = 5000;
const NUMBERS: usize = 40_000;
/// Responsibilities of an item that are kept.
const MOST: usize = 3;
/// Items that are listed as least explained, and columns of these that are shown.
const ILL: usize = 12;
const ILL_COLUMNS: usize = 24;
/// Pairs of components that are listed.
const PAIRS: usize = 5;

/// Items to draw and to list.
pub struct Items {
    /// Those that are drawn.
    pub rows: Vec<Drawn>,
    /// How many there are.
    pub n_items: usize,
    /// Those that are explained least.
    pub ill: Vec<Ill>,
}

/// An item that is drawn.
pub struct Drawn {
    /// Its row in the data, counted from 1.
    pub number: usize,
    /// What it is called.
    pub name: Option<String>,
    /// Where it lies on each axis.
    pub place: Vec<f64>,
    /// The component that has most of it.
    pub label: usize,
    /// The components that have most of it, each with its responsibility in percent.
    pub most: Vec<(usize, f64)>,
}

/// An item that the mixture explains little.
#[derive(Debug, Serialize)]
pub struct Ill {
    number: usize,
    name: Option<String>,
    density: String,
    component: usize,
    values: Vec<(String, String)>,
    more: usize,
}

/// Two components that might be one.
#[derive(Debug, Serialize)]
pub struct Joined {
    components: (usize, usize),
    evidence: String,
    bound: Option<String>,
}

impl Items {
    /// Of the points that are given.
    pub fn of(run: &Run<Mixture>, plane: &Plane, points: &Points, given: &Given) -> Result<Self> {
        let n_items = points.n_items();
        let lambda = run.lambda();
        let densities = run.model.log_predictive(lambda, points);
        let rows_of = |numbers: &[u32]| -> Vec<Vec<(usize, f64)>> {
            let k = run.config.params.components;
            let part = points.subset(numbers);
            let all = run.model.responsibilities(lambda.table(), &part);
            all.chunks_exact(k).map(most).collect()
        };
        let mut worst: Vec<u32> = (0..n_items as u32).collect();
        worst.sort_by(|&a, &b| {
            densities[a as usize].total_cmp(&densities[b as usize]).then(a.cmp(&b))
        });
        worst.truncate(ILL);
        let names = column_names(run);
        let number = |n: usize| number_of(points, n);
        let name = |n: usize| given.names.as_ref().and_then(|names| names.get(n).cloned());
        let mut row = vec![0.0; points.n_dims()];
        let mut ill = Vec::new();
        for (&n, most) in worst.iter().zip(rows_of(&worst)) {
            let n = n as usize;
            points.copy_row(n, &mut row);
            let value = |(name, x): (&String, &f64)| {
                (name.clone(), if x.is_nan() { "missing".into() } else { rounded(*x, 5) })
            };
            ill.push(Ill {
                number: number(n),
                name: name(n),
                density: rounded(densities[n], 4),
                component: most.first().map_or(0, |most| most.0),
                values: names.iter().zip(&row).take(ILL_COLUMNS).map(value).collect(),
                more: names.len().saturating_sub(ILL_COLUMNS),
            });
        }
        let axes = plane.place(&row).len();
        let most_drawn = DRAWN.min(NUMBERS / axes.max(1)).max(200);
        let chosen = spread_out(n_items, most_drawn);
        let mut rows = Vec::with_capacity(chosen.len());
        for (&n, most) in chosen.iter().zip(rows_of(&chosen)) {
            let n = n as usize;
            points.copy_row(n, &mut row);
            rows.push(Drawn {
                number: number(n),
                name: name(n),
                place: plane.place(&row),
                label: most.first().map_or(0, |most| most.0),
                most,
            });
        }
        Ok(Items { rows, n_items, ill })
    }
}

/// The row of an item in its file, counted from 1: those with gaps may have been left out.
fn number_of(points: &Points, n: usize) -> usize {
    let mut number = n;
    for &left_out in points.left_out() {
        if left_out > number {
            break;
        }
        number += 1;
    }
    number + 1
}

/// Some of `n` items, evenly spread.
fn spread_out(n: usize, most: usize) -> Vec<u32> {
    let kept = n.min(most);
    (0..kept).map(|at| (at as u64 * n as u64 / kept as u64) as u32).collect()
}

/// The components that have most of an item, with their responsibilities in percent.
fn most(responsibilities: &[f64]) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..responsibilities.len()).collect();
    let of = |k: usize| responsibilities[k];
    order.sort_by(|&a, &b| of(b).total_cmp(&of(a)).then(a.cmp(&b)));
    let percent = |k: usize| (1000.0 * of(k)).round() / 10.0;
    let large = |&(at, k): &(usize, usize)| at == 0 || of(k) >= 0.005;
    let kept = order.into_iter().take(MOST).enumerate().filter(large);
    kept.map(|(_, k)| (k, percent(k))).collect()
}

/// Pairs of components that lose least as one.
pub fn joined(run: &Run<Mixture>, points: Option<&Points>) -> Result<Vec<Joined>> {
    let (model, lambda) = (&run.model, run.lambda());
    let bound = |lambda: &Lambda| -> Result<Option<f64>> {
        let Some(points) = points else { return Ok(None) };
        lehr::fit::bound(model, lambda, &mut Threads::new(model, points)).map(Some)
    };
    let merges = model.merges(lambda.table(), PAIRS);
    if merges.is_empty() {
        return Ok(Vec::new());
    }
    let now = bound(lambda)?;
    let mut pairs: Vec<(f64, Joined)> = Vec::new();
    for merge in merges {
        let table = model.merged(lambda.table(), merge.components);
        let then = bound(&Lambda::new(table, false, lambda.hyper.clone()))?;
        let change = then.zip(now).map(|(then, now)| then - now);
        let signed = |x: f64| format!("{}{}", if x > 0.0 { "+" } else { "" }, rounded(x, 4));
        let joined = Joined {
            components: merge.components,
            evidence: signed(merge.evidence),
            bound: change.map(signed),
        };
        pairs.push((change.unwrap_or(merge.evidence), joined));
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(pairs.into_iter().map(|(_, joined)| joined).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_drawn_are_spread_over_all() {
        assert_eq!(spread_out(3, 5), [0, 1, 2]);
        assert_eq!(spread_out(10, 4), [0, 2, 5, 7]);
        assert_eq!(spread_out(0, 4), [0; 0]);
    }

    #[test]
    fn the_components_that_have_most_come_first_and_traces_are_left_out() {
        assert_eq!(most(&[0.001, 0.7, 0.299]), [(1, 70.0), (2, 29.9)]);
        assert_eq!(most(&[0.001, 0.002]), [(1, 0.2)]);
    }
}
