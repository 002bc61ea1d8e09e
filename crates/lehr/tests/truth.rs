//! Tiny cases whose answers are known: bounds from first principles, integrals done numerically,
//! planted clusters, data that must be refused, and units that must not matter.

mod common;

use common::{clusters, every_mixture, rng, sweeps, watched};
use lehr::FitConfig;
use lehr::data::Points;
use lehr::fit::State;
use lehr::models::mixture::{Covariance, Factorisation, Weights};
use lehr::models::{Mixture, MixtureParams, Stored};

// ---- Plain dense 2 x 2 algebra and special functions, on purpose not the library's. ----

type Matrix = [[f64; 2]; 2];
type Vector = [f64; 2];

fn determinant(a: Matrix) -> f64 {
    a[0][0] * a[1][1] - a[0][1] * a[1][0]
}

fn inverse(a: Matrix) -> Matrix {
    let d = determinant(a);
    [[a[1][1] / d, -a[0][1] / d], [-a[1][0] / d, a[0][0] / d]]
}

fn combine(x: f64, a: Matrix, y: f64, b: Matrix) -> Matrix {
    [0, 1].map(|i| [0, 1].map(|j| x * a[i][j] + y * b[i][j]))
}

fn outer(a: Vector, b: Vector) -> Matrix {
    [0, 1].map(|i| [0, 1].map(|j| a[i] * b[j]))
}

fn times(a: Matrix, x: Vector) -> Vector {
    [0, 1].map(|i| a[i][0] * x[0] + a[i][1] * x[1])
}

fn trace_of_product(a: Matrix, b: Matrix) -> f64 {
    (0..2).map(|i| (0..2).map(|j| a[i][j] * b[j][i]).sum::<f64>()).sum()
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1]]
}

fn square(a: Matrix, x: Vector) -> f64 {
    let y = times(a, x);
    x[0] * y[0] + x[1] * y[1]
}

/// Stirling's series far out, then the recurrence back.
fn ln_gamma(x: f64) -> f64 {
    let back: f64 = (0..60).map(|i| (x + f64::from(i)).ln()).sum();
    let y = x + 60.0;
    let series = 1.0 / (12.0 * y) - 1.0 / (360.0 * y.powi(3)) + 1.0 / (1260.0 * y.powi(5));
    (y - 0.5) * y.ln() - y + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - back
}

fn digamma(x: f64) -> f64 {
    let back: f64 = (0..60).map(|i| 1.0 / (x + f64::from(i))).sum();
    let y = x + 60.0;
    let series = 1.0 / (12.0 * y.powi(2)) - 1.0 / (120.0 * y.powi(4)) + 1.0 / (252.0 * y.powi(6));
    y.ln() - 0.5 / y - series - back
}

/// ln B(W, nu) of Bishop (B.79) for d = 2, from W^-1.
fn ln_wishart_normaliser(w_inverse: Matrix, nu: f64) -> f64 {
    0.5 * nu * determinant(w_inverse).ln()
        - nu * 2f64.ln()
        - 0.5 * std::f64::consts::PI.ln()
        - ln_gamma(0.5 * nu)
        - ln_gamma(0.5 * (nu - 1.0))
}

// ---- The bound from first principles: E_q[ln p] - E_q[ln q], term by term. ----

const LN_2PI: f64 = 1.837_877_066_409_345_5;
const ITEMS: [Vector; 3] = [[1.0, -2.0], [2.5, 0.5], [-0.5, 300.0]];
const START: [[f64; 2]; 3] = [[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]];

struct Priors {
    concentration: f64,
    mean: Vector,
    beta: f64,
    nu: f64,
    scatter: Matrix,
}

/// q of one component. `beta` is the Normal-Wishart's, `r` the precision of an independent mean.
struct Q {
    mean: Vector,
    beta: f64,
    r: Matrix,
    nu: f64,
    scatter: Matrix,
}

