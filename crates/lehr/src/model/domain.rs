//! What a model may say about the domain of its parameters beyond `in_domain`.

use super::Model;
use crate::error::Advice;
use crate::step::guard::Guard;

/// Guards and tests of the domain for models that have more to say than [`Model::in_domain`].
pub trait Domain<M: Model>: Sync {
    /// The guards that make sense for this model; the first is the default.
    fn guards(&self) -> &'static [Guard];

    /// Is this row at least as concentrated as its prior (in PMF: half of it)? The stricter test of
    /// the guard `reject-below-prior`; true of every noiseless update.
    fn above_prior(&self, hyper: &[f64], row: usize, lambda: &[f64]) -> bool;

    /// Whether noiseless updates cannot leave the domain, whatever the rounding: then they are not
    /// tested, which takes as long as a solve where the domain is that of positive definite matrices.
    fn is_valid_when_noiseless(&self) -> bool {
        false
    }

    /// Tests neighbouring proposals at once: `proposals` holds those of `rows`, one after the other.
    /// False if it leaves that to [`Model::in_domain`] and, where `strict`, [`Domain::above_prior`] of each.
    fn check_rows(
        &self,
        _hyper: &[f64],
        _rows: &[usize],
        _proposals: &[f64],
        _strict: bool,
        _valid: &mut [bool],
    ) -> bool {
        false
    }

    /// A row of lambda for which there are no expectations, since rounding has taken it out of its
    /// domain, and what to do about it. For models whose noiseless updates are not tested.
    fn broken(&self, _expect: &M::Expect) -> Option<(usize, Advice)> {
        None
    }
}

/// The guards of a model; the first is the default. Below its prior a row can only be found by a model
/// that knows how to tell.
pub(crate) fn guards_of<M: Model>(model: &M) -> &'static [Guard] {
    model.domain().map_or(&[Guard::Reject, Guard::Clip, Guard::Halve], |domain| domain.guards())
}

/// Whether a row is at least as concentrated as its prior, where the model can tell.
fn is_above_prior<M: Model>(model: &M, hyper: &[f64], row: usize, new: &[f64]) -> bool {
    model.domain().is_none_or(|domain| domain.above_prior(hyper, row, new))
}

/// Which of neighbouring proposals are valid; `strict`: and not below their priors.
pub(crate) fn check_rows<M: Model>(
    model: &M,
    hyper: &[f64],
    rows: &[usize],
    proposals: &[f64],
    strict: bool,
    valid: &mut [bool],
) {
    if model.domain().is_some_and(|d| d.check_rows(hyper, rows, proposals, strict, valid)) {
        return;
    }
    let width = proposals.len() / rows.len().max(1);
    for ((valid, &row), new) in valid.iter_mut().zip(rows).zip(proposals.chunks_exact(width)) {
        *valid = model.in_domain(row, new) && (!strict || is_above_prior(model, hyper, row, new));
    }
}
