//! The local steps of a shard of documents, and a word's statistics from all documents that have it.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::expect::Expect;
use super::lists::ThetaLists;
use super::{Lda, LearnAlpha, bound};
use crate::data::Docs;
use crate::math::kernels::{
    Aligned, DocumentScratch, Isa, RowFormat, Share, Solve, Thetas, WIDE, gather_word,
    gather_word_of_lists, pad_topics, prefetch, solve_document, solve_document_exact,
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
    /// The words of all documents, part after part of the rows, and document after document within each.
    #[serde(with = "plain")]
    words: Vec<Placed>,
    /// count / z of each in the exact mode.
    #[serde(with = "plain")]
    coefs64: Vec<f64>,
    /// Where the words of each part start, and the end of the last.
    #[serde(with = "plain")]
    begins: Vec<u32>,
    /// The rows that are gathered together.
    part: usize,
    /// As many as number the documents.
    doc_bits: u32,
    /// gamma of every document, K numbers each.
    #[serde(with = "plain")]
    gamma: Vec<f32>,
    /// E[ln theta] of every document, if alpha is learned.
    #[serde(with = "plain")]
    ln_theta: Vec<f64>,
    iterations: u64,
}

/// A word of a document.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
struct Placed {
    /// Its place in the part, and in the lowest [`Documents::doc_bits`] which document of the shard.
    row: u32,
    /// count / z; 0 in the exact mode.
    coef: f32,
}

impl Placed {
    /// The place in the part, and the document.
    #[inline]
    fn parts(self, doc_bits: u32) -> (usize, u32) {
        ((self.row >> doc_bits) as usize, self.row & ((1 << doc_bits) - 1))
    }
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
    shard: ShardWords,
}

/// The words of a shard's documents, document after document.
#[derive(Debug, Default)]
struct ShardWords {
    slots: Vec<u32>,
    /// count / z of each.
    coefs: Vec<f32>,
    /// The same in the exact mode, where `coefs` stays empty.
    coefs64: Vec<f64>,
    /// Where the words of each document end.
    lasts: Vec<u32>,
}

impl ShardWords {
    fn clear(&mut self) {
        self.slots.clear();
        self.coefs.clear();
        self.coefs64.clear();
        self.lasts.clear();
    }
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
    /// How local steps are solved, for rows of this format: in batches, where rows have 16 bits, faster.
    fn solve(&self, precise: bool, format: RowFormat) -> Solve {
        let base = match format {
            RowFormat::Pairs => Solve::of_batches(),
            RowFormat::Whole => Solve::default(),
        };
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
        let settings = self.solve(precise, expect.rows.format());
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
            shard: _,
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
    scratch.shard.clear();
    for (d, &n) in shard.items.iter().enumerate() {
        stop::check();
        if let Some(&soon) = shard.items.get(d + 1) {
            shard.data.prefetch(soon as usize);
        }
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
        let words = &mut scratch.shard;
        words.slots.extend_from_slice(&scratch.slots);
        words.lasts.push(words.slots.len() as u32);
        if lda.params.exact {
            words.coefs64.extend_from_slice(&scratch.coef64);
            out.theta64.extend_from_slice(&scratch.theta64);
        } else {
            words.coefs.extend_from_slice(&scratch.coef);
            if n_topics > WIDE {
                out.lists.push(&scratch.theta);
            } else {
                let first = out.theta.len();
                out.theta.resize(first + out.format.words(n_topics));
                out.format.store(lda.isa, &scratch.theta, &mut out.theta[first..]);
            }
        }
    }
    out.place(&scratch.shard, n_parts);
}

impl Documents {
    /// Puts the words of each part together.
    fn place(&mut self, words: &ShardWords, n_parts: usize) {
        let ShardWords { slots, coefs, coefs64, lasts } = words;
        let (shift, inside) = (self.part.trailing_zeros(), self.part as u32 - 1);
        let doc_bits = lasts.len().next_power_of_two().trailing_zeros();
        assert!(shift + doc_bits < u32::BITS, "a shard has too many documents");
        self.doc_bits = doc_bits;
        let begins = &mut self.begins;
        // One more than parts: the places that are counted up below begin one place later than they end.
        begins.clear();
        begins.resize(n_parts + 2, 0);
        for &slot in slots {
            begins[(slot >> shift) as usize + 2] += 1;
        }
        for i in 2..begins.len() {
            begins[i] += begins[i - 1];
        }
        self.words.resize(slots.len(), Placed::default());
        self.coefs64.resize(coefs64.len(), 0.0);
        let mut first = 0;
        for (doc, &last) in lasts.iter().enumerate() {
            for (&slot, at) in slots[first..last as usize].iter().zip(first..) {
                let place = &mut begins[(slot >> shift) as usize + 1];
                let to = *place as usize;
                *place += 1;
                let coef = coefs.get(at).copied().unwrap_or(0.0);
                self.words[to] = Placed { row: (slot & inside) << doc_bits | doc as u32, coef };
                if let Some(&coef) = coefs64.get(at) {
                    self.coefs64[to] = coef;
                }
            }
            first = last as usize;
        }
        begins.pop();
    }

