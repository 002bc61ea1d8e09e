//! One document's topics given the rows of its words: the hot loop of online LDA.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::active::{Alive, Columns, MOST, finish};
use super::few::{Few, WIDE};
use super::format::{Format, Pairs, Whole};
use super::full::{Words, coefs, first_pass, pass, set_starts};
use super::rows::{RowFormat, TopicRows};
use crate::aligned::Aligned;
use crate::digamma::{Side, four_reciprocals, shifted_exp_digamma32};
use crate::lanes32::{Lanes32, Narrow, Picks};
use crate::{Isa, dispatch, fits};

/// Thetas below this are 0, so that no product with a row's entry is denormal.
pub(super) const SMALLEST_THETA: f32 = 1e-16;

/// No z is below this: counts up to 1e6 over it, times any number of words, stay finite.
pub(super) const SMALLEST_Z: f32 = 1e-26;

/// A topic with a larger alpha is never dropped: at 0.05, exp(digamma(alpha)) is 1e-9, so that it has
/// no share to speak of; at 0.1 it is 3e-5, and a hundred such topics begin to count.
const LARGEST_ALPHA: f32 = 0.05;

/// Nor is one dropped that has more than this part of all words.
const SMALL_PART: f32 = 0.02;

/// Topics are dropped for the first time when all that would be have less than this part of all words.
const SMALL_REST: f32 = 0.2;

/// When and how [`solve_document`] stops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Solve {
    /// Converged when gamma changes by less than this, on average over the topics.
    pub tol: f32,
    /// The most iterations.
    pub max_iterations: u32,
    /// A topic with `gamma - alpha` below this is dropped, or below that part of the smallest count, if counts are
    /// below 1, or of 2 % of all words; 0 keeps all.
    pub active: f32,
    /// Iterations after which topics may be dropped.
    pub drop_after: u32,
    /// How far iterations over all topics go: 1 is plain, and from 2 on they need not converge.
    pub relax: f32,
    /// Extrapolate once gamma changes by less than this, on average over the topics; 0 is never.
    /// Above 0.02 documents converge faster, but to topics that train worse.
    pub extrapolate_below: f32,
}

impl Default for Solve {
    fn default() -> Self {
        Solve {
            tol: 1e-3,
            max_iterations: 100,
            active: 0.1,
            drop_after: 3,
            relax: 1.25,
            extrapolate_below: 0.02,
        }
    }
}

impl Solve {
    /// Shortcuts that the randomness of batches hides: a quarter of the iterations over all topics is saved. Topics
    /// trained from scratch were no worse (docs/reference/speed.md).
    pub fn of_batches() -> Self {
        Solve { active: 0.3, drop_after: 2, relax: 1.7, ..Solve::default() }
    }

    /// Plain iterations, no shortcuts.
    pub fn plain(tol: f32, max_iterations: u32) -> Self {
        Solve {
            tol,
            max_iterations,
            active: 0.0,
            relax: 1.0,
            extrapolate_below: 0.0,
            ..Solve::default()
        }
    }
}

/// How [`solve_document`] ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// The iterations it took.
    pub iterations: u32,
    /// What the logarithms of theta were lowered by: 0, or negative if no gamma reaches 1.
    pub ln_scale: f32,
}

/// Memory that [`solve_document`] works in; it grows with the longest document seen.
#[derive(Debug, Clone, Default)]
pub struct DocumentScratch {
    starts: Vec<usize>,
    counts: Aligned,
    room: Room,
    few: Few,
}

/// Room for iterations.
#[derive(Debug, Clone, Default)]
struct Room {
    coef: Aligned,
    columns: Aligned,
    partial: Aligned,
    sums: Aligned,
    picks: Picks,
    alive: Alive,
}

