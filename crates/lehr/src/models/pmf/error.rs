//! The expected squared error of a row's ratings, from its statistics and its own moments.

use super::columns::Columns;
use super::expect::Real;

/// `sum_n w_n E[(y_n - mu - u'v - a - b)^2]`: `own` are the moments of the row's variable, `raw` the
/// sums over its ratings.
pub(super) fn squares<R: Real>(columns: Columns, own: &[R], raw: &[f64]) -> f64 {
    let Columns { d, biases, .. } = columns;
    let at = |column: usize| -> f64 { own[column].into() };
    let dot = |own: std::ops::Range<usize>, raw: &[f64]| -> f64 {
        own.zip(raw).map(|(column, s)| at(column) * s).sum()
    };
    let [count, sum, square] = *raw[columns.tail()..].first_chunk().expect("three numbers");
    let mean = columns.mean();
    let mut total = square - 2.0 * dot(mean.start..mean.start + d, &raw[mean.clone()]);
    // tr(E[uu'] sum E[oo']): what lies off the diagonal counts twice.
    let (mut twice, mut once) = (0.0, 0.0);
    for k in 0..d {
        let row = k * (k + 1) / 2;
        twice += dot(row..row + k, &raw[row..row + k]);
        once += at(row + k) * raw[row + k];
    }
    total += 2.0 * twice + once;
    if biases {
        let (a, a_square) = (at(columns.bias()), at(columns.bias() + 1));
        let (b, b_square) = (raw[columns.bias()], raw[columns.bias() + 1]);
        let y_times_b = raw[mean.start + d];
        total += count * a_square + b_square + 2.0 * a * b - 2.0 * a * sum - 2.0 * y_times_b;
        total += 2.0 * dot(columns.cross(), &raw[columns.plain_mean()]);
        total += 2.0 * dot(columns.plain_mean(), &raw[columns.cross()]);
    }
    total
}