/// What a shape keeps of a scatter.
fn keep(shape: Covariance, a: Matrix) -> Matrix {
    let mean = 0.5 * (a[0][0] + a[1][1]);
    match shape {
        Covariance::Full | Covariance::Tied => a,
        Covariance::Diagonal => [[a[0][0], 0.0], [0.0, a[1][1]]],
        Covariance::Spherical => [[mean, 0.0], [0.0, mean]],
    }
}

/// The precisions' Gamma distributions of the last two shapes, shape and rate of each; `None` for a Wishart.
fn gammas(shape: Covariance, nu: f64, scatter: Matrix) -> Option<Vec<(f64, f64)>> {
    match shape {
        Covariance::Full | Covariance::Tied => None,
        Covariance::Diagonal => Some((0..2).map(|j| (0.5 * nu, 0.5 * scatter[j][j])).collect()),
        // One for both columns: shape d nu / 2, rate d s / 2.
        Covariance::Spherical => Some(vec![(nu, scatter[0][0])]),
    }
}

/// The precision of an independent mean's prior: beta0 times the inverse of the data's covariance
/// (divisor N - 1, a millionth added to the variances).
fn mean_precision(priors: &Priors, shape: Covariance) -> Matrix {
    let mean = [0, 1].map(|j| ITEMS.iter().map(|x| x[j]).sum::<f64>() / 3.0);
    let mut covariance = [[0.0; 2]; 2];
    for x in ITEMS {
        let off = minus(x, mean);
        covariance = combine(1.0, covariance, 0.5, outer(off, off));
    }
    (0..2).for_each(|i| covariance[i][i] *= 1.0 + 1e-6);
    // Spheres' means have a precision for each column.
    let shape = if shape == Covariance::Spherical { Covariance::Diagonal } else { shape };
    let r0 = inverse(keep(shape, covariance));
    combine(priors.beta, r0, 0.0, r0)
}

/// One update from the start's responsibilities: Bishop (10.58) to (10.63) for Normal-Wishart, the
/// two phases of the paper for independent factors.
fn update(priors: &Priors, joint: bool, shape: Covariance) -> [Q; 2] {
    let r0 = mean_precision(priors, shape);
    let mut q = [0, 1].map(|k| {
        let n: f64 = START.iter().map(|r| r[k]).sum();
        let mean_of =
            [0, 1].map(|j| START.iter().zip(ITEMS).map(|(r, x)| r[k] * x[j]).sum::<f64>() / n);
        let w0 = inverse(priors.scatter);
        let expected = combine(priors.nu, w0, 0.0, w0);
        let (mean, r, mean_covariance) = if joint {
            let beta = priors.beta + n;
            let mean = [0, 1].map(|j| (priors.beta * priors.mean[j] + n * mean_of[j]) / beta);
            (mean, [[0.0; 2]; 2], [[0.0; 2]; 2])
        } else {
            let r = combine(1.0, r0, n, expected);
            let (a, b) = (times(r0, priors.mean), times(expected, mean_of));
            let mean = times(inverse(r), [a[0] + n * b[0], a[1] + n * b[1]]);
            (mean, r, inverse(r))
        };
        // E sum_n r_n (x_n - mu)(x_n - mu)', plus the prior's pull on a Normal-Wishart's mean.
        let mut scatter = priors.scatter;
        for (r, x) in START.iter().zip(ITEMS) {
            let off = minus(x, mean);
            let around = combine(1.0, outer(off, off), 1.0, mean_covariance);
            scatter = combine(1.0, scatter, r[k], around);
        }
        if joint {
            let off = minus(priors.mean, mean);
            scatter = combine(1.0, scatter, priors.beta, outer(off, off));
        }
        let scatter = keep(shape, scatter);
        Q { mean, beta: priors.beta + n, r, nu: priors.nu + n, scatter }
    });
    if shape == Covariance::Tied {
        // Both components add to the one precision, whose prior counts once.
        let both = combine(1.0, q[0].scatter, 1.0, q[1].scatter);
        let (scatter, nu) =
            (combine(1.0, both, -1.0, priors.scatter), q[0].nu + q[1].nu - priors.nu);
        q.iter_mut().for_each(|q| (q.scatter, q.nu) = (scatter, nu));
    }
    q
}

