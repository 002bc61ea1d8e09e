//! Figure 2: LDA, held-out scores against steps, SVI with several batch sizes and SVI+, with controls.
//!
//! ```text
//! corpus.rs    the documents: read, or made from planted topics
//! settings.rs  what is run on them: step sizes, methods
//! figures.rs   the paper's figure; all three scores; against documents; step sizes; guards
//! claims.rs    what the runs say about the paper's claims
//! ```

mod claims;
mod corpus;
mod figures;
mod settings;

use anyhow::Context;

use lehr::fit::Problem;
use lehr::models::Lda;

use super::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop, observe};
use corpus::Corpus;
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
            true => corpus::made(options.seed)?,
            false => corpus::read(options)?,
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
        let problem = Problem { model: &self.model, data: training, heldout: Some(heldout) };
        let mut record = Record::of(job);
        let Some(_) = observe(problem, &config, stop, &mut record)? else { return Ok(None) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Point;

    fn quick(runs: u32) -> Fig2 {
        Fig2::new(&Options { quick: true, runs: Some(runs), data: None, seed: 1 }).unwrap()
    }

    /// Records with the same score for all three numbers, which rises by 1 over the run.
    fn made_up(experiment: &Fig2, height: impl Fn(&str, u32) -> f64) -> Records {
        let (steps, every) = (experiment.settings.steps, experiment.settings.eval_every);
        let record = |job: Job| {
            let mut record = Record::of(&job);
            let batch = experiment.settings.config(&job, 1).unwrap().batch.unwrap() as u64;
            let end = height(&job.method, job.start);
            let values = |score: f64| KEPT.map(|name| (name.to_string(), score)).into();
            let points = (0..=steps).step_by(every as usize).map(|step| {
                let score = end - (1.0 - step as f64 / steps as f64);
                Point { step, items: batch * step, values: values(score) }
            });
            record.curve = points.collect();
            record.end = values(end);
            record
        };
        Records::new(experiment.jobs().into_iter().map(record).collect())
    }

    #[test]
    fn every_job_is_a_run_of_its_own_with_shared_randomness() {
        let experiment = quick(3);
        let jobs = experiment.jobs();
        let keys: std::collections::BTreeSet<_> =
            jobs.iter().map(|job| (&job.setting, &job.method, job.start)).collect();
        assert_eq!(keys.len(), jobs.len());
        // Nine methods under the first step size, five under two others.
        assert_eq!(jobs.len(), 3 * (9 + 2 * 5));
        let seed = |job: &Job| experiment.settings.config(job, 1).unwrap().seed;
        let seeds: std::collections::BTreeSet<_> =
            jobs.iter().map(|job| (job.start, seed(job))).collect();
        assert_eq!(seeds.len(), 3);
    }

    #[test]
    fn the_same_job_gives_the_same_bits() {
        let experiment = quick(1);
        let jobs = experiment.jobs();
        let job = jobs.iter().find(|job| job.method.starts_with("SVI+")).unwrap();
        let run = || experiment.run(job, &|| false).unwrap().unwrap();
        let record = run();
        assert_eq!(record, run());
        assert!(
            ["local", "full", "completion", "unigram"].iter().all(|x| record.end.contains_key(*x))
        );
        assert!(record.curve.iter().all(|point| !point.values.contains_key("bound")));
    }

    #[test]
    fn each_figure_has_its_panels_and_series() {
        let experiment = quick(2);
        let pictures = experiment.figures(&made_up(&experiment, |_, start| f64::from(start)));
        let shape: Vec<(&str, Vec<usize>)> = pictures
            .iter()
            .map(|p| (&*p.suffix, p.figure.panels.iter().map(|p| p.series.len()).collect()))
            .collect();
        let expected = [
            ("", vec![5]),
            ("scores", vec![5; 3]),
            ("documents", vec![5; 3]),
            ("schedules", vec![5; 6]),
            ("guards", vec![4; 6]),
        ];
        assert_eq!(shape, expected);
    }

    #[test]
    fn claims_hold_if_the_paper_is_right_and_do_not_if_all_is_the_other_way_round() {
        let experiment = quick(3);
        let [small, _, large] = experiment.settings.sizes;
        let paper = |method: &str, start: u32| {
            let height = match method {
                _ if method.starts_with("SVI+") => 9.0,
                _ if method.ends_with(&format!("= {large}")) => 1.0,
                _ if method.ends_with(&format!("= {small}")) => 2.0,
                _ => 3.0,
            };
            height + 0.1 * f64::from(start)
        };
        let verdicts = |sign: f64| -> Vec<String> {
            let records = made_up(&experiment, |method, start| sign * paper(method, start));
            experiment.claims(&records).iter().map(|claim| claim.verdict().to_string()).collect()
        };
        assert!(verdicts(1.0).iter().all(|verdict| verdict == "holds"), "{:?}", verdicts(1.0));
        let opposite = "does not hold: the opposite does";
        assert!(verdicts(-1.0).iter().all(|verdict| verdict == opposite), "{:?}", verdicts(-1.0));
    }
}
