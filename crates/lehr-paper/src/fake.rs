//! An experiment for tests, whose runs take no time.

use lehr::ErrorKind;

use crate::{Claim, Experiment, Job, Options, Picture, Record, Records, Stop};

/// Three runs under settings of this name; the second diverges if they are called `diverges`, and fails if
/// they are called `fails`.
pub struct Fake(pub &'static str);

impl Experiment for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }
    fn title(&self) -> String {
        "Fake".into()
    }
    fn about(&self) -> Vec<String> {
        vec![self.0.into()]
    }
    fn starts(&self) -> String {
        "Three starts.".into()
    }
    fn jobs(&self) -> Vec<Job> {
        let job = |start| Job { setting: "s".into(), method: "m".into(), start, cost: 1.0 };
        (0..3).map(job).collect()
    }
    fn run(&self, job: &Job, _: Stop<'_>) -> anyhow::Result<Option<Record>> {
        match (self.0, job.start) {
            ("diverges", 1) => {
                return Err(lehr::Error::from(ErrorKind::Diverged {
                    model: "fake".into(),
                    bound: f64::NAN,
                    step: 3,
                })
                .into());
            }
            ("fails", 1) => anyhow::bail!("no such thing"),
            _ => {}
        }
        let mut record = Record::of(job);
        record.note("x", 0.1 + f64::from(job.start));
        record.note("nothing", f64::NAN);
        Ok(Some(record))
    }
    fn figures(&self, _: &Records) -> Vec<Picture> {
        Vec::new()
    }
    fn claims(&self, _: &Records) -> Vec<Claim> {
        Vec::new()
    }
}

/// Any options.
pub fn options() -> Options {
    Options { quick: true, runs: None, data: None, seed: 1 }
}
