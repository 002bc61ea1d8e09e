//! Ways to leave an optimum that are a model's own.

use super::Model;
use crate::math::rng::Rng;
use crate::math::table::Table;
use crate::settings::Kick;

/// Kicks of a model: changes of lambda after which a run may end higher. They need no pass over the data.
pub trait Kicking<M: Model>: Sync {
    /// Changes lambda in place; `false`, and nothing, if there is no such change of this state.
    fn kick(&self, kick: Kick, data: &M::Data, rng: &mut Rng, lambda: &mut Table) -> bool;

    /// How many items each component holds.
    fn sizes(&self, lambda: &Table) -> Vec<f64>;
}
