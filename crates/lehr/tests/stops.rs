//! Fits that are stopped in the middle of a step: the step was never made, and what goes on from there has the
//! bits of a fit that was never stopped.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{ForModel, bits, clusters, for_every_model, start};
use lehr::engine::{Engine, Later, Sizes, Sums, Threads, Warm, Work};
use lehr::fit::stop::StopReason;
use lehr::fit::{Observation, Resume, State, Watcher};
use lehr::model::{RowSet, Stats};
use lehr::models::{Mixture, MixtureParams};
use lehr::step::pass::Pass;
use lehr::store::{Begin, Items, Run};
use lehr::{ErrorKind, FitConfig, Model, Result};

/// Where the flag is raised.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// Before local pass number n. Where a step has two the update of the first is half done, after a pause that
    /// makes it worth being stopped in.
    Before(usize),
    /// After it and such a pause.
    After(usize),
}

/// The threads of this process, with a caller who asks for a stop.
struct Interrupted<'a, M: Model> {
    threads: Threads<'a, M>,
    when: When,
    passes: usize,
    flag: Arc<AtomicBool>,
}

impl<M: Model> Engine<M> for Interrupted<'_, M> {
    fn sizes(&self) -> &Sizes {
        self.threads.sizes()
    }

    fn support(&mut self, model: &M, items: &[u32], rows: &mut RowSet) -> Result<()> {
        self.threads.support(model, items, rows)
    }

    fn sum(&mut self, work: Work<'_, M>, warm: &mut Warm, stats: &mut Stats) -> Result<Sums> {
        self.passes += 1;
        if self.when == When::Before(self.passes) {
            self.flag.store(true, Ordering::Relaxed);
        }
        let sums = self.threads.sum(work, warm, stats)?;
        if [When::After(self.passes), When::Before(self.passes + 1)].contains(&self.when) {
            std::thread::sleep(<M::Pass as Pass<M>>::LONG + Duration::from_millis(10));
        }
        if self.when == When::After(self.passes) {
            self.flag.store(true, Ordering::Relaxed);
        }
        Ok(sums)
    }

    fn later(&self) -> Option<&dyn Later<M::Expect>> {
        self.threads.later()
    }
}

/// Notes what it sees, and has the flag.
struct Witness {
    flag: Arc<AtomicBool>,
    seen: Vec<Observation>,
    steps: u64,
}

impl Witness {
    fn new(flag: &Arc<AtomicBool>) -> Self {
        Witness { flag: Arc::clone(flag), seen: Vec::new(), steps: 0 }
    }
}

impl Watcher for Witness {
    fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.seen.push(observation.clone());
        Ok(())
    }

    fn after_step(&mut self, state: &State, _: &dyn Fn() -> lehr::fit::Progress) -> Result<()> {
        self.steps = state.step;
        Ok(())
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.flag))
    }
}

struct CutAndGoOn {
    config: FitConfig,
    /// Whether the first step is cut short, not made to its end.
    is_cut: bool,
}

impl ForModel for CutAndGoOn {
    fn run<M: Model>(&self, name: &str, model: &M, data: &M::Data) {
        let fit = || lehr::fit(model, data).config(self.config.clone()).threads(2);
        let from = State::at(model, start(model, data));
        let whole = fit().from(from.clone()).run().unwrap();
        let mut cut_short = 0;
        for when in [When::Before(1), When::Before(4), When::After(1), When::After(3)] {
            let flag = Arc::new(AtomicBool::new(false));
            let threads = Threads::new(model, data);
            let mut engine = Interrupted { threads, when, passes: 0, flag: Arc::clone(&flag) };
            let mut witness = Witness::new(&flag);
            let builder = lehr::fit::fit_on(model, &mut engine).config(self.config.clone());
            let stopped = builder.threads(2).from(from.clone()).watch(&mut witness).run().unwrap();
            assert_eq!(stopped.outcome.stop, StopReason::Interrupted, "{name} {when:?}");
            let progress = stopped.pending.expect("there is more to do");
            // The last observation is what there is: the step under way was not made.
            assert_eq!(progress.state.step, witness.steps, "{name} {when:?}");
            if when == When::Before(1) && self.is_cut {
                assert_eq!((witness.steps, &progress.state.lambda), (0, &from.lambda), "{name}");
            }
            cut_short += u64::from(witness.steps < 4);
            let before = |o: &Observation| o.step < progress.state.step && !o.closing;
            let history = witness.seen.into_iter().filter(before).collect();
            let resumed = fit().from(Resume { progress, history }).run().unwrap();
            assert!(resumed.is_complete());
            let values = |state: &State| bits(state.lambda.table().values());
            assert_eq!(values(&resumed.state), values(&whole.state), "{name} {when:?}");
            assert_eq!(resumed.state.lambda.hyper, whole.state.lambda.hyper, "{name} {when:?}");
            assert_eq!(resumed.outcome, whole.outcome, "{name} {when:?}");
        }
        assert_eq!(cut_short, 4, "{name}");
    }
}