    /// Where the words of part number `part` are.
    fn range_of(&self, part: usize) -> Range<usize> {
        match self.begins.get(part..part + 2) {
            Some(&[begin, end]) => begin as usize..end as usize,
            // No document was looked at for its statistics.
            _ => 0..0,
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
            words: Vec::new(),
            coefs64: Vec::new(),
            begins: Vec::new(),
            part: 1,
            doc_bits: 0,
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
        self.coefs64.clear();
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
        // Where the documents of each word begin, in order of words and for each word in order of documents.
        let mut starts = vec![0u32; slots.len() + 1];
        for (i, shard) in shards.iter().enumerate() {
            // Shards are far apart, and each has few words of a part.
            if let Some(soon) = shards.get(i + 2) {
                prefetch(&soon.words[soon.range_of(at)]);
            }
            let words = &shard.words[shard.range_of(at)];
            words.iter().for_each(|word| starts[word.parts(shard.doc_bits).0 + 1] += 1);
        }
        for i in 0..slots.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let shrinks: Vec<f64> = match ask.shrink > 0.0 {
            true => slots.clone().map(|slot| shrink(rows, slot, ask.shrink)).collect(),
            false => Vec::new(),
        };
        let is_exact = !expect.exact.is_empty();
        let mut found = vec![Share::default(); starts[slots.len()] as usize];
        let mut exact = vec![0.0; if is_exact { found.len() } else { 0 }];
        let mut before = 0;
        for shard in shards {
            let range = shard.range_of(at);
            let words = &shard.words[range.clone()];
            let n_docs = shard.weights.len() as u32;
            if !is_exact && shard.weights.iter().all(|&weight| weight == 1.0) {
                for &word in words {
                    let (slot, doc) = word.parts(shard.doc_bits);
                    let place = next[slot] as usize;
                    next[slot] += 1;
                    found[place] = Share { doc: before + doc, coef: word.coef };
                }
                before += n_docs;
                continue;
            }
            for (i, &word) in range.zip(words) {
                let (slot, doc) = word.parts(shard.doc_bits);
                let place = next[slot] as usize;
                next[slot] += 1;
                let left = shrinks.get(slot).copied().unwrap_or(1.0);
                let weight = 1.0 + left * (shard.weights[doc as usize] - 1.0);
                found[place] = Share { doc: before + doc, coef: word.coef };
                if is_exact {
                    exact[place] = weight * shard.coefs64[i];
                } else {
                    found[place].coef = (weight * f64::from(word.coef)) as f32;
                }
            }
            before += n_docs;
        }
        let starts: Vec<usize> = starts.into_iter().map(|start| start as usize).collect();
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
