//! What an item is: one file per kind of data.

mod corpus;
mod corpus_file;
mod docs;
mod mapped;
mod points;
mod vocabulary;

pub use docs::{Docs, Entry};
pub use points::{Points, Rows};
pub use vocabulary::Vocabulary;

pub(crate) use corpus_file::{MAGIC, open};
pub(crate) use mapped::{Mapped, Precision, map};
pub(crate) use points::{first_not_finite, weight_fault};
