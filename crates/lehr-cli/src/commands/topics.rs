//! `lehr topics`: the topics of an LDA run.

use super::End;
use crate::args::TopicsArgs;
use crate::models::{OpenRun, topics};

/// Shows the topics, and names them before if that is asked for.
pub fn run(args: TopicsArgs) -> anyhow::Result<End> {
    topics::check(&args)?;
    let mut run = OpenRun::open_for(&args.run, "topics")?;
    topics::call(&mut run, &args)?;
    topics::show(&run, &args)?;
    Ok(End::Done)
}
