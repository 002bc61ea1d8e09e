//! Clusters by how far their normal distributions lie over each other.

use super::{Comparable, Comparison, Parts, matched};
use crate::math::packed::Symmetric;
use crate::models::{Mixture, Stored};
use crate::store::Run;
use crate::{Error, Result};

/// The clusters of a run that have any weight.
struct Clusters {
    used: Vec<usize>,
    means: Vec<Vec<f64>>,
    /// Packed, or the diagonal alone.
    covariances: Vec<Vec<f64>>,
}

impl Comparable for Mixture {
    fn compare(first: &Run<Mixture>, second: &Run<Mixture>) -> Result<Comparison> {
        let [a, b] = [first, second].map(columns);
        if a.0 != b.0 || (!a.1.is_empty() && !b.1.is_empty() && a.1 != b.1) {
            let shown = |(d, names): &(usize, &[String])| match names.is_empty() {
                true => format!("{d} columns"),
                false => format!("the columns {}", names.join(", ")),
            };
            return Err(Error::data(format!(
                "the first run has {} and the second {}; clusters are compared in the same columns",
                shown(&a),
                shown(&b)
            )));
        }
        let d = a.0;
        let diagonal = [first, second].iter().all(|run| is_diagonal(run));
        let [x, y] = [first, second].map(|run| clusters(run, d, diagonal));
        let of =
            Parts { parts: "components", by: "columns", n_common: d, numbers: [&x.used, &y.used] };
        Ok(matched(&of, |i, j| {
            let of_first = (&x.means[i][..], &x.covariances[i][..]);
            let of_second = (&y.means[j][..], &y.covariances[j][..]);
            match diagonal {
                true => of_diagonals(of_first, of_second),
                false => of_matrices(d, of_first, of_second),
            }
        }))
    }
}

fn columns(run: &Run<Mixture>) -> (usize, &[String]) {
    (run.config.frozen.units.shift.len(), &run.config.data.columns)
}

/// Whether the covariances of a run are one number for each column.
fn is_diagonal(run: &Run<Mixture>) -> bool {
    run.model.readable(run.lambda())[2].shape.len() < 3
}

fn clusters(run: &Run<Mixture>, d: usize, diagonal: bool) -> Clusters {
    let readable = run.model.readable(run.lambda());
    let (means, covariances) = (&readable[1].values, &readable[2]);
    let used = run.model.components_in_use(run.lambda().table());
    let covariance = |k: usize| -> Vec<f64> {
        let shape = Symmetric::full(d);
        let variances: Vec<f64> = match covariances.shape.len() {
            3 => {
                let dense = &covariances.values[k * d * d..][..d * d];
                let lower = (0..d).flat_map(|i| dense[i * d..=i * d + i].iter().copied());
                return lower.collect();
            }
            2 => covariances.values[k * d..][..d].to_vec(),
            _ => vec![covariances.values[k]; d],
        };
        if diagonal {
            return variances;
        }
        let mut packed = vec![0.0; shape.len()];
        variances.iter().enumerate().for_each(|(i, &v)| packed[shape.diagonal_index(i)] = v);
        packed
    };
    Clusters {
        means: used.iter().map(|&k| means[k * d..][..d].to_vec()).collect(),
        covariances: used.iter().map(|&k| covariance(k)).collect(),
        used,
    }
}

type Normal<'a> = (&'a [f64], &'a [f64]);

/// The Bhattacharyya coefficient: exp(-1/8 D' S^-1 D) (|S1| |S2|)^(1/4) / |S|^(1/2), S the mean of S1 and S2.
fn of_diagonals((m1, s1): Normal<'_>, (m2, s2): Normal<'_>) -> f64 {
    let mut distance = 0.0;
    for (((m1, m2), s1), s2) in m1.iter().zip(m2).zip(s1).zip(s2) {
        let s = 0.5 * (s1 + s2);
        distance += (m1 - m2).powi(2) / (8.0 * s) + 0.5 * s.ln() - 0.25 * (s1.ln() + s2.ln());
    }
    (-distance).exp()
}

fn of_matrices(d: usize, (m1, s1): Normal<'_>, (m2, s2): Normal<'_>) -> f64 {
    let shape = Symmetric::full(d);
    let factor = |mut s: Vec<f64>| shape.cholesky(&mut s).then_some(s);
    let mean = s1.iter().zip(s2).map(|(a, b)| 0.5 * (a + b)).collect();
    let (Some(l1), Some(l2), Some(mut l)) =
        (factor(s1.to_vec()), factor(s2.to_vec()), factor(mean))
    else {
        return 0.0;
    };
    let ln_dets = 0.5 * shape.ln_det(&l) - 0.25 * (shape.ln_det(&l1) + shape.ln_det(&l2));
    let difference: Vec<f64> = m1.iter().zip(m2).map(|(a, b)| a - b).collect();
    shape.invert_lower(&mut l);
    let mut white = vec![0.0; d];
    shape.lower_times(&l, &difference, &mut white);
    let distance: f64 = white.iter().map(|x| x * x).sum();
    (-distance / 8.0 - ln_dets).exp()
}
