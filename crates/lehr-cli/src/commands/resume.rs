//! `lehr resume`: go on with a run.

use lehr::ErrorKind;
use lehr::store::{Extension, RunDirectory};

use super::{End, fit};
use crate::args::ResumeArgs;
use crate::complaint::in_words;
use crate::models::{Served, with_model};
use crate::progress::{Bar, Seen};
use crate::text;

/// Resumes the run.
pub fn run(args: ResumeArgs) -> anyhow::Result<End> {
    if lehr::sweep::is_sweep(&args.run) {
        return super::sweep::resume(&args);
    }
    let mut directory = RunDirectory::open(&args.run)?;
    if let Some(data) = &args.data {
        directory = directory.with_data(data);
    }
    with_model!(&directory, M => resume::<M>(&directory, &args))
}

fn resume<M: Served>(directory: &RunDirectory, args: &ResumeArgs) -> anyhow::Result<End> {
    let config = directory.config::<M>()?;
    let more = Extension { steps: args.steps, tol: args.tol, time: args.time };
    let mut bar = Bar::new(args.output.quiet);
    let result = M::resume(directory, more, args.threads, &mut bar);
    bar.finish();
    // A tolerance that comes too late is no success.
    if let (Err(error), None) = (&result, args.tol)
        && let ErrorKind::Complete { .. } = error.kind()
    {
        return nothing_left::<M>(directory, args, error);
    }
    let result = result.map_err(|error| match &config.data.path {
        Some(path) => fit::naming_file(error, path),
        None => error.into(),
    })?;
    fit::report::<M>(&result, config.fit.n_init, args.output, &bar.seen, None)?;
    Ok(fit::end(&result))
}

/// A run that is complete is what was asked for, and scripts that try again can go by that.
fn nothing_left<M: Served>(
    directory: &RunDirectory,
    args: &ResumeArgs,
    complete: &lehr::Error,
) -> anyhow::Result<End> {
    match directory.result() {
        Some(result) if args.output.json => {
            fit::report::<M>(&result, 1, args.output, &Seen::default(), None)?;
        }
        _ if args.output.quiet => {}
        _ => text::print(&format!("{}\n", in_words(complete)))?,
    }
    Ok(End::Done)
}