/// Finds gamma, the Dirichlet parameters of a document's topics.
///
/// `slots` are the rows of the document's words, `counts` (above 0) how often they occur. `alpha`,
/// `warm`, `gamma` and `theta` have the rows' stride, `coef` one number per word; alpha is 0 in the
/// padding. All begin with equal shares unless there is a `warm` gamma to begin with.
///
/// Equivalent to iterating, from `theta = 1` or `exp(digamma(warm))`,
/// ```text
/// coef[w]  = counts[w] / sum_k theta[k] * b[slots[w]][k]
/// gamma[k] = alpha[k] + theta[k] * sum_w coef[w] * b[slots[w]][k]
/// theta[k] = exp(digamma(gamma[k]))
/// ```
/// until gamma settles; then theta and coef are those of the final gamma. Theta lacks the factor
/// `exp(-digamma(sum_k gamma[k]))`, and if no gamma reaches 1 it is scaled up by `exp(-ln_scale)`; that
/// cancels in everything but the bound.
///
/// A topic whose alpha is at most 0.05 may be dropped on the way: it ends with `gamma = alpha` and
/// `theta = 0`. Other thetas below 1e-16 are 0, too. The bits depend on the instruction set, and on nothing else but the arguments.
#[allow(clippy::too_many_arguments)]
pub fn solve_document(
    isa: Isa,
    rows: &TopicRows,
    slots: &[u32],
    counts: &[f32],
    alpha: &[f32],
    settings: &Solve,
    warm: Option<&[f32]>,
    scratch: &mut DocumentScratch,
    gamma: &mut [f32],
    theta: &mut [f32],
    coef: &mut [f32],
) -> Solved {
    let (n_words, stride) = (slots.len(), rows.stride());
    assert!(counts.len() == n_words && coef.len() == n_words, "a count and a coef per word");
    assert!(alpha.len() == stride && gamma.len() == stride && theta.len() == stride, "padded");
    let last = slots.iter().fold(0, |last, &slot| last.max(slot));
    assert!(slots.is_empty() || (last as usize) < rows.n_rows(), "slots are rows");
    assert!(fits(rows.n_rows(), rows.row_words(), rows.values().len()), "whole rows");
    let width = n_words.next_multiple_of(16);
    scratch.counts.copy_from(counts);
    scratch.counts.resize(width);
    let room = &mut scratch.room;
    if room.coef.len() < width {
        room.coef.resize(width);
        room.columns.resize(width * MOST);
    }
    room.sums.resize(stride);
    room.partial.resize(MOST * 16);
    match warm {
        Some(warm) => gamma.copy_from_slice(warm),
        None => gamma.copy_from_slice(alpha),
    }
    let mut out = Solved { iterations: 0, ln_scale: 0.0 };
    let is_warm = warm.is_some();
    solve(isa, isa, rows, slots, alpha, settings, is_warm, scratch, gamma, theta, coef, &mut out);
    out
}

