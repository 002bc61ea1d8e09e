//! What travels for a matrix factorisation whose users stay with their workers.
//!
//! The users of a shard are a value that changes by [`Change`]s, and its version is how many it has had. A message says
//! between which versions its changes lie; a worker makes those that it has not made, and says so if it is behind the first
//! of them or past the last. Then the driver sends the users as they were when it last fetched them, and all changes since.

use serde::{Deserialize, Serialize};

use crate::models::pmf::ItemMoments;
use crate::step::anneal::RowNoise;
use crate::step::guard::Guard;

/// What all tasks of a round share.
#[derive(Serialize)]
pub(super) struct UserCommon<'a> {
    /// Which fit this is.
    pub run: u64,
    /// The version before the first change.
    pub first: u64,
    pub changes: &'a [Change],
    pub then: &'a Then,
}

/// The same, received.
#[derive(Deserialize)]
pub(super) struct UserCommonOwned {
    pub run: u64,
    pub first: u64,
    pub changes: Vec<Change>,
    pub then: Then,
}

/// A change of the users.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Change {
    /// Their factors are turned.
    Turn(Vec<f64>),
    /// An update.
    Sweep(Sweep),
}

/// An update of the users.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Sweep {
    pub hyper: Vec<f64>,
    #[serde(with = "as_text")]
    pub noise: Option<RowNoise>,
    pub rho: [f64; 2],
    pub guard: Guard,
    /// The items' moments; none if they are those of the last look, at the same version.
    pub items: Option<ItemMoments>,
}

/// What is to be done after the changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Then {
    /// The users' part of the bound, given the items.
    Look { hyper: Vec<f64>, items: ItemMoments },
    /// The items' sums: of all, or of some without noise.
    Items {
        #[serde(with = "as_text")]
        noise: Option<RowNoise>,
        items: Option<Vec<u32>>,
    },
    /// The users themselves.
    Fetch,
}

/// A task: one shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UserTask {
    /// The users before the first change, for a worker that does not have them.
    pub users: Option<Vec<f64>>,
}

/// What has become of a [`UserTask`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum UserReply {
    /// The worker does not have the users of the shard at a version from which it could go on.
    Behind,
    Bound(f64),
    Items {
        sums: Sums,
        second: Vec<f64>,
        squares: f64,
        /// What the guard did in the last update.
        guarded: [u64; 2],
        /// The first user of the shard that could not be solved for.
        broken: Option<u64>,
    },
    Users(Vec<f64>),
}

/// Sums as they travel: in the precision of the items' moments, which they are sums of.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Sums {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// Noise as JSON: schedules are numbers or strings, which bytes alone do not distinguish.
mod as_text {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::step::anneal::RowNoise;

    pub fn serialize<S: Serializer>(noise: &Option<RowNoise>, to: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(noise).map_err(S::Error::custom)?.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RowNoise>, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}
