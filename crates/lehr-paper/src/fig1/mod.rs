//! Figure 1: PMF, the bound against sweeps, batch VI and SVI+ from the same starts, with controls.
//!
//! ```text
//! data.rs      the ratings: read, or made from planted factors
//! settings.rs  what is run on them: ranks, scales of the start, methods
//! figures.rs   the paper's figure, the controls, the scales of the start, long runs
//! claims.rs    what the runs say about the paper's claims
//! ```

mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use anyhow::Context;

use lehr::models::Pmf;

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use data::Set;
use settings::{Method, Setting};

/// The experiment, its ratings read once for all runs.
struct Fig1 {
    sets: Vec<Set>,
    settings: Vec<Setting>,
    seed: u64,
}

/// The experiment.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    let sets = if options.quick { vec![data::made(options.seed)?] } else { data::read(options)? };
    let settings = settings::all(&sets, options);
    Ok(Box::new(Fig1 { sets, settings, seed: options.seed }))
}

impl Experiment for Fig1 {
    fn name(&self) -> &'static str {
        "fig1"
    }

    fn title(&self) -> String {
        "Figure 1: probabilistic matrix factorisation, batch VI and SVI+".into()
    }

    fn about(&self) -> Vec<String> {
        let mut about: Vec<String> = self.sets.iter().map(|set| set.about.clone()).collect();
        about.extend(settings::about(&self.sets));
        about
    }

    fn starts(&self) -> String {
        settings::starts(&self.sets, &self.settings)
    }

    fn reads_data(&self) -> bool {
        true
    }

    fn jobs(&self) -> Vec<Job> {
        self.settings.iter().flat_map(|setting| setting.jobs(&self.sets[setting.set])).collect()
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let setting = self.settings.iter().find(|setting| setting.name == job.setting);
        let (setting, method) = setting
            .zip(Method::named(&job.method))
            .with_context(|| format!("there is no run {}, {}", job.setting, job.method))?;
        let set = &self.sets[setting.set];
        let model = Pmf::new(setting.params(method), &set.ratings)?;
        let mut record = Record::of(job);
        let config = setting.config(method, set, self.seed, job.start);
        let found = observe(lehr::fit(&model, &set.ratings).config(config), stop, &mut record)?;
        Ok(found.map(|_| record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(&self.sets, &self.settings, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(&self.sets, &self.settings, records)
    }
}
