//! What an item is: one file per kind of data.

mod corpus;
mod corpus_file;
mod dataset;
mod docs;
mod grouped;
mod ids;
mod ids_file;
mod mapped;
mod parted;
mod points;
mod ratings;
mod vocabulary;

pub use dataset::{Count, Dataset, FromFile, Gaps};
pub use docs::{Docs, Entry};
pub use grouped::Grouped;
pub use ids::{Id, Ids};
pub use points::{Buffer, Points, Rows};
pub use ratings::{Duplicates, Ratings, Side};
pub use vocabulary::Vocabulary;

pub(crate) use corpus_file::{MAGIC, open, write_each};
pub(crate) use dataset::make_absolute;
pub(crate) use ids::integer;
pub(crate) use mapped::{Mapped, Precision, map};
pub(crate) use parted::Parted;
pub(crate) use points::{first_infinite, first_not_finite, weight_fault};
pub(crate) use ratings::{Refused, WEIGHTS, is_weight};
