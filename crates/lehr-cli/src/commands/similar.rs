//! `lehr similar`: which items or users of a PMF run are most like one.

use super::End;
use crate::args::SimilarArgs;
use crate::models::{OpenRun, similar};

/// Shows them.
pub fn run(args: &SimilarArgs) -> anyhow::Result<End> {
    similar::check(args)?;
    similar::show(&OpenRun::open_for(&args.run, "similar")?, args)?;
    Ok(End::Done)
}
