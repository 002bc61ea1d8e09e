//! A word's statistics, gathered from the documents of a batch that contain it.

use super::format::{Format, Pairs, TOGETHER, Whole};
use super::pad_topics;
use super::rows::RowFormat;
use crate::dispatch;
use crate::lanes32::{Lanes32, Narrow};

/// Documents that are added in f32 before the sums go over to f64.
const FLUSH: usize = 64;

/// Pairs of vectors of topics whose sums stay in registers.
const WIDEST: usize = 5;

/// The thetas of the documents of a batch, stored as the rows of words are.
#[derive(Debug)]
pub struct Thetas<'a> {
    format: RowFormat,
    n_topics: usize,
    rows: Vec<&'a [f32]>,
}

impl<'a> Thetas<'a> {
    /// The documents' rows.
    pub fn new(
        format: RowFormat,
        n_topics: usize,
        rows: impl IntoIterator<Item = &'a [f32]>,
    ) -> Self {
        let rows: Vec<&[f32]> = rows.into_iter().collect();
        let words = format.words(n_topics);
        assert!(rows.iter().all(|row| row.len() == words), "a padded theta per document");
        Thetas { format, n_topics, rows }
    }
}

/// The topics of a document that have a theta, where these are few of very many.
#[derive(Debug, Clone, Copy)]
pub struct ThetaList<'a> {
    /// Which topics.
    pub topics: &'a [u32],
    /// The theta of each.
    pub values: &'a [f32],
}

