//! Iterations over the few topics that are alive in a document: topic-major, words in lanes.

use super::format::Format;
use super::full::Words;
use super::solve::{SMALLEST_THETA, SMALLEST_Z, Solve, theta_shift};
use crate::digamma::shifted_exp_digamma32;
use crate::dispatch;
use crate::lanes32::{BLOCK, Lanes32, MOST_PICKED, Narrow, Picks};

/// The most topics that go on together.
pub(super) const MOST: usize = MOST_PICKED;

/// The longest extrapolation, in steps.
const LONGEST: f32 = 16.0;

/// The topics that are alive, each with its place in the buffer. Behind the last, alpha, gamma and
/// theta are 0, and stay so.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Alive {
    alpha: [f32; MOST],
    /// Below this gamma a topic is dead; 0 if it may not die.
    death: [f32; MOST],
    gamma: [f32; MOST],
    /// `exp(digamma(gamma) + shift)`.
    theta: [f32; MOST],
    /// `sum_w counts[w] / z[w] * b[w][k]`.
    sums: [f32; MOST],
    /// Which topic.
    topic: [u32; MOST],
    /// Where its words stand in the buffer; always valid, also behind the last.
    place: [u32; MOST],
    n: usize,
    shift: f32,
}

impl Default for Alive {
    fn default() -> Self {
        let zeros = [0.0; MOST];
        Alive {
            n: 0,
            topic: [0; MOST],
            place: [0; MOST],
            alpha: zeros,
            death: zeros,
            gamma: zeros,
            theta: zeros,
            shift: 0.0,
            sums: zeros,
        }
    }
}

impl Alive {
    /// Nobody.
    pub fn clear(&mut self) {
        *self = Alive::default();
    }

    /// One more topic; there must be fewer than [`MOST`].
    pub fn push(&mut self, topic: usize, alpha: f32, death: f32, gamma: f32) {
        let j = self.n;
        self.topic[j] = topic as u32;
        self.place[j] = j as u32;
        self.alpha[j] = alpha;
        self.death[j] = death;
        self.gamma[j] = gamma;
        self.n += 1;
    }

    /// What was added to the logarithms of theta.
    pub fn shift(&self) -> f32 {
        self.shift
    }

    /// Topic, gamma and theta of each.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32, f32)> {
        (0..self.n).map(|j| (self.topic[j] as usize, self.gamma[j], self.theta[j]))
    }

    /// Takes the dead out, except the last.
    #[inline(always)]
    fn bury(&mut self) {
        // Few iterations have any; this loop is a handful of vector comparisons.
        let mut dead = false;
        for j in 0..MOST {
            dead |= self.gamma[j] < self.death[j];
        }
        if dead {
            self.compact();
        }
    }

    /// Moves everybody who is not dead to the front.
    #[inline(always)]
    fn compact(&mut self) {
        let n = self.n;
        let mut kept = 0;
        for j in 0..n {
            // Moved in any case, and forgotten if dead: which ones die cannot be guessed.
            self.topic[kept] = self.topic[j];
            self.place[kept] = self.place[j];
            self.alpha[kept] = self.alpha[j];
            let (death, gamma) = (self.death[j], self.gamma[j]);
            self.death[kept] = death;
            self.gamma[kept] = gamma;
            let (dies, is_last) = (gamma < death, kept == 0 && j + 1 == n);
            kept += usize::from(!dies | is_last);
        }
        for j in kept..n {
            self.alpha[j] = 0.0;
            self.death[j] = 0.0;
            self.gamma[j] = 0.0;
            self.place[j] = self.place[0];
        }
        self.n = kept;
    }

    /// `theta = exp(digamma(gamma) + shift)`.
    #[inline(always)]
    fn set_theta<L: Lanes32>(&mut self) {
        self.shift = theta_shift(&self.gamma);
        let shift = L::splat(self.shift);
        for j in (0..self.n).step_by(L::N) {
            // SAFETY: `j + N <= MOST`, as N divides 16.
            unsafe {
                let theta = shifted_exp_digamma32(L::load(self.gamma.as_ptr().add(j)), shift);
                theta.zero_below(L::splat(SMALLEST_THETA)).store(self.theta.as_mut_ptr().add(j));
            }
        }
    }

    /// `gamma = alpha + theta * sums`; the sum of what it changed by.
    #[inline(always)]
    fn set_gamma<L: Lanes32>(&mut self) -> f32 {
        let mut change = L::splat(0.0);
        for j in (0..self.n).step_by(L::N) {
            // SAFETY: `j + N <= MOST`, as N divides 16.
            unsafe {
                let sums = L::load(self.sums.as_ptr().add(j));
                let theta = L::load(self.theta.as_ptr().add(j));
                let gamma = theta.mul_add(sums, L::load(self.alpha.as_ptr().add(j)));
                let to = self.gamma.as_mut_ptr().add(j);
                change = change.add(gamma.sub(L::load(to)).abs());
                gamma.store(to);
            }
        }
        change.sum()
    }
}

