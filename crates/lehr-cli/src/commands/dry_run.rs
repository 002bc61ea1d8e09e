//! `lehr fit --dry-run`: everything but the fit. A few steps are made in memory, to see how long one takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;

use lehr::data::Count;
use lehr::error::Advice;
use lehr::fit::{Observation, Progress, State, Watcher};
use lehr::memory;
use lehr::models::ReadOptions;
use lehr::settings::Plan;
use lehr::store::{Disk, Memory};

use super::End;
use super::claim::Claimed;
use super::fit::naming_file;
use crate::args::{FitArgs, Request};
use crate::models::Served;
use crate::progress::{Bar, as_map, in_words};
use crate::text::{self, bytes, counted, quoted, seconds};

/// Steps are made for this many seconds, and at least one of each kind.
const SECONDS: f64 = 0.5;

/// What a fit would take.
#[derive(Serialize)]
struct Estimate {
    dry_run: bool,
    run: PathBuf,
    model: &'static str,
    /// What was read, by its name.
    read: serde_json::Value,
    /// The most steps of a start.
    steps: u64,
    starts: u32,
    seconds_per_step: f64,
    /// Of all steps of all starts, at the most.
    seconds: f64,
    /// The most memory that was in use at once, the data included.
    memory: Option<u64>,
    memory_available: u64,
}

/// Tries the fit out.
pub fn run<M: Served>(
    args: &FitArgs,
    Request { params, options, config }: Request<M::Params, ReadOptions<M>>,
) -> anyhow::Result<End> {
    let (print, data) = (args.fit.print, &args.data);
    // Empty, so it goes with this value.
    let directory = Claimed::new(&args.fit, "runs", args.tables.model)?;
    Disk::new(&directory.path)?;
    let mut clock = Clock::new(Bar::new(print.quiet || print.json));
    M::fit_file_into(data, &options, params, &config, &mut Memory, &mut clock)
        .map_err(|error| naming_file(error, data))?;
    let estimate = clock.estimate(directory.path.clone(), args.tables.model);
    if print.json {
        text::print_json(&estimate)?;
    } else if !print.quiet {
        text::print(&shown(&estimate, data, &clock))?;
    }
    Ok(End::Done)
}

fn shown(estimate: &Estimate, data: &Path, clock: &Clock) -> String {
    let step =
        if clock.plan.as_ref().is_some_and(|plan| plan.batch.is_some()) { "step" } else { "sweep" };
    let Estimate { steps, starts, .. } = *estimate;
    let starts = if starts == 1 { String::new() } else { format!(" of each of {starts} starts") };
    let time = clock.plan.as_ref().and_then(|plan| plan.time);
    let time =
        time.map_or(String::new(), |time| format!("; --time ends it after {}", seconds(time)));
    let memory = estimate.memory.map_or("not known".to_string(), bytes);
    format!(
        "{}: would be made; nothing was written\n\
         data      {}: {}\n\
         steps     at most {}{starts}\n\
         time      {} a {step}, so at most {}{time}\n\
         memory    {memory} with the data; {} are available\n",
        quoted(&estimate.run),
        data.display(),
        in_words(&clock.counts),
        counted(steps, step),
        seconds(estimate.seconds_per_step),
        seconds(estimate.seconds),
        bytes(estimate.memory_available)
    )
}

/// Looks at a fit until it is known how long its steps take.
struct Clock {
    bar: Bar,
    counts: Vec<Count>,
    plan: Option<Plan>,
    begin: Instant,
    last: Instant,
    /// Whether the bound was evaluated in the step under way.
    looked: bool,
    /// Steps, and their seconds, in which it was not and in which it was.
    made: [(u32, f64); 2],
    enough: Arc<AtomicBool>,
}

impl Clock {
    fn new(bar: Bar) -> Self {
        let now = Instant::now();
        Clock {
            bar,
            counts: Vec::new(),
            plan: None,
            begin: now,
            last: now,
            looked: false,
            made: [(0, 0.0); 2],
            enough: Arc::default(),
        }
    }

    fn estimate(&self, run: PathBuf, model: &'static str) -> Estimate {
        let mean = |(n, seconds): (u32, f64)| (n > 0).then(|| seconds / f64::from(n));
        let [plain, looked] = self.made.map(mean);
        let (plain, looked) = (plain.or(looked).unwrap_or(0.0), looked.or(plain).unwrap_or(0.0));
        let (steps, every, starts) =
            self.plan.as_ref().map_or((0, 1, 1), |plan| (plan.steps, plan.eval_every, plan.n_init));
        let looks = steps.checked_div(every).unwrap_or(0) as f64;
        let of_start = looks * looked + (steps as f64 - looks) * plain;
        let times = self
            .plan
            .as_ref()
            .and_then(|plan| plan.search.as_ref())
            .map_or(1.0, |search| search.times);
        let seconds = f64::from(starts) * times * of_start;
        Estimate {
            dry_run: true,
            run,
            model,
            read: as_map(&self.counts),
            steps,
            starts,
            seconds_per_step: of_start / steps.max(1) as f64,
            seconds,
            memory: memory::peak(),
            memory_available: memory::available(),
        }
    }
}

impl Watcher for Clock {
    fn begins(&mut self, plan: &Plan, _: &Progress) {
        self.plan = Some(plan.clone());
        (self.begin, self.last) = (Instant::now(), Instant::now());
    }

    fn observe(&mut self, _: &Observation) -> lehr::Result<()> {
        self.looked = true;
        Ok(())
    }

    fn after_step(&mut self, _: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        let (n, seconds) = &mut self.made[usize::from(self.looked)];
        (*n, *seconds) = (*n + 1, *seconds + self.last.elapsed().as_secs_f64());
        (self.looked, self.last) = (false, Instant::now());
        let every = self.plan.as_ref().map_or(1, |plan| plan.eval_every);
        let has_both = every == 1 || (self.made[0].0 > 0 && (every == 0 || self.made[1].0 > 0));
        if has_both && self.begin.elapsed().as_secs_f64() > SECONDS {
            self.enough.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn reads(&mut self, counts: &[Count]) {
        self.counts = counts.to_vec();
    }

    fn warn(&mut self, message: &str) {
        self.bar.warn(message);
    }

    fn note(&mut self, note: &Advice) {
        self.bar.note(note);
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.enough))
    }
}
