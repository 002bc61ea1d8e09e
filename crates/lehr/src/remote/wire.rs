//! What a driver and its workers send each other, and how that becomes bytes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{Ask, RowSet};
use crate::step::anneal::Normal;
use crate::{Error, Result};

/// What all tasks of a pass share.
#[derive(Serialize)]
pub(super) struct Common<'a, Expect> {
    pub rows: &'a RowSet,
    pub expect: &'a Expect,
    pub ask: Ask,
    pub noise: Option<Normal>,
}

/// The same, received.
#[derive(Deserialize)]
pub(super) struct CommonOwned<Expect> {
    pub rows: RowSet,
    pub expect: Expect,
    pub ask: Ask,
    pub noise: Option<Normal>,
}

/// What is to be done with one shard of the folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartTask {
    /// Neighbouring pieces of the batch that are added up together, if pieces can be.
    pub groups: Vec<Vec<Piece>>,
    /// Items whose rows the next pass needs.
    pub next: Option<Items>,
}

/// Neighbouring items of a batch: the unit of parallel work.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Their place in the batch, which says where their noise is.
    pub place: u64,
    /// How many of them count for the bound.
    pub counted: u32,
    /// Which items of the shard.
    pub items: Items,
    /// The annealing weight of each, where they are not all 1 and cannot be drawn from their place.
    pub weights: Vec<f64>,
    /// The local state of each, if items keep any.
    pub warm: Vec<f32>,
}

/// Items of a shard, by their numbers there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Items {
    /// These, and those between them.
    Span(u32, u32),
    List(Vec<u32>),
}

impl Items {
    pub fn new(items: Vec<u32>) -> Self {
        match (items.first(), items.last()) {
            (Some(&first), Some(&last)) if items.iter().zip(first..).all(|(&a, b)| a == b) => {
                Items::Span(first, last)
            }
            _ => Items::List(items),
        }
    }

    pub fn into_list(self) -> Vec<u32> {
        match self {
            Items::Span(first, last) => (first..=last).collect(),
            Items::List(items) => items,
        }
    }
}

/// What has become of a [`PartTask`].
#[derive(Serialize, Deserialize)]
pub(super) struct PartReply<L> {
    pub groups: Vec<GroupReply<L>>,
    /// The rows that were asked for.
    pub rows: Option<RowSet>,
}

/// What has become of a group of pieces.
#[derive(Serialize, Deserialize)]
pub(super) struct GroupReply<L> {
    /// Each piece's part of the bound, if it was asked for.
    pub bounds: Vec<f64>,
    /// What each piece leaves behind, or all of them together.
    pub locals: Vec<L>,
}

/// A message as bytes.
pub(super) fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).expect("plain values become bytes")
}

/// What bytes were made of.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| {
        Error::data(format!(
            "a message between the driver and a worker cannot be understood ({error}); both must have the same \
             version of lehr"
        ))
    })
}
