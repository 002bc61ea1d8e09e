//! Jobs, the records of finished ones, and the file that keeps them: what an interrupted `reproduce` has
//! done is not done again.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::{Experiment, Options};

/// One run to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The data and all that is common to the methods that are compared.
    pub setting: String,
    /// What is compared.
    pub method: String,
    /// Which start, from 0; the same start is the same for every method.
    pub start: u32,
    /// How long it takes, in any unit that is the same for all jobs of the experiment.
    pub cost: f64,
}

impl Job {
    fn key(&self) -> Key {
        (self.setting.clone(), self.method.clone(), self.start)
    }
}

type Key = (String, String, u32);

/// What one run found. Nothing of it depends on the machine's speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// As in the job.
    pub setting: String,
    /// As in the job.
    pub method: String,
    /// As in the job.
    pub start: u32,
    /// The run as it went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Point>,
    /// What it ended with.
    pub end: BTreeMap<String, f64>,
    /// What it ended with that is more than a number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, Vec<f64>>,
}

impl Record {
    /// An empty record of a job.
    pub fn of(job: &Job) -> Self {
        let Job { setting, method, start, .. } = job.clone();
        let (curve, end, lists) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Record { setting, method, start, curve, end, lists }
    }

    /// The record of a run that ended without a result.
    pub fn diverged(job: &Job) -> Self {
        let mut record = Record::of(job);
        record.note("diverged", 1.0);
        record
    }

    /// Notes a final number; one that is not finite is left out.
    pub fn note(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.end.insert(name.into(), value);
        }
    }

    fn key(&self) -> Key {
        (self.setting.clone(), self.method.clone(), self.start)
    }
}

/// A moment of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Updates so far.
    pub step: u64,
    /// Items seen so far.
    pub items: u64,
    /// The bound, and whatever else is followed.
    pub values: BTreeMap<String, f64>,
}

/// What a curve is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum X {
    /// Updates.
    Steps,
    /// Items seen.
    Items,
}

/// The records of finished jobs, in the order of the jobs.
#[derive(Debug, Clone, Default)]
pub struct Records(Vec<Record>);

impl Records {
    /// The given records.
    #[cfg(test)]
    pub fn new(records: Vec<Record>) -> Self {
        Records(records)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.0.iter()
    }

    /// Those of one method in one setting, by start.
    pub fn of(&self, setting: &str, method: &str) -> Vec<&Record> {
        self.0.iter().filter(|r| r.setting == setting && r.method == method).collect()
    }

    /// The final number `name` of every run of a method that has it.
    pub fn ends(&self, setting: &str, method: &str, name: &str) -> Vec<f64> {
        self.of(setting, method).iter().filter_map(|r| r.end.get(name).copied()).collect()
    }

    /// `name` of one method minus that of another, for every start of which the other has it; NaN, which
    /// counts as a loss, where the method itself has not.
    pub fn differences(&self, setting: &str, method: &str, other: &str, name: &str) -> Vec<f64> {
        self.paired((setting, method), (setting, other), name)
    }

    /// The same for methods of different settings.
    pub fn paired(&self, this: (&str, &str), other: (&str, &str), name: &str) -> Vec<f64> {
        let others: HashMap<u32, f64> = self
            .of(other.0, other.1)
            .iter()
            .filter_map(|r| Some((r.start, *r.end.get(name)?)))
            .collect();
        let own = |r: &Record| r.end.get(name).copied().unwrap_or(f64::NAN);
        let with_other = |r: &&Record| Some(own(r) - others.get(&r.start)?);
        self.of(this.0, this.1).iter().filter_map(with_other).collect()
    }

    /// The curves of a method, for a fan.
    pub fn curves(&self, setting: &str, method: &str, x: X, name: &str) -> Vec<Vec<(f64, f64)>> {
        let at = |p: &Point| match x {
            X::Steps => p.step as f64,
            X::Items => p.items as f64,
        };
        let curve = |r: &&Record| {
            r.curve.iter().filter_map(|p| Some((at(p), *p.values.get(name)?))).collect()
        };
        self.of(setting, method).iter().map(curve).collect()
    }
}

/// The settings that stored runs belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    experiment: String,
    lehr: String,
    quick: bool,
    seed: u64,
    about: Vec<String>,
}

/// The records of one experiment on disk: a header, then a line of JSON for every finished run.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    records: HashMap<Key, Record>,
}

