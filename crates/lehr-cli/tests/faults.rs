//! Processes that die in the middle of writing a file: every model, every file, every point of the way.
//!
//! A few dozen kills by default; `LEHR_KILLS=200` makes this many, at points and moments drawn at random
//! (`LEHR_SEED`). docs/reference/reliability.md says what the points are.

#![cfg(all(unix, any(debug_assertions, feature = "faults")))]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use common::Place;
use common::running::{Running, is_complete, same_run, tidy};

const POINTS: [&str; 7] = ["begun", "half", "written", "synced", "kept", "renamed", "done"];

/// A command that writes a run directory, and how the run directory comes to be there.
struct Case {
    name: &'static str,
    /// What makes it, but for `-o DIR`; `resume` is for a run that exists.
    line: String,
    /// The run that exists, if it does.
    before: Option<&'static str>,
}

const CHECKPOINTS: usize = 8;

fn cases(place: &Place) -> Vec<Case> {
    place.points("points.csv", 300);
    place.docs("a", 200);
    place.docs("b", 120);
    place.ratings("ratings.dat", 60);
    // Eight checkpoints each.
    let rhythm = "--tol 0 --steps 24 --checkpoint-every 3 --eval-every 2";
    let fit =
        |name, flags: &str| Case { name, line: format!("fit {flags} {rhythm}"), before: None };
    place.ok(&format!("fit lda docword.a.txt -k 5 --batch 50 {rhythm} -o parent"));
    place.ok(&format!("fit gmm points.csv -k 4 --start points --n-init 2 {rhythm} -o ended"));
    vec![
        fit("gmm", "gmm points.csv -k 4 --batch 100 --effective 30"),
        fit("dpgmm", "dpgmm points.csv -k 6 --start points --n-init 2"),
        fit("lda", "lda docword.a.txt -k 5 --batch 50 --effective 20 --warm --holdout 20"),
        fit("pmf", "pmf ratings.dat -d 3 --holdout 0.1 --effective 5t"),
        Case {
            name: "partial",
            line: format!("partial parent docword.b.txt --batch 40 {rhythm}"),
            before: None,
        },
        Case { name: "more", line: "resume more --steps 24".into(), before: Some("ended") },
    ]
}

fn copy(place: &Place, from: &str, to: &str) {
    fs::create_dir(place.path(to)).unwrap();
    for (path, bytes) in place.snapshot(from) {
        fs::write(place.path(to).join(path.file_name().unwrap()), bytes).unwrap();
    }
}

/// How one process is killed.
enum Strike {
    /// When the given file comes to the given point for the n-th time.
    At(String),
    /// After a while, with writers slowed down.
    After(Duration, String),
}

/// A case under way.
struct Life<'p> {
    place: &'p Place,
    case: &'p Case,
    run: String,
    /// Whether a `resume --steps` has reached the disk.
    begun: bool,
}

impl<'p> Life<'p> {
    fn new(place: &'p Place, case: &'p Case, number: usize) -> Self {
        let run = format!("{}{number}", case.name);
        if let Some(before) = case.before {
            copy(place, before, &run);
        }
        Life { place, case, run, begun: false }
    }

    /// What a user would type now.
    fn line(&self) -> String {
        let run = &self.run;
        match self.case.before {
            Some(_) if self.begun => format!("resume {run}"),
            Some(_) => self.case.line.replace(self.case.name, run),
            None if self.place.path(run).join("config.json").exists() => format!("resume {run}"),
            None => format!("{} -o {run}", self.case.line),
        }
    }

    /// Whether the process was killed; false if it came to its end before.
    fn struck(&mut self, strike: &Strike) -> bool {
        let mut command = self.place.command(&self.line());
        let (Strike::At(fault) | Strike::After(_, fault)) = strike;
        command.env("LEHR_FAULT", fault);
        let mut running = Running::of(command);
        if let Strike::After(wait, _) = strike {
            std::thread::sleep(*wait);
            let _ = running.0.kill();
        }
        let status = running.0.wait().unwrap();
        let killed = status.signal() == Some(9);
        if !killed {
            assert_eq!(status.code(), Some(0), "{} {strike}", self.line());
        }
        // The extension is in force once the record and the checkpoint say so.
        if self.case.before.is_some() {
            self.begun = self.place.ok(&format!("show {}", self.run)).contains("not done");
        }
        killed
    }

