//! The local steps of a shard of documents, and a word's statistics from all documents that have it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::expect::Expect;
use super::lists::ThetaLists;
use super::{Lda, LearnAlpha, bound};
use crate::data::Docs;
use crate::math::kernels::{
    Aligned, DocumentScratch, Isa, RowFormat, Share, Solve, Thetas, WIDE, gather_word,
    gather_word_of_lists, pad_topics, solve_document, solve_document_exact,
};
use crate::math::plain;
use crate::math::special::digamma;
use crate::math::stop;
use crate::model::{Ask, Layout, Local, RowSet, Shard};

/// What a shard's local steps leave behind.
#[derive(Debug, Serialize, Deserialize)]
pub struct Documents {
    n_topics: usize,
    /// That of the machine that gathers, not of the one that has made this.
    #[serde(skip, default = "Isa::detect")]
    isa: Isa,
    /// exp(E[ln theta]) of every document, up to a factor, stored as the words' rows are.
    theta: Aligned,
    /// The same of models with very many topics, where `theta` stays empty.
    lists: ThetaLists,
    format: RowFormat,
    /// The same in the exact mode, where `theta` stays empty.
    #[serde(with = "plain")]
    theta64: Vec<f64>,
    /// w_n of every document.
    #[serde(with = "plain")]
    weights: Vec<f64>,
    /// The slots of all documents' words, document after document, rising within each.
    #[serde(with = "plain")]
    slots: Vec<u32>,
    /// Where the words of each document end, in `slots`.
    #[serde(with = "plain")]
    lasts: Vec<u32>,
    /// count / z of each.
    #[serde(with = "plain")]
    coefs: Vec<f32>,
    /// The same in the exact mode, where `coefs` stays empty.
    #[serde(with = "plain")]
    coefs64: Vec<f64>,
    /// The rows that are gathered together.
    part: usize,
    /// The words of all documents, part after part and in order within each. As long as all the rest, and soon found
    /// again: they are not sent.
    #[serde(skip)]
    placed: Vec<Placed>,
    /// Where each part starts there, and the end of the last.
    #[serde(skip)]
    begins: Vec<usize>,
    /// gamma of every document, K numbers each.
    #[serde(with = "plain")]
    gamma: Vec<f32>,
    /// E[ln theta] of every document, if alpha is learned.
    #[serde(with = "plain")]
    ln_theta: Vec<f64>,
    iterations: u64,
}

/// A word of a document.
#[derive(Debug, Clone, Copy, Default)]
struct Placed {
    slot: u32,
    /// Which document of the shard.
    doc: u32,
    /// Its place among the words of all documents.
    at: u32,
    /// count / z; 0 in the exact mode.
    coef: f32,
}

/// The buffers of one worker.
#[derive(Debug, Default)]
pub struct Scratch {
    slots: Vec<u32>,
    counts: Vec<f32>,
    /// The same, for the exact mode.
    counts64: Vec<f64>,
    coef: Vec<f32>,
    coef64: Vec<f64>,
    gamma: Aligned,
    pub(super) gamma64: Vec<f64>,
    theta: Aligned,
    theta64: Vec<f64>,
    warm32: Vec<f32>,
    warm64: Vec<f64>,
    next64: Vec<f64>,
    /// ln of the factor that theta lacks besides the usual one.
    theta_ln_scale: f64,
    kernel: DocumentScratch,
}

/// How hard local steps try, in training and when it matters.
const PRECISE_TOL: f64 = 1e-5;
const PRECISE_ITERATIONS: u32 = 500;

/// Topics with less than this many words are dropped in an evaluation; training may drop more.
const PRECISE_ACTIVE: f32 = 1e-3;

/// Kernels keep z above 1e-26; a word whose z is near that has no topic left.
const VANISHED: f32 = 1e-25;

/// The same of the exact mode, whose z stays above the least normal number.
const VANISHED_EXACT: f64 = 2.0 * f64::MIN_POSITIVE;

impl Lda {
    fn solve(&self, precise: bool) -> Solve {
        let base = Solve::default();
        if precise {
            let tol = PRECISE_TOL.min(self.params.local_tol) as f32;
            let max_iterations = PRECISE_ITERATIONS.max(self.params.local_iterations);
            return Solve { tol, max_iterations, active: PRECISE_ACTIVE, ..base };
        }
        let tol = self.params.local_tol as f32;
        Solve { tol, max_iterations: self.params.local_iterations, ..base }
    }

