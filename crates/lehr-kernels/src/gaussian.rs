//! Gaussian mixtures, a tile of items at a time: log densities, responsibilities, weighted moments.

use serde::{Deserialize, Serialize};

use super::lanes::Lanes;
use super::rows::packed;
use super::stop;
use super::{MOST, dispatch, fits};

/// Items in a tile: it fits the first-level cache together with the components' coefficients.
pub const TILE: usize = 64;

/// Rows of the whitening matrix, or features, that share one load of the data.
const ROWS: usize = 4;

/// Responsibilities below this, relative to the item's largest, become exactly 0: N of them are lost
/// in the rounding of any sum. Zeros let [`accumulate_sparse`](super::accumulate_sparse) skip work.
const NEGLIGIBLE: f64 = 1e-20;

/// Vectors of items that share one load of a coefficient: 4 x 2 sums fill the pipeline and, with
/// their operands, the sixteen registers of AVX2.
const ITEM_VECTORS: usize = 2;

/// From this many dimensions on, loops look whether they are to stop.
pub(crate) const LONG: usize = 64;

/// Exponentials that are computed side by side.
const EXPONENTIALS: usize = 4;

/// `k` rounded up to whole vectors of the widest instruction set.
pub const fn pad_to_lanes(k: usize) -> usize {
    k.next_multiple_of(8)
}

/// The Gaussians of a mixture in the form in which [`log_densities`] reads them.
///
/// Component k has `ln f_k(x) = offset_k - |G_k x - c_k|^2 / 2` with `G_k` lower triangular
/// (whitening: `G'G` is the expected precision) or diagonal. Coefficients are stored in the order of
/// use: for every block of four rows its `-c`, then `G` column by column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GaussianBlock {
    n_components: usize,
    n_dims: usize,
    diagonal: bool,
    offsets: Vec<f64>,
    coefficients: Vec<f64>,
}

/// Which second moments of an item are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Second {
    /// None.
    Nothing,
    /// `|x|^2`, one number.
    Norm,
    /// The square of every dimension.
    Squares,
    /// The lower triangle of `x x'`, by rows.
    Triangle,
}

impl Second {
    /// How many numbers they are.
    #[inline]
    pub fn count(self, n_dims: usize) -> usize {
        assert!(n_dims < MOST, "{n_dims} dimensions");
        match self {
            Second::Nothing => 0,
            Second::Norm => 1,
            Second::Squares => n_dims,
            Second::Triangle => packed(n_dims),
        }
    }

    /// An item's features: 1, x and the second moments.
    #[inline]
    pub fn features(self, n_dims: usize) -> usize {
        1 + n_dims + self.count(n_dims)
    }
}

/// The numbers of a whitening matrix: a lower triangle, or a diagonal.
#[inline]
fn whitening_len(n_dims: usize, diagonal: bool) -> usize {
    if diagonal { Second::Squares } else { Second::Triangle }.count(n_dims)
}

impl GaussianBlock {
    /// Room for `n_components` Gaussians in `n_dims` dimensions.
    pub fn new(n_components: usize, n_dims: usize, diagonal: bool) -> Self {
        let width = n_dims + whitening_len(n_dims, diagonal);
        let size = n_components.checked_mul(width).expect("fewer coefficients than can be counted");
        GaussianBlock {
            n_components,
            n_dims,
            diagonal,
            offsets: vec![0.0; n_components],
            coefficients: vec![0.0; size],
        }
    }

    fn width(&self) -> usize {
        self.n_dims + whitening_len(self.n_dims, self.diagonal)
    }

    /// How many Gaussians.
    pub fn n_components(&self) -> usize {
        self.n_components
    }

    /// Sets component `k`. `whitening` is `G`, packed lower triangle by rows (or the diagonal), and
    /// `shift` is `c = G m`.
    pub fn set(&mut self, k: usize, offset: f64, whitening: &[f64], shift: &[f64]) {
        let (d, width) = (self.n_dims, self.width());
        assert_eq!(shift.len(), d, "one shift per dimension");
        assert_eq!(whitening.len() + d, width, "a packed triangle or a diagonal");
        self.offsets[k] = offset;
        let out = &mut self.coefficients[k * width..(k + 1) * width];
        let mut next = 0;
        let mut push = |x: f64| {
            out[next] = x;
            next += 1;
        };
        if self.diagonal {
            for i in 0..d {
                push(-shift[i]);
                push(whitening[i]);
            }
            return;
        }
        let entry = |i: usize, j: usize| whitening[i * (i + 1) / 2 + j];
        for first in (0..d).step_by(ROWS) {
            let last = (first + ROWS).min(d);
            (first..last).for_each(|i| push(-shift[i]));
            (0..first).for_each(|j| (first..last).for_each(|i| push(entry(i, j))));
            (first..last).for_each(|j| (j..last).for_each(|i| push(entry(i, j))));
        }
    }
}

