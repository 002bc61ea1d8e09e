//! `lehr resume`: go on with a run.

use lehr::store::{Extension, RunDirectory};

use super::{End, fit};
use crate::args::ResumeArgs;
use crate::models::{Served, with_model};
use crate::progress::Bar;

/// Resumes the run.
pub fn run(args: ResumeArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => resume::<M>(&directory, &args))
}

fn resume<M: Served>(directory: &RunDirectory, args: &ResumeArgs) -> anyhow::Result<End> {
    let config = directory.config::<M>()?;
    let more = Extension { steps: args.steps, tol: args.tol, time: args.time };
    let mut bar = Bar::new(args.output.quiet);
    let result = M::resume(directory, more, args.threads, &mut bar);
    bar.finish();
    let result = result.map_err(|error| match &config.data.path {
        Some(path) => fit::naming_file(error, path),
        None => error.into(),
    })?;
    fit::report::<M>(&result, config.fit.n_init, args.output, &bar.seen, None)?;
    Ok(fit::end(&result))
}
