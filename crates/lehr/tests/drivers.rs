//! A driver of one's own: it kicks the best state with noise, quenches it and keeps what is better; killed
//! between and inside its tries it goes on and ends with the same bits.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use common::{as_csv, bits, clusters};
use lehr::data::FromFile;
use lehr::fit::drive::{self, Restarts};
use lehr::fit::{
    Driver, DriverPart, Fitted, Observation, Outcome, Progress, Resume, RunId, Session, State,
    Watcher,
};
use lehr::models::mixture::{Defaults, Start};
use lehr::models::{Mixture, MixtureParams};
use lehr::settings::Plan;
use lehr::store::{self, Begin, Disk, Extension, Items, Run, RunDirectory};
use lehr::{Error, FitConfig, Model, Points, Result};

/// Tries of a few noisy steps and a noiseless run each.
struct Kicks {
    tries: u32,
}

/// What the driver must know besides the run under way. Run 0 is the plain fit; try n is run 2n - 1, the kick,
/// and run 2n, the quench.
struct Search {
    run: u32,
    best: Option<(f64, State)>,
    wins: u32,
}

const NAME: &str = "kicks";
const TRIES: u32 = 3;

impl Search {
    /// Its part of a checkpoint.
    fn part(&self) -> DriverPart {
        let bound = self.best.as_ref().map(|(bound, _)| *bound);
        DriverPart {
            name: NAME.to_string(),
            run: self.run,
            notes: json!({ "bound": bound, "wins": self.wins }),
            states: self.best.iter().map(|(_, state)| state.clone()).collect(),
        }
    }

    /// Where a checkpoint has left it.
    fn of(part: DriverPart) -> Result<Self> {
        if part.name != NAME {
            return Err(Error::data(format!("this run was begun by {}", part.name)));
        }
        let bound = part.notes["bound"].as_f64();
        let wins = part.notes["wins"].as_u64().unwrap_or(0) as u32;
        Ok(Search { run: part.run, best: bound.zip(part.states.into_iter().next()), wins })
    }

    fn progress(&self, state: &State) -> Progress {
        Progress { driver: Some(self.part()), ..Progress::from(state.clone()) }
    }
}

impl Kicks {
    /// The plan of a run that starts at this step: noise for a few steps, or batch VI.
    fn plan(&self, session: &Session<'_, Mixture>, run: u32, from: u64) -> Result<Plan> {
        let n_items = session.engine.sizes().n_items;
        let base =
            FitConfig { tol: 1e-7, seed: 3, checkpoint_every: Some(1), ..FitConfig::default() };
        let config = match run % 2 {
            1 => FitConfig {
                steps: Some(4),
                noise_end: 1.0,
                effective: "20".parse().unwrap(),
                tol: 0.0,
                ..base
            },
            _ => FitConfig { steps: Some(9), ..base },
        };
        Ok(config.check(n_items)?.after(from))
    }
}