impl GaussianBlock {
    /// What [`set`](GaussianBlock::set) was given for component `k`: offset, whitening and shift.
    pub fn get(&self, k: usize) -> (f64, Vec<f64>, Vec<f64>) {
        let (d, width) = (self.n_dims, self.width());
        let mut numbers = self.coefficients[k * width..(k + 1) * width].iter().copied();
        let mut next = || numbers.next().unwrap_or(0.0);
        let (mut whitening, mut shift) = (vec![0.0; width - d], vec![0.0; d]);
        if self.diagonal {
            for i in 0..d {
                shift[i] = -next();
                whitening[i] = next();
            }
            return (self.offsets[k], whitening, shift);
        }
        let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
        for first in (0..d).step_by(ROWS) {
            let last = (first + ROWS).min(d);
            (first..last).for_each(|i| shift[i] = -next());
            (0..first).for_each(|j| (first..last).for_each(|i| whitening[at(i, j)] = next()));
            (first..last).for_each(|j| (j..last).for_each(|i| whitening[at(i, j)] = next()));
        }
        (self.offsets[k], whitening, shift)
    }
}

dispatch! {
    /// `out[k * TILE + n] = ln f_k(x_n)` for the first `n_items` items of `tile` (`[n_dims][TILE]`).
    /// Up to the next whole vectors, entries behind them are written too and mean nothing.
    ///
    /// Equivalent to `offset[k] - 0.5 * norm2(G[k] * x[n] - c[k])`.
    log_densities => log_densities_body(block: &GaussianBlock, n_items: usize, tile: &[f64], out: &mut [f64])
}

#[inline(always)]
fn log_densities_body<L: Lanes>(
    block: &GaussianBlock,
    n_items: usize,
    tile: &[f64],
    out: &mut [f64],
) {
    let d = block.n_dims;
    assert!(
        n_items <= TILE && fits(d, TILE, tile.len()) && fits(block.offsets.len(), TILE, out.len())
    );
    let group = ITEM_VECTORS * L::N;
    let width = block.width();
    let minus_half = L::splat(-0.5);
    for (k, &offset) in block.offsets.iter().enumerate() {
        let coefficients = &block.coefficients[k * width..(k + 1) * width];
        let offset = L::splat(offset);
        for first in (0..n_items).step_by(group) {
            if d >= LONG {
                stop::check();
            }
            // SAFETY: `first + group <= TILE`, since TILE is a multiple of every group; so all
            // loads stay below `d * TILE` and all stores below `(k + 1) * TILE`, asserted above;
            // the coefficients are read in the order and number in which `set` wrote them.
            unsafe {
                let x = tile.as_ptr().add(first);
                let mut p = coefficients.as_ptr();
                let mut squares = [L::splat(0.0); ITEM_VECTORS];
                if block.diagonal {
                    for i in 0..d {
                        let (shift, scale) = (L::splat(*p), L::splat(*p.add(1)));
                        p = p.add(2);
                        for (v, square) in squares.iter_mut().enumerate() {
                            let y = scale.mul_add(L::load(x.add(i * TILE + v * L::N)), shift);
                            *square = y.mul_add(y, *square);
                        }
                    }
                } else {
                    let mut row = 0;
                    while row + ROWS <= d {
                        p = whiten::<L, ROWS>(p, row, x, &mut squares);
                        row += ROWS;
                    }
                    match d - row {
                        3 => _ = whiten::<L, 3>(p, row, x, &mut squares),
                        2 => _ = whiten::<L, 2>(p, row, x, &mut squares),
                        1 => _ = whiten::<L, 1>(p, row, x, &mut squares),
                        _ => {}
                    }
                }
                for (v, square) in squares.iter().enumerate() {
                    let y = square.mul_add(minus_half, offset);
                    y.store(out.as_mut_ptr().add(k * TILE + first + v * L::N));
                }
            }
        }
    }
}

