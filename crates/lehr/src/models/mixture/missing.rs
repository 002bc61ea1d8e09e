//! What a mixture does with missing values: it refuses them.

use crate::data::Points;
use crate::error::{advice, setting};
use crate::{Error, Result};

/// Refuses points with missing values, so that nothing is computed with NaN.
pub(super) fn refuse(points: &Points) -> Result<()> {
    if !points.has_missing() {
        return Ok(());
    }
    Err(Error::data(advice![
        format!(
            "{} values are missing, which a mixture cannot work with; fill them in, or leave such rows out (",
            points.n_missing()
        ),
        setting("missing").to("drop-rows"),
        ")",
    ]))
}