fn expected_ln_det(q: &Q, shape: Covariance) -> f64 {
    if let Some(gammas) = gammas(shape, q.nu, q.scatter) {
        let each = 2.0 / gammas.len() as f64;
        return gammas.iter().map(|(a, b)| each * (digamma(*a) - b.ln())).sum();
    }
    digamma(0.5 * q.nu) + digamma(0.5 * (q.nu - 1.0)) + 2.0 * 2f64.ln()
        - determinant(q.scatter).ln()
}

/// E ln pi_k, and E ln p(pi) - E ln q(pi).
fn weights_part(priors: &Priors, sticks: bool) -> (Vector, f64) {
    let n = [0, 1].map(|k| START.iter().map(|r| r[k]).sum::<f64>());
    let a0 = priors.concentration;
    if sticks {
        let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
        let (a, b) = ([1.0 + n[0], 1.0 + n[1]], [a0 + n[1], a0]);
        let ln_v = [0, 1].map(|k| digamma(a[k]) - digamma(a[k] + b[k]));
        let ln_rest = [0, 1].map(|k| digamma(b[k]) - digamma(a[k] + b[k]));
        let part = (0..2).map(|k| {
            let p = (a0 - 1.0) * ln_rest[k] - ln_beta(1.0, a0);
            let q = (a[k] - 1.0) * ln_v[k] + (b[k] - 1.0) * ln_rest[k] - ln_beta(a[k], b[k]);
            p - q
        });
        return ([ln_v[0], ln_v[1] + ln_rest[0]], part.sum());
    }
    let a = [a0 + n[0], a0 + n[1]];
    let ln_pi = a.map(|x| digamma(x) - digamma(a[0] + a[1]));
    let ln_c = |a: Vector| ln_gamma(a[0] + a[1]) - ln_gamma(a[0]) - ln_gamma(a[1]);
    let p = ln_c([a0, a0]) + (0..2).map(|k| (a0 - 1.0) * ln_pi[k]).sum::<f64>();
    let q = ln_c(a) + (0..2).map(|k| (a[k] - 1.0) * ln_pi[k]).sum::<f64>();
    (ln_pi, p - q)
}

/// E ln p(Lambda) - E ln q(Lambda), d = 2.
fn precision_part(priors: &Priors, q: &Q, shape: Covariance) -> f64 {
    let prior = gammas(shape, priors.nu, priors.scatter);
    if let (Some(prior), Some(q)) = (prior, gammas(shape, q.nu, q.scatter)) {
        let ln_normaliser = |(a, b): (f64, f64)| a * b.ln() - ln_gamma(a);
        let one = |((a0, b0), (a, b)): ((f64, f64), (f64, f64))| {
            let (ln_tau, tau) = (digamma(a) - b.ln(), a / b);
            let p = ln_normaliser((a0, b0)) + (a0 - 1.0) * ln_tau - b0 * tau;
            p - (ln_normaliser((a, b)) + (a - 1.0) * ln_tau - b * tau)
        };
        return prior.into_iter().zip(q).map(one).sum();
    }
    let (w, ln_det) = (inverse(q.scatter), expected_ln_det(q, shape));
    ln_wishart_normaliser(priors.scatter, priors.nu) + 0.5 * (priors.nu - 3.0) * ln_det
        - 0.5 * q.nu * trace_of_product(priors.scatter, w)
        - (ln_wishart_normaliser(q.scatter, q.nu) + 0.5 * (q.nu - 3.0) * ln_det - q.nu)
}

