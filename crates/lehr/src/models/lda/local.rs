//! The local steps of a shard of documents, and a word's statistics from all documents that have it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::expect::Expect;
use super::{Lda, LearnAlpha, bound};
use crate::data::Docs;
use crate::math::kernels::{
    DocumentScratch, Isa, Solve, gather_word, pad_topics, solve_document, solve_document_exact,
};
use crate::math::special::digamma;
use crate::math::stop;
use crate::model::{Ask, Layout, Local, RowSet, Shard};

/// What a shard's local steps leave behind.
#[derive(Debug, Serialize, Deserialize)]
pub struct Documents {
    n_topics: usize,
    isa: Isa,
    /// exp(E[ln theta]) of every document, up to a factor; padded rows.
    theta: Vec<f32>,
    /// The same in the exact mode, where `theta` stays empty.
    theta64: Vec<f64>,
    /// w_n of every document.
    weights: Vec<f64>,
    /// The words of all documents, by the part of the rows that they are gathered with.
    parts: Vec<Part>,
    /// gamma of every document, K numbers each.
    gamma: Vec<f32>,
    /// E[ln theta] of every document, if alpha is learned.
    ln_theta: Vec<f64>,
    iterations: u64,
}

/// Words of the documents.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Part {
    found: Vec<Found>,
    /// count / z of each in the exact mode.
    coefs64: Vec<f64>,
}

/// A word of a document.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Found {
    slot: u32,
    /// The document's place in the shard.
    doc: u32,
    /// count / z.
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
    gamma: Vec<f32>,
    pub(super) gamma64: Vec<f64>,
    theta: Vec<f32>,
    theta64: Vec<f64>,
    warm32: Vec<f32>,
    warm64: Vec<f64>,
    next64: Vec<f64>,
    /// ln of the factor that theta lacks beside the usual one.
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
        gamma.resize(stride, 0.0);
        theta.resize(stride, 0.0);
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
        // be lost. All topics begin anew, and none is dropped.
        if counts.iter().zip(&*coef).any(|(&count, &coef)| coef * VANISHED > count) {
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
    pub(super) fn load(&mut self, words: impl Iterator<Item = (usize, f32)>) {
        self.slots.clear();
        self.counts.clear();
        for (slot, count) in words {
            self.slots.push(slot as u32);
            self.counts.push(count);
        }
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
    let part = shard.rows.part(n_topics);
    out.parts.resize_with(shard.rows.len().div_ceil(part).max(out.parts.len()), Part::default);
    out.isa = lda.isa;
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
            out.ln_theta.extend(gamma.iter().map(|&gamma| digamma(gamma) - total));
        }
        for (i, &slot) in scratch.slots.iter().enumerate() {
            let part = &mut out.parts[slot as usize / part];
            let coef = scratch.coef.get(i).copied().unwrap_or(0.0);
            part.found.push(Found { slot, doc: d as u32, coef });
            if lda.params.exact {
                part.coefs64.push(scratch.coef64[i]);
            }
        }
        if lda.params.exact {
            out.theta64.extend_from_slice(&scratch.theta64);
        } else {
            out.theta.extend_from_slice(&scratch.theta);
        }
    }
}

impl Local<Expect> for Documents {
    fn new(layout: &Layout) -> Self {
        Documents {
            n_topics: layout.width,
            isa: Isa::Portable,
            theta: Vec::new(),
            theta64: Vec::new(),
            weights: Vec::new(),
            parts: Vec::new(),
            gamma: Vec::new(),
            ln_theta: Vec::new(),
            iterations: 0,
        }
    }

    fn clear(&mut self) {
        self.theta.clear();
        self.theta64.clear();
        self.weights.clear();
        self.gamma.clear();
        self.ln_theta.clear();
        self.iterations = 0;
        for part in &mut self.parts {
            part.found.clear();
            part.coefs64.clear();
        }
    }

