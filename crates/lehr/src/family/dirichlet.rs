//! The Dirichlet distribution.

use crate::math::special::{digamma, ln_gamma, trigamma};

/// E[ln pi_k] under Dirichlet(a).
pub fn expected_ln(a: &[f64]) -> Vec<f64> {
    let total = digamma(a.iter().sum());
    a.iter().map(|&a| digamma(a) - total).collect()
}

/// KL(Dirichlet(a) || Dirichlet(prior, ..., prior)).
pub fn divergence_from_symmetric(a: &[f64], prior: f64) -> f64 {
    let k = a.len() as f64;
    let total: f64 = a.iter().sum();
    let normalisers = ln_gamma(total) - ln_gamma(k * prior) + k * ln_gamma(prior);
    let expected = expected_ln(a);
    a.iter().zip(expected).fold(normalisers, |sum, (&a, e)| sum - ln_gamma(a) + (a - prior) * e)
}

/// A learned parameter stays within these limits.
const RANGE: (f64, f64) = (1e-5, 1e3);

/// What the fits below raise: the mean of E[ln Dirichlet(pi | a)], where `mean_ln[k]` is the mean of
/// E[ln pi_k] over many pi.
fn fitness(a: &[f64], mean_ln: &[f64]) -> f64 {
    let terms = a.iter().zip(mean_ln).map(|(&a, m)| (a - 1.0) * m - ln_gamma(a));
    ln_gamma(a.iter().sum()) + terms.sum::<f64>()
}

/// The Dirichlet parameter a that fits many pi best, by Newton steps from `start` in the logarithm of
/// each a_k; never worse than `start`.
pub fn fit(mean_ln: &[f64], start: &[f64]) -> Vec<f64> {
    let mut a = start.to_vec();
    let mut best = fitness(&a, mean_ln);
    for _ in 0..50 {
        let total: f64 = a.iter().sum();
        // Gradient and Hessian in ln a: diagonal plus a rank-one matrix, so a solve takes K steps.
        let (digamma_total, trigamma_total) = (digamma(total), trigamma(total));
        let gradient: Vec<f64> =
            a.iter().zip(mean_ln).map(|(&a, m)| a * (digamma_total - digamma(a) + m)).collect();
        // Keep the diagonal negative: far from the top the gradient's part may not be.
        let diagonal: Vec<f64> =
            a.iter().zip(&gradient).map(|(&a, g)| -a * a * trigamma(a) + g.min(0.0)).collect();
        let (mut above, mut below) = (0.0, 1.0 / trigamma_total);
        for ((a, g), d) in a.iter().zip(&gradient).zip(&diagonal) {
            above += a * g / d;
            below += a * a / d;
        }
        let shift = above / below;
        let steps = a.iter().zip(&gradient).zip(&diagonal).map(|((a, g), d)| -(g - a * shift) / d);
        let steps: Vec<f64> = steps.map(|s| s.clamp(-2.0, 2.0)).collect();
        let mut size = 1.0;
        let improved = loop {
            let moved = |(a, s): (&f64, &f64)| (a * (size * s).exp()).clamp(RANGE.0, RANGE.1);
            let candidate: Vec<f64> = a.iter().zip(&steps).map(moved).collect();
            let value = fitness(&candidate, mean_ln);
            if value > best {
                let gain = value - best;
                (a, best) = (candidate, value);
                break gain > 1e-12 * best.abs();
            }
            size *= 0.25;
            if size < 1e-4 {
                break false;
            }
        };
        if !improved {
            break;
        }
    }
    a
}

/// The same where all a_k together are at most `most`. Above it the best lies on that border: what is raised is
/// concave, so that `psi(a_k) = mean_ln[k] + c` with the c for which the sum is `most`.
pub fn fit_below(mean_ln: &[f64], start: &[f64], most: f64) -> Vec<f64> {
    let a = fit(mean_ln, start);
    if a.iter().sum::<f64>() <= most {
        return a;
    }
    let at = |c: f64| -> Vec<f64> { mean_ln.iter().map(|m| inverse_digamma(m + c)).collect() };
    let top = mean_ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Between all of the sum in the largest a_k, and more than all of it in that alone.
    let (mut low, mut high) = (digamma(most / a.len() as f64) - top, digamma(most) - top);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at(middle).iter().sum::<f64>() > most { high = middle } else { low = middle }
    }
    at(low)
}

/// The x with psi(x) = y, from Minka's first guess, within the limits of what is learned.
fn inverse_digamma(y: f64) -> f64 {
    let mut x = if y >= -2.22 { y.exp() + 0.5 } else { -1.0 / (y - digamma(1.0)) };
    for _ in 0..6 {
        x -= (digamma(x) - y) / trigamma(x);
    }
    x.clamp(RANGE.0, RANGE.1)
}

/// Likewise for Dirichlet(a, ..., a) of `dimension` numbers, `mean_ln` being the mean over all of
/// them.
pub fn fit_symmetric(dimension: usize, mean_ln: f64, start: f64) -> f64 {
    let n = dimension as f64;
    let value = |a: f64| ln_gamma(n * a) - n * ln_gamma(a) + n * (a - 1.0) * mean_ln;
    let slopes = |a: f64| {
        let gradient = a * n * (digamma(n * a) - digamma(a) + mean_ln);
        (gradient, a * a * n * (n * trigamma(n * a) - trigamma(a)))
    };
    ascend(start, value, slopes)
}

