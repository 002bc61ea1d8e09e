//! Work outside of the interpreter: thread pools of our own, and fits that can be watched and interrupted.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lehr::ErrorKind;
use lehr::error::Advice;
use lehr::fit::Observation;
use lehr::fit::{Progress, State, Watcher};
use lehr::math::stop::Stop;
use lehr::settings::Plan;
use lehr::store::RunResult;
use lehr::sweep::Onlooker;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{broken, guarded, raised};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` in a pool of this many threads (0: all cores) while the interpreter is free. Never the global
/// pool: its threads would be missing after a fork. This thread looks for signals meanwhile; an exception of theirs
/// ends the work in the middle.
pub fn computed<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> lehr::Result<T> + Send,
) -> PyResult<T> {
    let flag = Arc::new(AtomicBool::new(false));
    let stop = Stop::new(Some(Arc::clone(&flag)), None);
    py.detach(|| {
        let adopted = stop.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(lehr::threads::number(threads))
            .start_handler(move |_| adopted.adopt())
            .build();
        let wrong = |error: rayon::ThreadPoolBuildError| {
            lehr::Error::config("threads", threads, format!("{error}; try fewer"))
        };
        let pool = raised(pool.map_err(wrong))?;
        let (working, done) = channel::<Message>();
        let (mut outcome, mut exception) = (None, None);
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let _working = working; // until the end of the work
                outcome = Some(catch_unwind(AssertUnwindSafe(|| stop.heed(work))));
            });
            while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(TICK) {
                if exception.is_none() {
                    exception = Python::attach(|py| py.check_signals()).err();
                    flag.fetch_or(exception.is_some(), Ordering::Relaxed);
                }
            }
        });
        match (exception, outcome.expect("the scope has waited for it")) {
            (Some(exception), _) => Err(exception),
            (None, Err(panic)) => Err(broken(panic)),
            (None, Ok(Ok(result))) => raised(result),
            (None, Ok(Err(why))) => raised(Err(ErrorKind::Stopped(why.into()).into())),
        }
    })
}

/// The same; without a number of threads the work is short and needs none but this one, whose interpreter is not even
/// let go for it.
pub fn computed_or_here<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> lehr::Result<T> + Send,
) -> PyResult<T> {
    match threads {
        Some(threads) => computed(py, threads, work),
        None => guarded(work),
    }
}

/// What a fit reports while it runs.
enum Message {
    Begins {
        steps: u64,
        n_init: u32,
    },
    Stage(String),
    Observed(Box<Observation>),
    Stepped {
        step: u64,
        pass_ends: bool,
    },
    /// The runs of a sweep.
    Swept {
        done: usize,
        runs: usize,
    },
}

/// Sends what a fit reports to the thread that waits for it.
pub struct Messenger {
    to: Sender<Message>,
    /// Whether messages are received.
    heard: bool,
    stop: Arc<AtomicBool>,
    told: Instant,
    /// What is run, once that is known.
    plan: Option<Plan>,
    /// Runs of a sweep: all of them, and those that have ended.
    runs: AtomicUsize,
    done: AtomicUsize,
    /// What a user should know, for when the work is done.
    notes: Arc<Mutex<Vec<Advice>>>,
}

impl Messenger {
    fn send(&self, message: Message) {
        if self.heard {
            // The receiver is gone only during interpreter shutdown.
            let _ = self.to.send(message);
        }
    }

    fn keep(&self, note: &Advice) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note.clone());
    }
}

impl Watcher for Messenger {
    fn begins(&mut self, plan: &Plan, _progress: &Progress) {
        self.send(Message::Begins { steps: plan.steps - plan.origin, n_init: plan.n_init });
        self.plan = Some(plan.clone());
    }

    fn stage(&mut self, line: &str) {
        self.send(Message::Stage(line.into()));
    }

    fn observe(&mut self, observation: &Observation) -> lehr::Result<()> {
        self.send(Message::Observed(Box::new(observation.clone())));
        Ok(())
    }

    fn saves(&mut self, _step: u64) -> bool {
        false
    }

    fn note(&mut self, note: &Advice) {
        self.keep(note);
    }

    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        if !self.heard {
            return Ok(());
        }
        let ends = |plan: &Plan| plan.ends_epoch(plan.own_step(state.step));
        let pass_ends = self.plan.as_ref().is_some_and(ends);
        if pass_ends || self.told.elapsed() >= TICK {
            self.told = Instant::now();
            self.send(Message::Stepped { step: state.step, pass_ends });
        }
        Ok(())
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.stop))
    }
}

impl Onlooker for Messenger {
    fn begins(&self, runs: usize, done: usize) {
        self.runs.store(runs, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }

    fn ended(&self, _name: &str, _result: &RunResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(Message::Swept { done, runs: self.runs.load(Ordering::Relaxed) });
    }

    fn note(&self, note: &Advice) {
        self.keep(note);
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.stop))
    }
}

/// What a watched fit leaves: its result, the exception that has stopped it, if there is one, and notes for the user.
pub type Watched<T> = (T, Option<PyErr>, Vec<Advice>);

/// Runs a fit in its own thread while the interpreter is free. This thread hands what the fit reports to
/// `watch` and looks for signals: Python delivers them to no other thread. An exception of either stops the fit
/// at once, without the step under way; it comes back with the result, which is usable, or alone if there was
/// no step yet to stop after.
pub fn watched<T: Send>(
    py: Python<'_>,
    watch: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Messenger) -> lehr::Result<T> + Send,
) -> PyResult<Watched<T>> {
    let stop = Arc::new(AtomicBool::new(false));
    let notes = Arc::new(Mutex::new(Vec::new()));
    let (to, from) = channel();
    let mut messenger = Messenger {
        to,
        heard: watch.is_some(),
        stop: Arc::clone(&stop),
        told: Instant::now(),
        plan: None,
        runs: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        notes: Arc::clone(&notes),
    };
    let (joined, exception) = py.detach(move || {
        std::thread::scope(move |scope| {
            let mut exception = None;
            let worker = scope.spawn(move || work(&mut messenger));
            let mut looked = Instant::now();
            loop {
                let message = match from.recv_timeout(TICK) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break, // the fit has ended
                };
                if exception.is_some() {
                    continue;
                }
                let mut outcome = Ok(());
                if let (Some(message), Some(watch)) = (message, watch) {
                    outcome = Python::attach(|py| tell(py, watch, message));
                }
                if outcome.is_ok() && looked.elapsed() >= TICK {
                    looked = Instant::now();
                    outcome = Python::attach(|py| py.check_signals());
                }
                if let Err(error) = outcome {
                    stop.store(true, Ordering::Relaxed);
                    exception = Some(error);
                }
            }
            (worker.join(), exception)
        })
    });
    let result = joined.map_err(broken)?;
    match (result, exception) {
        (Err(error), Some(exception)) if matches!(error.kind(), ErrorKind::Stopped(_)) => {
            Err(exception)
        }
        (result, exception) => {
            let notes = mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
            Ok((raised(result)?, exception, notes))
        }
    }
}

/// Calls `watch` with what the fit reports: a name and a dictionary.
fn tell(py: Python<'_>, watch: &Py<PyAny>, message: Message) -> PyResult<()> {
    let facts = PyDict::new(py);
    let name = match message {
        Message::Begins { steps, n_init } => {
            facts.set_item("steps", steps)?;
            facts.set_item("n_init", n_init)?;
            "begins"
        }
        Message::Observed(seen) => {
            facts.set_item("restart", seen.restart)?;
            facts.set_item("step", seen.step)?;
            facts.set_item("seconds", seen.seconds)?;
            facts.set_item("bound", seen.bound)?;
            facts.set_item("heldout", seen.heldout)?;
            facts.set_item("closing", seen.closing)?;
            "observed"
        }
        Message::Stage(line) => {
            facts.set_item("line", line)?;
            "stage"
        }
        Message::Stepped { step, pass_ends } => {
            facts.set_item("step", step)?;
            facts.set_item("pass_ends", pass_ends)?;
            "stepped"
        }
        Message::Swept { done, runs } => {
            facts.set_item("done", done)?;
            facts.set_item("runs", runs)?;
            "swept"
        }
    };
    watch.call1(py, (name, facts)).map(drop)
}