    fn gather(
        shards: &[Self],
        expect: &Expect,
        rows: &RowSet,
        slots: Range<usize>,
        ask: Ask,
        out: &mut [f64],
    ) {
        let Some(&Documents { n_topics, isa, .. }) = shards.first() else { return };
        let at = slots.start / rows.part(n_topics);
        let parts =
            || shards.iter().enumerate().filter_map(|(s, shard)| Some((s, shard.parts.get(at)?)));
        // The words' entries in order of words, and for each word in order of documents.
        let mut ends = vec![0usize; slots.len() + 1];
        for (_, part) in parts() {
            part.found.iter().for_each(|f| ends[f.slot as usize - slots.start + 1] += 1);
        }
        for i in 0..slots.len() {
            ends[i + 1] += ends[i];
        }
        let n_entries = ends[slots.len()];
        let mut next = ends.clone();
        let shrinks: Vec<f64> = slots.clone().map(|slot| shrink(rows, slot, ask.shrink)).collect();
        let mut entries = Entries::new(n_entries, !expect.exact.is_empty());
        let firsts: Vec<usize> = shards
            .iter()
            .scan(0, |first, shard| Some(std::mem::replace(first, *first + shard.weights.len())))
            .collect();
        for (s, part) in parts() {
            for (i, &Found { slot, doc, coef }) in part.found.iter().enumerate() {
                let place = &mut next[slot as usize - slots.start];
                let doc = doc as usize;
                let shrink = shrinks[slot as usize - slots.start];
                let weight = 1.0 + shrink * (shards[s].weights[doc] - 1.0);
                entries.docs[*place] = (firsts[s] + doc) as u32;
                if entries.exact.is_empty() {
                    entries.coefs[*place] = (weight * f64::from(coef)) as f32;
                } else {
                    entries.exact[*place] = weight * part.coefs64[i];
                }
                *place += 1;
            }
        }
        let stride = pad_topics(n_topics);
        if expect.exact.is_empty() {
            let thetas: Vec<&[f32]> =
                shards.iter().flat_map(|shard| shard.theta.chunks_exact(stride)).collect();
            for (i, out) in out.chunks_exact_mut(n_topics).enumerate() {
                stop::check();
                let range = ends[i]..ends[i + 1];
                let (docs, coefs) = (&entries.docs[range.clone()], &entries.coefs[range]);
                gather_word(isa, docs, coefs, &thetas, expect.rows.row(slots.start + i), out);
            }
            return;
        }
        let thetas: Vec<&[f64]> =
            shards.iter().flat_map(|shard| shard.theta64.chunks_exact(n_topics)).collect();
        for (i, out) in out.chunks_exact_mut(n_topics).enumerate() {
            let row = &expect.exact[(slots.start + i) * n_topics..][..n_topics];
            for e in ends[i]..ends[i + 1] {
                let theta = thetas[entries.docs[e] as usize];
                for ((out, b), theta) in out.iter_mut().zip(row).zip(theta) {
                    *out += b * entries.exact[e] * theta;
                }
            }
        }
    }

    fn renumber(&mut self, from: &RowSet, to: &RowSet) {
        let part = to.part(self.n_topics);
        let mut parts: Vec<Part> = Vec::new();
        parts.resize_with(to.len().div_ceil(part), Part::default);
        for old in &self.parts {
            for (i, found) in old.found.iter().enumerate() {
                let slot = to.slot(from.row(found.slot as usize));
                let new = &mut parts[slot / part];
                new.found.push(Found { slot: slot as u32, ..*found });
                new.coefs64.extend(old.coefs64.get(i));
            }
        }
        // A word's entries stand in the order of documents; those of different words may mix.
        self.parts = parts;
    }

    fn append(&mut self, next: Self) -> bool {
        let before = self.weights.len() as u32;
        self.theta.extend(next.theta);
        self.theta64.extend(next.theta64);
        self.weights.extend(next.weights);
        self.gamma.extend(next.gamma);
        self.ln_theta.extend(next.ln_theta);
        self.iterations += next.iterations;
        self.parts.resize_with(next.parts.len().max(self.parts.len()), Part::default);
        for (part, next) in self.parts.iter_mut().zip(next.parts) {
            let moved = next.found.into_iter().map(|f| Found { doc: before + f.doc, ..f });
            part.found.extend(moved);
            part.coefs64.extend(next.coefs64);
        }
        true
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

/// The words of one part in order: documents and weighted coefs.
struct Entries {
    docs: Vec<u32>,
    coefs: Vec<f32>,
    exact: Vec<f64>,
}

impl Entries {
    fn new(n: usize, exact: bool) -> Self {
        let (single, double) = if exact { (0, n.max(1)) } else { (n, 0) };
        Entries { docs: vec![0; n], coefs: vec![0.0; single], exact: vec![0.0; double] }
    }
}

/// How much of the noise the guard `shrink` leaves to a word: min(1, sqrt(n / 4v)).
fn shrink(rows: &RowSet, slot: usize, variance: f64) -> f64 {
    match rows.count(slot) {
        Some(count) if variance > 0.0 => (f64::from(count) / (4.0 * variance)).sqrt().min(1.0),
        _ => 1.0,
    }
}
