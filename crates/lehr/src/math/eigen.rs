//! Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations: slow for large matrices,
//! exact to rounding, and quick where the matrix is almost diagonal already.

/// Sweeps after which we stop in any case; ten are many.
const MOST_SWEEPS: usize = 60;

/// Turns the symmetric `n` x `n` matrix `a` (row by row; spoilt) into eigenvalues, falling, and
/// eigenvectors, the rows of the second result: `a = V' diag(values) V`.
///
/// ```
/// use lehr::math::eigen::symmetric_eigen;
/// let (values, vectors) = symmetric_eigen(2, &mut [2.0, 1.0, 1.0, 2.0]);
/// assert!((values[0] - 3.0).abs() < 1e-14 && (values[1] - 1.0).abs() < 1e-14);
/// assert!((vectors[0] - vectors[1]).abs() < 1e-14); // (1, 1), for the eigenvalue 3
/// ```
pub fn symmetric_eigen(n: usize, a: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(a.len(), n * n, "the matrix is square");
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let off = a[p * n + q];
                let scale = (a[p * n + p] * a[q * n + q]).abs().sqrt();
                if off == 0.0 || !off.is_finite() || off.abs() <= f64::EPSILON * scale {
                    continue;
                }
                rotated = true;
                let theta = 0.5 * (a[q * n + q] - a[p * n + p]) / off;
                // Not `hypot`, whose last bit depends on the system; and no square that could overflow.
                let t = if theta.abs() > 1.0 {
                    let inverse = 1.0 / theta;
                    inverse / (1.0 + (1.0 + inverse * inverse).sqrt())
                } else {
                    theta.signum() / (theta.abs() + (1.0 + theta * theta).sqrt())
                };
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                rotate_rows(n, p, q, c, s, a);
                rotate_rows(n, p, q, c, s, &mut v);
                (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let vectors = order.iter().flat_map(|&i| v[i * n..(i + 1) * n].to_vec()).collect();
    (values, vectors)
}

/// Rows p < q of the matrix, rotated against each other.
fn rotate_rows(n: usize, p: usize, q: usize, c: f64, s: f64, a: &mut [f64]) {
    let (upper, lower) = a.split_at_mut(q * n);
    for (x, y) in upper[p * n..(p + 1) * n].iter_mut().zip(&mut lower[..n]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Address, Purpose};

    #[test]
    fn vectors_are_orthonormal_and_give_the_matrix_back() {
        for n in [1, 2, 3, 10, 50] {
            let mut rng = Address::new(n as u64, Purpose::Data, 0, 0).rng(0);
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    // Scales from 1 to 1e-6: small eigenvalues are to be found as well.
                    let x = rng.normal() * 10f64.powf(-6.0 * (i + j) as f64 / (2 * n) as f64);
                    (a[i * n + j], a[j * n + i]) = (x, x);
                }
            }
            let (values, v) = symmetric_eigen(n, &mut a.clone());
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
            for i in 0..n {
                for j in 0..n {
                    let back: f64 = (0..n).map(|k| v[k * n + i] * values[k] * v[k * n + j]).sum();
                    assert!((back - a[i * n + j]).abs() < 1e-13 * n as f64, "{n}: {i}, {j}");
                    let dot: f64 = (0..n).map(|k| v[i * n + k] * v[j * n + k]).sum();
                    let expected = f64::from(u8::from(i == j));
                    assert!((dot - expected).abs() < 1e-13 * n as f64, "{n}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_finite_does_not_hang() {
        symmetric_eigen(2, &mut [f64::NAN, 1.0, 1.0, f64::INFINITY]);
    }
}
