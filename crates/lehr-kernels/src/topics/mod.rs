//! Online LDA: rows of expected word probabilities, one document's topics, a batch's statistics.
//!
//! All of it works in f32: within one instruction set always the same bits, between instruction sets
//! the same to rounding.

mod rows;
mod solve;
mod full;
mod active;
mod exact;
mod gather;

pub use exact::solve_document_exact;
pub use gather::gather_word;
pub use rows::{RowsMut, TopicRows, inverse_totals};
pub use solve::{DocumentScratch, Solve, Solved, solve_document};

/// `n_topics` rounded up to whole vectors of the widest instruction set: the length of a row.
pub const fn pad_topics(n_topics: usize) -> usize {
    n_topics.next_multiple_of(16)
}