impl Store {
    /// Opens or begins the store in a folder.
    pub fn open(
        folder: &Path,
        experiment: &dyn Experiment,
        options: &Options,
    ) -> anyhow::Result<Self> {
        let path = folder.join("runs.jsonl");
        let header = Header {
            experiment: experiment.name().into(),
            lehr: env!("CARGO_PKG_VERSION").into(),
            quick: options.quick,
            seed: options.seed,
            about: experiment.about(),
        };
        let failed = |what: &str| format!("{}: cannot {what}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| failed("open"))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).with_context(|| failed("read"))?;
        // A line without its end is what a crash has left of the last one.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).with_context(|| failed("write"))?;
        file.seek(SeekFrom::End(0)).with_context(|| failed("write"))?;
        let mut store = Store { path, file, records: HashMap::new() };
        if whole == 0 {
            store.append(&header)?;
            return Ok(store);
        }
        let lines = text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            let place = || format!("{}: line {}", store.path.display(), number + 1);
            if number == 0 {
                let found: Header = serde_json::from_slice(line)
                    .with_context(|| format!("{} is not a list of runs", place()))?;
                if found != header {
                    bail!(
                        "{}: these runs are of other settings ({}); choose another folder with -o, or \
                         delete this one",
                        store.path.display(),
                        difference(&found, &header),
                    );
                }
                continue;
            }
            let record: Record = serde_json::from_slice(line)
                .with_context(|| format!("{} is damaged; delete it and go on", place()))?;
            store.records.insert(record.key(), record);
        }
        Ok(store)
    }

    /// Whether a job is done.
    pub fn has(&self, job: &Job) -> bool {
        self.records.contains_key(&job.key())
    }

    /// Keeps a finished run.
    pub fn add(&mut self, record: Record) -> anyhow::Result<()> {
        self.append(&record)?;
        self.records.insert(record.key(), record);
        Ok(())
    }

    fn append(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line).context("a run cannot become JSON")?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("{}: cannot write", self.path.display()))
    }

    /// The finished runs of these jobs, in their order.
    pub fn records(&self, jobs: &[Job]) -> Records {
        Records(jobs.iter().filter_map(|job| self.records.get(&job.key()).cloned()).collect())
    }
}

/// In what two headers differ, for the message.
fn difference(found: &Header, asked: &Header) -> String {
    if found.experiment != asked.experiment {
        return format!("of {}", found.experiment);
    }
    if found.quick != asked.quick {
        return format!("{} --quick", if found.quick { "with" } else { "without" });
    }
    if found.seed != asked.seed {
        return format!("--seed {}", found.seed);
    }
    if found.lehr != asked.lehr {
        return format!("lehr {}", found.lehr);
    }
    let other = found.about.iter().find(|line| !asked.about.contains(line));
    other.map_or_else(|| "other data".into(), |line| format!("\"{line}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::fake::{Fake, options};

    #[test]
    fn what_is_done_is_found_again_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake("a");
        let jobs = fake.jobs();
        let mut store = Store::open(folder.path(), &fake, &options()).unwrap();
        for job in &jobs[..2] {
            store.add(fake.run(job, &|| false).unwrap().unwrap()).unwrap();
        }
        drop(store);
        let path = folder.path().join("runs.jsonl");
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 5]).unwrap();
        let mut store = Store::open(folder.path(), &fake, &options()).unwrap();
        assert!(store.has(&jobs[0]) && !store.has(&jobs[1]));
        store.add(fake.run(&jobs[1], &|| false).unwrap().unwrap()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text, "the same bytes as without the crash");
        let records = Store::open(folder.path(), &fake, &options()).unwrap().records(&jobs);
        assert_eq!(records.ends("s", "m", "x"), [0.1, 1.1]);
        assert!(records.ends("s", "m", "nothing").is_empty());
    }

    #[test]
    fn runs_of_other_settings_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path(), &Fake("ten starts"), &options()).unwrap();
        let error = Store::open(folder.path(), &Fake("b"), &options()).unwrap_err().to_string();
        assert!(error.contains("ten starts") && error.contains("-o"), "{error}");
        let other = Options { seed: 2, ..options() };
        let error = Store::open(folder.path(), &Fake("ten starts"), &other).unwrap_err();
        assert!(error.to_string().contains("--seed 1"), "{error}");
    }

    #[test]
    fn differences_are_paired_by_start() {
        let record = |method: &str, start, x: f64| {
            let job = Job { setting: "s".into(), method: method.into(), start, cost: 1.0 };
            let mut record = Record::of(&job);
            record.note("x", x);
            record
        };
        let records = Records::new(vec![
            record("a", 0, 5.0),
            record("a", 2, 7.0),
            record("b", 0, 1.0),
            record("b", 1, 2.0),
            record("b", 2, 4.0),
        ]);
        assert_eq!(records.differences("s", "a", "b", "x"), [4.0, 3.0]);
        // A run that has nothing to show is not forgotten.
        let job = Job { setting: "s".into(), method: "a".into(), start: 1, cost: 1.0 };
        let all = records.iter().cloned().chain([Record::diverged(&job)]).collect();
        let differences = Records::new(all).differences("s", "a", "b", "x");
        assert!(differences.len() == 3 && differences[2].is_nan(), "{differences:?}");
    }
}