dispatch! {
    /// The body of [`solve_document`], which has checked all lengths and slots.
    solve => solve_body(as_isa: Isa, rows: &TopicRows, slots: &[u32], alpha: &[f32], settings: &Solve,
        is_warm: bool, scratch: &mut DocumentScratch, gamma: &mut [f32], theta: &mut [f32],
        coef: &mut [f32], out: &mut Solved)
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn solve_body<L: Narrow>(
    isa: Isa,
    rows: &TopicRows,
    slots: &[u32],
    alpha: &[f32],
    settings: &Solve,
    is_warm: bool,
    scratch: &mut DocumentScratch,
    gamma: &mut [f32],
    theta: &mut [f32],
    coef: &mut [f32],
    out: &mut Solved,
) {
    match rows.format() {
        RowFormat::Whole => solve_as::<L::Single, Whole>(
            isa, rows, slots, alpha, settings, is_warm, scratch, gamma, theta, coef, out,
        ),
        RowFormat::Pairs => solve_as::<L::Single, Pairs>(
            isa, rows, slots, alpha, settings, is_warm, scratch, gamma, theta, coef, out,
        ),
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn solve_as<L: Lanes32, F: Format>(
    isa: Isa,
    rows: &TopicRows,
    slots: &[u32],
    alpha: &[f32],
    settings: &Solve,
    is_warm: bool,
    scratch: &mut DocumentScratch,
    gamma: &mut [f32],
    theta: &mut [f32],
    coef: &mut [f32],
    out: &mut Solved,
) {
    if slots.is_empty() {
        gamma.copy_from_slice(alpha);
        out.ln_scale = -set_theta::<L>(gamma, theta);
        return;
    }
    let (n_topics, stride) = (rows.n_topics(), rows.stride());
    let (mass, least_count) = sum_and_least::<L>(&mut scratch.counts, slots.len());
    let counts = &scratch.counts[..];
    set_starts::<F>(stride, slots.iter().map(|&slot| slot as usize), &mut scratch.starts);
    let (values, starts, format) = (rows.values(), &scratch.starts[..], PhantomData::<F>);
    let n_words = slots.len();
    let words = Words { values, stride, n_topics, n_words, starts, counts, format };
    let room = &mut scratch.room;
    let mut course = Course {
        isa,
        settings,
        n_topics,
        few: n_topics <= MOST,
        mass,
        cut: settings.active * least_count.min(SMALL_PART * mass),
        is_warm,
        done: 0,
    };
    if !is_warm && settings.max_iterations > 0 {
        first_pass::<L, F>(words, slots, rows.inverse_sums(), &mut room.coef, &mut room.sums);
        for ((gamma, alpha), sum) in gamma.iter_mut().zip(alpha).zip(&room.sums[..]) {
            *gamma = alpha + sum;
        }
        course.done = 1;
    }
    let some = &mut scratch.few;
    let wide = n_topics > WIDE && settings.active > 0.0;
    loop {
        if wide && course.done > 0 && some.choose::<F>(alpha, gamma, course.cut, LARGEST_ALPHA) {
            some.copy::<F>(words, alpha, gamma);
            let Few { values, starts, alpha: few_alpha, gamma: few, theta: few_theta, .. } =
                &mut *some;
            let n_few = few.len();
            let words = Words { values, stride: n_few, n_topics: n_few, starts, ..words };
            course.few = false;
            while !course.go_on::<L, F>(words, few_alpha, few, few_theta, coef, room, out) {}
            gamma.copy_from_slice(alpha);
            theta.fill(0.0);
            some.copy_back(gamma, theta);
            break;
        }
        if course.go_on::<L, F>(words, alpha, gamma, theta, coef, room, out) {
            break;
        }
    }
    out.iterations = course.done;
}

/// The sum of `n` counts, and the least of them and 1; behind them there is padding.
#[inline(always)]
fn sum_and_least<L: Lanes32>(counts: &mut [f32], n: usize) -> (f32, f32) {
    assert!(counts.len().is_multiple_of(16));
    let (mut sum, mut least) = (L::splat(0.0), L::splat(1.0));
    for (padding, adds) in [(1.0, false), (0.0, true)] {
        counts[n..].fill(padding);
        for w in (0..counts.len()).step_by(L::N) {
            // SAFETY: whole vectors, as asserted; N divides 16.
            let count = unsafe { L::load(counts.as_ptr().add(w)) };
            match adds {
                true => sum = sum.add(count),
                false => least = count.min(least),
            }
        }
    }
    let mut lanes = [1.0; 16];
    // SAFETY: there is room for any vector.
    unsafe { least.store(lanes.as_mut_ptr()) };
    (sum.sum(), lanes.into_iter().fold(1.0, f32::min))
}

/// Where the iterations of a document stand.
struct Course<'a> {
    /// For kernels within this one.
    isa: Isa,
    settings: &'a Solve,
    /// All topics of the model.
    n_topics: usize,
    /// Whether all topics can go on as living ones.
    few: bool,
    /// All counts.
    mass: f32,
    /// What a living topic has above its alpha, at least.
    cut: f32,
    is_warm: bool,
    /// The iterations so far.
    done: u32,
}

impl Course<'_> {
    /// One iteration over all topics of `words`, or all that are left over those that live; whether gamma, theta and
    /// coef are then final.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn go_on<L: Lanes32, F: Format>(
        &mut self,
        words: Words<'_, F>,
        alpha: &[f32],
        gamma: &mut [f32],
        theta: &mut [f32],
        coef: &mut [f32],
        room: &mut Room,
        out: &mut Solved,
    ) -> bool {
        let Course { settings, n_topics, few, mass, is_warm, .. } = *self;
        let (width, n_words) = (words.counts.len(), words.n_words);
        let may_drop = settings.active > 0.0;
        let drops = may_drop && (self.done >= settings.drop_after || (is_warm && self.done > 0));
        let cut = drops.then_some(self.cut);
        let listed = words.stride.min(n_topics);
        if (few || drops) && select::<L>(gamma, alpha, listed, cut, mass, &mut room.alive) {
            let alive = &mut room.alive;
            let mut columns = Columns {
                values: &mut room.columns,
                width,
                counts: words.counts,
                coef: &mut room.coef[..width],
                partial: &mut room.partial,
                picks: &mut room.picks,
            };
            columns.gather::<L, F>(words, alive);
            finish(self.isa, &mut columns, alive, settings, n_topics, &mut self.done);
            coef.copy_from_slice(&room.coef[..n_words]);
            gamma.copy_from_slice(alpha);
            theta.fill(0.0);
            out.ln_scale = -alive.shift();
            for (topic, alive_gamma, alive_theta) in alive.iter() {
                gamma[topic] = alive_gamma;
                theta[topic] = alive_theta;
            }
            return true;
        }
        out.ln_scale = -set_theta::<L>(gamma, theta);
        if self.done >= settings.max_iterations {
            coefs::<L, F>(words, theta, coef);
            return true;
        }
        let sums = &mut room.sums[..words.stride];
        pass::<L, F>(words, theta, sums);
        self.done += 1;
        let change = relax::<L>(alpha, theta, sums, settings.relax, gamma);
        if change < settings.tol * n_topics as f32 {
            out.ln_scale = -set_theta::<L>(gamma, theta);
            coefs::<L, F>(words, theta, coef);
            return true;
        }
        false
    }
}

