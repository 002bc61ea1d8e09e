//! `lehr eval`: how well the model predicts data it has not seen.

use lehr::store::RunDirectory;

use super::End;
use crate::args::EvalArgs;
use crate::models::{OpenRun, with_model};

/// Scores the data.
pub fn run(args: EvalArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => {
        let run = OpenRun::<M>::open(directory)?;
        M::eval(&run, &run.read_and_tell(&args.data, &args.input)?, &args)?;
    });
    Ok(End::Done)
}
