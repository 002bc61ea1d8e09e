//! Small symmetric matrices: packed lower triangles (by rows) or plain diagonals, behind one face.

#![forbid(unsafe_code)]

use crate::stop;

/// The shape of a symmetric matrix: `n_dims` x `n_dims`, full or diagonal.
///
/// A full matrix is stored as its lower triangle row by row, `n (n + 1) / 2` numbers; a diagonal
/// one as `n` numbers. The same code then serves full and diagonal covariances. Triangular factors
/// use the same storage.
///
/// ```
/// use lehr_kernels::packed::Symmetric;
/// let shape = Symmetric::full(2);
/// let mut a = vec![4.0, 2.0, 3.0]; // [[4, 2], [2, 3]]
/// assert!(shape.cholesky(&mut a)); // now the factor C of C C'
/// assert_eq!(a, [2.0, 1.0, 2f64.sqrt()]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symmetric {
    n_dims: usize,
    diagonal: bool,
}

/// A dot product in eight fixed lanes: fast, and the same bits in every build.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for i in 0..8 {
            lanes[i] += x[i] * y[i];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + tail
}

#[inline]
fn axpy(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// Matrices of at least this many rows take long enough that a loop over rows looks whether it is to stop.
const LONG: usize = 64;

impl Symmetric {
    #[inline]
    fn check_row(&self) {
        if self.n_dims >= LONG {
            stop::check();
        }
    }
}

/// Rows of matrices whose inverses need no memory of their own, and whose columns are all in the nearest cache.
const SMALL: usize = 32;

#[inline]
fn row(i: usize) -> std::ops::Range<usize> {
    let start = i * (i + 1) / 2;
    start..start + i + 1
}

/// [`Symmetric::cholesky`] of a full matrix, entry by entry the same sums in another order: the entries of a column do
/// not wait for each other, those of a row do.
fn cholesky_by_columns(n: usize, a: &mut [f64]) -> bool {
    for j in 0..n {
        let (above, below) = a.split_at_mut(row(j).end);
        let (left, pivot) = above[row(j).start..].split_at_mut(j);
        let rest = pivot[0] - dot(left, left);
        // A NaN anywhere above ends up in the pivot and fails this test too.
        if !(rest > 0.0 && rest.is_finite()) {
            return false;
        }
        pivot[0] = rest.sqrt();
        let mut start = 0;
        for i in j + 1..n {
            let this = &mut below[start..=start + j];
            this[j] = (this[j] - dot(&this[..j], left)) / pivot[0];
            start += i + 1;
        }
    }
    true
}

impl Symmetric {
    /// A full matrix.
    pub fn full(n_dims: usize) -> Self {
        Symmetric { n_dims, diagonal: false }
    }

    /// A diagonal matrix.
    pub fn diagonal(n_dims: usize) -> Self {
        Symmetric { n_dims, diagonal: true }
    }

    /// Rows and columns.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Whether only the diagonal is stored.
    pub fn is_diagonal(&self) -> bool {
        self.diagonal
    }

    /// How many numbers are stored.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        if self.diagonal { self.n_dims } else { self.n_dims * (self.n_dims + 1) / 2 }
    }

    /// Where entry (i, i) is stored.
    pub fn diagonal_index(&self, i: usize) -> usize {
        if self.diagonal { i } else { i * (i + 3) / 2 }
    }

    /// `a <- C` with `C C' = a`. False, with `a` spoilt, if `a` is not positive definite.
    #[must_use]
    pub fn cholesky(&self, a: &mut [f64]) -> bool {
        if self.diagonal {
            return a.iter_mut().all(|x| {
                let valid = *x > 0.0 && x.is_finite();
                *x = x.sqrt();
                valid
            });
        }
        match self.n_dims <= SMALL {
            true => cholesky_by_columns(self.n_dims, a),
            false => self.cholesky_by_rows(a),
        }
    }

    /// Of a full matrix.
    fn cholesky_by_rows(&self, a: &mut [f64]) -> bool {
        for i in 0..self.n_dims {
            self.check_row();
            let (above, rest) = a.split_at_mut(row(i).start);
            let this = &mut rest[..=i];
            for j in 0..i {
                let other = &above[row(j)];
                this[j] = (this[j] - dot(&this[..j], &other[..j])) / other[j];
            }
            let pivot = this[i] - dot(&this[..i], &this[..i]);
            // A NaN anywhere above ends up in the pivot and fails this test too.
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            this[i] = pivot.sqrt();
        }
        true
    }

    /// `c <- C^-1`, which is lower triangular again.
    pub fn invert_lower(&self, c: &mut [f64]) {
        if self.diagonal {
            c.iter_mut().for_each(|x| *x = 1.0 / *x);
            return;
        }
        // Small matrices are inverted by the thousand, and an allocation takes as long as one of them.
        let (mut short, mut long) = ([0.0; SMALL], Vec::new());
        let out = match self.n_dims <= SMALL {
            true => &mut short[..],
            false => {
                long.resize(self.n_dims, 0.0);
                &mut long[..]
            }
        };
        for i in 0..self.n_dims {
            self.check_row();
            let (above, rest) = c.split_at_mut(row(i).start);
            let this = &mut rest[..=i];
            let scale = 1.0 / this[i];
            out[..i].fill(0.0);
            for (k, &factor) in this[..i].iter().enumerate() {
                axpy(-factor * scale, &above[row(k)], &mut out[..=k]);
            }
            this[..i].copy_from_slice(&out[..i]);
            this[i] = scale;
        }
    }

    /// `out <- L' L` for lower triangular `l`: with `l = C^-1`, the inverse of `C C'`.
    pub fn gram(&self, l: &[f64], out: &mut [f64]) {
        if self.diagonal {
            out.iter_mut().zip(l).for_each(|(o, x)| *o = x * x);
            return;
        }
        out.fill(0.0);
        for k in 0..self.n_dims {
            self.check_row();
            let this = &l[row(k)];
            for i in 0..=k {
                axpy(this[i], &this[..=i], &mut out[row(i)]);
            }
        }
    }

    /// `out <- L L'` for lower triangular `l`: the other way round.
    pub fn square(&self, l: &[f64], out: &mut [f64]) {
        if self.diagonal {
            out.iter_mut().zip(l).for_each(|(o, x)| *o = x * x);
            return;
        }
        for i in 0..self.n_dims {
            for j in 0..=i {
                out[row(i).start + j] = dot(&l[row(i)][..=j], &l[row(j)]);
            }
        }
    }

    /// ln |C C'| for a triangular factor `c`.
    pub fn ln_det(&self, c: &[f64]) -> f64 {
        2.0 * (0..self.n_dims).map(|i| c[self.diagonal_index(i)].ln()).sum::<f64>()
    }

    /// `out <- L x` for lower triangular `l`.
    pub fn lower_times(&self, l: &[f64], x: &[f64], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = if self.diagonal { l[i] * x[i] } else { dot(&l[row(i)], &x[..=i]) };
        }
    }

    /// `out <- A x` for symmetric `a`.
    pub fn times(&self, a: &[f64], x: &[f64], out: &mut [f64]) {
        if self.diagonal {
            out.iter_mut().zip(a).zip(x).for_each(|((o, a), x)| *o = a * x);
            return;
        }
        out.fill(0.0);
        for i in 0..self.n_dims {
            let this = &a[row(i)];
            out[i] += dot(this, &x[..=i]);
            axpy(x[i], &this[..i], &mut out[..i]);
        }
    }

    /// `a += factor (x y' + y x') / 2`.
    pub fn add_outer(&self, factor: f64, x: &[f64], y: &[f64], a: &mut [f64]) {
        for i in 0..self.n_dims {
            if self.diagonal {
                a[i] += factor * x[i] * y[i];
                continue;
            }
            let half = 0.5 * factor;
            for (j, entry) in a[row(i)].iter_mut().enumerate() {
                *entry += half * (x[i] * y[j] + y[i] * x[j]);
            }
        }
    }

    /// tr(A B) for symmetric `a` and `b`.
    pub fn trace_of_product(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.diagonal {
            return dot(a, b);
        }
        (0..self.n_dims)
            .map(|i| {
                let (x, y) = (&a[row(i)], &b[row(i)]);
                2.0 * dot(&x[..i], &y[..i]) + x[i] * y[i]
            })
            .sum()
    }

    /// `x' A x` for symmetric `a`.
    pub fn quadratic(&self, a: &[f64], x: &[f64]) -> f64 {
        if self.diagonal {
            return a.iter().zip(x).map(|(a, x)| a * x * x).sum();
        }
        (0..self.n_dims)
            .map(|i| {
                let this = &a[row(i)];
                x[i] * (2.0 * dot(&this[..i], &x[..i]) + this[i] * x[i])
            })
            .sum()
    }

    /// The whole `n_dims` x `n_dims` matrix, row by row.
    pub fn to_dense(&self, a: &[f64], out: &mut [f64]) {
        let n = self.n_dims;
        out.fill(0.0);
        for i in 0..n {
            if self.diagonal {
                out[i * n + i] = a[i];
                continue;
            }
            for j in 0..=i {
                out[i * n + j] = a[i * (i + 1) / 2 + j];
                out[j * n + i] = a[i * (i + 1) / 2 + j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Address, Purpose};

    fn dense(shape: Symmetric, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; shape.n_dims * shape.n_dims];
        shape.to_dense(a, &mut out);
        out
    }

    /// A A' + I for a random A, and a random vector.
    fn example(shape: Symmetric) -> (Vec<f64>, Vec<f64>) {
        let n = shape.n_dims;
        let mut rng = Address::new(n as u64, Purpose::Data, 0, 0).rng(0);
        let mut a = vec![0.0; shape.len()];
        (0..n).for_each(|i| a[shape.diagonal_index(i)] = 1.0);
        for _ in 0..n {
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            shape.add_outer(1.0, &x, &x, &mut a);
        }
        let x = (0..n).map(|_| rng.normal()).collect();
        (a, x)
    }

    fn close(a: &[f64], b: &[f64]) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() < 1e-10 * (1.0 + y.abs()), "{x} {y}");
        }
    }

    #[test]
    fn factor_inverse_and_products_agree_with_dense_algebra() {
        for n in [1, 2, 3, 4, 7, 8, 9, 16, 17, 33] {
            for shape in [Symmetric::full(n), Symmetric::diagonal(n)] {
                let (a, x) = example(shape);
                let full = dense(shape, &a);
                let product: Vec<f64> =
                    (0..n).map(|i| (0..n).map(|j| full[i * n + j] * x[j]).sum()).collect();
                let mut out = vec![0.0; n];
                shape.times(&a, &x, &mut out);
                close(&out, &product);
                let quadratic: f64 = product.iter().zip(&x).map(|(p, x)| p * x).sum();
                close(&[shape.quadratic(&a, &x)], &[quadratic]);

                let mut factor = a.clone();
                assert!(shape.cholesky(&mut factor));
                let ln_det = shape.ln_det(&factor);
                let mut again = vec![0.0; shape.len()];
                shape.square(&factor, &mut again);
                close(&again, &a);
                shape.invert_lower(&mut factor);
                close(&[shape.ln_det(&factor)], &[-ln_det]);
                let mut inverse = vec![0.0; shape.len()];
                shape.gram(&factor, &mut inverse);
                // A^-1 (A x) = x, x'A^-1 x = |C^-1 x|^2, tr(A A^-1) = n.
                let mut back = vec![0.0; n];
                shape.times(&inverse, &product, &mut back);
                close(&back, &x);
                let mut white = vec![0.0; n];
                shape.lower_times(&factor, &x, &mut white);
                let norm: f64 = white.iter().map(|w| w * w).sum();
                close(&[norm], &[shape.quadratic(&inverse, &x)]);
                close(&[shape.trace_of_product(&a, &inverse)], &[n as f64]);
            }
        }
    }

    #[test]
    fn small_matrices_are_factored_as_large_ones_are_to_the_last_bit() {
        for n in 1..=SMALL {
            let shape = Symmetric::full(n);
            let (mut by_rows, _) = example(shape);
            let mut broken = by_rows.clone();
            broken[shape.diagonal_index(n / 2)] = -1.0;
            let mut by_columns = by_rows.clone();
            assert!(
                shape.cholesky_by_rows(&mut by_rows) && cholesky_by_columns(n, &mut by_columns)
            );
            let bits = |a: &[f64]| a.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&by_rows), bits(&by_columns), "{n}");
            let mut again = broken.clone();
            assert!(!shape.cholesky_by_rows(&mut broken) && !cholesky_by_columns(n, &mut again));
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(!Symmetric::full(2).cholesky(&mut [1.0, 2.0, 1.0]));
        assert!(!Symmetric::full(2).cholesky(&mut [1.0, f64::NAN, 1.0]));
        assert!(!Symmetric::full(1).cholesky(&mut [f64::INFINITY]));
        assert!(!Symmetric::diagonal(2).cholesky(&mut [1.0, 0.0]));
        assert!(!Symmetric::diagonal(2).cholesky(&mut [f64::NAN, 1.0]));
    }
}
