//! `lehr topics`: the topics of an LDA run.

use super::End;
use crate::args::TopicsArgs;
use crate::models::{OpenRun, topics};

/// Shows the topics.
pub fn run(args: TopicsArgs) -> anyhow::Result<End> {
    topics::show(&OpenRun::open_for(&args.run, "topics")?, &args)?;
    Ok(End::Done)
}