#[test]
fn a_step_that_is_cut_short_was_never_made() {
    let batch = FitConfig { steps: Some(6), tol: 0.0, ..FitConfig::default() };
    for_every_model(700, &CutAndGoOn { config: batch.clone(), is_cut: true });
    let noisy = FitConfig { batch: Some(200), effective: "20".parse().unwrap(), ..batch };
    for_every_model(700, &CutAndGoOn { config: noisy, is_cut: true });
}

#[test]
fn items_that_keep_their_state_keep_the_one_before_the_step() {
    use lehr::models::{Lda, LdaParams};
    let docs = common::small_corpus(300, 7);
    let lda = Lda::new(LdaParams::fixed(4), &docs).unwrap();
    for batch in [None, Some(100)] {
        let config = FitConfig {
            steps: Some(6),
            tol: 0.0,
            warm: true,
            warm_after: Some(1),
            batch,
            ..FitConfig::default()
        };
        // Of a batch there is no copy of what items keep: such a step is made to its end.
        CutAndGoOn { config, is_cut: batch.is_none() }.run("warm", &lda, &docs);
    }
}

#[test]
fn a_start_that_is_cut_short_ends_the_restart_before_it() {
    /// Raises the flag when the first start has ended: the next thing is the second start.
    struct AtTheEnd(Witness);
    impl Watcher for AtTheEnd {
        fn observe(&mut self, observation: &Observation) -> Result<()> {
            if observation.step == 5 {
                self.0.flag.store(true, Ordering::Relaxed);
            }
            self.0.observe(observation)
        }
        fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
            self.0.stop_flag()
        }
    }
    let points = clusters(400, 2, 3, 3.0, 1);
    let mixture = Mixture::new(MixtureParams::gmm(3), &points).unwrap();
    let config = FitConfig { steps: Some(5), tol: 0.0, n_init: 3, ..FitConfig::default() };
    let fit = || lehr::fit(&mixture, &points).config(config.clone()).threads(1);
    let whole = fit().run().unwrap();
    let mut watcher = AtTheEnd(Witness::new(&Arc::default()));
    let stopped = fit().watch(&mut watcher).run().unwrap();
    assert_eq!(stopped.outcomes.len(), 1);
    assert_eq!(stopped.outcome.stop, StopReason::Interrupted);
    let progress = stopped.pending.unwrap();
    assert_eq!((progress.restart, progress.state.step, progress.done.len()), (0, 5, 0));
    let history = watcher.0.seen.into_iter().filter(|o| o.step < 5).collect();
    let resumed = fit().from(Resume { progress, history }).run().unwrap();
    assert_eq!(resumed.outcomes, whole.outcomes);
    assert_eq!(resumed.state.lambda, whole.state.lambda);
}

#[test]
fn what_is_stopped_before_there_is_a_model_says_so() {
    let points = clusters(400, 2, 3, 3.0, 1);
    let mut witness = Witness::new(&Arc::new(AtomicBool::new(true)));
    let (items, params) = (Items::in_memory(&points), MixtureParams::gmm(3));
    let run = Run::<Mixture>::fit(items, params, &Default::default(), Begin::Random, &mut witness);
    let error = run.err().expect("nothing was fitted");
    assert!(matches!(error.kind(), ErrorKind::Stopped(StopReason::Interrupted)), "{error}");
    assert!(error.to_string().contains("before the first step"), "{error}");
    assert!(witness.seen.is_empty());
}
