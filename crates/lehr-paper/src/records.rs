//! Jobs, the records of finished ones, and the file that keeps them: what an interrupted `reproduce` has
//! done is not done again.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Serialize};

use lehr::math::kernels::Isa;
use lehr::store::Cpu;

use crate::{Experiment, Options};

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

    /// The runs of two methods from the same starts, but for those of which the other has no `name`: it
    /// has failed, which is no win.
    pub fn pairs(&self, setting: &str, a: &str, b: &str, name: &str) -> Vec<(&Record, &Record)> {
        let others = self.of(setting, b);
        let other =
            |start| others.iter().copied().find(|r| r.start == start && r.end.contains_key(name));
        self.of(setting, a).into_iter().filter_map(|r| Some((r, other(r.start)?))).collect()
    }

    /// `name` of one method minus that of another, for every start of which the other has it; NaN, which
    /// counts as a loss, where the method itself has no number.
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
    /// Results have the same bits on machines whose kernels are the same.
    kernels: Isa,
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
    /// Opens or starts the store in a folder.
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
            kernels: Cpu::here().kernels,
            about: experiment.about(),
        };
        let failed =
            |what: &str, error: io::Error| anyhow!("{}: cannot {what}: {error}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| failed("open", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "{}: another process is at work here; wait for it, or choose another folder with -o",
                folder.display()
            ),
            Err(TryLockError::Error(error)) => return Err(failed("lock", error)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| failed("read", error))?;
        let (records, whole) = match text.is_empty() {
            true => (HashMap::new(), 0),
            false => read(&path, &text, &header)?,
        };
        // A line without its end is what a crash has left of the last one.
        file.set_len(whole as u64).map_err(|error| failed("write", error))?;
        let mut store = Store { path, file, records };
        if whole == 0 {
            store.append(&header)?;
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
        lehr::write::append(&mut self.file, &text, &self.path)?;
        let synced = self.file.sync_data();
        synced.map_err(|error| lehr::Error::io(&self.path, "cannot write", error).into())
    }

    /// The finished runs of these jobs, in their order.
    pub fn records(&self, jobs: &[Job]) -> Records {
        Records(jobs.iter().filter_map(|job| self.records.get(&job.key()).cloned()).collect())
    }
}

/// The records of a file that starts with this header, and up to where its lines are whole. Lines that are
/// damaged are left out: their runs are made again.
fn read(
    path: &Path,
    text: &[u8],
    header: &Header,
) -> anyhow::Result<(HashMap<Key, Record>, usize)> {
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let first = lines.next().and_then(|line| serde_json::from_slice::<Header>(line).ok());
    match first {
        // Of a crash while the first line was written.
        None if whole == 0 && serde_json::to_vec(header)?.starts_with(text) => {
            return Ok((HashMap::new(), 0));
        }
        None => bail!(
            "{}: this is not a list of runs; choose another folder with -o, or delete the file",
            path.display()
        ),
        Some(found) if found != *header => bail!(
            "{}: these runs are of other settings ({}); choose another folder with -o, or delete this one",
            path.display(),
            difference(&found, header),
        ),
        Some(_) => {}
    }
    let mut records = HashMap::new();
    for (number, line) in lines.enumerate() {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => drop(records.insert(record.key(), record)),
            Err(_) => eprintln!(
                "warning: {}: line {} is damaged; its run is made again",
                path.display(),
                number + 2
            ),
        }
    }
    Ok((records, whole))
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
    if found.kernels != asked.kernels {
        return format!("a machine with {} kernels", found.kernels);
    }
    let other = found.about.iter().find(|line| !asked.about.contains(line));
    other.map_or_else(|| "other data".into(), |line| format!("\"{line}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, options};

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
        drop(store);
        let records = Store::open(folder.path(), &fake, &options()).unwrap().records(&jobs);
        assert_eq!(records.ends("s", "m", "x"), [0.1, 1.1]);
        assert!(records.ends("s", "m", "nothing").is_empty());
    }

    #[test]
    fn a_damaged_line_is_left_out_and_another_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake("a");
        let jobs = fake.jobs();
        let mut store = Store::open(folder.path(), &fake, &options()).unwrap();
        jobs.iter().for_each(|j| store.add(fake.run(j, &|| false).unwrap().unwrap()).unwrap());
        drop(store);
        let path = folder.path().join("runs.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines[2] = "{\"setting\":";
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let store = Store::open(folder.path(), &fake, &options()).unwrap();
        assert_eq!(jobs.iter().map(|job| store.has(job)).collect::<Vec<_>>(), [true, false, true]);
        drop(store);
        for notes in ["a\nmy notes", "my notes", "\n"] {
            std::fs::write(&path, notes).unwrap();
            let error = Store::open(folder.path(), &fake, &options()).unwrap_err().to_string();
            assert!(error.contains("not a list of runs"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), notes);
        }
    }

    #[test]
    fn two_cannot_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = Store::open(folder.path(), &Fake("a"), &options()).unwrap();
        let error = Store::open(folder.path(), &Fake("a"), &options()).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        Store::open(folder.path(), &Fake("a"), &options()).unwrap();
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