/// Lists the topics that are alive, which have at least `cut` above their alpha; `false` if they are too many or too
/// little is in them.
#[inline(always)]
fn select<L: Lanes32>(
    gamma: &[f32],
    alpha: &[f32],
    n_topics: usize,
    cut: Option<f32>,
    mass: f32,
    alive: &mut Alive,
) -> bool {
    assert!(gamma.len() == alpha.len() && gamma.len().is_multiple_of(16));
    assert!(n_topics <= gamma.len());
    // Room for one vector more than can go on: how many topics live is asked once a vector.
    let (mut list, mut n) = ([0; MOST + 16], 0);
    let mut total = L::splat(0.0);
    for first in (0..n_topics).step_by(L::N) {
        // SAFETY: both have whole vectors, as asserted; N divides 16.
        let (alphas, gammas) =
            unsafe { (L::load(alpha.as_ptr().add(first)), L::load(gamma.as_ptr().add(first))) };
        let above = gammas.sub(alphas);
        total = total.add(above);
        let mut living = u32::MAX >> (32 - L::N.min(n_topics - first));
        if let Some(cut) = cut {
            living &= above.at_least(L::splat(cut)) | !L::splat(LARGEST_ALPHA).at_least(alphas);
        }
        while living != 0 {
            list[n] = first as u32 + living.trailing_zeros();
            living &= living - 1;
            n += 1;
        }
        if n > MOST {
            return false;
        }
    }
    let above = |&k: &u32| gamma[k as usize] - alpha[k as usize];
    let rest = total.sum() - list[..n].iter().map(above).sum::<f32>();
    if n == 0 || (cut.is_some() && rest > SMALL_REST * mass) {
        return false;
    }
    alive.clear();
    for &k in &list[..n] {
        let alpha = alpha[k as usize];
        let death = match cut {
            Some(cut) if alpha <= LARGEST_ALPHA => alpha + cut,
            _ => 0.0,
        };
        alive.push(k as usize, alpha, death, gamma[k as usize]);
    }
    true
}

/// What to add to digamma(gamma) so that not all of exp(digamma(gamma)) vanish: 0 if some gamma is 1 or
/// more, as in all but the shortest documents.
#[inline(always)]
pub(super) fn theta_shift(gamma: &[f32]) -> f32 {
    // No maximum: this loop is a handful of vector comparisons, and what follows need not wait for it.
    let mut large = false;
    for &x in gamma {
        large |= x >= 1.0;
    }
    if large { 0.0 } else { shift_of_short(gamma) }
}

#[cold]
fn shift_of_short(gamma: &[f32]) -> f32 {
    let largest = gamma.iter().fold(1e-6, |a: f32, &b| a.max(b));
    four_reciprocals(f64::from(largest)) as f32
}

/// `theta = exp(digamma(gamma) + shift)`; returns the shift.
#[inline(always)]
fn set_theta<L: Lanes32>(gamma: &[f32], theta: &mut [f32]) -> f32 {
    let shift = theta_shift(gamma);
    assert!(gamma.len() == theta.len() && gamma.len().is_multiple_of(2 * 16));
    let shifts = Side([L::splat(shift); 2]);
    let least = L::splat(SMALLEST_THETA);
    for k in (0..gamma.len()).step_by(2 * L::N) {
        // SAFETY: both have whole pairs of vectors, as asserted: N divides 16.
        unsafe {
            let (from, to) = (gamma.as_ptr().add(k), theta.as_mut_ptr().add(k));
            let x = Side([L::load(from), L::load(from.add(L::N))]);
            let Side([x, y]) = shifted_exp_digamma32(x, shifts);
            x.zero_below(least).store(to);
            y.zero_below(least).store(to.add(L::N));
        }
    }
    shift
}

/// Moves gamma `omega` times the way to `alpha + theta * sums`, but not below alpha. Returns the sum of
/// the ways.
#[inline(always)]
fn relax<L: Lanes32>(
    alpha: &[f32],
    theta: &[f32],
    sums: &[f32],
    omega: f32,
    gamma: &mut [f32],
) -> f32 {
    assert!(alpha.len() == gamma.len() && theta.len() == gamma.len() && sums.len() == gamma.len());
    let omega = L::splat(omega);
    let mut change = L::splat(0.0);
    for k in (0..gamma.len()).step_by(L::N) {
        // SAFETY: all have the stride's length, a multiple of 16 and so of N.
        unsafe {
            let alpha = L::load(alpha.as_ptr().add(k));
            let to = gamma.as_mut_ptr().add(k);
            let old = L::load(to);
            let theta = L::load(theta.as_ptr().add(k));
            let way = theta.mul_add(L::load(sums.as_ptr().add(k)), alpha).sub(old);
            change = change.add(way.abs());
            way.mul_add(omega, old).max(alpha).store(to);
        }
    }
    change.sum()
}
