//! Online LDA: rows of expected word probabilities, one document's topics, a batch's statistics.
//!
//! All of it works in f32, on rows that are stored in 32 bits or, for training, in 16: within one instruction set always the same bits, between instruction sets
//! the same to rounding.

mod format;
mod rows;
mod solve;
mod full;
mod active;
mod few;
mod exact;
mod gather;

pub use exact::solve_document_exact;
pub use few::WIDE;
pub use gather::{Share, ThetaList, Thetas, gather_word, gather_word_of_lists};
pub use rows::{Decay, RowFormat, RowsMut, TopicRows, inverse_totals};
pub use solve::{DocumentScratch, Solve, Solved, solve_document};

/// `n_topics` rounded up to whole pairs of vectors of the widest instruction set: the topics of a row.
pub const fn pad_topics(n_topics: usize) -> usize {
    n_topics.next_multiple_of(format::TOGETHER)
}
