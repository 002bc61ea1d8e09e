//! The search: never below the plain fit, the same bits on any number of threads and after any kill, anytime, and honest
//! about what it did.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{as_csv, bits, clusters, rng, small_corpus};
use lehr::data::FromFile;
use lehr::fit::{Observation, Progress, State, Watcher};
use lehr::models::mixture::{Covariance, Defaults, Start};
use lehr::models::{Lda, LdaParams, Mixture, MixtureParams};
use lehr::store::{self, Begin, Disk, Extension, Items, Run, RunDirectory};
use lehr::{Docs, Error, ErrorKind, FitConfig, Points, Result, StopReason};

/// A start that leaves something to find.
fn params(base: MixtureParams) -> MixtureParams {
    MixtureParams { start: Start::KmeansPlusPlus, defaults: Defaults::Volume, ..base }
}

fn searching(times: f64) -> FitConfig {
    FitConfig { seed: 5, threads: 1, search: Some(times), ..FitConfig::default() }
}

fn fit(points: &Points, params: MixtureParams, config: &FitConfig) -> Run<Mixture> {
    Run::fit(Items::in_memory(points), params, config, Begin::Random, &mut ()).unwrap()
}

fn bound(run: &Run<Mixture>) -> f64 {
    run.result.as_ref().unwrap().best.bound
}

#[test]
fn a_search_is_never_below_the_plain_fit_of_its_start_and_counts_its_passes() {
    let points = clusters(400, 3, 9, 3.0, 4);
    let mut gained = 0;
    for shape in [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical] {
        for base in [MixtureParams::gmm(12), MixtureParams::dpgmm(12)] {
            let params = MixtureParams { covariance: shape, ..params(base) };
            let plain = fit(&points, params.clone(), &FitConfig { search: None, ..searching(0.0) });
            let found = fit(&points, params.clone(), &searching(4.0));
            let result = found.result.as_ref().unwrap();
            let search = result.best.search.as_ref().unwrap();
            assert_eq!(search.plain_bound.to_bits(), bound(&plain).to_bits(), "{params:?}");
            assert!(bound(&found) >= bound(&plain), "{params:?}");
            gained += usize::from(bound(&found) > bound(&plain) + 1.0);
            assert_eq!(search.passes_plain, plain.result.unwrap().best.steps as f64 + 1.0);
            assert_eq!(result.passes, Some(search.passes));
            assert_eq!(result.passes_plain, Some(search.passes_plain));
            let budget = 4.0 * search.passes_plain.max(30.0);
            assert!(search.passes >= budget, "{} of {budget}", search.passes);
            let spent: f64 = search.kicks.values().map(|tally| tally.passes).sum();
            assert!(spent > 0.0 && spent <= search.passes - search.passes_plain);
            // The bound is that of the model it leaves.
            let exact = lehr::fit::bound(
                &found.model,
                found.lambda(),
                &mut lehr::step::engine::Threads::new(&found.model, &points),
            );
            let (exact, told) = (exact.unwrap(), bound(&found));
            assert!((exact - told).abs() <= 1e-9 * told.abs(), "{exact} {told}");
        }
    }
    assert!(gained >= 6, "{gained} of 8 found something");
}

#[test]
fn the_trace_has_a_line_for_each_win_and_one_for_the_end() {
    let points = clusters(300, 2, 8, 3.0, 6);
    let run = fit(&points, params(MixtureParams::gmm(10)), &searching(4.0));
    let outcome = run.result.as_ref().unwrap().best.clone();
    let (_, wins) = outcome.search.as_ref().unwrap().tries();
    let events: Vec<_> = run.trace.iter().filter_map(|o| Some((o, o.event.as_ref()?))).collect();
    assert!(wins > 0);
    assert_eq!(events.len() as u32, wins + 1);
    let bounds: Vec<f64> = events.iter().map(|(o, _)| o.bound).collect();
    assert!(bounds.is_sorted(), "{bounds:?}");
    let (last, end) = events[events.len() - 1];
    assert_eq!((end["search"].as_str(), end["wins"].as_u64()), (Some("over"), Some(wins.into())));
    assert_eq!(last.bound, outcome.bound);
    assert!(events[..events.len() - 1].iter().all(|(_, event)| event["gain"].as_f64() > Some(0.0)));
    assert!(run.trace.is_sorted_by_key(|o| o.items));
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let points = clusters(3000, 4, 9, 3.0, 2);
    let of = |threads| {
        let config = FitConfig { threads, ..searching(2.0) };
        let run = fit(&points, params(MixtureParams::dpgmm(15)), &config);
        (bits(run.lambda().table().values()), run.result.unwrap().best)
    };
    let one = of(1);
    assert_eq!(of(2), one);
    assert_eq!(of(5), one);
}

