//! Ratings without their mean, times their weights, and the sums of them that every row needs.

use crate::dispatch;
use crate::lanes::Lanes;

/// Sums kept side by side, since additions to one sum wait for each other; part of the definition of
/// the sums.
const N: usize = 8;

dispatch! {
    /// With y = value - mean: `out[n] = w y`, and for each block b, n going over
    /// `starts[b] .. starts[b + 1]`, the sums of w, w y and w y^2 at `sums[b * stride..]`. All weights
    /// are 1 if there are none. `values`, `weights` and `out` begin with rating `starts[0]`.
    ///
    /// Equivalent to the same in f64, but for the rounding of `out`: plain multiplications and
    /// additions, the same bits in all instruction sets.
    ///
    /// # Panics
    /// If the starts descend or a length does not fit.
    centre_f32 => centre_f32_body(
        starts: &[usize], values: &[f32], weights: &[f32], mean: f64, out: &mut [f32],
        sums: &mut [f64], stride: usize,
    )
}

dispatch! {
    /// [`centre_f32`] with an `out` that is not rounded.
    ///
    /// Equivalent to `out[n] = w (value - mean)` and its sums.
    centre_f64 => centre_f64_body(
        starts: &[usize], values: &[f32], weights: &[f32], mean: f64, out: &mut [f64],
        sums: &mut [f64], stride: usize,
    )
}

#[inline(always)]
fn centre_f32_body<L: Lanes>(
    starts: &[usize],
    values: &[f32],
    weights: &[f32],
    mean: f64,
    out: &mut [f32],
    sums: &mut [f64],
    stride: usize,
) {
    centre::<L, _>(starts, values, weights, mean, out, sums, stride, |x| x as f32);
}

#[inline(always)]
fn centre_f64_body<L: Lanes>(
    starts: &[usize],
    values: &[f32],
    weights: &[f32],
    mean: f64,
    out: &mut [f64],
    sums: &mut [f64],
    stride: usize,
) {
    centre::<L, _>(starts, values, weights, mean, out, sums, stride, |x| x);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn centre<L: Lanes, R>(
    starts: &[usize],
    values: &[f32],
    weights: &[f32],
    mean: f64,
    out: &mut [R],
    sums: &mut [f64],
    stride: usize,
    round: impl Fn(f64) -> R,
) {
    let Some(&first) = starts.first() else { return };
    for (block, sums) in starts.windows(2).zip(sums.chunks_mut(stride)) {
        let range = block[0] - first..block[1] - first;
        let (values, out) = (&values[range.clone()], &mut out[range.clone()]);
        let given = if weights.is_empty() { weights } else { &weights[range] };
        let mut total = Sums::<L>::new();
        let (mut eights, mut outs) = (values.chunks_exact(N), out.chunks_exact_mut(N));
        for (i, (values, out)) in (&mut eights).zip(&mut outs).enumerate() {
            let weights = if given.is_empty() { &[1.0; N] } else { &given[i * N..][..N] };
            let products = total.add(eight(values), eight(weights), mean);
            out.iter_mut().zip(products).for_each(|(out, x)| *out = round(x));
        }
        // What is left, with lanes of weight 0 behind it.
        let (left, out) = (eights.remainder(), outs.into_remainder());
        let (mut last, mut last_weights) = ([0.0; N], [0.0; N]);
        last[..left.len()].copy_from_slice(left);
        if given.is_empty() {
            last_weights[..left.len()].fill(1.0);
        } else {
            last_weights[..left.len()].copy_from_slice(&given[given.len() - left.len()..]);
        }
        let products = total.add(&last, &last_weights, mean);
        out.iter_mut().zip(products).for_each(|(out, x)| *out = round(x));
        sums[..3].copy_from_slice(&total.finish());
    }
}

#[inline(always)]
fn eight(numbers: &[f32]) -> &[f32; N] {
    numbers.first_chunk().expect("chunks of eight")
}

/// The sums of w, w y and w y^2.
struct Sums<L>([[L; N]; 3]);

impl<L: Lanes> Sums<L> {
    #[inline(always)]
    fn new() -> Self {
        Sums([[L::splat(0.0); N]; 3])
    }

    /// Adds eight ratings; returns their w y.
    #[inline(always)]
    fn add(&mut self, values: &[f32; N], weights: &[f32; N], mean: f64) -> [f64; N] {
        const { assert!(N.is_multiple_of(L::N)) };
        let (mut y, mut w) = ([0.0; N], [0.0; N]);
        for lane in 0..N {
            y[lane] = f64::from(values[lane]) - mean;
            w[lane] = f64::from(weights[lane]);
        }
        for v in 0..N / L::N {
            let at = v * L::N;
            // SAFETY: both arrays have N numbers, and `at + L::N` is at most N.
            unsafe {
                let (these, weights) = (L::load(y.as_ptr().add(at)), L::load(w.as_ptr().add(at)));
                let product = weights.mul(these);
                let [count, sum, square] = &mut self.0;
                count[v] = count[v].add(weights);
                sum[v] = sum[v].add(product);
                square[v] = square[v].add(product.mul(these));
                product.store(y.as_mut_ptr().add(at));
            }
        }
        y
    }

    #[inline(always)]
    fn finish(self) -> [f64; 3] {
        let mut totals = [0.0; 3];
        for (total, sums) in totals.iter_mut().zip(self.0) {
            let mut lanes = [0.0; N];
            for (v, sum) in sums.into_iter().enumerate().take(N / L::N) {
                // SAFETY: `v * L::N + L::N` is at most N.
                unsafe { sum.store(lanes.as_mut_ptr().add(v * L::N)) };
            }
            *total = lanes.iter().sum();
        }
        totals
    }
}
