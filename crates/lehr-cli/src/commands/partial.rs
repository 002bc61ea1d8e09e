//! `lehr partial`: go on with a fitted model on new data.

use anyhow::bail;

use lehr::run::directory::RunDirectory;
use lehr::run::session;
use lehr::{ErrorKind, FitConfig};

use super::{End, fit};
use crate::args::{ConfigFile, PartialArgs};
use crate::models::{Served, reading, with_model};
use crate::progress::Bar;

/// Goes on with the run.
pub fn run(args: PartialArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => partial::<M>(&directory, &args))
}

fn partial<M: Served>(parent: &RunDirectory, args: &PartialArgs) -> anyhow::Result<End> {
    let record = parent.record::<M>()?;
    let config = config(args, record.fit.clone())?;
    let output = &args.fit.directory(&record.model);
    let mut bar = Bar::new(args.fit.print.quiet);
    let result = reading::<M, _>(&args.input, &record, &args.data, |options| {
        session::partial::<M>(parent, output, &args.data, options, &config, &mut bar)
    });
    bar.finish();
    let (result, unknown) = result.map_err(|error| of_the_run(error, args))?;
    fit::report::<M>(&result, 1, args.fit.print, &bar.seen, Some(unknown))?;
    Ok(fit::end(&result))
}

/// The run's own settings but for those that speak of its data, with flags on top.
fn config(args: &PartialArgs, run: FitConfig) -> anyhow::Result<FitConfig> {
    if args.fit.n_init.is_some_and(|n| n != 1) {
        bail!("--n-init: there is one model to go on from, and no other start; leave it out");
    }
    let new = FitConfig::default();
    let run = FitConfig {
        steps: new.steps,
        time: new.time,
        population: new.population,
        holdout: new.holdout,
        n_init: 1,
        ..run
    };
    let file = match &args.fit.config {
        None => run,
        Some(path) => {
            let file: ConfigFile<toml::Table> = ConfigFile::read(Some(path))?;
            let path = path.display();
            if !file.model.is_empty() {
                bail!("{path}: [model] cannot be changed when a run goes on; leave it out");
            }
            if !file.data.is_empty() {
                bail!("{path}: [data] is as in the run; leave it out, and use flags on top");
            }
            file.fit
        }
    };
    Ok(args.fit.over(file))
}

/// Sizes that the user did not give come from the run.
fn of_the_run(error: anyhow::Error, args: &PartialArgs) -> anyhow::Error {
    let Some(kind) = error.downcast_ref::<lehr::Error>().map(lehr::Error::kind) else {
        return error;
    };
    match kind {
        ErrorKind::Config { field, value, .. }
            if field == "batch" && args.fit.batch.is_none() && args.fit.config.is_none() =>
        {
            anyhow::anyhow!(
                "{}: has fewer than {value} items, which is the batch size of {}; give a smaller \
                 one with --batch",
                args.data.display(),
                args.run.display()
            )
        }
        ErrorKind::Config { field, value, .. }
            if field == "effective" && args.fit.effective.is_none() =>
        {
            anyhow::anyhow!(
                "the noise of {} is --effective {value}, which is more than the batch; give a \
                 smaller one, or --effective off",
                args.run.display()
            )
        }
        _ => error,
    }
}
