//! The bound of a matrix factorisation from first principles: dense matrices, pair by pair.

use lehr::data::{Ratings, Side};
use lehr::fit::State;
use lehr::models::{Pmf, Stored};

/// The inverse and ln of the determinant of a small dense matrix, by elimination.
fn inverse(mut a: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let n = a.len();
    let mut out: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut ln_det = 0.0;
    for k in 0..n {
        let pivot = a[k][k];
        ln_det += pivot.ln();
        for j in 0..n {
            a[k][j] /= pivot;
            out[k][j] /= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k];
            for j in 0..n {
                let (x, y) = (a[k][j], out[k][j]);
                a[i][j] -= factor * x;
                out[i][j] -= factor * y;
            }
        }
    }
    (out, ln_det)
}

/// Mean and covariance of a row of lambda, and its divergence from its prior.
fn solved(row: &[f64], variances: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>, f64) {
    let n = variances.len();
    let at = |i: usize, j: usize| row[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    let precision: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| at(i, j)).collect()).collect();
    let (covariance, ln_det) = inverse(precision);
    let h = &row[n * (n + 1) / 2..];
    let mean: Vec<f64> =
        covariance.iter().map(|c| c.iter().zip(h).map(|(c, h)| c * h).sum()).collect();
    let mut kl = ln_det - n as f64;
    for k in 0..n {
        kl += (covariance[k][k] + mean[k] * mean[k]) / variances[k] + variances[k].ln();
    }
    (mean, covariance, 0.5 * kl)
}

/// The bound as a sum over pairs: of user and item, `pair` says what is observed, centred, and with which weight.
pub fn by_hand(
    pmf: &Pmf,
    state: &State,
    data: &Ratings,
    pair: impl Fn(usize, usize) -> Option<(f64, f64)>,
) -> f64 {
    let params = pmf.params();
    let (d, free) = (params.dims, params.dims + usize::from(params.biases));
    let hyper = &state.lambda.hyper;
    let noise = hyper[0];
    let [n_users, n_items] = [Side::User, Side::Item].map(|side| data.ids(side).len());
    let table = state.lambda.table();
    let mut sum = 0.0;
    // E[x] and E[x x'] of (u, a, 1) and of (v, 1, b).
    let mut moments = |row: usize, side: Side| {
        let variances = &hyper[1 + side as usize * free..][..free];
        let (mean, covariance, kl) = solved(table.row(row), variances);
        sum -= kl;
        // Where the factors and the bias stand; the other place is the constant 1.
        let bias = if side == Side::User { d } else { d + 1 };
        let place = |k: usize| if k < d { k } else { bias };
        let mut first = vec![0.0; d + 2];
        let mut second = vec![vec![0.0; d + 2]; d + 2];
        first[if bias == d { d + 1 } else { d }] = 1.0;
        (0..free).for_each(|k| first[place(k)] = mean[k]);
        for i in 0..d + 2 {
            for j in 0..d + 2 {
                second[i][j] = first[i] * first[j];
            }
        }
        for k in 0..free {
            for l in 0..free {
                second[place(k)][place(l)] += covariance[k][l];
            }
        }
        (first, second)
    };
    let users: Vec<_> = (0..n_users).map(|i| moments(i, Side::User)).collect();
    let items: Vec<_> = (0..n_items).map(|j| moments(n_users + j, Side::Item)).collect();
    for (i, (mean_u, square_u)) in users.iter().enumerate() {
        for (j, (mean_v, square_v)) in items.iter().enumerate() {
            let Some((y, w)) = pair(i, j) else { continue };
            let mean: f64 = mean_u.iter().zip(mean_v).map(|(u, v)| u * v).sum();
            let square: f64 = (0..d + 2)
                .flat_map(|k| (0..d + 2).map(move |l| (k, l)))
                .map(|(k, l)| square_u[k][l] * square_v[k][l])
                .sum();
            let error = y * y - 2.0 * y * mean + square;
            sum +=
                0.5 * (w / (2.0 * std::f64::consts::PI * noise)).ln() - w * error / (2.0 * noise);
        }
    }
    sum
}
