//! `lehr eval`: how well the model predicts data it has not seen.

use lehr::store::RunDirectory;

use super::End;
use crate::args::EvalArgs;
use crate::models::{OpenRun, with_model};

/// Scores the data.
pub fn run(args: EvalArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    check(&directory.model_name()?, &args)?;
    with_model!(&directory, M => {
        let run = OpenRun::<M>::open(directory)?;
        M::eval(&run, &run.read_and_tell(&args.data, &args.input)?, &args)?;
    });
    Ok(End::Done)
}

/// Refuses what only ratings have, and lists that cannot be.
fn check(model: &str, args: &EvalArgs) -> anyhow::Result<()> {
    if model != "pmf" && (!args.top.is_empty() || args.relevant.is_some()) {
        let flag = if args.top.is_empty() { "--relevant" } else { "--top" };
        anyhow::bail!("{flag} is for ratings, and this run's model is {model}; leave it out");
    }
    if args.top.contains(&0) {
        anyhow::bail!("--top 0: must be at least 1");
    }
    Ok(())
}
