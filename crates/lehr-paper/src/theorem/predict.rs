//! What theory says about the shape of a gradient: exact cumulants of every kind of noise, and the
//! Kolmogorov distance that follows from them to the second order.
//!
//! Units are such that an item has variance 1 and the gradient variance 1. Items are drawn with
//! replacement, |S| = tau M, v = tau - 1, and noise carries the factor |S|/(|S|-1). A gradient that is
//! normal with mean m and variance V once its batch is known has the cumulants
//! k3 = k3(m) + 3 k(m, V) and k4 = k4(m) + 6 k(m, m, V) + 3 k(V, V), where V = v s^2 / |S| for the batch's
//! own variance s^2, k(m, s^2) = g / |S|, k(m, m, s^2) = h / |S|^2 and k(s^2, s^2) = h / |S| + 2 / (|S|-1).

use std::f64::consts::PI;

use super::gradient::Method;
use super::tally::GRID;

/// The shape of a distribution with variance 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cumulants {
    /// g.
    pub skewness: f64,
    /// h: what the fourth moment exceeds 3 by.
    pub kurtosis: f64,
}

/// The shape of a gradient of items with the given shape, for real and effective batch size.
pub fn gradient(method: Method, items: Cumulants, size: usize, effective: usize) -> Cumulants {
    let (s, m) = (size as f64, effective as f64);
    let Cumulants { skewness: g, kurtosis: h } = items;
    let v = s / m - 1.0;
    // From cumulants of the mean to those of the gradient in units of its deviation, 1 / sqrt(M).
    let shape = |k3: f64, k4: f64| Cumulants { skewness: k3 * m.powf(1.5), kurtosis: k4 * m * m };
    let of_variance = 3.0 * v * v / (s * s) * (h / s + 2.0 / (s - 1.0));
    match method {
        Method::Exact => shape(g / (s * s), h / s.powi(3)),
        Method::Algorithm1 | Method::Printed => {
            shape(g * (1.0 + 3.0 * v) / (s * s), h * (1.0 + 6.0 * v) / s.powi(3) + of_variance)
        }
        // The batch of the noise is another one: nothing but the variance of V is left.
        Method::Lagged => shape(g / (s * s), h / s.powi(3) + of_variance),
        Method::Gamma if size > effective => {
            // Dirichlet weights p: k3 = g E sum p^3 and k4 = h E sum p^4 + 3 Var sum p^2.
            let a = (m - 1.0) / (s - m);
            let rising = |x: f64, n: i32| (0..n).map(|i| x + f64::from(i)).product::<f64>();
            let of_power = |n: i32| s * rising(a, n) / rising(s * a, n);
            let squares = of_power(4) + s * (s - 1.0) * rising(a, 2).powi(2) / rising(s * a, 4);
            shape(g * of_power(3), h * of_power(4) + 3.0 * (squares - 1.0 / (m * m)))
        }
        Method::Gamma | Method::Subsample | Method::Svi => shape(g / (m * m), h / m.powi(3)),
        Method::Gaussian => Cumulants { skewness: 0.0, kurtosis: 0.0 },
    }
}

/// The largest difference between a distribution function of this shape and the normal one: Edgeworth's
/// series to the second order, on the grid of the measurements.
pub fn distance(shape: Cumulants) -> f64 {
    let Cumulants { skewness: g, kurtosis: h } = shape;
    GRID.points()
        .map(|x| {
            let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
            let third = x * x - 1.0;
            let fourth = x.powi(3) - 3.0 * x;
            let sixth = x.powi(5) - 10.0 * x.powi(3) + 15.0 * x;
            (density * (g / 6.0 * third + h / 24.0 * fourth + g * g / 72.0 * sixth)).abs()
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEMS: Cumulants = Cumulants { skewness: 2.0, kurtosis: 6.0 };

    fn skewness(method: Method, tau: usize) -> f64 {
        gradient(method, ITEMS, 16 * tau, 16).skewness
    }

    #[test]
    fn the_rates_of_the_laws() {
        let svi = skewness(Method::Svi, 1);
        assert!((svi - 0.5).abs() < 1e-12);
        for method in [Method::Exact, Method::Algorithm1, Method::Lagged, Method::Gamma] {
            let found = gradient(method, ITEMS, 16, 16);
            let plain = gradient(Method::Svi, ITEMS, 16, 16);
            assert!((found.skewness - plain.skewness).abs() < 1e-12, "without noise all are SVI");
            assert!((found.kurtosis - plain.kurtosis).abs() < 1e-12);
        }
        assert!((skewness(Method::Exact, 4) - svi / 16.0).abs() < 1e-12);
        assert!((skewness(Method::Algorithm1, 4) - svi * 10.0 / 16.0).abs() < 1e-12);
        assert!((skewness(Method::Algorithm1, 2) - svi).abs() < 1e-12, "as skewed as SVI at 2");
        assert!(skewness(Method::Gamma, 50) > 1.8 * svi, "and never more Gaussian");
    }

    #[test]
    fn to_the_first_order_the_distance_is_the_skewness_over_six_root_two_pi() {
        let small = Cumulants { skewness: 1e-3, kurtosis: 0.0 };
        let leading = 1e-3 / (6.0 * (2.0 * PI).sqrt());
        assert!((distance(small) / leading - 1.0).abs() < 1e-3);
    }
}