/// The bound with the best q(c), and that q(c).
fn brute_force(
    priors: &Priors,
    joint: bool,
    sticks: bool,
    shape: Covariance,
    items: [Vector; 3],
) -> (f64, [[f64; 2]; 3]) {
    let q = update(priors, joint, shape);
    let r0 = mean_precision(priors, shape);
    let (ln_pi, mut bound) = weights_part(priors, sticks);
    for (k, q) in q.iter().enumerate() {
        let w = inverse(q.scatter);
        let ln_det = expected_ln_det(q, shape);
        let off = minus(q.mean, priors.mean);
        // E ln p(mu | Lambda) - E ln q(mu | Lambda), or without the conditions.
        bound += if joint {
            let p = 2.0 * (priors.beta.ln() - LN_2PI) + ln_det
                - 2.0 * priors.beta / q.beta
                - priors.beta * q.nu * square(w, off);
            let q = 2.0 * (q.beta.ln() - LN_2PI) + ln_det - 2.0;
            0.5 * (p - q)
        } else {
            let p = determinant(r0).ln()
                - 2.0 * LN_2PI
                - square(r0, off)
                - trace_of_product(r0, inverse(q.r));
            let q = determinant(q.r).ln() - 2.0 * LN_2PI - 2.0;
            0.5 * (p - q)
        };
        if k == 0 || shape != Covariance::Tied {
            bound += precision_part(priors, q, shape);
        }
    }
    // q(c) is proportional to exp E ln p(x, c); then E ln p(x | c) + E ln p(c) - E ln q(c).
    let mut responsibilities = [[0.0; 2]; 3];
    for (x, phi) in items.iter().zip(&mut responsibilities) {
        let ln_joint = [0, 1].map(|k| {
            let (q, w) = (&q[k], inverse(q[k].scatter));
            let spread =
                if joint { 2.0 / q.beta } else { q.nu * trace_of_product(w, inverse(q.r)) };
            let ln_det = expected_ln_det(q, shape);
            let ln_density = |x: Vector| {
                let distance = q.nu * square(w, minus(x, q.mean)) + spread;
                ln_pi[k] + 0.5 * (ln_det - distance) - LN_2PI
            };
            integral(*x, q, &ln_density)
        });
        let top = ln_joint[0].max(ln_joint[1]);
        let sum: f64 = ln_joint.iter().map(|l| (l - top).exp()).sum();
        *phi = ln_joint.map(|l| (l - top).exp() / sum);
        bound += (0..2).map(|k| phi[k] * (ln_joint[k] - phi[k].ln())).sum::<f64>();
    }
    (bound, responsibilities)
}

/// The logarithm of the integral of a density over what is missing (NaN) of an item, by the rectangle rule, which for
/// such functions converges faster than any power of the step.
fn integral(x: Vector, q: &Q, ln_density: &dyn Fn(Vector) -> f64) -> f64 {
    let missing: Vec<usize> = (0..2).filter(|&j| x[j].is_nan()).collect();
    if missing.is_empty() {
        return ln_density(x);
    }
    // Steps a small fraction of the narrowest direction, ranges many times the widest.
    let w = inverse(q.scatter);
    let narrow = missing.iter().map(|&j| (q.nu * w[j][j]).sqrt().recip()).collect::<Vec<_>>();
    let wide = missing.iter().map(|&j| (q.scatter[j][j] / q.nu).sqrt()).collect::<Vec<_>>();
    let mut numbers = Vec::new();
    let grid = |a: usize| {
        let step = 0.2 * narrow[a];
        let centre = q.mean[missing[a]];
        let other = 1 - missing[a];
        // Given the other column, the middle is elsewhere.
        let middle = if missing.len() == 1 {
            centre - w[missing[a]][other] / w[missing[a]][missing[a]] * (x[other] - q.mean[other])
        } else {
            centre
        };
        let n = (14.0 * wide[a] / step).ceil() as i32;
        (middle, step, n)
    };
    let (middle, step, n) = grid(0);
    let mut area = step;
    for i in -n..=n {
        let mut at = x;
        at[missing[0]] = middle + f64::from(i) * step;
        if missing.len() == 1 {
            numbers.push(ln_density(at));
            continue;
        }
        let (middle, step, n) = grid(1);
        for j in -n..=n {
            at[missing[1]] = middle + f64::from(j) * step;
            numbers.push(ln_density(at));
        }
    }
    if missing.len() == 2 {
        area *= grid(1).1;
    }
    let top = numbers.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    top + numbers.iter().map(|l| (l - top).exp()).sum::<f64>().ln() + area.ln()
}

