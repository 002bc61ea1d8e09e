//! Some of the topics of a document, with rows of their own: where a model has very many topics, a document leaves most
//! of them after one look.

use super::format::{Format, TOGETHER};
use super::full::{Words, set_starts};
use crate::aligned::Aligned;

/// Models with more topics than this look for the few that a document has, and store shares as lists.
pub const WIDE: usize = 256;

/// Stands for no topic.
const NONE: u32 = u32::MAX;

/// Rows without the topics that a document does not have: the same numbers, side by side.
#[derive(Debug, Clone, Default)]
pub(super) struct Few {
    /// The 32-bit words of a row that are kept, rising. In pairs, a word goes on with both of its topics.
    places: Vec<u32>,
    /// Which topic each of them is, [`NONE`] in the padding.
    topics: Vec<u32>,
    /// The rows.
    pub values: Aligned,
    /// Where each begins.
    pub starts: Vec<usize>,
    pub alpha: Aligned,
    pub gamma: Aligned,
    pub theta: Aligned,
}

impl Few {
    /// Chooses topics that have at least `cut` above their alpha, or an alpha above `largest_alpha`. False if these are
    /// more than a quarter of a row: it is not worth the copy.
    pub fn choose<F: Format>(
        &mut self,
        alpha: &[f32],
        gamma: &[f32],
        cut: f32,
        largest_alpha: f32,
    ) -> bool {
        assert!(alpha.len() == gamma.len() && gamma.len().is_multiple_of(TOGETHER));
        self.places.clear();
        let most = gamma.len() / TOGETHER * F::WORDS / 4;
        for (group, (alpha, gamma)) in
            alpha.chunks_exact(TOGETHER).zip(gamma.chunks_exact(TOGETHER)).enumerate()
        {
            let mut lives = [false; TOGETHER];
            for k in 0..TOGETHER {
                lives[k] = (gamma[k] - alpha[k] >= cut) | (alpha[k] > largest_alpha);
            }
            for at in 0..F::WORDS {
                if (0..TOGETHER / F::WORDS).any(|half| lives[half * F::WORDS + at]) {
                    self.places.push((group * F::WORDS + at) as u32);
                }
            }
            if self.places.len() > most {
                return false;
            }
        }
        !self.places.is_empty()
    }

    /// Copies what was chosen.
    pub fn copy<F: Format>(&mut self, words: Words<'_, F>, alpha: &[f32], gamma: &[f32]) {
        let row_words = self.places.len().next_multiple_of(F::WORDS);
        let stride = row_words / F::WORDS * TOGETHER;
        assert!(
            self.places
                .last()
                .is_some_and(|&last| { (last as usize) < words.stride / TOGETHER * F::WORDS })
        );
        self.topics.clear();
        self.topics.resize(stride, NONE);
        for (to, &from) in self.places.iter().enumerate() {
            for half in 0..TOGETHER / F::WORDS {
                let topic = |at: usize| at / F::WORDS * TOGETHER + half * F::WORDS + at % F::WORDS;
                self.topics[topic(to)] = topic(from as usize) as u32;
            }
        }
        for (to, from) in [(&mut self.alpha, alpha), (&mut self.gamma, gamma)] {
            to.resize(stride);
            for (to, &topic) in to.iter_mut().zip(&self.topics) {
                *to = if topic == NONE { 0.0 } else { from[topic as usize] };
            }
        }
        self.theta.resize(stride);
        set_starts::<F>(stride, 0..words.n_words, &mut self.starts);
        if self.values.len() < words.n_words * row_words {
            self.values.resize(words.n_words * row_words);
        }
        for (w, to) in self.values.chunks_exact_mut(row_words).take(words.n_words).enumerate() {
            let [row] = words.block(w);
            let (to, padding) = to.split_at_mut(self.places.len());
            for (to, &place) in to.iter_mut().zip(&self.places) {
                // SAFETY: places are inside of a row, as asserted for the last and largest.
                *to = unsafe { *row.add(place as usize) };
            }
            padding.fill(0.0);
        }
    }

    /// Puts gamma and theta back in their places.
    pub fn copy_back(&self, gamma: &mut [f32], theta: &mut [f32]) {
        for (i, &topic) in self.topics.iter().enumerate() {
            if topic != NONE {
                gamma[topic as usize] = self.gamma[i];
                theta[topic as usize] = self.theta[i];
            }
        }
    }
}