#[test]
fn every_start_searches() {
    let points = clusters(300, 2, 8, 3.0, 6);
    let config = FitConfig { n_init: 3, ..searching(2.0) };
    let run = fit(&points, params(MixtureParams::gmm(10)), &config);
    let result = run.result.unwrap();
    assert_eq!(result.restarts.len(), 3);
    let passes: Vec<f64> =
        result.restarts.iter().map(|o| o.search.as_ref().unwrap().passes).collect();
    assert_eq!(result.passes, Some(passes.iter().sum()));
    assert!(result.restarts.iter().all(|o| o.bound <= result.best.bound));
}

#[test]
fn noise_alone_and_batches_search_too() {
    let points = clusters(300, 2, 8, 3.0, 6);
    let noise = FitConfig { kicks: Some("noise".parse().unwrap()), ..searching(4.0) };
    let run = fit(&points, params(MixtureParams::gmm(10)), &noise);
    let search = run.result.unwrap().best.search.unwrap();
    assert_eq!(search.kicks.keys().collect::<Vec<_>>(), ["noise"]);
    let batches = FitConfig { batch: Some(50), steps: Some(60), ..searching(4.0) };
    let run = fit(&points, params(MixtureParams::gmm(10)), &batches);
    let outcome = run.result.unwrap().best;
    assert!(outcome.bound >= outcome.search.unwrap().plain_bound);
    let auto = FitConfig { effective: "auto".parse().unwrap(), search: None, ..searching(0.0) };
    let (auto, four) = (
        fit(&points, params(MixtureParams::gmm(10)), &auto),
        fit(&points, params(MixtureParams::gmm(10)), &searching(4.0)),
    );
    assert_eq!(auto.lambda(), four.lambda());
}

#[test]
fn topics_are_searched_by_fresh_starts_with_the_priors_learned_so_far() {
    let docs = small_corpus(120, 3);
    let items = || Items::in_memory(&docs);
    let config = FitConfig { steps: Some(30), tol: 0.0, ..searching(3.0) };
    let plain = FitConfig { search: None, ..config.clone() };
    let params = || LdaParams::new(6);
    let plain = Run::<Lda>::fit(items(), params(), &plain, Begin::Random, &mut ()).unwrap();
    let found = Run::<Lda>::fit(items(), params(), &config, Begin::Random, &mut ()).unwrap();
    let (plain, outcome) =
        (plain.result.unwrap().best, found.result.as_ref().unwrap().best.clone());
    let search = outcome.search.unwrap();
    assert_eq!((search.plain_bound, search.tries().0), (plain.bound, 2));
    assert_eq!(search.passes, 3.0 * search.passes_plain);
    assert!(outcome.bound >= plain.bound);
    let last = found.trace.last().unwrap();
    assert_eq!(
        (last.bound, last.closing),
        (outcome.bound, true),
        "the last line is the best state's"
    );
    // Chosen by other documents, the bound may be any; the score is not below the plain fit's.
    let by = FitConfig { holdout: "30".parse().unwrap(), ..config.clone() };
    let plain = FitConfig { search: None, ..by.clone() };
    let by = FitConfig { search_by: lehr::settings::SearchBy::Heldout, ..by };
    let score = |config: &FitConfig| {
        let run = Run::<Lda>::fit(items(), params(), config, Begin::Random, &mut ()).unwrap();
        run.result.unwrap().heldout.unwrap()
    };
    assert!(score(&by) >= score(&plain));
}

