//! `lehr resume`: go on with a run.

use lehr::models::mixture::Mixture;
use lehr::run::directory::{Extension, RunDirectory};
use lehr::run::session;

use super::{End, check_model, fit};
use crate::args::ResumeArgs;
use crate::progress::Bar;

/// Resumes the run.
pub fn run(args: ResumeArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    check_model(&directory)?;
    let record = directory.record::<Mixture>()?;
    let more = Extension { steps: args.steps, tol: args.tol, time: args.time };
    let mut bar = Bar::new(args.output.quiet);
    let result = session::resume::<Mixture>(&directory, more, args.threads, &mut bar);
    bar.finish();
    let result = result.map_err(|error| fit::naming_file(error, &record.data.path))?;
    fit::report(&result, record.fit.n_init, args.output)?;
    Ok(fit::end(&result))
}