#[test]
fn the_bound_of_three_items_from_first_principles() {
    let priors = Priors {
        concentration: 0.7,
        mean: [0.5, 40.0],
        beta: 0.4,
        nu: 3.5,
        scatter: [[2.0, 6.0], [6.0, 9000.0]],
    };
    let points = Points::new(ITEMS.concat(), 2).unwrap();
    for (name, params) in every_mixture(2) {
        let joint = params.factorisation == Factorisation::NormalWishart;
        let sticks = params.weights == Weights::Sticks;
        let shape = params.covariance;
        let priors = Priors { scatter: keep(shape, priors.scatter), ..priors };
        let params = MixtureParams {
            concentration: Some(priors.concentration),
            mean: Some(priors.mean.to_vec()),
            mean_precision: Some(priors.beta),
            degrees_of_freedom: Some(priors.nu),
            scatter: Some(match shape {
                Covariance::Full | Covariance::Tied => priors.scatter.concat(),
                Covariance::Diagonal => vec![priors.scatter[0][0], priors.scatter[1][1]],
                Covariance::Spherical => vec![priors.scatter[0][0]],
            }),
            sort: false,
            ..params
        };
        let mixture = Mixture::new(params, &points).unwrap();
        let lambda = mixture.lambda_from_responsibilities(&points, &START.concat());
        let check = |items: [Vector; 3], tolerance: f64| {
            let points = Points::with_missing(items.concat(), 2).unwrap();
            let (expected, phi) = brute_force(&priors, joint, sticks, shape, items);
            let found = sweeps(&mixture, &points, lambda.clone(), 1).1[0];
            let error = (found / expected - 1.0).abs();
            println!("{name}: {found} {expected} {error:.1e}");
            assert!(error < tolerance, "{name}: {found} instead of {expected} for {items:?}");
            let found = mixture.responsibilities(&lambda, &points);
            let off = |(a, b): (&f64, f64)| (a - b).abs();
            let worst = found.iter().zip(phi.concat()).map(off).fold(0.0, f64::max);
            assert!(worst < tolerance, "{name}: responsibilities off by {worst:e} for {items:?}");
        };
        check(ITEMS, 1e-13);
        // What is missing is integrated out.
        let [a, b, c] = ITEMS;
        const GONE: f64 = f64::NAN;
        check([[GONE, a[1]], b, c], 1e-12);
        check([a, [b[0], GONE], [GONE, c[1]]], 1e-12);
        check([[a[0], GONE], [GONE, GONE], c], 1e-12);
    }
}