    /// Finds gamma of one document, whose slots and counts are in the scratch; leaves gamma, theta and
    /// coef behind. Returns the iterations.
    pub(super) fn solve_one(
        &self,
        expect: &Expect,
        precise: bool,
        warm: &[f32],
        scratch: &mut Scratch,
    ) -> u32 {
        let n_topics = self.params.topics;
        let stride = pad_topics(n_topics);
        let n_words = scratch.slots.len();
        // A state of zeros is none.
        let warm = if warm.iter().any(|&gamma| gamma != 0.0) { warm } else { &[] };
        let settings = self.solve(precise);
        let Scratch {
            slots,
            counts,
            counts64,
            coef,
            coef64,
            gamma,
            gamma64,
            theta,
            theta64,
            warm32,
            warm64,
            next64,
            theta_ln_scale,
            kernel,
        } = scratch;
        *theta_ln_scale = 0.0;
        gamma64.resize(n_topics, 0.0);
        if self.params.exact {
            counts64.clear();
            counts64.extend(counts.iter().map(|&count| f64::from(count)));
            coef64.resize(n_words, 0.0);
            theta64.resize(n_topics, 0.0);
            next64.resize(n_topics, 0.0);
            warm64.clear();
            warm64.extend(warm.iter().map(|&gamma| f64::from(gamma)));
            let tol = self.params.local_tol;
            let tol = if precise { PRECISE_TOL.min(tol) } else { tol };
            let mut solve = |warm: Option<&[f64]>, coef: &mut [f64]| {
                solve_document_exact(
                    &expect.exact,
                    slots,
                    counts64,
                    &expect.alpha,
                    tol,
                    settings.max_iterations,
                    warm,
                    next64,
                    gamma64,
                    theta64,
                    coef,
                )
            };
            let mut iterations = solve((!warm64.is_empty()).then_some(warm64.as_slice()), coef64);
            // As below: none of the topics that a document had before may have its words now.
            let lost = |(&count, &coef): (&f64, &f64)| coef * VANISHED_EXACT > count;
            if !warm64.is_empty() && counts64.iter().zip(&*coef64).any(lost) {
                iterations += solve(None, coef64);
            }
            return iterations;
        }
        coef.resize(n_words, 0.0);
        gamma.resize(stride);
        theta.resize(stride);
        warm32.clear();
        if !warm.is_empty() {
            warm32.extend_from_slice(warm);
            warm32.resize(stride, 0.0);
        }
        let mut solve = |settings: &Solve, warm: Option<&[f32]>, coef: &mut [f32]| {
            solve_document(
                self.isa,
                &expect.rows,
                slots,
                counts,
                &expect.alpha32,
                settings,
                warm,
                kernel,
                gamma,
                theta,
                coef,
            )
        };
        let warm = (!warm32.is_empty()).then_some(warm32.as_slice());
        let mut solved = solve(&settings, warm, coef);
        let mut iterations = solved.iterations;
        // A word all of whose topics have died in this document has no share in anything: it would
        // be lost. All topics start again, and none is dropped.
        let lost = |(&count, &coef): (&f32, &f32)| coef * VANISHED > count;
        // No early exit, so that the loop vectorises.
        if counts.iter().zip(&*coef).fold(false, |any, word| any | lost(word)) {
            solved = solve(&Solve { active: 0.0, ..settings }, None, coef);
            iterations += solved.iterations;
        }
        *theta_ln_scale = f64::from(solved.ln_scale);
        iterations
    }

    /// Gamma in double precision, after [`Lda::solve_one`].
    pub(super) fn gamma_of_one<'a>(&self, expect: &Expect, scratch: &'a mut Scratch) -> &'a [f64] {
        if !self.params.exact {
            for (k, gamma64) in scratch.gamma64.iter_mut().enumerate() {
                // What was dropped has exactly its prior, which f32 may not hold.
                let gamma = scratch.gamma[k];
                let dropped = gamma.to_bits() == expect.alpha32[k].to_bits();
                *gamma64 = if dropped { expect.alpha[k] } else { f64::from(gamma) };
            }
        }
        &scratch.gamma64
    }

    /// A document's part of the bound, after [`Lda::solve_one`].
    pub(super) fn bound_of_one(&self, expect: &Expect, scratch: &mut Scratch) -> f64 {
        let total = digamma(self.gamma_of_one(expect, scratch).iter().sum());
        let mut likelihood = 0.0;
        for (i, &slot) in scratch.slots.iter().enumerate() {
            let count = f64::from(scratch.counts[i]);
            let (z, ln_scale) = if self.params.exact {
                (count / scratch.coef64[i], expect.exact_ln_scale[slot as usize])
            } else {
                let ln_scale = f64::from(expect.rows.ln_scale()[slot as usize]);
                (count / f64::from(scratch.coef[i]), ln_scale)
            };
            likelihood += count * (z.ln() + ln_scale + scratch.theta_ln_scale - total);
        }
        likelihood + bound::of_theta(&expect.alpha, &scratch.gamma64)
    }
}

