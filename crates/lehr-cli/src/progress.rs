//! What a person sees while a fit runs, and how they stop it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use lehr::data::Count;
use lehr::error::Advice;
use lehr::fit::Observation;
use lehr::fit::{Progress, State, Watcher};
use lehr::settings::Plan;

use crate::complaint::render;
use crate::interrupts::{begun, catch_interrupts, stop_flag};
use crate::look;
use crate::text::{for_stderr, number, rounded};

/// What a session saw of itself.
#[derive(Debug, Default)]
pub struct Seen {
    /// From the start of the program.
    pub seconds_before_first_step: Option<f64>,
    /// Items of all updates, each as often as it was used.
    pub items: u64,
    /// If the bound is an estimate: from this many random training items.
    pub bound_sample: Option<usize>,
    /// What was read.
    pub counts: Vec<Count>,
}

/// What was read, in words: `300 rows, 3 columns`.
pub fn in_words(counts: &[Count]) -> String {
    counts.iter().map(Count::to_string).collect::<Vec<_>>().join(", ")
}

/// The same for programs; null if nothing was read.
pub fn as_map(counts: &[Count]) -> serde_json::Value {
    if counts.is_empty() {
        return serde_json::Value::Null;
    }
    counts.iter().map(|count| (count.key(), serde_json::Value::from(count.n))).collect()
}

/// The line that says what was read.
pub fn read_line(path: &Path, counts: &[Count]) -> String {
    for_stderr(&format!("read {}: {}", path.display(), in_words(counts)))
}

/// A bar of these parts on stderr, or none.
pub fn bar(quiet: bool, before: &str, after: &str) -> ProgressBar {
    let target =
        if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let colours = if look::colours_on_stderr() { ".cyan/dim" } else { "" };
    let style = format!("{before}{{bar:{}{colours}}} {after}", bar_width());
    let style = ProgressStyle::with_template(&style).expect("a valid template");
    let style = if look::is_ascii() { style.progress_chars("##-") } else { style };
    ProgressBar::with_draw_target(None, target).with_style(style)
}

/// A narrow terminal needs its columns for what the bar cannot say.
fn bar_width() -> usize {
    if look::width() < 100 { 12 } else { 24 }
}

/// A progress bar on stderr; silent when that is not a terminal, or on demand. It counts the steps
/// of all starts together, so that the time left is the whole time left.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
    /// The file that is read.
    file: PathBuf,
    steps: u64,
    n_init: u32,
    restart: u32,
    /// The largest |S|, where every row is its own block.
    block: Option<usize>,
    /// Items of the start under way.
    items: u64,
    /// What can be reported afterwards.
    pub seen: Seen,
}

impl Bar {
    /// A bar that learns its length when the fit starts.
    pub fn new(quiet: bool) -> Self {
        catch_interrupts(quiet);
        let bar = bar(quiet, "{prefix}", "{pos}/{len}  {eta} left  {wide_msg}");
        let (file, seen) = (PathBuf::new(), Seen::default());
        Bar { bar, quiet, file, steps: 0, n_init: 1, restart: 0, block: None, items: 0, seen }
    }

    /// The same for a fit to this file.
    pub fn of(self, file: &Path) -> Self {
        Bar { file: file.into(), ..self }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// How many columns there are for the message.
    fn room(&self) -> usize {
        let digits = self.bar.length().unwrap_or(0).to_string().len();
        // Blanks, a slash, and what is left of the time.
        let rest = self.bar.prefix().chars().count() + bar_width() + 2 * digits + 2 + 4 + 12;
        look::width().saturating_sub(rest)
    }

    fn position(&self, step: u64) -> u64 {
        self.steps.saturating_mul(u64::from(self.restart)).saturating_add(step)
    }
}

/// The parts that fit, from the first one on.
fn fitting(parts: &[String], room: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { "  " };
        if !line.is_empty() && line.chars().count() + gap.len() + part.chars().count() > room {
            break;
        }
        line = line + gap + part;
    }
    line
}

impl Watcher for Bar {
    fn begins(&mut self, plan: &Plan, progress: &Progress) {
        begun();
        // A finished run goes on with one of its starts alone.
        let alone = progress.best.is_none() && !progress.done.is_empty();
        self.steps = plan.steps;
        self.block = plan.block;
        self.n_init = if alone { 1 } else { plan.n_init };
        self.restart = if alone { 0 } else { progress.restart };
        self.bar.set_length(plan.steps.saturating_mul(u64::from(self.n_init)));
        // A resumed run starts in the middle: what was done before says nothing about the time left.
        self.bar.set_position(self.position(progress.state.step));
        self.bar.reset_eta();
        self.items = progress.state.items;
        self.seen.seconds_before_first_step = Some(crate::started().elapsed().as_secs_f64());
    }