/// `R` rows of `G x - c`, from row `first`, and where the next rows' coefficients begin.
///
/// # Safety
/// `p` must point at these rows' coefficients, `x` at a tile of `first + R` dimensions.
#[inline(always)]
unsafe fn product<L: Lanes, const R: usize>(
    mut p: *const f64,
    first: usize,
    x: *const f64,
) -> ([[L; ITEM_VECTORS]; R], *const f64) {
    // SAFETY: every offset is one the caller vouches for.
    unsafe {
        let load = |j: usize| -> [L; ITEM_VECTORS] {
            std::array::from_fn(|v| L::load(x.add(j * TILE + v * L::N)))
        };
        let mut y: [[L; ITEM_VECTORS]; R] =
            std::array::from_fn(|r| [L::splat(*p.add(r)); ITEM_VECTORS]);
        p = p.add(R);
        for j in 0..first {
            let xs = load(j);
            for (r, sums) in y.iter_mut().enumerate() {
                let g = L::splat(*p.add(r));
                for v in 0..ITEM_VECTORS {
                    sums[v] = g.mul_add(xs[v], sums[v]);
                }
            }
            p = p.add(R);
        }
        for j in 0..R {
            let xs = load(first + j);
            for sums in y.iter_mut().skip(j) {
                let g = L::splat(*p);
                p = p.add(1);
                for v in 0..ITEM_VECTORS {
                    sums[v] = g.mul_add(xs[v], sums[v]);
                }
            }
        }
        (y, p)
    }
}

/// Adds the squares of `R` rows of `G x - c`, from row `first`; returns where the next rows' begin.
///
/// # Safety
/// As for [`product`].
#[inline(always)]
unsafe fn whiten<L: Lanes, const R: usize>(
    p: *const f64,
    first: usize,
    x: *const f64,
    squares: &mut [L; ITEM_VECTORS],
) -> *const f64 {
    // SAFETY: the caller's word is passed on.
    let (y, p) = unsafe { product::<L, R>(p, first, x) };
    for sums in &y {
        for v in 0..ITEM_VECTORS {
            squares[v] = sums[v].mul_add(sums[v], squares[v]);
        }
    }
    p
}

dispatch! {
    /// `out[i * TILE + n] = (G x_n - c)_i` for the first `n_items` items of `tile` (`[n_dims][TILE]`), where G is
    /// the triangular matrix of the block's first Gaussian: what Gaussians of one precision share.
    /// Up to the next whole vectors, entries behind them are written too and mean nothing.
    ///
    /// Equivalent to `out = G[0] * x - c[0]`.
    whitened => whitened_body(block: &GaussianBlock, n_items: usize, tile: &[f64], out: &mut [f64])
}

#[inline(always)]
fn whitened_body<L: Lanes>(block: &GaussianBlock, n_items: usize, tile: &[f64], out: &mut [f64]) {
    let d = block.n_dims;
    assert!(!block.diagonal && block.n_components > 0 && n_items <= TILE);
    assert!(fits(d, TILE, tile.len()) && fits(d, TILE, out.len()));
    for first in (0..n_items).step_by(ITEM_VECTORS * L::N) {
        // SAFETY: as in `log_densities`: a group of items ends within the tile, all rows are below `d`, and the
        // coefficients are read in the order and number in which `set` wrote them.
        unsafe {
            let x = tile.as_ptr().add(first);
            let y = out.as_mut_ptr().add(first);
            let mut p = block.coefficients.as_ptr();
            let mut row = 0;
            while row + ROWS <= d {
                p = store::<L, ROWS>(p, row, x, y);
                row += ROWS;
            }
            match d - row {
                3 => _ = store::<L, 3>(p, row, x, y),
                2 => _ = store::<L, 2>(p, row, x, y),
                1 => _ = store::<L, 1>(p, row, x, y),
                _ => {}
            }
        }
    }
}

/// Writes `R` rows of `G x - c`, from row `first`; returns where the next rows' coefficients begin.
///
/// # Safety
/// As for [`product`], and `out` must be writable where `x` is readable.
#[inline(always)]
unsafe fn store<L: Lanes, const R: usize>(
    p: *const f64,
    first: usize,
    x: *const f64,
    out: *mut f64,
) -> *const f64 {
    // SAFETY: the caller's word is passed on.
    unsafe {
        let (y, p) = product::<L, R>(p, first, x);
        for (r, row) in y.iter().enumerate() {
            for (v, y) in row.iter().enumerate() {
                y.store(out.add((first + r) * TILE + v * L::N));
            }
        }
        p
    }
}

