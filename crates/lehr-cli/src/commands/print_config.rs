//! `lehr fit --print-config`: all settings of a fit, as a file that `--config` reads back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lehr::FitConfig;
use lehr::fit::{Progress, Watcher};
use lehr::models::ReadOptions;
use lehr::settings::Plan;
use lehr::store::{RunConfig, Sink};

use super::End;
use super::fit::naming_file;
use crate::args::{FitArgs, Request};
use crate::models::Served;
use crate::text::{self, quoted};

/// Prints the settings. The data are read, since some defaults depend on them.
pub fn run<M: Served>(
    args: &FitArgs,
    Request { params, options, config }: Request<M::Params, ReadOptions<M>>,
) -> anyhow::Result<End> {
    let (mut kept, mut seen) = (Kept(None), Seen::default());
    let ended = M::fit_file_into(&args.data, &options, params, &config, &mut kept, &mut seen);
    // It was stopped before its first step, and that is how it ends; anything else is an error.
    let (Some(RunConfig { params, fit, data, .. }), Some(plan)) = (kept.0, seen.plan) else {
        return match ended {
            Err(error) => Err(naming_file(error, &args.data)),
            Ok(_) => anyhow::bail!("{}: the fit ended before it started", args.data.display()),
        };
    };
    let fit = FitConfig {
        steps: Some(plan.steps),
        step_size: Some(plan.step_size),
        eval_every: Some(plan.eval_every),
        ..fit
    };
    let (model, file) = (args.tables.model, quoted(&args.data));
    let mut out = format!(
        "# lehr {}: lehr fit {model} {file} --config FILE\n\
         # What is not here is left to the model, or off; docs/reference/settings.md has every setting.\n",
        env!("CARGO_PKG_VERSION")
    );
    out += &format!("\n{}", lehr_report::configuration(&params, &fit, &data.options)?);
    text::print_as_it_is(&out)?;
    Ok(End::Done)
}

/// Keeps the configuration of a run, and nothing else of it.
struct Kept<M: Served>(Option<RunConfig<M>>);

impl<M: Served> Sink<M> for Kept<M> {
    fn create(
        &mut self,
        _: &M,
        config: &mut RunConfig<M>,
        _: Option<&Progress>,
    ) -> lehr::Result<()> {
        self.0 = Some(config.clone());
        Ok(())
    }
}

/// Sees the plan, and ends the fit there.
#[derive(Default)]
struct Seen {
    plan: Option<Plan>,
    enough: Arc<AtomicBool>,
}

impl Watcher for Seen {
    fn begins(&mut self, plan: &Plan, _: &Progress) {
        self.plan = Some(plan.clone());
        self.enough.store(true, Ordering::Relaxed);
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.enough))
    }
}
