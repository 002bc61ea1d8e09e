//! `lehr recommend`: what users of a PMF run may like.

use super::End;
use crate::args::RecommendArgs;
use crate::models::{OpenRun, recommend};

/// Shows the recommendations.
pub fn run(args: RecommendArgs) -> anyhow::Result<End> {
    recommend::check(&args)?;
    recommend::show(&OpenRun::open_for(&args.run, "recommend")?, &args)?;
    Ok(End::Done)
}