    fn observe(&mut self, o: &Observation) -> lehr::Result<()> {
        if self.n_init > 1 {
            self.restart = o.restart;
        }
        // What matters most comes first: a narrow terminal has no room for all of it.
        let mut parts = vec![format!("bound {}", number(o.bound))];
        if let Some(rmse) = o.measures.get("rmse") {
            parts.push(format!("held-out RMSE {}", rounded(*rmse, 5)));
        } else if let Some(heldout) = o.heldout {
            let score =
                if o.measures.contains_key("completion") { "completion" } else { "held out" };
            parts.push(format!("{score} {}", number(heldout)));
        }
        if o.effective < self.block.unwrap_or(o.batch) as f64 {
            parts.push(format!("M {}", number(o.effective.round())));
        }
        parts.push(format!("rho {}", number(o.rho)));
        if let Some(mass) = o.measures.get("mass") {
            parts.push(format!("mass {mass:.3}"));
        }
        self.seen.bound_sample = o.bound_sample;
        if o.guard_hits > 0 {
            parts.push(format!("guard {}", o.guard_hits));
        }
        let message = fitting(&parts, self.room());
        self.bar.set_message(message);
        Ok(())
    }

    fn saves(&mut self, _step: u64) -> bool {
        false
    }

    fn after_step(&mut self, state: &State, _: &dyn Fn() -> Progress) -> lehr::Result<()> {
        self.bar.set_position(self.position(state.step));
        // Every start counts from 0.
        self.seen.items += state.items.checked_sub(self.items).unwrap_or(state.items);
        self.items = state.items;
        Ok(())
    }

    fn stage(&mut self, line: &str) {
        self.bar.set_prefix(format!("{line}  "));
    }

    fn reads(&mut self, counts: &[Count]) {
        // Data for which settings have to be changed first are read twice.
        if !self.quiet && self.seen.counts.is_empty() {
            self.bar.suspend(|| eprintln!("{}", read_line(&self.file, counts)));
        }
        self.seen.counts = counts.to_vec();
    }

    fn warn(&mut self, message: &str) {
        self.bar.suspend(|| eprintln!("{}", for_stderr(&format!("warning: {message}"))));
    }

    fn note(&mut self, note: &Advice) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{}", for_stderr(&format!("note: {}", render(note)))));
        }
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(stop_flag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr::FitConfig;
    use lehr::fit::Outcome;
    use lehr::fit::stop::StopReason;
    use lehr::lambda::Lambda;
    use lehr::math::table::Table;

    #[test]
    fn the_line_has_m_only_while_there_is_noise_and_rmse_if_it_is_known() {
        let observation = |effective: f64, rmse: Option<f64>| Observation {
            restart: 0,
            run: 0,
            step: 1,
            seconds: 0.0,
            items: 0,
            rho: 1.0,
            effective,
            batch: 1000,
            temperature: 0.0,
            bound: -2.0,
            bound_sample: None,
            heldout: rmse.map(|_| -1.5),
            guard_hits: 0,
            measures: rmse.iter().map(|&rmse| ("rmse".to_string(), rmse)).collect(),
            closing: false,
            event: None,
        };
        let mut bar = begun(1, 0, vec![], 0, false);
        let mut line = |block: Option<usize>, o: &Observation| {
            bar.block = block;
            bar.observe(o).unwrap();
            bar.bar.message()
        };
        assert_eq!(line(None, &observation(1000.0, None)), "bound -2  rho 1");
        assert_eq!(line(None, &observation(50.0, None)), "bound -2  M 50  rho 1");
        // The largest block has 50 items: no noise.
        let quiet = line(Some(50), &observation(50.0, Some(0.875)));
        assert_eq!(quiet, "bound -2  held-out RMSE 0.875  rho 1");
        assert_eq!(line(Some(50), &observation(20.0, None)), "bound -2  M 20  rho 1");
    }

    #[test]
    fn a_narrow_line_leaves_out_what_matters_least() {
        let parts = ["bound -2", "completion -8.1", "rho 1"].map(String::from);
        assert_eq!(fitting(&parts, 40), "bound -2  completion -8.1  rho 1");
        assert_eq!(fitting(&parts, 31), "bound -2  completion -8.1");
        assert_eq!(fitting(&parts, 3), "bound -2");
    }

    fn begun(n_init: u32, restart: u32, done: Vec<Outcome>, step: u64, best: bool) -> Bar {
        let config = FitConfig { steps: Some(100), n_init, ..FitConfig::default() };
        let state = State { step, ..State::from(Lambda::new(Table::new(1, 1), false, Vec::new())) };
        let best = best.then(|| (0, state.clone()));
        let mut bar = Bar::new(true);
        bar.begins(
            &config.check(10).unwrap(),
            &Progress { restart, state, done, best, driver: None },
        );
        bar
    }

    #[test]
    fn the_bar_counts_all_starts_and_knows_where_a_resumed_run_stands() {
        let ended = |restart| Outcome {
            restart,
            bound: -1.0,
            steps: 100,
            stop: StopReason::Steps,
            search: None,
        };
        let lengths = |bar: &Bar| (bar.bar.position(), bar.bar.length());
        assert_eq!(lengths(&begun(1, 0, vec![], 40, false)), (40, Some(100)));
        assert_eq!(lengths(&begun(3, 1, vec![ended(0)], 40, true)), (140, Some(300)));
        let more = begun(3, 1, vec![ended(0), ended(2)], 100, false);
        assert_eq!(lengths(&more), (100, Some(100)));
    }
}
