//! Runs jobs side by side, one thread each, and shows how far they are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use lehr::ErrorKind;

use crate::records::{Job, Record, Store};
use crate::{Experiment, Stop};

/// Steps of the bar for the cost of all jobs together.
const BAR: f64 = 1e6;

/// Runs the jobs that the store does not have on `threads` threads (0: all cores): the first start of all
/// methods, then the next, so that fewer starts can be looked at soon; of each the longest first.
/// If `stopped` says so it ends after the runs that are complete; what is under way is lost.
pub fn run(
    experiment: &dyn Experiment,
    jobs: &[Job],
    store: &mut Store,
    threads: usize,
    quiet: bool,
    stopped: Stop<'_>,
) -> anyhow::Result<()> {
    let mut left: Vec<&Job> = jobs.iter().filter(|job| !store.has(job)).collect();
    if left.is_empty() {
        return Ok(());
    }
    // Taken from the back; the sort is stable, so the order is always the same.
    left.sort_by(|a, b| b.start.cmp(&a.start).then(a.cost.total_cmp(&b.cost)));
    let total: f64 = jobs.iter().map(|job| job.cost).sum();
    let done = total - left.iter().map(|job| job.cost).sum::<f64>();
    let bar = bar(experiment.name(), quiet);
    let share = |cost: f64| (BAR * cost / total) as u64;
    bar.set_position(share(done));
    bar.reset_eta();

    let n_jobs = left.len();
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    let left = Mutex::new(left);
    let failed = AtomicBool::new(false);
    let stop = || stopped() || failed.load(Ordering::SeqCst);
    let kept: Mutex<(&mut Store, f64)> = Mutex::new((store, done));
    let work = || -> anyhow::Result<()> {
        loop {
            let next = if stop() { None } else { left.lock().expect("no panic").pop() };
            let Some(job) = next else { return Ok(()) };
            bar.set_message(format!("{}, {}, start {}", job.setting, job.method, job.start + 1));
            let result = experiment.run(job, &stop);
            let found: Option<Record> = match result {
                Ok(found) => found,
                // A result like any other: the methods are compared by how often they fail, too.
                Err(error) if is_divergence(&error) => Some(Record::diverged(job)),
                Err(error) => {
                    failed.store(true, Ordering::SeqCst);
                    return Err(error);
                }
            };
            let Some(record) = found else { return Ok(()) };
            let (store, cost) = &mut *kept.lock().expect("no panic");
            store.add(record)?;
            *cost += job.cost;
            bar.set_position(share(*cost));
        }
    };
    let results: Vec<anyhow::Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(n_jobs)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|w| w.join().unwrap_or_else(|p| std::panic::resume_unwind(p)))
            .collect()
    });
    bar.finish_and_clear();
    results.into_iter().collect()
}

/// Whether a fit ended because its bound was no number any more.
fn is_divergence(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<lehr::Error>().map(lehr::Error::kind);
    matches!(kind, Some(ErrorKind::Diverged { .. }))
}

fn bar(name: &str, quiet: bool) -> ProgressBar {
    let target = match quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr_with_hz(4),
    };
    let bar = ProgressBar::with_draw_target(Some(BAR as u64), target);
    // Plain, so that it suits terminals without colours or Unicode as well.
    let style = "{prefix} {bar:24} {percent}%  {eta} left  {wide_msg}";
    let style = ProgressStyle::with_template(style).expect("a valid template");
    bar.set_style(style.progress_chars("##-"));
    bar.set_prefix(name.to_string());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, options};

    fn ran(fake: Fake) -> (anyhow::Result<()>, Vec<Record>) {
        let folder = tempfile::tempdir().unwrap();
        let jobs = fake.jobs();
        let mut store = Store::open(folder.path(), &fake, &options()).unwrap();
        let result = run(&fake, &jobs, &mut store, 2, true, &|| false);
        (result, store.records(&jobs).iter().cloned().collect())
    }

    #[test]
    fn a_run_that_diverges_is_kept_as_one_and_the_others_go_on() {
        let (result, records) = ran(Fake("diverges"));
        result.unwrap();
        assert_eq!(records.len(), 3);
        let diverged: Vec<bool> = records.iter().map(|r| r.end.contains_key("diverged")).collect();
        assert_eq!(diverged, [false, true, false]);
    }

    #[test]
    fn any_other_failure_ends_it_and_is_not_kept() {
        let (result, records) = ran(Fake("fails"));
        assert_eq!(result.unwrap_err().to_string(), "no such thing");
        assert!(records.iter().all(|r| r.start != 1));
    }
}