/// The predictive density of one Gaussian component is an integral over its mean and precision.
#[test]
fn the_log_predictive_is_the_integral_over_the_posterior() {
    let values = [3.0, 3.5, 5.0, 4.0, 2.0, 3.25];
    let points = Points::new(values.to_vec(), 1).unwrap();
    let (m0, beta0, nu0, scatter0) = (1.0, 0.5, 2.5, 3.0);
    let params = MixtureParams {
        mean: Some(vec![m0]),
        mean_precision: Some(beta0),
        degrees_of_freedom: Some(nu0),
        scatter: Some(vec![scatter0]),
        ..MixtureParams::gmm(1)
    };
    let mixture = Mixture::new(params, &points).unwrap();
    let lambda = mixture.lambda_from_responsibilities(&points, &[1.0; 6]);

    let n = values.len() as f64;
    let (beta, nu) = (beta0 + n, nu0 + n);
    let m = (beta0 * m0 + values.iter().sum::<f64>()) / beta;
    let scatter =
        scatter0 + beta0 * (m0 - m).powi(2) + values.iter().map(|x| (x - m).powi(2)).sum::<f64>();
    // q(mu, tau) = N(mu | m, 1 / (beta tau)) Gamma(tau | nu / 2, rate scatter / 2); the rectangle
    // rule in ln tau and in standardised mu converges faster than any power of the step.
    let normal = |x: f64, mean: f64, precision: f64| {
        (0.5 * (precision.ln() - LN_2PI) - 0.5 * precision * (x - mean).powi(2)).exp()
    };
    let density = |x: f64| {
        let (mut sum, step) = (0.0, 0.05);
        for i in -200..200 {
            let tau = (f64::from(i) * step).exp() * nu / scatter;
            let (shape, rate) = (0.5 * nu, 0.5 * scatter);
            let gamma = shape * (rate * tau).ln() - ln_gamma(shape) - rate * tau;
            for j in -200..=200 {
                let z = f64::from(j) * step;
                let mu = m + z / (beta * tau).sqrt();
                sum += gamma.exp() * normal(z, 0.0, 1.0) * normal(x, mu, tau) * step * step;
            }
        }
        sum
    };
    let new = [m, 3.0, 0.0, -4.0, 9.0, 30.0];
    let new_points = Points::new(new.to_vec(), 1).unwrap();
    let lambda = State::at(&mixture, lambda.clone()).lambda;
    let found = mixture.log_predictive(&lambda, &new_points);
    for (x, found) in new.into_iter().zip(found) {
        let expected = density(x).ln();
        println!("{x}: {found} {expected}");
        assert!((found - expected).abs() < 1e-9, "at {x}: {found} instead of {expected}");
    }
}

#[test]
fn planted_clusters_are_found() {
    let centres = [[0.0, 0.0], [10.0, 0.0], [0.0, -12.0]];
    let mut rng = rng(21);
    let labels: Vec<usize> = (0..600).map(|_| rng.below(3) as usize).collect();
    let values = labels.iter().flat_map(|&k| centres[k].map(|c| c + rng.normal())).collect();
    let points = Points::new(values, 2).unwrap();
    for (name, params) in every_mixture(3) {
        let mixture = Mixture::new(params, &points).unwrap();
        let (fitted, _) = watched(&mixture, &points, &FitConfig::default(), 2);
        let components = mixture.components(fitted.state.lambda.table());
        // Which component sits at which centre.
        let at = centres.map(|centre| {
            let near = |mean: &[f64]| (0..2).all(|j| (mean[j] - centre[j]).abs() < 0.3);
            let found = components.iter().position(|c| near(&c.mean));
            found.unwrap_or_else(|| panic!("{name}: nothing at {centre:?}: {components:?}"))
        });
        for (k, &at) in at.iter().enumerate() {
            let share = labels.iter().filter(|&&l| l == k).count() as f64 / 600.0;
            assert!((components[at].weight - share).abs() < 0.01, "{name}");
            let covariance = &components[at].covariance;
            let variances = [covariance[0], covariance[covariance.len() - 1]];
            assert!(variances.iter().all(|v| (0.7..1.7).contains(v)), "{name}: {variances:?}");
        }
        let phi = mixture.responsibilities(fitted.state.lambda.table(), &points);
        for (&label, phi) in labels.iter().zip(phi.chunks_exact(3)) {
            assert!(phi[at[label]] > 0.99, "{name}: {phi:?} for {label}");
        }
    }
}