/// The rows of the living topics, words side by side.
pub(super) struct Columns<'a> {
    /// One row of words per place, padded with zeros to `width`.
    pub values: &'a mut [f32],
    /// A multiple of 16.
    pub width: usize,
    /// The words' counts, padded likewise.
    pub counts: &'a [f32],
    /// Room for `counts / z`.
    pub coef: &'a mut [f32],
    /// Room for a vector per topic, [`MOST`] times 16 numbers.
    pub partial: &'a mut [f32],
    /// Which topics are copied.
    pub picks: &'a mut Picks,
}

impl Columns<'_> {
    /// Copies the living topics out of the document's rows.
    #[inline(always)]
    pub fn gather<L: Lanes32, F: Format>(&mut self, words: Words<'_, F>, alive: &Alive) {
        let n_words = words.n_words;
        let topics = &alive.topic[..alive.n];
        assert!(n_words <= self.width && self.values.len() >= alive.n * self.width);
        assert!(topics.iter().all(|&topic| (topic as usize) < words.stride));
        if F::WORDS == 16 {
            self.picks.set(topics, words.stride);
            for first in (0..n_words).step_by(16) {
                let to = self.values[first..].as_mut_ptr();
                // SAFETY: topics are below the stride, and all places below the length, as asserted: the width is a
                // multiple of 16.
                unsafe { L::pick(words.block(first), self.picks, to, self.width) };
            }
        } else {
            for first in 0..n_words {
                let [row] = words.block(first);
                for (j, &topic) in topics.iter().enumerate() {
                    // SAFETY: topics are below the stride, and `j * width + w` below the length.
                    unsafe {
                        *self.values.get_unchecked_mut(j * self.width + first) =
                            F::one(row, topic as usize);
                    }
                }
            }
        }
        // Behind the last word anything will do: there, counts are 0, and all numbers here are finite.
    }

    /// `coef[w] = counts[w] / sum_j theta[j] * b[j][w]`; with `SUMS` also what [`Columns::chunk`] adds up.
    #[inline(always)]
    fn set_coef<L: Lanes32, const SUMS: bool>(&mut self, alive: &Alive) {
        /// The number of vectors as a constant.
        macro_rules! chunk {
            ($vectors:expr, $w:expr, $($n:literal)*) => {
                match $vectors {
                    // SAFETY: the width is a multiple of 16 and so of N.
                    $($n if $n <= L::VECTORS => unsafe { self.chunk::<L, $n, SUMS>(alive, $w) },)*
                    n => unreachable!("{n} vectors"),
                }
            };
        }
        let mut w = 0;
        while w < self.width {
            let vectors = ((self.width - w) / L::N).min(L::VECTORS);
            chunk!(vectors, w, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
            w += vectors * L::N;
        }
    }

    /// The same, and `sums[j] = sum_w coef[w] * b[j][w]`.
    #[inline(always)]
    fn set_sums<L: Lanes32>(&mut self, alive: &mut Alive) {
        self.set_coef::<L, true>(alive);
        for j in (0..alive.n).step_by(BLOCK) {
            let mut sums = [L::splat(0.0); BLOCK];
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `j + i < MOST`, for each of which there are 16 numbers.
                *sum = unsafe { L::load(self.partial.as_ptr().add((j + i) * 16)) };
            }
            alive.sums[j..j + BLOCK].copy_from_slice(&L::sums(sums));
        }
    }

    /// `coef[w]` of `C` vectors of words from `w` on, all of which stay in registers; with `SUMS`, they are then
    /// multiplied with each topic's words and added to the topic's vector in `partial`, which begins at 0.
    ///
    /// # Safety
    /// `C` vectors from word `w` on must be inside the width. `Columns` must be as long as `solve_document` makes
    /// them: `width` counts, coefs and values per place.
    #[inline(always)]
    unsafe fn chunk<L: Lanes32, const C: usize, const SUMS: bool>(
        &mut self,
        alive: &Alive,
        w: usize,
    ) {
        let (values, partial) = (self.values.as_ptr().wrapping_add(w), self.partial.as_mut_ptr());
        let row = |j: usize| values.wrapping_add(alive.place[j] as usize * self.width);
        let mut z = [L::splat(SMALLEST_Z); C];
        for j in 0..alive.n {
            let (theta, row) = (L::splat(alive.theta[j]), row(j));
            for (v, z) in z.iter_mut().enumerate() {
                // SAFETY: the caller vouches for the words; places are below the number of rows.
                *z = unsafe { L::load(row.add(v * L::N)) }.mul_add(theta, *z);
            }
        }
        for (v, z) in z.iter_mut().enumerate() {
            // SAFETY: as above.
            unsafe {
                let counts = L::load(self.counts.as_ptr().add(w + v * L::N));
                *z = counts.mul(z.reciprocal());
                z.store(self.coef.as_mut_ptr().add(w + v * L::N));
            }
        }
        if !SUMS {
            return;
        }
        // Sums of four topics side by side, then one by one.
        let mut j = 0;
        while j < alive.n {
            // SAFETY: as above, and there are 16 numbers in `partial` for each of `MOST` topics.
            unsafe {
                if j + 4 <= alive.n {
                    let rows = [row(j), row(j + 1), row(j + 2), row(j + 3)];
                    add_chunk::<L, C, 4>(&rows, &z, partial.add(j * 16), w == 0);
                    j += 4;
                } else {
                    add_chunk::<L, C, 1>(&[row(j)], &z, partial.add(j * 16), w == 0);
                    j += 1;
                }
            }
        }
    }

    /// One plain iteration; the sum of what it changed gamma by. `alive.theta` must be up to date,
    /// and is afterwards not.
    #[inline(always)]
    fn iterate<L: Lanes32>(&mut self, alive: &mut Alive) -> f32 {
        self.set_sums::<L>(alive);
        alive.set_gamma::<L>()
    }
}