/// As [`gather_word`], from lists. `out` is added to in f64.
pub fn gather_word_of_lists(
    docs: &[Share],
    thetas: &[ThetaList<'_>],
    format: RowFormat,
    row: &[f32],
    sets: bool,
    out: &mut [f64],
) {
    assert!(row.len() == format.words(out.len()), "a padded row");
    if sets {
        out.fill(0.0);
    }
    match format {
        RowFormat::Whole => add_lists::<Whole>(docs, thetas, row, out),
        RowFormat::Pairs => add_lists::<Pairs>(docs, thetas, row, out),
    }
}

fn add_lists<F: Format>(docs: &[Share], thetas: &[ThetaList<'_>], row: &[f32], out: &mut [f64]) {
    for &Share { doc, coef } in docs {
        let ThetaList { topics, values } = thetas[doc as usize];
        for (&topic, &theta) in topics.iter().zip(values) {
            let out = &mut out[topic as usize];
            // SAFETY: the topic is inside of `out`, and so of the row.
            let b = unsafe { F::one(row.as_ptr(), topic as usize) };
            *out += f64::from(coef * theta * b);
        }
    }
}

/// A document that has a word.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Share {
    /// Which document.
    pub doc: u32,
    /// The word's count there over its z, times the document's weight.
    pub coef: f32,
}

dispatch! {
    /// `out[k] += row[k] * sum_i coef_i * theta_i[k]` over the documents that have a word; with `sets`, `out` is 0
    /// before. At most 64 documents are added in f32, so the relative error is below 64 * 2^-24 = 4e-6 if coefficients
    /// are positive (else relative to the sum of the absolute terms).
    ///
    /// Equivalent to `for Share { doc, coef } in docs { out[k] += row[k] * coef * theta[doc][k] }`.
    gather_word => gather_word_body(docs: &[Share], thetas: &Thetas<'_>, row: &[f32], sets: bool,
        out: &mut [f64])
}

#[inline(always)]
fn gather_word_body<L: Narrow>(
    docs: &[Share],
    thetas: &Thetas<'_>,
    row: &[f32],
    sets: bool,
    out: &mut [f64],
) {
    assert!(out.len() == thetas.n_topics, "a number per topic");
    assert!(row.len() == thetas.format.words(out.len()), "a padded row");
    let last = docs.iter().fold(0, |last, share| last.max(share.doc)) as usize;
    assert!(docs.is_empty() || last < thetas.rows.len(), "a theta per document");
    if sets && docs.is_empty() {
        out.fill(0.0);
    }
    match thetas.format {
        RowFormat::Whole => gather_as::<L::Single, Whole>(docs, &thetas.rows, row, sets, out),
        RowFormat::Pairs => gather_as::<L::Single, Pairs>(docs, &thetas.rows, row, sets, out),
    }
}

#[inline(always)]
fn gather_as<L: Lanes32, F: Format>(
    docs: &[Share],
    thetas: &[&[f32]],
    row: &[f32],
    sets: bool,
    out: &mut [f64],
) {
    let per_group = 16 / L::N;
    let n_units = pad_topics(out.len()) / TOGETHER * per_group;
    for (flush, docs) in docs.chunks(FLUSH).enumerate() {
        let sets = sets && flush == 0;
        let mut unit = 0;
        while unit < n_units {
            let left = (n_units - unit).min(WIDEST);
            // SAFETY: documents are inside the table, and units inside the rows, as asserted above.
            unsafe {
                match left {
                    5 => add_units::<L, F, 5>(docs, thetas, row, unit, sets, out),
                    4 => add_units::<L, F, 4>(docs, thetas, row, unit, sets, out),
                    3 => add_units::<L, F, 3>(docs, thetas, row, unit, sets, out),
                    2 => add_units::<L, F, 2>(docs, thetas, row, unit, sets, out),
                    _ => add_units::<L, F, 1>(docs, thetas, row, unit, sets, out),
                }
            }
            unit += left;
        }
    }
}

/// Adds `U` pairs of vectors from number `unit` on.
///
/// # Safety
/// Documents must be inside the table, and the units inside the rows.
#[inline(always)]
unsafe fn add_units<L: Lanes32, F: Format, const U: usize>(
    docs: &[Share],
    thetas: &[&[f32]],
    row: &[f32],
    unit: usize,
    sets: bool,
    out: &mut [f64],
) {
    let per_group = 16 / L::N;
    let place = |u: usize| ((unit + u) / per_group, (unit + u) % per_group * L::N);
    let mut totals = [[L::splat(0.0); 2]; U];
    for &Share { doc, coef } in docs {
        let coef = L::splat(coef);
        // SAFETY: the caller vouches for the document.
        let theta = unsafe { thetas.get_unchecked(doc as usize).as_ptr() };
        for (u, total) in totals.iter_mut().enumerate() {
            let (group, h) = place(u);
            // SAFETY: the caller vouches for the unit.
            let (x, y) = unsafe { F::load::<L>(theta, group, h) };
            *total = [x.mul_add(coef, total[0]), y.mul_add(coef, total[1])];
        }
    }
    // One after the other and not in a loop, which would send the sums through memory.
    macro_rules! add_up {
        ($($u:literal)*) => {$(
            if let Some(&[upper, lower]) = totals.get($u) {
                let (group, h) = place($u);
                // SAFETY: as above.
                let (x, y) = unsafe { F::load::<L>(row.as_ptr(), group, h) };
                let at = group * TOGETHER + h;
                add_to(upper.mul(x), at, sets, out);
                add_to(lower.mul(y), at + 16, sets, out);
            }
        )*};
    }
    add_up!(0 1 2 3 4);
}

/// `out[at ..] += sums`, as far as `out` goes; `sets` replaces it.
#[inline(always)]
fn add_to<L: Lanes32>(sums: L, at: usize, sets: bool, out: &mut [f64]) {
    if at + L::N <= out.len() {
        let to = out[at..].as_mut_ptr();
        // SAFETY: a whole vector fits.
        unsafe { if sets { sums.store_wide(to) } else { sums.add_to_wide(to) } }
    } else if at < out.len() {
        let mut buffer = [0.0; 16];
        // SAFETY: the buffer has 16 >= N numbers.
        unsafe { sums.store_wide(buffer.as_mut_ptr()) };
        for (out, x) in out[at..].iter_mut().zip(buffer) {
            *out = if sets { x } else { *out + x };
        }
    }
}
