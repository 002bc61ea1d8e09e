//! A word's statistics, gathered from the documents of a batch that contain it.

use crate::dispatch;
use crate::lanes32::{Lanes32, Narrow};

/// Documents that are added in f32 before the sums go over to f64.
const FLUSH: usize = 64;

/// Vectors of topics whose sums stay in registers.
const VECTORS: usize = 7;

dispatch! {
    /// `out[k] += row[k] * sum_i coefs[i] * thetas[docs[i]][k]` for the `out.len()` topics,
    /// every theta being as long as the padded row. At most 64 documents are added in f32, so the
    /// relative error is below 64 * 2^-24 = 4e-6 if coefficients are positive (else relative to the sum
    /// of the absolute terms).
    ///
    /// Equivalent to `for (d, c) in docs.zip(coefs) { out[k] += row[k] * c * theta[d][k] }`.
    gather_word => gather_word_body(docs: &[u32], coefs: &[f32], thetas: &[&[f32]], row: &[f32],
        out: &mut [f64])
}

#[inline(always)]
fn gather_word_body<L: Narrow>(
    docs: &[u32],
    coefs: &[f32],
    thetas: &[&[f32]],
    row: &[f32],
    out: &mut [f64],
) {
    let stride = row.len();
    assert!(stride.is_multiple_of(16) && out.len() <= stride, "a padded row");
    assert_eq!(docs.len(), coefs.len(), "a coefficient per document");
    let fits = |&d: &u32| thetas.get(d as usize).is_some_and(|theta| theta.len() == stride);
    assert!(docs.iter().all(fits), "a padded theta per document");
    let n = L::Single::N;
    for (docs, coefs) in docs.chunks(FLUSH).zip(coefs.chunks(FLUSH)) {
        let mut k = 0;
        // SAFETY: documents are inside the table, and k + VECTORS * n within the stride, as asserted
        // and as the loops say; lanes behind the topics go through a buffer.
        unsafe {
            while k + VECTORS * n <= stride {
                add_block::<L::Single, VECTORS>(docs, coefs, thetas, row, k, out);
                k += VECTORS * n;
            }
            while k + 3 * n <= stride {
                add_block::<L::Single, 3>(docs, coefs, thetas, row, k, out);
                k += 3 * n;
            }
            while k < stride {
                add_block::<L::Single, 1>(docs, coefs, thetas, row, k, out);
                k += n;
            }
        }
    }
}

/// # Safety
/// Documents must be inside the table and `k + C * N` within the stride.
#[inline(always)]
unsafe fn add_block<L: Lanes32, const C: usize>(
    docs: &[u32],
    coefs: &[f32],
    thetas: &[&[f32]],
    row: &[f32],
    k: usize,
    out: &mut [f64],
) {
    let mut sums = [L::splat(0.0); C];
    for (&doc, &coef) in docs.iter().zip(coefs) {
        let coef = L::splat(coef);
        for (v, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller vouches for the document and the topics.
            unsafe {
                let theta = thetas.get_unchecked(doc as usize).as_ptr().add(k + v * L::N);
                *sum = L::load(theta).mul_add(coef, *sum);
            }
        }
    }
    for (v, sum) in sums.iter().enumerate() {
        let at = k + v * L::N;
        // SAFETY: the row is as long as the stride; `out` is written only if a whole vector fits.
        unsafe {
            let sum = sum.mul(L::load(row.as_ptr().add(at)));
            if at + L::N <= out.len() {
                sum.add_to_wide(out.as_mut_ptr().add(at));
            } else if at < out.len() {
                let mut buffer = [0.0; 16];
                sum.add_to_wide(buffer.as_mut_ptr());
                for (out, x) in out[at..].iter_mut().zip(buffer) {
                    *out += x;
                }
            }
        }
    }
}