/// `partial[i] (+)= sum_v z[v] * rows[i][v]`, lane by lane.
///
/// # Safety
/// Rows must be `C` vectors long, and `partial` must have 16 numbers for each.
#[inline(always)]
unsafe fn add_chunk<L: Lanes32, const C: usize, const R: usize>(
    rows: &[*const f32; R],
    z: &[L; C],
    partial: *mut f32,
    is_first: bool,
) {
    let mut sums = [L::splat(0.0); R];
    for (v, &z) in z.iter().enumerate() {
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: the caller vouches for the rows.
            *sum = unsafe { L::load(row.add(v * L::N)) }.mul_add(z, *sum);
        }
    }
    for (i, sum) in sums.into_iter().enumerate() {
        // SAFETY: the caller vouches for the place.
        unsafe {
            let to = partial.add(i * 16);
            if is_first { sum.store(to) } else { sum.add(L::load(to)).store(to) }
        }
    }
}

dispatch! {
    /// Iterates until the change of gamma, summed over topics, is below `tol`, and leaves gamma, theta and
    /// coef as they belong together. `done` iterations came before; it then counts all.
    ///
    /// A kernel of its own: whatever a document's rows look like, this is the same.
    finish => finish_body(columns: &mut Columns<'_>, alive: &mut Alive, settings: &Solve,
        n_topics: usize, done: &mut u32)
}

#[inline(always)]
fn finish_body<L: Narrow>(
    columns: &mut Columns<'_>,
    alive: &mut Alive,
    settings: &Solve,
    n_topics: usize,
    done: &mut u32,
) {
    *done = finish_as::<L::Single>(columns, alive, settings, n_topics, *done);
}

#[inline(always)]
fn finish_as<L: Lanes32>(
    columns: &mut Columns<'_>,
    alive: &mut Alive,
    settings: &Solve,
    n_topics: usize,
    mut done: u32,
) -> u32 {
    let tol = settings.tol * n_topics as f32;
    let extrapolate_below = settings.extrapolate_below * n_topics as f32;
    alive.set_theta::<L>();
    while done < settings.max_iterations {
        let start = alive.gamma;
        let change = columns.iterate::<L>(alive);
        done += 1;
        let settled = change < tol;
        let near = change < extrapolate_below && done < settings.max_iterations;
        if settled || !near {
            if done > 2 {
                alive.bury();
            }
            alive.set_theta::<L>();
            if settled {
                break;
            }
            continue;
        }
        let middle = alive.gamma;
        alive.set_theta::<L>();
        let change = columns.iterate::<L>(alive);
        done += 1;
        if change >= tol {
            extrapolate::<L>(&start, &middle, alive);
        }
        alive.bury();
        alive.set_theta::<L>();
        if change < tol {
            break;
        }
    }
    columns.set_coef::<L, false>(alive);
    done
}

/// SQUAREM: from three points of the iteration to where they lead.
#[inline(always)]
fn extrapolate<L: Lanes32>(start: &[f32; MOST], middle: &[f32; MOST], alive: &mut Alive) {
    let (mut steps, mut bends) = (L::splat(0.0), L::splat(0.0));
    for j in (0..alive.n).step_by(L::N) {
        // SAFETY: `j + N <= MOST`, as N divides 16.
        unsafe {
            let middle = L::load(middle.as_ptr().add(j));
            let step = middle.sub(L::load(start.as_ptr().add(j)));
            let bend = L::load(alive.gamma.as_ptr().add(j)).sub(middle).sub(step);
            steps = step.mul_add(step, steps);
            bends = bend.mul_add(bend, bends);
        }
    }
    let length = (steps.sum() / bends.sum().max(1e-30)).sqrt().clamp(1.0, LONGEST);
    let (length, half) = (L::splat(length), L::splat(0.5));
    for j in (0..alive.n).step_by(L::N) {
        // SAFETY: as above.
        unsafe {
            let (start, middle) = (L::load(start.as_ptr().add(j)), L::load(middle.as_ptr().add(j)));
            let last = L::load(alive.gamma.as_ptr().add(j));
            let step = middle.sub(start);
            let bend = last.sub(middle).sub(step);
            let gamma = bend.mul_add(length, step.add(step)).mul_add(length, start);
            // Never past half of the way to alpha: an extrapolation must not kill.
            let least = last.add(L::load(alive.alpha.as_ptr().add(j))).mul(half);
            gamma.max(least).store(alive.gamma.as_mut_ptr().add(j));
        }
    }
}
