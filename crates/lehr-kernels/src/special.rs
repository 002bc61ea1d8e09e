//! Digamma and log-gamma to about fifteen digits.

#![forbid(unsafe_code)]

pub(super) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// Stirling's series in 1/y^2, from the last term on.
pub(super) const STIRLING: [f64; 8] = [
    -3617.0 / 122_400.0,
    1.0 / 156.0,
    -691.0 / 360_360.0,
    1.0 / 1188.0,
    -1.0 / 1680.0,
    1.0 / 1260.0,
    -1.0 / 360.0,
    1.0 / 12.0,
];

/// ln of the Gamma function for x > 0. Error below 8e-15 (1 + |result|): around the roots 1 and 2 it
/// is the absolute error that is small.
///
/// ```
/// assert!((lehr_kernels::special::ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    // Stirling's series is exact enough from 8 on; below it, Gamma(x + n) = x (x+1) ... Gamma(x). A
    // higher threshold would cost digits: the leading terms grow and cancel.
    let (mut y, mut product) = (x, 1.0);
    while y < 8.0 {
        product *= y;
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    let series = STIRLING.iter().fold(0.0, |sum, c| sum * r + c) / y;
    (y - 0.5) * (y.ln() - 1.0) + (HALF_LN_2PI - 0.5 + series - product.ln())
}

/// The derivative of [`ln_gamma`] for x > 0. Error below 3e-15 (1 + |result|): around the root 1.4616
/// it is the absolute error that is small.
///
/// ```
/// assert!((lehr_kernels::special::digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
/// ```
pub fn digamma(x: f64) -> f64 {
    let (mut y, mut shift) = (x, 0.0);
    while y < 13.0 {
        shift += 1.0 / y;
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    let series = ((((((691.0 / 32_760.0) * r - 1.0 / 132.0) * r + 1.0 / 240.0) * r - 1.0 / 252.0)
        * r
        + 1.0 / 120.0)
        * r
        - 1.0 / 12.0)
        * r;
    y.ln() - 0.5 / y + series - shift
}

/// The derivative of [`digamma`] for x > 0. Relative error below 1e-14.
///
/// ```
/// let pi = std::f64::consts::PI;
/// assert!((lehr_kernels::special::trigamma(1.0) - pi * pi / 6.0).abs() < 1e-14);
/// ```
pub fn trigamma(x: f64) -> f64 {
    let (mut y, mut shift) = (x, 0.0);
    while y < 13.0 {
        shift += 1.0 / (y * y);
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    let series =
        ((((5.0 / 66.0 * r - 1.0 / 30.0) * r + 1.0 / 42.0) * r - 1.0 / 30.0) * r + 1.0 / 6.0) * r;
    (1.0 + series) / y + 0.5 * r + shift
}

/// ln of the multivariate Gamma function of dimension `d`, for x > (d - 1) / 2. Error below 8e-15
/// (1 + |result|) for the tested dimensions, 1 to 64.
pub fn ln_multigamma(x: f64, d: usize) -> f64 {
    let constant = (d * (d.max(1) - 1)) as f64 / 4.0 * std::f64::consts::PI.ln();
    (0..d).fold(constant, |sum, i| sum + ln_gamma(x - 0.5 * i as f64))
}

/// Sum of digamma(x - i/2) over i < d: the derivative of [`ln_multigamma`].
pub fn multidigamma(x: f64, d: usize) -> f64 {
    (0..d).map(|i| digamma(x - 0.5 * i as f64)).sum()
}