impl Scratch {
    /// Takes the words and counts of a document.
    pub(super) fn load(&mut self, words: impl Iterator<Item = (usize, f32)> + Clone) {
        self.slots.clear();
        self.counts.clear();
        // One after the other: an iterator that knows its length is copied in vectors.
        self.slots.extend(words.clone().map(|(slot, _)| slot as u32));
        self.counts.extend(words.map(|(_, count)| count));
    }
}

/// [`crate::model::Model::local_step`] of LDA.
pub(super) fn step(
    lda: &Lda,
    expect: &Expect,
    shard: Shard<'_, Docs>,
    ask: Ask,
    scratch: &mut Scratch,
    out: &mut Documents,
    bounds: &mut [f64],
) {
    let n_topics = lda.params.topics;
    out.part = shard.rows.part(n_topics);
    let n_parts = shard.rows.len().div_ceil(out.part);
    out.isa = lda.isa;
    out.format = expect.rows.format();
    out.weights.extend_from_slice(shard.weights);
    let learns = lda.params.learned_alpha() != LearnAlpha::No;
    for (d, &n) in shard.items.iter().enumerate() {
        stop::check();
        let doc = shard.data.doc(n as usize);
        scratch.load(doc.iter().map(|e| (shard.rows.slot(e.word as usize), e.count)));
        let warm = shard.warm.get(d * n_topics..(d + 1) * n_topics).unwrap_or(&[]);
        out.iterations += u64::from(lda.solve_one(expect, ask.precise, warm, scratch));
        if ask.bound {
            bounds[d] = lda.bound_of_one(expect, scratch);
        }
        if !shard.warm.is_empty() {
            let gamma = lda.gamma_of_one(expect, scratch);
            out.gamma.extend(gamma.iter().map(|&gamma| gamma as f32));
        }
        if !ask.stats {
            continue;
        }
        if learns {
            let gamma = lda.gamma_of_one(expect, scratch);
            let total = digamma(gamma.iter().sum());
            let priors = expect.alpha.iter().zip(&expect.digamma_alpha);
            out.ln_theta.extend(gamma.iter().zip(priors).map(|(&gamma, (&alpha, &of_alpha))| {
                // Most topics are not in the document.
                if gamma == alpha { of_alpha - total } else { digamma(gamma) - total }
            }));
        }
        out.slots.extend_from_slice(&scratch.slots);
        out.lasts.push(out.slots.len() as u32);
        if lda.params.exact {
            out.coefs64.extend_from_slice(&scratch.coef64);
            out.theta64.extend_from_slice(&scratch.theta64);
        } else {
            out.coefs.extend_from_slice(&scratch.coef);
            if n_topics > WIDE {
                out.lists.push(&scratch.theta);
            } else {
                let first = out.theta.len();
                out.theta.resize(first + out.format.words(n_topics));
                out.format.store(lda.isa, &scratch.theta, &mut out.theta[first..]);
            }
        }
    }
    out.place(n_parts);
}

impl Documents {
    /// Puts the words of each part together.
    fn place(&mut self, n_parts: usize) {
        let Documents { slots, lasts, coefs, placed, begins, .. } = self;
        let shift = self.part.trailing_zeros();
        // One more than parts: the places that are counted up below start one place later than they end.
        begins.clear();
        begins.resize(n_parts + 2, 0);
        for &slot in &*slots {
            begins[(slot >> shift) as usize + 2] += 1;
        }
        for i in 2..begins.len() {
            begins[i] += begins[i - 1];
        }
        placed.clear();
        placed.resize(slots.len(), Placed::default());
        let mut first = 0;
        for (doc, &last) in lasts.iter().enumerate() {
            let words = first..last as usize;
            first = words.end;
            for at in words {
                let (slot, coef) = (slots[at], coefs.get(at).copied().unwrap_or(0.0));
                let place = &mut begins[(slot >> shift) as usize + 1];
                placed[*place] = Placed { slot, doc: doc as u32, at: at as u32, coef };
                *place += 1;
            }
        }
        begins.pop();
    }

    /// The words of part number `part`, document after document.
    fn words_of(&self, part: usize) -> &[Placed] {
        match self.begins.get(part..part + 2) {
            Some(&[begin, end]) => &self.placed[begin..end],
            // No document was looked at for its statistics.
            _ => &[],
        }
    }
}

impl Local<Expect> for Documents {
    fn new(layout: &Layout) -> Self {
        Documents {
            n_topics: layout.width,
            isa: Isa::Portable,
            theta: Aligned::default(),
            lists: ThetaLists::default(),
            format: RowFormat::default(),
            theta64: Vec::new(),
            weights: Vec::new(),
            slots: Vec::new(),
            lasts: Vec::new(),
            coefs: Vec::new(),
            coefs64: Vec::new(),
            part: 1,
            placed: Vec::new(),
            begins: Vec::new(),
            gamma: Vec::new(),
            ln_theta: Vec::new(),
            iterations: 0,
        }
    }