    fn is_complete(&self) -> bool {
        let steps = || self.place.read_json(&format!("{}/result.json", self.run))["steps"].clone();
        is_complete(self.place, &self.run) && (self.case.before.is_none() || steps() == 48)
    }

    /// Lets the run come to its end and compares it with one that was never killed.
    fn ends_like(self, reference: &str) {
        match self.is_complete() {
            false => drop(self.place.ok(&self.line())),
            // Killed when all was done but to take back the note on who is at work.
            true => tidy(self.place, &self.run),
        }
        same_run(self.place, &self.run, reference);
        fs::remove_dir_all(self.place.path(&self.run)).unwrap();
    }
}

impl std::fmt::Display for Strike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Strike::At(fault) => write!(f, "{fault}"),
            Strike::After(wait, fault) => write!(f, "after {wait:?}, {fault}"),
        }
    }
}

/// The run of each case that is not killed.
fn references(place: &Place, cases: &[Case]) -> Vec<String> {
    let make = |case: &Case| {
        let reference = format!("{}-reference", case.name);
        match case.before {
            None => place.ok(&format!("{} -o {reference}", case.line)),
            Some(before) => {
                copy(place, before, &reference);
                place.ok(&case.line.replace(case.name, &reference))
            }
        };
        reference
    };
    cases.iter().map(make).collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn strike(&mut self) -> Strike {
        match self.below(10) {
            0..5 => {
                let (point, n) = (self.of(&POINTS), 1 + self.below(CHECKPOINTS));
                Strike::At(format!("kill:{point}:{n}:checkpoint.safetensors"))
            }
            5 => Strike::At(format!("kill:half:{}:trace.jsonl", 1 + self.below(12))),
            6 => {
                let (point, n) = (self.of(&POINTS), 1 + self.below(14));
                Strike::At(format!("kill:{point}:{n}"))
            }
            7 => {
                let files = ["config.json", "result.json", "trace.jsonl"];
                Strike::At(format!("kill:{}:1:{}", self.of(&POINTS), self.of(&files)))
            }
            _ => {
                let wait = Duration::from_micros(self.below(60_000) as u64);
                let slow = format!("slow:{}:4:checkpoint.safetensors", self.of(&POINTS));
                Strike::After(wait, slow)
            }
        }
    }
}

#[test]
fn a_process_that_dies_while_it_writes_loses_nothing() {
    let place = Place::new();
    let cases = cases(&place);
    let references = references(&place, &cases);
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<usize>().unwrap());
    let (mut kills, mut runs) = (0, 0);
    // Every point of a checkpoint's way, for every case in turn, and the other files.
    let mut told: Vec<String> = POINTS
        .iter()
        .enumerate()
        .map(|(i, point)| format!("kill:{point}:{}:checkpoint.safetensors", 1 + i % CHECKPOINTS))
        .collect();
    told.push("kill:half:5:trace.jsonl".into());
    told.push("kill:renamed:1:config.json".into());
    told.push("kill:half:1:result.json".into());
    for (i, fault) in told.iter().enumerate() {
        for part in 0..2 {
            let at = (i + 3 * part) % cases.len();
            let mut life = Life::new(&place, &cases[at], runs);
            runs += 1;
            assert!(life.struck(&Strike::At(fault.clone())), "{} {fault}", cases[at].name);
            kills += 1;
            life.ends_like(&references[at]);
        }
    }
    // Then at random, up to four times each.
    let wanted = number("LEHR_KILLS").unwrap_or(0);
    let mut random = Random(number("LEHR_SEED").unwrap_or(1) as u64 + 0x9e37_79b9_7f4a_7c15);
    while kills < wanted {
        let at = runs % cases.len();
        let mut life = Life::new(&place, &cases[at], runs);
        runs += 1;
        for _ in 0..1 + random.below(4) {
            if !life.struck(&random.strike()) {
                break;
            }
            kills += 1;
            // Killed when all was done: to give it more steps again would be another run.
            if life.is_complete() {
                break;
            }
        }
        life.ends_like(&references[at]);
    }
    println!("kills: {kills} in {runs} runs of {} kinds; losses: 0", cases.len());
}
