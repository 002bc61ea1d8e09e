//! The leading directions of a symmetric matrix, for maps of topics and principal components.

/// Iterations at most, and the change at which they end.
const MOST: usize = 500;
const SMALL: f64 = 1e-10;

/// The `count` largest eigenvalues of a symmetric n x n matrix that has none of a large size below 0, and their vectors,
/// by orthogonal iteration from a fixed start: the same numbers give the same bits. The sign is such that the entry of the
/// largest size is positive.
pub fn leading(matrix: &[f64], n: usize, count: usize) -> Vec<(f64, Vec<f64>)> {
    let count = count.min(n);
    // A start that no direction is orthogonal to by its symmetry.
    let start = |at: usize, i: usize| ((1 + i) as f64 * (0.7 + 0.61 * at as f64)).sin() + 0.1;
    let mut vectors: Vec<Vec<f64>> =
        (0..count).map(|at| (0..n).map(|i| start(at, i)).collect()).collect();
    orthonormal(&mut vectors);
    let mut values = vec![0.0; count];
    for _ in 0..MOST {
        let mut next: Vec<Vec<f64>> = vectors.iter().map(|v| times(matrix, v)).collect();
        let now: Vec<f64> = next.iter().zip(&vectors).map(|(a, b)| dot(a, b)).collect();
        let change =
            now.iter().zip(&values).map(|(a, b): (&f64, &f64)| (a - b).abs()).fold(0.0, f64::max);
        let scale = now.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        values = now;
        orthonormal(&mut next);
        vectors = next;
        if change <= SMALL * scale {
            break;
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> = values.into_iter().zip(vectors).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, vector) in &mut found {
        let largest =
            vector.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        if largest < 0.0 {
            vector.iter_mut().for_each(|x| *x = -*x);
        }
    }
    found
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len().max(1)).map(|row| dot(row, vector)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Gram and Schmidt; what is left of nothing is nothing.
fn orthonormal(vectors: &mut [Vec<f64>]) {
    for at in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(at);
        let vector = &mut rest[0];
        for other in before {
            let along = dot(other, vector);
            vector.iter_mut().zip(other.iter()).for_each(|(x, o)| *x -= along * o);
        }
        let norm = dot(vector, vector).sqrt();
        let scale = if norm > 1e-150 { 1.0 / norm } else { 0.0 };
        vector.iter_mut().for_each(|x| *x *= scale);
    }
}

/// Places in a plane for points whose distances are known (classical scaling), and the share of the squared distances
/// that the plane shows.
pub fn map(squared: &[f64], n: usize) -> (Vec<[f64; 2]>, f64) {
    let mean = |row: &[f64]| row.iter().sum::<f64>() / n.max(1) as f64;
    let rows: Vec<f64> = squared.chunks_exact(n.max(1)).map(mean).collect();
    let all = mean(&rows);
    let centred: Vec<f64> = squared
        .iter()
        .enumerate()
        .map(|(at, d)| -0.5 * (d - rows[at / n] - rows[at % n] + all))
        .collect();
    let trace: f64 = (0..n).map(|i| centred[i * n + i]).sum();
    let found = leading(&centred, n, 2);
    let shown: f64 = found.iter().map(|(value, _)| value.max(0.0)).sum();
    let along = |axis: usize, i: usize| {
        found.get(axis).map_or(0.0, |(value, vector)| value.max(0.0).sqrt() * vector[i])
    };
    let places = (0..n).map(|i| [along(0, i), along(1, i)]).collect();
    (places, if trace > 0.0 { (shown / trace).min(1.0) } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_directions_of_a_known_matrix() {
        // Eigenvalues 6, 3 and 1 with the vectors (1, 1, 0), (0, 0, 1) and (1, -1, 0).
        let matrix = [3.5, 2.5, 0.0, 2.5, 3.5, 0.0, 0.0, 0.0, 3.0];
        let found = leading(&matrix, 3, 2);
        assert!((found[0].0 - 6.0).abs() < 1e-8 && (found[1].0 - 3.0).abs() < 1e-6, "{found:?}");
        assert!((found[0].1[0] - 0.5_f64.sqrt()).abs() < 1e-6, "{found:?}");
        assert!((found[1].1[2] - 1.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn a_map_of_a_plane_keeps_its_distances() {
        let points = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [-1.0, 2.0]];
        let squared = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        let all = |places: &[[f64; 2]]| -> Vec<f64> {
            places.iter().flat_map(|a| places.iter().map(move |b| squared(a, b))).collect()
        };
        let (places, share) = map(&all(&points), 4);
        assert!((share - 1.0).abs() < 1e-6, "{share}");
        for (found, wanted) in all(&places).iter().zip(all(&points)) {
            assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
        }
        assert_eq!(map(&[], 0).0.len(), 0);
        assert_eq!(map(&[0.0], 1), (vec![[0.0, 0.0]], 1.0));
    }
}