#[test]
fn planted_letters_are_found() {
    let data = common::bernoulli::noisy_letters(500, 0.1, 3).unwrap();
    let model = common::BernoulliMixture { n_components: 4, n_columns: 25, a0: 0.25, b0: 0.5 };
    let config = FitConfig { n_init: 5, ..FitConfig::default() };
    let (fitted, _) = watched(&model, &data, &config, 2);
    let letter = |row: &[f64]| -> String {
        (1..26).map(|j| if row[j] > row[25 + j] { '#' } else { '.' }).collect()
    };
    let mut found: Vec<String> = fitted.state.lambda.table().rows().map(letter).collect();
    let mut planted = common::bernoulli::LETTERS.map(String::from).to_vec();
    found.sort();
    planted.sort();
    assert_eq!(found, planted);
}

#[test]
fn items_that_coincide_are_no_trouble() {
    // Two places, ten items on each: a density with no width, held up by the prior alone.
    let points = Points::new([[0.0, 1.0], [4.0, 3.0]].repeat(10).concat(), 2).unwrap();
    for (name, params) in every_mixture(2) {
        let mixture = Mixture::new(params, &points).unwrap();
        let (fitted, bounds) = watched(&mixture, &points, &FitConfig::default(), 2);
        assert!(bounds.iter().all(|b| b.is_finite()), "{name}");
        let phi = mixture.responsibilities(fitted.state.lambda.table(), &points);
        for pair in phi.chunks_exact(4).skip(1) {
            assert_eq!(pair, &phi[..4], "{name}: the same place, the same responsibilities");
        }
    }
}

#[test]
fn data_without_an_answer_are_refused() {
    let fault = |points: Points, components| {
        Mixture::new(MixtureParams::gmm(components), &points).unwrap_err().to_string()
    };
    let points = |values: &[f64], n_dims| Points::new(values.to_vec(), n_dims).unwrap();
    assert_eq!(
        fault(points(&[1.0, 2.0], 2), 1),
        "there is only one row; a mixture needs at least two to learn a spread from"
    );
    assert_eq!(
        fault(points(&[1.0, 2.0, 3.0], 1), 4),
        "components = 4: there are only 3 rows, and a component needs at least one; try 3 or \
         fewer"
    );
    let far = MixtureParams { mean: Some(vec![1e300]), ..MixtureParams::gmm(1) };
    let fault = Mixture::new(far, &points(&[1.0, 2.0, 4.0], 1)).unwrap_err().to_string();
    assert!(
        fault.starts_with("mean = 1e300: column 1 of it is more than a million standard"),
        "{fault}"
    );
    let narrow = MixtureParams {
        scatter: Some(vec![1e-30]),
        mean: Some(vec![9e5]),
        ..MixtureParams::gmm(1)
    };
    let fault = Mixture::new(narrow, &points(&[1.0, 2.0, 4.0], 1)).unwrap_err().to_string();
    assert!(fault.starts_with("mean = the prior given: is so far from the data"), "{fault}");
}

#[test]
fn a_constant_column_is_noted_and_given_some_width() {
    let notes = |values: &[f64], n_dims| -> String {
        let points = Points::new(values.to_vec(), n_dims).unwrap();
        let mixture = Mixture::new(MixtureParams::gmm(1), &points).unwrap();
        mixture.notes(&[]).iter().map(|note| note.to_string()).collect()
    };
    let constant = [1.0, 7.5, 2.0, 7.5, 3.0, 7.5];
    assert_eq!(
        notes(&constant, 2),
        "column 2 is constant (always 7.5) and adds nothing; leave it out (`drop = 2`)"
    );
    // Zeros in a column are constant as well, and a column that varies in the last digit is noise.
    assert!(notes(&[1.0, 0.0, 2.0, 0.0], 2).starts_with("column 2 is constant"));
    assert!(notes(&[1e9, 1e9 + 1e-7], 1).starts_with("column 1 is constant"));
    assert!(notes(&[1e300, 1e300 * (1.0 + f64::EPSILON)], 1).starts_with("column 1 is constant"));
    // A large number around which others spread is none.
    for spread in [1.0, 0.01] {
        assert_eq!(notes(&[1e12 - spread, 1e12, 1e12 + spread, 1e12 + 2.0 * spread], 1), "");
    }
}

