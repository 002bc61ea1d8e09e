//! Weighted moments of a tile in which few components have a share in each item: the usual case once
//! clusters are found, and several times faster than the dense sums then.

use super::gaussian::{LONG, Second, TILE, pad_to_lanes};
use super::lanes::Lanes;
use super::{MOST, dispatch, fits, stop};

/// Items whose responsibilities are counted to judge a tile.
const SAMPLE: usize = 8;

/// Components whose active ones are listed together.
const CHUNK: usize = 64;

/// The number of features rounded up to whole vectors, with room for one vector of overrun.
pub const fn pad_features(n_features: usize) -> usize {
    n_features.next_multiple_of(8) + 8
}

/// Whether [`accumulate_sparse`] should be the faster one for this tile: in its first items, fewer
/// than an eighth of the responsibilities are not 0.
pub fn is_sparse(n_items: usize, n_components: usize, resp: &[f64]) -> bool {
    let padded = pad_to_lanes(n_components);
    let sample = n_items.min(SAMPLE);
    let active = resp[..sample * padded].iter().filter(|&&r| r != 0.0).count();
    8 * active < sample * n_components
}

dispatch! {
    /// Like [`accumulate`](super::accumulate), but component by component: `sums[k * width + f] +=
    /// sum_n resp[n * padded + k] * feature_f(x_n)`, passing over responsibilities of 0, with
    /// `width = pad_features(number of features)`. What stands behind the features means nothing.
    ///
    /// Equivalent to `sums += resp' * features(tile)`.
    accumulate_sparse => accumulate_sparse_body(n_items: usize, n_components: usize, n_dims: usize,
        second: Second, tile: &[f64], resp: &[f64], features: &mut [f64], sums: &mut [f64])
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn accumulate_sparse_body<L: Lanes>(
    n_items: usize,
    n_components: usize,
    n_dims: usize,
    second: Second,
    tile: &[f64],
    resp: &[f64],
    features: &mut [f64],
    sums: &mut [f64],
) {
    assert!(n_items <= TILE && n_components < MOST, "{n_components} components");
    let padded = pad_to_lanes(n_components);
    let n_features = second.features(n_dims);
    let width = pad_features(n_features);
    assert!(fits(n_dims, TILE, tile.len()) && fits(n_items, padded, resp.len()));
    assert!(features.len() >= width && fits(n_components, width, sums.len()));
    for n in 0..n_items {
        if n_dims >= LONG {
            stop::check();
        }
        let row = &resp[n * padded..n * padded + n_components];
        features[0] = 1.0;
        for j in 0..n_dims {
            features[1 + j] = tile[j * TILE + n];
        }
        let at = 1 + n_dims;
        match second {
            Second::Nothing => {}
            Second::Norm => {
                features[at] = features[1..at].iter().fold(0.0, |sum, x| sum + x * x);
            }
            Second::Squares => {
                (0..n_dims).for_each(|i| features[at + i] = features[1 + i] * features[1 + i])
            }
            Second::Triangle => triangle::<L>(n_dims, features),
        }
        for (chunk, row) in row.chunks(CHUNK).enumerate() {
            // The list is made without branches: which components are active is hard to predict.
            let (mut active, mut n_active) = ([0; CHUNK], 0);
            for (k, &r) in row.iter().enumerate() {
                active[n_active] = k;
                n_active += usize::from(r != 0.0);
            }
            for &k in &active[..n_active] {
                let r = L::splat(row[k]);
                let first = (chunk * CHUNK + k) * width;
                for f in (0..n_features).step_by(L::N) {
                    // SAFETY: `f + L::N <= width`, and `k` is a component; lengths asserted above.
                    unsafe {
                        let sum = sums.as_mut_ptr().add(first + f);
                        L::load(features.as_ptr().add(f)).mul_add(r, L::load(sum)).store(sum);
                    }
                }
            }
        }
    }
}

/// The lower triangle of `x x'` behind `1, x` of an item's features.
#[inline(always)]
fn triangle<L: Lanes>(n_dims: usize, features: &mut [f64]) {
    assert!(features.len() >= pad_features(Second::Triangle.features(n_dims)));
    // Row i is x_i times the first i + 1 of x. Whole vectors are written; the next row overwrites what is too
    // much, and the last overrun is padding.
    let mut at = 1 + n_dims;
    for i in 0..n_dims {
        let factor = L::splat(features[1 + i]);
        for j in (0..=i).step_by(L::N) {
            // SAFETY: `at + j + L::N <= n_features - (i + 1) + i + L::N < width`, as asserted;
            // reads end before writes begin, at most at feature `1 + i + L::N <= width`.
            unsafe {
                let y = L::load(features.as_ptr().add(1 + j)).mul(factor);
                y.store(features.as_mut_ptr().add(at + j));
            }
        }
        at += i + 1;
    }
}