/// Likewise for several Dirichlet distributions of `dimension` numbers, of which number j of distribution k is
/// a + c_kj: `added` are the c that are not 0, `totals` their sums by k, `mean_ln` the mean over all numbers.
pub fn fit_common(
    dimension: usize,
    mean_ln: f64,
    totals: &[f64],
    added: &[f64],
    start: f64,
) -> f64 {
    let (n, all) = (dimension as f64, (dimension * totals.len()) as f64);
    let plain = all - added.len() as f64;
    let over = |a: f64, f: fn(f64) -> f64| -> (f64, f64) {
        let whole = totals.iter().map(|c| f(n * a + c)).sum();
        (whole, plain * f(a) + added.iter().map(|c| f(a + c)).sum::<f64>())
    };
    let value = |a: f64| {
        let (whole, each) = over(a, ln_gamma);
        whole - each + all * a * mean_ln
    };
    let slopes = |a: f64| {
        let ((whole, each), (bend, bends)) = (over(a, digamma), over(a, trigamma));
        (a * (n * whole - each + all * mean_ln), a * a * (n * n * bend - bends))
    };
    ascend(start, value, slopes)
}

/// The a with the highest value, by Newton steps in its logarithm; `slopes` are a f'(a) and a^2 f''(a).
fn ascend(start: f64, value: impl Fn(f64) -> f64, slopes: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut a, mut best) = (start, value(start));
    for _ in 0..100 {
        let (gradient, bend) = slopes(a);
        let curvature = bend + gradient.min(0.0);
        let mut step = (-gradient / curvature.min(-1e-12)).clamp(-2.0, 2.0);
        let mut improved = false;
        while step.abs() > 1e-10 {
            let candidate = (a * step.exp()).clamp(RANGE.0, RANGE.1);
            if value(candidate) > best {
                (a, best, improved) = (candidate, value(candidate), true);
                break;
            }
            step *= 0.25;
        }
        if !improved {
            break;
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_vanishes_at_the_prior_and_matches_the_beta_case() {
        assert!(divergence_from_symmetric(&[0.3; 5], 0.3).abs() < 1e-13);
        let two = divergence_from_symmetric(&[2.5, 0.7], 1.0);
        assert!((two - super::super::beta::divergence(2.5, 0.7, 1.0, 1.0)).abs() < 1e-13);
        assert!(two > 0.0);
    }

    #[test]
    fn a_fit_below_a_limit_is_the_best_there() {
        for (a, most) in
            [(vec![0.05, 0.4, 3.0], 2.0), (vec![200.0; 4], 5.0), (vec![9.0, 1e-4], 1.0)]
        {
            let mean_ln = expected_ln(&a);
            let found = fit_below(&mean_ln, &[0.1; 4][..a.len()], most);
            assert!((found.iter().sum::<f64>() / most - 1.0).abs() < 1e-9, "{found:?}");
            for (i, j) in [(0, 1), (1, 0)] {
                let mut other = found.clone();
                let moved = 0.01 * other[i];
                other[i] -= moved;
                other[j] += moved;
                assert!(fitness(&other, &mean_ln) < fitness(&found, &mean_ln), "{found:?}");
            }
            let free = fit_below(&mean_ln, &found, 1e4);
            assert!(
                free.iter().zip(&a).all(|(found, a)| (found / a - 1.0).abs() < 1e-3),
                "{free:?}"
            );
        }
    }

    #[test]
    fn a_common_part_is_found_beside_what_is_added() {
        let added = [vec![0.0, 3.0, 0.0, 0.0], vec![0.0; 4], vec![0.5, 0.0, 0.0, 20.0]];
        for a in [0.02, 0.3, 2.0] {
            let ln: Vec<f64> = added
                .iter()
                .flat_map(|c| expected_ln(&c.iter().map(|c| a + c).collect::<Vec<_>>()))
                .collect();
            let mean = ln.iter().sum::<f64>() / ln.len() as f64;
            for start in [0.001, 5.0] {
                let found = fit_common(4, mean, &[3.0, 0.0, 20.5], &[3.0, 0.5, 20.0], start);
                assert!((found / a - 1.0).abs() < 1e-6, "{found} for {a} from {start}");
            }
            let plain = expected_ln(&[a; 4])[0];
            let (one, other) =
                (fit_common(4, plain, &[0.0], &[], 1.0), fit_symmetric(4, plain, 1.0));
            assert!((one / other - 1.0).abs() < 1e-9, "{one} and {other}");
        }
    }

    #[test]
    fn fits_find_the_parameter_that_made_the_means() {
        for a in [vec![0.05, 0.4, 3.0], vec![0.01; 7], vec![20.0, 1.0]] {
            let mean_ln = expected_ln(&a);
            for start in [0.001, 0.1, 5.0] {
                let found = fit(&mean_ln, &vec![start; a.len()]);
                for (found, a) in found.iter().zip(&a) {
                    assert!((found / a - 1.0).abs() < 1e-4, "{found} for {a} from {start}");
                }
            }
        }
        for a in [0.003, 0.2, 4.0] {
            let mean = expected_ln(&[a; 9])[0];
            for start in [0.001, 0.1, 5.0] {
                let found = fit_symmetric(9, mean, start);
                assert!((found / a - 1.0).abs() < 1e-6, "{found} for {a} from {start}");
            }
        }
    }
}