impl Driver<Mixture> for Kicks {
    fn drive(
        &self,
        session: &mut Session<'_, Mixture>,
        resume: Option<Resume>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted> {
        let Resume { mut progress, mut history } = match resume {
            Some(resume) => resume,
            None => Resume::from((session.start)(0)?),
        };
        let mut search = match progress.driver.take() {
            Some(part) => Search::of(part)?,
            None => Search { run: 0, best: None, wins: 0 },
        };
        watcher.begins(session.plan, &progress);
        let (mut state, last) = (progress.state, 2 * self.tries);
        let mut stop;
        loop {
            watcher.stage(&format!(
                "try {}/{}, {} won",
                search.run.div_ceil(2),
                self.tries,
                search.wins
            ));
            // The steps before this run: those of its first observation, if it was interrupted.
            let from = history.first().map_or(state.step, |o| o.step);
            let plan = self.plan(session, search.run, from)?;
            let id = RunId { restart: 0, run: search.run };
            let saved = |state: &State| search.progress(state);
            let ran = drive::run(session, &plan, id, state, &history, watcher, &saved)?;
            history.clear();
            stop = ran.stop;
            if ran.is_early() {
                return Ok(self.ended(session, search, ran.state, stop, true));
            }
            state = ran.state;
            if search.run % 2 == 0 {
                let gain =
                    ran.bound - search.best.as_ref().map_or(f64::NEG_INFINITY, |(bound, _)| *bound);
                let is_better = gain > 0.0;
                if search.run > 0 {
                    let mut event = session.fit_at(id, state.clone())?.look()?;
                    event.event =
                        Some(json!({ "kick": "noise", "accepted": is_better, "gain": gain }));
                    event.closing = true;
                    watcher.observe(&event)?;
                    search.wins += u32::from(is_better);
                }
                if is_better {
                    search.best = Some((ran.bound, state.clone()));
                }
                if search.run == last {
                    return Ok(self.ended(session, search, state, stop, false));
                }
                state = search.best.as_ref().expect("there is a best by now").1.clone();
            }
            search.run += 1;
            // Between two runs: a checkpoint here must not do the last one again.
            let (moment, search) = (&state, &search);
            watcher.after_step(moment, &|| search.progress(moment))?;
        }
    }
}

impl Kicks {
    fn ended(
        &self,
        session: &Session<'_, Mixture>,
        search: Search,
        state: State,
        stop: lehr::StopReason,
        early: bool,
    ) -> Fitted {
        let pending = early.then(|| search.progress(&state));
        let (bound, state) = search.best.unwrap_or((f64::NAN, state));
        let outcome = Outcome { restart: 0, bound, steps: state.step, stop, search: None };
        Fitted {
            state,
            outcomes: vec![outcome.clone()],
            outcome,
            timings: session.meter.timings(),
            local_iterations: session.meter.iterations(),
            pending,
        }
    }
}

/// Dies like a process would, after this many checkpoints; notes the driver's lines.
#[derive(Default)]
struct Killer {
    left: Option<u32>,
    stages: Vec<String>,
}

impl Watcher for Killer {
    fn after_step(&mut self, _: &State, _: &dyn Fn() -> Progress) -> Result<()> {
        match &mut self.left {
            Some(0) => Err(Error::data("killed")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn stage(&mut self, line: &str) {
        self.stages.push(line.to_string());
    }
}

struct Place {
    folder: tempfile::TempDir,
    data: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("points.csv");
        fs::write(&data, as_csv(&clusters(200, 2, 6, 3.0, 7))).unwrap();
        Place { folder, data }
    }

    fn run(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fit(&self, run: &Path, watcher: &mut Killer) -> Result<Run<Mixture>> {
        let options = Default::default();
        let points = Points::read(&self.data, &options)?;
        let items = Items::of_file(&points, &self.data, &options);
        let config =
            FitConfig { seed: 3, checkpoint_every: Some(1), threads: 1, ..FitConfig::default() };
        let (begin, mut disk) = (Begin::Random, Disk::new(run)?);
        // A start that leaves something to find.
        let params = MixtureParams {
            start: Start::KmeansPlusPlus,
            defaults: Defaults::Volume,
            ..MixtureParams::gmm(8)
        };
        store::fit_with(&Kicks { tries: TRIES }, items, params, &config, begin, &mut disk, watcher)
    }

    fn resume(&self, run: &Path, watcher: &mut Killer) -> Result<store::RunResult> {
        let directory = RunDirectory::open(run)?;
        store::resume_with(&Kicks { tries: TRIES }, &directory, Extension::default(), None, watcher)
    }
}

/// Lambda and the trace without what a clock says.
fn left_behind(run: &Path) -> (Vec<u64>, Vec<Value>) {
    let found = Run::<Mixture>::load(run).unwrap();
    let line = |o: &Observation| {
        let mut line = serde_json::to_value(o).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        line
    };
    (bits(found.lambda().table().values()), found.trace.iter().map(line).collect())
}

#[test]
fn a_search_is_never_worse_than_its_plain_run_and_says_what_it_tried() {
    let place = Place::new();
    let mut watcher = Killer::default();
    let run = place.fit(&place.run("whole"), &mut watcher).unwrap();
    let (_, trace) = left_behind(&place.run("whole"));
    let events: Vec<&Value> = trace.iter().filter_map(|line| line.get("event")).collect();
    assert_eq!(events.len(), 3, "one for each try");
    assert!(events.iter().all(|event| event["kick"] == "noise" && event["accepted"].is_boolean()));
    let runs: Vec<u64> =
        trace.iter().map(|line| line.get("run").map_or(0, |r| r.as_u64().unwrap())).collect();
    assert!(runs.is_sorted() && runs.last() == Some(&6), "{runs:?}");
    let plain =
        trace.iter().rfind(|line| line.get("run").is_none()).unwrap()["bound"].as_f64().unwrap();
    let best = run.result.as_ref().unwrap().best.bound;
    assert!(best >= plain, "{best} and {plain}");
    let gains = events.iter().filter(|event| event["accepted"] == true).count();
    assert!(gains > 0, "a data set on which kicks help");
    assert!(best > plain);
    assert_eq!(watcher.stages.len(), 7, "a line for each run");
    assert!(watcher.stages[0].starts_with("try 0/3"), "{:?}", watcher.stages);
}

#[test]
fn killed_between_and_inside_tries_it_goes_on_with_the_same_bits() {
    let place = Place::new();
    place.fit(&place.run("whole"), &mut Killer::default()).unwrap();
    let expected = left_behind(&place.run("whole"));
    let (mut kills, mut between) = (0, 0);
    for at in (0..).step_by(4) {
        let run = place.run(&format!("killed-{at}"));
        let mut killer = Killer { left: Some(at), ..Killer::default() };
        let Err(error) = place.fit(&run, &mut killer) else { break };
        assert_eq!(error.to_string(), "killed");
        kills += 1;
        // Every third is killed a second time on its way.
        if at % 8 == 0 {
            let mut killer = Killer { left: Some(at / 2), ..Killer::default() };
            if place.resume(&run, &mut killer).is_ok() {
                assert!(
                    left_behind(&run) == expected,
                    "killed after checkpoint {at}, then left alone"
                );
                continue;
            }
        }
        let (lambda, trace) =
            (place.resume(&run, &mut Killer::default()).unwrap(), left_behind(&run));
        assert!(lambda.complete);
        assert_eq!(trace.0, expected.0, "killed after checkpoint {at}: lambda");
        assert_eq!(trace.1, expected.1, "killed after checkpoint {at}: trace");
        let first = killer.stages.len();
        between += usize::from(first > 1);
    }
    assert!(kills > 8 && between > 4, "{kills} kills, {between} after a first run had ended");
}

#[test]
fn another_driver_does_not_go_on_with_it() {
    let place = Place::new();
    let run = place.run("killed");
    assert!(place.fit(&run, &mut Killer { left: Some(25), ..Killer::default() }).is_err());
    let directory = RunDirectory::open(&run).unwrap();
    let error =
        store::resume::<Mixture>(&directory, Extension::default(), None, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "this run was started by kicks, not by restarts");
    // What it has found so far is the model to use: the best state, not the one that a kick has shaken.
    let found = Run::<Mixture>::load(&run).unwrap();
    let model: &Mixture = &found.model;
    assert!(found.lambda().table().rows().enumerate().all(|(row, x)| model.in_domain(row, x)));
    let _: &dyn Driver<Mixture> = &Restarts;
}
