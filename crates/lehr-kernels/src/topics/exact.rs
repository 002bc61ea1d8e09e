//! One document's topics in double precision without shortcuts: the oracle, and an exact mode.

use crate::special::digamma;

/// Like [`solve_document`](super::solve_document), but plain fixed-point iterations in f64. Rows are
/// those of `values`, `alpha.len()` numbers each, at any scale per row. Returns the iterations.
///
/// Converged means that gamma changed by less than `tol`, on average over the topics; `warm` is the
/// gamma to begin with, else all topics begin with equal shares. `coef` belongs to the final gamma;
/// `next` is room for a number per topic.
#[allow(clippy::too_many_arguments)]
pub fn solve_document_exact(
    values: &[f64],
    slots: &[u32],
    counts: &[f64],
    alpha: &[f64],
    tol: f64,
    max_iterations: u32,
    warm: Option<&[f64]>,
    next: &mut [f64],
    gamma: &mut [f64],
    theta: &mut [f64],
    coef: &mut [f64],
) -> u32 {
    let n_topics = alpha.len();
    assert_eq!(slots.len(), counts.len(), "a count per word");
    let row = |w: usize| &values[slots[w] as usize * n_topics..][..n_topics];
    match warm {
        Some(warm) => {
            gamma.copy_from_slice(warm);
            set_theta(gamma, theta);
        }
        None => {
            gamma.copy_from_slice(alpha);
            theta.fill(1.0);
        }
    }
    let mut done = 0;
    if slots.is_empty() {
        gamma.copy_from_slice(alpha);
    }
    while done < max_iterations && !slots.is_empty() {
        set_coef(slots.len(), row, counts, theta, coef);
        done += 1;
        next.fill(0.0);
        for (w, &coef) in coef.iter().enumerate() {
            for (next, b) in next.iter_mut().zip(row(w)) {
                *next += coef * b;
            }
        }
        let mut change = 0.0;
        for k in 0..n_topics {
            let updated = alpha[k] + theta[k] * next[k];
            change += (updated - gamma[k]).abs();
            gamma[k] = updated;
        }
        set_theta(gamma, theta);
        if change < tol * n_topics as f64 {
            break;
        }
    }
    set_theta(gamma, theta);
    set_coef(slots.len(), row, counts, theta, coef);
    done
}

fn set_theta(gamma: &[f64], theta: &mut [f64]) {
    for (theta, &gamma) in theta.iter_mut().zip(gamma) {
        *theta = digamma(gamma).exp();
    }
}

fn set_coef<'a>(
    n_words: usize,
    row: impl Fn(usize) -> &'a [f64],
    counts: &[f64],
    theta: &[f64],
    coef: &mut [f64],
) {
    for w in 0..n_words {
        let z: f64 = row(w).iter().zip(theta).map(|(b, theta)| b * theta).sum();
        coef[w] = counts[w] / z.max(f64::MIN_POSITIVE);
    }
}
