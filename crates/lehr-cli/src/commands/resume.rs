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
    let last = directory.trace()?.last().map_or(0, |o| o.step);
    let planned = record.fit.check(record.data.items)?.steps;
    let steps = match args.steps {
        Some(more) => last + more,
        None => record.extension.steps.unwrap_or(planned),
    };
    let mut bar = Bar::new(steps, record.fit.n_init, args.output.quiet);
    let result = session::resume::<Mixture>(&directory, more, args.threads, &mut bar);
    bar.finish();
    let result = result?;
    fit::report(&result, args.output);
    Ok(fit::end(&result))
}