#[test]
fn constant_columns_leave_clusters_as_they_are() {
    let plain = clusters(120, 2, 3, 6.0, 7);
    let mut row = [0.0; 2];
    for value in [0.0, 7.5, -1e300] {
        let mut values = Vec::new();
        for n in 0..plain.n_items() {
            plain.copy_row(n, &mut row);
            values.extend([row[0], value, row[1]]);
        }
        let wide = Points::new(values, 3).unwrap();
        for (name, params) in every_mixture(3) {
            let fit = |points: &Points, start: &[f64]| -> Vec<f64> {
                let mixture = Mixture::new(params.clone(), points).unwrap();
                let lambda = mixture.lambda_from_responsibilities(points, start);
                let (state, bounds) = sweeps(&mixture, points, lambda, 60);
                assert!(bounds.iter().all(|bound| bound.is_finite()), "{name}");
                assert!(bounds.windows(2).all(|b| b[1] >= b[0] - 1e-9 * b[0].abs()), "{name}");
                let density = mixture.mean_log_predictive(&state.lambda, points);
                assert!(density.is_finite(), "{name}");
                mixture.responsibilities(state.lambda.table(), points)
            };
            let first = |n: usize, k: usize| if n % 3 == k { 0.8 } else { 0.1 };
            let start: Vec<f64> = (0..120).flat_map(|n| (0..3).map(move |k| first(n, k))).collect();
            let without = fit(&plain, &start);
            let with = fit(&wide, &without);
            let moved = with.iter().zip(&without).filter(|(a, b)| (*a - *b).abs() > 0.2).count();
            assert!(moved <= 6, "{value}, {name}: {moved}");
        }
    }
}

#[test]
fn units_do_not_matter() {
    let points = clusters(90, 2, 3, 3.0, 31);
    let mut start = rng(5);
    let start: Vec<f64> = (0..90)
        .flat_map(|_| {
            let draw = [start.uniform(), start.uniform(), start.uniform()];
            draw.map(|x| x / draw.iter().sum::<f64>())
        })
        .collect();
    let mut values = vec![0.0; 180];
    (0..90).for_each(|n| points.copy_row(n, &mut values[2 * n..2 * n + 2]));
    for (name, params) in every_mixture(3) {
        let run = |scale: f64, shift: f64| {
            let values = values.iter().map(|x| x * scale + shift).collect();
            let points = Points::new(values, 2).unwrap();
            let mixture = Mixture::new(params.clone(), &points).unwrap();
            let lambda = mixture.lambda_from_responsibilities(&points, &start);
            let (state, bounds) = sweeps(&mixture, &points, lambda, 15);
            (mixture.responsibilities(state.lambda.table(), &points), bounds[15])
        };
        let (phi, bound) = run(1.0, 0.0);
        assert!(phi.iter().any(|&p| 0.01 < p && p < 0.99), "{name}: too easy");
        // A shift of 1e8 leaves eight digits of the data; a scale leaves them all.
        let cases =
            [(1e120, 0.0, 1e-12), (1e-120, 0.0, 1e-12), (1.0, 1e8, 1e-6), (3.0, -1e5, 1e-8)];
        for (scale, shift, tolerance) in cases {
            let (phi_there, bound_there) = run(scale, shift);
            let worst = phi.iter().zip(&phi_there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let expected = bound - 180.0 * scale.ln();
            let error = (bound_there / expected - 1.0).abs();
            println!("{name}, {scale:e}, {shift:e}: phi {worst:.1e}, bound {error:.1e}");
            assert!(worst < 1e-6, "{name}, {scale:e}, {shift:e}: responsibilities {worst:e}");
            assert!(error < tolerance, "{name}, {scale:e}, {shift:e}: bound {error:e}");
        }
    }
}