#[test]
fn a_search_for_topics_goes_on_where_it_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("docs.txt");
    let words = ["sun", "sea", "sand", "tax", "law", "vote", "goal", "team", "ball"];
    let mut rng = rng(4);
    let mut text = String::new();
    for n in 0..60 {
        let line: Vec<&str> =
            (0..20).map(|_| words[(3 * (n % 3) + rng.below(4) as usize) % 9]).collect();
        text += &(line.join(" ") + "\n");
    }
    fs::write(&data, text).unwrap();
    let fit = |run: &Path, watcher: &mut Ender| -> Result<()> {
        let options = Default::default();
        let docs = Docs::read(&data, &options)?;
        let items = Items::<Lda>::of_file(&docs, &data, &options);
        let config =
            FitConfig { steps: Some(12), tol: 0.0, checkpoint_every: Some(1), ..searching(3.0) };
        let mut disk = Disk::new(run)?;
        store::fit(items, LdaParams::new(4), &config, Begin::Random, &mut disk, watcher).map(drop)
    };
    let whole = folder.path().join("whole");
    let mut counted = Ender::default();
    fit(&whole, &mut counted).unwrap();
    let lambda = |run: &Path| bits(Run::<Lda>::load(run).unwrap().lambda().table().values());
    for at in 0..counted.steps {
        let run = folder.path().join(format!("killed-{at}"));
        assert!(fit(&run, &mut Ender { left: Some(at), ..Ender::default() }).is_err());
        let directory = RunDirectory::open(&run).unwrap();
        store::resume::<Lda>(&directory, Extension::default(), None, &mut ()).unwrap();
        assert!(lambda(&run) == lambda(&whole), "killed after step {at}");
    }
}

#[test]
fn one_component_has_nothing_to_search_for() {
    let points = clusters(60, 2, 2, 3.0, 6);
    let run = fit(&points, params(MixtureParams::gmm(1)), &searching(4.0));
    let search = run.result.unwrap().best.search.unwrap();
    assert_eq!(search.tries(), (0, 0));
}