dispatch! {
    /// Turns `logits` (`[padded components][TILE]`) into weighted responsibilities: afterwards
    /// `resp[n * padded + k] = weights[n] * softmax_k(logits[.., n])` and `log_sums[n]` holds the
    /// logarithm of the sum. `logits` is used up; its padding rows must be 0 and stay 0.
    ///
    /// Equivalent to `r = exp(l - max(l)), 0 where below 1e-20; resp = w * r / sum(r); log_sum = max(l) + ln(sum(r))`.
    softmax => softmax_body(n_items: usize, n_components: usize, logits: &mut [f64], weights: &[f64],
        resp: &mut [f64], log_sums: &mut [f64])
}

#[inline(always)]
fn softmax_body<L: Lanes>(
    n_items: usize,
    n_components: usize,
    logits: &mut [f64],
    weights: &[f64],
    resp: &mut [f64],
    log_sums: &mut [f64],
) {
    let padded = pad_to_lanes(n_components);
    assert!(n_items <= TILE && weights.len() >= n_items && log_sums.len() >= TILE);
    assert!(n_components > 0 && n_components < MOST);
    assert!(fits(padded, TILE, logits.len()) && fits(padded, TILE, resp.len()));
    let mut scales = [0.0; TILE];
    for first in (0..n_items).step_by(L::N) {
        // SAFETY: TILE is a multiple of L::N, so `first + L::N <= TILE`; lengths asserted above.
        unsafe {
            let column = logits.as_mut_ptr().add(first);
            let mut top = L::load(column);
            for k in 1..n_components {
                top = top.max(L::load(column.add(k * TILE)));
            }
            let mut sum = L::splat(0.0);
            let mut k = 0;
            while k + EXPONENTIALS <= n_components {
                sum = exponentials::<L, EXPONENTIALS>(column.add(k * TILE), top, sum);
                k += EXPONENTIALS;
            }
            while k < n_components {
                sum = exponentials::<L, 1>(column.add(k * TILE), top, sum);
                k += 1;
            }
            top.store(log_sums.as_mut_ptr().add(first));
            sum.store(scales.as_mut_ptr().add(first));
        }
        for n in first..(first + L::N).min(n_items) {
            log_sums[n] += scales[n].ln();
            scales[n] = weights[n] / scales[n];
        }
        // SAFETY: as above; a block of L::N components ends at most at row `padded`.
        unsafe {
            let column = logits.as_mut_ptr().add(first);
            let scale = L::load(scales.as_ptr().add(first));
            for k in (0..n_components).step_by(L::N) {
                L::transpose(
                    column.add(k * TILE),
                    TILE,
                    scale,
                    resp.as_mut_ptr().add(first * padded + k),
                    padded,
                );
            }
        }
    }
}

/// Replaces `C` components' logits at `column` by `exp(logit - top)`, adding them to `sum` in order.
///
/// # Safety
/// `column` must be readable and writable for a vector in each of `C` rows of `TILE` numbers.
#[inline(always)]
unsafe fn exponentials<L: Lanes, const C: usize>(column: *mut f64, top: L, mut sum: L) -> L {
    let mut x = [top; C];
    for (i, x) in x.iter_mut().enumerate() {
        // `exp` needs its argument in range; what is clamped here is negligible anyway.
        // SAFETY: the caller vouches for `C` rows.
        *x = unsafe { L::load(column.add(i * TILE)) }.sub(top).max(L::splat(-600.0));
    }
    for (i, e) in exp(x).into_iter().enumerate() {
        let e = e.zero_below(L::splat(NEGLIGIBLE));
        sum = sum.add(e);
        // SAFETY: as above.
        unsafe { e.store(column.add(i * TILE)) };
    }
    sum
}