    fn clear(&mut self) {
        self.theta.clear();
        self.lists.clear();
        self.theta64.clear();
        self.weights.clear();
        self.gamma.clear();
        self.ln_theta.clear();
        self.slots.clear();
        self.lasts.clear();
        self.coefs.clear();
        self.coefs64.clear();
        self.placed.clear();
        self.begins.clear();
        self.iterations = 0;
    }

    fn gather(
        shards: &[Self],
        expect: &Expect,
        rows: &RowSet,
        slots: Range<usize>,
        ask: Ask,
        first: bool,
        out: &mut [f64],
    ) {
        let Some(&Documents { n_topics, isa, part, .. }) = shards.first() else { return };
        let at = slots.start / part;
        let slot_of = |slot: u32| slot as usize - slots.start;
        // Where the documents of each word start, in order of words and for each word in order of documents.
        let mut starts = vec![0usize; slots.len() + 1];
        for shard in shards {
            shard.words_of(at).iter().for_each(|word| starts[slot_of(word.slot) + 1] += 1);
        }
        for i in 0..slots.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let shrinks: Vec<f64> = slots.clone().map(|slot| shrink(rows, slot, ask.shrink)).collect();
        let is_exact = !expect.exact.is_empty();
        let mut found = vec![Share::default(); starts[slots.len()]];
        let mut exact = vec![0.0; if is_exact { found.len() } else { 0 }];
        let mut before = 0;
        for shard in shards {
            let is_plain = !is_exact && shard.weights.iter().all(|&weight| weight == 1.0);
            for &Placed { slot, doc, at, coef } in shard.words_of(at) {
                let slot = slot_of(slot);
                let place = next[slot];
                next[slot] += 1;
                found[place] = Share { doc: before + doc, coef };
                if is_plain {
                    continue;
                }
                let weight = 1.0 + shrinks[slot] * (shard.weights[doc as usize] - 1.0);
                if is_exact {
                    exact[place] = weight * shard.coefs64[at as usize];
                } else {
                    found[place].coef = (weight * f64::from(coef)) as f32;
                }
            }
            before += shard.weights.len() as u32;
        }
        if !is_exact && n_topics > WIDE {
            let thetas: Vec<_> = shards.iter().flat_map(|shard| shard.lists.iter()).collect();
            for (i, out) in out.chunks_exact_mut(n_topics).enumerate() {
                stop::check();
                let (format, row) = (expect.rows.format(), expect.rows.row(slots.start + i));
                let docs = &found[starts[i]..starts[i + 1]];
                gather_word_of_lists(docs, &thetas, format, row, first, out);
            }
            return;
        }
        if !is_exact {
            let format = expect.rows.format();
            let width = format.words(n_topics);
            let thetas = shards.iter().flat_map(|shard| shard.theta.chunks_exact(width));
            let thetas = Thetas::new(format, n_topics, thetas);
            for (i, out) in out.chunks_exact_mut(n_topics).enumerate() {
                stop::check();
                let row = expect.rows.row(slots.start + i);
                gather_word(isa, &found[starts[i]..starts[i + 1]], &thetas, row, first, out);
            }
            return;
        }
        let thetas: Vec<&[f64]> =
            shards.iter().flat_map(|shard| shard.theta64.chunks_exact(n_topics)).collect();
        if first {
            out.fill(0.0);
        }
        for (i, out) in out.chunks_exact_mut(n_topics).enumerate() {
            let row = &expect.exact[(slots.start + i) * n_topics..][..n_topics];
            for e in starts[i]..starts[i + 1] {
                let theta = thetas[found[e].doc as usize];
                for ((out, b), theta) in out.iter_mut().zip(row).zip(theta) {
                    *out += b * exact[e] * theta;
                }
            }
        }
    }

    fn arrive(&mut self, rows: &RowSet) {
        self.place(rows.len().div_ceil(self.part));
    }

    fn add_hyper(&self, sums: &mut [f64]) {
        let mut own = vec![0.0; sums.len()];
        for ln_theta in self.ln_theta.chunks_exact(self.n_topics) {
            own.iter_mut().zip(ln_theta).for_each(|(sum, x)| *sum += x);
        }
        sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
    }

    fn warm(&self) -> &[f32] {
        &self.gamma
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }
}

/// How much of the noise the guard `shrink` leaves to a word: min(1, sqrt(n / 4v)).
fn shrink(rows: &RowSet, slot: usize, variance: f64) -> f64 {
    match rows.count(slot) {
        Some(count) if variance > 0.0 => (f64::from(count) / (4.0 * variance)).sqrt().min(1.0),
        _ => 1.0,
    }
}
