//! `lehr partial`: go on with a fitted model on new data.

use anyhow::bail;

use lehr::data::Dataset;
use lehr::settings::FIT;
use lehr::store::RunDirectory;
use lehr::{ErrorKind, FitConfig};

use super::claim::Claimed;
use super::{End, fit};
use crate::args::{ConfigFile, PartialArgs, over};
use crate::models::{OpenRun, Served, reading, with_model};
use crate::progress::Bar;

/// Goes on with the run.
pub fn run(args: PartialArgs) -> anyhow::Result<End> {
    let directory = RunDirectory::open(&args.run)?;
    with_model!(&directory, M => partial::<M>(&directory, &args))
}

fn partial<M: Served>(parent: &RunDirectory, args: &PartialArgs) -> anyhow::Result<End> {
    let old = parent.config::<M>()?;
    let mut config = config(args, old.fit.clone())?;
    let mut bar = Bar::new(args.fit.print.quiet).of(&args.data);
    let output = Claimed::new(&args.fit, "runs", &old.model)?;
    let mut go_on = |config: &FitConfig| {
        reading::<M, _>(&args.input, &old, &args.data, |options| {
            M::update_file(parent, &output.path, &args.data, options, config, &mut bar)
        })
    };
    let mut result = go_on(&config);
    if !args.fit.given.contains_key("batch")
        && result.as_ref().is_err_and(|error| is_about(error, "batch"))
    {
        // New data may well be fewer than a batch of the run.
        let run = OpenRun::<M>::open(parent.clone())?;
        let n_items = run.read(&args.data, &args.input)?.data.n_items();
        config.batch = Some(n_items.saturating_sub(config.holdout.count(n_items)));
        result = go_on(&config);
    }
    bar.finish();
    let (result, unknown) = result.map_err(|error| of_the_run(error, args))?;
    fit::report::<M>(&result, 1, args.fit.print, &bar.seen, Some(unknown))?;
    Ok(fit::end(&result))
}

/// The run's own settings but for those that speak of its data, with flags on top.
fn config(args: &PartialArgs, run: FitConfig) -> anyhow::Result<FitConfig> {
    if args.fit.given.get("n_init").is_some_and(|n| n.as_integer() != Some(1)) {
        bail!("--n-init: there is one model to go on from, and no other start; leave it out");
    }
    let new = FitConfig::default();
    let run = FitConfig {
        steps: new.steps,
        time: new.time,
        // These belong to a first start, of which this is none.
        temper: new.temper,
        warm_after: new.warm_after,
        population: new.population,
        holdout: new.holdout,
        n_init: 1,
        ..run
    };
    let Some(path) = &args.fit.config else { return over(run, &args.fit.given) };
    let file = ConfigFile::read(Some(path))?;
    let path = path.display();
    if !file.table("model").is_empty() {
        bail!("{path}: [model] cannot be changed when a run goes on; leave it out");
    }
    if !file.table("data").is_empty() {
        bail!("{path}: [data] is as in the run; leave it out, and use flags on top");
    }
    let mut table = file.table("fit");
    table.extend(args.fit.given.clone());
    file.settings("fit", FIT, table)
}

/// Whether an error is about this setting.
fn is_about(error: &anyhow::Error, setting: &str) -> bool {
    let kind = error.downcast_ref::<lehr::Error>().map(lehr::Error::kind);
    matches!(kind, Some(ErrorKind::Config { field, .. }) if field == setting)
}

/// Noise that the user did not ask for comes from the run.
fn of_the_run(error: anyhow::Error, args: &PartialArgs) -> anyhow::Error {
    if args.fit.given.contains_key("effective") || !is_about(&error, "effective") {
        return error;
    }
    anyhow::anyhow!(
        "the noise of {} is that of a larger batch than {} can give; turn it off with --effective \
         off, or give a smaller M",
        args.run.display(),
        args.data.display()
    )
}