/// `e^x` for x in [-700, 700], at most 2 units in the last place off. `C` of them overlap in the
/// pipeline.
#[inline(always)]
fn exp<L: Lanes, const C: usize>(x: [L; C]) -> [L; C] {
    const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds to an integer
    const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
    let (mut powers, mut r) = (x, x);
    for i in 0..C {
        powers[i] = x[i].mul_add(L::splat(std::f64::consts::LOG2_E), L::splat(MAGIC));
        let integer = powers[i].sub(L::splat(MAGIC));
        r[i] = integer.mul_add(L::splat(-LN2_HIGH), x[i]);
        r[i] = integer.mul_add(L::splat(-LN2_LOW), r[i]);
    }
    // 1 + r + r^2 q(r), with q in the tree of Estrin: half the latency of Horner's chain.
    let mut out = x;
    for i in 0..C {
        let (r, square) = (r[i], r[i].mul(r[i]));
        let fourth = square.mul(square);
        let line = |slope: f64, constant: f64| L::splat(slope).mul_add(r, L::splat(constant));
        let low = line(1.0 / 120.0, 1.0 / 24.0).mul_add(square, line(1.0 / 6.0, 0.5));
        let middle =
            line(1.0 / 362_880.0, 1.0 / 40_320.0).mul_add(square, line(1.0 / 5_040.0, 1.0 / 720.0));
        let high = L::splat(1.0 / 479_001_600.0)
            .mul_add(square, line(1.0 / 39_916_800.0, 1.0 / 3_628_800.0));
        let q = high.mul_add(fourth, middle).mul_add(fourth, low);
        let p = q.mul_add(square, r).add(L::splat(1.0));
        out[i] = p.scale_by_power(powers[i]);
    }
    out
}

dispatch! {
    /// Adds the weighted moments of a tile: `sums[f * padded + k] += sum_n resp[n * padded + k] *
    /// feature_f(x_n)`, where the features are 1, then x, then the second moments that `second` names.
    ///
    /// Equivalent to `sums += features(tile)' * resp`.
    accumulate => accumulate_body(n_items: usize, n_components: usize, n_dims: usize, second: Second,
        tile: &[f64], resp: &[f64], sums: &mut [f64])
}

#[inline(always)]
fn accumulate_body<L: Lanes>(
    n_items: usize,
    n_components: usize,
    n_dims: usize,
    second: Second,
    tile: &[f64],
    resp: &[f64],
    sums: &mut [f64],
) {
    assert!(n_components < MOST, "{n_components} components");
    let padded = pad_to_lanes(n_components);
    let n_features = second.features(n_dims);
    assert!(n_items <= TILE && fits(n_dims, TILE, tile.len()));
    assert!(fits(n_items, padded, resp.len()) && fits(n_features, padded, sums.len()));

    let mut features = [[0.0; TILE]; ROWS];
    let (mut i, mut j) = (0, 0); // the next second moment
    for first in (0..n_features).step_by(ROWS) {
        if first % (LONG * LONG) == LONG {
            stop::check();
        }
        let rows = (n_features - first).min(ROWS);
        for (f, out) in features.iter_mut().enumerate().take(rows) {
            let column = |i: usize| &tile[i * TILE..(i + 1) * TILE];
            match first + f {
                0 => out.fill(1.0),
                f if f <= n_dims => out.copy_from_slice(column(f - 1)),
                _ if second == Second::Norm => {
                    out.fill(0.0);
                    for i in 0..n_dims {
                        out.iter_mut().zip(column(i)).for_each(|(o, a)| *o += a * a);
                    }
                }
                _ => {
                    for ((o, a), b) in out.iter_mut().zip(column(i)).zip(column(j)) {
                        *o = a * b;
                    }
                    if second == Second::Squares {
                        (i, j) = (i + 1, j + 1);
                    } else if j == i {
                        (i, j) = (i + 1, 0);
                    } else {
                        j += 1;
                    }
                }
            }
        }
        let sums = &mut sums[first * padded..(first + rows) * padded];
        match rows {
            4 => weighted_sums::<L, 4>(n_items, n_components, padded, &features, resp, sums),
            3 => weighted_sums::<L, 3>(n_items, n_components, padded, &features, resp, sums),
            2 => weighted_sums::<L, 2>(n_items, n_components, padded, &features, resp, sums),
            _ => weighted_sums::<L, 1>(n_items, n_components, padded, &features, resp, sums),
        }
    }
}

/// `sums[f][k] += sum_n features[f][n] resp[n][k]`, two vectors of components at a time: with four
/// features that is eight sums, and three vectors would not leave AVX2 a register for their operands.
#[inline(always)]
fn weighted_sums<L: Lanes, const F: usize>(
    n_items: usize,
    n_components: usize,
    padded: usize,
    features: &[[f64; TILE]; ROWS],
    resp: &[f64],
    sums: &mut [f64],
) {
    assert!(F <= ROWS && n_items <= TILE && padded.is_multiple_of(L::N));
    assert!(fits(n_items, padded, resp.len()) && fits(F, padded, sums.len()));
    let n_vectors = n_components.div_ceil(L::N);
    let mut v = 0;
    while v < n_vectors {
        // SAFETY: vectors `v .. v + V` end at most at `n_vectors * L::N <= padded`; lengths and
        // the number of items are asserted above.
        unsafe {
            let (resp, sums) = (resp.as_ptr().add(v * L::N), sums.as_mut_ptr().add(v * L::N));
            if n_vectors - v == 1 {
                block::<L, F, 1>(n_items, padded, features, resp, sums);
            } else {
                block::<L, F, 2>(n_items, padded, features, resp, sums);
            }
            v += 2;
        }
    }
}