#[test]
fn nonsense_is_refused_by_name() {
    let points = clusters(60, 2, 2, 3.0, 6);
    let base = searching(4.0);
    let kicks = Some("noise".parse().unwrap());
    let auto = "auto".parse().unwrap();
    let cases = [
        (FitConfig { search: Some(-1.0), ..base.clone() }, "search"),
        (FitConfig { search: Some(0.5), ..base.clone() }, "search"),
        (FitConfig { search: Some(f64::NAN), ..base.clone() }, "search"),
        (FitConfig { search: Some(1e9), ..base.clone() }, "search"),
        (FitConfig { search: None, kicks, ..base.clone() }, "kicks"),
        (FitConfig { search: Some(0.0), effective: auto, ..base.clone() }, "effective"),
        (FitConfig { search_by: lehr::settings::SearchBy::Heldout, ..base.clone() }, "search_by"),
        (FitConfig { eval_every: Some(0), tol: 0.0, ..base.clone() }, "eval_every"),
    ];
    for (config, field) in cases {
        let items = Items::in_memory(&points);
        let error = Run::<Mixture>::fit(
            items,
            params(MixtureParams::gmm(3)),
            &config,
            Begin::Random,
            &mut (),
        )
        .err()
        .unwrap();
        let ErrorKind::Config { field: found, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(found, field, "{error}");
    }
}

/// Dies like a process would after this many steps, or asks for a stop.
#[derive(Default)]
struct Ender {
    left: Option<u32>,
    stop: Option<(u32, Arc<AtomicBool>)>,
    steps: u32,
    searched: u32,
    /// The steps before the first of a search.
    plain: u32,
}

impl Watcher for Ender {
    fn after_step(&mut self, _: &State, progress: &dyn Fn() -> Progress) -> Result<()> {
        self.steps += 1;
        self.searched += u32::from(progress().driver.is_some());
        if self.searched == 0 {
            self.plain = self.steps;
        }
        if let Some((at, flag)) = &self.stop {
            flag.store(self.steps >= *at, Ordering::Relaxed);
        }
        match &mut self.left {
            Some(0) => return Err(Error::data("killed")),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(())
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        self.stop.as_ref().map(|(_, flag)| flag.clone())
    }
}

struct Place {
    folder: tempfile::TempDir,
    data: PathBuf,
    config: FitConfig,
}

impl Place {
    /// For fits of two starts.
    fn new() -> Self {
        Place::of(FitConfig { n_init: 2, ..searching(3.0) })
    }

    fn of(config: FitConfig) -> Self {
        let config = FitConfig { checkpoint_every: Some(1), ..config };
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("points.csv");
        fs::write(&data, as_csv(&clusters(200, 2, 8, 3.0, 7))).unwrap();
        Place { folder, data, config }
    }

    fn run(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fit(&self, run: &Path, watcher: &mut Ender) -> Result<Run<Mixture>> {
        let options = Default::default();
        let points = Points::read(&self.data, &options)?;
        let items = Items::of_file(&points, &self.data, &options);
        let mut disk = Disk::new(run)?;
        let params = params(MixtureParams::gmm(10));
        store::fit(items, params, &self.config, Begin::Random, &mut disk, watcher)
    }

    fn resume(&self, run: &Path, watcher: &mut Ender) -> Result<store::RunResult> {
        store::resume::<Mixture>(&RunDirectory::open(run)?, Extension::default(), None, watcher)
    }
}

/// Lambda, the trace without what a clock says, and the outcomes.
fn left_behind(run: &Path) -> (Vec<u64>, Vec<String>, String) {
    let found = Run::<Mixture>::load(run).unwrap();
    let line = |o: &Observation| {
        let mut line = serde_json::to_value(o).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        line.to_string()
    };
    let outcomes = format!("{:?}", found.saved.outcomes());
    (bits(found.lambda().table().values()), found.trace.iter().map(line).collect(), outcomes)
}

#[test]
fn killed_anywhere_it_goes_on_with_the_same_bits() {
    killed_anywhere(&Place::new());
}

#[test]
fn killed_anywhere_after_batches_too() {
    // A bound that is estimated, and a tolerance large enough to matter: the search replaces the one and keeps to the other.
    let estimated = FitConfig { bound_sample: Some(20), tol: 1e-4, ..searching(3.0) };
    killed_anywhere(&Place::of(FitConfig { batch: Some(40), steps: Some(30), ..estimated }));
}

#[test]
fn killed_anywhere_with_noise_alone_too() {
    let noise = Some("noise".parse().unwrap());
    killed_anywhere(&Place::of(FitConfig { kicks: noise, ..searching(4.0) }));
}

fn killed_anywhere(place: &Place) {
    let mut whole = Ender::default();
    place.fit(&place.run("whole"), &mut whole).unwrap();
    let expected = left_behind(&place.run("whole"));
    assert!(whole.searched > 60 && whole.searched < whole.steps, "{}", whole.searched);
    for at in (0..whole.steps).step_by(7) {
        let run = place.run(&format!("killed-{at}"));
        let mut killer = Ender { left: Some(at), ..Ender::default() };
        assert!(place.fit(&run, &mut killer).is_err(), "killed after {at}");
        // Every other one twice.
        if at % 2 == 0 {
            let _ = place.resume(&run, &mut Ender { left: Some(at / 3), ..Ender::default() });
        }
        if !Run::<Mixture>::load(&run).is_ok_and(|run| run.result.is_some_and(|r| r.complete)) {
            place.resume(&run, &mut Ender::default()).unwrap();
        }
        assert!(left_behind(&run) == expected, "killed after step {at}");
    }
}

#[test]
fn stopped_in_a_search_it_keeps_the_best_and_can_go_on() {
    let place = Place::new();
    let mut whole = Ender::default();
    place.fit(&place.run("whole"), &mut whole).unwrap();
    let expected = left_behind(&place.run("whole"));
    let run = place.run("stopped");
    let stop = Some((whole.plain + 20, Arc::new(AtomicBool::new(false))));
    let stopped = place.fit(&run, &mut Ender { stop, ..Ender::default() }).unwrap();
    let result = stopped.result.as_ref().unwrap();
    assert_eq!((result.complete, result.best.stop), (false, StopReason::Interrupted));
    let search = result.best.search.as_ref().unwrap();
    assert!(result.best.bound >= search.plain_bound);
    // More steps for a search that is not over make no sense.
    let more = Extension { steps: Some(5), ..Extension::default() };
    let error = store::resume::<Mixture>(&RunDirectory::open(&run).unwrap(), more, None, &mut ())
        .unwrap_err();
    assert!(error.to_string().contains("in the middle of a search"), "{error}");
    place.resume(&run, &mut Ender::default()).unwrap();
    assert!(left_behind(&run) == expected);
    // After it they do, and it is not made again.
    let more = Extension { steps: Some(5), ..Extension::default() };
    let before = Run::<Mixture>::load(&run).unwrap();
    let after =
        store::resume::<Mixture>(&RunDirectory::open(&run).unwrap(), more, None, &mut ()).unwrap();
    assert_eq!(after.best.steps, before.saved.model_state().step + 5);
    assert!(after.best.bound >= bound(&before));
    let searched = before.result.as_ref().unwrap().best.search.as_ref();
    assert!(
        searched.is_some() && after.best.search.as_ref() == searched,
        "what it did stays on record"
    );
}
