//! The expected squared error of a row's ratings, from its statistics and its own moments.

use std::ops::Range;

use super::columns::Columns;
use super::expect::Real;

/// Sums kept side by side, since additions to one sum wait for each other.
const LANES: usize = 8;

fn dot<R: Real>(own: &[R], raw: &[f64]) -> f64 {
    let raw = &raw[..own.len()];
    let (own, raw) = (own.chunks_exact(LANES), raw.chunks_exact(LANES));
    let left = own.remainder().iter().zip(raw.remainder());
    let rest: f64 = left.map(|(&x, s)| x.into() * s).sum();
    let mut sums = [0.0; LANES];
    for (own, raw) in own.zip(raw) {
        for i in 0..LANES {
            sums[i] += own[i].into() * raw[i];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

/// `sum_n w_n E[(y_n - mu - u'v - a - b)^2]`: `own` are the moments of the row's variable, `raw` the
/// sums over its ratings.
pub(super) fn squares<R: Real>(columns: Columns, own: &[R], raw: &[f64]) -> f64 {
    let Columns { d, biases, .. } = columns;
    let at = |column: usize| -> f64 { own[column].into() };
    let dot = |columns: Range<usize>, raw: &[f64]| dot(&own[columns], raw);
    let [count, sum, square] = *raw[columns.totals()..].first_chunk().expect("three numbers");
    let mean = columns.mean();
    let by_rating = &raw[columns.by_rating(mean.start)..];
    let mut total = square - 2.0 * dot(mean.clone(), by_rating);
    // tr(E[uu'] sum E[oo']): what lies off the diagonal counts twice.
    let diagonal = (0..d).map(|k| k * (k + 3) / 2).map(|k| at(k) * raw[k]).sum::<f64>();
    total += 2.0 * dot(0..columns.packed(), raw) - diagonal;
    if biases {
        let (a, a_square) = (at(columns.bias()), at(columns.bias_square()));
        let (b, b_square) = (raw[columns.bias()], raw[columns.bias_square()]);
        let y_times_b = by_rating[d];
        total += count * a_square + b_square + 2.0 * a * b - 2.0 * a * sum - 2.0 * y_times_b;
        total += 2.0 * dot(columns.cross(), &raw[mean.clone()]);
        total += 2.0 * dot(mean, &raw[columns.cross()]);
    }
    total
}