/// One register block of [`weighted_sums`].
///
/// # Safety
/// `resp` must be readable and `sums` writable for `V` vectors in each of `n_items` and `F` rows of
/// `padded` numbers.
#[inline(always)]
unsafe fn block<L: Lanes, const F: usize, const V: usize>(
    n_items: usize,
    padded: usize,
    features: &[[f64; TILE]; ROWS],
    mut resp: *const f64,
    sums: *mut f64,
) {
    // SAFETY: the caller vouches for every offset.
    unsafe {
        let mut acc: [[L; V]; F] = std::array::from_fn(|f| {
            std::array::from_fn(|v| L::load(sums.add(f * padded + v * L::N)))
        });
        for n in 0..n_items {
            let r: [L; V] = std::array::from_fn(|v| L::load(resp.add(v * L::N)));
            for (f, acc) in acc.iter_mut().enumerate() {
                let x = L::splat(*features.get_unchecked(f).get_unchecked(n));
                for v in 0..V {
                    acc[v] = x.mul_add(r[v], acc[v]);
                }
            }
            resp = resp.add(padded);
        }
        for (f, acc) in acc.iter().enumerate() {
            for (v, a) in acc.iter().enumerate() {
                a.store(sums.add(f * padded + v * L::N));
            }
        }
    }
}

/// Partial sums of [`accumulate_scatter`]: the widest vector, so that every instruction set adds in the same order.
const PARTS: usize = 8;

dispatch! {
    /// Adds the weighted second moments of a tile, over all components at once: `sums[i (i + 1) / 2 + j] +=
    /// sum_n weights[n] * x_n[i] * x_n[j]`, in eight partial sums of every eighth item.
    ///
    /// Equivalent to `sums += tile * diag(weights) * tile'`.
    accumulate_scatter => accumulate_scatter_body(n_items: usize, n_dims: usize, tile: &[f64],
        weights: &[f64], sums: &mut [f64])
}

#[inline(always)]
fn accumulate_scatter_body<L: Lanes>(
    n_items: usize,
    n_dims: usize,
    tile: &[f64],
    weights: &[f64],
    sums: &mut [f64],
) {
    assert!(n_items <= TILE && weights.len() >= n_items && fits(n_dims, TILE, tile.len()));
    assert!(sums.len() >= Second::Triangle.count(n_dims) && PARTS.is_multiple_of(L::N));
    // Items behind the last weigh nothing.
    let mut weight = [0.0; TILE];
    weight[..n_items].copy_from_slice(&weights[..n_items]);
    let mut heavy = [0.0; TILE];
    let mut at = 0;
    for i in 0..n_dims {
        let x = &tile[i * TILE..(i + 1) * TILE];
        for ((h, w), x) in heavy.iter_mut().zip(&weight).zip(x) {
            *h = if *w == 0.0 { 0.0 } else { w * x };
        }
        for j in 0..=i {
            let mut parts = [L::splat(0.0); PARTS];
            for first in (0..TILE).step_by(PARTS) {
                for (v, part) in parts[..PARTS / L::N].iter_mut().enumerate() {
                    let n = first + v * L::N;
                    // SAFETY: `n + L::N <= TILE`, the length of `heavy`, and row j is in the tile, as asserted.
                    unsafe {
                        let y = L::load(tile.as_ptr().add(j * TILE + n));
                        *part = L::load(heavy.as_ptr().add(n)).mul_add(y, *part);
                    }
                }
            }
            let mut out = [0.0; PARTS];
            for (v, part) in parts[..PARTS / L::N].iter().enumerate() {
                // SAFETY: `PARTS / L::N` vectors fill `out`.
                unsafe { part.store(out.as_mut_ptr().add(v * L::N)) };
            }
            let [a, b, c, d, e, f, g, h] = out;
            sums[at] += ((a + b) + (c + d)) + ((e + f) + (g + h));
            at += 1;
        }
    }
}
