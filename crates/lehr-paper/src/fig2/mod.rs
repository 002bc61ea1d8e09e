//! Figure 2: LDA, held-out scores against steps, SVI with several batch sizes and SVI+, with controls.
//!
//! ```text
//! data.rs      the documents: read, or made from planted topics
//! settings.rs  what is run on them: step sizes, methods
//! figures.rs   the paper's figure; all three scores; against documents; step sizes; guards
//! claims.rs    what the runs say about the paper's claims
//! ```

mod data;
mod settings;
mod figures;
mod claims;
#[cfg(test)]
mod tests;

use anyhow::Context;

use lehr::models::Lda;

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use data::Corpus;
use settings::Settings;

/// What records keep: the three scores, and what noise does to lambda. The bound on training documents
/// is estimated from a handful and says nothing here.
const KEPT: [&str; 5] = ["local", "full", "completion", "mass", "clamped_share"];

/// The experiment, its documents read once for all runs.
struct Fig2 {
    corpus: Corpus,
    model: Lda,
    settings: Settings,
    seed: u64,
}

/// The experiment.
pub fn new(options: &Options) -> anyhow::Result<Box<dyn Experiment>> {
    Ok(Box::new(Fig2::new(options)?))
}

impl Fig2 {
    fn new(options: &Options) -> anyhow::Result<Self> {
        let corpus = match options.quick {
            true => data::made(options.seed)?,
            false => data::read(options)?,
        };
        let settings = Settings::new(options);
        let model = Lda::new(settings.params(), &corpus.training)?;
        Ok(Fig2 { corpus, model, settings, seed: options.seed })
    }
}

impl Experiment for Fig2 {
    fn name(&self) -> &'static str {
        "fig2"
    }

    fn title(&self) -> String {
        "Figure 2: latent Dirichlet allocation, SVI and SVI+".into()
    }

    fn about(&self) -> Vec<String> {
        let mut about = vec![self.corpus.about.clone()];
        about.extend(self.settings.about());
        about
    }

    fn starts(&self) -> String {
        self.settings.starts()
    }

    fn reads_data(&self) -> bool {
        true
    }

    fn jobs(&self) -> Vec<Job> {
        self.settings.jobs()
    }

    fn run(&self, job: &Job, stop: Stop<'_>) -> anyhow::Result<Option<Record>> {
        let config = self.settings.config(job, self.seed);
        let config =
            config.with_context(|| format!("there is no run {}, {}", job.setting, job.method))?;
        let Corpus { training, heldout, .. } = &self.corpus;
        let fit = lehr::fit(&self.model, training).heldout(Some(heldout));
        let mut record = Record::of(job);
        let Some(_) = observe(fit.config(config), stop, &mut record)? else { return Ok(None) };
        record.curve.iter_mut().for_each(|p| p.values.retain(|name, _| KEPT.contains(&&**name)));
        // The baseline without topics is the same in every point.
        record
            .end
            .retain(|name, _| KEPT.contains(&&**name) || name == "steps" || name == "unigram");
        Ok(Some(record))
    }

    fn figures(&self, records: &Records) -> Vec<Picture> {
        figures::all(&self.corpus, &self.settings, records)
    }

    fn claims(&self, records: &Records) -> Vec<Claim> {
        claims::all(&self.settings, records)
    }
}
